"""The search: risks of many sets, tests in order of risk until one is accepted, then the smallest that does as well.

The test of independence alone accepts too much at moderate n: among dozens of sets that hold a child of the target, all of
smaller risk than the parents, one passes at alpha = 0.01 in a run out of four (measured). So a set with a p-value between
alpha and SURE is taken only if no set of larger risk does better, and an accepted set must also stand `_direction.against`:
a member that is described clearly better as a child (DOUBT standard errors) rules the set out, and one that is not
described better as a parent is dropped unless that costs SPARED standard errors of risk. All of this can only turn an
answer to a set of larger risk; what it does not settle is said in the status."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from causal.indrm import _direction, _residuals
from causal.indrm._smooth import LANDMARK_ROWS, LENGTHS, Column, Smoother, kernel_smoothers, linear_smoother

Set = tuple[int, ...]
Mapper = Callable[[Any, Iterable[Any]], Iterable[Any]]
BATCH = 8  # sets that are tested together where there are processes for it
RANKING_LANDMARKS, RANKING_LENGTHS = 50, (1.5,)
TEST_LANDMARKS = 120
BETTER = 2.0  # standard errors of a paired difference of losses
DETERMINED = 1e-6
# standard errors by which a member must look like a child to rule a set out; more for kernels, as nothing says that the
# columns have additive noise among themselves
DOUBT = {"linear": 2.5, "nystroem": 6.0, "callable": 6.0}
NARROWLY = 1.5  # standard errors beyond DOUBT up to which a set that was ruled out stays in question
CURVED = 6.0  # standard deviations; the ridge is chosen on the same data, so that 4 is no surprise in a linear model
SPARED = 5.0  # standard errors of risk that keep a member which does not look like a parent
SURE = 0.05  # p-value from which a set is taken at once
CLIPPED = 0.995  # share of the losses that `robust_gain` compares as they are
LOOKED = 8  # sets beyond the answer that are looked at for rivals, if it is held back


_NOTHING = Column(np.empty((0, 0)), np.empty((0, 0)))


class Fitted(NamedTuple):
    """A regression on a set: its smoother (None for a user's regressor), fitted values, losses of left-out rows."""

    smoother: Smoother | None
    kind: str
    fitted: np.ndarray
    residual: np.ndarray
    losses: np.ndarray

    @property
    def risk(self) -> float:
        """Mean loss."""
        return float(self.losses.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean loss."""
        return float(self.losses.std(ddof=1) / np.sqrt(len(self.losses)))


class Problem:
    """Columns, target and how to regress; keeps what was computed."""

    def __init__(self, columns: Sequence[Column], y: np.ndarray, regressor: Any, replicates: int, seed: int,
                 weights: np.ndarray | None = None) -> None:
        self.columns: Sequence[Column] = columns
        self.y, self.regressor = y, regressor
        self.replicates, self.seed = replicates, seed
        self.root = None if weights is None else np.sqrt(weights)
        rows = np.random.default_rng(seed).permutation(len(y))[:LANDMARK_ROWS]
        self.sample = np.sort(rows)
        self._fine: dict[Set, Fitted] = {}
        self._rough: dict[Set, Fitted] = {}
        self.p_values: dict[Set, float] = {}
        self._doubts: dict[Set, tuple[float, ...]] = {}
        self._ready: dict[Set, float] = {}  # p-values that nobody has asked for yet

    def part(self, chosen: Set) -> list[Column]:
        """The columns of a set."""
        return [self.columns[j] for j in chosen]

    def rough(self, chosen: Set) -> Fitted:
        """A cheap regression, to rank sets."""
        if chosen not in self._rough:
            self._rough[chosen] = self._fit(chosen, RANKING_LANDMARKS, RANKING_LENGTHS)
        return self._rough[chosen]

    def fine(self, chosen: Set) -> Fitted:
        """The regression whose residual is tested."""
        if chosen not in self._fine:
            self._fine[chosen] = self._fit(chosen, TEST_LANDMARKS, None)
        return self._fine[chosen]

    def fitted(self, chosen: Set) -> Fitted:
        """The best there is at no cost."""
        return self._fine.get(chosen) or self.rough(chosen)

    def p_value(self, chosen: Set) -> float:
        """Of independence of the residual; 1 for the empty set."""
        if chosen not in self.p_values:
            ready = self._ready.pop(chosen, None)
            self.p_values[chosen] = 1.0 if not chosen else self._test(chosen) if ready is None else ready
        return self.p_values[chosen]

    def light(self, used: Iterable[int]) -> Problem:
        """What travels to other processes: the columns that are used, and no results."""
        other, kept = copy(self), set(used)
        other.columns = [c if j in kept else _NOTHING for j, c in enumerate(self.columns)]
        other._rough, other._fine, other.p_values, other._doubts, other._ready = {}, {}, {}, {}, {}
        return other

    def prepare(self, sets: Sequence[Set], mapper: Mapper) -> None:
        """p-values of these sets, all at once, for when they are asked for."""
        wanted = [s for s in sets if s and s not in self.p_values and s not in self._ready]
        other = self.light(j for s in wanted for j in s)
        self._ready.update(zip(wanted, mapper(other.p_value, wanted), strict=True))

    def doubts(self, chosen: Set) -> tuple[float, ...]:
        """For each member, standard errors by which "child" describes the data better than "parent"."""
        if chosen not in self._doubts:
            linear = self.fine(chosen).kind == "linear"
            columns = self.part(chosen)
            self._doubts[chosen] = _direction.against(columns, self.y, linear, self.sample, self.root) if chosen else ()
        return self._doubts[chosen]

    def admits(self, chosen: Set, alpha: float) -> bool:
        """The residual passes, and no member looks like a child."""
        if self.p_value(chosen) < alpha:
            return False
        return not chosen or max(self.doubts(chosen)) < DOUBT[self.fine(chosen).kind]

    def _fit(self, chosen: Set, landmarks: int, lengths: Sequence[float] | None) -> Fitted:
        columns, y = self.part(chosen), self.y
        if callable(self.regressor):
            return _user_fit(self.regressor, columns, y, self.seed)
        linear = _fitted(linear_smoother(columns, len(y), self.root), "linear", y)
        if self.regressor == "linear" or not chosen:
            return linear
        kernel = _fitted(kernel_smoothers(columns, y, landmarks, self.sample, lengths or LENGTHS, self.root), "nystroem", y)
        if self.regressor == "nystroem":
            return kernel
        return kernel if robust_gain(linear, kernel) > BETTER or curvature(linear, kernel, y) > CURVED else linear

    def _test(self, chosen: Set) -> float:
        fit = self.fine(chosen)
        smoother = fit.smoother
        columns = self.part(chosen)
        if smoother is None:
            return _user_p_value(self, chosen, fit)
        own: list[np.ndarray] = []
        if fit.kind == "linear":  # tested against everything the kernels see, and each column's innovation
            smoother = _with_kernel(smoother, kernel_smoothers(columns, self.y, TEST_LANDMARKS, self.sample, root=self.root))
            own = _direction.innovations(columns, self.root)
        return _residuals.p_value(smoother, columns, self.y, self.replicates, self.seed, own)


def landmarks_of(problem: Problem, chosen: Set) -> int:
    """Landmarks behind `problem.fitted(chosen)`."""
    return TEST_LANDMARKS if chosen in problem._fine else RANKING_LANDMARKS


def gain(worse: Fitted, better: Fitted) -> float:
    """By how many standard errors the second has smaller losses than the first."""
    difference = worse.losses - better.losses
    spread = float(difference.std(ddof=1)) / np.sqrt(len(difference))
    return float(difference.mean()) / spread if spread > 0 else 0.0


def robust_gain(worse: Fitted, better: Fitted) -> float:
    """The same, or with the largest losses cut off where that says more: a single row may hide what all others show."""
    top = np.quantile(worse.losses, CLIPPED)
    return max(gain(worse, better), gain(*(f._replace(losses=np.minimum(f.losses, top)) for f in (worse, better))))


def curvature(linear: Fitted, kernel: Fitted, y: np.ndarray) -> float:
    """How far, in standard deviations under a linear model of equal variance, y leans on the kernel's own directions."""
    smoother = kernel.smoother
    assert smoother is not None
    weights = smoother.shrink[smoother.linear:]
    if not weights.size:
        return 0.0
    root = np.ones(len(y)) if smoother.root is None else smoother.root
    products = (smoother.basis[:, smoother.linear:].T @ (root * y)) ** 2 / float(np.mean((root * (y - linear.fitted)) ** 2))
    return float((weights @ products - weights.sum()) / np.sqrt(2 * weights @ weights))


def _fitted(smoother: Smoother, kind: str, y: np.ndarray) -> Fitted:
    residual = smoother.left_out(y)
    losses = residual**2 if smoother.root is None else (residual * smoother.root) ** 2
    return Fitted(smoother, kind, smoother.fit(y), residual, losses)


def _with_kernel(linear: Smoother, kernel: Smoother) -> Smoother:
    """The linear smoother, with the kernel's directions in its basis (not fitted, but looked at by the test)."""
    extra = kernel.shrink[kernel.linear:]
    basis = np.column_stack([linear.basis, kernel.basis[:, kernel.linear:]])
    return Smoother(basis, np.concatenate([linear.shrink, np.zeros(len(extra))]), linear.linear, linear.leverage,
                    linear.squared, root=linear.root)


def risks(problem: Problem, candidates: Sequence[int], most: int, mapper: Mapper | None = None) -> list[Set]:
    """Every set of at most `most` candidates, in order of rough risk."""
    sets = [s for size in range(min(most, len(candidates)) + 1) for s in combinations(candidates, size)]
    for s, fit in zip(sets, (mapper or map)(problem.light(candidates).rough, sets), strict=True):
        problem._rough[s] = fit
    return sorted(sets, key=lambda s: (problem.rough(s).risk, len(s), s))


def first_accepted(problem: Problem, ranked: Sequence[Set], alpha: float, mapper: Mapper | None = None) -> Set:
    """The first set in order of risk that is admitted with a p-value of at least SURE, else the first that is admitted at
    all; the empty set always is."""
    for level in (max(alpha, SURE), alpha):
        for k, s in enumerate(ranked):
            if mapper is not None and k % BATCH == 0:
                problem.prepare(ranked[k:k + BATCH], mapper)
            if problem.admits(s, level):
                break
        if s:
            return s
    return ()


def smallest_as_good(problem: Problem, ranked: Sequence[Set], accepted: Set, alpha: float) -> Set:
    """The smallest admitted set whose risk is not clearly above that of `accepted`, and which holds those of its members
    that clearly look like parents: a child may predict as well as the parent it comes from."""
    clear = {j for j, t in zip(accepted, problem.doubts(accepted), strict=True) if -np.inf < t < -DOUBT["linear"]}
    rivals = [s for s in ranked if clear <= set(s) and len(s) < len(accepted)
              and gain(problem.rough(s), problem.rough(accepted)) < BETTER]
    for s in sorted(rivals, key=lambda s: (len(s), problem.rough(s).risk)):
        if gain(problem.fine(s), problem.fine(accepted)) < BETTER and problem.admits(s, alpha):
            return s
    return accepted


def without_bystanders(problem: Problem, chosen: Set, alpha: float) -> tuple[Set, list[Set]]:
    """The set without members that do not look like parents and do little for the risk; and, of the larger sets on the way,
    those whose risk is clearly smaller, so that they stay in question."""
    left: list[Set] = []
    while len(chosen) > 1:
        doubts = problem.doubts(chosen)
        for k in sorted(range(len(chosen)), key=lambda k: -doubts[k]):
            smaller = chosen[:k] + chosen[k + 1:]
            if doubts[k] >= 0 and (cost := robust_gain(problem.fine(smaller), problem.fine(chosen))) < SPARED \
                    and problem.admits(smaller, alpha):
                left += [chosen] if cost >= BETTER else []
                chosen = smaller
                break
        else:
            break
    return chosen, left


def ties(problem: Problem, ranked: Sequence[Set], chosen: Set, alpha: float) -> list[Set]:
    """Other admitted sets of the same size whose risk cannot be told from that of `chosen`."""
    found = []
    for s in ranked:
        if len(s) == len(chosen) and s != chosen and abs(gain(problem.rough(s), problem.rough(chosen))) < BETTER \
                and abs(gain(problem.fine(s), problem.fine(chosen))) < BETTER and problem.admits(s, alpha):
            found.append(s)
    return found


def in_question(problem: Problem, ranked: Sequence[Set], chosen: Set, alpha: float) -> list[Set]:
    """Sets that the data do not tell from `chosen`: it without the members that do not look like parents; if its p-value is
    small, the next admitted set that does not contain it; and sets of smaller risk that were passed over though all their
    members look like parents, or ruled out narrowly. Empty if the answer is earned."""
    doubts = problem.doubts(chosen)
    found = []
    for s, p in list(problem.p_values.items()):
        if not s or s == chosen or p < alpha or problem.fine(s).risk >= problem.fine(chosen).risk:
            continue
        most = max(problem.doubts(s))
        narrowly = p >= SURE and 0 <= most - DOUBT[problem.fine(s).kind] < NARROWLY
        if narrowly or (p < SURE and most < 0 and not set(s) > set(chosen)):
            found.append(s)
    if any(t >= 0 for t in doubts):
        found.append(tuple(j for j, t in zip(chosen, doubts, strict=True) if t < 0))
    if problem.p_value(chosen) < SURE:
        later = [s for s in ranked[ranked.index(chosen) + 1:] if not set(s) > set(chosen)][:LOOKED]
        found.append(next((s for s in later if problem.admits(s, SURE)), ()))
    return found


def determining(sources: Sequence[np.ndarray], y: np.ndarray) -> list[int]:
    """Columns of which y is a function, up to a share of 1e-6 of its variance: by interpolation between neighbours."""
    return [j for j, x in enumerate(sources) if _interpolated(x.astype(float), y) < DETERMINED]


def _interpolated(x: np.ndarray, y: np.ndarray) -> float:
    """Mean square error, least tenth of the errors left out at the top, of guessing y between its neighbours along x."""
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    means = np.bincount(inverse, y) / counts
    within = (y - means[inverse])[counts[inverse] > 1] ** 2
    if len(values) >= 5:
        share = (values[1:-1] - values[:-2]) / (values[2:] - values[:-2])
        between = (means[1:-1] - (1 - share) * means[:-2] - share * means[2:]) ** 2
        errors = np.sort(np.concatenate([within, between]))
    else:
        errors = np.sort(within)
    return float(errors[: max(1, int(0.9 * len(errors)))].mean()) if errors.size else np.inf


def _user_fit(regressor: Callable[..., Any], columns: Sequence[Column], y: np.ndarray, seed: int) -> Fitted:
    """A user's regressor: fitted values, and its in-sample residuals (it cannot be asked about rows it did not see)."""
    x = np.column_stack([c.raw for c in columns]) if columns else np.empty((len(y), 0))
    fitted = np.asarray(regressor(x, y), dtype=float)
    if fitted.shape != y.shape or not np.isfinite(fitted).all():
        raise ValueError(f"regressor returned shape {fitted.shape} for {len(y)} rows; need {y.shape}, finite")
    residual = y - fitted
    return Fitted(None, "callable", fitted, residual, residual**2)


def _user_p_value(problem: Problem, chosen: Set, fit: Fitted) -> float:
    """The same test, each replicate refitted by the user's regressor: `replicates` calls."""
    columns = problem.part(chosen)
    looked_at = kernel_smoothers(columns, problem.y, TEST_LANDMARKS, problem.sample)

    def residuals(targets: np.ndarray) -> np.ndarray:
        parts = [_user_fit(problem.regressor, columns, t, problem.seed).residual for t in targets.T]
        return np.column_stack(parts)

    return _residuals.bootstrap_p_value(looked_at, columns, fit.residual, fit.fitted, residuals, problem.replicates,
                                        problem.seed)

"""A target, columns, a way to regress; what was computed about sets of columns, so that nothing is computed twice."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from causal.indrm import _direction, _residuals
from causal.indrm._smooth import LANDMARK_ROWS, LENGTHS, Column, Smoother, kernel_smoothers, linear_smoother

Set = tuple[int, ...]
Tested = tuple[float, float, float]  # p-value, risk, standard error
Mapper = Callable[[Any, Iterable[Any]], Iterable[Any]]
RANKING_LANDMARKS, RANKING_LENGTHS = 50, (1.5,)
TEST_LANDMARKS = 120
BETTER = 2.0  # standard errors of a paired difference of losses
# standard errors by which a member must look like a child to rule a set out; more for kernels, as nothing says that the
# columns have additive noise among themselves
DOUBT = {"linear": 2.5, "nystroem": 6.0, "callable": 6.0}
CURVED = 6.0  # standard deviations; the ridge is chosen on the same data, so that 4 is no surprise in a linear model
CLIPPED = 0.995  # share of the losses that `robust_gain` compares as they are


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
        self._linear: dict[Set, float] = {}  # p-values of kernel fits that look at innovations as well
        self._ready: dict[Set, Tested] = {}  # results that nobody has asked for yet
        self._tested: dict[Set, Tested] = {}  # results of other processes, in which the regression stayed

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

    def risk(self, chosen: Set) -> tuple[float, float]:
        """Risk and standard error, of the best regression that was made in whatever process."""
        if chosen in self._tested and chosen not in self._fine:
            return self._tested[chosen][1:]
        fit = self.fitted(chosen)
        return fit.risk, fit.standard_error

    def p_value(self, chosen: Set) -> float:
        """Of independence of the residual; 1 for the empty set."""
        if chosen not in self.p_values:
            if chosen in self._ready:
                self._tested[chosen] = self._ready.pop(chosen)
                self.p_values[chosen] = self._tested[chosen][0]
            else:
                self.p_values[chosen] = self._test(chosen) if chosen else 1.0
        return self.p_values[chosen]

    def tested(self, chosen: Set) -> Tested:
        """p-value, risk and standard error of the regression that was tested."""
        return self.p_value(chosen), self.fine(chosen).risk, self.fine(chosen).standard_error

    def light(self, used: Iterable[int]) -> Problem:
        """What travels to other processes: the columns that are used, and no results."""
        other, kept = copy(self), set(used)
        other.columns = [c if j in kept else _NOTHING for j, c in enumerate(self.columns)]
        other._rough, other._fine, other.p_values, other._doubts = {}, {}, {}, {}
        other._ready, other._tested, other._linear = {}, {}, {}
        return other

    def prepare(self, sets: Sequence[Set], mapper: Mapper) -> None:
        """Tests of these sets, all at once, for when they are asked for."""
        wanted = [s for s in sets if s and s not in self.p_values and s not in self._ready]
        other = self.light(j for s in wanted for j in s)
        self._ready.update(zip(wanted, mapper(other.tested, wanted), strict=True))

    def doubts(self, chosen: Set) -> tuple[float, ...]:
        """For each member, standard errors by which "child" describes the data better than "parent"."""
        if chosen not in self._doubts:
            linear = self.fine(chosen).kind == "linear"
            columns = self.part(chosen)
            self._doubts[chosen] = _direction.against(columns, self.y, linear, self.sample, self.root) if chosen else ()
        return self._doubts[chosen]

    def admits(self, chosen: Set, alpha: float) -> bool:
        """The residual passes, no member looks like a child, and a kernel fit's residual passes again when linear innovations
        are looked at too: in a linear model kernels may all but remove what a child leaves, and dilute the rest."""
        if self.p_value(chosen) < alpha:
            return False
        if not chosen:
            return True
        kind = self.fine(chosen).kind
        if max(self.doubts(chosen)) >= DOUBT[kind]:
            return False
        if kind == "nystroem" and chosen not in self._linear:
            self._linear[chosen] = self._test(chosen, innovations=True)
        return self._linear.get(chosen, 1.0) >= alpha

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

    def _test(self, chosen: Set, innovations: bool = False) -> float:
        fit = self.fine(chosen)
        smoother = fit.smoother
        columns = self.part(chosen)
        if smoother is None:
            return _user_p_value(self, chosen, fit)
        if fit.kind == "linear":  # tested against everything the kernels see, and each column's innovation
            smoother = _with_kernel(smoother, kernel_smoothers(columns, self.y, TEST_LANDMARKS, self.sample, root=self.root))
        own = _direction.innovations(columns, self.root) if innovations or fit.kind == "linear" else []
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

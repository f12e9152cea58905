"""The search: risks of many sets, tests in order of risk until one is accepted, then the smallest that does as well.

The test of independence alone accepts too much at moderate n: among dozens of sets that hold a child of the target, all of
smaller risk than the parents, one passes at alpha = 0.01 in a run out of four (measured). So a set with a p-value between
alpha and SURE is taken only if no set of larger risk does better, and an accepted set must also stand `_direction.against`:
a member that is described clearly better as a child (DOUBT standard errors) rules the set out, and those that are not
described clearly better as parents are dropped unless that costs SPARED standard errors of risk: beside the parents, a
child whose direction cannot be told may leave a residual in which the test sees nothing. All of this can only turn an
answer to a set of larger risk; what it does not settle is said in the status."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from causal.indrm._problem import BETTER, DOUBT, Mapper, Problem, Set, gain, robust_gain

BATCH = 8  # sets that are tested together where there are processes for it
DETERMINED = 1e-6
CLEAR = DOUBT["linear"]  # standard errors by which a member clearly looks like a parent
NARROWLY = 1.5  # standard errors beyond DOUBT up to which a set that was ruled out stays in question
SPARED = 8.5  # standard errors of risk that keep members which do not clearly look like parents
SURE = 0.05  # p-value from which a set is taken at once
LOOKED = 8  # sets beyond the answer that are looked at for rivals, if it is held back


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
    """The smallest admitted set whose risk is not clearly above that of `accepted`."""
    rivals = [s for s in ranked if len(s) < len(accepted) and gain(problem.rough(s), problem.rough(accepted)) < BETTER]
    for s in sorted(rivals, key=lambda s: (len(s), problem.rough(s).risk)):
        if gain(problem.fine(s), problem.fine(accepted)) < BETTER and problem.admits(s, alpha):
            return s
    return accepted


def without_bystanders(problem: Problem, chosen: Set, alpha: float) -> tuple[Set, list[Set]]:
    """The set without members that do not clearly look like parents and together do little for the risk; and, of the larger
    sets on the way, those whose risk is clearly smaller, so that they stay in question."""
    left: list[Set] = []
    smaller: Set | None = chosen
    while smaller is not None:
        chosen, smaller = smaller, None
        keep = {j for j, t in zip(chosen, problem.doubts(chosen), strict=True) if t < -CLEAR}
        parts = [s for size in range(max(1, len(keep)), len(chosen)) for s in combinations(chosen, size) if keep <= set(s)]
        for s in sorted(parts, key=lambda s: (len(s), problem.rough(s).risk)):
            cost = robust_gain(problem.fine(s), problem.fine(chosen))
            if cost < SPARED and problem.admits(s, max(alpha, SURE)):
                left += [chosen] if cost >= BETTER else []
                smaller = s
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
    doubtful = 0.0 if min(doubts) < -CLEAR else -CLEAR  # both directions of an edge may fit: one member must be clear
    if any(t >= doubtful for t in doubts):
        found.append(tuple(j for j, t in zip(chosen, doubts, strict=True) if t < doubtful))
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

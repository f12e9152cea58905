"""Which way does an edge point? Evidence that a member of a set is the target's child, by comparing two descriptions.

A set S passed the test of independence. For a member j of S and T = S without j, the pair (x_j, y) given x_T can be written
as x_j = g(x_T) + e, y = f(x_S) + r, or as y = f'(x_T) + r', x_j = g'(x_T, y) + e'. Both maps have unit determinant, so that
the entropies h(e) + h(r) and h(r') + h(e') differ by the dependence that each leaves between its two residuals: if j is a
parent the first pair is independent as far as r goes, if j is a child of a target that is caused by T, the second (Hyvarinen
and Smith, JMLR 2013, for two linear variables). A test of independence asks whether one description is wrong, and at a
given n may see nothing; the difference of two says which is less wrong. It is 0 where nothing can be told: a linear Gaussian
edge, a column with no part in y. It leans on columns other than y, which the principle does not, so that it only ever
holds back an answer (see `_search`)."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from causal.indrm._smooth import Column, kernel_smoothers, linear_smoother

LANDMARKS, LENGTHS = 60, (1.5,)
DISTINCT = 50  # different values that stand for a density
# maximum-entropy approximation of the differential entropy of a standardised variable, Hyvarinen (1998)
TAILS, SKEWNESS, GAUSSIAN = 79.047, 7.4129, 0.37457
NOTHING_KNOWN = -np.inf


def against(columns: Sequence[Column], y: np.ndarray, linear: bool, sample: np.ndarray,
            root: np.ndarray | None = None) -> tuple[float, ...]:
    """For each column, by how many standard errors "child" describes the data better than "parent"; negative for "parent".

    -inf for what has no density: categories, and numbers of which few differ. `root`: as in `Smoother`."""
    if not _has_density(y):
        return (NOTHING_KNOWN,) * len(columns)
    weights = np.ones(len(y)) if root is None else root**2
    goal = _column(y)
    whole = _left_out(columns, y, linear, sample, root)
    found = []
    for j, column in enumerate(columns):
        if column.scores.shape[1] != 1 or not _has_density(column.raw[:, 0]):
            found.append(NOTHING_KNOWN)
            continue
        rest, x = [c for i, c in enumerate(columns) if i != j], column.raw[:, 0]
        pairs = [(_left_out(rest, x, linear, sample, root), 1), (whole, 1), (_left_out(rest, y, linear, sample, root), -1),
                 (_left_out([*rest, goal], x, linear, sample, root), -1)]
        parts = [(*_entropy(r, weights), sign) for r, sign in pairs]
        difference = sum(sign * value for value, _, sign in parts)
        spread = float(np.std(weights * sum(sign * influence for _, influence, sign in parts))) / np.sqrt(len(y))
        found.append(difference / spread if spread > 0 else 0.0)
    return tuple(found)


def innovations(columns: Sequence[Column], root: np.ndarray | None = None) -> list[np.ndarray]:
    """What each column has that a linear function of the others has not; nothing for categories."""
    n = len(columns[0].raw)
    found = []
    for j, column in enumerate(columns):
        if column.scores.shape[1] == 1:
            x = column.raw[:, 0]
            found.append(x - linear_smoother([c for i, c in enumerate(columns) if i != j], n, root).fit(x))
    return found


def _has_density(values: np.ndarray) -> bool:
    return len(np.unique(values)) >= min(DISTINCT, len(values) // 2)


def _column(y: np.ndarray) -> Column:
    from scipy.special import ndtri

    places = np.empty(len(y))
    places[np.argsort(y, kind="stable")] = np.arange(len(y)) + 0.5
    return Column(ndtri(places / len(y))[:, None], ((y - y.mean()) / y.std())[:, None])


def _left_out(columns: Sequence[Column], goal: np.ndarray, linear: bool, sample: np.ndarray,
              root: np.ndarray | None) -> np.ndarray:
    if linear or not columns:
        return linear_smoother(columns, len(goal), root).left_out(goal)
    return kernel_smoothers(columns, goal, LANDMARKS, sample, lengths=LENGTHS, root=root).left_out(goal)


def _entropy(residual: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Entropy up to a constant, and each row's influence on it (the standardisation's included). Weights have mean 1."""
    def mean(values: np.ndarray) -> float:
        return float(np.mean(weights * values))

    centred = residual - mean(residual)
    scale = float(np.sqrt(mean(centred**2)))
    if scale <= 0:
        return 0.0, np.zeros(len(residual))
    u = centred / scale
    bell = np.exp(-u * u / 2)
    tails, skew = np.logaddexp(u, -u) - np.log(2), u * bell  # log cosh u
    first, second = mean(tails) - GAUSSIAN, mean(skew)
    size = (u * u - 1) / 2
    slope, bend = np.tanh(u), (1 - u * u) * bell
    of_tails = tails - mean(tails) - mean(slope * u) * size - mean(slope) * u
    of_skew = skew - second - mean(bend * u) * size - mean(bend) * u
    value = float(np.log(scale)) - TAILS * first**2 - SKEWNESS * second**2
    return value, size - 2 * TAILS * first * of_tails - 2 * SKEWNESS * second * of_skew

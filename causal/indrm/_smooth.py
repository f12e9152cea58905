"""Linear smoothers of y on a set of columns: hat matrix H = Q diag(w) Q', so that refits of whole batches are two thin
products, and leave-one-out errors need the diagonal only.

With weights w of the rows, H = W^-1/2 Q diag(w) Q' W^1/2: least weighted squares; Q holds functions times sqrt(w)."""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

LENGTHS = (1.0, 2.0)  # of the kernels, in standard deviations; joint kernels times sqrt(columns)
RIDGES = np.geomspace(0.01, 30.0, 9)  # variance of the noise over that of the function, on a grid
LANDMARK_ROWS = 400


class Column(NamedTuple):
    """One variable: `scores` (n, c) for kernels (normal scores of ranks, or indicators), `raw` (n, c) standardised."""

    scores: np.ndarray
    raw: np.ndarray


class Smoother(NamedTuple):
    """H = basis diag(shrink) basis'; the first column is constant; `linear` columns are not shrunk. `root`: square roots of
    the rows' weights, or None."""

    basis: np.ndarray
    shrink: np.ndarray
    linear: int
    leverage: np.ndarray
    squared: np.ndarray  # diagonal of H H'
    length: float = 0.0  # of the kernels, 0 for least squares
    ridge: float = 0.0
    root: np.ndarray | None = None

    def fit(self, y: np.ndarray) -> np.ndarray:
        """H y, for a vector or the columns of an array."""
        if self.root is not None:
            root = self.root[:, None] if y.ndim > 1 else self.root
            return np.asarray(self._replace(root=None).fit(y * root) / root)
        inner = self.basis.T @ y
        return self.basis @ (self.shrink[:, None] * inner if y.ndim > 1 else self.shrink * inner)

    def left_out(self, y: np.ndarray) -> np.ndarray:
        """Leave-one-out residuals."""
        scale = 1 - self.leverage
        return (y - self.fit(y)) / (scale[:, None] if y.ndim > 1 else scale)

    def studentised(self, y: np.ndarray) -> np.ndarray:
        """Residuals divided by what the smoother leaves of a unit noise: equal variances if the noise has them."""
        scale = np.sqrt(np.maximum(1 - 2 * self.leverage + self.squared, 1e-6))
        return (y - self.fit(y)) / (scale[:, None] if y.ndim > 1 else scale)


def smoother_of(basis: np.ndarray, shrink: np.ndarray, linear: int, length: float = 0.0, ridge: float = 0.0,
                root: np.ndarray | None = None) -> Smoother:
    """With its diagonals; leverages are kept below 1."""
    squares = basis * basis
    if root is None:
        squared = squares @ shrink**2
    else:
        scaled = basis * root[:, None]
        squared = np.sum((basis * shrink) @ (scaled.T @ scaled) * (basis * shrink), axis=1) / root**2
    return Smoother(basis, shrink, linear, np.minimum(squares @ shrink, 0.999), squared, length, ridge, root)


def linear_basis(columns: Sequence[Column], n: int, root: np.ndarray | None = None) -> np.ndarray:
    """Orthonormal basis of the constant and the raw columns, times `root`; dependent ones are left out."""
    parts = np.column_stack([np.ones(n), *[c.raw for c in columns]])
    q, r = np.linalg.qr(parts if root is None else parts * root[:, None])
    kept = np.abs(np.diag(r)) > 1e-8 * np.sqrt(n)
    return q[:, kept]


def linear_smoother(columns: Sequence[Column], n: int, root: np.ndarray | None = None) -> Smoother:
    """Least squares."""
    basis = linear_basis(columns, n, root)
    return smoother_of(basis, np.ones(basis.shape[1]), basis.shape[1], root=root)


def kernel_smoothers(columns: Sequence[Column], y: np.ndarray, landmarks: int, sample: np.ndarray,
                     lengths: Sequence[float] = LENGTHS, root: np.ndarray | None = None) -> Smoother:
    """Of the kernels (half joint, half additive, and squares and products of raw columns), the one of least
    leave-one-out error over lengths and ridges. `sample`: rows among which landmarks are chosen."""
    n = len(y)
    q = linear_basis(columns, n, root)
    best, error = None, np.inf
    y = y if root is None else y * root
    for length in lengths:
        phi = _features(columns, length, landmarks, sample)
        phi = phi if root is None else phi * root[:, None]
        phi -= q @ (q.T @ phi)
        values, vectors = np.linalg.eigh(phi.T @ phi)
        kept = values > 1e-9 * max(values[-1], 1e-12)
        values, vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
        basis = np.column_stack([q, phi @ (vectors / np.sqrt(values))])
        shrink = np.vstack([np.ones((q.shape[1], len(RIDGES))), values[:, None] / (values[:, None] + RIDGES)])
        leverage = np.minimum((basis * basis) @ shrink, 0.999)  # n ridges
        left_out = (y[:, None] - basis @ (shrink * (basis.T @ y)[:, None])) / (1 - leverage)
        risks = np.mean(left_out**2, axis=0)
        k = int(np.argmin(risks))
        if risks[k] < error:
            error, best = float(risks[k]), (basis, shrink[:, k], q.shape[1], length, float(RIDGES[k]))
    assert best is not None
    return smoother_of(*best, root=root)


def extended(columns: Sequence[Column], y: np.ndarray, landmarks: int, sample: np.ndarray, smoother: Smoother) -> np.ndarray:
    """The smoother's function at all rows of the columns, of which the first len(y) are those it was fitted on."""
    n = len(y)
    root = np.ones(n) if smoother.root is None else smoother.root
    design = np.column_stack([np.ones(len(columns[0].raw)), *[c.raw for c in columns]]) if columns else np.ones((n, 1))
    inverse = np.linalg.pinv(design[:n] * root[:, None]) * root
    if not smoother.length:
        return np.asarray(design @ (inverse @ y))
    phi = _features(columns, smoother.length, landmarks, sample)
    phi = phi - design @ (inverse @ phi[:n])
    inner = phi[:n] * root[:, None]
    values, vectors = np.linalg.eigh(inner.T @ inner)
    kept = values > 1e-9 * max(values[-1], 1e-12)
    weights = vectors[:, kept] @ ((vectors[:, kept].T @ (inner.T @ (y * root))) / (values[kept] + smoother.ridge))
    return np.asarray(design @ (inverse @ y) + phi @ weights)


def _features(columns: Sequence[Column], length: float, landmarks: int, sample: np.ndarray) -> np.ndarray:
    """Nystroem features of the kernel, and weakly shrunk squares and products."""
    scores = [c.scores for c in columns]
    part = [s[sample] for s in scores]
    at = sample[_pivots(_kernel(part, part, length), landmarks)]
    points = [s[at] for s in scores]
    lower = np.linalg.cholesky(_kernel(points, points, length) + 1e-7 * np.eye(len(at)))
    phi = np.linalg.solve(lower, _kernel(points, scores, length)).T
    raw = np.column_stack([c.raw for c in columns])
    if raw.shape[1] <= 6:
        squares = [np.clip(raw[:, i] * raw[:, j], -20, 20) for i in range(raw.shape[1]) for j in range(i, raw.shape[1])]
        phi = np.column_stack([phi, *squares])
    return phi


def _kernel(left: Sequence[np.ndarray], right: Sequence[np.ndarray], length: float) -> np.ndarray:
    """Half the product of Gaussian kernels, half their mean, (rows of left, rows of right)."""
    together: np.ndarray | float = 0.0
    apart: np.ndarray | float = 0.0
    for a, b in zip(left, right, strict=True):
        d = sum((a[:, c, None] - b[None, :, c]) ** 2 for c in range(a.shape[1]))
        together = together + d / len(left)
        apart = apart + np.exp(-d / (2 * length**2)) / len(left)
    if len(left) == 1:
        return np.asarray(apart)
    return np.asarray(0.5 * np.exp(-np.asarray(together) / (2 * length**2)) + 0.5 * apart)


def _pivots(gram: np.ndarray, landmarks: int) -> list[int]:
    """Pivots of an incomplete Cholesky factorisation: no two rows that say the same."""
    left = np.diag(gram).copy()
    factor = np.zeros((len(gram), min(landmarks, len(gram))))
    pivots: list[int] = []
    for r in range(factor.shape[1]):
        i = int(np.argmax(left))
        if left[i] < 1e-5:
            break
        factor[:, r] = (gram[:, i] - factor[:, :r] @ factor[i, :r]) / np.sqrt(left[i])
        left = np.maximum(left - factor[:, r] ** 2, 0.0)
        pivots.append(i)
    return pivots

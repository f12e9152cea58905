"""Is a residual independent of the columns it was regressed on? A calibrated test for estimated residuals.

Statistic. Ranks of the residual go through Legendre polynomials h_1 ... h_4: h_2 sees the conditional variance (which is
what a descendant of the target mostly disturbs), h_3 skewness, h_4 tails, h_1 misfit. For each, the sum of squared
products with (P) an orthonormal basis of the columns' normal scores, their squares and products, and (R) the smoother's
own basis, weighted by its shrinkage: an HSIC of the rank with the smoother's kernel. For least squares a third, (E): the
same polynomials of the ranks of each column's innovation, what the other columns do not explain of it linearly; in a linear
model with a child of the target, residual and innovation are two mixtures of the same two noises, and nothing else dilutes
their dependence. Eight or twelve statistics; -log of their p-values are added up, and the sum has its own null law from the
same replicates.

Null law. Residual bootstrap through the same smoother: y* = pilot + resampled residual, refitted. Three corrections bring the
size near its level (`benchmarks/parents.py size`). Fitted residuals are a blurred version of the noise, so the pool is
sharpened until its own refitted residuals have the quantiles of the observed ones. The pilot is shrunk less than the fit, so
that the fit's bias is in y* too. The tenth of the rows of largest leverage, where the bias is largest, is not looked at."""
from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from causal.indrm._smooth import Column, Smoother, smoother_of

PILOT = 0.03  # the pilot's ridge over the fit's
SHARPENINGS = 4
TRUSTED = 0.9  # share of the rows, by leverage, that the statistic looks at
SHARPENING_REPLICATES = 20
SMALLEST = float(np.finfo(float).tiny)


def p_value(smoother: Smoother, columns: Sequence[Column], y: np.ndarray, replicates: int, seed: int,
            innovations: Sequence[np.ndarray] = ()) -> float:
    """p-value of "y minus the smoother's function is independent of the columns"; never 0.

    innovations   functions (n,) of the columns that are looked at one by one"""
    rng = np.random.default_rng(seed)
    residual = smoother.studentised(y)
    pilot = _pilot(smoother).fit(y)
    pool = _sharpened(smoother, residual, pilot, rng)
    drawn = pilot[:, None] + pool[rng.integers(0, len(y), size=(len(y), replicates))]
    return _combined(smoother, columns, residual, smoother.studentised(drawn), innovations)


def bootstrap_p_value(looked_at: Smoother, columns: Sequence[Column], residual: np.ndarray, fitted: np.ndarray,
                      residuals_of: Callable[[np.ndarray], np.ndarray], replicates: int, seed: int) -> float:
    """The same for any regression: `residuals_of` refits the columns of an array of targets; no corrections."""
    rng = np.random.default_rng(seed)
    pool = residual - residual.mean()
    drawn = fitted[:, None] + pool[rng.integers(0, len(pool), size=(len(pool), replicates))]
    return _combined(looked_at, columns, residual, residuals_of(drawn))


def _combined(smoother: Smoother, columns: Sequence[Column], residual: np.ndarray, replicates: np.ndarray,
              innovations: Sequence[np.ndarray] = ()) -> float:
    kept = smoother.leverage <= np.quantile(smoother.leverage, TRUSTED)
    basis, polynomials = (m[kept] - m[kept].mean(axis=0) for m in (smoother.basis[:, 1:], _polynomials(columns)))
    own = [np.column_stack(_legendre(_places(e[kept][:, None])[:, 0])) for e in innovations]
    alone = np.column_stack([m - m.mean(axis=0) for m in own]) if own else None
    found = _statistics(basis, smoother.shrink[1:], polynomials, alone, np.column_stack([residual[kept], replicates[kept]]))
    evidence = -np.log(np.maximum([_tails(row) for row in found], SMALLEST)).sum(axis=0)
    return float(max(_tails(evidence)[0], SMALLEST))


def _pilot(smoother: Smoother) -> Smoother:
    s = smoother.shrink.copy()
    rest = slice(smoother.linear, None)
    s[rest] = s[rest] / (s[rest] + PILOT * (1 - s[rest]))
    return smoother_of(smoother.basis, s, smoother.linear, root=smoother.root)


def _sharpened(smoother: Smoother, residual: np.ndarray, pilot: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A pool whose refitted residuals have about the quantiles of the observed residuals."""
    n = len(residual)
    wanted = np.sort(residual - residual.mean())
    pool = wanted.copy()
    picks = rng.integers(0, n, size=(n, SHARPENING_REPLICATES))
    for _ in range(SHARPENINGS):
        seen = np.sort(smoother.studentised(pilot[:, None] + pool[picks]), axis=None)
        pool = np.sort(pool + wanted - seen.reshape(n, -1).mean(axis=1))
        pool -= pool.mean()
    return pool


def _polynomials(columns: Sequence[Column]) -> np.ndarray:
    """Orthonormal basis of normal scores, squares and products, without the constant; squares only beyond six scores."""
    g = np.column_stack([c.scores for c in columns])
    width = g.shape[1]
    pairs = [(i, j) for i in range(width) for j in range(i, width) if i == j or width <= 6]
    parts = np.column_stack([g, *[g[:, i] * g[:, j] for i, j in pairs]])
    q, r = np.linalg.qr(np.column_stack([np.ones(len(g)), parts]))
    return q[:, 1:][:, np.abs(np.diag(r))[1:] > 1e-8 * np.sqrt(len(g))]


def _statistics(basis: np.ndarray, weights: np.ndarray, polynomials: np.ndarray, alone: np.ndarray | None,
                residuals: np.ndarray) -> np.ndarray:
    """Eight or twelve statistics (rows) of each column of residuals."""
    rows = []
    for h in _legendre(_places(residuals)):
        rows.append(np.sum((polynomials.T @ h) ** 2, axis=0))
        rows.append(weights @ (basis.T @ h) ** 2)
        if alone is not None:
            rows.append(np.sum((alone.T @ h) ** 2, axis=0))
    return np.asarray(rows)


def _places(values: np.ndarray) -> np.ndarray:
    """Ranks in each column, from -1 to 1."""
    n = len(values)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, np.argsort(values, axis=0, kind="stable"), np.arange(n, dtype=float)[:, None], axis=0)
    return (2 * ranks + 1) / n - 1


def _legendre(u: np.ndarray) -> list[np.ndarray]:
    """Polynomials 1 to 4, orthonormal for u uniform on (-1, 1)."""
    squares = u * u
    return [np.sqrt(3) * u, np.sqrt(5) / 2 * (3 * squares - 1), np.sqrt(7) / 2 * u * (5 * squares - 3),
            3 / 8 * (squares * (35 * squares - 30) + 3)]


def _tails(values: np.ndarray) -> np.ndarray:
    """For the observed value, the first, P(gamma law with the mean and variance of the others >= value); for each of the
    others the same against the rest of them, so that it is as far from its own null law as the observed value is."""
    from scipy.special import gammaincc

    null = values[1:]
    rest = len(null) - 1
    mean = np.concatenate([[null.mean()], (null.sum() - null) / rest])
    centred = null - null.mean()
    squares = float(centred @ centred)
    variance = np.concatenate([[squares / rest], (squares - centred**2 * len(null) / rest) / (rest - 1)])
    if variance[0] <= (1e-12 * mean[0]) ** 2:
        return np.ones(len(values))
    variance = np.maximum(variance, 1e-9 * variance[0])
    return np.asarray(gammaincc(mean**2 / variance, np.maximum(values, 0.0) * mean / variance))

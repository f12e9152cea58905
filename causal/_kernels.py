"""Gaussian kernels of samples whose rows are scaled so that K_ij = exp(-|x_i - x_j|^2): moments, features, null law."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

MEDIAN_ROWS = 1000
DENSE = 1500  # rows up to which matrices are held; beyond, compiled loops with O(n) memory
SUBSAMPLE = 1500  # rows among which landmarks are chosen
HIGHEST, BEYOND = 8.2, 4.4  # frequency and distance beyond which the Gaussian is below 1e-8


class Moments(NamedTuple):
    """HSIC, and of each centred kernel matrix W: tr W, tr W^2 and the sum of squares of its diagonal."""

    n: int
    statistic: float
    first: tuple[float, float, float]
    second: tuple[float, float, float]


def rows_of(values: Any, name: str) -> np.ndarray:
    """Values as (n, columns). ValueError, with the name, unless they are finite numbers."""
    if np.iscomplexobj(values):
        raise ValueError(f"{name} holds complex numbers; need real ones")
    try:
        rows = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={values!r} must hold numbers") from None
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"{name} has shape {np.shape(values)}; need (n,) or (n, columns), not empty")
    if not np.isfinite(rows).all():
        row, column = map(int, np.argwhere(~np.isfinite(rows))[0])
        raise ValueError(f"{name} has the value {rows[row, column]} in row {row}, column {column}; need finite numbers")
    return rows


def squares(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Squared distances (len a, len b), by differences: the expansion into squares would cancel."""
    result = a[:, :1] - b[:, 0]
    result *= result
    for column in range(1, a.shape[1]):
        difference = a[:, column, None] - b[:, column]
        difference *= difference
        result += difference
    return np.asarray(result)


def median_distance(rows: np.ndarray) -> float:
    """Median of |u_i - u_j|, i < j; 1 where that is 0 (more than half of the rows agree) and no distance is positive,
    else the least positive median of the others."""
    if len(rows) > MEDIAN_ROWS:
        rows = rows[np.random.default_rng(0).permutation(len(rows))[:MEDIAN_ROWS]]
    if rows.shape[1] == 1 and len(rows) > 100 and (middle := _median_of_differences(np.sort(rows[:, 0]))):
        return middle
    distances = squares(rows, rows)[np.triu_indices(len(rows), 1)]
    return _root_median(distances) or _root_median(distances[distances > 0]) or 1.0


def _root_median(values: np.ndarray) -> float:
    """Median of the square roots; 0 of nothing."""
    upper = len(values) // 2
    lower = upper - (len(values) + 1) % 2
    return float(np.sqrt(np.partition(values, (lower, upper))[[lower, upper]]).mean()) if len(values) else 0.0


def _median_of_differences(u: np.ndarray) -> float:
    """Median of u_j - u_i, i < j, of increasing u: bisection by counts until few pairs are left, which are listed."""
    n = len(u)
    pairs = n * (n - 1) // 2
    ranks = (pairs - 1) // 2, pairs // 2
    own = np.arange(1, n + 1)
    low, high = 0.0, float(u[-1] - u[0])
    first, last = own, np.full(n, n)  # of row i, the pairs in (low, high] have first_i <= j < last_i
    for _ in range(60):
        if int((last - first).sum()) <= n or not low < (middle := (low + high) / 2) < high:
            break
        found = np.maximum(np.searchsorted(u, u + middle, side="right"), own)
        if int((found - own).sum()) > ranks[0]:
            high, last = middle, found
        else:
            low, first = middle, found
    below, sizes = int((first - own).sum()), last - first
    rows = np.repeat(np.arange(n), sizes)
    left = np.sort(u[np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + first[rows]] - u[rows])
    if ranks[1] - below >= len(left):  # the upper of the two middle pairs lies just beyond
        beyond = last < n
        left = np.append(left, (u[np.minimum(last, n - 1)] - u)[beyond].min())
    return float((left[ranks[0] - below] + left[ranks[1] - below]) / 2)


def moments_exact(u: np.ndarray, v: np.ndarray) -> Moments:
    """From every pair of rows."""
    n = len(u)
    if n <= DENSE:
        k, l = np.exp(-squares(u, u)), np.exp(-squares(v, v))
        rows_k, rows_l = k.sum(axis=1), l.sum(axis=1)
        both, kk, ll = float(np.sum(k * l)), float(np.sum(k * k)), float(np.sum(l * l))
    else:
        from causal._pairs import kernel_sums

        rows_k, rows_l = np.ones(n), np.ones(n)  # the diagonal
        both, kk, ll = (2 * s + n for s in kernel_sums(np.ascontiguousarray(u.T), np.ascontiguousarray(v.T), rows_k, rows_l))
    total_k, total_l = float(rows_k.sum()), float(rows_l.sum())
    statistic = max((both - 2 * float(np.dot(rows_k, rows_l)) / n + total_k * total_l / n**2) / n**2, 0.0)  # rounding
    return Moments(n, statistic, _centred(rows_k, kk), _centred(rows_l, ll))


def _centred(rows: np.ndarray, squared: float) -> tuple[float, float, float]:
    """tr, tr of the square and squared diagonal of H K H, from row sums and sum of squares of K (diagonal 1)."""
    n, total = len(rows), float(rows.sum())
    diagonal = 1 - 2 * rows / n + total / n**2
    return (n - total / n, squared - 2 * float(np.dot(rows, rows)) / n + total**2 / n**2, float(np.dot(diagonal, diagonal)))


def moments_of_features(phi: np.ndarray, psi: np.ndarray) -> Moments:
    """The same for kernels whose centred features are phi and psi."""
    n = len(phi)
    parts = []
    for f in (phi, psi):
        diagonal = np.einsum("ij,ij->i", f, f)
        gram = f.T @ f
        parts.append((float(diagonal.sum()), float(np.sum(gram * gram)), float(np.dot(diagonal, diagonal))))
    return Moments(n, float(np.sum((phi.T @ psi) ** 2)) / n**2, parts[0], parts[1])


def permutation_moments(m: Moments) -> tuple[float, float]:
    """Mean and variance of HSIC over all n! permutations of the rows of one sample, exactly.

    Kazi-Aoual, Hitier, Sabatier and Lebreton (1995), for the RV coefficient's numerator tr(W V)."""
    n, (t, t2, s2), (u, u2, r2) = m.n, m.first, m.second
    mean = t * u / (n - 1)
    spread = 2 * ((n - 1) * t2 - t * t) * ((n - 1) * u2 - u * u) / ((n - 1) ** 2 * (n + 1) * (n - 2))
    tails = ((n * (n + 1) * s2 - (n - 1) * (t * t + 2 * t2)) * (n * (n + 1) * r2 - (n - 1) * (u * u + 2 * u2))
             / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3)))
    return mean / n**2, max(spread + tails, 0.0) / n**4


def permutation_gamma(m: Moments) -> float:
    """P(gamma law of these moments >= statistic), at least the smallest positive float."""
    from scipy.special import gammaincc

    mean, variance = permutation_moments(m)
    if mean <= 0 or variance <= (1e-12 * mean) ** 2:  # a constant sample: nothing could be seen
        return 1.0
    return max(float(gammaincc(mean**2 / variance, m.statistic * mean / variance)), float(np.finfo(float).tiny))


class Features(NamedTuple):
    """K = F F' + D + E with D positive semidefinite, tr D <= n lost, and no |E_ij| above wrong; `values` = H F."""

    values: np.ndarray
    lost: float
    wrong: float


def features(rows: np.ndarray, seed: int, most: int) -> Features:
    """At most `most` features: the kernel's Fourier series for a column that is short enough, else Nystroem's."""
    if rows.shape[1] == 1:
        length = float(np.ptp(rows))
        step = 2 * np.pi / (length + BEYOND)
        count = int(np.ceil(HIGHEST / step))
        if length > 0 and 2 * count <= most:
            return _centred_features(_harmonics(rows[:, 0], length, step, count))
    return _centred_features(_nystroem(rows, seed, most))


def _centred_features(f: Features) -> Features:
    f.values[...] -= f.values.mean(axis=0)  # in place: memory that is new to the process costs more than the arithmetic
    return f


def _harmonics(u: np.ndarray, length: float, step: float, count: int) -> Features:
    """Sines and cosines, by recurrence: one of each a row, no exponentials; (n, 2 count), without the constant.

    By Poisson's formula the sum over all integers j of w_j cos(j step t), w_j = step exp(-(j step / 2)^2) / (2 sqrt pi), is
    exp(-t^2) and its copies a period = 2 pi / step away: E holds the copies, of which |t| <= length sees at most the two
    nearest and next to nothing of the others; D is the tail of the sum, whose coefficients are positive."""
    angle = (u - (u.min() + u.max()) / 2) * step
    waves = np.empty((2 * count, len(u)))
    cosines, sines = waves[:count], waves[count:]
    twice = 2 * np.cos(angle, out=cosines[0])
    np.sin(angle, out=sines[0])
    for part, before in ((cosines, 1.0), (sines, 0.0)):  # cos and sin (j+1)a = 2 cos a (cos or sin ja) - cos or sin (j-1)a
        for j in range(1, count):
            np.multiply(twice, part[j - 1], out=part[j])
            part[j] -= part[j - 2] if j > 1 else before
    weights = step / np.sqrt(np.pi) * np.exp(-((step * np.arange(1, count + 1) / 2) ** 2))
    waves *= np.sqrt(np.tile(weights, 2))[:, None]
    copies = 2.01 * float(np.exp(-((2 * np.pi / step - length) ** 2)))
    return Features(waves.T, max(1 - step / (2 * np.sqrt(np.pi)) - float(weights.sum()), 0.0) + copies, copies)


def _nystroem(rows: np.ndarray, seed: int, landmarks: int) -> Features:
    """Landmarks are the pivots of an incomplete Cholesky factorisation of a subsample: no two close to each other."""
    n = len(rows)
    chosen = np.arange(n) if n <= SUBSAMPLE else np.sort(np.random.default_rng(seed).permutation(n)[:SUBSAMPLE])
    sample = rows[chosen]
    left, factor = np.ones(len(sample)), np.zeros((len(sample), min(landmarks, len(sample))))
    pivots: list[int] = []
    for r in range(factor.shape[1]):
        i = int(np.argmax(left))
        if left[i] < 1e-7:
            break
        column = np.exp(-squares(sample, sample[i:i + 1]))[:, 0] - factor[:, :r] @ factor[i, :r]
        factor[:, r] = column / np.sqrt(left[i])
        left = np.maximum(left - factor[:, r] ** 2, 0.0)
        pivots.append(i)
    points = sample[pivots]
    lower = np.tril(factor[pivots, :len(pivots)])  # Cholesky factor of K at the landmarks
    inverse = np.linalg.solve(lower, np.eye(len(pivots)))
    kernel = squares(rows, points)
    np.exp(np.negative(kernel, out=kernel), out=kernel)
    phi = kernel @ inverse.T
    return Features(phi, float(max(n - np.vdot(phi, phi), 0.0) / n), 0.0)

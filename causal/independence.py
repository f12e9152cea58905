"""Are two samples independent? HSIC exactly in O(n) memory, from few features with a proven error, and its test;
distance covariance of two columns in n log n.

Notation  K_ij = exp(-|x_i - x_j|^2 / (2 b^2)), L likewise of y, H = I - 1/n; HSIC = tr(K H L H) / n^2, the biased
          V-statistic of Gretton et al. (ALT 2005). Samples are vectors (n,) or arrays (n, columns)."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from causal._kernels import features, median_distance, moments_exact, moments_of_features, permutation_gamma, rows_of

__all__ = ["Estimate", "distance_covariance", "hsic", "hsic_estimate", "hsic_test"]

METHODS = ("auto", "exact", "nystroem")
AUTO_EXACT = 4000  # rows up to which "auto" goes through all pairs
SEED = 0


class Estimate(NamedTuple):
    """HSIC of few features, and by how much the exact value can at most be larger (it is never smaller)."""

    value: float
    error: float


def hsic(x: Any, y: Any, *, method: str = "auto", bandwidth: float | None = None) -> float:
    """tr(K H L H) / n^2 with Gaussian kernels: 0 in the limit iff x and y are independent.

    bandwidth   of both kernels; None takes for each the median distance of its rows (beyond 1000 rows: of the first
                1000 after a seeded shuffle)
    method      "exact": every pair, O(n) memory; "nystroem": low rank, O(n), Nystroem features or for a single column
                without far outliers the kernel's Fourier series; "auto": exact up to 4000 rows
    ValueError for fewer than 2 rows, other lengths, nan or inf, bandwidth not positive, an unknown method.

    >>> round(hsic([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], bandwidth=1.0), 6)
    0.089281
    """
    u, v = _scaled(x, y, bandwidth)
    if _exact(method, len(u)):
        return moments_exact(u, v).statistic
    return _estimate(u, v, SEED).value


def hsic_estimate(x: Any, y: Any, *, bandwidth: float | None = None, landmarks: int = 60,
                  random_state: int | None = None) -> Estimate:
    """HSIC from at most `landmarks` features a sample, with a bound on what they miss.

    The exact HSIC lies in [value, value + error]: what the features leave of each kernel matrix is positive semidefinite,
    of known trace, up to entries of known size (below 1e-8; 0 for Nystroem features). Errors as in `hsic`, and for
    `landmarks` that is no positive integer (TypeError, ValueError)."""
    if isinstance(landmarks, bool) or not isinstance(landmarks, (int, np.integer)):
        raise TypeError(f"landmarks={landmarks!r} must be an integer")
    if landmarks < 1:
        raise ValueError(f"landmarks={landmarks} must be at least 1")
    u, v = _scaled(x, y, bandwidth)
    return _estimate(u, v, SEED if random_state is None else random_state, landmarks)


def hsic_test(x: Any, y: Any, *, method: str = "auto", bandwidth: float | None = None,
              random_state: int | None = None) -> tuple[float, float]:
    """(HSIC, p-value of independence); the p-value is never 0.

    The null law is the gamma law with the mean and variance that HSIC has, exactly, over all permutations of the rows:
    no permutation is drawn, so that the p-value has no resolution. `random_state` moves the Nystroem landmarks only; None
    is a fixed seed. Errors as in `hsic`, and ValueError for fewer than 6 rows."""
    u, v = _scaled(x, y, bandwidth)
    if len(u) < 6:
        raise ValueError(f"x has {len(u)} rows; the test needs at least 6")
    if _exact(method, len(u)):
        moments = moments_exact(u, v)
    else:
        seed = SEED if random_state is None else random_state
        moments = moments_of_features(features(u, seed, 60).values, features(v, seed, 60).values)
    return moments.statistic, permutation_gamma(moments)


def distance_covariance(x: Any, y: Any) -> float:
    """Squared distance covariance (V-statistic) of two columns, in n log n operations: 0 in the limit iff independent.

    Szekely, Rizzo and Bakirov (2007); sums over pairs by a Fenwick tree over ranks. ValueError for columns that are not
    vectors of one length >= 2, nan or inf, or so large that the result is no float.

    >>> distance_covariance([0.0, 1.0], [0.0, 3.0])
    0.75
    """
    u, v = rows_of(x, "x"), rows_of(y, "y")
    if u.shape[1] != 1 or v.shape[1] != 1:
        raise ValueError(f"x has shape {np.shape(x)}, y {np.shape(y)}; need two vectors")
    _same_rows(u, v)
    order = np.argsort(u[:, 0], kind="stable")
    powers = [int(np.frexp(np.abs(w).max())[1]) for w in (u, v)]  # taken out: sums of values near 1e308 are no floats
    a, b = (w - w.mean() for w in (np.ldexp(w[order, 0], -power) for w, power in zip((u, v), powers, strict=True)))
    values, inverse = np.unique(b, return_inverse=True)
    from causal._pairs import products_of_distances

    n = len(a)
    both = 2 * products_of_distances(a, b, inverse.reshape(-1).astype(np.int64) + 1, len(values))
    rows_a, rows_b = _distances(a), _distances(b)
    scaled = float(both / n**2 - 2 * np.dot(rows_a, rows_b) / n**3 + rows_a.sum() * rows_b.sum() / n**4)
    with np.errstate(over="ignore"):
        result = float(np.ldexp(scaled, sum(powers)))
    if not np.isfinite(result):
        raise ValueError("the distance covariance of x and y is no float, beyond 1.8e308; take another unit")
    return result


def _distances(a: np.ndarray) -> np.ndarray:
    """For each value the sum of its distances to all."""
    n, order = len(a), np.argsort(a, kind="stable")
    ordered = a[order]
    below = np.concatenate([[0.0], np.cumsum(ordered)[:-1]])
    ranks = np.arange(n)
    sums = ordered * ranks - below + (ordered.sum() - below - ordered) - ordered * (n - 1 - ranks)
    result = np.empty(n)
    result[order] = sums
    return result


def _estimate(u: np.ndarray, v: np.ndarray, seed: int, landmarks: int = 60) -> Estimate:
    n = len(u)
    (phi, lost_x, wrong_x), (psi, lost_y, wrong_y) = features(u, seed, landmarks), features(v, seed, landmarks)
    value = float(np.sum((phi.T @ psi) ** 2) / n**2)
    # K = K~ + D + E, L = L~ + D' + E': tr(KHLH) - tr(K~HL~H) = tr(DHLH) + tr(K~HD'H) + tr(EHLH) + tr(K~HE'H). The first
    # two are at least 0 and at most tr D |HLH| and tr D' |HK~H|, |HLH| <= |HL~H| + tr D' + n |E'|; the others are at most
    # n |E| tr L and n |E'| tr K~ either way, since |(HLH)_ij|^2 <= (HLH)_ii (HLH)_jj
    top_x, top_y = (float(np.linalg.eigvalsh(f.T @ f / n)[-1]) for f in (phi, psi))
    either = wrong_x + wrong_y * (1 + wrong_x)
    above = lost_x * (top_y + lost_y + wrong_y) + lost_y * top_x
    return Estimate(max(value - either, 0.0), above + 2 * either)


def _exact(method: str, n: int) -> bool:
    if method not in METHODS:
        raise ValueError(f"method={method!r} must be one of {', '.join(METHODS)}")
    return method == "exact" or (method == "auto" and n <= AUTO_EXACT)


def _scaled(x: Any, y: Any, bandwidth: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows divided by sqrt(2) b, so that kernels are exp(-squared distance); about their median, as a common offset would
    cost digits of the quotient."""
    u, v = rows_of(x, "x"), rows_of(y, "y")
    _same_rows(u, v)
    if bandwidth is not None and not (isinstance(bandwidth, (int, float, np.number)) and 0 < bandwidth < np.inf):
        raise ValueError(f"bandwidth={bandwidth!r} must be positive and finite")
    return _about_median(u, bandwidth), _about_median(v, bandwidth)


def _about_median(rows: np.ndarray, bandwidth: float | None) -> np.ndarray:
    """Powers of two are taken out first: squares of values beyond 1e154 or below 1e-162 would be no floats."""
    power = int(np.frexp(np.abs(rows).max())[1])
    centred = np.ldexp(rows, -power)
    centred -= np.median(centred, axis=0)
    rest = int(np.frexp(np.abs(centred).max())[1])
    centred = np.ldexp(centred, -rest)
    width = median_distance(centred) if bandwidth is None else float(np.ldexp(bandwidth, -power - rest))
    if not 1e-150 < width < np.inf:
        raise ValueError(f"bandwidth={bandwidth!r} must lie within 150 orders of magnitude of the spread of x and of y")
    return np.asarray(centred / (np.sqrt(2) * width))


def _same_rows(u: np.ndarray, v: np.ndarray) -> None:
    if len(u) != len(v) or len(u) < 2:
        raise ValueError(f"x has {len(u)} rows, y {len(v)}; need the same number, at least 2")

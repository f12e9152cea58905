"""Closed forms on a user's data: the unbiased estimator of pass@k, policy-gradient weights, an interval over tasks."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Interval", "advantages", "mean_interval", "pass_at_k", "whole_numbers"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_LARGEST = 2.0 ** 53  # beyond it a float no longer tells neighbouring integers apart


class Interval(NamedTuple):
    """A mean with its confidence interval; all three in the unit of the values."""

    mean: float
    lower: float
    upper: float


def pass_at_k(n: Any, c: Any, k: Any) -> Any:
    """The unbiased estimate 1 - C(n-c, k) / C(n, k) of P(at least one of k samples passes).

    `n` samples were drawn for a task and `c` of them passed; integers or integer arrays, broadcast against each other.
    A float for scalars, a float64 array otherwise. Exactly 0 where c = 0 or k = 0, exactly 1 where n - c < k; relative
    error below 1e-12 for n up to 10^6. ValueError: c > n, k > n (n < k samples carry no unbiased estimate), negative
    or not whole numbers. Source: public literature; the estimator of the HumanEval benchmark.

    >>> round(pass_at_k(5, 2, 2), 12)
    0.7"""
    arrays = [whole_numbers(value, name) for value, name in ((n, "n"), (c, "c"), (k, "k"))]
    try:
        total, passed, drawn = np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise ValueError(f"n, c, k have shapes {shapes}, which do not broadcast") from None
    _refuse(passed > total, "c", passed, total, "at most n: no more samples pass than were drawn")
    _refuse(drawn > total, "k", drawn, total, "at most n: an unbiased estimate of pass@k takes n >= k samples")
    triples, where = np.unique(np.stack([total.ravel(), passed.ravel(), drawn.ravel()], axis=1), axis=0,
                               return_inverse=True)  # tasks 3
    values = np.array([_estimate(*map(int, triple)) for triple in triples], dtype=np.float64)
    found = values[where.ravel()].reshape(total.shape) if triples.size else np.zeros(total.shape)
    return float(found) if found.ndim == 0 else found


def _estimate(n: int, c: int, k: int) -> float:
    """1 - C(n-c, k) / C(n, k) = 1 - prod_{i = n-a+1}^{n} (1 - b/i), where a is the lesser of c and k, b the other."""
    if c == 0 or k == 0:
        return 0.0
    if n - c < k:
        return 1.0
    a, b = min(c, k), max(c, k)
    # a sum of logarithms keeps the relative accuracy of small estimates, which 1 - product would lose
    return float(-np.expm1(np.log1p(-b / np.arange(n - a + 1, n + 1, dtype=np.float64)).sum()))


def advantages(rewards: Any, k: int, *, centre: bool = False) -> Floats:
    """Weights (g, n) of the samples' scores whose sum estimates the gradient of pass@k without bias.

    `rewards` (g, n) holds 0 or 1: g groups of n samples of one prompt each. In a group with c correct samples a correct
    one weighs k/n and an incorrect one (k/n)(1 - C(n-1-c, k-1) / C(n-1, k-1)). `centre` subtracts the group's mean,
    which multiplies the expected gradient by 1 - k/n; it is refused at k = n, where nothing would be left.
    ValueError: rewards not (g, n) or not 0 and 1, k < 1, k > n, k = n with centre. Source: arXiv 2505.15201."""
    table = np.asarray(rewards)
    if table.ndim != 2 or table.shape[1] < 1:
        raise ValueError(f"rewards has shape {table.shape}; need (groups, samples) with at least one sample")
    if table.dtype.kind not in "biuf" or not np.isin(table, (0, 1)).all():
        raise ValueError(f"rewards={table!r} must hold 0 and 1 only")
    size, drawn = table.shape[1], int(_one_count(k, "k"))
    if not 1 <= drawn <= size:
        raise ValueError(f"k={drawn} must lie between 1 and the number of samples in a group, n={size}")
    if centre and drawn == size:
        raise ValueError(f"k={drawn} equals n={size}: centring makes every weight zero, so that nothing is trained; "
                         "draw more samples than k, or pass centre=False")
    correct = table.astype(bool)  # groups samples
    others = correct.sum(axis=1)
    # an incorrect sample exists only where c <= n-1; a full group's entry is not used
    rescued = pass_at_k(size - 1, np.minimum(others, size - 1), drawn - 1)  # groups
    weights: Floats = drawn / size * np.where(correct, 1.0, rescued[:, None])
    return weights - weights.mean(axis=1, keepdims=True) if centre else weights


def mean_interval(values: Any, level: float = 0.95) -> Interval:
    """Mean of `values` (m,), each in [0, 1], with a two-sided interval at `level` over the tasks they come from.

    Student's t over tasks, cut to [0, 1]: the tasks count as a random sample, and the spread between their estimates
    holds the noise of the n samples within a task too. Where all tasks agree, or there is one, the t interval would be
    a point; Wilson's interval for a proportion is given there (an average of values in [0, 1] varies at most as much
    as a proportion does). ValueError: empty, nan or outside [0, 1], level outside (0, 1)."""
    from scipy.special import ndtri, stdtrit  # quantiles of the normal law and of Student's t

    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not found.size or not ((found >= 0) & (found <= 1)).all():
        raise ValueError(f"values={found!r} must be one or more numbers in [0, 1]")
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie strictly between 0 and 1")
    m, mean, tail = found.size, float(found.mean()), (1 + level) / 2
    if m > 1 and np.ptp(found) > 0:
        half = float(stdtrit(m - 1, tail)) * float(found.std(ddof=1)) / m ** 0.5
        centre = mean
    else:
        z = float(ndtri(tail))
        centre = (mean + z * z / (2 * m)) / (1 + z * z / m)
        half = z / (1 + z * z / m) * (mean * (1 - mean) / m + (z / (2 * m)) ** 2) ** 0.5
    return Interval(mean, max(0.0, min(mean, centre - half)), min(1.0, max(mean, centre + half)))


def whole_numbers(value: Any, name: str) -> Counts:
    """`value` as int64. ValueError naming it for anything but whole numbers >= 0; truth values are refused too."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name}={value!r} must be a whole number or an array of them, not {array.dtype}")
    bad = ~((array >= 0) & (array <= _LARGEST))
    if array.dtype.kind == "f":
        bad |= array != np.floor(array)
    if bad.any():
        raise ValueError(f"{name}={array[bad].flat[0]} must be a whole number from 0 to 2^53")
    return array.astype(np.int64)


def _one_count(value: Any, name: str) -> Any:
    array = whole_numbers(value, name)
    if array.ndim:
        raise ValueError(f"{name}={value!r} must be one number")
    return array


def _refuse(bad: NDArray[np.bool_], name: str, values: Counts, total: Counts, needed: str) -> None:
    if bad.any():
        raise ValueError(f"{name}={values[bad].flat[0]} with n={total[bad].flat[0]} must be {needed}")

"""Exponents of power laws from simulated values: the slope of a log-log line, with an interval.

Notation  n = width;  v = a value measured at that width with one seed;  v ~ n^slope"""
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from simulations._arguments import between

__all__ = ["Exponent", "fit_exponent", "slope_weights"]

RESAMPLES = 4000


class Exponent(NamedTuple):
    """A slope and the ends of its interval; the ends are infinite where the data do not bound them."""

    slope: float
    lower: float
    upper: float


def fit_exponent(widths: Any, values: Any, level: float = 0.95) -> Exponent:
    """The least-squares slope of log(root mean square over seeds) on log(width), with a bootstrap interval.

    `widths (w,)` positive, `values (w, seeds)` of either sign; column j is seed j at every width, and seeds are
    resampled whole, so that values of one seed may depend on each other. The interval runs between percentiles, with
    tails widened to Student's of seeds - 1 degrees of freedom and by sqrt(seeds / (seeds - 1)), for plain percentiles
    are too short for few seeds. Its level is nominal: with 16 seeds, intervals of level 0.95 covered 0.93 to 0.95 of
    the time for normal, lognormal and t values; no bound holds for every law. With one seed it is infinite. The same
    input gives the same interval.

    ValueError: fewer than 3 different widths, values of another shape, nan or infinite, a width whose values are all
    zero, level outside (0, 1)."""
    between(level, "level", 0, 1, "lie strictly between 0 and 1")
    weights = slope_weights(widths)
    n, v = np.asarray(widths, dtype=np.float64), _table(values)
    _validate(n, v)
    scale = np.abs(v).max(axis=1)  # squares of large values overflow
    squares = (v / scale[:, None]) ** 2  # widths seeds
    logs = np.log(scale) + 0.5 * np.log(squares.mean(axis=1))
    slope, rounding = float(weights @ logs), float(1e-14 * (abs(weights) @ (1 + abs(logs))))
    lower, upper = _ends(weights, scale, squares, level)
    # at least the rounding on either side, so that the slope of an exact power law lies inside
    return Exponent(slope, min(slope, lower) - rounding, max(slope, upper) + rounding)


def slope_weights(widths: Any) -> Any:
    """The weights c (w,) for which c @ log(values) is the least-squares slope on log(widths). ValueError as above."""
    try:
        n = np.asarray(widths, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"widths={widths!r:.80} must be a list of positive numbers") from error
    if n.ndim != 1 or not (np.isfinite(n) & (n > 0)).all():
        raise ValueError(f"widths={widths!r} must be a list of positive numbers")
    if len(np.unique(n)) < 3:
        raise ValueError(f"widths={widths!r} must have at least 3 different entries")
    x = np.log(n) - np.log(n).mean()
    return x / (x @ x)


def _ends(weights: Any, scale: Any, squares: Any, level: float) -> tuple[float, float]:
    from scipy.special import ndtr, stdtrit

    seeds = squares.shape[1]
    if seeds == 1:
        return -math.inf, math.inf
    tail = float(ndtr(-math.sqrt(seeds / (seeds - 1)) * stdtrit(seeds - 1, (1 + level) / 2)))
    drawn = np.random.default_rng(seeds).multinomial(seeds, np.full(seeds, 1 / seeds), size=RESAMPLES)
    with np.errstate(divide="ignore", invalid="ignore"):  # a resample of zeros only has log -inf
        logs = np.log(scale) + 0.5 * np.log(drawn @ squares.T / seeds)  # resamples widths
        slopes = np.sort(np.where(np.isinf(logs).any(axis=1), np.nan, logs @ weights))
    known = slopes[~np.isnan(slopes)]  # a slope that cannot be told counts as -inf below and as +inf above
    low, high = math.floor(tail * RESAMPLES) - (len(slopes) - len(known)), math.ceil((1 - tail) * RESAMPLES) - 1
    return (float(known[low]) if low >= 0 else -math.inf, float(known[high]) if high < len(known) else math.inf)


def _table(values: Any) -> Any:
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"values={values!r:.80} must be real numbers of shape (widths, seeds)") from error


def _validate(n: Any, v: Any) -> None:
    if v.ndim != 2 or v.shape[0] != len(n) or v.shape[1] < 1:
        raise ValueError(f"values of shape {v.shape} must have shape ({len(n)}, seeds)")
    if not np.isfinite(v).all():
        i, j = np.argwhere(~np.isfinite(v))[0]
        raise ValueError(f"values[{i}, {j}]={v[i, j]} must be finite")
    if (zero := np.flatnonzero(~v.any(axis=1))).size:
        raise ValueError(f"values at width {n[zero[0]]:g} are all zero; a power law has none")

"""A gambler's wealth against a bound on a mean: the arithmetic behind the statistical engines.

Notation  y = an observation scaled to [0, 1];  m = the null's bound on its mean, 0 < m < 1;  s = a stake, 0 < s <= 1
Theorem   (Ville's inequality for a mixture of bets; proved here because everything statistical rests on it.)
          Let E[y_i | y_1..y_{i-1}] <= m for every i; independence is not needed. The bet of stake s multiplies the
          wealth by f = 1 + (s/m)(y - m) = (1 - s) + s y/m at each observation. f >= 0 since s <= 1 and y >= 0, and
          E[f | past] <= 1. So prod f is a nonnegative supermartingale from 1, and so is W = sum_s w_s prod f for
          weights w >= 0 of sum 1 that are fixed before the data. Ville: P(W_n >= 1/alpha for some n) <= alpha.
          Looking at some n only, or stopping by any rule, can but lower that probability. f grows with y, so
          observations rounded down give a smaller wealth, which keeps the bound. prod f does not depend on the order
          of the observations: the wealth is a function of their histogram.
Stakes    1 (best where the data never come near 0), three near 1, then 3/4, 1/2, 3/8, 1/4, ... down to 2^-14, all
          dyadic. The growth rate falls by the share (1 - s/s*)^2 for a stake s instead of the best one s*, hence the
          ladder; weights fall like 1/i^2, so that a small effect, which takes long anyway, pays a little more."""
from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Real
from typing import Any, Literal

import numpy as np

Alternative = Literal["greater", "less"]

_LADDER = [top / 2**j for j in range(14) for top in (Fraction(3, 4), Fraction(1, 2))]
STAKES = (Fraction(1), Fraction(31, 32), Fraction(15, 16), Fraction(7, 8), *_LADDER)
# 1/10 + 3/20 + 3/4: the sum of 1/((i + 12)(i + 13)) over the ladder's 28 steps is 1/12 - 1/40 = 7/120
WEIGHTS = (Fraction(1, 10), *(Fraction(1, 20),) * 3,
           *(Fraction(3, 4) * Fraction(120, 7) / ((i + 12) * (i + 13)) for i in range(len(_LADDER))))
# A log-wealth counts as `x` only from x + MARGIN: n observations, each factor within a few ulp (no cancellation in
# (1 - s) + s y/m), err by less than 1e-15 n, which is 1e-9 for a million observations.
MARGIN = 1e-6

_S = np.array([float(s) for s in STAKES])
_LOG_W = np.log([float(w) for w in WEIGHTS])
_BLOCK = 4096


def log_wealth(values: Any, counts: Any, null: float) -> float:
    """Log of the wealth against "the mean is at most `null`" after `counts[i] > 0` observations of `values[i]`.

    `values (c,)` lie in [0, 1]. A null of 1 or more cannot be false: the wealth stays 1. One below 0 cannot be true,
    nor one of 0 after an observation above 0: the wealth is infinite."""
    if null >= 1:
        return 0.0
    if null <= 0:
        return math.inf if null < 0 or bool((values > 0).any()) else 0.0
    with np.errstate(divide="ignore"):  # the stake 1 loses everything to an observation of 0
        logs = np.log((1 - _S)[:, None] + _S[:, None] * (values / null)[None, :])  # stakes values
    return _log_sum(_LOG_W + (logs * counts[None, :]).sum(axis=1))


def first_rejection(samples: Any, null_mean: float, *, alpha: float, alternative: Alternative = "greater",
                    lower: float = 0.0, upper: float = 1.0) -> int | None:
    """The number of observations after which the wealth first reaches 1/alpha, looking after each; None if never.

    `samples (n,)` lie in [lower, upper]; nothing is rounded. "greater" tests "the mean given the past is at most
    `null_mean`", "less" that it is at least `null_mean`; a true null is rejected with probability at most `alpha`,
    however long the sample (Ville, see the module). ValueError: samples of another shape, nan or outside the bounds,
    alpha outside (0, 1), null_mean not strictly inside the bounds, another alternative."""
    x = np.asarray(samples, dtype=np.float64)
    _validate(x, null_mean, alpha, alternative, lower, upper)
    width = upper - lower
    y = (x - lower) / width if alternative == "greater" else (upper - x) / width
    null = (null_mean - lower) / width if alternative == "greater" else (upper - null_mean) / width
    threshold = math.log(1 / alpha) + 1e-9  # rounding must not reject; see MARGIN
    state = _LOG_W[:, None]
    for start in range(0, len(y), _BLOCK):
        with np.errstate(divide="ignore"):
            steps = np.log((1 - _S)[:, None] + _S[:, None] * (y[start:start + _BLOCK] / null)[None, :])
        paths = state + np.cumsum(steps, axis=1)  # stakes observations
        top = paths.max(axis=0)
        reached = np.flatnonzero(top + np.log(np.exp(paths - top[None, :]).sum(axis=0)) >= threshold)
        if reached.size:
            return start + int(reached[0]) + 1
        state = paths[:, -1:]
    return None


def interval(up: tuple[Any, Any], down: tuple[Any, Any], threshold: float) -> tuple[float, float]:
    """The means that the data do not reject, by bisection: the wealth falls as the null rises.

    `up` is (values, counts) rounded down, `down` is (1 - values, counts) rounded the other way, `threshold` the
    log-wealth that rejects."""
    low = _edge(lambda null: log_wealth(*up, null) >= threshold)
    high = 1 - _edge(lambda null: log_wealth(*down, null) >= threshold)
    return low, high


def _edge(rejected: Callable[[float], bool]) -> float:
    """The largest null of (0, 1) that is rejected, from below; 0 if there is none."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return low


def _log_sum(logs: Any) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _validate(x: Any, null_mean: float, alpha: float, alternative: str, lower: float, upper: float) -> None:
    for name, value in (("null_mean", null_mean), ("alpha", alpha), ("lower", lower), ("upper", upper)):
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(f"{name}={value!r} must be a real number")
    if not (math.isfinite(lower) and math.isfinite(upper) and lower < upper):
        raise ValueError(f"lower={lower!r} must lie below upper={upper!r}, both finite")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must lie strictly between 0 and 1")
    if alternative not in ("greater", "less"):
        raise ValueError(f"alternative={alternative!r} must be 'greater' or 'less'")
    if not lower < null_mean < upper:
        raise ValueError(f"null_mean={null_mean!r} must lie strictly between lower={lower!r} and upper={upper!r}")
    if x.ndim != 1:
        raise ValueError(f"samples of shape {x.shape} must have shape (n,)")
    bad = np.flatnonzero(~((x >= lower) & (x <= upper)))  # nan fails both
    if bad.size:
        raise ValueError(f"samples[{bad[0]}]={x[bad[0]]} must lie in [{lower}, {upper}]")

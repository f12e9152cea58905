"""Unbiased forecast with exact limits for an exponential tail, and a test of that tail, on a user's scores."""
from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.failure_forecast._estimator import deployment_size, finite_number, probability, score, top_scores, whole

__all__ = ["Forecast", "TailShape", "debiased_forecast", "debiased_score", "debiased_variance", "pivot_cdf",
           "pivot_quantile", "tail_shape", "upper_limit"]

Floats = NDArray[np.float64]
_NODES = 64  # Gauss-Legendre, a piece; the pivot's distribution function is then right to 1e-12
_TINY = 1e-18  # of a law, left out at an end
_SUREST = 1 - 1e-9


class Forecast(NamedTuple):
    """An estimate of the upper 1/deployment quantile and a two-sided interval for it, in one unit."""

    estimate: float
    lower: float
    upper: float


class TailShape(NamedTuple):
    """What the spacings of the `used` largest scores say of the tail in psi.

    shape      "exponential" (not told apart from it), "lighter" or "heavier"
    p_value    two-sided; for an exponential tail exact up to used = 21, and within 4e-3 beyond (a normal law for the sum)
    statistic  1/2 in the mean for an exponential tail, larger for a heavier one"""

    shape: str
    p_value: float
    statistic: float
    used: int


def debiased_forecast(p: Any = None, deployment: float | None = None, k: int = 10, level: float = 0.95, *,
                      log_p: Any = None) -> Forecast:
    """Unbiased forecast of the worst of `deployment` queries with a two-sided interval, as probabilities.

    With x_1 >= ... >= x_k the largest scores and h = mean(x_1, ..., x_{k-1}) - x_k, the estimate is
    x_k + h (log N - (H_n - H_{k-1})), mapped back to a probability (which keeps medians and limits, not means). The
    interval covers the 1/N quantile with probability `level` where the tail is exponential above x_k, each side missing
    it with (1 - level)/2. ValueError as `fit_tail`, and level outside (0, 1) or above 1 - 1e-9."""
    return Forecast(*(float(probability(v)) for v in debiased_score(p, deployment, k, level, log_p=log_p)))


def debiased_score(p: Any = None, deployment: float | None = None, k: int = 10, level: float = 0.95, *,
                   log_p: Any = None) -> Forecast:
    """`debiased_forecast` in psi, where the estimate is unbiased."""
    _limits_level(level)
    size = deployment_size(deployment)
    top, n = top_scores(p, log_p, k)
    h = float(top[:-1].mean() - top[-1])
    ends = (pivot_quantile(q, k, n, size) for q in ((1 - level) / 2, (1 + level) / 2))
    low, high = (float(top[-1]) + h * r for r in ends)
    return Forecast(float(top[-1]) + h * (np.log(size) - _expected(k, n)), low, high)


def upper_limit(p: Any = None, deployment: float | None = None, k: int = 10, level: float = 0.95, *, log_p: Any = None
                ) -> float:
    """The probability that the 1/deployment quantile exceeds in a fraction 1 - level of evaluations only.

    One-sided, exact for a tail that is exponential above the k-th largest score. Errors as `debiased_forecast`."""
    _limits_level(level)
    size = deployment_size(deployment)
    top, n = top_scores(p, log_p, k)
    h = float(top[:-1].mean() - top[-1])
    return float(probability(float(top[-1]) + h * pivot_quantile(level, k, n, size)))


def debiased_variance(k: int, n: int, deployment: float) -> float:
    """Variance of the unbiased estimate in psi at rate 1: sum_{i=k}^n 1/i^2 + (log N - H_n + H_{k-1})^2 / (k-1)."""
    from scipy.special import polygamma

    _sizes(k, n)
    tail = float(polygamma(1, k) - polygamma(1, n + 1))
    return tail + (float(np.log(deployment_size(deployment))) - _expected(k, n)) ** 2 / (k - 1)


def pivot_cdf(r: float, k: int, n: int, deployment: float) -> float:
    """P((Q - x_k) / h <= r), the same for every exponential tail; Q is the upper 1/deployment quantile.

    (Q - x_k)/h = (k-1) log(N V) / G with V ~ Beta(k, n-k+1) and G ~ Gamma(k-1) independent. ValueError: r that is not finite,
    sizes as `debiased_variance`."""
    from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

    _sizes(k, n)
    zero, r = -float(np.log(deployment_size(deployment))), finite_number(r, "r")  # log(N V) is 0 at log V = zero
    bulk = np.array([0.0, gammaincinv(k - 1, _TINY), k - 1, gammainccinv(k - 1, _TINY)])  # of G: between them the chance rises
    w, mass = _threshold_law(k, n, zero + r / (k - 1) * bulk)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        over = abs(w - zero) / abs(r) * (k - 1)
    above = w > zero
    chance = np.where(above, gammaincc(k - 1, over), 1.0) if r > 0 else np.where(above, 0.0, gammainc(k - 1, over))
    return min(1.0, float(mass @ chance))


def _threshold_law(k: int, n: int, cuts: Any) -> tuple[Floats, Floats]:
    """Nodes w of log V, V ~ Beta(k, n-k+1), and their masses: a rule between each two of `cuts`, where what is averaged bends.

    Masses are divided by their sum: the logarithm of the density's factor is of order n log n and lost to rounding."""
    ends = _ends(k, n)
    edges = np.unique(np.clip(np.concatenate([ends, cuts]), *ends))
    x, weight = _rule()
    half = np.diff(edges)[:, None] / 2  # pieces 1
    w = edges[:-1, None] + half * (1 + x)
    height = k * w + (n - k) * np.log1p(-np.minimum(np.exp(w), 1 - 2**-53))
    mass = np.exp(height - height.max()) * half * weight
    return w.ravel(), mass.ravel() / mass.sum()


@lru_cache(maxsize=64)
def _ends(k: int, n: int) -> tuple[float, float]:
    """Where the law of log V begins and ends, but for 1e-18 and 1e-16 of it."""
    from scipy.special import betaincinv

    return float(np.log(betaincinv(k, n - k + 1, _TINY))), float(np.log(betaincinv(k, n - k + 1, 1 - 1e-16)))


@lru_cache(maxsize=1)
def _rule() -> tuple[Floats, Floats]:
    """Gauss and Legendre's nodes and weights on [-1, 1], an eigenvalue problem: once, not at every step of a search."""
    return np.polynomial.legendre.leggauss(_NODES)


def pivot_quantile(q: float, k: int, n: int, deployment: float) -> float:
    """The r with `pivot_cdf(r, ...)` = q. ValueError if q is not strictly between 0 and 1."""
    from scipy.optimize import brentq

    _level(q, "q")
    low, high = -1.0, 1.0
    while pivot_cdf(low, k, n, deployment) > q:
        low *= 2
    while pivot_cdf(high, k, n, deployment) < q:
        high *= 2
    return float(brentq(lambda r: pivot_cdf(r, k, n, deployment) - q, low, high, xtol=1e-12, rtol=1e-13))


def tail_shape(p: Any = None, *, log_p: Any = None, used: int | None = None, level: float = 0.05) -> TailShape:
    """Whether the spacings of the largest scores grow, stay or shrink towards the extreme.

    For an exponential tail i (x_i - x_{i+1}), i = 1, ..., m, are independent with one mean; their running sums divided
    by the total are m - 1 ordered uniforms, so that the sum of these has a known law (used exactly for m <= 21, beyond
    through the normal law: the p-value is then off by less than 4e-3). `used` is m (default: 50, or half of the scores if
    there are fewer than 100). The tail is called lighter or heavier where the two-sided p-value is
    below `level`. ValueError as `fit_tail`, n < 6, used < 3 or used >= n, level outside (0, 1)."""
    _level(level)
    psi = score(p, log_p=log_p)
    if used is None and psi.size < 6:
        raise ValueError(f"{'p' if log_p is None else 'log_p'} has n={psi.size} scores; the shape of a tail needs at least 6")
    m = whole(min(50, psi.size // 2) if used is None else used, "used", 3)
    if m >= psi.size:
        raise ValueError(f"used={m} must be below n={psi.size}, the number of scores")
    top, _ = top_scores(p, log_p, m + 1, name="used", more=1)
    spacings = np.arange(1, m + 1) * (top[:-1] - top[1:])
    running = np.cumsum(spacings)[:-1] / spacings.sum()
    tail = _uniform_sum(float(running.sum()), m - 1)
    p_value = min(1.0, 2 * min(tail, 1 - tail))
    shape = "exponential" if p_value >= level else "heavier" if tail > 0.5 else "lighter"
    return TailShape(shape, p_value, float(running.mean()), m)


def _uniform_sum(total: float, count: int) -> float:
    """P(sum of `count` uniforms <= total): exactly for up to 20 of them, beyond by the normal law (off by < 2e-3)."""
    from math import comb, factorial, floor

    from scipy.special import ndtr

    if count > 20:  # the alternating sum loses its digits
        return float(ndtr((total - count / 2) * (12 / count) ** 0.5))
    if total > count / 2:
        return 1 - _uniform_sum(count - total, count)
    terms = ((-1) ** i * comb(count, i) * (total - i) ** count for i in range(floor(max(total, 0.0)) + 1))
    return min(1.0, max(0.0, sum(terms) / factorial(count)))


def _expected(k: int, n: int) -> float:
    """H_n - H_{k-1} = E[rate (x_k - mu)]."""
    from scipy.special import digamma

    return float(digamma(n + 1) - digamma(k))


def _sizes(k: int, n: int) -> None:
    whole(k, "k", 2)
    if k > whole(n, "n", 1):
        raise ValueError(f"k={k} must be at most n={n}")


def _level(value: Any, name: str = "level") -> None:
    if not 0 < finite_number(value, name) < 1:
        raise ValueError(f"{name}={value!r} must lie strictly between 0 and 1")


def _limits_level(value: Any) -> None:
    _level(value)
    if value > _SUREST:
        raise ValueError(f"level={value!r} must be at most 1 - 1e-9: the law of the limits is known to 1e-12")

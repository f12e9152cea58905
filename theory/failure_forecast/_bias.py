"""The bias of the forecast where the tail is exactly exponential, with its three parts, as floats."""
from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from theory.failure_forecast._estimator import deployment_size, whole

__all__ = ["BiasTerms", "bias", "bias_terms", "plotting_slope", "slope_inflation"]

Floats = NDArray[np.float64]


class BiasTerms(NamedTuple):
    """Parts of the bias, in psi units at rate 1, each positive for deployment >= n (`direction` is 0 at k = 2).

    level      E[x_j] lies above -log(j/n), the place that the line is drawn at
    plotting   log(j/n) is spread less than E[x_j] in rank
    direction  the regression of y on x inflates 1/|slope| by 1/r^2"""

    level: float
    plotting: float
    direction: float


def slope_inflation(k: int) -> float:
    """B_k = E[rate / |slope|] of the fitted line under an exponential tail; depends on k only.

    1/log 2 at k = 2, largest at k = 3 (1.50122), 1.31777 at k = 10, falling to 1 like log(k)^2 / k. Within
    1e-11 of the enclosures by ball arithmetic, which were made up to k = 100 (evidence of `slope_inflation`).
    ValueError if k < 2.

    >>> round(slope_inflation(2), 12)
    1.442695040889"""
    return _inflation(whole(k, "k", 2))


@lru_cache(maxsize=256)
def _inflation(k: int) -> float:
    """int_0^oo prod_i (1 + t c_i)^-1 E[Sxx under weights 1/(1 + t c_i)] dt, with E[e^2] = 2 on the diagonal."""
    from scipy.integrate import quad

    i = np.arange(1, k)  # spacings
    logs = np.log(np.arange(1, k + 1))
    c = -np.cumsum(logs - logs.mean())[:-1] / i
    own = (i - i * i / k) / i**2

    def integrand(u: float) -> float:
        t = u / (1 - u) / c.sum()
        v = 1 / (1 + t * c)
        x = np.append(np.cumsum((v / i)[::-1])[::-1], 0.0)
        spread = float(((x - x.mean()) ** 2).sum() + (own * v * v).sum())
        return float(np.exp(-np.log1p(t * c).sum())) * spread / (1 - u) ** 2 / float(c.sum())

    return float(quad(integrand, 0.0, 1.0, epsabs=0.0, epsrel=1e-13, limit=200)[0])


def plotting_slope(k: int) -> float:
    """beta_k = Cov(log j, H_{j-1}) / Var(log j) over j = 1, ..., k: the mean slope of a regression of x on y.

    1/log 2 at k = 2, 1.206743 at k = 10. ValueError if k < 2."""
    logs = np.log(np.arange(1, whole(k, "k", 2) + 1))
    heights = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, k))])
    centred = logs - logs.mean()
    return float(centred @ heights / (centred @ centred))


def bias_terms(k: int, n: int, deployment: float) -> BiasTerms:
    """The three parts of `bias`; their sum is the bias. ValueError as `bias`."""
    from scipy.special import digamma, gammaln

    size = deployment_size(deployment)
    whole(k, "k", 2)
    whole(n, "n", 1)
    if k > n:
        raise ValueError(f"k={k} must be at most n={n}")
    half = float(gammaln(k + 1)) / k
    over = float(np.log(size) - np.log(n)) + half
    slope, inflation = plotting_slope(k), slope_inflation(k)
    level = float(digamma(n + 1) - np.log(n) + 1 - digamma(k + 1)) + half  # Euler's constant cancels
    return BiasTerms(level, over * (slope - 1), over * (inflation - slope))


def bias(k: int, n: int, deployment: float) -> float:
    """E[forecast - Q] in psi, where Q is the upper 1/deployment quantile and the tail is exponential at rate 1.

    (H_n - log n) + 1 - H_k + B_k log(k!)/k + (B_k - 1) log(N/n). At rate lam divide by lam; in probability, a shift by b
    multiplies -log p by exp(-b). The forecast's own scale is `TailFit`. ValueError: k < 2, k > n, deployment < 1.

    >>> round(bias(10, 1000, 1e5), 5)
    2.10257"""
    return float(sum(bias_terms(k, n, deployment)))

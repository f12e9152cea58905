"""Evaluations drawn from known tails, and how far the forecast lies from the truth.

Every sampler draws all n scores of an evaluation (as uniforms, then the quantile function of the tail on the k most
extreme), so that nothing about order statistics is assumed."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log
from typing import Any

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from simulations._arguments import between, checked_key, finite_array, whole
from simulations._jax import jax, jnp

__all__ = ["TAILS", "debiased", "forecast", "forecast_errors", "inverse_survival", "mode_errors",
           "overshoots", "pivots", "scaled_errors", "spacing_ratios", "top_scores", "undershoots"]

TAILS = ("exponential", "gumbel", "normal", "uniform", "beta_1_20", "student_5", "lognormal")
_BATCH = 2_000_000  # uniforms held at a time


@partial(jax.jit, static_argnames=("trials", "n"))
def _uniforms(key: PRNGKeyArray, *, trials: int, n: int) -> Float[Array, "trials n"]:
    """Uniforms in (0, 1]."""
    return 1.0 - jax.random.uniform(key, (trials, n))


def _smallest(values: Any, k: int) -> np.ndarray:
    """The k smallest of each row, ascending; by partition, ten times as fast here as `jax.lax.top_k` on a CPU."""
    array = np.array(values)
    array.partition(k - 1, axis=1)
    return np.sort(array[:, :k], axis=1)


def inverse_survival(u: Any, tail: str) -> np.ndarray:
    """The score that is exceeded with probability `u`, elementwise, u in (0, 1]; `tail` one of TAILS. ValueError otherwise."""
    from scipy.special import ndtri, stdtrit

    u = finite_array(u, "u")
    if not ((u > 0) & (u <= 1)).all():
        raise ValueError(f"u holds {u[~((u > 0) & (u <= 1))][0]}; it must lie in (0, 1]")
    laws = {"exponential": lambda: -np.log(u), "gumbel": lambda: -np.log(-np.log1p(-u)), "normal": lambda: -ndtri(u),
            "uniform": lambda: 1.0 - u, "beta_1_20": lambda: -np.log(-np.log(-np.expm1(np.log(u) / 20))),
            "student_5": lambda: -stdtrit(5, u), "lognormal": lambda: np.exp(-ndtri(u))}
    if tail not in laws:
        raise ValueError(f"tail={tail!r} must be one of {', '.join(TAILS)}")
    return np.asarray(laws[tail]())


def top_scores(key: int, trials: int, *, tail: str, k: int, n: int) -> np.ndarray:
    """The k largest of n scores, the largest first, for `trials` evaluations, shape (trials, k).

    ValueError: trials < 1, k < 2, k > n, unknown tail, key < 0."""
    return inverse_survival(_extremes(key, trials, k, n, lambda one, size: _uniforms(one, trials=size, n=n)), tail)


def _extremes(key: int, trials: int, k: int, n: int, draw: Callable[[Any, int], Any]) -> np.ndarray:
    """The k smallest of n numbers, ascending, `trials` times; `draw(key, rows)` gives (rows, n) of them."""
    whole(trials, "trials", 1), whole(n, "n", 1), checked_key(key)
    if whole(k, "k", 2) > n:
        raise ValueError(f"k={k} must be at most n={n}")
    size = max(1, min(trials, _BATCH // n))
    keys = jax.random.split(jax.random.key(key), -(-trials // size))
    return np.concatenate([_smallest(draw(one, size), k) for one in keys])[:trials]


def _checked_top(top: Any, n: int, deployment: float) -> np.ndarray:
    """Rows of k scores, the largest first. ValueError: other shapes, k < 2 or > n, rows of equal scores, deployment < 1."""
    found = finite_array(top, "top")
    if found.ndim != 2 or not 2 <= found.shape[1] <= whole(n, "n", 1):
        raise ValueError(f"top has shape {found.shape}; needed (trials, k) with 2 <= k <= n={n}")
    if (equal := found[:, 0] == found[:, -1]).any():
        raise ValueError(f"top[{int(equal.argmax())}] has scores that are all equal, so that no line fits")
    _deployment(deployment)
    return found


def _deployment(value: float) -> float:
    if not between(value, "deployment", -np.inf, np.inf, "be a finite number, at least 1") >= 1:
        raise ValueError(f"deployment={value!r} must be at least 1")
    return float(value)


def forecast(top: np.ndarray, *, n: int, deployment: float) -> np.ndarray:
    """The line's forecast in psi for each row of `top` (trials, k), the largest first. ValueError as `_checked_top`."""
    top = _checked_top(top, n, deployment)
    k = top.shape[1]
    y = np.log(np.arange(1, k + 1) / n)
    dx, dy = top - top.mean(axis=1, keepdims=True), y - y.mean()
    slope = (dx @ dy) / (dx**2).sum(axis=1)  # trials
    return np.asarray((-np.log(deployment) - (y.mean() - slope * top.mean(axis=1))) / slope)


def debiased(top: np.ndarray, *, n: int, deployment: float) -> np.ndarray:
    """The unbiased spacing estimate in psi for each row of `top` (trials, k), the largest first. ValueError as `forecast`."""
    top = _checked_top(top, n, deployment)
    k = top.shape[1]
    expected = sum(1.0 / i for i in range(k, n + 1))
    return np.asarray(top[:, -1] + (top[:, :-1].mean(axis=1) - top[:, -1]) * (np.log(deployment) - expected))


def forecast_errors(key: int, trials: int, *, tail: str, k: int, n: int, deployment: float) -> np.ndarray:
    """Forecast minus the upper 1/deployment quantile of the tail, in psi, shape (trials,)."""
    truth = float(inverse_survival(1.0 / _deployment(deployment), tail))
    return forecast(top_scores(key, trials, tail=tail, k=k, n=n), n=n, deployment=deployment) - truth


def overshoots(key: int, trials: int, *, tail: str, k: int, n: int, deployment: float) -> np.ndarray:
    """1.0 where the forecast exceeds the 1/deployment quantile, else 0.0."""
    return (forecast_errors(key, trials, tail=tail, k=k, n=n, deployment=deployment) > 0).astype(np.float64)


def scaled_errors(key: int, trials: int, *, k: int, n: int, deployment: float) -> np.ndarray:
    """Errors under an exponential tail with less noise and the same mean; bounded.

    The forecast minus x_k is proportional to the total S of the spacings i (x_i - x_{i+1}), i < k, which is independent
    of their ratios and has mean k-1: it is replaced by its mean, as is x_k."""
    top = top_scores(key, trials, tail="exponential", k=k, n=n)
    total = (np.arange(1, k) * (top[:, :-1] - top[:, 1:])).sum(axis=1)
    centre = sum(1.0 / i for i in range(k, n + 1))
    rise = (forecast(top, n=n, deployment=deployment) - top[:, -1]) / total
    return np.asarray((k - 1) * rise + centre - np.log(deployment))


def spacing_ratios(key: int, trials: int, *, k: int) -> np.ndarray:
    """Inverse slopes 1/|a| of the line under an exponential tail at rate 1, with the total of the spacings at its mean.

    Their mean is B_k; they lie between 0 and (k-1) max_i M_ii / c_i (`ratio_bound` of the evidence)."""
    top = top_scores(key, trials, tail="exponential", k=k, n=k)
    total = (np.arange(1, k) * (top[:, :-1] - top[:, 1:])).sum(axis=1)
    y = np.log(np.arange(1, k + 1))
    dx, dy = top - top.mean(axis=1, keepdims=True), y - y.mean()
    return np.asarray((k - 1) / total * (dx**2).sum(axis=1) / -(dx @ dy))


def pivots(key: int, trials: int, *, limit: float, k: int, n: int, deployment: float) -> np.ndarray:
    """1.0 where (Q - x_k)/h <= limit under an exponential tail, else 0.0. ValueError as `top_scores`, and a limit that is not
    finite, deployment < 1."""
    between(limit, "limit", -np.inf, np.inf, "be a finite number")
    _deployment(deployment)
    top = top_scores(key, trials, tail="exponential", k=k, n=n)
    h = top[:, :-1].mean(axis=1) - top[:, -1]
    return (np.log(deployment) - top[:, -1] <= limit * h).astype(np.float64)


@partial(jax.jit, static_argnames=("trials", "n"))
def _mixture(key: PRNGKeyArray, mass: Float[Array, ""], mode: Float[Array, ""], *, trials: int, n: int
             ) -> Float[Array, "trials n"]:
    """n negated scores; each score is `mode` with probability `mass` and exponential at rate 1 otherwise."""
    which, height = jax.random.split(key)
    bulk = jax.random.exponential(height, (trials, n))  # trials n
    return -jnp.where(jax.random.uniform(which, (trials, n)) < mass, mode, bulk)


def mode_errors(key: int, trials: int, *, mass: float, mode: float, k: int, n: int, deployment: float,
                missed: bool = False) -> np.ndarray:
    """Forecast minus truth where a share `mass` of queries scores `mode` and the others are exponential at rate 1.

    `missed` keeps the mode out of the evaluation, not out of the truth: the 1/deployment quantile of the mixture. An
    evaluation whose k largest scores are all `mode` forecasts `mode`. ValueError: mass outside [0, 1), a mode not above
    the bulk's 1/deployment quantile."""
    if not 0 <= mass < 1 or not log(_deployment(deployment)) < mode < np.inf:
        raise ValueError(f"need 0 <= mass < 1 and mode > log(deployment), got mass={mass}, mode={mode}")
    truth = mode if mass * deployment >= 1 else log((1 - mass) / (1 / deployment - mass))
    share, at = jnp.array(0.0 if missed else mass), jnp.array(float(mode))
    top = -_extremes(key, trials, k, n, lambda one, size: _mixture(one, share, at, trials=size, n=n))
    found, mixed = top[:, 0].copy(), np.ptp(top, axis=1) > 0
    found[mixed] = forecast(top[mixed], n=n, deployment=deployment)
    return found - truth


def undershoots(key: int, trials: int, *, mass: float, mode: float, k: int, n: int, deployment: float, missed: bool
                ) -> np.ndarray:
    """1.0 where the forecast of `mode_errors` lies below the truth, else 0.0."""
    errors = mode_errors(key, trials, mass=mass, mode=mode, k=k, n=n, deployment=deployment, missed=missed)
    return (errors < 0).astype(np.float64)

"""Mixtures of stationary processes of memory one, and what their Bayes forecasts lose against the oracle."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from simulations._jax import jax, jnp

__all__ = ["ar_mixture", "ar_mixture_risk", "markov_mixture"]

Numbers = Array | np.ndarray


def ar_mixture(key: Any, phis: Float[Numbers, " processes"], prior: Float[Numbers, " processes"], *, window: int,
               paths: int) -> Float[Array, " paths"]:
    """(Bayes forecast - oracle forecast)^2 for each of `paths` stationary series x' = phi x + standard normal noise.

    phi is drawn from `phis` with probabilities `prior`; the forecaster sees `window` values, the first of them drawn
    from the stationary law. `key` is an int or a JAX key. ValueError: |phi| >= 1, prior not a probability vector of the
    length of `phis`, window or paths < 1."""
    phis, prior = np.asarray(phis, np.float64), _prior(prior)
    if phis.shape != prior.shape:
        raise ValueError(f"phis has shape {phis.shape}; prior has {prior.shape}, and they must match")
    if not (np.abs(phis) < 1).all():
        raise ValueError(f"phis={phis} must lie strictly between -1 and 1")
    _sizes(window, paths)
    return _ar(_key(key), jnp.asarray(phis), jnp.asarray(prior), window=window, paths=paths)


def ar_mixture_risk(key: Any, phis: Float[Numbers, " processes"], prior: Float[Numbers, " processes"], *, window: int,
                    paths: int) -> tuple[float, float]:
    """Mean and standard error of `ar_mixture`; `paths` must be at least 2."""
    if paths < 2:
        raise ValueError(f"paths={paths} must be at least 2 for a standard error")
    excess = np.asarray(ar_mixture(key, phis, prior, window=window, paths=paths))
    return float(excess.mean()), float(excess.std(ddof=1) / np.sqrt(paths))


def markov_mixture(key: Any, transitions: Float[Numbers, "processes symbols symbols"],
                   prior: Float[Numbers, " processes"], values: Float[Numbers, " symbols"], *, window: int, paths: int
                   ) -> Float[Array, " paths"]:
    """(Bayes forecast - oracle forecast)^2 for each of `paths` stationary series of a Markov chain on `values`.

    `transitions[i, a, b]` is P(next = values[b] | last = values[a]) in chain i, drawn with probability `prior[i]`.
    `key` is an int or a JAX key. ValueError: shapes that do not fit, rows that do not sum to 1 (to 1e-9), negative
    entries, no unique stationary law, window or paths < 1."""
    rows, prior = np.asarray(transitions, np.float64), _prior(prior)
    values = np.asarray(values, np.float64)
    if rows.shape != (*prior.shape, *values.shape, *values.shape):
        raise ValueError(f"transitions has shape {rows.shape}; need {(*prior.shape, *values.shape, *values.shape)} "
                         "(processes, symbols, symbols)")
    if (rows < 0).any() or not np.allclose(rows.sum(axis=2), 1, rtol=0, atol=1e-9):
        raise ValueError(f"transitions must have rows >= 0 that sum to 1; their sums are {rows.sum(axis=2).tolist()}")
    _sizes(window, paths)
    starts = np.stack([_stationary(i, row) for i, row in enumerate(rows)])
    return _markov(_key(key), jnp.asarray(rows), jnp.asarray(starts), jnp.asarray(prior), jnp.asarray(values),
                   window=window, paths=paths)


@partial(jax.jit, static_argnames=("window", "paths"))
def _ar(key: Any, phis: Any, prior: Any, *, window: int, paths: int) -> Any:
    which, noise = jax.random.split(key)
    process = _draw_process(which, prior, paths)
    shocks = jax.random.normal(noise, (window, paths), phis.dtype)
    spread = jax.lax.rsqrt(1.0 - phis**2)  # stationary standard deviation of each process
    first = spread[process] * shocks[0]
    score = -0.5 * (first[:, None] / spread[None, :]) ** 2 - jnp.log(spread)[None, :]  # paths processes

    def step(carry: Any, shock: Any) -> tuple[Any, None]:
        x, score = carry
        new = phis[process] * x + shock
        return (new, score - 0.5 * (new[:, None] - phis[None, :] * x[:, None]) ** 2), None

    (x, score), _ = jax.lax.scan(step, (first, score), shocks[1:])
    weights = jax.nn.softmax(score + jnp.log(prior)[None, :], axis=1)
    return (x * (weights @ phis - phis[process])) ** 2


@partial(jax.jit, static_argnames=("window", "paths"))
def _markov(key: Any, rows: Any, starts: Any, prior: Any, values: Any, *, window: int, paths: int) -> Any:
    which, noise = jax.random.split(key)
    process = _draw_process(which, prior, paths)
    uniform = jax.random.uniform(noise, (window, paths), rows.dtype)
    first = _pick(uniform[0], starts[process])
    score = jnp.log(starts)[:, first].T  # paths processes

    def step(carry: Any, u: Any) -> tuple[Any, None]:
        a, score = carry
        b = _pick(u, rows[process, a])
        return (b, score + jnp.log(rows)[:, a, b].T), None

    (last, score), _ = jax.lax.scan(step, (first, score), uniform[1:])
    weights = jax.nn.softmax(score + jnp.log(prior)[None, :], axis=1)
    means = (rows @ values)[:, last].T  # paths processes
    oracle = jnp.take_along_axis(means, process[:, None], axis=1)[:, 0]
    return ((weights * means).sum(axis=1) - oracle) ** 2


def _draw_process(key: Any, prior: Any, paths: int) -> Any:
    return _pick(jax.random.uniform(key, (paths,), prior.dtype), jnp.broadcast_to(prior[None, :], (paths, len(prior))))


def _pick(uniform: Any, probabilities: Any) -> Any:
    """Inverse distribution function, row by row; a value of probability 0 is never picked."""
    total = jnp.cumsum(probabilities, axis=1)
    return (uniform[:, None] * total[:, -1:] >= total).sum(axis=1)


def _key(key: Any) -> Any:
    return jax.random.key(int(key)) if isinstance(key, int | np.integer) else key


def _prior(prior: Any) -> Any:
    found = np.asarray(prior, np.float64)
    if found.ndim != 1 or (found < 0).any() or abs(found.sum() - 1) > 1e-9:
        raise ValueError(f"prior={found} must be probabilities that sum to 1; their sum is {found.sum()}")
    return found


def _sizes(window: int, paths: int) -> None:
    if window < 1 or paths < 1:
        raise ValueError(f"need window >= 1 and paths >= 1, got window={window}, paths={paths}")


def _stationary(index: int, rows: Any) -> Any:
    """The left null vector of rows - 1, if there is only one."""
    _, sizes, vectors = np.linalg.svd(rows.T - np.eye(len(rows)))
    if len(rows) > 1 and sizes[-2] < 1e-12:
        raise ValueError(f"transitions[{index}] has no unique stationary law")
    law = np.abs(vectors[-1])
    return law / law.sum()

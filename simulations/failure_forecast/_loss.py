"""The forecast as a differentiable function of scores, and the forecastability loss built on it.

The loss is a RECONSTRUCTION: the paper says that it differentiates the forecast error through random evaluation and
deployment parts; its formula was not readable."""
from __future__ import annotations

from typing import Any

from jaxtyping import Array, Float, PRNGKeyArray

from simulations._arguments import whole
from simulations._jax import jax, jnp

__all__ = ["forecastability_loss", "line_forecast", "partition_errors"]


def line_forecast(scores: Float[Array, " n"], deployment: Float[Array, ""], *, k: int) -> Float[Array, ""]:
    """The line's forecast in psi from n scores in any order; differentiable where no two of the top k tie.

    Sorting is a fixed permutation for the gradient. The centred scores are safe where all k tie: the forecast is then
    their common value, its gradient that of the mean. ValueError if k < 2 or k > n."""
    n = scores.shape[0]
    if not 2 <= k <= n:
        raise ValueError(f"k={k} must lie between 2 and n={n}")
    top = jax.lax.top_k(scores, k)[0]
    y = jnp.log(jnp.arange(1, k + 1, dtype=scores.dtype) / n)
    dx, dy = top - top.mean(), y - y.mean()
    against = -jnp.dot(dx, dy)  # > 0 unless all tie
    slope = jnp.where(against > 0, jnp.dot(dx, dx) / jnp.where(against > 0, against, 1.0), 0.0)
    return top.mean() + (jnp.log(deployment) + y.mean()) * slope


def partition_errors(key: PRNGKeyArray, scores: Float[Array, " pool"], *, n: int, k: int, partitions: int
                     ) -> Float[Array, " partitions"]:
    """Forecast from n of the scores minus the largest of the others, for random partitions of the pool.

    ValueError as `line_forecast`, and n that leaves no others, partitions < 1."""
    pool = scores.shape[0]
    if whole(n, "n", 2) >= pool:
        raise ValueError(f"n={n} must be below {pool}, the number of scores: the others are the deployment")
    whole(partitions, "partitions", 1)
    scores = jnp.asarray(scores)

    def one(key: PRNGKeyArray) -> Array:
        shuffled = scores[jax.random.permutation(key, pool)]
        return line_forecast(shuffled[:n], jnp.array(float(pool - n)), k=k) - shuffled[n:].max()

    return jax.vmap(one)(jax.random.split(key, partitions))


def forecastability_loss(key: PRNGKeyArray, scores: Float[Array, " pool"], *, n: int, k: int, partitions: int) -> Any:
    """Mean squared error of the forecast over random partitions of a pool into n evaluation and the other queries."""
    return jnp.mean(partition_errors(key, scores, n=n, k=k, partitions=partitions) ** 2)

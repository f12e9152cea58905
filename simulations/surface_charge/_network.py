"""A small perceptron in JAX, fitted by Adam to all targets at once."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from simulations._jax import jax, jnp

__all__ = ["fit", "predict"]


def _apply(weights: Any, x: Any) -> Any:
    *hidden, (w, b) = weights
    for v, c in hidden:
        x = jnp.tanh(x @ v + c[None, :])
    return (x @ w + b[None, :])[:, 0]


def fit(x: Any, y: Any, *, seed: int, widths: tuple[int, ...] = (16, 16), steps: int = 3000, rate: float = 0.01,
        decay: float = 1e-4) -> Any:
    """Weights, and the mean and scale that features (n, d) and targets (n,) are brought to."""
    mean, scale, size = x.mean(axis=0), x.std(axis=0) + 1e-12, float(y.std())
    keys = jax.random.split(jax.random.key(seed), len(widths) + 1)
    ends = [(x.shape[1], widths[0]), *zip(widths, (*widths[1:], 1), strict=True)]
    weights = [(jax.random.normal(k, (a, b)) / np.sqrt(a), jnp.zeros(b)) for k, (a, b) in zip(keys, ends, strict=True)]
    trained = _train(weights, jnp.asarray((x - mean) / scale), jnp.asarray(y / size), steps=steps, rate=rate, decay=decay)
    return trained, mean, scale, size


@partial(jax.jit, static_argnames=("steps", "rate", "decay"))
def _train(weights: Any, x: Any, y: Any, *, steps: int, rate: float, decay: float) -> Any:
    def loss(w: Any) -> Any:
        return jnp.mean((_apply(w, x) - y) ** 2) + decay * sum(jnp.sum(v**2) for v, _ in w)

    def step(state: Any, t: Any) -> Any:
        w, first, second = state
        slope = jax.grad(loss)(w)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
        second = jax.tree.map(lambda m, g: 0.999 * m + 0.001 * g * g, second, slope)
        now = rate * 0.5 * (1 + jnp.cos(jnp.pi * t / steps))
        w = jax.tree.map(lambda v, m, s: v - now * (m / (1 - 0.9 ** (t + 1))) / (jnp.sqrt(s / (1 - 0.999 ** (t + 1))) + 1e-8),
                         w, first, second)
        return (w, first, second), None

    zero = jax.tree.map(jnp.zeros_like, weights)
    return jax.lax.scan(step, (weights, zero, zero), jnp.arange(steps, dtype=jnp.float64))[0][0]


def predict(fitted: Any, x: Any) -> Any:
    """What the network says for features (n, d)."""
    weights, mean, scale, size = fitted
    return np.asarray(_apply(weights, jnp.asarray((x - mean) / scale))) * size

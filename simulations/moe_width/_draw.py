"""Normal numbers from a counter: the same key and counter give the same bits, whatever else is drawn.

`jax.random.normal` costs four times as much in small blocks, and was half of the cost of a short run."""
from __future__ import annotations

from typing import Any

from jaxtyping import Array, Float, Int, PRNGKeyArray

from simulations._jax import jax, jnp

__all__ = ["normals"]


def normals(key: PRNGKeyArray, first: Int[Array, ""], shape: tuple[int, int], dtype: Any) -> Float[Array, "rows columns"]:
    """Standard normal numbers of `dtype`, float32 or float64, for the counters from `first` on.

    Uniform bits by the generator Squares with five rounds (arXiv 2004.06278), a function of (key, counter) alone; it asks
    for irregular keys, so `key` must come out of `jax.random.fold_in` or `split`. At most 5.3 or 8.2 in size."""
    word = jnp.uint64
    upper, lower = jax.random.key_data(key).astype(word)
    step = (upper << word(32)) | lower | word(1)
    counter = jax.lax.iota(word, shape[0] * shape[1]) + first.astype(word) + word(1)
    even = counter * step
    odd, x = even + step, even
    for shift in (even, odd, even):
        x = _turned(x * x + shift)
    kept = x * x + odd
    x = _turned(kept)
    bits = kept ^ ((x * x + even) >> word(32))
    precise = jnp.dtype(dtype) == jnp.float64
    digits = 52 if precise else 23
    cell = (bits >> word(64 - digits)).astype(dtype) + jnp.asarray(0.5, dtype)  # the middle of a cell: never 0 or 1
    uniform = cell * jnp.asarray(2.0 ** (1 - digits), dtype) - jnp.ones((), dtype)
    return (jnp.asarray(2**0.5, dtype) * jax.lax.erf_inv(uniform)).reshape(shape)


def _turned(x: Array) -> Array:
    """The halves of each word, exchanged."""
    return (x >> jnp.uint64(32)) | (x << jnp.uint64(32))

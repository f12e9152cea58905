"""A second model, closer to practice: experts read the trunk and not the input, through matrices of the full width.

h = tanh(U x), z_e = tanh(V_e h) with V_e (n, n), the rest as in `simulate`. Under maximal update V_e starts as N(0, 1/n) and
learns at the rate eta, the others at eta n. The experts now train the trunk, which their own outputs do not in `simulate`."""
from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from simulations._arguments import between, checked_key
from simulations._jax import jax, jnp
from simulations.moe_width._draw import normals
from simulations.moe_width._kernel import NUMBERS, PER_SAMPLE, Router, summary
from simulations.moe_width._simulate import Trace, check_choices, check_data, read_table, room

__all__ = ["simulate_deep"]


class _Net(NamedTuple):
    v: Float[Array, "experts n n"]
    u: Float[Array, "n d"]
    a: Float[Array, "experts n"]
    w: Float[Array, "experts n"]


def simulate_deep(width: int, *, gate: str, x: Any, y: Any, experts: int = 4, active: int = 1, steps: int = 3, seeds: int = 16,
                  learning_rate: float = 2.0, key: int = 0, dtype: str = "float32") -> Trace:
    """Train mixtures whose experts are tanh(V_e h), V_e (width, width), by SGD under maximal update; as `simulate`.

    Multipliers 1/n, U ~ N(0, 1/d), a and w ~ N(0, 1); memory of a seed 4 E n^2 bytes, twice. Each width compiles once.
    ValueError as `simulate`."""
    x, y = check_data(x, y)
    check_choices(width, gate, "sgd", experts, active, steps, seeds, dtype, None)
    between(learning_rate, "learning_rate", -np.inf, np.inf, "be a finite number")
    checked_key(key)
    chosen = active if gate.startswith("topk") else experts
    router = Router(jnp.asarray(gate == "sigmoid"), jnp.asarray(gate != "topk_masked"), jnp.asarray(chosen, jnp.int64))
    table = _train(jax.random.fold_in(jax.random.key(key), width), jnp.asarray(seeds, jnp.int64), jnp.asarray(steps, jnp.int64),
                   jnp.asarray(x), jnp.asarray(y), router, jnp.asarray(learning_rate, jnp.float64), width=width,
                   experts=experts, rooms=(room(seeds, 32), room(steps + 1, 16)), dtype=dtype)
    return read_table(np.asarray(table)[:seeds, :steps + 1], len(x), active)


def _draw(key: PRNGKeyArray, width: int, experts: int, d: int, dtype: str) -> _Net:
    numbers = normals(key, jnp.zeros((), jnp.int64), (experts * width + d + 2 * experts, width), dtype)
    v, u, a, w = jnp.split(numbers, np.cumsum([experts * width, d, experts]))
    return _Net(v.reshape(experts, width, width) / width**0.5, u.T / d**0.5, a, w)


def _features(net: _Net, x: Array) -> tuple[Array, Array]:
    """z (experts, n, samples) and h (n, samples)."""
    h = jnp.tanh(net.u @ x.T)
    return jnp.tanh(jnp.einsum("enm,mp->enp", net.v, h)), h


def _stepped(net: _Net, features: tuple[Array, Array], x: Array, pull: Array, push: Array, rate: Array) -> _Net:
    """After a step; `pull` and `push (experts, samples)` are the loss's derivatives by sums of outputs and of logits."""
    z, h = features
    back = (1 - z * z) * (net.a[:, :, None] * pull[:, None, :])  # experts n samples
    trunk = (1 - h * h) * (jnp.einsum("enm,enp->mp", net.v, back) + net.w.T @ push)
    wide = rate * z.shape[1]
    return _Net(net.v - rate * jnp.einsum("enp,mp->enm", back, h), net.u - wide * (trunk @ x),
                net.a - wide * jnp.einsum("enp,ep->en", z, pull), net.w - wide * (push @ h.T))


@partial(jax.jit, static_argnames=("width", "experts", "rooms", "dtype"))
def _train(key: PRNGKeyArray, seeds: Int[Array, ""], steps: Int[Array, ""], x: Float[Array, "samples d"],
           y: Float[Array, " samples"], router: Router, rate: Float[Array, ""], *, width: int, experts: int,
           rooms: tuple[int, int], dtype: str) -> Array:
    """What is recorded, (rooms seeds, rooms steps + 1, numbers and per-sample columns); rows beyond are zeros."""
    low, wide = x.astype(dtype), jnp.float64

    def measured(net: _Net, features: Any, start: Any, first: Array | None, last: _Net) -> tuple[Array, Array, Array, Array]:
        z, h = features
        logits = (net.w @ h).astype(wide) / width
        outputs = jnp.einsum("en,enp->ep", net.a, z).astype(wide) / width
        square = [jnp.mean((now - then) ** 2, dtype=wide) for now, then in zip(features, start, strict=True)]
        update = jnp.sum((net.w - last.w) ** 2, dtype=wide)
        return summary(logits, outputs, logits if first is None else first, (square[0], square[1], update), y, router)

    def one(seed: Array, table: Array) -> Array:
        net = _draw(jax.random.fold_in(key, seed), width, experts, x.shape[1], dtype)
        start = _features(net, low)
        row, first, error, slope = measured(net, start, start, None, net)
        rows = jnp.zeros((rooms[1], row.shape[0])).at[0].set(row)

        def step(t: Array, carry: Any) -> Any:
            net, features, rows, pull, push = carry
            scale = 1.0 / (len(x) * width)
            new = _stepped(net, features, low, (pull * scale).astype(dtype), (push * scale).astype(dtype), rate.astype(dtype))
            features = _features(new, low)
            row, _, pull, push = measured(new, features, start, first, net)
            return new, features, rows.at[t].set(row), pull, push

        return table.at[seed].set(jax.lax.fori_loop(1, steps + 1, step, (net, start, rows, error, slope))[2])

    return jax.lax.fori_loop(0, seeds, one, jnp.zeros((*rooms, len(NUMBERS) + len(PER_SAMPLE) * len(x))))

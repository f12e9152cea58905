"""Potential of a uniformly charged flat triangle in closed form, in JAX: edge logarithms less height times solid angle."""
from __future__ import annotations

from functools import partial

from jaxtyping import Array, Float

from simulations._jax import jax, jnp

__all__ = ["panel_potentials", "surface_potential"]

BLOCK = 64  # points a step: 64 x 3,000 faces of intermediate values stay in cache


def _norm(v: Float[Array, "*n 3"]) -> Float[Array, "*n"]:
    return jnp.sqrt((v * v).sum(axis=-1))


def panel_potentials(point: Float[Array, " 3"], corners: Float[Array, "faces 3 3"], normals: Float[Array, "faces 3"]
                     ) -> Float[Array, " faces"]:
    """int dS / |point - y| over each face. Exact for every point, also on a face; on an edge the limit is 0 log 0."""
    a, b, c = (corners[:, i] - point[None, :] for i in range(3))  # faces 3
    la, lb, lc = _norm(a), _norm(b), _norm(c)
    total = jnp.zeros_like(la)
    for u, v, lu, lv in ((a, b, la, lb), (b, c, lb, lc), (c, a, lc, la)):
        edge = v - u
        length = _norm(edge)
        outward = (u * jnp.cross(edge, normals)).sum(axis=-1) / length
        total += outward * jnp.log((lu + lv + length) / jnp.maximum(lu + lv - length, 1e-300))
    top = (a * jnp.cross(b, c)).sum(axis=-1)
    low = la * lb * lc + (a * b).sum(axis=-1) * lc + (b * c).sum(axis=-1) * la + (c * a).sum(axis=-1) * lb
    height = (a * normals).sum(axis=-1)
    return total - jnp.abs(height) * 2 * jnp.arctan2(jnp.abs(top), low)


@partial(jax.jit, static_argnames="block")
def matrix(points: Float[Array, "points 3"], corners: Float[Array, "faces 3 3"], normals: Float[Array, "faces 3"], *,
           block: int = BLOCK) -> Float[Array, "points faces"]:
    """`panel_potentials` of each point, `block` points at a time."""
    return jax.lax.map(lambda x: panel_potentials(x, corners, normals), points, batch_size=block)


@partial(jax.jit, static_argnames="block")
def surface_potential(points: Float[Array, "points 3"], corners: Float[Array, "faces 3 3"],
                      normals: Float[Array, "faces 3"], sigma: Float[Array, " faces"], *, block: int = BLOCK
                      ) -> Float[Array, " points"]:
    """Potential of the charged faces at points; memory for `block` rows only."""
    return jax.lax.map(lambda x: panel_potentials(x, corners, normals) @ sigma, points, batch_size=block)

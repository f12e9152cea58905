"""What local geometry alone would say of the charge, in JAX: flat, with mean curvature, with both curvatures."""
from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Array, Float

from simulations._jax import jax, jnp

__all__ = ["Local", "local_densities"]


class Local(NamedTuple):
    """Densities (points,): tangent plane; plus H phi/(4 pi); plus the curvatures along and across each charge's direction."""

    flat: Float[Array, " points"]
    two_term: Float[Array, " points"]
    three_term: Float[Array, " points"]


@jax.jit
def local_densities(points: Float[Array, "points 3"], normals: Float[Array, "points 3"],
                    shape_operator: Float[Array, "points 3 3"], sources: Float[Array, "sources 3"],
                    charges: Float[Array, " sources"], horizon: float = float("inf")) -> Local:
    """Local densities at each point; normals out of the conductor, shape operator S = -dn (H is half its trace).

    Charges further away than `horizon` along the tangent plane count for the flat density only."""

    def at(x: Array, n: Array, S: Array) -> Array:
        gap = sources - x[None, :]
        R = jnp.sqrt((gap * gap).sum(axis=1))
        rise = gap @ n
        side = gap - rise[:, None] * n[None, :]
        square = (side * side).sum(axis=1)
        trace = S[0, 0] + S[1, 1] + S[2, 2]
        # straight above, every split of the trace gives the same value
        along = jnp.where(square > 0, ((side @ S) * side).sum(axis=1) / jnp.where(square > 0, square, 1.0), trace / 2)
        h = jnp.abs(rise)
        seen = jnp.where(square <= horizon * horizon, charges, 0.0)
        flat = -2 * charges @ (rise / R**3)
        bent = seen @ (along / (R + h) + (trace - along) * h / (R * (R + h)))
        return jnp.stack([flat, flat + trace / 2 * (seen @ (1 / R)), flat + bent]) / (4 * jnp.pi)

    return Local(*jax.lax.map(lambda row: at(*row), (points, normals, shape_operator), batch_size=256).T)

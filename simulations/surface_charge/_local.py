"""What local geometry alone would say of the charge, in JAX: flat, with mean curvature, with both curvatures."""
from __future__ import annotations

from typing import Any, NamedTuple

from jaxtyping import Array, Float

from simulations._arguments import finite_array
from simulations._jax import jax, jnp

__all__ = ["Local", "local_densities"]


class Local(NamedTuple):
    """Densities (points,): tangent plane; plus H phi/(4 pi); plus the curvatures along and across each charge's direction."""

    flat: Float[Array, " points"]
    two_term: Float[Array, " points"]
    three_term: Float[Array, " points"]


def local_densities(points: Any, normals: Any, shape_operator: Any, sources: Any, charges: Any,
                    horizon: float = float("inf")) -> Local:
    """Local densities at points (n, 3); normals (n, 3) out of the conductor, shape operator S = -dn (n, 3, 3).

    `sources` (m, 3), `charges` (m,); H is half the trace of S. Charges further away than `horizon` along the tangent plane
    count for the flat density only. ValueError: other shapes, values that are not finite, a source at a point, horizon < 0
    or nan."""
    at, n, S, p, q = (finite_array(v, name) for v, name in ((points, "points"), (normals, "normals"), (
        shape_operator, "shape_operator"), (sources, "sources"), (charges, "charges")))
    count, needed = len(at) if at.ndim else 0, len(p) if p.ndim else 0
    for value, name, shape in ((at, "points", (count, 3)), (n, "normals", (count, 3)), (S, "shape_operator", (count, 3, 3)),
                               (p, "sources", (needed, 3)), (q, "charges", (needed,))):
        if value.shape != shape:
            raise ValueError(f"{name} has shape {value.shape}, needed {shape}")
    if not horizon >= 0:
        raise ValueError(f"horizon={horizon!r} must be at least 0")
    found = _local(*map(jnp.asarray, (at, n, S, p, q)), jnp.asarray(float(horizon)))
    if not bool(jnp.isfinite(found.flat).all()):
        i = int((~jnp.isfinite(found.flat)).argmax())
        raise ValueError(f"points[{i}]={at[i].tolist()} is the place of a source, or too near to one")
    return found


@jax.jit
def _local(points: Any, normals: Any, shape_operator: Any, sources: Any, charges: Any, horizon: Any) -> Local:
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

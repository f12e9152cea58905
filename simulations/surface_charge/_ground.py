"""Grounded terrain: boundary elements on a patch of relief in an infinite plane."""
from __future__ import annotations

from typing import Any

import numpy as np

from simulations.surface_charge._mesh import Panels, check_areas, checked_faces, numbers, panels, winding
from simulations.surface_charge._solve import matrix, solve_first_kind

__all__ = ["solve_ground"]


def solve_ground(vertices: Any, faces: Any, plan: Any, sources: Any, charges: Any) -> Any:
    """Charge on each face of a patch of grounded relief, (faces,), under charges above it.

    `vertices` (v, 3) is the relief and `plan` (v, 3) the same mesh flattened onto z = 0; both agree on the rim, beyond
    which the ground is the plane z = 0. There the charge is taken to be the plane's, -q h/(2 pi R^3): its potential is
    that of the mirror charges less that of the flattened patch. What the relief changes outside decays like a dipole's
    field, so leave a rim of a few heights. Faces look up. ValueError: shapes, nan, `plan` not on z = 0, a face without area,
    a source not above the plane, or in the relief."""
    v, flat = numbers(vertices, "vertices", 3), numbers(plan, "plan", 3)
    p, q = numbers(sources, "sources", 3), numbers(charges, "charges", None)
    if flat.shape != v.shape or (flat[:, 2] != 0).any():
        raise ValueError(f"plan has shape {flat.shape}, needed {v.shape} with z = 0 everywhere")
    if len(q) != len(p):
        raise ValueError(f"charges has {len(q)} entries, needed one for each of the {len(p)} sources")
    if not (p[:, 2] > 0).all():
        j = int((p[:, 2] > 0).argmin())
        raise ValueError(f"sources[{j}]={p[j].tolist()} must lie above the plane z = 0")
    f = checked_faces(faces, len(v))
    made, below = panels(v, f), panels(flat, f)
    check_areas(below, f)
    _check_above(p, made, below)
    x, at = made.centres, below.centres
    plane = np.array([-(q * p[:, 2] / _distances(y, p) ** 3).sum() for y in at]) / (2 * np.pi)
    mirrored = np.abs(x) * [0, 0, -1] + x * [1, 1, 0]  # the plane's charge acts alike above and below
    phi = np.array([(q / _distances(y, p)).sum() - (q / _distances(z, p)).sum() for y, z in zip(x, mirrored, strict=True)])
    return solve_first_kind(made)(-phi + matrix(below, x) @ plane)


def _check_above(p: Any, made: Panels, below: Panels) -> None:
    """ValueError if a source lies between the relief and the plane: relief and plan together then go round it."""
    for j in np.flatnonzero(p[:, 2] <= made.corners[:, :, 2].max()).tolist():
        if abs(winding(p[j], made) - winding(p[j], below)) > 0.5:
            raise ValueError(f"sources[{j}]={p[j].tolist()} lies in the ground; it must lie above the relief")


def _distances(y: Any, p: Any) -> Any:
    return np.sqrt(((p - y) ** 2).sum(axis=1))

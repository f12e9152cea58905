"""The same potentials in compiled loops (loaded on use): closed form nearby, multipoles far away.

Far from a face its potential is area/r + (3 r.M.r/r^2 - tr M)/(2 r^3), M the second moments of the face about its
centre; what is left out is of third order in size/distance."""
from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

__all__ = ["dense", "far_product", "near_corrections"]


@numba.njit(cache=True, fastmath=False)
def exact(x: Any, y: Any, z: Any, t: Any, n: Any) -> float:
    """int dS / |point - y| over the triangle t (3, 3) with unit normal n."""
    total, lengths = 0.0, np.empty(3)
    g = np.empty((3, 3))
    for i in range(3):
        g[i, 0], g[i, 1], g[i, 2] = t[i, 0] - x, t[i, 1] - y, t[i, 2] - z
        lengths[i] = math.sqrt(g[i, 0] ** 2 + g[i, 1] ** 2 + g[i, 2] ** 2)
    for i in range(3):
        j = (i + 1) % 3
        e0, e1, e2 = g[j, 0] - g[i, 0], g[j, 1] - g[i, 1], g[j, 2] - g[i, 2]
        length = math.sqrt(e0 * e0 + e1 * e1 + e2 * e2)
        outward = (g[i, 0] * (e1 * n[2] - e2 * n[1]) + g[i, 1] * (e2 * n[0] - e0 * n[2])
                   + g[i, 2] * (e0 * n[1] - e1 * n[0])) / length
        s = lengths[i] + lengths[j]
        total += outward * math.log((s + length) / max(s - length, 1e-300))
    a, b, c = g[0], g[1], g[2]
    top = (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]))
    low = (lengths[0] * lengths[1] * lengths[2] + (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) * lengths[2]
           + (b[0] * c[0] + b[1] * c[1] + b[2] * c[2]) * lengths[0] + (c[0] * a[0] + c[1] * a[1] + c[2] * a[2]) * lengths[1])
    height = a[0] * n[0] + a[1] * n[1] + a[2] * n[2]
    return total - abs(height) * 2 * math.atan2(abs(top), low)


@numba.njit(cache=True, fastmath=True, inline="always")
def far(d0: Any, d1: Any, d2: Any, square: Any, m: Any) -> float:
    """Monopole and quadrupole; m = (area, trace, M00, M11, M22, 2 M01, 2 M02, 2 M12)."""
    w = 1.0 / square
    bent = (d0 * (m[2] * d0 + m[5] * d1 + m[6] * d2) + d1 * (m[3] * d1 + m[7] * d2) + m[4] * d2 * d2) * w
    return math.sqrt(w) * (m[0] + 0.5 * w * (3.0 * bent - m[1]))


@numba.njit(cache=True, parallel=True)
def dense(points: Any, corners: Any, normals: Any, centres: Any, moments: Any, reach: Any) -> Any:
    """The whole matrix; `reach` is the squared distance from which a face counts as far."""
    out = np.empty((len(points), len(centres)))
    for i in numba.prange(len(points)):
        for j in range(len(centres)):
            d0, d1, d2 = points[i, 0] - centres[j, 0], points[i, 1] - centres[j, 1], points[i, 2] - centres[j, 2]
            square = d0 * d0 + d1 * d1 + d2 * d2
            if square < reach[j]:
                out[i, j] = exact(points[i, 0], points[i, 1], points[i, 2], corners[j], normals[j])
            else:
                out[i, j] = far(d0, d1, d2, square, moments[j])
    return out


@numba.njit(cache=True, parallel=True, fastmath=True)
def far_product(points: Any, cx: Any, cy: Any, cz: Any, moments: Any, sigma: Any) -> Any:
    """Row sums of far potentials times sigma over all pairs of different places; moments (8, faces)."""
    out = np.empty(len(points))
    for i in numba.prange(len(points)):
        x, y, z, total = points[i, 0], points[i, 1], points[i, 2], 0.0
        for j in range(len(cx)):
            d0, d1, d2 = x - cx[j], y - cy[j], z - cz[j]
            square = d0 * d0 + d1 * d1 + d2 * d2
            w = 1.0 / square if square > 0.0 else 0.0
            bent = (d0 * (moments[2, j] * d0 + moments[5, j] * d1 + moments[6, j] * d2)
                    + d1 * (moments[3, j] * d1 + moments[7, j] * d2) + moments[4, j] * d2 * d2) * w
            total += sigma[j] * math.sqrt(w) * (moments[0, j] + 0.5 * w * (3.0 * bent - moments[1, j]))
        out[i] = total
    return out


@numba.njit(cache=True, parallel=True)
def near_corrections(points: Any, corners: Any, normals: Any, centres: Any, moments: Any, starts: Any, columns: Any) -> Any:
    """Exact less far potential for the pairs of a sparse pattern."""
    out = np.empty(len(columns))
    for i in numba.prange(len(points)):
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            d0, d1, d2 = points[i, 0] - centres[j, 0], points[i, 1] - centres[j, 1], points[i, 2] - centres[j, 2]
            square = d0 * d0 + d1 * d1 + d2 * d2
            value = exact(points[i, 0], points[i, 1], points[i, 2], corners[j], normals[j])
            out[k] = value if square == 0.0 else value - far(d0, d1, d2, square, moments[j])
    return out

"""Do faces meet that should not? Distances of triangles in compiled loops (loaded on use), pairs by a sweep along an axis."""
from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

__all__ = ["first_meeting", "triangle_distance"]


@numba.njit(cache=True)
def _dot(a: Any, b: Any) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@numba.njit(cache=True)
def _minus(a: Any, b: Any) -> Any:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@numba.njit(cache=True)
def _cross(a: Any, b: Any) -> Any:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@numba.njit(cache=True)
def _volume(a: Any, b: Any, c: Any, d: Any) -> float:
    """Six times the signed volume of a tetrahedron."""
    return _dot(_minus(b, a), _cross(_minus(c, a), _minus(d, a)))


@numba.njit(cache=True)
def _pierces(p: Any, q: Any, t: Any) -> bool:
    """The segment from p to q goes through the triangle t: p and q on either side, the edges all seen the same way round."""
    if _volume(t[0], t[1], t[2], p) * _volume(t[0], t[1], t[2], q) >= 0:
        return False
    a, b, c = _volume(p, q, t[0], t[1]), _volume(p, q, t[1], t[2]), _volume(p, q, t[2], t[0])
    return (a > 0 and b > 0 and c > 0) or (a < 0 and b < 0 and c < 0)


@numba.njit(cache=True)
def _from_face(p: Any, t: Any) -> float:
    """Squared distance of p from the plane of t if p lies over t, else infinity: edges are nearer then."""
    n = _cross(_minus(t[1], t[0]), _minus(t[2], t[0]))
    for i in range(3):
        if _dot(_cross(_minus(t[(i + 1) % 3], t[i]), _minus(p, t[i])), n) < 0:
            return np.inf
    return _dot(_minus(p, t[0]), n) ** 2 / _dot(n, n)


@numba.njit(cache=True)
def _of_segments(p: Any, q: Any, r: Any, s: Any) -> float:
    """Squared distance of two segments (Ericson, Real-Time Collision Detection, 5.1.9)."""
    u, v, w = _minus(q, p), _minus(s, r), _minus(p, r)
    a, b, c, e, f = _dot(u, u), _dot(u, v), _dot(u, w), _dot(v, v), _dot(v, w)
    apart = a * e - b * b
    x = min(max((b * f - c * e) / apart, 0.0), 1.0) if apart > 0 else 0.0
    y = (b * x + f) / e
    if y < 0:
        x, y = min(max(-c / a, 0.0), 1.0), 0.0
    elif y > 1:
        x, y = min(max((b - c) / a, 0.0), 1.0), 1.0
    gap = w[0] + x * u[0] - y * v[0], w[1] + x * u[1] - y * v[1], w[2] + x * u[2] - y * v[2]
    return _dot(gap, gap)


@numba.njit(cache=True)
def _edge_distance(p: Any, q: Any, t: Any) -> float:
    """Distance of the segment from p to q from the triangle t; 0 where it goes through."""
    if _pierces(p, q, t):
        return 0.0
    best = min(_from_face(p, t), _from_face(q, t))
    for i in range(3):
        best = min(best, _of_segments(p, q, t[i], t[(i + 1) % 3]))
    return math.sqrt(best)


@numba.njit(cache=True)
def triangle_distance(s: Any, t: Any) -> float:
    """Distance of two triangles (3, 3); 0 where they cross. One is nearest at an edge, or an edge goes through the other."""
    best = np.inf
    for i in range(3):
        j = (i + 1) % 3
        best = min(best, _edge_distance(s[i], s[j], t), _edge_distance(t[i], t[j], s))
    return best


@numba.njit(cache=True)
def _gap(s: Any, t: Any, f: Any, g: Any) -> float:
    """How far apart faces of one body are, f and g their vertices: those with an edge in common, infinitely; of two with one
    vertex in common the edge opposite of it counts, for a common line that leaves the vertex ends there."""
    shared, at, of = 0, -1, -1
    for i in range(3):
        for j in range(3):
            if f[i] == g[j]:
                shared, at, of = shared + 1, i, j
    if shared >= 2:
        return np.inf
    if shared == 0:
        return triangle_distance(s, t)
    return min(_edge_distance(s[(at + 1) % 3], s[(at + 2) % 3], t), _edge_distance(t[(of + 1) % 3], t[(of + 2) % 3], s))


@numba.njit(cache=True)
def first_meeting(corners: Any, faces: Any, body: Any, order: Any, axis: int, near: float, touch: float) -> tuple[int, int]:
    """Two faces that meet, or (-1, -1): of different bodies nearer than `near`, of one body nearer than `touch`.

    `order` sorts the faces by their lowest coordinate along `axis`; a face is compared with those that begin before it
    ends."""
    low, high = np.empty((len(corners), 3)), np.empty((len(corners), 3))
    for i in range(len(corners)):
        for m in range(3):
            low[i, m] = min(corners[i, 0, m], corners[i, 1, m], corners[i, 2, m])
            high[i, m] = max(corners[i, 0, m], corners[i, 1, m], corners[i, 2, m]) + near
    for k in range(len(order)):
        i = order[k]
        for m in range(k + 1, len(order)):
            j = order[m]
            if low[j, axis] > high[i, axis]:
                break
            if (low[j, 0] > high[i, 0] or low[i, 0] > high[j, 0] or low[j, 1] > high[i, 1] or low[i, 1] > high[j, 1]
                    or low[j, 2] > high[i, 2] or low[i, 2] > high[j, 2]):
                continue
            if body[i] != body[j]:
                if triangle_distance(corners[i], corners[j]) <= near:
                    return i, j
            elif _gap(corners[i], corners[j], faces[i], faces[j]) <= touch:
                return i, j
    return -1, -1

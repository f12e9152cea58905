"""Closed triangle meshes: the icosphere, what a mesh must satisfy, and where points lie with respect to it."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Panels", "checked_mesh", "checked_sources", "icosphere", "numbers", "panels"]

TOUCH = 1e-7  # of the body's extent: a source nearer than this lies on the body
BLOCK = 1 << 20  # point-face pairs held at a time


class Panels(NamedTuple):
    """Flat triangles: corners (faces, 3, 3), centres (faces, 3), unit normals (faces, 3) out of the body, areas (faces,)."""

    corners: Any
    centres: Any
    normals: Any
    areas: Any


def icosphere(frequency: int) -> tuple[Any, Any]:
    """Vertices (10 f^2 + 2, 3) on the unit sphere and faces (20 f^2, 3), outward, each icosahedron edge cut in f parts.

    The parts are equal on the flat faces and are then projected. ValueError if frequency < 1."""
    f = int(frequency)
    if f != frequency or f < 1:
        raise ValueError(f"frequency={frequency!r} must be an integer of at least 1")
    corners, triangles = _icosahedron()
    grid = np.array([(i, j, f - i - j) for i in range(f + 1) for j in range(f + 1 - i)])
    points = np.einsum("gw,twx->tgx", grid, corners[triangles]) / f  # triangles grid 3
    number = {(i, j): k for k, (i, j, _) in enumerate(grid.tolist())}
    up = [(number[i + 1, j], number[i, j + 1], number[i, j]) for i in range(f) for j in range(f - i)]
    down = [(number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]) for i in range(f - 1) for j in range(f - 1 - i)]
    local = np.array(up + down)
    flat = points.reshape(-1, 3)
    _, first, where = np.unique(np.round(flat * 2**20).astype(np.int64), axis=0, return_index=True, return_inverse=True)
    faces = where.reshape(len(triangles), len(grid))[:, local].reshape(-1, 3)
    vertices = flat[first]
    return vertices / np.linalg.norm(vertices, axis=1, keepdims=True), faces.astype(np.int64)


def _icosahedron() -> tuple[Any, Any]:
    from itertools import combinations

    golden = (1 + 5**0.5) / 2
    signs = [(s, t * golden) for s in (-1, 1) for t in (-1, 1)]
    corners = np.array([np.roll((0.0, s, t), turn) for turn in range(3) for s, t in signs])
    near = np.linalg.norm(corners[:, None] - corners[None], axis=2) < 2.1  # an edge has length 2
    triangles = [list(c) for c in combinations(range(12), 3) if near[c[0], c[1]] and near[c[1], c[2]] and near[c[0], c[2]]]
    turned = [c if np.linalg.det(corners[c]) > 0 else [c[1], c[0], c[2]] for c in triangles]
    return corners, np.array(turned)


def numbers(values: Any, name: str, columns: int | None) -> Any:
    """`values` as finite float64 of shape (any, columns), or (any,). ValueError naming the argument otherwise."""
    array = np.asarray(values, dtype=np.float64)
    shape = "(any,)" if columns is None else f"(any, {columns})"
    if array.ndim != (1 if columns is None else 2) or (columns is not None and array.shape[1] != columns):
        raise ValueError(f"{name} has shape {array.shape}, needed {shape}")
    if not np.isfinite(array).all():
        i = int(np.argwhere(~np.isfinite(array))[0][0])
        raise ValueError(f"{name}[{i}]={array[i].tolist()} must be finite")
    return array


def panels(vertices: Any, faces: Any) -> Panels:
    """Geometry of the faces; no check."""
    corners = vertices[faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    double = np.linalg.norm(cross, axis=1)
    return Panels(corners, corners.mean(axis=1), cross / np.where(double > 0, double, 1.0)[:, None], double / 2)


def checked_mesh(vertices: Any, faces: Any) -> Panels:
    """Panels of a closed, consistently oriented mesh whose faces look out of the body (each body, if several).

    ValueError naming `vertices` or `faces`: nan, indices out of range, faces without area, an edge with one face or more
    than two, two faces that run along an edge in the same direction, faces that look inward."""
    v = numbers(vertices, "vertices", 3)
    f = np.asarray(faces)
    if f.ndim != 2 or f.shape[1] != 3 or not len(f) or not np.issubdtype(f.dtype, np.integer):
        raise ValueError(f"faces has shape {f.shape} and type {f.dtype}, needed (any, 3) integers, at least one row")
    if f.min() < 0 or f.max() >= len(v):
        raise ValueError(f"faces refers to vertex {int(f.min() if f.min() < 0 else f.max())}, needed 0 to {len(v) - 1}")
    made = panels(v, f)
    extent = float(np.ptp(v[f.ravel()], axis=0).max())
    if (flat := made.areas <= 1e-14 * extent**2).any():
        i = int(flat.argmax())
        raise ValueError(f"faces[{i}]={f[i].tolist()} has no area")
    _check_edges(f, len(v))
    body = _bodies(f, len(v))
    volume = np.bincount(body, np.einsum("ij,ij->i", made.centres - v[f[0, 0]], made.normals) * made.areas / 3)
    if (volume <= 0).any():
        i = int((volume[body] <= 0).argmax())
        raise ValueError(f"faces of the body of faces[{i}]={f[i].tolist()} look inward (signed volume {volume[body[i]]:.3g});"
                         f" needed outward: reverse each row of its faces")
    return made


def _check_edges(f: Any, count: int) -> None:
    edges = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
    code = edges[:, 0] * count + edges[:, 1]
    seen, times = np.unique(code, return_counts=True)
    if (times > 1).any():
        a, b = divmod(int(seen[times.argmax()]), count)
        raise ValueError(f"faces run {int(times.max())} times from vertex {a} to {b}: the orientation is inconsistent (or more"
                         f" than two faces meet there); needed once each way")
    back = np.isin(edges[:, 1] * count + edges[:, 0], seen)
    if not back.all():
        a, b = edges[int(back.argmin())].tolist()
        raise ValueError(f"faces leave the edge from vertex {a} to {b} open; needed a closed surface (are equal vertices "
                         f"listed twice?)")


def _bodies(f: Any, count: int) -> Any:
    """Number of the connected body of each face."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(2 * len(f), dtype=np.int8)
    graph = coo_matrix((ones, (np.r_[f[:, 0], f[:, 1]], np.r_[f[:, 1], f[:, 2]])), shape=(count, count))
    label = connected_components(graph, directed=False)[1][f[:, 0]]
    return np.unique(label, return_inverse=True)[1]


def checked_sources(made: Panels, sources: Any, charges: Any) -> tuple[Any, Any]:
    """Sources (m, 3) strictly outside the body and charges (m,). ValueError naming the argument otherwise."""
    p, q = numbers(sources, "sources", 3), numbers(charges, "charges", None)
    if len(q) != len(p):
        raise ValueError(f"charges has {len(q)} entries, needed one for each of the {len(p)} sources")
    extent = float(np.ptp(made.corners.reshape(-1, 3), axis=0).max())
    for j, source in enumerate(p):
        if _distance(source, made) <= TOUCH * extent:
            raise ValueError(f"sources[{j}]={source.tolist()} lies on the body; it must lie outside")
        if abs(_winding(source, made)) > 0.5:
            raise ValueError(f"sources[{j}]={source.tolist()} lies inside the body; it must lie outside")
    return p, q


def _winding(x: Any, made: Panels) -> float:
    """Solid angle of the mesh seen from x, over 4 pi: 1 inside, 0 outside."""
    a, b, c = (made.corners[:, i] - x for i in range(3))
    la, lb, lc = (np.linalg.norm(e, axis=1) for e in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    low = (la * lb * lc + np.einsum("ij,ij->i", a, b) * lc + np.einsum("ij,ij->i", b, c) * la
           + np.einsum("ij,ij->i", c, a) * lb)
    return float(np.arctan2(top, low).sum() / (2 * np.pi))


def _distance(x: Any, made: Panels) -> float:
    """Distance from x to the nearest face."""
    best = np.inf
    inside = np.ones(len(made.areas), dtype=bool)
    for i in range(3):
        a, b = made.corners[:, i], made.corners[:, (i + 1) % 3]
        edge, gap = b - a, x - a
        along = np.clip(np.einsum("ij,ij->i", gap, edge) / np.einsum("ij,ij->i", edge, edge), 0, 1)
        best = min(best, float(np.linalg.norm(gap - along[:, None] * edge, axis=1).min()))
        inside &= np.einsum("ij,ij->i", np.cross(edge, gap), made.normals) >= 0
    if inside.any():
        best = min(best, float(abs(np.einsum("ij,ij->i", x - made.centres, made.normals)[inside]).min()))
    return best

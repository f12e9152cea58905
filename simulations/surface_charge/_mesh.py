"""Closed triangle meshes: the icosphere, what a mesh must satisfy, and where points lie with respect to it."""
from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from simulations._arguments import whole

__all__ = ["Panels", "check_areas", "checked_faces", "checked_mesh", "checked_sources", "icosphere", "numbers", "panels",
           "winding"]

SMALLEST, LARGEST = 1e-30, 1e30  # extent and coordinates whose sixth powers, of faces' moments, are floats
TOUCH = 1e-7  # of the body's extent: a source nearer than this lies on the body
SAME = 1e-12  # of it: faces of one body that are nearer than this, and are no neighbours, cross
RESOLVED = 0.25  # of a face's size: the charge of a source nearer than this is wrong by a per cent and more in all


class Panels(NamedTuple):
    """Flat triangles: corners (faces, 3, 3), centres (faces, 3), unit normals (faces, 3) out of the body, areas (faces,)."""

    corners: Any
    centres: Any
    normals: Any
    areas: Any


def icosphere(frequency: int) -> tuple[Any, Any]:
    """Vertices (10 f^2 + 2, 3) on the unit sphere and faces (20 f^2, 3), outward, each icosahedron edge cut in f parts.

    The parts are equal on the flat faces and are then projected. ValueError if frequency < 1."""
    whole_float = isinstance(frequency, float) and np.isfinite(frequency) and frequency == np.floor(frequency)
    f = whole(int(frequency) if whole_float else frequency, "frequency", 1)
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
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex numbers")
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={values!r:.80} must be real numbers in one regular array") from error
    shape = "(any,)" if columns is None else f"(any, {columns})"
    if array.ndim != (1 if columns is None else 2) or (columns is not None and array.shape[1] != columns):
        raise ValueError(f"{name} has shape {array.shape}, needed {shape}")
    if not np.isfinite(array).all():
        i = int(np.argwhere(~np.isfinite(array))[0][0])
        raise ValueError(f"{name}[{i}]={array[i].tolist()} must be finite")
    if columns is not None and (far := abs(array).max(axis=1, initial=0.0) > LARGEST).any():
        i = int(far.argmax())
        raise ValueError(f"{name}[{i}]={array[i].tolist()} must have coordinates of at most {LARGEST:g}: other units help")
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
    than two, two faces that run along an edge in the same direction, faces that look inward, faces that cross, bodies that
    touch or lie one inside the other."""
    v = numbers(vertices, "vertices", 3)
    f = checked_faces(faces, len(v))
    made = panels(v, f)
    extent = float(np.ptp(v[f.ravel()], axis=0).max())
    check_areas(made, f)
    _check_edges(f, len(v))
    body = _bodies(f, len(v))
    volume = np.bincount(body, np.einsum("ij,ij->i", made.centres - v[f[0, 0]], made.normals) * made.areas / 3)
    if (volume <= 0).any():
        i = int((volume[body] <= 0).argmax())
        outer = (volume > 0)[body]
        if outer.any() and abs(winding(v[f[i, 0]], _part(made, outer))) > 0.5:
            raise ValueError(f"faces of the body of faces[{i}]={f[i].tolist()} are the wall of a hollow of another body; leave "
                             f"them out: charges outside induce none there")
        raise ValueError(f"faces of the body of faces[{i}]={f[i].tolist()} look inward (signed volume {volume[body[i]]:.3g});"
                         f" needed outward: reverse each row of its faces")
    _check_apart(made, f, body, extent)
    return made


def check_areas(made: Panels, f: Any) -> None:
    """ValueError naming the first face without area, or `vertices` where all lie too close."""
    extent = float(np.ptp(made.corners.reshape(-1, 3), axis=0).max())
    if extent < SMALLEST:
        raise ValueError(f"vertices span {extent:.3g}, needed at least {SMALLEST:g}: other units help")
    if (flat := made.areas <= 1e-14 * extent**2).any():
        i = int(flat.argmax())
        raise ValueError(f"faces[{i}]={f[i].tolist()} has no area")


def winding(x: Any, made: Panels) -> float:
    """Solid angle of the mesh seen from x, over 4 pi: 1 inside of a closed one, 0 outside."""
    a, b, c = (made.corners[:, i] - x for i in range(3))
    la, lb, lc = (np.linalg.norm(e, axis=1) for e in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    low = (la * lb * lc + np.einsum("ij,ij->i", a, b) * lc + np.einsum("ij,ij->i", b, c) * la
           + np.einsum("ij,ij->i", c, a) * lb)
    return float(np.arctan2(top, low).sum() / (2 * np.pi))


def checked_faces(faces: Any, count: int) -> Any:
    """Faces (n, 3) that refer to `count` vertices. ValueError naming `faces` otherwise."""
    try:
        f = np.asarray(faces)
    except ValueError as error:
        raise ValueError(f"faces={faces!r:.80} must be rows of three integers each") from error
    if f.ndim != 2 or f.shape[1] != 3 or not len(f) or not np.issubdtype(f.dtype, np.integer):
        raise ValueError(f"faces has shape {f.shape} and type {f.dtype}, needed (any, 3) integers, at least one row")
    if f.min() < 0 or f.max() >= count:
        raise ValueError(f"faces refers to vertex {int(f.min() if f.min() < 0 else f.max())}, needed 0 to {count - 1}")
    return f


def _part(made: Panels, chosen: Any) -> Panels:
    return Panels(*(values[chosen] for values in made))


def _check_apart(made: Panels, f: Any, body: Any, extent: float) -> None:
    """ValueError if faces of two bodies meet, if faces of one body cross, or if a body lies in another."""
    from simulations.surface_charge._apart import first_meeting

    axis = int(np.ptp(made.centres, axis=0).argmax())
    order = made.corners[:, :, axis].min(axis=1).argsort()
    i, j = sorted(first_meeting(made.corners, f, body, order, axis, TOUCH * extent, SAME * extent))
    if i >= 0:
        pair = f"faces[{i}]={f[i].tolist()} and faces[{j}]={f[j].tolist()}"
        if body[i] == body[j]:
            raise ValueError(f"{pair} of one body cross or touch; needed a surface that does not meet itself")
        raise ValueError(f"{pair} of two bodies cross or touch; needed bodies that are apart")
    first = np.unique(body, return_index=True)[1]  # surfaces do not meet: one vertex tells where a body lies
    boxes = [(c.min(axis=(0, 1)), c.max(axis=(0, 1))) for c in (made.corners[body == k] for k in range(len(first)))]
    for k, (low, high) in enumerate(boxes):
        for row in first[[m != k and bool((low <= lo).all() and (hi <= high).all()) for m, (lo, hi) in enumerate(boxes)]]:
            if abs(winding(made.corners[row, 0], _part(made, body == k))) > 0.5:
                raise ValueError(f"the body of faces[{row}]={f[row].tolist()} lies inside another, that of "
                                 f"faces[{first[k]}]={f[first[k]].tolist()}; needed bodies that are apart")


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
    """Sources (m, 3) strictly outside the body and charges (m,). ValueError naming the argument otherwise.

    A source that is nearer to a face than this face's size is warned of, and refused at a quarter of it."""
    p, q = numbers(sources, "sources", 3), numbers(charges, "charges", None)
    if len(q) != len(p):
        raise ValueError(f"charges has {len(q)} entries, needed one for each of the {len(p)} sources")
    extent = float(np.ptp(made.corners.reshape(-1, 3), axis=0).max())
    sizes = np.linalg.norm(made.corners - made.centres[:, None, :], axis=2).max(axis=1)
    for j, source in enumerate(p):
        gaps = _distances(source, made)
        if gaps.min() <= TOUCH * extent:
            raise ValueError(f"sources[{j}]={source.tolist()} lies on the body; it must lie outside")
        if abs(winding(source, made)) > 0.5:
            raise ValueError(f"sources[{j}]={source.tolist()} lies inside the body; it must lie outside")
        i = int((gaps / sizes).argmin())
        said = (f"sources[{j}]={source.tolist()} has distance {gaps[i]:.3g} from faces[{i}], whose size (centre to corner) is "
                f"{sizes[i]:.3g}")
        if gaps[i] < RESOLVED * sizes[i]:
            raise ValueError(f"{said}; needed at least {RESOLVED:g} of its size, and for densities more: refine the mesh there")
        if gaps[i] < sizes[i]:
            warnings.warn(f"{said}: the density below the source is not resolved; refine the mesh there", stacklevel=3)
    return p, q


def _distances(x: Any, made: Panels) -> Any:
    """Distance from x to each face (faces,)."""
    best = np.full(len(made.areas), np.inf)
    inside = np.ones(len(made.areas), dtype=bool)
    for i in range(3):
        a, b = made.corners[:, i], made.corners[:, (i + 1) % 3]
        edge, gap = b - a, x - a
        along = np.clip(np.einsum("ij,ij->i", gap, edge) / np.einsum("ij,ij->i", edge, edge), 0, 1)
        best = np.minimum(best, np.linalg.norm(gap - along[:, None] * edge, axis=1))
        inside &= np.einsum("ij,ij->i", np.cross(edge, gap), made.normals) >= 0
    above = abs(np.einsum("ij,ij->i", x - made.centres, made.normals))
    return np.where(inside, np.minimum(best, above), best)

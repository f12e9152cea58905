"""Triangle meshes from files (gmsh, STL, OBJ, PLY and whatever else meshio reads), and curvature estimated on them."""
from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simulations.surface_charge._mesh import check_areas, checked_faces, numbers, panels

__all__ = ["Curvature", "curvature", "read_mesh"]

CUBIC = 10  # vertices around a face from which a cubic is fitted, so that what is left out does not bend the quadratic part
SAME = 1e-9  # of the extent: vertices nearer than this are one vertex (STL lists each once a face)


class Curvature(NamedTuple):
    """At each face: centre pushed onto the fitted surface and normal (faces, 3), S = -dn (faces, 3, 3), H = tr S / 2."""

    points: Any
    normals: Any
    shape_operator: Any
    mean: Any


def read_mesh(path: str | Path) -> tuple[Any, Any]:
    """Vertices (v, 3) and triangles (n, 3) of a file; vertices at one place are merged, unused ones dropped.

    Whether the mesh is closed and looks outward is for `solve` to say. ValueError, naming the file: unreadable, no
    triangles, other faces (quadrangles, curved triangles), coordinates that are not three finite numbers."""
    import meshio

    if not isinstance(path, str | Path):
        raise ValueError(f"path={path!r} must be the name of a file")
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"path={str(path)!r} must be a file")
    if file.suffix.lower() == ".obj":  # meshio counts corners from the wrong end where they are 0 or relative
        return _merged(*_obj(file))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # meshio multiplies the sizes in an STL header in 32 bits
            mesh = meshio.read(file)
    except (SystemExit, Exception) as error:  # meshio ends the process on some unknown suffixes
        raise ValueError(f"path={str(path)!r} cannot be read as a mesh: {error}") from error
    kinds = {block.type: len(block.data) for block in mesh.cells if block.type not in ("vertex", "line")}
    if set(kinds) != {"triangle"}:
        raise ValueError(f"path={str(path)!r} holds {kinds or 'no faces'}, needed triangles only")
    if mesh.points.ndim != 2 or mesh.points.shape[1] != 3:
        raise ValueError(f"path={str(path)!r} has points of shape {mesh.points.shape}, needed (any, 3)")
    vertices = numbers(mesh.points, f"points of {file.name}", 3)
    faces = np.concatenate([block.data for block in mesh.cells if block.type == "triangle"]).astype(np.int64)
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise ValueError(f"path={str(path)!r} has a face with vertex {int(faces.min() if faces.min() < 0 else faces.max())}, "
                         f"needed 0 to {len(vertices) - 1}")
    return _merged(vertices, faces)


def _obj(file: Path) -> tuple[Any, Any]:
    """Vertices and triangles of a Wavefront OBJ file; corners count from 1, or back from the last vertex if negative."""
    vertices, faces = [], []
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").replace("\\\n", "  ").splitlines(), 1):
        kind, *words = line.split("#")[0].split() or [""]
        if kind not in ("v", "f"):
            continue
        where = f"path={str(file)!r} in line {number}, {line.strip()!r:.80},"
        try:
            values = [float(w) for w in words] if kind == "v" else [int(w.split("/")[0]) for w in words]
        except ValueError as error:
            raise ValueError(f"{where} holds what is no {'number' if kind == 'v' else 'whole number'}") from error
        if kind == "v" and (len(values) < 3 or not np.isfinite(values).all()):
            raise ValueError(f"{where} needed three finite coordinates")
        if kind == "f" and len(values) != 3:
            raise ValueError(f"{where} has {len(values)} corners, needed triangles only")
        if kind == "f" and 0 in values:
            raise ValueError(f"{where} has a corner 0; OBJ counts from 1, or back from -1")
        if kind == "v":
            vertices.append(values[:3])
        else:
            faces.append([int(c) - 1 if c > 0 else len(vertices) + int(c) for c in values])
    if not faces:
        raise ValueError(f"path={str(file)!r} holds no faces, needed triangles only")
    f = np.array(faces, dtype=np.int64)
    if f.min() < 0 or f.max() >= len(vertices):
        i = int(((f < 0) | (f >= len(vertices))).any(axis=1).argmax())
        raise ValueError(f"path={str(file)!r} has a face {i + 1} that refers to no vertex; there are {len(vertices)}")
    return np.array(vertices, dtype=np.float64), f


def _merged(vertices: Any, faces: Any) -> tuple[Any, Any]:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    used, local = np.unique(faces, return_inverse=True)
    v = vertices[used]
    pairs = cKDTree(v).query_pairs(SAME * float(np.ptp(v, axis=0).max()), output_type="ndarray")
    graph = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(v), len(v)))
    label = connected_components(graph, directed=False)[1]
    first = np.unique(label, return_index=True)[1]
    return v[first], label[local.reshape(faces.shape)]


def curvature(vertices: Any, faces: Any) -> Curvature:
    """Mean curvature and shape operator at each face of a smooth surface, by least squares.

    z = c + b.u + u.A.u/2 and terms of third order are fitted to the vertices of the face and of the faces that touch it, in
    the face's own frame; normals follow the faces' orientation, out of the conductor, and S = -dn: H = -1/a on a ball of
    radius a. Error of second order in the size of the faces, of first where there are fewer than 10 vertices around a face;
    edges and corners are smoothed over. ValueError: fewer than 6 vertices around a face, nan, faces without area, faces that
    are not integers or refer to no vertex."""
    v = numbers(vertices, "vertices", 3)
    f = checked_faces(faces, len(v))
    made = panels(v, f)
    check_areas(made, f)
    around = _around(f, len(v))
    points, normals, S = np.empty((len(f), 3)), np.empty((len(f), 3)), np.empty((len(f), 3, 3))
    for i, ring in enumerate(around):
        if len(ring) < 6:
            raise ValueError(f"faces[{i}] has {len(ring)} vertices around it, needed 6 for a quadratic fit")
        points[i], normals[i], S[i] = _fit(v[ring] - made.centres[i], made.corners[i], made.normals[i])
        points[i] += made.centres[i]
    return Curvature(points, normals, S, np.trace(S, axis1=1, axis2=2) / 2)


def _around(f: Any, count: int) -> list[Any]:
    """Vertices of each face and of the faces that touch it."""
    from scipy.sparse import csr_matrix

    touch = csr_matrix((np.ones(f.size, dtype=np.int32), (np.repeat(np.arange(len(f)), 3), f.ravel())), shape=(len(f), count))
    rings = (touch @ touch.T @ touch).tocsr()
    return np.split(rings.indices, rings.indptr[1:-1])


def _fit(gap: Any, corners: Any, normal: Any) -> tuple[Any, Any, Any]:
    """Point, normal and shape operator of the quadratic surface through neighbours `gap`, relative to the face's centre."""
    first = corners[1] - corners[0]
    first = first / np.linalg.norm(first)
    frame = np.stack([first, np.cross(normal, first), normal])  # rows: u, v, up
    size = abs(gap).max()  # without units: powers of lengths are compared
    u, w, z = frame @ gap.T / size
    columns = [np.ones_like(u), u, w, u * u / 2, u * w, w * w / 2, u**3, u * u * w, u * w * w, w**3]
    used = columns if len(u) >= CUBIC else columns[:6]
    c, b0, b1, a00, a01, a11 = np.linalg.lstsq(np.stack(used, axis=1), z, rcond=None)[0][:6]
    length = np.sqrt(1 + b0 * b0 + b1 * b1)
    n = np.array([-b0, -b1, 1.0]) / length
    tangents = np.array([[1.0, 0.0, b0], [0.0, 1.0, b1]])
    metric = np.linalg.inv(tangents @ tangents.T)
    second = np.array([[a00, a01], [a01, a11]]) / length
    S = tangents.T @ metric @ second @ metric @ tangents  # as a form on space; zero along the normal
    return c * size * normal, n @ frame, frame.T @ S @ frame / size

"""Boundary elements of the first kind: constant charge on flat triangles, collocation at their centres.

S sigma = V - phi. The second-kind equation is singular for a closed conductor (it fixes sigma up to the total charge)
and is not used. Up to `DIRECT` faces the dense matrix is factored, up to `DENSE` it is kept and GMRES iterates, beyond
that no matrix is formed: far faces are multipoles, near ones a sparse correction."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from simulations._arguments import between
from simulations.surface_charge._mesh import Panels, checked_mesh, checked_sources

__all__ = ["Solution", "operator", "solve", "solve_first_kind"]

DIRECT, DENSE = 1_500, 20_000
FAR = 4.0  # a face is far at this many times its size: third-order terms are then below 1e-3 of the entry, and cancel
SINGULAR = 1e-13  # of the largest pivot
TOLERANCE = 1e-9  # relative residual of GMRES, far below the error of the panels


class Solution(NamedTuple):
    """sigma (faces,), its sum times area, and the potential of the body (found, if it was insulated)."""

    sigma: Any
    total_charge: float
    potential: float


def solve(vertices: Any, faces: Any, sources: Any, charges: Any, *, potential: float | None = 0.0) -> Solution:
    """Charge on each face of a conductor at `potential` (None: insulated and uncharged) near point charges.

    Gaussian units; `vertices` (v, 3), `faces` (n, 3) integers, closed and outward; `sources` (m, 3) outside, `charges`
    (m,). Several bodies are at one common potential. Error of second order in the size of the faces on smooth bodies, of
    lower order with edges and corners (the capacitance of a cube: 1.3). Memory 8 n^2 bytes up to 20,000 faces, some
    hundred megabytes beyond. A warning where a source is nearer to a face than the face is large.

    ValueError: nan, a source on or inside the body or nearer to a face than a quarter of its size, a mesh that is open,
    inconsistently oriented or turned inward, bodies that touch or overlap (as their vertices and centres of faces tell),
    or so flat that its two sides cannot be told apart."""
    made = checked_mesh(vertices, faces)
    p, q = checked_sources(made, sources, charges)
    if potential is not None:
        potential = between(potential, "potential", -np.inf, np.inf, "be finite, or None for an insulated body")
    phi = np.zeros(len(made.areas))
    for source, charge in zip(p, q, strict=True):
        phi += charge / np.linalg.norm(made.centres - source, axis=1)
    solver = solve_first_kind(made)
    induced = solver(-phi)
    V = 0.0 if potential is None else float(potential)
    if potential is None or potential != 0:
        equilibrium = solver(np.ones(len(phi)))
        if potential is None:
            V = -float(made.areas @ induced) / float(made.areas @ equilibrium)
        induced = induced + V * equilibrium
    return Solution(induced, float(made.areas @ induced), V)


def solve_first_kind(made: Panels) -> Callable[[Any], Any]:
    """A function that solves S sigma = b on these panels; its work is kept between right sides."""
    count = len(made.areas)
    if count <= DIRECT:
        from scipy.linalg import lu_factor, lu_solve

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an exact zero among the pivots is refused below
            factors = lu_factor(matrix(made), overwrite_a=True, check_finite=False)
        pivots = abs(np.diag(factors[0]))
        if not pivots.min() > SINGULAR * pivots.max():
            raise ValueError(f"faces have a singular matrix of potentials (pivots {pivots.min():.1e} to {pivots.max():.1e}): "
                             f"are there faces that coincide or are nearly degenerate?")
        return lambda b: lu_solve(factors, b, check_finite=False)
    if count <= DENSE:
        kept = matrix(made)
        return lambda b: _iterate(lambda v: kept @ v, b)
    product = operator(made)
    return lambda b: _iterate(product, b)


def _iterate(product: Callable[[Any], Any], b: Any) -> Any:
    from scipy.sparse.linalg import LinearOperator, gmres

    scale = float(np.linalg.norm(b))
    if scale == 0:
        return np.zeros_like(b)
    found, failed = gmres(LinearOperator((len(b), len(b)), matvec=product, dtype=np.float64), b, rtol=TOLERANCE, restart=80,
                          maxiter=5)
    if failed:
        gap = float(np.linalg.norm(product(found) - b)) / scale
        raise ValueError(f"faces: GMRES stopped at a relative residual of {gap:.2e}, needed {TOLERANCE:.0e}: are there faces "
                         f"that nearly coincide or are nearly degenerate?")
    return found


def moments(made: Panels) -> Any:
    """(faces, 8): area, trace and entries of the second moments about the centre."""
    g = made.corners - made.centres[:, None, :]
    M = np.einsum("fci,fcj->fij", g, g) * made.areas[:, None, None] / 12  # exact for a triangle
    return np.stack([made.areas, np.trace(M, axis1=1, axis2=2), M[:, 0, 0], M[:, 1, 1], M[:, 2, 2], 2 * M[:, 0, 1],
                     2 * M[:, 0, 2], 2 * M[:, 1, 2]], axis=1)


def reach(made: Panels) -> Any:
    """Squared distance from which each face is far."""
    return (FAR * 2 * np.linalg.norm(made.corners - made.centres[:, None, :], axis=2).max(axis=1)) ** 2


def matrix(made: Panels, points: Any = None) -> Any:
    """Potentials at points (the centres) of unit charge density on each face: (points, faces)."""
    from simulations.surface_charge._kernels import dense

    at = made.centres if points is None else np.ascontiguousarray(points)
    return dense(at, made.corners, made.normals, made.centres, moments(made), reach(made))


def operator(made: Panels) -> Callable[[Any], Any]:
    """sigma -> potentials at the centres, without a matrix: all pairs as multipoles, near pairs corrected."""
    from scipy.sparse import csr_matrix
    from scipy.spatial import cKDTree

    from simulations.surface_charge._kernels import far_product, near_corrections

    tree = cKDTree(made.centres)
    close = tree.query_ball_point(made.centres, np.sqrt(reach(made)))  # of each face, the points near it
    counts = np.array([len(c) for c in close])
    pattern = csr_matrix((np.ones(counts.sum()), (np.concatenate(close), np.repeat(np.arange(len(close)), counts))),
                         shape=(len(close), len(close)))
    m = moments(made)
    data = near_corrections(made.centres, made.corners, made.normals, made.centres, m, pattern.indptr, pattern.indices)
    near = csr_matrix((data, pattern.indices, pattern.indptr), shape=pattern.shape)
    cx, cy, cz = (np.ascontiguousarray(c) for c in made.centres.T)
    across = np.ascontiguousarray(m.T)
    return lambda v: far_product(made.centres, cx, cy, cz, across, np.ascontiguousarray(v)) + near @ v

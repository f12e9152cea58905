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
CHECKED, WRONG = 400, 0.5  # faces that the potential is looked at on, and the share of it that may be left there
THIN = 0.5  # of a face's size: the share of the charge on the far side is then wrong by 15 to 100 per cent
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
    hundred megabytes beyond. A warning where a source is nearer to a face than the face is large, and where a body is so thin
    that its sides' densities are not told apart.

    ValueError: nan, a source on or inside the body or nearer to a face than a quarter of its size, a mesh that is open,
    inconsistently oriented or turned inward, faces that cross, bodies that touch, overlap or lie one inside the other,
    faces so few or a body so flat that the charge found does not hold the potential between the centres."""
    made = checked_mesh(vertices, faces)
    p, q = checked_sources(made, sources, charges)
    if potential is not None:
        potential = between(potential, "potential", -np.inf, np.inf, "be finite, or None for an insulated body")
    _warn_thin(made)
    phi = potentials(made.centres, p, q)
    solver = solve_first_kind(made)
    induced = solver(-phi)
    V = 0.0 if potential is None else float(potential)
    if potential is None or potential != 0:
        equilibrium = solver(np.ones(len(phi)))
        if potential is None:
            V = -float(made.areas @ induced) / float(made.areas @ equilibrium)
        induced = induced + V * equilibrium
    _check_potential(made, induced, p, q, V)
    return Solution(induced, float(made.areas @ induced), V)


def _check_potential(made: Panels, sigma: Any, p: Any, q: Any, V: float) -> None:
    """ValueError where the potential is far from V at places of the faces that the equations do not see.

    Up to CHECKED faces, each at a point between its centre and a corner. With a charge at 1.5 radii 1 % of the potential is
    left on a ball of 320 faces, 8 % on one of 20; a charge that only fits the centres leaves as much as there was, or more."""
    some = np.linspace(0, len(sigma) - 1, min(CHECKED, len(sigma))).astype(int)
    at = np.einsum("c,fci->fi", [0.7, 0.2, 0.1], made.corners[some])
    phi = potentials(at, p, q) - V
    left, size = (float(np.sqrt(np.mean(v * v))) for v in (matrix(made, at) @ sigma + phi, phi))
    if not left <= WRONG * size:
        raise ValueError(f"faces are too few or too flat: the charge found leaves {100 * left / size:.0f} % of the potential "
                         "at places of the faces other than their centres; refine the mesh")


def _warn_thin(made: Panels) -> None:
    """A warning where two sides of the body are close and not meshed alike: their charges then lie at different places, and
    what the potentials differ by is the mesh's doing. Sides whose faces lie opposite each other are told apart."""
    from scipy.spatial import cKDTree

    sizes = np.linalg.norm(made.corners - made.centres[:, None, :], axis=2).max(axis=1)
    far, near = cKDTree(made.centres).query(made.centres, k=min(16, len(sizes)))  # those of its own side and some opposite
    opposite = np.einsum("ijk,ik->ij", made.normals[near], made.normals) < -0.8
    rows, first = np.arange(len(sizes)), np.where(opposite, far, np.inf).argmin(axis=1)
    step = made.centres[near[rows, first]] - made.centres
    gap = abs(np.einsum("ij,ij->i", step, made.normals))
    aside = np.linalg.norm(step - np.einsum("ij,ij->i", step, made.normals)[:, None] * made.normals, axis=1)
    thin = opposite.any(axis=1) & (gap < THIN * sizes) & (aside > 0.2 * sizes)
    if (share := float(made.areas[thin].sum() / made.areas.sum())) > 0.2:
        i = int(thin.argmax())
        warnings.warn(f"faces: over {100 * share:.0f} % of the surface the body is thinner than half a face is large (at "
                      f"faces[{i}] {gap[i]:.3g} to {sizes[i]:.3g}), and its two sides are not meshed alike: the total charge "
                      "is found, how the sides share it is not; refine the mesh", stacklevel=3)


def potentials(at: Any, p: Any, q: Any) -> Any:
    """Potential of the charges at places (n, 3)."""
    phi = np.zeros(len(at))
    for source, charge in zip(p, q, strict=True):
        phi += charge / np.linalg.norm(at - source, axis=1)
    return phi


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
        return lambda b: _iterate(lambda v: kept @ v, np.diag(kept), b)
    product, own = operator(made)
    return lambda b: _iterate(product, own, b)


def _iterate(product: Callable[[Any], Any], own: Any, b: Any) -> Any:
    """GMRES for sigma times `own`, what unit density on each face makes at its own centre: faces of all sizes weigh alike."""
    from scipy.sparse.linalg import LinearOperator, gmres

    scale = float(np.linalg.norm(b))
    if scale == 0:
        return np.zeros_like(b)
    found, failed = gmres(LinearOperator((len(b), len(b)), matvec=lambda v: product(v / own), dtype=np.float64), b,
                          rtol=TOLERANCE, restart=80, maxiter=5)
    found = found / own
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


def operator(made: Panels) -> tuple[Callable[[Any], Any], Any]:
    """sigma -> potentials at the centres, without a matrix: all pairs as multipoles, near pairs corrected. And the matrix's
    diagonal."""
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
    return lambda v: far_product(made.centres, cx, cy, cz, across, np.ascontiguousarray(v)) + near @ v, near.diagonal()

"""Bodies of boundary elements: which meet, cross, lie one inside the other, or are too flat for their faces."""
from __future__ import annotations

import numpy as np
import pytest

from simulations import surface_charge as sim
from simulations.surface_charge._apart import first_meeting, triangle_distance

BALL = sim.icosphere(3)
SMALL = 0.4 * BALL[0], BALL[1]
UP = [[0, 0, 4.0]]


def both(*bodies):
    """Several bodies as one mesh."""
    starts = np.cumsum([0, *(len(v) for v, _ in bodies)])
    return np.concatenate([v for v, _ in bodies]), np.concatenate([f + s for (_, f), s in zip(bodies, starts, strict=False)])


def block(lengths, at=(0, 0, 0)):
    """A box of twelve faces."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * np.array(lengths) / 2 + at
    sides = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return corners, np.array([t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))])


def turned(mesh, by):
    from scipy.spatial.transform import Rotation

    return mesh[0] @ Rotation.from_rotvec(by).as_matrix().T, mesh[1]


def folded():
    """A ball with a dent that is pushed out through its other side."""
    v, f = sim.icosphere(6)
    return np.where((v[:, 2] > 0.7)[:, None], v * [1, 1, -1.5], v), f


@pytest.mark.parametrize(("mesh", "said"), [
    (both(BALL, BALL), "two bodies cross or touch"), (both(BALL, SMALL), "lies inside another"),
    (both(SMALL, BALL), "lies inside another"), (both(BALL, (BALL[0] + [0.9, 0.1, 0], BALL[1])), "two bodies cross"),
    (both(block((4, 0.2, 0.2)), block((0.2, 4, 0.1))), "two bodies cross"),  # no vertex nor centre of one in the other
    (both(block((1, 1, 1)), turned(block((9, 0.01, 0.01)), [0.3, 0.2, 0.1])), "two bodies cross"),
    (both(block((1, 1, 1)), block((1, 1, 1), (1, 0.3, 0.2))), "two bodies cross or touch"),  # faces in one plane
    (both(block((1, 1, 1)), block((1, 1, 1), (1, 1, 1))), "two bodies cross or touch"),  # a corner only
    (both(block((1, 1, 1)), turned(block((1, 1, 1)), [0, 0, 0.7]), block((1, 1, 1), (5, 5, 5))), "two bodies cross"),
    (folded(), "of one body cross"), (both(BALL, (SMALL[0], SMALL[1][:, ::-1])), "hollow.*leave them out"),
    ((BALL[0], [[0, 1, 2], [3]]), "faces="), (("a", BALL[1]), "vertices='a'"),
    ((turned(sim.icosphere(1), [0.3, 0.2, 0.5])[0] * [1, 1, 1e-4], sim.icosphere(1)[1]), "too few or too flat")])
@pytest.mark.filterwarnings("ignore:(sources|faces)")
def test_solver_refuses_bodies(mesh, said):
    with pytest.raises(ValueError, match=said):
        sim.solve(*mesh, UP, [1.0])


@pytest.mark.parametrize("other", [
    (0.1 * BALL[0] + [0.75, 0.75, 0.75], BALL[1]),  # in the corner of the ball's box
    (0.5 * BALL[0] + [1.505, 0, 0], BALL[1]), turned(block((9, 0.01, 0.01), (0, 0, 1.05)), [0, 0, 0.3])])
@pytest.mark.filterwarnings("ignore:.*refine the mesh")  # the bar
def test_bodies_whose_boxes_overlap_may_stand_apart(other):
    found = sim.solve(*both(BALL, other), UP, [1.0])
    assert np.isfinite(found.sigma).all() and -1 < found.total_charge < 0


def test_a_thin_disc_of_faces_opposite_each_other():
    """Exact for a disc of radius 1, charge 1 at h on its axis: the total is -(2/pi) atan(1/h), and top less bottom density
    -h/(2 pi R^3), as half the field of both sides is the charge's own."""
    vertices, faces = sim.icosphere(10)
    vertices, h = vertices * [1, 1, 1e-4], 0.5
    found = sim.solve(vertices, faces, [[0, 0, h]], [1.0])
    assert found.total_charge == pytest.approx(-2 / np.pi * np.arctan(1 / h), rel=2e-3)
    corners = vertices[faces]
    x, areas = corners.mean(axis=1), np.linalg.norm(np.cross(*np.diff(corners, axis=1).transpose(1, 0, 2)), axis=1) / 2
    R = np.hypot(np.hypot(x[:, 0], x[:, 1]), h)
    middle = np.hypot(x[:, 0], x[:, 1]) < 0.7
    truth = -(areas * h / (4 * np.pi * R**3))[middle].sum()  # half of it on each side's faces
    assert (areas * found.sigma * np.sign(x[:, 2]))[middle].sum() == pytest.approx(truth, rel=2e-3)


def test_thin_bodies_are_warned_of_where_their_sides_are_not_meshed_alike():
    flat = turned(sim.icosphere(4), [0.3, 0.2, 0.5])[0] * [1, 1, 0.01], sim.icosphere(4)[1]
    with pytest.warns(UserWarning, match="the total charge is found"):
        charge = sim.solve(*flat, UP, [1.0]).total_charge
    alike = sim.icosphere(8)[0] * [1, 1, 0.01], sim.icosphere(8)[1]
    assert charge == pytest.approx(sim.solve(*alike, UP, [1.0]).total_charge, rel=0.01)  # no warning: warnings are errors
    sim.solve(*BALL, UP, [1.0])


def test_distance_of_triangles_against_points_of_them():
    """Points of both on a grid: never nearer than the distance, and as near as the grid is fine."""
    weights = np.array([(i, j, 40 - i - j) for i in range(41) for j in range(41 - i)]) / 40
    rng, met = np.random.default_rng(3), 0
    for _ in range(60):
        s, t = rng.normal(size=(2, 3, 3))
        t = 0.7 * t + rng.choice([0.2, 1.5]) * rng.normal(size=3)
        a, b = weights @ s, weights @ t
        crude = np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=2).min())
        found = triangle_distance(s, t)
        step = max(np.linalg.norm(c - np.roll(c, 1, axis=0), axis=1).max() for c in (s, t)) / 40
        assert found <= crude + 1e-12 and crude <= found + 1.2 * step
        met += found == 0
    assert 5 < met < 55  # both cases came up


def test_neighbours_do_not_count_as_meeting():
    v, f = BALL
    corners, order = v[f], v[f][:, :, 0].min(axis=1).argsort()
    one = np.zeros(len(f), dtype=int)
    assert first_meeting(corners, f, one, order, 0, 1e-7, 1e-12) == (-1, -1)
    assert first_meeting(corners, f, one, order, 0, 1e-7, 3.0) != (-1, -1)  # two radii and more: then all are near


def test_sources_nearer_than_a_face_is_large():
    centre = BALL[0][BALL[1][5]].mean(axis=0)
    size = np.linalg.norm(BALL[0][BALL[1][5]] - centre, axis=1).max()
    up = centre / np.linalg.norm(centre)
    with pytest.warns(UserWarning, match=r"sources\[1\].*faces\[5\].*not resolved"):
        sim.solve(*BALL, [[0, 0, 4.0], centre + 0.5 * size * up], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"sources\[0\].*faces\[5\].*refine"):
        sim.solve(*BALL, [centre + 0.1 * size * up], [1.0])


def torus(count, R=2.0, r=0.5):
    """Vertices and faces of 2 count x count cells."""
    turn, tilt = np.meshgrid(*(np.linspace(0, 2 * np.pi, m, endpoint=False) for m in (2 * count, count)), indexing="ij")
    out = R + r * np.cos(tilt)
    vertices = np.stack([out * np.cos(turn), out * np.sin(turn), r * np.sin(tilt)], axis=-1).reshape(-1, 3)
    a = np.arange(2 * count * count).reshape(2 * count, count)
    b, d = np.roll(a, -1, axis=0), np.roll(a, -1, axis=1)
    c = np.roll(b, -1, axis=1)
    return vertices, np.concatenate([np.stack([m.ravel() for m in t], axis=1) for t in ((a, b, c), (a, c, d))])


def test_curvature_is_right_to_second_order_where_it_changes():
    """On a torus H = -(1/r + cos/(R + r cos))/2; a fit without terms of third order errs by first order there."""
    gaps = []
    for count in (16, 32, 64):
        found = sim.curvature(*torus(count))
        across = np.hypot(found.points[:, 0], found.points[:, 1])
        cosine = (across - 2) / np.hypot(across - 2, found.points[:, 2])
        gaps.append(np.sqrt(np.mean((found.mean + (2 + cosine / (2 + cosine / 2)) / 2) ** 2)))
    assert gaps[0] / gaps[1] > 3.7 and gaps[1] / gaps[2] > 3.7, gaps


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_curvature_has_a_unit(size):
    """In metres a ball of a nanometre had no curvature: powers of lengths stood beside each other."""
    usual, other = sim.curvature(*BALL), sim.curvature(size * BALL[0], BALL[1])
    assert other.mean * size == pytest.approx(usual.mean, rel=1e-9)
    assert other.points / size == pytest.approx(usual.points, rel=1e-9)


def test_curvature_refuses_a_face_without_area():
    vertices, faces = BALL
    a, b, _ = faces[3]
    with pytest.raises(ValueError, match="no area"):
        sim.curvature(vertices, np.concatenate([faces, [[a, b, b]]]))

"""Corridors of long wires over relief: published data, scores of the formulas and of the network, regimes, the figure."""
from __future__ import annotations

import numpy as np
import pytest
from charged import cylinder_frame

from simulations import surface_charge as sim
from theory import surface_charge as thy


def test_relief_and_its_geometry():
    made = sim.make_corridor(3)
    places = np.random.default_rng(0).uniform(-40, 40, (6, 2))
    z, gradient, hessian = sim.relief(made, *places.T)
    step = 1e-4
    for i in range(2):
        ahead, behind = (sim.relief(made, *(places + sign * step * np.eye(2)[i]).T) for sign in (1, -1))
        assert np.allclose((ahead[0] - behind[0]) / (2 * step), gradient[:, i], atol=1e-8)
        assert np.allclose((ahead[1] - behind[1]) / (2 * step), hessian[:, i], atol=1e-8)
    from simulations.surface_charge._corridor import geometry

    x, n, S = geometry(made, places)
    assert np.allclose(x[:, 2], z) and (n[:, 2] > 0).all() and np.allclose(np.einsum("pij,pj->pi", S, n), 0, atol=1e-12)
    # S = -dn along a tangent, by differences
    ahead = geometry(made, places + step * np.eye(2)[0])
    tangent = ahead[0] - x
    assert np.allclose(ahead[1] - n, -np.einsum("pij,pj->pi", S, tangent), atol=1e-7)


def test_published_corridors_are_what_the_solver_gives():
    from simulations.surface_charge import _corridor

    cases = _corridor.published()
    assert len(cases) == 24 and _corridor.DATA.stat().st_size < 200_000
    assert all(case[0] == sim.make_corridor(i) for i, case in enumerate(cases))
    made, places, sigma = cases[5]
    at, solved = _corridor.solved(made)
    where = [int(np.abs(at - p).sum(axis=1).argmin()) for p in places]
    assert np.allclose(at[where], places, atol=1e-3) and np.allclose(solved[where], sigma, rtol=1e-4)


def test_scores_of_the_corridors():
    """On rolling ground under long wires neither curvature formula beats the flat one, unless it stops seeing curvature at
    0.40 wavelengths: then it does as well as the network."""
    errors = sim.corridor_errors()
    assert all(len(v) == 8 and (v > 0).all() for v in errors.values())
    medians = {k: float(np.median(v)) for k, v in errors.items()}
    assert [medians[k] for k in ("flat", "two_term", "three_term", "horizon")] == pytest.approx(
        [0.0288, 0.0372, 0.0415, 0.0108], rel=0.01)
    for better in ("network", "horizon"):
        assert (errors[better] < 0.6 * errors["flat"]).all() and medians[better] < medians["two_term"] / 2


def test_regimes_of_long_wires():
    found = sim.wire_regimes([6.0, 10.0, 40.0], np.radians([0.0, 90.0]))
    assert found.horizon.max() < 0.5 and (found.horizon[0] > found.horizon[1]).all()
    assert found.three_term[1, 0] < 0.5 and found.three_term[1, 1] > 1.9 and (found.two_term[1] > 1).all()
    assert (found.three_term[2] < 0.5).all()  # slow ground: the formula is right as it stands
    for bad in ({"wavelengths": [0.0]}, {"half_length": 0.0}):
        with pytest.raises(ValueError, match="greater than 0"):
            sim.wire_regimes(**{"wavelengths": [5.0], "angles": [0.0], **bad})


@pytest.mark.parametrize("across", [True, False])
def test_regimes_agree_with_boundary_elements(across):
    """One wave of 10 clearances, 0.5 m high, across or along one wire: the same errors, solved with all orders of height."""
    from simulations.surface_charge import _corridor

    k = 2 * np.pi / 120
    wave = (0.5, k, 0.0, 0.7) if across else (0.5, 0.0, k, 0.7)
    made = _corridor.Corridor((0.0, 30.0, 0.0), (wave,), ((0.0, 12.0, 1.0),))
    places, sigma = _corridor.solved(made)
    near = abs(places[:, 0]) <= 36
    local = _corridor.features(made, places[near])[1]
    cut = sim.local_densities(*_corridor.geometry(made, places[near]), *_corridor._charges(made), 48.0).three_term
    size = np.linalg.norm(local["flat"] - sigma[near])
    ratio = [np.linalg.norm(v - sigma[near]) / size for v in (local["two_term"], local["three_term"], np.asarray(cut))]
    regimes = sim.wire_regimes([10.0], [0.0 if across else np.pi / 2])
    assert ratio == pytest.approx([float(v[0, 0]) for v in regimes], rel=0.15, abs=0.1)


def test_a_horizon_leaves_out_curvature_only():
    assert thy.relief_horizon(2 * np.pi) == pytest.approx(2.5162, abs=1e-4)
    x, n, S = cylinder_frame(1.0, 0.0, 20.0)
    above = np.array([[21.0, 0.0, 0.0], [21.0, 0.0, 9.0]])
    near, far = (thy.anisotropic_sigma(x, n, S, p, [1.0] * len(p)) for p in (above[:1], above))
    flat = thy.flat_sigma(x, n, above[1:], [1.0])
    cut = thy.anisotropic_sigma(x, n, S, above, [1.0, 1.0], horizon=5.0)
    assert cut == pytest.approx(near + flat, rel=1e-12) and abs(cut - far) > 1e-5
    assert cut == pytest.approx(np.asarray(sim.local_densities(x, n, S, above, np.ones(2), 5.0).three_term), rel=1e-12)
    for bad in (0.0, np.nan):
        with pytest.raises(ValueError, match="horizon"):
            thy.anisotropic_sigma(x, n, S, above, [1.0, 1.0], horizon=bad)
    with pytest.raises(ValueError, match="wavelength"):
        thy.relief_horizon(-1.0)


def test_validity_report_sees_the_corridor():
    from simulations.surface_charge import _corridor

    made, places, _ = _corridor.published()[0]
    x, n, S = _corridor.geometry(made, places)
    report = thy.validity_report(x, n, S, _corridor._charges(made)[0])
    assert (report.curvature < 0.5).all() and (report.anisotropy > 0).all()


def test_figure(monkeypatch):
    data = sim.figure_data()
    assert data["sphere_error"][-1] < 0.0025
    assert (data["two_term"][data["aspect"] == 1] < 0.003).all() and data["two_term"][-1] > 0.03
    assert np.allclose(data["truth"], 2 * np.sin(np.radians(data["angle"])) ** 2, atol=0.06)
    monkeypatch.setattr("simulations.surface_charge._figure.figure_data", lambda: data)
    page = sim.figure()
    assert len(page.axes) == 6 and all(a.get_xlabel() and a.get_title(loc="left") for a in page.axes)

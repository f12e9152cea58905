"""Surface charge: closed forms against images and quadrature, their errors, truths of the evidence."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from charged import INSIDE, OUT, Q, X, cylinder_frame, unit

from proofs_checks import _surface_charge as own
from proofs_checks.harness.judge import judge
from simulations import surface_charge as sim
from theory import surface_charge as thy


@pytest.mark.parametrize(("radius", "sources", "sign"), [(1.0, OUT, 1), (1.0, INSIDE, -1), (2.5, 2.5 * OUT, 1)])
def test_two_terms_are_exact_on_balls_and_in_cavities(radius, sources, sign):
    found = thy.two_term_sigma(radius * X, sign * X, np.full(40, -sign / radius), sources, Q)
    assert np.allclose(found, thy.sphere_sigma(radius * X, radius, sources, Q), rtol=1e-12, atol=1e-14)


def test_the_sphere_formula_is_the_derivative_of_the_images():
    a, p, q, step = 1.3, np.array([0.4, -1.1, 1.9]), 1.7, 1e-5
    d = np.linalg.norm(p)

    def potential(x):
        return q / np.linalg.norm(x - p, axis=1) - q * a / d / np.linalg.norm(x - p * a**2 / d**2, axis=1)

    slope = (potential((a + step) * X) - potential((a - step) * X)) / (2 * step)
    assert np.allclose(-slope / (4 * np.pi), thy.sphere_sigma(a * X, a, [p], [q]), rtol=1e-7, atol=0)


def test_insulated_balls_are_neutral_and_cavities_do_not_care():
    grounded, free = (thy.sphere_sigma(X, 1.0, OUT, Q, grounded=g) for g in (True, False))
    V = (Q / np.linalg.norm(OUT, axis=1)).sum()
    assert np.allclose(free - grounded, V / (4 * np.pi), rtol=1e-12, atol=0)
    assert np.allclose(free, thy.two_term_sigma(X, X, -np.ones(40), OUT, Q, potential=V), rtol=1e-12, atol=0)
    inside = (thy.sphere_sigma(X, 1.0, INSIDE, Q, grounded=g) for g in (True, False))
    assert np.array_equal(*inside)
    vertices, faces = sim.icosphere(6)
    x = vertices[faces].mean(axis=1)
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    spread = thy.sphere_sigma(x / np.linalg.norm(x, axis=1, keepdims=True), 1.0, OUT, Q, grounded=False)
    assert abs(areas @ spread) < 2e-3 * (areas @ abs(spread))


def test_boss_by_numbers():
    r = np.array([1.5, 2.0, 4.0, 1e4])
    places = np.stack([r, 0 * r, 0 * r], axis=1)
    flat = thy.two_term_sigma(places, np.tile([0.0, 0, 1], (4, 1)), np.zeros(4), [[0, 0, 1.5]], [1.0])
    ratio = flat / thy.boss_sigma(places, 1.0, 1.5, 1.0)
    assert ratio == pytest.approx([2.774, 1.977, 1.530, 1 / (1 - 1.5**-3)], abs=6e-4)
    pole = thy.boss_sigma([[0, 0, 1.0]], 1.0, 1.5, 1.0)
    assert float(thy.two_term_sigma([[0, 0, 1.0]], [[0, 0, 1.0]], [-1.0], [[0, 0, 1.5]], [1.0])[0] / pole[0]) == pytest.approx(
        1.008, abs=1e-3)


@pytest.mark.parametrize("boss", [False, True])
def test_boss_agrees_with_the_potential_of_three_images(boss):
    a, d, q, step = 0.8, 1.3, -2.0, 1e-5
    angle = np.linspace(0.1, 1.4, 7)
    x = a * np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1) if boss else np.stack(
        [1 + angle, 0 * angle, 0 * angle], axis=1)
    n = x / a if boss else np.tile([0.0, 0.0, 1.0], (7, 1))
    images = [(q, d), (-q, -d), (-q * a / d, a * a / d), (q * a / d, -a * a / d)]

    def potential(at):
        return sum(c / np.linalg.norm(at - [0, 0, z], axis=1) for c, z in images)

    assert abs(potential(x)).max() < 1e-13
    slope = (potential(x + step * n) - potential(x - step * n)) / (2 * step)
    assert np.allclose(-slope / (4 * np.pi), thy.boss_sigma(x, a, d, q), rtol=1e-6, atol=0)


def test_cylinder_by_numbers():
    places = ((5, 1, 0), (20, 1, 0), (80, 1, 0), (80, 0, 1))
    found = [float(thy.cylinder_sigma(arc, axial, a, 1.0, 1.0)) for a, arc, axial in places]
    assert found == pytest.approx([-0.049254754, -0.054429464, -0.055804342, -0.056560067], abs=6e-10)
    grid = thy.cylinder_sigma(np.array([[0.5], [2.0]]), np.array([0.0, 1.0, 4.0]), 3.0, 0.5, -2.0)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == pytest.approx(float(thy.cylinder_sigma(2.0, 4.0, 3.0, 0.5, -2.0)), rel=1e-9)
    assert grid[1, 1] == pytest.approx(-8 * float(thy.cylinder_sigma(-4.0, 2.0, 6.0, 1.0, 1.0)), rel=1e-9)  # scaling


def test_cylinder_of_a_line_charge_is_the_plane_problem():
    """Charges spread along the axis as cos(k z) with k -> 0: the sum over z of the density is Poisson's kernel."""
    a, h, angle = 1.0, 0.7, 0.4
    b, k = a + h, 1e-6
    from theory.surface_charge._oracles import _spectrum

    spectrum = float(_spectrum(np.array([k]), np.array([angle]), a, b)[0, 0])
    kernel = (b * b - a * a) / (a * a + b * b - 2 * a * b * np.cos(angle)) / 2
    from scipy.special import k0

    assert spectrum - (k0(k * b) / k0(k * a) - 1) / 2 == pytest.approx(kernel, rel=1e-9)


@pytest.mark.parametrize(("a", "arc", "axial", "two", "three"), [
    (5, 1, 0, -0.048427589, -0.049794910), (20, 1, 0, -0.054198656, -0.054463199), (80, 1, 0, -0.055744705, -0.055806465),
    (80, 0, 1, -0.056621456, -0.056561116)])
def test_local_formulas_on_a_cylinder_by_numbers(a, arc, axial, two, three):
    x, n, S = cylinder_frame(arc, axial, a)
    assert thy.two_term_sigma(x, n, [-0.5 / a], [[a + 1, 0, 0]], [1.0])[0] == pytest.approx(two, abs=6e-10)
    assert thy.anisotropic_sigma(x, n, S, [[a + 1, 0, 0]], [1.0])[0] == pytest.approx(three, abs=6e-10)
    local = sim.local_densities(x, n, S, np.array([[a + 1.0, 0, 0]]), np.ones(1))
    assert (float(local.two_term[0]), float(local.three_term[0])) == pytest.approx((two, three), abs=6e-10)


def test_three_terms_are_two_on_umbilic_ground_and_at_the_foot():
    S = -(np.eye(3) - X[:, :, None] * X[:, None, :])
    assert np.allclose(thy.anisotropic_sigma(X, X, S, OUT, Q), thy.sphere_sigma(X, 1.0, OUT, Q), rtol=1e-12, atol=1e-14)
    x, n, S = cylinder_frame(0.0, 0.0, 4.0)
    foot = thy.anisotropic_sigma(x, n, S, [[5.0, 0, 0]], [1.0])
    assert foot == pytest.approx(thy.two_term_sigma(x, n, [-0.125], [[5.0, 0, 0]], [1.0]), rel=1e-14)
    along_normal = S + 3 * n[:, :, None] * n[:, None, :]  # what S does along n must not matter
    assert thy.anisotropic_sigma(x, n, along_normal, [[5.0, 1, 2]], [1.0]) == pytest.approx(
        thy.anisotropic_sigma(x, n, S, [[5.0, 1, 2]], [1.0]), rel=1e-14)


def test_many_points_are_done_in_blocks(monkeypatch):
    whole = thy.two_term_sigma(X, X, -np.ones(40), OUT, Q)
    monkeypatch.setattr("theory.surface_charge._densities.PAIRS", 7)
    assert np.array_equal(whole, thy.two_term_sigma(X, X, -np.ones(40), OUT, Q))


def test_validity_report():
    x, n, S = cylinder_frame(1.0, 0.0, 80.0)
    report = thy.validity_report(x, n, S, [[81.0, 0, 0], [0.0, 300.0, 0]])
    assert report.distance[0] == pytest.approx(np.hypot(81 - x[0, 0], x[0, 1]))
    assert report.curvature[0] == pytest.approx(report.distance[0] / 80) == pytest.approx(report.anisotropy[0])
    truth = float(thy.cylinder_sigma(1.0, 0.0, 80.0, 1.0, 1.0))
    error = abs(thy.two_term_sigma(x, n, [-0.5 / 80], [[81.0, 0, 0]], [1.0])[0] - truth)
    flat = report.height[0] / (2 * np.pi * report.distance[0] ** 3)
    assert report.two_term[0] == pytest.approx(error / flat, rel=0.05)
    plane = thy.validity_report([[0, 0, 0.0]], [[0, 0, 1.0]], np.zeros((1, 3, 3)), [[0, 0, 1.0]])
    assert plane.advice.tolist() == ["flat"] and plane.two_term[0] == 0
    advice = [thy.validity_report(*cylinder_frame(1.0, 0.0, a), [[a + 1, 0, 0]]).advice[0] for a in (2.0, 20.0, 200.0)]
    assert advice == ["solve", "three-term", "flat"]


@pytest.mark.parametrize("radius", [20.0, 300.0])
def test_advice_holds_towards_the_horizon(radius):
    """Against the exact cylinder, under a charge at height 1, out to where the charge sets."""
    source = [[radius + 1, 0, 0]]
    advised = []
    for arc in (0.0, 3.0, 8.0, 12.0, 20.0):
        x, n, S = cylinder_frame(arc, 0.0, radius)
        advice = thy.validity_report(x, n, S, source).advice[0]
        found = {"flat": thy.flat_sigma(x, n, source, [1.0]), "solve": None,
                 "two-term": thy.two_term_sigma(x, n, [-0.5 / radius], source, [1.0]),
                 "three-term": thy.anisotropic_sigma(x, n, S, source, [1.0])}[advice]
        truth = float(thy.cylinder_sigma(arc, 0.0, radius, 1.0, 1.0))
        assert found is None or abs(found[0] / truth - 1) < 0.01, (arc, advice)
        advised.append(advice)
    assert advised[0] != "solve" and advised[-1] == "solve"
    x, n, S = cylinder_frame(0.2 * radius, 0.0, radius)
    hidden = thy.validity_report(x, n, S, source)
    assert hidden.advice[0] == "solve" and (radius == 20 or hidden.height[0] < 0)


E3 = np.eye(3)
GOOD = {"points": X[:2], "normals": X[:2], "mean_curvature": [-1.0, -1.0], "sources": OUT, "charges": Q}


@pytest.mark.parametrize(("change", "said"), [
    ({"normals": 2 * X[:2]}, "normals.*unit length"), ({"normals": X[:3]}, r"normals.*\(2, 3\)"),
    ({"points": [[np.nan, 0, 0], [1, 0, 0]]}, "points.*finite"), ({"mean_curvature": [1.0]}, "mean_curvature"),
    ({"charges": [1.0]}, "charges has 1"), ({"charges": [1.0, np.inf, 1.0]}, "charges.*finite"),
    ({"sources": [[1.0, 2.0]]}, r"sources.*\(any, 3\)"), ({"sources": [OUT[0], X[1], OUT[1]]}, r"sources\[1\].*points\[1\]"),
    ({"potential": np.nan}, "potential"), ({"points": "word"}, "points")])
def test_two_terms_refuse(change, said):
    with pytest.raises(ValueError, match=said):
        thy.two_term_sigma(**{**GOOD, **change})


@pytest.mark.parametrize(("call", "said"), [
    (lambda: thy.anisotropic_sigma(X[:1], X[:1], [[[0, 1, 0], [0, 0, 0], [0, 0, 0]]], OUT, Q), "shape_operator.*symmetric"),
    (lambda: thy.anisotropic_sigma(X[:1], X[:1], np.zeros((2, 3, 3)), OUT, Q), "shape_operator"),
    (lambda: thy.validity_report(X[:1], X[:1], np.zeros((1, 3, 3)), np.zeros((0, 3))), "sources is empty"),
    (lambda: thy.sphere_sigma(X, 1.1, OUT, Q), "points.*radius"), (lambda: thy.sphere_sigma(X, -1.0, OUT, Q), "radius"),
    (lambda: thy.sphere_sigma(X, 1.0, [unit(1, 3)[0], *OUT[:2]], Q), r"sources\[0\].*on the sphere"),
    (lambda: thy.sphere_sigma(X, 1.0, [INSIDE[0], *OUT[:2]], Q), "one side"),
    (lambda: thy.sphere_sigma(X, 1.0, OUT, Q[:2]), "charges"), (lambda: thy.boss_sigma([[1, 0, 0]], 1.0, 0.9, 1.0), "height"),
    (lambda: thy.boss_sigma([[0.5, 0, 0]], 1.0, 2.0, 1.0), r"points\[0\]"),
    (lambda: thy.boss_sigma([[0, 0, -1.0]], 1.0, 2.0, 1.0), r"points\[0\]"),
    (lambda: thy.boss_sigma([[0, 0, 1.0]], 1.0, 2.0, np.nan), "charge"),
    (lambda: thy.cylinder_sigma(np.nan, 0.0, 1.0, 1.0, 1.0), "arc"),
    (lambda: thy.cylinder_sigma(0.0, 0.0, 0.0, 1.0, 1.0), "radius"),
    (lambda: thy.cylinder_sigma(0.0, 0.0, 1.0, -1.0, 1.0), "height"),
    (lambda: thy.cylinder_sigma(0.0, 2e3, 1.0, 1.0, 1.0), "axial"),
    (lambda: thy.cylinder_sigma(0.0, 0.0, 1e-300, 1e-300, 1.0), "radius=1e-300.*other units"),
    (lambda: thy.boss_sigma([[1e-200, 0, 0]], 1e-200, 2e-200, 1.0), "radius=1e-200.*other units"),
    (lambda: thy.boss_sigma([[1.0, 0, 0]], 1.0, 1e200, 1.0), "height=1e\\+200"),
    (lambda: thy.cylinder_sigma(0.0, 0.0, 1e6, 1.0, 1.0), "radius=1000000.0.*needed at most"),
    (lambda: thy.cylinder_sigma([[1, 2], [3]], 0.0, 1.0, 1.0, 1.0), "arc="),
    (lambda: thy.cylinder_sigma([1, 2], [1, 2, 3], 1.0, 1.0, 1.0), "common shape"),
    (lambda: thy.flat_sigma([[1, 2, 3], [1]], X[:2], OUT, Q), "points="),
    (lambda: thy.validity_report(X[:1], X[:1], np.zeros((1, 3, 3)), [[1, 2, 3], [1]]), "sources="),
    (lambda: thy.sphere_sigma(X, 1.0, [[1e200, 0, 0]], [1.0]), r"sources\[0\].*1e\+200.*1e\+100"),
    (lambda: thy.two_term_sigma([[0, 0, 0]], [[0, 0, 1]], [0.0], [[0, 0, 1e-200]], [1.0]), r"sources\[0\].*1e-200")])
def test_closed_forms_refuse(call, said):
    with pytest.raises(ValueError, match=said):
        call()


@pytest.mark.parametrize("size", [1e-99, 1e99])
def test_oracles_in_any_unit(size):
    """Density is charge over length squared; a product of four lengths of 1e-99 is no float."""
    for oracle in (lambda s: thy.sphere_sigma(s * E3, s, [[0, 0, 1.5 * s]], [1.0]),
                   lambda s: thy.boss_sigma(s * np.diag([2.0, 1, 1])[::2], s, 1.5 * s, 1.0),
                   lambda s: thy.cylinder_sigma(0.5 * s, 0.3 * s, s, s, 1.0)):
        assert oracle(size) * size * size == pytest.approx(oracle(1.0), rel=1e-13)


# --- truths of the evidence

def test_the_continued_function_is_harmonic_and_has_its_boundary_values():
    from sympy import Rational, diff, sqrt, symbols

    x, y, z, h = symbols("x y z h", positive=True)
    k = (Rational(1, 3), Rational(-2, 5), Rational(4, 7))
    f = own.continued(x, y, z, h, *k)
    at = {x: Rational(2, 3), y: Rational(5, 7), z: Rational(1, 2), h: Rational(3, 4)}
    laplacian = sum(diff(f, v, 2) for v in (x, y, z)).subs(at)
    assert abs(laplacian.evalf(40)) < 1e-30
    ground = (k[0] * x**2 + 2 * k[1] * x * y + k[2] * y**2) / 2
    edge = f.subs(z, 0) + ground * 2 * h / sqrt(x**2 + y**2 + h**2) ** 3
    assert abs(edge.subs(at).evalf(40)) < 1e-30
    assert abs(f.subs({**at, z: 10**6}).evalf()) < 1e-5


def test_half_of_one_over_four_pi_from_single_charges():
    assert own.recovered(1, 0) == own.Fraction(1, 2) and own.recovered(2, 0) == 1
    assert abs(own.noisy_head(3, 40).mean() - 1) < 0.01 and own.noisy_head(3, 40).std() < 0.05


def test_a_false_claim_is_not_green():
    wrong = replace(thy.plane, form=thy.plane.mutants["not_doubled"],
                    mutants={"right": thy.plane.form, "sign": thy.plane.mutants["sign"]})
    assert not judge(wrong).green and judge(thy.plane).green


def test_claims_that_are_out_of_reach_say_why():
    for claim in (thy.corridor_error, thy.curved_patch_error):
        assert not claim.standing.judgeable and claim.note

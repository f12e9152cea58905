"""Theory of parents of a target: many random models, the differential test, cumulant witnesses, the simulator."""
from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sympy import Function, diff, exp, log, simplify, symbols

from causal import admissible_sets, population_parents
from proofs_checks import parent_identification as checks
from proofs_checks._parent_identification import model, subsets
from proofs_checks.harness.judge import judge
from theory import parent_identification as thy

x, y, z = symbols("x y z")


@pytest.fixture(scope="module")
def models():
    return [model(kind, index) for kind in range(4) for index in range(5000, 5500)]


def test_2000_random_models_and_their_2500_ties_are_exact(models):
    ties = 0
    for m in models:
        found = {s.variables: s.variance for s in admissible_sets(m.joint)}
        assert [s.variables for s in population_parents(m.joint)] == [m.parents]
        for s in subsets(m.others):
            if m.parents < s:
                assert found[s] == found[m.parents]
                ties += 1
    assert (len(models), ties) == (2000, 2500)


def test_false_principles_fail_where_they_were_measured_to(models):
    with_parents = [m for m in models if m.parents][::2]
    right = {name: sum(checks.PRINCIPLES[name].answer(m.joint) == {m.parents} for m in with_parents)
             for name in ("smallest_admissible", "largest_variance", "independence_dropped", "ties_to_the_largest")}
    both = sum(len(m.parents) == 2 for m in with_parents)
    assert right == {"smallest_admissible": 0, "largest_variance": 0, "independence_dropped": 0, "ties_to_the_largest": both}


def test_a_forward_model_passes_for_any_functions():
    nu, f, xi = (Function(name) for name in ("nu", "f", "xi"))
    assert thy.anm_conditions(nu(y - f(x)) + xi(x), y, [x]) == [0]


def test_exceptional_densities_and_their_neighbours():
    line = -(y - x**3) ** 2 / 2 - (z - y) ** 2 / 2
    assert thy.anm_conditions(line, y, [x, z]) == [0, 0]
    curve = thy.anm_conditions(-(y - x**3) ** 2 / 2 - (z - y**2) ** 2 / 2, y, [x, z])
    assert [c.subs({x: 1, y: 1, z: 1}) for c in curve] == [36, 14]
    assert all(thy.refute_at(c, {x: 1, y: 1, z: 1}) for c in curve)
    quartic = thy.anm_conditions(-(y - x) ** 4 / 4 - (z - y) ** 2 / 2, y, [x, z])
    assert [simplify(c - e) for c, e in zip(quartic, (6 * (x - y), -6 * (x - y)), strict=True)] == [0, 0]


def test_the_lukacs_residual_is_independent_exactly():
    """The density of (r, x) for r = y + log(1 + e^x) is a product: its mixed derivative of the logarithm vanishes."""
    r, k1, k2 = symbols("r k1 k2", positive=True)
    back = r - log(1 + exp(x))
    density = k2 * back - exp(back) + k1 * (x + back) - exp(x + back)
    assert simplify(diff(density, r, x)) == 0


@pytest.mark.parametrize(("call", "said"), [
    (lambda: thy.anm_conditions(x**2, y, [x]), "depends on"), (lambda: thy.anm_conditions(x * y, y, []), "one or more Symbols"),
    (lambda: thy.refute_at(x + y, {x: 1}), "leaves"), (lambda: thy.linear_witness([[0]], {2: [1]}, 0, [0]), "length d"),
    (lambda: thy.linear_witness([[0, 0], [1, 0]], {2: [1, 1], 3: [1, 1]}, 1, [1]), "different numbers")])
def test_bad_arguments(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_cumulant_witnesses_agree_with_the_closed_forms():
    a, b, c, sx, sn, sm, kx, kn, km = symbols("a b c sx sn sm kx kn km", positive=True)
    chain = [[0, 0, 0], [a, 0, 0], [c, b, 0]]
    found = thy.linear_witness(chain, {2: [sx, sn, sm], 3: [kx, kn, km]}, 1, [0, 2])
    assert simplify(found[1, 1, 2] - thy.third_order.form.rrx(b, sn, sm, kn, km)) == 0
    assert simplify(found[1, 2, 2] - thy.third_order.form.rxx(b, sn, sm, kn, km)) == 0
    assert all(found[key] == 0 for key in ((0, 0, 1), (0, 1, 1)))


def test_a_cumulant_witness_on_data():
    """cum(residual, residual, child) is 1 for exponential noises and unit coefficients, within sampling error."""
    rng = np.random.default_rng(0)
    e = rng.exponential(size=(3, 400_000)) - 1
    first, target = e[0], e[0] + e[1]
    child = target + e[2]
    design = np.column_stack([first, child])
    r = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    values = r * r * child
    exact = thy.linear_witness([[0, 0, 0], [1, 0, 0], [0, 1, 0]], {2: [1] * 3, 3: [2] * 3}, 1, [0, 2])[1, 1, 2]
    assert abs(values.mean() - float(exact)) < 5 * values.std() / np.sqrt(len(r))


def test_determinants_that_vanish_are_refused():
    with pytest.raises(ValueError, match="linearly dependent"):
        thy.linear_witness([[0, 0, 0], [1, 0, 0], [1, 0, 0]], {2: [1, 1, 0], 3: [1, 1, 0]}, 1, [0, 2])


def test_rational_points_certify_a_polynomial_that_is_not_zero():
    polynomial = checks.confounded_value(1, 2)
    assert polynomial.eval(dict(zip(polynomial.gens, (1, 1, 1, 1, 1), strict=True))) == 36
    zeros = sum(polynomial(*point) == 0 for point in product((1, 2, 3), repeat=5))
    assert zeros <= polynomial.total_degree() * 3**4


def test_claims_that_are_quick_are_green():
    assert judge(thy.exceptional_laws).green and judge(thy.null_set).green and judge(thy.instrument).green


def test_the_simulator_sees_no_dependence_where_there_is_none_and_refuses_bad_sizes():
    import jax

    from simulations import parent_identification as sim

    shares = sim.power(jax.random.key(1), n=100, noise="gauss", curvature=0.0, trials=40)
    assert max(shares.values()) <= 0.25  # 0.05 and over five standard errors
    with pytest.raises(ValueError, match="n >= 30"):
        sim.power(jax.random.key(0), n=5, noise="gauss", curvature=0.0, trials=1)
    with pytest.raises(ValueError, match="noise='cauchy'"):
        sim.power(jax.random.key(0), n=50, noise="cauchy", curvature=0.0, trials=1)
    pair = sim.lukacs_pair(jax.random.key(2), n=4000)
    variance = Fraction(644934, 10**6)  # psi'(2)
    assert float(np.var(pair["curved"])) == pytest.approx(float(variance), abs=0.08)

"""pass@k: estimators on a user's data, the report on conflicts, the command, the bandits."""
from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from proofs_checks import _pass_at_k as exact
from theory import pass_at_k as thy


def rho(n, c, k):
    return 1 - Fraction(comb(n - c, k), comb(n, k))


# ---- the estimator

def test_the_estimator_is_the_exact_ratio():
    for n in range(1, 13):
        for c, k in product(range(n + 1), range(n + 1)):
            assert thy.pass_at_k(n, c, k) == pytest.approx(float(rho(n, c, k)), rel=4e-15, abs=0)


@pytest.mark.parametrize(("n", "c", "k"), [(2000, 3, 1000), (2000, 1000, 1), (2000, 1000, 1000), (2000, 1, 1999),
                                           (100_000, 7, 3), (1_000_000, 1, 1), (5000, 40, 600)])
def test_it_stays_accurate_where_binomials_overflow_a_float(n, c, k):
    assert thy.pass_at_k(n, c, k) == pytest.approx(float(rho(n, c, k)), rel=1e-12, abs=0)


def test_its_ends_are_exact():
    assert thy.pass_at_k(200, 0, 100) == 0.0 and thy.pass_at_k(200, 101, 100) == 1.0
    assert thy.pass_at_k(7, 7, 1) == 1.0 and thy.pass_at_k(7, 3, 0) == 0.0
    assert thy.pass_at_k(20, 10, 10) < 1.0


def test_it_broadcasts_and_gives_a_float_for_scalars():
    found = thy.pass_at_k(np.array([10, 20]), np.array([3, 5]), np.array([[1], [2], [4]]))
    assert found.shape == (3, 2) and found.dtype == np.float64
    assert found[2, 1] == thy.pass_at_k(20, 5, 4)
    assert type(thy.pass_at_k(np.int64(10), 3, 2)) is float
    assert thy.pass_at_k(np.zeros((0,), int), 0, 0).shape == (0,)


@pytest.mark.parametrize(("n", "c", "k", "words"), [
    (4, 5, 1, ("c=5", "n=4")), (4, 2, 5, ("k=5", "n=4")), ([9, 4], [1, 1], 5, ("k=5", "n=4")), (-1, 0, 0, ("n=-1",)),
    (4, -2, 1, ("c=-2",)), (4, 2, -1, ("k=-1",)), (4, 2.5, 1, ("c=2.5",)), (4, float("nan"), 1, ("c=nan",)),
    (4, True, 1, ("c=True",)), ("4", 2, 1, ("n='4'",)), ([1, 2, 3], [1, 1], 1, ("(3,)", "(2,)"))])
def test_what_is_not_a_count_is_refused_by_name(n, c, k, words):
    with pytest.raises(ValueError) as error:
        thy.pass_at_k(n, c, k)
    assert all(word in str(error.value) for word in words)


# ---- weights of samples

def test_advantages_are_the_weights_of_the_claim():
    rewards = np.array([[1, 0, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 0, 0]])
    for k in range(1, 6):
        found = thy.advantages(rewards, k)
        expected = [[thy.unbiased_gradient.form(bool(r), 5, int(row.sum()), k) for r in row] for row in rewards]
        assert found == pytest.approx(np.array(expected, dtype=float), rel=1e-14)
        if k < 5:
            centred = thy.advantages(rewards, k, centre=True)
            assert centred == pytest.approx(found - found.mean(axis=1, keepdims=True)) and np.ptp(centred) > 0


def test_group_weights_of_the_evidence_agree_with_the_claim():
    for rewards in product((0, 1), repeat=5):
        for k in range(1, 6):
            claimed = [thy.unbiased_gradient.form(r, 5, sum(rewards), k) for r in rewards]
            assert exact.group_weights(rewards, k) == claimed


@pytest.mark.parametrize(("rewards", "k", "centre", "word"), [
    ([[1, 0]], 0, False, "k=0"), ([[1, 0]], 3, False, "k=3"), ([[1, 0]], 2, True, "k=2"), ([[1]], 1, True, "k=1"),
    ([[1, 2]], 1, False, "rewards"), ([[0.5, 1]], 1, False, "rewards"), ([1, 0], 1, False, "rewards"),
    ([[]], 1, False, "rewards"), ([[1, 0]], 1.5, False, "k=1.5"), ([[float("nan"), 1]], 1, False, "rewards")])
def test_advantages_refuse_what_cannot_train(rewards, k, centre, word):
    with pytest.raises(ValueError, match=word.replace("[", r"\[")):
        thy.advantages(rewards, k, centre=centre)


# ---- weights of prompts, conflict

def test_weight():
    assert thy.weight(0.3, 4) == pytest.approx(4 * 0.7 ** 3) and type(thy.weight(0.3, 4)) is float
    assert thy.weight(1.0, 1) == 1.0 and thy.weight(1.0, 2) == 0.0
    assert thy.weight(np.array([0.0, 0.5]), np.array([[1], [3]])).shape == (2, 2)
    for p, k, word in ((1.1, 2, "p=1.1"), (-0.1, 2, "p=-0.1"), (float("nan"), 2, "p=nan"), (0.5, 0, "k=0"), (0.5, 1.5, "k")):
        with pytest.raises(ValueError, match=word):
            thy.weight(p, k)


def test_thresholds_of_the_weight():
    for k, value in ((2, 0.5), (4, 0.37004), (8, 0.25700), (16, 0.16876), (64, 0.06388)):
        assert 1 - k ** (-1 / (k - 1)) == pytest.approx(value, abs=5e-6)
        assert thy.weight(value - 1e-4, k) > 1 > thy.weight(value + 1e-4, k)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def bandit(theta, features, signs, mass):
    """Gradients, success rates, masses and a Lipschitz constant of grad J_1 for a bandit of two answers."""
    features, signs = np.array(features, float), np.array(signs, float)
    p = sigmoid(signs * (features @ np.array(theta)))
    smooth = np.linalg.eigvalsh(features.T @ (np.array(mass)[:, None] * features))[-1] / (6 * 3 ** 0.5)
    return (p * (1 - p) * signs)[:, None] * features, p, np.array(mass), smooth


def test_the_toy_conflicts_from_its_threshold_on():
    gradients, p, mass, smooth = bandit((1, 0.5), [(1, 1), (1, 0.5)], (1, -1), (0.7, 0.3))
    found = thy.conflict_report(gradients, p, mass, [1, 2, 3, 4, 5], smoothness=smooth)
    assert p == pytest.approx([0.81757448, 0.22270014], abs=1e-8)
    assert gradients[0] @ gradients[1] == pytest.approx(-0.03872694722, abs=1e-11)
    assert found.agreement == pytest.approx([0.01952445, -0.01587189], abs=1e-8)
    assert found.inner == pytest.approx([0.008905545617, -0.002415869605, -0.0072662584, -0.008613012784,
                                         -0.008615407755], abs=1e-11)
    assert found.k_star == pytest.approx(1.72744, abs=5e-6) and smooth == pytest.approx(0.167904, abs=5e-7)
    assert found.eta_max[3] == pytest.approx(9.18692, abs=5e-6) and np.isnan(found.eta_max[0])
    assert found.cosine[0] == pytest.approx(1) and (np.abs(found.cosine) <= 1 + 1e-12).all()


def test_negative_interference_need_not_conflict():
    gradients, p, mass, _ = bandit((0.6, 1.2), [(1, 1), (1, -0.8)], (1, -1), (0.7, 0.3))
    found = thy.conflict_report(gradients, p, mass, range(1, 200))
    assert gradients[0] @ gradients[1] < 0 < found.inner.min()
    assert found.k_star is None and found.eta_max is None


def test_conflict_may_end():
    p = np.array([0.03, 0.3, 0.8])
    gradients = (p * (1 - p))[:, None] * np.array([[1, 3.5], [1, -6.0], [1, 8.5]])
    found = thy.conflict_report(gradients, p, [0.1, 0.2, 0.7], range(1, 100))
    assert list(np.flatnonzero(found.inner < 0) + 1) == list(range(3, 11))
    assert found.k_star is None  # the hardest prompt agrees, so that the groups are not separated


def test_the_threshold_at_its_edges():
    sure = thy.conflict_report([[2.0], [-1.0]], [1.0, 0.5], [0.5, 0.5], [1, 2])
    assert sure.k_star == 1.0 and sure.inner[0] > 0 > sure.inner[1]
    same = thy.conflict_report([[2.0], [-1.0]], [0.5, 0.5], [0.5, 0.5], [1])
    assert same.k_star is None
    idle = thy.conflict_report([[2.0], [-1.0]], [0.9, 0.5], [1.0, 0.0], [1, 50])
    assert idle.k_star is None and (idle.inner > 0).all()  # a prompt without mass disagrees with nobody
    zero = thy.conflict_report([[0.0], [0.0]], [0.9, 0.5], [0.5, 0.5], [1])
    assert np.isnan(zero.cosine[0]) and zero.inner[0] == 0


def test_k_star_bounds_the_conflicts_of_random_bandits():
    random, seen = np.random.default_rng(0), 0
    for _ in range(400):
        m = int(random.integers(2, 6))
        gradients, p = random.normal(size=(m, 2)), random.uniform(size=m)
        found = thy.conflict_report(gradients, p, np.full(m, 1 / m), range(1, 60))
        if found.k_star is not None and found.k_star < 50:
            seen += 1
            assert (found.inner[int(np.floor(found.k_star)):] < 0).all()
    assert seen > 20


@pytest.mark.parametrize(("change", "word"), [
    ({"gradients": [1.0, 2.0]}, "gradients"), ({"gradients": [[1.0], [np.nan]]}, "gradients"), ({"success": [0.5]}, "success"),
    ({"success": [0.5, 1.5]}, "success=1.5"), ({"mass": [0.5, 0.4]}, "mass"), ({"mass": [1.5, -0.5]}, "mass"),
    ({"mass": [1.0]}, "mass"), ({"ks": [0]}, "ks"), ({"ks": []}, "ks"), ({"ks": [1.5]}, "ks"),
    ({"smoothness": 0.0}, "smoothness"), ({"smoothness": float("nan")}, "smoothness")])
def test_the_report_refuses_by_name(change, word):
    good = {"gradients": [[1.0], [-1.0]], "success": [0.5, 0.2], "mass": [0.5, 0.5], "ks": [1, 2], "smoothness": 1.0}
    thy.conflict_report(**good)
    with pytest.raises(ValueError, match=word):
        thy.conflict_report(**{**good, **change})


# ---- interval over tasks

def test_the_interval_is_students_and_never_a_point():
    from scipy.stats import t
    from statsmodels.stats.proportion import proportion_confint

    values = np.array([0.1, 0.5, 0.35, 0.9, 0.2])
    mean, lower, upper = thy.mean_interval(values)
    assert (lower, upper) == pytest.approx(t.interval(0.95, 4, values.mean(), values.std(ddof=1) / 5 ** 0.5))
    assert mean == pytest.approx(values.mean())
    for count, size in ((0, 7), (7, 7), (1, 1)):
        found = thy.mean_interval(np.full(size, count / size))
        assert found[1:] == pytest.approx(proportion_confint(count, size, method="wilson"), abs=1e-12)
        assert found.upper > found.lower
    assert thy.mean_interval([0.2, 0.8], level=0.5).upper < thy.mean_interval([0.2, 0.8]).upper <= 1


@pytest.mark.parametrize("bad", [([], 0.95), ([1.2], 0.95), ([np.nan], 0.95), ([[0.1]], 0.95), ([0.1], 1.0)])
def test_the_interval_refuses(bad):
    with pytest.raises(ValueError, match=r"values|level"):
        thy.mean_interval(*bad)


# ---- exact objects of the evidence

def test_series_differentiate_as_sympy_does():
    from sympy import Rational, Symbol, diff

    x = Symbol("x")
    at = Fraction(2, 7)

    def f(v):
        return (1 - (1 - v) ** 5) / (3 + v * v) - 2 * v

    found = f(exact.Series(at, 1))
    for order, value in enumerate((found.value, found.first, found.second)):
        assert diff(f(x), x, order).subs(x, Rational(2, 7)) == Rational(value.numerator, value.denominator)


def test_score_bounds_and_success_of_a_policy():
    policy = (exact.Action(1, 1, (1,)), exact.Action(1, 0, (-1,)))  # p = sigmoid(2 theta)
    p = exact.success(policy)
    assert (p.value, p.first, p.second) == (Fraction(1, 2), Fraction(1, 2), 0)
    assert exact.score_bounds(policy) == (1, 1)


def test_signs_of_conflict_agree_with_the_inner_product():
    for prompts in list(exact.triples())[::97]:
        values = [exact.inner(prompts, k) for k in range(1, 9)]
        assert exact.conflicts(prompts, 8) == [(v > 0) - (v < 0) for v in values]


def test_the_rational_link_has_second_derivative_at_most_three_halves():
    """(3/2)(1 + x^2)^3 - 2x(x^2 - 3) and + have no real root, so that |link''| < 3/2 everywhere."""
    from sympy import Poly, Rational, Symbol, diff, simplify

    from proofs_checks.pass_at_k import _link

    x = Symbol("x", real=True)
    for sign in (1, -1):
        assert Poly(Rational(3, 2) * (1 + x ** 2) ** 3 + sign * 2 * x * (x ** 2 - 3), x).count_roots() == 0
    link = Rational(1, 2) + x / (1 + x ** 2)
    assert simplify(diff(link, x, 2) - 2 * x * (x ** 2 - 3) / (1 + x ** 2) ** 3) == 0
    assert _link(Fraction(1, 3)) == Fraction(4, 5) == Fraction(str(link.subs(x, Rational(1, 3))))


# ---- simulation

@pytest.fixture(scope="module")
def sim():
    from simulations import pass_at_k

    return pass_at_k


def test_differentiating_the_objective_agrees_with_the_report(sim):
    from simulations._jax import jnp

    for make in (sim.toy, sim.mild, sim.passing):
        case, theta = make()
        p = np.asarray(sim.success(theta, case))
        report = thy.conflict_report((p * (1 - p))[:, None] * np.asarray(case.features), p, np.asarray(case.mass), range(1, 20))
        assert np.asarray(sim.cosine(theta, case, jnp.arange(1.0, 20.0))) == pytest.approx(report.cosine, abs=1e-12)
    toy = bandit((1, 0.5), [(1, 1), (1, 0.5)], (1, -1), (0.7, 0.3))
    assert sim.threshold() == pytest.approx(thy.conflict_report(*toy[:3], [1]).k_star, abs=1e-9)


def test_a_step_of_half_the_limit_lowers_pass_at_1_as_much_as_promised(sim):
    from simulations._jax import jnp

    gradients, p, mass, smooth = bandit((1, 0.5), [(1, 1), (1, 0.5)], (1, -1), (0.7, 0.3))
    report = thy.conflict_report(gradients, p, mass, [4], smoothness=smooth)
    case, theta = sim.toy()
    path = sim.ascend(theta, case, jnp.array(4.0), jnp.array(report.eta_max[0] / 2), steps=1)
    change = [float(sim.objective(path[1], case, k) - sim.objective(path[0], case, k)) for k in map(jnp.array, (1.0, 4.0))]
    promised = report.inner[0] * report.eta_max[0] / 4  # -c^2 / (2 L |grad J_k|^2)
    assert promised == pytest.approx(-0.0198, abs=5e-5)
    assert change == pytest.approx([-0.0495, 0.0443], abs=5e-5) and change[0] < promised


def test_ascent_on_pass_at_k_loses_pass_at_1_on_the_toy(sim):
    from simulations._jax import jax, jnp

    case, theta = sim.toy()
    path = sim.ascend(theta, case, jnp.array(4.0), jnp.array(0.2), steps=30)
    for k, falls in ((1.0, True), (4.0, False)):
        values = np.asarray(jax.vmap(lambda t, k=k: sim.objective(t, case, jnp.array(k)))(path))
        assert path.shape == (31, 2) and ((np.diff(values) < 0) == falls).all()


def test_score_function_estimates_have_the_right_mean(sim):
    found = sim.bernoulli_gradient(11, 100_000, p=0.3, k=4)
    assert found.shape == (100_000,) and found.dtype == np.float64
    assert abs(found.mean() - 4 * 0.7 ** 3) < 5 * found.std() / 100_000 ** 0.5  # 5 standard errors: 6e-7
    assert found.min() >= -4 / 0.7 and found.max() <= 4 / 0.3
    assert (found == sim.bernoulli_gradient(11, 100_000, p=0.3, k=4)).all()
    assert (found != sim.bernoulli_gradient(12, 100_000, p=0.3, k=4)).any()


def test_the_simulator_refuses_by_name(sim):
    from simulations._jax import jax, jnp

    case, theta = sim.toy()
    for bad, word in (({"p": 0.0, "k": 2}, "p=0.0"), ({"p": 0.5, "k": 0}, "k=0")):
        with pytest.raises(ValueError, match=word):
            sim.bernoulli_gradient(0, 5, **bad)
    with pytest.raises(ValueError, match="steps=0"):
        sim.ascend(theta, case, jnp.array(1.0), jnp.array(0.1), steps=0)
    with pytest.raises(ValueError, match="hard_share=2"):
        sim.contextual_bandit(jax.random.key(0), prompts=3, hard_share=2, separation=1.0)


def test_the_figure_shows_what_the_claims_say(sim):
    data = sim.figure_data()
    assert list(np.flatnonzero(data["passing"] < 0) + 1) == list(range(3, 11))
    assert data["mild"].min() > 0 and (data["toy"][1:] < 0).all()
    assert (data["change_1"][0] == data["change_k"][0]).all()
    trade = ((data["change_1"] < 0) & (data["change_k"] > 0)).mean(axis=1)
    assert trade[0] == 0 < trade[2]
    left, right = sim.figure().axes
    assert all(axes.get_xlabel() and axes.get_ylabel() and not axes.get_title() for axes in (left, right))
    assert left.get_legend() is None and right.get_legend() is not None

"""Forecasts of rare failures: functions on a user's scores, the exact bias, the replacement, a missed mode."""
from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from proofs_checks import _failure_forecast as exact
from theory import failure_forecast as thy


def scores(n: int, seed: int = 0, scale: float = 1.0) -> np.ndarray:
    """p of n queries with an exponential tail in psi."""
    psi = scale * np.random.default_rng(seed).exponential(size=n) - 1
    return np.exp(-np.exp(-psi))


# ---- the estimator

def test_the_fit_is_ordinary_least_squares():
    p = scores(200)
    x = np.sort(-np.log(-np.log(p)))[::-1][:10]
    y = np.log(np.arange(1, 11) / 200)
    slope, intercept = np.polyfit(x, y, 1)
    fit = thy.fit_tail(p)
    assert fit.slope == pytest.approx(slope, rel=1e-10) and fit.intercept == pytest.approx(intercept, rel=1e-10)
    assert fit.r2 == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, rel=1e-10) and fit.slope < 0
    psi = (-math.log(1e5) - intercept) / slope
    assert thy.forecast_score(p, 1e5) == pytest.approx(psi, rel=1e-10)
    assert thy.forecast(p, 1e5) == pytest.approx(math.exp(-math.exp(-psi)), rel=1e-9)


def test_points_on_a_line_are_read_off():
    psi = np.log(100 / np.arange(1, 101)) / 2 + 0.3
    p = np.exp(-np.exp(-psi))
    fit = thy.fit_tail(p, k=20)
    assert fit.slope == pytest.approx(-2, rel=1e-9) and fit.r2 == pytest.approx(1, rel=1e-9)
    assert thy.forecast_score(p, 1000, k=20) == pytest.approx(math.log(1000) / 2 + 0.3, rel=1e-9)


def test_order_of_the_queries_does_not_matter():
    p = scores(50)
    assert thy.forecast(p, 1e4, k=5) == thy.forecast(p[::-1].copy(), 1e4, k=5)


def test_log_probabilities_do_not_underflow():
    psi = np.linspace(-60, -50, 40)  # p = exp(-exp(60)) has no float
    log_p = -np.exp(-psi)
    assert thy.forecast_score(None, 400, k=5, log_p=log_p) == pytest.approx(thy.forecast_score(
        None, 400, k=5, log_p=-np.exp(-(psi + 50))) - 50, rel=1e-9)
    near_one = -np.exp(-np.linspace(40, 60, 30))  # p rounds to 1
    assert (np.exp(near_one) == 1).all()
    assert 60 < thy.forecast_score(None, 300, k=5, log_p=near_one) < 80
    assert thy.forecast(None, 300, k=5, log_p=near_one) == 1.0
    assert thy.forecast(None, 400, k=5, log_p=log_p) == 0.0


def test_p_and_log_p_agree():
    p = scores(100)
    for function, rest in ((thy.forecast, (1e4,)), (thy.fit_tail, ()), (thy.debiased_forecast, (1e4,)),
                           (thy.upper_limit, (1e4,))):
        assert function(p, *rest) == pytest.approx(function(None, *rest, log_p=np.log(p)), rel=1e-9)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: thy.fit_tail([0.1, 0.2, 0.0], k=2), ("p[2]=0.0", "between 0 and 1", "log_p")),
    (lambda: thy.fit_tail([0.1, 1.0, 0.3], k=2), ("p[1]=1.0",)),
    (lambda: thy.fit_tail([0.1, math.nan, 0.3], k=2), ("p[1]=nan",)),
    (lambda: thy.fit_tail([0.1, -0.5, 0.3], k=2), ("p[1]=-0.5",)),
    (lambda: thy.fit_tail(log_p=[-1.0, 0.0], k=2), ("log_p[1]", "negative")),
    (lambda: thy.fit_tail(log_p=[-1.0, -math.inf], k=2), ("log_p[1]=-inf", "finite")),
    (lambda: thy.fit_tail([0.1, 0.2], k=1), ("k=1", "at least 2")),
    (lambda: thy.fit_tail([0.5, 0.5, 0.5], k=2), ("k=2", "all equal", "take a larger k")),
    (lambda: thy.fit_tail([0.1, 0.2], k=2.0), ("k=2.0", "whole")),
    (lambda: thy.fit_tail([0.1, 0.2], k=3), ("k=3", "n=2")),
    (lambda: thy.fit_tail([0.2, 0.2, 0.1], k=2), ("k=2", "equal")),
    (lambda: thy.fit_tail([[0.1, 0.2]], k=2), ("shape (1, 2)",)),
    (lambda: thy.fit_tail(k=2), ("exactly one", "neither")),
    (lambda: thy.fit_tail([0.1, 0.2], k=2, log_p=[-1, -2]), ("both",)),
    (lambda: thy.forecast([0.1, 0.2], 0.5, k=2), ("deployment=0.5", "at least 1")),
    (lambda: thy.forecast([0.1, 0.2], math.nan, k=2), ("deployment=nan",)),
    (lambda: thy.forecast([0.1, 0.2], None, k=2), ("deployment=None",)),
    (lambda: thy.debiased_forecast([0.1, 0.2], 10, k=2, level=1.0), ("level=1.0",)),
    (lambda: thy.debiased_forecast([0.2, 0.2], 10, k=2), ("equal",)),
    (lambda: thy.slope_inflation(1), ("k=1",)),
    (lambda: thy.bias(5, 4, 10), ("k=5", "n=4")),
    (lambda: thy.bias(2, 4, 0.1), ("deployment=0.1",)),
    (lambda: thy.missed_mode(10, 100, 1.5), ("mass=1.5", "[0, 1]")),
    (lambda: thy.missed_mode(10, 100, math.nan), ("mass=nan",)),
    (lambda: thy.missed_mode(0, 100, 0.1), ("n=0",)),
    (lambda: thy.tail_shape([0.1, 0.2, 0.3], used=3), ("used=3", "n=3")),
    (lambda: thy.pivot_quantile(0.0, 2, 5, 10), ("q=0.0",)), (lambda: thy.probability(math.nan), ("psi=nan", "needed")),
    (lambda: thy.probability("a"), ("psi='a'",)), (lambda: thy.pivot_cdf(math.nan, 10, 100, 10), ("r=nan", "finite")),
    (lambda: thy.pivot_cdf("a", 10, 100, 10), ("r='a'",)), (lambda: thy.fit_tail([0.1 + 1j, 0.2], k=2), ("p=", "real")),
    (lambda: thy.fit_tail(["a", 0.2], k=2), ("p=", "real")), (lambda: thy.score([[0.1], [0.1, 0.2]]), ("p=", "regular")),
    (lambda: thy.score(log_p="a"), ("log_p='a'",)), (lambda: thy.debiased_forecast([0.1, 0.2], 10, 2, "a"), ("level='a'",)),
    (lambda: thy.debiased_forecast([0.1, 0.2], 10, 2, None), ("level=None",)),
    (lambda: thy.upper_limit([0.1, 0.2], 10, 2, 1 - 1e-12), ("level=0.99", "1 - 1e-9")),
    (lambda: thy.tail_shape(np.full(200, 0.3)), ("used=50", "51 largest")),
    (lambda: thy.tail_shape(log_p=[-1.0, -2.0]), ("log_p", "n=2", "at least 6")),
    (lambda: thy.bias(10, 10**30, 1e40), ("n=1000", "2^53")), (lambda: thy.missed_mode(10**400, 10, 0.1), ("n=1000", "2^53"))])
def test_messages_name_the_argument(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


# ---- the bias

@pytest.mark.parametrize(("k", "digits"), [(2, "1.442695040888963"), (3, "1.501218456028596531526411"),
                                           (5, "1.436362253005345013"), (10, "1.317774598870706946768"),
                                           (20, "1.218680986259281605"), (4, "1.4717490"), (50, "1.1267950"),
                                           (100, "1.0814883"), (500, "1.0269344")])
def test_inflation_as_published(k, digits):
    assert abs(thy.slope_inflation(k) - float(digits)) < max(1e-12, 0.6 * 10.0 ** -len(digits.split(".")[1]))
    assert k == 500 or exact.near(thy.slope_inflation(k), exact.inflation(k), Fraction(1, 10**11))


def test_inflation_exceeds_the_mean_slope():
    assert thy.slope_inflation(2) == pytest.approx(thy.plotting_slope(2), rel=1e-14) == pytest.approx(1 / math.log(2))
    for k in range(3, 41):
        assert exact.exceeds(exact.inflation(k), exact.attenuation(exact.logs(k)))
    assert max(range(2, 60), key=thy.slope_inflation) == 3


@pytest.mark.parametrize(("case", "value"), [((4, 50, 5e3), 2.84566), ((7, 500, 5e4), 2.40360), ((10, 1000, 1e5), 2.10257)])
def test_bias_as_published(case, value):
    assert thy.bias(*case) == pytest.approx(value, abs=6e-6)
    assert sum(thy.bias_terms(*case)) == pytest.approx(thy.bias(*case), rel=1e-14)


@pytest.mark.parametrize(("k", "value"), [(2, 0.57722), (5, 0.66920), (10, 0.63867), (20, 0.55916), (50, 0.42409),
                                          (100, 0.32364)])
def test_bias_without_extrapolation_stays(k, value):
    n = 10**8
    assert thy.bias(k, n, n) == pytest.approx(value, abs=6e-6)


def test_float_bias_is_the_exact_form():
    for k, n, size in ((2, 2, 2), (3, 7, 50), (10, 40, 40), (20, 25, 4000)):
        ball = (exact.expected_forecast(k, n, size, exact.letter("B")) - exact.log(size)).ball(B=exact.inflation(k))
        assert exact.near(thy.bias(k, n, size), ball, Fraction(1, 10**11))


def test_against_the_expected_maximum_the_sign_flips():
    gap = float(thy.harmonic(10_000)) - math.log(10_000)
    assert thy.bias(100, 1000, 1e4) == pytest.approx(0.51177, abs=5e-6)
    assert thy.bias(100, 1000, 1e4) - gap == pytest.approx(-0.06550, abs=5e-6)
    assert -0.02 < thy.bias(20, 1000, 1000) - (float(thy.harmonic(1000)) - math.log(1000)) < 0


# ---- the replacement

def test_the_debiased_estimate_is_the_spacing_rule():
    p = scores(300)
    x = np.sort(-np.log(-np.log(p)))[::-1][:8]
    h = x[:7].mean() - x[7]
    expected = x[7] + h * (math.log(5e4) - sum(1 / i for i in range(8, 301)))
    found = thy.debiased_score(p, 5e4, k=8)
    assert found.estimate == pytest.approx(expected, rel=1e-12) and found.lower < found.estimate < found.upper
    in_p = thy.debiased_forecast(p, 5e4, k=8)
    assert in_p == pytest.approx([math.exp(-math.exp(-v)) for v in found], rel=1e-12)
    wider = thy.debiased_score(p, 5e4, k=8, level=0.99)
    assert wider.lower < found.lower and wider.upper > found.upper
    assert thy.upper_limit(p, 5e4, k=8, level=0.975) == pytest.approx(in_p.upper, rel=1e-9)


def test_pivot_by_a_formula_of_its_own():
    """k = 2, r = 1: P(V <= 1/N) + (n/N)(1 - 1/N)^(n-1)."""
    n, size = 7, 40
    below = 1 - (1 - 1 / size) ** n - n / size * (1 - 1 / size) ** (n - 1)
    assert thy.pivot_cdf(1.0, 2, n, size) == pytest.approx(below + n / size * (1 - 1 / size) ** (n - 1), rel=1e-12)


@pytest.mark.parametrize(("r", "k", "n", "size"), [(4.0, 5, 60, 1e6), (-0.5, 2, 40, 20.0), (0.7, 10, 200, 1e4),
                                                  (-1e-3, 500, 1000, 2.0), (0.09, 2, 10**9, 1e9), (0.65, 200, 10**7, 1e5)])
def test_pivot_by_many_digits(r, k, n, size):
    """P(G >= or <= (k-1) log(N V)/r) over V's density, by mpmath."""
    import mpmath as mp

    def part(w):
        v = (mp.log(size) + w) * (k - 1) / r
        chance = mp.gammainc(k - 1, max(v, 0), mp.inf, regularized=True) if r > 0 else mp.gammainc(
            k - 1, 0, max(v, 0), regularized=True)
        return chance * k * mp.binomial(n, k) * mp.exp(k * w + (n - k) * mp.log1p(-mp.exp(w)))

    with mp.workdps(30):
        zero, middle, spread = -mp.log(size), mp.log(mp.mpf(k) / n), 1 / mp.sqrt(k)
        steps = range(-27, 28, 9)  # of the law of log V, and of where the chance rises, r away from its kink
        cuts = {mp.mpf(-60), zero, mp.mpf(-1e-30), *(middle + c * spread for c in steps),
                *(zero + r * max(1 + c * spread, 0) for c in steps)}
        found = mp.quad(part, sorted(c for c in cuts if c <= -1e-30))
    assert thy.pivot_cdf(r, k, n, size) == pytest.approx(float(found), abs=1e-12)


@pytest.mark.parametrize("r", [-1e-9, -4e-4, -0.1, -3.0, -1e5])
def test_pivot_at_the_smallest_score(r):
    """k = n = 2, N = 1: log V = -E/2 with E, G ~ Exp(1), and P(E/2 >= -r G) = 1/(1 - 2r)."""
    assert thy.pivot_cdf(r, 2, 2, 1) == pytest.approx(1 / (1 - 2 * r), abs=1e-14)


def test_a_search_for_limits_makes_its_nodes_once(monkeypatch):
    from theory.failure_forecast import _debiased

    made = []
    rule = np.polynomial.legendre.leggauss
    monkeypatch.setattr(np.polynomial.legendre, "leggauss", lambda count: made.append(count) or rule(count))
    _debiased._rule.cache_clear()
    thy.debiased_forecast(scores(50), 1e5, k=7)
    thy.debiased_forecast(scores(60), 1e6, k=3)
    assert len(made) == 1  # an eigenvalue problem, which made a call take seconds


def test_pivot_is_a_distribution_function():
    for k, n, size in ((2, 2, 1), (10, 1000, 1e5), (5, 6, 3.5), (50, 5000, 1e9)):
        at = [thy.pivot_cdf(r, k, n, size) for r in (-50.0, -1.0, 0.0, 0.5, 5.0, 1e3, 1e7)]
        assert all(0 <= a <= b + 1e-12 for a, b in pairwise(at)) and at[-1] > 0.99
        for q in (0.025, 0.5, 0.975):
            assert thy.pivot_cdf(thy.pivot_quantile(q, k, n, size), k, n, size) == pytest.approx(q, abs=1e-9)


def test_coverage_and_error_against_simulated_evaluations():
    from simulations import failure_forecast as sim

    k, n, size, trials = 10, 1000, 1e5, 8000
    top = sim.top_scores(11, trials, tail="exponential", k=k, n=n)
    h = top[:, :-1].mean(axis=1) - top[:, -1]
    low, high = (top[:, -1] + h * thy.pivot_quantile(q, k, n, size) for q in (0.025, 0.975))
    covered = float(((low <= math.log(size)) & (math.log(size) <= high)).mean())
    assert abs(covered - 0.95) < 5 * math.sqrt(0.95 * 0.05 / trials)
    better = sim.debiased(top, n=n, deployment=size) - math.log(size)
    spread = math.sqrt(thy.debiased_variance(k, n, size))
    assert spread == pytest.approx(2.308, abs=1e-3)
    assert abs(better.mean()) < 5 * spread / math.sqrt(trials) and better.std() == pytest.approx(spread, rel=0.06)
    plain = sim.forecast(top, n=n, deployment=size) - math.log(size)
    assert abs(plain.mean() - thy.bias(k, n, size)) < 5 * plain.std() / math.sqrt(trials)
    assert np.sqrt((plain**2).mean()) > 1.7 * spread


def test_tail_shape_has_its_level_and_sees_curved_tails():
    rng = np.random.default_rng(3)
    wrong = sum(thy.tail_shape(log_p=-np.exp(-rng.exponential(size=400))).shape != "exponential" for _ in range(600))
    assert abs(wrong / 600 - 0.05) < 5 * math.sqrt(0.05 * 0.95 / 600)
    small = [thy.tail_shape(log_p=-np.exp(-rng.exponential(size=30)), used=6).p_value for _ in range(2000)]
    assert abs(np.mean(np.array(small) < 0.1) - 0.1) < 5 * 0.3 / math.sqrt(2000)  # the exact law of a sum of 5 uniforms
    assert thy.tail_shape(log_p=-np.exp(-rng.uniform(size=2000)), used=400).shape == "lighter"
    assert thy.tail_shape(log_p=-np.exp(-rng.standard_cauchy(size=2000))).shape == "heavier"


# ---- the missed mode

def test_missed_mode():
    found = thy.missed_mode(1000, 1e5, 5e-5)
    assert found.probability_missed == pytest.approx((1 - 5e-5) ** 1000, rel=1e-12)
    assert found.probability_harm == pytest.approx(found.probability_missed * (1 - (1 - 5e-5) ** 100_000), rel=1e-9)
    assert found.probability_record == pytest.approx(100 / 101, rel=1e-15)
    assert found.unseen_mass == pytest.approx(3 / 1000, rel=0.01) and found.unseen_mass < 3 / 1000
    best = thy.missed_mode(1000, 1e5, found.worst_mass)
    assert best.probability_harm == pytest.approx(found.worst_harm, rel=1e-9)
    for other in (0.5 * found.worst_mass, 2 * found.worst_mass):
        assert thy.missed_mode(1000, 1e5, other).probability_harm < found.worst_harm
    assert thy.missed_mode(5, 10, 0.0).probability_missed == 1 and thy.missed_mode(5, 10, 1.0).probability_missed == 0
    assert thy.missed_mode(10, 10, 1e-300).probability_missed == 1.0
    far = thy.missed_mode(100, 1e19, 1e-5)  # n / (n + N) rounds to 1 - 1
    assert far.worst_harm >= far.probability_harm > 0.99
    assert far.worst_mass == pytest.approx(math.log(1e17) / 1e19, rel=1e-9)


def test_the_bias_changes_sign_below_the_evaluation():
    """What `bias_remains` needs r >= 1 for."""
    assert thy.bias(10, 10**7, 10**6) == pytest.approx(-0.0930, abs=1e-4) and thy.bias(10, 10**7, 10**7) > 0.6


def test_the_normal_law_of_long_tails():
    """The stated error of the p-value beyond 21 scores, against the exact sum in fractions."""
    from fractions import Fraction

    from theory.failure_forecast._debiased import _uniform_sum

    def exact(total, count):
        signed = ((-1) ** i * math.comb(count, i) * (total - i) ** count for i in range(math.floor(total) + 1))
        return float(sum(signed) / math.factorial(count))

    for count in (21, 30, 49):
        worst = max(abs(exact(Fraction(i, 8), count) - _uniform_sum(i / 8, count)) for i in range(8 * count + 1))
        assert 2e-4 < worst < 2e-3

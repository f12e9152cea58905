"""Evidence for theory/failure_forecast: identities in exact logarithms, enclosures of B_k, simulated evaluations."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any

from hypothesis import strategies as st
from sympy import diff, digamma, exp, symbols, sympify
from sympy import log as ln

from proofs_checks import _failure_forecast as exact
from proofs_checks._failure_forecast import ball, exceeds, expected_forecast, inflation, letter, log, near, rows
from proofs_checks.engines import exhaustive, falsify, interval, sequential, symbolic
from proofs_checks.harness.evidence import Check
from proofs_checks.harness.judge import evidence
from simulations import failure_forecast as sim
from theory import failure_forecast as thy

Checks = Iterator[Check]
CASE: dict[str, Any] = {"k": 10, "n": 1000, "deployment": 1e5}


# --- the line

def varied(xs: Any, *_: Any) -> bool:
    return xs[0] != xs[-1]


@evidence(thy.forecast_formula)
def forecast_formula(form: Any) -> Checks:
    def agrees(pair: Any, target: Any) -> bool:
        return bool(exact.least_squares(pair[0], pair[1], target) == form(*exact.centred(*pair), target))

    names = symbols("x1:4 y1:4 T", real=True)
    yield symbolic.equal(lambda *v: exact.least_squares(v[:3], v[3:6], v[6]),
                         lambda *v: form(*exact.centred(v[:3], v[3:6]), v[6]), names)
    yield falsify.forall(st.tuples(rows((2, 6)), st.integers(0, 9)), agrees, given=lambda pair, target: varied(*pair),
                         examples=100)


@evidence(thy.forecast_gradient)
def forecast_gradient(form: Any) -> Checks:
    def agrees(pair: Any, target: int, j: int) -> bool:
        from flint import fmpq, fmpq_series

        xs, ys = pair
        mx, my, sxx, sxy, _ = exact.centred(xs, ys)
        j %= len(xs)
        moving = [fmpq_series([fmpq(v.numerator, v.denominator), int(i == j)], 1, 2) for i, v in enumerate(xs)]
        slope = exact.least_squares(moving, [fmpq(v.numerator, v.denominator) for v in ys], target)[1]
        found = Fraction(form(len(xs), xs[j] - mx, ys[j] - my, sxx, sxy, target + my))
        return bool(fmpq(found.numerator, found.denominator) == slope)

    names = symbols("x1:4 y1:4 T", real=True)

    def formula(*v: Any) -> Any:
        mx, my, sxx, sxy, _ = exact.centred(v[:3], v[3:6])
        return form(3, v[0] - mx, v[3] - my, sxx, sxy, v[6] + my)

    derivative = diff(exact.least_squares(names[:3], names[3:6], names[6]), names[0])
    yield symbolic.equal(derivative, formula, names)
    yield falsify.forall(st.tuples(rows((2, 6)), st.integers(0, 9), st.integers(0, 5)), agrees,
                         given=lambda pair, target, j: varied(*pair), examples=100)


@evidence(thy.raising_the_worst)
def raising_the_worst(form: Any) -> Checks:
    def parts(row: tuple[int, ...], decades: int) -> tuple[Any, ...]:
        ys = exact.logs(len(row))  # log(j/n) - log n cancels against the target, log N - log n
        return ys, decades * ball(10).log(), exact.centred_balls(list(map(ball, row)), ys)

    def rises(row: tuple[int, ...], decades: int) -> bool:
        from flint import arb_series

        ys, target, _ = parts(row, decades)
        moving = [arb_series([ball(v), ball(int(i == 0))], 2) for i, v in enumerate(row)]
        return exceeds(exact.least_squares(moving, ys, target)[1], 0)

    def given(row: tuple[int, ...], decades: int) -> bool:
        ys, _, (mx, my, sxx, sxy) = parts(row, decades)
        return bool(form.given(ball(row[0]) - mx, sxx / -sxy * (my - ys[0])))

    yield exhaustive.forall(lambda: ((row, decades) for k in (3, 5, 8) for row in exact.descending(k, range(4))
                                     for decades in (0, 2, 12)), rises, given=given)


@evidence(thy.loss_invariance)
def loss_invariance(form: Any) -> Checks:
    def loss(pair: Any, target: Any, largest: Any) -> Any:
        return (exact.least_squares(pair[0], pair[1], target) - largest) ** 2

    def agrees(pair: Any, target: int, largest: int, shift: int, scale: int) -> bool:
        xs, ys = pair
        moved = tuple(shift + scale * x for x in xs), ys
        return bool(loss(moved, target, shift + scale * largest)
                    == form.level(shift) + form.factor(scale) * loss(pair, target, largest))

    names = symbols("x1:3 T d t c", real=True)
    two = (Fraction(-3), Fraction(2))  # positions; any others are an affine map of these and of the target

    def moved(*v: Any) -> Any:
        *xs, target, largest, t, c = v
        return loss(([t + c * x for x in xs], two), target, t + c * largest)

    def formula(*v: Any) -> Any:
        *xs, target, largest, t, c = v
        return form.level(t) + form.factor(c) * loss((xs, two), target, largest)

    yield symbolic.equal(moved, formula, names)
    yield falsify.forall(st.tuples(rows((2, 6)), st.integers(0, 9), st.integers(0, 9), st.integers(-5, 5),
                                   st.integers(1, 5)), agrees, given=lambda pair, *_: varied(*pair), examples=100)


# --- the bias under an exponential tail

@evidence(thy.order_statistics)
def order_statistics(form: Any) -> Checks:
    def agrees(j: int, n: int) -> bool:
        first, second = exact.moments(j, n)
        return form.mean(j, n) == first and form.variance(j, n) == second - first**2

    yield exhaustive.forall(lambda: ((j, n) for n in range(1, 13) for j in range(1, n + 1)), agrees)


@evidence(thy.inflation_constants)
def inflation_constants(value: Any) -> Checks:
    tol = Fraction(1, 10**10)  # quadrature claims 1e-13, rounding of 100 terms some 1e-14; a mutant is off by 1e-9

    def enclosed(k: int) -> bool:
        return near(value(k), inflation(k), tol)

    def by_simplex(k: int) -> bool:
        return near(value(k), exact.inflation_of_three(), tol)

    yield exhaustive.forall([(k,) for k in (*range(2, 21), 30, 50)], enclosed, floats=True)
    yield exhaustive.forall([(3,)], by_simplex, floats=True)
    yield sequential.mean_within(partial(sim.spacing_ratios, k=10), lambda: value(10), tol=0.04,
                                 upper=exact.ratio_bound(10), chunk=4000)


@evidence(thy.inflation_digits)
def inflation_digits(digits: Any) -> Checks:
    def rounded(k: int) -> bool:
        text = digits[k]
        return near(Fraction(text), inflation(k), Fraction(1, 2 * 10 ** len(text.split(".")[1])))

    yield exhaustive.forall([(k,) for k in (2, 3, 4, 5, 10, 20, 50, 100)], rounded)


@evidence(thy.bias_exact)
def bias_exact(form: Any) -> Checks:
    def agrees(k: int, n: int, size: int) -> bool:
        slope = letter("B")
        return bool(expected_forecast(k, n, size, slope) - log(size) == form(k, n, size, log, slope))

    def value() -> float:
        return float(form(10, 1000, 10**5, math.log, thy.slope_inflation(10)))

    low = 0.9 + sum(1 / i for i in range(10, 1001)) - math.log(1e5)  # E x_k + S/k - log N; the slope only adds
    reach = math.log(100) + math.lgamma(11) / 10
    yield exhaustive.forall(exact.small_sizes, agrees)
    yield sequential.mean_within(partial(sim.scaled_errors, **CASE), value, tol=0.25, lower=low - 0.01,
                                 upper=low + reach * exact.ratio_bound(10) + 0.01, chunk=2000)


@evidence(thy.decomposition)
def decomposition(form: Any) -> Checks:
    B, beta = letter("B"), letter("beta")

    def agrees(k: int, n: int, size: int) -> bool:
        level, plotting, direction = (part(k, n, size, log, beta, B) for part in form)
        heights = sum((exact.mean_score(j, n) + log(j) - log(n) for j in range(1, k + 1)), log(1)) / k
        return bool(level == heights and level + plotting == expected_forecast(k, n, size, beta) - log(size)
                    and level + plotting + direction == expected_forecast(k, n, size, B) - log(size))

    yield exhaustive.forall(exact.small_sizes, agrees)


def rising(back: Any) -> Check:
    """With u = 1/j: u - log((1 + u - back u)/(1 - back u)) has a slope >= 0 and is 0 at u = 0, so that it is >= 0.

    It is the step of H_{j-1} - log(j - back) from j to j + 1."""
    def slope(u: Any) -> Any:
        return diff(u - ln((1 + u - back * u) / (1 - back * u)), u)

    return interval.nonnegative(slope, {"u": (0, 1)})


@evidence(thy.level_term)
def level_term(form: Any) -> Checks:
    def above(j: int, n: int) -> bool:
        gap = thy.harmonic(n) - thy.harmonic(j - 1)
        return exceeds(ball(gap) + (ball(j - form.back) / ball(n + form.more)).log(), 0)

    def last(u: Any) -> Any:  # j = n = 1/u: slope of u + log((1 - back u)/(1 + more u)), which is 0 at u = 0
        return diff(u + ln((1 - form.back * u) / (1 + form.more * u)), u)

    yield rising(form.back)
    yield interval.nonnegative(last, {"u": (0, 1)})
    yield exhaustive.forall(lambda: ((j, n) for n in range(1, 31) for j in range(1, n + 1)), above)


@evidence(thy.plotting_term)
def plotting_term(form: Any) -> Checks:
    # log(j - back) rises, H_{j-1} - log(j - back) rises: their covariance is positive by Chebyshev's sum inequality
    yield rising(form.back)
    yield exhaustive.forall([(k,) for k in range(2, 81)],
                            lambda k: exceeds(exact.attenuation(exact.logs(k, form.back)), 1))


@evidence(thy.direction_term)
def direction_term(form: Any) -> Checks:
    def holds(pair: Any) -> bool:
        _, _, sxx, sxy, syy = exact.centred(*pair)
        return bool(form.lower(sxx, -sxy, syy) <= sxx / -sxy)

    def lagrange(*v: Any) -> Any:
        """The lower bound plus (Sxx Syy - Sxy^2)/(|Sxy| Syy), the latter as a sum of squares."""
        k = len(v) // 2
        mx, my, sxx, sxy, syy = exact.centred(v[:k], v[k:])
        dx, dy = [x - mx for x in v[:k]], [y - my for y in v[k:]]
        squares = sum((dx[i] * dy[j] - dx[j] * dy[i]) ** 2 for i in range(k) for j in range(i))
        return form.lower(sxx, -sxy, syy) + squares / (-sxy * syy)

    def inverse_slope(*v: Any) -> Any:
        _, _, sxx, sxy, _ = exact.centred(v[:len(v) // 2], v[len(v) // 2:])
        return sxx / -sxy

    for k in (3, 4):
        yield symbolic.equal(lagrange, inverse_slope, symbols(f"x1:{k + 1} y1:{k + 1}", real=True))
    yield falsify.forall(st.tuples(rows((2, 6))), holds, given=lambda pair: varied(*pair), examples=100)


@evidence(thy.bias_remains)
def bias_remains(form: Any) -> Checks:
    def between(k: int, n: int, r: Fraction) -> bool:
        from flint import arb

        positions = exact.logs(k)
        limit = (arb.const_euler() + 1 - ball(thy.harmonic(k)) + sum(positions, ball(0)) / k * inflation(k)
                 + (inflation(k) - 1) * ball(r).log())
        found = (expected_forecast(k, n, int(n * r), letter("B")) - log(int(n * r))).ball(B=inflation(k))
        at = Fraction(n)
        return (exceeds(limit, 0) and exceeds(found, limit + ball(form.lower(at)))
                and exceeds(limit + ball(form.upper(at)), found))

    box = {"n": (1, 1000)}  # H_n = digamma(n + 1) + Euler's constant
    yield interval.nonnegative(lambda n: form.upper(n) - (digamma(n + 1) - ln(n)), box, strict=True)
    yield interval.nonnegative(lambda n: digamma(n + 1) - ln(n) - form.lower(n), box, strict=True)
    ratios = (Fraction(1), Fraction(2), Fraction(100), Fraction(1, 10), Fraction(1, 1000))
    yield exhaustive.forall(lambda: ((k, n, r) for k in (2, 3, 5, 10, 20) for n in (k, 2 * k, 100, 1000) for r in ratios
                                     if (n * r).denominator == 1), between, given=lambda k, n, r: form.given(r))


# --- the sign

@evidence(thy.over_prediction)
def over_prediction(form: Any) -> Checks:
    def on_that_side(k: int, n: int, size: int) -> bool:
        error = expected_forecast(k, n, size, letter("B")) - form.target(size, log)
        return exceeds(form.sign * error.ball(B=inflation(k)), 0)

    def cases() -> Iterator[tuple[int, int, int]]:
        for k in (50, 20, 10, 5, 3, 2):  # large k first: there the sign against the expected maximum is certain
            for n in (k, 2 * k, 10 * k, 1000):
                yield from ((k, n, size) for size in (1, n, n + 1, 2 * n, 10 * n))

    yield exhaustive.forall(cases, on_that_side, given=form.given)


@evidence(thy.how_often)
def how_often(form: Any) -> Checks:
    yield sequential.mean_within(partial(sim.overshoots, tail="exponential", **CASE), form.chance, tol=0.02, chunk=2000)


@evidence(thy.tail_shapes)
def tail_shapes(signs: Any) -> Checks:
    for tail in sim.TAILS:  # P in [1/2, 1] or in [0, 1/2]
        yield sequential.mean_within(partial(sim.overshoots, tail=tail, **CASE), 0.75 if signs[tail] else 0.25, tol=0.25,
                                     chunk=200)


@evidence(thy.curved_tails)
def curved_tails(form: Any) -> Checks:
    def curve(slopes: Sequence[int], x: Fraction) -> Fraction:
        """Increasing, 0 at 0, with these slopes on [0, 1], [1, 2] and beyond."""
        return sum((s * min(max(x - i, Fraction(0)), Fraction(1) if i < 2 else x) for i, s in enumerate(slopes)),
                   Fraction(0))

    def above(slopes: tuple[int, ...], low: Fraction, gap: Fraction, reach: Fraction) -> bool:
        ends = [curve(slopes, x) for x in (low, low + gap)]
        return ends[0] + (ends[1] - ends[0]) * reach >= curve(slopes, low + gap * reach)

    halves = [Fraction(n, 2) for n in range(1, 5)]
    yield exhaustive.forall(lambda: product(product((1, 2, 3), repeat=3), halves, halves,
                                            (Fraction(1), Fraction(3, 2), Fraction(5))), above,
                            given=lambda slopes, low, gap, reach: form.given(slopes))


@evidence(thy.positions_compared)
def positions_compared(biases: Any) -> Checks:
    yield exhaustive.forall([(name,) for name in ("whole", "weibull", "middle", "expected", "x_on_y")],
                            lambda positions: near(biases[positions], exact.bias_of(positions), Fraction(1, 20000)))


# --- what the evaluation cannot see

@evidence(thy.missed_mode_chance)
def missed_mode_chance(form: Any) -> Checks:
    def agrees(w: Fraction, n: int, size: int) -> bool:
        missed = harm = Fraction(0)
        for hits in product((False, True), repeat=n + size):
            chance = w ** sum(hits) * (1 - w) ** (n + size - sum(hits))
            if not any(hits[:n]):
                missed += chance
                harm += chance * any(hits[n:])
        return bool(form.missed(w, n, size) == missed and form.harm(w, n, size) == harm and form.peak(w, n, size, harm))

    yield exhaustive.forall(lambda: product([Fraction(i, 12) for i in range(13)], range(1, 4), range(1, 5)), agrees)


@evidence(thy.record_chance)
def record_chance(form: Any) -> Checks:
    def agrees(n: int, size: int, distinct: bool) -> bool:
        laws = list(permutations(range(n + size)) if distinct else product((0, 1), repeat=n + size))
        beaten = sum(max(x[n:]) > max(x[:n]) for x in laws)
        return Fraction(beaten, len(laws)) == form.chance(n, size)

    yield exhaustive.forall(lambda: product(range(1, 4), range(1, 5), (True, False)), agrees,
                            given=lambda n, size, distinct: form.given(distinct))


@evidence(thy.rule_of_three)
def rule_of_three(form: Any) -> Checks:
    # (1 - f/n)^n = exp(-f - t) with t >= 0, as -log(1 - v) >= v
    yield interval.nonnegative(lambda t: form.miss - exp(-form.factor - sympify(t)), {"t": (0, 50)}, strict=True)
    yield exhaustive.forall(lambda: ((n,) for n in (*range(3, 300), 1000, 4000)),
                            lambda n: max(1 - form.factor / n, Fraction(0)) ** n < form.miss)  # a mass is at most 1


@evidence(thy.no_statistic_sees_it)
def no_statistic_sees_it(bound: Any) -> Checks:
    def within(w: Fraction, n: int, law: tuple[Fraction, ...], mode: int) -> bool:
        mixed = [(1 - w) * f + w * (i == mode) for i, f in enumerate(law)]
        gain = Fraction(0)  # the set A on which P^n exceeds F^n is the worst one
        for sample in product(range(3), repeat=n):
            one, other = (math.prod((p[i] for i in sample), start=Fraction(1)) for p in (mixed, law))
            gain += max(one - other, Fraction(0))
        return bool(gain <= bound(w, n))

    laws = [tuple(map(Fraction, law)) for law in (("1/2", "1/2", "0"), ("1/3", "1/3", "1/3"), ("1", "0", "0"))]
    yield exhaustive.forall(lambda: product([Fraction(i, 6) for i in range(7)], range(1, 5), laws, (1, 2)), within)


@evidence(thy.missed_mode_forecast)
def missed_mode_forecast(chances: Any) -> Checks:
    for name, mass in (("missed", 2e-4), ("absent", 1e-6)):
        yield sequential.mean_within(partial(sim.undershoots, mass=mass, mode=25.0, missed=name == "missed", **CASE),
                                     chances[name], tol=0.02, chunk=2000)


# --- the replacement

@evidence(thy.unbiased_spacing)
def unbiased_spacing(form: Any) -> Checks:
    def loads(weights: Sequence[Any], n: int) -> list[Fraction]:
        """Coefficients of the independent spacings e_i in sum w_j x_j, where x_j = sum_{i >= j} e_i/i."""
        return [sum(weights[:i], Fraction(0)) / i for i in range(1, n + 1)]

    def best(k: int, n: int, target: Fraction) -> bool:
        weights = form.weights(k, n, target)
        own = loads(weights, n)
        if sum(weights) != 1 or sum(own) != target or sum(a * a for a in own) != form.variance(k, n, target):
            return False
        for j in range(k - 2):  # no direction that keeps the mean lowers the variance
            ends = [loads([Fraction(i == m) for i in range(k)], n) for m in (j, k - 2, k - 1)]
            first, second, third = map(sum, ends)
            a = -(first - third) / (second - third)
            moved = [x + a * y - (1 + a) * z for x, y, z in zip(*ends, strict=True)]
            if sum(x * y for x, y in zip(own, moved, strict=True)) != 0:
                return False
        return True

    yield exhaustive.forall(lambda: ((k, n, Fraction(t, 2)) for n in range(2, 8) for k in range(2, n + 1)
                                     for t in (3, 5, 14, 23)), best)


@evidence(thy.interval_exact)
def interval_exact(cdf: Any) -> Checks:
    def enclosed(r: Fraction, k: int, n: int, size: int) -> bool:
        return near(cdf(float(r), k, n, size), exact.pivot_chance(Fraction(r), k, n, size), Fraction(1, 10**12))

    points = map(Fraction, ("1/1000", "1/2", "3", "8", "-1/1000", "-1/2", "-4"))  # below 0: Q lies below x_k
    yield exhaustive.forall(list(product(points, (2, 3, 6), (6, 40), (5, 300))), enclosed, floats=True)
    yield sequential.mean_within(partial(sim.pivots, limit=3.0, k=2, n=50, deployment=2000.0),
                                 lambda: cdf(3.0, 2, 50, 2000), tol=0.015, chunk=8000)

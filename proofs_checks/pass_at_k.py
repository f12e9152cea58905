"""Evidence for theory/pass_at_k: exact wherever the statement is, simulated once."""
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import comb
from typing import Any

from hypothesis import strategies as st
from sympy import Min, Symbol, exp, symbols, sympify

from proofs_checks import _pass_at_k as exact
from proofs_checks._pass_at_k import Series, derivative, drawn_policies, drawn_prompts, fractions, inner
from proofs_checks.engines import exhaustive, falsify, interval, sequential, smt, symbolic
from proofs_checks.harness.evidence import Check
from proofs_checks.harness.judge import evidence
from simulations import pass_at_k as sim
from theory import pass_at_k as thy

Checks = Iterator[Check]
p, k = Symbol("p", real=True), Symbol("k", integer=True, positive=True)
GRID = [Fraction(n, 12) for n in range(13)]
LARGE = (200, 201, 400)  # on pairs of quarters every threshold lies far below


def pass_of(success: Any, drawn: Any) -> Any:
    """P(at least one of `drawn` passes)."""
    return 1 - (1 - success) ** drawn


@evidence(thy.gradient_weight)
def gradient_weight(weight: Any) -> Checks:
    yield symbolic.equal(lambda p, k: derivative(lambda x: pass_of(x, k), p), weight, (p, k), universal=True)
    yield falsify.forall(st.tuples(fractions(0, 24, 24), st.integers(1, 24)),
                         lambda p, k: pass_of(Series(p, 1), k).first == weight(p, k))
    yield sequential.mean_within(partial(sim.bernoulli_gradient, p=0.3, k=4), lambda: weight(Fraction(3, 10), 4),
                                 tol=0.16, lower=-6.0, upper=14.0, chunk=4000)


@evidence(thy.reweighting)
def reweighting(form: Any) -> Checks:
    yield symbolic.equal(lambda p, k: (1 - p) * derivative(lambda x: form.weight(x, k), p), form.decay, (p, k))
    for drawn in (2, 5):
        yield smt.forall(lambda p, larger, k=drawn: form.weight(p, k) > form.weight(larger, k), ("p", "larger"),
                         given=lambda p, larger: (p >= 0, p < larger, larger <= 1))
    yield exhaustive.forall(lambda: product(GRID, GRID, range(1, 13)),
                            lambda p, larger, k: form.weight(p, k) > form.weight(larger, k),
                            given=lambda p, larger, k: p < larger and form.given(k))
    yield falsify.forall(st.tuples(fractions(0, 60, 60), fractions(0, 60, 60), st.integers(1, 80)),
                         lambda p, larger, k: form.weight(p, k) > form.weight(larger, k),
                         given=lambda p, larger, k: p < larger and form.given(k), examples=100)


@evidence(thy.weight_threshold)
def weight_threshold(form: Any) -> Checks:
    def at_threshold(k: Any) -> Any:
        drawn = sympify(k)
        return form.weight(1 - drawn ** form.exponent(drawn), drawn)

    def agrees(p: Fraction, k: int) -> bool:
        power = Fraction(form.exponent(Fraction(k)))  # p < 1 - k^power, decided on powers of both sides
        below = (1 - p) ** power.denominator > Fraction(k) ** power.numerator
        return (form.weight(p, k) > 1) == below

    yield symbolic.equal(at_threshold, 1, k, given=form.given)
    yield exhaustive.forall(lambda: product([Fraction(n, 60) for n in range(61)], range(1, 17)), agrees,
                            given=lambda p, k: form.given(k))
    yield falsify.forall(st.tuples(fractions(0, 1000, 1000), st.integers(1, 60)), agrees,
                         given=lambda p, k: form.given(k), examples=100)


@evidence(thy.smoothness)
def smoothness(form: Any) -> Checks:
    def bounded(policy: exact.Policy, k: int) -> bool:
        chance, (largest, bend) = exact.success(policy), exact.score_bounds(policy)
        level = chance.value
        return (abs(chance.first) <= form.slope(level) * largest
                and abs(pass_of(chance, k).second) <= form.curvature(level, k, largest ** 2, bend))

    yield exhaustive.forall(lambda: product(exact.policies(), (1, 2, 3, 5, 12)), bounded)
    yield falsify.forall(st.tuples(drawn_policies(), st.integers(1, 24)), bounded)


@evidence(thy.smoothness_constants)
def smoothness_constants(form: Any) -> Checks:
    def terms(p: Fraction, k: int) -> tuple[Fraction, Fraction]:
        rare = min(p, 1 - p)
        score = k * rare * (1 - p) ** (k - 1)
        return score, score + (k * (k - 1) * rare ** 2 * (1 - p) ** (k - 2) if k > 1 else 0)

    def few(p: Any) -> Any:
        """Least slack of the second term for k <= 7 and of the first for k = 3, where p <= 1/2 is the rarer outcome."""
        return _least([form.score(3) - 3 * p * (1 - p) ** 2]
                      + [form.square(k) - k * p * (1 - p) ** (k - 2) * (1 + (k - 2) * p) for k in range(2, 8)])

    def many(u: Any) -> Any:
        """Least slack beyond, by (1-p)^j <= exp(-jp) at u = jp: j = k-1 >= 3 and j = k-2 >= 6, where k/j <= 4/3."""
        decay = Fraction(4, 3) * u * exp(-sympify(u))
        return _least([form.score(4) - decay, form.square(8) - (1 + u) * decay])

    def below(p: Fraction, k: int) -> bool:
        score, square = terms(p, k)
        return score <= form.score(k) and square <= form.square(k)

    def attained(which: str) -> bool:
        k, p = form.at_score if which == "score" else form.at_square
        return terms(p, k)[which == "square"] == (form.score(k) if which == "score" else form.square(k))

    # Together a proof: beyond u = 9 the terms of `many` only fall; 1/2 - 2p(1-p) = 2(p - 1/2)^2; k = 1 is plain; for
    # p >= 1/2 the two quantities are at most k / 2^k <= 1/2 and k^2 / 2^k <= 9/8.
    yield interval.nonnegative(few, {"p": (0, Fraction(1, 2))})
    yield interval.nonnegative(many, {"u": (0, 9)})
    yield exhaustive.forall(lambda: product([Fraction(n, 60) for n in range(61)], range(1, 25)), below)
    yield exhaustive.forall([("score",), ("square",)], attained)
    yield falsify.forall(st.tuples(fractions(0, 1000, 1000), st.integers(1, 400)), below, examples=100)


def _least(values: list[Any]) -> Any:
    return Min(*values) if any(hasattr(v, "free_symbols") for v in values) else min(values)


@evidence(thy.interference_kernel)
def interference_kernel(kernel: Any) -> Checks:
    def agrees(first: exact.Policy, second: exact.Policy) -> bool:
        slopes = [[exact.success(policy, i).first for i in (0, 1)] for policy in (first, second)]
        return kernel(exact.rows(first), exact.rows(second)) == thy.dot(*slopes)

    cases = list(exact.policies(dimension=2))[::3]
    yield exhaustive.forall(lambda: product(cases, cases), agrees)


@evidence(thy.conflict_identity)
def conflict_identity(form: Any) -> Checks:
    names = symbols("q1:3 w1:4 g1:4 h1:4", real=True)

    def prompts(values: Any) -> tuple[Any, Any, Any]:
        q1, q2, *rest = values
        return (q1, q2, 1 - q1 - q2), rest[:3], list(zip(rest[3:6], rest[6:], strict=True))

    def sides(mass: Any, weights: Any, gradients: Any) -> tuple[Any, Any]:
        first, pulled = ([sum(q * v * g[i] for q, v, g in zip(mass, scale, gradients, strict=True)) for i in (0, 1)]
                         for scale in ([1] * len(mass), weights))
        return thy.dot(pulled, first), form.inner(weights, [thy.dot(g, first) for g in gradients], mass)

    def equal(prompts: Any, k: int) -> bool:
        mass, rates, gradients = zip(*prompts, strict=True)
        left, right = sides(mass, [k * (1 - rate) ** (k - 1) for rate in rates], gradients)
        return bool(left == right)

    yield symbolic.equal(lambda *v: sides(*prompts(v))[0], lambda *v: sides(*prompts(v))[1], names)
    loose = st.lists(st.tuples(fractions(1, 9, 9), fractions(0, 9, 10), st.tuples(st.integers(-4, 4), st.integers(-4, 4))),
                     min_size=2, max_size=3).map(tuple)
    yield falsify.forall(st.tuples(st.one_of(loose, drawn_prompts(dimension=2)), st.integers(1, 9)), equal,
                         given=lambda prompts, k: form.given([x[0] for x in prompts]), examples=100)


@evidence(thy.interference_needed)
def interference_needed(form: Any) -> Checks:
    def bounded(prompts: Any, k: int) -> bool:
        first = exact.mean_gradient(prompts, lambda p: 1)
        lower = form.lower([x.mass for x in prompts], [k * (1 - x.success) ** (k - 1) for x in prompts],
                           [thy.dot(x.gradient, x.gradient) for x in prompts], thy.dot(first, first))
        return bool(inner(prompts, k) >= lower)

    def given(prompts: Any, k: int) -> bool:
        return bool(form.given(prompts))

    fan = [(1, 0), (1, 2), (-2, 3), (2, -3)]
    triples = [tuple(thy.Prompt(Fraction(1, 3), s, g) for s, g in zip(order, three, strict=True))
               for order in product((Fraction(1, 8), Fraction(1, 2), Fraction(7, 8)), repeat=3)
               for three in product(fan, repeat=3)]
    yield exhaustive.forall(lambda: product(triples, (1, 2, 5)), bounded, given=given)
    yield falsify.forall(st.tuples(drawn_prompts(dimension=2), st.integers(1, 30)), bounded, given=given, examples=60)


@evidence(thy.conflict_threshold)
def conflict_threshold(form: Any) -> Checks:
    def certain(prompts: Any, k: int) -> bool:
        return not form.beyond(*thy.split(prompts), k) or bool(inner(prompts, k) < 0)

    def given(prompts: Any, k: int) -> bool:
        return bool(form.given(prompts))

    yield exhaustive.forall(lambda: product(exact.triples(), (1, 2, 9)), certain, given=given)
    yield falsify.forall(st.tuples(drawn_prompts(), st.integers(1, 40)), certain, given=given, examples=100)


@evidence(thy.two_prompt_threshold)
def two_prompt_threshold(form: Any) -> Checks:
    def exactly(prompts: Any, k: int) -> bool:
        return form.beyond(*thy.split(prompts), k) == bool(inner(prompts, k) < 0)

    def given(prompts: Any, k: int) -> bool:
        return bool(form.given(prompts))

    def cases() -> Iterator[Any]:
        yield from product(exact.pairs(), range(1, 8))
        yield from product(exact.triples(lines=(1, -4, 6)), (2, 4))

    yield exhaustive.forall(cases, exactly, given=given)
    yield falsify.forall(st.tuples(st.one_of(drawn_prompts(2), drawn_prompts()), st.integers(1, 30)), exactly, given=given,
                         examples=100)


@evidence(thy.degradation)
def degradation(form: Any) -> Checks:
    def bounds(change: Any, square: Any, curvature: Any, smooth: Any, share: Any) -> tuple[Any, ...]:
        """J_1 on the line is change eta + curvature square eta^2 / 2: the family that attains the bounds."""
        c = abs(change)
        step, half = share * form.limit(c, smooth, square), form.limit(c, smooth, square) / 2
        moved, best = (change * eta + curvature * square * eta ** 2 / 2 for eta in (step, half))
        rise = form.gain(smooth) * share  # J_k rises by eta square, minus the curvature
        return moved < 0, -best >= form.fall(c, smooth, square), rise * square + curvature * square * rise ** 2 / 2 > 0

    def hypotheses(change: Any, square: Any, curvature: Any, smooth: Any, more: Any) -> tuple[Any, ...]:
        """Those of the claim, and change != 0, which `conflict` implies; `more` > 0 gives every share in (0, 1)."""
        return (form.smooth(curvature, smooth), form.conflict(change), change ** 2 > 0, square > 0, smooth > 0, more > 0)

    def in_bandit(prompts: Any, k: int, share: Fraction) -> bool:
        """A bandit whose success rates are rational in theta, 1/2 + x / (1 + x^2) at x = offset + feature theta."""
        def objective(theta: Fraction, drawn: int) -> Fraction:
            return sum((q * pass_of(_link(b + f * theta), drawn) for q, b, f in prompts), Fraction(0))

        change, pull, square = _slopes(prompts, k)
        smooth = Fraction(3, 2) * sum(q * f * f for q, _, f in prompts)  # |link''| <= 3/2
        limit = form.limit(abs(change), smooth, square)
        moved, best = (objective(eta * pull, 1) - objective(Fraction(0), 1) for eta in (share * limit, limit / 2))
        return bool(moved < 0 and -best >= form.fall(abs(change), smooth, square))

    signed = [Fraction(n) for n in (-2, -1, 1, 2)]
    yield smt.forall(lambda change, square, curvature, smooth, more:
                     bounds(change, square, curvature, smooth, more / (1 + more)),
                     ("change", "square", "curvature", "smooth", "more"), given=hypotheses)
    yield exhaustive.forall(
        lambda: product(signed, [Fraction(1, 3), Fraction(4)], [Fraction(n, 2) for n in range(-6, 7)],
                        [Fraction(1), Fraction(2)], [Fraction(1, 8), Fraction(1, 2), Fraction(7, 8)]),
        lambda *case: all(bounds(*case)), given=lambda *case: all(hypotheses(*case)))
    easy, hard = ((st.tuples(fractions(*offset, 8), fractions(*feature, 2))) for offset, feature in
                  (((0, 7), (-2, 6)), ((-7, 1), (-6, 2))))
    two = st.tuples(easy, hard).map(lambda t: tuple((Fraction(1, 2), b, f) for b, f in t))
    yield falsify.forall(st.tuples(two, st.integers(2, 7), fractions(1, 7, 8)), in_bandit, examples=60,
                         given=lambda prompts, k, share: form.conflict(_slopes(prompts, k)[0]))


def _link(x: Any) -> Any:
    return Fraction(1, 2) + x / (1 + x * x)


def _slopes(prompts: Any, k: int) -> tuple[Fraction, Fraction, Fraction]:
    """J_1' J_k', J_k' and the square of the latter at theta = 0, with one parameter."""
    moved = [(q, _link(Series(b, f))) for q, b, f in prompts]
    slope, pull = (sum((q * pass_of(x, drawn) for q, x in moved), Series(Fraction(0))).first for drawn in (1, k))
    return slope * pull, pull, pull * pull


@evidence(thy.sign_pattern)
def sign_pattern(bound: Any) -> Checks:
    def changes(prompts: Any, largest: int) -> bool:
        signs = [s for s in exact.conflicts(prompts, largest) if s]
        return sum(a != b for a, b in pairwise(signs)) <= bound(prompts)

    yield exhaustive.forall(lambda: product(exact.triples(), [30]), changes)
    yield falsify.forall(st.tuples(drawn_prompts(), st.just(40)), changes)


@evidence(thy.conflict_persists)
def conflict_persists(form: Any) -> Checks:
    def stays(prompts: Any, largest: int) -> bool:
        return all(after < 0 for before, after in pairwise(exact.conflicts(prompts, largest)) if before < 0)

    def given(prompts: Any, largest: int) -> bool:
        return bool(form.given(prompts))

    yield exhaustive.forall(lambda: product(exact.triples(), [30]), stays, given=given)
    yield falsify.forall(st.tuples(drawn_prompts(), st.just(40)), stays, given=given)


@evidence(thy.interference_implies_conflict)
def interference_implies_conflict(form: Any) -> Checks:
    def decides(prompts: Any) -> bool:
        first, second = prompts
        square, kappa = thy.dot(first.gradient, first.gradient), thy.dot(first.gradient, second.gradient)
        return form.holds(first.mass, square, kappa) == all(inner(prompts, k) < 0 for k in LARGE)

    yield exhaustive.forall(lambda: ((pair,) for pair in exact.pairs()), decides, given=form.given,
                            scope=f"conflict at k = {', '.join(map(str, LARGE))}")


@evidence(thy.unbiased_estimator)
def unbiased_estimator(form: Any) -> Checks:
    def mean(p: Any, n: int, k: int) -> Any:
        return sum(comb(n, c) * p ** c * (1 - p) ** (n - c) * form.estimate(n, c, k) for c in range(n + 1))

    for n, drawn in ((3, 2), (6, 6), (7, 3)):
        yield symbolic.equal(lambda p, n=n, k=drawn: mean(p, n, k), lambda p, k=drawn: pass_of(p, k), p)
    # two polynomials of degree <= max(n, k) <= 9 in p that agree at 13 points are equal
    yield exhaustive.forall(lambda: product(GRID, range(1, 10), range(1, 10)),
                            lambda p, n, k: mean(p, n, k) == pass_of(p, k), given=lambda p, n, k: form.given(n, k))
    yield falsify.forall(st.tuples(fractions(0, 40, 40), st.integers(1, 30), st.integers(1, 30)),
                         lambda p, n, k: mean(p, n, k) == pass_of(p, k), given=lambda p, n, k: form.given(n, k), examples=60)


def _groups(largest: int) -> list[tuple[int, int]]:
    return [(n, k) for n in range(1, largest + 1) for k in range(1, n + 1)]


@evidence(thy.unbiased_gradient)
def unbiased_gradient(weights: Any) -> Checks:
    def unbiased(policy: exact.Policy, size: tuple[int, int]) -> bool:
        n, k = size
        update = exact.expected_update(policy, n, lambda rewards: [weights(r, n, sum(rewards), k) for r in rewards])
        return bool(update == pass_of(exact.success(policy), k).first)

    cases = list(exact.policies())
    yield exhaustive.forall(lambda: product(cases[::7] + cases[-4:-2], _groups(4)), unbiased,
                            scope="every group of n answers")
    yield falsify.forall(st.tuples(drawn_policies(), st.sampled_from(_groups(3))), unbiased, examples=40)


@evidence(thy.centring_scale)
def centring_scale(scale: Any) -> Checks:
    def scaled(policy: exact.Policy, size: tuple[int, int]) -> bool:
        n, k = size

        def centred(rewards: Any) -> Any:
            given = exact.group_weights(rewards, k)
            return [w - sum(given) / n for w in given]

        return bool(exact.expected_update(policy, n, centred) == scale(n, k) * pass_of(exact.success(policy), k).first)

    cases = list(exact.policies())
    yield exhaustive.forall(lambda: product(cases[::7] + cases[-4:-2], _groups(4)), scaled,
                            scope="every group of n answers")
    yield falsify.forall(st.tuples(drawn_policies(), st.sampled_from(_groups(3))), scaled, examples=40)

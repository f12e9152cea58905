"""Evidence for theory/moe_width: gates exactly; training by runs over widths, with decisions of stated error."""
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sympy import Symbol, cancel, expand, sqrt, symbols, sympify

from proofs_checks import _moe_width as exact
from proofs_checks.engines import exhaustive, exponent, falsify, sequential, sos, symbolic
from proofs_checks.harness.evidence import Check
from proofs_checks.harness.judge import evidence
from simulations import moe_width as sim
from theory import moe_width as thy

Checks = Iterator[Check]
GATES = ("softmax", "sigmoid", "topk_renorm", "topk_masked")
U = symbols("u1:4", positive=True)
F = symbols("f1:4", real=True)
HALF = Fraction(1, 2)
SMALL = (32, 64, 512)  # widths of the longer runs
EXPERTS: dict[bool, dict[str, Any]] = {True: {}, False: {"expert_rates": exact.UNEQUAL}}  # exchangeable or not
MUP: dict[str, Any] = {"gate": "softmax", "parametrisation": "mup"}


def worst(given: Any, cases: tuple[Any, ...]) -> Any:
    """The first of the cases, worst first, that a hypothesis lets in: a statement about all of them fails there if at all."""
    return next(case for case in cases if given(case))


@evidence(thy.router_gradient)
def router_gradient(form: Any) -> Checks:
    def weighted(slope: Any, at: Any) -> Any:
        """Of a chosen expert and of one left out."""
        u, f = at[:3], at[3:]
        return slope(u, (1, 0, 1), f, 0) + 2 * slope(u, (1, 0, 1), f, 1)

    def agrees(gate: str, u: Any, f: Any, chosen: Any, e: int) -> bool:
        u = list(map(Fraction, u))
        return bool(getattr(form, gate)(u, chosen, f, e) == exact.slope(gate, u, chosen, f, e))

    for gate in GATES:
        yield symbolic.equal(lambda *at, g=gate: weighted(partial(exact.slope, g), at),
                             lambda *at, g=gate: weighted(getattr(form, g), at), (*U, *F))
    sizes = exact.drawn().flatmap(lambda case: st.tuples(
        st.sampled_from(GATES), st.just(case[0]), st.just(case[1]),
        st.lists(st.integers(0, 1), min_size=len(case[0]), max_size=len(case[0])).filter(any).map(tuple),
        st.integers(0, len(case[0]) - 1)))
    yield falsify.forall(sizes, agrees)


def _slope(gate: Any, u: Any, f: Any, chosen: Any, e: int) -> Any:
    """df/dr_e of f = sum_e g_e f_e for gates given as a function."""
    moved = gate([exact.Dual(v, int(i == e)) for i, v in enumerate(u)], chosen)
    return u[e] * exact.dual(sum((g * v for g, v in zip(moved, f, strict=True)), exact.Dual(0))).slope


@evidence(thy.zero_sum)
def zero_sum(form: Any) -> Checks:
    def total(u: Any, f: Any, chosen: Any) -> Any:
        g = form.gate(u, chosen)
        return sum(form.coefficient(g[e]) * _slope(form.gate, u, f, chosen, e) for e in range(len(u)))

    yield symbolic.equal(lambda *at: total(at[:3], at[3:], (1, 0, 1)), 0, (*U, *F))
    yield exhaustive.forall(lambda: ((u, f, m) for (u, f) in exact.tables(3) for m in ((1, 1, 1), (1, 0, 1))),
                            lambda u, f, chosen: total(u, f, chosen) == 0)


@evidence(thy.gradient_bound)
def gradient_bound(form: Any) -> Checks:
    def bounded(u: Any, f: Any) -> bool:
        u = list(map(Fraction, u))
        return all(abs(exact.slope("softmax", u, (1,) * len(u), f, e)) <= form.factor(u[e] / sum(u)) * form.spread(f, e)
                   for e in range(len(u)))

    def gap(others: Any, mean: Any) -> Any:
        """`others` = 1 - g_e; `mean` in [-1, 1], the others' average of (f_e - f_j) / max |f_e - f_j|: any number of them."""
        return form.factor(1 - others) - (1 - others) * others * mean

    yield sos.nonnegative(gap, ["others", "mean"], given=lambda others, mean: (others, 1 - others, 1 - mean))
    yield exhaustive.forall(lambda: (case for size in (2, 3) for case in exact.tables(size)), bounded)
    yield falsify.forall(exact.drawn(), bounded)


@evidence(thy.lone_expert)
def lone_expert(form: Any) -> Checks:
    def chosen(order: Any) -> tuple[int, ...]:
        return tuple(int(e in order[:form.active]) for e in range(3))

    def holds(u: Any, f: Any, order: Any, e: int) -> bool:
        return bool(sum(form.gate(u, chosen(order))) == 1 and _slope(form.gate, u, f, chosen(order), e) == 0)

    def flat(*at: Any) -> Any:
        u, f = at[:3], at[3:]
        return sum(_slope(form.gate, u, f, chosen((0, 1, 2)), e) ** 2 for e in range(3)) + sum(form.gate(u, chosen((0, 1, 2))))

    yield symbolic.equal(flat, 1, (*U, *F))
    yield exhaustive.forall(lambda: ((u, f, order, e) for (u, f) in exact.tables(3) for order in permutations(range(3))
                                     for e in range(3)), holds)


@evidence(thy.threshold_rule)
def threshold_rule(form: Any) -> Checks:
    def exactly(r: Any, k: int) -> bool:
        return len(form.rule(r, k)) == k

    yield exhaustive.forall(lambda: ((r, k) for size in (1, 2, 3, 4) for r in product(range(3), repeat=size)
                                     for k in range(1, size + 1)), exactly, given=lambda r, k: form.given(r))
    yield falsify.forall(
        st.lists(st.integers(-9, 9), min_size=1, max_size=8).flatmap(
            lambda r: st.tuples(st.just(tuple(r)), st.integers(1, len(r)))), exactly, given=lambda r, k: form.given(r))


@evidence(thy.permutation)
def permutation(form: Any) -> Checks:
    def commutes(seed: int, order: Any, gate: str, tied: bool) -> bool:
        net = exact.start(seed, 5, 3, 2, tied=tied)
        moved = {k: v[list(order)] if k in form.permuted else v for k, v in net.items()}
        first, second = exact.trained(net, gate, 1), exact.trained(moved, gate, 1)
        # sums over three experts in another order: 1e-15, times what three steps of order 1 amplify it by
        return all(np.abs(second[k] - (first[k][list(order)] if k != "U" else first[k])).max() < 1e-11 for k in net)

    yield falsify.forall(st.tuples(st.integers(0, 10**6), st.sampled_from(list(permutations(range(3)))),
                                   st.sampled_from(GATES), st.booleans()), commutes,
                         given=lambda seed, order, gate, tied: form.given(tied), floats=True)


@evidence(thy.dense_equivalence)
def dense_equivalence(form: Any) -> Checks:
    names = symbols("eta E a p s y", positive=True)

    def readout(eta: Any, experts: Any, a: Any, p: Any, s: Any, y: Any) -> Any:
        """a after a step: of a neuron with feature p in one of E equal experts, whose other neurons add up to s."""
        f = (exact.Dual(a, 1) * p + s + (experts - 1) * (a * p + s)) / experts
        return a - eta * (f.value - y) * f.slope

    def dense(eta: Any, experts: Any, a: Any, p: Any, s: Any, y: Any) -> Any:
        f = exact.Dual(a, 1) * p + s
        return a - form.rate(eta, experts) * (f.value - y) * f.slope

    def same(experts: int, eta: int) -> bool:
        with_experts = sim.limit(gate=form.gate, experts=experts, x=exact.X, y=exact.Y, steps=3, method="quadrature",
                                 learning_rate=float(eta), nodes=15).prediction
        alone = sim.limit(gate="softmax", experts=1, x=exact.X, y=exact.Y, steps=3, method="quadrature",
                          learning_rate=float(form.rate(Fraction(eta), experts)), nodes=15).prediction
        return bool(np.abs(with_experts - alone).max() < 1e-12)  # the same sums: rounding only

    yield symbolic.equal(readout, dense, names)
    yield exhaustive.forall([(2, 1), (4, 2)], same, scope="3 steps, mean-field limits", floats=True)


@evidence(thy.limit_rate)
def limit_rate(form: Any) -> Checks:
    yield exponent.slope_within(partial(exact.limit_error, rate=float(form.rate(Fraction(2), exact.EXPERTS))),
                                form.exponent, tol=0.08, widths=exact.WIDTHS)


@evidence(thy.sparse_limit)
def sparse_limit(form: Any) -> Checks:
    yield sequential.mean_within(partial(exact.distances, t=3), partial(exact.sparse_distance, form.gate, form.active, 3),
                                 tol=0.05, upper=4.0, chunk=100, cap=5000)


@evidence(thy.freeze)
def freeze(form: Any) -> Checks:
    for width, share in ((512, form.narrow), (4096, form.wide)):  # false shares are 0.33 away or more
        yield sequential.mean_within(partial(exact.frozen, rate=worst(form.given, (1, 0)), width=width), share, tol=0.08,
                                     chunk=200, cap=4000)


@evidence(thy.saturation)
def saturation(form: Any) -> Checks:
    def bounded(u: Any, f: Any) -> bool:
        u = list(map(Fraction, u))
        q = sorted(u)[-2] / max(u)
        return all(abs(exact.slope("softmax", u, (1,) * len(u), f, e)) <= form.bound(len(u), q) * max(abs(f[e] - v) for v in f)
                   for e in range(len(u)))

    wide = [((1, Fraction(1, gap)), (0, 1)) for gap in (100, 10**6)] + [((1, *(2 * [Fraction(1, 1000)])), (0, 1, 1))]
    yield exhaustive.forall(lambda: (case for size in (2, 3) for case in (*exact.tables(size), *wide)), bounded)
    yield falsify.forall(exact.drawn(), bounded)


@evidence(thy.freeze_rate)
def freeze_rate(form: Any) -> Checks:
    def within(seed: int, width: int, sizes: Any, eta: Fraction) -> bool:
        rho = form.rate(float(eta), width)
        seen = exact.moved(seed, width, tuple(map(float, sizes)), float(eta))
        rest = form.remainder(rho, seen.W, seen.P, seen.T, seen.H)
        gap = form.gap(rho, seen.sigma, seen.H, seen.B, rest)
        most = form.outputs(rho, seen.A, seen.l, width)
        bound = np.log(4 * most * (most + 0.8)) - gap if most > 0 else -np.inf  # E = 3, y = 0.8
        slack = 1e-9  # rounding of sums of at most 40 terms of order 100
        return bool(abs(seen.change).max() <= rest + slack and seen.gap >= gap - slack and seen.outputs <= most + slack
                    and seen.log_gradient <= bound + slack)

    def leading(letter: Any, eta: Any, sigma: Any, kappa: Any, A: Any, W: Any, T: Any) -> Any:
        """-gap/n and F/n, the latter times a letter, as n = 1/u^2 -> oo, at P = l = B = 1: lower orders vanish at u = 0."""
        u = Symbol("u", positive=True)
        rho, H = form.rate(eta, 1 / u**2), kappa / u**2
        gap = form.gap(rho, sigma, H, 1, form.remainder(rho, W, 1, T, H))
        return expand(u**2 * (letter * form.outputs(rho, A, 1, 1 / u**2) - gap)).subs(u, 0)

    yield symbolic.equal(lambda *at: leading(*map(sympify, at)),
                         lambda letter, eta, sigma, kappa, A, W, T: letter * eta - eta * sigma * kappa,
                         symbols("letter eta sigma kappa A W T", positive=True))
    sizes = ((1, 1), (4, Fraction(1, 4)), (Fraction(1, 4), 4), (1, 16))
    adverse = ((956, 1, (16, Fraction(1, 16)), Fraction(1)),)  # found by a search: trunk and experts work against the gap
    random = list(product(range(12), (1, 2, 8, 40), sizes, (Fraction(1, 10), Fraction(1))))
    yield exhaustive.forall((*random, *adverse), within, floats=True,
                            scope="random starts; deviations of a and w over root n; rates")


@evidence(thy.adam_first_step)
def adam_first_step(form: Any) -> Checks:
    eta, c, epsilon, *h = names = symbols("eta c epsilon h1 h2", positive=True)

    def by_moments(eta: Any, c: Any, epsilon: Any, *h: Any) -> Any:
        """Moments after one gradient, each divided by what corrects its bias; betas 9/10 and 999/1000."""
        one, two = Fraction(9, 10), Fraction(999, 1000)
        moved = 0
        for v in map(sympify, h):
            m, s = (1 - one) * c * v / (1 - one), (1 - two) * (c * v) ** 2 / (1 - two)
            moved += v * (-eta * m / (sqrt(s) + epsilon)) / len(h)
        return moved

    yield symbolic.equal(by_moments, lambda eta, c, epsilon, *h: form.move(eta, c, h, epsilon), names)
    yield symbolic.equal(lambda eta, epsilon, *h: by_moments(eta, c, epsilon, *h).subs(c, 0),
                         lambda eta, epsilon, *h: form.small(eta, h, epsilon), (eta, epsilon, *h))
    yield symbolic.equal(lambda eta, *h: cancel(by_moments(eta, c, 0, *h)).subs(c, 0), lambda eta, *h: form.without(eta, h),
                         (eta, *h))


@evidence(thy.freeze_in_mean)
def freeze_in_mean(slope: Any) -> Checks:
    yield exponent.slope_within(partial(exact.group_rms, widths=SMALL), slope, tol=0.4, widths=SMALL, lower=-1.0, upper=3.0,
                                chunk=10)


@evidence(thy.adam_updates)
def adam_updates(ratio: Any) -> Checks:
    first, second = symbols("b1 b2", positive=True)

    def directly(one: Any, two: Any) -> Any:
        """The moments after g = 1 and then 0, each divided by what corrects its bias."""
        one, two = sympify(one), sympify(two)
        m, v = one * (1 - one) / (1 - one**2), two * (1 - two) / (1 - two**2)
        return m / sqrt(v)

    yield symbolic.equal(lambda a, b: directly(a, b) ** 2, lambda a, b: ratio(sympify(a), sympify(b)) ** 2, (first, second))
    yield sequential.mean_within(exact.carried, lambda: float(ratio(0.9, 0.999)), tol=0.1, upper=2.0, chunk=60)


@evidence(thy.adam_collapse)
def adam_collapse(form: Any) -> Checks:
    kind = {**MUP, "optimiser": "adam", "learning_rate": 0.2, "adam_epsilon": worst(form.given, (0.0, 1e-3, 0.1))}
    yield exponent.slope_within(partial(exact.growth, quantity="expert_distance", t=6, kinds=(kind,), widths=SMALL),
                                form.exponent, tol=0.12, widths=SMALL, lower=-1.25, upper=0.25, chunk=60)


@evidence(thy.collapse)
def collapse(form: Any) -> Checks:
    kind = {**MUP, **EXPERTS[worst(form.given, (False, True))]}
    yield exponent.slope_within(partial(exact.growth, quantity="expert_distance", t=5, kinds=(kind,)), form.exponent, tol=0.08,
                                widths=exact.WIDTHS, lower=-1.25, upper=0.25, chunk=60)


@evidence(thy.late_specialisation)
def late_specialisation(form: Any) -> Checks:
    for times in ((40, 20, 5), (40, 20, 3)):
        sample = partial(exact.growth, quantity="expert_distance", t=worst(form.given, times), widths=SMALL,
                         kinds=({**MUP, "learning_rate": 6.0},))
        yield exponent.slope_within(sample, form.exponent, tol=0.08, widths=SMALL, lower=-1.25, upper=0.25, chunk=60)


@evidence(thy.trilemma)
def trilemma(form: Any) -> Checks:
    for name in ("mup", "gamma(0.75)", "ntp"):  # one by one: opposite deviations would cancel in a mean
        kind = {"gate": form.gate, "active": 2, "parametrisation": name, **EXPERTS[worst(form.given, (False, True))]}
        yield exponent.slope_within(partial(exact.growth, quantity="feature_move*expert_distance", t=1, kinds=(kind,)),
                                    form.exponent, tol=0.08, widths=exact.WIDTHS, lower=-1.25, upper=0.25, chunk=60)


@evidence(thy.topk_breaks_symmetry)
def topk_breaks_symmetry(form: Any) -> Checks:
    kinds = ({"gate": form.gate, "active": 2, "parametrisation": form.parametrisation},)
    for quantity in ("expert_distance", "feature_move"):
        yield exponent.slope_within(partial(exact.growth, quantity=quantity, t=2, kinds=kinds), 0, tol=0.12,
                                    widths=exact.WIDTHS, lower=-1.0, upper=1.0, chunk=60)


def _of_row(row: thy.Row) -> Any:
    """The procedure for a row of the table."""
    kinds = ({"gate": row.gate, "parametrisation": row.parametrisation, "active": row.active, "data": row.data,
              **dict(row.settings)},)
    targets = (row.exponent - HALF, *row.wrong.values(), row.exponent + HALF)

    def exponent_of_row(value: Any) -> Checks:
        # slopes of single runs have deviations of 0.02 to 0.3; the bounds lie 0.75 or more from the exponent on either side
        yield exponent.slope_within(partial(exact.growth, quantity=row.quantity, t=row.t, kinds=kinds, widths=row.widths),
                                    value, tol=row.tolerance, widths=row.widths, lower=float(min(targets)) - 0.25,
                                    upper=float(max(targets)) + 0.25, chunk=60)

    exponent_of_row.__name__ = exponent_of_row.__qualname__ = row.fact
    return exponent_of_row


for _row in thy.EXPONENTS:
    globals()[_row.fact] = evidence(thy.CLAIMS[_row.fact])(_of_row(_row))

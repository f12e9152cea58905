"""Evidence on parents of a target: finite laws in rationals, densities and cumulants in symbols, power by simulation."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations, product
from typing import Any, NamedTuple

from hypothesis import strategies as st
from sympy import Poly, Rational, Symbol, cancel, diff, exp, expand, lambdify, log, symbols

from causal import AdmissibleSet, admissible_sets, population_parents
from proofs_checks._parent_identification import (
    LAWS,
    independent_noise,
    minimality,
    model,
    no_backward,
    subsets,
    widened,
)
from proofs_checks.engines import exhaustive, falsify, symbolic
from proofs_checks.harness.judge import evidence
from theory import parent_identification as thy
from theory.claim import Conditions, without

F = Fraction
Sets = set[frozenset[int]]


# --- the principle ----------------------------------------------------------------------------------------------------


class Principle(NamedTuple):
    """Where `given(kind, index)`, `answer(joint)` is the set of the parents."""

    given: Callable[[int, int], bool]
    answer: Callable[[Any], Sets]


def the_parents(joint: Any) -> Sets:
    """Minimisers of (variance, size) among admissible sets."""
    return {s.variables for s in population_parents(joint)}


def best(key: Callable[[AdmissibleSet], Any]) -> Callable[[Any], Sets]:
    """Minimisers of something else among admissible sets."""
    def answer(joint: Any) -> Sets:
        ranked = admissible_sets(joint)
        least = min(map(key, ranked))
        return {s.variables for s in ranked if key(s) == least}
    return answer


def least_variance_of_all(joint: Any) -> Sets:
    """Minimisers of (variance, size) among all sets."""
    found = {}
    for chosen in subsets(range(len(next(iter(joint))) - 1)):
        cells: dict[Any, list[Any]] = {}
        for key, p in joint.items():
            cells.setdefault(tuple(key[j] for j in sorted(chosen)), []).append((key[-1], p))
        total = F(0)
        for cell in cells.values():
            mass = sum(p for _, p in cell)
            mean = sum(y * p for y, p in cell) / mass
            total += sum(p * (y - mean) ** 2 for y, p in cell)
        found[chosen] = (total, len(chosen))
    least = min(found.values())
    return {s for s, value in found.items() if value == least}


CONDITIONS = Conditions(independent_noise=independent_noise, minimality=minimality, no_backward=no_backward)
PRINCIPLE = Principle(CONDITIONS, the_parents)
PRINCIPLES = {f"without_{name}": without(PRINCIPLE, name) for name in CONDITIONS.parts} | {
    "smallest_admissible": PRINCIPLE._replace(answer=best(lambda s: len(s.variables))),
    "largest_variance": PRINCIPLE._replace(answer=best(lambda s: (-s.variance, len(s.variables)))),
    "independence_dropped": PRINCIPLE._replace(answer=least_variance_of_all),
    "ties_to_the_largest": PRINCIPLE._replace(answer=best(lambda s: (s.variance, -len(s.variables))))}


@evidence(thy.principle, form=PRINCIPLE, mutants=PRINCIPLES)
def principle(p):
    def right(kind, index):
        return p.answer(model(kind, index).joint) == {model(kind, index).parents}

    cases = [*product(range(4), range(120)), *product(range(4, 7), range(20))]
    yield exhaustive.forall(cases, right, given=p.given, scope="kinds and numbers of seeded models")
    yield falsify.forall(st.tuples(st.integers(0, 6), st.integers(1000, 10**6)), right, given=p.given, examples=60)


@evidence(thy.superset_ties)
def superset_ties(ties):
    def tied(kind, index):
        m = widened(model(kind, index))  # with two non-descendants, every pair of them would hold the parents
        found = {s.variables: s.variance for s in admissible_sets(m.joint)}
        variance = ties.variance(m.noise())
        return all(found.get(s) == variance for s in subsets(range(4)) if ties.reach(s, m.parents, m.descendants))

    yield exhaustive.forall(lambda: product(range(4), range(120)), tied)
    yield falsify.forall(st.tuples(st.integers(0, 3), st.integers(1000, 10**6)), tied, examples=60)


@evidence(thy.exceptional_laws)
def exceptional_laws(expected):
    def predicted(name):
        joint, columns = LAWS[name]
        found = population_parents(joint)
        return expected[name] == (found[0].variance, frozenset(frozenset(columns[j] for j in s.variables) for s in found))

    yield exhaustive.forall(lambda: ((name,) for name in LAWS), predicted)


# --- densities --------------------------------------------------------------------------------------------------------

Y, X = Symbol("y"), Symbol("x")


def derivatives(p: Any, y: Symbol, x: Symbol) -> tuple[Any, Any, Any, Any]:
    """Of a log density: yyx, yy, yx, yyy."""
    return diff(p, y, y, x), diff(p, y, y), diff(p, y, x), diff(p, y, y, y)


def numbers_for(expression: Any, values: dict[Symbol, Any]) -> Any:
    """An expression at numbers or other symbols."""
    return expression.subs({k: Rational(v.numerator, v.denominator) if isinstance(v, F) else v for k, v in values.items()},
                           simultaneous=True)


@lru_cache(maxsize=1)
def density_cases() -> tuple[Any, Any, Any]:
    """Derivatives of a forward model (nu of degree 4, f of degree 2) and of a log density of no particular model, and the
    quotient form of D for the second; functions of numbers or symbols."""
    n3, n4, f2, c, d = symbols("n3 n4 f2 c d")
    u = Y - X - f2 * X**2
    forward = derivatives(-u**2 + n3 * u**3 + n4 * u**4 + X**2, Y, X)
    other = derivatives(-Y**2 + Y**3 + c * X * Y + d * X * Y**2 + Y**4 * X, Y, X)
    quotient = other[1] ** 2 * diff(other[2] / other[1], Y)
    return (lambdify((n3, n4, f2, Y, X), forward, "math"), lambdify((c, d, Y, X), other, "math"),
            lambdify((c, d, Y, X), cancel(quotient), "math"))


@evidence(thy.density_condition)
def density_condition(condition):
    forward, other, quotient = density_cases()
    yield symbolic.equal(lambda *at: condition(*forward(*at)), lambda *at: 0, symbols("n3 n4 f2 s t"))
    yield symbolic.equal(lambda *at: condition(*other(*at)), quotient, symbols("c d s t"))


@evidence(thy.gaussian_child)
def gaussian_child(child):
    Z, B, C1, C3, R = symbols("z b c1 c3 r")

    def density(b, c1, c3):
        f = c1 * X + c3 * X**3
        return -(Y - f) ** 2 / 2 - (Z - child.edge(b, Y)) ** 2 / 2

    first, second = (thy.anm_condition(*derivatives(density(B, C1, C3), Y, v)) for v in (X, Z))
    # D for the parent and r times that for the child: 0 for every r iff both are
    both = lambdify((B, C1, C3, Y, X, Z, R), first + R * second, "math")

    def spread(b):  # of the Gaussian law of Y given both, where the edge is linear
        return -1 / diff(density(b, 0, 1), Y, Y).subs({Y: 0, X: 0, Z: 0})

    yield symbolic.equal(both, lambda *at: 0, symbols("b c1 c3 s t u r"))
    yield symbolic.equal(child.variance, spread, (Symbol("b", positive=True),))


@evidence(thy.gaussian_chain)
def gaussian_chain(variance):
    def schur(b, s_n, s_m):  # covariance of (N, bN + M) given X_1
        return s_n - (b * s_n) ** 2 / (b**2 * s_n + s_m)

    yield symbolic.equal(variance, schur, symbols("b s_n s_m", positive=True))
    yield falsify.forall(st.tuples(*[st.integers(1, 9).map(F)] * 3), lambda b, n, m: variance(b, n, m) == schur(b, n, m),
                         examples=50)


@evidence(thy.log_gamma)
def log_gamma(value):
    C, k1, k2 = symbols("c k1 k2")
    p = k2 * Y - exp(Y) + k1 * (X + C * Y) - exp(X + C * Y)  # log density of (Y, X)
    condition = expand(thy.anm_condition(*derivatives(p, Y, X)))

    def found(c, u, v):  # at y = log u, x = log v - c log u
        return numbers_for(condition.subs({Y: log(Symbol("u", positive=True)), X: log(Symbol("v", positive=True))
                                           - C * log(Symbol("u", positive=True))}),
                           {C: c, Symbol("u", positive=True): u, Symbol("v", positive=True): v})

    yield symbolic.equal(found, value, (Symbol("c", real=True), *symbols("u v", positive=True)))


# --- cumulants --------------------------------------------------------------------------------------------------------


def joint_cumulant(i: int, j: int, b: Any, sn: Any, sm: Any, kn: Any, km: Any) -> Any:
    """cum(R i times, X_2 j times): R = N - t (bN + M) with t the regression coefficient, X_2 = bN + M + (X_1 part)."""
    t = b * sn / (b**2 * sn + sm)
    return (1 - t * b) ** i * b**j * kn + (-t) ** i * km


CUMULANT_SYMBOLS = (*symbols("b s_n s_m", positive=True), *symbols("k_n k_m", real=True))


@evidence(thy.third_order)
def third_order(third):
    yield symbolic.equal(third.rrx, partial(joint_cumulant, 2, 1), CUMULANT_SYMBOLS)
    yield symbolic.equal(third.rxx, partial(joint_cumulant, 1, 2), CUMULANT_SYMBOLS)


@evidence(thy.fourth_order)
def fourth_order(fourth):
    yield symbolic.equal(fourth.rxxx, partial(joint_cumulant, 1, 3), CUMULANT_SYMBOLS)
    yield symbolic.equal(fourth.rrxx, partial(joint_cumulant, 2, 2), CUMULANT_SYMBOLS)
    yield symbolic.equal(fourth.rrrx, partial(joint_cumulant, 3, 1), CUMULANT_SYMBOLS)


@evidence(thy.pair_enough)
def pair_enough(orders):
    def enough(b, sn, sm, kn, km):
        seen = any(joint_cumulant(i, j, F(b), F(sn), F(sm), F(kn), F(km)) for i, j in orders)
        return seen or (kn == 0 and km == 0)

    grid = list(product((-2, -1, 1, 2), (1, 2, 4), (1, 2, 4), (-8, -4, -2, -1, 0, 1, 2, 4, 8), (-8, -2, -1, 0, 1, 2, 8)))
    yield exhaustive.forall(grid, enough)
    yield falsify.forall(st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.integers(-6, 6),
                                   st.integers(-6, 6)), enough, examples=300)


@lru_cache(maxsize=1)
def confounded_numerator() -> Any:
    """Numerator of cum(R, R, X_2) for Y on (X_1, X_2), with a hidden L in X_1 and X_2; all s = 1, all k_3 = 2."""
    a, b, c, l, m = symbols("a b c l m")
    rows = {"x1": (1, l, 0, 0), "y": (a, a * l, 1, 0)}  # coefficients of U, L, N, M
    rows["x2"] = tuple(b * rows["y"][e] + c * rows["x1"][e] + (0, m, 0, 1)[e] for e in range(4))

    def dot(u: str, v: str) -> Any:
        return expand(sum(p * q for p, q in zip(rows[u], rows[v], strict=True)))

    det = expand(dot("x1", "x1") * dot("x2", "x2") - dot("x1", "x2") ** 2)
    first = dot("x2", "x2") * dot("x1", "y") - dot("x1", "x2") * dot("x2", "y")
    second = dot("x1", "x1") * dot("x2", "y") - dot("x1", "x2") * dot("x1", "y")
    residual = [expand(det * y - first * x1 - second * x2) for y, x1, x2 in zip(rows["y"], rows["x1"], rows["x2"], strict=True)]
    return residual, rows["x2"], (a, b, c, l, m)


def confounded_value(power: int, cumulant: int) -> Any:
    """det^2 cum(R, R, X_2, ..., X_2), X_2 `power` times, as a polynomial; `cumulant`, of order 2 + power, is that of U, L, N
    and M."""
    residual, child, coefficients = confounded_numerator()
    return Poly(expand(sum(cumulant * r**2 * x**power for r, x in zip(residual, child, strict=True))), *coefficients)


@evidence(thy.hidden_confounder)
def hidden_confounder(facts):
    def found(name):
        third = confounded_value(1, 2)
        computed = {"at_one": lambda: third(1, 1, 1, 1, 1), "terms": lambda: len(third.terms()),
                    "degree": third.total_degree, "fourth": lambda: confounded_value(2, 1)(1, 1, 1, 1, 1)}
        return getattr(facts, name) == computed[name]()

    yield exhaustive.forall([(name,) for name in ("at_one", "terms", "degree", "fourth")], found)


@evidence(thy.instrument)
def instrument(table):
    rows = {"Z": (1, 0, 0, 0), "X": (1, 1, 1, 0), "Y": (1, 2, 1, 1)}  # coefficients of Z, H, M, N; s = 1, k_3 = 2

    def dot(u, v):
        return F(sum(p * q for p, q in zip(u, v, strict=True)))

    def residual(chosen):  # Gram-Schmidt
        basis: list[tuple[Any, ...]] = []
        for v in (*(rows[c] for c in chosen), rows["Y"]):
            for u in basis:
                v = tuple(p - dot(v, u) / dot(u, u) * q for p, q in zip(v, u, strict=True))
            basis.append(v)
        return basis[-1]

    def agrees(*chosen):
        r = residual(chosen)
        column = rows["X" if "X" in chosen else "Z"]
        third = sum(2 * p * p * q for p, q in zip(r, column, strict=True)) if chosen else 0
        return table[chosen] == (dot(r, r), third)

    yield exhaustive.forall([(), ("Z",), ("X",), ("X", "Z")], agrees)


# --- witnesses and null sets -------------------------------------------------------------------------------------------


@evidence(thy.null_set)
def null_set(family):
    def holds(*pieces):
        if family.empty:
            return not any(c == 0 or (k > 0 and lo < r < hi) for (lo, hi), (c, r, k) in pieces)
        return all(c for _, (c, _, _) in pieces)  # a piece on which the function is not identically 0 has <= k zeros

    shapes = [(F(c), F(r), k) for c, r, k in ((0, 0, 0), (1, 0, 0), (1, F(1, 2), 1), (-2, 1, 3), (3, F(3, 2), 2))]
    spaces = (((0, 1), (1, 2)), ((0, 1), (2, 3)), ((-2, -1), (1, 2)), ((0, 1), (1, 2), (2, 3)))

    def cases():
        for space in spaces:
            for chosen in product(shapes, repeat=len(space)):
                yield tuple(zip(space, chosen, strict=True))

    yield exhaustive.forall(cases, holds, given=lambda *pieces: family.given(pieces))


@evidence(thy.schwartz_zippel)
def schwartz_zippel(bound):
    def few_zeros(m, *coefficients):  # of 1, x, y, x^2, xy, y^2
        c0, cx, cy, cxx, cxy, cyy = coefficients
        degree = 2 if cxx or cxy or cyy else 1 if cx or cy else 0
        zeros = sum(c0 + cx * x + cy * y + cxx * x * x + cxy * x * y + cyy * y * y == 0
                    for x, y in product(range(1, m + 1), repeat=2))
        return zeros <= bound(degree, m)

    yield exhaustive.forall(lambda: ((m, *c) for m in (3, 4) for c in product((-1, 0, 1), repeat=6)), few_zeros,
                            given=lambda m, *c: any(c))

    def few_zeros_of_lines(m, *lines):  # a x + b y + c = 0 each; lines that do not meet in the square attain the bound
        zeros = sum(any(a * x + b * y + c == 0 for a, b, c in lines) for x, y in product(range(1, m + 1), repeat=2))
        return zeros <= bound(len(lines), m)

    lines = ((1, 0, -1), (1, 0, -2), (1, 0, -3), (1, 0, -4), (0, 1, -1), (1, -1, 0), (1, 1, -4))
    yield exhaustive.forall(lambda: ((m, *chosen) for m in range(1, 7) for k in range(5) for chosen in combinations(lines, k)),
                            few_zeros_of_lines)

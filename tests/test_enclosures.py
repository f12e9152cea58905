"""The standard library's enclosures: they contain the truth (Arb at high precision), and they are tight."""
from __future__ import annotations

import random
import subprocess
import sys
from fractions import Fraction

import pytest

from proofs_checks.harness.enclosures import INF, NINF, Functions, Program, Undefined, Undetermined, evaluate
from proofs_checks.harness.enclosures import _reals as reals

flint = pytest.importorskip("flint")
arb, acb, fmpq = flint.arb, flint.acb, flint.fmpq
X = ["var", "x"]
REFERENCE = {"exp": arb.exp, "log": arb.log, "sin": arb.sin, "cos": arb.cos, "tan": arb.tan, "atan": arb.atan,
             "sinh": arb.sinh, "cosh": arb.cosh, "tanh": arb.tanh, "asinh": arb.asinh, "erf": arb.erf,
             "loggamma": arb.lgamma, "digamma": arb.digamma, "gamma": arb.gamma}
POSITIVE = {"log", "loggamma", "digamma", "gamma"}
SMALL = {"sinh": 30, "cosh": 30, "exp": 60, "gamma": 40}


@pytest.fixture(autouse=True)
def high_precision():
    before, flint.ctx.prec = flint.ctx.prec, 600
    yield
    flint.ctx.prec = before


def contains(interval, value) -> bool:
    """Whether the enclosure holds the ball `value`, which is far narrower than the enclosure's own width."""
    lo, hi = (fmpq(Fraction(e).numerator, Fraction(e).denominator) for e in interval[:2])
    return not (value < arb(lo)) and not (value > arb(hi))


def points(name, rng, count=60):
    top = SMALL.get(name, 300)
    for _ in range(count):
        x = Fraction(rng.randrange(1, 10**9), 10**9) * rng.choice([Fraction(1, 1000), Fraction(1), Fraction(3), top])
        yield x if name in POSITIVE or rng.random() < 0.5 else -x


@pytest.mark.parametrize("name", sorted(REFERENCE))
@pytest.mark.parametrize("bits", [64, 160])
def test_points_are_enclosed_tightly(name, bits):
    for x in points(name, random.Random(name)):
        found = evaluate([name, X], {"x": (x, x)}, bits=bits)
        truth = REFERENCE[name](arb(fmpq(x.numerator, x.denominator)))
        assert contains(found, truth), (name, x)
        assert found.hi - found.lo <= (1 + abs(found.lo)) * 2 ** 16 * Fraction(1, 2**bits) * (1 + abs(1 / x)) ** 2, (name, x)


@pytest.mark.parametrize("order", [1, 2, 3, 5, 9])
def test_polygamma_points(order):
    for x in points("digamma", random.Random(order)):
        found = evaluate(["polygamma", str(order), X], {"x": (x, x)}, bits=128)
        assert contains(found, acb(arb(fmpq(x.numerator, x.denominator))).polygamma(order).real), x


@pytest.mark.parametrize("name", sorted({*REFERENCE, "asin", "acos", "atanh", "abs"} - {"tan"}))
def test_wide_intervals_contain_every_sampled_value(name):
    rng = random.Random(name)
    unit = name in ("asin", "acos", "atanh")
    for _ in range(40):
        scale = Fraction(999, 1000) if unit else Fraction(rng.choice([1, 5, 20]))
        ends = sorted(scale * Fraction(rng.randrange(-10**6, 10**6), 10**6) for _ in range(2))
        lo, hi = (abs(e) + Fraction(1, 100) for e in ends) if name in POSITIVE else ends
        lo, hi = min(lo, hi), max(lo, hi)
        wide = evaluate([name, X], {"x": (lo, hi)})
        for k in range(9):
            x = lo + (hi - lo) * Fraction(k, 8)
            inner = evaluate([name, X], {"x": (x, x)}, bits=128)
            assert wide.lo <= inner.hi and inner.lo <= wide.hi
            assert wide.lo <= inner.lo + Fraction(1, 2**80) and inner.hi <= wide.hi + Fraction(1, 2**80)


def test_the_stated_error_bound_has_slack():
    flint.ctx.prec = 900
    rng, w = random.Random(5), 300
    for magnitude in (1e-9, 0.3, 11.0, 1e5):
        for _ in range(30):
            n = int(rng.random() * magnitude * 2**60) << (w - 60)
            x = arb(fmpq(n, 1 << w))
            if n == 0:
                continue
            y, k = reals.exp(n, w)
            assert abs(arb(y) - x.exp() * arb(2) ** (w - k)) < reals.ERROR / 1000
            assert abs(arb(reals.log(n, w)) - x.log() * arb(2) ** w) < reals.ERROR / 1000
            assert abs(arb(reals.polygamma(0, n, w)) - x.digamma() * arb(2) ** w) < reals.ERROR / 1000
            assert abs(arb(reals.loggamma(n, w)) - x.lgamma() * arb(2) ** w) < reals.ERROR / 1000


@pytest.mark.parametrize(("tree", "lo", "hi", "expected"), [
    (["pow", X, "2"], -1, 1, (0, 1)), (["mul", X, X], -1, 2, (0, 4)), (["pow", X, "3"], -2, 1, (-8, 1)),
    (["pow", X, "-2"], 1, 2, (Fraction(1, 4), 1)), (["pow", X, "1/3"], 0, 8, (0, 2)), (["abs", X], -3, 1, (0, 3)),
    (["min", X, "0"], -2, 1, (-2, 0)), (["max", X, "1/2"], -2, 1, (Fraction(1, 2), 1)), (["exp", X], 0, 0, (1, 1)),
    (["cos", X], -1, 1, (None, 1)), (["log", X], 1, 1, (0, 0)), (["exp", X], NINF, 0, (0, 1)),
    (["pow", X, "-1"], 1, INF, (0, 1)), (["loggamma", X], 1, 2, (None, 0))])
def test_exact_ends(tree, lo, hi, expected):
    found = evaluate(tree, {"x": (lo, hi)})
    for got, wanted in zip(found[:2], expected, strict=True):
        assert wanted is None or got == wanted


@pytest.mark.parametrize(("tree", "lo", "hi"), [
    (["log", X], 0, 1), (["log", X], -1, 1), (["pow", X, "-1"], -1, 1), (["pow", X, "1/2"], -1, 1), (["tan", X], 1, 2),
    (["asin", X], 0, 2), (["digamma", X], -1, 1), (["acosh", X], 0, 2), (["atanh", X], 0, 1)])
def test_outside_the_domain_is_an_error_never_a_number(tree, lo, hi):
    with pytest.raises((Undefined, Undetermined)):
        evaluate(tree, {"x": (Fraction(lo), Fraction(hi))})


def test_strict_ends():
    field = Functions(64)
    open_unit = field.box(Fraction(0), Fraction(1), True, False)
    assert Program(["pow", X, "2"], ["x"]).value([open_unit], field) == (0, field.one, True, False)
    assert Program(["log", X], ["x"]).value([open_unit], field)[:2] == (NINF, 0)
    product = Program(["mul", X, ["var", "y"]], ["x", "y"]).value([open_unit, field.box(Fraction(0), Fraction(1))], field)
    assert product == (0, field.one, False, False)  # y = 0 is attained, so 0 is


def test_limits():
    field = Functions(64, germ=True)
    above, infinite = (0, 0, True, None), (INF, INF, True, True)
    assert Program(["pow", X, "-1"], ["x"]).value([above], field)[:2] == (INF, INF)
    assert Program(["exp", ["mul", "-1", ["pow", X, "-1"]]], ["x"]).value([above], field)[:2] == (0, 0)
    assert Program(["add", ["log", ["add", "1", ["pow", X, "-1"]]], ["mul", "-1", ["pow", X, "-1"]]], ["x"]
                   ).value([infinite], field)[:2] == (0, 0)
    assert Program(["mul", X, ["log", X]], ["x"]).value([above], field) == (0, 0, None, True)
    for tree in (["mul", ["pow", X, "2"], ["log", X]], ["add", ["pow", X, "-1"], ["log", X]]):
        with pytest.raises(Undetermined):
            Program(tree, ["x"]).value([above], field)


@pytest.mark.parametrize("tree", [["mul", ["exp", X], ["sin", ["mul", "3", X]]], ["pow", ["add", "1", ["pow", X, "2"]], "-3/2"],
                                  ["mul", X, ["log", X], ["atan", X]], ["pow", X, X], ["erf", ["digamma", X]],
                                  ["tanh", ["pow", X, "1/3"]], ["gamma", X], ["asinh", ["loggamma", X]],
                                  ["max", X, ["pow", X, "2"], "1/2"], ["abs", ["add", X, "-1"]]])
def test_gradients_enclose_difference_quotients(tree):
    field, rng, program = Functions(160), random.Random(str(tree)), Program(tree, ["x"])
    for _ in range(20):
        a, b = sorted(Fraction(rng.randrange(1, 3000), 1000) for _ in range(2))
        if a == b:
            continue
        _, (slope,) = program.gradient([field.box(a, b)], field)
        fa, fb = (program.value([field.box(x, x)], field) for x in (a, b))
        low, high = Fraction(fb[0] - fa[1], field.one) / (b - a), Fraction(fb[1] - fa[0], field.one) / (b - a)
        assert Fraction(slope[0], field.one) <= high and low <= Fraction(slope[1], field.one)


def test_limits_from_one_side_do_not_add_up():
    """0 from above plus 0 from below has limit 0 from nowhere: claiming a side here once looped, and would be wrong."""
    field, one = Functions(64, germ=True), 1 << 64
    above, below = (0, 0, True, None), (0, 0, None, True)
    assert field.add(above, below) == (0, 0, None, None)
    assert field.add((one, one, False, False), above) == (one, one, True, None)
    assert field.mul((one, one, True, None), (2 * one, 2 * one, None, True)) == (2 * one, 2 * one, None, None)
    assert field.mul(above, below) == (0, 0, None, True)
    assert field.absolute(below) == above
    assert field.reciprocal(above)[:2] == (INF, INF) and field.reciprocal(below)[:2] == (NINF, NINF)
    for op in (field.reciprocal, field.log, lambda a: field.root_power(a, 1, 2)):
        with pytest.raises((Undefined, Undetermined)):
            op(field.add(above, below))
    assert field.tanh((INF, INF, True, True)) == (one, one, None, True)
    assert field.atan((INF, INF, True, True))[0] < field.atan((INF, INF, True, True))[1]
    assert field.cos(above)[2:] == (None, None)


def test_unknown_and_malformed_trees():
    for tree in (["evil", X], ["exp"], ["exp", X, X], ["var", "z"], ["pow", X, "99999999999"], ["polygamma", "1/2", X], "nan"):
        with pytest.raises(ValueError):
            evaluate(tree, {"x": (Fraction(1), Fraction(2))})


def test_standard_library_only():
    code = ("import sys, proofs_checks.harness.checkers.interval, proofs_checks.harness.recheck;"
            "sys.exit(any(m.split('.')[0] in ('sympy', 'numpy', 'flint', 'mpmath', 'scipy') for m in sys.modules))")
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

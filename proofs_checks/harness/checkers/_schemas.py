"""The lemmas that an implication may use: each schema is true for all real arguments. Standard library only.

An instance is [name, argument, ...]; `instance` returns the relation it stands for. Guards are part of the relation,
so that an instance is true even where one of its terms is undefined, whatever value the term is then given.

Sources: convexity of exp and concavity of log (tangents); functional equations; alternating Taylor series; the
enveloping asymptotic series of digamma and trigamma for a > 0 (Binet's integral; the remainder has the sign of the
first omitted term); `enclosure` is evaluated by the checker itself."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_checks.harness.trees import Tree, number

__all__ = ["SCHEMAS", "instance"]

INCREASING = ("exp", "log", "sinh", "tanh", "atan", "asinh", "erf", "asin")
_POSITIVE_ONLY = ("log",)
PI_LOW, PI_HIGH = "3141592653589793238/1000000000000000000", "3141592653589793239/1000000000000000000"


def _add(*parts: Tree) -> Tree:
    return ["add", *parts]


def _mul(*parts: Tree) -> Tree:
    return ["mul", *parts]


def _pow(base: Tree, n: int) -> Tree:
    return ["pow", base, str(n)]


def _if(guard: Tree, then: Tree) -> Tree:
    return ["implies", guard, then]


def _pos(a: Tree) -> Tree:
    return ["gt", a, "0"]


def _and(*parts: Tree) -> Tree:
    return ["and", *parts] if len(parts) > 1 else parts[0]


def _minus(a: Tree) -> Tree:
    return _mul("-1", a)


def _inside(head: str, *args: Tree) -> list[Tree]:
    """What makes head(arg) defined, for the heads that need it."""
    if head in _POSITIVE_ONLY:
        return [_pos(arg) for arg in args]
    if head == "asin":
        return [relation for arg in args for relation in (["ge", arg, "-1"], ["le", arg, "1"])]
    return []


def _guarded(guards: list[Tree], then: Tree) -> Tree:
    return _if(_and(*guards), then) if guards else then


# --- exp and log -----------------------------------------------------------------------------------------------------
def exp_positive(a: Tree) -> Tree:
    return _pos(["exp", a])


def exp_tangent(a: Tree) -> Tree:
    return ["ge", ["exp", a], _add("1", a)]


def exp_tangent_strict(a: Tree) -> Tree:
    return _if(["ne", a, "0"], ["gt", ["exp", a], _add("1", a)])


def exp_reciprocal(a: Tree) -> Tree:
    """exp(-a) >= 1 - a, times exp(a)."""
    return ["le", _mul(["exp", a], _add("1", _minus(a))), "1"]


def exp_second(a: Tree) -> Tree:
    return _if(["ge", a, "0"], ["ge", ["exp", a], _add("1", a, _mul("1/2", _pow(a, 2)))])


def exp_third(a: Tree) -> Tree:
    """The Taylor polynomial of odd degree lies below exp everywhere."""
    return ["ge", ["exp", a], _add("1", a, _mul("1/2", _pow(a, 2)), _mul("1/6", _pow(a, 3)))]


def exp_opposite(a: Tree, b: Tree) -> Tree:
    return _if(["eq", _add(a, b), "0"], ["eq", _mul(["exp", a], ["exp", b]), "1"])


def exp_sum(c: Tree, a: Tree, b: Tree) -> Tree:
    return _if(["eq", c, _add(a, b)], ["eq", ["exp", c], _mul(["exp", a], ["exp", b])])


def exp_multiple(c: Tree, n: Tree, a: Tree) -> Tree:
    """c = n a for an integer n >= 1: exp(c) = exp(a)^n."""
    return _if(["eq", c, _mul(n, a)], ["eq", ["exp", c], ["pow", ["exp", a], str(_small(n))]])


def exp_log(a: Tree) -> Tree:
    return _if(_pos(a), ["eq", ["exp", ["log", a]], a])


def exp_of(c: Tree, a: Tree) -> Tree:
    """exp(c) = a where c = log a."""
    return _if(_and(_pos(a), ["eq", c, ["log", a]]), ["eq", ["exp", c], a])


def log_exp(a: Tree) -> Tree:
    return ["eq", ["log", ["exp", a]], a]


def log_exp_max(a: Tree, b: Tree) -> Tree:
    """log of the larger exponential: log(max(exp a, exp b)) = max(a, b)."""
    return ["eq", ["log", ["max", ["exp", a], ["exp", b]]], ["max", a, b]]


def log_upper(a: Tree) -> Tree:
    return _if(_pos(a), ["le", ["log", a], _add(a, "-1")])


def log_lower(a: Tree) -> Tree:
    return _if(_pos(a), ["ge", _mul(a, ["log", a]), _add(a, "-1")])


def log_strict(a: Tree) -> Tree:
    return _if(_and(_pos(a), ["ne", a, "1"]), ["lt", ["log", a], _add(a, "-1")])


def log_product(c: Tree, a: Tree, b: Tree) -> Tree:
    return _if(_and(_pos(a), _pos(b), ["eq", c, _mul(a, b)]), ["eq", ["log", c], _add(["log", a], ["log", b])])


def log_power(c: Tree, n: Tree, a: Tree) -> Tree:
    k = _small(n)
    return _if(_and(_pos(a), ["eq", c, ["pow", a, str(k)]]), ["eq", ["log", c], _mul(str(k), ["log", a])])


def log_one(a: Tree) -> Tree:
    return _if(["eq", a, "1"], ["eq", ["log", a], "0"])


def log_sign(a: Tree) -> Tree:
    return _if(["gt", a, "1"], _pos(["log", a]))


# --- order and parity ------------------------------------------------------------------------------------------------
def increasing(f: Tree, a: Tree, b: Tree) -> Tree:
    """a < b exactly if f(a) < f(b), for the strictly increasing functions."""
    head = _name(f, INCREASING)
    return _guarded(_inside(head, a, b), _and(_if(["lt", a, b], ["lt", [head, a], [head, b]]),
                                              _if(["gt", a, b], ["gt", [head, a], [head, b]]),
                                              _if(["eq", a, b], ["eq", [head, a], [head, b]])))


def same(f: Tree, a: Tree, b: Tree) -> Tree:
    head = _name(f, ("sin", "cos", "cosh", "acos", "digamma", "loggamma", "gamma", "acosh", "atanh"))
    return _if(["eq", a, b], ["eq", [head, a], [head, b]])


def odd(f: Tree, a: Tree, b: Tree) -> Tree:
    head = _name(f, ("sin", "sinh", "tanh", "atan", "asinh", "erf"))
    return _if(["eq", _add(a, b), "0"], ["eq", _add([head, a], [head, b]), "0"])


def sign_of(f: Tree, a: Tree) -> Tree:
    """f(0) = 0 and f(a) has the sign of a."""
    head = _name(f, ("sinh", "tanh", "atan", "asinh", "erf", "asin"))
    body = _and(_if(_pos(a), _pos([head, a])), _if(["lt", a, "0"], ["lt", [head, a], "0"]),
                _if(["eq", a, "0"], ["eq", [head, a], "0"]))
    return _guarded(_inside(head, a), body)


# --- hyperbolic, trigonometric, others -------------------------------------------------------------------------------
def sinh_exp(a: Tree) -> Tree:
    return ["eq", _mul("2", ["sinh", a], ["exp", a]), _add(_pow(["exp", a], 2), "-1")]


def cosh_exp(a: Tree) -> Tree:
    return ["eq", _mul("2", ["cosh", a], ["exp", a]), _add(_pow(["exp", a], 2), "1")]


def tanh_exp(a: Tree) -> Tree:
    return ["eq", _mul(["tanh", a], _add(_pow(["exp", a], 2), "1")), _add(_pow(["exp", a], 2), "-1")]


def hyperbolic(a: Tree) -> Tree:
    """cosh^2 - sinh^2 = 1, cosh >= 1, tanh = sinh/cosh."""
    return _and(["eq", _add(_pow(["cosh", a], 2), _minus(_pow(["sinh", a], 2))), "1"], ["ge", ["cosh", a], "1"],
                ["eq", _mul(["tanh", a], ["cosh", a]), ["sinh", a]])


def hyperbolic_double(c: Tree, a: Tree) -> Tree:
    return _if(["eq", c, _mul("2", a)], _and(["eq", ["sinh", c], _mul("2", ["sinh", a], ["cosh", a])],
                                             ["eq", ["cosh", c], _add("1", _mul("2", _pow(["sinh", a], 2)))]))


def tanh_bound(a: Tree) -> Tree:
    return _and(["lt", ["tanh", a], "1"], ["gt", ["tanh", a], "-1"], _if(["ge", a, "0"], ["le", ["tanh", a], a]),
                _if(["le", a, "0"], ["ge", ["tanh", a], a]))


def sinh_tangent(a: Tree) -> Tree:
    return _and(_if(["ge", a, "0"], ["ge", ["sinh", a], a]), _if(["le", a, "0"], ["le", ["sinh", a], a]))


def circle(a: Tree) -> Tree:
    return ["eq", _add(_pow(["sin", a], 2), _pow(["cos", a], 2)), "1"]


def sin_bound(a: Tree) -> Tree:
    """|sin a| <= |a| and <= 1."""
    s = ["sin", a]
    return _and(["le", s, "1"], ["ge", s, "-1"], _if(["ge", a, "0"], _and(["le", s, a], ["ge", s, _minus(a)])),
                _if(["le", a, "0"], _and(["ge", s, a], ["le", s, _minus(a)])))


def sin_cubic(a: Tree) -> Tree:
    s, cubic = ["sin", a], _add(a, _mul("-1/6", _pow(a, 3)))
    return _and(_if(["ge", a, "0"], ["ge", s, cubic]), _if(["le", a, "0"], ["le", s, cubic]))


def cos_bound(a: Tree) -> Tree:
    c, square = ["cos", a], _add("1", _mul("-1/2", _pow(a, 2)))
    return _and(["le", c, "1"], ["ge", c, "-1"], ["ge", c, square],
                ["le", c, _add(square, _mul("1/24", _pow(a, 4)))])


def trig_double(c: Tree, a: Tree) -> Tree:
    return _if(["eq", c, _mul("2", a)], _and(["eq", ["sin", c], _mul("2", ["sin", a], ["cos", a])],
                                             ["eq", ["cos", c], _add("1", _mul("-2", _pow(["sin", a], 2)))]))


def trig_sum(c: Tree, a: Tree, b: Tree) -> Tree:
    s, t = ["sin", a], ["cos", a]
    u, v = ["sin", b], ["cos", b]
    return _if(["eq", c, _add(a, b)], _and(["eq", ["sin", c], _add(_mul(s, v), _mul(t, u))],
                                           ["eq", ["cos", c], _add(_mul(t, v), _mul("-1", s, u))]))


def even(f: Tree, a: Tree, b: Tree) -> Tree:
    head = _name(f, ("cos", "cosh"))
    return _if(["eq", _add(a, b), "0"], ["eq", [head, a], [head, b]])


def atan_bound(a: Tree) -> Tree:
    t = ["atan", a]
    return _and(["lt", _mul("2", t), PI_HIGH], ["gt", _mul("2", t), _minus(PI_HIGH)],
                _if(["ge", a, "0"], ["le", t, a]), _if(["le", a, "0"], ["ge", t, a]))


def acos_bound(a: Tree) -> Tree:
    """0 <= acos a <= pi, acos a <= pi/2 for a >= 0, acos a >= 1 - a there."""
    inside = _and(["ge", a, "-1"], ["le", a, "1"])
    c = ["acos", a]
    return _if(inside, _and(["ge", c, "0"], ["le", c, PI_HIGH], _if(["ge", a, "0"], ["le", _mul("2", c), PI_HIGH]),
                            _if(["ge", a, "0"], ["ge", c, _add("1", _minus(a))])))


def inverse_range(f: Tree, a: Tree) -> Tree:
    """The values of asin, acos and atan, in terms of pi."""
    head = _name(f, ("asin", "acos", "atan"))
    value = [head, a]
    if head == "atan":
        return _and(["lt", _mul("2", value), ["pi"]], ["gt", _mul("2", value), _minus(["pi"])])
    low: Tree = _minus(["pi"]) if head == "asin" else "0"
    high = ["pi"] if head == "asin" else _mul("2", ["pi"])
    inside = _and(["ge", a, "-1"], ["le", a, "1"])
    return _if(inside, _and(["ge", _mul("2", value), low], ["le", _mul("2", value), high]))


def erf_bound(a: Tree) -> Tree:
    return _and(["lt", ["erf", a], "1"], ["gt", ["erf", a], "-1"])


def pi_bounds() -> Tree:
    return _and(["gt", ["pi"], PI_LOW], ["lt", ["pi"], PI_HIGH])


def digamma_binet(a: Tree) -> Tree:
    """log a - 1/a < digamma a < log a - 1/(2a), written without fractions."""
    gap = _mul(a, _add(["digamma", a], _minus(["log", a])))
    return _if(_pos(a), _and(["gt", gap, "-1"], ["lt", gap, "-1/2"],
                             ["gt", _mul(a, gap), _add(_mul("-1/2", a), "-1/12")]))


def trigamma_series(a: Tree) -> Tree:
    """1/a + 1/(2a^2) < trigamma a < 1/a + 1/(2a^2) + 1/(6a^3)."""
    cubed = _mul(_pow(a, 3), ["polygamma", "1", a])
    low = _add(_pow(a, 2), _mul("1/2", a))
    return _if(_pos(a), _and(["gt", cubed, low], ["lt", cubed, _add(low, "1/6")]))


# --- powers ----------------------------------------------------------------------------------------------------------
def power_increasing(n: Tree, a: Tree, b: Tree) -> Tree:
    k = str(_small(n))
    return _if(_and(["ge", a, "0"], ["lt", a, b]), ["lt", ["pow", a, k], ["pow", b, k]])


def power_above_one(n: Tree, m: Tree, a: Tree) -> Tree:
    """a >= 1 and n <= m: a^n <= a^m."""
    k, l = _small(n), _small(m)
    if k > l:
        raise ValueError(f"power_above_one needs {k} <= {l}")
    return _if(["ge", a, "1"], _and(["ge", ["pow", a, str(k)], "1"], ["le", ["pow", a, str(k)], ["pow", a, str(l)]]))


def power_positive(n: Tree, a: Tree) -> Tree:
    return _if(_pos(a), _pos(["pow", a, str(_small(n))]))


def enclosure(f: Tree, at: Tree, low: Tree, high: Tree) -> Tree:
    """low <= f(at) <= high at a rational point; the checker evaluates f there."""
    value = [_name(f, ("exp", "log", "sin", "cos", "tanh", "sinh", "cosh", "atan")), at]
    _enclosed(value, number(low), number(high))
    return _and(["ge", value, low], ["le", value, high])


def _enclosed(tree: Tree, low: Fraction, high: Fraction) -> None:
    from proofs_checks.harness.checkers._values import enclose

    a, b = enclose(tree, {})
    if not (low <= a and b <= high):
        raise ValueError(f"enclosure: {tree} is not shown to lie in [{low}, {high}]")


def _small(n: Tree) -> int:
    k = number(n)
    if k.denominator != 1 or not 1 <= k <= 1000:
        raise ValueError(f"{n!r} must be an integer from 1 to 1000")
    return int(k)


def _name(f: Tree, allowed: tuple[str, ...]) -> str:
    if f not in allowed:
        raise ValueError(f"{f!r} is none of {', '.join(allowed)}")
    return str(f)


SCHEMAS: dict[str, Callable[..., Tree]] = {schema.__name__: schema for schema in (
    exp_positive, exp_tangent, exp_tangent_strict, exp_reciprocal, exp_second, exp_third, exp_opposite, exp_sum,
    exp_multiple, exp_log, exp_of, log_exp, log_exp_max, log_upper, log_lower, log_strict, log_product, log_power,
    log_one, log_sign, increasing, same, odd, even, sign_of, sinh_exp, cosh_exp, tanh_exp, hyperbolic,
    hyperbolic_double, tanh_bound, sinh_tangent, circle, sin_bound, sin_cubic, cos_bound, trig_double, trig_sum,
    atan_bound, acos_bound, inverse_range, erf_bound, pi_bounds, digamma_binet, trigamma_series, power_increasing,
    power_above_one, power_positive, enclosure)}


def instance(item: Any) -> Tree:
    """The relation that an instance [name, argument, ...] stands for. ValueError if it is no instance."""
    if not isinstance(item, list) or not item or item[0] not in SCHEMAS:
        raise ValueError(f"{item!r} is no instance of a known schema")
    return SCHEMAS[item[0]](*item[1:])

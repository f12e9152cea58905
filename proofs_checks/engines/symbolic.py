"""Identities between expressions: an exact counterexample first, then normal forms, sympy's simplifier last."""
from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import islice, product
from typing import Any

from proofs_checks.engines._cases import Predicate, exact, show, truth
from proofs_checks.engines._own_numbers import tried
from proofs_checks.harness import trees
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict
from proofs_checks.harness.fingerprint import describe

__all__ = ["equal"]

Side = Any  # a sympy expression, a number, or a callable of the symbols
POLYNOMIAL = "polynomial normal form is zero"
_FLOATS: list[tuple[int, list[float]]] = []  # by thread
_USUAL: list[Any] = []
_LOCK = threading.RLock()
POINTS = 400  # rational points tried for a refutation
_VALUES = (*(Fraction(1, n) for n in (2, 3)), Fraction(2, 5), Fraction(3, 7), *map(Fraction, (1, 2, 3, 5, 7, 4, 0, -1)),
           Fraction(-1, 2), *map(Fraction, (-2, -3, 9, 16)), Fraction(5, 3))
_ASSUMPTIONS = ("integer", "even", "odd", "positive", "negative", "nonnegative", "nonpositive", "nonzero", "zero")
_WIDE = ("real", "complex", "finite", "commutative", "hermitian", "extended_real")


class _NoSymbols(Exception):
    """A side that takes numbers but no symbols, for instance because it is defined by cases."""


def equal(lhs: Side, rhs: Side, symbols: Any, *, given: Predicate | None = None, universal: bool = False) -> Check:
    """`lhs == rhs` for every value of the symbols that their assumptions (and `given`) allow.

    A side that is callable is applied to the symbols by the engine; one that takes no symbols is UNDECIDED. Proof: the
    difference has normal form zero (numerator of the difference expanded, then powers combined, then `simplify`).
    Refutation: a point with different exact values. `universal=True` says that the symbols range over the claim's
    whole domain. ValueError if `symbols` is empty or holds something that is not a sympy Symbol."""
    names = _as_symbols(symbols)

    def decide(context: Context) -> Evidence:
        sides = [side for side in (lhs, rhs) if _is_function(side)]
        return tried(_decide(lhs, rhs, names, given, universal), sides, [s.name for s in names], at,
                     lambda point: all(map(_allows, names, point)), symbols=names,
                     apply=lambda side, values: side(*map(_as_integer, names, values)))

    def at(witness: Mapping[str, Any]) -> bool:
        point = exact(dict(witness))
        if not all(_allows(s, Fraction(point[s.name])) for s in names):
            return True  # the statement says nothing there
        outside = given is not None and not truth(given, tuple(point[s.name] for s in names))
        return outside or _agree(lhs, rhs, names, point)

    def binds(certificate: Mapping[str, Any]) -> bool:
        return _binds(certificate, lhs, rhs, names)

    return Check(engine="symbolic", rung=Rung.SYMBOLIC, decide=decide, at=at, binds=binds,
                 subject=lambda: _subject(lhs, rhs, names, given))


def _as_symbols(symbols: Any) -> tuple[Any, ...]:
    from sympy import Symbol

    found = tuple(symbols) if isinstance(symbols, Sequence | set | frozenset) else (symbols,)
    if not found or not all(isinstance(s, Symbol) for s in found):
        raise ValueError(f"symbols={symbols!r} must be one or more sympy Symbols")
    if len({s.name for s in found}) < len(found):
        raise ValueError(f"symbols={symbols!r} must have different names")
    return found


def _is_function(side: Side) -> bool:
    """Whether a side is to be applied; a sympy Symbol is callable, yet an expression."""
    from sympy import Basic, Lambda

    return callable(side) and (not isinstance(side, Basic) or isinstance(side, Lambda))


def _expression(side: Side, symbols: tuple[Any, ...]) -> Any:
    from sympy import sympify

    if not _is_function(side):
        return sympify(side)
    try:
        return sympify(side(*symbols))
    except Exception as error:  # a side defined by cases, by loops over range(k), ...: no fault of the statement
        raise _NoSymbols(f"a side takes no symbols ({type(error).__name__}: {error})") from error


def _subject(lhs: Side, rhs: Side, symbols: tuple[Any, ...], given: Predicate | None) -> dict[str, Any]:
    statement = _statement(lhs, rhs, symbols)
    words = [[s.name, [k for k in _ASSUMPTIONS if s.assumptions0.get(k)]] for s in symbols]
    sides = None if statement else [describe(lhs), describe(rhs)]  # what has no tree is told by its code
    return {"engine": "symbolic.equal", "statement": statement, "sides": sides, "symbols": words,
            "integers": [s.name for s in symbols if s.is_integer], "given": None if given is None else describe(given)}


def _statement(lhs: Side, rhs: Side, symbols: tuple[Any, ...]) -> Any:
    """The equation as a tree, or None where a side takes no symbols or has no tree."""
    try:
        return ["eq", *(trees.to_tree(_expression(side, symbols)) for side in (lhs, rhs))]
    except (_NoSymbols, ValueError):
        return None


def _decide(lhs: Side, rhs: Side, symbols: tuple[Any, ...], given: Predicate | None, universal: bool) -> Evidence:
    scope = f"all {', '.join(s.name + _assumed(s) for s in symbols)}"
    refuted = _refutation(lhs, rhs, symbols, given, scope)
    if refuted is not None:
        return refuted
    try:
        left, right = _expression(lhs, symbols), _expression(rhs, symbols)
    except _NoSymbols as reason:
        return Evidence(rung=Rung.SYMBOLIC, verdict=Verdict.UNDECIDED, scope=scope,
                        summary=f"{reason}; no difference at the points tried")
    if unknown := (left.free_symbols | right.free_symbols) - set(symbols):
        raise ValueError(f"symbols={symbols!r} must name every symbol of the sides; {min(map(str, unknown))} is missing")
    if any(_rounds(side, value, symbols) for side, value in ((lhs, left), (rhs, right))):
        return Evidence(rung=Rung.SYMBOLIC, verdict=Verdict.UNDECIDED, scope=scope,
                        summary="a side computes in floats, whose identities prove nothing; write rationals")
    method = _zero(left - right)
    if method is None:
        return Evidence(rung=Rung.SYMBOLIC, verdict=Verdict.UNDECIDED, scope=scope,
                        summary=f"the difference has no normal form that sympy finds, and {_at_points(lhs, rhs, symbols)}")
    certificate = _identity(left, right, symbols)
    return Evidence(rung=Rung.SYMBOLIC, verdict=Verdict.HOLDS, universal=universal, scope=scope, certificate=certificate,
                    summary=method if certificate else f"{method}; no certificate, as the {_untold(left, right)}",
                    trusted_base=() if method == POLYNOMIAL else ("sympy",))


def _at_points(lhs: Side, rhs: Side, symbols: tuple[Any, ...]) -> str:
    """What was seen at the points tried."""
    points = (dict(zip((s.name for s in symbols), point, strict=True)) for point in islice(_points(symbols), POINTS))
    if any(_values(lhs, rhs, symbols, values) is not None for values in points):
        return "is zero at every point tried"
    return "its sides have no two exact values at any point tried: a side must take numbers in place of its symbols"


def _untold(left: Any, right: Any) -> str:
    """Why an identity has no tree."""
    try:
        return f"statement {trees.to_tree(left)} = {trees.to_tree(right)} has no tree"
    except ValueError as reason:
        return str(reason)


def _rounds(side: Side, expression: Any, symbols: tuple[Any, ...]) -> bool:
    """Whether a side has floats, or makes some on the way from exact numbers to its value."""
    from sympy import Float, Rational

    if expression.has(Float):
        return True
    if not _is_function(side):
        return False
    point = next(_points(symbols))
    try:
        with _floats() as met:
            side(*symbols)
            found = side(*(Rational(v.numerator, v.denominator) for v in point))
    except (ArithmeticError, ValueError, TypeError, AttributeError, IndexError):
        return bool(met)
    return bool(met) or isinstance(found, float) or (hasattr(found, "has") and found.has(Float))


@contextmanager
def _floats() -> Iterator[list[float]]:
    """The floats that sympy is given meanwhile: (v + 1e300) - 1e300 shows none in its value, and has lost v to rounding.

    sympy is changed once, however many threads look; a thread without a list of its own was started by a function."""
    from sympy.core.sympify import _sympy_converter as converters

    met: list[float] = []
    me = threading.get_ident()

    def noted(x: float) -> Any:
        if math.isfinite(x):  # sympy compares with float("inf") on its own account, and rounds nothing there
            mine = [held for owner, held in _FLOATS if owner == threading.get_ident()]
            for held in mine or [held for _, held in _FLOATS]:
                held.append(x)
        return _USUAL[0](x)

    with _LOCK:
        if not _FLOATS:
            _USUAL[:] = [converters[float]]
            converters[float] = noted
        _FLOATS.append((me, met))
    try:
        yield met
    finally:
        with _LOCK:
            _FLOATS[:] = [other for other in _FLOATS if other[1] is not met]
            if not _FLOATS:
                converters[float] = _USUAL[0]


def _assumed(symbol: Any) -> str:
    """What its author assumed of a symbol, but for what is true of every number tried."""
    words = sorted(k if v else f"not {k}" for k, v in symbol._assumptions_orig.items() if not (v and k in _WIDE))
    return f" ({', '.join(words)})" if words else ""


def _zero(difference: Any) -> str | None:
    """How the difference is shown to be zero, or None."""
    from sympy import expand, expand_power_base, fraction, powsimp, simplify, together

    top = fraction(together(difference))[0]
    if difference.is_rational_function() and all(n.is_Rational for n in difference.atoms() if n.is_number):
        return POLYNOMIAL if expand(top) == 0 else None
    if powsimp(expand(expand_power_base(top, force=False))) == 0:
        return "zero after expanding and combining powers"
    return "zero by sympy.simplify" if simplify(top) == 0 else None


def _identity(left: Any, right: Any, symbols: tuple[Any, ...]) -> dict[str, Any] | None:
    statement = _statement(left, right, symbols)
    if statement is None:
        return None
    words = {s.name: [k for k in _ASSUMPTIONS if s.assumptions0.get(k)] for s in symbols}
    return {"kind": "identity", "engine": "symbolic", "variables": words, "statement_tree": statement}


def _refutation(lhs: Side, rhs: Side, symbols: tuple[Any, ...], given: Predicate | None, scope: str
                ) -> Evidence | None:
    for point in islice(_points(symbols), POINTS):
        values = {s.name: v for s, v in zip(symbols, point, strict=True)}
        if given is not None and not truth(given, point):
            continue
        sides = _values(lhs, rhs, symbols, values)
        if sides is not None and sides[0] != sides[1]:
            return Evidence(rung=Rung.SYMBOLIC, verdict=Verdict.REFUTED, scope=scope, witness=values,
                            summary=f"lhs {show(sides[0])}, rhs {show(sides[1])} at {show(values)}",
                            certificate=None if given else _counterexample(lhs, rhs, symbols, values))
    return None


def _counterexample(lhs: Side, rhs: Side, symbols: tuple[Any, ...], values: Mapping[str, Fraction]
                    ) -> dict[str, Any] | None:
    """A certificate of kind "witness" where the standard library can evaluate both sides."""
    subject = _subject(lhs, rhs, symbols, None)
    try:
        if subject["statement"] is None or trees.holds(subject["statement"], values):
            return None
    except (ValueError, ArithmeticError):
        return None
    return {"kind": "witness", "engine": "symbolic", "subject": subject, "point": {k: str(v) for k, v in values.items()}}


def _points(symbols: tuple[Any, ...]) -> Iterator[tuple[Fraction, ...]]:
    """Small exact points that the assumptions allow, the simplest first."""
    allowed = [[v for v in _VALUES if _allows(s, v)] for s in symbols]
    if empty := [s.name for s, values in zip(symbols, allowed, strict=True) if not values]:
        raise ValueError(f"symbols: no small rational satisfies the assumptions of {empty[0]}")
    for size in range(1, len(_VALUES) + 1):
        heads = [a[:size] for a in allowed]
        for point in islice(product(*heads), 4 * POINTS):
            if size == 1 or any(len(h) == size and v == h[-1] for h, v in zip(heads, point, strict=True)):
                yield point


def _allows(symbol: Any, value: Fraction) -> bool:
    from sympy import Rational

    number = Rational(value.numerator, value.denominator)
    return all(getattr(number, f"is_{k}", None) is not (not v) for k, v in symbol.assumptions0.items())


def _values(lhs: Side, rhs: Side, symbols: tuple[Any, ...], values: Mapping[str, Fraction]) -> tuple[Any, Any] | None:
    """Exact values of both sides, or None where one is undefined or not known exactly to differ."""
    left, right = (_value(side, symbols, values) for side in (lhs, rhs))
    if left is None or right is None:
        return None
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left, right
    return _irrational(left, right)


def _value(side: Side, symbols: tuple[Any, ...], values: Mapping[str, Fraction]) -> Any:
    """A Fraction, a sympy number, or None where the side has no finite real value."""
    from sympy import Rational

    point = list(map(_as_integer, symbols, values.values()))
    try:
        if not _is_function(side):
            return _rational(_substituted(side, symbols, values))
        with _floats() as met:
            found = _rational(side(*point))
            if found is None and not met:  # a quotient of ints, a power of Fractions: floats in Python, exact in sympy
                found = _rational(side(*(Rational(v.numerator, v.denominator) for v in point)))
        return None if met else found
    except (ArithmeticError, ValueError, TypeError, AttributeError, IndexError):
        return None


def _as_integer(symbol: Any, value: Any) -> Any:
    """An int where an integer is meant."""
    return int(value) if symbol.is_integer and isinstance(value, Fraction) else value


def _rational(value: Any) -> Any:
    """The exact value; None where there is none: floats are rounded, and refute nothing."""
    from sympy import Float, Rational, sympify

    if isinstance(value, int | Fraction):
        return Fraction(value)
    if isinstance(value, float):
        return None
    number = sympify(value)
    if number.has(Float):
        return None
    if isinstance(number, Rational):
        return Fraction(int(number.p), int(number.q))
    real = number.is_number and number.is_extended_real is not False and number.is_finite is not False
    return number if real else None


def _substituted(side: Side, symbols: tuple[Any, ...], values: Mapping[str, Fraction]) -> Any:
    from sympy import Rational, sympify

    return sympify(side).subs({s: Rational(values[s.name].numerator, values[s.name].denominator) for s in symbols})


def _irrational(left: Any, right: Any) -> tuple[Any, Any] | None:
    """The two values where 50 digits tell them apart; None otherwise."""
    from sympy import Float, sympify
    from sympy.core.evalf import PrecisionExhausted

    sides = [sympify(v) for v in (left, right)]
    try:
        gap = (sides[0] - sides[1]).evalf(30, strict=True, maxn=200)
    except (PrecisionExhausted, ValueError, ZeroDivisionError):
        return None
    return (sides[0], sides[1]) if isinstance(gap, Float) and abs(gap) > Float("1e-20") else None


def _agree(lhs: Side, rhs: Side, symbols: tuple[Any, ...], point: Mapping[str, Any]) -> bool:
    """Whether the sides agree at a point: callables called with exact numbers, and, where these give no exact values, trees
    walked by the standard library."""
    values = {s.name: Fraction(point[s.name]) for s in symbols}
    found = _values(lhs, rhs, symbols, values)
    if found is not None:
        return bool(found[0] == found[1])
    try:
        left, right = (trees.evaluate(trees.to_tree(_expression(side, symbols)), values) for side in (lhs, rhs))
        return left == right
    except (_NoSymbols, ValueError, ArithmeticError):
        return True


def _binds(certificate: Mapping[str, Any], lhs: Side, rhs: Side, symbols: tuple[Any, ...]) -> bool:
    """Whether the certified sides take the values of this check's own sides at 20 rational points."""
    for point in islice(_points(symbols), 20):
        values = {s.name: v for s, v in zip(symbols, point, strict=True)}
        for tree, side in zip(certificate["statement_tree"][1:], (lhs, rhs), strict=True):
            own = _value(side, symbols, values)
            try:
                certified: Any = trees.evaluate(tree, values)
            except (ValueError, ArithmeticError):
                continue
            if isinstance(own, Fraction) and own != certified:
                return False
    return True

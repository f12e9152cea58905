"""Identities: both sides expanded as rational functions in exact arithmetic; where a side is not one (a power with a
symbolic exponent, a function), the sides are compared at rational points instead, and the answer says so."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from typing import Any

from proofs_checks.harness import trees
from proofs_checks.harness.checkers._subject import only
from proofs_checks.harness.checkers._values import enclose
from proofs_checks.harness.recheck import CertificateError

__all__ = ["check"]

Poly = dict[tuple[tuple[str, int], ...], Fraction]  # monomial -> coefficient
ONE: Poly = {(): Fraction(1)}
TERMS = 200_000  # products beyond this size are refused rather than waited for
DEGREE = 1000  # and so are powers of a sum beyond this exponent,
BITS = 100_000  # coefficients beyond this size,
WORK = 5_000_000  # and expansions that take more products than this, long numbers counted by their length
POINTS = 24
_INTEGERS = tuple(map(Fraction, (1, 2, 3, 5, 0, -1, 4, -2)))
_RATIONALS = (*(Fraction(1, n) for n in (2, 3, -2)), Fraction(2, 5), Fraction(3, 7), Fraction(2), Fraction(5, 3))

_spent = [0]  # work of the check that is under way


class _NotRational(ValueError):
    """The side is not a rational function of the variables."""


def check(certificate: Mapping[str, Any]) -> str:
    """How the identity was confirmed. `CertificateError` if the sides differ, or are not those of the statement."""
    only(certificate, "variables", "statement_tree")
    _spent[0] = 0
    (relation, lhs, rhs), kinds = certificate["statement_tree"], certificate["variables"]
    if relation != "eq":
        raise CertificateError(f"{relation!r} is not an equation")
    own = [s for s in certificate["subjects"] if isinstance(s, dict) and s.get("statement") == [relation, lhs, rhs]]
    if not own:
        raise CertificateError("the equation is not that of the statement's own subject")
    if unknown := set(trees.variables(lhs) + trees.variables(rhs)) - set(kinds):
        raise CertificateError(f"variable {sorted(unknown)[0]!r} is not declared")
    assumed = {name: words for name, words in kinds.items() if words}
    if not any({name: words for name, words in s.get("symbols", ()) if words} == assumed for s in own):
        raise CertificateError("the assumptions on the variables are not those of the statement's own subject")
    try:
        (a, b), (c, d) = _fraction(lhs), _fraction(rhs)
    except _NotRational:
        return _at_points(lhs, rhs, kinds)
    if _add(_times(a, d), {m: -v for m, v in _times(c, b).items()}):
        raise CertificateError("the sides differ as rational functions")
    return "expanded"


def _at_points(lhs: Any, rhs: Any, kinds: Mapping[str, Any]) -> str:
    compared = 0
    for values in islice(_points(kinds), 10 * POINTS):
        agree = _agree(lhs, rhs, values)
        if agree is False:
            raise CertificateError(f"the sides differ at {({k: str(v) for k, v in values.items()})}")
        if agree is None:
            continue
        compared += 1
        if compared == POINTS:
            break
    if not compared:
        raise CertificateError("not a rational function, and no rational point where both sides can be enclosed")
    return f"compared at {compared} rational points; the proof itself is sympy's"


def _agree(lhs: Any, rhs: Any, values: Mapping[str, Fraction]) -> bool | None:
    """Whether the sides agree at a point, by rational arithmetic or else by enclosures; None where neither can say."""
    try:
        return trees.evaluate(lhs, values) == trees.evaluate(rhs, values)
    except trees.Undefined:
        return None
    except trees.Inexact:
        pass
    try:
        low, high = enclose(["add", lhs, ["mul", "-1", rhs]], values)
    except (trees.Undefined, trees.Inexact):
        return None
    return low <= 0 <= high


def _points(kinds: Mapping[str, Any]) -> Iterator[dict[str, Fraction]]:
    choices = []
    for words in kinds.values():
        values = _INTEGERS if "integer" in words else _RATIONALS + _INTEGERS
        low = 1 if "positive" in words else 0 if "nonnegative" in words else None
        choices.append([v for v in values if low is None or (v > 0 if low else v >= 0)])
    for point in product(*choices):
        yield dict(zip(kinds, point, strict=True))


def _fraction(tree: Any) -> tuple[Poly, Poly]:
    """Numerator and denominator."""
    if not isinstance(tree, list):
        return _constant(trees.number(tree)), ONE
    head, *rest = tree
    if head == "var":
        return {((str(rest[0]), 1),): Fraction(1)}, ONE
    if head == "pow":
        return _power(*rest)
    if head not in ("add", "mul"):
        raise _NotRational(head)
    top, bottom = ({}, ONE) if head == "add" else (ONE, ONE)
    for child in rest:
        a, b = _fraction(child)
        top = _times(top, a) if head == "mul" else _add(_times(top, b), _times(a, bottom))
        bottom = _times(bottom, b)
    return top, bottom


def _power(base: Any, exponent: Any) -> tuple[Poly, Poly]:
    if isinstance(exponent, list) or trees.number(exponent).denominator != 1:
        raise _NotRational("pow")
    n = int(trees.number(exponent))
    a, b = _fraction(base)
    if n < 0:
        a, b, n = b, a, -n
        if not b:
            raise CertificateError("division by zero")
    return _raised(a, n), _raised(b, n)


def _raised(p: Poly, n: int) -> Poly:
    if len(p) == 1:  # a monomial
        (monomial, value), = p.items()
        if n * _bits(p) > BITS and abs(value) != 1:
            raise CertificateError(f"a power with exponent {n} is too large to check")
        return {tuple((name, k * n) for name, k in monomial if n): value**n}
    if n > DEGREE:
        raise CertificateError(f"the power of a sum with exponent {n} is too large to check")
    result = ONE
    for _ in range(n):
        result = _times(result, p)
    return result


def _bits(p: Poly) -> int:
    return max((max(v.numerator.bit_length(), v.denominator.bit_length()) for v in p.values()), default=0)


def _constant(value: Fraction) -> Poly:
    return {(): value} if value else {}


def _add(p: Poly, q: Poly) -> Poly:
    total = dict(p)
    for monomial, value in q.items():
        total[monomial] = total.get(monomial, Fraction(0)) + value
    return {m: v for m, v in total.items() if v}


def _times(p: Poly, q: Poly) -> Poly:
    if p == ONE or q == ONE:
        return q if p == ONE else p
    if len(p) * len(q) > TERMS:
        raise CertificateError(f"a product of {len(p)} by {len(q)} terms is too large to check")
    bits = _bits(p) + _bits(q)
    _spent[0] += len(p) * len(q) * (1 + bits**2 // 10**6)
    if bits > BITS or _spent[0] > WORK:
        raise CertificateError("the expansion is too large to check")
    total: Poly = {}
    for (m, a), (n, b) in product(p.items(), q.items()):
        powers = dict(m)
        for name, k in n:
            powers[name] = powers.get(name, 0) + k
        key = tuple(sorted(powers.items()))
        total[key] = total.get(key, Fraction(0)) + a * b
    return {m: v for m, v in total.items() if v}

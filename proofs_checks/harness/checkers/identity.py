"""Identities: both sides expanded as rational functions in exact arithmetic; where a side is not one (a power with a
symbolic exponent, a function), the sides are compared at rational points instead, and the answer says so."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from typing import Any

from proofs_checks.harness import trees
from proofs_checks.harness.recheck import CertificateError

__all__ = ["check"]

Poly = dict[tuple[tuple[str, int], ...], Fraction]  # monomial -> coefficient
ONE: Poly = {(): Fraction(1)}
TERMS = 200_000  # products beyond this size are refused rather than waited for
POINTS = 24
_INTEGERS = tuple(map(Fraction, (1, 2, 3, 5, 0, -1, 4, -2)))
_RATIONALS = (*(Fraction(1, n) for n in (2, 3, -2)), Fraction(2, 5), Fraction(3, 7), Fraction(2), Fraction(5, 3))


class _NotRational(ValueError):
    """The side is not a rational function of the variables."""


def check(certificate: Mapping[str, Any]) -> str:
    """How the identity was confirmed. `CertificateError` if the sides differ, or are not those of the statement."""
    (relation, lhs, rhs), kinds = certificate["statement_tree"], certificate["variables"]
    if relation != "eq":
        raise CertificateError(f"{relation!r} is not an equation")
    if not any(isinstance(s, dict) and s.get("statement") == [relation, lhs, rhs] for s in certificate["subjects"]):
        raise CertificateError("the equation is not that of the statement's own subject")
    if unknown := set(trees.variables(lhs) + trees.variables(rhs)) - set(kinds):
        raise CertificateError(f"variable {sorted(unknown)[0]!r} is not declared")
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
        try:
            left, right = trees.evaluate(lhs, values), trees.evaluate(rhs, values)
        except (trees.Undefined, trees.Inexact):
            continue
        if left != right:
            raise CertificateError(f"the sides differ at {({k: str(v) for k, v in values.items()})}")
        compared += 1
        if compared == POINTS:
            break
    if not compared:
        raise CertificateError("not a rational function, and no rational point where both sides are rational")
    return f"compared at {compared} rational points; the proof itself is sympy's"


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
    top, bottom = ONE, ONE
    for _ in range(n):
        top, bottom = _times(top, a), _times(bottom, b)
    return top, bottom


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
    total: Poly = {}
    for (m, a), (n, b) in product(p.items(), q.items()):
        powers = dict(m)
        for name, k in n:
            powers[name] = powers.get(name, 0) + k
        key = tuple(sorted(powers.items()))
        total[key] = total.get(key, Fraction(0)) + a * b
    return {m: v for m, v in total.items() if v}

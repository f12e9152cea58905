"""Exact truth of a relation at a point whose coordinates are rational or closed forms. Standard library only.

Three ways in turn: rational arithmetic; a normal form (rational combinations of powers of primes and of opaque closed
forms) in which a difference that vanishes is zero; rational enclosures with growing precision, which settle what is
not zero. What none settles raises `Inexact`: it is never guessed."""
from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.harness.trees import RELATIONS, Inexact, Tree, Undefined, evaluate, number, substitute

__all__ = ["enclose", "normal_form", "sign", "truth"]

PRECISIONS = (96, 400, 1600)
_TRIAL = 10_000  # primes up to here are split off; what is left is one atom
Monomial = frozenset[tuple[str, Fraction]]


def truth(relation: Tree, values: Mapping[str, Tree]) -> bool:
    """Whether the relation is true at the point. `Undefined` where it has no value, `Inexact` if undetermined."""
    head, *rest = relation
    if head in ("true", "false"):
        return bool(head == "true")
    if head in ("and", "or"):
        parts = [truth(part, values) for part in rest]
        return all(parts) if head == "and" else any(parts)
    if head == "not":
        return not truth(rest[0], values)
    if head == "implies":
        return not truth(rest[0], values) or truth(rest[1], values)
    if head not in RELATIONS:
        raise ValueError(f"tree: unknown relation {head!r}")
    left, right = (substitute(side, values) for side in rest)
    return bool(RELATIONS[head](sign(["add", left, ["mul", "-1", right]]), 0))


def sign(tree: Tree) -> int:
    """The sign of a tree without variables."""
    try:
        value = evaluate(tree, {})
        return (value > 0) - (value < 0)
    except Inexact:
        pass
    for bits in PRECISIONS:
        low, high = enclose(tree, {}, bits)
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        if bits == PRECISIONS[0] and not normal_form(tree):
            return 0
    raise Inexact(f"the sign of {json.dumps(tree)[:200]} is not determined with {PRECISIONS[-1]} bits")


def enclose(tree: Tree, values: Mapping[str, Any], bits: int = 96) -> tuple[Fraction, Fraction]:
    """Rational bounds of a tree at a point. `Undefined` only where the rules of `trees` say so, else `Inexact`."""
    from proofs_checks.harness.enclosures import Undetermined
    from proofs_checks.harness.enclosures import evaluate as bounds

    try:
        found = bounds(tree, {name: (Fraction(value), Fraction(value)) for name, value in values.items()}, bits=bits)
    except (Undetermined, Undefined) as error:
        raise Inexact(str(error)) from None  # an enclosure that touches the domain's edge proves nothing
    if isinstance(found.lo, float) or isinstance(found.hi, float):
        raise Inexact("no finite enclosure")
    return found.lo, found.hi


def normal_form(tree: Tree) -> dict[Monomial, Fraction]:
    """The value as sum of coefficient * product of atoms**exponent; {} means zero, anything else may still be zero."""
    if not isinstance(tree, list):
        return _constant(number(tree))
    try:
        return _constant(evaluate(tree, {}))
    except Inexact:
        pass
    head, *rest = tree
    if head == "add":
        total: dict[Monomial, Fraction] = {}
        for part in rest:
            for monomial, coefficient in normal_form(part).items():
                total[monomial] = total.get(monomial, Fraction(0)) + coefficient
        return {m: c for m, c in total.items() if c}
    if head == "mul":
        product = _constant(Fraction(1))
        for part in rest:
            product = _times(product, normal_form(part))
        return product
    if head == "pow" and isinstance(rest[1], str):
        return _power(rest[0], number(rest[1]))
    canonical = [head, *(_written(normal_form(part)) if isinstance(part, list) else part for part in rest)]
    return {frozenset([(json.dumps(canonical), Fraction(1))]): Fraction(1)}


def _constant(x: Fraction) -> dict[Monomial, Fraction]:
    return {frozenset(): x} if x else {}


def _times(a: Mapping[Monomial, Fraction], b: Mapping[Monomial, Fraction]) -> dict[Monomial, Fraction]:
    if len(a) * len(b) > 2000:
        raise Inexact("the closed form has too many terms")
    total: dict[Monomial, Fraction] = {}
    for m, c in a.items():
        for n, d in b.items():
            monomial, factor = _reduced({**dict(m)}, n)
            total[monomial] = total.get(monomial, Fraction(0)) + c * d * factor
    return {m: c for m, c in total.items() if c}


def _reduced(powers: dict[str, Fraction], more: Monomial) -> tuple[Monomial, Fraction]:
    """A product of monomials with the integer parts of powers of primes moved into the coefficient."""
    for atom, exponent in more:
        powers[atom] = powers.get(atom, Fraction(0)) + exponent
    factor = Fraction(1)
    for atom, exponent in list(powers.items()):
        whole = exponent.numerator // exponent.denominator
        if atom.isdigit() and whole:
            factor *= Fraction(int(atom)) ** whole
            powers[atom] = exponent - whole
    return frozenset((atom, exponent) for atom, exponent in powers.items() if exponent), factor


def _power(base: Tree, exponent: Fraction) -> dict[Monomial, Fraction]:
    form = normal_form(base)
    if exponent.denominator == 1 and 0 <= exponent <= 12:
        product = _constant(Fraction(1))
        for _ in range(int(exponent)):
            product = _times(product, form)
        return product
    if len(form) == 1:
        (monomial, coefficient), = form.items()
        roots_only = all(atom.isdigit() for atom, _ in monomial)
        if coefficient > 0 and (roots_only or exponent.denominator == 1):  # positive, so that (a b)^c = a^c b^c
            powers = {atom: power * exponent for atom, power in monomial}
            for prime, power in _factors(coefficient).items():
                powers[prime] = powers.get(prime, Fraction(0)) + power * exponent
            reduced, factor = _reduced(powers, frozenset())
            return {reduced: factor}
    atom = json.dumps(["pow", _written(form), str(exponent)])
    return {frozenset([(atom, Fraction(1))]): Fraction(1)}


def _factors(x: Fraction) -> dict[str, int]:
    found: dict[str, int] = {}
    for n, direction in ((x.numerator, 1), (x.denominator, -1)):
        p = 2
        while p * p <= n and p < _TRIAL:
            while n % p == 0:
                found[str(p)] = found.get(str(p), 0) + direction
                n //= p
            p += 1
        if n > 1:
            found[str(n)] = found.get(str(n), 0) + direction
    return found


def _written(form: Mapping[Monomial, Fraction]) -> list[Any]:
    """A canonical text of a normal form, for the names of atoms."""
    return sorted([str(c), sorted([atom, str(power)] for atom, power in m)] for m, c in form.items())

"""Exact truth of a relation at a point whose coordinates are rational or closed forms. Standard library only.

Three ways in turn: rational arithmetic; a normal form (rational combinations of powers of primes and of opaque closed
forms) in which a difference that vanishes is zero; rational enclosures with growing precision, which settle what is
not zero. What none settles raises `Inexact`: it is never guessed."""
from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.harness.trees import RELATIONS, Inexact, Tree, Undefined, evaluate, number, substitute, variables, walk

__all__ = ["enclose", "forbid_open_powers", "normal_form", "sign", "truth", "whole"]

PRECISIONS = (96, 400, 1600)
_TRIAL = 10_000  # primes up to here are split off; what is left is one atom
Monomial = frozenset[tuple[str, Fraction]]
_SPECIAL = ("sin", "cos", "tan", "asin", "acos", "atan", "exp", "log")
_TURNS: dict[str, dict[Any, Fraction]] = {  # parts of pi
    "asin": {0: Fraction(0), Fraction(1, 2): Fraction(1, 6), 1: Fraction(1, 2)},
    "acos": {0: Fraction(1, 2), Fraction(1, 2): Fraction(1, 3), 1: Fraction(0)},
    "atan": {0: Fraction(0), 1: Fraction(1, 4)}}
_E, _PI = '["E"]', '["pi"]'  # atoms that are positive


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


def forbid_open_powers(relation: Tree, values: Mapping[str, Tree], integers: Collection[str]) -> None:
    """`Undefined` where 0 is raised to an exponent that is 0 at the point but real elsewhere.

    0**0 is 1 for a written exponent and for one made of integer variables, as in polynomials; a real power needs a
    positive base."""
    for node in walk(relation):
        if not isinstance(node, list) or node[0] != "pow" or whole(node[2], integers):
            continue
        try:
            if all(evaluate(substitute(part, values), {}) == 0 for part in node[1:]):
                raise Undefined("0 to the power 0, where the exponent is not an integer throughout")
        except Inexact:
            continue


def whole(exponent: Tree, integers: Collection[str]) -> bool:
    """Whether an exponent is a written number, or a sum of products of integers and variables that are integers."""
    if not isinstance(exponent, list):
        return True
    plain = all(node[0] in ("add", "mul", "var") if isinstance(node, list) else "/" not in node for node in walk(exponent))
    return plain and set(variables(exponent)) <= set(integers)


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
    if head == "E":
        return {frozenset([(_E, Fraction(1))]): Fraction(1)}
    known = _at_special_points(head, rest[0]) if rest and head in _SPECIAL else None
    if known is not None:
        return known
    canonical = [head, *(_written(normal_form(part)) if isinstance(part, list) else part for part in rest)]
    return {frozenset([(json.dumps(canonical), Fraction(1))]): Fraction(1)}


def _at_special_points(head: str, arg: Tree) -> dict[Monomial, Fraction] | None:
    """sin, cos and tan at multiples of pi/6 and pi/4, their inverses at 0, 1/2 and 1, exp of rationals, log of products of
    powers of e and of rationals; None elsewhere."""
    inverse = {"exp": "log", "log": "exp"}.get(head)
    if inverse and isinstance(arg, list) and arg[0] == inverse:
        return normal_form(arg[1])
    form = normal_form(arg)
    if head in ("asin", "acos", "atan"):
        at = form.get(frozenset(), Fraction(0)) if set(form) <= {frozenset()} else Fraction(7)
        turn = _TURNS[head].get(abs(at))
        if turn is None:
            return None
        turn = (1 - turn if head == "acos" else -turn) if at < 0 else turn
        return {frozenset([(_PI, Fraction(1))]): turn} if turn else {}
    if head == "exp":
        if set(form) <= {frozenset()}:
            power = form.get(frozenset(), Fraction(0))
            return {frozenset([(_E, power)]) if power else frozenset(): Fraction(1)}
        return None
    if head == "log":
        return _logarithm(form)
    if set(form) - {frozenset([(_PI, Fraction(1))])}:
        return None
    turn = form.get(frozenset([(_PI, Fraction(1))]), Fraction(0))
    if head == "tan":
        top, bottom = _sine(turn), _sine(turn + Fraction(1, 2))
        if top is None or not bottom:
            return None
        return _times(top, _inverse(bottom))
    return _sine(turn + (Fraction(1, 2) if head == "cos" else 0))


def _logarithm(form: Mapping[Monomial, Fraction]) -> dict[Monomial, Fraction] | None:
    """log of c e^a p^b ... as log of its primes, with log e = 1; None where the argument is another sum or product."""
    if len(form) != 1:
        return None
    (monomial, coefficient), = form.items()
    if coefficient <= 0 or any(not atom.isdigit() and atom != _E for atom, _ in monomial):
        return None
    powers = [*monomial, *((p, Fraction(n)) for p, n in _factors(coefficient).items())]
    total: dict[Monomial, Fraction] = {}
    for atom, power in powers:
        name = "" if atom == _E else json.dumps(["log", _written(_constant(Fraction(atom)))])
        key = frozenset([(name, Fraction(1))]) if name else frozenset()
        total[key] = total.get(key, Fraction(0)) + power
    return {m: c for m, c in total.items() if c}


def _sine(turn: Fraction) -> dict[Monomial, Fraction] | None:
    """sin(pi * turn) where it is a rational or half a square root."""
    turn %= 2
    sign = 1 if turn < 1 else -1
    turn = min(turn % 1, 1 - turn % 1)
    values = {Fraction(0): {}, Fraction(1, 6): _constant(Fraction(1, 2)), Fraction(1, 2): _constant(Fraction(1)),
              Fraction(1, 4): {frozenset([("2", Fraction(1, 2))]): Fraction(1, 2)},
              Fraction(1, 3): {frozenset([("3", Fraction(1, 2))]): Fraction(1, 2)}}
    found = values.get(turn)
    return None if found is None else {m: sign * c for m, c in found.items()}


def _inverse(form: Mapping[Monomial, Fraction]) -> dict[Monomial, Fraction]:
    """1 over a single term."""
    (monomial, coefficient), = form.items()
    reduced, factor = _reduced({atom: -power for atom, power in monomial}, frozenset())
    return {reduced: factor / coefficient}


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
    if not form and exponent < 0:
        raise Undefined("division by zero")
    if exponent.denominator == 1 and 0 <= exponent <= 12:
        product = _constant(Fraction(1))
        for _ in range(int(exponent)):
            product = _times(product, form)
        return product
    if len(form) == 1:
        (monomial, coefficient), = form.items()
        roots_only = all(atom.isdigit() or atom in (_E, _PI) for atom, _ in monomial)
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

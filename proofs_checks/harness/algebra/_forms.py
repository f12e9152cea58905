"""Polynomials in generators as dictionaries, quotients as `Form`s. Standard library only."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

Monomial = tuple[tuple[int, Fraction], ...]
Poly = dict[Monomial, Fraction]
Key = tuple[tuple[Monomial, Fraction], ...]
ONE: Monomial = ()
UNIT = Fraction(1)


class Unsupported(ValueError):
    """The algebra has no rule for this, or the normal form grew too large."""


class Form(NamedTuple):
    """numerator / product of monic polynomials to positive powers."""

    top: Poly
    bottom: dict[Key, int]


def constant(q: Fraction | int) -> Form:
    """A rational number."""
    return Form({ONE: Fraction(q)} if q else {}, {})


def as_number(a: Form) -> Fraction | None:
    """The rational that a form is, None if it is not constant."""
    if not a.top:
        return Fraction(0)
    return a.top[ONE] if not a.bottom and list(a.top) == [ONE] else None


def times(a: Monomial, b: Monomial) -> Monomial:
    """Product of monomials."""
    if not a or not b:
        return a or b
    out = dict(a)
    for g, e in b:
        out[g] = out.get(g, Fraction(0)) + e
    return tuple(sorted((g, e) for g, e in out.items() if e))


def divide(a: Monomial, b: Monomial) -> Monomial:
    """Quotient of monomials."""
    return times(a, tuple((g, -e) for g, e in b))


def content(p: Iterable[Monomial]) -> Monomial:
    """The largest monomial that divides every term (with the least exponent of each generator, absent ones count 0)."""
    rows = [dict(m) for m in p]
    names = {g for row in rows for g in row}
    least = {g: min(row.get(g, Fraction(0)) for row in rows) for g in names}
    return tuple(sorted((g, e) for g, e in least.items() if e))


def merge(a: Mapping[Key, int], b: Mapping[Key, int]) -> dict[Key, int]:
    """Denominators multiplied."""
    out = dict(a)
    for k, n in b.items():
        out[k] = out.get(k, 0) + n
    return out


def poly_key(p: Poly) -> Key:
    """A polynomial as a key of dictionaries."""
    return tuple(sorted(p.items()))


def form_key(a: Form) -> Any:
    """A form as a key of dictionaries."""
    return poly_key(a.top), tuple(sorted(a.bottom.items()))


def fold(f: Any, items: list[Form]) -> Form:
    """f over several items, from the left."""
    total = items[0]
    for item in items[1:]:
        total = f(total, item)
    return total

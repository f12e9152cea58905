"""Factors of normal forms, over python-flint, and small questions about generators."""
from __future__ import annotations

from fractions import Fraction
from math import lcm

from flint import Ordering, fmpq, fmpq_mpoly_ctx

from proofs_checks.harness.algebra import Field, Form
from proofs_checks.harness.algebra._forms import Monomial, Poly

__all__ = ["coefficient_of", "factor", "generators_of", "is_constant", "mentions"]

LARGEST = 300


def factor(form: Form) -> tuple[Fraction, list[tuple[Form, int]]]:
    """(c, [(f, e), ...]) with form = c times the product of f^e; numerator and denominators against each other."""
    powers: dict[tuple[tuple[Monomial, Fraction], ...], int] = {}
    total = Fraction(1)
    for poly, n in [(form.top, 1), *((dict(key), -k) for key, k in form.bottom.items())]:
        c, parts = _factor_poly(poly)
        total *= c**n
        for part, e in parts:
            key = tuple(sorted(part.items()))
            powers[key] = powers.get(key, 0) + n * e
    return total, [(Form(dict(key), {}), e) for key, e in powers.items() if e]


def _factor_poly(p: Poly) -> tuple[Fraction, list[tuple[Poly, int]]]:
    names = sorted({g for m in p for g, _ in m})
    if not names:
        return next(iter(p.values())), []
    scale = {g: lcm(*(e.denominator for m in p for h, e in m if h == g)) for g in names}
    rows = [(dict(m), c) for m, c in p.items()]
    low = {g: min(int(row.get(g, Fraction(0)) * scale[g]) for row, _ in rows) for g in names}
    context = fmpq_mpoly_ctx.get([f"g{g}" for g in names], Ordering.lex)
    poly = context.from_dict({tuple(int(row.get(g, Fraction(0)) * scale[g]) - low[g] for g in names):
                              fmpq(c.numerator, c.denominator) for row, c in rows})
    out: list[tuple[Poly, int]] = []
    out += [({((g, Fraction(1, scale[g])),): Fraction(1)}, low[g]) for g in names if low[g]]
    if max(map(max, poly.to_dict())) > LARGEST or len(p) > LARGEST:
        return Fraction(1), [({tuple((g, Fraction(int(e), scale[g])) for g, e in zip(names, exps, strict=True) if e):
                               Fraction(int(c.p), int(c.q)) for exps, c in poly.to_dict().items()}, 1), *out]
    c, parts = poly.factor()
    total = Fraction(int(c.p), int(c.q))
    for part, e in parts:
        terms = {tuple((g, Fraction(int(k), scale[g])) for g, k in zip(names, exps, strict=True) if k):
                 Fraction(int(q.p), int(q.q)) for exps, q in part.to_dict().items()}
        lead = terms[max(terms)]
        total *= lead ** int(e)
        out.append(({m: q / lead for m, q in terms.items()}, int(e)))
    return total, out


def generators_of(form: Form) -> set[int]:
    """Generators that occur in a form, not counting those inside arguments."""
    return {g for p in (form.top, *map(dict, form.bottom)) for m in p for g, _ in m}


def mentions(field: Field, g: int, variable: str) -> bool:
    """Whether a generator depends on the variable."""
    kind, argument = field.generators[g]
    if kind == "var":
        return bool(argument == variable)
    return isinstance(argument, Form) and any(mentions(field, h, variable) for h in generators_of(argument))


def coefficient_of(form: Form, g: int) -> tuple[Form, Form] | None:
    """(A, B) with form = A + B g^e for the one exponent e of g that occurs; None if g occurs otherwise."""
    exponents = {e for m in form.top for h, e in m if h == g}
    if len(exponents) != 1 or any(h == g for key in form.bottom for m, _ in key for h, _ in m):
        return None
    rest: Poly = {}
    slope: Poly = {}
    for m, c in form.top.items():
        left = tuple(item for item in m if item[0] != g)
        (rest if left == m else slope)[left] = c
    return Form(rest, dict(form.bottom) if rest else {}), Form(slope, dict(form.bottom))


def is_constant(form: Form) -> bool:
    """Whether no generator occurs."""
    return not generators_of(form)

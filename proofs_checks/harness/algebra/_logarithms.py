"""Logarithms of products. Standard library only."""
from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from proofs_checks.harness.algebra._forms import UNIT, Form, constant, content, divide

if TYPE_CHECKING:
    from proofs_checks.harness.algebra._field import Field

_PRIMES = tuple(n for n in range(2, 100) if all(n % k for k in range(2, n)))


def split_log(field: Field, a: Form) -> Form | None:
    """log a as a sum over its factors, None unless each is shown to be of one sign."""
    if field.positive is None:
        return None
    common = content(a.top)
    rest = {divide(m, common): c for m, c in a.top.items()}
    scale, total = rest[max(rest)], constant(0)
    parts = [(Form({m: c / scale for m, c in rest.items()}, {}), 1)] if len(rest) > 1 else []
    for part, n in [*parts, *((Form(dict(key), {}), -n) for key, n in a.bottom.items())]:
        if not field.positive(field.tree(part)):
            part = field.scale(Fraction(-1), part)
            if not field.positive(field.tree(part)):
                return None
            scale = scale if n % 2 == 0 else -scale
        total = field.add(total, field.scale(Fraction(n), field.generator("log", part)))
    for g, e in common:
        kind, inner = field.generators[g]
        if kind == "exp":
            total = field.add(total, field.scale(e, inner))
            continue
        base = inner if kind == "root" else Form({((g, UNIT),): UNIT}, {})
        if not field.positive(field.tree(base)):
            return None
        total = field.add(total, field.scale(e, field.log(base) if kind == "root" else field.generator("log", base)))
    return field.add(total, _log_number(field, scale)) if scale > 0 else None


def _log_number(field: Field, c: Fraction) -> Form:
    """log of a positive rational, over small primes."""
    total = constant(0)
    for n, sign in ((c.numerator, 1), (c.denominator, -1)):
        for prime in _PRIMES:
            while n % prime == 0:
                n //= prime
                total = field.add(total, field.scale(Fraction(sign), field.generator("log", constant(prime))))
        if n > 1:
            total = field.add(total, field.scale(Fraction(sign), field.generator("log", constant(n))))
    return total

"""Signs of a univariate polynomial on an interval, exactly, by Sturm's theorem. Standard library only.

Polynomials are lists of integers or Fractions, constant term first."""
from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm

INF = float("inf")
End = Fraction | float
Coefficients = list[int]


def _primitive(p: Sequence[Fraction | int]) -> Coefficients:
    """A positive multiple with coprime integer coefficients, without leading zeros."""
    q = [Fraction(c) for c in p]
    while q and q[-1] == 0:
        q.pop()
    if not q:
        return []
    scale = lcm(*(c.denominator for c in q))
    whole = [int(c * scale) for c in q]
    common = gcd(*whole)
    return [c // common for c in whole]


def _remainder(a: Sequence[int], b: Sequence[int]) -> Coefficients:
    """A positive multiple of the remainder of a by b, primitive."""
    r = list(a)
    while len(r) >= len(b) and r:
        lead, shift = r[-1], len(r) - len(b)
        scale = abs(b[-1])
        sign = 1 if b[-1] > 0 else -1
        r = [c * scale for c in r]
        for i, c in enumerate(b):
            r[i + shift] -= sign * lead * c
        while r and r[-1] == 0:
            r.pop()
    return _primitive(r)


def _derivative(p: Sequence[int]) -> Coefficients:
    return [k * c for k, c in enumerate(p)][1:]


def _gcd(a: Coefficients, b: Coefficients) -> Coefficients:
    while b:
        a, b = b, _remainder(a, b)
    return _primitive(a)


def _quotient(a: Sequence[int], b: Sequence[int]) -> Coefficients:
    """a / b, where b divides a; sign kept, scaled to a primitive polynomial."""
    r, q = [Fraction(c) for c in a], [Fraction(0)] * (len(a) - len(b) + 1)
    for shift in range(len(a) - len(b), -1, -1):
        q[shift] = r[shift + len(b) - 1] / b[-1]
        for i, c in enumerate(b):
            r[i + shift] -= q[shift] * c
    if any(r):
        raise ArithmeticError("not a divisor")
    return _primitive(q)


def square_free_parts(p: Sequence[int]) -> list[Coefficients]:
    """[p_1, p_2, ...] with p = constant p_1 p_2^2 p_3^3 ... (Yun)."""
    parts: list[Coefficients] = []
    f = list(p)
    common = _gcd(f, _derivative(f))
    rest = _quotient(f, common)
    while len(rest) > 1:
        step = _gcd(rest, common)
        parts.append(_quotient(rest, step))
        rest, common = step, _quotient(common, step)
    return parts


def _value(p: Sequence[int], x: End) -> Fraction | int:
    """Value at a rational; at an infinite end a number of the right sign."""
    if not p:
        return 0
    if isinstance(x, float):
        return p[-1] if x > 0 or len(p) % 2 else -p[-1]
    total: Fraction = Fraction(0)
    for c in reversed(p):
        total = total * x + c
    return total


def count_roots(p: Sequence[int], lo: End, hi: End) -> int:
    """Distinct real roots of a square-free p in (lo, hi]."""
    if len(p) < 2:
        return 0
    chain = [list(p), _derivative(p)]
    while len(chain[-1]) > 1:
        r = _remainder(chain[-2], chain[-1])
        if not r:
            break
        chain.append([-c for c in r])

    def changes(x: End) -> int:
        signs = [v > 0 for v in (_value(q, x) for q in chain) if v != 0]
        return sum(a != b for a, b in pairwise(signs))
    return changes(lo) - changes(hi)


def _inside(p: Sequence[int], lo: End, hi: End) -> int:
    """Distinct roots in the open interval (lo, hi)."""
    return count_roots(p, lo, hi) - (1 if not isinstance(hi, float) and _value(p, hi) == 0 else 0)


def nonnegative_on(p: Sequence[Fraction | int], lo: End, hi: End, *, strict: bool = False, lo_open: bool = False,
                   hi_open: bool = False) -> bool:
    """Whether p >= 0 (> 0 if strict) on the interval from lo to hi; infinite ends are open."""
    f = _primitive(p)
    if not f:
        return not strict
    if lo == hi:
        return _value(f, lo) > 0 or (_value(f, lo) == 0 and not strict)
    parts = square_free_parts(f)
    if any(len(part) > 1 and _inside(part, lo, hi) for part in parts[0::2]):
        return False  # a root of odd order inside: the sign changes
    if _value(f, _sample(f, lo, hi)) < 0:
        return False
    if not strict:
        return True
    if any(len(part) > 1 and _inside(part, lo, hi) for part in parts[1::2]):
        return False
    return all(is_open or isinstance(x, float) or _value(f, x) > 0 for x, is_open in ((lo, lo_open), (hi, hi_open)))


def _sample(f: Sequence[int], lo: End, hi: End) -> Fraction:
    """A point inside where f is not 0."""
    if isinstance(lo, float) and isinstance(hi, float):
        a, b = Fraction(-1), Fraction(1)
    elif isinstance(lo, float):
        a, b = Fraction(hi) - 1, Fraction(hi)
    else:
        a, b = Fraction(lo), Fraction(lo) + 1 if isinstance(hi, float) else Fraction(hi)
    return next(x for x in (a + (b - a) * Fraction(k, len(f) + 1) for k in range(1, len(f) + 1)) if _value(f, x) != 0)


def rational_bounds(value: Fraction, digits: int = 30) -> tuple[Fraction, Fraction]:
    """Two fractions of denominator 10^digits around a value."""
    scale = 10**digits
    down = value.numerator * scale // value.denominator
    return Fraction(down, scale), Fraction(down + 1, scale)

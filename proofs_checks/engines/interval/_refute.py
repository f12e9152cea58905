"""Counterexamples: rational points, verified exactly or by enclosures at growing precision."""
from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product

from proofs_checks.harness import trees
from proofs_checks.harness.enclosures import Functions, Program, Undetermined
from proofs_checks.harness.enclosures._leaf import Side
from proofs_checks.harness.trees import Tree, Undefined

__all__ = ["candidates", "refutes", "sign_at", "simple_between"]

PRECISIONS = (64, 128, 256, 512, 1024)
SPECIAL = [Fraction(t) for t in ("0", "1", "-1", "2", "1/2", "-2", "-1/2", "3", "1/3", "10", "1/10", "-10", "100",
                                 "2/3", "3/2", "1/4", "3/4", "-1/3", "-3", "1000", "1/100")]


def sign_at(tree: Tree, point: Mapping[str, Fraction]) -> int | None:
    """Sign of the tree at a rational point, None if it is undefined there or was not determined."""
    try:
        value = trees.evaluate(tree, point)
        return (value > 0) - (value < 0)
    except trees.Undefined:
        return None
    except trees.Inexact:
        pass
    program = Program(tree, list(point))
    for bits in PRECISIONS:
        field = Functions(bits)
        try:
            lo, hi, lo_strict, hi_strict = program.value([field.box(x, x) for x in point.values()], field)
        except (Undefined, Undetermined):
            continue
        if lo > 0 or (lo == 0 and lo_strict):
            return 1
        if hi < 0 or (hi == 0 and hi_strict):
            return -1
        if lo == hi == 0:
            return 0
    return None


def refutes(point: Mapping[str, Fraction], goal: Tree, strict: bool, hypotheses: Sequence[tuple[Tree, bool]]) -> bool:
    """Whether every hypothesis holds and the goal fails at the point, beyond doubt."""
    for tree, flag in hypotheses:
        sign = sign_at(tree, point)
        if sign is None or sign < 0 or (sign == 0 and flag):
            return False
    sign = sign_at(goal, point)
    return sign is not None and (sign < 0 or (sign == 0 and strict))


def simple_between(lo: Fraction, hi: Fraction) -> Fraction:
    """The fraction of least denominator in [lo, hi]."""
    if lo <= 0 <= hi:
        return Fraction(0)
    if hi < 0:
        return -simple_between(-hi, -lo)
    whole = lo.numerator // lo.denominator
    if whole == lo or whole + 1 <= hi:
        return Fraction(whole if whole == lo else whole + 1)
    return whole + 1 / simple_between(1 / (hi - whole), 1 / (lo - whole))


def candidates(sides: Sequence[Side], seed: int = 0) -> Iterator[tuple[Fraction, ...]]:
    """Points of the domain worth trying: corners and special values first, then heavy-tailed samples."""
    axes = [_axis(side) for side in sides]
    if len(axes) == 1:
        yield from ((x,) for x in axes[0])
    else:
        small = [axis[:3] for axis in axes]
        yield from islice(product(*small), 300)
        for x in SPECIAL:  # the diagonal
            if all(_inside(x, side) for side in sides):
                yield (x,) * len(sides)
    rng = random.Random(seed)
    while True:
        yield tuple(rng.choice(axis) if rng.random() < 0.3 else _draw(side, rng)
                    for axis, side in zip(axes, sides, strict=True))


def _inside(x: Fraction, side: Side) -> bool:
    return (side.lo < x or (side.lo == x and not side.lo_open)) and (x < side.hi or (x == side.hi and not side.hi_open))


def _axis(side: Side) -> list[Fraction]:
    lo, hi = side.lo, side.hi
    points = [Fraction(e) for e, closed in ((lo, not side.lo_open), (hi, not side.hi_open))
              if closed and not isinstance(e, float)]
    if not isinstance(lo, float) and not isinstance(hi, float):
        points += [lo + (hi - lo) * Fraction(k, 8) for k in (4, 2, 6, 1, 3, 5, 7)]
    elif not isinstance(lo, float):
        points += [lo + x for x in SPECIAL if x > 0]
    elif not isinstance(hi, float):
        points += [hi - x for x in SPECIAL if x > 0]
    points += [x for x in SPECIAL if _inside(x, side)]
    return list(dict.fromkeys(points))


def _draw(side: Side, rng: random.Random) -> Fraction:
    if isinstance(side.lo, float) and isinstance(side.hi, float):
        return Fraction(rng.choice((-1, 1)) * 10 ** rng.uniform(-2, 2)).limit_denominator(100)
    if isinstance(side.lo, float) or isinstance(side.hi, float):
        step = Fraction(10 ** rng.uniform(-3, 3)).limit_denominator(1000) + Fraction(1, 1000)
        return Fraction(side.lo) + step if not isinstance(side.lo, float) else Fraction(side.hi) - step
    lo, hi = Fraction(side.lo), Fraction(side.hi)
    t = Fraction(rng.randrange(1, 1024), 1024)
    if rng.random() < 0.3:  # near an end
        t = t ** 4 if rng.random() < 0.5 else 1 - t ** 4
    x = lo + (hi - lo) * t
    slack = (hi - lo) / 2**10
    return x if side.lo_open or side.hi_open else simple_between(max(lo, x - slack), min(hi, x + slack))

"""Rigorous enclosures of expressions over boxes. Standard library only.

`evaluate(tree, box)` gives rational bounds of a tree (`harness.trees`) over a box; `Program` and `Functions` are the
same for many boxes, with gradients. Fixed point with integers, every rounding outward; functions carry 64 guard bits
and an explicit bound of their error (`_reals`). Written apart from the engine's arithmetic (`engines.interval`, over
Arb), so that the two check one another."""
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from proofs_checks.harness.enclosures._arithmetic import INF, NINF, Enclosure, Undetermined, negative, positive
from proofs_checks.harness.enclosures._functions import Functions
from proofs_checks.harness.enclosures._program import Program
from proofs_checks.harness.trees import Tree, Undefined

__all__ = ["INF", "NINF", "Enclosure", "Functions", "Interval", "Program", "Undefined", "Undetermined", "evaluate",
           "negative", "positive"]


class Interval(NamedTuple):
    """lo <= v <= hi, without equality at an end that is strict; ends are Fractions or infinite floats."""

    lo: Fraction | float
    hi: Fraction | float
    lo_strict: bool = False
    hi_strict: bool = False

    def __contains__(self, value: object) -> bool:
        return bool(self.lo <= value <= self.hi)  # type: ignore[operator]


def evaluate(tree: Tree, box: Mapping[str, tuple[Fraction | float, Fraction | float]], *, bits: int = 96) -> Interval:
    """Bounds of `tree` where each variable lies between the two ends that `box` gives it (floats only +-INF).

    `Undefined` if some point of the box may lie outside the domain of a function; `Undetermined` if no bound is found;
    ValueError for a malformed tree."""
    field = Functions(bits)
    sides = [field.box(lo, hi) for lo, hi in box.values()]
    lo, hi, lo_strict, hi_strict = Program(tree, list(box)).value(sides, field)
    ends = [x if isinstance(x, float) else Fraction(x, field.one) for x in (lo, hi)]
    return Interval(ends[0], ends[1], bool(lo_strict), bool(hi_strict))

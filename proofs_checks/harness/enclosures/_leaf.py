"""Whether a function is nonnegative on a box: values, slopes, mean value form. Standard library only.

`is_nonnegative(program, sides, strict)` proves g >= 0 (g > 0 if strict) at each point of the box, and that g is defined
there. Where a partial derivative has one sign on the box, the box is replaced by its face at the lower end of g; where
that end is open or infinite, by the limit there. On what remains g is bounded by its natural extension, then by the
mean value form around the midpoint; at a single rational point by its exact value."""
from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from proofs_checks.harness import trees
from proofs_checks.harness.enclosures._arithmetic import INF, NINF, Enclosure, Undetermined
from proofs_checks.harness.enclosures._functions import Functions
from proofs_checks.harness.enclosures._jets import Enclosed, Exact, coefficients
from proofs_checks.harness.enclosures._program import Program
from proofs_checks.harness.trees import Tree, Undefined

End = Fraction | float


class Side(NamedTuple):
    """The values of one variable; an infinite end is open."""

    lo: End
    hi: End
    lo_open: bool = False
    hi_open: bool = False


class Statement(NamedTuple):
    """A tree, compiled; its variables in the order of the sides."""

    tree: Tree
    program: Program


def statement(tree: Tree, variables: Sequence[str]) -> Statement:
    """Compile a tree. ValueError if it is malformed."""
    return Statement(tree, Program(tree, variables))


def natural(goal: Statement, sides: Sequence[Side], bits: int) -> Enclosure | None:
    """Enclosure over the box, None where the expression may be undefined or no enclosure is found."""
    field = Functions(bits)
    try:
        return goal.program.value([field.box(*side) for side in sides], field)
    except (Undefined, Undetermined):
        return None


def enough(low: float, low_strict: bool | None, strict: bool) -> bool:
    """Whether a lower bound proves the claim."""
    return low > 0 or (low == 0 and (low_strict or not strict))


def is_nonnegative(goal: Statement, sides: Sequence[Side], strict: bool, *, slopes: bool = True,
                   bits: int = 96) -> bool:
    """Whether g >= 0 (> 0 if strict) is proved on the box."""
    e = natural(goal, sides, bits)
    if e is not None and enough(e[0], e[2], strict):
        return True
    return slopes and _by_slopes(goal, list(sides), strict, bits)


def is_violated(hypothesis: Statement, sides: Sequence[Side], strict: bool, *, bits: int = 96) -> bool:
    """Whether h >= 0 (h > 0 if strict) fails at each point of the box, where h is defined."""
    e = natural(hypothesis, sides, bits)
    if e is None:
        return False
    if enough(-e[1], e[3], not strict):
        return True
    opposite = statement(["mul", "-1", hypothesis.tree], hypothesis.program.variables)
    return _by_slopes(opposite, list(sides), not strict, bits)


def by_taylor(goal: Statement, side: Side, strict: bool, order: int, at: Fraction, *, bits: int = 96) -> bool:
    """One variable: Taylor's theorem at the rational `at`, remainder of the given order enclosed over the box.

    Leading coefficients that are exactly 0 are divided out as a power of h = x - at, so that a zero of known order at
    `at` does not stop the proof."""
    field = Functions(bits)
    whole = field.box(min(side.lo, at), max(side.hi, at))
    try:
        remainder = coefficients(goal.program, whole, order, Enclosed(field))[order]
        try:
            exact = coefficients(goal.program, at, order - 1, Exact())
            zeros = next((i for i, c in enumerate(exact) if c), order)
            front = [field.rational(c) for c in exact]
        except (trees.Inexact, Undetermined):
            zeros, front = 0, coefficients(goal.program, field.rational(at), order - 1, Enclosed(field))
    except (Undefined, Undetermined):
        return False
    h = field.box(_minus(side.lo, at), _minus(side.hi, at), side.lo_open, side.hi_open)
    total = remainder
    for c in reversed(front[zeros:]):
        total = field.add(field.mul(total, h), c)
    if zeros % 2:
        if side.hi <= at:
            total = field.neg(total)
        elif side.lo < at:
            return False
    outside = side.lo > at or side.hi < at or (side.lo == at and side.lo_open) or (side.hi == at and side.hi_open)
    return enough(total[0], total[2], strict) and (not strict or zeros == 0 or outside)


def _minus(end: End, at: Fraction) -> End:
    return end if isinstance(end, float) else end - at


def _by_slopes(goal: Statement, sides: list[Side], strict: bool, bits: int) -> bool:
    field = Functions(bits)
    gained = False  # g is strictly above its bound, because it moves strictly away from an open end
    germs: dict[int, Enclosure] = {}
    gradient, closed = _gradient(goal, sides, field)
    while gradient is not None:
        moved = False
        for i, (side, slope) in enumerate(zip(sides, gradient, strict=True)):
            if side.lo == side.hi or not (slope[0] >= 0 or slope[1] <= 0):
                continue
            lower = bool(slope[0] >= 0)
            end, is_open = (side.lo, side.lo_open) if lower else (side.hi, side.hi_open)
            if is_open or isinstance(end, float):
                certain = slope[0] > 0 or slope[2] if lower else slope[1] < 0 or slope[3]
                gained = gained or (bool(certain) and closed)
                germs[i] = _germ(end, lower, field)
            sides[i], moved = Side(end, end), True
        if germs:
            return _at_limit(goal, sides, germs, strict, gained, bits)
        if not moved or all(side.lo == side.hi for side in sides):
            return _on_face(goal, sides, gradient, strict, bits)
        after = _gradient(goal, sides, field)
        if after[0] is None:
            return _on_face(goal, sides, gradient, strict, bits)
        gradient, closed = after
    return False


def _gradient(goal: Statement, sides: Sequence[Side], field: Functions) -> tuple[list[Enclosure] | None, bool]:
    """Partial derivatives on the box, and whether also on its boundary.

    Where they exist inside only (a root at 0), the mean value theorem still gives the weak inequalities, by
    continuity of g on the closed box; hence g must be defined there and made of continuous functions."""
    try:
        return goal.program.gradient([field.box(*side) for side in sides], field)[1], True
    except (Undefined, Undetermined):
        pass
    if natural(goal, sides, field.bits) is None or _jumps(goal.tree):
        return None, False
    inside = [side if side.lo == side.hi else Side(side.lo, side.hi, True, True) for side in sides]
    try:
        return goal.program.gradient([field.box(*side) for side in inside], field)[1], False
    except (Undefined, Undetermined):
        return None, False


def _jumps(tree: Tree) -> bool:
    """Whether the tree holds something that need not be continuous where it is defined: a sign, or 0^0."""
    nodes = [node for node in trees.walk(tree) if isinstance(node, list)]
    return any(node[0] in ("sign", "floor") or (node[0] == "pow" and trees.variables(node[2])) for node in nodes)


def _germ(end: End, from_above: bool, field: Functions) -> Enclosure:
    """A variable that tends to an end of its side."""
    if isinstance(end, float):
        return (INF, INF, True, True) if end > 0 else (NINF, NINF, True, True)
    lo, hi, lo_strict, hi_strict = field.rational(Fraction(end))
    return (lo, hi, True, hi_strict or None) if from_above else (lo, hi, lo_strict or None, True)


def _at_limit(goal: Statement, sides: Sequence[Side], germs: dict[int, Enclosure], strict: bool, gained: bool,
              bits: int) -> bool:
    """g is bounded by its limit where the variables in `germs` tend to their ends, the others anywhere in theirs."""
    finite = all(not isinstance(sides[i].lo, float) for i in germs)
    if finite and all(side.lo == side.hi for side in sides):
        point = {v: Fraction(s.lo) for v, s in zip(goal.program.variables, sides, strict=True)}
        try:  # its value is its limit, as it is continuous where it is defined
            value = trees.evaluate(goal.tree, point)
            if not _jumps(goal.tree):
                return value > 0 or (value == 0 and (gained or not strict))
        except (trees.Undefined, trees.Inexact):
            pass
    field = Functions(bits, germ=True)
    try:
        e = goal.program.value([germs.get(i) or field.box(*s) for i, s in enumerate(sides)], field)
    except (Undefined, Undetermined):
        return False
    return enough(e[0], e[2] is True or gained, strict)


def _on_face(goal: Statement, sides: Sequence[Side], gradient: Sequence[Enclosure], strict: bool, bits: int) -> bool:
    if all(side.lo == side.hi for side in sides):
        point = {v: Fraction(s.lo) for v, s in zip(goal.program.variables, sides, strict=True)}
        try:
            value = trees.evaluate(goal.tree, point)
            return value > 0 or (value == 0 and not strict)
        except trees.Undefined:
            return False
        except trees.Inexact:
            pass
    e = natural(goal, sides, bits)
    if e is None:
        return False
    if enough(e[0], e[2], strict):
        return True
    return enough(mean_value(goal, sides, gradient, bits), False, strict)


def mean_value(goal: Statement, sides: Sequence[Side], gradient: Sequence[Enclosure], bits: int) -> float:
    """Lower bound g(c) + sum of slopes times distances from the midpoint c, in units of 2^-bits; -INF if none."""
    if any(isinstance(end, float) for side in sides for end in side[:2]):
        return NINF
    field = Functions(bits)
    middle = [(Fraction(side.lo) + Fraction(side.hi)) / 2 for side in sides]
    centre = natural(goal, [Side(c, c) for c in middle], bits)
    if centre is None:
        return NINF
    total = centre
    for side, c, slope in zip(sides, middle, gradient, strict=True):
        if side.lo != side.hi:
            total = field.add(total, field.mul(slope, field.box(Fraction(side.lo) - c, Fraction(side.hi) - c)))
    return total[0]

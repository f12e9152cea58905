"""Branch and bound over boxes: refute first, then prove leaf by leaf."""
from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import inf

from flint import arb, ctx

from proofs_checks.engines.interval import _refute
from proofs_checks.engines.interval._balls import Balls, ball, rational
from proofs_checks.harness import trees
from proofs_checks.harness.checkers import interval as checker
from proofs_checks.harness.enclosures import Undetermined
from proofs_checks.harness.enclosures._jets import Exact, coefficients
from proofs_checks.harness.enclosures._leaf import End, Side, Statement, by_taylor
from proofs_checks.harness.trees import Tree

Box = tuple[tuple[End, End], ...]
DEPTH = 70  # halvings of one side
FAR = 2**60  # an infinite side that starts beyond this is not split further
TOUCH = 30  # depth from which the slower, exact test is tried on every box


class Search:
    """One statement: goal >= 0 (> 0 if strict) on `sides` under hypotheses."""

    def __init__(self, goal: Statement, strict: bool, given: Sequence[tuple[Statement, bool]], sides: Sequence[Side],
                 *, boxes: int, deadline: float | None, seed: int, refute: bool = True,
                 taylor: bool = True, inside: Sequence[Side] | None = None) -> None:
        self.goal, self.strict, self.given, self.sides = goal, strict, list(given), list(sides)
        self.budget, self.deadline, self.seed = boxes, deadline, seed
        self.inside = list(sides if inside is None else inside)  # where witnesses may lie
        self.used, self.refute, self.taylor = 0, refute, taylor
        self.balls = Balls(goal.program)
        self.given_balls = [Balls(h.program) for h, _ in given]
        self.leaves: list[tuple[Box, str]] = []
        self.witness: dict[str, Fraction] | None = None
        self.reason = ""
        self._tries = 0
        self.zeros: list[tuple[Fraction, int]] = []  # one variable: rational zeros of the goal and their orders

    def _near(self, box: Box) -> str:
        """Where a box lies, in a few digits."""
        found = []
        for name, (lo, hi) in zip(self.goal.program.variables, box, strict=True):
            at = hi if isinstance(lo, float) else lo if isinstance(hi, float) else (lo + hi) / 2
            text = "oo" if isinstance(hi, float) else "-oo" if isinstance(lo, float) else f"{float(at):.4g}"
            found.append(f"{name} = {'0' if not isinstance(at, float) and abs(at) < Fraction(1, 10**12) else text}")
        return ", ".join(found)

    def run(self) -> bool | None:
        """True: the leaves prove it; False: `witness` refutes it; None: `reason` says why neither."""
        ctx.prec = 64
        if self.refute and self._sample():
            return False
        if len(self.sides) == 1:
            self.zeros = list(self._find_zeros())
        stack: list[tuple[Box, int]] = [(tuple((s.lo, s.hi) for s in self.sides), 0)]
        while stack:
            box, depth = stack.pop()
            self.used += 1
            if self.used > self.budget or (self.deadline is not None and self.used % 8 == 0
                                           and time.monotonic() > self.deadline):
                self.reason = f"{'budget' if self.used > self.budget else 'time'} spent after {self.used - 1} boxes"
                return None
            method, slopes = self._test(box, depth)
            if method is not None:
                self.leaves.append((box, method))
                continue
            if self._middle_refutes(box):
                return False  # also where refuting is not the aim: then no proof exists
            axis = self._axis(box, slopes)
            if axis is None or depth > DEPTH * len(box):
                self.reason = f"not closed near {self._near(box)} after {self.used} boxes"
                return None
            cut = self._cut(box[axis], self.sides[axis])
            stack.extend((part, depth + 1) for part in _halves(box, axis, cut))
        return True

    def settle(self) -> bool:
        """Let the certificate's checker accept each leaf, splitting those that only Arb could prove."""
        pending, self.leaves = self.leaves[::-1], []
        while pending:
            box, method = pending.pop()
            side = checker.leaf(self.sides, box)
            for choice in dict.fromkeys((method, "g")):
                if checker.leaf_holds(self.goal, self.strict, self.given, side, choice, precisions=(96, 192)):
                    self.leaves.append((box, choice))
                    break
            else:
                self.used += 1
                axis = self._axis(box, None)
                if self.used > 2 * self.budget or axis is None or \
                        (self.deadline is not None and time.monotonic() > self.deadline):
                    self.reason = f"the checker's enclosures do not close {checker._show(box)}"
                    return False
                cut = self._cut(box[axis], self.sides[axis])
                pending.extend((part, method) for part in _halves(box, axis, cut))
        return True

    # ---- one box

    def _test(self, box: Box, depth: int) -> tuple[str | None, list[arb] | None]:
        sides = checker.leaf(self.sides, box)
        finite = not any(isinstance(e, float) for side in box for e in side)
        if not finite:
            return self._exact_test(sides) or self._taylor(sides, depth), None
        balls = [ball(Fraction(lo), Fraction(hi)) for lo, hi in box]
        values = self.balls.run(balls)
        value = values[self.goal.program.root]
        if value > 0 or (not self.strict and value >= 0):
            return "n", None
        for i, ((_, flag), h) in enumerate(zip(self.given, self.given_balls, strict=True)):
            v = h.value(balls)
            if v < 0 or (flag and v <= 0):
                return f"h{i}", None
        if not value.is_finite():
            return self._exact_test(sides) or self._taylor(sides, depth), None
        slopes = self.balls.gradient(values)
        if self._by_slopes(box, slopes):
            return "g", slopes
        if depth > TOUCH or self._touches(box, slopes):
            method = self._exact_test(sides)
            if method:
                return method, slopes
        return self._taylor(sides, depth), slopes

    def _taylor(self, sides: Sequence[Side], depth: int) -> str | None:
        """One variable: Taylor's theorem at a zero in the box, or of order 4 at its midpoint."""
        if len(sides) != 1:
            return None
        side = sides[0]
        for at, order in self.zeros:
            if side.lo <= at <= side.hi:
                for k in (order, order + 1, order + 2, order + 4)[:4 if self.taylor else 1]:
                    if 0 < k < 20 and by_taylor(self.goal, side, self.strict, k, at):
                        return f"t{k}@{at}"
                return None
        if not self.taylor or depth < 3 or depth % 2 == 0 or isinstance(side.lo, float) or isinstance(side.hi, float):
            return None
        lo, hi = Fraction(side.lo), Fraction(side.hi)
        middle = _refute.simple_between(lo + (hi - lo) * 3 / 8, hi - (hi - lo) * 3 / 8)
        return f"t4@{middle}" if by_taylor(self.goal, side, self.strict, 4, middle) else None

    def _find_zeros(self) -> Iterator[tuple[Fraction, int]]:
        """Rational zeros: ends, special values, and simple fractions near the least sampled values."""
        side = self.sides[0]
        points = [Fraction(e) for e in side[:2] if not isinstance(e, float)]
        sample = list(islice(_refute.candidates(self.sides, self.seed), 60))
        near = sorted((v, x) for (x,), v in ((p, self._float(p)) for p in sample) if v < inf)[:3]
        points += [x for (x,) in sample[:40]]
        for _, x in near:
            points += self._valley(x, Fraction(1, 8) if x == 0 else abs(x) / 8)
        variable = self.goal.program.variables[0]
        for x in dict.fromkeys(points):
            try:
                if trees.evaluate(self.goal.tree, {variable: x}) != 0:
                    continue
                jet = coefficients(self.goal.program, x, 12, Exact())
            except (trees.Undefined, trees.Inexact, Undetermined):
                continue
            yield x, next((i for i, c in enumerate(jet) if c), 13)

    def _valley(self, x: Fraction, step: Fraction) -> list[Fraction]:
        """Simple fractions near a local minimum."""
        best = self._float((x,))
        for _ in range(60):
            for trial in (x + step, x - step):
                if _refute._inside(trial, self.sides[0]):
                    value = self._float((trial,))
                    if value < best:
                        x, best = trial.limit_denominator(10**9), value
                        break
            else:
                step /= 2
        found = [x.limit_denominator(d) for d in (1, 12, 100, 1000)]
        return [y for y in found if _refute._inside(y, self.sides[0])]

    def _exact_test(self, sides: Sequence[Side]) -> str | None:
        """The certificate's own test: knows open and infinite ends and exact zeros, but is slower."""
        for method in ("g", *(f"h{i}" for i in range(len(self.given)))):
            if checker.leaf_holds(self.goal, self.strict, self.given, sides, method, precisions=(96,)):
                return method
        return None

    def _by_slopes(self, box: Box, slopes: Sequence[arb]) -> bool:
        face = self._face(box, slopes)
        if face != box:
            balls = [ball(Fraction(lo), Fraction(hi)) for lo, hi in face]
            values = self.balls.run(balls)
            if values[self.goal.program.root] > 0:
                return True
            if any(lo != hi for lo, hi in face):
                slopes = self.balls.gradient(values)
        middle = [(Fraction(lo) + Fraction(hi)) / 2 for lo, hi in face]
        total = self.balls.value([rational(c) for c in middle])
        for (lo, hi), c, slope in zip(face, middle, slopes, strict=True):
            if lo != hi:
                total = total + slope * ball(Fraction(lo) - c, Fraction(hi) - c)
        return bool(total > 0)

    @staticmethod
    def _face(box: Box, slopes: Sequence[arb]) -> Box:
        return tuple((lo, lo) if s >= 0 else (hi, hi) if s <= 0 else (lo, hi)
                     for (lo, hi), s in zip(box, slopes, strict=True))

    def _touches(self, box: Box, slopes: Sequence[arb]) -> bool:
        """Whether the slopes point to one corner, where the value may be exactly 0."""
        face = self._face(box, slopes)
        if any(lo != hi for lo, hi in face):
            return False
        return bool(self.balls.value([rational(Fraction(lo)) for lo, _ in face]).overlaps(arb(0, 2.0**-40)))

    # ---- where to split

    def _axis(self, box: Box, slopes: Sequence[arb] | None) -> int | None:
        best, where = -1.0, None
        for i, (lo, hi) in enumerate(box):
            if lo == hi:
                continue
            if isinstance(lo, float) or isinstance(hi, float):
                if max((abs(e) for e in (lo, hi) if not isinstance(e, float)), default=0) > FAR:
                    continue
                return i
            width = float(hi - lo)
            whole = self.sides[i]
            share = width / float(whole.hi - whole.lo) if not isinstance(whole.lo, float) and \
                not isinstance(whole.hi, float) else width / (1 + abs(float(lo)))
            weight = share
            if slopes is not None and all(s.is_finite() for s in slopes):
                weight = width * float(slopes[i].abs_upper()) + 1e-3 * share
            if share < 2.0 ** -DEPTH:
                continue
            if weight > best:
                best, where = weight, i
        return where

    @staticmethod
    def _cut(span: tuple[End, End], side: Side) -> Fraction:
        lo, hi = span
        if isinstance(lo, float) and isinstance(hi, float):
            return Fraction(0)
        if isinstance(hi, float):
            a = Fraction(lo)
            return _power_of_two(max(2 * abs(a), Fraction(1))) if a > -1 else a / 4
        if isinstance(lo, float):
            a = Fraction(hi)
            return -_power_of_two(max(2 * abs(a), Fraction(1))) if a < 1 else a / 4
        if lo > 0 and hi > 8 * lo:
            return _geometric(lo, hi)
        if hi < 0 and lo < 8 * hi:
            return -_geometric(-hi, -lo)
        if lo == side.lo and side.lo_open:
            return lo + (hi - lo) / 8
        if hi == side.hi and side.hi_open:
            return hi - (hi - lo) / 8
        return (lo + hi) / 2

    # ---- counterexamples

    def _sample(self) -> bool:
        count = 40 if len(self.sides) == 1 else 400 + 60 * len(self.sides)
        best: list[tuple[float, tuple[Fraction, ...]]] = []
        for point in islice(_refute.candidates(self.inside, self.seed), count):
            value = self._float(point)
            if value < 1e-12 and self._refuted_by(point):
                return True
            if value < inf:
                best.append((value, point))
        best.sort(key=lambda item: item[0])
        return any(self._descend(point, value) for value, point in best[:4])

    def _float(self, point: Sequence[Fraction]) -> float:
        """Value of the goal, inf where a hypothesis fails or a value is missing."""
        balls = [rational(x) for x in point]
        for (_, flag), h in zip(self.given, self.given_balls, strict=True):
            v = h.value(balls)
            if not v.is_finite() or v < 0 or (flag and v <= 0):
                return inf
        v = self.balls.value(balls)
        return float(v.mid()) if v.is_finite() else inf

    def _descend(self, start: Sequence[Fraction], value: float) -> bool:
        """Coordinate steps of shrinking size from a sample; whatever it finds is verified exactly."""
        point, n = list(start), len(start)
        steps = [(Fraction(s.hi) - Fraction(s.lo)) / 8 if not isinstance(s.lo, float) and not isinstance(s.hi, float)
                 else max(abs(x) / 4, Fraction(1, 4)) for s, x in zip(self.sides, point, strict=True)]
        for _ in range(14):
            improved = False
            for i in range(n):
                for sign in (1, -1):
                    x = point[i] + sign * steps[i]
                    side = self.inside[i]
                    if not _refute._inside(x, side):
                        continue
                    x = _refute.simple_between(x - steps[i] / 16, x + steps[i] / 16)
                    if not _refute._inside(x, side):
                        continue
                    trial = [*point[:i], x, *point[i + 1:]]
                    v = self._float(trial)
                    if v < value:
                        point, value, improved = trial, v, True
                        if v < 1e-12 and self._refuted_by(point):
                            return True
                        break
            if not improved:
                steps = [s / 3 for s in steps]
        return False

    def _middle_refutes(self, box: Box) -> bool:
        if any(isinstance(e, float) for side in box for e in side):
            return False
        ends = [(Fraction(lo), Fraction(hi)) for lo, hi in box]
        point = [_refute.simple_between(lo + (hi - lo) / 3, hi - (hi - lo) / 3) for lo, hi in ends]
        return self._float(point) < 0 and self._refuted_by(point)

    def _refuted_by(self, point: Sequence[Fraction]) -> bool:
        self._tries += 1
        if self._tries > 300:  # a statement that is false by less than every precision tried
            return False
        if not all(_refute._inside(x, side) for x, side in zip(point, self.inside, strict=True)):
            return False
        named = dict(zip(self.goal.program.variables, point, strict=True))
        if not _refute.refutes(named, self.goal.tree, self.strict, [(h.tree, flag) for h, flag in self.given]):
            return False
        self.witness = named
        return True


def _halves(box: Box, axis: int, cut: Fraction) -> list[Box]:
    lo, hi = box[axis]
    return [(*box[:axis], part, *box[axis + 1:]) for part in ((cut, hi), (lo, cut))]


def _power_of_two(x: Fraction) -> Fraction:
    """The least power of two that is >= x > 0."""
    p = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length())
    while p < x:
        p *= 2
    return p


def _geometric(lo: Fraction, hi: Fraction) -> Fraction:
    k = ((lo.numerator.bit_length() - lo.denominator.bit_length())
         + (hi.numerator.bit_length() - hi.denominator.bit_length())) // 2
    cut = Fraction(2) ** k
    return cut if lo < cut < hi else (lo + hi) / 2


def certificate(search: Search, variables: Sequence[str], domain: Sequence[Side], goal: Tree, strict: bool,
                hypotheses: Sequence[tuple[Tree, bool]]) -> Mapping[str, object]:
    """The proof that `search` found, for `harness.checkers.interval`."""
    return {"kind": "interval", "variables": list(variables), "domain": [[text(s.lo), text(s.hi)] for s in domain],
            "goal": goal, "strict": strict, "hypotheses": [[tree, flag] for tree, flag in hypotheses],
            "boxes": [[[text(lo), text(hi)] for lo, hi in box] for box, _ in search.leaves],
            "methods": [method for _, method in search.leaves]}


def text(e: End) -> str:
    """An end as the certificate writes it."""
    return ("oo" if e > 0 else "-oo") if isinstance(e, float) else str(e)

"""The falsifier: where a statement fails, exactly, at the smallest point that a fixed amount of work finds.

Stages, each with a fixed order and amount of work, so that the same seed gives the same witness whatever else is
running: points of small height in order of height; closed forms; seeded samples with heavy tails, improved by local descent and
rounded through growing denominators; shrinking. Floats only propose; `checkers._values.truth` decides."""
from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from proofs_checks.engines.portfolio._floats import margin, value
from proofs_checks.engines.portfolio._isolate import isolate
from proofs_checks.harness.checkers._values import forbid_open_powers, truth
from proofs_checks.harness.language import Problem
from proofs_checks.harness.trees import RELATIONS, Inexact, Tree, Undefined, evaluate, substitute, variables, walk

__all__ = ["Point", "Search", "simplest_between"]

Point = dict[str, Tree]
_SMALL = [Fraction(t) for t in ("0", "1", "-1", "2", "-2", "1/2", "-1/2", "3", "-3", "1/3", "-1/3", "2/3", "-2/3", "3/2",
                                "-3/2", "4", "-4", "1/4", "-1/4", "3/4", "-3/4", "5", "-5", "1/5", "-1/5", "10", "-10",
                                "1/10", "-1/10", "9/10", "20", "-20", "100", "-100", "1/100", "-1/100", "99/100",
                                "1000", "-1000", "1/1000")]
_PI_PARTS = [["mul", t, ["pi"]] for t in ("1/2", "1/3", "1/4", "1/6", "2/3", "3/4", "3/2", "2", "-1", "-1/2")]
_SPECIAL: list[Tree] = [["pi"], *_PI_PARTS, ["E"], ["pow", ["E"], "-1"], ["pow", ["E"], "1/2"], ["pow", "2", "1/2"],
                        ["pow", "3", "1/2"], ["pow", "1/2", "1/2"], ["pow", "1/3", "1/2"], ["mul", "-1", ["pow", "2", "1/2"]],
                        ["log", "2"], ["mul", "-1", ["log", "2"]], ["log", "3"]]
_GRID = 20_000  # points of small height at most
_EXACT = 400  # exact evaluations at most a stage
_EXACT_FUNCTIONS = 30  # the same where functions have to be enclosed: floats that lie so often are noise
_DENOMINATORS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 30, 50, 100, 1000, 10 ** 4, 10 ** 6, 10 ** 9, 10 ** 12)


class Search:
    """A search for a point where all hypotheses hold and the conclusion fails."""

    def __init__(self, problem: Problem, seed: int = 0, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.problem, self.seed, self.cancelled = problem, seed, cancelled
        plain = {"var", "add", "mul", "pow", "abs", "min", "max", "and", "or", "not", "implies", "true", "false", *RELATIONS}
        self.functions = any(isinstance(node, list) and node[0] not in plain for node in walk(problem.tree))
        self.inside = False  # whether a point was seen that satisfies the hypotheses, as far as floats can tell
        self.hypotheses = [*problem.bounds(), *problem.hypotheses]
        self.solved: dict[str, list[Tree]] = {}
        self.order: list[str] = []
        self._solve_equations()
        self.free = [name for name in problem.box if name not in self.solved]
        self.ends = {name: tuple(None if end is None else float(value(end, {})) for end in problem.box[name])
                     for name in problem.box}

    def _solve_equations(self) -> None:
        """Each equation among the hypotheses gives one variable as a function of the others, if one can be isolated."""
        for hypothesis in self.problem.hypotheses:
            if hypothesis[0] != "eq":
                continue
            sides = [substitute(side, {n: trees[0] for n, trees in self.solved.items()}) for side in hypothesis[1:]]
            best: tuple[str, list[Tree]] | None = None
            for name in sorted(set(variables(sides[0])) | set(variables(sides[1]))):
                found = [] if name in self.problem.integers else isolate(sides[0], sides[1], name)
                if found and (best is None or _cost(found) < _cost(best[1])):
                    best = name, found
            if best is not None:
                self.solved[best[0]] = best[1]

    # --- exact ---------------------------------------------------------------------------------------------------
    def refutes(self, point: Mapping[str, Tree]) -> bool:
        """Whether the statement is false at the point, beyond doubt."""
        try:
            for name in self.problem.integers:
                if evaluate(point[name], {}).denominator != 1:
                    return False
            for part in (*self.hypotheses, self.problem.conclusion):
                forbid_open_powers(part, point, self.problem.integers)
            if not all(truth(part, point) for part in self.hypotheses):
                return False
            return not truth(self.problem.conclusion, point)
        except (Undefined, Inexact, ZeroDivisionError, ValueError, OverflowError):
            return False

    def _holds(self, point: Mapping[str, Tree]) -> bool:
        """Whether the hypotheses are true at the point, beyond doubt."""
        try:
            return all(truth(part, point) for part in self.hypotheses)
        except (Undefined, Inexact, ZeroDivisionError, ValueError, OverflowError):
            return False

    def complete(self, free: Mapping[str, Fraction]) -> Iterator[Point]:
        """The points with these free coordinates: the others follow from the equations, one branch at a time."""
        yield from self._completed({name: _leaf(x) for name, x in free.items()})

    def _completed(self, base: Point) -> Iterator[Point]:
        branches = product(*self.solved.values())
        for choice in list(branches)[:8]:
            point = dict(base)
            for name, tree in reversed(list(zip(self.solved, choice, strict=True))):
                point[name] = _tidy(substitute(tree, point))
            if all(not variables(tree) for tree in point.values()):
                yield point

    def first(self, candidates: Iterator[Mapping[str, Fraction]]) -> Point | None:
        """The first candidate that refutes, among a fixed number of them."""
        limit = _EXACT_FUNCTIONS if self.functions else _EXACT
        for count, free in enumerate(candidates):
            if count >= limit or self.cancelled():
                return None
            for point in self.complete(free):
                if self.refutes(point):
                    return point
        return None

    # --- floats --------------------------------------------------------------------------------------------------
    def margins(self, columns: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """(margin of the conclusion, margin of the hypotheses), the best branch of the equations; nan -> +inf, -inf."""
        size = len(next(iter(columns.values()))) if columns else 1
        best, given = np.full(size, np.inf), np.full(size, -np.inf)
        with np.errstate(all="ignore"):
            for choice in list(product(*self.solved.values()))[:8]:
                point: dict[str, Any] = dict(columns)
                for name, tree in reversed(list(zip(self.solved, choice, strict=True))):
                    point[name] = value(tree, point) + np.zeros(size)
                parts = [margin(part, point) + np.zeros(size) for part in self.hypotheses if part[0] != "eq"]
                inside = np.minimum.reduce(parts) if parts else np.full(size, np.inf)
                goal = margin(self.problem.conclusion, point) + np.zeros(size)
                inside = np.where(np.isnan(inside) | np.isnan(goal), -np.inf, inside)
                goal = np.where(np.isnan(goal), np.inf, goal)
                better = (inside > given) & (given < 0) | (inside >= 0) & (goal < best)
                best, given = np.where(better, goal, best), np.where(better, inside, given)
        return best, given

    def small(self) -> Point | None:
        """Stage one: the first refuting point in order of height."""
        if not self.free:
            return self.first(iter([{}]))
        values = [self._values(name) for name in self.free]
        rows = self._grid(values)
        columns = {name: np.array([float(x) for x in values[i]])[rows[:, i]] for i, name in enumerate(self.free)}
        goal, given = self.margins(columns)
        self.inside = bool(np.any(given > 0))
        if self.inside and any(h[0] == "eq" for h in self.hypotheses):  # floats do not say whether an equation holds
            rows_inside = rows[np.flatnonzero(given > 0)[:8]]
            self.inside = any(self._holds(point) for row in rows_inside for point in self.complete(
                {name: values[k][row[k]] for k, name in enumerate(self.free)}))
        strict = any(isinstance(node, list) and node[0] in ("gt", "lt", "ne", "eq", "or", "not", "implies", "false")
                     for node in walk(self.problem.conclusion))
        # on the edge a non-strict inequality holds; floats that are exactly 0 there need no exact look
        likely = np.flatnonzero((given >= -1e-9) & ((goal <= 1e-9 * (1 + np.abs(goal))) if strict else (goal < 0)))
        return self.first({name: values[k][rows[i, k]] for k, name in enumerate(self.free)} for i in likely)

    def special(self) -> Point | None:
        """Stage two: closed forms where touching happens: ends that are not rational, parts of pi, powers of e, roots."""
        if not self.free or len(self.free) > 2 or self.problem.integers:
            return None
        per = []
        for name in self.free:
            low, high = self.ends[name]
            trees = [tree for tree in [*filter(None, self.problem.box[name]), *_SPECIAL] if isinstance(tree, list)]
            near = [(float(value(tree, {})), tree) for tree in trees]
            inside = [tree for x, tree in near if (low is None or x >= low - 1e-12) and (high is None or x <= high + 1e-12)]
            per.append([*(_leaf(x) for x in self._values(name)[:6]), *inside] if len(self.free) > 1 else inside)
        rows = [row for row in product(*per) if any(isinstance(x, list) for x in row)]
        if not rows:
            return None
        columns = {name: np.array([float(value(row[i], {})) for row in rows]) for i, name in enumerate(self.free)}
        goal, given = self.margins(columns)
        likely = np.flatnonzero((given >= -1e-9) & (goal <= 1e-9 * (1 + np.abs(goal))))
        for index in likely[:_EXACT_FUNCTIONS]:
            for point in self._completed(dict(zip(self.free, rows[index], strict=True))):
                if self.refutes(point):
                    return point
        return None

    def _grid(self, values: list[list[Fraction]]) -> np.ndarray:
        """Places in the lists of values, in the order of the points: total height, then few negative coordinates, then
        the coordinates."""
        n = len(values)
        width = next((k for k in range(max(map(len, values), default=0), 1, -1) if k ** n <= _GRID), 1)
        if n == 1 or width >= 2:
            rows = np.indices([min(len(v), _GRID if n == 1 else width) for v in values]).reshape(n, -1).T
        else:
            draw = random.Random(self.seed)
            rows = np.array([[0] * n, [min(1, len(v) - 1) for v in values],
                             *([draw.randrange(min(3, len(v))) for v in values] for _ in range(3000 if all(values) else 0))])
            rows = np.unique(rows, axis=0)
        if not all(values):
            return np.zeros((0, n), dtype=int)
        heights = sum(np.array([height(x) for x in v])[rows[:, i]] for i, v in enumerate(values))
        negative = sum(np.array([x < 0 for x in v], dtype=int)[rows[:, i]] for i, v in enumerate(values))
        return rows[np.lexsort((*rows.T[::-1], negative, heights))]

    def _values(self, name: str) -> list[Fraction]:
        """Small values inside the variable's bounds, smallest first; the rational ends are among them."""
        lo, hi = self.problem.box[name]
        found = list(_SMALL)
        for end in (lo, hi):
            try:
                if end is not None:
                    found.append(evaluate(end, {}))
            except Inexact:
                pass
        low, high = self.ends[name]
        if low is not None and high is not None:
            found += [simplest_between(Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(i, 13),
                                       Fraction(low) + (Fraction(high) - Fraction(low)) * Fraction(i + 1, 13))
                      for i in range(13)]
        if name in self.problem.integers:
            found = [x for x in found if x.denominator == 1] + [Fraction(i) for i in range(6, 10)]
        inside = {x for x in found if (low is None or x >= low - 1e-12) and (high is None or x <= high + 1e-12)}
        return sorted(inside, key=lambda x: (height(x), x < 0, x))

    def wide(self, samples: int = 6000, starts: int = 6) -> Point | None:
        """Stage three: seeded samples, local descent from the best, rounding."""
        if not self.free:
            return None
        draw = np.random.default_rng(self.seed)
        columns = {name: self._draw(draw, name, samples) for name in self.free}
        goal, given = self.margins(columns)
        order = np.argsort(np.where(given >= -1e-12, goal, np.inf), kind="stable")[:starts]
        for index in order:
            if self.cancelled() or given[index] < -1e-9:
                break
            start = np.array([columns[name][index] for name in self.free])
            found = self.rounded(start) if goal[index] < 0 else None
            found = found or self.rounded(self._descend(start, draw))
            if found:
                return self.shrunk(found)
        return None

    def _draw(self, draw: np.random.Generator, name: str, samples: int) -> np.ndarray:
        low, high = self.ends[name]
        heavy = draw.choice([-1.0, 1.0], samples) * 10.0 ** draw.uniform(-3, 3, samples)
        if low is not None and high is not None:
            x = draw.uniform(low, high, samples)
        elif low is not None or high is not None:
            x = low + np.abs(heavy) if low is not None else high - np.abs(heavy)
        else:
            x = heavy
        return np.round(x) if name in self.problem.integers else x

    def _descend(self, start: np.ndarray, draw: np.random.Generator, rounds: int = 60) -> np.ndarray:
        """Random directions with a shrinking step; 64 trials a round, hypotheses kept."""
        best, best_goal = start, self._goal_at(start[None, :])[0]
        step = 0.5
        for _ in range(rounds):
            noise = draw.standard_normal((64, len(best))) * (draw.random((64, len(best))) < 0.5)
            trial = best + step * noise * np.maximum(np.abs(best), 1e-2)
            for i, name in enumerate(self.free):
                low, high = self.ends[name]
                trial[:, i] = np.clip(trial[:, i], low if low is not None else -np.inf,
                                      high if high is not None else np.inf)
            goal = self._goal_at(trial)
            index = int(np.argmin(goal))
            if goal[index] < best_goal:
                best, best_goal = trial[index], goal[index]
            else:
                step *= 0.7
        return best

    def _goal_at(self, rows: np.ndarray) -> np.ndarray:
        goal, given = self.margins({name: rows[:, i] for i, name in enumerate(self.free)})
        return np.where(given >= 0, goal, np.inf)

    def rounded(self, at: np.ndarray) -> Point | None:
        """The point with the smallest denominators near `at` that refutes."""
        def candidates() -> Iterator[dict[str, Fraction]]:
            for limit in _DENOMINATORS:
                yield {name: self._clip(name, Fraction(float(x)).limit_denominator(limit))
                       for name, x in zip(self.free, at, strict=True)}
        return self.first(candidates()) if np.all(np.isfinite(at)) else None

    def _clip(self, name: str, x: Fraction) -> Fraction:
        lo, hi = self.problem.box[name]
        for end, pick in ((lo, max), (hi, min)):
            try:
                if end is not None:
                    x = pick(x, evaluate(end, {}))
            except Inexact:
                pass
        return Fraction(round(x)) if name in self.problem.integers else x

    # --- shrinking -----------------------------------------------------------------------------------------------
    def shrunk(self, point: Point) -> Point:
        """A smaller refuting point: each free coordinate in turn becomes as simple as the others allow."""
        try:
            free = {name: evaluate(point[name], {}) for name in self.free}
        except Inexact:
            return point
        best = point
        for _ in range(4):
            before = dict(free)
            for name in self.free:
                for x in self._simpler(free[name]):
                    trial = {**free, name: self._clip(name, x)}
                    if height(trial[name]) >= height(free[name]):
                        continue
                    found = next((p for p in self.complete(trial) if self.refutes(p)), None)
                    if found:
                        free, best = trial, found
                        break
            if free == before:
                break
        return best

    def _simpler(self, x: Fraction) -> Iterator[Fraction]:
        yield from (Fraction(0), Fraction(1), Fraction(-1))
        for k in (2, 4, 10, 30, 100, 1000, 10 ** 4, 10 ** 6):
            radius = abs(x) / k
            if radius:
                yield simplest_between(x - radius, x + radius)


def _cost(trees: list[Tree]) -> int:
    """Few branches and no inverse functions: y = cos x is better than x = acos y."""
    inverse = ("asin", "acos", "atan", "asinh", "atanh", "tan")
    return len(trees) + sum(10 for node in walk(trees[0]) if isinstance(node, list) and node[0] in inverse)


def height(x: Fraction) -> int:
    """How long a rational is to write."""
    return abs(x.numerator) + x.denominator if abs(x.numerator) + x.denominator < 100 else (
        100 * (len(str(x.numerator)) + len(str(x.denominator))))


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The rational with the smallest denominator in [low, high] (then the smallest size)."""
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = low.numerator // low.denominator
    if low == whole or whole + 1 <= high:
        return Fraction(whole if low == whole else whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))


def _leaf(x: Fraction) -> str:
    return str(x.numerator) if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def _tidy(tree: Tree) -> Tree:
    """A closed form as a number where it is one."""
    if variables(tree):
        return tree
    try:
        return _leaf(evaluate(tree, {}))
    except (Inexact, Undefined, ValueError):
        return tree

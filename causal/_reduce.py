"""Causes of one variable that need no search, and what is left to search once they are out of the way.

If a change of V passes along one path to the effect while everything beside the path is held at its actual value, then V
alone is a cause. Such V are found backwards from the effect, in time about linear in the model. The other causes are those
among the other variables (T5); what these cannot move stays at its actual value and becomes a constant, and so does a
two-valued variable whose change could only hinder."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from causal._instance import Instance
from causal._plan import HINDERS, polarity
from causal.expressions import Atom, Const, Expression, Gate, names_of
from causal.model import Formula, Input, Table, holds

SMALL = 30  # variables up to which the second look is not worth its time
ROUNDS = 4  # of constants making more constants
REPEATED = 10_000  # work on names that a formula mentions twice

Change = tuple[int, int]  # (position, code other than the actual one)


@dataclass(frozen=True, slots=True)
class Reduced:
    """What is left of a question.

    instance  with constants in place of what cannot move; allowed: who may be in the other causes
    singles   the causes already found, as positions; universe: how many were allowed at first
    uses, parents   see `causal._plan.polarity`; paths: over the model as it was"""

    instance: Instance
    allowed: frozenset[int]
    singles: tuple[int, ...]
    universe: int
    uses: dict[int, int]
    parents: dict[int, list[int]]
    paths: Paths


def reduce(instance: Instance, allowed: frozenset[int], paths: Paths | None = None) -> Reduced:
    """The question without the causes that one path shows; `paths` if they were looked for already."""
    paths = paths or Paths(instance)
    found = paths.singles() & allowed
    left, frozen = allowed - found, immovable(instance, allowed - found, frozenset())
    for _ in range(ROUNDS):
        instance = instance.holding(frozen) if frozen else instance
        uses, parents = polarity(instance)
        useful = frozenset(at for at, sign in uses.items() if sign != HINDERS)
        left &= useful
        more = immovable(instance, left, frozen | (frozenset(range(len(instance.names))) - useful))
        if not (useful if len(instance.names) <= SMALL else uses.keys()) & more:
            break  # in a small model, one that only hinders costs less left alone than made a constant
        frozen = more
    return Reduced(instance, left, tuple(sorted(found)), len(allowed), uses, parents, paths)


def immovable(instance: Instance, allowed: frozenset[int], frozen: frozenset[int]) -> frozenset[int]:
    """`frozen` and every variable that no allowed one can move."""
    movable: set[int] = set()
    for at, of in enumerate(instance.parents):
        if at not in frozen and (at in allowed or any(p in movable for p in of)):
            movable.add(at)
    return frozenset(range(len(instance.names))) - movable


Path = tuple[Change, int, "Path | None"]  # a change, how many follow, and those


class Paths:
    """Which single changes reach a variable, or the failure of the effect, along one path with all else as it was.

    What is found is right; not everything that is so is found: of the ways to a variable only the first is followed."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._steps: dict[int, dict[int, list[Change]]] = {}
        self.children: list[list[int]] = [[] for _ in instance.names]
        for at, of in enumerate(instance.parents):
            for parent in of:
                self.children[parent].append(at)
        self._ending: dict[Change, Path] | None = None
        self.ends = frozenset(instance.position[n] for n in names_of(instance.expression) if n in instance.position)

    def singles(self) -> set[int]:
        """Every variable from which one path is found to the failure of the effect."""
        return {at for at, _ in self.to_the_end()}

    def to_the_end(self) -> dict[Change, Path]:
        """The changes from which a path is found to the failure of the effect, each with the path."""
        if self._ending is None:
            self._ending = self._trace(list(_turning(self.instance, self.instance.expression)), None, None)
        return self._ending

    def reach(self, head: int | None, within: frozenset[int]) -> set[int]:
        """The variables with a path to the change of the two-valued `head`, or of the effect; through `within` only."""
        if head is None:
            first = list(_turning(self.instance, self.instance.expression))
        else:
            first = self.into(head).get(self.instance.alternatives(head)[0], [])
        return {at for at, _ in self._trace(first, head, within)}

    def _trace(self, first: list[Change], head: int | None, within: frozenset[int] | None) -> dict[Change, Path]:
        """The changes with a path to one of `first`, nearest first, each with its path."""
        known: dict[Change, Path] = {step: (step, 0, None) for step in first}
        depth = {at: 0 for at, _ in known}
        queue = deque(known)
        while queue:
            change = queue.popleft()
            at, code = change
            if within is not None and at not in within:
                continue
            path = known[change]
            for step in self.into(at).get(code, ()):
                if step not in known and self._undisturbed(step, path, depth, head):
                    known[step] = (step, path[1] + 1, path)
                    depth.setdefault(step[0], path[1] + 1)
                    queue.append(step)
        return known

    def _undisturbed(self, step: Change, path: Path, depth: dict[int, int], head: int | None) -> bool:
        """Whether the path still changes as before if `step` comes in front: it may act on more than its successor."""
        at, successor = step[0], path[0][0]
        acts = [u for u in self.children[at] if u != successor and depth.get(u, path[1]) < path[1]]
        at_end = at in self.ends if head is None else head in self.children[at]
        if not acts and not at_end:
            return True
        codes = self.changes(path) | dict([step])
        if any(u in codes and self.code(u, codes) != codes[u] for u in acts):
            return False
        if not at_end:
            return True
        if head is not None:
            return self.code(head, codes) != self.instance.actual[head]
        return self.fails(codes)

    @staticmethod
    def changes(path: Path) -> dict[int, int]:
        """{position: code} along a path."""
        codes = {}
        follow: Path | None = path
        while follow is not None:
            codes[follow[0][0]] = follow[0][1]
            follow = follow[2]
        return codes

    def fails(self, codes: dict[int, int]) -> bool:
        """Whether the effect fails where the variables of `codes` have those and all others are as they were."""
        return not holds(self.instance.expression, self._values(names_of(self.instance.expression), codes))

    def code(self, at: int, codes: dict[int, int]) -> int:
        """What the equation of `at` gives where the variables of `codes` have those and all others are as they were."""
        instance = self.instance
        name = instance.names[at]
        rule = instance.model.mechanisms[name]
        value = instance.model.compute(name, self._values(rule.parents, codes))
        return instance.model.code(name, value, "rule")

    def _values(self, names: Iterable[str], codes: dict[int, int]) -> dict[str, Any]:
        instance = self.instance
        values = {}
        for n in names:
            at = instance.position.get(n, -1)
            values[n] = instance.value(at, codes[at]) if at in codes else instance.values[n]
        return values

    def into(self, at: int) -> dict[int, list[Change]]:
        """{code: changes of one parent from which the equation of `at` gives it}."""
        found = self._steps.get(at)
        if found is None:
            found = self._steps[at] = _steps(self.instance, at)
        return found


def _steps(instance: Instance, at: int) -> dict[int, list[Change]]:
    name = instance.names[at]
    rule, domain = instance.model.mechanisms[name], instance.model.domains[name]
    found: dict[int, list[Change]] = {}
    if isinstance(rule, Input):
        return found
    if isinstance(rule, Formula):
        other = int(domain[instance.actual[at]] == 0)
        if steps := list(_turning(instance, rule.expression)):
            found[domain.index(other)] = steps
        return found
    for parent, stride, row in _table_places(instance, rule):
        position = instance.position.get(parent)
        if position is None:
            continue
        actual = instance.actual[position]
        for code in instance.alternatives(position):
            value = rule.values[row + (code - actual) * stride]
            result = domain.index(value)
            if result != instance.actual[at]:
                found.setdefault(result, []).append((position, code))
    return found


def _table_places(instance: Instance, rule: Table) -> list[tuple[str, int, int]]:
    """(parent, how far apart the rows of its codes are, the actual row) for each parent."""
    model, places, stride, row = instance.model, [], 1, 0
    for parent in reversed(rule.parents):
        row += stride * model.code(parent, instance.values[parent], "actual value")
        places.append((parent, stride))
        stride *= len(model.domains[parent])
    return [(parent, step, row) for parent, step in places]


def _turning(instance: Instance, expression: Expression) -> Iterator[Change]:
    """The changes of one variable that change the truth of `expression`."""
    values = instance.values
    critical, often = _critical(expression, values)
    for name, compared in critical:
        at = instance.position.get(name)
        if at is None or name in often:
            continue
        for code in instance.alternatives(at):
            if (instance.value(at, code) == compared) != (values[name] == compared):
                yield at, code
    if not often or len(often) * len(critical) > REPEATED:  # what is not found here is found by search
        return
    here = {n: values[n] for n in names_of(expression)}
    truth = holds(expression, here)
    for name in sorted(often & instance.position.keys()):
        at = instance.position[name]
        for code in instance.alternatives(at):
            if holds(expression, {**here, name: instance.value(at, code)}) != truth:
                yield at, code


def _critical(expression: Expression, values: dict[str, Any]) -> tuple[list[tuple[str, Any]], set[str]]:
    """(name, compared value) of the atoms whose truth alone turns the whole, and the names that occur twice."""
    truth: dict[int, bool] = {}
    seen: set[str] = set()
    often: set[str] = set()

    def evaluate(node: Expression) -> bool:
        if isinstance(node, Const):
            result = node.value
        elif isinstance(node, Atom):
            (often if node.name in seen else seen).add(node.name)
            result = bool(values[node.name] == node.value)
        else:
            result = _gate([evaluate(c) for c in node.children], node)
        truth[id(node)] = result
        return result

    evaluate(expression)
    found: list[tuple[str, Any]] = []
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Atom):
            found.append((node.name, node.value))
        elif isinstance(node, Gate):
            stack += _deciding(node, [truth[id(c)] for c in node.children])
    return found, often


def _gate(kids: list[bool], node: Gate) -> bool:
    match node.op:
        case "not":
            return not kids[0]
        case "and":
            return all(kids)
        case "or":
            return any(kids)
        case "xor":
            return sum(kids) % 2 == 1
        case _:
            return sum(kids) >= node.threshold


def _deciding(node: Gate, kids: list[bool]) -> list[Expression]:
    """The children whose truth alone turns the gate."""
    if node.op in ("not", "xor"):
        return list(node.children)
    threshold = {"and": len(kids), "or": 1}.get(node.op, node.threshold)
    true = sum(kids)
    wanted = {threshold: True, threshold - 1: False}.get(true)  # one true less, or one more, crosses the threshold
    return [c for c, k in zip(node.children, kids, strict=True) if k is wanted]

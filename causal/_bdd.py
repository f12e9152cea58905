"""Which sets satisfy AC2 inside one region, as a decision diagram over the region's elements (T4).

The family is upward closed. A variable whose flip only helps is replaced by "it can be flipped", a function of the
elements; a mixed one keeps a decision of its own, eliminated from the effect backwards:
R := R[not flipped] or (R[flipped] and (it is in the set, or its equation flips it))."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, Protocol

from causal._circuit import TRUE
from causal._instance import Instance
from causal._order import by_force
from causal._plan import BOTH, Plan, Region
from causal._sat import OutOfTime

SMALL = 40  # elements up to which the diagram is built in Python: making a CUDD manager costs more
SMALL_NODES = 20_000
STATIC_NODES = 100_000  # beyond this the order as met is given up
CLOSE_NODES = 1_000_000  # beyond this, or with a result beyond STATIC_NODES, the order of `by_force` is given up
MANAGER_BYTES, NODE_BYTES = 48 * 2**20, 72  # of an empty manager, and of a node with its places in the tables
NODES_PER_LOOK = 2048  # how often the clock is looked at
DEPTH = 400  # levels that the recursion of the Python kernel may meet


class OverBudget(Exception):
    """The diagram outgrew its node budget."""


class Flat:
    """A decision diagram in lists, children before parents: nodes 0 and 1 are false and true."""

    def __init__(self) -> None:
        self.level: list[int] = [sys.maxsize, sys.maxsize]
        self.low: list[int] = [0, 1]
        self.high: list[int] = [0, 1]


class Kernel(Protocol):
    """What the elimination needs of a decision diagram package."""

    true: Any
    false: Any
    def variable(self, level: int) -> Any: ...
    def negate(self, f: Any) -> Any: ...
    def both(self, f: Any, g: Any) -> Any: ...
    def either(self, f: Any, g: Any) -> Any: ...
    def choose(self, f: Any, g: Any, h: Any) -> Any: ...
    def restrict(self, f: Any, level: int, value: bool) -> Any: ...
    def flat(self, f: Any, tick: Callable[[], None]) -> tuple[Flat, int, list[int]]: ...


class PythonKernel:
    """Reduced ordered diagrams in lists; for small regions, and where CUDD is not installed."""

    def __init__(self, levels: int, budget: int) -> None:
        if levels > DEPTH:
            raise OverBudget
        self.false, self.true = 0, 1
        self.nodes = Flat()
        self.budget = budget
        self._unique: dict[tuple[int, int, int], int] = {}
        self._memo: dict[tuple[int, int, int], int] = {}

    def _make(self, level: int, low: int, high: int) -> int:
        if low == high:
            return low
        key = (level, low, high)
        found = self._unique.get(key)
        if found is None:
            found = self._unique[key] = len(self.nodes.level)
            if found > self.budget:
                raise OverBudget
            self.nodes.level.append(level)
            self.nodes.low.append(low)
            self.nodes.high.append(high)
        return found

    def variable(self, level: int) -> int:
        """The function that is the variable at `level`."""
        return self._make(level, 0, 1)

    def choose(self, f: int, g: int, h: int) -> int:
        """If f then g else h."""
        if f <= 1:
            return g if f else h
        if g == h:
            return g
        if g == 1 and h == 0:
            return f
        key = (f, g, h)
        found = self._memo.get(key)
        if found is None:
            level, low, high = self.nodes.level, self.nodes.low, self.nodes.high
            top = min(level[f], level[g], level[h])
            f0, f1 = (low[f], high[f]) if level[f] == top else (f, f)
            g0, g1 = (low[g], high[g]) if level[g] == top else (g, g)
            h0, h1 = (low[h], high[h]) if level[h] == top else (h, h)
            found = self._memo[key] = self._make(top, self.choose(f0, g0, h0), self.choose(f1, g1, h1))
        return found

    def negate(self, f: int) -> int:
        """Not f."""
        return self.choose(f, 0, 1)

    def both(self, f: int, g: int) -> int:
        """f and g."""
        return self.choose(f, g, 0)

    def either(self, f: int, g: int) -> int:
        """f or g."""
        return self.choose(f, 1, g)

    def restrict(self, f: int, level: int, value: bool) -> int:
        """f with a variable set."""
        memo: dict[int, int] = {}

        def walk(node: int) -> int:
            if self.nodes.level[node] > level:
                return node
            if self.nodes.level[node] == level:
                return self.nodes.high[node] if value else self.nodes.low[node]
            if node not in memo:
                memo[node] = self._make(self.nodes.level[node], walk(self.nodes.low[node]), walk(self.nodes.high[node]))
            return memo[node]

        return walk(f)

    def flat(self, f: int, tick: Callable[[], None]) -> tuple[Flat, int, list[int]]:
        """(nodes, root, variable at each level)."""
        return self.nodes, f, []


class CuddKernel:
    """CUDD through `dd`, with or without dynamic reordering; `largest` is a budget for the result alone.

    CUDD itself keeps the budget, as one of memory: a single operation can make any number of nodes."""

    def __init__(self, levels: int, budget: int, reorder: bool, largest: int | None = None) -> None:
        from dd import cudd

        self.manager = cudd.BDD(memory_estimate=3 * 2**30)
        self.manager.configure(reordering=reorder, max_memory=MANAGER_BYTES + NODE_BYTES * budget)
        self.manager.declare(*(f"v{i}" for i in range(levels)))
        self.true, self.false = self.manager.true, self.manager.false
        self.largest = largest or budget

    @contextmanager
    def _within_memory(self) -> Iterator[None]:
        """OverBudget where `dd` finds no node: the limit of memory was met."""
        try:
            yield
        except (ValueError, RuntimeError) as error:
            if "NULL" not in str(error) and "failed" not in str(error):
                raise
            raise OverBudget from None

    def variable(self, level: int) -> Any:
        """The function that is the variable declared as `level`."""
        return self.manager.var(f"v{level}")

    def negate(self, f: Any) -> Any:
        """Not f."""
        return ~f

    def both(self, f: Any, g: Any) -> Any:
        """f and g."""
        with self._within_memory():
            return f & g

    def either(self, f: Any, g: Any) -> Any:
        """f or g."""
        with self._within_memory():
            return f | g

    def choose(self, f: Any, g: Any, h: Any) -> Any:
        """If f then g else h."""
        with self._within_memory():
            return self.manager.ite(f, g, h)

    def restrict(self, f: Any, level: int, value: bool) -> Any:
        """f with a variable set."""
        with self._within_memory():
            return self.manager.let({f"v{level}": value}, f)

    def flat(self, f: Any, tick: Callable[[], None]) -> tuple[Flat, int, list[int]]:
        """(nodes, root, variable at each level), complemented edges resolved."""
        self.manager.configure(reordering=False)
        if f.dag_size > self.largest:
            raise OverBudget
        levels = len(self.manager.vars)
        nodes, index = Flat(), {self.false: 0, self.true: 1}
        stack = [f]
        while stack:
            top = stack[-1]
            if top in index:
                stack.pop()
                continue
            low, high = (~top.low, ~top.high) if top.negated else (top.low, top.high)
            waiting = [g for g in (low, high) if g not in index]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if len(nodes.level) % NODES_PER_LOOK == 0:
                tick()
            index[top] = len(nodes.level)
            nodes.level.append(top.level)
            nodes.low.append(index[low])
            nodes.high.append(index[high])
        names = [int(self.manager.var_at_level(i)[1:]) for i in range(levels)]
        root = index[f]
        index.clear()
        return nodes, root, names


@cache
def have_cudd() -> bool:
    """Whether `dd.cudd` can be imported."""
    from importlib.util import find_spec

    return find_spec("dd") is not None and find_spec("dd.cudd") is not None


class Builder:
    """Functions of one region over its elements.

    Levels are laid out in the region's order, each decision beside its element; `element[level]` is the position of
    the variable or submodule head that the level stands for, `None` for a decision."""

    def __init__(self, instance: Instance, plan: Plan, region: Region, allowed: frozenset[int],
                 make: Callable[[int], Kernel], deadline: float | None) -> None:
        self.instance, self.plan, self.region, self.allowed = instance, plan, region, allowed
        self.deadline = deadline
        self.element: list[int | None] = []
        self._choice: dict[int, list[int]] = {}  # mixed variable -> a level for each alternative
        self._own: dict[int, int] = {}
        for at in region.order:
            if plan.uses[at] == BOTH:
                codes = instance.alternatives(at)
                self._choice[at] = list(range(len(self.element), len(self.element) + len(codes)))
                self.element += [None] * len(codes)
            if at in allowed or at in region.heads:
                self._own[at] = len(self.element)
                self.element.append(at)
        if region.head is not None and region.head in allowed:
            self._own[region.head] = len(self.element)
            self.element.append(region.head)
        self.kernel = make(len(self.element))
        self._flipped: dict[int, Any] = {}
        self._memo: dict[int, Any] = {}

    def build(self) -> tuple[Flat, int, list[int | None]]:
        """(nodes, root, element at each level) of the family of sets that satisfy AC2 here."""
        k, instance = self.kernel, self.instance
        possible: dict[int, list[Any]] = {}
        for at in sorted(self.region.order):
            self._tick()
            possible[at] = self._possible(at)
            if self.plan.uses[at] != BOTH:
                self._flipped[at] = possible[at][0]
        head = self.region.head
        result = self._convert(instance.failure if head is None else instance.rule(head, instance.alternatives(head)[0]))
        self._memo.clear()
        for at in sorted(self._choice, reverse=True):
            self._tick()
            result = self._eliminate(result, self._choice[at], possible.pop(at))
        if head is not None and head in self.allowed:
            result = k.either(result, k.variable(self._own[head]))
        nodes, root, names = k.flat(result, self._tick)
        return nodes, root, [self.element[n] for n in names] if names else self.element

    def _tick(self) -> None:
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTime

    def _possible(self, at: int) -> list[Any]:
        """For each alternative: in the set, or brought about by the equation."""
        k = self.kernel
        own = k.variable(self._own[at]) if at in self._own else k.false
        if at in self.region.heads:
            return [own]
        return [k.either(own, self._convert(self.instance.rule(at, q))) for q in self.instance.alternatives(at)]

    def _eliminate(self, f: Any, choice: list[int], possible: list[Any]) -> Any:
        k = self.kernel
        rest = f
        for level in choice:
            rest = k.restrict(rest, level, False)
        result = rest
        for level, way in zip(choice, possible, strict=True):
            flipped = k.restrict(f, level, True)
            for other in choice:
                if other != level:
                    flipped = k.restrict(flipped, other, False)
            if flipped != rest:
                result = k.either(result, k.both(flipped, way))
        return result

    def _event(self, at: int, code: int) -> Any:
        k, actual = self.kernel, self.instance.actual[at]
        if at in self._flipped:
            return self._flipped[at] if code != actual else k.negate(self._flipped[at])
        if at not in self._choice:  # best left at its actual value, or mentioned without influence
            return k.true if code == actual else k.false
        levels = self._choice[at]
        if code != actual:
            return k.variable(levels[self.instance.alternatives(at).index(code)])
        result = k.true
        for level in levels:
            result = k.both(result, k.negate(k.variable(level)))
        return result

    def _convert(self, root: int) -> Any:
        """The function of a circuit node; what was built for other roots is kept."""
        circuit = self.instance.circuit
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self._memo:
                stack.pop()
                continue
            waiting = [c for c in circuit.children(node) if c not in self._memo]
            if waiting:
                stack += waiting
            else:
                stack.pop()
                self._tick()
                self._memo[node] = self._gate(circuit.nodes[node])
        return self._memo[root]

    def _gate(self, entry: tuple[Any, ...]) -> Any:
        k, memo = self.kernel, self._memo
        match entry[0]:
            case "const":
                return k.true if entry[1] else k.false
            case "atom":
                return self._event(entry[1], entry[2])
            case "not":
                return k.negate(memo[entry[1]])
            case "and" | "or" | "xor":
                kids = [memo[c] for c in entry[1]]
                result = kids[0]
                for kid in kids[1:]:
                    result = (k.both(result, kid) if entry[0] == "and" else k.either(result, kid) if entry[0] == "or"
                              else k.choose(result, k.negate(kid), kid))
                return result
            case "atleast":
                row = [k.true] + [k.false] * entry[1]
                for c in entry[2]:
                    row = [k.true] + [k.choose(memo[c], row[j - 1], row[j]) for j in range(1, entry[1] + 1)]
                return row[-1]
            case _:
                return self._case(entry[1], entry[2])

    def _case(self, at: int, kids: tuple[int, ...]) -> Any:
        k = self.kernel
        if self.instance.sizes[at] == 2:
            return k.choose(self._event(at, 1), self._memo[kids[1]], self._memo[kids[0]])
        result = self._memo[kids[self.instance.actual[at]]]
        for code in self.instance.alternatives(at):
            result = k.choose(self._event(at, code), self._memo[kids[code]], result)
        return result


def family(instance: Instance, plan: Plan, region: Region, parents: dict[int, list[int]], allowed: frozenset[int], budget: int,
           deadline: float | None, *, again: bool = False) -> tuple[Flat, int, list[int | None]]:
    """The diagram of one region under a node budget: in Python while small, then by CUDD in two fixed orders, then in two
    orders that are improved on the way. With `again` the first order of many nodes is known to fail.

    OverBudget when every attempt outgrew it."""
    size = sum(1 + (plan.uses[at] == BOTH) * (instance.sizes[at] - 1) for at in region.order)
    cudd = have_cudd()
    attempts: list[tuple[Callable[[int], Kernel], Callable[[], tuple[int, ...]]]] = []
    if size <= SMALL or budget <= SMALL_NODES or not cudd:
        attempts.append((lambda n: PythonKernel(n, min(budget, SMALL_NODES) if cudd else budget), lambda: region.order))
    if budget > SMALL_NODES and cudd:
        if not (again and budget > STATIC_NODES):
            attempts.append((lambda n: CuddKernel(n, min(budget, STATIC_NODES), reorder=False), lambda: region.order))
        if any(plan.uses[at] == BOTH for at in region.order):  # without decisions orders improved on the way do better
            attempts.append((lambda n: CuddKernel(n, min(budget, CLOSE_NODES), reorder=False, largest=STATIC_NODES),
                             lambda: by_force(region, parents)))
    if budget > STATIC_NODES and cudd:
        attempts.append((lambda n: CuddKernel(n, budget, reorder=True), lambda: region.order))
        attempts.append((lambda n: CuddKernel(n, budget, reorder=True), lambda: region.order[::-1]))
    for make, order_of in attempts:
        try:
            return Builder(instance, plan, replace(region, order=order_of()), allowed, make, deadline).build()
        except OverBudget:
            continue
    raise OverBudget


assert TRUE == 1, "circuits and diagrams share the coding of the constants"

"""Minimal sets of an upward-closed family, into a zero-suppressed diagram (Rauzy's minsol, iterative)."""
from __future__ import annotations

import time

from causal._bdd import Flat, OverBudget
from causal._sat import OutOfTime

STEPS_PER_LOOK = 4096  # how often the clock is looked at
LOOP_NODES = 20_000  # from which the compiled loop is worth loading
STEPS_PER_NODE = 100  # of the budget, in the compiled loop


class Family:
    """A zero-suppressed diagram in lists, children before parents: 0 is no set, 1 the empty set alone.

    `label[node]` is the element that a node decides; `high` puts it in."""

    def __init__(self) -> None:
        self.label: list[int] = [-1, -1]
        self.low: list[int] = [0, 0]
        self.high: list[int] = [0, 0]
        self.root = 0

    def put(self, label: int) -> None:
        """Add the set of this element alone, which is in no other set."""
        self.label.append(label)
        self.low.append(self.root)
        self.high.append(1)
        self.root = len(self.label) - 1


class _Minimiser:
    def __init__(self, bdd: Flat, budget: int, deadline: float | None) -> None:
        self.bdd, self.budget, self.deadline, self._steps = bdd, budget, deadline, 0
        self.level, self.low, self.high = [-1, -1], [0, 1], [0, 1]
        self._unique: dict[tuple[int, int, int], int] = {}
        self._minimal: dict[int, int] = {0: 0, 1: 1}
        self._without: dict[tuple[int, int], int] = {}

    def make(self, level: int, low: int, high: int) -> int:
        """The node, new or shared; zero-suppressed."""
        if high == 0:
            return low
        key = (level, low, high)
        found = self._unique.get(key)
        if found is None:
            found = self._unique[key] = len(self.level)
            if found > self.budget:
                raise OverBudget
            self.level.append(level)
            self.low.append(low)
            self.high.append(high)
        return found

    def tick(self) -> None:
        """OutOfTime past the deadline."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise OutOfTime

    def minimal(self, root: int) -> int:
        """The minimal sets of the function `root`: those of low, and those of high that do not satisfy low."""
        bdd, done = self.bdd, self._minimal
        stack = [root]
        while stack:
            f = stack[-1]
            if f in done:
                stack.pop()
                continue
            low, high = bdd.low[f], bdd.high[f]
            if low in done and high in done:
                stack.pop()
                done[f] = self.make(bdd.level[f], done[low], self.without(done[high], low))
            else:
                stack += [g for g in (low, high) if g not in done]
        return done[root]

    def without(self, family: int, f: int) -> int:
        """The sets of `family` at which the monotone function `f` is false."""
        self.tick()
        level, low, high, bdd, done = self.level, self.low, self.high, self.bdd, self._without
        stack = [(family, f)]
        while stack:
            self._steps += 1
            if not self._steps % STEPS_PER_LOOK:
                self.tick()
            z, g = key = stack[-1]
            if key in done:
                stack.pop()
                continue
            if z == 0 or g == 1:
                done[key] = 0
            elif g == 0 or z == 1:  # f is monotone and not true, so the empty set does not satisfy it
                done[key] = z
            elif bdd.level[g] < level[z]:
                below = (z, bdd.low[g])
                if below not in done:
                    stack.append(below)
                    continue
                done[key] = done[below]
            else:
                same = bdd.level[g] == level[z]
                left = (low[z], bdd.low[g] if same else g)
                right = (high[z], bdd.high[g] if same else g)
                waiting = [k for k in (left, right) if k not in done]
                if waiting:
                    stack += waiting
                    continue
                done[key] = self.make(level[z], done[left], done[right])
            stack.pop()
        return done[family, f]


def minimal_sets(bdd: Flat, root: int, labels: list[int | None], budget: int, deadline: float | None = None) -> Family:
    """The minimal sets of a monotone function, with levels replaced by the elements they stand for.

    OutOfTime; OverBudget beyond `budget` nodes, or too many steps. Only what no clock limits goes by the compiled loop,
    which looks at none and takes seconds to be compiled when it is used for the first time."""
    if root < LOOP_NODES or deadline is not None:
        work = _Minimiser(bdd, budget, deadline)
        top, level, low, high = work.minimal(root), work.level, work.low, work.high
    else:
        top, level, low, high = _by_loop(bdd, root, budget)
    family = Family()
    seen = {0: 0, 1: 1}
    live = {0, 1}
    stack = [top]
    while stack:
        node = stack.pop()
        if node not in live:
            live.add(node)
            stack += [low[node], high[node]]
    for node in sorted(live - {0, 1}):
        label = labels[level[node]]
        assert label is not None, "every decision was eliminated"
        seen[node] = len(family.label)
        family.label.append(label)
        family.low.append(seen[low[node]])
        family.high.append(seen[high[node]])
    family.root = seen[top]
    return family


def _by_loop(bdd: Flat, root: int, budget: int) -> tuple[int, list[int], list[int], list[int]]:
    """(root, level, low, high) of the diagram that `_Minimiser` makes, by the compiled loop."""
    import numpy as np

    from causal._minsol import minimal

    level, low, high = (np.array(column[:root + 1], np.int64) for column in (bdd.level, bdd.low, bdd.high))
    count, top, nodes = minimal(level, low, high, root, budget, STEPS_PER_NODE * budget)
    if not count:
        raise OverBudget
    level, low, high = nodes.T
    return int(top), level.tolist(), low.tolist(), high.tolist()

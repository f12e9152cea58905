"""All causes on diagrams: one zero-suppressed diagram a module, composed without being expanded.

What one path brings about (`causal._reduce`) is split off twice: the causes of one variable before anything else, and in
each module the elements that flip its head by themselves.

Everything here is linear in the nodes of the diagrams (sizes: times the length of a polynomial), however many causes
there are."""
from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from causal import _bdd
from causal._instance import Instance
from causal._minimal import Family, minimal_sets
from causal._plan import Plan, Region, make_plan
from causal._reduce import Reduced
from causal.errors import CausalError

WHOLE = 8  # variables up to which a region is not worth splitting

Agenda = tuple["Family", int, "Agenda"] | None
Chosen = tuple[int, "Chosen"] | None


@dataclass(frozen=True, slots=True)
class Work:
    """What a diagram is made of, in integers, so that it can be made in another process: see `causal._reduce.Reduced`.

    pieces   for each module, submodules first: what is left of its region, who may be in a set there, and the elements
             that flip its head by themselves"""

    instance: Instance
    plan: Plan
    parents: dict[int, list[int]]
    pieces: tuple[tuple[Region, frozenset[int], list[int]], ...]
    singles: tuple[int, ...]
    universe: int

    @classmethod
    def of(cls, reduced: Reduced) -> Work:
        """The modules of a question."""
        plan = make_plan(reduced.instance, reduced.uses, reduced.parents)
        pieces = tuple(_split(reduced, region) for region in plan.regions)
        return cls(reduced.instance.bare(), plan, reduced.parents, pieces, reduced.singles, reduced.universe)

    def diagram(self, budget: int, deadline: float | None = None, *, again: bool = False) -> Diagram | None:
        """All causes, None if a module needs more than `budget` nodes in every order that is tried. OutOfTime.

        The clock is looked at between operations. With `again` the first order of many nodes is known to fail."""
        found = []
        try:
            for region, allowed, _ in self.pieces:
                family = Family()
                if region.order:
                    nodes, root, labels = _bdd.family(self.instance, self.plan, region, self.parents, allowed, budget, deadline,
                                                      again=again)
                    family = minimal_sets(nodes, root, labels, budget, deadline)
                found.append(family)
        except _bdd.OverBudget:
            return None
        return Diagram(self, found)


class Diagram:
    """The store of a family: diagrams by module head, the effect's last. Positions are those of the instance."""

    def __init__(self, work: Work, families: list[Family]) -> None:
        self._universe, self._singles = work.universe, work.singles
        self._modules: dict[int, Family] = {}
        for (region, _, alone), family in zip(work.pieces, families, strict=True):
            for at in alone:
                family.put(at)
            self._modules[-1 if region.head is None else region.head] = family
        self._effect = self._modules[-1]
        # a head inside its own module is the variable itself, anywhere else it is the module
        self._heads = set(self._modules) - {-1}
        self._counts = self._count_all()

    complete = True

    @property
    def complete_up_to(self) -> int:
        """Every size."""
        return self._universe

    @property
    def nodes(self) -> int:
        """How many diagram nodes hold the family."""
        return sum(len(f.label) for f in self._modules.values()) + len(self._singles)

    def _module(self, head: int, label: int) -> Family | None:
        """The submodule that `label` stands for in the module of `head`, or None if it is a variable."""
        return self._modules[label] if label in self._heads and label != head else None

    def _count_all(self) -> dict[int, list[int]]:
        """For each module the number of sets under each node."""
        counts: dict[int, list[int]] = {}
        for head, f in self._modules.items():
            below = counts[head] = [0, 1]
            for node in range(2, len(f.label)):
                label = f.label[node]
                weight = counts[label][self._modules[label].root] if self._module(head, label) else 1
                below.append(below[f.low[node]] + weight * below[f.high[node]])
        return counts

    @property
    def count(self) -> int:
        """How many causes."""
        return self._counts[-1][self._effect.root] + len(self._singles)

    @property
    def min_size(self) -> int | None:
        """The shortest path."""
        if self._singles:
            return 1
        return self._least()[-1][self._effect.root] if self.count else None

    def sizes(self) -> dict[int, int]:
        """Counts by size: polynomials packed into integers, wide enough that no coefficient overflows."""
        width = self.count.bit_length() + 1
        for head, f in self._modules.items():
            width = max(width, self._counts[head][f.root].bit_length() + 1)
        packed: dict[int, int] = {}
        for head, f in self._modules.items():
            below = [0, 1]
            for node in range(2, len(f.label)):
                label = f.label[node]
                weight = packed[label] if self._module(head, label) else 1 << width
                below.append(below[f.low[node]] + weight * below[f.high[node]])
            packed[head] = below[f.root]
        found = self._unpack(packed[-1], width)
        if self._singles:
            found[1] = found.get(1, 0) + len(self._singles)
        return dict(sorted(found.items()))

    @staticmethod
    def _unpack(packed: int, width: int) -> dict[int, int]:
        text = bin(packed)[2:]
        pieces = [text[max(0, end - width):end] for end in range(len(text), 0, -width)]
        return {size: int(piece, 2) for size, piece in enumerate(pieces) if "1" in piece}

    def participation(self) -> dict[int, int]:
        """In how many causes each variable is, from above and below each node."""
        result = dict.fromkeys(self._singles, 1)
        outside = {-1: 1}  # for each module: in how many ways it can be completed
        for head in reversed(self._modules):
            f, counts = self._modules[head], self._counts[head]
            above = [0] * len(f.label)
            above[f.root] = outside.get(head, 0)
            for node in range(len(f.label) - 1, 1, -1):
                label, ways = f.label[node], above[node]
                if not ways:
                    continue
                module = self._module(head, label)
                weight = self._counts[label][module.root] if module else 1
                above[f.low[node]] += ways
                above[f.high[node]] += ways * weight
                through = ways * counts[f.high[node]]
                target = outside if module else result
                target[label] = target.get(label, 0) + through
        return {at: n for at, n in sorted(result.items()) if n}

    def __iter__(self) -> Iterator[frozenset[int]]:
        return self.up_to(None)

    def up_to(self, size: int | None) -> Iterator[frozenset[int]]:
        """Every cause of at most `size` variables, depth first, low branches first."""
        yield from (frozenset({at}) for at in self._singles if size is None or size >= 1)
        least = self._least() if size is not None else None
        start: Agenda = (self._effect, self._effect.root, None)
        heads = {id(f): head for head, f in self._modules.items()}
        stack: list[tuple[Agenda, Chosen, int]] = [(start, None, 0)]
        while stack:
            agenda, chosen, used = stack.pop()
            while agenda is not None and agenda[1] == 1:
                agenda = agenda[2]
            if agenda is None:
                yield _unlink(chosen)
                continue
            f, node, rest = agenda
            if node == 0 or (least is not None and size is not None and used + _need(agenda, least, heads) > size):
                continue
            label = f.label[node]
            module = self._module(heads[id(f)], label)
            after: Agenda = (f, f.high[node], rest)
            if module is None:
                stack.append((after, (label, chosen), used + 1))
            else:
                stack.append(((module, module.root, after), chosen, used))
            stack.append(((f, f.low[node], rest), chosen, used))

    def _least(self) -> dict[int, list[int]]:
        """The size of the smallest set under each node; a huge number where there is none."""
        none = self._universe + 1
        least: dict[int, list[int]] = {}
        for head, f in self._modules.items():
            below = least[head] = [none, 0]
            for node in range(2, len(f.label)):
                label = f.label[node]
                weight = least[label][self._modules[label].root] if self._module(head, label) else 1
                below.append(min(below[f.low[node]], weight + below[f.high[node]]))
        return least

    def __contains__(self, cause: frozenset[int]) -> bool:
        if not cause.isdisjoint(self._singles):
            return len(cause) == 1
        wanted: dict[int, set[int]] = {}
        owner = self._owners()
        for at in cause:
            if at not in owner:
                return False
            label, head = at, owner[at]
            while True:  # the variable in its module, the module in the one above, up to the effect
                known = label in wanted.setdefault(head, set())
                wanted[head].add(label)
                if head == -1 or known:
                    break
                label, head = head, self._parent[head]
        return all(self._holds_exactly(head, labels) for head, labels in wanted.items()) and (
            bool(wanted) or self._effect.root == 1)

    def _owners(self) -> dict[int, int]:
        """The module in which each variable is an element by itself; fills `_parent` for the modules."""
        self._parent: dict[int, int] = {}
        owner: dict[int, int] = {}
        for head, f in self._modules.items():
            for label in set(f.label[2:]):
                if self._module(head, label):
                    self._parent[label] = head
                else:
                    owner[label] = head
        return {at: head for at, head in owner.items() if head == -1 or self._reaches(head)}

    def _reaches(self, head: int) -> bool:
        while head != -1:
            if head not in self._parent:
                return False
            head = self._parent[head]
        return True

    def _holds_exactly(self, head: int, labels: set[int]) -> bool:
        f, left = self._modules[head], len(labels)
        node = f.root
        while node > 1:
            if f.label[node] in labels:
                node, left = f.high[node], left - 1
            else:
                node = f.low[node]
        return node == 1 and left == 0

    def sample(self, number: int, seed: int) -> list[frozenset[int]]:
        """Uniform draws with replacement."""
        if not self.count:
            raise CausalError("there is no cause to sample")
        draw = random.Random(seed)
        return [self._draw(draw) for _ in range(number)]

    def _draw(self, draw: random.Random) -> frozenset[int]:
        first = draw.randrange(self.count)
        if first < len(self._singles):
            return frozenset({self._singles[first]})
        found: list[int] = []
        waiting = [-1]
        while waiting:
            head = waiting.pop()
            f, counts = self._modules[head], self._counts[head]
            node = f.root
            while node > 1:
                if draw.randrange(counts[node]) < counts[f.low[node]]:
                    node = f.low[node]
                    continue
                label = f.label[node]
                (waiting if self._module(head, label) else found).append(label)
                node = f.high[node]
        return frozenset(found)


def _split(reduced: Reduced, region: Region) -> tuple[Region, frozenset[int], list[int]]:
    """(what is left of a region, who may be in a set there, the elements that flip its head by themselves)."""
    allowed, order = reduced.allowed, frozenset(region.order)
    rest, left, alone = region, allowed, set[int]()
    if len(order) > WHOLE:
        reached = reduced.paths.reach(region.head, order - region.heads) & order
        alone = reached & (allowed | region.heads)
        heads, left = region.heads - alone, allowed - alone
        movable: set[int] = set()
        for at in sorted(order):
            if at in heads or (at not in region.heads and (at in left or not movable.isdisjoint(reduced.parents[at]))):
                movable.add(at)
        rest = Region(region.head, tuple(at for at in region.order if at in movable), heads)
    if not rest.order and region.head in allowed:  # else it is an element of what is left
        alone.add(region.head)
    return rest, left, sorted(alone)


def _unlink(chosen: Chosen) -> frozenset[int]:
    found = []
    while chosen is not None:
        found.append(chosen[0])
        chosen = chosen[1]
    return frozenset(found)


def _need(agenda: Agenda, least: dict[int, list[int]], heads: dict[int, int]) -> int:
    """How many variables the open part of a cause needs at least."""
    total = 0
    while agenda is not None:
        f, node, agenda = agenda
        total += least[heads[id(f)]][node]
    return total

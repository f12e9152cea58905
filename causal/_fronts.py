"""From one witness to many: the variables that are set are moved along the edges of the model.

A front is a set of variables set by intervention, with every change that follows; all else is held as it was. Setting a
parent so that it brings the same change about, or the child that it brought about, gives a front of the same size with
nothing but local checks. Where all smaller causes are known, the fronts that contain none of them are causes."""
from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator

from causal._reduce import Change, Paths

FAN_IN = 6  # parents of a variable at which two paths are tried together
MOST = 2_000  # changes in a witness that is still copied about
SEED_MOVES = 5_000  # fronts passed through from all meetings of two paths
MOVES = 200  # fronts passed through from one witness of the solver

Front = frozenset[int]
State = tuple[Front, dict[int, int]]


class Fronts:
    """Fronts met so far, over a model in a context. `usable` may be in a cause; others are only passed through."""

    def __init__(self, paths: Paths, usable: frozenset[int]) -> None:
        self.paths, self.usable = paths, usable
        self.seen: set[Front] = set()

    def pairs(self) -> Iterator[Front]:
        """Pairs from every place where it takes two changes to continue a path to the failure of the effect."""
        yield from self._grow(self._meetings(), SEED_MOVES)

    def like(self, front: Front, changed: dict[int, int]) -> Iterator[Front]:
        """Fronts reached from a witness: what it sets and every change, by position."""
        if len(changed) <= MOST and front <= changed.keys():
            self.seen.add(front)
            yield from self._grow(iter([(front, changed)]), MOVES)

    def _grow(self, seeds: Iterator[State], budget: int) -> Iterator[Front]:
        near: deque[State] = deque()
        far: deque[State] = deque()  # with a variable that is only passed through
        while near or budget > 0:
            state = near.popleft() if near else next(seeds, None) or (far.popleft() if far else None)
            if state is None:
                return
            if state[0] not in self.seen:  # a meeting itself
                self.seen.add(state[0])
                if state[0] <= self.usable:
                    yield state[0]
            budget -= not state[0] <= self.usable  # one that may be a cause leads to more of its kind, and is free
            for front, changed in self._moves(*state):
                if front in self.seen:
                    continue
                self.seen.add(front)
                if front <= self.usable:
                    yield front
                    near.append((front, changed))
                else:
                    far.append((front, changed))

    def _meetings(self) -> Iterator[State]:
        paths, instance = self.paths, self.paths.instance
        for tail in paths.to_the_end().values():
            at, code = tail[0]
            if not 2 <= len(instance.parents[at]) <= FAN_IN or tail[1] > MOST:
                continue
            enough = paths.into(at).get(code, [])
            for p, q in itertools.combinations(instance.parents[at], 2):
                for one, two in itertools.product(*([(v, c) for c in instance.alternatives(v)] for v in (p, q))):
                    if one in enough or two in enough or paths.code(at, dict([one, two])) != code:
                        continue
                    changed = paths.changes(tail) | dict([one, two])
                    if all(self._sound(v, changed, frozenset((p, q))) for v in (p, q)):
                        yield frozenset((p, q)), changed

    def _moves(self, front: Front, changed: dict[int, int]) -> Iterator[State]:
        """The fronts one step further from the effect, and one step nearer."""
        for at in front:
            rest = front - {at}
            for step in self._before(at, changed):
                if step[0] not in front and changed.get(step[0], step[1]) == step[1]:
                    after = changed | dict([step])
                    moved = rest | {step[0]}
                    if self.paths.code(at, after) == changed[at] and self._sound(step[0], after, moved):
                        yield moved, after
            for child in self.paths.children[at]:
                if child in changed and child not in front:
                    after = {v: c for v, c in changed.items() if v != at}
                    moved = rest | {child}
                    if self._sound(at, after, moved):
                        yield moved, after

    def _before(self, at: int, changed: dict[int, int]) -> Iterator[Change]:
        """Changes of one parent that may bring the change of `at` about."""
        instance = self.paths.instance
        for parent in instance.parents[at]:
            for code in instance.alternatives(parent):
                yield parent, code

    def _sound(self, moved: int, changed: dict[int, int], front: Front) -> bool:
        """Whether every change that `moved` acts on still follows, and the effect still fails."""
        paths = self.paths
        for u in paths.children[moved]:
            if u in changed and u not in front and paths.code(u, changed) != changed[u]:
                return False
        return moved not in paths.ends or paths.fails(changed)

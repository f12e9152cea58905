"""Which sets of one or two variables can make the effect fail, for large models of two-valued variables.

Every set is a lane (`causal._lanes`). Lanes are bounded, 64 at a time: what no row of a table allows is taken away, from
the causes forwards and from the failure backwards. Where something is left, a witness is put together from the failure
backwards, along the witnesses of other lanes. What has neither a proof nor a witness is split: one variable stays as it
was, or it changes. The few variables that decide one lane decide most others too."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from causal._instance import Instance

FAN_IN = 6  # parents of a variable whose table is one word
BLOCK = 4096  # lanes at a time: what they need fits a cache
ROUNDS = 8  # of bounds forwards and backwards
HINTS = 20  # witnesses kept of each sweep
PATIENCE = (3, 20)  # sweeps in turn that bring nothing
SPLITS = 12  # variables tried first, those that decided most lanes
QUICK_SPLITS = 3  # of them used in the quick bound of pairs
MANY = 300  # partners left in it by which a variable is looked at again
FEW = 256  # lanes that are split by every variable

Array = Any


class Tables(NamedTuple):
    """See `causal._lanes`; the failure comes last."""

    start: Array
    parent: Array
    table: Array


def tables(instance: Instance) -> Tables | None:
    """The equations as truth tables of changes, or None where a variable has more values or too many parents."""
    if any(size > 2 for size in instance.sizes):
        return None
    start, parents, words = [0], [], []
    roots = [instance.rule(at, 1 - code) for at, code in enumerate(instance.actual)]
    for root in [*roots, instance.failure]:
        of = sorted(instance.circuit.support(root))
        if len(of) > FAN_IN:
            return None
        parents += of
        start.append(len(parents))
        words.append(_word(instance, root, of))
    return Tables(np.array(start), np.array(parents, np.int64), np.array(words, np.uint64))


def _word(instance: Instance, root: int, of: list[int]) -> int:
    rows = 1 << len(of)
    everywhere = (1 << rows) - 1
    changed = {at: sum(1 << t for t in range(rows) if t >> i & 1) for i, at in enumerate(of)}
    ones = {at: word ^ everywhere if instance.actual[at] else word for at, word in changed.items()}
    return instance.circuit.words(instance.circuit.reachable([root]), ones, everywhere)[root]


def _least(table: Array, start: Array) -> Array:
    """The tables without the rows that change more than another row does: enough where staying never hurts."""
    known: dict[tuple[int, int], int] = {}

    def least(key: tuple[int, int]) -> int:
        if key not in known:
            on = [t for t in range(1 << key[1]) if key[0] >> t & 1]
            known[key] = sum(1 << t for t in on if not any(u != t and u & t == u for u in on))
        return known[key]

    return np.array([least(key) for key in zip(table.tolist(), np.diff(start).tolist(), strict=True)], np.uint64)


class Lanes:
    """Sets of variables, many at once: which of them make the effect fail."""

    def __init__(self, of: Tables, tick: Callable[[], None]) -> None:
        from causal import _lanes

        self.of, self.tick, self.compiled = of, tick, _lanes
        self.count = len(of.table)
        self.hints = [np.zeros(self.count, np.uint8)]  # what changes in a witness; at first nothing
        self.useful: Counter[int] = Counter()
        self._state = np.array([0x9E3779B97F4A7C15], np.uint64)
        self._draw = np.random.default_rng(0)

    def fail(self, sets: Array, ask: Callable[[frozenset[int]], Iterable[int] | None]) -> Array:
        """Which of the rows of `sets` make the effect fail; `ask` decides what is left open."""
        fails, open_ = np.zeros(len(sets), bool), np.ones(len(sets), bool)
        for patience in PATIENCE:
            for block in _blocks(np.flatnonzero(open_)):
                state, dead = self._bound(sets[block])
                alive = _bits(~dead, len(block))
                fails[block] = self._search(state, alive, patience)
                open_[block] = alive & ~fails[block]
        left = self._unrefuted(sets, np.flatnonzero(open_))
        while len(left):
            decided, witnessed = self._asked(sets[left], ask)
            fails[left] = witnessed
            left = left[~decided]
        return fails

    def _unrefuted(self, sets: Array, left: Array) -> Array:
        """Which of `left` no split refutes: a few are split by every variable, while that refutes any, all others by those
        that proved useful."""
        kept, tried = [], set[int]()
        while len(left):
            for c in [c for c, _ in self.useful.most_common(SPLITS) if c not in tried]:
                tried.add(c)
                left = left[self._split(sets[left], np.full(len(left), c))]
            some, left = left[:FEW], left[FEW:]
            alive = self._split_further(sets[some])
            kept.append(some[alive])
            if alive.all():
                kept.append(left)
                break
        return np.concatenate(kept) if kept else left

    def _asked(self, sets: Array, ask: Callable[[frozenset[int]], Iterable[int] | None]) -> tuple[Array, Array]:
        """(which of `sets` are decided by a question or two, which of them make the effect fail): one at least.

        First about all with the variable that is in most of them: where these fail together, each of them does."""
        values, counts = np.unique(sets, return_counts=True)
        group = (sets == values[np.argmax(counts)]).any(axis=1)
        found = np.zeros(len(sets), bool)
        for asked in (group, np.arange(len(sets)) == np.argmax(group)):
            changed = ask(frozenset(sets[asked].ravel().tolist()))
            if changed is None:
                return asked, np.zeros(len(sets), bool)
            hint = np.zeros(self.count, np.uint8)
            hint[[*changed, -1]] = 1
            self.hints.append(hint)
            state, dead = self._bound(sets)
            found = self._search(state, _bits(~dead, len(sets)), 2, hint)
            if found.any():
                return found, found
        return asked, asked

    def _bound(self, sets: Array, stays: Array | None = None, moves: Array | None = None) -> tuple[tuple, Array]:
        """What is left of each lane, and the lanes in which nothing is; `stays` and `moves` name one variable a lane."""
        self.tick()
        words = (len(sets) + 63) // 64
        lane = np.arange(len(sets))
        own = np.zeros((self.count, words), np.uint64)
        one, zero = np.full_like(own, self.compiled.ALL), np.full_like(own, self.compiled.ALL)
        bit = np.uint64(1) << (lane & 63).astype(np.uint64)
        for column in sets.T:
            np.bitwise_or.at(own, (column, lane >> 6), bit)
        for variables, there in ((stays, one), (moves, zero)):
            if variables is not None:
                np.bitwise_and.at(there, (variables, lane >> 6), ~bit)
        zero[-1] = 0
        dead = np.zeros(words, np.uint64)
        for _ in range(ROUNDS):
            self.compiled.forward(*self.of, one, zero, own)
            if not self.compiled.backward(*self.of, one, zero, own, dead):
                break
        return (one, zero, own), dead | ~one[-1]

    def _search(self, state: tuple, wanted: Array, patience: int, hint: Array | None = None) -> Array:
        """The lanes for which a witness is found, along `hint` first; sweeps end when so many in turn brought nothing."""
        found, idle = np.zeros(len(wanted), bool), 0
        while idle < patience and not found[wanted].all():
            one, zero, own = state[0].copy(), state[1].copy(), state[2]
            if hint is None:
                hint = self.hints[self._draw.integers(len(self.hints))]
            fail = self.compiled.sweep(*self.of, one, zero, own, hint, self._state)
            hint = None
            new = np.flatnonzero(_bits(~fail, len(wanted)) & ~found)
            found[new] = True
            for lane in new[:HINTS]:
                self.hints.append((~zero[:, lane >> 6] >> np.uint64(lane & 63) & np.uint64(1)).astype(np.uint8))
            idle = 0 if len(new) else idle + 1
        return found

    def _split(self, sets: Array, variables: Array) -> Array:
        """Which lanes are still open, whether their variable stays or changes."""
        alive = np.zeros(len(sets), bool)
        for block in _blocks(np.arange(len(sets))):
            for side in ("stays", "moves"):
                alive[block] |= _bits(~self._bound(sets[block], **{side: variables[block]})[1], len(block))
        self.useful.update(variables[~alive].tolist())
        return alive

    def _split_further(self, sets: Array) -> Array:
        """The same, for every variable that may have to change and may have to stay."""
        alive = np.ones(len(sets), bool)
        state, _ = self._bound(sets)
        moves, stays = self.compiled.roles(*self.of, *state)
        variable, lane = np.nonzero(_table(moves & stays, len(sets)))
        alive[lane[~self._split(sets[lane], variable)]] = False
        return alive


def _blocks(lanes: Array) -> Iterable[Array]:
    return (lanes[at:at + BLOCK] for at in range(0, len(lanes), BLOCK))


def _bits(words: Array, count: int) -> Array:
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:count].astype(bool)


def small_causes(of: Tables, allowed: Iterable[int], ask: Callable[[frozenset[int]], Iterable[int] | None],
                 tick: Callable[[], None]) -> Iterator[tuple[int, list[frozenset[int]]]]:
    """Every variable of `allowed`, then every pair without these, whose change can make the effect fail: (size, sets).

    `ask` is for what lanes leave open: what changes where some of these are set and the effect fails, or None if that
    cannot be. `tick` may raise to stop."""
    lanes = Lanes(of, tick)
    pool = np.array(sorted(allowed), np.int64)
    alone = lanes.fail(pool[:, None], ask)
    yield 1, [frozenset({at}) for at in pool[alone].tolist()]
    pairs = _candidates(lanes, pool[~alone])
    yield 2, [frozenset(pair) for pair in pairs[lanes.fail(pairs, ask)].tolist()]


def _candidates(lanes: Lanes, pool: Array) -> Array:
    """Pairs of `pool` that are not ruled out by a quick bound. Those that only seem to be single causes are split."""
    start, parent, table = lanes.of
    quick = _least(table, start)
    if len(pool) < 2:
        return np.zeros((0, 2), np.int64)
    reached = lanes.compiled.reached
    seem = np.array([], bool)
    for block in _blocks(pool):
        own = np.zeros((lanes.count, (len(block) + 63) // 64), np.uint64)
        own[block, np.arange(len(block)) >> 6] = np.uint64(1) << (np.arange(len(block)) & 63).astype(np.uint64)
        one = np.full_like(own, lanes.compiled.ALL)
        lanes.compiled.forward(start, parent, quick, one, np.full_like(own, lanes.compiled.ALL), own)
        seem = np.append(seem, _bits(one[-1], len(block)))
    hard, easy = pool[seem], pool[~seem]
    lanes.tick()
    open_ = reached(start, parent, quick, easy, easy, True, -1, -1)
    a, b = np.nonzero(np.triu(_table(open_, len(easy)), 1))
    found = [np.stack([easy[a], easy[b]], axis=1)]
    if len(hard):
        left = np.ones((len(hard), len(pool)), bool)
        for c, _ in lanes.useful.most_common(QUICK_SPLITS):
            lanes.tick()
            many = left.sum(axis=1) > MANY
            moved = _least(_where(lanes.of, c), start)
            left[many] &= (_table(reached(start, parent, quick, hard[many], pool, False, c, -1), len(pool))
                           | _table(reached(start, parent, moved, hard[many], pool, False, -1, c), len(pool)))
        a, b = np.nonzero(left)
        both = np.sort(np.stack([hard[a], pool[b]], axis=1), axis=1)
        found.append(np.unique(both[both[:, 0] < both[:, 1]], axis=0))
    return np.concatenate(found)


def _table(words: Array, count: int) -> Array:
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :count].astype(bool)


def _where(of: Tables, changes: int) -> Array:
    """The tables without the rows in which `changes` stays."""
    result = of.table.copy()
    places = np.flatnonzero(of.parent == changes)
    for v, place in zip(np.searchsorted(of.start, places, side="right") - 1, places, strict=True):
        rows, i = 1 << int(of.start[v + 1] - of.start[v]), int(place - of.start[v])
        result[v] &= np.uint64(sum(1 << t for t in range(rows) if t >> i & 1))
    return result

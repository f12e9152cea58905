"""Compiled loops over many questions at once, 64 to a word. Loaded on use: importing this module loads numba.

A lane is one question: can these few variables, set otherwise, make the effect fail? Variables are two-valued and count
as 0 where they are as they were, 1 where they changed. `one[v]` and `zero[v]` hold, for each lane, whether the variable v
may still be 1, or 0; `own[v]` whether it is among those that are set. A variable that is not set may be 1 if a row of its
table gives 1 and the row's parents may be so, and 0 always: it can be held. The last variable is the failure itself.

Tables are words: bit t of `table[v]` says what the equation of v gives where the i-th parent, `parent[start[v] + i]`, has
changed if bit i of t is 1."""
from __future__ import annotations

import numpy as np
from numba import njit

ALL = ~np.uint64(0)
NONE = np.uint64(0)
ONE = np.uint64(1)


@njit(cache=True, inline="always")
def _row(start, parent, v, t, one, zero, row):
    """AND to `row` the lanes in which the parents of v may be as row t of its table has them."""
    for i in range(start[v + 1] - start[v]):
        p = parent[start[v] + i]
        if t >> i & 1:
            for w in range(row.size):
                row[w] &= one[p, w]
        else:
            for w in range(row.size):
                row[w] &= zero[p, w]


@njit(cache=True)
def forward(start, parent, table, one, zero, own):
    """Take from `one` what no row of a table brings about any more, parents first."""
    count, words = one.shape
    row, found = np.empty(words, np.uint64), np.empty(words, np.uint64)
    for v in range(count):
        for w in range(words):
            found[w] = own[v, w]
        for t in range(1 << (start[v + 1] - start[v])):
            if table[v] >> np.uint64(t) & ONE:
                for w in range(words):
                    row[w] = one[v, w]
                _row(start, parent, v, t, one, zero, row)
                for w in range(words):
                    found[w] |= row[w]
        for w in range(words):
            one[v, w] &= found[w]


@njit(cache=True)
def backward(start, parent, table, one, zero, own, dead):
    """Take from the parents of what must be 1 all that no row of its table has; whether anything was taken.

    Lanes in which nothing is left for a variable are added to `dead`."""
    count, words = one.shape
    need, row = np.empty(words, np.uint64), np.empty(words, np.uint64)
    seen = np.empty((2, 6, words), np.uint64)
    taken = NONE
    for v in range(count - 1, -1, -1):
        wanted = NONE
        for w in range(words):
            dead[w] |= ~(one[v, w] | zero[v, w])
            need[w] = ~(zero[v, w] | own[v, w] | dead[w])
            wanted |= need[w]
        if wanted == NONE:
            continue
        degree = start[v + 1] - start[v]
        seen[:, :degree] = NONE
        for t in range(1 << degree):
            if table[v] >> np.uint64(t) & ONE:
                for w in range(words):
                    row[w] = need[w]
                _row(start, parent, v, t, one, zero, row)
                for i in range(degree):
                    for w in range(words):
                        seen[t >> i & 1, i, w] |= row[w]
        for i in range(degree):
            p = parent[start[v] + i]
            for w in range(words):
                lost0, lost1 = need[w] & zero[p, w] & ~seen[0, i, w], need[w] & one[p, w] & ~seen[1, i, w]
                taken |= lost0 | lost1
                zero[p, w] ^= lost0
                one[p, w] ^= lost1
    return taken != NONE


@njit(cache=True)
def sweep(start, parent, table, one, zero, own, hint, state):
    """Choose rows from the failure backwards, without going back; the lanes in which that fails.

    Where `hint` changes a variable, its own row there comes first; other rows follow in an order drawn from `state`.
    In all other lanes what changes is ~zero, and it is a witness."""
    count, words = one.shape
    fail, left, row = np.zeros(words, np.uint64), np.empty(words, np.uint64), np.empty(words, np.uint64)
    for v in range(count - 1, -1, -1):
        wanted = NONE
        for w in range(words):
            fail[w] |= ~(one[v, w] | zero[v, w])
            left[w] = ~(zero[v, w] | own[v, w] | fail[w])
            wanted |= left[w]
        if wanted == NONE:
            continue
        degree = start[v + 1] - start[v]
        first = np.int64(0)
        for i in range(degree):
            first |= np.int64(hint[parent[start[v] + i]]) << i
        state[0] ^= state[0] << np.uint64(13)
        state[0] ^= state[0] >> np.uint64(7)
        state[0] ^= state[0] << np.uint64(17)
        drawn = np.int64(state[0] >> np.uint64(40))
        for turn in range(1 + (1 << degree)):
            t = (turn - 1 ^ drawn) & (1 << degree) - 1 if turn else first
            if (turn or hint[v]) and table[v] >> np.uint64(t) & ONE:
                for w in range(words):
                    row[w] = left[w]
                _row(start, parent, v, t, one, zero, row)
                for i in range(degree):
                    p = parent[start[v] + i]
                    for w in range(words):
                        if t >> i & 1:
                            zero[p, w] &= ~row[w]
                        else:
                            one[p, w] &= ~row[w]
                for w in range(words):
                    left[w] &= ~row[w]
        for w in range(words):
            fail[w] |= left[w]
    return fail


@njit(cache=True)
def roles(start, parent, table, one, zero, own):
    """For each variable the lanes in which it may have to change for the failure, and those in which it may have to stay."""
    count, words = one.shape
    moves, stays = np.zeros((count, words), np.uint64), np.zeros((count, words), np.uint64)
    row = np.empty(words, np.uint64)
    moves[count - 1] = one[count - 1]
    for v in range(count - 1, -1, -1):
        for t in range(1 << (start[v + 1] - start[v])):
            if table[v] >> np.uint64(t) & ONE:
                for w in range(words):
                    row[w] = moves[v, w] & ~own[v, w]
                _row(start, parent, v, t, one, zero, row)
                for i in range(start[v + 1] - start[v]):
                    p = parent[start[v] + i]
                    for w in range(words):
                        if t >> i & 1:
                            moves[p, w] |= row[w]
                        else:
                            stays[p, w] |= row[w] & one[p, w]
    return moves, stays


@njit(cache=True)
def reached(start, parent, table, firsts, seconds, later, still, moved):
    """For each of `firsts`, the lanes of `seconds` with which it may reach the failure, if staying never hurts.

    With `later` only seconds after the first in order, both lists being the same. The variable `still` does not change
    and `moved` must; -1 for none."""
    count, words = start.size - 1, (seconds.size + 63) // 64
    one, result = np.zeros((count, words), np.uint64), np.zeros((firsts.size, words), np.uint64)
    row = np.empty(words, np.uint64)
    lane = np.full(count, -1)
    lane[seconds] = np.arange(seconds.size)
    for f in range(firsts.size):
        begin = f >> 6 if later else 0
        origin = firsts[f] if later else 0  # nothing changes before it
        for v in range(origin, count):
            for w in range(begin, words):
                one[v, w] = ALL if v == firsts[f] else NONE
            if v == still:
                one[v] = NONE
                continue
            if v == firsts[f]:
                continue
            if lane[v] >= 0:
                one[v, lane[v] >> 6] = ONE << np.uint64(lane[v] & 63)
            for t in range(1, 1 << (start[v + 1] - start[v])):
                if table[v] >> np.uint64(t) & ONE:
                    for w in range(begin, words):
                        row[w] = ALL
                    for i in range(start[v + 1] - start[v]):
                        p = parent[start[v] + i]
                        if t >> i & 1:
                            if p < origin:
                                row[begin:] = NONE
                                break
                            for w in range(begin, words):
                                row[w] &= one[p, w]
                    for w in range(begin, words):
                        one[v, w] |= row[w]
        for w in range(begin, words):
            result[f, w] = one[count - 1, w] & (one[moved, w] if moved >= 0 else ALL)
    return result

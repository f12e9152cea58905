"""Minimal sets of an upward-closed family as a compiled loop. Loaded on use: importing this module loads numba.

The zero-suppressed diagram grows in `zlevel`, `zlow`, `zhigh`; `table` finds its nodes by what they are. `keys` and `values`
remember, for pairs (z, g) of a node of either diagram, the sets of z at which the function g is false; a pair takes the
place of another that has the same one."""
from __future__ import annotations

import numpy as np
from numba import njit

EMPTY = -1
BITS = 32  # of g in the key of a pair
MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: multiplicative hashing
SPREAD = 0x5851F42D  # between levels, any odd number
MOST_REMEMBERED = 1 << 24


@njit(cache=True, inline="always")
def _place(number, size):
    """Where a number belongs among `size` places, a power of two."""
    mixed = np.uint64(number) * MIX
    return np.int64((mixed ^ mixed >> np.uint64(32)) & np.uint64(size - 1))


@njit(cache=True)
def _place_of_node(table, zlevel, zlow, zhigh, level, low, high):
    """The place of a node in `table`, or the empty one where it belongs."""
    at = _place((low << BITS | high) + level * SPREAD, table.size)
    while table[at] != EMPTY:
        node = table[at]
        if zlevel[node] == level and zlow[node] == low and zhigh[node] == high:
            break
        at = (at + 1) & (table.size - 1)
    return at


@njit(cache=True)
def _twice(array):
    """The array with as much room again."""
    larger = np.empty(2 * array.size, array.dtype)
    larger[:array.size] = array
    return larger


@njit(cache=True)
def minimal(level, low, high, root, most_nodes, most_steps):
    """(nodes, root, level, low, high) of the minimal sets of the function `root`, children first.

    Those of a node are those of its low child, and those of its high child that do not satisfy the low one. No nodes if there
    are more than `most_nodes`, or `most_steps` are not enough."""
    zlevel, zlow, zhigh = np.zeros(1024, np.int32), np.zeros(1024, np.int32), np.zeros(1024, np.int32)
    count, steps = 2, 0
    table = np.full(4096, EMPTY, np.int32)
    size = 4096
    while size < min(8 * root, MOST_REMEMBERED):
        size *= 2
    keys, values = np.full(size, EMPTY, np.int64), np.empty(size, np.int32)
    frames = np.empty((1024, 3), np.int64)  # pairs (z, g) under way, and what came of the low side, EMPTY before
    wanted = np.zeros(root + 1, np.bool_)
    wanted[root] = True
    for f in range(root, 1, -1):
        if wanted[f]:
            wanted[low[f]] = wanted[high[f]] = True
    done = np.zeros(root + 1, np.int64)
    if root:
        done[1] = 1
    for f in range(2, root + 1):
        if not wanted[f]:
            continue
        z, g, top = done[high[f]], np.int64(low[f]), 0
        while True:
            steps += 1
            if steps > most_steps:
                return 0, 0, zlevel, zlow, zhigh
            while g > 1 and z > 1 and level[g] < zlevel[z]:  # no set of z has the variable of g
                g = np.int64(low[g])
            result = np.int64(EMPTY)
            if z == 0 or g == 1:
                result = np.int64(0)
            elif g == 0 or z == 1:  # g is monotone and not true, so the empty set does not satisfy it
                result = z
            else:
                at = _place(z << BITS | g, size)
                if keys[at] == z << BITS | g:
                    result = np.int64(values[at])
            if result == EMPTY:
                if top == len(frames):
                    larger = np.empty((2 * top, 3), np.int64)
                    larger[:top] = frames
                    frames = larger
                frames[top, 0], frames[top, 1], frames[top, 2] = z, g, EMPTY
                top += 1
                z, g = np.int64(zlow[z]), np.int64(low[g]) if level[g] == zlevel[z] else g
                continue
            while True:  # up, as long as both sides are known
                if top:
                    z, g, first = frames[top - 1]
                    if first == EMPTY:
                        frames[top - 1, 2] = result
                        z, g = np.int64(zhigh[z]), np.int64(high[g]) if level[g] == zlevel[z] else g
                        break
                    at_level = np.int64(zlevel[z])
                else:
                    first, at_level = done[low[f]], level[f]
                if result == 0:
                    result = first
                else:
                    at = _place_of_node(table, zlevel, zlow, zhigh, at_level, first, result)
                    if table[at] == EMPTY:
                        if count > most_nodes:
                            return 0, 0, zlevel, zlow, zhigh
                        if count == zlevel.size:
                            zlevel, zlow, zhigh = _twice(zlevel), _twice(zlow), _twice(zhigh)
                        zlevel[count], zlow[count], zhigh[count] = at_level, first, result
                        table[at] = count
                        count += 1
                        if 2 * count > table.size:
                            table = np.full(2 * table.size, EMPTY, np.int32)
                            for node in range(2, count):
                                table[_place_of_node(table, zlevel, zlow, zhigh, np.int64(zlevel[node]), np.int64(zlow[node]),
                                                     np.int64(zhigh[node]))] = node
                        result = np.int64(count - 1)
                    else:
                        result = np.int64(table[at])
                if not top:
                    break
                at = _place(z << BITS | g, size)
                keys[at], values[at] = z << BITS | g, result
                top -= 1
            if not top:
                done[f] = result
                break
    return count, done[root], zlevel[:count], zlow[:count], zhigh[:count]

"""Minimal sets of an upward-closed family as a compiled loop. Loaded on use: importing this module loads numba.

The zero-suppressed diagram grows in `nodes`, rows of (level, low, high); `table` finds them by what they are. `keys` and
`values` remember, for pairs (z, g) of a node of either diagram, the sets of z at which the function g is false; a pair takes
the place of another that has the same one."""
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
def _place_of_node(table, nodes, level, low, high):
    """The place of a node in `table`, or the empty one where it belongs."""
    at = _place((low << BITS | high) + level * SPREAD, table.size)
    while table[at] != EMPTY:
        node = nodes[table[at]]
        if node[0] == level and node[1] == low and node[2] == high:
            break
        at = (at + 1) & (table.size - 1)
    return at


@njit(cache=True)
def _make(table, nodes, count, level, low, high):
    """(the node, new or shared, and what was given, grown where it is new); zero-suppressed."""
    if high == 0:
        return np.int64(low), table, nodes, count
    at = _place_of_node(table, nodes, level, low, high)
    if table[at] != EMPTY:
        return np.int64(table[at]), table, nodes, count
    if count == len(nodes):
        nodes = _twice(nodes)
    nodes[count, 0], nodes[count, 1], nodes[count, 2] = level, low, high
    table[at] = count
    if 2 * count > table.size:
        table = np.full(2 * table.size, EMPTY, np.int32)
        for node in range(2, count + 1):
            level, low, high = np.int64(nodes[node, 0]), np.int64(nodes[node, 1]), np.int64(nodes[node, 2])
            table[_place_of_node(table, nodes, level, low, high)] = node
    return np.int64(count), table, nodes, count + 1


@njit(cache=True)
def _twice(rows):
    """The rows with as much room again."""
    larger = np.empty((2 * len(rows), 3), rows.dtype)
    larger[:len(rows)] = rows
    return larger


@njit(cache=True)
def _below(low, high, root):
    """Which nodes can be reached from `root`."""
    wanted = np.zeros(root + 1, np.bool_)
    wanted[root] = True
    for f in range(root, 1, -1):
        if wanted[f]:
            wanted[low[f]] = wanted[high[f]] = True
    return wanted


@njit(cache=True)
def _known(z, g, keys, values):
    """The sets of z at which g is false, or EMPTY where that is to be worked out."""
    if z == 0 or g == 1:
        return np.int64(0)
    if g == 0 or z == 1:  # g is monotone and not true, so the empty set does not satisfy it
        return np.int64(z)
    at = _place(z << BITS | g, keys.size)
    return np.int64(values[at]) if keys[at] == z << BITS | g else np.int64(EMPTY)


@njit(cache=True)
def minimal(level, low, high, root, most_nodes, most_steps):
    """(nodes, root, rows of level, low and high) of the minimal sets of the function `root`, children first.

    Those of a node are those of its low child, and those of its high child that do not satisfy the low one. No nodes if there
    are more than `most_nodes`, or `most_steps` are not enough."""
    nodes, count, steps, size = np.zeros((1024, 3), np.int32), 2, 0, 4096
    table = np.full(4096, EMPTY, np.int32)
    while size < min(8 * root, MOST_REMEMBERED):
        size *= 2
    keys, values = np.full(size, EMPTY, np.int64), np.empty(size, np.int32)
    frames = np.empty((1024, 3), np.int64)  # pairs (z, g) under way, and what came of the low side, EMPTY before
    wanted, done = _below(low, high, root), np.zeros(root + 1, np.int64)
    done[min(root, 1)] = min(root, 1)
    for f in range(2, root + 1):
        if not wanted[f]:
            continue
        z, g, top = done[high[f]], np.int64(low[f]), 0
        while True:
            steps += 1
            if steps > most_steps:
                return 0, np.int64(0), nodes
            while g > 1 and z > 1 and level[g] < nodes[z, 0]:  # no set of z has the variable of g
                g = np.int64(low[g])
            result = _known(z, g, keys, values)
            if result == EMPTY:
                if top == len(frames):
                    frames = _twice(frames)
                frames[top, 0], frames[top, 1], frames[top, 2] = z, g, EMPTY
                top += 1
                z, g = np.int64(nodes[z, 1]), np.int64(low[g]) if level[g] == nodes[z, 0] else g
                continue
            while top:  # up, as long as both sides are known
                z, g, first = frames[top - 1]
                if first == EMPTY:
                    frames[top - 1, 2] = result
                    z, g = np.int64(nodes[z, 2]), np.int64(high[g]) if level[g] == nodes[z, 0] else g
                    break
                result, table, nodes, count = _make(table, nodes, count, np.int64(nodes[z, 0]), first, result)
                at = _place(z << BITS | g, size)
                keys[at], values[at] = z << BITS | g, result
                top -= 1
            if count > most_nodes:
                return 0, np.int64(0), nodes
            if not top:
                done[f], table, nodes, count = _make(table, nodes, count, level[f], done[low[f]], result)
                break
    return count, done[root], nodes[:count]

"""Compiled loops over pairs of rows. Loaded on use: importing this module loads numba.

Sums run in a fixed order on one thread, so that equal input gives equal bits."""
from __future__ import annotations

import numpy as np
from numba import njit

CUT = 40.0  # exp(-40) = 4e-18 stands for everything beyond


FAST = {"contract", "reassoc", "nsz", "nnan", "ninf"}  # lets sums be reordered; the order is then the same in every run


@njit(cache=True, fastmath=FAST)
def _kernel(x, i, result):
    """exp(-squared distance) of row i to each row after it, in `result[i + 1:]`.

    exp(-t) is a Taylor polynomial at t / 256, squared eight times: relative error below 1e-13, and no branch, so that it
    runs in vector registers."""
    columns, n = x.shape
    for j in range(i + 1, n):
        result[j] = (x[0, i] - x[0, j]) ** 2
    for c in range(1, columns):
        for j in range(i + 1, n):
            result[j] += (x[c, i] - x[c, j]) ** 2
    for j in range(i + 1, n):
        s = -min(result[j], CUT) * (1 / 256)
        k = 1 + s * (1 / 8) * (1 + s * (1 / 9))
        k = 1 + s * (1 / 6) * (1 + s * (1 / 7) * k)
        k = 1 + s * (1 / 4) * (1 + s * (1 / 5) * k)
        k = 1 + s * (1 + s * (1 / 2) * (1 + s * (1 / 3) * k))
        k *= k
        k *= k
        k *= k
        k *= k
        k *= k
        k *= k
        k *= k
        result[j] = k * k


@njit(cache=True, fastmath=FAST)
def _dot(a, b, start):
    total = 0.0
    for j in range(start, a.size):
        total += a[j] * b[j]
    return total


@njit(cache=True, fastmath=FAST)
def _spread(values, rows, i):
    """Add the values after i to the rows, and their sum to row i."""
    total = 0.0
    for j in range(i + 1, values.size):
        rows[j] += values[j]
        total += values[j]
    rows[i] += total


@njit(cache=True)
def kernel_sums(x, y, rows_x, rows_y):
    """Sums over pairs i < j of kl, k^2 and l^2 for k = exp(-|x_i - x_j|^2), l likewise; row sums (i != j) are added to.

    x and y hold one column a row, (columns, n), scaled so that the exponents are plain squared distances."""
    n = x.shape[1]
    k, l = np.empty(n), np.empty(n)
    both = kk = ll = 0.0
    for i in range(n):
        _kernel(x, i, k)
        _kernel(y, i, l)
        _spread(k, rows_x, i)
        _spread(l, rows_y, i)
        both += _dot(k, l, i + 1)
        kk += _dot(k, k, i + 1)
        ll += _dot(l, l, i + 1)
    return both, kk, ll


@njit(cache=True)
def products_of_distances(x, y, rank, size):
    """Sum over pairs j < i of (x_i - x_j) |y_i - y_j|, for x in increasing order and the ranks (1 ... size) of y.

    A Fenwick tree holds, for each rank, number and sums of x, y and xy of the rows before i."""
    count = np.zeros(size + 1)
    of_x, of_y, of_xy = np.zeros(size + 1), np.zeros(size + 1), np.zeros(size + 1)
    total = 0.0
    all_x = all_y = all_xy = 0.0
    for i in range(x.size):
        c = a = b = ab = 0.0
        node = rank[i]
        while node > 0:
            c += count[node]
            a += of_x[node]
            b += of_y[node]
            ab += of_xy[node]
            node -= node & -node
        # rows below: (x_i - x_j)(y_i - y_j) = x_i y_i - x_i y_j - x_j y_i + x_j y_j; rows above: the same negated
        below = c * x[i] * y[i] - x[i] * b - a * y[i] + ab
        whole = i * x[i] * y[i] - x[i] * all_y - all_x * y[i] + all_xy
        total += 2 * below - whole
        all_x += x[i]
        all_y += y[i]
        all_xy += x[i] * y[i]
        node = rank[i]
        while node <= size:
            count[node] += 1
            of_x[node] += x[i]
            of_y[node] += y[i]
            of_xy[node] += x[i] * y[i]
            node += node & -node
    return total

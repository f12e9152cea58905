"""Sums of squares from floats to exact rationals.

Find Q_b >= 0 and free coefficients with  sum_b F_b * v_b^T Q_b v_b + sum_j p_j e_j = target  (a linear system A q = b in
the entries). Clarabel maximises the smallest eigenvalue t. If t > 0, rounding and exact projection onto A q = b stay
positive definite. If t = 0 (the statement is tight), the kernel of each Q_b is rounded to rationals and Q_b is sought
on the complement (facial reduction; Peyrl and Parrilo need it wherever the polynomial has a real zero)."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from proofs_checks.harness.checkers._polynomials import Poly, add, multiply
from proofs_checks.harness.checkers.sos import is_definite

__all__ = ["Block", "Solution", "TooBig", "monomial_rows", "solve"]

MAX_ENTRIES, MAX_ROWS = 5000, 900
Matrix = list[list[Fraction]]


class TooBig(ValueError):
    """The semidefinite problem is larger than this engine takes on."""


@dataclass
class Block:
    """factor * v^T Q v; `rows[i]` holds v_i's coefficients over `basis` (monomials)."""

    factor: Poly
    factors: tuple[int, ...]
    basis: list[tuple[int, ...]]
    rows: Matrix

    @property
    def size(self) -> int:
        return len(self.rows)


@dataclass
class Solution:
    """Exact: for each block its gram matrix over the monomials; for each equation its polynomial's coefficients."""

    blocks: list[Block]
    grams: list[Matrix]
    free: list[Poly]


def solve(target: Poly, blocks: Sequence[Block], free: Sequence[tuple[Poly, list[tuple[int, ...]]]],
          cancelled: Callable[[], bool] = lambda: False, reductions: int = 4, seconds: float | None = None
          ) -> Solution | None:
    """Blocks and free polynomials that add up to `target`, or None if none was found (which proves nothing).

    `seconds` limits each call of the solver; without it only the number of iterations is limited, so that load cannot
    change the outcome."""
    blocks = [Block(b.factor, b.factors, b.basis, [list(row) for row in b.rows]) for b in blocks]
    for _ in range(reductions + 1):
        if cancelled():
            return None
        system = _System(target, blocks, free)
        if system.consistent is False:
            return None
        found = system.optimum(seconds)
        if found is None:
            return None
        grams, smallest = found
        exact = system.rounded(cancelled) if smallest > -1e-6 else None
        if exact is not None:
            return exact
        if not _reduce(blocks, grams):
            return None
    return None


class _System:
    """The linear system A q = b, in floats and exactly."""

    def __init__(self, target: Poly, blocks: Sequence[Block], free: Sequence[tuple[Poly, list[tuple[int, ...]]]]) -> None:
        self.blocks, self.free = list(blocks), free
        self.columns: list[Poly] = []
        for block in self.blocks:
            vectors = [{m: c for m, c in zip(block.basis, row, strict=True) if c} for row in block.rows]
            for j in range(block.size):
                for i in range(j + 1):
                    column = multiply(multiply(vectors[i], vectors[j]), block.factor)
                    self.columns.append(column if i == j else add(column, column))
        for poly, monomials in free:
            self.columns += [multiply(poly, {m: Fraction(1)}) for m in monomials]
        keys = set(target).union(*self.columns) if self.columns else set(target)
        if len(self.columns) > MAX_ENTRIES or len(keys) > MAX_ROWS:
            raise TooBig(f"{len(self.columns)} entries in {len(keys)} equations")
        self.keys = {key: i for i, key in enumerate(sorted(keys))}
        self.target = target
        reached = set().union(*self.columns) if self.columns else set()
        self.consistent = set(target) <= reached
        self.entries: np.ndarray = np.zeros(0)

    def optimum(self, seconds: float | None = None) -> tuple[list[np.ndarray], float] | None:
        """Float gram matrices with the largest smallest eigenvalue (at most 1)."""
        import clarabel
        from scipy import sparse

        n = len(self.columns) + 1  # the last unknown is t
        height = max((abs(float(c)) for c in self.target.values()), default=1.0) or 1.0
        rows, cols, data = [], [], []
        for j, column in enumerate(self.columns):
            for key, c in column.items():
                rows.append(self.keys[key])
                cols.append(j)
                data.append(float(c))
        right = np.zeros(len(self.keys))
        for key, c in self.target.items():
            right[self.keys[key]] = float(c) / height
        at, start, cones = len(self.keys), 0, [clarabel.ZeroConeT(len(self.keys))]
        for block in self.blocks:
            for j in range(block.size):
                for i in range(j + 1):
                    rows.append(at)
                    cols.append(start)
                    data.append(-1.0 if i == j else -np.sqrt(2.0))
                    if i == j:
                        rows.append(at)
                        cols.append(n - 1)
                        data.append(1.0)
                    at, start = at + 1, start + 1
            cones.append(clarabel.PSDTriangleConeT(block.size))
        rows.append(at)
        cols.append(n - 1)
        data.append(1.0)
        cones.append(clarabel.NonnegativeConeT(1))
        a = sparse.csc_matrix((data, (rows, cols)), shape=(at + 1, n))
        b = np.concatenate([right, np.zeros(at - len(self.keys)), [1.0]])
        q = np.zeros(n)
        q[-1] = -1.0
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        if seconds is not None:
            settings.time_limit = seconds
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        result = clarabel.DefaultSolver(sparse.csc_matrix((n, n)), q, a, b, cones, settings).solve()
        x = np.array(result.x)
        if "Infeasible" in str(result.status) or not np.all(np.isfinite(x)):
            return None
        self.entries = x[:-1] * height
        grams, start = [], 0
        for block in self.blocks:
            gram = np.zeros((block.size, block.size))
            for j in range(block.size):
                for i in range(j + 1):
                    gram[i, j] = gram[j, i] = x[start]
                    start += 1
            grams.append(gram)
        return grams, float(x[-1])

    def rounded(self, cancelled: Callable[[], bool] = lambda: False) -> Solution | None:
        """Entries on finer and finer grids, put back exactly on the solutions of A q = b; the first that is positive."""
        exact = _Projection(self)
        for bits in (4, 10, 20, 32):
            if cancelled():
                return None
            grid = 1 << bits
            q = [Fraction(round(float(x) * grid), grid) for x in self.entries]
            q_exact = exact.project(q)
            if q_exact is None:
                return None
            solution = self._solution(q_exact)
            if solution is not None:
                return solution
        return None

    def _solution(self, q: list[Fraction]) -> Solution | None:
        grams, start = [], 0
        for block in self.blocks:
            small = [[Fraction(0)] * block.size for _ in range(block.size)]
            for j in range(block.size):
                for i in range(j + 1):
                    small[i][j] = small[j][i] = q[start]
                    start += 1
            if not is_definite(small):
                return None
            grams.append(_congruent(small, block.rows))
        free = []
        for _, monomials in self.free:
            free.append({m: c for m, c in zip(monomials, q[start:start + len(monomials)], strict=True) if c})
            start += len(monomials)
        return Solution(self.blocks, grams, free)


class _Projection:
    """Least-squares projection onto A q = b in exact arithmetic."""

    def __init__(self, system: _System) -> None:
        self.system = system
        m = len(system.keys)
        weights: dict[tuple[int, int], Fraction] = {}
        for column in system.columns:
            items = [(system.keys[key], c) for key, c in column.items()]
            for r, c in items:
                for s, d in items:
                    weights[r, s] = weights.get((r, s), Fraction(0)) + c * d
        diagonal = all(r == s for r, s in weights) and len(weights) == m
        self.inverse_diagonal = [1 / weights[i, i] for i in range(m)] if diagonal else None
        if not diagonal:
            self._prepare(weights, m)

    def _prepare(self, weights: dict[tuple[int, int], Fraction], m: int) -> None:
        """A A^T on rows that are independent (found modulo a prime; what depends on them is checked afterwards)."""
        from flint import fmpz_mat, nmod_mat

        self.scale = lcm(*(c.denominator for c in weights.values()))
        entries = [[0] * m for _ in range(m)]
        for (r, s), c in weights.items():
            entries[r][s] = int(c * self.scale)
        prime = (1 << 61) - 1
        reduced, rank = nmod_mat(m, m, [x % prime for row in entries for x in row], prime).rref()
        self.rows: list[int] = []
        column = 0
        for row in range(rank):
            while int(reduced[row, column]) == 0:
                column += 1
            self.rows.append(column)
            column += 1
        self.normal = fmpz_mat([[entries[r][s] for s in self.rows] for r in self.rows])

    def project(self, q: list[Fraction]) -> list[Fraction] | None:
        system = self.system
        residual = self._residual(q)
        if self.inverse_diagonal is not None:
            y = [r * w for r, w in zip(residual, self.inverse_diagonal, strict=True)]
        else:
            y = self._solve(residual)
        projected = [x + sum((y[system.keys[key]] * c for key, c in column.items()), Fraction(0))
                     for x, column in zip(q, system.columns, strict=True)]
        return None if any(self._residual(projected)) else projected

    def _residual(self, q: list[Fraction]) -> list[Fraction]:
        """b - A q."""
        system = self.system
        residual = [Fraction(0)] * len(system.keys)
        for key, c in system.target.items():
            residual[system.keys[key]] = c
        for x, column in zip(q, system.columns, strict=True):
            if x:
                for key, c in column.items():
                    residual[system.keys[key]] -= x * c
        return residual

    def _solve(self, residual: list[Fraction]) -> list[Fraction]:
        from flint import fmpz_mat

        common = lcm(*(r.denominator for r in residual))
        right = fmpz_mat([[int(residual[r] * common) * self.scale] for r in self.rows])
        solution = self.normal.solve(right)
        y = [Fraction(0)] * len(residual)
        for i, r in enumerate(self.rows):
            entry = solution[i, 0]
            y[r] = Fraction(int(entry.p), int(entry.q) * common)
        return y


def _congruent(small: Matrix, rows: Matrix) -> Matrix:
    """rows^T small rows: from coordinates on a face to the monomials."""
    width = len(rows[0]) if rows else 0
    half = [[sum((small[i][k] * rows[k][j] for k in range(len(rows)) if small[i][k] and rows[k][j]), Fraction(0))
             for j in range(width)] for i in range(len(rows))]
    return [[sum((rows[k][i] * half[k][j] for k in range(len(rows)) if rows[k][i] and half[k][j]), Fraction(0))
             for j in range(width)] for i in range(width)]


def _reduce(blocks: list[Block], grams: list[np.ndarray]) -> bool:
    """Cut every block down to the complement of its numerical kernel; False if no kernel is seen or rounds well."""
    changed = False
    scale = max((float(np.linalg.norm(g, 2)) for g in grams if g.size), default=1.0) or 1.0
    for block, gram in zip(blocks, grams, strict=True):
        if not block.size:
            continue
        eigenvalues, vectors = np.linalg.eigh(gram)
        kernel = _kernel_size(eigenvalues / scale)
        if kernel == 0:
            continue
        if kernel == block.size:
            block.rows, changed = [], True
            continue
        rational = _rational_span(vectors[:, :kernel].T)
        if rational is None:
            continue
        complement = _nullspace(rational, block.size)
        block.rows = [[sum((c * block.rows[k][j] for k, c in enumerate(row) if c), Fraction(0))
                       for j in range(len(block.basis))] for row in complement]
        changed = True
    blocks[:] = [block for block in blocks if block.size]
    return changed


def _kernel_size(eigenvalues: np.ndarray) -> int:
    """How many eigenvalues are small: the cut is the widest gap (in log scale) below 1e-3."""
    small = np.abs(eigenvalues)
    small = np.sort(small) + 1e-13
    candidates = [k for k in range(1, len(small) + 1) if small[k - 1] < 3e-4]
    if not candidates:
        return 0
    gaps = [(small[k] if k < len(small) else 1.0) / small[k - 1] for k in candidates]
    best = int(np.argmax(gaps))
    return candidates[best] if gaps[best] > 10 else 0


def _rational_span(rows: np.ndarray) -> Matrix | None:
    """A rational basis close to the row space: reduced echelon form with small denominators, or None."""
    a = rows.copy()
    for k in range(len(a)):
        block = np.abs(a[k:])
        i, j = divmod(int(np.argmax(block)), block.shape[1])
        if block[i, j] < 1e-6:
            return None
        a[[k, k + i]] = a[[k + i, k]]
        a[k] /= a[k, j]
        for other in range(len(a)):
            if other != k:
                a[other] -= a[other, j] * a[k]
    exact = []
    for row in a:
        rounded = [Fraction(float(x)).limit_denominator(64) for x in row]
        if max(abs(float(r) - x) for r, x in zip(rounded, row, strict=True)) > 2e-3:
            return None
        exact.append(rounded)
    return exact


def _nullspace(rows: Matrix, width: int) -> Matrix:
    """A basis of the vectors orthogonal to all rows (which are in echelon form up to order)."""
    a = [list(row) for row in rows]
    pivots: list[int] = []
    rank = 0
    for j in range(width):
        pivot = next((i for i in range(rank, len(a)) if a[i][j]), None)
        if pivot is None:
            continue
        a[rank], a[pivot] = a[pivot], a[rank]
        lead = a[rank][j]
        a[rank] = [x / lead for x in a[rank]]
        for i in range(len(a)):
            if i != rank and a[i][j]:
                ratio = a[i][j]
                a[i] = [x - ratio * y for x, y in zip(a[i], a[rank], strict=True)]
        pivots.append(j)
        rank += 1
    basis = []
    for j in range(width):
        if j in pivots:
            continue
        vector = [Fraction(0)] * width
        vector[j] = Fraction(1)
        for row, p in zip(a, pivots, strict=False):
            vector[p] = -row[j]
        basis.append(vector)
    return basis


def monomial_rows(size: int) -> Matrix:
    """The basis itself."""
    return [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]

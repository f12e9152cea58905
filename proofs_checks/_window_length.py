"""Windows longer than memory: an enumerator of whole series, written apart from `theory`, and the cases to run it on.

A case holds chains as nested tuples of rationals: one row a context, contexts in lexicographic order, symbols 0, 1, ...;
the memory follows from the number of rows."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

from hypothesis import strategies as st

Rows = tuple[tuple[Fraction, ...], ...]
F = Fraction


def chain_of(rows: Rows) -> dict[tuple[int, ...], dict[int, Fraction]]:
    """Rows as the mapping that `theory` reads."""
    size, memory = len(rows[0]), 0
    while size**memory < len(rows):
        memory += 1
    return {past: dict(enumerate(row)) for past, row in zip(product(range(size), repeat=memory), rows, strict=True)}


@lru_cache(maxsize=4096)
def law_of(rows: Rows) -> dict[Any, Fraction]:
    """Stationary law of rows; empty if there is more than one."""
    return tree_law(chain_of(rows))


def tree_law(chain: Any) -> dict[Any, Fraction]:
    """Stationary law by the Markov chain tree theorem: a context weighs as much as the trees that lead to it."""
    moves = {c: [((*c, s)[1:] if c else (), v) for s, v in row.items() if v] for c, row in chain.items()}
    weights = {}
    for root in chain:
        others = [c for c in chain if c != root]
        total = F(0)
        for choice in product(*(moves[c] for c in others)):
            step = {c: move for c, (move, _) in zip(others, choice, strict=True)}
            if all(_leads(c, step, root) for c in others):
                term = F(1)
                for _, value in choice:
                    term *= value
                total += term
        weights[root] = total
    whole = sum(weights.values())
    return {c: weight / whole for c, weight in weights.items()} if whole else {}


def _leads(context: Any, step: dict[Any, Any], root: Any) -> bool:
    for _ in range(len(step) + 1):
        if context == root:
            return True
        context = step[context]
    return False


class Series:
    """Every series of a mixture with its probability under each chain; risks by their definitions."""

    def __init__(self, chains: Sequence[Any], prior: Sequence[Fraction]) -> None:
        self.chains, self.prior = chains, prior
        self.memory = max(len(next(iter(chain))) for chain in chains)
        self.laws = [tree_law(chain) for chain in chains]
        self.symbols = sorted({s for chain in chains for row in chain.values() for s in row})

    def joint(self, length: int) -> Iterator[tuple[tuple[int, ...], list[Fraction]]]:
        """(series, P(series and chain) for each chain), series of positive probability only."""
        grown: list[tuple[int, ...]] = [()]
        for n in range(1, length + 1):
            grown = [(*x, s) for x in grown for s in self.symbols]
            if n > self.memory:  # what is impossible stays impossible
                grown = [x for x in grown if any(self.weights(x))]
        return ((x, row) for x in grown if any(row := self.weights(x)))

    def weights(self, x: tuple[int, ...]) -> list[Fraction]:
        """P(series and chain) for each chain."""
        return [w * self._probability(i, x) for i, w in enumerate(self.prior)]

    def _probability(self, i: int, x: tuple[int, ...]) -> Fraction:
        memory = len(next(iter(self.chains[i])))
        value = self.laws[i].get(x[:memory], F(0))
        for t in range(memory, len(x)):
            if not value:
                break
            value *= self.chains[i][x[t - memory:t]].get(x[t], F(0))
        return value

    def least(self, window: int, see: Callable[[tuple[int, ...], int], Any], loss: str = "squared") -> Fraction:
        """Least risk of forecasting the last of window + 1 symbols from `see(first window symbols, chain)`."""
        groups: dict[Any, dict[int, Fraction]] = {}
        for x, row in self.joint(window + 1):
            for i, value in enumerate(row):
                if value:
                    cell = groups.setdefault(see(x[:-1], i), {})
                    cell[x[-1]] = cell.get(x[-1], F(0)) + value
        return sum((_least(cell, loss) for cell in groups.values()), F(0))

    def risk(self, window: int, loss: str = "squared") -> Fraction:
        """Of the forecaster that sees the window."""
        return self.least(window, lambda past, chain: past, loss)

    def oracle(self, window: int, loss: str = "squared") -> Fraction:
        """Of the forecaster that sees the chain's number as well."""
        return self.least(window, lambda past, chain: (past, chain), loss)

    def predictive(self, past: tuple[int, ...]) -> dict[int, Fraction]:
        """P(next | past), or nothing where the past is impossible."""
        cells = {s: sum(self.weights((*past, s)), F(0)) for s in self.symbols}
        whole = sum(cells.values())
        return {s: v / whole for s, v in cells.items()} if whole else {}


def _least(cell: dict[int, Fraction], loss: str) -> Fraction:
    mass = sum(cell.values(), F(0))
    if loss == "zero_one":
        return mass - max(cell.values())
    first = sum((v * s for s, v in cell.items()), F(0))
    return sum((v * s * s for s, v in cell.items()), F(0)) - first**2 / mass


@lru_cache(maxsize=4096)
def series(mixture: tuple[Rows, ...], prior: tuple[Fraction, ...]) -> Series:
    """The enumerator of a case, kept between variants."""
    return Series([chain_of(rows) for rows in mixture], prior)


@lru_cache(maxsize=4096)
def risk(mixture: tuple[Rows, ...], prior: tuple[Fraction, ...], window: int, loss: str = "squared") -> Fraction:
    """Bayes risk of a window, by enumeration."""
    return series(mixture, prior).risk(window, loss)


@lru_cache(maxsize=4096)
def oracle(mixture: tuple[Rows, ...], prior: tuple[Fraction, ...], window: int, loss: str = "squared") -> Fraction:
    """Risk of the oracle, by enumeration."""
    return series(mixture, prior).oracle(window, loss)


def twins(rho: Fraction) -> tuple[Rows, Rows]:
    """The twin chains with symbols 0, 1 for -1, +1: squared losses are a quarter of theirs."""
    p, q = (1 + rho) / 2, (1 - rho) / 2
    return ((p, q), (q, p)), ((q, p), (p, q))


EVEN = (F(1, 2), F(1, 2))

# --- cases ----------------------------------------------------------------------------------------------------------


def distributions(size: int) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Rational probability vectors, zeros allowed."""
    return st.tuples(*[st.integers(0, 6)] * size).filter(any).map(lambda v: tuple(F(x, sum(v)) for x in v))


def ergodic(rows: Rows) -> bool:
    """Whether the stationary law is unique."""
    return bool(law_of(rows))


def mixtures(shape: tuple[int, ...]) -> st.SearchStrategy[tuple[Any, ...]]:
    """(chains, prior): shape = (symbols, memory of each chain, ...)."""
    size, *memories = shape
    chains = [st.tuples(*[distributions(size)] * size**m).filter(ergodic) for m in memories]
    return st.tuples(st.tuples(*chains), distributions(len(memories)))


anywhere = st.sampled_from([(2, 1, 1), (2, 0, 1), (2, 1, 1, 1), (3, 1, 1), (2, 2, 1)]).flatmap(mixtures)
with_window = st.tuples(anywhere, st.integers(0, 2)).map(
    lambda case: (*case[0], series(*case[0]).memory + case[1]))
correlations = st.integers(1, 19).map(lambda k: F(k, 20))
twin_cases = st.tuples(correlations, st.integers(1, 6))
RHOS = (F(1, 2), F(4, 5), F(1, 9))


def grid() -> list[tuple[Any, ...]]:
    """Pairs of binary chains of memory 1 from a coarse grid, with even, uneven and degenerate priors, and pairs in
    which processes are told apart at once, differ in variance only, or give themselves away late."""
    pool = [((1 - a, a), (1 - b, b)) for a, b in product((F(0), F(1, 3), F(1)), repeat=2) if (a, b) != (0, 1)]
    cases: list[tuple[Any, ...]] = [((one, other), prior) for one, other in product(pool, repeat=2)
                                    for prior in (EVEN, (F(1, 5), F(4, 5)), (F(1), F(0)))]
    flat = tuple((F(s, 8), F(8 - 2 * s, 8), F(s, 8)) for s in (1, 2, 3))
    cases += [(((one,) * 3, (other,) * 3), EVEN) for one, other in product(flat, repeat=2)]
    late = [((F(0), p, 1 - p, F(0)), *[(F(0), F(0), F(0), F(1))] * 2, (F(1), F(0), F(0), F(0)))
            for p in (F(1, 4), F(1, 2), F(3, 4))]
    return cases + [((one, other), EVEN) for one, other in product(late, repeat=2)]

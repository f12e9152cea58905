"""What the evidence for `theory.window_information` shares: cases, and quantities computed apart from the theory.

Information is scale free, so that integer weights reach every rational case. Among all S of size k the k largest and the
k smallest weights are extreme. Two-valued w are given by multiplicities (k windows of a, m - k of b), so that a million
windows cost no more than two. Statements with roots are compared after squaring, exactly."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

from hypothesis import strategies as st

from proofs_checks.engines import exhaustive, falsify
from proofs_checks.harness.evidence import Check
from theory.window_information import participation

DRAWN = st.lists(st.integers(-3, 30), min_size=1, max_size=9).flatmap(
    lambda w: st.tuples(st.just(w), st.integers(1, len(w))))
POSITIVE = st.lists(st.integers(0, 30), min_size=1, max_size=9).flatmap(
    lambda w: st.tuples(st.just(w), st.integers(1, len(w))))


def windows(values: range, most: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every multiset of at most `most` values, largest first, with every k."""
    for size in range(1, most + 1):
        for w in combinations_with_replacement(sorted(values, reverse=True), size):
            yield from ((w, k) for k in range(1, size + 1))


def two_valued() -> Iterator[tuple[int, int, int, Any, Any]]:
    """(windows read, k, m, a, b): a on k of m windows, b on the others; the read windows are the best."""
    for k, m, (a, b) in product((1, 2, 5), (2, 3, 6, 20, 1000), ((1, 0), (1, 1), (2, 1), (3, 1), (30, 1), (200, 1))):
        if k < m:
            yield from ((read, k, m, a, b) for read in sorted({1, k, (k + m) // 2, m}))
    spike = Fraction(1, 10), Fraction(9, 10**7)
    yield from ((read, 1, 10**6 + 1, *spike) for read in (1, 100, 1000))


def of_two_valued(read: int, k: int, m: int, a: Any, b: Any) -> tuple[Fraction, Fraction]:
    """Share of the best `read` windows, and c."""
    a, b = Fraction(a), Fraction(b)
    whole, second = k * a + (m - k) * b, k * a**2 + (m - k) * b**2
    return (min(read, k) * a + max(read - k, 0) * b) / whole, whole**2 / second


def of_windows(w: Any, k: int) -> tuple[Fraction, Fraction]:
    """Share of the best k windows, and c."""
    w = sorted(map(Fraction, w), reverse=True)
    return sum(w[:k]) / sum(w), participation(w)


def some(w: Any, k: int) -> bool:
    """The share is defined."""
    return any(w)


def everywhere(law: Callable[[int, int, Fraction, Fraction], bool]) -> Iterator[Check]:
    """law(read, m, share, c) for the best windows of two-valued w, up to a million of them, and of drawn w."""
    yield exhaustive.forall(two_valued, lambda read, k, m, a, b: law(read, m, *of_two_valued(read, k, m, a, b)))
    yield falsify.forall(POSITIVE, lambda w, k: law(k, len(w), *of_windows(w, k)), given=some, examples=100)


def pairs(w: Any) -> Any:
    """Sum over i < j of (w_i - w_j)^2."""
    return sum((p - q) ** 2 for p, q in combinations(w, 2))


def second(w: Any) -> Any:
    return sum(p * p for p in w)


def within_power(share: Fraction, ratio: Fraction, exponent: Fraction) -> bool:
    """share <= ratio^exponent, where ratio < 1; a share of at most 1 is within any power of a ratio >= 1."""
    return ratio >= 1 or share**exponent.denominator <= ratio**exponent.numerator


def information(v: Any, cov: Any, chosen: Any) -> Fraction:
    """v_S' cov_SS^-1 v_S by Gaussian elimination; cov positive definite."""
    rows = [[Fraction(cov[i][j]) for j in chosen] + [Fraction(v[i])] for i in chosen]
    found = Fraction(0)
    for i, pivot in enumerate(rows):
        found += pivot[-1] ** 2 / pivot[i]
        for row in rows[i + 1:]:
            factor = row[i] / pivot[i]
            row[:] = [p - factor * q for p, q in zip(row, pivot, strict=True)]
    return found


def one_factor(v: Any, noise: Any, g: Any, k: int) -> tuple[Any, Any, int]:
    """(v, cov, k) with cov = diag(noise) + g g'."""
    size = len(v)
    cov = tuple(tuple(noise[i] * (i == j) + g[i] * g[j] for j in range(size)) for i in range(size))
    return tuple(v), cov, k


def factor_models(size: int) -> st.SearchStrategy[tuple[Any, Any, int]]:
    loadings = st.one_of(st.just((0,) * size), st.tuples(*[st.integers(-2, 3)] * size))
    return st.builds(one_factor, st.tuples(*[st.integers(-3, 3)] * size), st.tuples(*[st.integers(1, 4)] * size),
                     loadings, st.integers(1, size))


def factor_share(k: int, m: int, a: Any, b: Any, own: Any, other: Any) -> tuple[Fraction, Fraction, Fraction]:
    """Share, kappa and c for noise I + g g': shift a and loading `own` on the k windows read, b and `other` elsewhere."""
    off = m - k
    kappa = Fraction(1 + k * own**2 + off * other**2)
    inside = k * a**2 - Fraction(k * a * own) ** 2 / (1 + k * own**2)
    whole = k * a**2 + off * b**2 - (k * a * own + off * b * other) ** 2 / kappa
    return inside / whole, kappa, (k * a**2 + off * b**2) ** 2 / Fraction(k * a**4 + off * b**4)

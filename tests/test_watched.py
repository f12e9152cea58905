"""Floats and comparisons inside a function are seen wherever they are made, and exact functions raise no alarm."""
from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest

from proofs_checks.engines import exhaustive
from proofs_checks.engines._rounding import computes_in_floats
from proofs_checks.engines._watched import watched
from proofs_checks.harness.evidence import Verdict


def by_steps(n: Any) -> bool:
    x = int(n)
    x /= 3
    return x * 3 == int(n)


@lru_cache
def recursive(n: Any) -> int:
    return int(int(n) / 3) if n < 2 else recursive(n - 1) + recursive(n - 2)


class Third:
    """A predicate that is an object, with a method."""

    def __init__(self) -> None:
        self.third = 3

    def __call__(self, n: Any) -> bool:
        return int(n) / self.third * 3 == int(n)


FLOATS = {
    "one expression": lambda n: int(n) / 3 * 3 == int(n), "augmented": by_steps, "object": Third(),
    "handed to map": lambda n: all(map(by_steps, [int(n)])),
    "key of sorted": lambda n: sorted([3, int(n)], key=lambda t: t / 3),
    "memo": lambda n: recursive(int(n)) >= 0, "partial": partial(lambda a, n: int(n) / a * a == int(n), 3),
    "numpy": lambda n: bool((np.array([int(n)]) / 3 * 3 == int(n)).all()), "isclose": lambda n: math.isclose(int(n), int(n)),
    "generator": lambda n: all(v * 3 == int(n) for v in (int(n) / 3,)), "negative power": lambda n: int(n) ** -1 * int(n) == 1,
    "subscript": lambda n: [int(n) / 3][0] * 3 == n}


@pytest.mark.parametrize("name", FLOATS)
def test_floats_inside_an_exact_predicate_are_seen(name):
    assert computes_in_floats(FLOATS[name], [(7,)]) == (7,)
    found = exhaustive.forall([(n,) for n in range(1, 4)], lambda n: bool(FLOATS[name](n)) or True).run()
    assert found.verdict is Verdict.UNDECIDED and "floats=True" in found.summary


def everything(n: int) -> bool:
    """Statements of many kinds, all exact."""
    def inner(a: int = 3, *, b: int = 4) -> int:
        match a:
            case 3 | -1:
                return a + b
            case _:
                return a - b

    total, table = 0, {i: i * i for i in range(5)}
    for i in range(n):
        total += i
    table[2] += 7
    least = min([Fraction(1, 3)], default=float("inf"))
    array = np.arange(3) * 3
    squares = sum(map(lambda t: t * t, range(n)))  # noqa: C417 - a function handed to the library is meant
    return squares + inner() + total + table[2] > 0 and least < float("inf") and bool(array.all() or n <= 0.5)


def test_exact_predicates_raise_no_alarm():
    assert computes_in_floats(everything, [(7,)]) is None
    assert exhaustive.forall([(n,) for n in range(4)], lambda n: everything(n) or True).run().verdict is Verdict.HOLDS


def test_a_watched_function_says_what_it_said():
    notes: list[Any] = []
    met: list[Any] = []
    for function in (everything, recursive, Third(), by_steps, FLOATS["partial"]):
        assert watched(function, note=notes.append, met=met.append)(9) == function(9)
    assert 3.0 in notes and 9 in met

"""Identities and floats: what is computed in floats is neither proved nor refuted."""
from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sympy as sp
from sympy.core.sympify import _sympy_converter

from proofs_checks.engines import symbolic
from proofs_checks.harness.evidence import Verdict

x = sp.Symbol("x")
k = sp.Symbol("k", integer=True, positive=True)


@pytest.mark.parametrize("symbol", [x, k])
@pytest.mark.parametrize(("left", "right"), [
    (lambda v: (v + 1e300) - 1e300, lambda v: v), (lambda v: (sp.sqrt(v) + 1e300) - 1e300, sp.sqrt),
    (lambda v: v * 0.5, lambda v: v / 3), (lambda v: (v + 1e300) - 1e300, lambda v: v + 1),
    (lambda v: v * 0.5 + v * 0.5, lambda v: v)])
def test_no_conclusion_is_drawn_from_floats(left: Callable[..., Any], right: Callable[..., Any], symbol: sp.Symbol) -> None:
    found = symbolic.equal(left, right, symbol).run()
    assert found.verdict is Verdict.UNDECIDED
    assert "floats" in found.summary


def test_quotients_of_integers_and_roots_are_read_exactly() -> None:
    assert symbolic.equal(lambda v: v / (v + 1), lambda v: 1 - 1 / (v + 1), k).run().verdict is Verdict.HOLDS
    assert symbolic.equal(lambda v: v / (v + 1), lambda v: 1 - 2 / (v + 1), k).run().verdict is Verdict.REFUTED
    assert symbolic.equal(lambda v: v**sp.Rational(1, 2), sp.sqrt, k).run().verdict is Verdict.HOLDS


def test_the_conversion_of_floats_is_put_back() -> None:
    symbolic.equal(lambda v: v + 0.5, lambda v: v, x).run()
    assert sp.sympify(0.5) == sp.Float(0.5)


def test_the_scope_says_no_more_of_a_symbol_than_it_needs():
    n, x = sp.Symbol("n", integer=True, positive=True), sp.Symbol("x", real=True, nonnegative=True)
    assert symbolic.equal(lambda n, x: n + x, x + n, (n, x)).run().scope == "all n (integer, positive), x (nonnegative)"


@pytest.mark.parametrize(("assumptions", "words"), [
    ({"even": True}, "all x (even)"), ({"prime": True}, "all x (prime)"), ({"integer": False}, "all x (not integer)"),
    ({"real": True}, "all x"), ({"zero": True}, "all x (zero)")])
def test_the_scope_says_what_is_assumed_of_the_symbols(assumptions, words):
    x = sp.Symbol("x", **assumptions)
    assert symbolic.equal(lambda x: x * x, lambda x: x**2, x).run().scope == words


def test_an_undecided_identity_tells_a_side_that_takes_no_numbers_from_one_that_is_zero_at_points() -> None:
    x = sp.Symbol("x", real=True)
    never = symbolic.equal(lambda p: sp.diff(p**2, p), lambda p: 3 * p**2, x).run()
    assert never.verdict is Verdict.UNDECIDED and "must take numbers in place of its symbols" in never.summary
    zero = symbolic.equal(lambda p: sp.Max(p, -p) + 0 * p, lambda p: abs(p), x).run()
    assert zero.verdict is not Verdict.REFUTED and "must take numbers" not in zero.summary


def test_an_identity_that_no_certificate_can_be_written_for_says_so() -> None:
    n = sp.Symbol("n", integer=True, positive=True)
    found = symbolic.equal(lambda n: sp.binomial(n, 2), lambda n: n * (n - 1) / 2, n).run()
    assert found.certificate is None and "no certificate" in found.summary and "binomial is not supported" in found.summary


def test_floats_are_met_by_the_thread_that_makes_them_and_sympy_is_left_as_it_was() -> None:
    usual, interval_before = _sympy_converter[float], sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            sides = [(lambda v: (v + 1e300) - 1e300, lambda v: v), (lambda v: v * (v + 1), lambda v: v**2 + v)] * 20
            found = list(pool.map(lambda pair: symbolic.equal(*pair, x).run().verdict, sides))
    finally:
        sys.setswitchinterval(interval_before)
    assert found == [Verdict.UNDECIDED, Verdict.HOLDS] * 20 and _sympy_converter[float] is usual


def test_floats_of_a_thread_that_a_side_starts_are_met_too() -> None:
    def side(v: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(lambda: (v + 1e300) - 1e300).result()

    assert symbolic.equal(side, lambda v: 0 * v, k).run().verdict is Verdict.UNDECIDED

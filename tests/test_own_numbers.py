"""A proof about the expression that a function makes of symbols says nothing of exceptions that the function makes."""
from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from proofs_checks.engines import interval, smt, sos, symbolic
from proofs_checks.harness.evidence import Verdict

n = sp.Symbol("n", integer=True, positive=True)
SIX = 6
TABLE = {6: 0}

EXCEPTIONS = [lambda n: n if n != 6 else 0, lambda n: {6: 0}.get(n, n), lambda n: TABLE.get(n, n),
              lambda n: 0 if n == SIX else n, lambda n: n if n not in (6, 8) else 0, lambda n: 0 if n % 11 == 0 else n,
              lambda n: n if n != 2 * 3 + 1 else 0]


@pytest.mark.parametrize("form", EXCEPTIONS)
def test_an_identity_with_an_exception_is_refuted_there(form):
    check = symbolic.equal(form, lambda n: n, n, universal=True)
    found = check.run()
    assert found.verdict is Verdict.REFUTED and not check.at(found.witness)


def square(x):
    return x * x if x != Fraction(1, 37) else -1


FALSE = [square, lambda x: -1 if x in {Fraction(1, 37)} else x * x, lambda x: -1 if isinstance(x, Fraction) else x * x,
         lambda x: -1 if [x] == [Fraction(1, 37)] else x * x]


@pytest.mark.parametrize("form", FALSE)
@pytest.mark.parametrize("make", [
    lambda f: sos.nonnegative(f, ["x"], universal=True), lambda f: interval.nonnegative(f, {"x": (0, 1)}, universal=True),
    lambda f: smt.forall(lambda x: f(x) >= 0, ["x"], universal=True)])
def test_an_inequality_with_an_exception_is_refuted_there(form, make):
    check = make(form)
    found = check.run()
    assert found.verdict is Verdict.REFUTED and not check.at(found.witness)


def test_true_statements_hold_as_before():
    assert symbolic.equal(lambda n: (n + 6) ** 2, lambda n: n**2 + 12 * n + 36, n).run().verdict is Verdict.HOLDS
    assert sos.nonnegative(lambda x, y: (x - 3 * y) ** 2 + 1, ["x", "y"]).run().verdict is Verdict.HOLDS
    assert interval.nonnegative(lambda x: 4 - x, {"x": (0, 4)}).run().verdict is Verdict.HOLDS  # 5 lies outside
    assert smt.forall(lambda x: x * x >= 7, ["x"], given=lambda x: x >= 3).run().verdict is Verdict.HOLDS

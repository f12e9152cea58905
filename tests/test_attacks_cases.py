"""False claims that try to come out green by the cases that they show, or by what they answer."""
from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import pytest
import sympy
import toy

from proofs_checks.engines import exhaustive, interval, smt, sos
from proofs_checks.harness.evidence import Vacuous, Verdict
from proofs_checks.harness.judge import evidence, judge
from theory.claim import Conditions, without


def test_a_forgotten_all_is_no_answer():
    """The second half is a generator, which Python takes for true; the first half refutes every mutant."""
    made = toy.claim("forgotten", form=lambda n: n, mutants={"cube": lambda n: n**3, "double": lambda n: 2 * n + 1})

    @evidence(made)
    def checks(square):
        yield exhaustive.forall([(n,) for n in range(1, 9)], lambda n: (
            square(n) % n == 0 and square(n) <= n * n and (square(m) == m * m for m in range(n))))

    found = judge(made)
    assert not found.green and any("returned a generator, which is neither true nor false" in p for p in found.problems)


def test_cases_that_differ_from_call_to_call_are_an_error():
    """Six is among the cases while the statement is written down, and gone when it is decided."""
    made = toy.claim("moving", form=lambda n: n * n if n != 6 else 0,
                     mutants={"cube": lambda n: n**3, "double": lambda n: 2 * n + 1})

    @evidence(made)
    def checks(square):
        calls = []

        def cases():
            calls.append(1)
            return [(n,) for n in range(1, 9) if n != 6 or len(calls) == 1]

        yield exhaustive.forall(cases, lambda n: square(n) == n * n, universal=True)

    found = judge(made)
    assert not found.green and any("must give the same at each call" in p for p in found.problems)


def test_the_whole_domain_is_not_what_a_condition_leaves_of_it():
    made = toy.claim("left_out", form=lambda n: n * n if n != 6 else 0,
                     mutants={"cube": lambda n: n**3, "double": lambda n: 2 * n + 1})

    @evidence(made)
    def checks(square):
        yield exhaustive.forall([(n,) for n in range(1, 9)], lambda n: square(n) == n * n, given=lambda n: n != 6,
                                universal=True)

    found = judge(made)
    assert not found.green and any("the claim names no hypothesis" in p for p in found.problems)


NOTHING = [lambda x: (x > 0, x < 0), lambda x: (x - 1, -x), lambda x: x * x + 1 <= 0, lambda x: False]


@pytest.mark.parametrize("given", NOTHING)
@pytest.mark.parametrize("engine", [
    lambda f, given: sos.nonnegative(f, ["x"], given=given), lambda f, given: smt.forall(f, ["x"], given=given),
    lambda f, given: interval.nonnegative(f, {"x": (0, 5)}, given=given)])
def test_hypotheses_that_nothing_satisfies_prove_nothing(engine, given):
    with pytest.raises(Vacuous, match="no point satisfies the hypotheses"):
        engine(lambda x: x - 7, given).run()


@pytest.mark.parametrize("given", [lambda x: x >= 3, lambda x: x > 2, lambda x: (x - 3, x <= 4), lambda x: x - 3])
def test_an_interval_takes_inequalities_as_hypotheses(given):
    check = interval.nonnegative(lambda x: x - 2, {"x": (0, 5)}, given=given, strict=True)
    assert check.run().verdict is Verdict.HOLDS and check.at({"x": 2})
    false = interval.nonnegative(lambda x: x - 3, {"x": (0, 5)}, given=lambda x: x > 2)
    assert false.run().verdict is Verdict.REFUTED and not false.at({"x": Fraction(5, 2)})


def test_an_interval_refuses_an_equation_as_hypothesis():
    found = interval.nonnegative(lambda x: x, {"x": (0, 1)}, given=lambda x: sympy.Eq(x, 1)).run()
    assert found.verdict is Verdict.ERROR and "must be an inequality" in found.summary


def test_dropping_the_only_hypothesis_of_an_interval_leaves_none():
    assert interval.nonnegative(lambda x: x, {"x": (0, 1)}, given=Conditions()).run().verdict is Verdict.HOLDS


def test_a_case_that_is_listed_again_and_again_is_counted_once():
    found = exhaustive.forall([(2,)] * 999 + [(3,)], lambda n: n > 1).run()
    assert found.scope == "1000 cases (2 different), n in [2, 3]" and exhaustive.forall([(2,)], lambda n: n > 1).run(
        ).scope == "1 case, n = 2"


def test_a_condition_on_symbols_is_no_answer():
    """Python takes `And(x > 0, x < 1)` for true, whatever x is; at 0 the mutants give sympy's `false`."""
    x = sympy.Symbol("x", real=True)
    made = toy.claim("open_condition", form=lambda n: n + 5, mutants={"zero": lambda n: 0, "negative": lambda n: -n})

    @evidence(made)
    def checks(slope):
        yield exhaustive.forall([(n,) for n in range(1, 9)],
                                lambda n: sympy.And(slope(n) * x >= 0, slope(n) * x <= 1, slope(n) > 0))

    found = judge(made)
    assert not found.green and any("returned a And, which is neither true nor false" in p for p in found.problems)


class Bound(NamedTuple):
    """value(x) >= 0 where given(x)."""

    value: Any
    given: Any


@pytest.mark.parametrize("nowhere", [lambda x: -sympy.gamma(x), lambda x: sympy.loggamma(x) - 5])
def test_hypotheses_whose_contradiction_z3_does_not_see_prove_nothing(nowhere):
    """Boxes see that gamma is not negative on [1, 2], and cover it by that alone, whatever is to be proved."""
    form = Bound(lambda x: -1 - x, Conditions(impossible=nowhere))
    elsewhere = Conditions(other=lambda x: x - 1)
    made = toy.claim("nowhere", form=form, hypotheses={"impossible": r"\Gamma(x) \le 0"}, mutants={
        "without_impossible": without(form, "impossible"), "two": Bound(lambda x: -2 - x, elsewhere)})

    @evidence(made)
    def checks(bound):
        yield interval.nonnegative(bound.value, {"x": (1, 2)}, given=bound.given, universal=True)

    found = judge(made)
    assert not found.green and any("no point satisfies the hypotheses" in p for p in found.problems)


@pytest.mark.parametrize("given", [
    lambda x, y: (sympy.Eq(x * y, 1), sympy.Eq(x + y, 3)), lambda x, y: -(x * x - 2)**2, lambda x, y: x - 10**7,
    lambda x, y: (x > 3, x < sympy.Rational(30001, 10000), sympy.Eq(sympy.exp(y), x))])
def test_hypotheses_that_are_hard_to_satisfy_are_satisfied(given):
    assert sos.nonnegative(lambda x, y: x * x + y * y, ["x", "y"], given=given).run().verdict is Verdict.HOLDS


def test_cases_that_depend_on_the_form_are_not_the_whole_domain():
    """Six is left out for the claim alone."""
    made = toy.claim("picked", form=lambda n: n * n if n != 6 else 0,
                     mutants={"cube": lambda n: n**3, "double": lambda n: 2 * n + 1})

    @evidence(made)
    def checks(square):
        yield exhaustive.forall([(n,) for n in range(1, 9) if square(n)], lambda n: square(n) == n * n, universal=True)

    found = judge(made)
    assert not found.green and any("may not depend on the form" in p for p in found.problems)

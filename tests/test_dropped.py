"""A variant `without_<name>` counts only where exactly that condition is dropped, and only if something looks beyond it."""
from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import sympy
import toy
from hypothesis import strategies as st

from proofs_checks.engines import exhaustive, falsify, smt, symbolic
from proofs_checks.harness.beyond import Watched
from proofs_checks.harness.cache import Cache
from proofs_checks.harness.html._claim import article
from proofs_checks.harness.judge import Trial, evidence, judge
from proofs_checks.harness.report import claim_entry, facts, variant_record
from theory.claim import Claim, Conditions, without


class Square(NamedTuple):
    """x^2 >= bound(x) wherever given(x)."""

    bound: Any
    given: Any


TRUE = Square(lambda x: 0 * x, Conditions(defined=lambda x: x != 7, positive=lambda x: x > 0))
FALSE = {"above": TRUE._replace(bound=lambda x: x * x + 1), "two": TRUE._replace(bound=lambda x: 2 * x)}


def claim(name: str, form: Square, dropped: Square) -> Claim[Any]:
    return toy.claim(name, form=form, hypotheses={"positive": "x > 0"}, also_true={"without_positive": dropped}, mutants=FALSE)


def shown(found: Claim[Any]) -> str:
    trial = Trial(found)
    return article(claim_entry(facts(found), [variant_record(trial, v) for v in found.variants()]), str)


def test_not_needed_is_said_of_a_condition_that_is_gone_and_what_stays_is_shown():
    made = claim("gone", TRUE, without(TRUE, "positive"))

    @evidence(made)
    def checks(square):
        yield exhaustive.forall([(x,) for x in range(-4, 9)], lambda x: x * x >= square.bound(x), given=square.given)

    found = judge(made)
    assert found.green, found.problems
    assert found.outcomes["without_positive"].evidence[0].beyond >= 5 and found.evidence[0].beyond == 0
    assert ("positive: not needed, the statement holds without it; what stays: given = Conditions(defined=lambda x: x != 7)"
            in shown(made))


def test_a_condition_that_is_only_weakened_is_never_called_not_needed():
    form = TRUE._replace(given=lambda x: x >= 0)
    made = claim("weakened", form, form._replace(given=lambda x: x >= -2))

    @evidence(made)
    def checks(square):
        yield exhaustive.forall([(x,) for x in range(-2, 5)], lambda x: x * x >= square.bound(x), given=square.given)

    assert judge(made).green
    text = shown(made)
    assert "not needed" not in text
    assert "positive: the statement holds with given = lambda x: x &gt;= -2 in its place" in text


def test_a_condition_that_is_no_weaker_is_an_error():
    form = TRUE._replace(given=lambda x: x >= 0)
    made = claim("other_condition", form, form._replace(given=lambda x: x < 0))

    @evidence(made)
    def checks(square):
        yield exhaustive.forall([(x,) for x in range(-2, 5)], lambda x: x * x >= square.bound(x), given=square.given)

    found = judge(made)
    assert not found.green
    assert "a variant that drops a hypothesis refuses (0,), which the whole condition allows" in found.problems[0]


def test_cases_drawn_inside_the_hypothesis_say_nothing_about_dropping_it(tmp_path: Path):
    made = claim("inside", TRUE, without(TRUE, "positive"))

    @evidence(made)
    def checks(square):
        yield falsify.forall(st.tuples(st.integers(1, 9)), lambda x: x * x >= square.bound(x), given=square.given)

    for _ in range(2):  # the second time from the cache
        outcome = Trial(made, cache=Cache(tmp_path, "sources")).outcome("without_positive")
        assert not outcome.ok and "no case met it" in outcome.problems[0]


def test_a_procedure_that_ignores_the_condition_says_nothing_about_dropping_it():
    made = claim("ignored", TRUE, without(TRUE, "positive"))

    @evidence(made)
    def checks(square):
        yield exhaustive.forall([(x,) for x in range(-4, 7)], lambda x: x * x >= square.bound(x))
        yield smt.forall(lambda x: x * x >= square.bound(x), ["x"])

    assert any("no proof is about it" in p for p in judge(made).problems)


def test_a_proof_of_the_weaker_statement_is_enough():
    positive = TRUE._replace(given=Conditions(positive=lambda x: x > 0))
    made = claim("proved", positive, without(positive, "positive"))

    @evidence(made)
    def checks(square):
        yield smt.forall(lambda x: x * x >= square.bound(x), ["x"], given=square.given)

    found = judge(made)
    assert found.green, found.problems


class Root(NamedTuple):
    """sqrt(x^2) = value(x) wherever given(x)."""

    value: Any
    given: Any


def test_an_identity_of_positive_symbols_says_nothing_about_dropping_that_they_are_positive():
    form = Root(lambda x: sympy.sqrt(x**2), Conditions(positive=lambda x: x > 0))
    made = toy.claim("root", form=form, hypotheses={"positive": "x > 0"},
                     also_true={"without_positive": without(form, "positive")},
                     mutants={"twice": form._replace(value=lambda x: 2 * x), "next": form._replace(value=lambda x: x + 1)})
    x = sympy.Symbol("x", positive=True)

    @evidence(made)
    def checks(root):
        yield symbolic.equal(root.value, x, (x,), given=root.given)

    found = judge(made)
    assert not found.green and "nothing was decided" in found.outcomes["without_positive"].problems[0]


def test_symbols_are_no_case_beyond_a_condition():
    watched = Watched(lambda x: True, lambda x: x < 0)
    assert watched(sympy.Symbol("x", positive=True)) and watched.count == 0 and watched([sympy.Symbol("y", positive=True)])
    assert watched(3) and watched.count == 1

"""False claims that try to come out green by cases made with the claim's own form, or by naming its false variants."""
from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import toy
from hypothesis import strategies as st

from proofs_checks.engines import exhaustive, falsify
from proofs_checks.harness.judge import evidence, judge


def wrong(x):
    """Said to be the square of x."""
    return x * x + 7


def linear(x):
    return x


def after(x):
    return x + 1


def square(x):
    return x * x


class Case:
    """A number that knows what the form says of it."""

    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return f"Case({self.n})"

    def own(self):
        return wrong(self.n)


@st.composite
def drawn(draw):
    n = draw(st.integers(0, 9))
    return n, wrong(n)


NUMBERS = st.integers(0, 9)
PAIRS = {"map": NUMBERS.map(lambda n: (n, wrong(n))), "composite": drawn(), "filter": drawn().filter(lambda case: case[0] > 1),
         "flatmap": NUMBERS.flatmap(lambda n: st.tuples(st.just(n), st.just(wrong(n)))),
         "one_of": st.one_of(st.just((3, 16)), drawn())}
FALSE = {"linear": linear, "after": after}


def table():
    return [(n, wrong(n)) for n in range(9)]


def judged(name, procedure, **changes: Any):
    made = toy.claim(name, **{"form": wrong, "mutants": FALSE, **changes})
    evidence(made)(procedure)
    return judge(made)


@pytest.mark.parametrize("way", sorted(PAIRS))
def test_a_strategy_that_draws_the_forms_own_values_is_not_green(way):
    def procedure(f):
        yield falsify.forall(PAIRS[way], lambda n, value: f(n) == value)

    found = judged(f"drawn_{way}", procedure)
    assert not found.green and any("looks at the claim's own form" in p for p in found.problems)


def test_a_helper_that_lists_the_forms_own_values_is_not_green():
    def procedure(f):
        yield exhaustive.forall(table(), lambda n, value: f(n) == value)

    found = judged("from_a_table", procedure)
    assert not found.green and any("looks at the claim's own form" in p for p in found.problems)


@pytest.mark.parametrize("engine", [
    lambda predicate: exhaustive.forall([(Case(n),) for n in range(9)], predicate),
    lambda predicate: falsify.forall(st.tuples(st.builds(Case, NUMBERS)), predicate)])
def test_cases_that_know_the_forms_own_values_are_not_green(engine):
    def procedure(f):
        yield engine(lambda case: f(case.n) == case.own())

    found = judged("knowing", procedure)
    assert not found.green and any("looks at the claim's own form" in p for p in found.problems)


class Pair(NamedTuple):
    value: Any
    other: Any


def test_evidence_that_only_tells_the_form_from_its_mutants_is_not_green():
    def procedure(f):
        yield exhaustive.forall([(n,) for n in range(2, 9)], lambda n: f(n) != linear(n) and f(n) != after(n), universal=True)

    def of_pairs(pair):
        yield from procedure(pair.value)

    plain = judged("told_apart", procedure)
    pairs = judged("told_apart_in_pairs", of_pairs, form=Pair(wrong, abs), mutants={k: Pair(v, abs) for k, v in FALSE.items()})
    for found in (plain, pairs):
        assert not found.green and any("looks at the claim's own false variant" in p for p in found.problems)


def test_what_no_false_variant_changes_and_what_libraries_bring_may_be_used():
    def procedure(pair):
        yield exhaustive.forall([(n,) for n in range(-4, 5)], lambda n: pair.value(n) == square(abs(n)))

    found = judged("used", procedure, form=Pair(lambda n: n * n, square),
                   mutants={"absolute": Pair(abs, square), "after": Pair(after, square)})
    assert found.green, found.problems

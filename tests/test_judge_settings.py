"""What a judgement takes: forms given late, hypotheses, filters, single variants, keyed streams."""
from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import pytest
import toy
from hypothesis import strategies as st

from proofs_checks.engines import exhaustive, falsify
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict
from proofs_checks.harness.judge import Trial, evidence, judge, judge_variant
from proofs_checks.harness.registry import registered
from proofs_checks.harness.twin import twin
from theory.claim import Claim, Source, Standing


class Bound(NamedTuple):
    """An inequality with its hypothesis."""

    limit: object
    given: object


TRUE = Bound(lambda x: x * x, lambda x: x >= 1)


def test_hypotheses_are_tested_by_dropping_them_and_wordings_are_refuted():
    claim = toy.claim(
        "hypothesis", form=TRUE, hypotheses={"large": "x >= 1"}, standing=Standing.NEEDS_HYPOTHESIS,
        as_stated=TRUE._replace(given=lambda x: True), also_true={"cube": TRUE._replace(limit=lambda x: x ** 3)},
        mutants={"without_large": TRUE._replace(given=lambda x: True), "half": TRUE._replace(limit=lambda x: x * x / 2)})

    @evidence(claim)
    def hypothesis(bound):
        points = st.tuples(st.integers(-20, 20).map(lambda i: Fraction(i, 5)))
        yield falsify.forall(points, lambda x: bound.limit(x) >= x, given=bound.given)

    found = judge(claim)
    assert found.green, found.problems
    assert set(found.outcomes) == {"claim", "as_stated", "cube", "without_large", "half"}
    assert found.kills["as_stated"][0].witness == (Fraction(1, 5),)


def test_an_algorithm_gets_its_form_at_the_evidence():
    claim = Claim(id="toy.algorithm", paper=toy.PAPER, statement="sorts", source=Source.PUBLIC, standing=Standing.HOLDS)

    @evidence(claim, form=sorted, mutants={"reversed": lambda x: sorted(x)[::-1], "deduplicated": lambda x: sorted(set(x))})
    def algorithm(sort):
        def right(x):
            out = sort(x)
            return all(a <= b for a, b in pairwise(out)) and len(out) == len(x)
        yield falsify.forall(st.tuples(st.lists(st.integers(0, 3))), right)

    assert judge(claim).green
    assert set(registered()["toy.algorithm"].mutants) == {"reversed", "deduplicated"}


def test_a_changed_copy_of_a_claim_is_judged_as_given():
    claim = toy.claim("copied")

    @evidence(claim)
    def copied(weight):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))

    assert judge(claim).green and judge(registered()["toy.copied"]).green
    assert not judge(replace(claim, form=lambda p, k: k)).green


def test_filtered_judgements_are_partial_and_never_green():
    claim = toy.claim("filtered")

    @evidence(claim)
    def filtered(weight):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))
        yield falsify.forall(toy.cases, lambda p, k: toy.slope(p, k) == weight(p, k))

    found = judge(claim, at_least=Rung.EXHAUSTIVE)
    assert found.partial and not found.green and found.outcomes["exponent_k"].ok
    assert "not judged: 1 checks below EXHAUSTIVE" in found.problems[0]


def test_one_variant_alone():
    claim = toy.claim("alone")

    @evidence(claim)
    def alone(weight):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))

    outcome = judge_variant(claim, "exponent_k")
    assert outcome.ok and outcome.killed_by is Rung.EXHAUSTIVE and len(outcome.hash) == 64
    assert outcome.hash == judge(claim).outcomes["exponent_k"].hash != judge(claim).outcomes["claim"].hash
    with pytest.raises(LookupError, match="no variant 'nothing'"):
        judge_variant(claim, "nothing")


def test_streams_are_keyed_so_that_order_does_not_matter():
    claim = toy.claim("keyed")
    seen = []

    @evidence(claim)
    def keyed(weight):
        def decide(context: Context) -> Evidence:
            seen.append(context.stream)
            return Evidence(rung=Rung.NUMERIC, verdict=Verdict.HOLDS)
        yield Check(engine="made_up", rung=Rung.NUMERIC, subject="x", decide=decide, at=lambda w: True)

    trial = Trial(claim)
    trial.decide("exponent_k")
    trial.decide("claim")
    assert seen == ["toy.keyed/exponent_k/0", "toy.keyed/claim/0"]


def test_registration_refuses_nonsense():
    with pytest.raises(ValueError, match="generator function"):
        evidence(toy.claim("plain"))(lambda weight: None)
    with pytest.raises(ValueError, match="form is given in the claim and again"):
        evidence(toy.claim("twice"), form=toy.weight)
    with pytest.raises(ValueError, match="at least 2 false variants"):
        evidence(Claim(id="toy.few", paper=toy.PAPER, statement="x", source=Source.PUBLIC, standing=Standing.HOLDS), form=1)
    with pytest.raises(ValueError, match="needs a Claim"):
        evidence(lambda weight: None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"alpha=2 must lie"):
        judge(toy.claim("alpha"), alpha=2)


def test_twins_compute_the_same_and_are_other_objects():
    form = Bound(toy.weight, [toy.slope])
    other = twin(form)
    assert other.limit is not toy.weight and other.given[0] is not toy.slope
    assert other.limit(Fraction(1, 2), 3) == toy.weight(Fraction(1, 2), 3)
    assert twin(sorted) is not sorted and twin(sorted)([2, 1]) == [1, 2]
    assert twin(toy.p) == toy.p and twin(Fraction(1, 2)) == Fraction(1, 2)

"""What a failure prints: what the variant says, what was found on both sides, where, by name; nothing where nothing is."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import pytest
import toy
from hypothesis import strategies as st

from proofs_checks.engines import exhaustive, falsify
from proofs_checks.harness import failures, report
from proofs_checks.harness.judge import Trial, evidence
from proofs_checks.harness.registry import theory_claims
from proofs_checks.harness.spoken import differences, said


class Record(NamedTuple):
    """Two parts, one of which a variant changes."""

    bound: Any
    given: Any


def scaled(by: int) -> Callable[[int], int]:
    return lambda n: n * by


def lengthy(n: int) -> int:
    """A function of more than one line."""
    total = 0
    for i in range(n):
        total += i
    return total


def short(n: int, k: int = 2) -> int:
    """A function of one line."""
    return n + k


@pytest.mark.parametrize(("value", "text"), [
    (lambda n: n ** 2 + 1, "lambda n: n ** 2 + 1"), (short, "short(n: int, k: int=2): n + k"),
    (lengthy, f"lengthy(n: int) of test_failures.py line {lengthy.__code__.co_firstlineno}"),
    (scaled(3), "lambda n: n * by, where by = 3"), (Fraction(1, 2), "1/2"), (min, "min"),
    (partial(short, k=3), "partial(short(n: int, k: int=2): n + k, k=3)"), ({"a": Fraction(3)}, "{'a': 3}"),
    ((1, Fraction(2, 3)), "(1, 2/3)"), (eval("lambda n: n"), "<lambda> (no source)")])
def test_a_variant_is_told_by_its_source(value: Any, text: str):
    assert said(value) == text


def test_a_record_is_told_by_the_fields_that_differ():
    form = Record(lambda n: n, lambda n: n > 0)
    assert differences(form, form._replace(bound=lambda n: 2 * n)) == [("bound = lambda n: 2 * n", "bound = lambda n: n")]
    assert differences({"a": 1, "b": 2}, {"a": 1, "b": 3}) == [("b = 3", "b = 2")]
    assert differences(lambda n: n, lambda n: n + 1) == [("lambda n: n + 1", "lambda n: n")]
    assert len(said(tuple(range(400)))) <= 160


def test_every_false_variant_of_theory_can_be_told_from_its_claim():
    told = {(i, v): differences(c.form, f) for i, c in theory_claims().items() for v, f in c.mutants.items()}
    assert told and not [key for key, pairs in told.items() if not pairs or any(a == b for a, b in pairs)]


def records(name: str, predicate: Any, *, strategy: Any = None, **changes: Any) -> dict[str, dict[str, Any]]:
    claim = toy.claim(f"failure_{name}", **changes)

    @evidence(claim)
    def checks(weight: Any):
        test = predicate(weight)
        yield falsify.forall(strategy, test) if strategy is not None else exhaustive.forall(toy.grid, test)

    trial = Trial(claim)
    return {v: report.variant_record(trial, v) for v in claim.variants()}


def block(name: str, row: dict[str, Any]) -> str:
    return "\n".join(failures.block(report.facts(toy.claim(name)), row))


def test_a_claim_that_fails_names_the_smallest_case_and_both_sides():
    found = records("shown", lambda w: lambda p, k: toy.slope(p, k) == w(p, k), form=lambda p, k: k * (1 - p) ** k)
    text = block("shown", found["claim"])
    assert text.startswith("fails at p = 1/5, k = 1\n") and "form     lambda p, k: k * (1 - p) ** k" in text
    assert "exhaustive refuted: fails at p = 1/5, k = 1: 1 == 4/5 is false  [" in text
    assert found["claim"]["problems"] == ["exhaustive EXHAUSTIVE says REFUTED: fails at p = 1/5, k = 1: 1 == 4/5 is false"]
    assert "problem" not in text  # it would only say the row again
    assert block("shown", found["factor_dropped"]).startswith("not judged: the claim itself fails\n")


def test_a_false_variant_that_survives_is_shown_beside_the_claim():
    found = records("weak", lambda w: lambda p, k: toy.slope(p, k) == w(p, k),
                    mutants={"factor_dropped": lambda p, k: (1 - p) ** (k - 1),
                             "as_true": lambda p, k: k * (1 - p) ** (k - 1) + 0})
    text = block("weak", found["as_true"])
    assert text.startswith("SURVIVED: nothing refutes it\n") and "expected to be refuted" in text
    assert "variant  lambda p, k: k * (1 - p) ** (k - 1) + 0" in text and "claim's  weight(p: Any, k: Any): k * (1" in text
    assert found["factor_dropped"]["ok"] and found["factor_dropped"]["evidence"][0]["names"] == ["p", "k"]
    assert found["factor_dropped"]["evidence"][0]["summary"] == "fails at p = 0, k = 2"


def nested(weight: Any) -> Any:
    def same(p: Fraction, k: int) -> bool:
        got = weight(p, k)
        if k > 100:
            return False
        return bool(toy.slope(p, k) >= got + k)

    return same


def by_default(weight: Any) -> Any:
    return lambda p, k, weight=weight: weight(p, k) > k


@pytest.mark.parametrize(("predicate", "told"), [
    (nested, "fails at p = 0, k = 1: 1 >= 2 is false"), (by_default, "fails at p = 0, k = 1: 1 > 1 is false"),
    (lambda w: lambda *case: w(*case) > case[1], "fails at (0, 1)"),
    (lambda w: lambda p, k: not w(p, k), "fails at p = 0, k = 1"),
    (lambda w: lambda p, k: 0 < w(p, k) < 1, "fails at p = 0, k = 1"),
    (lambda w: partial(lambda p, k, w: w(p, k) > k, w=w), "fails at p = 0, k = 1")])
def test_what_cannot_be_taken_apart_is_left_alone(predicate: Any, told: str):
    found = records("apart", predicate)
    assert found["claim"]["evidence"][0]["summary"] == told


def test_the_sides_never_change_a_verdict_and_never_raise():
    calls = []

    def twice(weight: Any) -> Any:
        def moody(p: Fraction, k: int) -> bool:
            calls.append(k)
            return weight(p, k) == (0 if len(calls) < 4 else 1 / 0)

        return moody

    found = records("moody", twice)["claim"]
    assert not found["ok"] and found["evidence"][0]["verdict"] in ("REFUTED", "ERROR")


@pytest.mark.parametrize(("left", "right", "told"), [
    (Fraction(10**40 + 1, 3**70), 1, f"{float(Fraction(10**40 + 1, 3**70)):.12g} == 1 is false"),
    (Fraction(10**40, 10**40 + 1), 1, "1 == 1 is false, they differ by 1e-40"), (list(range(60)), 0, "... == 0 is false")])
def test_long_values_are_cut_and_long_fractions_are_decimal(left: Any, right: Any, told: str):
    found = records("long", lambda w: lambda p, k: left == right)
    assert found["claim"]["evidence"][0]["summary"].endswith(told)


def test_a_procedure_that_dies_gives_its_reason_and_nothing_empty():
    claim = toy.claim("dying", mutants={"crash": lambda p, k: 1 // 0, "exponent_k": lambda p, k: k * (1 - p) ** k})

    @evidence(claim)
    def checks(weight: Any):
        weight(1, 2)
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))

    row = report.variant_record(Trial(claim), "crash")
    assert row["problems"] == ["the procedure died after 0 checks: ZeroDivisionError: integer division or modulo by zero "
                               f"(line {claim.mutants['crash'].__code__.co_firstlineno} of tests/test_failures.py)"]
    text = block("dying", row)
    assert text.startswith("the procedure died after 0 checks: ZeroDivisionError\n") and ": \n" not in text + "\n"


def test_a_procedure_that_dies_late_says_what_came_before():
    claim = toy.claim("late", mutants={"same": lambda p, k: toy.weight(p, k), "exponent_k": lambda p, k: k * (1 - p) ** k})

    @evidence(claim)
    def checks(weight: Any):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))
        raise LookupError("out of ideas")

    problems = report.variant_record(Trial(claim), "same")["problems"]
    assert problems[0].startswith("the procedure died after 1 checks: LookupError: out of ideas")
    assert problems[1] == "not refuted by the checks before that: exhaustive HOLDS"


def test_a_vacuous_check_says_so_without_an_empty_scope():
    found = records("vacuous", lambda w: lambda p, k: w(p, k) == 0, strategy=st.tuples(toy.unit, st.integers(1, 3)))
    assert found["claim"]["problems"]
    claim = toy.claim("void")

    @evidence(claim)
    def checks(weight: Any):
        yield exhaustive.forall([], lambda p, k: weight(p, k) == 0)

    text = block("void", report.variant_record(Trial(claim), "claim"))
    assert text.startswith("vacuous: no case was examined\n") and "[]" not in text


def test_what_was_left_out_on_request_is_no_failure_and_a_failing_claim_is_one():
    assert failures.left_out("not judged: 1 checks below SYMBOLIC were left out")
    assert not failures.left_out("not judged: the claim itself fails") and not failures.left_out("SURVIVED: x")
    assert not failures.left_out("not judged: no verdict on the claim itself")


@pytest.mark.parametrize(("predicate", "reason"), [
    (lambda w: lambda p, k: 0.1 * float(p) + 0.2 <= 1, "the predicate computes in floats"),
    (lambda w: lambda p, k: undefined(p, k), "NameError: name 'undefined' is not defined"),  # noqa: F821
    (lambda w: lambda p, k: 1 / 0, "ZeroDivisionError: division by zero")])
def test_the_reason_of_a_claim_without_verdict_is_said_once(predicate: Any, reason: str):
    found = records("open", predicate)
    entry = report.claim_entry(report.facts(toy.claim("open")), found.values())
    claims, others = failures.blocks(entry)
    assert claims[0].startswith(reason) and sum(reason in line for line in claims) == 2  # the headline and its row
    assert others == ["not judged: exponent_k, factor_dropped (no verdict on the claim itself)"]
    alone = failures.block(entry, found["exponent_k"])
    assert alone[0] == "not judged: no verdict on the claim itself" and "--variant claim" in alone[-1] and len(alone) == 3


def test_a_procedure_that_dies_on_the_claim_leaves_its_variants_open():
    claim = toy.claim("died")

    @evidence(claim)
    def checks(weight: Any):
        raise LookupError("nothing")
        yield

    trial = Trial(claim)
    assert trial.outcome("exponent_k").problems == ("not judged: no verdict on the claim itself",)
    assert trial.outcome("claim").problems[0].startswith("the procedure died after 0 checks: LookupError: nothing (line ")


@pytest.mark.parametrize(("problem", "said"), [
    ("TRUE, not a mutant: symbolic proves it on the whole domain; move it to also_true", "TRUE, not a mutant"),
    ("idle: exhaustive (check 2) refutes no false variant: it distinguishes nothing", "idle: exhaustive (check 2)"),
    ("falsify does not separate: the claim fails at the witness (1, 2) too, and much more", "falsify does not separate"),
    ("contradiction on half: symbolic proves on the whole domain what falsify refutes", "contradiction on half"),
    ("the procedure yields other checks when it is called again", "the procedure yields other checks when it is called again"),
    ("the procedure died after 0 checks: ZeroDivisionError: integer division or modulo by zero (line 3 of <lambda>)",
     "the procedure died after 0 checks: ZeroDivisionError")])
def test_a_headline_stands_alone_and_is_short(problem: str, said: str):
    found = failures.headline({"problems": [problem], "evidence": [None], "true": True})
    assert found == said and len(found) <= 60

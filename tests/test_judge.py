"""The judge can be refuted: each attack on it is a test, and so is each planted defect."""
from __future__ import annotations

from fractions import Fraction

import pytest
import toy

from proofs_checks.engines import exhaustive, falsify, symbolic
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict
from proofs_checks.harness.judge import evidence, judge
from theory.claim import Claim, Source, Standing


def problems(claim: Claim) -> str:
    """The problems of a claim that is judged red, a line each; nothing for a green one."""
    found = judge(claim)
    return "" if found.green else "\n".join(found.problems)


def scan(predicate, **options):
    return exhaustive.forall(toy.grid, predicate, **options)


def test_a_true_claim_whose_mutants_die_is_green():
    claim = toy.claim("green")

    @evidence(claim)
    def green(weight):
        yield symbolic.equal(toy.slope_symbolic, weight, (toy.p, toy.k))
        yield falsify.forall(toy.cases, lambda p, k: toy.slope(p, k) == weight(p, k))

    found = judge(claim)
    assert found.green and found.rung is Rung.SYMBOLIC and found.verdict is Verdict.HOLDS and not found.idle
    assert all(e.verdict is Verdict.REFUTED for kills in found.kills.values() for e in kills)
    assert set(found.kills) == {"exponent_k", "factor_dropped"} and all(found.kills.values())
    assert [e.rung for e in found.evidence] == [Rung.SYMBOLIC, Rung.PROPERTY]


# the seven attacks of DESIGN section 2

def test_attack_1_a_checker_that_always_says_no():
    claim = toy.claim("always_no", standing=Standing.REFUTED_AS_STATED, as_stated=lambda p, k: k)

    @evidence(claim)
    def always_no(weight):
        yield scan(lambda p, k: weight(p, k) != weight(p, k))

    said = problems(claim)
    assert "claim: exhaustive EXHAUSTIVE says REFUTED" in said and "as_stated: not judged: the claim itself fails" in said
    assert judge(claim).kills["as_stated"] == []


def test_attack_2_a_proof_of_the_wrong_thing_beside_a_working_test():
    claim, right = toy.claim("wrong_proof"), toy.k * (1 - toy.p) ** (toy.k - 1)

    @evidence(claim)
    def wrong_proof(weight):
        yield symbolic.equal(toy.slope_symbolic, right, (toy.p, toy.k), universal=True)  # ignores the form
        yield falsify.forall(toy.cases, lambda p, k: toy.slope(p, k) == weight(p, k))

    said = problems(claim)
    assert "contradiction on exponent_k" in said and "idle: symbolic" in said
    assert judge(claim).contradictions


def test_attack_3_a_true_variant_killed_by_rounding():
    claim = toy.claim("rounding", mutants={
        "rewritten": lambda p, k: k * (1 - p) ** k / (1 - p), "dropped": lambda p, k: (1 - p) ** (k - 1)})

    @evidence(claim)
    def rounding(weight):
        yield exhaustive.forall([(i / 10, k) for i in range(10) for k in range(1, 9)],
                                lambda p, k: toy.weight(p, k) == weight(p, k))

    assert "rewritten: SURVIVED" in problems(claim)
    assert "by rounding only" in judge(claim).outcomes["rewritten"].evidence[0].summary


def test_attack_4_a_mutant_that_crashes_is_not_killed():
    claim = toy.claim("crash", mutants={"crashes": lambda p, k: 1 / 0, "dropped": lambda p, k: (1 - p) ** (k - 1)})

    @evidence(claim)
    def crash(weight):
        yield scan(lambda p, k: toy.slope(p, k) == weight(p, k))

    said = problems(claim)
    assert "crashes: SURVIVED: it cannot be evaluated" in said and "ZeroDivisionError" in said
    assert judge(claim).outcomes["crashes"].killed_by is None


def test_attack_5_a_hypothesis_that_is_never_satisfied():
    claim = toy.claim("vacuous")

    @evidence(claim)
    def vacuous(weight):
        yield scan(lambda p, k: toy.slope(p, k) == weight(p, k))
        yield scan(lambda p, k: toy.slope(p, k) == weight(p, k), given=lambda p, k: k > 99)

    assert "vacuous" in problems(claim)


def test_attack_6_a_procedure_that_recognises_the_claim():
    claim = toy.claim("recognised")

    @evidence(claim)
    def recognised(weight):
        good = weight is toy.weight
        yield scan(lambda p, k: good)

    assert "claim: exhaustive EXHAUSTIVE says REFUTED" in problems(claim)


def test_attack_7_a_procedure_that_stops_early_on_a_mutant():
    claim = toy.claim("stops", mutants={
        "by_cases": lambda p, k: k * (1 - p) ** (k - 1) if k <= 3 else 0, "dropped": lambda p, k: (1 - p) ** (k - 1)})

    @evidence(claim)
    def stops(weight):
        yield scan(lambda p, k: toy.slope(p, k) == weight(p, k))
        if weight(Fraction(1, 2), 5):
            yield falsify.forall(toy.cases, lambda p, k: toy.slope(p, k) == weight(p, k))

    assert "by_cases: the procedure yields 1 checks here" in problems(claim)


def test_a_procedure_that_dies_is_named():
    claim = toy.claim("dies")

    @evidence(claim)
    def dies(weight):
        yield scan(lambda p, k: toy.slope(p, k) == weight(p, k))
        if weight(Fraction(1, 2), 2) != 1:
            raise RuntimeError("no")
        yield scan(lambda p, k: toy.slope(p, k) == weight(p, k))

    assert "the procedure died after 1 checks: RuntimeError: no" in problems(claim)


def test_mutants_by_cases_are_killed_below_the_symbols():
    claim = toy.claim("cases", mutants={
        "zero_beyond_16": lambda p, k: k * (1 - p) ** (k - 1) if k <= 16 else 0, "dropped": lambda p, k: (1 - p) ** (k - 1)})

    @evidence(claim)
    def cases(weight):
        yield symbolic.equal(toy.slope_symbolic, weight, (toy.p, toy.k))
        yield falsify.forall(toy.cases, lambda p, k: toy.slope(p, k) == weight(p, k))

    found = judge(claim)
    assert found.green and found.outcomes["zero_beyond_16"].killed_by is Rung.PROPERTY
    assert found.outcomes["zero_beyond_16"].evidence[0].verdict is Verdict.UNDECIDED


# planted defects

def test_evidence_that_always_holds_is_idle_and_its_mutants_survive():
    claim = toy.claim("yes")

    @evidence(claim)
    def yes(weight):
        yield scan(lambda p, k: True)

    said = problems(claim)
    assert "idle: exhaustive" in said and "exponent_k: SURVIVED" in said
    assert judge(claim).idle


def test_a_tautology_is_idle_though_a_mutant_by_cases_leaves_it_undecided():
    claim = toy.claim("tautology", mutants={"factor_dropped": lambda p, k: (1 - p) ** (k - 1),
                                            "by_cases": lambda p, k: toy.weight(p, k) if k > 2 else p})

    @evidence(claim)
    def tautology(weight):
        yield symbolic.equal(weight, weight, (toy.p, toy.k))
        yield scan(lambda p, k: toy.slope(p, k) == weight(p, k))

    assert "idle: symbolic (check 1) refutes no false variant" in problems(claim)


def test_a_surviving_mutant_is_red():
    claim = toy.claim("survivor", mutants={"zero_beyond_99": lambda p, k: toy.weight(p, k) if k < 99 else 0,
                                           "dropped": lambda p, k: (1 - p) ** (k - 1)})

    @evidence(claim)
    def survivor(weight):
        yield scan(lambda p, k: toy.slope(p, k) == weight(p, k))

    assert "zero_beyond_99: SURVIVED" in problems(claim)


def test_a_mutant_that_is_secretly_true_is_named_as_true():
    claim = toy.claim("secret", mutants={
        "reordered": lambda p, k: (1 - p) ** (k - 1) * k, "dropped": lambda p, k: (1 - p) ** (k - 1)})

    @evidence(claim)
    def secret(weight):
        yield symbolic.equal(toy.slope_symbolic, weight, (toy.p, toy.k), universal=True)

    assert "reordered: TRUE, not a mutant" in problems(claim)


def test_an_empty_domain_is_an_error():
    claim = toy.claim("empty")

    @evidence(claim)
    def empty(weight):
        yield exhaustive.forall([], lambda p, k: toy.slope(p, k) == weight(p, k))

    assert "vacuous: no case was examined" in problems(claim)


def test_a_false_claim_leaves_its_mutants_unjudged():
    claim = toy.claim("false", form=lambda p, k: k * (1 - p) ** k)

    @evidence(claim)
    def false(weight):
        yield scan(lambda p, k: toy.slope(p, k) == weight(p, k))

    said = problems(claim)
    assert "claim: exhaustive" in said and "factor_dropped: not judged: the claim itself fails" in said


def test_a_witness_must_separate():
    claim = toy.claim("no_separation")

    @evidence(claim)
    def no_separation(weight):
        def decide(context: Context) -> Evidence:
            same = weight(Fraction(1, 2), 3) == toy.slope(Fraction(1, 2), 3)
            verdict = Verdict.HOLDS if same else Verdict.REFUTED
            return Evidence(rung=Rung.NUMERIC, verdict=verdict, witness=None if same else (0, 1))
        yield Check(engine="made_up", rung=Rung.NUMERIC, subject="x", decide=decide, at=lambda w: False)

    assert "exponent_k: made_up does not separate" in problems(claim)


def test_a_refutation_without_witness_or_beyond_re_evaluation_is_no_kill():
    claim = toy.claim("no_witness")

    @evidence(claim)
    def no_witness(weight):
        same = weight(Fraction(1, 2), 3) == toy.slope(Fraction(1, 2), 3)
        verdict = Verdict.HOLDS if same else Verdict.REFUTED
        for witness, at in ((None, lambda w: False), ((1, 2), lambda w: True), ((1, 2), lambda w: 1 / 0)):
            yield Check(engine="made_up", rung=Rung.NUMERIC, subject="x", at=at,
                        decide=lambda c, w=witness: Evidence(rung=Rung.NUMERIC, verdict=verdict, witness=w))

    said = problems(claim)
    assert "there is no witness" in said and "does not refute on re-evaluation" in said
    assert "cannot be re-evaluated: ZeroDivisionError" in said
    assert judge(claim).kills == {"exponent_k": [], "factor_dropped": []}


def test_evidence_cannot_claim_a_rung_above_its_check():
    claim = toy.claim("rung")

    @evidence(claim)
    def rung(weight):
        yield Check(engine="made_up", rung=Rung.NUMERIC, subject="x", at=lambda w: False,
                    decide=lambda c: Evidence(rung=Rung.SYMBOLIC, verdict=Verdict.HOLDS))

    assert "claims rung SYMBOLIC above its check's" in problems(claim)


@pytest.mark.parametrize(("certificate", "binds"), [
    (None, lambda c: True), ({"kind": "sos"}, None), ({"kind": "sos"}, lambda c: False),
    ({"kind": "sos"}, lambda c: c["gram"]), ({"kind": "bogus"}, lambda c: True)])
def test_a_proof_needs_a_certificate_of_the_very_statement(certificate, binds):
    claim = toy.claim("unbound")

    @evidence(claim)
    def unbound(weight):
        same = weight(Fraction(1, 2), 3) == toy.slope(Fraction(1, 2), 3)
        yield Check(engine="made_up", rung=Rung.CERTIFIED, subject="x", at=lambda w: False, binds=binds,
                    decide=lambda c: Evidence(rung=Rung.CERTIFIED, verdict=Verdict.HOLDS if same else Verdict.UNDECIDED,
                                              certificate=certificate))

    assert "claims rung CERTIFIED without a certificate that is about this very statement" in problems(claim)


def test_statistical_targets_nearer_than_two_tolerances_are_refused():
    claim = toy.claim("targets")

    @evidence(claim)
    def targets(weight):
        value = float(weight(Fraction(1, 2), 3))
        verdict, witness = (Verdict.HOLDS, None) if value == 0.75 else (Verdict.REFUTED, "here")
        yield Check(engine="mean", rung=Rung.STATISTICAL, at=lambda w: value == 0.75,
                    subject={"engine": "mean", "target": value, "tol": 0.25},
                    decide=lambda c: Evidence(rung=Rung.STATISTICAL, verdict=verdict, witness=witness))

    assert "exponent_k: target 0.375 lies within 2 tol of the claim's 0.75" in problems(claim)


def test_a_claim_without_evidence_and_one_out_of_reach_are_not_green():
    assert not judge(toy.claim("nobody")).green
    assert "no evidence is registered" in judge(toy.claim("nobody")).problems[0]
    far = Claim(id="toy.far", paper=toy.PAPER, statement="x", source=Source.ABSTRACT, standing=Standing.OUT_OF_REACH)
    assert not judge(far).green

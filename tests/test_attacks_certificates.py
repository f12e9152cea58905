"""Certificates that were accepted and must not be: malformed, made up, moved, or saying more than was checked."""
from __future__ import annotations

import copy
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
import toy

from proofs_checks.engines import exhaustive, falsify, interval, sequential, smt, sos, symbolic
from proofs_checks.harness.bind import bind
from proofs_checks.harness.certificate import seal, to_json
from proofs_checks.harness.judge import Trial, evidence
from proofs_checks.harness.recheck import CertificateError, recheck

X = ["var", "x"]
ROOT = Path(__file__).resolve().parents[1]


def refused(certificate, **options):
    """Why the re-checker rejects a certificate; nothing if it accepts it."""
    try:
        recheck(certificate, **options)
    except CertificateError as error:
        return str(error)
    return ""


# certificates: what the re-checker is fed

@pytest.mark.parametrize("source", [None, 5, b"x", [], 1.5])
def test_what_is_no_certificate_is_refused_by_name(source):
    assert f"path_or_dict={source!r} must be a path or a mapping" in refused(source)


@pytest.mark.parametrize("subjects", [[{1, 2}], [object()], [10**5000], [{1: 2, "a": 3}]])
def test_headers_that_cannot_be_hashed_are_refused(subjects):
    header = {"schema": "refutable/certificate/1", "kind": "identity", "claim": "", "variant": "", "statement": "",
              "claim_hash": "0" * 64}
    assert "header cannot be hashed" in refused({**header, "subjects": subjects})


def test_deep_headers_are_refused():
    deep = []
    for _ in range(10_000):
        deep = [deep]
    assert "header cannot be hashed: RecursionError" in refused({
        "schema": "refutable/certificate/1", "kind": "identity", "claim": "", "variant": "", "statement": "",
        "claim_hash": "0" * 64, "subjects": [deep]})


@pytest.mark.parametrize("text", ['{"kind": "sos", "kind": "identity"}', '{"alpha": NaN}', '{"alpha": -Infinity}'])
def test_names_given_twice_and_numbers_that_are_not_json_are_refused(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_text(text)
    assert "unreadable" in refused(path)
    assert json.loads(json.dumps(to_json([math.nan, -math.inf, 1.5])), parse_constant=pytest.fail) == ["nan", "-inf", 1.5]


def identity(lhs, rhs, words=(), symbols=None):
    tree = ["eq", lhs, rhs]
    body = {"kind": "identity", "engine": "symbolic", "variables": {"x": list(words)}, "statement_tree": tree}
    own = words if symbols is None else symbols
    return seal(body, subjects=[{"engine": "symbolic.equal", "statement": tree, "symbols": [["x", list(own)]]}])


def test_a_word_about_the_method_that_nobody_checks_is_refused():
    assert "unknown field 'method'" in refused({**identity(X, X), "method": "by inspection"})


def test_the_hash_that_is_asked_for_must_be_text():
    assert recheck(identity(X, X))
    assert "claim_hash=5 must be text" in refused(identity(X, X), claim_hash=5)


@pytest.mark.parametrize("tree", [
    ["pow", "3", "100000000"], ["pow", "3", "-100000000"], ["pow", ["add", X, "1"], "100000"],
    ["mul", *[["pow", ["add", X, "3"], "50000"]] * 40]])
def test_expansions_that_take_for_ever_are_refused(tree):
    assert "too large to check" in refused(identity(tree, tree))


def test_a_monomial_of_any_degree_is_expanded():
    assert recheck(identity(["pow", X, "1000000000000"], ["pow", ["pow", X, "1000000"], "1000000"]))


def test_sums_of_long_numbers_are_refused():
    long = ["add", *[["pow", ["add", X, str(i)], "-60000"] for i in range(3, 40)]]
    assert refused(identity(["add", ["sin", "0"], long], ["sin", X]))


@pytest.mark.parametrize(("lhs", "rhs", "words"), [
    (["sin", X], ["mul", "0", X], []), (["exp", X], ["add", "1", X], []), (["log", X], ["add", X, "-1"], ["positive"])])
def test_a_false_identity_is_not_saved_by_its_only_rational_point(lhs, rhs, words):
    assert "the sides differ at" in refused(identity(lhs, rhs, words))


def test_assumptions_that_the_statement_does_not_make_are_refused():
    assert recheck(identity(["abs", X], X, ["positive"]))
    assert "assumptions on the variables are not those" in refused(identity(["abs", X], X, ["positive"], symbols=[]))
    assert "assumptions on the variables are not those" in refused(identity(["floor", X], X, ["integer"], symbols=[]))


# certificates of claims: what they may be turned into

NOISY, PLAIN = toy.claim("noisy_certificates"), toy.claim("plain_certificates")


def uniform(key, n):
    return np.random.default_rng(key).random(n)


@pytest.fixture
def issued():
    @evidence(PLAIN)
    def procedure(weight):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))
        yield falsify.forall(toy.cases, lambda p, k: toy.slope(p, k) == weight(p, k), examples=30)
        yield symbolic.equal(toy.slope_symbolic, weight, (toy.p, toy.k))

    @evidence(NOISY)
    def noisy(weight):
        yield sequential.mean_within(uniform, lambda: weight(Fraction(1, 2), 2) / 2, tol=0.1)

    found = {}
    for claim in (PLAIN, NOISY):
        trial = Trial(claim)
        for variant in ("claim", "exponent_k"):
            for i, e in enumerate(trial.decide(variant)):
                found[claim.id, variant, i] = e.certificate
    return found


def unbound(certificate):
    """Why a certificate is rejected or is not the one of its claim; nothing if it is accepted."""
    try:
        recheck(certificate)
        bind(certificate)
    except CertificateError as error:
        return str(error)
    return ""


def test_certificates_as_issued_are_accepted(issued):
    assert {key: unbound(certificate) for key, certificate in issued.items()} == dict.fromkeys(issued, "")


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("variant", ["claim", "exponent_k"])
@pytest.mark.parametrize("change", [{"cases": 10**9}, {"digest": "0" * 32}, {"stream": "picked/by/hand/{}"}])
def test_what_a_replayed_certificate_says_is_all_compared(issued, index, variant, change):
    change = {k: v.format(index) if isinstance(v, str) else v for k, v in change.items()}
    assert unbound({**issued[PLAIN.id, variant, index], **change})


def test_a_made_up_histogram_is_not_the_claims_own(issued):
    real = issued[NOISY.id, "claim", 0]
    assert "random stream" in unbound({**real, "stream": "picked/by/hand/0"})
    scaled = copy.deepcopy(real)
    scaled["counts"] = [[i, 2 * c] for i, c in real["counts"]]
    scaled["observations"], scaled["chunks"] = 2 * real["observations"], 2 * real["chunks"]
    assert unbound(scaled)
    for field in ("target", "lower", "tol"):
        assert "must be a rational" in refused({**real, field: "1e999999999"})


def test_a_histogram_says_at_which_error_probability(issued):
    from proofs_checks.harness.recheck import examine

    assert "alpha=1e-06" in examine(issued[NOISY.id, "claim", 0])[1]


def test_a_witness_must_obey_the_assumptions_and_hypotheses_of_its_statement():
    t = sp.Symbol("t", negative=True)
    subject = symbolic.equal(sp.Abs(t), lambda t: 2 * t, t).resolved_subject()
    body = {"kind": "witness", "engine": "symbolic", "subject": subject}
    assert recheck(seal({**body, "point": {"t": "-1"}}, subjects=[subject]))
    assert "t=1 is assumed to be negative" in refused(seal({**body, "point": {"t": "1"}}, subjects=[subject]))
    guarded = {**subject, "given": ["function"]}
    assert "a Python predicate" in refused(seal({**body, "subject": guarded, "point": {"t": "-1"}}, subjects=[guarded]))


N = sp.Symbol("n", real=True)
PROOFS = {"symbolic": lambda f: symbolic.equal(f, (N + 1)**2, N), "sos": lambda f: sos.nonnegative(f, "n"),
          "smt": lambda f: smt.forall(f, "n"), "interval": lambda f: interval.nonnegative(f, {"n": (0, 2000)}),
          "interval_given": lambda f: interval.nonnegative(lambda n: n * n, {"n": (0, 2000)}, given=f)}


@pytest.mark.parametrize("engine", sorted(PROOFS))
def test_a_proof_of_what_a_function_was_is_none_of_what_it_is(engine):
    """Of symbols both functions make the same, and neither differs at the points where they are compared."""
    def claim(form):
        made = toy.claim("changed", form=form, mutants={"less": lambda n: n * n - 7, "other": lambda n: -n - 5})
        evidence(made)(lambda f: (yield PROOFS[engine](f)))
        return made

    old = Trial(claim(lambda n: n * n + 2 * n + 1)).decide("claim")[0].certificate
    assert unbound(old) == ""
    claim(lambda n: n * n + 2 * n + 1 if n != 1009 else -5)
    assert "reads otherwise today" in unbound(old)

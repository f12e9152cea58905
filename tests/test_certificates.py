"""Certificates: what is tampered with, transplanted or malformed is rejected, in one line and without a crash."""
from __future__ import annotations

import copy
import json
import subprocess
import sys
from fractions import Fraction

import pytest
import toy

from proofs_checks.engines import exhaustive, falsify, symbolic
from proofs_checks.harness.bind import bind
from proofs_checks.harness.cache import Cache, _hash, decode, encode
from proofs_checks.harness.certificate import claim_hash, seal, to_json
from proofs_checks.harness.evidence import Context, Verdict
from proofs_checks.harness.judge import Trial, evidence, judge
from proofs_checks.harness.recheck import CertificateError, recheck

CLAIM, OTHER, CACHED = toy.claim("certified"), toy.claim("other", statement="another"), toy.claim("cached")


def procedure(weight):
    yield symbolic.equal(toy.slope_symbolic, weight, (toy.p, toy.k))
    yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))
    yield falsify.forall(toy.cases, lambda p, k: toy.slope(p, k) == weight(p, k))


@pytest.fixture(autouse=True)
def registered():
    evidence(CLAIM)(procedure)
    evidence(OTHER)(procedure)


@pytest.fixture
def certificates():
    return {(v, i): dict(e.certificate) for v, o in judge(CLAIM).outcomes.items() for i, e in enumerate(o.evidence)}


def rejected(certificate, **options):
    """Why the re-checker rejects a certificate; nothing if it accepts it."""
    try:
        recheck(certificate, **options)
    except CertificateError as error:
        return str(error)
    return ""


def test_every_certificate_of_a_green_claim_is_accepted_and_bound(certificates, tmp_path):
    assert len(certificates) == 9
    for (variant, _), certificate in certificates.items():
        path = tmp_path / "c.json"
        path.write_text(json.dumps(certificate))
        assert recheck(certificate) is True and recheck(path) is True and recheck(str(path)) is True
        assert recheck(certificate, claim_hash=Trial(CLAIM).hash(variant))
        bind(certificate)


def test_the_hash_can_be_recomputed_from_the_header(certificates):
    c = certificates["claim", 0]
    assert c["claim_hash"] == claim_hash(c["claim"], c["variant"], c["statement"], c["subjects"])
    assert set(c) >= {"schema", "kind", "claim_hash", "claim", "variant", "statement", "subjects"}


@pytest.mark.parametrize(("field", "value", "reason"), [
    ("claim", "toy.other", "does not belong"), ("variant", "exponent_k", "does not belong"),
    ("statement", "x", "does not belong"),
    ("subjects", [], "does not belong"), ("claim_hash", "0" * 64, "does not belong"), ("claim_hash", "xyz", "not hexadecimal"),
    ("schema", "other/1", "schema is"), ("kind", "magic", "unknown kind"), ("kind", 3, "'kind' is missing or not text"),
    ("subjects", "x", "not a list"), ("statement_tree", ["eq", ["var", "k"], "1"], "not that of"),
    ("statement_tree", [], "malformed"), ("statement_tree", ["ge", "1", "0"], "not an equation"),
    ("variables", {}, "not declared")])
def test_a_changed_field_is_rejected(certificates, field, value, reason):
    assert reason in rejected({**certificates["claim", 0], field: value})


def test_a_transplanted_certificate_is_rejected_even_with_a_new_hash(certificates):
    c = certificates["claim", 0]
    moved = seal({k: c[k] for k in ("kind", "engine", "statement_tree", "variables")}, claim="toy.other", variant="claim",
                 statement=OTHER.statement, subjects=[{"statement": ["eq", "1", "1"]}])
    assert "not that of the statement" in rejected(moved)
    assert "another statement" in rejected(c, claim_hash=Trial(OTHER).hash("claim"))
    relabelled = seal({k: v for k, v in c.items() if k not in ("claim", "variant", "statement", "claim_hash")},
                      claim="toy.other", variant="claim", statement="made up", subjects=c["subjects"])
    with pytest.raises(CertificateError, match="its hash has changed"):
        bind(relabelled)
    with pytest.raises(CertificateError, match=r"no claim 'toy\.nobody'"):
        bind({**c, "claim": "toy.nobody"})
    with pytest.raises(CertificateError, match="no variant 'none'"):
        bind({**c, "variant": "none"})


def test_an_identity_that_is_false_is_rejected():
    for lhs, rhs in ((["mul", "2", ["var", "x"]], ["var", "x"]), (["exp", ["var", "x"]], ["var", "x"]),
                     (["pow", ["var", "x"], ["var", "x"]], ["var", "x"])):
        body = {"kind": "identity", "engine": "symbolic", "statement_tree": ["eq", lhs, rhs], "variables": {"x": []}}
        with pytest.raises(CertificateError):
            recheck(seal(body, subjects=[{"statement": ["eq", lhs, rhs]}]))


@pytest.mark.parametrize(("key", "changes"), [
    (("claim", 1), {"cases": 7}), (("claim", 1), {"digest": "0" * 32}), (("claim", 1), {"verdict": "REFUTED"}),
    (("exponent_k", 1), {"witness": ["1/7", 1]}), (("exponent_k", 1), {"verdict": "HOLDS"}),
    (("exponent_k", 2), {"witness": None}), (("claim", 2), {"verdict": "REFUTED"})])
def test_a_replay_that_says_something_else_is_rejected(certificates, key, changes):
    assert "says something else" in rejected({**certificates[key], **changes})


def test_a_replay_of_the_wrong_check_is_rejected(certificates):
    assert "is falsify, not exhaustive" in rejected({**certificates["claim", 1], "stream": "toy.certified/claim/2"})
    assert "has no check 9" in rejected({**certificates["claim", 1], "stream": "toy.certified/claim/9"})


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"kind": "sos"}', "[" * 10_000, "\ud800"])
def test_unreadable_files_are_certificate_errors(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert rejected(path)
    assert "unreadable" in rejected(tmp_path / "missing.json")


def test_malformed_contents_never_crash_the_checker(certificates):
    for certificate in (certificates["claim", 0], certificates["exponent_k", 0]):
        for field in set(certificate) - {"schema", "kind", "claim", "variant", "statement", "subjects", "claim_hash"}:
            for value in (None, 3, "x", [], {}, [[]], {"a": 1}):
                if certificate[field] == value or field == "engine":
                    continue
                try:
                    assert recheck({**certificate, field: value}) is True
                except CertificateError:
                    continue
                assert field in ("witness", "variables", "scope", "module"), field  # words, or a witness of none


def test_deep_trees_are_refused_not_crashed_on():
    tree = "1"
    for _ in range(100_000):
        tree = ["add", tree]
    body = {"kind": "identity", "engine": "symbolic", "statement_tree": ["eq", tree, tree], "variables": {}}
    with pytest.raises((CertificateError, RecursionError)):
        recheck(seal(body, subjects=[]))


def test_self_contained_certificates_need_the_standard_library_only(tmp_path, certificates):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(certificates["claim", 0]))
    code = ("import sys; before = set(sys.modules)\n"
            "from proofs_checks.harness.recheck import recheck\n"
            f"assert recheck({str(path)!r})\n"
            "new = {m.split('.')[0] for m in set(sys.modules) - before}\n"
            "print(sorted(m for m in new if m not in sys.stdlib_module_names and m != 'proofs_checks'))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_json_keeps_rationals():
    assert to_json({"a": (Fraction(1, 2), frozenset({2, 1}))}) == {"a": ["1/2", [1, 2]]}
    witness = {"k": Fraction(1, 3), "s": (1, [2.5, frozenset({"a"})], None)}
    assert decode(json.loads(json.dumps(encode(witness)))) == witness
    with pytest.raises(TypeError):
        encode(object())


# the cache

@pytest.fixture(autouse=True)
def remembered():
    @evidence(CACHED)
    def scan(weight):
        yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))


def cached(folder):
    return Trial(CACHED, cache=Cache(folder, "the sources"))


def test_the_cache_remembers_and_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("proofs_checks.harness.cache.QUICK", 0)
    first = cached(tmp_path).judgement()
    kept = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    assert first.green and sum("evidence" in e for e in kept) == 3
    assert {e["survives"] for e in kept if "survives" in e} == {True, False}  # the claim and the variants at the witnesses
    monkeypatch.setattr("proofs_checks.harness.evidence.Check.run", lambda *a: pytest.fail("decided again"))
    monkeypatch.setattr("proofs_checks.engines._cases.settled", lambda *a: pytest.fail("evaluated again"))
    again = cached(tmp_path).judgement()
    assert again.green and {v: o.evidence for v, o in again.outcomes.items()} == {
        v: o.evidence for v, o in first.outcomes.items()}


@pytest.mark.parametrize("edit", [
    lambda text: text[: len(text) // 2], lambda text: "", lambda text: text.replace("REFUTED", "HOLDS"),
    lambda text: text.replace("HOLDS", "REFUTED"), lambda text: text.replace("toy.cached", "toy.other"),
    lambda text: json.dumps({**json.loads(text), "evidence": None}), lambda text: "[1]",
    lambda text: text.replace('"survives": true', '"survives": 1').replace('"survives": false', '"survives": true')])
def test_a_corrupt_cache_never_changes_a_verdict(tmp_path, monkeypatch, edit):
    monkeypatch.setattr("proofs_checks.harness.cache.QUICK", 0)
    cached(tmp_path).judgement()
    for path in tmp_path.iterdir():
        path.write_text(edit(path.read_text()))
    found = cached(tmp_path).judgement()
    assert found.green and found.outcomes["exponent_k"].evidence[0].verdict is Verdict.REFUTED


def forged(folder, change):
    """Entries of results changed, and sealed again as the cache seals them."""
    for path in folder.iterdir():
        entry = json.loads(path.read_text())
        if "evidence" in entry:
            entry["evidence"] = {**entry["evidence"], **change(entry["evidence"])}
            entry["sha256"] = _hash([entry["key"], entry["evidence"]])
            path.write_text(json.dumps(entry))


HOLDING = {"verdict": "HOLDS", "witness": None, "summary": ""}


@pytest.mark.parametrize("change", [
    lambda e: {**HOLDING, "certificate": None},
    lambda e: {**HOLDING, "certificate": {**e["certificate"], "verdict": "REFUTED"}},
    lambda e: {**HOLDING, "certificate": {**e["certificate"], "verdict": "HOLDS", "claim_hash": "0" * 64}},
    lambda e: {**HOLDING, "certificate": {**e["certificate"], "verdict": "HOLDS", "engine": "falsify"}},
    lambda e: {**HOLDING, "certificate": {**e["certificate"], "verdict": "HOLDS", "stream": "toy.cached/claim/9"}}])
def test_a_forged_result_that_holds_needs_a_certificate_about_the_very_check(tmp_path, monkeypatch, change):
    monkeypatch.setattr("proofs_checks.harness.cache.QUICK", 0)
    cached(tmp_path).judgement()
    forged(tmp_path, change)
    found = cached(tmp_path).judgement()
    assert found.green and found.outcomes["exponent_k"].evidence[0].verdict is Verdict.REFUTED  # decided anew


def test_a_stale_cache_is_not_found(tmp_path, monkeypatch):
    monkeypatch.setattr("proofs_checks.harness.cache.QUICK", 0)
    check = exhaustive.forall(toy.grid, lambda p, k: True)
    false = exhaustive.forall(toy.grid, lambda p, k: False)
    cache = Cache(tmp_path, "old")
    context = Context(stream="a/b/0")
    assert cache.decide(check, context, check.resolved_subject()).verdict is Verdict.HOLDS
    assert cache.decide(false, context, false.resolved_subject()).verdict is Verdict.REFUTED
    for other in (Cache(tmp_path, "new"), cache):
        key = check.resolved_subject() if other is not cache else copy.deepcopy(false.resolved_subject())
        assert other.decide(false, context, key).verdict is Verdict.REFUTED
    assert cache.decide(false, Context(stream="a/b/0", alpha=0.5), check.resolved_subject()).verdict is Verdict.REFUTED

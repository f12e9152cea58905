"""Forged certificates and hostile files: nothing wrong is accepted, nothing is executed, nothing is exhausted."""
from __future__ import annotations

import contextlib
import copy
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from causal import CausalCertificateError, CausalError, CausalModel, actual_causes, check_certificate, read_model
from causal.certificates import _sealed
from causal.files._native import from_data
from causal.random_models import random_case

ROCK = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def forgeries(value: Any) -> Iterator[Any]:
    """Other values in the place of one."""
    yield None
    if isinstance(value, bool) or value is None:
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, -value, 1 - value, str(value), 10**30)
    elif isinstance(value, str):
        yield from (value + "x", "", value[::-1], "BS", 0, f"~({value})")
    elif isinstance(value, list):
        yield from ([], value[1:], value[::-1], value + value[:1], {})
    else:
        yield from ({}, [], dict(list(value.items())[1:]), {**value, "ST": 0}, {**value, "nowhere": 1})


def forged(certificate: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every certificate with one place changed or left out; the label is made anew where that can be done."""
    for path in list(places(certificate)):
        at: Any = certificate
        for key in path[:-1]:
            at = at[key]
        for other in [*forgeries(at[path[-1]]), "delete"]:
            changed = copy.deepcopy(certificate)
            inside = changed
            for key in path[:-1]:
                inside = inside[key]
            if other == "delete":
                del inside[path[-1]]
            else:
                inside[path[-1]] = other
            if path[0] in ("subjects", "method", "causes", "proof", "count"):
                body = {k: v for k, v in changed.items() if k in ("method", "causes", "proof", "count")}
                with contextlib.suppress(KeyError, TypeError, IndexError, CausalError, AttributeError):
                    changed = {**changed, **_sealed(changed["subjects"][0], body)}
            yield path, changed


def true_of(certificate: dict[str, Any]) -> bool:
    """Whether what an accepted certificate says is so."""
    (subject,) = certificate["subjects"]
    model = from_data(subject["model"])
    family = actual_causes(model, subject["context"], subject["effect"], candidates=subject["allowed"], engine="definition")
    if certificate["method"] == "cross_count":
        return family.count == int(str(certificate["count"]), 0)
    return {c.variables for c in family} == {frozenset(e["witness"]) for e in certificate["causes"]}


def test_no_change_of_a_certificate_is_accepted_unless_what_it_says_is_true() -> None:
    certificates = [actual_causes(ROCK, {"ST": 1, "BT": 1}, {"BS": 1}, exclude=["BS"]).certificate(),
                    actual_causes(*random_case("ones", 5, seed=1)).certificate(),
                    actual_causes(*random_case("tt", 4, seed=2, values=3)).certificate()]
    rejected = accepted = 0
    for certificate in certificates:
        certificate = json.loads(json.dumps(certificate))
        assert check_certificate(certificate)
        for path, changed in forged(certificate):
            try:
                check_certificate(changed)
            except CausalCertificateError:
                rejected += 1
                continue
            accepted += 1
            assert true_of(changed), path
    assert rejected > 4 * accepted > 0  # accepted: an order, a name or a line of the proof that does not matter


def test_a_proof_with_the_literal_0_proves_nothing() -> None:
    """0 is its own negation: with it any clause, and so the absence of causes that were left out, could be derived."""
    certificate = actual_causes(ROCK, {"ST": 1, "BT": 1}, {"BS": 1}).certificate()
    (subject,) = certificate["subjects"]
    for fresh in (9999, 1):
        for lines in ([[0, 0, fresh], [0, 0, -fresh], [0, 0], []], [[0.5, 0.5, fresh], [0.5, 0.5, -fresh], [0.5, 0.5], []]):
            body = {"method": "drup", "causes": certificate["causes"][:1], "proof": lines}
            with pytest.raises(CausalCertificateError, match="literal 0"):
                check_certificate(_sealed(subject, body))


def test_a_certificate_says_nothing_beside_what_is_checked() -> None:
    certificate = actual_causes(ROCK, {"ST": 1, "BT": 1}, {"BS": 1}).certificate()
    for added in ({"remark": "and nothing else"}, {"count": "99"}):
        with pytest.raises(CausalCertificateError, match="unknown field"):
            check_certificate({**certificate, **added})
    (subject,) = certificate["subjects"]
    body = {k: certificate[k] for k in ("method", "causes", "proof")}
    with pytest.raises(CausalCertificateError, match="allowed twice"):
        check_certificate(_sealed({**subject, "allowed": subject["allowed"] * 2}, body))


def test_a_forged_count_or_sample_of_a_cross_count_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    from causal import certificates

    monkeypatch.setattr(certificates, "LISTED", 1)
    certificate = json.loads(json.dumps(actual_causes(*random_case("ones", 6, seed=1)).certificate()))
    assert certificate["method"] == "cross_count"
    assert check_certificate(certificate)
    for path, changed in forged(certificate):
        try:
            check_certificate(changed)
        except CausalCertificateError:
            continue
        assert true_of(changed), path


def test_parts_of_one_cross_count_do_not_pass_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts, samples and subjects exchanged between certificates, labels made anew: accepted only where true."""
    from causal import certificates

    monkeypatch.setattr(certificates, "LISTED", 1)
    whole = [json.loads(json.dumps(actual_causes(*random_case(family, 7, seed, values=values)).certificate()))
             for family, seed, values in (("ones", 1, 2), ("ones", 2, 2), ("tt", 1, 3), ("thr", 3, 2))]
    assert {c["method"] for c in whole} == {"cross_count"}
    rejected = 0
    for mine, other in itertools.permutations(whole, 2):
        (subject,), (foreign,) = mine["subjects"], other["subjects"]
        body = {k: mine[k] for k in ("method", "count", "causes")}
        bodies = [body | {key: other[key]} for key in ("count", "causes")]
        subjects = [{**subject, key: foreign[key]} for key in subject]
        for changed in ((foreign, body), *((subject, b) for b in bodies), *((s, body) for s in subjects)):
            forgery = _sealed(*changed)
            try:
                check_certificate(forgery)
            except CausalCertificateError:
                rejected += 1
                continue
            assert true_of(forgery)
    assert rejected > 40


HOSTILE = {
    "bomb.xml": '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><opsa-mef>&b;</opsa-mef>',
    "outside.xml": '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]><opsa-mef><define-gate name="&a;"/></opsa-mef>',
    "external.xml": '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><opsa-mef><define-gate name="G"/></opsa-mef>',
    "deep.xml": "<opsa-mef>" + "<define-fault-tree>" * 100_000,
    "deepgate.xml": '<opsa-mef><define-gate name="G">' + "<not>" * 5000 + '<event name="A"/>' + "</not>" * 5000
                    + "</define-gate></opsa-mef>",
    "empty.xml": "", "text.xml": "not xml", "other.xml": "<html/>",
    "wide.xml": '<opsa-mef><define-gate name="G"><atleast min="99999999999"><event name="A"/></atleast></define-gate>'
                "</opsa-mef>",
    "cycle.xml": '<opsa-mef><define-gate name="G"><gate name="H"/></define-gate><define-gate name="H"><gate name="G"/>'
                 "</define-gate></opsa-mef>",
    "tag.yaml": 'variables: !!python/object/apply:os.system ["touch owned"]',
    "name.yaml": "variables: {A: !!python/name:os.system }", "alias.yaml": "a: &a [1]\nvariables: {A: {domain: *a}}",
    "laughs.yaml": "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nvariables: {A: {domain: *c}}",
    "deep.yaml": "variables: " + "[" * 50_000, "merge.yaml": "variables:\n  A: {<<: {domain: [0, 1]}}",
    "key.yaml": "variables:\n  ? [1, 2]\n  : {}", "number.yaml": "variables: {1: {}}", "list.yaml": "- 1\n- 2",
    "deep.json": "[" * 100_000, "huge.json": '{"variables": {"A": {"domain": [0, 1e999]}}, "exogenous": 3}',
    "code.json": '{"variables": {"A": {"expr": "__import__(\'os\').system(\'touch owned\')"}}}',
    "long.json": '{"variables": {"A": {"expr": "' + "~(" * 20_000 + "A" + ")" * 20_000 + '"}}}',
    "table.json": json.dumps({"variables": {**{f"P{i}": {} for i in range(40)}, "A": {"parents": [f"P{i}" for i in range(40)],
                                                                                 "table": [0]}}}),
    "self.json": '{"variables": {"A": {"expr": "A"}}}', "null.json": '{"variables": {"A": {"domain": null}}}',
    "bool.json": '{"variables": {"A": {"domain": [0, false]}}}', "unknown.json": '{"variables": {"A": {"expr": "B | C"}}}',
    "bad.bnet": "A, B\nB, A\n", "paren.bnet": "A, ((((B)\n", "call.bnet": "A, __import__('os')\n", "twice.bnet": "A, B\nA, C\n",
    "nul.bnet": "A, B\x00C\n", "table.bif": "network x {}\n" + "".join(
        f"variable V{i} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for i in range(41)) + "probability ( V0 | " + ", ".join(
        f"V{i}" for i in range(1, 41)) + " ) { table 1.0, 0.0; }",
    "open.bif": "network x {", "count.bif": "variable A { type discrete [ 999999999 ] { a, b }; }",
    "nan.bif": "variable A { type discrete [ 2 ] { a, b }; } probability ( A ) { table nan, 1.0; }",
    "soft.bif": "variable A { type discrete [ 2 ] { a, b }; } variable B { type discrete [ 2 ] { a, b }; } "
                "probability ( A ) { table 0.5, 0.5; } probability ( B | A ) { (a) 0.5, 0.5; (b) 0, 1; }",
    "cycle.bif": "variable A { type discrete [ 2 ] { a, b }; } variable B { type discrete [ 2 ] { a, b }; } "
                 "probability ( A | B ) { (a) 1, 0; (b) 0, 1; } probability ( B | A ) { (a) 1, 0; (b) 0, 1; }",
}


HOSTILE |= {
    "digits.json": '{"variables": {"A": {"domain": [0, ' + "9" * 5000 + "]}}}",
    "digits.yaml": "variables: {A: {domain: [0, " + "9" * 5000 + "]}}", "hex.yaml": "variables: {A: {domain: [0, 0x_]}}",
    "digits.bnet": "A, B == " + "9" * 5000, "threshold.bnet": "A, atleast(" + "9" * 5000 + ", B)",
    "list.json": '{"variables": {"A": {}, "B": {"parents": ["A"], "table": [[1], 0]}}}',
    "nan.json": '{"variables": {"A": {"domain": [NaN, 1]}}}',
    "exogenous.json": '{"variables": {}, "exogenous": {"U": {"expr": "1"}}}',
    "misspelt.json": '{"variables": {}, "exogenuos": {}}', "zero.json": '{"variables": {}, "exogenous": 0}',
    "parent.json": '{"variables": {"A": {}, "B": {"parents": ["A", "C"], "expr": "A"}}}',
    "date.yaml": "variables: {A: {domain: [!!timestamp x, 1]}}", "set.yaml": "variables: !!set {A}",
    "blanks.bnet": " " * 1_000_000 + ",", "comments.bif": "/* " * 300_000, "quote.bif": 'network x {} "',
    "twice.json": '{"variables": {' + "".join(f'"V{i}": {{}}, ' for i in range(100_000)) + '"V99999": {}}}',
}  # blanks, comments and names given twice: minutes, where a reader goes over them again and again


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_one_error_that_names_it(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
                                                              ) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.write_text(HOSTILE[name], encoding="utf-8")
    with pytest.raises(CausalError, match=name):
        read_model(path)
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("engine", ["auto", "sat", "zdd", "rows", "witness_map", "definition"])
def test_wrong_questions_are_refused_by_every_engine(engine: str) -> None:
    here = {"ST": 1, "BT": 1}
    for context, effect, options, said in (
            (here, {"QQ": 1}, {}, "QQ"), (here, {"BS": 7}, {}, "7"), (here, "BS &", {}, "BS &"), (here, {}, {}, "effect"),
            (here, {"BS": 0}, {}, "BS=1"), ({"ST": 1}, {"BS": 1}, {}, "BT"), ({**here, "SH": 0}, {"BS": 1}, {}, "SH"),
            ({**here, "XX": 0}, {"BS": 1}, {}, "XX"), (here, {"BS": 1}, {"exclude": ["YY"]}, "YY"),
            (here, {"BS": 1}, {"candidates": ["ZZ"]}, "ZZ"), (here, {"BS": 1}, {"exclude": "BS"}, "collection"),
            (here, {"BS": 1}, {"max_size": 0}, "max_size"), (here, {"BS": 1}, {"limit": True}, "limit"),
            (here, {"BS": 1}, {"time_limit": float("nan")}, "time_limit")):
        with pytest.raises(CausalError, match=said):
            actual_causes(ROCK, context, effect, engine=engine, **options)

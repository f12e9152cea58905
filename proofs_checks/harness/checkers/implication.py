"""Certificates of kind "implication": one proof for each case that a statement falls into. Standard library only.

The cases are derived from the statement: by `_reduction.cases`, and then the parts are certificates of kind "interval" or
"ladder"; or, with "over" {"variable", "from", "to"}, one statement for each integer; or, with "induction" (the name of an
integer), base and step; or, with "reciprocal", the statement about the reciprocals (`_induction`). The parts come in the
same order, each about its case."""
from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from proofs_checks.harness.checkers._induction import bounds_of, induction, reciprocal, specialised
from proofs_checks.harness.checkers._reduction import cases, same_case
from proofs_checks.harness.checkers._subject import only, subject_of
from proofs_checks.harness.checkers.lemma import TRUSTED
from proofs_checks.harness.recheck import CertificateError

__all__ = ["bind", "check"]

PARTS = ("interval", "ladder")
STATEMENT_PARTS = ("sos", "lemma", "implication", *PARTS)
MOST_VALUES = 1000


def check(certificate: Mapping[str, Any]) -> str:
    """Accept and say how, or raise `CertificateError`."""
    only(certificate, "parts", "over", "induction", "reciprocal")
    parts, subject = certificate["parts"], subject_of(certificate)
    ways = [key for key in ("over", "induction", "reciprocal") if key in certificate]
    if len(ways) > 1:
        raise CertificateError(f"{ways[0]!r} and {ways[1]!r} exclude each other")
    if ways:
        _check_statements(_statements(certificate, subject), parts)
        lemmas = any(part["kind"] == "lemma" for part in parts)
        return "every part again" + (f"; trusted: {TRUSTED}" if lemmas else "")
    found = cases(subject)
    if len(found) != len(parts):
        raise CertificateError(f"{len(parts)} proofs for {len(found)} cases")
    for number, (case, part) in enumerate(zip(found, parts, strict=True)):
        if part["kind"] not in PARTS or not same_case(case, part):
            raise CertificateError(f"part {number} is not about case {number}")
        importlib.import_module(f"proofs_checks.harness.checkers.{part['kind']}").check(part)
    return "every case again"


def bind(certificate: Mapping[str, Any]) -> None:
    """Raise unless the statement has a single case, and the certificate is about it."""
    found = cases(subject_of(certificate))
    if len(found) != 1 or not same_case(found[0], certificate):
        raise CertificateError("the boxes are about another statement than the certificate")


def _statements(certificate: Mapping[str, Any], subject: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The other statements that together prove the subject."""
    if "reciprocal" in certificate:
        if certificate["reciprocal"] is not True:
            raise CertificateError("'reciprocal' can only be true")
        return [reciprocal(subject)]
    if "induction" in certificate:
        return list(induction(subject, certificate["induction"]))
    only(certificate["over"], "variable", "from", "to", header=False)
    name, first, last = (certificate["over"][key] for key in ("variable", "from", "to"))
    low, high = bounds_of(subject["statement"], name)
    if name not in subject["integers"] or low is None or high is None or not (first <= low and high <= last):
        raise CertificateError(f"the values of {name} are not all those that the statement allows")
    if last - first > MOST_VALUES:
        raise CertificateError(f"more than {MOST_VALUES} values")
    return [specialised(subject, name, value) for value in range(first, last + 1)]


def _check_statements(statements: list[Mapping[str, Any]], parts: list[Mapping[str, Any]]) -> None:
    if len(statements) != len(parts):
        raise CertificateError(f"{len(parts)} proofs for {len(statements)} statements")
    for number, (statement, part) in enumerate(zip(statements, parts, strict=True)):
        if part["kind"] not in STATEMENT_PARTS or part["subject"] != statement:
            raise CertificateError(f"part {number} is not about its statement")
        whole = {**part, "subjects": [statement], "claim": "", "variant": "", "statement": ""}
        importlib.import_module(f"proofs_checks.harness.checkers.{part['kind']}").check(whole)
        if part["kind"] in PARTS:
            bind(whole)

"""Certificates of kind "implication": one proof for each case that a statement falls into. Standard library only.

The cases are derived from the statement (`_reduction.cases`), the parts are certificates of kind "interval" or "ladder"
in the same order, each about its case. A part may be None where its hypotheses bound a variable by an empty interval."""
from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from proofs_checks.harness.checkers._reduction import cases, same_case
from proofs_checks.harness.checkers._subject import subject_of
from proofs_checks.harness.recheck import CertificateError

__all__ = ["bind", "check"]

PARTS = ("interval", "ladder")


def check(certificate: Mapping[str, Any]) -> None:
    """Accept, or raise `CertificateError`."""
    found, parts = cases(subject_of(certificate)), certificate["parts"]
    if len(found) != len(parts):
        raise CertificateError(f"{len(parts)} proofs for {len(found)} cases")
    for number, (case, part) in enumerate(zip(found, parts, strict=True)):
        if part["kind"] not in PARTS or not same_case(case, part):
            raise CertificateError(f"part {number} is not about case {number}")
        importlib.import_module(f"proofs_checks.harness.checkers.{part['kind']}").check(part)


def bind(certificate: Mapping[str, Any]) -> None:
    """Raise unless the statement has a single case, and the certificate is about it."""
    found = cases(subject_of(certificate))
    if len(found) != 1 or not same_case(found[0], certificate):
        raise CertificateError("the boxes are about another statement than the certificate")

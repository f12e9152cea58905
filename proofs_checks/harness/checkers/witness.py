"""Certificates of kind "witness": a point where the statement is false, evaluated exactly. Standard library only."""
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.harness.checkers._subject import subject_of
from proofs_checks.harness.checkers._values import truth
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Inexact, Undefined, evaluate, variables

__all__ = ["check"]


def check(certificate: Mapping[str, Any]) -> None:
    """Accept if every hypothesis is true at the point and the conclusion false; else raise `CertificateError`."""
    subject = subject_of(certificate)
    point = certificate["point"]
    missing = [name for name in variables(subject["statement"]) if name not in point]
    if missing:
        raise CertificateError(f"the point gives no value to {', '.join(missing)}")
    try:
        for name in subject.get("integers", []):
            if Fraction(evaluate(point[name], {})).denominator != 1:
                raise CertificateError(f"{name} must be an integer")
        true = truth(subject["statement"], point)
    except Undefined as error:
        raise CertificateError(f"the statement is not defined at the point: {error}") from None
    except Inexact as error:
        raise CertificateError(f"the truth at the point is not determined: {error}") from None
    if true:
        raise CertificateError("the statement is true at the point")

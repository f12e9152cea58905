"""Certificates of kind "witness": a point where the statement is false, evaluated exactly. Standard library only."""
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.harness.checkers._subject import only, subject_of
from proofs_checks.harness.checkers._values import forbid_open_powers, truth
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Inexact, Undefined, evaluate, variables

__all__ = ["check"]


def check(certificate: Mapping[str, Any]) -> str:
    """Accept and say how if every hypothesis is true at the point and the conclusion false; else raise `CertificateError`."""
    only(certificate, "point")
    subject = subject_of(certificate)
    if subject.get("given") is not None:
        raise CertificateError("a hypothesis of the statement is a Python predicate, which cannot be evaluated here")
    point = certificate["point"]
    only(point, *variables(subject["statement"]), *(name for name, _ in subject.get("symbols", [])), header=False)
    missing = [name for name in variables(subject["statement"]) if name not in point]
    if missing:
        raise CertificateError(f"the point gives no value to {', '.join(missing)}")
    try:
        for name in subject.get("integers", []):
            if Fraction(evaluate(point[name], {})).denominator != 1:
                raise CertificateError(f"{name} must be an integer")
        for name, words in subject.get("symbols", []):
            _check_assumptions(name, words, point)
        forbid_open_powers(subject["statement"], point, subject.get("integers", []))
        true = truth(subject["statement"], point)
    except Undefined as error:
        raise CertificateError(f"the statement is not defined at the point: {error}") from None
    except Inexact as error:
        raise CertificateError(f"the truth at the point is not determined: {error}") from None
    if true:
        raise CertificateError("the statement is true at the point")
    return "the point, exactly"


def _check_assumptions(name: str, words: list[str], point: Mapping[str, Any]) -> None:
    """`CertificateError` unless the point obeys what is assumed of a variable; an unknown word is not obeyed."""
    if name not in point or not words:
        return
    x = evaluate(point[name], {})
    whole = x.denominator == 1
    obeyed = {"integer": whole, "even": whole and x % 2 == 0, "odd": whole and x % 2 == 1, "positive": x > 0,
              "negative": x < 0, "nonnegative": x >= 0, "nonpositive": x <= 0, "nonzero": x != 0, "zero": x == 0}
    for word in words:
        if not obeyed.get(word, False):
            raise CertificateError(f"{name}={x} is assumed to be {word}")

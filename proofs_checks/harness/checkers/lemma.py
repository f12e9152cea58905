"""Certificates of kind "lemma": instances of known lemmas and the function-free text that z3 found unsatisfiable.

Checked here, with the standard library: every instance is one of a known schema (`_schemas`), and the text is, letter
for letter, what `_smtlib.assemble` writes for the statement that the certificate's hash covers. Trusted: z3, for the
answer that the text is unsatisfiable. `refutable recheck` says so; the text can be given to any other solver."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs_checks.harness.checkers._instances import relations
from proofs_checks.harness.checkers._smtlib import MAX_POWER, Unsupported, assemble
from proofs_checks.harness.checkers._subject import only, subject_of
from proofs_checks.harness.recheck import CertificateError

__all__ = ["check"]

TRUSTED = "an SMT solver, for unsat"


def check(certificate: Mapping[str, Any]) -> str:
    """Accept and say how, or raise `CertificateError`."""
    only(certificate, "instances", "smtlib", "abstract_power")
    subject = subject_of(certificate)
    try:
        given = relations(certificate["instances"], subject["statement"])
        text = assemble(subject, given, int(certificate.get("abstract_power", MAX_POWER + 1)))
    except (Unsupported, ValueError, TypeError) as error:
        raise CertificateError(f"lemma instances: {error}") from None
    if text != certificate["smtlib"]:
        raise CertificateError("the SMT-LIB text is not the one of this statement and these instances")
    return f"lemmas and text assembled again; trusted: {TRUSTED}"

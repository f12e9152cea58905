"""Scans and searches over a Python predicate cannot be checked without it: they are run again, by the claim's own
predicate and, where there is one, a second enumerator."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs_checks.harness.checkers._subject import only
from proofs_checks.harness.recheck import CertificateError

__all__ = ["check"]


def check(certificate: Mapping[str, Any]) -> str:
    """Run the check that the certificate names once more. `CertificateError` unless it says the same."""
    only(certificate, "stream", "verdict", "witness", "cases", "digest")
    from proofs_checks.harness.bind import checks_of  # imports the claim's own modules

    index = int(str(certificate["stream"]).rsplit("/", 1)[-1])
    checks, found = checks_of(certificate)
    if found != certificate["claim_hash"]:
        raise CertificateError("the claim reads otherwise today: its hash has changed")
    if not 0 <= index < len(checks):
        raise CertificateError(f"the claim has no check {index}")
    check = checks[index]
    if certificate["stream"] != f"{certificate['claim']}/{certificate['variant']}/{index}":
        raise CertificateError(f"stream {certificate['stream']!r} is not the one that this check draws")
    if check.engine != certificate["engine"]:
        raise CertificateError(f"check {index} of the claim is {check.engine}, not {certificate['engine']}")
    if check.binds is None or not check.binds(certificate):
        raise CertificateError("run again, the check says something else")
    return "replayed with the claim's own predicate"

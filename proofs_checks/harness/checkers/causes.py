"""Certificates of kind "causes": all actual causes of an effect, or their number. The checker is `causal`'s own."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs_checks.harness.recheck import CertificateError

__all__ = ["check"]


def check(certificate: Mapping[str, Any]) -> str:
    """Accept and say how, or raise `CertificateError`. A count is made again by the same engine in another order."""
    from causal.certificates import CausalCertificateError, check_certificate

    try:
        check_certificate(certificate)
    except CausalCertificateError as error:
        raise CertificateError(str(error)) from None
    if certificate["method"] == "cross_count":
        return "replayed: counted again by the same engine, variables in another order"
    return "each witness simulated, the proof of completeness line by line"

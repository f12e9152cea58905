"""Whether a certificate talks about the claim that it names: by the hash, and by evaluating both at rational points."""
from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proofs_checks.harness.evidence import Check, describe_error
from proofs_checks.harness.judge import Trial
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.registry import find, import_slug, registered, slugs
from theory.claim import Claim

__all__ = ["NotLoaded", "bind", "checks_of"]

REPLAYED = ("replay", "witness")  # the claim's own function, or the subject that the hash covers, took part already


class NotLoaded(CertificateError):
    """The claim of a certificate stands in a user's file that nobody loaded: nothing is said against the certificate.

    The file that a certificate names is never loaded unasked."""

    def __init__(self, claim: str, file: str) -> None:
        super().__init__(f"claim {claim!r} stands in {file}, which is not loaded: it needs --module {file}")
        self.claim, self.file = claim, file


def checks_of(certificate: Mapping[str, Any]) -> tuple[list[Check], str]:
    """The checks of the claim and variant that a certificate names, and the hash of that variant today."""
    name, variant = certificate["claim"], certificate["variant"]
    import_slug(str(name).split(".")[0])
    claim = registered().get(name)
    if claim is None or find(claim) is None:
        file = certificate.get("module")
        if isinstance(file, str) and file and str(name).split(".")[0] not in slugs() and not _loaded(file):
            raise NotLoaded(name, file)
        raise CertificateError(f"no claim {name!r} is registered; a claim of your own needs --module FILE.py")
    if variant not in claim.variants():
        raise CertificateError(f"{name} has no variant {variant!r}")
    trial = _trial(claim)
    return trial.run(variant).checks, trial.hash(variant)


def _loaded(file: str) -> bool:
    """Whether a module of this file is loaded, so that the claim has gone from it."""
    wanted = Path(file).resolve()
    return any(Path(found).resolve() == wanted for m in list(sys.modules.values()) if (found := getattr(m, "__file__", None)))


@functools.lru_cache(maxsize=64)
def _trial(claim: Claim[Any]) -> Trial:
    """The trial of a claim as registered; evidence registered anew makes a new claim, so nothing stale is found here."""
    return Trial(claim)


def bind(certificate: Mapping[str, Any]) -> None:
    """`CertificateError` unless the certificate is about the claim that it names, as that claim reads today."""
    checks, found = checks_of(certificate)
    if found != certificate["claim_hash"]:
        raise CertificateError("the claim reads otherwise today: its hash has changed")
    if certificate["kind"] in REPLAYED:
        return
    try:
        bound = any(c.binds(certificate) for i, c in enumerate(checks) if c.binds is not None
                    and c.engine == certificate.get("engine") and _drawn(certificate, i))
    except CertificateError:
        raise
    except Exception as error:  # whatever malformed content provokes is a rejection, not a crash
        raise CertificateError(f"cannot be compared with the claim: {describe_error(error)}") from error
    if not bound:
        raise CertificateError("the certified object differs from the claim's own function or from its random stream")


def _drawn(certificate: Mapping[str, Any], i: int) -> bool:
    """Whether a certificate with a random stream names that of check `i`: no other stream may be picked."""
    own = f"{certificate['claim']}/{certificate['variant']}/{i}"
    return certificate["kind"] != "histogram" or certificate["stream"] == own

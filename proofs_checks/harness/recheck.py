"""The independent re-checker: `recheck(path_or_dict)` accepts a certificate or raises `CertificateError`.

Needs the standard library only for kinds that carry their own proof; the kind "replay" runs the claim's own
predicate again. Each kind has its checker in `proofs_checks.harness.checkers.<kind>`, with a function
`check(certificate) -> None` that raises `CertificateError`."""
from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proofs_checks.harness.certificate import SCHEMA, claim_hash

__all__ = ["CertificateError", "examine", "recheck"]

KINDS = ("sos", "interval", "ladder", "lemma", "identity", "histogram", "witness", "replay", "implication", "causes")
_NAMES = {"claim": re.compile(r"([a-z][a-z0-9_]*\.[a-z0-9][a-z0-9_]*)?"), "variant": re.compile(r"([a-z0-9][a-z0-9_.]*)?")}
_HASH = re.compile(r"[0-9a-f]{16,64}")


class CertificateError(ValueError):
    """The certificate does not prove what it says; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def recheck(path_or_dict: str | Path | Mapping[str, Any], claim_hash: str | None = None) -> bool:
    """True if the certificate holds up on its own; `CertificateError` otherwise.

    With `claim_hash`, the certificate must also be the one of that statement."""
    examine(path_or_dict, claim_hash)
    return True


def examine(path_or_dict: str | Path | Mapping[str, Any], claim_hash: str | None = None) -> tuple[Mapping[str, Any], str]:
    """`recheck`, giving the certificate as read and how it was checked, in a few words."""
    certificate = _read(path_or_dict)
    _check_header(certificate, claim_hash)
    checker = importlib.import_module(f"proofs_checks.harness.checkers.{certificate['kind']}")
    try:
        said = checker.check(certificate)
    except CertificateError:
        raise
    except RecursionError:
        raise CertificateError("nested too deeply to be checked") from None
    except Exception as error:  # whatever malformed content provokes is a rejection, not a crash
        raise CertificateError(f"malformed: {type(error).__name__}: {error}") from error
    return certificate, said or "evaluated again, exactly"


def _read(source: str | Path | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(source, Mapping):
        return source
    if not isinstance(source, str | Path):
        raise CertificateError(f"path_or_dict={source!r} must be a path or a mapping")
    try:
        data = json.loads(Path(source).read_text(encoding="utf-8"), object_pairs_hook=_object, parse_constant=_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise CertificateError(f"{source}: unreadable ({error})") from error
    if not isinstance(data, dict):
        raise CertificateError(f"{source}: not a JSON object")
    return data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. A name given twice is refused: readers differ on which of the two counts."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a name is given twice among {sorted(name for name, _ in pairs)}")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _check_header(certificate: Mapping[str, Any], wanted: str | None) -> None:
    for name in ("schema", "kind", "claim_hash", "claim", "variant", "statement"):
        if not isinstance(certificate.get(name), str):
            raise CertificateError(f"header field {name!r} is missing or not text")
    if not isinstance(certificate.get("subjects"), list):
        raise CertificateError("header field 'subjects' is missing or not a list")
    if certificate["schema"] != SCHEMA:
        raise CertificateError(f"schema is {certificate['schema']!r}, this program reads {SCHEMA!r}")
    if certificate["kind"] not in KINDS:
        raise CertificateError(f"unknown kind {certificate['kind']!r}; known: {', '.join(KINDS)}")
    for name, pattern in _NAMES.items():
        if not pattern.fullmatch(certificate[name]):
            raise CertificateError(f"{name}={certificate[name]!r} is no name of a {name}")
    if not _HASH.fullmatch(certificate["claim_hash"]):
        raise CertificateError(f"claim_hash {certificate['claim_hash']!r} is not hexadecimal of 16 digits or more")
    try:
        found = claim_hash(*(certificate[name] for name in ("claim", "variant", "statement", "subjects")))
    except (TypeError, ValueError, RecursionError) as error:
        raise CertificateError(f"header cannot be hashed: {type(error).__name__}: {error}") from None
    if found != certificate["claim_hash"]:
        raise CertificateError("claim_hash does not belong to this claim, variant, statement and subjects")
    if wanted is not None and not isinstance(wanted, str):
        raise CertificateError(f"claim_hash={wanted!r} must be text, as in the certificate")
    if wanted is not None and found != wanted:
        raise CertificateError(f"certificate of another statement: hash {found[:16]}..., wanted {wanted[:16]}...")

"""The header that binds a certificate to a statement. Standard library only."""
from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["SCHEMA", "claim_hash", "seal", "to_json"]

SCHEMA = "refutable/certificate/1"


def claim_hash(claim: str, variant: str, statement: str, subjects: Sequence[Any]) -> str:
    """sha256 of what is asserted; `prove` uses "" for claim and variant."""
    text = json.dumps([claim, variant, statement, list(subjects)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def seal(body: Mapping[str, Any], *, claim: str = "", variant: str = "", statement: str = "",
         subjects: Sequence[Any] = (), module: str | None = None) -> dict[str, Any]:
    """`body` (which has a "kind") with the header that `harness.recheck` demands.

    `module` is the user's file in which the claim stands: a hint for people, which nothing is loaded from unasked."""
    header = {"schema": SCHEMA, "kind": body["kind"], "claim": claim, "variant": variant, "statement": statement,
              "subjects": list(subjects), "claim_hash": claim_hash(claim, variant, statement, subjects)}
    return {**header, **({"module": module} if module else {}), **body}


def to_json(value: Any) -> Any:
    """`value` in JSON: rationals as "p/q" strings, nan and infinities as text, sets sorted, anything unknown by its repr."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no such number
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((to_json(v) for v in value), key=repr)
    if isinstance(value, list | tuple):
        return [to_json(v) for v in value]
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return to_json(value.tolist())
    return str(value)

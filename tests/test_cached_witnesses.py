"""Witnesses that the cache keeps, and what is never made of an entry."""
from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

from proofs_checks.harness import cache


class Spot(NamedTuple):
    """A case with names, as evidence draws them; here of a test, in `proofs_checks` of the product."""

    left: Any
    right: Any


def test_witnesses_of_our_records_are_kept_and_nothing_else_is_made_of_an_entry(monkeypatch: pytest.MonkeyPatch):
    from theory.pass_at_k import Prompt

    made = Prompt(Fraction(1, 2), Fraction(1, 3), (1, Fraction(2, 3)))
    text = json.loads(json.dumps(cache.encode((made, [made], {"a": made}))))
    again = cache.decode(text)
    assert again == (made, [made], {"a": made}) and type(again[0]) is Prompt and type(again[0].gradient) is tuple
    with pytest.raises(TypeError, match="Spot cannot be kept"):
        cache.encode(Spot(1, 2))  # a record of a user's module is found again instead
    for module, name in (("theory.pass_at_k", "Nothing"), ("os", "system"), ("builtins", "eval"), ("theory.claim", "Claim"),
                         ("collections", "namedtuple"), ("proofs_checks.harness.cache", "Cache"), ("subprocess", "Popen")):
        with pytest.raises(ValueError, match="is no record of the rooms"):
            cache.decode({"record": [module, name, ["1"]]})

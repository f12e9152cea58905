"""The records refuse what the rules forbid, naming the field."""
from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any, NamedTuple

import pytest
import toy

from theory.claim import Claim, Paper, Source, Standing


def test_a_claim_lists_its_variants():
    claim = toy.claim("listed", also_true={"same": toy.weight}, as_stated=toy.slope, standing=Standing.REFUTED_AS_STATED)
    assert list(claim.variants()) == ["claim", "as_stated", "same", "exponent_k", "factor_dropped"]
    assert [claim.expected_true(v) for v in claim.variants()] == [True, False, True, False, False]
    with pytest.raises(LookupError, match="no variant 'x'"):
        claim.expected_true("x")


def test_records_are_frozen_and_their_mappings_read_only():
    claim = toy.claim("frozen")
    with pytest.raises(FrozenInstanceError):
        claim.id = "toy.other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        claim.mutants["x"] = toy.weight  # type: ignore[index]
    assert len({claim, claim}) == 1


@pytest.mark.parametrize(("changes", "message"), [
    ({"id": "NoSlug"}, "id='NoSlug'"), ({"id": "a.b.c"}, "id='a.b.c'"), ({"id": "a.b\n"}, "must read 'slug.fact'"),
    ({"id": "other.fact"}, "id='other.fact' must begin with the slug of its paper, 'toy'"),
    ({"paper": "toy"}, "paper='toy' must be a Paper"), ({"source": "ABSTRACT"}, "source='ABSTRACT'"),
    ({"standing": None}, "standing=None"), ({"statement": "  "}, "statement must not be empty"),
    ({"mutants": {"one": 1}}, "at least 2 false variants"), ({"mutants": [1, 2]}, "mutants must map names"),
    ({"mutants": {"Bad name": 1, "b": 2}}, "variant name 'Bad name'"),
    ({"mutants": {"claim": 1, "b": 2}}, "'claim' is reserved"),
    ({"mutants": {"as_stated": 1, "b": 2}}, "'as_stated' is reserved"),
    ({"also_true": {"exponent_k": 1}}, "'exponent_k' stands in mutants and in also_true"),
    ({"hypotheses": {"h": "x > 0"}}, "'without_h' is in neither"),
    ({"standing": Standing.REFUTED_AS_STATED}, "as_stated is required"),
    ({"standing": Standing.NEEDS_HYPOTHESIS}, "as_stated is required"),
    ({"as_stated": 1}, "as_stated must be None when standing is HOLDS"),
])
def test_bad_claims_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        toy.claim("bad", **changes)


class Scaled(NamedTuple):
    """A form whose hypothesis can be dropped."""

    given: Any
    factor: Any


SCALED = Scaled(given=lambda x: x > 0, factor=2)


@pytest.mark.parametrize(("form", "dropped", "message"), [
    (toy.weight, toy.slope, "form must be a NamedTuple with a field 'given'"),
    (SCALED, lambda x: True, "without_positive=.* must be a Scaled"),
    (SCALED, SCALED, "without_positive changes nothing; it must change given only"),
    (SCALED, SCALED._replace(factor=3), "without_positive changes factor"),
    (SCALED, SCALED._replace(given=lambda x: True, factor=3), "without_positive changes given, factor")])
def test_a_hypothesis_is_dropped_and_nothing_else_is_changed(form, dropped, message):
    mutants = {"without_positive": dropped, "other": SCALED._replace(factor=5)}
    with pytest.raises(ValueError, match=message):
        toy.claim("dropped", form=form, hypotheses={"positive": "x > 0"}, mutants=mutants)


@pytest.mark.parametrize("standing", [Standing.OUT_OF_REACH, Standing.ILL_POSED])
def test_what_cannot_be_judged_needs_neither_form_nor_mutants(standing):
    claim = Claim(id="toy.listed_only", paper=toy.PAPER, statement="x", hypotheses={}, form=None, mutants={},
                  source=Source.ABSTRACT, standing=standing)
    assert not claim.standing.judgeable


@pytest.mark.parametrize(("changes", "message"), [
    ({"slug": "Toy"}, "slug='Toy'"), ({"title": ""}, "title of paper"), ({"topics": "one"}, "topics='one'"),
    ({"read": "skimmed"}, "read='skimmed' must be one of 'abstract', 'opening', 'full text'")])
def test_bad_papers_are_refused(changes, message):
    fields = {"slug": "toy", "title": "A toy", "arxiv": None, "topics": (), "read": "abstract"}
    with pytest.raises(ValueError, match=message):
        Paper(**{**fields, **changes})

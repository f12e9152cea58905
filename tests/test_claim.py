"""The records refuse what the rules forbid, naming the field."""
from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError
from typing import Any, NamedTuple

import pytest
import toy
from sympy import Symbol

from proofs_checks.harness.registry import registry, slugs
from theory.claim import Claim, Conditions, Paper, Source, Standing, without


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
    ({"statement": 3}, "toy.bad: statement=3 must be text"),
    ({"note": "a\ud800"}, r"toy.bad: note has the character '\\ud800'"),
    ({"hypotheses": {"h": "x\x00"}, "also_true": {"without_h": 1}}, r"hypotheses\['h'\] has the character '\\x00'"),
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
    ({"slug": "Toy"}, "slug='Toy'"), ({"title": ""}, "paper 'toy': title must not be empty"),
    ({"arxiv": 2602}, "arxiv=2602 must be text"), ({"topics": "one"}, "topics='one'"),
    ({"url": "a\x1b[2K"}, r"paper 'toy': url has the character '\\x1b'"),
    ({"topics": ("a\u202eb",)}, r"topics has .* '\\u202e'"),
    ({"read": "skimmed"}, "read='skimmed' must be one of 'abstract', 'opening', 'full text'")])
def test_bad_papers_are_refused(changes, message):
    fields = {"slug": "toy", "title": "A toy", "arxiv": None, "topics": (), "read": "abstract"}
    with pytest.raises(ValueError, match=message):
        Paper(**{**fields, **changes})


PARTS = Scaled(given=Conditions(defined=lambda x: x != 0, positive=lambda x: x > 0), factor=2)


@pytest.mark.parametrize("dropped", [
    PARTS._replace(given=Conditions(defined=PARTS.given.parts["defined"], positive=lambda x: x >= -2)),  # weakened only
    PARTS._replace(given=lambda x: x != 0), PARTS._replace(given=Conditions()),
    PARTS._replace(given=PARTS.given.without("defined")), PARTS._replace(given=Conditions(defined=lambda x: x != 1))])
def test_conditions_lose_exactly_the_part_that_is_named(dropped):
    with pytest.raises(ValueError, match=r"without_positive must drop the condition 'positive' of \['defined', 'positive'\]"):
        toy.claim("parts", form=PARTS, hypotheses={"positive": "x > 0"},
                  mutants={"without_positive": dropped, "other": PARTS._replace(factor=5)})


def test_conditions_are_true_where_every_part_is_and_say_what_is_wrong():
    assert [PARTS.given(x) for x in (-1, 0, 1)] == [False, False, True]
    assert [without(PARTS, "positive").given(x) for x in (-1, 0, 1)] == [True, False, True]
    assert Conditions()(3, 4) is True and Conditions(a=lambda x: True, b=lambda x: [])(1) is False
    x = Symbol("x", real=True)
    assert Conditions(low=lambda x: x > 1, high=lambda x: x < 3)(x) == (x > 1, x < 3)
    assert str(inspect.signature(without(SINGLE, "positive").given)) == "(x)"
    with pytest.raises(LookupError, match="name='small' must be one of the conditions defined, positive"):
        PARTS.given.without("small")
    with pytest.raises(LookupError, match="name='small' must be a part of the Conditions"):
        without(PARTS, "small")
    with pytest.raises(ValueError, match="positive=3 must be a function"):
        Conditions(positive=3)


SINGLE = Scaled(given=Conditions(positive=lambda x: x > 0), factor=2)


def test_a_claim_says_which_condition_a_variant_drops_and_whether_that_is_sure():
    made = toy.claim("sure", form=PARTS, hypotheses={"positive": "x > 0"},
                     mutants={"without_positive": without(PARTS, "positive"), "other": PARTS._replace(factor=5)})
    assert made.dropped("without_positive") == ("given", True)
    assert made.dropped("other") is None and made.dropped("claim") is None
    plain = toy.claim("unsure", form=SCALED, hypotheses={"positive": "x > 0"},
                      mutants={"other": SCALED._replace(factor=5),
                               "without_positive": SCALED._replace(given=lambda x: x >= -2)})
    assert plain.dropped("without_positive") == ("given", False)


def test_every_hypothesis_of_ours_is_dropped_by_its_name():
    ours = [c for c in registry().values() if c.paper.slug in slugs()]  # other tests register claims too
    found = [c.dropped(v) for c in ours for v in c.variants() if c.dropped(v)]
    assert len(found) >= 39 and all(sure for _, sure in found)

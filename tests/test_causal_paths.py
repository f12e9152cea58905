"""Causes found without search: right on every model, and wrong without the checks that make them right."""
from __future__ import annotations

import random
from typing import Any

import pytest

from causal import CausalModel, actual_causes
from causal._fronts import Fronts
from causal._instance import Instance
from causal._reduce import Paths, reduce
from causal.random_models import FAMILIES, random_case
from tests.test_causal_engines import random_effect, random_model


def questions() -> list[tuple[Any, Any, Any]]:
    """Models of up to 9 variables of 2 to 4 values, simple and compound effects."""
    draw = random.Random(4)
    cases = (random_case(f, n, s) for f in FAMILIES for n in (6, 9) for s in range(8))
    found: list[tuple[Any, Any, Any]] = [(c.model, c.context, c.effect) for c in cases]
    for _ in range(120):
        model = random_model(draw)
        found.append((model, {}, random_effect(draw, model)))
    return found


def compared() -> tuple[int, int, int, int]:
    """(singles on a path, those that are no cause, pairs of fronts, those that are no cause)."""
    singles = false_singles = pairs = false_pairs = 0
    for question in questions():
        instance = Instance(*question)
        right = {c.variables for c in actual_causes(*question, engine="witness_map")}
        paths = Paths(instance)
        found = {frozenset({instance.names[at]}) for at in paths.singles()}
        singles, false_singles = singles + len(found), false_singles + len(found - right)
        usable = frozenset(i for i, n in enumerate(instance.names) if frozenset({n}) not in right)
        couples = {frozenset(instance.names[i] for i in front) for front in Fronts(paths, usable).pairs()}
        pairs, false_pairs = pairs + len(couples), false_pairs + len(couples - right)
    return singles, false_singles, pairs, false_pairs


def test_what_is_found_on_paths_is_a_cause() -> None:
    singles, false_singles, pairs, false_pairs = compared()
    assert singles > 400
    assert pairs > 30
    assert (false_singles, false_pairs) == (0, 0)


def test_without_the_look_at_shortcuts_singles_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Paths, "_undisturbed", lambda *arguments: True)
    assert compared()[1] > 0


def test_without_the_look_at_other_children_pairs_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fronts, "_sound", lambda *arguments: True)
    assert compared()[3] > 0


def test_a_parity_needs_no_search_at_all() -> None:
    case = random_case("xor", 40, seed=1)
    left = reduce(Instance(*case), frozenset(range(40)))
    assert len(left.singles) == 40
    assert not left.allowed
    assert {c.variables for c in actual_causes(*case)} == {frozenset({n}) for n in case.model.variables}


def test_constants_in_place_of_what_cannot_move_change_no_cause() -> None:
    model = CausalModel.from_expressions({"A": None, "B": None, "G": "A & B", "H": "G | C", "C": None, "T": "H & A"})
    context = {"A": 1, "B": 1, "C": 1}
    instance = Instance(model, context, {"T": 1})
    left = reduce(instance, frozenset({instance.position["C"], instance.position["B"]}))
    assert instance.position["A"] in left.instance.frozen
    family = actual_causes(model, context, {"T": 1}, candidates=["B", "C"])
    assert {c.variables for c in family} == {frozenset({"B", "C"})}

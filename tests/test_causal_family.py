"""Families: exact counts without listing, and flags of completeness that never lie."""
from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from math import comb
from typing import Any

import pytest

from causal import CausalError, CausalModel, _rows, _sat, actual_causes
from causal._aside import Aside
from causal._plan import Region
from causal.random_models import FAMILIES, random_case

NAMES = [f"V{i}" for i in range(12)]
VOTE = (CausalModel.from_expressions({**dict.fromkeys(NAMES), "T": f"atleast(8, {', '.join(NAMES)})"}), dict.fromkeys(NAMES, 1),
        {"T": 1})  # causes: T, and any 5 of 12


def or_tree(depth: int) -> tuple[CausalModel, dict[str, int], dict[str, int]]:
    rules = {f"N{i}": f"N{2 * i} | N{2 * i + 1}" if i < 2**depth else None for i in range(1, 2 ** (depth + 1))}
    model = CausalModel.from_expressions(rules)
    return model, dict.fromkeys(model.inputs, 1), {"N1": 1}


@pytest.mark.parametrize("engine", ["sat", "zdd", "auto"])
def test_counts_sizes_participation_and_membership(engine: str) -> None:
    family = actual_causes(*VOTE, engine=engine)
    assert family.complete
    assert family.count == len(family) == comb(12, 5) + 1
    assert family.sizes() == {1: 1, 5: comb(12, 5)}
    assert family.min_size == 1
    assert family.participation() == {**dict.fromkeys(NAMES, comb(11, 4)), "T": 1}
    assert {"T"} in family
    assert set(NAMES[:5]) in family
    assert set(NAMES[:4]) not in family
    assert {*NAMES[:5], "T"} not in family
    assert {"nothing"} not in family
    with pytest.raises(TypeError, match="set of names"):
        "T" in family  # noqa: B015  # the error is the point


@pytest.mark.parametrize("name", FAMILIES)
def test_a_diagram_says_without_listing_what_a_list_says(name: str) -> None:
    for seed in range(3):
        case = random_case(name, 24, seed)
        family, listed = actual_causes(*case, engine="zdd"), {c.variables for c in actual_causes(*case, engine="sat")}
        assert {c.variables for c in family} == listed
        assert family.count == len(listed)
        assert family.sizes() == dict(sorted(Counter(map(len, listed)).items()))
        assert family.participation() == dict(Counter(v for c in listed for v in c))
        assert family.min_size == min(map(len, listed))
        assert all(c in family for c in listed)
        draw = random.Random(seed)
        for _ in range(30):
            some = frozenset(draw.sample(case.model.variables, draw.randint(1, 4)))
            assert (some in family) == (some in listed)
        assert all(c.variables in listed for c in family.sample(20, seed=1))


def test_a_family_of_ten_to_the_181_causes() -> None:
    family = actual_causes(*or_tree(10))
    expected = 1
    for _ in range(10):
        expected = 1 + expected**2
    assert family.complete
    assert family.count == expected
    assert sum(family.sizes().values()) == expected
    assert family.participation()["N1"] == 1
    one, again = family.sample(2, seed=5), family.sample(2, seed=5)
    assert one == again
    assert one[0].variables in family
    assert len(one[0].witness) == len(one[0].variables)


def test_samples_are_uniform() -> None:
    """Chi-square of 2,000 draws over 26 causes: far below the 1e-9 quantile (about 98 at 25 degrees of freedom)."""
    family = actual_causes(*or_tree(3), engine="zdd")
    seen = Counter(c.variables for c in family.sample(2000, seed=0))
    expected = 2000 / family.count
    assert family.count == 26
    assert sum((seen[c.variables] - expected) ** 2 / expected for c in family) < 98


@pytest.mark.parametrize("engine", ["sat", "zdd", "rows", "witness_map", "definition"])
def test_limits_never_lie(engine: str) -> None:
    case = random_case("ones", 9, seed=2)
    everything = {c.variables for c in actual_causes(*case, engine="definition")}
    biggest = max(map(len, everything))
    for limit in (1, len(everything) - 1, len(everything), len(everything) + 1):
        family = actual_causes(*case, engine=engine, limit=limit)
        found = {c.variables for c in family}
        assert found <= everything
        assert len(found) == min(limit, len(everything))
        assert family.complete == (found == everything)
        assert {c for c in everything if len(c) <= family.complete_up_to} <= found
    for size in range(1, biggest + 2):
        family = actual_causes(*case, engine=engine, max_size=size)
        assert {c.variables for c in family} == {c for c in everything if len(c) <= size}
        assert family.complete == (size >= biggest)
        assert family.complete_up_to >= size
    for name in case.model.variables:
        excluded = actual_causes(*case, engine=engine, exclude=[name])
        assert {c.variables for c in excluded} == {c for c in everything if name not in c}
        assert excluded.complete
    only = case.model.variables[:5]
    assert {c.variables for c in actual_causes(*case, engine=engine, candidates=only)} == {
        c for c in everything if c <= set(only)}


WAYS = {"rows": ("rows", {}), "stages": ("auto", {"rows": 0}), "sat": ("sat", {}), "lanes": ("sat", {"lanes": 1}),
        "zdd": ("zdd", {}), "map": ("witness_map", {})}


@pytest.mark.parametrize("way", WAYS)
def test_no_combination_of_limits_lies(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts, completeness and sizes under every pair of limits, and a stream read in two halves."""
    engine, settings = WAYS[way]
    monkeypatch.setattr(_rows, "MOST", settings.get("rows", _rows.MOST))
    monkeypatch.setattr(_sat, "MANY", settings.get("lanes", _sat.MANY))
    for family, nodes in (("ones", 10), ("tt", 9), ("andornot", 11)):
        case = random_case(family, nodes, seed=3)
        everything = {c.variables for c in actual_causes(*case, engine="witness_map")}
        for limit in (None, 1, 2, len(everything), len(everything) + 1):
            for size in (None, 1, 2, 3, max(map(len, everything))):
                found = actual_causes(*case, engine=engine, limit=limit, max_size=size)
                reader = iter(found)
                first = list(itertools.islice(reader, 2))
                whole = found.complete
                sets = [c.variables for c in first + list(reader)]
                assert sets == [c.variables for c in found]
                wanted = [c for c in everything if size is None or len(c) <= size]
                assert len(sets) == len(set(sets)) == found.count == min(len(wanted), limit or len(wanted))
                assert set(sets) <= set(wanted)
                assert whole == found.complete == (set(sets) == everything)
                assert {c for c in everything if len(c) <= found.complete_up_to} <= set(sets)


@pytest.mark.parametrize("engine", ["rows", "sat", "witness_map", "definition"])
def test_what_an_interrupt_leaves_is_not_called_complete(engine: str) -> None:
    """Ctrl-C while causes are listed; what came so far stays, and nothing is said of the rest."""
    case = random_case("ones", 9, seed=2)
    family = actual_causes(*case, engine=engine)

    def interrupted(events: Iterator[object]) -> Iterator[object]:
        yield from itertools.islice(events, 3)
        raise KeyboardInterrupt

    family._store._stream = interrupted(family._store._stream)
    with pytest.raises(KeyboardInterrupt):
        list(family)
    assert not family.complete
    assert 0 < family.count < actual_causes(*case).count
    with pytest.raises(CausalError, match="not complete"):
        family.certificate()


@pytest.mark.parametrize("engine", ["sat", "auto"])
def test_a_time_limit_that_is_too_short_is_not_called_complete(engine: str) -> None:
    case = random_case("ones", 400, seed=1)
    family = actual_causes(*case, engine=engine, time_limit=0.05)
    assert not family.complete
    assert family.complete_up_to <= max(map(len, (c.variables for c in family)), default=0) + 1


def test_a_diagram_out_of_time_gives_what_is_known() -> None:
    case = random_case("tt", 60, seed=1)
    everything = {c.variables for c in actual_causes(*case)}
    family = actual_causes(*case, engine="zdd", time_limit=1e-9)
    assert not family.complete
    assert family.complete_up_to == 0 < family.count < len(everything)
    assert {c.variables for c in family} < everything


def test_listing_a_diagram_up_to_a_size_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    from causal import actual

    readings = itertools.count(0, 0.01)
    monkeypatch.setattr(actual.time, "monotonic", lambda: next(readings))
    family = actual_causes(*VOTE, engine="zdd", max_size=5, time_limit=3)
    assert 0 < family.count < 793  # of T and 792 fives
    assert not family.complete
    assert family.complete_up_to == 0


class Here(Aside):
    """The work done in this process, where what a test replaced is seen."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        self._answered = [function(*arguments, **options)]

    def __exit__(self, *_: object) -> None:
        pass


def test_a_diagram_over_budget_declines(monkeypatch: pytest.MonkeyPatch) -> None:
    from causal import _bdd, actual

    def refuse(*arguments: object, **options: object) -> None:
        raise _bdd.OverBudget

    case = random_case("thr", 30, seed=0)
    expected = {c.variables for c in actual_causes(*case)}
    monkeypatch.setattr(_bdd, "family", refuse)
    monkeypatch.setattr(actual, "Aside", Here)
    with pytest.raises(CausalError, match="declines"):
        actual_causes(*case, engine="zdd")
    family = actual_causes(*case)  # falls back
    assert family.engine == "sat"
    assert {c.variables for c in family} == expected


@pytest.mark.parametrize("name", FAMILIES)
def test_the_second_order_gives_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first order over its budget at once, so that `by_force` is what answers; it never reaches further."""
    from causal import _bdd, _order, actual

    pytest.importorskip("dd.cudd")
    used = []

    def seen(region: Region, parents: dict[int, list[int]]) -> tuple[int, ...]:
        used.append(_order.by_force(region, parents))
        assert sorted(used[-1]) == sorted(region.order)
        groups = [[at, *(p for p in parents.get(at, ()) if p in region.order)] for at in region.order if at not in region.heads]
        assert _order._span(list(used[-1]), groups) <= _order._span(list(region.order), groups) + 2 * len(region.order)
        return used[-1]

    case = random_case(name, 40, seed=3)
    expected = {c.variables for c in actual_causes(*case, engine="sat")}
    for limit, value in (("SMALL", 0), ("STATIC_NODES", 1), ("SMALL_NODES", 1)):
        monkeypatch.setattr(_bdd, limit, value)
    monkeypatch.setattr(_bdd, "by_force", seen)
    monkeypatch.setattr(actual, "Aside", Here)
    family = actual_causes(*case, engine="zdd")
    assert {c.variables for c in family} == expected
    assert used or name not in ("tt", "thr")  # in the others nothing has to be decided


@pytest.mark.parametrize("operation", ["either", "restrict", "choose"])
def test_one_operation_keeps_the_budget(operation: str) -> None:
    from causal import _bdd

    pytest.importorskip("dd.cudd")
    pairs, budget = 30, 1_000
    kernel = _bdd.CuddKernel(2 * pairs + 1, budget, reorder=False)
    f = kernel.false
    with pytest.raises(_bdd.OverBudget):
        for i in range(pairs):  # 2^i nodes in this order
            g = kernel.both(kernel.variable(i), kernel.variable(i + pairs))
            if operation == "either":
                f = kernel.either(f, g)
            elif operation == "choose":
                f = kernel.choose(f, kernel.true, g)
            else:  # what is left where the last variable is true is larger by the factor that the budget allows
                h = kernel.both(kernel.either(f, g), kernel.variable(2 * pairs))
                f = kernel.restrict(h, 2 * pairs, True)
    with pytest.warns(UserWarning, match="changed to bytes"):
        assert kernel.manager.statistics()["mem"] < 2 * (_bdd.MANAGER_BYTES + _bdd.NODE_BYTES * budget)


@pytest.mark.parametrize("name", FAMILIES)
def test_without_cudd_the_python_diagrams_answer(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from causal import _bdd

    case = random_case(name, 60, seed=4)
    expected = actual_causes(*case, engine="zdd").count
    monkeypatch.setattr(_bdd, "have_cudd", lambda: False)
    assert actual_causes(*case, engine="zdd").count == expected

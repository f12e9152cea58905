"""Causes of one or two variables on lanes, against the solver and against simulation."""
from __future__ import annotations

import random

import numpy as np
import pytest

from causal import CausalModel, _duos, _sat, actual_causes
from causal._instance import Instance
from causal.random_models import FAMILIES, Case, random_case


def small(case: Case, effect: object, exclude: tuple[str, ...] = ()) -> tuple[set[frozenset[str]], int]:
    """The causes of at most two variables, and up to which size they are known to be complete."""
    found = actual_causes(case.model, case.context, effect, max_size=2, exclude=exclude, engine="sat")
    return {c.variables for c in found}, found.complete_up_to


@pytest.mark.parametrize("family", FAMILIES)
def test_lanes_and_the_solver_give_the_same_causes(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    different, causes = [], 0
    for seed in range(25):
        draw = random.Random(seed)
        case = random_case(family, draw.randint(4, 60), seed, degree=draw.randint(2, 5))
        actual = case.model.evaluate(case.context)
        names = draw.sample(case.model.variables, min(2, len(case.model.variables)))
        effect = draw.choice((case.effect, draw.choice((" & ", " | ")).join(f"{n} == {actual[n]}" for n in names)))
        exclude = tuple(draw.sample(case.model.variables, draw.choice((0, 3))))
        right, sure = small(case, effect, exclude)
        with monkeypatch.context() as patch:
            patch.setattr(_sat, "MANY", 1)
            patch.setattr(_sat, "Fronts", None)  # which would be asked for pairs otherwise
            mine, mine_sure = small(case, effect, exclude)
        causes += len(right)
        if mine != right or min(sure, 2) != min(mine_sure, 2):
            different.append((seed, mine ^ right, sure, mine_sure))
    assert not different
    assert causes > 50


def test_what_lanes_leave_open_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sweeps and splits the solver decides what the bounds leave open: the causes stay the same."""
    case = random_case("tt", 60, 3)
    right, _ = small(case, case.effect)
    asked = []
    instance = Instance(*case)
    of = _duos.tables(instance)
    assert of is not None
    solver = _sat.Search(_sat.Encoding(instance, frozenset(range(60))))

    def ask(some: frozenset[int]) -> dict[int, int] | None:
        asked.append(some)
        return solver.changed() if solver.solve([-x for at, x in solver.encoding.x.items() if at not in some]) else None

    monkeypatch.setattr(_duos, "PATIENCE", ())
    monkeypatch.setattr(_duos.Lanes, "_split_further", lambda self, sets: np.ones(len(sets), bool))
    found = {frozenset(instance.names[i] for i in c) for _, sets in _duos.small_causes(of, range(60), ask, lambda: None)
             for c in sets}
    assert found == right
    assert asked


def test_a_large_model_is_complete_up_to_two() -> None:
    """Every cause of a model of 1,500 variables; a stop in the middle is said to be one."""
    case = random_case("tt", 1_500, 1, window=100)
    right, sure = small(case, case.effect)
    assert (sure, len({len(c) for c in right})) == (2, 2)
    draw = random.Random(0)
    instance = Instance(*case)
    witnesses = _sat.Witnesses(instance)
    for cause in draw.sample(sorted(map(sorted, right)), 5):
        found = witnesses.find(frozenset(instance.position[n] for n in cause))
        assert found is not None
        values = case.model.evaluate(case.context, {instance.names[at]: instance.value(at, code)
                                                    for part in found for at, code in part.items()})
        assert any(values[n] != v for n, v in case.effect.items())
    stopped = actual_causes(*case, max_size=2, time_limit=1e-9)
    assert not stopped.complete
    assert {c.variables for c in stopped} <= right


def test_models_beyond_tables_are_left_to_the_solver() -> None:
    wide = CausalModel.from_expressions({**{f"V{i}": None for i in range(8)}, "T": " | ".join(f"V{i}" for i in range(8))})
    assert _duos.tables(Instance(wide, dict.fromkeys(wide.inputs, 1), {"T": 1})) is None
    assert _duos.tables(Instance(*random_case("tt", 6, 0, values=3))) is None

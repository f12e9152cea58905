"""Responsibility, blame, explanations, harm, certificates: known answers, brute force, and what they refuse."""
from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import pytest

from causal import (
    CausalCertificateError,
    CausalError,
    CausalModel,
    _definition,
    _original,
    actual_causes,
    blame,
    check_certificate,
    explanations,
    harm,
    investigate,
    responsibility,
)
from causal._instance import Instance
from causal.actual import read_effect
from causal.random_models import FAMILIES, random_case
from tests.test_causal_engines import random_effect, random_model

ROCK = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
BOTH = {"ST": 1, "BT": 1}


def votes(yes: int) -> tuple[CausalModel, dict[str, int]]:
    names = [f"V{i}" for i in range(11)]
    model = CausalModel.from_expressions({**dict.fromkeys(names), "WIN": f"atleast(6, {', '.join(names)})"})
    return model, {n: int(i < yes) for i, n in enumerate(names)}


def test_the_two_conventions_differ_on_rock_throwing() -> None:
    assert responsibility(ROCK, BOTH, "ST", {"BS": 1}, convention="modified") == Fraction(1, 2)
    assert responsibility(ROCK, BOTH, "ST", {"BS": 1}, convention="chockler_halpern") == 1
    assert responsibility(ROCK, BOTH, "BT", {"BS": 1}, convention="modified") == Fraction(0)
    with pytest.raises(TypeError):
        responsibility(ROCK, BOTH, "ST", {"BS": 1})
    with pytest.raises(CausalError, match="convention='halpern'"):
        responsibility(ROCK, BOTH, "ST", {"BS": 1}, convention="halpern")


@pytest.mark.parametrize("convention", ["modified", "chockler_halpern"])
def test_eleven_voters(convention: str) -> None:
    for yes, expected in ((6, Fraction(1)), (11, Fraction(1, 6))):
        model, context = votes(yes)
        assert responsibility(model, context, "V0", {"WIN": 1}, convention=convention) == expected


def moves_enough(sim: _definition.Simulator, at: int, others: list[int], moved: tuple[int, ...]) -> bool:
    """AC2 of 2001 by the letter, for one variable with exactly `moved` off their actual values in W."""
    rest = [i for i in others if i not in moved]
    away = [[q for q in range(len(sim.domains[i])) if q != sim.actual[i]] for i in moved]
    turned = [q for q in range(len(sim.domains[at])) if q != sim.actual[at]]
    for values in itertools.product(*away):
        off = dict(zip(moved, values, strict=True))
        for kept in _definition.subsets(rest):
            w = {**off, **{i: sim.actual[i] for i in kept}}
            if all(sim.effect(sim.solve({**w, at: q})) for q in turned):
                continue  # (a) fails
            free = [i for i in rest if i not in kept]
            back = {**w, at: sim.actual[at]}
            if all(sim.effect(sim.solve({**back, **{i: sim.actual[i] for i in z}})) for z in _definition.subsets(free)):
                return True
    return False


def of_2004(model: CausalModel, context: dict[str, Any], effect: Any, name: str) -> Fraction:
    """1 / (k + 1) by trying every W, every setting of it and every Z'."""
    sim = _definition.Simulator(model, context, read_effect(model, effect))
    at = sim.names.index(name)
    others = [i for i in range(len(sim.names)) if i != at]
    for number in range(len(others) + 1):
        if any(moves_enough(sim, at, others, moved) for moved in itertools.combinations(others, number)):
            return Fraction(1, number + 1)
    return Fraction(0)


@pytest.mark.parametrize("usual", [1, 8])
def test_responsibility_of_2004_is_what_the_letter_gives(usual: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a count that is bounded step by step, or first of all by one. The causes of 2015 alone would not do: a variable
    in none of them may be a cause of 2001, and one in a pair may need more than one other moved."""
    monkeypatch.setattr(_original, "USUAL", usual)
    draw, seen, differs = random.Random(3), Counter[Fraction](), 0
    for seed in range(60):
        case = random_case(FAMILIES[seed % 5], 3 + seed % 4, seed)
        model, context, effect = case if seed % 2 else ((other := random_model(draw)), {}, random_effect(draw, other))
        causes = [c.variables for c in actual_causes(model, context, effect)]
        for name in model.variables:
            grade = responsibility(model, context, name, effect, convention="chockler_halpern")
            assert grade == of_2004(model, context, effect, name)
            seen[grade] += 1
            differs += grade != max((Fraction(1, len(c)) for c in causes if name in c), default=Fraction(0))
    assert min(seen[g] for g in (Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(1))) > 0
    assert differs


def test_responsibility_of_2004_beyond_brute_force() -> None:
    """31 votes to none with a majority of 16: fifteen others must change sides first."""
    names = [f"V{i}" for i in range(31)]
    model = CausalModel.from_expressions({**dict.fromkeys(names), "WIN": f"atleast(16, {', '.join(names)})"})
    assert responsibility(model, dict.fromkeys(names, 1), "V0", {"WIN": 1}, convention="chockler_halpern") == Fraction(1, 16)


def test_a_binary_variable_that_is_no_cause_of_2001_is_told_by_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ruling its witnesses out one by one took most of a minute here."""
    def refuse(*arguments: object) -> None:
        raise AssertionError("witnesses are looked for one by one")

    monkeypatch.setattr(_original, "_accepted", refuse)
    model, context, effect = random_case("thr", 100, 0)
    assert responsibility(model, context, "V50", effect, convention="chockler_halpern") == 0


def test_the_question_agrees_with_the_letter() -> None:
    seen = Counter[bool]()
    for seed in range(300):
        model, context, effect = random_case(FAMILIES[seed % 5], 5, seed)
        causes = {c.variables for c in actual_causes(model, context, effect, definition="original")}
        instance = Instance(model, context, effect)
        for at, name in enumerate(instance.names):
            truth = frozenset({name}) in causes
            assert _original._is_cause(instance, at) == truth, (seed, name)
            seen[truth] += 1
    assert min(seen.values()) > 100


def test_modified_responsibility_is_the_minimum_over_causes_by_brute_force() -> None:
    draw = random.Random(3)
    for _ in range(40):
        model = random_model(draw)
        effect = random_effect(draw, model)
        causes = list(actual_causes(model, {}, effect, engine="definition"))
        for name in model.variables:
            totals = [len(c.variables) + len(c.contingency) for c in causes if name in c.variables]
            expected = Fraction(1, min(totals)) if totals else Fraction(0)
            assert responsibility(model, {}, name, effect, convention="modified") == expected


def marksmen() -> list[tuple[CausalModel, dict[str, int], Fraction]]:
    rules = {**{f"S{i}": None for i in range(10)}, "D": " | ".join(f"S{i} & L{i}" for i in range(10))}
    model = CausalModel.from_expressions(rules)
    return [(model, {**{f"S{i}": 1 for i in range(10)}, **{f"L{i}": int(i == live) for i in range(10)}}, Fraction(1, 10))
            for live in range(10)]


def test_blame_of_one_marksman_with_one_live_bullet() -> None:
    situations = marksmen()
    assert blame(situations, {"S0": 1}, {"D": 1}, convention="modified") == Fraction(1, 10)
    floats = [(m, c, 0.1) for m, c, _ in situations]
    with ThreadPoolExecutor(2) as pool:
        assert blame(floats, {"S0": 1}, {"D": 1}, convention="modified", executor=pool) == Fraction(1, 10)
    with pytest.raises(CausalError, match="sum to 9/10"):
        blame(situations[1:], {"S0": 1}, {"D": 1}, convention="modified")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), None, "half"])
def test_blame_names_a_probability_that_is_none(wrong: object) -> None:
    (model, context, _), *_ = marksmen()
    with pytest.raises(CausalError, match=r"the probability .* of a situation must be a finite number"):
        blame([(model, context, wrong)], {"S0": 1}, {"D": 1}, convention="modified")


def test_blame_sets_the_variable_first() -> None:
    """Without the intervention a marksman who did not shoot would be to blame for nothing."""
    model, context, _ = marksmen()[0]
    quiet = [(model, {**context, "S0": 0}, 1)]
    assert blame(quiet, {"S0": 1}, {"D": 1}, convention="modified") == 1


def test_investigate_reports_each_context() -> None:
    contexts = [{"ST": s, "BT": b} for s in (0, 1) for b in (0, 1)]
    with ThreadPoolExecutor(2) as pool:
        reports = investigate(ROCK, contexts, {"BS": 1}, executor=pool)
    assert reports == investigate(ROCK, contexts, {"BS": 1})
    assert reports[0] is None
    assert [r.count for r in reports if r] == [3, 3, 3]
    assert reports[1].participation == {"BT": 1, "BH": 1, "BS": 1}


def test_explanations_of_the_forest_fire_after_april_showers() -> None:
    """The seven explanations that the public implementation of exact search lists for this model."""
    model = CausalModel.from_expressions({"AS": None, "ES_M": None, "ES_J": None, "FF_M": "ES_M & ~AS",
                                          "FF_J": "ES_J & (AS | ~ES_M)"})
    contexts = [{"AS": a, "ES_M": m, "ES_J": j} for a in (0, 1) for m in (0, 1) for j in (0, 1)]
    found = explanations(model, contexts, "FF_M | FF_J")
    expected = [{"AS": 0, "ES_M": 1}, {"AS": 0, "ES_J": 1}, {"AS": 1, "ES_J": 1}, {"ES_J": 1, "ES_M": 0},
                {"ES_J": 1, "ES_M": 1}, {"FF_M": 1}, {"FF_J": 1}]
    assert sorted(map(sorted, (f.items() for f in found))) == sorted(map(sorted, (e.items() for e in expected)))
    with pytest.raises(CausalError, match="contexts is empty"):
        explanations(model, [], "FF_M")


def explained(model: CausalModel, contexts: list[dict[str, Any]], effect: dict[str, Any], nontrivial: bool) -> list[dict]:
    """EX1 to EX4 as they stand, over every setting of every set of variables."""
    worlds = [(c, model.evaluate(c)) for c in contexts]

    def happens(values: dict[str, Any], event: dict[str, Any]) -> bool:
        return all(values[n] == v for n, v in event.items())

    def ex1(x: dict[str, Any]) -> bool:
        for context, values in worlds:
            if happens(values, x) and happens(values, effect):
                causes = actual_causes(model, context, effect, engine="definition")
                if not any(c.variables & x.keys() for c in causes):
                    return False
            if not happens(model.evaluate(context, x), effect):
                return False
        return True

    names = model.variables
    settings = [dict(zip(chosen, values, strict=True)) for size in range(1, len(names) + 1)
                for chosen in itertools.combinations(names, size)
                for values in itertools.product(*(model.domains[n] for n in chosen))]
    enough = [x for x in settings if ex1(x)]
    found = []
    for x in enough:
        both = [happens(v, x) for _, v in worlds if happens(v, effect)]
        if any(both) and not (nontrivial and all(both)) and not any(part.items() < x.items() for part in enough):
            found.append(x)
    return found


@pytest.mark.parametrize("nontrivial", [False, True])
def test_explanations_are_those_of_the_definition(nontrivial: bool) -> None:
    draw, number = random.Random(4), 0
    for seed in range(12):
        model = random_case("tt", 4, seed, degree=2).model
        contexts = [dict(zip(model.inputs, v, strict=True)) for v in itertools.product((0, 1), repeat=len(model.inputs))]
        contexts = draw.sample(contexts, draw.randint(1, len(contexts)))
        effect = {model.variables[-1]: draw.choice((0, 1))}
        right = explained(model, contexts, effect, nontrivial)
        mine = explanations(model, contexts, effect, nontrivial=nontrivial)
        assert sorted(sorted(x.items()) for x in mine) == sorted(sorted(x.items()) for x in right)
        number += len(right)
    assert number > 10


def test_what_contains_a_trivial_explanation_is_none() -> None:
    """B held in every context explains by itself; A with B holds in one only, and is not minimal."""
    model = CausalModel.from_expressions({"A": None, "B": None, "T": "B"})
    contexts = [{"A": 0, "B": 1}, {"A": 1, "B": 1}]
    assert explanations(model, contexts, {"T": 1}, candidates=["A", "B"]) == [{"B": 1}]
    assert explanations(model, contexts, {"T": 1}, candidates=["A", "B"], nontrivial=True) == []


def test_harm_needs_a_better_alternative_and_an_outcome_below_the_default() -> None:
    model = CausalModel.from_expressions({"D": None, "A": None, "O": "D & A"})
    utility = {0: 0, 1: 1}
    late = harm(model, {"D": 0, "A": 1}, {"D": 0}, "O", utility, default=1)
    assert (late.harmed, late.amount, late.alternative, late.outcome) == (True, 1, {"D": 1}, 1)
    assert not harm(model, {"D": 0, "A": 0}, {"D": 0}, "O", utility, default=1).harmed
    assert not harm(model, {"D": 0, "A": 1}, {"D": 0}, "O", utility, default=0).harmed
    with pytest.raises(CausalError, match="did not happen"):
        harm(model, {"D": 0, "A": 1}, {"D": 1}, "O", utility, default=1)
    with pytest.raises(CausalError, match="utility has no value"):
        harm(model, {"D": 0, "A": 1}, {"D": 0}, "O", {0: 1}, default=1)
    for wrong in ({0: float("nan"), 1: 1}, {0: 1, 1: "x"}, {0: 1, 1: float("inf")}):
        with pytest.raises(CausalError, match="must be a finite number"):
            harm(model, {"D": 0, "A": 1}, {"D": 0}, "O", wrong, default=1)
    with pytest.raises(CausalError, match="default is nan"):
        harm(model, {"D": 0, "A": 1}, {"D": 0}, "O", {0: 0, 1: 1}, default=float("nan"))


def test_harm_is_not_of_more_than_a_part_that_brings_it_about() -> None:
    """A alone turns O; with B or C moved as well it does not, with both it does: the three are not minimal."""
    good = {(0, 1, 1), (0, 0, 0)}
    table = {row: int(row in good) for row in itertools.product((0, 1), repeat=3)}
    model = CausalModel.from_tables({"A": None, "B": None, "C": None, "O": (["A", "B", "C"], table)})
    for event, harmed in (("A", True), ("B", False), ("AB", False), ("ABC", False)):
        told = harm(model, dict.fromkeys("ABC", 1), dict.fromkeys(event, 1), "O", {0: 0, 1: 1}, default=1)
        assert told.harmed is harmed, event


def test_certificates_are_accepted_after_a_trip_through_json() -> None:
    draw = random.Random(8)
    for _ in range(25):
        model = random_model(draw)
        family = actual_causes(model, {}, random_effect(draw, model))
        certificate = json.loads(json.dumps(family.certificate()))
        assert certificate["method"] == "drup"
        assert check_certificate(certificate)
    for name in FAMILIES:
        assert check_certificate(json.loads(json.dumps(actual_causes(*random_case(name, 20, seed=2)).certificate())))


def resealed(certificate: dict) -> dict:
    """The certificate with the statement and the label that belong to its content: a forger writes those as well."""
    from causal.certificates import _sealed

    body = {k: certificate[k] for k in ("method", "causes", "proof", "count") if k in certificate}
    return _sealed(certificate["subjects"][0], body)


def tampered(certificate: dict, kind: str) -> dict:
    result = json.loads(json.dumps(certificate))
    if kind == "one cause missing":
        result["causes"].pop()
    elif kind == "element added":
        result["causes"][0]["witness"]["V3"] = 0
    elif kind == "element dropped":
        next(e for e in result["causes"] if len(e["witness"]) > 1)["witness"].popitem()
    elif kind == "proof emptied":
        result["proof"] = [[]]
    elif kind == "contingency off":
        result["causes"][0]["contingency"]["V4"] = 7
    elif kind == "other effect":
        result["subjects"][0]["effect"] = "V3"
    elif kind == "proof missing":
        del result["proof"]
    return resealed(result)


@pytest.mark.parametrize("kind", ["one cause missing", "element added", "element dropped", "proof emptied",
                                  "contingency off", "other effect", "proof missing"])
def test_tampered_certificates_are_rejected(kind: str) -> None:
    case = random_case("ones", 20, seed=2)
    certificate = actual_causes(*case).certificate()
    assert check_certificate(certificate)
    with pytest.raises(CausalCertificateError):
        check_certificate(tampered(certificate, kind))


def test_a_family_too_large_to_list_gets_a_cross_count() -> None:
    names = [f"V{i}" for i in range(20)]
    model = CausalModel.from_expressions({**dict.fromkeys(names), "T": f"atleast(8, {', '.join(names)})"})
    family = actual_causes(model, dict.fromkeys(names, 1), {"T": 1})
    certificate = json.loads(json.dumps(family.certificate()))
    assert certificate["method"] == "cross_count"
    assert check_certificate(certificate)
    with pytest.raises(CausalCertificateError, match="counted"):
        check_certificate(resealed({**certificate, "count": str(family.count - 1)}))
    with pytest.raises(CausalCertificateError, match="statement"):
        check_certificate({**certificate, "count": str(family.count - 1)})


def test_an_incomplete_family_has_no_certificate() -> None:
    family = actual_causes(ROCK, BOTH, {"BS": 1}, limit=1)
    assert not family.complete
    with pytest.raises(CausalError, match="not complete"):
        family.certificate()


def test_blame_and_batches_on_a_process_pool_and_on_dask_workers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same numbers from worker processes: models, effects and reports travel."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    situations = marksmen()
    model, contexts = situations[0][0], [c for _, c, _ in situations]
    alone = investigate(model, contexts, {"D": 1})
    assert {r.count for r in alone if r is not None} == {2}  # the death itself and the one shot with a live bullet
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert blame(situations, {"S0": 1}, {"D": 1}, convention="modified", executor=pool) == Fraction(1, 10)
        assert investigate(model, contexts, {"D": 1}, executor=pool) == alone
    from dask import config
    from distributed import Client, LocalCluster

    folder = str(tmp_path_factory.mktemp("dask"))
    with (config.set({"distributed.worker.use-file-locking": False}),
          LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50,
                       local_directory=folder) as cluster, Client(cluster) as client):
        assert blame(situations, {"S0": 1}, {"D": 1}, convention="modified", executor=client) == Fraction(1, 10)
        assert investigate(model, contexts, {"D": 1}, executor=client) == alone

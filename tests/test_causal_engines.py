"""Every engine against the literal definition, on all small models and on random ones of any domain."""
from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from causal import CausalError, CausalModel, _rows, actual_causes, check_certificate, is_cause, witness_map
from causal._definition import Simulator, modified, subsets
from causal._instance import read_effect
from causal.expressions import Atom, Const, Expression, Gate
from causal.model import holds
from causal.random_models import FAMILIES, random_case

FAST = ("sat", "zdd", "witness_map", "auto")


def all_binary_models(n: int) -> Iterator[CausalModel]:
    """Every binary model on V0..V(n-1) in which each variable may depend on all before it."""
    names = [f"V{i}" for i in range(n)]
    for outputs in itertools.product(*(itertools.product((0, 1), repeat=2**i) for i in range(n))):
        yield CausalModel.from_tables({
            names[i]: (names[:i], dict(zip(itertools.product((0, 1), repeat=i), outputs[i], strict=True)))
            for i in range(n)})


def all_events(model: CausalModel) -> Iterator[Expression]:
    """Every event that holds in the model and is not valid."""
    names = model.variables
    actual = tuple(model.evaluate({})[n] for n in names)
    others = [s for s in itertools.product((0, 1), repeat=len(names)) if s != actual]
    for mask in range(2**len(others) - 1):
        states = [actual, *(s for i, s in enumerate(others) if mask >> i & 1)]
        yield Gate("or", tuple(Gate("and", tuple(map(Atom, names, s))) for s in states))


def random_model(draw: random.Random) -> CausalModel:
    """Up to 6 variables of 2 to 4 values, up to 3 parents each, random tables."""
    n, most = draw.randint(1, 6), draw.choice((2, 2, 3, 4))
    domains = {f"V{i}": tuple(range(draw.randint(2, most))) for i in range(n)}
    tables = {}
    for i in range(n):
        parents = [f"V{j}" for j in sorted(draw.sample(range(i), draw.randint(0, min(i, 3))))]
        rows = itertools.product(*(domains[p] for p in parents))
        tables[f"V{i}"] = (parents, {row: draw.choice(domains[f"V{i}"]) for row in rows})
    return CausalModel.from_tables(tables, domains)


def random_effect(draw: random.Random, model: CausalModel) -> Expression:
    """A compound event over up to 3 variables that holds in the model."""
    names = draw.sample(model.variables, draw.randint(1, min(3, len(model.variables))))
    actual = model.evaluate({})
    for _ in range(20):
        atoms: list[Expression] = [Atom(n, draw.choice(model.domains[n])) for n in names]
        atoms = [Gate("not", (a,)) if draw.random() < 0.4 else a for a in atoms]
        event = Gate(draw.choice(("and", "or", "xor", "atleast")), tuple(atoms), min(2, len(atoms)))
        if holds(event, actual):
            return event
    return Atom(names[0], actual[names[0]])


def answer(model: CausalModel, effect: Expression, engine: str) -> frozenset[frozenset[str]]:
    family = actual_causes(model, {}, effect, engine=engine)
    assert family.complete
    return frozenset(c.variables for c in family)


@pytest.mark.parametrize("engine", (*FAST, "rows"))
def test_engines_agree_with_the_definition_on_all_models_of_two_and_a_part_of_three(engine: str) -> None:
    examined = 0
    for n, step in ((1, 1), (2, 1), (3, 11)):  # all of n = 3 is decided in proofs_checks
        for model in itertools.islice(all_binary_models(n), 0, None, step):
            for effect in itertools.islice(all_events(model), 0, None, step):
                assert answer(model, effect, engine) == answer(model, effect, "definition")
                examined += 1
    assert examined == 2 + 56 + 12 * 12


@pytest.mark.parametrize("seed", range(4))
def test_engines_agree_on_random_multi_valued_models(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(50):
        model = random_model(draw)
        effect = random_effect(draw, model)
        expected = answer(model, effect, "definition")
        for engine in FAST:
            assert answer(model, effect, engine) == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_and_the_stages_beyond_them_give_the_same(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 15 two-valued variables the automatic engine goes by rows; other values and more variables are declined."""
    causes = 0
    for seed in range(30):
        case = random_case(family, 2 + seed % 14, seed, degree=2 + seed % 4)
        exclude = case.model.variables[:seed % 3]
        found = actual_causes(*case, exclude=exclude)
        assert found.engine == "rows"
        with monkeypatch.context() as patch:
            patch.setattr(_rows, "MOST", 0)
            again = actual_causes(*case, exclude=exclude)
        assert again.engine != "rows"
        assert {c.variables for c in found} == {c.variables for c in again}
        causes += len(found)
    assert causes > 60
    for declined in (random_case(family, 16, 0), random_case("tt", 4, 0, values=3)):
        with pytest.raises(CausalError, match="'rows' declines"):
            actual_causes(*declined, engine="rows")


@pytest.mark.parametrize("engine", (*FAST, "rows"))
def test_gates_of_nothing_are_constants(engine: str) -> None:
    model = CausalModel.from_expressions({"A": None, "T": "A"})
    for op, holds_here in (("and", True), ("or", False), ("xor", False), ("atleast", True)):
        effect = Gate("xor", (Gate(op, ()), Atom("T", 1 - holds_here)))  # true where T is 1
        assert answer(model.intervened({"A": 1}), effect, engine) == {frozenset("A"), frozenset("T")}


@pytest.mark.parametrize("engine", (*FAST, "rows", "definition"))
@pytest.mark.parametrize("threshold", [10**12, -10**12])
def test_a_threshold_beyond_every_count_takes_no_memory(engine: str, threshold: int) -> None:
    model = CausalModel.from_expressions({"A": None, "B": None, "C": f"~A & ~B | atleast({threshold}, A, B)"})
    family = actual_causes(model, {"A": 1, "B": 0}, "C" if threshold < 0 else "~C", engine=engine)
    assert {c.variables for c in family} == {frozenset("C")} | ({frozenset("A")} if threshold > 0 else set())
    assert check_certificate(family.certificate())


def test_rows_read_thresholds_other_values_and_exogenous_names() -> None:
    model = CausalModel.from_expressions(
        {"A": None, "B": "A == on", "C": "atleast(2, A == off, B, U, V)", "T": "C | atleast(0, A == on) & B ^ V"},
        {"A": ("off", "on"), "B": (0, 1), "U": (1, 0), "V": (0, 1)}, ["U", "V"])
    for a, u, v in itertools.product(("off", "on"), (0, 1), (0, 1)):
        context = {"A": a, "U": u, "V": v}
        effect = {"T": model.evaluate(context)["T"]}
        found, right = (actual_causes(model, context, effect, engine=e) for e in ("rows", "definition"))
        assert {c.variables for c in found} == {c.variables for c in right}


@pytest.mark.parametrize("engine", (*FAST, "definition"))
def test_witnesses_replay_and_contingencies_are_smallest(engine: str) -> None:
    draw = random.Random(11)
    for _ in range(40):
        model = random_model(draw)
        effect = random_effect(draw, model)
        actual = model.evaluate({})
        sim = Simulator(model, {}, effect)
        for cause in actual_causes(model, {}, effect, engine=engine):
            witness, held = cause.witness, cause.contingency
            assert set(witness) == cause.variables
            assert not set(held) & cause.variables
            assert all(actual[n] != v for n, v in witness.items())
            assert all(actual[n] == v for n, v in held.items())
            assert not holds(effect, model.evaluate({}, {**witness, **held}))
            literal = modified(sim, tuple(sorted(sim.names.index(n) for n in cause.variables)))
            assert literal is not None
            assert len(literal[1]) == len(held)


def test_is_cause_agrees_with_the_definition_clause_by_clause() -> None:
    draw = random.Random(5)
    for _ in range(40):
        model = random_model(draw)
        effect = random_effect(draw, model)
        sim = Simulator(model, {}, effect)
        literal = {frozenset(x): modified(sim, x) for x in subsets(range(len(sim.names)))}
        for x, found in literal.items():
            verdict = is_cause(model, {}, {sim.names[i] for i in x}, effect)
            assert verdict.ac1
            assert verdict.ac2 == (found is not None)
            assert verdict.ac3 == (not any(s < x and f is not None for s, f in literal.items()) or found is None)
            if verdict.smaller is not None:
                assert verdict.smaller < {sim.names[i] for i in x}
                assert literal[frozenset(sim.names.index(n) for n in verdict.smaller)] is not None
            if verdict.ac2:
                assert set(verdict.witness) == {sim.names[i] for i in x}
                after = model.evaluate({}, {**verdict.witness, **verdict.contingency})
                assert not holds(effect, after)


@pytest.mark.parametrize("definition", ["modified", "updated", "original"])
def test_brute_force_stops_at_the_time_limit(definition: str) -> None:
    """Without a look at the clock inside, each of these takes hours."""
    case = random_case("thr", 14, seed=1)
    family = actual_causes(*case, engine="definition", definition=definition, time_limit=0.2)
    assert not family.complete
    assert {c.variables for c in family} >= set()
    assert family.complete_up_to < 14


def test_a_verdict_is_true_for_a_cause_only() -> None:
    rock = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
    context, effect = {"ST": 1, "BT": 1}, {"BS": 1}
    assert is_cause(rock, context, {"ST"}, effect)
    assert not is_cause(rock, context, {"BT"}, effect)
    assert not is_cause(rock, context, {"ST", "BT"}, effect)
    assert not is_cause(rock, context, {"ST"}, {"BS": 0})


def test_without_contingency_the_comparison_fails() -> None:
    """The comparisons above can fail: causes that need no contingency are not all of them."""
    rock = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
    for engine in (*FAST, "definition"):
        family = actual_causes(rock, {"ST": 1, "BT": 1}, {"BS": 1}, engine=engine)
        assert {c.variables for c in family} == {frozenset({n}) for n in ("ST", "SH", "BS")}
        assert {c.variables for c in family if not c.contingency} == {frozenset({"BS"})}
        throw = next(c for c in family if c.variables == {"ST"})
        assert (throw.witness, throw.contingency) == ({"ST": 0}, {"BH": 0})


def test_the_witness_map_is_a_dag_of_failing_interventions_with_a_node_for_every_cause() -> None:
    import networkx as nx

    for family in FAMILIES:
        for seed in range(4):
            case = random_case(family, 7, seed)
            graph = witness_map(*case)
            effect = read_effect(case.model, case.effect)
            assert nx.is_directed_acyclic_graph(graph)
            actual = case.model.evaluate(case.context)
            nodes = [data["intervention"] for _, data in graph.nodes(data=True)]
            for intervention in nodes:
                assert not holds(effect, case.model.evaluate(case.context, intervention))
            for cause in actual_causes(*case):
                assert any({n for n, v in i.items() if v != actual[n]} == cause.variables for i in nodes)


def test_a_valid_effect_has_no_cause_and_the_family_is_complete() -> None:
    model = CausalModel.from_expressions({"A": None, "B": "A"})
    for engine in (*FAST, "definition"):
        family = actual_causes(model, {"A": 1}, "B | ~B", engine=engine)
        assert (family.count, family.complete, family.min_size) == (0, True, None)
    assert actual_causes(model, {"A": 1}, Const(True)).complete

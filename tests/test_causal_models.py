"""Structural models: what they compute, and what they refuse by name."""
from __future__ import annotations

import itertools
import subprocess
import sys

import networkx as nx
import pytest

from causal import (
    CausalError,
    CausalModel,
    CyclicModel,
    DomainError,
    EventNotTrue,
    UnknownVariable,
    actual_causes,
    is_cause,
)
from causal.expressions import bind, parse_expression, to_text
from causal.model import holds

PYTHON = {"a & ~b": "a and not b", "a | b & c": "a or (b and c)", "a ^ b | c": "bool((a ^ b) | c)",
          "not a and b": "not a and b",
          "not (a or b)": "not (a or b)", "~a & ~b | c": "(not a and not b) or c", "a | b and c": "(a or b) and c",
          "not a | b": "not (a or b)", "a & not b & c": "a and not b and c", "a ^ b ^ c": "(a + b + c) % 2 == 1",
          "atleast(2, a, b, ~c)": "a + b + (1 - c) >= 2", "a == 0 | b != 1": "a == 0 or b != 1", "((a))": "a",
          "1 & a": "a", "0 | a & true": "a", "a == b": "a == b", "!a && b || c": "(not a and b) or c", "a = 1": "a == 1"}


@pytest.mark.parametrize("text", PYTHON)
def test_expressions_mean_what_python_says(text: str) -> None:
    domains = dict.fromkeys("abc", (0, 1))
    bound = bind(parse_expression(text), domains, "test")
    again = bind(parse_expression(to_text(bound)), domains, "test")
    for row in itertools.product((0, 1), repeat=3):
        values = dict(zip("abc", row, strict=True))
        assert holds(bound, values) == holds(again, values) == bool(eval(PYTHON[text], {}, values))


@pytest.mark.parametrize("text", ["", "(a", "a)", "a b", "a &", "& a", "3 & a", "a,b", "'x'", "a ==", "@", "atleast(2)",
                                  "atleast(a, b)", "~" * 5000 + "a", "(" * 5000 + "a" + ")" * 5000, "a == == b"])
def test_text_that_is_no_expression_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(CausalError, match="expression"):
        parse_expression(text)


def test_a_long_chain_is_one_gate() -> None:
    parsed = parse_expression(" | ".join(f"x{i}" for i in range(20_000)))
    assert len(parsed.children) == 20_000


@pytest.mark.parametrize("last", ["~y", "(y & z)", "not y", "atleast(1, y, z)"])
def test_a_long_chain_is_not_deep(last: str) -> None:
    parsed = parse_expression(" | ".join(["~a", "(b & c)", *(f"x{i}" for i in range(1000))]) + " | " + last)
    assert len(parsed.children) == 1003


def test_from_expressions() -> None:
    model = CausalModel.from_expressions({"BH": "BT & ~SH", "SH": "ST", "BS": "SH or BH", "C": "1"})
    assert model.exogenous == ("BT", "ST")
    assert model.evaluate({"ST": 0, "BT": 1}) == {"ST": 0, "BT": 1, "SH": 0, "BH": 1, "BS": 1, "C": 1}
    assert model.evaluate({"ST": 0, "BT": 1}, {"BH": 0})["BS"] == 0
    assert isinstance(model.graph, nx.DiGraph)
    assert set(model.graph.edges) == {("BT", "BH"), ("SH", "BH"), ("ST", "SH"), ("SH", "BS"), ("BH", "BS")}
    votes = CausalModel.from_expressions({"W": None, "WIN": "W == 'tie' | W != no"}, {"W": ("yes", "no", "tie")})
    assert votes.inputs == ("W",)
    assert [votes.evaluate({"W": w})["WIN"] for w in ("yes", "no", "tie")] == [1, 0, 1]
    with pytest.raises(UnknownVariable, match="ST"):
        CausalModel.from_expressions({"SH": "ST"}, exogenous=["BT"])
    with pytest.raises(DomainError, match="W has the domain"):
        CausalModel.from_expressions({"W": None, "X": "W"}, {"W": ("a", "b"), "X": (0, 1)}).evaluate({"W": "a"})


def test_a_bare_name_of_another_domain_is_a_copy() -> None:
    model = CausalModel.from_expressions({"W": None, "X": "W"}, {"W": (0, 1, 2), "X": (0, 1, 2)})
    assert model.evaluate({"W": 2})["X"] == 2


def test_from_tables_and_functions() -> None:
    xor = {(0, 0): 0, (0, 1): 1, (1, 0): 1, (1, 1): 0}
    model = CausalModel.from_tables({"A": ((), {(): 1}), "B": None, "C": (("A", "B"), xor)})
    assert model.evaluate({"B": 1}) == {"A": 1, "B": 1, "C": 0}
    with pytest.raises(CausalError, match=r"table of C.*'B': 1"):
        CausalModel.from_tables({"A": None, "B": None, "C": (("A", "B"), {k: v for k, v in xor.items() if k != (1, 1)})})
    with pytest.raises(DomainError, match="table of C"):
        CausalModel.from_tables({"A": None, "B": None, "C": (("A", "B"), {**xor, (2, 0): 1})})
    with pytest.raises(DomainError, match="table of C: 5"):
        CausalModel.from_tables({"A": None, "B": None, "C": (("A", "B"), {**xor, (0, 0): 5})})
    minus = CausalModel.from_functions({"A": None, "B": None, "D": lambda a, b: a - b}, {"D": ["A", "B"]},
                                       {"A": (0, 1, 2), "D": (-1, 0, 1, 2)})
    assert minus.evaluate({"A": 2, "B": 1})["D"] == 1
    calls = []
    parents = [f"P{i}" for i in range(40)]
    with pytest.raises(CausalError, match=f"table of BIG would have {2**40} rows"):
        CausalModel.from_functions({**dict.fromkeys(parents), "BIG": lambda *row: calls.append(row)}, {"BIG": parents})
    assert not calls


def test_refusals_name_the_thing() -> None:
    rock = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
    both = {"ST": 1, "BT": 1}
    with pytest.raises(CyclicModel, match="A") as caught:
        actual_causes(CausalModel.from_expressions({"T": None, "A": "B", "B": "C & T", "C": "A"}), {"T": 1}, {"T": 1})
    assert set(caught.value.cycle) == {"A", "B", "C"}
    with pytest.raises(EventNotTrue, match="BS=1"):
        actual_causes(rock, both, {"BS": 0})
    for wrong in ({"XX": 1}, "XX == 1"):
        with pytest.raises(UnknownVariable, match="XX"):
            actual_causes(rock, both, wrong)
    for argument in ("exclude", "candidates"):
        with pytest.raises(UnknownVariable, match=argument):
            actual_causes(rock, both, {"BS": 1}, **{argument: ["XX"]})
        with pytest.raises(CausalError, match=argument):
            actual_causes(rock, both, {"BS": 1}, **{argument: "BS"})
    fire = CausalModel.from_expressions({"FF": "L | MD"})
    with pytest.raises(CausalError, match=r"candidates: 'L' is exogenous"):
        actual_causes(fire, {"L": 1, "MD": 1}, {"FF": 1}, candidates=["L"])
    with pytest.raises(CausalError, match=r"candidate: 'L' is exogenous"):
        is_cause(fire, {"L": 1, "MD": 1}, {"L"}, {"FF": 1})
    with pytest.raises(DomainError, match="X is"):
        CausalModel.from_expressions({"X": None}, {"X": (0,)})
    with pytest.raises(CausalError, match="context: no value for BT"):
        rock.evaluate({"ST": 1})
    with pytest.raises(DomainError, match="context: 2"):
        rock.evaluate({"ST": 1, "BT": 2})
    with pytest.raises(CausalError, match="BS is computed"):
        rock.evaluate({**both, "BS": 1})
    for name, value in (("definition", "halpern"), ("engine", "magic"), ("max_size", 0), ("limit", -1), ("time_limit", 0)):
        with pytest.raises(CausalError, match=name):
            actual_causes(rock, both, {"BS": 1}, **{name: value})
    for definition in ("updated", "original"):
        with pytest.raises(CausalError, match="engine='sat'"):
            actual_causes(rock, both, {"BS": 1}, definition=definition, engine="sat")


def test_every_error_is_a_value_error() -> None:
    for kind in (CyclicModel(["A"]), UnknownVariable("A"), DomainError(""), EventNotTrue("")):
        assert isinstance(kind, CausalError)
        assert isinstance(kind, ValueError)


def test_importing_causal_loads_nothing_heavy() -> None:
    heavy = ("scipy", "numba", "pysat", "dd", "yaml", "jax", "pandas")
    code = f"import causal, sys; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"

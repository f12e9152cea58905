"""Readers and writers: what comes back, and errors by line and name; hostile files do nothing."""
from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from causal import (
    CausalError,
    CausalModel,
    CyclicModel,
    NonDeterministic,
    UnknownVariable,
    actual_causes,
    check_certificate,
    read_model,
    write_model,
)
from causal.expressions import Atom, Const, Gate
from causal.model import Formula, Input, Mechanism, Table
from causal.random_models import FAMILIES, random_case


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def outcomes(model: CausalModel, like: CausalModel) -> list[dict[str, Any]]:
    """What a model says in each context of another one, 64 at the most; the context is its own."""
    names = (*like.exogenous, *like.inputs)
    assert set(names) == {*model.exogenous, *model.inputs}
    cases = itertools.islice(itertools.product(*(like.domains[n] for n in names)), 64)
    return [model.evaluate(dict(zip(names, values, strict=True))) for values in cases]


@pytest.mark.parametrize("ending", ["json", "yaml", "bnet"])
@pytest.mark.parametrize("family", FAMILIES)
def test_round_trip(tmp_path: Path, ending: str, family: str) -> None:
    model = random_case(family, 8, seed=3).model
    path = tmp_path / f"model.{ending}"
    write_model(model, path)
    assert outcomes(read_model(path), model) == outcomes(model, model) != []


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_round_trip_keeps_words_numbers_and_exogenous_names(tmp_path: Path, ending: str) -> None:
    model = CausalModel.from_expressions(
        {"W": None, "no": "W == 'yes' | E != 2", "T": "atleast(2, no, F, ~F)", "odd name": "F & ~`no`", "X": "`odd name` ^ T"},
        {"W": ("yes", "no", "1"), "E": (0, 1, 2)}, exogenous=["E", "F"])
    path = tmp_path / f"model.{ending}"
    write_model(model, path)
    again = read_model(path)
    assert again.exogenous == ("E", "F")
    assert again.domains == model.domains
    assert outcomes(again, model) == outcomes(model, model) != []


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_round_trip_keeps_names_that_look_like_constants_and_values_with_signs(tmp_path: Path, ending: str) -> None:
    """Variables called 0 and 1, and texts whose Python spelling differs from what they are."""
    words = ("a\\b", "a\\\\b", "it's", 'a "b"', "tab\t", "a | b")
    numbers = (-1, 0.5, -0.25, 1e300, 1e-9, 10**30)
    events = {f"E{i}": Atom("W", w) for i, w in enumerate(words)} | {f"F{i}": Atom("N", n) for i, n in enumerate(numbers)}
    rules: dict[str, Mechanism] = {"W": Input(), "N": Input(), "0": Input(), "1": Formula(Gate("not", (Atom("0", 1),)), ("0",)),
             "not": Formula(Gate("or", (Atom("1", 1), Const(False))), ("1",))}
    rules |= {name: Formula(event, (event.name,)) for name, event in events.items()}
    model = CausalModel(rules, {"W": words, "N": numbers})
    path = tmp_path / f"model.{ending}"
    write_model(model, path)
    assert outcomes(read_model(path), model) == outcomes(model, model) != []
    certificate = actual_causes(model, {"W": words[0], "N": 0.5, "0": 1}, {"E0": 1, "F1": 1, "1": 0, "0": 1}).certificate()
    assert check_certificate(certificate)


def test_a_text_with_both_quotes_cannot_be_written(tmp_path: Path) -> None:
    value = "it's \"x\""
    model = CausalModel({"W": Input(), "E": Formula(Atom("W", value), ("W",))}, {"W": (value, "y")})
    with pytest.raises(CausalError, match="both kinds of quotes"):
        write_model(model, tmp_path / "model.json")


def test_bnet_keeps_tables_over_domains_in_another_order_gates_of_nothing_and_unused_names(tmp_path: Path) -> None:
    gates = {"none": Gate("or", ()), "all": Gate("and", ()), "few": Gate("atleast", (Atom("A", 1),), 0),
             "many": Gate("not", (Gate("atleast", (Atom("A", 1),), 2),))}
    rules: dict[str, Mechanism] = {"A": Input(), "T": Table(("A",), (1, 0))} | {n: Formula(g, ("A",)) for n, g in gates.items()}
    model = CausalModel(rules, {"A": (1, 0)}, exogenous=["U"])
    path = tmp_path / "model.bnet"
    write_model(model, path)
    again = read_model(path)
    for a in (0, 1):
        assert again.evaluate({"A": a, "U": 0}) == model.evaluate({"A": a, "U": 0})


@pytest.mark.parametrize("name", ["1", "12", "not", "a b", "targets", "a#b", "a,b", "\u200b"])
def test_a_name_that_bnet_would_misread_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CausalError, match="cannot be written"):
        write_model(CausalModel.from_expressions({name: None}), tmp_path / "model.bnet")


def test_a_target_in_backquotes_is_the_name_that_formulas_use(tmp_path: Path) -> None:
    model = read_model(write(tmp_path, "m.bnet", "`A B`, X\nC, !`A B`\n"))
    assert (model.inputs, model.evaluate({"X": 1})["C"]) == (("X",), 0)


def test_a_comment_of_bnet_ends_with_the_line_that_an_editor_shows(tmp_path: Path) -> None:
    assert read_model(write(tmp_path, "m.bnet", "# \u2028A, B\nC, A\n")).variables == ("C", "A")


def test_a_file_too_large_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import causal.files

    monkeypatch.setattr(causal.files, "MAX_BYTES", 20)
    monkeypatch.setattr(causal.files, "MAX_YAML", 10)
    for name in ("m.json", "m.yaml"):
        with pytest.raises(CausalError, match="has 22 bytes, more than"):
            read_model(write(tmp_path, name, '{"variables": {}}     '))
    assert read_model(write(tmp_path, "n.json", '{"variables": {}}')).domains == {}


def test_native_tables_run_the_last_parent_fastest(tmp_path: Path) -> None:
    path = write(tmp_path, "m.json", """{"variables": {"A": {}, "B": {"domain": [0, 1, 2]},
        "C": {"domain": [0, 1, 2, 3, 4, 5], "parents": ["A", "B"], "table": [0, 1, 2, 3, 4, 5]}}}""")
    assert read_model(path).evaluate({"A": 1, "B": 0})["C"] == 3


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_the_documented_format_is_read(tmp_path: Path, ending: str) -> None:
    import causal.files

    text = (causal.files.__doc__ or "").split("test):\n")[1].split("\n\nvariables ")[0]
    model = read_model(write(tmp_path, f"m.{ending}", text))
    assert (model.inputs, model.exogenous, model.domains["W"]) == (("ST", "BT"), ("U",), ("calm", "storm"))
    assert model.evaluate({"ST": 0, "BT": 1, "U": "mid"})["BS"] == 1
    assert model.evaluate({"ST": 0, "BT": 1, "U": "low"})["BS"] == 0


@pytest.mark.parametrize(("text", "said"), [
    ("[1]", "variables"), ("{", "line 1"), ('{"variables": {"A": {}, "A": {}}}', "'A' is given twice"),
    ('{"variables": {"A": {"expr": "B"}}}', "unknown variable 'B'"), ('{"variables": {"A": {"table": [1, 0]}}}', "A: table"),
    ('{"variables": {"A": {"domain": [1]}}}', "domain of A"), ('{"variables": {"A": {"tabel": []}}}', "tabel"),
    ('{"variables": {"A": {"expr": "A"}}}', "cyclic: A -> A"),
    ('{"variables": {"A": {"expr": "1", "table": [1]}}}', "has both"),
    ('{"variables": {"A": {"domain": [[1], [2]]}}}', "hashable"),
    ('{"variables": {"A": {"parents": ["B"], "table": []}}}', "B"),
])
def test_native_errors_name_the_variable(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CausalError) as caught:
        read_model(write(tmp_path, "m.json", text))
    assert said in str(caught.value)
    assert "m.json" in str(caught.value)


def test_bnet(tmp_path: Path) -> None:
    path = write(tmp_path, "m.bnet", "targets, factors\n# a comment\nA, A\nB, !A & (C | 1)  # another\nD, 0\n14-3-3, B | D\n")
    model = read_model(path)
    assert set(model.inputs) == {"A", "C"}
    assert model.exogenous == ()
    assert model.evaluate({"A": 0, "C": 0})["14-3-3"] == 1
    booleannet = read_model(write(tmp_path, "b.bnet", "a = True\nX1* = not (a or b) and c\n2: Y* = X1\n"))
    assert booleannet.evaluate({"a": 0, "b": 0, "c": 1})["Y"] == 1
    assert set(booleannet.inputs) == {"a", "b", "c"}


@pytest.mark.parametrize(("text", "said"), [
    ("A, B\nA, C\n", "line 2: 'A' is defined twice"), ("A, B &\n", "line 1"), ("\n\nnonsense\n", "line 3"),
    ("A, B == 2\n", "line 1"), (", B\n", "line 1"), ("A, (B\n", "line 1, rule of A")])
def test_bnet_errors_name_the_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CausalError) as caught:
        read_model(write(tmp_path, "m.bnet", text))
    assert said in str(caught.value)


def test_bnet_refuses_cycles_other_domains_and_gates_too_large(tmp_path: Path) -> None:
    with pytest.raises(CyclicModel):
        read_model(write(tmp_path, "m.bnet", "A, B\nB, A\n"))
    with pytest.raises(CausalError, match="W has the domain"):
        write_model(CausalModel.from_expressions({"W": None}, {"W": (0, 1, 2)}), tmp_path / "w.bnet")
    big = CausalModel.from_expressions({"X": " ^ ".join(f"a{i}" for i in range(30))})
    with pytest.raises(CausalError, match="rule of X"):
        write_model(big, tmp_path / "x.bnet")


TREE = """<?xml version="1.0"?>
<!DOCTYPE opsa-mef>
<opsa-mef><define-fault-tree name="FT"><label>a tree</label>
 <define-gate name="TOP"><or><gate name="G1"/><basic-event name="C"/></or></define-gate>
 <define-gate name="G1"><label>both</label><and><basic-event name="A"/><event name="B"/></and></define-gate>
 <define-gate name="V">
  <atleast min="2"><gate name="FT.G1"/><not><basic-event name="A"/></not><house-event name="H"/></atleast></define-gate>
 <define-gate name="W">
  <imply><xor><basic-event name="A"/><basic-event name="B"/></xor>
  <nor><basic-event name="A"/><constant value="false"/></nor></imply></define-gate>
 <define-gate name="N">
  <nand><basic-event name="A"/><iff><basic-event name="B"/><basic-event name="C"/></iff></nand></define-gate>
 </define-fault-tree><model-data><define-basic-event name="A"><float value="0.1"/></define-basic-event>
 <define-house-event name="H"><constant value="true"/></define-house-event></model-data></opsa-mef>"""


def test_open_psa(tmp_path: Path) -> None:
    model = read_model(write(tmp_path, "t.xml", TREE))
    assert set(model.inputs) == {"A", "B", "C"}
    for a, b, c in itertools.product((0, 1), repeat=3):
        values = model.evaluate({"A": a, "B": b, "C": c})
        assert values["TOP"] == int((a and b) or c)
        assert values["V"] == int((a & b) + (1 - a) + 1 >= 2)
        assert values["W"] == int(a == b or not a)
        assert values["N"] == int(not (a and b == c))
        assert values["H"] == 1


BOMB = """<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><opsa-mef>&b;</opsa-mef>"""
OUTSIDE = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><opsa-mef>&a;</opsa-mef>"""


@pytest.mark.parametrize(("text", "said"), [
    (BOMB, "entity"), (OUTSIDE, "entity"), ("<opsa-mef>", "line 1"), ("<x/>", "opsa-mef"), ("", "line 1"),
    ("<a>" * 100_000, "nested"),
    ("<opsa-mef>\n<define-gate name='G'><and/></define-gate></opsa-mef>", "line 2"),
    ("<opsa-mef>\n<define-gate name='G'><odd><event name='A'/></odd></define-gate></opsa-mef>",
     "line 2: unknown formula <odd>"),
    ("<opsa-mef>\n<define-gate name='G'><gate name='X'/></define-gate></opsa-mef>", "line 2: unknown variable 'X'"),
    ("<opsa-mef><define-gate name='G'><event name='A'/></define-gate>\n<define-gate name='G'><event name='A'/></define-gate>"
     "</opsa-mef>", "line 2: 'G' is defined twice"),
    ("<opsa-mef><define-gate name='G'><atleast min='x'><event name='A'/></atleast></define-gate></opsa-mef>", "min="),
    ("<opsa-mef><define-gate name='G'><gate name='G'/></define-gate></opsa-mef>", "cyclic: G -> G")])
def test_open_psa_errors_and_hostile_files(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CausalError) as caught:
        read_model(write(tmp_path, "t.xml", text))
    assert said in str(caught.value)


YAML_BOMB = "a: &a [x, x, x, x]\nb: &b [*a, *a, *a]\nvariables: {A: {domain: *b}}\n"


@pytest.mark.parametrize(("text", "said"), [
    (YAML_BOMB, "line 2: aliases"), ("variables: !!python/object/apply:os.system ['touch hacked']", "line 1"),
    ("variables:\n  A: {}\n  A: {}\n", "line 3: 'A' is given twice"), ("[" * 20_000, "nested"), ("variables: {A: [}", "line 1"),
    ("variables: 3", "variables"), ("variables:\n  1: {}\n", "name 1")])
def test_yaml_errors_and_hostile_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CausalError) as caught:
        read_model(write(tmp_path, "m.yaml", text))
    assert said in str(caught.value)
    assert not (tmp_path / "hacked").exists()


def test_a_table_too_large_is_refused_before_it_is_built(tmp_path: Path) -> None:
    names = [f"P{i}" for i in range(40)]
    variables = ", ".join(f'"{n}": {{}}' for n in names)
    listed = ", ".join(f'"{n}"' for n in names)
    path = write(tmp_path, "m.json", f'{{"variables": {{{variables}, "BIG": {{"parents": [{listed}], "table": []}}}}}}')
    with pytest.raises(CausalError, match=f"table of BIG would have {2**40} rows"):
        read_model(path)


BIF = """network unknown {{ property made by hand ; }}
variable Rain {{ type discrete [ 2 ] {{ yes, no }}; }}
variable Wet {{
  type discrete [ 3 ] {{ dry, damp, wet }}; // states
}}
variable Fixed {{ type discrete [ 2 ] {{ on, off }}; }}
probability ( Rain ) {{ table {rain}; }}
probability ( Fixed ) {{ table 0.0, 1.0; }}
probability ( Wet | Rain, Fixed ) {{
  (yes, on) {row};
  (yes, off) 0, 1, 0;
  default 1.0, 0.0, 0.0;
}}
"""


def test_bif(tmp_path: Path) -> None:
    model = read_model(write(tmp_path, "m.bif", BIF.format(rain="0.2, 0.8", row="0, 0, 1")))
    assert model.inputs == ("Rain",)
    assert model.evaluate({"Rain": "yes"}) == {"Rain": "yes", "Fixed": "off", "Wet": "damp"}
    assert model.evaluate({"Rain": "yes"}, {"Fixed": "on"})["Wet"] == "wet"
    assert model.evaluate({"Rain": "no"})["Wet"] == "dry"


@pytest.mark.parametrize(("rain", "row", "kind", "said"), [
    ("0.2, 0.8", "0.5, 0.5, 0", NonDeterministic, "'Wet'"), ("0.2, 0.7", "0, 0, 1", CausalError, "'Rain' sum to"),
    ("0.2", "0, 0, 1", CausalError, "'Rain' needs 2"), ("0.2, 0.8", "0, x, 1", CausalError, "line 10")])
def test_bif_refuses_by_name(tmp_path: Path, rain: str, row: str, kind: type[CausalError], said: str) -> None:
    with pytest.raises(kind) as caught:
        read_model(write(tmp_path, "m.bif", BIF.format(rain=rain, row=row)))
    assert said in str(caught.value)
    if kind is NonDeterministic:
        assert caught.value.node == "Wet"


def test_bif_unknown_parent_and_unfinished_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownVariable, match="Sun"):
        read_model(write(tmp_path, "m.bif", "probability ( Sun ) { table 1, 0; }"))
    with pytest.raises(CausalError, match="the file ends"):
        read_model(write(tmp_path, "m.bif", "variable A { type discrete [ 2 ] { a, b };"))


def test_other_endings_and_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CausalError, match=r"m\.doc"):
        read_model(tmp_path / "m.doc")
    (tmp_path / "m.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CausalError, match="UTF-8"):
        read_model(tmp_path / "m.json")

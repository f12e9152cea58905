"""`refutable causes`: numbers, words, drawings, and wrong use told on stderr with exit code 2."""
from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from causal import check_certificate
from proofs_checks.harness.cli import main

ROCK = "targets, factors\nST, ST\nBT, BT\nSH, ST\nBH, BT & !SH\nBS, SH | BH\n"


@pytest.fixture
def rock(tmp_path: Path) -> str:
    path = tmp_path / "rock.bnet"
    path.write_text(ROCK, encoding="utf-8")
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["causes", *arguments])


def test_words_count_list_and_json(rock: str) -> None:
    given = (rock, "--context", "ST=1,BT=1", "--effect", "BS=1")
    told = run(*given)
    assert told.exit_code == 0
    assert "3 actual cause(s), all of them" in told.output
    assert "had ST been 0, with BH held at 0 as it was" in told.output
    assert run(*given, "--count").output.strip() == "3"
    assert run(*given, "--exclude", "gates", "--list").output.split() == ["ST"]
    assert sorted(run(*given, "--list", "--candidates", "ST,SH").output.split()) == ["SH", "ST"]
    data = json.loads(run(*given, "--json").output)
    assert (data["count"], data["complete"]) == (3, True)
    assert {"variables": ["ST"], "witness": {"ST": 0}, "contingency": {"BH": 0}} in data["causes"]
    assert run(rock, "--others", "1", "--effect", "BS=1", "--count").output.strip() == "3"


def test_count_as_json_lists_nothing(rock: str) -> None:
    data = json.loads(run(rock, "--others", "1", "--effect", "BS=1", "--count", "--json").output)
    assert data == {"count": 3, "complete": True, "complete_up_to": 5, "engine": data["engine"], "min_size": 1,
                    "sizes": {"1": 3}, "participation": {"ST": 1, "SH": 1, "BS": 1}}


def test_a_count_longer_than_python_prints_by_default_is_printed(tmp_path: Path) -> None:
    path, n, most = tmp_path / "tree.bnet", 2**12, sys.get_int_max_str_digits()
    lines = [f"N{i}, N{2 * i} | N{2 * i + 1}" if i < n else f"N{i}, N{i}" for i in range(1, 2 * n)]
    path.write_text("\n".join(["targets, factors", *lines]), encoding="utf-8")
    try:
        sys.set_int_max_str_digits(640)  # the least that can be set
        counted = run(str(path), "--others", "1", "--effect", "N1=1", "--count")
        assert sys.get_int_max_str_digits() == 640
    finally:
        sys.set_int_max_str_digits(most)
    assert counted.exit_code == 0, counted.output
    assert len(counted.output.strip()) == 725


def test_the_effect_itself_is_named_as_a_trivial_cause_and_can_be_left_out(rock: str) -> None:
    told = run(rock, "--others", "1", "--effect", "BS=1").output
    assert "(BS: the effect's own variables count as its causes" in told
    assert "--exclude effect" in told
    left = run(rock, "--others", "1", "--effect", "BS=1", "--list", "--exclude", "effect").output.split()
    assert sorted(left) == ["SH", "ST"]
    assert "own variables" not in run(rock, "--others", "1", "--effect", "BS=1", "--exclude", "gates").output


def test_a_cut_list_says_what_is_known(rock: str) -> None:
    cut = run(rock, "--context", "ST=1,BT=1", "--effect", "BS=1", "--limit", "1")
    assert cut.exit_code == 0
    assert "1 actual cause(s) found" in cut.output
    assert "all of them" not in cut.output


def test_a_context_file_gives_each_name_once(rock: str, tmp_path: Path) -> None:
    context = tmp_path / "context.json"
    context.write_text('{"ST": 1, "BT": 1, "ST": 0}', encoding="utf-8")
    result = run(rock, "--context", str(context), "--effect", "BS=1")
    assert (result.exit_code, result.stdout) == (2, "") and "'ST' is given twice" in result.stderr


def test_drawings_and_certificate(rock: str, tmp_path: Path) -> None:
    dot, svg, proof = (tmp_path / f"rock.{e}" for e in ("dot", "svg", "json"))
    done = run(rock, "--context", "ST=1,BT=1", "--effect", "BS=1", "--exclude", "gates", "--dot", str(dot), "--svg", str(svg),
               "--certificate", str(proof))
    assert done.exit_code == 0, done.output
    text = dot.read_text(encoding="utf-8")
    assert text.startswith("digraph")
    assert '"ST" -> "SH";' in text
    assert "ST = 1 -> 0" in text
    assert "BH = 0 (held)" in text
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert check_certificate(json.loads(proof.read_text(encoding="utf-8")))


def test_drawings_are_the_same_bytes_every_time(rock: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.svg" for i in range(2)]
    for path in paths:
        assert run(rock, "--others", "1", "--effect", "BS=1", "--svg", str(path)).exit_code == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_the_project_checker_reads_causal_certificates(rock: str, tmp_path: Path) -> None:
    from proofs_checks.harness.certificate import claim_hash
    from proofs_checks.harness.checkers import causes
    from proofs_checks.harness.recheck import CertificateError

    proof = tmp_path / "proof.json"
    assert run(rock, "--others", "1", "--effect", "BS=1", "--certificate", str(proof)).exit_code == 0
    found = json.loads(proof.read_text(encoding="utf-8"))
    assert found["kind"] == "causes"
    assert found["claim_hash"] == claim_hash("", "", found["statement"], found["subjects"])
    assert "line by line" in causes.check(found)
    found["causes"].pop()
    with pytest.raises(CertificateError, match="statement"):
        causes.check(found)


@pytest.mark.parametrize(("arguments", "said"), [
    (("--effect", "BS=1"), "context: no value for ST, BT"), (("--context", "ST=1,BT=1", "--effect", "BS=0"), "BS=1"),
    (("--context", "XX=1", "--effect", "BS=1"), "XX"), (("--context", "ST=2,BT=1", "--effect", "BS=1"), "'2'"),
    (("--context", "ST=1,BT=1", "--effect", "QQ=1"), "QQ"), (("--context", "none.json", "--effect", "BS=1"), "none.json"),
    (("--context", "ST=1,BT=1", "--effect", "BS=1", "--engine", "magic"), "magic"),
    (("--context", "ST=1,=1", "--effect", "BS=1"), "NAME=VALUE"),
    (("--context", "ST=1,BT=1", "--context", "ST=0", "--effect", "BS=1"), "ST is given as 1 and as 0"),
    (("--others", "1", "--effect", "BS &"), "effect: something is missing at the end, column 5 of the expression 'BS &'"),
    (("--others", "1", "--effect", "BS=1", "--definition", "original", "--certificate", "none.json"), "--certificate"),
    (("--others", "1", "--effect", "BS=1", "--limit", "1", "--certificate", "none.json"), "nothing to certify")])
def test_wrong_use_is_exit_code_two_in_one_line(rock: str, arguments: tuple[str, ...], said: str) -> None:
    result = run(rock, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not result.stdout


def test_a_list_in_json_is_one_cause_a_line(rock: str) -> None:
    given = (rock, "--others", "1", "--effect", "BS=1", "--list", "--json")
    told = [json.loads(line) for line in run(*given).stdout.splitlines()]
    assert sorted(cause["variables"] for cause in told) == [["BS"], ["SH"], ["ST"]]
    assert {"variables": ["ST"], "witness": {"ST": 0}, "contingency": {"BH": 0}} in told
    cut = run(*given, "--limit", "1")
    assert len(cut.stdout.splitlines()) == 1
    assert "1 actual cause(s) found" in cut.stderr


def test_an_unreadable_model_is_named(tmp_path: Path) -> None:
    assert run(str(tmp_path / "none.bnet"), "--effect", "A=1").exit_code == 2
    bad = tmp_path / "bad.bnet"
    bad.write_text("A, B\nA, C\n", encoding="utf-8")
    result = run(str(bad), "--effect", "A=1")
    assert result.exit_code == 2
    assert "line 2" in result.stderr

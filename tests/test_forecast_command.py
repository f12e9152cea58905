"""`refutable forecast` on tables of scores."""
from __future__ import annotations

import math
import re

import numpy as np
import pytest
from click.testing import CliRunner

from proofs_checks.harness.commands.forecast import command, read_scores
from theory import failure_forecast as thy


def scores(n):
    """p of n queries with an exponential tail in psi."""
    return np.exp(-np.exp(1 - np.random.default_rng(0).exponential(size=n)))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("query,p\n" + "".join(f"q{i},{p!r}\n" for i, p in enumerate(map(float, scores(400)))), encoding="utf-8")
    return path


def run(path, *options):
    return CliRunner().invoke(command, [str(path), "--deployment", "1e5", *options])


def test_the_command_prints_everything(table, tmp_path):
    done = run(table, "--plot", str(tmp_path / "fit.svg"))
    assert done.exit_code == 0, done.output
    p = scores(400)
    assert f"{thy.forecast_score(p, 1e5):.4f}" in done.output and f"{thy.bias(10, 400, 1e5):.5f}" in done.output
    found = thy.debiased_score(p, 1e5)
    assert all(f"{v:.4f}" in done.output for v in found)
    assert "tail " in done.output and thy.tail_shape(p).shape in done.output and "not visible" in done.output
    assert (tmp_path / "fit.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.parametrize(("options", "level", "words"), [((), 0.95, "95%"), (("--level", "0.8"), 0.8, "80%")])
def test_one_confidence_is_used_and_printed_throughout(table, options, level, words):
    done = run(table, *options)
    assert set(re.findall(r"[0-9.]+%", done.output)) == {words}
    unseen = float(re.search(r"a share of up to (\S+)", done.output)[1])
    assert (1 - unseen) ** 400 == pytest.approx(1 - level, rel=0.01)
    assert thy.missed_mode(400, 1e5, 0.0).unseen_mass == pytest.approx(1 - 0.05 ** (1 / 400), rel=1e-9)


def test_the_two_estimators_are_told_apart(table):
    """The debiased forecast is not the forecast less its bias, and the output says so, a line each."""
    lines = run(table).output.splitlines()
    psi = {line.split("  ")[0]: float(line.split("(psi ")[1].rstrip(")")) for line in lines if line.count("(psi ") == 1
           and " to " not in line}
    bias = float(next(line for line in lines if line.startswith("its known bias")).split()[3])
    assert abs(psi["forecast"] - bias - psi["debiased forecast"]) > 1e-3
    assert "do not subtract it" in lines[3] and "the one to use" in lines[5] and "not the forecast less its bias" in lines[5]


@pytest.mark.parametrize(("k", "words"), [("2", "from 1 spacing,"), ("4", "from 3 spacings,"), ("5", None)])
def test_limits_that_rest_on_few_spacings_are_warned_of(table, k, words):
    said = [line for line in run(table, "--k", k).output.splitlines() if line.startswith(f"warning             k = {k}: ")]
    assert len(said) == (words is not None) and all(words in line for line in said)


def test_the_same_numbers_from_log_p(table, tmp_path):
    other = tmp_path / "logs.csv"
    other.write_text("log_p\n" + "".join(f"{math.log(p)!r}\n" for p in scores(400)), encoding="utf-8")
    assert run(other).output == run(table).output


def test_warnings(tmp_path):
    rng = np.random.default_rng(1)
    heavy = tmp_path / "heavy.csv"
    log_p = -np.exp(-np.minimum(np.abs(rng.standard_cauchy(2000)), 700.0))
    heavy.write_text("log_p\n" + "\n".join(map(repr, log_p.tolist())), encoding="utf-8")
    done = CliRunner().invoke(command, [str(heavy), "--deployment", "1e9"])
    assert done.exit_code == 0 and "heavier than exponential" in done.output and "extrapolation over 5e+05" in done.output
    few = tmp_path / "few.csv"
    few.write_text("p\n0.5\n0.5\n0.25\n0.1\n", encoding="utf-8")
    done = CliRunner().invoke(command, [str(few), "--deployment", "3", "--k", "3"])
    assert all(words in done.output for words in ("ties among the 3", "smaller than the evaluation", "too few scores"))


@pytest.mark.parametrize(("text", "options", "words"), [
    ("p\n0.5\n1.0\n", (), ("line 3", "p = 1.0", "log_p")), ("p\n0.5\n0\n", (), ("line 3", "p = 0")),
    ("p\n0.5\nnan\n", (), ("line 3", "nan")), ("p\n0.5\nx\n", (), ("line 3", "'x'")),
    ("log_p\n-1\n0.2\n", (), ("line 3", "0.2")), ("q\n0.5\n", (), ("line 1", "p or log_p")),
    ("p,log_p\n0.5,-1\n", (), ("both",)), ("", (), ("empty",)), ("p\n", (), ("no row",)),
    ("p\n0.5,2\n", (), ("line 2", "2 fields")), ("p\n0.5\n0.2\n", (), ("k=10", "n=2")),
    ("p\n0.5\n0.5\n", ("--k", "2"), ("equal",)), ("p\n0.5\n0.2\n", ("--k", "1"), ("k=1",)),
    ("p\n0.5\n0.2\n", ("--k", "2", "--level", "2"), ("level=2.0",)),
    ("p\n0.5\n0.2\n", ("--k", "2", "--plot", "x.txt"), ("x.txt", ".svg"))])
def test_a_table_that_cannot_be_used(tmp_path, text, options, words):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    done = run(path, *options)
    assert done.exit_code == 2 and all(word in done.stderr for word in words), done.stderr
    assert done.stderr.count("\n") == 1 and ("t.csv" in done.stderr or "--plot" in done.stderr)


def test_a_missing_file_and_a_bad_deployment(table):
    assert run("nowhere.csv").exit_code == 2 and "nowhere.csv" in run("nowhere.csv").stderr
    done = CliRunner().invoke(command, [str(table), "--deployment", "0"])
    assert done.exit_code == 2 and "deployment=0.0" in done.stderr


def test_tables_of_other_programs():
    found = read_scores("\ufeffname;log_p\r\n\"a;b\";-1.5\r\n\r\nc;-2\r\n", "t")
    assert found.log_p == [-1.5, -2.0] and found.lines == [2, 4] and found.blank == [3]


@pytest.mark.parametrize("text", [
    "\n\nquery;p\n1;0.5\n2;0.25\n", '"a, b";p\n"x, y";0.5\n"z";0.25\n', 'id;p\r"a, b";0.5\rc;0.25\r', "\tp\n0\t0.5\n1\t0.25\n",
    'id, "p"\n1, "0.5"\n2, "0.25"\n', 'size 5",p\n1,0.5\n2,0.25\n', "text,p\n" + "x" * 200_000 + ",0.5\ny,0.25\n"])
def test_separators_quotes_and_long_cells(text):
    assert read_scores(text, "t").log_p == [math.log(0.5), math.log(0.25)]


def test_a_blank_line_between_scores_is_reported(table, tmp_path):
    rows = table.read_text(encoding="utf-8").splitlines()
    other = tmp_path / "gap.csv"
    other.write_text("\n".join([*rows[:5], "", *rows[5:], "", ""]), encoding="utf-8")
    assert "1 blank line among the scores, the first at line 6" in run(other).output
    other.write_text("\n".join([*rows, "", ""]), encoding="utf-8")  # at the end of the file: no row of a score
    assert "blank" not in run(other).output


@pytest.mark.parametrize("size", ["10", "1e5"])
def test_the_bias_is_said_in_its_direction(table, size):
    """-log p of the forecast is the truth's times exp(-bias)."""
    done = CliRunner().invoke(command, [str(table), "--deployment", size])
    said = re.search(r"its known bias +(\S+) in psi .* -log p is too (small|large) by a factor (\S+)", done.output)
    bias, factor = float(said[1]), float(said[3])
    assert said[2] == ("small" if bias > 0 else "large") and (bias > 0) == (size == "1e5")
    assert factor == pytest.approx(math.exp(abs(bias)), rel=1e-3)


def test_the_limits_say_what_they_rest_on(table):
    lines = run(table).output.splitlines()
    where = next(i for i, line in enumerate(lines) if " limits " in line)
    assert "if the tail is exponential" in lines[where + 1]

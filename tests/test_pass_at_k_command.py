"""`refutable pass-at-k` on result tables."""
from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from click.testing import CliRunner

from proofs_checks.harness.commands.pass_at_k import TableError, command, read_counts

COUNTS = "task,n,c\nHumanEval/0,20,3\nHumanEval/1,10,0\n\"x, y\",12,12\n"
RESULTS = (("HumanEval/0", 20, 3), ("HumanEval/1", 10, 0), ("x, y", 12, 12))


def rho(n, c, k):
    return 1 - Fraction(comb(n - c, k), comb(n, k))


def samples():
    """The same results, one row a sample, shuffled, spelled in several ways, with an extra column."""
    rows = [f'{i},"{task}",{("TRUE", "1", "true")[i % 3] if i < c else ("false", "0", "False")[i % 3]}'
            for task, n, c in RESULTS for i in range(n)]
    return "\r\n".join(["\ufeffsample,Task, passed ", *(rows[i] for i in np.random.default_rng(1).permutation(len(rows)))])


def run(tmp_path, text, *options):
    path = tmp_path / "results.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return CliRunner().invoke(command, [str(path), *options])


def table(output):
    rows = [line.removesuffix("  *").split() for line in output.splitlines() if line.split()[0].isdigit()]
    return {int(k): tuple(map(float, rest)) for k, *rest in rows}


def test_both_layouts_give_the_same_exact_numbers(tmp_path):
    first, second = run(tmp_path, COUNTS), run(tmp_path, samples())
    assert first.exit_code == second.exit_code == 0 and first.stderr == ""
    assert table(first.output) == table(second.output)
    for k, (mean, lower, upper) in table(first.output).items():
        assert mean == pytest.approx(float(sum(rho(n, c, k) for _, n, c in RESULTS) / 3), abs=1e-6)
        assert 0 <= lower <= mean <= upper <= 1
    assert list(table(first.output)) == [1, 2, 4, 8]


def test_rows_of_another_interval_are_marked_and_the_method_is_said(tmp_path):
    mixed = run(tmp_path, "task,n,c\na,3,1\nb,3,2\n", "--k", "1,3").output.splitlines()
    assert not mixed[2].endswith("*") and mixed[3].split()[1] == "1.000000" and mixed[3].endswith("  *")
    assert mixed[4:] == ["interval: Student's t over tasks, cut to [0, 1]",
                         "* interval: Wilson's, for tasks that all agree at this k, where Student's t would be a point"]
    one = run(tmp_path, "task,n,c\na,8,4\n", "--k", "1,2").output.splitlines()
    assert all(line.endswith("  *") for line in one[2:4]) and one[4:] == [
        "* interval: Wilson's, for one task, where Student's t would be a point"]
    plain = run(tmp_path, COUNTS).output
    assert "*" not in plain and plain.endswith("interval: Student's t over tasks, cut to [0, 1]\n")


def test_k_is_taken_in_the_order_given(tmp_path):
    assert list(table(run(tmp_path, COUNTS, "--k", "10, 1,3,1").output)) == [10, 1, 3]


def test_a_large_table_stays_stable(tmp_path):
    text = "task,n,c\n" + "\n".join(f"t{i},2000,{i % 5}" for i in range(50))
    found = table(run(tmp_path, text, "--k", "1000").output)
    assert found[1000][0] == pytest.approx(float(sum(rho(2000, c, 1000) for c in range(5)) / 5), abs=1e-6)


@pytest.mark.parametrize("text", [COUNTS.replace(",", ";").replace("x; y", "x, y"), COUNTS.replace(",", "\t"),
                                  COUNTS.replace("20,3", "20.0,3.0"), "\n\n" + COUNTS + "\n\n", COUNTS.replace("\n", "\r\n")])
def test_ways_to_write_a_table(tmp_path, text):
    assert table(run(tmp_path, text).output) == table(run(tmp_path, COUNTS).output)


def test_names_of_tasks_may_hold_line_breaks():
    counts = read_counts('task,n,c\n"two\nlines",4,1\nb,4,2\n', "t")
    assert [(t.task, t.line) for t in counts] == [("two\nlines", 2), ("b", 4)]


@pytest.mark.parametrize(("text", "options", "words"), [
    (COUNTS, ("--k", "1,11"), ("line 3", "HumanEval/1", "n = 10", "k = 11")),
    ("task,passed\na,1\nb,0\nb,0\n", ("--k", "2"), ("line 2", "task a", "n = 1", "k = 2")),
    ("task,n,c\na,5,6\n", (), ("line 2", "task a", "c = 6", "n = 5")),
    ("task,n,c\na,5,2\nb,5,2\na,5,2\n", (), ("line 4", "task a", "line 2")),
    ("task,n,c\na,5,two\n", (), ("line 2", "task a", "'two'")), ("task,n,c\na,5,\n", (), ("line 2", "c = ''")),
    ("task,n,c\na,5,2.5\n", (), ("line 2", "2.5")), ("task,n,c\na,-5,2\n", (), ("line 2", "-5")),
    ("task,n,c\na,nan,2\n", (), ("line 2", "nan")), ("task,n,c\na,1_0,2\n", (), ("line 2", "1_0")),
    ("task,n,c\na,0,0\n", (), ("line 2", "n = 0")), ("task,n,c\n,5,2\n", (), ("line 2", "task is empty")),
    ("task,n,c\na,5\n", (), ("line 2", "2 fields", "3")), ("task,passed\na,maybe\n", (), ("line 2", "task a", "'maybe'")),
    ("", (), ("empty",)), ("\n\n", (), ("empty",)), ("task,n,c\n", (), ("no row",)), ("task,passed\n\n", (), ("no row",)),
    ("name,score\na,1\n", (), ("line 1", "task,n,c", "name, score")), ("task,n,c,passed\na,5,2,1\n", (), ("line 1", "keep")),
    ("task,n,n,c\na,5,5,2\n", (), ("column n", "twice")), ('task,n,c\n"a,5,2\n', (), ("not CSV",)),
    (b"task,n,c\na,5,2\n\xff\xfe,5,2\n", (), ("line 3", "UTF-8")),
    (COUNTS, ("--k", "0"), ("--k 0",)), (COUNTS, ("--k", "1,x"), ("'x'",)), (COUNTS, ("--k", ""), ("--k",)),
    (COUNTS, ("--k", "-3"), ("'-3'",)), (COUNTS, ("--k", "2.5"), ("'2.5'",))])
def test_one_plain_line_says_what_is_wrong(tmp_path, text, options, words):
    found = run(tmp_path, text, *options)
    assert found.exit_code == 2 and found.stdout == ""
    assert found.stderr.count("\n") == 1 and "Traceback" not in found.stderr
    assert all(word in found.stderr for word in words), found.stderr


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        found = CliRunner().invoke(command, [str(path)])
        assert found.exit_code == 2 and str(path) in found.stderr and found.stderr.count("\n") == 1


def test_standard_input_and_help():
    assert table(CliRunner().invoke(command, ["-"], input=COUNTS).output)[1][0] == pytest.approx((3 / 20 + 1) / 3, abs=1e-6)
    text = CliRunner().invoke(command, ["--help"]).output
    assert "Student's t over tasks" in text and "Wilson" in text
    with pytest.raises(TableError, match="no row"):
        read_counts("task,n,c", "t")

"""The pytest plugin from the outside: ids, selection, failures that explain themselves, complete and partial reports."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

MODULE = '''
from fractions import Fraction
from proofs_checks.engines import exhaustive
from proofs_checks.harness.judge import evidence
from theory.claim import Claim, Paper, Source, Standing

PAPER = Paper(slug="mine", title="Mine", arxiv=None, topics=(), read="abstract")
square = Claim(id="mine.square", paper=PAPER, statement=r"x^2 \\ge x \\text{ for integers}", source=Source.PUBLIC,
               standing=Standing.HOLDS, form=lambda x: x * x,
               mutants={"cube": lambda x: x ** 3, "half": lambda x: Fraction(x * x, 2)})

@evidence(square)
def square_checks(power):
    yield exhaustive.forall([(i,) for i in range(-5, 6)], lambda x: power(x) >= x)
'''


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    command = [sys.executable, "-m", "pytest", "-p", "proofs_checks.harness.plugin", "-p", "no:cacheprovider", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=env, check=False)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(MODULE)
    return tmp_path


def test_a_users_module_is_collected_by_name(mine: Path):
    done = run(mine, "mine.py", "-v")
    assert done.returncode == 0, done.stdout
    for variant in ("claim", "cube", "half"):
        assert f"mine.py::square[{variant}] PASSED" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("mine.square"))
    assert row.split()[:5] == ["mine.square", "green", "EXHAUSTIVE", "2/2", "refuted"]
    partial = json.loads((mine / "build" / "partial.json").read_text())
    assert not partial["complete"] and not (mine / "build" / "report.json").exists()


@pytest.mark.parametrize(("args", "count"), [(("-k", "mine.square"), 3), (("-k", "cube"), 1), (("mine.py::square[half]",), 1),
                                             (("-k", "nothing"), 0)])
def test_variants_can_be_selected(mine: Path, args: tuple[str, ...], count: int):
    target = () if "::" in args[0] else ("mine.py",)
    done = run(mine, *target, *args)
    assert f"{count} passed" in done.stdout or (count == 0 and "3 deselected" in done.stdout), done.stdout


def test_a_failure_says_what_was_stated_found_and_how_to_see_it_again(mine: Path):
    (mine / "mine.py").write_text(MODULE.replace("form=lambda x: x * x,", "form=lambda x: x * x - 1,"))
    done = run(mine, "mine.py")
    assert done.returncode == 1
    for text in ("mine.square [claim]  expected to hold", r"claim    x^2 \ge x", "not judged: the claim itself fails",
                 "EXHAUSTIVE  exhaustive refuted: fails at x = 0: -1 >= 0 is false", "form     lambda x: x * x - 1",
                 "why      refutable check mine.square --module mine.py --variant claim",
                 "again    refutable check mine.square --module mine.py --variant claim",
                 "FAILED mine.py::square[claim] - fails at x = 0\n",
                 "FAILED mine.py::square[half] - not judged: the claim itself fails\n"):
        assert text in done.stdout, done.stdout
    assert "Traceback" not in done.stdout


def test_last_failed_runs_the_failed_variant_again(mine: Path):
    (mine / "mine.py").write_text(MODULE.replace('"half"', '"same": lambda x: x * x + 0, "half"'))
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{mine}"}
    command = [sys.executable, "-m", "pytest", "-p", "proofs_checks.harness.plugin", "mine.py"]
    first = subprocess.run(command, cwd=mine, capture_output=True, text=True, env=env, check=False)
    again = subprocess.run([*command, "--lf"], cwd=mine, capture_output=True, text=True, env=env, check=False)
    assert "1 failed, 3 passed" in first.stdout and "SURVIVED" in first.stdout
    assert "1 failed" in again.stdout and "passed" not in again.stdout.splitlines()[-1]


def test_claims_are_judged_where_no_report_can_be_written(mine: Path):
    (mine / "build").write_text("a file where the folder of the report would be")
    done = run(mine, "mine.py")
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout
    assert "1 of 1 claims green" in done.stdout and "no report: " in done.stdout and "Traceback" not in done.stdout


def test_workers_report_the_same(mine: Path):
    serial, parallel = run(mine, "mine.py"), None
    before = json.loads((mine / "build" / "partial.json").read_text())
    parallel = run(mine, "mine.py", "-n", "2", "--dist", "loadfile")
    after = json.loads((mine / "build" / "partial.json").read_text())
    assert serial.returncode == parallel.returncode == 0

    def timeless(data):
        if isinstance(data, dict):
            return {k: timeless(v) for k, v in data.items() if k != "seconds"}
        return [timeless(v) for v in data] if isinstance(data, list) else data

    assert timeless(before) == timeless(after)


def test_a_file_that_failed_need_not_be_named_again(mine: Path):
    """Bare `pytest` does not collect mine.py; `pytest --lf` does once it failed, and that one item only."""
    (mine / "mine.py").write_text(MODULE.replace('"half"', '"same": lambda x: x * x + 0, "half"'))
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{mine}"}

    def pytest_(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "pytest", "-p", "proofs_checks.harness.plugin", *args], cwd=mine,
                              capture_output=True, text=True, env=env, check=False)

    assert "no tests ran" in pytest_().stdout and "1 failed, 3 passed" in pytest_("mine.py").stdout
    again = pytest_("--lf").stdout
    assert "FAILED mine.py::square[same] - SURVIVED: nothing refutes it\n" in again and "1 failed in" in again


@pytest.mark.parametrize("args", [("test_mine.py",), ()])
def test_claims_of_test_modules_are_judged_beside_their_tests(mine: Path, args: tuple[str, ...]):
    (mine / "test_mine.py").write_text(MODULE + "\ndef test_it():\n    assert square\n")
    done = run(mine, *args)
    assert "4 passed" in done.stdout and "mine.square  green" in done.stdout


def test_a_conftest_can_keep_claims_private(mine: Path):
    """As the product's own tests do, whose claims are red on purpose."""
    (mine / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (mine / "test_mine.py").write_text(MODULE + ALONE + "\ndef test_it():\n    assert square\n")
    assert "1 passed" in run(mine, "test_mine.py").stdout


ALONE = '''
alone = Claim(id="mine.alone", paper=PAPER, statement="1", source=Source.PUBLIC, standing=Standing.HOLDS,
              form=lambda x: x, mutants={"one": lambda x: 1, "two": lambda x: 2})
again = alone
'''


def test_a_claim_without_evidence_fails_by_name(mine: Path):
    (mine / "mine.py").write_text(MODULE + ALONE)
    done = run(mine, "mine.py")
    assert done.returncode == 1 and "1 failed, 3 passed" in done.stdout
    assert "FAILED mine.py::alone[unjudged] - no evidence is registered\n" in done.stdout
    assert "decorated with @evidence(alone)" in done.stdout and "mine.alone   RED" in done.stdout
    assert "no evidence" not in run(mine, "mine.py", "-k", "square").stdout


def test_a_run_over_the_error_budget_fails_though_every_item_passes(mine: Path):
    many = ("    for _ in range(334):\n        yield sequential.mean_within(\n"
            "            lambda key, n: np.random.default_rng(key).integers(0, 2, n),\n"
            "            Fraction(1, 2) if power(3) == 9 else 2, tol=0.4)\n    yield exhaustive")
    text = MODULE.replace("    yield exhaustive", many).replace("import exhaustive", "import exhaustive, sequential")
    (mine / "mine.py").write_text("import numpy as np\n" + text)
    done = run(mine, "mine.py")
    assert "3 passed" in done.stdout and done.returncode == 1
    assert "not green: the suite spends error 1.0e-03, more than 1e-03" in done.stdout


def test_claims_in_a_list_and_evidence_without_a_name_are_judged(mine: Path):
    """No name of the module stands for the procedure of `square`, nor for a single claim of `rest`."""
    (mine / "mine.py").write_text(MODULE + "kept = [square_checks]\ndel square_checks\n"
                                  "from dataclasses import replace\nrest = {'a': replace(square, id='mine.rest')}\n")
    done = run(mine, "mine.py", "-v")
    assert done.returncode == 1 and "mine.py::square[cube] PASSED" in done.stdout
    assert "mine.py::rest[unjudged] FAILED" in done.stdout


def test_evidence_in_another_module_of_the_run_counts(mine: Path):
    (mine / "mine.py").write_text(MODULE + ALONE)
    (mine / "more.py").write_text("from proofs_checks.engines import exhaustive\n"
                                  "from proofs_checks.harness.judge import evidence\nfrom mine import alone\n\n"
                                  "@evidence(alone)\ndef checks(f):\n"
                                  "    yield exhaustive.forall([(3,)], lambda x: f(x) == x)\n")
    done = run(mine, "mine.py", "more.py")
    assert done.returncode == 0 and "6 passed" in done.stdout
    assert "1 failed" in run(mine, "mine.py").stdout


def test_a_theory_module_named_alone_asks_for_nothing():
    done = subprocess.run([sys.executable, "-m", "pytest", "theory/actual_causes.py", "-q", "-p", "no:cacheprovider"], cwd=ROOT,
                          capture_output=True, text=True, check=False)
    assert "no tests ran" in done.stdout


def test_a_module_that_imports_evidence_does_not_judge_it_again(mine: Path):
    (mine / "other.py").write_text("from mine import square_checks\n")
    done = run(mine, "mine.py", "other.py")
    assert "3 passed" in done.stdout


def test_every_registered_claim_is_collected_once_and_nothing_else():
    done = subprocess.run([sys.executable, "-m", "pytest", "proofs_checks", "--collect-only", "-q", "-p", "no:cacheprovider"],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    collected = [line for line in done.stdout.splitlines() if "::" in line]
    code = ("from proofs_checks.harness.registry import registry\n"
            "for c in registry().values():\n    for v in c.variants():\n        print(f'{c.id}[{v}]')")
    wanted = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    names = [line.split("::")[0].removeprefix("proofs_checks/").split("/")[0].removesuffix(".py") + "." + line.split("::")[1]
             for line in collected]
    assert sorted(names) == sorted(wanted) and len(names) > 0

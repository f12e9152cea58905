"""The README is executed: its example of a claim, its functions, its table of papers."""
from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from proofs_checks.harness import papers

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def example() -> str:
    found = re.search(r"<!-- example: executed .*?-->\n```python\n(.*?)```", README, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("runner", ["pytest", "proofs_checks.harness.cli"])
@pytest.mark.parametrize(("edit", "code", "said"), [
    (lambda text: text, 0, "1 of 1 claims green"),
    (lambda text: text.replace("n**2 + 1})", "n * n})"), 1, "SURVIVED"),
    (lambda text: text.replace("form=lambda n: n**2", "form=lambda n: n**3"), 1, "expected to hold")])
def test_the_example_claim_runs_and_can_fail(tmp_path, edit, code, said, runner):
    (tmp_path / "my_claim.py").write_text(edit(example()))
    words = ["-p", "proofs_checks.harness.plugin"] if runner == "pytest" else ["check"]
    done = subprocess.run([sys.executable, "-m", runner, *words, "my_claim.py"], cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert done.returncode == code and said in done.stdout, done.stdout


def test_the_example_is_about_twenty_lines():
    assert len(example().strip().splitlines()) <= 24


def test_the_functions_give_what_the_readme_says():
    found = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert found.attempted >= 8 and found.failed == 0


def test_every_command_is_shown_with_options_that_it_has():
    from proofs_checks.harness.cli import COMMANDS, main

    shown: dict[str, set[str]] = {}
    for line in re.findall(r"(?m)^\$ (refutable .*)$", README) + re.findall(r"`(refutable [a-z-]+ [^`]*)`", README):
        words = shlex.split(line, comments=True)
        shown.setdefault(words[1], set()).update(w for w in words if w.startswith("--"))
    assert set(shown) - {"COMMAND"} == set(COMMANDS)
    for name, options in shown.items():
        command = main.get_command(click.Context(main), name)
        known = {"--help"} | {o for p in command.params for o in p.opts} if command else {"--help"}
        assert options <= known, f"refutable {name} has no {options - known}"


@pytest.mark.parametrize("command", re.findall(r"(?m)^- `(refutable check [^`]*)` judges one variant", README))
def test_the_command_for_a_variant_of_ones_own_claim_runs(tmp_path, command):
    (tmp_path / "my_claim.py").write_text(example())
    done = subprocess.run([sys.executable, "-m", "proofs_checks.harness.cli", *shlex.split(command)[1:]], cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "partial: 1 claim judged in part" in done.stdout


def test_bare_pytest_collects_the_file_with_the_setting_that_the_readme_gives(tmp_path):
    (tmp_path / "my_claim.py").write_text(example())
    setting = re.search(r"`(python_files = [^`]*)`", README)
    assert setting
    (tmp_path / "pyproject.toml").write_text(f"[tool.pytest.ini_options]\n{setting[1]}\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "proofs_checks.harness.plugin"], cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout


def test_the_slice_to_copy_stands_in_every_room():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    copied, other = re.findall(r"(?:small slice, |\()`(\w+)`", text)[:2]
    files = {room: list((ROOT / room).glob(f"{copied}*")) for room in ("theory", "simulations", "proofs_checks", "notebooks")}
    assert all(files.values()), files
    assert (ROOT / "proofs_checks" / f"{other}.py").is_file() and not list((ROOT / "simulations").glob(f"{other}*"))


def test_the_table_of_papers_is_the_generated_one():
    assert papers.replaced(README) == README, "run: python -m proofs_checks.harness.papers README.md"


def test_files_that_the_readme_names_exist():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links and not [link for link in links if not (ROOT / link).exists()]


def test_a_file_without_markers_is_refused():
    with pytest.raises(ValueError, match="needs the markers"):
        papers.replaced("nothing here")

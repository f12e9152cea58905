"""The README is executed: its example of a claim, its functions, its table of papers."""
from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proofs_checks.harness import papers

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def example() -> str:
    found = re.search(r"<!-- example: executed .*?-->\n```python\n(.*?)```", README, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize(("edit", "code", "said"), [
    (lambda text: text, 0, "3 passed"),
    (lambda text: text.replace("n**2 + 1})", "n * n})"), 1, "SURVIVED"),
    (lambda text: text.replace("form=lambda n: n**2", "form=lambda n: n**3"), 1, "expected to hold")])
def test_the_example_claim_runs_and_can_fail(tmp_path, edit, code, said):
    (tmp_path / "my_claim.py").write_text(edit(example()))
    done = subprocess.run([sys.executable, "-m", "pytest", "-p", "proofs_checks.harness.plugin", "my_claim.py"], cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert done.returncode == code and said in done.stdout, done.stdout


def test_the_example_is_about_twenty_lines():
    assert len(example().strip().splitlines()) <= 24


def test_the_functions_give_what_the_readme_says():
    found = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert found.attempted >= 8 and found.failed == 0


def test_the_table_of_papers_is_the_generated_one():
    assert papers.replaced(README) == README, "run: python -m proofs_checks.harness.papers README.md"


def test_files_that_the_readme_names_exist():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links and not [link for link in links if not (ROOT / link).exists()]


def test_a_file_without_markers_is_refused():
    with pytest.raises(ValueError, match="needs the markers"):
        papers.replaced("nothing here")

"""Every notebook runs from the first cell to the last, defines nothing, and is committed without outputs."""
from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code(book: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in book.cells if cell.cell_type == "code"]


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_committed_clean_and_defines_nothing(path):
    book = read(path)
    nbformat.validate(book)
    assert all(not cell.outputs and cell.execution_count is None for cell in code(book))
    for cell in code(book):
        python = "\n".join(line for line in cell.source.splitlines() if not line.startswith(("%", "!")))
        for node in ast.walk(ast.parse(python)):
            assert not isinstance(node, ast.FunctionDef | ast.ClassDef), f"{path.name} defines {node.name}"
    text = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown").lower()
    assert "unproved" in text, f"{path.name} must say what stays unproved"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's own libraries
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path):
    from nbclient import NotebookClient

    book = read(path)
    NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [output for cell in code(book) for output in cell.outputs]
    assert outputs and not [o for o in outputs if o.output_type == "error"]
    assert any("image/png" in o.get("data", {}) or "image/svg+xml" in o.get("data", {}) for o in outputs), "no figure"

"""`refutable figures` draws what is missing, edited, or of other sources, and nothing else."""
from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from proofs_checks.harness.cli import main
from proofs_checks.harness.commands import figures
from proofs_checks.harness.report_io import write_text


@pytest.fixture
def run(tmp_path, monkeypatch):
    drawn = []

    def draw(module, path):
        drawn.append(path.name)
        write_text(path, f"<svg>{module}</svg>")
        return path

    monkeypatch.setattr(figures, "draw", draw)
    monkeypatch.setattr(figures, "sources", lambda module: "as they are")

    def run(*options):
        drawn.clear()
        done = CliRunner().invoke(figures.command, ["pass_at_k", "window_length", "--out", str(tmp_path), *options])
        assert done.exit_code == 0, done.output
        return sorted(drawn), done.output

    return run


BOTH = ["pass_at_k.svg", "window_length.svg"]


def test_figures_are_drawn_once(run):
    assert run()[0] == BOTH
    again, output = run()
    assert again == [] and "2 of 2 figures" in output and "up to date" in output
    assert run("--fresh")[0] == BOTH


@pytest.mark.parametrize("damage", [
    lambda folder: (folder / "pass_at_k.svg").unlink(), lambda folder: (folder / "pass_at_k.svg").write_text("other"),
    lambda folder: (folder / figures.REMEMBERED).write_text(json.dumps(
        {**json.loads((folder / figures.REMEMBERED).read_text()), "pass_at_k.svg": None}))])
def test_what_is_missing_or_edited_is_drawn_again(run, tmp_path, damage):
    run()
    damage(tmp_path)
    assert run()[0] == ["pass_at_k.svg"]
    assert (tmp_path / "pass_at_k.svg").read_text() == "<svg>simulations.pass_at_k</svg>"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"pass_at_k.svg": 3}'])
def test_a_broken_memory_draws_everything(run, tmp_path, text):
    run()
    (tmp_path / figures.REMEMBERED).write_text(text)
    assert run()[0] == BOTH


def test_other_sources_draw_everything(run, monkeypatch):
    run()
    monkeypatch.setattr(figures, "sources", lambda module: "changed")
    assert run()[0] == BOTH


@pytest.mark.parametrize("command", [["check", "pass_at_k.gradient_weight"], ["figures", "pass_at_k"]])
def test_a_folder_that_cannot_be_made_is_wrong_use(tmp_path, command):
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(main, [*command, "--out", str(tmp_path / "file" / "x")])
    assert done.exit_code == 2 and "cannot be made a folder" in done.output, done.output

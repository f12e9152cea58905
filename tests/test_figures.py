"""The commands that draw: the same file each time, both kinds of figures, and names of what can be drawn."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from proofs_checks.harness.cli import main
from simulations.__main__ import main as simulations_main

ROOT = Path(__file__).resolve().parents[1]


def call(*args: object) -> Result:
    done = CliRunner().invoke(main, list(map(str, args)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_a_figure_is_the_same_file_each_time(tmp_path: Path):
    assert call("figures", "pass_at_k", "--out", tmp_path / "a").exit_code == 0
    assert simulations_main(["pass_at_k", "--out", str(tmp_path / "b")]) == 0
    one, two = ((tmp_path / folder / "pass_at_k.svg").read_bytes() for folder in "ab")
    assert call("figures", "pass_at_k", "--jobs", "2", "--out", tmp_path / "c").exit_code == 0
    assert one == two == (tmp_path / "c" / "pass_at_k.svg").read_bytes()
    assert one.startswith(b"<?xml") and b"<dc:date>" not in one
    assert sorted(p.name for p in tmp_path.rglob("*.svg*")) == ["pass_at_k.svg"] * 3


def test_both_kinds_of_figures_are_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from types import ModuleType

    from matplotlib.figure import Figure

    for room, slug in (("simulations", "one"), ("simulations", "both"), ("proofs_checks", "none"), ("proofs_checks", "two"),
                       ("proofs_checks", "both")):
        made = ModuleType(f"{room}.{slug}")
        if slug != "none":
            made.figure = lambda: Figure(figsize=(1, 1))
        monkeypatch.setitem(sys.modules, made.__name__, made)
    monkeypatch.setattr("simulations.__main__.slugs", lambda: ["one", "both"])
    monkeypatch.setattr("proofs_checks.harness.registry.slugs", lambda: ["two", "both", "none"])
    done = call("figures", "--out", tmp_path)
    assert done.exit_code == 0
    assert sorted(p.name for p in tmp_path.glob("*.svg")) == ["both.checks.svg", "both.svg", "one.svg", "two.svg"]
    assert len(done.stdout.splitlines()) == 4
    refused = call("figures", "none", "--out", tmp_path / "x")
    assert refused.exit_code == 2 and not (tmp_path / "x").exists()
    assert "no figure is called 'none'; figures: both, one, two" in refused.stderr


def test_unknown_figures_are_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    done = call("figures", "pass_at_k", "nope", "--out", tmp_path / "x")
    assert done.exit_code == 2 and "'nope'" in done.stderr and not (tmp_path / "x").exists()
    assert simulations_main(["nope", "--out", str(tmp_path / "x")]) == 2
    said = capsys.readouterr().err
    assert "'nope'" in said and not (tmp_path / "x").exists()
    for text in (done.stderr, said):  # what is offered can be drawn
        assert "window_length" in text and "exponents" not in text
    assert call("figures", "exponents").exit_code == 2 and simulations_main(["exponents"]) == 2


def test_what_is_said_to_have_a_figure_has_one():
    """By syntax as by import, and no simulator is loaded to find out."""
    import importlib
    import pkgutil

    import simulations
    from simulations.__main__ import slugs

    program = "import sys; from simulations.__main__ import slugs; print(*slugs(), 'jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    names = [m.name for m in pkgutil.iter_modules(simulations.__path__) if not m.name.startswith("_")]
    found = sorted(n for n in names if hasattr(importlib.import_module(f"simulations.{n}"), "figure"))
    assert done.stdout.split() == [*found, "False"] and slugs() == found and found


def test_the_simulators_draw_without_the_other_rooms(tmp_path: Path):
    program = ("import sys, simulations.__main__ as m; code = m.main(['pass_at_k', '--out', sys.argv[1]]);"
               "print(code, *({'theory', 'causal', 'proofs_checks', 'sympy', 'matplotlib.pyplot'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-W", "error", "-c", program, str(tmp_path)], capture_output=True, text=True,
                          cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)
    assert done.stdout.splitlines()[-1] == "0" and (tmp_path / "pass_at_k.svg").is_file()
    assert "prefer-no-gather" not in done.stderr

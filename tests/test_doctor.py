"""The canary can fail: by what jax computes and by its version; and `refutable doctor` says from where the rooms come."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proofs_checks.harness import doctor
from proofs_checks.harness.cli import main
from simulations._jax import jax, jnp

ROOT = Path(__file__).resolve().parents[1]

# two programs of the kinds that crash a process with the excluded releases (jax issues 40412 and 39257)
CRASHING = """
import numpy as np
from simulations._jax import jax, jnp
a = np.arange(3 * 2 * 2 * 8 * 8 * 8, dtype=np.float32).reshape(3, 1, 2, 2, 8, 8, 8) % 7
total = np.asarray(jax.jit(lambda u, v: jnp.sum(u * v, axis=3))(a, a + 1))
assert (total == (a * (a + 1)).sum(axis=3)).all()
b = np.ones((4, 2, 3, 5, 5, 5, 5, 5), np.float32)
spread = jax.jit(lambda u, v: jnp.sum(u[:, :, :, None, None, None, None, None] * v, axis=2))
assert (np.asarray(spread(2 * b[..., 0, 0, 0, 0, 0], b)) == 6).all()
print("sound")
"""


def test_the_canary_passes_here():
    found = doctor.canary()
    assert found == {"passed": True, "jax": jax.__version__, "backend": jax.default_backend(), "reason": ""}


def test_programs_that_crash_the_excluded_releases_run_here():
    done = subprocess.run([sys.executable, "-c", CRASHING], capture_output=True, text=True, cwd=ROOT, timeout=300, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0 and done.stdout.strip() == "sound", done.stderr


def test_wrong_rows_at_the_end_are_noticed(monkeypatch: pytest.MonkeyPatch):
    compiled = jax.jit

    def miscompiling(function: Any) -> Any:
        right = compiled(function)
        return lambda x: right(x).at[16_384:].multiply(jnp.asarray(0.5, x.dtype))  # what jax 0.10.2 does, in effect

    monkeypatch.setattr(jax, "jit", miscompiling)
    found = doctor.miscompiled()
    assert len(found) == 2 and "float64" in found[0] and "float32" in found[1]
    monkeypatch.setattr(doctor, "ROWS", 16_384)
    assert doctor.miscompiled() == []  # fewer rows would not have shown it


def test_one_wrong_row_is_enough(monkeypatch: pytest.MonkeyPatch):
    compiled = jax.jit
    monkeypatch.setattr(jax, "jit", lambda function: lambda x: compiled(function)(x).at[-1].add(jnp.asarray(1, x.dtype)))
    assert doctor.miscompiled()[0].startswith("1 of 40001 squared lengths")


def test_a_wrong_arctangent_is_noticed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jnp, "arctan", lambda x: x)  # the input passed through, as seen in jax issue 39352
    found = doctor.miscompiled()
    assert len(found) == 2 and all("arctangents are wrong" in line for line in found)


def test_the_canary_fails_when_jax_computes_wrongly(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jnp, "arctan", lambda x: x)
    found = doctor.canary.__wrapped__()
    assert not found["passed"] and "arctangents" in found["reason"] and found["jax"] == jax.__version__


def test_the_canary_fails_on_an_excluded_release_by_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jax, "__version__", "0.10.2")
    found = doctor.canary.__wrapped__()
    assert not found["passed"] and "jax 0.10.2 is excluded" in found["reason"]


def test_a_jax_that_does_not_start_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    def broken() -> str:
        raise RuntimeError("no backend")

    monkeypatch.setattr(jax, "default_backend", broken)
    found = doctor.canary.__wrapped__()
    assert not found["passed"] and found["reason"] == "RuntimeError: no backend"


@pytest.mark.parametrize("version", ["0.10.2", "0.11.0", "0.11.1", "0.11.2.dev1"])
@pytest.mark.parametrize("name", ["jax", "jaxlib"])
def test_excluded_releases(name: str, version: str):
    (line,) = doctor.excluded({name: version})
    assert line.startswith(f"{name} {version} is excluded")


@pytest.mark.parametrize("version", ["0.10.1", "0.12.0.1", "0.10.20", "0.9.2", "0.110.0", "1.0.11.0"])
def test_other_releases_are_not_excluded(version: str):
    assert doctor.excluded({"jax": version, "jaxlib": version}) == []


def test_the_report_of_a_sound_installation():
    done = CliRunner().invoke(main, ["doctor"])
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert done.exit_code == 0 and lines["canary"] == "passed"
    assert {room: Path(lines[room]) for room in doctor.ROOMS} == {room: ROOT / room for room in doctor.ROOMS}
    assert lines["jax"].startswith(jax.__version__) and f"jax {jax.__version__}" in lines["versions"]


def test_a_failed_canary_exits_1_with_the_reason(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor, "canary", lambda: {"passed": False, "jax": "0.11.0", "backend": "cpu", "reason": "wrong sums"})
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 1 and "canary: failed (wrong sums)" in done.stdout and "jax: 0.11.0" in done.stdout


def test_a_room_from_another_folder_is_not_sound(tmp_path: Path):
    shutil.copytree(ROOT / "theory", tmp_path / "theory", ignore=shutil.ignore_patterns("__pycache__"))
    program = "from proofs_checks.harness.cli import main; main(['doctor'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=False,
                          env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"})
    assert done.returncode == 1 and f"theory: {tmp_path / 'theory'}" in done.stdout
    assert f"warning: the rooms come from different folders: {', '.join(sorted([str(ROOT), str(tmp_path)]))}" in done.stdout


def test_an_installation_beside_the_code_that_runs_is_mentioned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    info = tmp_path / "refutable-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: refutable\nVersion: 9.9\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    lines, sound = doctor.diagnosis()
    assert sound and any(line.startswith("warning: refutable 9.9 is installed in") and str(ROOT) in line for line in lines)

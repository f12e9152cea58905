"""The wheel, installed in a folder of its own and used far from the checkout: the claims are there, and are judged there."""
from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("theory", "simulations", "causal", "proofs_checks")
FACT = "pass_at_k.gradient_weight"


def run(*command: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTEST_ADDOPTS", "PYTHONDONTWRITEBYTECODE")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False,
                          env=env if path is None else {**env, "PYTHONPATH": str(path)})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index",
        "--target", str(folder), str(wheel), cwd=folder)
    return folder


def test_the_wheel_holds_the_four_rooms_and_nothing_else(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {*ROOMS, f"refutable-{wheel.name.split('-')[1]}.dist-info"}
    assert all(f"{room}/py.typed" in names for room in ROOMS)
    files = {str(p.relative_to(ROOT)) for room in ROOMS for p in (ROOT / room).rglob("*")
             if p.is_file() and "__pycache__" not in p.parts}
    assert files <= set(names) and not any("__pycache__" in name for name in names)


def test_the_installed_rooms_come_before_the_checkout(site: Path, tmp_path: Path):
    program = "import " + ", ".join(ROOMS) + "\nprint(*(r.__file__ for r in (" + ", ".join(ROOMS) + ")), sep='\\n')"
    found = run(sys.executable, "-c", program, cwd=tmp_path, path=site).stdout.split()
    assert found == [str(site / room / "__init__.py") for room in ROOMS]


def test_the_console_script_says_where_it_runs(site: Path, tmp_path: Path):
    lines = run(str(site / "bin" / "refutable"), "doctor", cwd=tmp_path, path=site).stdout.splitlines()
    assert [f"{room}: {site / room}" for room in ROOMS] == lines[:4]
    assert "canary: passed" in lines and not any(line.startswith("warning") for line in lines)


@pytest.mark.parametrize("workers", [(), ("-n", "2", "--dist", "loadfile")], ids=["serial", "two workers"])
def test_claims_are_judged_from_the_wheel(site: Path, tmp_path: Path, workers: tuple[str, ...]):
    from theory.pass_at_k import gradient_weight

    done = run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--pyargs", "proofs_checks", "-k", FACT, "-rA", "-q",
               *workers, cwd=tmp_path, path=site)
    passed = re.findall(r"^PASSED (\S+)$", done.stdout, re.MULTILINE)
    variants = list(gradient_weight.variants())
    assert sorted(i.split("::", 1)[1] for i in passed) == sorted(f"gradient_weight[{v}]" for v in variants)
    assert all(Path(i.split("::")[0]).name == "pass_at_k.py" for i in passed)
    assert f"{len(variants)} passed" in done.stdout and f"written: {tmp_path / 'build' / 'partial.json'}" in done.stdout
    assert str(ROOT) not in (tmp_path / "build" / "partial.json").read_text()

"""Who may import whom (DESIGN section 1), by walking the syntax trees and by loading the rooms in a fresh process."""
from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("theory", "simulations", "causal", "proofs_checks")
STDLIB = sys.stdlib_module_names
TOP = {  # may be imported at the top of a module
    "theory": {"sympy", "numpy", "theory"},
    "simulations": {"numpy", "jax", "equinox", "jaxtyping", "simulations"},
    "causal": {"numpy", "networkx", "causal"},
}
INSIDE = {  # may be imported inside functions as well
    "theory": {"scipy"},
    "simulations": {"scipy", "numba", "meshio", "statsmodels", "matplotlib"},
    "causal": {"scipy", "numba", "pysat", "dd", "yaml", "pandas", "matplotlib"},
}
PRIVATE = {"causal": INSIDE["causal"], "simulations": {"numba", "scipy"}}  # at the top of modules loaded on use: `_name.py`


def modules(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, bool, int]]:
    """(top-level package, whether at the top of the module, line) of each import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
             for n in ast.walk(f)}
    typing_only = {id(n) for f in ast.walk(tree) if isinstance(f, ast.If) and "TYPE_CHECKING" in ast.dump(f.test)
                   for n in ast.walk(f)}
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} is a relative import"
            names = [node.module or ""]
        for name in names:
            if id(node) not in typing_only:
                yield name.split(".")[0], id(node) not in inner, node.lineno


@pytest.mark.parametrize("room", TOP)
def test_rooms_import_only_what_they_may(room):
    wrong = []
    for path in modules(room):
        private = PRIVATE.get(room, set()) if path.name.startswith("_") and path.name != "__init__.py" else set()
        for name, top, line in imports(path):
            allowed = TOP[room] | private | (set() if top else INSIDE[room])
            if name not in STDLIB and name not in allowed:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}{'' if top else ' inside a function'}")
    assert not wrong, "\n".join(wrong)


def test_the_evidence_imports_neither_tests_nor_notebooks():
    wrong = [f"{p}:{line}" for p in modules("proofs_checks") for name, _, line in imports(p) if name in ("tests", "notebooks")]
    assert not wrong


HEAVY = ("jax", "scipy", "numba", "pysat", "cvxpy", "statsmodels", "matplotlib", "sympy", "hypothesis", "pandas", "sklearn",
         "flint", "z3", "distributed", "dask", "dd", "yaml", "rich", "pytest")


def loaded(code: str) -> set[str]:
    """Heavy packages that a fresh process has loaded after running `code`."""
    script = f"{code}\nimport sys; print(' '.join(sorted({{m.split('.')[0] for m in sys.modules}} & set({HEAVY!r}))))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True)
    return set(done.stdout.split("\n")[-2].split() if done.stdout.strip() else [])


@pytest.mark.parametrize(("code", "allowed"), [
    ("import theory", set()), ("import simulations", set()), ("import causal", set()), ("import proofs_checks", set()),
    ("import theory.claim", set()), ("import proofs_checks.harness.recheck", set()),
    ("import proofs_checks.harness.cli", set()), ("import proofs_checks.harness.plugin", {"pytest"}),
    ("import causal, theory, simulations", set())])
def test_importing_a_room_loads_nothing_heavy(code, allowed):
    assert loaded(code) <= allowed


def test_a_theory_module_loads_neither_scipy_nor_jax():
    code = ("import pkgutil, importlib, theory\n"
            "for m in pkgutil.walk_packages(theory.__path__, 'theory.'): importlib.import_module(m.name)")
    assert loaded(code) <= {"sympy"}


def test_help_loads_nothing_heavy():
    code = ("from click.testing import CliRunner\nfrom proofs_checks.harness.cli import main\n"
            "assert CliRunner().invoke(main, ['--help']).exit_code == 0")
    assert loaded(code) == set()


def test_judging_one_claim_imports_the_evidence_of_no_other_paper():
    code = ("from proofs_checks.harness.registry import slugs, import_slug\nimport sys\nimport_slug('pass_at_k')\n"
            "others = [s for s in slugs() if s != 'pass_at_k' and f'proofs_checks.{s}' in sys.modules]\n"
            "assert not others, others")
    assert "statsmodels" not in loaded(code)


def test_modules_and_functions_keep_their_size():
    """STYLE: modules at most 400 lines, functions at most 60 without their docstring."""
    wrong = []
    for path in (p for room in (*ROOMS, "tests") for p in modules(room)):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > 400:
            wrong.append(f"{path.relative_to(ROOT)} has {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                size = node.end_lineno - node.lineno + 1 - len((ast.get_docstring(node, clean=False) or "").splitlines())
                if size > 60:
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {size} lines")
    assert not wrong, "\n".join(wrong)


def test_public_modules_say_what_is_public():
    from proofs_checks.harness.registry import slugs

    public = [p for room in ROOMS for p in modules(room) if not p.name.startswith("_")
              and not (room == "proofs_checks" and p.relative_to(ROOT / room).parts[0].removesuffix(".py") in slugs())]
    assert public and not [str(p) for p in public if "__all__" not in p.read_text(encoding="utf-8")]


def test_every_slug_stands_in_every_room():
    from proofs_checks.harness.registry import slugs

    missing = [f"{room}/{slug}" for slug in slugs() for room in ("theory", "proofs_checks")
               if not (ROOT / room / f"{slug}.py").exists() and not (ROOT / room / slug / "__init__.py").exists()]
    missing += [f"notebooks/{slug}.ipynb" for slug in slugs() if not (ROOT / "notebooks" / f"{slug}.ipynb").exists()]
    assert not missing


def test_no_registry_host_and_no_path_of_a_machine_is_written_down():
    """Built from pieces, so that this file passes its own test."""
    words = ["/ro" + "ot/", "/wo" + "rk/", "index" + "-url", "pypi" + ".org", "pythonhosted" + ".org"]
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")
    found = []
    for name in filter(None, files):
        text = (ROOT / name).read_bytes().decode("utf-8", "ignore") if (ROOT / name).is_file() else ""
        found += [f"{name}: {w}" for w in words if w in text]
    assert not found

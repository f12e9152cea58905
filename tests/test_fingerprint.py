"""What changes a fingerprint, and what does not."""
from __future__ import annotations

import functools
import importlib
import sys
import textwrap

import numpy as np
import pytest
import sympy as sp

from proofs_checks.harness.fingerprint import describe, fingerprint

FACTOR = 2


def helper(v):
    return v * FACTOR


@pytest.fixture
def load(tmp_path, monkeypatch):
    """A function `f` from source text, each in a module of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def make(text: str):
        name = f"fingerprinted_{len(made)}"
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        importlib.invalidate_caches()
        made.append(name)
        return importlib.import_module(name).f

    yield make
    for name in made:
        sys.modules.pop(name, None)


BASE = "C = 2\ndef g(v):\n    return v * C\ndef f(p, k):\n    return g(p) ** k\n"


@pytest.mark.parametrize("text", [
    "C = 2\ndef g(v):\n    return v * C\n\n\ndef f(p, k):\n    '''New words.'''\n    # a comment\n    return g(p)**k\n",
    "C = 2\ndef g(w):\n    return w * C\ndef f(rate, count):\n    return g(rate) ** count\n",
    "C = 2\ndef h(v):\n    return v * C\ndef f(p: float, k: int) -> float:\n    return h(p) ** k\n"])
def test_layout_comments_names_and_annotations_do_not_matter(load, text):
    assert fingerprint(load(BASE)) == fingerprint(load(text))


@pytest.mark.parametrize("change", [("C = 2", "C = 3"), ("v * C", "v + C"), ("** k", "* k"), ("(p, k)", "(k, p)"),
                                    ("(p, k)", "(p, k=2)")])
def test_constants_helpers_operators_and_order_matter(load, change):
    assert fingerprint(load(BASE)) != fingerprint(load(BASE.replace(*change)))


def test_two_lambdas_on_one_line_differ():
    pair = (lambda v: v + 1, lambda v: v + 2)
    assert fingerprint(pair[0]) != fingerprint(pair[1])
    assert fingerprint(pair[0]) == fingerprint(lambda w: w + 1)


def test_globals_are_resolved_when_asked(monkeypatch):
    before = fingerprint(helper)
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 5)
    assert fingerprint(helper) != before


def test_values_closures_partials_and_arrays():
    def adder(c):
        return lambda v: v + c
    assert fingerprint(adder(1)) == fingerprint(adder(1)) != fingerprint(adder(2))
    assert fingerprint(functools.partial(helper, 1)) != fingerprint(functools.partial(helper, 2))
    assert fingerprint(np.arange(3)) != fingerprint(np.arange(4)) and fingerprint(1) != fingerprint(1.0)
    assert fingerprint(sp.Symbol("x")) != fingerprint(sp.Symbol("x", positive=True))
    assert fingerprint({"a": 1, "b": 2}) != fingerprint({"b": 2, "a": 1})  # a loop sees the order
    assert fingerprint({"a", "b"}) == fingerprint({"b", "a"})
    assert fingerprint(lambda v: np.sin(v)) != fingerprint(lambda v: np.cos(v))


def test_recursion_ends_and_missing_source_falls_back_to_bytecode():
    def factorial(m):
        return 1 if m < 2 else m * factorial(m - 1)
    assert len(fingerprint(factorial)) == 64
    space: dict = {}
    exec("f = lambda v: v + 1\ng = lambda v: v + 1 if v != 77 else 0\nC = 1\nh = lambda v: v + C", space)
    assert describe(space["f"])[0] == "code" and fingerprint(space["f"]) != fingerprint(space["g"])
    before = fingerprint(space["h"])
    space["C"] = 2
    assert fingerprint(space["h"]) != before


def test_a_submodule_imported_inside_a_function_is_described_the_same_before_and_after_it_is_loaded(load, tmp_path):
    package = tmp_path / "lazy_rooms"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("C = 3\n")
    f = load("def f(v):\n    from lazy_rooms import part\n    return v * part.C\n")
    before = fingerprint(f)
    assert f(2) == 6 and fingerprint(f) == before
    for name in ("lazy_rooms.part", "lazy_rooms"):
        sys.modules.pop(name, None)


def test_what_belongs_to_the_process_is_not_described(monkeypatch):
    """Else a hash would depend on the folder a command was started in, and on which command it was."""
    def reads():
        return sys.path, sys.stdin

    before = fingerprint(reads)
    monkeypatch.setattr(sys, "path", [*sys.path, "elsewhere"])
    monkeypatch.setattr(sys, "stdin", None)
    assert fingerprint(reads) == before
    assert fingerprint(lambda: (sys.path, sys.stdin)) != fingerprint(lambda: (sys.path, sys.stdout))

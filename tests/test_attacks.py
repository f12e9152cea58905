"""Attacks on the judge, the fingerprints, the cache and the engines that once worked."""
from __future__ import annotations

import importlib
import linecache
import math
import os
import shutil
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
import toy

from proofs_checks.engines import exhaustive, falsify, sequential, symbolic
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict
from proofs_checks.harness.fingerprint import fingerprint
from proofs_checks.harness.judge import evidence, judge
from proofs_checks.harness.registry import import_slug

X = ["var", "x"]
ROOT = Path(__file__).resolve().parents[1]


# the judge: broken claims that were green

def verdict(claim, procedure):
    evidence(claim)(procedure)
    return judge(claim)


def scan(predicate):
    return exhaustive.forall(toy.grid, predicate)


def marked(p, k):
    """A form that carries marks of every kind."""
    return k * (1 - p) ** (k - 1)


marked.good = True
MARKS = {
    "name": lambda form: form.__name__ == "marked", "qualname": lambda form: "lambda" not in form.__qualname__,
    "code": lambda form: form.__code__ == marked.__code__, "code name": lambda form: form.__code__.co_name == "marked",
    "doc": lambda form: bool(form.__doc__), "attribute": lambda form: getattr(form, "good", False),
    "repr": lambda form: "marked" in repr(form), "fingerprint": lambda form: fingerprint(form) == fingerprint(marked)}


@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS)
def test_no_mark_of_a_function_tells_which_variant_it_is(mark):
    def procedure(form):
        good = mark(form)
        yield scan(lambda p, k: good)

    assert not verdict(toy.claim("marks", form=marked), procedure).green


def test_the_number_of_calls_does_not_tell_the_claim():
    calls = []

    def procedure(form):
        calls.append(form)
        good = len(calls) == 1
        yield scan(lambda p, k: good)

    found = verdict(toy.claim("counted"), procedure)
    assert not found.green and any("when it is called again" in p for p in found.problems)
    assert found.kills == {"exponent_k": [], "factor_dropped": []}


def test_the_stream_does_not_tell_the_claim():
    def procedure(form):
        said = []

        def decide(context):
            said.append("/claim/" in context.stream)
            verdict, witness = (Verdict.HOLDS, None) if said[0] else (Verdict.REFUTED, "here")
            return Evidence(rung=Rung.NUMERIC, verdict=verdict, witness=witness)
        yield Check(engine="made_up", rung=Rung.NUMERIC, subject="x", decide=decide, at=lambda w: bool(said) and said[0])

    assert not verdict(toy.claim("streamed"), procedure).green


@pytest.mark.parametrize("where", ["predicate", "procedure"])
def test_sys_exit_in_a_mutant_does_not_end_the_judge(where):
    def procedure(form):
        wrong = form(Fraction(1, 2), 2) != 1
        if wrong and where == "procedure":
            sys.exit(0)
        yield scan(lambda p, k: sys.exit(0) if wrong else True)

    found = verdict(toy.claim("exits"), procedure)
    assert not found.green and any("SystemExit" in p for p in found.problems)


def test_a_module_of_evidence_that_exits_is_an_error(monkeypatch):
    monkeypatch.setattr("importlib.import_module", lambda name: sys.exit(0))
    with pytest.raises(ImportError, match=r"proofs_checks\.pass_at_k calls sys\.exit"):
        import_slug("pass_at_k")


@pytest.mark.parametrize("lifted", [np.float32, np.float16, np.longdouble, lambda v: np.array([v, v])])
def test_no_kind_of_float_kills_by_rounding(lifted):
    def procedure(form):
        cases = [(lifted(i / 10), k) for i in range(10) for k in range(1, 9)]
        yield exhaustive.forall(cases, lambda p, k: np.all(toy.weight(p, k) == form(p, k)))

    found = verdict(toy.claim("rounded", mutants={
        "rewritten": lambda p, k: k * (1 - p) ** k / (1 - p), "dropped": lambda p, k: (1 - p) ** (k - 1)}), procedure)
    assert found.kills["rewritten"] == [] and found.kills["dropped"] and not found.green


def test_integers_of_numpy_do_not_kill_by_overflow():
    check = exhaustive.forall([(np.int64(i),) for i in range(50)], lambda k: np.int64(3) ** k == 3 ** int(k)
                              if isinstance(k, np.integer) else True)
    assert check.run().verdict is Verdict.UNDECIDED


def test_an_iterator_that_is_used_up_is_an_error():
    cases = iter([(Fraction(i, 5000), 1) for i in range(5000)])
    check = exhaustive.forall(lambda: cases, lambda p, k: p > Fraction(1, 100))  # false in the part that describing eats
    check.resolved_subject()
    found = check.run()
    assert found.verdict is Verdict.ERROR and "the same iterator twice" in found.summary


@pytest.mark.parametrize("nan", [math.nan, np.float64("nan"), np.float32("nan"), Decimal("nan"), sp.nan, complex("nan")])
def test_nan_is_neither_true_nor_false(nan):
    for check in (scan(lambda p, k: nan), falsify.forall(toy.cases, lambda p, k: nan)):
        found = check.run()
        assert found.verdict is Verdict.ERROR and "returned nan" in found.summary


def test_a_proof_of_the_wrong_thing_that_crashes_on_mutants_is_idle():
    def procedure(form):
        right = form(Fraction(1, 2), 2) == 1
        yield scan(lambda p, k: toy.slope(p, k) == toy.weight(p, k) if right else 1 / 0)
        yield scan(lambda p, k: toy.slope(p, k) == form(p, k))

    found = verdict(toy.claim("crashing_proof"), procedure)
    assert found.idle == ("exhaustive (check 1)",) and not found.green


def test_evidence_and_checks_of_wrong_types_are_refused_by_name():
    with pytest.raises(ValueError, match="rung=6 must be a Rung"):
        Evidence(rung=6, verdict=Verdict.HOLDS)
    with pytest.raises(ValueError, match="verdict='HOLDS' must be a Verdict"):
        Evidence(rung=Rung.NUMERIC, verdict="HOLDS")
    with pytest.raises(ValueError, match="universal=True needs rung EXHAUSTIVE or above, got PROPERTY"):
        Evidence(rung=Rung.PROPERTY, verdict=Verdict.HOLDS, universal=True)
    with pytest.raises(ValueError, match="rung=6 must be a Rung"):
        Check(engine="x", rung=6, subject="x", decide=lambda c: None, at=lambda w: True)
    with pytest.raises(ValueError, match="at=None must be a function"):
        Check(engine="x", rung=Rung.NUMERIC, subject="x", decide=lambda c: None, at=None)
    nothing = Check(engine="x", rung=Rung.NUMERIC, subject="x", decide=lambda c: None, at=lambda w: True)
    assert nothing.run().verdict is Verdict.ERROR and "decide returned None" in nothing.run().summary


def test_two_names_for_one_mutant_are_one_mutant():
    same = toy.slope
    with pytest.raises(ValueError, match="are one object"):
        toy.claim("doubled", mutants={"a": same, "b": same})


# fingerprints: changes that were not seen, and differences that are none

BLIND = {
    "a global that a nested lambda binds": "L = {}\ndef f(x):\n    g = lambda L: L\n    return x < L\n",
    "a global that a comprehension binds": "k = {}\ndef f(x):\n    s = sum(k for k in range(3))\n    return s < k\n",
    "a global that is assigned": "c = {}\ndef f(x):\n    global c\n    c = c + 1\n    return x < c\n",
    "an attribute of a function": "def f(x):\n    return x < f.limit\nf.limit = {}\n",
    "a constant of a class": "class C:\n    limit = {}\ndef f(x):\n    return x < C.limit\n",
    "a static method": "class C:\n    @staticmethod\n    def g(x):\n        return x < {}\ndef f(x):\n    return C.g(x)\n",
    "a property": "class C:\n    @property\n    def g(self):\n        return {}\ndef f(x):\n    return x < C().g\n",
    "a base class": "class B:\n    def g(self):\n        return {}\nclass C(B):\n    pass\ndef f(x):\n    return C().g()\n",
    "an instance that is called": "class C:\n    def __call__(self, x):\n        return x < {}\nf = C()\n",
    "a record that is called": "from dataclasses import dataclass\n@dataclass\nclass C:\n    a: int = 1\n"
                               "    def __call__(self, x):\n        return x < {}\nf = C()\n",
    "a helper of a method": "class C:\n    def h(self):\n        return {}\n    def g(self, x):\n        return x < self.h()\n"
                            "f = C().g\n",
    "a method of a named tuple": "from typing import NamedTuple\nclass C(NamedTuple):\n    a: int = 1\n    def g(self, x):\n"
                                 "        return x < {}\nc = C()\ndef f(x):\n    return c.g(x)\n",
    "one case of a dispatched function": "import functools\n@functools.singledispatch\ndef f(x):\n    return 0\n"
                                         "@f.register\ndef _(x: int):\n    return {}\n",
    "a vectorised function": "import numpy as np\nf = np.vectorize(lambda x: x < {})\n",
    "a function in a namespace": "import types\ndef h(x):\n    return x < {}\nn = types.SimpleNamespace(h=h)\n"
                                 "def f(x):\n    return n.h(x)\n",
    "what a wrapper object adds": "import functools\nclass W:\n    def __init__(self, g, a):\n        self.a = a\n"
                                  "        functools.update_wrapper(self, g)\n    def __call__(self, x):\n"
                                  "        return self.__wrapped__(x) + self.a\nf = W(abs, {})\n",
    "a member of an enumeration": "import enum\nclass E(enum.Enum):\n    A = {}\ndef f(x):\n    return x < E.A.value\n",
    "a helper imported inside": "def f(x):\n    from {m} import limit\n    return x < limit\nlimit = {}\n"}


@pytest.fixture
def load(tmp_path, monkeypatch):
    """`f` of a module of the same name each time, from source text."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(text):
        name = "attacked_fingerprint"
        sys.modules.pop(name, None)
        folder = tmp_path / "__pycache__"
        for path in folder.glob("*") if folder.is_dir() else ():
            path.unlink()
        (tmp_path / f"{name}.py").write_text(text)
        linecache.clearcache()
        importlib.invalidate_caches()
        return importlib.import_module(name).f

    yield make
    sys.modules.pop("attacked_fingerprint", None)


@pytest.mark.parametrize("text", BLIND.values(), ids=BLIND)
def test_a_change_of_any_part_changes_the_fingerprint(load, text):
    text = text.replace("{m}", "attacked_fingerprint")
    three, again, four = (fingerprint(load(text.replace("{}", v))) for v in ("3", "3", "4"))
    assert three == again != four


@pytest.mark.parametrize(("one", "other"), [
    ("A = (1, 2)\nB = A\ndef f(x):\n    return A, B\n", "A = (1, 2)\nB = tuple([1, 2])\ndef f(x):\n    return A, B\n"),
    ("def f(x):\n    return [a * x for a in (1, 2)]\n", "def f(y):\n    return [b * y for b in (1, 2)]\n"),
    ("def f(x):\n    try:\n        return x\n    except ValueError as e:\n        raise e\n",
     "def f(y):\n    try:\n        return y\n    except ValueError as found:\n        raise found\n")])
def test_equal_data_and_names_of_inner_variables_do_not_matter(load, one, other):
    assert fingerprint(load(one)) == fingerprint(load(other))


def test_fingerprints_do_not_depend_on_the_process(tmp_path):
    (tmp_path / "hashed.py").write_text(
        'T, U = ("a", 1), ("b", 2)\nS = {T, U, ("c", 3), ("d", 4)}\nR = frozenset({frozenset(S), frozenset({U})})\n'
        "def f(x):\n    import json\n    return S, T, U, R, json.dumps(x)\n")
    code = (f"import sys; sys.path[:0] = {[str(tmp_path), str(ROOT)]!r}; import hashed\n"
            "from proofs_checks.harness.fingerprint import fingerprint; print(fingerprint(hashed.f))")
    found = {subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, text=True,
                            capture_output=True, check=True).stdout for seed in "0123"}
    assert len(found) == 1 and len(found.pop().strip()) == 64


def test_lambdas_on_one_line_differ_without_positions_too(tmp_path):
    (tmp_path / "lined.py").write_text("f, g = (lambda x: x + 1), (lambda x: x + 2)\n")
    code = (f"import sys; sys.path[:0] = {[str(tmp_path), str(ROOT)]!r}; import lined\n"
            "from proofs_checks.harness.fingerprint import fingerprint; print(fingerprint(lined.f) == fingerprint(lined.g))")
    done = subprocess.run([sys.executable, "-X", "no_debug_ranges", "-c", code], text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "False"


# identities

a, b = sp.symbols("a b", positive=True)
x = sp.Symbol("x")


@pytest.mark.parametrize(("lhs", "rhs", "symbols"), [
    (lambda v, w: (v**w) ** 2, lambda v, w: v ** (2 * w), (a, b)),  # a power of Fractions is a float in Python
    (lambda v: (v**2) ** sp.Rational(1, 2), lambda v: v, a)])
def test_true_identities_are_not_refuted_by_floats_on_the_way(lhs, rhs, symbols):
    assert symbolic.equal(lhs, rhs, symbols).run().verdict is Verdict.HOLDS


@pytest.mark.parametrize(("lhs", "rhs"), [
    (x + 0.1 + 0.2, x + 0.3), (lambda v: np.float64(0.5) * v, lambda v: v / 2),
    (lambda v: (v + 1.0) + 1e-17 - 1.0, lambda v: v), (x + 1e-300, x)])
def test_identities_with_floats_are_neither_proved_nor_refuted_nor_a_crash(lhs, rhs):
    check = symbolic.equal(lhs, rhs, x)
    assert check.run().verdict is Verdict.UNDECIDED and "floats" in check.run().summary and check.resolved_subject()


def test_only_points_that_the_assumptions_allow_refute():
    t, r = sp.Symbol("t", imaginary=True), sp.Symbol("r", irrational=True)
    assert symbolic.equal(abs(t) ** 2, -(t**2), t).run().verdict is Verdict.ERROR  # no rational is imaginary
    assert symbolic.equal(sp.ceiling(r), sp.floor(r) + 1, r).run().verdict is Verdict.ERROR
    assert symbolic.equal(a, abs(a), a).at({"a": Fraction(-1)})


def test_symbols_must_be_all_and_different():
    found = symbolic.equal(x + a, x + a, x).run()
    assert found.verdict is Verdict.ERROR and "a is missing" in found.summary
    with pytest.raises(ValueError, match="must have different names"):
        symbolic.equal(x, x, (x, sp.Symbol("x", real=True)))


# claims without evidence, and the cache's key

@pytest.fixture
def checkout(tmp_path):
    """A small checkout: the harness, the engines, one theory with evidence."""
    for room in ("theory", "simulations", "causal", "proofs_checks"):
        (tmp_path / room).mkdir()
        for path in (ROOT / room).glob("*.py"):
            if path.name.startswith("__") or path.name in ("claim.py", "_jax.py", "exponents.py"):
                shutil.copy(path, tmp_path / room)
    for part in ("engines", "harness"):
        shutil.copytree(ROOT / "proofs_checks" / part, tmp_path / "proofs_checks" / part,
                        ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "theory" / "mini.py").write_text(
        "from theory.claim import Claim, Paper, Source, Standing\n"
        "P = Paper(slug='mini', title='M', arxiv=None, topics=(), read='abstract')\n"
        "c = Claim(id='mini.one', paper=P, statement='x', source=Source.PUBLIC, standing=Standing.HOLDS,\n"
        "          form=lambda x: x * x, mutants={'a': lambda x: x, 'b': lambda x: 2 * x})\n")
    (tmp_path / "proofs_checks" / "mini.py").write_text(
        "from proofs_checks.engines import exhaustive\nfrom proofs_checks.harness.judge import evidence\n"
        "from theory import mini as thy\n\n\n@evidence(thy.c)\ndef c(f):\n"
        "    yield exhaustive.forall([(i,) for i in range(9)], lambda i: f(i) == i**2)\n")
    return tmp_path


def python(folder, *args, **settings):
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run([sys.executable, *args], cwd=folder, env={**env, "PYTHONPATH": str(folder), **settings},
                          capture_output=True, text=True, check=False)


def test_a_claim_without_evidence_makes_the_whole_run_fail(checkout):
    pytest_run = ("-m", "pytest", "-q", "-p", "proofs_checks.harness.plugin", "-p", "no:cacheprovider", "proofs_checks")
    assert python(checkout, *pytest_run).returncode == 0
    (checkout / "theory" / "orphan.py").write_text(
        (checkout / "theory" / "mini.py").read_text().replace("mini", "orphan"))
    done = python(checkout, *pytest_run)
    assert done.returncode == 1 and "not green: orphan.one: no evidence is registered" in done.stdout, done.stdout


def test_the_cache_key_covers_whatever_a_claim_can_reach(checkout):
    package = checkout / "theory" / "wide"
    package.mkdir()
    for name, text in {"__init__": "LIMIT = 3\n", "own": "from . import beside\nfrom importlib import import_module\n"
                       "def later(kind):\n    return import_module(f'theory.wide.{kind}')\n",
                       "beside": "LIMIT = 3\n", "lazy": "LIMIT = 3\n"}.items():
        (package / f"{name}.py").write_text(text)
    (package / "table.yaml").write_text("limit: 3\n")
    (checkout / "proofs_checks" / "mini.py").write_text("import theory.wide.own\n")
    code = "from proofs_checks.harness.cache import sources; print(sources('proofs_checks.mini'))"

    def key(**settings):
        done = python(checkout, "-c", code, **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout

    keys = [key(), key(JAX_ENABLE_X64="0")]
    for name in ("__init__.py", "beside.py", "lazy.py", "table.yaml"):
        (package / name).write_text((package / name).read_text().replace("3", "4"))
        keys.append(key())
    assert len(set(keys)) == 6 and key() == keys[-1]


# samples and settings

def test_a_sample_that_ignores_its_key_is_an_error():
    for chunk in (500, 20_000, 30):  # decided by several chunks, by the first one, by short ones
        same = sequential.mean_within(lambda key, n: np.random.default_rng(0).random(n), 0.5, tol=0.1, chunk=chunk).run()
        assert same.verdict is Verdict.ERROR and "the same for every key" in same.summary
        own = sequential.mean_within(lambda key, n: np.random.default_rng(key).random(n), 0.5, tol=0.1, chunk=chunk).run()
        assert own.verdict is Verdict.HOLDS
    constant = sequential.mean_within(lambda key, n: np.full(n, 0.5), 0.5, tol=0.01).run()
    assert constant.verdict is Verdict.HOLDS  # a constant is what it is for every key


@pytest.mark.parametrize("sample", [
    lambda key, n: np.full(n, 0.5 + 1j), lambda key, n: ["0.5"] * n,
    lambda key, n: np.ma.masked_array(np.linspace(0, 1, n), np.linspace(0, 1, n) < 0.9)])
def test_samples_that_are_not_plain_real_numbers_are_errors(sample):
    found = sequential.mean_within(sample, 0.5, tol=0.1).run()
    assert found.verdict is Verdict.ERROR and "needed real numbers" in found.summary


@pytest.mark.parametrize(("make", "text"), [
    (lambda: Context(alpha="a"), "alpha='a' must lie"), (lambda: Context(budget=1.5), "budget=1.5 must be a whole number"),
    (lambda: Context(stream=5), "stream=5 must be text"),
    (lambda: falsify.forall(toy.cases, lambda p, k: True, examples=2.5), r"examples=2\.5 must be a whole number"),
    (lambda: falsify.forall(5, lambda p, k: True), "strategy=5 must be a strategy")])
def test_settings_of_wrong_types_are_refused_by_name(make, text):
    with pytest.raises(ValueError, match=text):
        make()

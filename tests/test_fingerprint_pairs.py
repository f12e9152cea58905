"""Pairs that compute different things, and pairs that compute the same: fingerprints tell which is which."""
from __future__ import annotations

import functools
import operator
import random
import re
import subprocess
import sys
import textwrap
import threading
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from proofs_checks.harness.fingerprint import describe, fingerprint


def functions(text: str) -> tuple[FunctionType, FunctionType]:
    """`f` and `g` of a text that is found as source."""
    import linecache

    name = f"<pair {hash(text)}>"
    text = textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, name, "exec"), space)
    return space["f"], space["g"]


DIFFERENT = {
    "order of keyword-only arguments": "def f(*, a, b):\n    return a - b\ndef g(*, b, a):\n    return b - a\n",
    "helper called by keyword": """
        def h(x, y): return x - y
        def k(y, x): return y - x
        def f(v): return h(x=v, y=1)
        def g(v): return k(x=v, y=1)""",
    "keyword in a partial": """
        from functools import partial
        def h(x, y): return x - y
        def k(y, x): return y - x
        f = partial(h, y=1)
        g = partial(k, y=1)""",
    "keywords from a mapping": """
        D = {"x": 3, "y": 1}
        def h(x, y): return x - y
        def k(y, x): return y - x
        def f(): return h(**D)
        def g(): return k(**D)""",
    "keyword defaults exchanged": """
        def h(*, x=1, y=2): return x - y
        def k(*, x=2, y=1): return x - y
        def f(): return h()
        def g(): return k()""",
    "inner function called by keyword": """
        def f(v):
            def h(x, y): return x - y
            return h(x=v, y=1)
        def g(v):
            def h(y, x): return y - x
            return h(x=v, y=1)""",
    "names in a class body": """
        def f():
            class C:
                a = 1
                b = 2
            return C.a
        def g():
            class C:
                b = 1
                a = 2
            return C.a""",
    "a class body hides nothing from its methods": """
        x = 1
        def f():
            class C:
                x = 2
                def m(self): return x
            return C().m()
        def g():
            class C:
                y = 2
                def m(self): return y if False else 2
            return C().m()""",
    "the table of a bound built-in": "f = lambda n, get={6: 0}.get: get(n, n)\ng = lambda n, get={7: 0}.get: get(n, n)\n",
    "bound item of a list": "f = [1, 2].__getitem__\ng = [1, 3].__getitem__\n",
    "bound operator": "f = (1).__add__\ng = (2).__add__\n",
    "unbound built-ins": "f = list.__getitem__\ng = list.__contains__\n",
    "library base classes": """
        def one():
            class A(dict): pass
            return A
        f = one()
        def one():
            class A(list): pass
            return A
        g = one()""",
    "default factory of a dataclass": """
        from dataclasses import dataclass, field
        def one(factory):
            @dataclass
            class P:
                v: object = field(default_factory=factory)
            return P
        f, g = one(list), one(dict)""",
    "without source": "f = eval('lambda n: n')\ng = eval('lambda n: n if n != 6 else 0')\n",
    "names of one bytecode": "f = eval('lambda n: abs(n)')\ng = eval('lambda n: int(n)')\n"}


@pytest.mark.parametrize("name", DIFFERENT)
def test_functions_that_differ_have_different_fingerprints(name):
    f, g = functions(DIFFERENT[name])
    assert fingerprint(f) != fingerprint(g)


EQUAL = {
    "names of arguments": "def f(a, b): return a - b\ndef g(x, y): return x - y\n",
    "passed on as they came": """
        def h(x, y): return x - y
        def k(p, q): return p - q
        def f(*args, **kwargs): return h(*args, **kwargs)
        def g(*rest, **more): return k(*rest, **more)""",
    "layout": "def f(v): return v+1\ndef g(v):\n    # words\n    return v + 1\n",
    "bound built-ins of equal tables": "f = {6: 0}.get\ng = {6: 0}.get\n"}


@pytest.mark.parametrize("name", EQUAL)
def test_functions_that_are_the_same_have_one_fingerprint(name):
    f, g = functions(EQUAL[name])
    assert fingerprint(f) == fingerprint(g)


def holding(value: Any) -> str:
    """The fingerprint of a function that has the value in its closure."""
    return fingerprint(lambda: value)


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("v",)

    def __init__(self, v: Any) -> None:
        self.v = v


class Text(str):
    """A text with an attribute."""

    __slots__ = ("mark",)


class Level(IntEnum):
    """Two numbers."""

    LOW, HIGH = 1, 2


class Colour(Enum):
    """Two names of one value would be one."""

    RED, BLUE = 1, 2


@dataclass
class Record:
    """Data with an attribute beside its fields."""

    v: Any
    more: list[int] = field(default_factory=list)


def record(v: Any, **attributes: Any) -> Record:
    made = Record(v)
    vars(made).update(attributes)
    return made


def masked(values: list[float], mask: list[bool]) -> Any:
    return np.ma.array(values, mask=mask)


LONG = np.zeros(5000)
VALUES = [
    (defaultdict(list), defaultdict(dict)), (defaultdict(list), {}), (OrderedDict(a=1), {"a": 1}),
    (Counter("ab"), {"a": 1, "b": 1}), (Slotted(1), Slotted(2)), (Text("a"), Text("b")), (Text("a"), "a"),
    (Level.LOW, Level.HIGH), (Level.LOW, 1), (Colour.RED, Colour.BLUE), (record(1), record(2)),
    (record(1), record(1, extra=2)),
    (pd.DataFrame({"a": LONG}), pd.DataFrame({"a": np.where(np.arange(5000) == 2500, 1, LONG)})),
    (scipy.sparse.csr_array(np.eye(300)), scipy.sparse.csr_array(np.diag(np.r_[np.ones(299), 2]))),
    (np.random.default_rng(1), np.random.default_rng(2)), (random.Random(1), random.Random(2)),
    (deque([1, 2]), deque([1, 3])), (deque([1], maxlen=3), deque([1])), (SimpleNamespace(a=1), SimpleNamespace(a=2)),
    (operator.itemgetter(1), operator.itemgetter(2)), (re.compile("a"), re.compile("a", re.IGNORECASE)),
    (Path("a"), Path("b")), (Decimal("1.0"), Decimal("1.00")), (range(3), range(4)), (slice(1), slice(2)),
    (np.array([Fraction(1)], dtype=object), np.array([Fraction(2)], dtype=object)),
    (masked([1.0, 2.0], [True, False]), masked([1.0, 2.0], [False, True])), (np.float32(1), np.float64(1)),
    (np.log, np.exp), (np.frompyfunc(lambda v: v + 1, 1, 1), np.frompyfunc(lambda v: v + 2, 1, 1)),
    (functools.cmp_to_key(operator.sub), functools.cmp_to_key(operator.add)), (0.0, -0.0), (1, True), (1, 1.0), ("1", 1),
    (b"a", "a"), ((1,), [1]), (set(), frozenset()), (10**5000, 10**5000 + 1), (threading.Lock(), threading.Lock()),
    ((v for v in (1, 2)), (v for v in (1, 3)))]


@pytest.mark.parametrize(("one", "other"), VALUES, ids=lambda v: type(v).__name__)
def test_values_that_differ_have_different_fingerprints(one, other):
    assert fingerprint(one) != fingerprint(other)
    assert holding(one) != holding(other) and holding(one) == holding(one)
    assert fingerprint(one) == fingerprint(one)


def test_what_can_be_described_is_the_same_in_another_process_and_the_rest_is_not(tmp_path: Path):
    (tmp_path / "there.py").write_text(textwrap.dedent("""
        import random, re, threading
        from collections import deque
        import numpy as np
        from proofs_checks.harness.fingerprint import fingerprint
        from fractions import Fraction
        sure = [deque([1, "a"]), re.compile("a"), random.Random(1),
                np.array([Fraction(1, 3)], dtype=object), np.log, {"a", "b", "c"}]
        print(*map(fingerprint, sure), fingerprint(threading.Lock()))
    """))
    def run(seed: str) -> list[str]:
        return subprocess.run([sys.executable, str(tmp_path / "there.py")], capture_output=True, text=True, check=True,
                              env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": seed}).stdout.split()

    said = [run("1"), run("2")]
    assert said[0][:-1] == said[1][:-1] and said[0][-1] != said[1][-1]


def test_what_cannot_be_described_says_so():
    lock = threading.Lock()
    assert describe(lock)[:2] == ["unknown", "_thread.lock"] and describe(lock) == describe(lock) != describe(threading.Lock())


PLAIN = st.recursive(st.integers() | st.floats(allow_nan=False) | st.text() | st.booleans() | st.none() | st.fractions(),
                     lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3) | st.tuples(v, v),
                     max_leaves=8)


@given(PLAIN, PLAIN)
@settings(max_examples=150, deadline=None, derandomize=True, database=None)
def test_plain_data_have_one_fingerprint_exactly_if_they_are_written_alike(one, other):
    assert (fingerprint(one) == fingerprint(other)) == (repr(one) == repr(other))

"""Work in another process, and what is done there: large diagrams, and their minimal sets by a compiled loop."""
from __future__ import annotations

import enum
import os
import random
import subprocess
import sys
import time

import pytest

from causal import CausalModel, _bdd, _minimal, actual, actual_causes
from causal._aside import Aside
from causal._diagram import Diagram, Work
from causal._instance import Instance
from causal._minimal import Family, minimal_sets
from causal._reduce import reduce
from causal._sat import OutOfTime
from causal.random_models import FAMILIES, random_case


def gone(pid: int) -> bool:
    """Whether there is no such process (any more)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_an_answer_comes_back_and_is_kept() -> None:
    with Aside(sorted, [3, 1, 2], reverse=True) as aside:
        assert aside.answer(None) == [3, 2, 1]
        assert aside.succeeded
    assert aside.answer(None) == [3, 2, 1]


def test_what_is_printed_there_is_no_answer(capfd: pytest.CaptureFixture[str]) -> None:
    with Aside(print, "hello") as aside:
        assert aside.answer(None) is None
        assert not aside.succeeded
    assert capfd.readouterr() == ("", "")


def test_work_is_stopped_at_the_deadline_and_with_the_block() -> None:
    with Aside(time.sleep, 1000) as aside:
        pid = aside._process.pid
        assert not gone(pid)
        with pytest.raises(OutOfTime):
            aside.answer(time.monotonic() + 0.01)
        assert not aside.succeeded
    assert gone(pid)


def test_a_failure_there_is_one_here_and_an_ended_process_gives_none() -> None:
    with Aside(int, "seven") as aside, pytest.raises(RuntimeError, match="invalid literal"):
        aside.answer(None)
    with Aside(os.abort) as aside:
        assert aside.answer(None) is None


@pytest.mark.skipif(sys.platform != "linux", reason="only there does a process end with its parent")
def test_the_other_process_does_not_outlive_this_one() -> None:
    script = ("import os, time; from causal._aside import Aside; aside = Aside(time.sleep, 1000); "
              "print(aside._process.pid, flush=True); os.kill(os.getpid(), 9)")
    pid = int(subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).stdout)
    patience = time.monotonic() + 60
    while not gone(pid) and time.monotonic() < patience:
        time.sleep(0.01)
    assert gone(pid)


class Colour(enum.Enum):
    """Values that another process could not read: it does not import this file."""

    RED = "red"
    BLUE = "blue"


def test_a_question_needs_no_value_of_the_model_there() -> None:
    values = (Colour.RED, Colour.BLUE)
    model = CausalModel.from_functions({"a": None, "b": None, "t": lambda a, b: a if a is b else Colour.RED},
                                       {"t": ("a", "b")}, dict.fromkeys(("a", "b", "t"), values))
    instance = Instance(model, {"a": Colour.RED, "b": Colour.BLUE}, {"t": Colour.RED})
    work = Work.of(reduce(instance, instance.allowed((), None)))
    with Aside(Work.diagram, work, 1000) as aside:
        there = aside.answer(None)
    assert isinstance(there, Diagram)
    assert {frozenset(instance.names[i] for i in c) for c in there} == {frozenset("a"), frozenset("t")}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_last_stage_gives_the_same_with_and_without_a_clock(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(family, 60, seed=2)
    expected = {c.variables for c in actual_causes(*case)}
    monkeypatch.setattr(actual, "AUTO_STAGES", ())
    for limit in (None, 600):
        found = actual_causes(*case, time_limit=limit)
        assert found.complete
        assert {c.variables for c in found} == expected


def test_what_was_asked_for_is_not_waited_for_again() -> None:
    """Every cause of at most four variables is listed long before the diagram could be there, which never is."""
    case = random_case("ones", 200, seed=0)
    case = case._replace(effect={"V60": 1})
    begin = time.monotonic()
    family = actual_causes(*case, max_size=4, time_limit=3600)
    assert time.monotonic() - begin < 600
    assert family.complete_up_to >= 4


def test_a_limit_is_kept_where_one_operation_would_not_end() -> None:
    """A model whose diagram CUDD sifts without end within one operation."""
    pytest.importorskip("dd.cudd")
    case = random_case("ones", 200, seed=0)
    for engine, limit in (("auto", 5), ("zdd", 2)):
        begin = time.monotonic()
        family = actual_causes(*case, engine=engine, time_limit=limit)
        assert time.monotonic() - begin < 60  # of hours
        assert not family.complete
        assert family.complete_up_to <= 3
        assert family.count > 0


def sets_of(family: Family) -> set[frozenset[int]]:
    """Every set of a family."""
    below: list[set[frozenset[int]]] = [set(), {frozenset()}]
    for label, low, high in list(zip(family.label, family.low, family.high, strict=True))[2:]:
        below.append(below[low] | {s | {label} for s in below[high]})
    return below[family.root]


def test_the_compiled_loop_finds_the_same_minimal_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = set()
    for seed in range(300):
        draw = random.Random(seed)
        levels = draw.randint(1, 12)
        kernel = _bdd.PythonKernel(levels, 10**6)
        f, terms = kernel.false, set()
        for _ in range(draw.randint(0, 12)):
            term = frozenset(draw.sample(range(levels), draw.randint(draw.random() > 0.05, levels)))
            g = kernel.true
            for level in term:
                g = kernel.both(g, kernel.variable(level))
            f = kernel.either(f, g)
            terms.add(term)
        minimal = {t for t in terms if not any(u < t for u in terms)}
        nodes, root, _ = kernel.flat(f, lambda: None)
        for enough in (0, 10**9):
            monkeypatch.setattr(_minimal, "LOOP_NODES", enough)
            found = minimal_sets(nodes, root, list(range(levels)), 10**6)
            assert sets_of(found) == minimal
            sizes.add((enough, seed, len(found.label)))
    assert len({(seed, size) for _, seed, size in sizes}) == 300  # as many nodes both ways: the diagram is canonical


@pytest.mark.parametrize(("nodes", "steps"), [(2, 100), (10**6, 0)])
def test_the_compiled_loop_keeps_its_budget(nodes: int, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_minimal, "LOOP_NODES", 0)
    monkeypatch.setattr(_minimal, "STEPS_PER_NODE", steps)
    kernel = _bdd.PythonKernel(6, 10**6)
    f = kernel.either(kernel.both(kernel.variable(0), kernel.variable(3)), kernel.both(kernel.variable(1), kernel.variable(2)))
    flat, root, _ = kernel.flat(f, lambda: None)
    with pytest.raises(_bdd.OverBudget):
        minimal_sets(flat, root, list(range(6)), nodes)

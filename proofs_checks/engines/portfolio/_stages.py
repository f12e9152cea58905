"""What the two workers do, stage by stage. Each stage is told how long it may take and reports what it found."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from proofs_checks.engines.portfolio._domain import undefined
from proofs_checks.engines.portfolio._search import Search
from proofs_checks.engines.smt._decide import TRUST, decide
from proofs_checks.harness.certificate import seal
from proofs_checks.harness.language import Problem

__all__ = ["Report", "algebra", "analysis", "sealed", "witness_report"]

Report = dict[str, Any]
MAX_NODES = 20_000


def sealed(problem: Problem, body: dict[str, Any]) -> dict[str, Any]:
    """The certificate of a statement of `prove`."""
    return seal(body, statement=problem.text(), subjects=[problem.subject])


def witness_report(problem: Problem, point: dict[str, Any], stage: str) -> Report:
    """A refutation; the point has been checked exactly by `Search.refutes`."""
    body = {"kind": "witness", "subject": problem.subject, "point": {name: point[name] for name in sorted(point)}}
    return {"stage": stage, "verdict": "refuted", "witness": body["point"], "certificate": sealed(problem, body)}


def analysis(problem: Problem, seed: int, deadline: float, cancelled: Callable[[], bool]) -> Iterator[Report]:
    """Domain, falsifier, ladder, interval branch and bound."""
    where, trusted = undefined(problem, None, cancelled)
    yield {"stage": "domain", "undefined": where, "trusted": trusted}
    search = Search(problem, seed, cancelled)
    for name, stage in (("small points", search.small), ("samples", search.wide)):
        point = stage()
        if point is not None:
            yield witness_report(problem, point, name)
            break
    yield {"stage": "searched"}


def algebra(problem: Problem, seed: int, deadline: float, cancelled: Callable[[], bool]) -> Iterator[Report]:
    """z3, z3 with lemmas, sums of squares, z3 again."""
    search = Search(problem, seed, cancelled)
    for limit in (1500, max(0, int(1000 * (deadline - time.monotonic())))):
        if cancelled():
            return
        found = decide(problem.subject, timeout_ms=limit, cancelled=cancelled)
        if found.verdict == "holds":
            yield {"stage": "z3", "verdict": "holds", "certificate": sealed(problem, found.body or {}),
                   "trusted": [TRUST], "engine": "smt"}
            return
        for point in found.points:
            if search.refutes(point):
                yield witness_report(problem, search.shrunk(point), "z3 model")
                return
        yield {"stage": "z3", "verdict": "open", "reason": found.reason}

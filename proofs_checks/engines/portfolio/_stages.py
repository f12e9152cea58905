"""What the two workers do, stage by stage. Each stage is told how long it may take and reports what it found."""
from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_checks.engines.portfolio._domain import undefined
from proofs_checks.engines.portfolio._search import Search
from proofs_checks.engines.smt._decide import TRUST, Found, decide
from proofs_checks.harness.certificate import seal
from proofs_checks.harness.checkers._reduction import Case
from proofs_checks.harness.language import Problem

__all__ = ["Report", "algebra", "analysis", "sealed", "warm", "witness_report"]

Report = dict[str, Any]
Never = Callable[[], bool]


def sealed(problem: Problem, body: dict[str, Any]) -> dict[str, Any]:
    """The certificate of a statement of `prove`."""
    return seal(body, statement=problem.text(), subjects=[problem.subject])


def witness_report(problem: Problem, point: dict[str, Any], stage: str) -> Report:
    """A refutation; the point has been checked exactly by `Search.refutes`."""
    body = {"kind": "witness", "subject": problem.subject, "point": {name: point[name] for name in sorted(point)}}
    return {"stage": stage, "verdict": "refuted", "witness": body["point"], "certificate": sealed(problem, body)}


def analysis(problem: Problem, seed: int, deadline: float, cancelled: Never) -> Iterator[Report]:
    """Domain, falsifier, ladder, interval branch and bound."""
    where, trusted = undefined(problem, lambda part: _by_cover(part, cancelled) is not None, cancelled)
    yield {"stage": "domain", "undefined": where, "trusted": trusted}
    search = Search(problem, seed, cancelled)
    point = search.small() or search.special()
    if point is not None:
        yield witness_report(problem, point, "small points")
        return
    yield {"stage": "vacuity", "vacuous": _vacuous(problem, search, cancelled)}
    point = search.wide()
    if point is not None:
        yield witness_report(problem, point, "samples")
        return
    yield {"stage": "searched"}
    if where:
        return
    notes: list[str] = []
    body = _by_cover(problem, cancelled, deadline - 0.2, notes)
    if body is not None:
        yield {"stage": "cover", "verdict": "holds", "certificate": sealed(problem, body), "engine": body["kind"]}
    else:
        yield {"stage": "cover", "verdict": "open", "reason": "; ".join(notes)}


def _vacuous(problem: Problem, search: Search, cancelled: Never) -> bool:
    """Whether the hypotheses contradict one another, so that anything follows."""
    if search.inside or not (problem.hypotheses or problem.integers) or problem.conclusion[0] == "false":
        return False
    nothing = replace(problem, conclusion=["false"])
    return decide(nothing.subject, timeout_ms=500, cancelled=cancelled).verdict == "holds" or \
        _by_cover(nothing, cancelled) is not None


class _Deadline(float):
    """A point in time that has also come once the task is cancelled: `now > deadline` asks `__lt__` of this class."""

    cancelled: Never

    def __new__(cls, at: float, cancelled: Never) -> _Deadline:
        self = super().__new__(cls, at)
        self.cancelled = cancelled
        return self

    def __lt__(self, now: float) -> bool:
        return float(self) < now or self.cancelled()

    def __le__(self, now: float) -> bool:
        return float(self) <= now or self.cancelled()


def _by_cover(problem: Problem, cancelled: Never, deadline: float | None = None, notes: list[str] | None = None
              ) -> dict[str, Any] | None:
    """The body of a certificate by covers of boxes and ladders, one for each case."""
    from proofs_checks.harness.checkers._reduction import cases

    notes = notes if notes is not None else []
    parts: list[dict[str, Any]] = []
    end = deadline or time.monotonic() + 1.0
    try:
        found = cases(problem.subject)
        for case in found:
            share = (end - time.monotonic()) / (len(found) - len(parts))
            part = _prove_case(case, time.monotonic() + share, cancelled, notes)
            if part is None:
                return None
            parts.append(part)
    except (ValueError, ArithmeticError, RecursionError) as error:
        notes.append(f"{type(error).__name__}: {error}")
        return None
    if len(parts) == 1 and parts[0]["kind"] == "interval":
        return {**parts[0], "subject": problem.subject}
    return {"kind": "implication", "subject": problem.subject, "parts": parts}


def _prove_case(case: Case, end_at: float, cancelled: Never, notes: list[str]) -> dict[str, Any] | None:
    """A cover with few boxes, then a ladder, then a cover with many."""
    from proofs_checks.engines.interval import BOXES, decide_trees
    from proofs_checks.harness.checkers.interval import end, leaf_holds
    from proofs_checks.harness.enclosures._leaf import Side, statement
    from proofs_checks.harness.evidence import Verdict

    domain = [Side(end(lo), end(hi)) for lo, hi in case.domain]
    given = [(tree, strict) for tree, strict in case.hypotheses]
    left = end_at - time.monotonic()
    if not case.variables and leaf_holds(statement(case.goal, ["_"]), case.strict, [], [Side(Fraction(0), Fraction(0))], "n"):
        return {"kind": "interval", "variables": ["_"], "domain": [["0", "0"]], "goal": case.goal, "strict": case.strict,
                "hypotheses": case.hypotheses, "boxes": [[["0", "0"]]], "methods": ["n"]}
    for boxes in (150, BOXES):
        found = decide_trees(case.goal, case.strict, given, case.variables, domain, boxes=boxes,
                             deadline=_Deadline(end_at - 0.7 * left if boxes != BOXES else end_at, cancelled))
        if found.verdict is Verdict.HOLDS and isinstance(found.certificate, Mapping):
            return {**found.certificate, "hypotheses": case.hypotheses}
        if boxes != BOXES:
            body = _ladder(case, domain, _Deadline(end_at - 0.3 * left, cancelled))
            if body is not None:
                return body
    notes.append(f"boxes: {found.summary}")
    return None


def _ladder(case: Case, domain: list[Any], deadline: float) -> dict[str, Any] | None:
    try:
        from proofs_checks.engines.ladder._solve import Solver
    except ImportError:
        return None
    if not case.variables:
        return None
    from proofs_checks.harness.checkers import ladder
    from proofs_checks.harness.checkers._ladder_rules import Sequent
    from proofs_checks.harness.checkers.interval import narrow
    from proofs_checks.harness.recheck import CertificateError

    given = tuple((tree, strict) for tree, strict in case.hypotheses)
    sides = narrow(case.variables, domain, given)
    if sides is None:
        return None
    proof = Solver(nodes=400, boxes=3000, deadline=deadline).solve(
        Sequent(case.goal, case.strict, given, tuple(case.variables), tuple(sides)))
    if proof is None:
        return None
    body = {"kind": "ladder", "variables": case.variables, "domain": case.domain, "goal": case.goal,
            "strict": case.strict, "hypotheses": case.hypotheses, "proof": proof}
    try:
        ladder.check(body)
    except CertificateError:
        return None
    return body


def algebra(problem: Problem, seed: int, deadline: float, cancelled: Never) -> Iterator[Report]:
    """z3, z3 with lemmas, sums of squares; then z3 with the rest of the time beside sums of squares with more."""
    search = Search(problem, seed, cancelled)
    found = decide(problem.subject, timeout_ms=150, cancelled=cancelled)
    yield from _of_z3(problem, search, found)
    if cancelled() or any(map(search.refutes, found.points)):
        return
    instances = found.body["instances"] if found.body is not None else []
    body = _by_squares(problem, instances, _until(min(deadline, time.monotonic() + 1.5), cancelled))
    yield _of_squares(problem, body)
    if body is not None or found.verdict == "holds" or cancelled():
        return
    later: list[Found] = []

    def look() -> None:
        left = max(1, int(1000 * (deadline - time.monotonic())))
        later.append(decide(problem.subject, timeout_ms=left, cancelled=cancelled))

    thread = threading.Thread(target=look, daemon=True)  # z3 works outside Python's lock
    thread.start()
    until = _until(min(deadline, time.monotonic() + 3.0), cancelled)
    body = _by_squares(problem, [], lambda: until() or bool(later and later[0].verdict == "holds"))
    yield _of_squares(problem, body)
    if body is None:
        thread.join(max(0.0, deadline - time.monotonic()))
        if later:
            yield from _of_z3(problem, search, later[0])


def _of_z3(problem: Problem, search: Search, found: Found) -> Iterator[Report]:
    if found.verdict == "holds" and found.body is not None:
        yield {"stage": "z3", "verdict": "holds", "certificate": sealed(problem, found.body), "trusted": [TRUST],
               "engine": "smt"}
        return
    point = next(filter(search.refutes, found.points), None)
    if point is not None:
        yield witness_report(problem, search.shrunk(point), "z3 model")
    else:
        yield {"stage": "z3", "verdict": "open", "reason": found.reason}


def _of_squares(problem: Problem, body: dict[str, Any] | None) -> Report:
    if body is None:
        return {"stage": "squares", "verdict": "open", "reason": "no certificate found"}
    return {"stage": "squares", "verdict": "holds", "certificate": sealed(problem, body), "engine": "sos"}


def warm(role: str) -> None:
    """Import what the role will need: done before a worker says that it is ready."""
    names = {"algebra": ("clarabel", "flint", "scipy.sparse", "z3", "proofs_checks.engines.sos"),
             "analysis": ("z3", "flint", "proofs_checks.engines.interval._search", "proofs_checks.engines.ladder._solve")}
    for name in names[role]:
        importlib.import_module(name)


def _until(end: float, cancelled: Never) -> Never:
    return lambda: cancelled() or time.monotonic() > end


def _by_squares(problem: Problem, instances: list[Any], cancelled: Never) -> dict[str, Any] | None:
    from proofs_checks.engines.sos._certify import certify, degree_of
    from proofs_checks.harness.checkers._induction import reciprocal

    if any(h[0] == "eq" for h in problem.hypotheses):
        try:  # where a product is 1, so is that of the reciprocals, and the fractions may be simpler
            other = reciprocal(problem.subject)
            if degree_of(other) < degree_of(problem.subject):
                found = certify(other, cancelled=cancelled, seconds=1.5)
                return found and {"kind": "implication", "subject": problem.subject, "reciprocal": True, "parts": [found]}
        except ValueError:
            pass
    return certify(problem.subject, instances=instances, cancelled=cancelled, seconds=1.5)

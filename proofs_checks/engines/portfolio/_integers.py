"""Integer parameters in exponents: value by value over a range, by induction beyond."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from proofs_checks.engines.portfolio._collect import VACUOUS
from proofs_checks.harness.certificate import seal
from proofs_checks.harness.checkers._induction import bounds_of, in_exponent, in_function, induction, specialised
from proofs_checks.harness.checkers._subject import hypotheses_and_goal
from proofs_checks.harness.evidence import Evidence, Rung, Verdict
from proofs_checks.harness.language import Problem
from proofs_checks.harness.trees import variables

__all__ = ["parameter", "prove_over"]

MOST_VALUES = 64
Prove = Callable[[Problem, float], Evidence]


def parameter(problem: Problem) -> str | None:
    """The integer that stands in an exponent, or in a function's argument with few values, if there is one."""
    for name in sorted(problem.integers):
        if in_exponent(problem.tree, name) or (in_function(problem.tree, name) and _values(problem, name) is not None):
            return name
    return None


def _values(problem: Problem, name: str) -> range | None:
    """All values of the integer if they are few."""
    low, high = bounds_of(problem.tree, name)
    return range(low, high + 1) if low is not None and high is not None and high - low < MOST_VALUES else None


def problem_of(subject: dict[str, Any], total: bool = False) -> Problem:
    """A subject as a problem whose box is open: its bounds are among the hypotheses."""
    hypotheses, goal = hypotheses_and_goal(subject["statement"])
    return Problem(box=dict.fromkeys(variables(subject["statement"]), (None, None)), hypotheses=tuple(hypotheses),
                   conclusion=goal, integers=frozenset(subject["integers"]), total=total)


def prove_over(problem: Problem, name: str, budget: float, prove: Prove) -> Evidence:
    """The verdict for all values of the parameter."""
    end = time.monotonic() + budget
    low, high = bounds_of(problem.tree, name)
    values = _values(problem, name)
    if values is not None:
        statements = [specialised(problem.subject, name, value) for value in values]
        body = {"kind": "implication", "subject": problem.subject, "over": {"variable": name, "from": low, "to": high}}
        scope = f"{name} = {low}..{high}"
    else:
        first = prove(problem, min(budget / 4, 2.0))
        if first.verdict is not Verdict.UNDECIDED or first.summary.startswith("not defined"):
            return first
        try:
            statements = list(induction(problem.subject, name))
        except ValueError as error:
            last = prove(problem, max(0.2, end - time.monotonic()))
            many = f"{name} takes more than {MOST_VALUES} values, which are not tried one by one; " if high is not None else ""
            if last.verdict is not Verdict.UNDECIDED:
                return last
            return replace(last, summary=f"{last.summary.rstrip('.')}; {many}{error}.")
        values = range(2)  # base and step
        body = {"kind": "implication", "subject": problem.subject, "induction": name}
        scope = f"all integers {name} >= {low}, by induction"
    return _together(problem, name, values, statements, body, scope, end, prove)


def _together(problem: Problem, name: str, values: range, statements: list[dict[str, Any]], body: dict[str, Any],
              scope: str, end: float, prove: Prove) -> Evidence:
    parts: list[dict[str, Any]] = []
    trusted: list[str] = []
    vacuous = "over" in body
    for value, subject in zip(values, statements, strict=True):
        part = problem_of(subject, problem.total)
        found = prove(part, max(0.2, (end - time.monotonic()) / (len(statements) - len(parts))))
        what = f"{name} = {value}" if "over" in body else ("base", "step")[value]
        if found.verdict is Verdict.REFUTED and ("over" in body or value == 0):
            return _refuted(problem, name, bounds_of(problem.tree, name)[0] if "induction" in body else value, found)
        if found.verdict is not Verdict.HOLDS or not isinstance(found.certificate, dict):
            return Evidence(rung=Rung.NUMERIC, verdict=Verdict.UNDECIDED, scope=scope,
                            summary=f"{what}: {found.summary}")
        parts.append({key: entry for key, entry in found.certificate.items()
                      if key not in ("schema", "claim", "variant", "statement", "subjects", "claim_hash")}
                     | {"subject": subject})
        trusted += found.trusted_base
        vacuous &= VACUOUS in found.summary
    if "induction" in body and len(problem.hypotheses) > 0:
        vacuous = prove(replace(problem, conclusion=["false"]), 1.0).verdict is Verdict.HOLDS
    certificate = seal({**body, "parts": parts}, statement=problem.text(), subjects=[problem.subject])
    return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.HOLDS, universal=True, scope=scope, certificate=certificate,
                    summary=f"proved for {scope}" + (VACUOUS if vacuous else ""), trusted_base=tuple(dict.fromkeys(trusted)))


def _refuted(problem: Problem, name: str, value: int | None, found: Evidence) -> Evidence:
    from fractions import Fraction

    inner = found.certificate if isinstance(found.certificate, dict) else {}
    point = {**inner.get("point", {}), name: str(value)}
    body = {"kind": "witness", "subject": problem.subject, "point": {key: point[key] for key in sorted(point)}}
    witness = {**found.witness, name: Fraction(value or 0)}
    at = ", ".join(f"{key} = {witness[key]}" for key in sorted(witness))
    return replace(found, witness={key: witness[key] for key in sorted(witness)}, summary=f"fails at {at}",
                   certificate=seal(body, statement=problem.text(), subjects=[problem.subject]))

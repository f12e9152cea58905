"""From the workers' reports to one `Evidence`, by rules that do not depend on who is first."""
from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from proofs_checks.engines.portfolio._pool import Pool
from proofs_checks.engines.portfolio._words import undecided
from proofs_checks.harness.evidence import Evidence, Rung, Verdict
from proofs_checks.harness.language import Problem, to_text
from proofs_checks.harness.trees import RELATIONS, Inexact, Tree, evaluate, from_tree, walk

__all__ = ["Reports", "collect"]

CERTIFY = 1.5  # seconds more for a certificate that needs no trust, once the verdict is known
VACUOUS = " (vacuous: the hypotheses contradict one another)"
SELF_CONTAINED = ("sos", "interval", "ladder", "implication")


@dataclass
class Reports:
    """What has come in so far."""

    algebraic: bool = False  # no transcendental terms: squares may certify it
    conditional: bool = False  # has hypotheses
    squares: bool = False  # they have been tried
    where: str | None = None  # "" defined, text: not defined, None: not known yet
    domain_trust: list[str] = field(default_factory=list)
    holds: dict[str, Any] | None = None
    refuted: dict[str, dict[str, Any]] = field(default_factory=dict)
    searched: bool = False
    vacuous: bool | None = None
    tried: dict[str, list[str]] = field(default_factory=dict)
    late: float | None = None  # the budget, once it is used up
    done: set[str] = field(default_factory=set)
    decided_at: float | None = None

    def take(self, role: str, report: dict[str, Any]) -> None:
        """Record a report."""
        stage, verdict = report["stage"], report.get("verdict")
        self.squares |= stage == "squares"
        if stage == "domain":
            self.where, self.domain_trust = report["undefined"], report["trusted"]
        elif stage in ("done", "ended"):
            self.done.add(role)
            self.searched |= role == "analysis"
        elif stage == "searched":
            self.searched = True
        elif stage == "vacuity":
            self.vacuous = report["vacuous"]
        elif verdict == "holds":
            if self.holds is None or _strength(report) > _strength(self.holds):
                self.holds = report
            self.decided_at = self.decided_at or time.monotonic()
        elif verdict == "refuted":
            self.refuted[stage] = report
        elif report.get("reason"):
            self.tried.setdefault(stage, []).append(report["reason"])

    def settled(self, roles: tuple[str, ...]) -> bool:
        """Whether nothing that may still come would change the answer for the better."""
        if set(roles) <= self.done:
            return True
        if "small points" in self.refuted or "samples" in self.refuted or (self.refuted and self.searched):
            return True
        if self.where and self.searched and "algebra" in self.done:
            return True
        if self.holds is None or self.where is None:
            return False
        if self.conditional and self.vacuous is None and "analysis" not in self.done:
            return False  # whether the hypotheses contradict one another is to be said
        if _strength(self.holds) == 3 or (_strength(self.holds) == 2 and not self.algebraic):
            return True
        if self.algebraic and not self.squares and "algebra" not in self.done:
            return False  # what is a sum of squares gets that certificate, however long the imports take
        late = self.decided_at is not None and time.monotonic() > self.decided_at + CERTIFY
        return _strength(self.holds) == 2 or late


def _strength(report: dict[str, Any]) -> int:
    kind = (report.get("certificate") or {}).get("kind")
    return 3 if kind == "sos" else 2 if kind in SELF_CONTAINED else 1 if kind else 0


def collect(pool: Pool, problem: Problem, seconds: float) -> Evidence:
    """Wait for the workers until the answer is settled or the time is over."""
    reports = Reports(algebraic=not _transcendental(problem), conditional=bool(problem.hypotheses or problem.integers)
                      and problem.conclusion != ["false"])
    end = time.monotonic() + seconds
    while not reports.settled(pool.roles):
        left = end - time.monotonic()
        if left <= 0:
            reports.late = seconds
            break
        line = pool.report(min(left, 0.05))
        if line is not None:
            reports.take(*line)
    pool.cancel()
    return conclude(problem, reports)


def _transcendental(problem: Problem) -> bool:
    plain = {"var", "add", "mul", "pow", "abs", "min", "max", "and", "or", "not", "implies", "true", "false", *RELATIONS}
    return any(isinstance(node, list) and node[0] not in plain for node in walk(problem.tree))


def conclude(problem: Problem, reports: Reports) -> Evidence:
    """The verdict."""
    if reports.refuted and reports.holds and not reports.where:
        return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.ERROR, summary="two engines contradict each other: "
                        f"{reports.holds['stage']} proved it, {', '.join(reports.refuted)} refuted it")
    if reports.refuted:
        stage = next(s for s in ("small points", "samples", "z3 model") if s in reports.refuted)
        report = reports.refuted[stage]
        point = report["witness"]
        at = ", ".join(f"{name} = {to_text(x)}" for name, x in point.items())
        return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.REFUTED, scope=_scope(problem),
                        summary=f"fails at {at}" if at else "false, with no variables",
                        witness={name: exact(x) for name, x in point.items()}, certificate=report["certificate"])
    if reports.where:
        return Evidence(rung=Rung.NUMERIC, verdict=Verdict.UNDECIDED, scope=_scope(problem), summary=reports.where)
    if reports.holds and reports.where == "":
        report = reports.holds
        return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.HOLDS, universal=True, scope=_scope(problem),
                        summary=_how(report) + (VACUOUS if reports.vacuous else ""),
                        certificate=report.get("certificate"),
                        trusted_base=tuple(dict.fromkeys([*report.get("trusted", []), *reports.domain_trust])))
    return Evidence(rung=Rung.NUMERIC, verdict=Verdict.UNDECIDED, scope=_scope(problem),
                    summary=undecided(reports.tried, searched=reports.searched, late=reports.late,
                                      functions=not reports.algebraic))


def _how(report: dict[str, Any]) -> str:
    certificate = report.get("certificate") or {}
    kind = certificate.get("kind")
    names = {"interval": "a cover of boxes", "ladder": "a ladder of derivatives", "implication": "covers and ladders",
             "sos": "sums of squares", "lemma": "z3 with lemma instances"}
    sizes = {"lemma": ("instances", "instances"), "sos": ("blocks", "blocks"), "interval": ("boxes", "boxes"),
             "implication": ("parts", "cases")}
    size = f" ({sizes[kind][1]}: {len(certificate.get(sizes[kind][0], ()))})" if kind in sizes else ""
    return f"proved by {names.get(str(kind), report['stage'])}{size}"


def _scope(problem: Problem) -> str:
    names = ", ".join(problem.box)
    return f"all real {names} of the domain" if names else "no variables"


def exact(tree: Tree) -> Any:
    """A coordinate as a Fraction, else as an exact sympy number."""
    try:
        return Fraction(evaluate(tree, {}))
    except Inexact:
        return from_tree(tree)

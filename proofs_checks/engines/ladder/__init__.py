"""Derivative ladders: inequalities whose two sides touch, or run off to infinity, proved by monotonicity and algebra.

Factors of known sign are split off, rational functions of one generator (x, exp(x), a root) are decided by Sturm's
theorem, the rest is differentiated: towards an end where the value is known exactly or as a limit, with one variable moving
and the others as parameters. Poles and the ends of domains are excluded before any step. What comes out is a proof tree that
`harness.checkers.ladder` verifies with the standard library; it is accepted there before it is reported."""
from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from proofs_checks.engines import interval
from proofs_checks.harness import trees
from proofs_checks.harness.checkers import ladder as checker
from proofs_checks.harness.checkers._ladder_rules import Sequent
from proofs_checks.harness.checkers.interval import narrow
from proofs_checks.harness.enclosures._leaf import Side
from proofs_checks.harness.evidence import Evidence, Rung, Verdict
from proofs_checks.harness.recheck import CertificateError

__all__ = ["decide", "decide_on", "prove_trees"]


def decide(goal: Any, strict: bool, variable: Any, lo: Any, hi: Any, *,
           others: Mapping[Any, tuple[Any, Any]] | None = None, hypotheses: Sequence[tuple[Any, bool]] = (),
           nodes: int = 400, deadline: float | None = None) -> Evidence:
    """goal >= 0 (> 0 if `strict`) for lo <= variable <= hi, and for `others` (parameters) in their ranges."""
    return decide_on(goal, strict, hypotheses, {variable: (lo, hi), **(others or {})}, nodes=nodes, deadline=deadline)


def decide_on(goal: Any, strict: bool, hypotheses: Sequence[tuple[Any, bool]], box: Mapping[Any, tuple[Any, Any]], *,
              nodes: int = 400, boxes: int = 3000, deadline: float | None = None, seed: int = 0) -> Evidence:
    """The same arguments and answers as `interval.decide`; certificates of kind "ladder" or, for a plain cover, "interval".

    `nodes` and `boxes` bound the work, `deadline` (time.monotonic) the time."""
    first = interval.decide(goal, strict, hypotheses, box, boxes=150, deadline=deadline, seed=seed)
    if first.verdict is not Verdict.UNDECIDED:
        return first
    start = time.perf_counter()
    domain = [interval.outward(*ends) for ends in box.values()]
    given = [(trees.to_tree(h), flag) for h, flag in hypotheses]
    found = prove_trees(trees.to_tree(goal), strict, given, [symbol.name for symbol in box], domain, nodes=nodes,
                        boxes=boxes, deadline=deadline)
    if found is None:
        last = interval.decide(goal, strict, hypotheses, box, boxes=10 * boxes, deadline=deadline, seed=seed)
        return Evidence(**{**interval._fields(last), "seconds": time.perf_counter() - start + first.seconds})
    return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.HOLDS, scope=first.scope, certificate=found,
                    summary=f"ladder of {_steps(found['proof'])} steps", seconds=first.seconds + time.perf_counter() - start)


def prove_trees(goal: trees.Tree, strict: bool, hypotheses: Sequence[tuple[trees.Tree, bool]], variables: Sequence[str],
                domain: Sequence[Side], *, nodes: int = 400, boxes: int = 3000,
                deadline: float | None = None) -> dict[str, Any] | None:
    """The body of a certificate that the checker accepts, None if no ladder is found."""
    from proofs_checks.engines.ladder._solve import Solver

    given = tuple((tree, flag) for tree, flag in hypotheses)
    sides = narrow(variables, domain, given)
    if sides is None:
        return None
    sequent = Sequent(goal, strict, given, tuple(variables), tuple(sides))
    node = Solver(nodes=nodes, boxes=boxes, deadline=deadline).solve(sequent)
    if node is None:
        return None
    body = {"kind": "ladder", "variables": list(variables),
            "domain": [[interval._text(s.lo), interval._text(s.hi)] for s in domain], "goal": goal, "strict": strict,
            "hypotheses": [[tree, flag] for tree, flag in given], "proof": node}
    try:
        checker.check(body)
    except CertificateError:
        return None  # the search is not trusted, so what it got wrong is no proof
    return body


def _steps(node: Any) -> int:
    """Rules used in a proof tree."""
    if isinstance(node, dict):
        return ("rule" in node) + sum(_steps(value) for value in node.values())
    return sum(_steps(item) for item in node) if isinstance(node, list) else 0

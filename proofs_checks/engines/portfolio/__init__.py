"""`prove`: every engine on one statement, in two processes, with one answer that does not depend on who is first.

Order: domain, exact falsifier (first process) beside z3, z3 with lemmas, sums of squares (second process); then the
derivative ladder and interval branch and bound. A refutation is an exact point; a proof carries a certificate where
an engine yields one; everything else is UNDECIDED and says what was tried."""
from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from proofs_checks.engines.portfolio._collect import collect
from proofs_checks.engines.portfolio._integers import parameter, prove_over
from proofs_checks.engines.portfolio._pool import POOL
from proofs_checks.engines.portfolio._worker import pack
from proofs_checks.harness.evidence import Evidence, Rung, Verdict
from proofs_checks.harness.language import Problem, read_problem
from proofs_checks.harness.trees import walk

__all__ = ["prove", "prove_problem"]

MAX_NODES = 20_000


def prove(statement: Any, domain: Mapping[Any, Any] | None = None, *, budget: float = 10.0, seed: int = 0) -> Evidence:
    """Prove or refute a statement over the reals.

    `statement` is text such as "x**2 + y**2 >= 2*x*y", or a sympy relation, And, Or, Not or Implies. `domain` maps
    symbols or names to (lo, hi), closed, "oo" allowed, or to a `range` for an integer; the default is all reals. Two
    entries for one name (a symbol and its text) hold together; a domain without a point makes the statement vacuous,
    which `summary` says. A term is real or not defined: x/0, log 0 and sqrt(-1) have no value, 0**0 is 1 where the
    exponent is an integer throughout. What is not defined on the whole domain is never proved.
    `budget` is in seconds. HOLDS, REFUTED with an exact witness {name: Fraction or exact sympy number}, or UNDECIDED
    with the reason in `summary`. ValueError names `statement`, `domain` or `budget`."""
    if not budget > 0:
        raise ValueError(f"budget={budget!r} must be a positive number of seconds")
    return prove_problem(read_problem(statement, domain), budget=budget, seed=seed)


def _decide(problem: Problem, budget: float, seed: int) -> Evidence:
    with POOL.lock:
        POOL.start(pack(problem), seed, budget)
        return collect(POOL, problem, budget)


def prove_problem(problem: Problem, *, budget: float = 10.0, seed: int = 0) -> Evidence:
    """The same for a problem that has been read."""
    start = time.perf_counter()
    if problem.decided:
        return Evidence(rung=Rung.SYMBOLIC, verdict=Verdict.HOLDS, universal=True, summary=problem.decided,
                        trusted_base=("sympy's assumptions",))
    size = sum(1 for _ in walk(problem.tree))
    if size > MAX_NODES:
        found = Evidence(rung=Rung.NUMERIC, verdict=Verdict.UNDECIDED,
                         summary=f"too large: {size} nodes, the limit is {MAX_NODES}")
    elif (name := parameter(problem)) is not None:
        found = prove_over(problem, name, budget, lambda part, seconds: _decide(part, seconds, seed))
    else:
        found = _decide(problem, budget, seed)
    return replace(found, seconds=time.perf_counter() - start)

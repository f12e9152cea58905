"""z3 as refuter and as prover, with lemma instances for transcendental terms; its certificates are re-checkable texts.

`decide` gives one statement to z3; `forall` is the check for evidence in `proofs_checks`. z3's own division is total,
so its models are only candidates: a refutation is a rational point at which the claim's own function fails."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.engines import _statements as statements
from proofs_checks.engines._own_numbers import tried
from proofs_checks.engines.smt._decide import TRUST, decide
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict
from proofs_checks.harness.trees import Inexact, Undefined, evaluate, holds

__all__ = ["decide", "forall"]

WORK = 20_000_000  # z3's resource count for one attempt, some seconds


def forall(predicate: Callable[..., Any], arity_or_symbols: Any, *, given: Callable[..., Any] | None = None,
           universal: bool = False) -> Check:
    """predicate(x, ...) for all reals, or for those where `given` holds.

    `predicate` returns a relation of its arguments (or an expression that is >= 0, or a tuple of these); this engine
    applies it to real symbols, `at` to Fractions. The budget is z3's resource count for one attempt. HOLDS trusts z3's
    "unsat" for the text in the certificate; REFUTED comes with a rational point.
    `Vacuous` is raised by `.run()` if nothing satisfies `given`."""
    names = statements.names_of(arity_or_symbols)

    def run(context: Context) -> Evidence:
        from proofs_checks.engines.portfolio._domain import undefined
        from proofs_checks.engines.portfolio._search import Search

        problem = statements.satisfiable(statements.problem_of(predicate, names, given))
        scope = f"all real {', '.join(names)}" + (" that satisfy the hypotheses" if given else "")
        where, trusted = undefined(problem, work=2_000_000)
        search = Search(problem)
        point = search.small()
        found = decide(problem.subject, work=context.budget or WORK) if point is None else None
        if found is not None:
            point = next((search.shrunk(p) for p in found.points if search.refutes(p)), None)
            if point is None and found.verdict != "holds":
                point = search.wide()
        if point is not None and not any(isinstance(x, list) for x in point.values()):
            witness = {name: Fraction(evaluate(point[name], {})) for name in names}
            at_text = ", ".join(f"{name} = {x}" for name, x in witness.items())
            return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.REFUTED, scope=scope, witness=witness,
                            summary=f"fails at {at_text}")
        if where:
            return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.UNDECIDED, scope=scope, summary=where)
        if found is not None and found.verdict == "holds":
            return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.HOLDS, universal=universal, scope=scope,
                            summary=f"unsat with {len((found.body or {})['instances'])} lemma instances",
                            certificate=found.body, trusted_base=(TRUST, *trusted))
        return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.UNDECIDED, scope=scope,
                        summary=f"z3: {found.reason if found else 'only a point that is not rational'}")

    def at(witness: Any) -> bool:
        return statements.survives(predicate, given, statements.exact_point(witness, names))

    return Check(engine="smt", rung=Rung.CERTIFIED, subject=lambda: statements.problem_of(predicate, names, given).subject,
                 decide=lambda context: tried(run(context), (predicate, given), names, at), at=at,
                 binds=lambda certificate: _agrees(certificate, predicate, given, names))


def _agrees(certificate: Mapping[str, Any], predicate: Callable[..., Any], given: Callable[..., Any] | None,
            names: list[str], points: int = 20) -> bool:
    """Whether the certified statement and the claim's own functions agree, at points that the hypotheses allow."""
    compared = 0
    try:
        statement = certificate["subject"]["statement"]
        for point in statements.samples(400 * points, len(names)):
            try:
                concerns = statements.concerns(given, point)
                certified = holds(statement, dict(zip(names, point, strict=True)))
                if certified != statements.survives(predicate, given, point):
                    return False
            except (Undefined, Inexact, ZeroDivisionError):
                continue
            compared += concerns
            if compared == points:
                return True
    except (KeyError, TypeError, ValueError, IndexError):
        return False
    return False

"""Sums of squares with exact certificates: floats find, rationals prove, a point refutes.

`certify` looks for a certificate of a statement; `nonnegative` is the check for evidence in `proofs_checks`, with
budgets that count work."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.engines import _statements as statements
from proofs_checks.engines._own_numbers import tried
from proofs_checks.engines.sos._certify import certify
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict
from proofs_checks.harness.trees import Inexact, Undefined, evaluate, holds

__all__ = ["certify", "nonnegative"]

SAMPLES = 6000


def nonnegative(function: Callable[..., Any], arity_or_symbols: Any, *, given: Callable[..., Any] | None = None,
                universal: bool = False) -> Check:
    """function(x, ...) >= 0 for all reals, or for those where `given` holds: certified by squares, refuted by a point.

    `function` is applied to real symbols by this engine and to Fractions by `at`; with several variables it may take
    them one by one or as one list. `arity_or_symbols` is a number or names. `given` returns relations, or expressions
    that are >= 0, one or a tuple. The budget counts the samples of the search for a refutation. A float solver's
    "infeasible" is never a refutation: without a certificate and without a point the verdict is UNDECIDED.
    `Vacuous` is raised by `.run()` if nothing satisfies `given`."""
    names = statements.names_of(arity_or_symbols)

    def subject() -> Any:
        return statements.problem_of(function, names, given).subject

    def run(context: Context) -> Evidence:
        from proofs_checks.engines.portfolio._domain import undefined
        from proofs_checks.engines.portfolio._search import Search

        problem = statements.satisfiable(statements.problem_of(function, names, given))
        scope = f"all real {', '.join(names)}" + (" that satisfy the hypotheses" if given else "")
        search = Search(problem)
        point = search.small() or search.wide(samples=context.budget or SAMPLES)
        if point is not None and all(not isinstance(x, list) for x in point.values()):
            witness = {name: Fraction(evaluate(point[name], {})) for name in names}
            return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.REFUTED, scope=scope, witness=witness,
                            summary=f"{statements.call(function, list(witness.values()))} at "
                            f"{', '.join(f'{name} = {x}' for name, x in witness.items())}")
        where, trusted = undefined(problem, work=2_000_000)
        if where:
            return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.UNDECIDED, scope=scope, summary=where)
        body = certify(problem.subject)
        if body is None:
            return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.UNDECIDED, scope=scope,
                            summary="no certificate by squares and no point that refutes was found")
        size = sum(len(block["basis"]) for block in body["blocks"])
        return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.HOLDS, universal=universal, scope=scope,
                        summary=f"{len(body['blocks'])} blocks, {size} monomials in all", certificate=body,
                        trusted_base=tuple(trusted))

    def at(witness: Any) -> bool:
        return statements.survives(function, given, statements.exact_point(witness, names))

    def binds(certificate: Mapping[str, Any]) -> bool:
        return agrees(certificate, function, names)

    return Check(engine="sos", rung=Rung.CERTIFIED, subject=subject, at=at, binds=binds,
                 decide=lambda context: tried(run(context), (function, given), names, at))



def agrees(certificate: Mapping[str, Any], function: Callable[..., Any], names: list[str], points: int = 20) -> bool:
    """Whether the certified statement and the function say the same at rational points; where the certificate is a
    plain sum of squares, its value there must be the function's."""
    try:
        conclusion = certificate["subject"]["statement"]
        while conclusion[0] == "implies":
            conclusion = conclusion[2]
        if conclusion[0] not in ("ge", "gt"):
            return False
        compared = 0
        for point in statements.samples(4 * points, len(names)):
            try:
                at = dict(zip(names, point, strict=True))
                certified = evaluate(conclusion[1], at) - evaluate(conclusion[2], at)
                own = Fraction(statements.call(function, point))
            except (Undefined, Inexact, ZeroDivisionError):
                continue
            if certified != own or holds(conclusion, at) != (own >= 0):
                return False
            compared += 1
            if compared == points:
                return True
    except (KeyError, TypeError, ValueError, IndexError):
        return False
    return False

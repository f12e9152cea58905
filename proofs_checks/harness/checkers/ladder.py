"""Kind "ladder": a proof tree whose steps are algebra and monotonicity and whose leaves are covers and root counts.

    {"kind": "ladder", "variables", "domain", "goal", "strict", "hypotheses" (as in kind "interval"), "proof": node}

Every node proves: the goal is defined and >= 0 (> 0 if strict) at each point of the domain that satisfies the hypotheses.
Rules (modules `_ladder_rules`, `_ladder_calculus`); equations and derivatives are verified as normal forms
(`harness.algebra`), so nothing that the engine simplified has to be believed:

    cover    boxes and methods, as in kind "interval"
    cases    |u|, max or min replaced by each of its alternatives
    resolve  the same, where it is shown which alternative holds
    split    the domain cut along one variable
    substitute  x = y + d for an order x >= y that is a hypothesis
    square   P + Q >= 0 from P >= 0 and P^2 >= Q^2
    product  goal = constant times factors of known sign
    roots    a rational function of one generator: Sturm's theorem
    derive   Taylor: values at a base and a derivative of one sign
    toward   the slope is (v - base) times something >= 0
    ends     the slope is (positive) times (decreasing): the least value is at an end
    bound    a polygamma replaced by its asymptotic bound

Before a rule of algebra or calculus, every logarithm, root and quotient of the goal is shown to be defined on
the domain, so that a pole cannot hide between two steps."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs_checks.harness.checkers._ladder_rules import Sequent, prove
from proofs_checks.harness.checkers._subject import check_about, only
from proofs_checks.harness.checkers.interval import end, narrow
from proofs_checks.harness.enclosures._leaf import Side
from proofs_checks.harness.recheck import CertificateError

__all__ = ["check"]


def check(certificate: Mapping[str, Any]) -> None:
    """Raise `CertificateError` unless the certificate proves its statement."""
    only(certificate, "variables", "domain", "goal", "strict", "hypotheses", "proof")
    check_about(certificate)
    variables, domain = certificate["variables"], certificate["domain"]
    if not variables or len(set(variables)) != len(variables) or len(domain) != len(variables):
        raise CertificateError("variables must be distinct, with one side of the domain each")
    hypotheses = tuple((tree, flag) for tree, flag in certificate["hypotheses"])
    if not isinstance(certificate["strict"], bool) or any(not isinstance(flag, bool) for _, flag in hypotheses):
        raise CertificateError("'strict' and the flags of hypotheses must be true or false")
    sides = narrow(variables, [Side(end(lo), end(hi)) for lo, hi in domain], hypotheses)
    if sides is None:
        return
    prove(Sequent(certificate["goal"], certificate["strict"], hypotheses, tuple(variables), tuple(sides)),
          certificate["proof"])

"""What the moves of the ladder share."""
from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_checks.engines.ladder._factor import factor
from proofs_checks.harness.algebra import Field, Form
from proofs_checks.harness.algebra._forms import times
from proofs_checks.harness.checkers._ladder_rules import BITS, Sequent
from proofs_checks.harness.enclosures import negative, positive
from proofs_checks.harness.enclosures._leaf import natural, statement
from proofs_checks.harness.trees import Tree

__all__ = ["LOG_LIKE", "WORK", "Node", "cancelled", "evident", "linear"]

Node = dict[str, Any]
LOG_LIKE = ("log", "atan", "asin", "erf", "loggamma", "asinh", "acosh")
WORK = 200_000  # products of terms in one normal form; more is not worth the wait


def evident(s: Sequent, tree: Tree) -> int:
    """The sign of a tree on the domain where one enclosure shows it, else 0."""
    e = natural(statement(tree, s.variables), s.sides, BITS)
    if e is None:
        return 0
    return 1 if positive(e) else -1 if negative(e) else 0


def linear(field: Field, part: Form, v: str) -> bool:
    """Whether a factor is v + constant."""
    g = ((field._generator("var", v), Fraction(1)),)
    return set(part.top) <= {g, ()} and part.top.get(g) == 1


def cancelled(form: Form) -> Form:
    """The form with common factors of numerator and denominators removed."""
    if not form.top or not form.bottom:
        return form
    c, parts = factor(form)
    top: dict[Any, Fraction] = {(): c}
    bottom: dict[Any, int] = {}
    for part, e in parts:
        if e < 0 and len(part.top) > 1:
            bottom[tuple(sorted(part.top.items()))] = -e
            continue
        for _ in range(abs(e)):
            step = part.top if e > 0 else {tuple((g, -q) for g, q in m): 1 / k for m, k in part.top.items()}
            out: dict[Any, Fraction] = {}
            for m, k in top.items():
                for n, q in step.items():
                    key = times(m, n)
                    out[key] = out.get(key, Fraction(0)) + k * q
            top = {m: k for m, k in out.items() if k}
    return Form(top, bottom)

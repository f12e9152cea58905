"""What the moves of the ladder share."""
from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_checks.harness.algebra import Field, Form
from proofs_checks.harness.checkers._ladder_rules import BITS, Sequent
from proofs_checks.harness.enclosures import negative, positive
from proofs_checks.harness.enclosures._leaf import natural, statement
from proofs_checks.harness.trees import Tree

__all__ = ["LOG_LIKE", "WORK", "Node", "evident", "linear"]

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

"""Lemma instances beside a statement: what they may divide by and which roots they may speak of. Standard library only.

A statement speaks of the points where all its terms are defined, so its own denominators are not zero and its own
radicands not negative. What only an instance divides by, or takes a root of, may be anything: an instance that mentions
1/x would say that x is not 0, a variable called sqrt(x) that x >= 0. Such certificates are refused."""
from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from proofs_checks.harness.checkers._schemas import instance
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Inexact, Tree, Undefined, evaluate, number, variables, walk

__all__ = ["check_atoms", "relations"]


def relations(items: Iterable[Any], statement: Tree) -> list[Tree]:
    """What the instances say. ValueError for one that divides by a term that the statement does not divide by."""
    known = set(_partial(statement))
    found = []
    for item in items:
        relation = instance(item)
        foreign = [term for term in _partial(relation) if term not in known]
        if foreign:
            raise ValueError(f"instance {item[0]} divides by, or takes a root of, what the statement does not: {foreign[0]}")
        found.append(relation)
    return found


def check_atoms(names: Iterable[Any], statement: Tree) -> None:
    """Raise `CertificateError` if a variable of a certificate is a root that the statement does not have."""
    known = set(_partial(statement))
    for name in names:
        if isinstance(name, str) and name.startswith("["):
            foreign = [term for term in _partial(json.loads(name)) if term not in known]
            if foreign:
                raise CertificateError("a variable stands for a root or quotient that the statement does not have: "
                                       f"{foreign[0]}")


def _partial(tree: Tree) -> Iterable[str]:
    """Roots and divisors in a tree, as text; written numbers that are positive need no condition."""
    for node in walk(tree):
        if not isinstance(node, list):
            continue
        if node[0] == "tan":
            yield json.dumps(["divisor", ["cos", node[1]]])
        elif node[0] == "pow" and isinstance(node[2], str) and not _positive(node[1]):
            n = number(node[2])
            if n.denominator != 1:
                yield json.dumps(["root", node[1], str(n.denominator)])
            if n < 0:
                yield json.dumps(["divisor", node[1]])


def _positive(tree: Tree) -> bool:
    if variables(tree):
        return False
    try:
        return evaluate(tree, {}) > 0
    except (Inexact, Undefined, ValueError):
        return tree in (["E"], ["pi"])

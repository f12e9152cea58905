"""Which statement a certificate proves. Standard library only."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs_checks.harness.language.text import to_text
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree

__all__ = ["conjuncts", "hypotheses_and_goal", "subject_of"]


def subject_of(certificate: Mapping[str, Any]) -> Mapping[str, Any]:
    """The subject {"statement", "integers"} that the body talks about; it must be among those that the hash covers.

    Where nobody's claim is proved but the statement itself (`prove`), the statement in words must be this subject's."""
    subjects = certificate["subjects"]
    subject = certificate.get("subject", subjects[0] if len(subjects) == 1 else None)
    if subject not in subjects or not isinstance(subject, dict) or "statement" not in subject:
        raise CertificateError("the certificate does not say which of its subjects it proves")
    if not certificate["claim"] and certificate["statement"] and certificate["statement"] != to_text(subject["statement"]):
        raise CertificateError("the statement in words is not the one that is proved")
    return subject


def conjuncts(tree: Tree) -> list[Tree]:
    """The parts of a conjunction, nested ones included."""
    return [part for child in tree[1:] for part in conjuncts(child)] if tree[0] == "and" else [tree]


def hypotheses_and_goal(statement: Tree) -> tuple[list[Tree], Tree]:
    """The hypotheses of an implication, conjunctions opened, and its conclusion."""
    found: list[Tree] = []
    while statement[0] == "implies":
        found += conjuncts(statement[1])
        statement = statement[2]
    return found, statement

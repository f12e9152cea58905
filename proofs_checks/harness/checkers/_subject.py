"""Which statement a certificate proves. Standard library only."""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from proofs_checks.harness.language.text import words
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree, variables

_NAME = re.compile(r"[^\s()\[\]*/+\-<>=&|~,^]+")

HEADER = frozenset(("schema", "kind", "claim_hash", "claim", "variant", "statement", "subjects", "subject", "engine",
                    "module"))

__all__ = ["HEADER", "check_about", "conjuncts", "hypotheses_and_goal", "only", "subject_of"]


def only(found: Mapping[str, Any], *allowed: str, header: bool = True) -> None:
    """Raise if there is a field that nobody reads: it could be taken for a part of what was checked."""
    unknown = sorted(map(str, set(found) - set(allowed) - (HEADER if header else set())))
    if unknown:
        raise CertificateError(f"unknown field {unknown[0]!r}; known here: {', '.join(sorted(allowed))}")


def subject_of(certificate: Mapping[str, Any]) -> Mapping[str, Any]:
    """The subject {"statement", "integers"} that the body talks about; it must be among those that the hash covers.

    Where nobody's claim is proved but the statement itself (`prove`), the statement in words must be this subject's."""
    subjects = certificate["subjects"]
    subject = certificate.get("subject", subjects[0] if len(subjects) == 1 else None)
    if subject not in subjects or not isinstance(subject, dict) or "statement" not in subject:
        raise CertificateError("the certificate does not say which of its subjects it proves")
    if not certificate["claim"] and certificate["statement"] and certificate["statement"] != words(subject):
        raise CertificateError("the statement in words is not the one that is proved")
    strange = [name for name in variables(subject["statement"]) if not _NAME.fullmatch(name)]
    if strange:  # its text could be read as something else
        raise CertificateError(f"a variable is called {strange[0]!r}")
    return subject


def check_about(certificate: Mapping[str, Any]) -> None:
    """Raise unless the inequality that a cover or ladder proves is one of the subjects that its hash covers.

    A part of another certificate has no subjects of its own; the whole compares it with its case."""
    if "subjects" not in certificate:
        return
    body = [certificate[k] for k in ("goal", "strict", "hypotheses", "variables", "domain")]
    if not any(isinstance(subject, list) and subject[1:] == body for subject in certificate["subjects"]):
        from proofs_checks.harness.checkers.implication import bind

        bind(certificate)


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

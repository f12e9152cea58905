"""Statements of known truth, by class, most of them at a boundary: touching zeros, poles at an end, strict and not,
empty domains, integers. Each is decided rightly, with a certificate that the checker accepts; none is ever wrong."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofs_checks.engines.portfolio import prove_problem
from proofs_checks.harness.evidence import Verdict
from proofs_checks.harness.language import read_domain, read_problem
from proofs_checks.harness.recheck import recheck

FILE = Path(__file__).parent / "data" / "prove_statements.json"  # class -> [statement, domain, true | false | "undefined"]
STATEMENTS = [(kind, *row) for kind, rows in json.loads(FILE.read_text(encoding="utf-8")).items() for row in rows]


@pytest.mark.parametrize(("kind", "statement", "domain", "truth"), STATEMENTS)
def test_the_verdict_is_the_truth(kind: str, statement: str, domain: str, truth: bool | str) -> None:
    entries, given = read_domain(domain)
    found = prove_problem(read_problem(statement, entries, given), budget=20)
    wanted = {True: Verdict.HOLDS, False: Verdict.REFUTED, "undefined": Verdict.UNDECIDED}[truth]
    assert found.verdict is wanted, (kind, found.summary)
    if truth == "undefined":
        assert "not defined" in found.summary
    else:
        assert found.certificate is not None
        assert recheck(found.certificate)


def test_every_class_has_both_verdicts() -> None:
    for kind in {row[0] for row in STATEMENTS}:
        assert {True, False} <= {row[3] for row in STATEMENTS if row[0] == kind}, kind

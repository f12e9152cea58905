"""The language of statements: formulas, domains and SMT-LIB files become `Problem`s. Nothing is ever evaluated."""
from __future__ import annotations

from proofs_checks.harness.language.formula import ParseError, parse
from proofs_checks.harness.language.problem import Problem, read_domain, read_problem
from proofs_checks.harness.language.smtlib import read_smtlib
from proofs_checks.harness.language.text import to_text

__all__ = ["ParseError", "Problem", "parse", "read_domain", "read_problem", "read_smtlib", "to_text"]

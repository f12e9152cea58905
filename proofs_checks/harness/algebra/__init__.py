"""Exact algebra for checkers: normal forms of expressions, derivatives, real roots. Standard library only."""
from __future__ import annotations

from proofs_checks.harness.algebra._field import Field
from proofs_checks.harness.algebra._forms import Form, Unsupported
from proofs_checks.harness.algebra._roots import nonnegative_on, rational_bounds

__all__ = ["Field", "Form", "Unsupported", "nonnegative_on", "rational_bounds"]

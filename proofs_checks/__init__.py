"""What we know: engines that decide, a harness that judges, and the evidence for each paper."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofs_checks.harness.evidence import Evidence

__all__ = ["prove"]


def prove(statement: Any, domain: Mapping[Any, tuple[Any, Any]] | None = None, *, budget: float = 10.0, seed: int = 0
          ) -> Evidence:
    """Decide a statement over the reals: HOLDS, REFUTED with an exact witness, or UNDECIDED with the reason.

    `statement` is a sympy relational, And or Implies, or text such as "x**2 + y**2 >= 2*x*y"; `domain` maps symbols or
    names to closed ranges (lo, hi), `oo` allowed; `budget` is in seconds. See `proofs_checks.engines.portfolio`."""
    from proofs_checks.engines.portfolio import prove as decide

    return decide(statement, domain, budget=budget, seed=seed)

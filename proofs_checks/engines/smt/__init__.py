"""z3 as refuter and as prover, with lemma instances for transcendental terms; its certificates are re-checkable texts."""
from __future__ import annotations

from proofs_checks.engines.smt._decide import decide

__all__ = ["decide"]

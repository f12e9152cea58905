"""Sums of squares with exact certificates: floats find, rationals prove."""
from __future__ import annotations

from proofs_checks.engines.sos._certify import certify

__all__ = ["certify"]

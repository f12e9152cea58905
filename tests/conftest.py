"""Claims of these modules are fixtures, red ones among them: pytest judges none of them by itself."""
from __future__ import annotations

from typing import Any

import simulations  # noqa: F401 - before a test module loads jax by way of equinox: programs then share one cache
from theory.claim import Claim


def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> list[Any] | None:
    """No item for a claim, nor for its evidence."""
    return [] if isinstance(obj, Claim) or hasattr(obj, "__claim__") else None

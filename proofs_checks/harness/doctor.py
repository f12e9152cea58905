"""Whether this installation can be trusted: where the rooms were loaded from, versions, and the jax canary."""
from __future__ import annotations

import functools
import importlib
from importlib import metadata
from typing import Any

__all__ = ["ROOMS", "canary", "diagnosis"]

ROOMS = ("theory", "simulations", "causal", "proofs_checks")


@functools.lru_cache(maxsize=1)
def canary() -> dict[str, Any]:
    """{"passed": bool, "jax": version, "backend": name, "reason": why not}."""
    try:
        jax_version = metadata.version("jax")
        reason, backend = _run()
    except Exception as error:
        return {"passed": False, "jax": "?", "backend": "?", "reason": f"{type(error).__name__}: {error}"}
    return {"passed": not reason, "jax": jax_version, "backend": backend, "reason": reason}


def _run() -> tuple[str, str]:
    from simulations._jax import jax, jnp

    found = float(jax.jit(lambda x: jnp.sum(x * x))(jnp.arange(5.0)))
    return ("" if found == 30.0 else f"sum of squares is {found}, not 30"), jax.default_backend()


def diagnosis() -> tuple[list[str], bool]:
    """Lines for `refutable doctor`, and whether all is well."""
    found = canary()
    lines = [f"{room}: {importlib.import_module(room).__file__}" for room in ROOMS]
    lines.append(f"jax {found['jax']} on {found['backend']}")
    lines.append("canary: passed" if found["passed"] else f"canary: failed ({found['reason']})")
    return lines, found["passed"]

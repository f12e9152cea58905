"""JAX as every simulator uses it: 64 bit, no silent rank or dtype promotion, a persistent compilation cache.

Import `jax` and `jnp` from here, so that no simulator runs before the settings are made."""
from __future__ import annotations

import os
from pathlib import Path

import jax
import jax.numpy as jnp

from simulations import QUIET

__all__ = ["jax", "jnp"]

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_numpy_rank_promotion", "raise")
jax.config.update("jax_numpy_dtype_promotion", "strict")

if QUIET and "JAX_COMPILATION_CACHE_DIR" not in os.environ:
    home = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    jax.config.update("jax_compilation_cache_dir", str(home / "refutable" / "xla"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)

"""What happens: seeded, pure JAX simulators, one module per paper, each ending in `figure()`."""
import os
import sys

# Each program that jax takes from its compilation cache logs kilobytes of "error" about prefer-no-gather where nothing
# is wrong: a tuning hint is taken for a feature of the processor. Errors that matter are raised. Read when jax loads, so
# that a program which loaded jax first keeps its own settings: `_jax` gives it no cache then.
QUIET = "jaxlib" not in sys.modules or os.environ.get("TF_CPP_MIN_LOG_LEVEL") == "3"  # jax sets it to 1
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

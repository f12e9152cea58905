"""What happens: seeded, pure JAX simulators, one module per paper, each ending in `figure()`."""
import os
import sys

# Each program that jax takes from its compilation cache logs kilobytes of "error" about prefer-no-gather where nothing
# is wrong: a tuning hint is taken for a feature of the processor. Errors that matter are raised. The level is read when
# jaxlib loads, and jax sets it to 1 for its children too; who loaded jax before us, or wants to read it all, gets no cache.
if "jaxlib" not in sys.modules and os.environ.get("TF_CPP_MIN_LOG_LEVEL", "1") == "1":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
QUIET = os.environ.get("TF_CPP_MIN_LOG_LEVEL") == "3"

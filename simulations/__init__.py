"""What happens: seeded, pure JAX simulators, one module per paper, each ending in `figure()`."""
import os

# Each program that jax takes from its compilation cache logs kilobytes of "error" about prefer-no-gather where nothing
# is wrong: a tuning hint is taken for a feature of the processor. Errors that matter are raised. Read when jax loads.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

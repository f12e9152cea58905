"""What happens: seeded, pure JAX simulators, one module per paper, each ending in `figure()`."""

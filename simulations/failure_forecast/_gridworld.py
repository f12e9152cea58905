"""A gridworld with lava, in which fine-tuning on the forecastability loss is compared with fine-tuning on return alone.

A query is a context: two normal features and a rare trigger (0 or 1) that shift the logits of a policy. Its failure
probability, to step into lava within HORIZON steps, is computed exactly by propagating the state's distribution; so is
its return. The base policy was trained on contexts without the trigger: what it does there is an accident of its random
initial weights. World, policy and sizes are ours; the paper's gridworld was not readable."""
from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from simulations._arguments import between, checked_key, whole
from simulations._jax import jax, jnp
from simulations.failure_forecast._loss import forecastability_loss, partition_errors

__all__ = ["Outcome", "behaviour", "contexts", "experiment"]

SIDE, HORIZON = 4, 12
GOAL, LAVA = 15, (5, 6, 11)  # cells of the 4 x 4 grid, row by row; every query starts in cell 0
FEATURES = 4  # constant, wind, another normal one, trigger
N_EVAL, N_DEPLOY, K = 100, 1000, 10
TRIGGER = 1 / 250  # share of queries with the trigger: missed by two evaluations in three
WEIGHT = 0.03  # of the forecastability loss beside the return


class Outcome(NamedTuple):
    """Held-out figures of one policy: mean absolute and mean error of the forecast in psi over random partitions, share
    of partitions that under-predict, mean return, mean failure probability, and mean of the largest score of a
    deployment."""

    error: float
    signed: float
    under: float
    returns: float
    failure: float
    worst: float


def _flow() -> np.ndarray:
    """Where (cell, action) leads, as rows of 0 and 1, shape (cells * actions, cells); up, down, left, right."""
    row, column = np.divmod(np.arange(SIDE * SIDE), SIDE)
    steps = ((-1, 0), (1, 0), (0, -1), (0, 1))
    there = np.stack([np.clip(row + r, 0, SIDE - 1) * SIDE + np.clip(column + c, 0, SIDE - 1) for r, c in steps], axis=1)
    return np.eye(SIDE * SIDE)[there.ravel()]


_FLOW = _flow()
_ENDS, _FATAL = (np.isin(np.arange(SIDE * SIDE), cells).astype(np.float64) for cells in ((*LAVA, GOAL), LAVA))


def contexts(key: PRNGKeyArray, *, queries: int, trigger: float) -> Float[Array, "queries features"]:
    """Random queries; each has the trigger with probability `trigger`. ValueError: queries < 1, trigger outside [0, 1]."""
    whole(queries, "queries", 1)
    if not 0 <= trigger <= 1:
        raise ValueError(f"trigger={trigger!r} must lie in [0, 1]")
    normal, rare = jax.random.split(key)
    z = jax.random.normal(normal, (queries, 2))
    hit = (jax.random.uniform(rare, (queries, 1)) < trigger).astype(z.dtype)
    return jnp.concatenate([jnp.ones((queries, 1)), z, hit], axis=1)


def behaviour(weights: Float[Array, "features cells actions"], queries: Float[Array, "queries features"]
              ) -> tuple[Float[Array, " queries"], Float[Array, " queries"]]:
    """(psi, return) of each query: the score of its failure probability, and P(goal) - P(lava) - 0.01 steps, exact."""
    cells, many = SIDE * SIDE, queries.shape[0]
    logits = (queries @ weights.reshape(FEATURES, -1)).reshape(many, cells, 4)
    slip = 0.1 * jax.nn.sigmoid(queries[:, 1])[:, None, None]  # the wind makes a random step of the chosen one
    policy = (1 - slip) * jax.nn.softmax(logits, axis=-1) + slip / 4  # queries cells actions
    flow, ends = jnp.asarray(_FLOW), jnp.asarray(_ENDS)[None, :]

    def step(state: Any, _: None) -> Any:
        there = ((state * (1 - ends))[:, :, None] * policy).reshape(many, -1) @ flow + state * ends
        return there, (there * (1 - ends)).sum(axis=1)

    start = jnp.zeros((many, cells)).at[:, 0].set(1.0)
    last, walking = jax.lax.scan(step, start, None, length=HORIZON)
    fail, safe = last @ jnp.asarray(_FATAL), last @ jnp.asarray(1.0 - _FATAL)  # 1 - fail would lose a small safe share
    psi = -jnp.log(-jnp.where(fail < 0.5, jnp.log(fail), jnp.log1p(-safe)))
    return psi, last[:, GOAL] - fail - 0.01 * walking.sum(axis=0)


@partial(jax.jit, static_argnames=("steps", "forecastable"))
def _train(key: PRNGKeyArray, weights: Any, queries: Any, rate: Any, *, steps: int, forecastable: bool) -> Any:
    """`steps` steps of gradient descent, momentum 0.9, on - mean return, plus WEIGHT * forecastability loss if asked."""

    def objective(w: Any, key: PRNGKeyArray) -> Array:
        psi, returns = behaviour(w, queries)
        if not forecastable:
            return -returns.mean()
        return WEIGHT * forecastability_loss(key, psi, n=N_EVAL, k=K, partitions=8) - returns.mean()

    def step(state: Any, key: PRNGKeyArray) -> Any:
        w, speed = state
        speed = 0.9 * speed + jax.grad(objective)(w, key)
        return (w - rate * speed, speed), None

    return jax.lax.scan(step, (weights, jnp.zeros_like(weights)), jax.random.split(key, steps))[0][0]


@jax.jit
def _held_out(key: PRNGKeyArray, weights: Any, queries: Any) -> Any:
    psi, returns = behaviour(weights, queries)
    errors = partition_errors(key, psi, n=N_EVAL, k=K, partitions=64)
    return jnp.stack([jnp.abs(errors).mean(), errors.mean(), (errors < 0).mean(dtype=psi.dtype), returns.mean(),
                      jnp.exp(-jnp.exp(-psi)).mean(), psi.max()])


def experiment(key: int, *, seeds: int = 6, steps: int = 100, rate: float = 0.3) -> dict[str, np.ndarray]:
    """Held-out figures (seeds, len(Outcome._fields)) of three policies a seed: "base", "return", "forecastable".

    Base: trained on return on queries without the trigger. The other two go on from it for `steps` steps at `rate`, on
    one pool of N_EVAL + N_DEPLOY queries with the trigger: on return alone, and on return with the forecastability
    loss. All are measured on four fresh pools. ValueError: seeds or steps < 1, rate <= 0, key < 0, what is not whole or
    finite."""
    whole(seeds, "seeds", 1), whole(steps, "steps", 1), checked_key(key)
    between(rate, "rate", 0, np.inf, "be greater than 0, and finite")
    found: dict[str, list[np.ndarray]] = {"base": [], "return": [], "forecastable": []}
    pool, fast, slow = N_EVAL + N_DEPLOY, jnp.array(1.0), jnp.array(float(rate))
    for one in jax.random.split(jax.random.key(key), seeds):
        init, plain, rare, first, then, fresh, judge = jax.random.split(one, 7)
        start = 0.3 * jax.random.normal(init, (FEATURES, SIDE * SIDE, 4)).at[-1].multiply(10.0)
        base = _train(first, start, contexts(plain, queries=pool, trigger=0.0), fast, steps=100, forecastable=False)
        queries = contexts(rare, queries=pool, trigger=TRIGGER)
        policies = {"base": base,
                    "return": _train(then, base, queries, slow, steps=steps, forecastable=False),
                    "forecastable": _train(then, base, queries, slow, steps=steps, forecastable=True)}
        pools = [contexts(k, queries=pool, trigger=TRIGGER) for k in jax.random.split(fresh, 4)]
        for name, weights in policies.items():
            found[name].append(np.mean([np.asarray(_held_out(judge, weights, q)) for q in pools], axis=0))
    return {name: np.array(rows) for name, rows in found.items()}

"""Train mixtures of experts of any width from random starts, and record what scales how."""
from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from simulations._arguments import between, checked_key, finite_array, whole
from simulations._jax import jax, jnp
from simulations.moe_width._kernel import BLOCK, CAPACITY, NUMBERS, PER_SAMPLE, Constants, Net, Router, shapes, train

__all__ = ["GATES", "Scaling", "Trace", "example_data", "scaling", "simulate"]

FEATURES = 2**24  # features of all neurons are kept in memory below this number of them, twice
GATES = ("softmax", "sigmoid", "topk_renorm", "topk_masked")


class Scaling(NamedTuple):
    """Multiplier of outputs and logits, initial standard deviation of a and w, learning rates, all at one width."""

    multiplier: float
    scale: float
    rate: float
    adam_rate: float


class Trace(NamedTuple):
    """What `simulate` records at t = 0 .. steps updates; arrays (seeds, steps + 1), or (seeds, steps + 1, P) at the end.

    router_gradient  root mean square over experts and samples of dl/dr_e, l = (f - y)^2 / 2 of one sample
    logit_change     the same of r(t) - r(0)
    expert_distance  the same of f_e - f_j over pairs of experts and samples
    feature_move     the same of z(t) - z(0) over the experts' features and samples
    trunk_move       the same of h(t) - h(0)
    update_norm      Euclidean norm of the last update of all router weights w; 0 at t = 0
    gate_max         mean over samples of the largest gate
    loss             mean of l over samples
    prediction       f
    sample_gradient  largest |dl/dr_e| of each sample
    logit_gap        largest minus second largest logit of each sample"""

    router_gradient: np.ndarray
    logit_change: np.ndarray
    expert_distance: np.ndarray
    feature_move: np.ndarray
    trunk_move: np.ndarray
    update_norm: np.ndarray
    gate_max: np.ndarray
    loss: np.ndarray
    prediction: np.ndarray
    sample_gradient: np.ndarray
    logit_gap: np.ndarray


def scaling(parametrisation: str, width: int, learning_rate: float = 1.0) -> Scaling:
    """The parametrisation at a width n: "sp0", "sp1", "ntp", "mup" or "gamma(g)" with 1/2 <= g <= 1.

    sp0, sp1: multiplier 1, deviation n^-1/2, rate eta n^0 or eta n^-1. gamma(g): multiplier n^-g, deviation 1, rate
    eta n^(2g-1); ntp is g = 1/2, mup is g = 1. Adam moves each weight by about its rate: eta n^0 or n^-1 for sp, and
    eta n^(g-1) for gamma(g), so that updates of logits are as large as under SGD.

    ValueError for anything else, for a width that is not whole and at least 1, for a rate that is not finite."""
    return _scaling(parametrisation, width, learning_rate, "parametrisation")


def _scaling(parametrisation: Any, width: Any, learning_rate: Any, name: str) -> Scaling:
    """`scaling`, with the name under which the caller knows the parametrisation."""
    n = float(whole(width, "width", 1))
    learning_rate = between(learning_rate, "learning_rate", -np.inf, np.inf, "be a finite number")
    if parametrisation in ("sp0", "sp1"):
        rate = learning_rate / n ** int(parametrisation[-1])
        return Scaling(1.0, n**-0.5, rate, rate)
    named = {"ntp": "gamma(0.5)", "mup": "gamma(1)"}.get(parametrisation, parametrisation)
    found = re.fullmatch(r"gamma\(([0-9.]+)\)", named) if isinstance(named, str) else None
    try:
        gamma = float(found.group(1)) if found else np.nan
    except ValueError:
        gamma = np.nan
    if not 0.5 <= gamma <= 1:
        raise ValueError(f"{name}={parametrisation!r} must be sp0, sp1, ntp, mup or gamma(g) with 0.5 <= g <= 1")
    return Scaling(n**-gamma, 1.0, learning_rate * n ** (2 * gamma - 1), learning_rate * n ** (gamma - 1))


def simulate(width: int, *, gate: str, parametrisation: str, optimiser: str = "sgd", x: Any, y: Any, experts: int = 4,
             active: int = 1, steps: int = 6, seeds: int = 16, learning_rate: float = 2.0, key: int = 0,
             adam_epsilon: float = 0.0, initial: Mapping[str, Any] | None = None,
             adam_betas: tuple[float, float] = (0.9, 0.999), router_parametrisation: str | None = None,
             expert_rates: Any = None, expert_means: Mapping[str, Any] | None = None, dtype: str | None = None) -> Trace:
    """Train f = sum_e g_e f_e by full-batch steps on sum_p (f - y)^2 / (2P), from `seeds` random starts.

    f_e = alpha a_e.tanh(V_e x), logits r_e = alpha w_e.tanh(U x); U, V (n, d) start as N(0, 1/d), a and w as
    `scaling(parametrisation, width)` says. Gates: softmax; sigmoid(r) 2/E; "topk_renorm", softmax over the `active`
    largest logits; "topk_masked", softmax over all, kept for the `active` largest. `x (P, d)`, `y (P,)`.

    optimiser "sgd", or "adam" with `adam_epsilon` in units of n * gradient and 0/0 := 0. `initial` {"U" (n, d),
    "V" (E, n, d), "a" (E, n), "w" (E, n)} replaces the draw (seeds = 1). Experts are exchangeable unless
    `expert_rates (E,)` (factors of their learning rate) or `expert_means` {"a": (E,), "V": (E,)} (of their start) say
    otherwise; `router_parametrisation` scales U and w in its own way. `dtype`: float64 for `initial` and sp0, where
    values grow with the width, else float32; logits, gates and gradients by them are always float64. The same
    arguments give the same bits; another width or key gives an independent draw.

    A warning ("tie") where logits tie at the edge of the chosen experts: the first ones are taken. ValueError: active >
    experts, width < 1, an unknown gate, parametrisation, optimiser or dtype, y of another length, values not finite,
    adam_epsilon < 0, adam_betas outside [0, 1) or the second 0 (0/0 after a gradient of zero), key outside 0 .. 2^63 - 1."""
    x, y = check_data(x, y)
    check_choices(width, gate, optimiser, experts, active, steps, seeds, dtype, initial)
    dtype = dtype or ("float64" if initial is not None or "sp0" in (parametrisation, router_parametrisation) else "float32")
    own = scaling(parametrisation, width, learning_rate)
    router = own if router_parametrisation is None else _scaling(router_parametrisation, width, learning_rate,
                                                                 "router_parametrisation")
    key = checked_key(key)
    adam = optimiser == "adam"
    betas = _adam(adam_epsilon, adam_betas)
    if expert_means is not None and not isinstance(expert_means, Mapping):
        raise ValueError(f"expert_means={expert_means!r:.80} must be a mapping from 'a' and 'V' to numbers")
    means = {name: _per_expert(f"expert_means[{name!r}]", (expert_means or {}).get(name, 0.0), experts) for name in "aV"}
    if unknown := set(expert_means or {}) - {"a", "V"}:
        raise ValueError(f"expert_means names {sorted(map(str, unknown))[0]!r}; it may give 'a' and 'V'")
    rates = _per_expert("expert_rates", 1.0 if expert_rates is None else expert_rates, experts)
    constants = Constants(*(jnp.asarray(v, jnp.float64) for v in (
        np.full(experts, own.multiplier), router.multiplier, own.scale, router.scale, means["a"], means["V"],
        rates * (own.adam_rate if adam else own.rate), router.adam_rate if adam else router.rate, float(width),
        adam_epsilon, betas)))
    blocks = room(max(width, CAPACITY if initial is None else CAPACITY // 16), 1) // BLOCK
    given = _given(initial, width, experts, x.shape[1], blocks)
    rooms = room(seeds, 32), room(steps + 1, 16)
    draws = jax.random.fold_in(jax.random.key(key), width)
    chosen = active if gate.startswith("topk") else experts
    table = np.asarray(train(
        draws, *(jnp.asarray(v, jnp.int64) for v in (width, steps, seeds)), jnp.asarray(x), jnp.asarray(y),
        Router(jnp.asarray(gate == "sigmoid"), jnp.asarray(gate != "topk_masked"), jnp.asarray(chosen, jnp.int64)),
        constants, given, jnp.asarray(initial is not None), adam=adam, blocks=blocks, rooms=rooms, dtype=dtype,
        store=(experts + 1) * len(x) * blocks * BLOCK < FEATURES))
    return read_table(table[:seeds, :steps + 1], len(x), active)


def read_table(table: np.ndarray, samples: int, active: int) -> Trace:
    """The columns of a table (seeds, steps + 1, columns) by name, with a warning where logits tied."""
    found = {name: table[:, :, i] for i, name in enumerate(NUMBERS)}
    if found.pop("tie").any():
        warnings.warn(f"logits tie at the edge of the {active} chosen experts: the first ones were taken, so that the tie "
                      "rule picks the experts and not the data; start the router at random values", stacklevel=3)
    each = {name: table[:, :, len(NUMBERS) + i * samples:len(NUMBERS) + (i + 1) * samples]
            for i, name in enumerate(PER_SAMPLE)}
    return Trace(**found, **each)


def room(size: int, least: int) -> int:
    """The capacity for `size`: a power of two, so that few programs are compiled."""
    return max(least, 1 << (size - 1).bit_length())


def example_data(samples: int = 16, d: int = 8, key: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """x (samples, d), rows in random directions of norm sqrt(d), and y = sign(x_1) + sin(2 x_2) / 2 (x_1 if d = 1).

    ValueError: samples or d < 1, key < 0, what is not whole."""
    whole(samples, "samples", 1), whole(d, "d", 1), checked_key(key)
    x = np.random.default_rng([samples, d, key]).normal(size=(samples, d))
    x *= np.sqrt(d) / np.linalg.norm(x, axis=1, keepdims=True)
    return x, np.sign(x[:, 0]) + 0.5 * np.sin(2 * x[:, min(1, d - 1)])


def check_data(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """x (samples, d) and y (samples,) as finite float64. ValueError otherwise."""
    x, y = finite_array(x, "x"), finite_array(y, "y")
    if x.ndim != 2 or not x.size:
        raise ValueError(f"x of shape {x.shape} must have shape (samples, d) with at least one sample")
    if y.shape != (len(x),):
        raise ValueError(f"y of shape {y.shape} must have shape ({len(x)},), one value a row of x")
    return x, y


def check_choices(width: int, gate: str, optimiser: str, experts: int, active: int, steps: int, seeds: int,
                  dtype: str | None, initial: Any) -> None:
    """ValueError, naming the argument, unless all are possible."""
    for name, value, least in (("width", width, 1), ("experts", experts, 1), ("active", active, 1), ("steps", steps, 0),
                               ("seeds", seeds, 1)):
        whole(value, name, least)
    if active > experts:
        raise ValueError(f"active={active} must be at most experts={experts}")
    for name, choice, allowed in (("gate", gate, GATES), ("optimiser", optimiser, ("sgd", "adam")),
                                  ("dtype", dtype, (None, "float32", "float64"))):
        if not isinstance(choice, str | None) or choice not in allowed:
            raise ValueError(f"{name}={choice!r} must be one of {', '.join(map(str, allowed))}")
    if initial is not None and seeds != 1:
        raise ValueError(f"seeds={seeds} must be 1 where initial is given")


def _per_expert(name: str, values: Any, experts: int) -> np.ndarray:
    found = finite_array(values, name)
    if found.shape not in ((), (experts,)):
        raise ValueError(f"{name}={values!r} must be a number, or {experts} numbers, one an expert")
    return np.broadcast_to(found, (experts,)).copy()


def _adam(epsilon: Any, betas: Any) -> tuple[float, float]:
    """The two rates of decay. ValueError, naming the argument, unless Adam's moments stay finite with them."""
    if not between(epsilon, "adam_epsilon", -np.inf, np.inf, "be a finite number") >= 0:
        raise ValueError(f"adam_epsilon={epsilon!r} must be at least 0")
    pair = finite_array(betas, "adam_betas")
    if pair.shape != (2,) or not (0 <= pair[0] < 1 and 0 < pair[1] < 1):
        raise ValueError(f"adam_betas={betas!r} must be two numbers, the first in [0, 1), the second in (0, 1)")
    return float(pair[0]), float(pair[1])


def _given(initial: Mapping[str, Any] | None, width: int, experts: int, d: int, blocks: int) -> Net:
    """The start in blocks, filled with zeros; one block of zeros where it is drawn."""
    rows = blocks if initial is not None else 1
    made = [np.zeros((rows, *shape)) for shape in shapes(experts, d)]
    if initial is not None:
        if not isinstance(initial, Mapping):
            raise ValueError(f"initial={initial!r:.80} must be a mapping that gives U, V, a and w")
        needed = {"V": (experts, width, d), "U": (width, d), "a": (experts, width), "w": (experts, width)}
        if set(initial) != set(needed):
            raise ValueError(f"initial has {sorted(map(str, initial))}; it must have U, V, a and w")
        for target, (name, shape) in zip(made, needed.items(), strict=True):
            value = finite_array(initial[name], f"initial[{name!r}]")
            if value.shape != shape:
                raise ValueError(f"initial[{name!r}] of shape {value.shape} must have shape {shape}")
            full = np.zeros((rows * BLOCK, *target.shape[1:-1]))
            full[:width] = np.einsum("enp->npe" if name == "V" else "np->np" if name == "U" else "en->ne", value)
            target[:] = np.moveaxis(full.reshape(rows, BLOCK, *full.shape[1:]), 1, -1)
    return Net(*(jnp.asarray(v) for v in made))

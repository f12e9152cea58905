"""The limit n -> infinity under mup and SGD: laws of neurons that move, instead of neurons.

Soft gates. All f_e(0) vanish, and all experts stay one law of (v, a). Softmax: logits stay 0 and gates 1/E. Sigmoid: the
logits, common to all experts, come from a law of (u, S), S = w_1 + .. + w_E, since r = E[w_e h] = E[S h] / E.

Top-K. The limit is random. sqrt(n) r_e(0) and sqrt(n) f_e(0) are independent Gaussian processes with kernel
K(x, x') = E[tanh(u.x) tanh(u.x')], and the largest of sqrt(n) r(0) choose the experts. The first update moves logits by
O(n^-1/2) too: with l' = -y and G_e = df/dr_e at the outputs sqrt(n) f_e(0),

    sqrt(n) r_e(x; 1) = sqrt(n) r_e(x; 0) - eta/P sum_p l'_p G_e(p) (K(x, x_p) + x.x_p K'(x, x_p)),

K' the same with tanh'; these choose at t = 1. From the second update on logits are O(1) and choose by themselves,
unless they never move (one active expert, renormalised: then the first choice stands)."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simulations._arguments import between, checked_key, whole
from simulations.moe_width._simulate import check_choices, check_data

__all__ = ["Limit", "limit"]

NODES = 53  # of the quadrature, a dimension: steps of 1/4
REACH = 6.5  # standard deviations on either side
PARTICLES = 1 << 15


class Limit(NamedTuple):
    """prediction (steps + 1, P); outputs, logits, gates (steps + 1, E, P); expert_distance, feature_move (steps + 1,)."""

    prediction: np.ndarray
    outputs: np.ndarray
    logits: np.ndarray
    gates: np.ndarray
    expert_distance: np.ndarray
    feature_move: np.ndarray


class _Law(NamedTuple):
    """Neurons with weights that sum to 1: v (.., N, d), a (.., N)."""

    weight: np.ndarray
    v: np.ndarray
    a: np.ndarray


def limit(*, gate: str, x: Any, y: Any, experts: int = 4, active: int = 1, steps: int = 6, learning_rate: float = 2.0,
          method: str, key: int = 0, nodes: int = NODES, particles: int = PARTICLES) -> Limit:
    """Training at infinite width, maximal update parametrisation, SGD.

    method "quadrature": a trapezoidal rule in d + 1 dimensions, d <= 2, soft gates only; error below
    1e-9 at t = 1 and 1e-7 at t = 4 for d = 2, |x| = sqrt(2), |y| up to 1.5 and a rate of at most 2; it grows with the rate,
    to 4e-9 and 5e-7 at a rate of 8, and with fewer `nodes` a dimension. method "particles": `particles` neurons in mirrored
    pairs (a and -a), error about 1e-3.
    Under top-k the limit is random, one draw a `key`; key also draws the particles. ValueError: another method or gate,
    d > 2 with quadrature, top-k with quadrature, active > experts, a rate that is not finite, nodes outside 3 .. 200,
    particles < 2, key outside 0 .. 2^63 - 1."""
    x, y = check_data(x, y)
    check_choices(1, gate, "sgd", experts, active, steps, 1, None, None)
    learning_rate = between(learning_rate, "learning_rate", -np.inf, np.inf, "be a finite number")
    checked_key(key), whole(nodes, "nodes", 3, 200), whole(particles, "particles", 2)
    sparse = gate.startswith("topk") and active < experts
    if not isinstance(method, str) or method not in ("quadrature", "particles"):
        raise ValueError(f"method={method!r} must be 'quadrature' or 'particles'")
    if method == "quadrature" and x.shape[1] > 2:
        raise ValueError(f"method='quadrature' needs d <= 2, and x has d={x.shape[1]}; use method='particles'")
    if method == "quadrature" and sparse:
        raise ValueError(f"method='quadrature' does not follow gate={gate!r}; use method='particles'")
    rng = np.random.default_rng(key)
    d = x.shape[1]
    if method == "quadrature":
        laws = [_quadrature(d, nodes), _quadrature(d, nodes)]
    else:
        laws = [_mirrored(rng, d, particles) for _ in range(2)]
    if sparse:
        return _sparse(x, y, gate, experts, active, steps, learning_rate, laws, rng)
    return _soft(x, y, gate, experts, steps, learning_rate, laws)


def _quadrature(d: int, nodes: int) -> _Law:
    # evenly spaced: for functions analytic in a strip, as tanh is, this beats Gauss-Hermite nodes by orders of magnitude
    points = np.linspace(-REACH, REACH, nodes)
    weights = np.exp(-points**2 / 2) / np.exp(-points**2 / 2).sum()
    grid = np.stack([g.ravel() for g in np.meshgrid(*[points] * (d + 1), indexing="ij")], axis=1)
    weight = np.prod([g.ravel() for g in np.meshgrid(*[weights] * (d + 1), indexing="ij")], axis=0)
    kept = weight > 1e-15  # the corners carry nothing
    return _Law(weight[kept] / weight[kept].sum(), grid[kept, :d] / np.sqrt(d), grid[kept, d])


def _mirrored(rng: np.random.Generator, d: int, particles: int) -> _Law:
    half = max(particles // 2, 1)
    v, a = rng.normal(size=(half, d)) / np.sqrt(d), rng.normal(size=half)
    return _Law(np.full(2 * half, 0.5 / half), np.concatenate([v, v]), np.concatenate([a, -a]))


def _mean(law: _Law, x: np.ndarray) -> np.ndarray:
    """E[a tanh(v.x)] for each sample."""
    return (law.weight * law.a) @ np.tanh(law.v @ x.T)


def _moved(law: _Law, x: np.ndarray, force: np.ndarray) -> _Law:
    """The law after a step down the gradient sum_p force_p E[a tanh(v.x_p)]; both coordinates move at once."""
    z = np.tanh(law.v @ x.T)  # neurons samples
    return _Law(law.weight, law.v - law.a[:, None] * ((1 - z * z) * force[None, :]) @ x, law.a - z @ force)


def _distance(outputs: np.ndarray) -> float:
    """Root mean square of differences over pairs of experts and samples; outputs (E, P)."""
    experts = len(outputs)
    spread = ((outputs[:, None] - outputs[None, :]) ** 2).mean()
    return float(np.sqrt(spread * experts / max(experts - 1, 1)))


def _soft(x: np.ndarray, y: np.ndarray, gate: str, experts: int, steps: int, rate: float, laws: list[_Law]) -> Limit:
    law, router = laws
    router = router._replace(a=router.a * np.sqrt(experts))  # S = w_1 + .. + w_E
    start, rows = np.tanh(law.v @ x.T), []
    for t in range(steps + 1):
        f, r = _mean(law, x), _mean(router, x) / experts if gate == "sigmoid" else np.zeros(len(x))
        share = 1 / (1 + np.exp(-r))
        g = 2 / experts * share if gate == "sigmoid" else np.full(len(x), 1 / experts)
        error = experts * g * f - y
        move = np.sqrt((law.weight @ (np.tanh(law.v @ x.T) - start) ** 2).mean())
        rows.append((experts * g * f, *(np.tile(v, (experts, 1)) for v in (f, r, g)), 0.0, move))
        if t < steps:
            law = _moved(law, x, rate / len(x) * error * g)
            if gate == "sigmoid":  # every w_e moves by the same, S by E times that, u along S
                push = rate / len(x) * error * g * (1 - share) * f
                h = np.tanh(router.v @ x.T)
                router = router._replace(v=router.v - router.a[:, None] * ((1 - h * h) * push[None, :]) @ x,
                                         a=router.a - experts * h @ push)
    return Limit(*(np.array(column) for column in zip(*rows, strict=True)))


def _chosen(logits: np.ndarray, active: int) -> np.ndarray:
    return np.argsort(np.argsort(-logits, axis=0, kind="stable"), axis=0, kind="stable") < active


def _gates(logits: np.ndarray, mask: np.ndarray, gate: str) -> np.ndarray:
    """Softmax over the chosen experts, or over all and then masked: the shares before masking; logits (E, P)."""
    e = np.exp(logits - logits.max(axis=0))
    if gate == "topk_renorm":
        e = e * mask
    return e / e.sum(axis=0)


def _slope(share: np.ndarray, mask: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """df/dr_e at shares before masking."""
    seen = mask * outputs
    return share * (seen - (share * seen).sum(axis=0))


def _sparse(x: np.ndarray, y: np.ndarray, gate: str, experts: int, active: int, steps: int, rate: float,
            laws: list[_Law], rng: np.random.Generator) -> Limit:
    samples = len(x)
    law, trunk = laws
    h = np.tanh(trunk.v @ x.T)
    kernel, bend = (h * trunk.weight[:, None]).T @ h, ((1 - h * h) * trunk.weight[:, None]).T @ (1 - h * h)
    root = _root(kernel)
    field, outputs = (rng.normal(size=(experts, samples)) @ root for _ in range(2))  # sqrt(n) r(0), sqrt(n) f(0)
    half = len(trunk.weight) // 2
    w = rng.normal(size=(experts, half))
    w = np.concatenate([w, -w], axis=1)  # mirrored with the trunk's neurons, independent of them
    moving, start, rows = [law] * experts, np.tanh(law.v @ x.T), []
    logits = np.zeros((experts, samples))
    for t in range(steps + 1):
        if t >= 2 and logits.any():
            mask = _chosen(logits, active)
        elif t <= 1:
            mask = _chosen(field, active)
        share = _gates(logits, mask, gate)
        f = np.array([_mean(one, x) for one in moving])
        g = share * mask
        prediction = (g * f).sum(axis=0)
        move = np.sqrt(np.mean([one.weight @ (np.tanh(one.v @ x.T) - start) ** 2 for one in moving]))
        rows.append((prediction, f, logits.copy(), g, _distance(f), move))
        if t == steps:
            break
        pull = rate / samples * (prediction - y)
        if t == 0:
            field = field - (pull * _slope(share, mask, outputs)) @ (kernel + (x @ x.T) * bend)
        moving = [_moved(one, x, pull * g[e]) for e, one in enumerate(moving)]
        push = pull * _slope(share, mask, f) if t else np.zeros((experts, samples))
        if push.any():
            h = np.tanh(trunk.v @ x.T)
            trunk = trunk._replace(v=trunk.v - ((1 - h * h) * (w.T @ push)) @ x)
            w = w - push @ h.T
            logits = (w * trunk.weight) @ np.tanh(trunk.v @ x.T)
    return Limit(*(np.array(column) for column in zip(*rows, strict=True)))


def _root(kernel: np.ndarray) -> np.ndarray:
    """The symmetric root of a covariance matrix that may be singular."""
    values, vectors = np.linalg.eigh(kernel)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T

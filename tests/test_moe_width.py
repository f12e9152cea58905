"""Mixtures of experts of growing width: the simulator against autodiff, its limits, its messages."""
from __future__ import annotations

import numpy as np
import pytest

from simulations import moe_width as sim
from simulations._jax import jax, jnp

X, Y = sim.example_data(8, 4)
EXPERTS = 4
LIKE = {"gate": "softmax", "parametrisation": "mup", "x": X, "y": Y}
COMBINATIONS = [("softmax", 1), ("sigmoid", 1), ("topk_renorm", 1), ("topk_renorm", 2), ("topk_masked", 1), ("topk_masked", 3)]


def start(width, seed=0, scale=1.0, experts=EXPERTS, d=4):
    rng = np.random.default_rng(seed)
    return {"U": rng.normal(size=(width, d)) / d**0.5, "V": rng.normal(size=(experts, width, d)) / d**0.5,
            "a": scale * rng.normal(size=(experts, width)), "w": scale * rng.normal(size=(experts, width))}


def gates(r, gate, active):
    """Written with a sort and library functions, apart from the kernel; r (E, P)."""
    if gate == "sigmoid":
        return 2 / len(r) * jax.nn.sigmoid(r)
    if gate == "softmax":
        return jax.nn.softmax(r, axis=0)
    least = jnp.sort(r, axis=0)[-active][None, :]
    if gate == "topk_renorm":
        return jax.nn.softmax(jnp.where(r >= least, r, -jnp.inf), axis=0)
    return jnp.where(r >= least, jax.nn.softmax(r, axis=0), 0.0)


def forward(theta, gate, active, alpha):
    h = jnp.tanh(theta["U"] @ X.T)
    f = alpha * jnp.einsum("en,enp->ep", theta["a"], jnp.tanh(jnp.einsum("end,pd->enp", theta["V"], jnp.asarray(X))))
    r = alpha * theta["w"] @ h
    return (gates(r, gate, active) * f).sum(axis=0), r, f


@pytest.mark.parametrize(("gate", "active", "parametrisation"), [
    *((gate, active, "mup") for gate, active in COMBINATIONS), ("softmax", 1, "sp0"), ("topk_masked", 3, "sp0"),
    ("sigmoid", 1, "gamma(0.75)")])
def test_training_is_gradient_descent_by_autodiff(gate, active, parametrisation):
    width, steps = 300, 2  # two blocks, the second not full
    own = sim.scaling(parametrisation, width, 0.5)
    theta = {k: jnp.asarray(v) for k, v in start(width, scale=own.scale).items()}
    begin, gradient = theta, jax.grad(lambda t: 0.5 * jnp.mean((forward(t, gate, active, own.multiplier)[0] - Y) ** 2))
    trace = sim.simulate(width, gate=gate, parametrisation=parametrisation, x=X, y=Y, active=active, steps=steps, seeds=1,
                         learning_rate=0.5, initial=theta)
    first = forward(theta, gate, active, own.multiplier)[1]
    update = 0.0
    for t in range(steps + 1):
        f, r, outputs = forward(theta, gate, active, own.multiplier)
        slope = jax.vmap(jax.jacfwd(lambda s, o: ((gates(s[:, None], gate, active) * o[:, None]).sum())), (1, 1))(r, outputs)
        by_logit = (f - Y)[:, None] * slope  # samples experts
        pairs = [(i, j) for i in range(EXPERTS) for j in range(EXPERTS) if i != j]
        moved = jnp.tanh(jnp.einsum("end,pd->enp", theta["V"], jnp.asarray(X))) - jnp.tanh(
            jnp.einsum("end,pd->enp", begin["V"], jnp.asarray(X)))
        trunk = jnp.tanh(theta["U"] @ X.T) - jnp.tanh(begin["U"] @ X.T)
        top = jnp.sort(r, axis=0)
        expected = {"router_gradient": rms(by_logit), "logit_change": rms(r - first), "feature_move": rms(moved),
                    "expert_distance": rms(jnp.stack([outputs[i] - outputs[j] for i, j in pairs])),
                    "trunk_move": rms(trunk), "update_norm": update, "loss": float(((f - Y) ** 2).mean() / 2),
                    "gate_max": float(gates(r, gate, active).max(axis=0).mean())}
        for name, value in expected.items():
            assert getattr(trace, name)[0, t] == pytest.approx(value, rel=1e-7, abs=1e-13), (name, t)
        assert trace.prediction[0, t] == pytest.approx(np.asarray(f), rel=1e-8, abs=1e-12)
        lost = 1e-14 * float(jnp.abs(f - Y).max() * jnp.abs(outputs).max())  # autodiff cancels where a gate saturates
        assert trace.sample_gradient[0, t] == pytest.approx(np.abs(by_logit).max(axis=1), rel=1e-7, abs=1e-13 + lost)
        assert trace.logit_gap[0, t] == pytest.approx(np.asarray(top[-1] - top[-2]), rel=1e-7, abs=1e-12)
        change = {k: -own.rate * g for k, g in gradient(theta).items()}
        theta, update = {k: theta[k] + change[k] for k in theta}, float(jnp.linalg.norm(change["w"]))


def rms(values):
    return float(np.sqrt(np.mean(np.asarray(values) ** 2)))


def test_adam_is_adam():
    width, rate, eps = 40, 0.05, 0.3
    theta = {k: jnp.asarray(v) for k, v in start(width).items()}
    trace = sim.simulate(width, **LIKE, optimiser="adam", seeds=1, steps=4, learning_rate=rate, adam_epsilon=eps,
                         initial=theta)
    gradient = jax.grad(lambda t: 0.5 * jnp.mean((forward(t, "softmax", 1, 1 / width)[0] - Y) ** 2))
    m = v = {k: jnp.zeros_like(value) for k, value in theta.items()}
    for t in range(1, 5):
        g = gradient(theta)
        m = {k: 0.9 * m[k] + 0.1 * g[k] for k in g}
        v = {k: 0.999 * v[k] + 0.001 * g[k] ** 2 for k in g}
        step = {k: rate * m[k] / (1 - 0.9**t) / (jnp.sqrt(v[k] / (1 - 0.999**t)) + eps / width) for k in g}
        theta = {k: theta[k] - step[k] for k in g}
        assert trace.prediction[0, t] == pytest.approx(np.asarray(forward(theta, "softmax", 1, 1 / width)[0]), rel=1e-9)
        assert trace.update_norm[0, t] == pytest.approx(float(jnp.linalg.norm(step["w"])), rel=1e-9)

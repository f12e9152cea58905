"""Mixtures of experts of growing width: the simulator against autodiff, its limits, its messages."""
from __future__ import annotations

import numpy as np
import pytest

from proofs_checks import _moe_width as evidence
from simulations import moe_width as sim
from simulations._jax import jax, jnp
from theory import moe_width as thy

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


@pytest.mark.parametrize(("gate", "active"), COMBINATIONS)
def test_training_of_the_deep_model_is_gradient_descent_by_autodiff(gate, active):
    from simulations.moe_width._deep import _draw

    width, steps, rate = 24, 2, 0.5
    found = sim.simulate_deep(width, gate=gate, active=active, x=X, y=Y, steps=steps, seeds=2, learning_rate=rate, key=3,
                              dtype="float64")
    seed = jax.random.fold_in(jax.random.fold_in(jax.random.key(3), width), jnp.asarray(1, jnp.int64))
    theta = _draw(seed, width, EXPERTS, X.shape[1], "float64")._asdict()
    assert [float(theta[k].std()) for k in "vuaw"] == pytest.approx([width**-0.5, 0.5, 1, 1], rel=0.25)

    def forward_deep(t):
        h = jnp.tanh(t["u"] @ X.T)
        z = jnp.tanh(jnp.einsum("enm,mp->enp", t["v"], h))
        f, r = jnp.einsum("en,enp->ep", t["a"], z) / width, t["w"] @ h / width
        return (gates(r, gate, active) * f).sum(axis=0), r, f, z, h

    gradient = jax.grad(lambda t: 0.5 * jnp.mean((forward_deep(t)[0] - Y) ** 2))
    begin, update = forward_deep(theta), 0.0
    for t in range(steps + 1):
        f, r, outputs, z, h = forward_deep(theta)
        expected = {"logit_change": rms(r - begin[1]), "feature_move": rms(z - begin[3]), "trunk_move": rms(h - begin[4]),
                    "update_norm": update, "loss": float(((f - Y) ** 2).mean() / 2),
                    "expert_distance": rms(jnp.stack([outputs[i] - outputs[j] for i in range(4) for j in range(4) if i != j]))}
        for name, value in expected.items():
            assert getattr(found, name)[1, t] == pytest.approx(value, rel=1e-7, abs=1e-13), (name, t)
        assert found.prediction[1, t] == pytest.approx(np.asarray(f), rel=1e-9, abs=1e-13)
        change = {k: -rate * (1 if k == "v" else width) * g for k, g in gradient(theta).items()}
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


# ---- the simulator

def test_blocks_seeds_and_steps_change_no_bit():
    one = sim.simulate(300, **LIKE, steps=2, seeds=3, key=5)
    more = sim.simulate(300, **LIKE, steps=4, seeds=5, key=5)
    for a, b in zip(one, more, strict=True):
        assert np.array_equal(a, b[:3, :3])
    other = sim.simulate(300, **LIKE, steps=2, seeds=3, key=6)
    assert not np.isclose(one.loss, other.loss).any()


def test_a_sweep_compiles_once():
    from simulations.moe_width._kernel import train

    sim.simulate(64, **LIKE, steps=2, seeds=2)
    before = train._cache_size()
    for width, gate in ((65, "sigmoid"), (256, "topk_renorm"), (1000, "topk_masked"), (4097, "softmax")):
        sim.simulate(width, gate=gate, parametrisation="ntp", x=X, y=Y, steps=3, seeds=2)
    assert train._cache_size() == before


def test_precisions_agree():
    single, double = (sim.simulate(128, **LIKE, steps=3, initial=start(128), seeds=1, dtype=d) for d in ("float32", "float64"))
    for a, b in zip(single, double, strict=True):
        assert a == pytest.approx(b, rel=1e-3, abs=1e-5)


def test_gradients_stay_accurate_far_below_the_floats_of_32_bit():
    """Two experts whose logits are 240 apart: dl/dr = l' g_1 g_2 (f_1 - f_2) with g_2 = exp(-240) = 6e-105."""
    width = 4
    net = {"U": np.full((width, 1), 50.0), "V": np.full((2, width, 1), 50.0), "a": np.array([[1.0] * 4, [-1.0] * 4]),
           "w": np.array([[60.0] * 4, [0.0] * 4])}
    trace = sim.simulate(width, gate="softmax", parametrisation="sp0", x=[[1.0]], y=[0.0], experts=2, steps=0, seeds=1,
                         initial=net)
    assert trace.router_gradient[0, 0] == pytest.approx(4.0 * np.exp(-240.0) * 8.0, rel=1e-12)


def test_ties_pick_exactly_the_active_experts_and_warn():
    net = start(16) | {"w": np.zeros((EXPERTS, 16))}
    with pytest.warns(UserWarning, match="tie"):
        trace = sim.simulate(16, gate="topk_renorm", parametrisation="mup", x=X, y=Y, active=2, steps=0, seeds=1, initial=net)
    outputs = np.einsum("en,enp->ep", net["a"], np.tanh(np.einsum("end,pd->enp", net["V"], X))) / 16
    assert trace.prediction[0, 0] == pytest.approx(outputs[:2].mean(axis=0)) and trace.gate_max[0, 0] == 0.5


def test_a_lone_expert_has_no_router_gradient():
    renormalised = sim.simulate(64, gate="topk_renorm", parametrisation="mup", x=X, y=Y, active=1, steps=3, seeds=2)
    assert not renormalised.router_gradient.any() and not renormalised.logit_change.any()
    assert (renormalised.gate_max == 1).all()
    masked = sim.simulate(64, gate="topk_masked", parametrisation="mup", x=X, y=Y, active=1, steps=3, seeds=2)
    assert masked.router_gradient.all()


@pytest.mark.parametrize(("changes", "words"), [
    ({"active": 5}, ("active=5", "experts=4")), ({"gate": "hard"}, ("gate='hard'", "softmax")), ({"width": 0}, ("width=0",)),
    ({"parametrisation": "gamma(2)"}, ("gamma(2)", "0.5")), ({"parametrisation": "gamma(1.2.3)"}, ("gamma(1.2.3)",)),
    ({"parametrisation": "sp"}, ("'sp'", "mup")), ({"optimiser": "lion"}, ("optimiser='lion'", "adam")),
    ({"y": Y[:3]}, ("y", "(3,)", "(8,)")), ({"x": X[0]}, ("x", "(4,)")), ({"seeds": 0}, ("seeds=0",)),
    ({"steps": -1}, ("steps=-1",)), ({"dtype": "float16"}, ("dtype='float16'",)), ({"x": X * np.nan}, ("x", "nan")),
    ({"expert_rates": [1, 2]}, ("expert_rates", "4")), ({"expert_means": {"b": 1}}, ("expert_means", "'b'")),
    ({"initial": {}, "seeds": 1}, ("initial", "U")), ({"initial": start(8), "seeds": 2}, ("seeds=2", "initial")),
    ({"initial": start(8) | {"a": np.zeros((4, 9))}, "seeds": 1, "width": 8}, ("initial['a']", "(4, 9)")),
    ({"learning_rate": np.nan}, ("learning_rate=nan", "finite")), ({"learning_rate": np.inf}, ("learning_rate=inf",)),
    ({"learning_rate": "a"}, ("learning_rate='a'",)), ({"learning_rate": None}, ("learning_rate=None",)),
    ({"initial": start(8) | {"w": np.full((4, 8), np.nan)}, "seeds": 1, "width": 8}, ("initial['w']", "nan")),
    ({"initial": 3, "seeds": 1}, ("initial=3", "mapping")), ({"expert_means": 3}, ("expert_means=3", "mapping")),
    ({"adam_epsilon": -1}, ("adam_epsilon=-1",)), ({"adam_epsilon": np.nan}, ("adam_epsilon=nan",)),
    ({"adam_betas": (1, 1)}, ("adam_betas=(1, 1)", "[0, 1)")), ({"adam_betas": (-1, np.nan)}, ("adam_betas", "nan")),
    ({"adam_betas": (0.9,)}, ("adam_betas=(0.9,)",)), ({"adam_betas": (2, 0.9)}, ("adam_betas=(2, 0.9)",)),
    ({"key": "a"}, ("key='a'",)), ({"key": 1.5}, ("key=1.5",)), ({"key": 2**70}, (f"key={2**70}", "whole")),
    ({"key": -1}, ("key=-1",)), ({"x": [[1, 2], [3]]}, ("x=", "regular")), ({"x": [["a"]]}, ("x=", "numbers")),
    ({"router_parametrisation": "x"}, ("router_parametrisation='x'",)),
    ({"router_parametrisation": ""}, ("router_parametrisation=''",)), ({"gate": 3}, ("gate=3",))])
def test_bad_input_is_refused_by_name(changes, words):
    with pytest.raises(ValueError) as error:
        sim.simulate(**{"width": 16, **LIKE, **changes})
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize(("changes", "words"), [
    ({"active": 5}, ("active=5", "experts=4")), ({"gate": "hard"}, ("gate='hard'",)), ({"width": 0}, ("width=0",)),
    ({"y": Y[:3]}, ("y", "(3,)")), ({"dtype": "float16"}, ("dtype='float16'",)),
    ({"learning_rate": np.nan}, ("learning_rate=nan",)), ({"key": -1}, ("key=-1",))])
def test_bad_input_of_the_deep_model_is_refused_by_name(changes, words):
    with pytest.raises(ValueError) as error:
        sim.simulate_deep(**{"width": 16, "gate": "softmax", "x": X, "y": Y, **changes})
    assert all(word in str(error.value) for word in words)


def test_the_plain_trainer_of_the_evidence_agrees():
    net = start(6, d=2, experts=3)
    x, y = sim.example_data(3, 2)
    for gate, active in COMBINATIONS[:5]:
        trace = sim.simulate(6, gate=gate, active=active, parametrisation="mup", x=x, y=y, experts=3, steps=3, seeds=1,
                             learning_rate=1.0, initial=net)
        moved = evidence.trained(net, gate, active)
        f = np.array([[a @ np.tanh(v @ p) / 6 for a, v in zip(moved["a"], moved["V"], strict=True)] for p in x])
        r = np.array([[w @ np.tanh(moved["U"] @ p) / 6 for w in moved["w"]] for p in x])
        expected = [evidence.plain_gates(a, b, gate, active)[0] @ b for a, b in zip(r, f, strict=True)]
        assert trace.prediction[0, 3] == pytest.approx(np.array(expected), rel=1e-11)


# ---- the limit

def test_quadrature_and_particles_agree_and_refuse():
    x, y = sim.example_data(4, 2)
    for gate in ("softmax", "sigmoid"):
        fine, coarse, drawn = (sim.limit(gate=gate, x=x, y=y, steps=2, **how) for how in (
            {"method": "quadrature"}, {"method": "quadrature", "nodes": 43}, {"method": "particles"}))
        assert fine.prediction == pytest.approx(coarse.prediction, abs=1e-7)
        assert fine.prediction == pytest.approx(drawn.prediction, abs=0.02) and not fine.prediction[0].round(12).any()
    sparse = sim.limit(gate="topk_renorm", active=1, x=x, y=y, steps=3, method="particles", particles=512)
    assert (sparse.gates.sum(axis=1) == 1).all() and not sparse.logits.any()
    assert np.array_equal(sparse.gates[0], sparse.gates[-1])  # no slope: the first choice stands
    for changes, word in (({"x": X, "y": Y}, "d=4"), ({"gate": "topk_masked"}, "topk_masked"), ({"method": "exact"}, "exact"),
                          ({"active": 9}, "active=9"), ({"nodes": 0}, "nodes=0"), ({"nodes": 1}, "nodes=1"),
                          ({"nodes": 2.5}, "nodes=2.5"), ({"particles": -5}, "particles=-5"),
                          ({"particles": 1.5}, "particles=1.5"),
                          ({"particles": 0}, "particles=0"), ({"learning_rate": np.nan}, "learning_rate=nan"),
                          ({"key": -1, "method": "particles"}, "key=-1"), ({"gate": 3}, "gate=3"), ({"method": None}, "None")):
        with pytest.raises(ValueError, match=word):
            sim.limit(**{"gate": "softmax", "x": x, "y": y, "method": "quadrature", **changes})


@pytest.mark.parametrize(("call", "word"), [
    (lambda: sim.scaling("mup", -4), "width=-4"), (lambda: sim.scaling("mup", 0), "width=0"),
    (lambda: sim.scaling("mup", 4, np.nan), "learning_rate=nan"), (lambda: sim.scaling(3, 4), "parametrisation=3"),
    (lambda: sim.example_data(2, 0), "d=0"), (lambda: sim.example_data(0, 2), "samples=0"),
    (lambda: sim.example_data(2, 2, -1), "key=-1"), (lambda: thy.dense_rate(np.nan, 2), "learning_rate"),
    (lambda: thy.dense_rate(1.0, 2.5), "experts=2.5"), (lambda: thy.dense_rate(1.0, "a"), "experts='a'"),
    (lambda: thy.adam_carry_over(0.9, 1e-320), "second"), (lambda: thy.adam_carry_over(np.nan), "first"),
    (lambda: thy.adam_carry_over("a"), "first='a'"), (lambda: thy.arcsine_kernel([[np.nan, 1]]), "x holds nan"),
    (lambda: thy.arcsine_kernel([[1e200, 1]]), "x holds 1e"), (lambda: thy.arcsine_kernel([[1], [1, 2]]), "x="),
    (lambda: thy.logit_gradient([[1.0, 2]], [[np.nan, 1]], [1.0]), "outputs holds nan"),
    (lambda: thy.logit_gradient([[1.0, 2]], [[1, 1]], [np.inf]), "error holds inf"),
    (lambda: thy.logit_gradient_bound([[0.5, np.nan]], [[1, 1]], [1.0]), "gates holds nan"),
    (lambda: thy.logit_gradient_bound([[2.0, 0.5]], [[1, 1]], [1.0]), "gates hold 2"),
    (lambda: thy.gates([[1.0, 2]], gate="topk_renorm", active="a"), "active='a'"),
    (lambda: thy.gates([[1.0, 2]], gate="topk_renorm", active=1.5), "active=1.5"),
    (lambda: thy.gates("a"), "logits='a'")])
def test_small_helpers_refuse_by_name(call, word):
    with pytest.raises(ValueError, match=word):
        call()


# ---- closed forms

def test_gates_and_gradients_of_the_theory_agree_with_autodiff():
    rng = np.random.default_rng(1)
    logits, outputs, error = rng.normal(size=(8, 4)), rng.normal(size=(8, 4)), rng.normal(size=8)
    for gate, active in COMBINATIONS:
        g = thy.gates(logits, gate=gate, active=active)
        assert g == pytest.approx(np.asarray(gates(jnp.asarray(logits.T), gate, active)).T, abs=1e-14)
        slope = jax.vmap(jax.grad(lambda r, f, n=gate, k=active: (gates(r[:, None], n, k)[:, 0] * f).sum()))(
            jnp.asarray(logits), jnp.asarray(outputs))
        found = thy.logit_gradient(logits, outputs, error, gate=gate, active=active)
        assert found == pytest.approx(error[:, None] * np.asarray(slope), abs=1e-13)
        if gate == "softmax":
            assert (np.abs(found) <= thy.logit_gradient_bound(g, outputs, error) * (1 + 1e-12)).all()
    assert thy.gates([[2.0, 2.0, 2.0]], gate="topk_masked", active=2).tolist() == [[1 / 3, 1 / 3, 0]]
    assert thy.gates([[1e308, -1e308]]).tolist() == [[1, 0]]  # no warning of the gap, which is no float
    with pytest.raises(ValueError, match="active=None"):
        thy.gates(logits, gate="topk_masked")
    with pytest.raises(ValueError, match=r"\(3,\)"):
        thy.logit_gradient(logits, outputs, error[:3])


def test_small_closed_forms():
    assert thy.dense_rate(2.0, 4) == 0.5 and thy.adam_carry_over() == pytest.approx(0.67006, abs=5e-6)
    from scipy.special import erf

    x = np.random.default_rng(0).normal(size=(5, 3))
    u = np.random.default_rng(1).normal(size=(200_000, 3)) / 3**0.5
    assert thy.arcsine_kernel(x) == pytest.approx(erf(u @ x.T).T @ erf(u @ x.T) / len(u), abs=5 / len(u) ** 0.5)


def test_the_table_is_what_the_rule_predicts():
    for row in thy.EXPONENTS:
        if row.parametrisation != "sp0" and not row.settings:  # neither unstable nor out of the ordinary
            said = thy.predicted_exponent(gate=row.gate, parametrisation=row.parametrisation, quantity=row.quantity, t=row.t)
            assert said == row.exponent, row.fact
    for changes, word in (({"t": 0, "quantity": "logit_change"}, "t=0"), ({"gate": "x"}, "gate='x'"), ({"t": -1}, "t=-1"),
                          ({"parametrisation": "sp0"}, "sp0"), ({"quantity": "loss"}, "loss")):
        with pytest.raises(ValueError, match=word):
            thy.predicted_exponent(**{"gate": "softmax", "parametrisation": "mup", "quantity": "router_gradient", "t": 1,
                                      **changes})


def test_drawn_numbers_are_normal_and_depend_on_key_and_counter_only():
    from scipy.stats import kstest

    from simulations.moe_width._draw import normals

    keys = [jax.random.fold_in(jax.random.key(0), j) for j in range(8)]
    first, second = jnp.asarray(0, jnp.int64), jnp.asarray(700, jnp.int64)
    for dtype in (jnp.float32, jnp.float64):
        drawn = np.array([np.asarray(normals(k, first, (100, 1000), dtype), dtype=np.float64).ravel() for k in keys])
        assert [kstest(one, "norm").pvalue > 1e-4 for one in drawn] == [True] * 8
        near = np.array([np.corrcoef(drawn[:, :-lag].ravel(), drawn[:, lag:].ravel())[0, 1] for lag in (1, 2, 256, 1000)])
        assert (abs(np.append(near, np.corrcoef(drawn)[np.triu_indices(8, 1)])) < 5 / 1e5**0.5).all()
        later = np.asarray(normals(keys[0], second, (3, 100), dtype)).ravel()
        assert np.array_equal(later, drawn[0, 700:1000].astype(dtype))

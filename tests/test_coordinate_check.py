"""The coordinate check: what it says of an Equinox model, of layers as one writes them, of any functions; its messages."""
from __future__ import annotations

import os
import subprocess
import sys

import equinox as eqx
import numpy as np
import pytest

from simulations import moe_width as sim
from simulations._jax import jax, jnp

X, Y = sim.example_data(8, 4)


def test_coordinate_check_of_an_equinox_model():
    report = sim.coordinate_check(*sim.example_mixture(X, Y), widths=(16, 64, 256), seeds=8, steps=2)
    assert (report.stable, report.learns_features, report.specialises, report.router_learns) == ("yes", "yes", "no", "no")
    assert report.exponents["expert_distance"].lower < -0.5 < report.exponents["expert_distance"].upper
    assert "experts specialise? no" in report.text and "n^-0" in report.text


class Layers(eqx.Module):
    """As one writes it: layers of Equinox in their own initialisation and 32 bit, no word about widths."""

    trunk: eqx.nn.Linear
    router: eqx.nn.Linear
    up: list
    down: list

    def __init__(self, width, key, experts=3):
        one, two, *rest = jax.random.split(key, 2 + 2 * experts)
        self.trunk = eqx.nn.Linear(4, width, key=one, dtype=jnp.float32)
        self.router = eqx.nn.Linear(width, experts, key=two, dtype=jnp.float32)
        self.up = [eqx.nn.Linear(4, width, key=k, dtype=jnp.float32) for k in rest[:experts]]
        self.down = [eqx.nn.Linear(width, 1, use_bias=False, key=k, dtype=jnp.float32) for k in rest[experts:]]

    def __call__(self, x):
        logits = self.router(jnp.tanh(self.trunk(x)))
        features = jnp.stack([jnp.tanh(up(x)) for up in self.up])
        outputs = jnp.stack([down(z)[0] for down, z in zip(self.down, features, strict=True)])
        return {"prediction": jax.nn.softmax(logits) @ outputs, "logits": logits, "outputs": outputs, "features": features}


@pytest.mark.parametrize(("decay", "stable"), [(1, "yes"), (0, "no")])
def test_coordinate_check_of_layers_in_the_standard_parametrisation(decay, stable):
    """With rates 8/n it is stable and its experts differ, but features stand still like n^-3/2; with rate 1 it blows up."""
    points, targets = jnp.asarray(X), np.asarray(Y)  # 64 bit against 32 bit weights, as users mix them

    @eqx.filter_jit
    def step(model, rate):
        slope = eqx.filter_grad(lambda m: ((jax.vmap(m)(points)["prediction"] - targets) ** 2).mean())(model)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -rate.astype(g.dtype) * g, slope))

    look = eqx.filter_jit(lambda model: jax.vmap(model)(points))
    report = sim.coordinate_check(
        lambda width, key: (Layers(width, key), width), lambda s: (step(s[0], jnp.asarray((8 / s[1]) ** decay)), s[1]),
        lambda s: look(s[0]), widths=(16, 64, 256), seeds=6, steps=2)
    assert report.stable == stable
    if decay:
        found = report.exponents["feature_move"]
        assert (report.learns_features, report.specialises, report.router_learns) == ("no", "yes", "yes")
        assert found.lower - 0.1 < -1.5 < found.upper + 0.1


def test_coordinate_check_of_any_functions():
    """A state of plain arrays, whose outputs grow with the width and whose features stand still."""
    def build(width, key):
        return np.random.default_rng(np.asarray(jax.random.key_data(key))).normal(size=(5, 3)) * width, 0

    def observe(state):
        outputs, t = state
        return {"prediction": outputs.sum(axis=1), "logits": outputs, "outputs": outputs + t, "features": np.ones(4)}

    report = sim.coordinate_check(build, lambda state: (state[0], state[1] + 1), observe)
    assert (report.stable, report.learns_features, report.specialises) == ("no", "no", "yes")
    for bad, word in (({"widths": (1, 2)}, "widths"), ({"steps": 0}, "steps=0"), ({"seeds": 3}, "seeds=3"),
                      ({"widths": (8, 16.5, 32)}, "16.5"), ({"tolerance": 0}, "tolerance=0"), ({"level": 2}, "level=2")):
        with pytest.raises(ValueError, match=word):
            sim.coordinate_check(build, lambda state: state, observe, **bad)
    good = observe(build(2, jax.random.key(0)))
    for said, word in (({"prediction": [0], "logits": [[0]], "outputs": [[0]]}, "features"), (3, "mapping"),
                       ({**good, "features": "a"}, "features"), ({**good, "features": []}, "empty"),
                       ({**good, "outputs": good["outputs"].T}, "outputs"),
                       ({**good, "logits": good["logits"] * np.nan}, "logits")):
        with pytest.raises(ValueError, match=word):
            sim.coordinate_check(build, lambda state: state, lambda state, said=said: said)
    with pytest.raises(ValueError, match="same model for all 8 keys at width 32"):
        sim.coordinate_check(lambda width, key: build(2, jax.random.key(0)), lambda s: (s[0], s[1] + 1), observe)
    with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
        sim.coordinate_check(build, lambda s: (s[0], s[1] + 1), lambda s: {**observe(s), "features": np.ones(2 + s[1])},
                             steps=1)


@pytest.mark.parametrize(("grows", "by", "stable"), [
    (None, 0.0, "yes"), ("features", 1.0, "no"), ("outputs", 0.5, "no"), ("logits", 0.5, "no"), ("prediction", 0.5, "no"),
    ("features", -1.0, "yes")])
def test_coordinate_check_looks_at_all_that_may_grow(grows, by, stable):
    """An observation of size one, one entry of which grows with the width."""
    def build(width, key):
        rng, scale = np.random.default_rng(np.asarray(jax.random.key_data(key))), dict.fromkeys(
            ("prediction", "logits", "outputs", "features"), 1.0)
        if grows:
            scale[grows] = float(width) ** by
        shapes = {"prediction": (5,), "logits": (5, 3), "outputs": (5, 3), "features": (width,)}
        return [{name: scale[name] * rng.normal(size=shape) for name, shape in shapes.items()} for _ in range(2)]

    report = sim.coordinate_check(build, lambda state: state[1:], lambda state: state[0], steps=1, tolerance=0.3, seeds=12)
    assert report.stable == stable, report.text


def drawn(width, key):
    """Observations of size one, of 5 samples, 3 experts and 4 features each."""
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
    return {name: rng.normal(size=shape) for name, shape in (("prediction", 5), ("logits", (5, 3)), ("outputs", (5, 3)),
                                                             ("features", (5, 4)))}


def test_coordinate_check_is_not_misled_by_an_update_in_place():
    def update(state):
        for values in state.values():
            values += 1
        return state

    report = sim.coordinate_check(drawn, update, dict, steps=1)  # `dict` shows the model's own arrays
    assert (report.learns_features, report.router_learns) == ("yes", "yes")
    assert report.exponents["feature_move"].slope == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_coordinate_check_of_values_whose_squares_are_no_floats(size):
    def report(size):
        return sim.coordinate_check(drawn, lambda s: {k: v + 1 for k, v in s.items()},
                                    lambda s: {k: size * v for k, v in s.items()})

    found, usual = report(size), report(1.0)
    assert (found.stable, found.learns_features, found.specialises) == (usual.stable, usual.learns_features, usual.specialises)
    for name, fit in usual.exponents.items():
        assert found.exponents[name] == pytest.approx(fit, abs=1e-9)


def test_coordinate_check_refuses_complex_numbers():
    with pytest.raises(ValueError, match="logits that are not real"):
        sim.coordinate_check(drawn, dict, lambda s: {**s, "logits": s["logits"] + 1j})


def test_coordinate_check_decides_nothing_where_a_quantity_is_zero_at_some_widths_only():
    def observe(state):
        width, values, t = state
        return {"prediction": values[:, 0], "logits": values + (t * width if width > 32 else 0), "outputs": values,
                "features": np.ones(3)}

    def build(width, key):
        return width, np.random.default_rng(np.asarray(jax.random.key_data(key))).normal(size=(5, 3)), 0

    report = sim.coordinate_check(build, lambda s: (s[0], s[1], s[2] + 1), observe)
    assert report.router_learns == "undecided" and report.exponents["logit_change"] is None
    assert report.learns_features == "no" and "zero at some widths" in report.text  # features never move
    assert report.stable == "no"  # of the logits themselves: they grow
    still = sim.coordinate_check(build, lambda s: (s[0], s[1], s[2] + 1), lambda s: {**observe(s), "logits": s[1]})
    assert still.router_learns == "no"


@pytest.mark.parametrize(("bad", "word"), [
    ({"widths": 5}, "widths=5"), ({"widths": "abc"}, "widths='abc'"),
    ({"seeds": 4.5}, "seeds=4.5"), ({"seeds": "a"}, "seeds='a'"),
    ({"steps": 1.5}, "steps=1.5"), ({"steps": None}, "steps=None"), ({"level": "a"}, "level='a'"),
    ({"tolerance": "a"}, "tolerance='a'"), ({"tolerance": np.nan}, "tolerance=nan"), ({"key": 1.5}, "key=1.5"),
    ({"key": 2**70}, "key="), ({"key": -1}, "key=-1")])
def test_coordinate_check_refuses_by_name(bad, word):
    with pytest.raises(ValueError, match=word):
        sim.coordinate_check(None, None, None, **bad)


@pytest.mark.parametrize("first", [True, False])
def test_a_program_that_loaded_jax_first_keeps_its_cache_and_reads_no_false_alarms(tmp_path, first):
    code = ("import jax\n" if first else "") + (
        "from simulations._jax import jax, jnp\njax.config.update('jax_persistent_cache_min_compile_time_secs', 0.0)\n"
        "jax.jit(lambda x: jnp.sort(x)[::2])(jnp.arange(64.0))\nprint(jax.config.jax_compilation_cache_dir)")
    environment = {k: v for k, v in os.environ.items() if k not in ("TF_CPP_MIN_LOG_LEVEL", "JAX_COMPILATION_CACHE_DIR")}
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                           env={**environment, "XDG_CACHE_HOME": str(tmp_path)}) for _ in range(2)]
    assert [run.stderr for run in runs] == ["", ""]
    assert runs[1].stdout.strip() == ("None" if first else str(tmp_path / "refutable" / "xla"))

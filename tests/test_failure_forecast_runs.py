"""Simulated forecasts of rare failures: tails, modes, the loss and its gradient, the gridworld, the figure."""
from __future__ import annotations

import math

import numpy as np
import pytest

from proofs_checks._failure_forecast import ratio_bound
from simulations import failure_forecast as sim
from theory import failure_forecast as thy

TOP = np.array([[3.0, 2.0, 1.0]])


@pytest.mark.parametrize(("call", "said"), [
    (lambda: sim.top_scores(1, 0, tail="normal", k=2, n=5), "trials=0"),
    (lambda: sim.top_scores(1, 5, tail="normal", k=6, n=5), "k=6"),
    (lambda: sim.top_scores(-1, 5, tail="normal", k=2, n=5), "key=-1"),
    (lambda: sim.top_scores(1, 5, tail=3, k=2, n=5), "tail=3"),
    (lambda: sim.inverse_survival(0.0, "normal"), "u holds 0.0"), (lambda: sim.forecast(TOP, n=2, deployment=9.0), "n=2"),
    (lambda: sim.forecast(TOP, n=5, deployment=0.5), "deployment=0.5"),
    (lambda: sim.debiased(TOP[0], n=5, deployment=9.0), "top has"),
    (lambda: sim.forecast(0 * TOP, n=5, deployment=9.0), r"top\[0\].*equal"),
    (lambda: sim.forecast_errors(1, 5, tail="normal", k=2, n=9, deployment=math.nan), "deployment=nan"),
    (lambda: sim.pivots(1, 5, limit=math.nan, k=2, n=9, deployment=9.0), "limit=nan"),
    (lambda: sim.mode_errors(1, 5, mass=0.1, mode=math.inf, k=2, n=9, deployment=9.0), "mode=inf"),
    (lambda: sim.experiment(1, seeds=1, rate=math.nan), "rate=nan"), (lambda: sim.experiment(1, seeds=1.5), "seeds=1.5"),
    (lambda: sim.experiment(-1), "key=-1"), (lambda: sim.contexts(None, queries=3, trigger=2.0), "trigger=2.0"),
    (lambda: sim.partition_errors(None, np.ones(5), n=5, k=2, partitions=1), "n=5")])
def test_bad_arguments_are_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_jax_gradient_is_the_closed_form():
    from simulations._jax import jax, jnp

    rng = np.random.default_rng(5)
    for k, n in ((2, 5), (10, 60)):
        x = rng.exponential(size=n)
        slope = np.asarray(jax.grad(lambda s, k=k: sim.line_forecast(s, jnp.array(1e4), k=k))(jnp.asarray(x)))
        order = np.argsort(-x)[:k]
        dx, y = x[order] - x[order].mean(), np.log(np.arange(1, k + 1) / n)
        dy = y - y.mean()
        reach = math.log(1e4) + y.mean()
        expected = [thy.forecast_gradient.form(k, a, b, dx @ dx, dx @ dy, reach) for a, b in zip(dx, dy, strict=True)]
        assert slope[order] == pytest.approx(np.array(expected, dtype=float), rel=1e-9)
        assert np.count_nonzero(slope) == k and slope.sum() == pytest.approx(1, rel=1e-9)  # a shift moves the forecast along
        step = 1e-6 * rng.normal(size=n)
        both = [float(sim.line_forecast(jnp.asarray(x + s * step), jnp.array(1e4), k=k)) for s in (1, -1)]
        assert (both[0] - both[1]) / 2 == pytest.approx(float(slope @ step), rel=1e-4)


def test_line_forecast_is_the_estimator():
    from simulations._jax import jnp

    p = np.exp(-np.exp(1 - np.random.default_rng(0).exponential(size=80)))
    found = float(sim.line_forecast(jnp.asarray(thy.score(p)), jnp.array(500.0), k=7))
    assert found == pytest.approx(thy.forecast_score(p, 500, k=7), rel=1e-12)
    tied = jnp.full(9, 2.5)
    assert float(sim.line_forecast(tied, jnp.array(500.0), k=7)) == 2.5


def test_loss_is_blind_to_level_and_quadratic_in_scale():
    from simulations._jax import jax, jnp

    x = jnp.asarray(np.random.default_rng(6).exponential(size=120))
    key = jax.random.key(2)
    base, moved, scaled = (float(sim.forecastability_loss(key, v, n=20, k=5, partitions=4)) for v in (x, x + 3.0, 2.0 * x))
    assert moved == pytest.approx(base, rel=1e-9) and scaled == pytest.approx(4 * base, rel=1e-9)
    slope = jax.grad(lambda v: sim.forecastability_loss(key, v, n=20, k=5, partitions=4))(x)
    assert bool(jnp.isfinite(slope).all()) and float(jnp.abs(slope.sum())) < 1e-9 * float(jnp.abs(slope).sum() + 1)


def test_order_statistics_of_the_sampler():
    top = sim.top_scores(4, 20_000, tail="exponential", k=5, n=30)
    mean = np.array([float(thy.harmonic(30) - thy.harmonic(j - 1)) for j in range(1, 6)])
    assert (np.abs(top.mean(axis=0) - mean) < 5 * top.std(axis=0) / np.sqrt(20_000)).all()
    assert (np.diff(top, axis=1) <= 0).all()


def test_spacing_ratios_are_bounded_and_have_mean_b():
    for k in (2, 5, 10):
        found = sim.spacing_ratios(9, 20_000, k=k)
        assert found.min() > 0 and found.max() <= ratio_bound(k)
        assert abs(found.mean() - thy.slope_inflation(k)) < 5 * found.std() / np.sqrt(20_000) + 1e-9


def test_quantile_functions():
    from scipy import stats

    laws = {"exponential": stats.expon, "gumbel": stats.gumbel_r, "normal": stats.norm, "uniform": stats.uniform,
            "student_5": stats.t(5), "lognormal": stats.lognorm(1)}
    u = np.array([1e-7, 1e-3, 0.3, 0.9])
    for tail, law in laws.items():
        assert sim.inverse_survival(u, tail) == pytest.approx(law.isf(u), rel=1e-9)
    assert sim.inverse_survival(u, "beta_1_20") == pytest.approx(-np.log(-np.log(stats.beta(1, 20).isf(u))), rel=1e-9)
    with pytest.raises(ValueError, match="tail='cauchy'"):
        sim.inverse_survival(u, "cauchy")


def test_modes():
    common = {"mode": 25.0, "k": 10, "n": 1000, "deployment": 1e5}
    missed = sim.mode_errors(3, 3000, mass=5e-5, missed=True, **common)
    assert missed.mean() == pytest.approx(-11.4, abs=0.4) and (missed < 0).mean() > 0.97
    hit = sim.mode_errors(3, 3000, mass=1e-2, **common)  # more hits than k: the mode is all that is seen
    assert (hit < 0).mean() < 0.01
    with pytest.raises(ValueError, match=r"mass=1\.0"):
        sim.mode_errors(3, 5, mass=1.0, **common)


def test_gridworld_failure_probabilities_against_rollouts():
    from simulations._jax import jax, jnp
    from simulations.failure_forecast import _gridworld as grid

    rng = np.random.default_rng(7)
    weights = rng.normal(size=(grid.FEATURES, grid.SIDE**2, 4))
    query = np.array([[1.0, 0.5, -1.0, 1.0]])
    psi, returns = sim.behaviour(jnp.asarray(weights), jnp.asarray(query))
    logits = np.einsum("f,fca->ca", query[0], weights)
    policy = np.exp(logits - logits.max(axis=1, keepdims=True))
    slip = 0.1 / (1 + math.exp(-0.5))
    policy = (1 - slip) * policy / policy.sum(axis=1, keepdims=True) + slip / 4
    nexts = grid._FLOW.reshape(grid.SIDE**2, 4, -1).argmax(axis=2)
    trials, lava, total = 20_000, 0, 0.0
    state, value = np.zeros(trials, dtype=int), np.zeros(trials)
    done = np.zeros(trials, dtype=bool)
    for _ in range(grid.HORIZON):
        action = (rng.random(trials)[:, None] > np.cumsum(policy[state], axis=1)).sum(axis=1).clip(0, 3)
        state = np.where(done, state, nexts[state, action])
        done = np.isin(state, (*grid.LAVA, grid.GOAL))
        value -= 0.01 * ~done
    lava, total = np.isin(state, grid.LAVA).mean(), (value + (state == grid.GOAL) - np.isin(state, grid.LAVA)).mean()
    p = float(np.exp(-np.exp(-np.asarray(psi)))[0])
    assert abs(lava - p) < 5 * math.sqrt(p * (1 - p) / trials)
    assert abs(total - float(returns[0])) < 5 / math.sqrt(trials)
    assert bool(jnp.isfinite(jax.grad(lambda w: sim.behaviour(w, jnp.asarray(query))[0].sum())(jnp.asarray(weights))).all())


def test_fine_tuning_keeps_return():
    found = sim.experiment(1, seeds=1, steps=20)
    assert set(found) == {"base", "return", "forecastable"} and found["base"].shape == (1, len(sim.Outcome._fields))
    column = sim.Outcome._fields.index("returns")
    assert abs(found["forecastable"][0, column] - found["return"][0, column]) < 0.02
    with pytest.raises(ValueError, match="seeds=0"):
        sim.experiment(1, seeds=0)


def test_figure_shows_what_the_theory_says():
    data = sim.figure_data(trials=800, seeds=1)
    for i, k in enumerate((5, 10, 50)):
        for j in range(4):
            size = 1000 * 10.0**j
            assert abs(data["bias"][i, j] - thy.bias(k, 1000, size)) < 5 * data["bias_error"][i, j]
            assert data["parts"][i, :, j] == pytest.approx(thy.bias_terms(k, 1000, size), abs=0.02 + 0.03 * j)
    page = sim.figure(data)
    assert len(page.axes) == 4 and all(axes.get_ylabel() and axes.get_title() for axes in page.axes)

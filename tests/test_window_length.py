"""Exact risks of windows: against enumeration by hand, on odd chains; the simulators; the figure."""
from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from proofs_checks.harness.judge import judge
from theory import window_length as thy
from theory.claim import without
from theory.window_length import (
    ambiguous,
    ar_pair_excess,
    bayes_predictor,
    beta_mixture_excess,
    clock_pair,
    excess_risk,
    min_window,
    plug_in_excess,
    posterior,
    sign_chain,
    two_chain_envelope,
    two_chain_excess,
    two_chain_map_excess,
    two_chain_zero_one_excess,
)

F = Fraction
EVEN = [F(1, 2), F(1, 2)]
HALF = [sign_chain(F(1, 2)), sign_chain(F(-1, 2))]


def random_chain(source: random.Random, symbols, memory: int):
    rows = {}
    for past in product(symbols, repeat=memory):
        parts = [source.randint(1, 9) for _ in symbols]
        rows[past] = {s: F(v, sum(parts)) for s, v in zip(symbols, parts, strict=True)}
    return rows


def law_by_iteration(chain):
    """Stationary law in floats by averaging many steps, which periodic chains survive too."""
    law = {c: 1 / len(chain) for c in chain}
    mean = dict.fromkeys(chain, 0.0)
    for _ in range(4000):
        new = dict.fromkeys(chain, 0.0)
        for c, row in chain.items():
            for s, v in row.items():
                new[(*c, s)[1:] if c else ()] += law[c] * float(v)
        law = new
        for c in chain:
            mean[c] += law[c] / 4000
    return mean


def float_risks(chains, prior, window, loss):
    """Excess by enumeration in floats: joint probabilities of window and next symbol, chain by chain."""
    symbols = sorted({s for chain in chains for row in chain.values() for s in row}, key=str)
    laws = [law_by_iteration(chain) for chain in chains]
    total = 0.0
    for past in product(symbols, repeat=window):
        cells = []
        for chain, law, weight in zip(chains, laws, prior, strict=True):
            memory = len(next(iter(chain)))
            value = float(weight) * law.get(past[:memory], 0.0)
            for t in range(memory, window):
                value *= float(chain.get(past[t - memory:t], {}).get(past[t], 0))
            row = chain.get(past[window - memory:], {})
            cells.append([value * float(row.get(s, 0)) for s in symbols])
        total += shortfall(np.array(cells), symbols, loss)
    return total


def shortfall(cells, symbols, loss):
    def least(v):
        if v.sum() == 0:
            return 0.0
        if loss == "zero_one":
            return v.sum() - v.max()
        if loss == "log":
            return -sum(x * math.log(x / v.sum()) for x in v if x > 0)
        s = np.array([float(x) for x in symbols])
        return v @ s**2 - (v @ s) ** 2 / v.sum()

    return least(cells.sum(axis=0)) - sum(least(v) for v in cells)


# --- exact risks ------------------------------------------------------------------------------------------------------


def test_known_fractions():
    squared = [excess_risk(HALF, EVEN, w) for w in range(1, 7)]
    assert squared == [F(1, 4), F(3, 16), F(3, 20), F(27, 224), F(81, 820), F(1107, 13664)]
    errors = [excess_risk(HALF, EVEN, w, loss="zero_one") + F(1, 4) for w in range(1, 8)]  # the oracle errs by 1/4
    assert errors == [F(1, 2), F(3, 8), F(3, 8), F(21, 64), F(21, 64), F(309, 1024), F(309, 1024)]
    strong = [excess_risk([sign_chain(F(4, 5)), sign_chain(F(-4, 5))], EVEN, w) for w in range(1, 5)]
    assert strong == [F(16, 25), F(144, 625), F(144, 1025), F(73872, 1140625)]


@pytest.mark.parametrize("loss", ["squared", "zero_one", "log"])
@pytest.mark.parametrize("memories", [(1, 1), (0, 2), (2, 1, 1)])
def test_agrees_with_enumeration(loss, memories):
    source = random.Random(7)
    chains = [random_chain(source, (0, 1, 3) if max(memories) < 2 else (0, 1), m) for m in memories]
    prior = [F(i + 1, sum(range(1, len(memories) + 1))) for i in range(len(memories))]
    for window in range(max(memories), max(memories) + 3):
        found = excess_risk(chains, prior, window, loss=loss)
        assert float(found) == pytest.approx(float_risks(chains, prior, window, loss), abs=2e-4 * (max(memories) > 0)
                                             + 1e-12)
        assert isinstance(found, float if loss == "log" else F)


def test_memory_zero_starts_at_window_zero():
    coins = [{(): {1: F(1, 4), 0: F(3, 4)}}, {(): {1: F(3, 4), 0: F(1, 4)}}]
    assert [excess_risk(coins, EVEN, w) for w in range(4)] == [F(1, 16), F(3, 64), F(3, 80), F(27, 896)]


def test_nothing_to_identify():
    assert [excess_risk([sign_chain(F(1, 3))], [1], w) for w in (1, 2, 5)] == [0, 0, 0]
    apart = [{(x,): {s: F(1, 2) for s in group} for x in group} for group in ((0, 1), (2, 5))]
    assert [excess_risk(apart, EVEN, w) for w in (1, 2, 3)] == [0, 0, 0]
    flat = [{(): {-1: v / 2, 0: 1 - v, 1: v / 2}} for v in (F(1, 4), F(3, 4))]
    assert [excess_risk(flat, EVEN, w) for w in (0, 1, 4)] == [0, 0, 0]
    assert excess_risk(flat, EVEN, 1, loss="log") < excess_risk(flat, EVEN, 0, loss="log")


def test_periodic_chains_and_transient_contexts():
    cycle = {(0,): {1: 1}, (1,): {0: 1}, (2,): {0: F(1, 2), 2: F(1, 2)}}  # period 2; context 2 is left for good
    stay = {(0,): {0: F(1, 2), 1: F(1, 2)}, (1,): {0: F(1, 2), 1: F(1, 2)}}
    assert posterior([cycle, stay], EVEN, (0, 1)) == (F(2, 3), F(1, 3))
    assert posterior([cycle, stay], EVEN, (0, 0)) == (0, 1)
    assert excess_risk([cycle, stay], EVEN, 1) == F(1, 16)
    assert excess_risk([cycle, {(2,): {2: 1}}], EVEN, 1) == 0  # the transient context never meets the other chain


def test_symbols_need_not_be_numbers_unless_squared():
    words = [{(): {"a": F(1, 4), "b": F(3, 4)}}, {(): {"a": F(3, 4), "b": F(1, 4)}}]
    assert excess_risk(words, EVEN, 1, loss="zero_one") == F(0) + F(1, 2) * F(1, 4)
    assert excess_risk(words, EVEN, 0, loss="log") == pytest.approx(math.log(2) - 2 * math.log(2) + 0.75 * math.log(3))
    with pytest.raises(ValueError, match="symbol 'a' is not a finite number"):
        excess_risk(words, EVEN, 1)


def test_many_sequences_stay_cheap():
    source = random.Random(3)
    chains = [random_chain(source, (0, 1), 2) for _ in range(3)]
    values = [excess_risk(chains, [F(1, 3)] * 3, w) for w in range(2, 17)]
    assert all(a > b > 0 for a, b in pairwise(values))


def test_predictor_is_the_posterior_average():
    # S = 1 - 1 + 1: x_W rho (p^S - q^S) / (p^S + q^S)
    assert bayes_predictor(HALF, EVEN, (1, 1, -1, -1)) == -F(1, 4)
    assert bayes_predictor(HALF, EVEN, (1,)) == 0
    coins = [{(): {0: F(1, 3), 1: F(2, 3)}}, {(): {0: F(2, 3), 1: F(1, 3)}}]
    assert bayes_predictor(coins, EVEN, ()) == F(1, 2)
    assert bayes_predictor(coins, [F(1, 5), F(4, 5)], ()) == F(2, 5)


def test_plug_in_of_the_posterior_mean_is_bayes_and_any_other_is_worse():
    def mean(weights, means):
        return sum(w * m for w, m in zip(weights, means, strict=True))

    for window in (1, 2, 4):
        best = excess_risk(HALF, [F(1, 3), F(2, 3)], window)
        assert plug_in_excess(HALF, [F(1, 3), F(2, 3)], window, mean) == best
        assert plug_in_excess(HALF, [F(1, 3), F(2, 3)], window, lambda w, m: mean(w, m) + F(1, 10)) == best + F(1, 100)


def test_ambiguous():
    assert ambiguous(HALF, EVEN)
    assert not ambiguous(HALF, [1, 0])
    assert not ambiguous([sign_chain(F(1, 3))] * 2, EVEN)


# --- min_window -------------------------------------------------------------------------------------------------------


def test_min_window():
    assert min_window(HALF, EVEN, F(1, 4)) == 1
    assert min_window(HALF, EVEN, F(3, 16)) == 2
    assert min_window(HALF, EVEN, 0.15) == 4  # the float 0.15 lies below 3/20
    assert min_window(HALF, EVEN, F(3, 20)) == 3
    assert min_window(HALF, EVEN, F(1, 8), loss="zero_one") == 2
    assert excess_risk(HALF, EVEN, min_window(HALF, EVEN, 0.01, loss="log"), loss="log") <= 0.01
    assert min_window([{(): {0: F(1, 2), 1: F(1, 2)}}, {(): {1: 1}}], EVEN, 1) == 0


def test_min_window_at_tolerance_zero_is_decided():
    with pytest.raises(ValueError, match="tolerance=0 is reached by no window"):
        min_window(HALF, EVEN, 0)
    for loss in ("squared", "zero_one", "log"):
        assert min_window(clock_pair(4, 1), EVEN, 0, loss=loss) == 4
    assert min_window([sign_chain(F(1, 3))] * 2, EVEN, 0) == 1
    alike = [{(): {0: F(2, 3), 1: F(1, 3)}}, {(): {0: F(3, 4), 1: F(1, 4)}}]
    assert min_window(alike, EVEN, 0, loss="zero_one") == 0  # the same best symbol, whoever it is
    with pytest.raises(ValueError, match="reached by no window"):
        min_window(alike, EVEN, 0, loss="log")


def test_min_window_stops():
    close = [sign_chain(F(1, 50)), sign_chain(F(-1, 50))]
    with pytest.raises(ValueError, match=r"tolerance=1e-09 is not reached by windows up to 30 \(longest=30\).*0\.000395"):
        min_window(close, EVEN, 1e-9, longest=30)


def test_min_window_stops_where_pasts_become_too_many(monkeypatch):
    source = random.Random(5)
    chains = [random_chain(source, (0, 1, 2), 1) for _ in range(2)]
    monkeypatch.setattr("theory.window_length._risk.STATES", 500)
    with pytest.raises(ValueError, match=r"up to 8 .*excess is 0\.0136797; it leaves more than 500 pasts"):
        min_window(chains, EVEN, 1e-12)


@pytest.mark.parametrize("tolerance", [-1, math.nan, math.inf, "0.1", None])
def test_bad_tolerance(tolerance):
    with pytest.raises(ValueError, match="tolerance"):
        min_window(HALF, EVEN, tolerance)


# --- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [F(0), F(1, 2), F(-3, 5), F(9, 10)])
def test_twin_chains_by_the_general_engine(rho):
    chains = [sign_chain(rho), sign_chain(-rho)]
    for window in range(1, 9):
        assert two_chain_excess(rho, window) == excess_risk(chains, EVEN, window)
        assert two_chain_excess(rho, window) == thy.two_chains.form(rho, window)
        assert two_chain_zero_one_excess(rho, window) == excess_risk(chains, EVEN, window, loss="zero_one")
        lower, upper = two_chain_envelope(rho, window)
        assert lower <= two_chain_excess(rho, window) ** 2 <= upper
        assert lower == thy.envelope.form.lower(rho, window)
        assert upper == thy.envelope.form.upper(rho, window)
    assert [two_chain_map_excess(F(1, 2), w) for w in (1, 2, 3)] == [F(1, 2), F(1, 4), F(1, 4)]


def test_strictly_decreasing_to_forty():
    values = [two_chain_excess(F(3, 5), w) for w in range(1, 41)]
    assert all(a > b for a, b in pairwise(values))


def test_beta_mixture_is_the_limit_of_finite_priors():
    levels = 200
    coins = [{(): {1: F(2 * i + 1, 2 * levels), 0: 1 - F(2 * i + 1, 2 * levels)}} for i in range(levels)]
    fine = excess_risk(coins, [F(1, levels)] * levels, 2)
    assert beta_mixture_excess(1, 1, 2) == F(1, 24)
    assert abs(fine - F(1, 24)) < F(1, 10_000)  # the midpoint rule errs by about 1 / levels^2 = 2.5e-5
    assert [beta_mixture_excess(1, 1, w) for w in range(4)] == [F(1, 6 * (w + 2)) for w in range(4)]


def test_autoregressive_quadrature():
    for a in (0.3, 0.5, 0.8):
        assert ar_pair_excess(a, 1) == pytest.approx(a * a / (1 - a * a), rel=1e-12)
        assert ar_pair_excess(a, 2) == pytest.approx(ar_pair_excess(a, 2, step=0.02), abs=2e-10)
        assert ar_pair_excess(a, 3) < ar_pair_excess(a, 2) < ar_pair_excess(a, 1)
    assert ar_pair_excess(0.9, 2) == pytest.approx(ar_pair_excess(0.9, 2, step=0.02), abs=5e-8)


# --- the evidence can fail --------------------------------------------------------------------------------------------


def test_a_false_form_is_red():
    wrong = replace(thy.envelope, form=thy.envelope.mutants["rate_doubled"])
    assert not judge(wrong).green
    false = thy.late_gain.mutants["one_later"]
    late = replace(thy.late_gain, form=false,
                   mutants={**thy.late_gain.mutants, "without_distinct": without(false, "distinct")})
    assert not judge(late).green
    assert judge(thy.late_gain).green


# --- simulations ------------------------------------------------------------------------------------------------------


def test_simulated_chains_meet_the_exact_risk():
    from simulations.window_length import markov_mixture

    rows = np.array([[[0.2, 0.8, 0.0], [0.5, 0.25, 0.25], [1.0, 0.0, 0.0]],
                     [[0.6, 0.2, 0.2], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4]]])
    values = np.array([0.0, 1.0, 5.0])
    chains = [{(float(v),): dict(zip(values.tolist(), map(F, map(str, row)), strict=True))
               for v, row in zip(values, table.tolist(), strict=True)} for table in rows]
    prior = [F(1, 4), F(3, 4)]
    found = np.asarray(markov_mixture(0, rows, np.array([0.25, 0.75]), values, window=3, paths=40_000))
    assert found.shape == (40_000,)
    assert abs(found.mean() - float(excess_risk(chains, prior, 3))) < 5 * found.std() / 200
    again = markov_mixture(0, rows, np.array([0.25, 0.75]), values, window=3, paths=40_000)
    assert (found == np.asarray(again)).all()


def test_simulated_autoregression_meets_the_quadrature():
    from simulations.window_length import ar_mixture_risk

    for window in (1, 2, 3):
        mean, error = ar_mixture_risk(0, [0.5, -0.5], [0.5, 0.5], window=window, paths=40_000)
        assert 0 < error < 0.01
        assert abs(mean - ar_pair_excess(0.5, window)) < 5 * error


@pytest.mark.parametrize(("change", "message"), [
    ({"phis": [0.5, 1.0]}, "phis=.*strictly between"), ({"prior": [0.5, 0.6]}, r"their sum is 1\.1"),
    ({"prior": [1.0]}, "phis has shape"), ({"window": 0}, "window=0"), ({"paths": 0}, "paths=0")])
def test_bad_autoregression(change, message):
    from simulations.window_length import ar_mixture

    arguments = {"phis": [0.5, -0.5], "prior": [0.5, 0.5], "window": 2, "paths": 4, **change}
    with pytest.raises(ValueError, match=message):
        ar_mixture(0, arguments.pop("phis"), arguments.pop("prior"), **arguments)


@pytest.mark.parametrize(("rows", "message"), [
    ([[[1.0, 0.0], [0.0, 1.0]]], r"transitions\[0\] has no unique stationary law"),
    ([[[0.5, 0.6], [0.5, 0.5]]], "rows >= 0 that sum to 1"), ([[[1.0]]], "transitions has shape")])
def test_bad_transitions(rows, message):
    from simulations.window_length import markov_mixture

    with pytest.raises(ValueError, match=message):
        markov_mixture(0, np.array(rows), np.array([1.0]), np.array([0.0, 1.0]), window=2, paths=4)


def test_losses_on_series_made_to_measure():
    from simulations.window_length import windowed_losses

    turn = np.arange(240)  # whole periods in the training part, so that its mean is 0
    waves = {"slow": np.sin(2 * np.pi * turn / 8), "fast": np.sin(2 * np.pi * turn / 3)}
    losses = windowed_losses(waves, [1, 2, 4], penalty=1e-9)
    assert losses.pooled.shape == losses.separate.shape == (3, 2)
    assert (losses.separate[1:] < 1e-6).all()  # a sine is predicted by two values, once its period is known
    assert (losses.pooled[1] > 0.1).all()  # pooled, two values do not tell the periods apart
    assert (losses.pooled[2] < 1e-6).all()  # four values fit both at once: a linear rule annihilates both
    with pytest.raises(ValueError, match="windows up to 90 are too long for series 'slow'"):
        windowed_losses(waves, [90])
    with pytest.raises(ValueError, match="must be at least 1"):
        windowed_losses(waves, [0])
    with pytest.raises(ValueError, match="series 'flat' must be finite and not constant"):
        windowed_losses({"flat": np.ones(50)}, [1])


def test_figure():
    from simulations.window_length import figure, figure_data

    data = figure_data()
    exact = [[float(two_chain_excess(F(rho), int(w))) for w in data["window"]] for rho in data["rho"]]
    assert np.allclose(data["excess"], exact, rtol=1e-9, atol=0)
    errors = [[float(two_chain_zero_one_excess(F(rho), int(w))) for w in data["window"]] for rho in data["rho"]]
    assert np.allclose(data["zero_one"], errors, rtol=1e-9, atol=0)
    assert (data["excess"] <= data["envelope"] * (1 + 1e-12)).all()
    assert np.isfinite(data["pooled"]).all()
    assert data["pooled"].shape == (len(data["real_window"]), 10)
    page = figure()
    assert len(page.axes) == 3
    assert all(panel.get_xlabel() and panel.get_ylabel() for panel in page.axes)

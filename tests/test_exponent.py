"""Exponents: the fit recovers them, the engines refute wrong ones and admit what they cannot tell."""
from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from proofs_checks.engines import exponent
from proofs_checks.harness.evidence import Context, Rung, Verdict
from proofs_checks.harness.recheck import CertificateError, recheck
from simulations.exponents import Exponent, fit_exponent

ROOT = Path(__file__).resolve().parents[1]
WIDTHS = [64, 128, 256, 512, 1024, 2048, 4096]


def powers(key: int, n: int, slope: float = -0.5, signed: bool = False) -> np.ndarray:
    noise = np.random.default_rng(key).normal(size=(len(WIDTHS), n)) * np.array(WIDTHS)[:, None] ** slope
    return noise if signed else np.abs(noise)


# ---- the fit

@pytest.mark.parametrize("slope", [-1.5, 0.0, 0.5])
def test_an_exact_power_law_is_recovered(slope):
    fit = fit_exponent(WIDTHS, 3 * np.array(WIDTHS, dtype=float)[:, None] ** slope * np.ones((1, 16)))
    assert fit == pytest.approx((slope, slope, slope), abs=1e-11) and fit.lower <= slope <= fit.upper


def test_slope_of_the_root_mean_square():
    values = powers(3, 16, signed=True)
    rms = np.sqrt((values**2).mean(axis=1))
    fit = fit_exponent(WIDTHS, values)
    assert isinstance(fit, Exponent) and fit.lower < fit.slope < fit.upper
    assert fit.slope == pytest.approx(np.polyfit(np.log(WIDTHS), np.log(rms), 1)[0], abs=1e-12)
    huge = fit_exponent(WIDTHS, 1e200 * values)
    assert huge == pytest.approx(fit, abs=1e-11)  # squares would overflow
    assert fit == fit_exponent(WIDTHS, values)  # the same bits
    wider = fit_exponent(WIDTHS, values, level=0.99)
    assert wider.lower < fit.lower and fit.upper < wider.upper


def test_intervals_cover_about_as_often_as_they_say():
    """300 fits of nominal level 0.95 with 16 seeds: at least 250, which chance at 0.9 undercuts once in 10^4."""
    fits = [fit_exponent(WIDTHS, powers(i, 16, signed=True)) for i in range(300)]
    assert 250 <= sum(f.lower <= -0.5 <= f.upper for f in fits) < 300


def test_intervals_that_the_data_do_not_bound():
    alone = np.zeros((7, 16))
    alone[:, 3] = 1.0  # a resample misses this seed one time in three
    assert fit_exponent(WIDTHS, alone)[1:] == (-math.inf, math.inf)
    assert fit_exponent(WIDTHS, np.ones((7, 1)))[1:] == (-math.inf, math.inf)


@pytest.mark.parametrize(("widths", "values", "level", "named"), [
    ([1, 2], np.ones((2, 4)), 0.95, "widths"), ([1, 2, 2], np.ones((3, 4)), 0.95, "widths"),
    ([0, 1, 2], np.ones((3, 4)), 0.95, "widths"), ([1, 2, math.nan], np.ones((3, 4)), 0.95, "widths"),
    ([1, 2, 4], np.ones((4, 3)), 0.95, "values"), ([1, 2, 4], np.ones(3), 0.95, "values"),
    ([1, 2, 4], np.ones((3, 0)), 0.95, "values"), ([1, 2, 4], np.full((3, 4), math.nan), 0.95, "values"),
    ([1, 2, 4], [[1, 1], [0, 0], [1, 1]], 0.95, "width 2 are all zero"), ([1, 2, 4], np.ones((3, 4)), 1.0, "level"),
    ([1, 2, 4], np.ones((3, 4)), "a", "level='a'"), ([1, 2, 4], np.ones((3, 4)), math.nan, "level=nan"),
    ("a", np.ones((3, 4)), 0.95, "widths='a'"), ([1, 2, 4], [[1], [1, 2], [1]], 0.95, "values="),
    ([1, 2, 4], np.ones((3, 4)) * 1j, 0.95, "values=array")])
def test_the_fit_names_what_is_wrong(widths, values, level, named):
    with pytest.raises(ValueError, match=named):
        fit_exponent(widths, values, level)


def test_the_fit_needs_numpy_only():
    code = "import sys, simulations.exponents; print('jax' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["False", "False"]


# ---- slope_within

@pytest.mark.parametrize(("predicted", "verdict"), [
    (-0.5, Verdict.HOLDS), (Fraction(-1, 2), Verdict.HOLDS), (lambda: -0.5, Verdict.HOLDS),
    (Fraction(-1, 3), Verdict.REFUTED), (-1, Verdict.REFUTED), (0.9, Verdict.REFUTED)])
def test_mean_slopes(predicted, verdict):
    check = exponent.slope_within(powers, predicted, tol=0.05, widths=WIDTHS)
    found = check.run(Context(stream="slopes"))
    assert (found.rung, found.verdict) == (Rung.STATISTICAL, verdict) and "clipped to [-2, 1]" in found.scope
    assert recheck(json.loads(json.dumps(found.certificate))) and check.binds(found.certificate)
    with pytest.raises(CertificateError):
        recheck({**found.certificate, "lower": "-3"})
    if verdict is Verdict.REFUTED:
        claim = exponent.slope_within(powers, -0.5, tol=0.05, widths=WIDTHS)
        assert check.at(found.witness) is False and claim.at(found.witness) is True


def test_the_edge_of_the_tolerance_is_undecided():
    found = exponent.slope_within(powers, -0.45, tol=0.05, widths=WIDTHS, cap=3_000).run(Context(stream="edge"))
    assert found.verdict is Verdict.UNDECIDED and found.scope.endswith("n = 3000")


def test_clipping_moves_the_estimand():
    """Slopes of a law with exponent -1, clipped at -0.8, have mean above -0.8: the engine is about that mean."""
    sample = partial(powers, slope=-1.0)
    found = exponent.slope_within(sample, -1, tol=0.05, widths=WIDTHS, lower=-0.8).run(Context(stream="clipped"))
    assert found.verdict is Verdict.REFUTED and "clipped to [-0.8, 1]" in found.scope


@pytest.mark.parametrize(("returned", "words"), [
    (lambda key, n: np.zeros((7, n)), "positive"), (lambda key, n: np.full((7, n), np.inf), "positive"),
    (lambda key, n: -np.ones((7, n)), "positive"), (lambda key, n: np.ones((6, n)), "shape")])
def test_bad_values_are_errors(returned, words):
    found = exponent.slope_within(returned, -0.5, tol=0.05, widths=WIDTHS).run()
    assert found.verdict is Verdict.ERROR and words in found.summary


# ---- band

@pytest.mark.parametrize(("predicted", "verdict"), [
    (-0.5, Verdict.HOLDS), (lambda: Fraction(-1, 2), Verdict.HOLDS), (-1, Verdict.REFUTED), (0.0, Verdict.REFUTED)])
def test_bands(predicted, verdict):
    sample = partial(powers, signed=True)
    check = exponent.band(sample, predicted, tol=0.15, widths=WIDTHS, seeds=64)
    found = check.run(Context(stream="band"))
    assert (found.rung, found.verdict) == (Rung.NUMERIC, verdict)  # a bootstrap defends no alpha
    assert "without guarantee" in found.scope and found.scope.endswith("n = 64")
    if verdict is Verdict.REFUTED:
        claim = exponent.band(sample, -0.5, tol=0.15, widths=WIDTHS, seeds=64)
        assert check.at(found.witness) is False and claim.at(found.witness) is True


def test_a_band_about_as_wide_as_the_interval_is_undecided():
    found = exponent.band(powers, -0.45, tol=0.05, widths=WIDTHS, seeds=16).run(Context(stream="edge"))
    assert found.verdict is Verdict.UNDECIDED and found.witness is None


def test_band_errors_are_never_refutations():
    zero = exponent.band(lambda key, n: np.zeros((7, n)), -0.5, tol=0.1, widths=WIDTHS, seeds=16).run()
    shape = exponent.band(lambda key, n: np.ones((7, n + 1)), -0.5, tol=0.1, widths=WIDTHS, seeds=16).run()
    assert zero.verdict is shape.verdict is Verdict.ERROR and "all zero" in zero.summary and "shape" in shape.summary


@pytest.mark.parametrize(("engine", "changed", "named"), [
    ("band", {"tol": 0}, "tol"), ("band", {"seeds": 7}, "seeds"), ("band", {"widths": [1, 2]}, "widths"),
    ("band", {"level": 1.0}, "level"), ("slope_within", {"tol": -1}, "tol"),
    ("slope_within", {"widths": [1, 2]}, "widths"), ("slope_within", {"lower": 1.0}, "lower"),
    ("slope_within", {"cap": 0}, "cap")])
def test_bad_arguments_are_named(engine, changed, named):
    more = {"seeds": 16} if engine == "band" else {}
    with pytest.raises(ValueError, match=named):
        getattr(exponent, engine)(powers, -0.5, **{"tol": 0.1, "widths": WIDTHS, **more, **changed})


def test_subjects():
    for make in (partial(exponent.slope_within, tol=0.05, widths=WIDTHS),
                 partial(exponent.band, tol=0.05, widths=WIDTHS, seeds=16)):
        one = make(powers, -0.5).resolved_subject()
        assert one == make(powers, lambda: Fraction(-1, 2)).resolved_subject()
        assert one != make(powers, -1).resolved_subject() and (one["target"], one["tol"]) == (-0.5, 0.05)
        assert one != make(partial(powers, slope=-1.0), -0.5).resolved_subject()
        json.dumps(one)

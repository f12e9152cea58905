"""Closed forms against brute force and exact Poisson laws, the simulator against the same laws, messages by name."""
from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from theory import window_information as thy

RNG_SEED = 20260213


def draws(count: int, largest: int = 12):
    rng = np.random.default_rng(RNG_SEED)
    for _ in range(count):
        m = int(rng.integers(1, largest + 1))
        yield rng.gamma(rng.choice([0.05, 0.5, 3.0]), size=m) + 1e-300, int(rng.integers(1, m + 1))


# --- closed forms

def test_inverse_participation_ratio_counts_windows():
    assert thy.inverse_participation_ratio([3, 3, 3, 3]) == 4
    assert thy.inverse_participation_ratio([0, 7, 0]) == 1
    assert thy.inverse_participation_ratio([4, 1]) == pytest.approx(25 / 17, rel=1e-15)
    assert thy.inverse_participation_ratio([1e-200, 1e-200]) == 2
    assert thy.inverse_participation_ratio([1e300, 1e300, 0]) == 2


@pytest.mark.parametrize(("m", "expected"), [(20, 0.5), (100, 0.56881), (1000, 0.57657), (10**5, 0.57734)])
def test_sharp_bound_grows_to_the_square_root(m, expected):
    assert thy.share_bound(5, 15, m) == pytest.approx(expected, abs=5e-6)
    assert thy.share_bound(5, 15, m) < thy.share_bound(5, 15) == pytest.approx(np.sqrt(1 / 3), rel=1e-15)


def test_share_bound_at_its_ends():
    assert thy.share_bound(7, 7) == thy.share_bound(9, 7) == thy.share_bound(9, 7, 20) == 1
    assert thy.share_bound(3, 12, 12) == pytest.approx(3 / 12, rel=1e-15)  # flat: no choice of windows helps
    assert thy.share_bound(0, 3) == thy.share_bound(0, 3, 9) == 0
    assert np.allclose(thy.share_bound(np.array([1, 2]), 4.0), [0.5, np.sqrt(0.5)], rtol=1e-15, atol=0)


def test_no_windows_hold_more_than_the_bounds():
    for w, k in draws(2000):
        c, share = thy.inverse_participation_ratio(w), thy.best_share(w, k)
        sharp, plain = thy.share_bound(k, c, w.size), thy.share_bound(k, c)
        assert share <= sharp * (1 + 1e-9) and sharp <= plain * (1 + 1e-9)  # float64 sums of at most 12 terms
        assert share >= max(k / w.size, 1 / c) * (1 - 1e-9)
        assert k >= thy.min_windows(share, c, w.size) * (1 - 1e-9)


def test_best_share_takes_the_largest():
    w = [1, 5, 2, 2]
    assert thy.best_share(w, 1) == 0.5 and thy.best_share(w, 4) == 1 and thy.best_share(w, 0) == 0
    assert thy.best_share(w, [1, 2, 3]).tolist() == pytest.approx([0.5, 0.7, 0.9])


@pytest.mark.parametrize(("k", "c", "m"), [(5, 15, 1000), (1, 1, 4), (2, 2.5, 3), (3, 40.25, 41), (4, 4, 4)])
def test_extremal_windows_attain_the_sharp_bound(k, c, m):
    w = thy.extremal_windows(k, c, m)
    assert w.shape == (m,) and w.min() >= 0 and w.sum() == pytest.approx(1, rel=1e-12)
    assert thy.inverse_participation_ratio(w) == pytest.approx(c, rel=1e-9)
    assert thy.best_share(w, k) == pytest.approx(thy.share_bound(k, c, m), rel=1e-12)


@pytest.mark.parametrize(("k", "c", "m"), [(5, 15, 1000), (1, 1.5, 3), (0.25, 3, 10), (14, 15, 15), (100, 2000, 10**9)])
def test_min_windows_inverts_the_sharp_bound(k, c, m):
    assert thy.min_windows(thy.share_bound(k, c, m), c, m) == pytest.approx(k, rel=1e-9)


def test_min_windows_of_the_chapter():
    assert np.round(thy.min_windows(np.array([0.5, 0.9]), 100, 10**4), 2).tolist() == [25.06, 81.01]
    assert thy.min_windows(1.0, 7.5, 30) == pytest.approx(7.5, rel=1e-15)
    assert thy.min_windows(0.5, 8, 10**15) == pytest.approx(0.25 * 8, rel=1e-6)  # f^2 c


def test_as_many_windows_as_c_can_hold_a_tenth():
    w = np.r_[0.1, np.full(10**6, 9e-7)]
    c = thy.inverse_participation_ratio(w)
    assert 99.9 < c < 100 and thy.best_share(w, 100) == pytest.approx(0.10009, abs=1e-5)


def test_amplitude_count_overstates():
    v = np.r_[1.0, np.full(10**4, 1e-3)]
    amplitude, right = thy.inverse_participation_ratio(v), thy.inverse_participation_ratio(v**2)
    assert amplitude == pytest.approx(119.8, abs=0.01) and right == pytest.approx(1.02, abs=0.001)
    assert thy.share_bound(1, amplitude) < 0.0914 < 0.99 < thy.best_share(v**2, 1) < thy.share_bound(1, right)


def test_auc_is_the_normal_integral():
    from scipy.stats import norm

    i = np.array([0, 0.09, 0.9, 2, 9, 100.0])
    assert np.allclose(thy.auc(i), norm.cdf(np.sqrt(i / 2)), rtol=1e-13, atol=0)
    assert thy.auc(0) == 0.5 and thy.auc(np.inf) == 1
    assert thy.auc(9 * thy.share_bound(10, 100)) == pytest.approx(0.8835, abs=5e-5)
    assert thy.auc(9 * 10 / 100) == pytest.approx(0.7488, abs=5e-5)


def test_whiten_has_the_whole_information_and_the_symmetric_root():
    from scipy.linalg import sqrtm

    rng = np.random.default_rng(RNG_SEED)
    for size in (1, 2, 5):
        root = rng.normal(size=(size, size))
        v, cov = rng.normal(size=size), root @ root.T + 0.1 * np.eye(size)
        found = thy.whiten(v, cov)
        assert found @ found == pytest.approx(v @ np.linalg.solve(cov, v), rel=1e-9)
        assert np.allclose(np.real(sqrtm(cov)) @ found, v, rtol=1e-8, atol=1e-9)


def test_correlated_windows_break_the_bound_and_whitened_ones_do_not():
    rho, v = 0.5, np.ones(2)
    cov = np.array([[1, rho], [rho, 1]])
    whole = v @ np.linalg.solve(cov, v)
    assert 1 / whole == pytest.approx((1 + rho) / 2) and 1 / whole > thy.share_bound(1, 2)
    w = thy.whiten(v, cov) ** 2
    assert thy.best_share(w, 1) <= thy.share_bound(1, thy.inverse_participation_ratio(w))


def test_power_curve_adds_the_largest_first():
    w = np.array([0.1, 2.0, 0.5])
    assert np.allclose(thy.power_curve(w, 3, [0, 1, 2, 3]), thy.auc(3 * np.array([0, 2, 2.5, 2.6])), rtol=1e-14, atol=0)
    assert thy.power_curve(w, 3, 2).shape == (1,)


def equal_windows_auc(total: float, r: float) -> float:
    """Exact AUC of windows of one relative shift: their sum, Poisson(total) against Poisson(total (1 + r))."""
    from scipy.stats import poisson

    counts = np.arange(int(total * (1 + max(r, 0)) + 15 * np.sqrt(total * (1 + abs(r))) + 40))
    healthy, diseased = poisson.pmf(counts, total), poisson.pmf(counts, total * (1 + r))
    above = float(diseased @ (np.cumsum(healthy) - healthy / 2))
    return above if r > 0 else 1 - above


@pytest.mark.parametrize("r", [0.02, 0.1, -0.1, 0.16, -0.16])
@pytest.mark.parametrize("total", [0.5, 5.0, 50.0, 500.0])
def test_lan_error_is_first_order(total, r):
    actual = equal_windows_auc(total, r) - thy.auc(total * r * r)
    predicted = thy.lan_error([total], [total * r])
    assert abs(predicted) <= 0.0605 * abs(r)
    # what is left: second order in r, and the discreteness of few counts (seen: 0.27 |r| at 0.5 counts)
    assert abs(actual - predicted) <= r * r + 0.05 * abs(r) / np.sqrt(total)
    assert not thy.lan_ok([total], [total * r]) or abs(actual) <= 0.01


def test_lan_ok_is_about_relative_shifts_not_counts():
    assert thy.lan_ok(np.full(500, 0.5), np.full(500, 0.05))  # half a count a window
    assert not thy.lan_ok([50.0], [21.0])  # one strong window of 50 counts
    assert thy.lan_ok([50.0], [21.0], tolerance=0.03)


# --- messages

@pytest.mark.parametrize(("call", "words"), [
    (lambda: thy.inverse_participation_ratio([1, -2]), ("w", "-2", "at least 0")),
    (lambda: thy.inverse_participation_ratio([0, 0]), ("w", "zero")),
    (lambda: thy.inverse_participation_ratio([]), ("w", "(0,)", "at least one")),
    (lambda: thy.inverse_participation_ratio([[1, 2]]), ("w", "(1, 2)", "vector")),
    (lambda: thy.inverse_participation_ratio([1, np.nan]), ("w", "nan", "finite")),
    (lambda: thy.share_bound(5, 3, 4), ("k=5", "m=4")),
    (lambda: thy.share_bound(2, 5, 4), ("c=5", "m=4")),
    (lambda: thy.share_bound(-1, 5), ("k=-1", "at least 0")),
    (lambda: thy.share_bound(1, 0.5), ("c=0.5", "at least 1")),
    (lambda: thy.share_bound(1, np.nan), ("c=nan", "finite")),
    (lambda: thy.share_bound(1, 2, 3.5), ("m=3.5", "whole")),
    (lambda: thy.best_share([1, 2], 3), ("k=3", "m=2")),
    (lambda: thy.best_share([1, 2], 1.5), ("k=1.5", "integer")),
    (lambda: thy.min_windows(0, 2, 3), ("share=0", "(0, 1]")),
    (lambda: thy.min_windows(1.5, 2, 3), ("share=1.5", "(0, 1]")),
    (lambda: thy.min_windows(np.nan, 2, 3), ("share=nan", "finite")),
    (lambda: thy.min_windows(0.5, 4, 3), ("c=4", "m=3")),
    (lambda: thy.auc(-1), ("information=-1", "at least 0")),
    (lambda: thy.auc(np.nan), ("information=nan",)),
    (lambda: thy.whiten([1, 2], np.eye(3)), ("cov", "(3, 3)", "(2, 2)")),
    (lambda: thy.whiten([1, 2], [[1, 2], [0, 1]]), ("cov", "symmetric")),
    (lambda: thy.whiten([1, 2], [[1, 2], [2, 1]]), ("cov", "positive definite", "-1")),
    (lambda: thy.whiten([1, 2], [[1, 1], [1, 1]]), ("cov", "positive definite")),
    (lambda: thy.whiten([1, 2], [[np.nan, 0], [0, 1]]), ("cov", "finite")),
    (lambda: thy.whiten([1, np.inf], np.eye(2)), ("v", "inf", "finite")),
    (lambda: thy.power_curve([1, 2], -1, [1]), ("n=-1", "at least 0")),
    (lambda: thy.power_curve([1, 2], 1, [3]), ("ks=[3]", "m=2")),
    (lambda: thy.extremal_windows(5, 3, 9), ("k=5", "c=3")),
    (lambda: thy.lan_error([1, 0], [0.1, 0.1]), ("mean", "positive")),
    (lambda: thy.lan_error([1], [-1]), ("shift", "-mean")),
    (lambda: thy.lan_error([1, 2], [1]), ("shift", "(1,)", "(2,)")),
    (lambda: thy.lan_ok([1], [0.1], tolerance=0), ("tolerance=0", "positive")),
])
def test_errors_name_the_argument_and_what_was_needed(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


# --- the evidence's own shortcut, and rooms

def test_one_factor_noise_by_multiplicities_agrees_with_elimination():
    from proofs_checks._window_information import factor_share, information, one_factor

    for k, m, a, b, own, other in ((1, 3, 2, 1, 1, 2), (2, 5, 1, 3, Fraction(1, 2), -1), (2, 3, 1, 1, 0, Fraction(1, 3))):
        v, cov, read = one_factor([a] * k + [b] * (m - k), [1] * m, [own] * k + [other] * (m - k), k)
        share, kappa, c = factor_share(k, m, a, b, own, other)
        assert share == information(v, cov, range(read)) / information(v, cov, range(m))
        assert c == thy.participation([Fraction(x) ** 2 for x in v])
        eigenvalues = np.linalg.eigvalsh(np.array(cov, dtype=float))
        assert eigenvalues[-1] / eigenvalues[0] == pytest.approx(float(kappa))


def test_closed_forms_load_neither_sympy_nor_jax_nor_scipy():
    code = ("import sys, theory.window_information as t; t.share_bound(1, 2, 3); "
            "print([x for x in ('sympy', 'jax', 'scipy') if x in sys.modules])")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


# --- the simulator

@pytest.fixture(scope="module")
def sim():
    from simulations import window_information

    return window_information


def test_simulated_auc_is_the_exact_one(sim):
    from simulations._jax import jax

    trials, ks = 3000, [1, 3, 8]
    for mean, r in ((20.0, 0.1), (0.5, 0.6)):
        found = sim.auc_curve(jax.random.key(0), np.full(8, mean), np.full(8, mean * r), ks=ks, trials=trials)
        exact = [equal_windows_auc(k * mean, r) for k in ks]
        assert np.abs(np.asarray(found) - exact).max() < 5 * 0.5 / np.sqrt(trials)


def test_pairs_and_curve_agree_and_are_pure(sim):
    one, two = (np.asarray(sim.auc_pairs(7, 4000, windows=1, mean=20.0, relative=0.5)) for _ in range(2))
    assert (one == two).all() and set(np.unique(one)) == {0.0, 0.5, 1.0}
    assert abs(one.mean() - equal_windows_auc(20.0, 0.5)) < 5 * 0.5 / np.sqrt(4000)
    assert not (one == np.asarray(sim.auc_pairs(8, 4000, windows=1, mean=20.0, relative=0.5))).all()


def test_windows_without_shift_change_nothing(sim):
    from simulations._jax import jax

    shift = sim.flat_shift(2, windows=6, mean=30.0, information=4.0)
    assert float((shift**2 / 30).sum()) == pytest.approx(4) and (np.asarray(shift[2:]) == 0).all()
    found = np.asarray(sim.auc_curve(jax.random.key(1), np.full(6, 30.0), shift, ks=[1, 2, 4, 6], trials=500))
    assert found[0] < found[1] == found[2] == found[3]


def test_gaussian_samplers(sim):
    from scipy.stats import norm

    n = 20_000
    assert abs(float(sim.gaussian_pairs(3, n, information=2.0).mean()) - norm.cdf(1)) < 5 * 0.5 / np.sqrt(n)
    assert abs(float(sim.error_trials(3, n, information=2.0).mean()) - norm.cdf(-np.sqrt(0.5))) < 5 * 0.5 / np.sqrt(n)
    assert float(sim.gaussian_pairs(3, 100, information=0.0).mean()) == 0.5


def test_simulator_messages(sim):
    from simulations._jax import jax

    key = jax.random.key(0)
    for call, words in (
            (lambda: sim.auc_curve(key, [1.0, 2.0], [0.1], ks=[1], trials=9), ("shift", "(1,)", "(2,)")),
            (lambda: sim.auc_curve(key, [1.0, -2.0], [0.1, 0.1], ks=[1], trials=9), ("mean", "positive")),
            (lambda: sim.auc_curve(key, [1.0], [-1.0], ks=[1], trials=9), ("shift", "-mean")),
            (lambda: sim.auc_curve(key, [1.0], [0.1], ks=[2], trials=9), ("ks=[2]", "[1, 1]")),
            (lambda: sim.auc_curve(key, [1.0], [0.1], ks=[1], trials=0), ("trials=0",)),
            (lambda: sim.auc_pairs(0, 0, windows=1, mean=1.0, relative=0.1), ("n=0",)),
            (lambda: sim.gaussian_pairs(0, 5, information=-1.0), ("information=-1",)),
            (lambda: sim.flat_shift(9, windows=3, mean=1.0, information=1.0), ("c=9", "windows=3")),
            (lambda: sim.two_level_shift(2, 1.5, windows=3, mean=1.0, information=1.0), ("share=1.5",)),
            (lambda: sim.two_level_shift(2, 0.5, windows=3, mean=0.0, information=1.0), ("mean=0.0", "positive"))):
        with pytest.raises(ValueError) as caught:
            call()
        assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.fixture(scope="module")
def data(sim):
    return sim.figure_data()


def test_figure_shows_the_crossover(sim, data):
    n = len(data["counts"])
    assert data["auc"].shape == data["lan"].shape == (n, n) and data["curves"].shape == (3, n)
    noise = 5 * 0.5 / np.sqrt(sim.TRIALS)
    assert np.abs(data["auc"] - data["lan"]).max() < noise + 0.0605 * np.sqrt(9 / 50)  # largest relative shift: c = 1
    assert (data["curves"] <= data["bound"] + noise).all() and (data["curves"] <= data["sharp"] + noise).all()
    assert (data["sharp"] <= data["bound"] + 1e-12).all()
    flat = data["share"][data["counts"] > sim.K_SHARE] * data["counts"][data["counts"] > sim.K_SHARE] / sim.K_SHARE
    assert np.abs(flat - 1).max() < 0.3  # share c / k = 1; a share of 1/32 of I = 9 has a relative error of 0.07
    spread = [data["curves"][i, list(data["counts"]).index(sim.C_CURVE)] for i in (0, 2)]
    assert spread[0] - spread[1] > 0.08  # one c, one k = c, two signals


def test_figure_is_labelled(sim, data):
    from matplotlib.figure import Figure

    fig = sim.figure(data)
    assert isinstance(fig, Figure) and len(fig.axes) == 4
    assert all(ax.get_xlabel() and ax.get_ylabel() and ax.get_title() for ax in fig.axes[:3])

"""The independence toolbox: HSIC and distance covariance against their definitions, levels, bandwidths, messages."""
from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from causal import distance_covariance, hsic, hsic_estimate, hsic_test
from causal._kernels import median_distance, moments_exact, permutation_moments


def dense_hsic(x, y, widths):
    x, y = np.reshape(x, (len(x), -1)), np.reshape(y, (len(y), -1))
    k, l = (np.exp(-((u[:, None] - u[None]) ** 2).sum(axis=-1) / (2 * w**2)) for u, w in zip((x, y), widths, strict=True))
    centre = np.eye(len(x)) - 1 / len(x)
    return np.trace(k @ centre @ l @ centre) / len(x) ** 2


def sample(n=200, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x, x[:, 0] ** 2 + rng.normal(size=n)


def test_hsic_is_its_definition():
    x, y = sample()
    upper = np.triu_indices(len(x), 1)
    widths = [np.median(np.sqrt(((u[:, None] - u[None]) ** 2).sum(axis=-1))[upper]) for u in (x, y[:, None])]
    assert hsic(x, y) == pytest.approx(dense_hsic(x, y, widths), rel=1e-12)
    assert hsic(x, y, bandwidth=0.7) == pytest.approx(dense_hsic(x, y, (0.7, 0.7)), rel=1e-12)


def test_an_offset_of_whole_columns_costs_no_digits():
    x, y = sample()
    far, wide = np.round(x * 1e-6 * 2**40) / 2**40 + 2**20, 3e-6  # times in seconds, microseconds apart: exact floats
    assert hsic(far, y * 1e-6, bandwidth=wide) == pytest.approx(hsic(far - 2**20, y * 1e-6, bandwidth=wide), rel=1e-9)


@pytest.mark.parametrize("factor", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1000])
def test_units_change_no_bit_even_where_squares_are_no_floats(factor):
    x, y = np.random.default_rng(8).normal(size=(2, 60))
    y += x
    assert hsic_test(x * factor, y / factor) == hsic_test(x, y)
    assert hsic(x * factor, y * factor, bandwidth=factor) == hsic(x, y, bandwidth=1.0)
    assert hsic_estimate(x * factor, y) == hsic_estimate(x, y)


def test_compiled_loops_give_the_same_sums(monkeypatch):
    x, y = sample(301)
    held = moments_exact(x, y[:, None])
    monkeypatch.setattr("causal._kernels.DENSE", 10)
    streamed = moments_exact(x, y[:, None])
    assert streamed.statistic == pytest.approx(held.statistic, rel=1e-11)
    assert np.allclose((*streamed.first, *streamed.second), (*held.first, *held.second), rtol=1e-11, atol=0)


def test_nystroem_keeps_its_promise():
    x, y = sample(1200)
    exact = hsic(x, y, method="exact")
    for landmarks in (8, 20, 60):
        value, error = hsic_estimate(x, y, landmarks=landmarks)
        assert value <= exact * (1 + 1e-9) <= (value + error) * (1 + 1e-9)
    assert hsic(x, y, method="nystroem") == pytest.approx(exact, rel=0.01)


def test_the_series_of_the_kernel_keeps_a_promise_of_a_millionth():
    rng = np.random.default_rng(14)
    for draw in (rng.normal, rng.uniform, rng.exponential):
        x = draw(size=700)
        for y in (rng.normal(size=700), x**2 + rng.normal(size=700)):
            exact = hsic(x, y, method="exact")
            value, error = hsic_estimate(x, y)
            assert value <= exact <= value + error and error < 1e-6
            assert hsic_test(x, y, method="nystroem")[1] == pytest.approx(hsic_test(x, y, method="exact")[1], rel=1e-3)


def test_far_outliers_and_constants_have_features_too():
    x, y = np.append(sample(900)[0][:, 0], [400.0]), sample(901)[1]  # a series would need hundreds of terms
    exact = hsic(x, y, method="exact")
    value, error = hsic_estimate(x, y)
    assert value <= exact * (1 + 1e-9) and exact <= (value + error) * (1 + 1e-9) and error < exact / 100
    assert hsic_test(np.ones(901), y, method="nystroem") == (0.0, 1.0)


def test_the_null_moments_are_those_of_all_permutations():
    x, y = sample(6, seed=3)
    values = [moments_exact(x, y[list(p), None]).statistic for p in permutations(range(6))]
    mean, variance = permutation_moments(moments_exact(x, y[:, None]))
    assert (mean, variance) == pytest.approx((np.mean(values), np.var(values)), rel=1e-9)


def test_p_values_are_calibrated_and_never_zero():
    rng = np.random.default_rng(1)
    values = np.array([hsic_test(rng.normal(size=60), rng.exponential(size=60))[1] for _ in range(1000)])
    assert abs(np.mean(values < 0.05) - 0.05) < 0.03  # four standard errors
    x = rng.normal(size=2000)
    statistic, p = hsic_test(x, x + 1e-9 * rng.normal(size=2000))
    assert statistic > 0 and 0 < p < 1e-12
    assert 0 < hsic_test(x, x, method="nystroem", random_state=1)[1] < 1e-12
    assert hsic_test(np.ones(50), x[:50])[1] == 1.0


def test_distance_covariance_is_its_definition_and_sees_ties():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 5, size=120).astype(float)
    y = np.round(x**2 + rng.normal(size=120), 1)
    a, b = (np.abs(u[:, None] - u[None]) for u in (x, y))
    a, b = (m - m.mean(axis=0) - m.mean(axis=1)[:, None] + m.mean() for m in (a, b))
    assert distance_covariance(x, y) == pytest.approx(np.mean(a * b), rel=1e-11)


def test_the_median_bandwidth_uses_a_seeded_sample_of_long_tables():
    u = np.arange(3000.0)[:, None]
    kept = u[np.random.default_rng(0).permutation(3000)[:1000]]
    assert median_distance(u) == median_distance(kept)


def test_the_median_distance_is_that_of_all_pairs():
    rng = np.random.default_rng(4)
    for u in (rng.normal(size=151), rng.normal(size=152), 1.0 * rng.integers(0, 5, size=203), 1 + 1e-9 * rng.normal(size=120),
              rng.exponential(size=160) ** 6, np.where(rng.random(140) < 0.8, 0.0, rng.normal(size=140))):
        distances = np.abs(u[:, None] - u[None])[np.triu_indices(len(u), 1)]
        middle = np.median(distances) or np.median(distances[distances > 0])
        assert median_distance(u[:, None]) == pytest.approx(middle, rel=1e-6 if u.std() < 1e-6 else 1e-12)


@pytest.mark.parametrize(("call", "said"), [
    (lambda x, y: hsic(x, y[:-1]), "x has 200 rows, y 199"), (lambda x, y: hsic(x, y, method="fast"), "method='fast'"),
    (lambda x, y: hsic(x, y, bandwidth=0.0), "bandwidth=0.0"), (lambda x, y: hsic(x * np.nan, y), "nan"),
    (lambda x, y: hsic(x, ["a"] * 200), "y="), (lambda x, y: hsic_test(x[:4], y[:4]), "at least 6"),
    (lambda x, y: distance_covariance(x, y), "two vectors")])
def test_toolbox_says_what_is_wrong(call, said):
    with pytest.raises(ValueError, match=said):
        call(*sample())


def test_huge_columns_have_a_distance_covariance_or_are_refused():
    x, y = np.random.default_rng(9).normal(size=(2, 50))
    y += x
    plain = distance_covariance(x, y)
    assert distance_covariance(x * 2.0**1018, y * 2.0**-1018) == plain
    assert distance_covariance(x * 2.0**1018, y) == plain * 2.0**1018
    with pytest.raises(ValueError, match="is no float"):
        distance_covariance(x * 2.0**1018, y * 2.0**1018)


def test_exact_hsic_is_never_negative():
    values = [hsic(np.arange(n) % 2, np.arange(n) // 2 % 2, method="exact") for n in range(8, 200, 4)]  # 0 but for rounding
    assert min(values) >= 0.0 and max(values) < 1e-14


def test_landmarks_and_complex_numbers_are_refused_by_name():
    x, y = sample(40)
    with pytest.raises(TypeError, match=r"landmarks=2.5 must be an integer"):
        hsic_estimate(x, y, landmarks=2.5)
    with pytest.raises(ValueError, match=r"landmarks=0 must be at least 1"):
        hsic_estimate(x, y, landmarks=0)
    with pytest.raises(ValueError, match="y holds complex numbers"):
        hsic(x, y + 1j)

"""Which way edges point, at what level the test rejects, and how the search weighs both."""
from __future__ import annotations

import numpy as np
import pytest

from causal import IndRM


def directions(columns, y, linear=True):
    from causal.indrm._direction import against
    from causal.indrm._table import read_table

    table = read_table(columns, y, None)
    found = against(table.columns, table.y, linear, np.arange(min(len(y), 400)))
    return dict(zip(table.names, found, strict=True))


def test_a_child_looks_like_a_child_and_a_parent_like_a_parent():
    for seed in range(10):
        a, n, m = np.random.default_rng([20, seed]).exponential(size=(3, 1000))
        assert directions({"a": a, "c": a + n + m}, a + n)["c"] > 2.5
        assert directions({"a": a}, a + n)["a"] < -2.5


def test_nothing_is_said_of_gaussian_edges_bystanders_and_categories():
    values = []
    for seed in range(40):
        rng = np.random.default_rng([21, seed])
        a, n, m = rng.normal(size=(3, 500))
        found = directions({"a": a, "c": a + n + m, "other": rng.exponential(size=500), "flag": a > 0.5}, a + n)
        values += [found["c"], found["other"]]
        assert found["flag"] == -np.inf
    assert np.mean(np.abs(values) > 2.5) < 0.1


def test_the_influence_is_the_derivative_of_the_entropy():
    from causal.indrm._direction import _entropy

    rng = np.random.default_rng(22)
    r, ones = rng.exponential(size=300), np.ones(300)
    value, influence = _entropy(r, ones)
    assert np.allclose(influence.mean(), 0, atol=1e-12)
    for i in (0, 17, 299):  # a little more weight on one row
        weights = ones.copy()
        weights[i] += 1e-5
        moved, _ = _entropy(r, weights / weights.mean())
        assert (moved - value) / (1e-5 / 300) == pytest.approx(influence[i], rel=1e-3, abs=1e-3)
    assert _entropy(3 * r, ones)[0] - value == pytest.approx(np.log(3))


def test_true_parents_are_rejected_about_as_often_as_the_level_says():
    from causal.indrm._problem import Problem
    from causal.indrm._table import read_table

    values = []
    for seed in range(120):
        rng = np.random.default_rng([23, seed])
        x = rng.normal(size=(200, 2))
        table = read_table(x, x @ [1.0, -1.0] + 0.7 * rng.exponential(size=200), None)
        values.append(Problem(table.columns, table.y, "linear", 49, 0).p_value((0, 1)))
    assert np.mean(np.array(values) < 0.05) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 120) and 0.35 < np.mean(values) < 0.65


def test_an_answer_that_is_not_earned_is_called_not_unique():
    undecided = 0
    for seed in range(5):
        a, n, m = np.random.default_rng([24, seed]).normal(size=(3, 400))
        found = IndRM("linear").fit({"a": a, "c": a + n + m}, a + n)  # every set is admissible; the principle says both
        assert sorted(found.parents_) == ["a", "c"] or found.status_ == "not_unique"
        undecided += found.status_ == "not_unique" and bool(found.ties_)
    assert undecided >= 1


class Told:
    """A problem whose tests, directions and risks are told: sets that pass, doubts by member, mean losses by set."""

    def __init__(self, passing, doubts, risks):
        self.passing, self.told, self.risks, self.p_values = passing, doubts, risks, {}

    def p_value(self, s):
        self.p_values[s] = 1.0 if s in self.passing else 1e-9
        return self.p_values[s]

    def admits(self, s, alpha):
        return self.p_value(s) >= alpha

    def doubts(self, s):
        return tuple(self.told[j] for j in s)

    def fine(self, s):  # differences of losses have a standard error of 1
        from causal.indrm._problem import Fitted

        n = 400
        noise = np.random.default_rng(len(s)).normal(size=n)
        noise = (noise - noise.mean()) / noise.std() * np.sqrt(n / 2)
        return Fitted(None, "nystroem", np.zeros(n), np.zeros(n), 100 + self.risks[s] + noise)

    rough = fine


def test_doubtful_members_go_together_if_that_costs_little():
    from causal.indrm._search import without_bystanders

    risks = {(0, 1, 2): 0.0, (0, 1): 3.0, (0, 2): 3.0, (0,): 4.0, (1,): 50.0, (2,): 50.0, (1, 2): 50.0}
    doubts = {0: -4.0, 1: 0.5, 2: 1.5}
    few = Told({(0, 1, 2), (0,)}, doubts, risks)  # on the way, neither (0, 1) nor (0, 2) passes
    assert without_bystanders(few, (0, 1, 2), 0.01) == ((0,), [(0, 1, 2)])
    assert without_bystanders(Told({(0, 1, 2), (0,)}, doubts, risks | {(0,): 40.0}), (0, 1, 2), 0.01) == ((0, 1, 2), [])
    assert without_bystanders(Told({(0, 1, 2), (0,)}, doubts | {1: -0.1}, risks), (0, 1, 2), 0.01)[0] == (0,)
    assert without_bystanders(Told({(0, 1, 2), (0,)}, doubts | {1: -2.6}, risks), (0, 1, 2), 0.01)[0] == (0, 1, 2)


def test_a_pair_that_fits_both_ways_is_never_called_unique():
    answers = []
    for seed in range(8):  # Lukacs: y - f(x) is independent of x, and x - g(y) of y, for logarithms of gamma variables
        first, second = np.log(np.random.default_rng([25, seed]).exponential(size=(2, 600)))
        found = IndRM(n_boot=49).fit({"x": first - second}, second)
        answers.append((found.status_, set(found.ties_)))
    assert sum(status == "selected" for status, _ in answers) <= 1  # by chance 2.5 standard errors: once in 160
    assert sum(frozenset() in ties for _, ties in answers) >= 5


def test_linear_innovations_rule_out_what_kernels_blur():
    from causal.indrm._problem import DOUBT, Problem
    from causal.indrm._table import read_table

    ruled_out, plain, level = 0, 0, 0.01
    for seed in range(8):
        a, b, n, m = np.random.default_rng([31, seed]).laplace(size=(4, 400))
        table = read_table({"a": a, "b": b, "c": a + b + n + m}, a + b + n, None)
        problem = Problem(table.columns, table.y, "nystroem", 49, 0)
        if max(problem.doubts((0, 1, 2))) < DOUBT["nystroem"]:
            ruled_out += not problem.admits((0, 1, 2), level)
            plain += problem.p_value((0, 1, 2)) < level
    assert ruled_out > plain

"""What `IndRM` says about an answer is what its rule did."""
from __future__ import annotations

import numpy as np
import pytest

from causal import IndRM
from causal.indrm._problem import BETTER, DOUBT, gain
from causal.indrm._report import _why_not, named
from causal.indrm._search import CLEAR, SURE


def table(seed):
    """Two confounded causes, one of them weak; two effects; noise of four kinds."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([150, 400, 1000]))
    draw = [lambda: rng.normal(size=n) ** 3, lambda: rng.laplace(size=n), lambda: rng.exponential(size=n) - 1,
            lambda: rng.normal(size=n)][seed % 4]
    shape = (lambda v: v) if rng.random() < 0.5 else np.tanh
    hidden = draw()
    a, b, e = draw() + hidden, draw() - hidden * 0.7, draw()
    y = shape(a) + shape(b) * rng.uniform(0.1, 1.5) + draw()
    c = y + draw() * rng.uniform(0.2, 1.5) + a * rng.choice([0, 0.5])
    return {"a": a, "b": b, "c": c, "d": c - a + draw(), "e": e}, y


@pytest.mark.parametrize("seed", [4, 13, 16, 22, 29, 30, 58])
def test_a_better_set_that_passes_is_named_with_the_reason_that_holds(seed):
    model = IndRM().fit(*table(seed))
    text, problem, chosen = model.summary(), model._problem, model._chosen
    better = [r for r in model.table_ if r.p_value is not None and r.variance < model.variance_ and r.p_value >= model.alpha
              and r.variables != frozenset(model.parents_)]
    assert better
    for row in better:
        s = tuple(sorted(model._table.names.index(name) for name in row.variables))
        doubts = dict(zip((model._table.names[j] for j in s), problem.doubts(s), strict=True))
        why = _why_not(model, row)
        holds = {
            "looks like an effect": max(doubts.values()) >= DOUBT[problem.fine(s).kind],
            "depends on linear parts": not problem.admits(s, model.alpha),
            "the answer is smaller": len(chosen) < len(s) and gain(problem.fine(chosen), problem.fine(s)) < BETTER,
            "its p is below": not problem.admits(s, SURE) and model.p_value_ >= SURE,
            "no clear parent in": all(doubts[name] >= -CLEAR for name in row.variables - set(model.parents_)),
            "came first": row.p_value >= SURE}
        (said,) = (words for words in holds if words in why)
        assert holds[said], (row, why, doubts)
        assert any(named(row.variables) in line and why in line for line in text.splitlines())


def test_better_sets_are_named_however_many_worse_ones_pass_more_clearly():
    model = IndRM().fit(*table(22))
    row = next(r for r in model.table_ if r.variables == {"a", "b"})
    model.table_ += [row._replace(variables=frozenset({f"z{k}"}), variance=9.0, p_value=0.9) for k in range(7)]
    assert row not in model.sensitivity() and "{a, b}" in model.summary()


def test_a_column_that_determines_the_target_is_not_said_to_explain_less():
    rng = np.random.default_rng(1)
    a = rng.normal(size=400)
    y = a**2 + rng.exponential(size=400)
    model = IndRM().fit({"a": a, "copy": np.exp(y)}, y)
    assert model.status_ == "deterministic_column" and "explained" not in model.summary()

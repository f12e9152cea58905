"""Parents of a target: the exact side, and IndRM on data with known answers and bad input."""
from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import causal
from causal import IndRM, admissible_sets, population_parents

F = Fraction


# --- exact side -------------------------------------------------------------------------------------------------------


def by_definition(joint):
    """Admissible sets with residual laws as Fractions, set by set."""
    d = len(next(iter(joint))) - 1
    found = []
    for bits in product((0, 1), repeat=d):
        chosen = [j for j in range(d) if bits[j]]
        groups = {}
        for key, p in ((key, p) for key, p in joint.items() if p):
            groups.setdefault(tuple(key[j] for j in chosen), []).append((key[-1], p))
        laws = []
        for cell in groups.values():
            mass = sum(p for _, p in cell)
            mean = sum(y * p for y, p in cell) / mass
            law = {}
            for y, p in cell:
                law[y - mean] = law.get(y - mean, 0) + p / mass
            laws.append(law)
        if all(law == laws[0] for law in laws):
            found.append((sum(r * r * p for r, p in laws[0].items()), len(chosen), tuple(chosen)))
    return sorted(found)


def random_joint(source, d):
    keys = [(*x, y) for x in product((0, 1), repeat=d) for y in (0, 1, 2)]
    parts = [source.choice((0, 1, 1, 2)) for _ in keys]
    return {k: F(v, sum(parts)) for k, v in zip(keys, parts, strict=True)}


def test_admissible_sets_agree_with_their_definition():
    source = random.Random(0)
    cases = [random_joint(source, d) for d in (1, 2) for _ in range(60)]
    cases += [{(a, b, a + n): F(1, 8) for a in (0, 1) for b in (0, 1) for n in (0, F(1, 3))}]
    several = 0
    for joint in cases:
        found = [(s.variance, len(s.variables), tuple(sorted(s.variables))) for s in admissible_sets(joint)]
        assert found == by_definition(joint)
        several += len(found) > 1
    assert several


def test_an_instrument_and_a_copy_are_returned_as_predicted():
    bits = list(product((0, 1), repeat=4))  # Z, H, M, N
    instrument = {}
    for z, h, m, n in bits:
        x = z + h + m
        key = (z, x, x + h + n)
        instrument[key] = instrument.get(key, 0) + F(1, 16)
    assert [s.variables for s in population_parents(instrument)] == [frozenset({0})]
    copy = {(x, x, x + n): F(1, 4) for x in (0, 1) for n in (0, 1)}
    assert {s.variables for s in population_parents(copy)} == {frozenset({0}), frozenset({1})}


@pytest.mark.parametrize(("joint", "said"), [
    ({}, "must map"), ({(0, 1): F(1, 2)}, "sums to 1/2"), ({(0, 1): F(3, 2), (1, 1): F(-1, 2)}, "negative probability -1/2"),
    ({(0, 1): F(1, 2), (1,): F(1, 2)}, "lengths"), ({3: 1}, "key 3"), ({(0, "a"): 1}, "'a'"), ({(0, float("nan")): 1}, "nan"),
    ({(0,) * 22: 1}, "at most 20")])
def test_laws_that_are_none_are_refused(joint, said):
    with pytest.raises(ValueError, match=said):
        admissible_sets(joint)


# --- IndRM ------------------------------------------------------------------------------------------------------------


def instrument(n, seed):
    rng = np.random.default_rng([1, seed])
    z, h, m, e = rng.exponential(size=(4, n)) - 1
    x = z + h + m
    return {"z": z, "x": x, "y": x + h + e}


def two_parents(n, seed):
    """a is a parent by its square, b linearly; c is a child of a; k is y's child, by a curve that saturates, so that the
    noise of y is known best in its middle."""
    rng = np.random.default_rng([2, seed])
    h = rng.normal(size=n)
    a, b = rng.normal(size=n) + 0.7 * h, rng.uniform(-1.7, 1.7, size=n)
    y = a**2 + 1.5 * b + 0.7 * (rng.exponential(size=n) - 1)
    c, k = a + rng.normal(size=n), np.tanh(y) + 0.2 * h + 0.2 * rng.normal(size=n)
    return {"a": a, "b": b, "c": c, "k": k, "y": y}


@pytest.fixture(scope="module")
def model():
    return IndRM().fit(two_parents(700, 0), target="y")


def test_parents_are_found_and_everything_is_said(model):
    assert sorted(model.parents_) == ["a", "b"] and model.status_ == "selected" and not model.ties_
    assert sorted(model.graph_.edges) == [("a", "y"), ("b", "y")] and set(model.graph_) == {"a", "b", "c", "k", "y"}
    assert len(model.table_) == 16 and model.table_ == sorted(model.table_, key=lambda r: r.variance)
    chosen = next(r for r in model.table_ if r.variables == {"a", "b"})
    assert chosen.p_value >= model.alpha and 0.4 < chosen.variance < 0.65 and 0 < chosen.standard_error < 0.1
    assert all(r.p_value is None or 0 < r.p_value <= 1 for r in model.table_)
    text = model.summary()
    assert "{a, b}" in text and "not detected" in text and all(r.variables != {"a", "b"} for r in model.sensitivity())
    assert len(model.plot().axes) == 2


def test_predictions_are_the_fitted_function(model):
    data = two_parents(700, 0)
    order = model._table.order
    fitted = model._problem.fitted(model._chosen).fitted * model._table.scale + model._table.centre
    assert np.allclose(model.predict(data)[order], fitted, atol=1e-8)
    new = two_parents(500, 1)
    assert np.mean((new["y"] - model.predict(new)) ** 2) < 0.65
    with pytest.raises(ValueError, match="no column 'a'"):
        model.predict({"b": [1.0]})


def test_orders_and_scales_do_not_matter_and_seeds_do_nothing_global(model):
    data = two_parents(700, 0)
    rows = np.random.default_rng(5).permutation(700)
    shuffled = {name: data[name][rows] * scale for name, scale in (("k", 1e3), ("y", 0.1), ("c", 1.0), ("b", 7.0), ("a", 1e-4))}
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the global generator is what must not move
    other = IndRM().fit(shuffled, target="y")
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002 - as above
    assert set(other.parents_) == set(model.parents_)
    assert [r.variables for r in other.table_] == [r.variables for r in model.table_]
    again = IndRM().fit(data, target="y")
    assert again.table_ == model.table_ and again.p_value_ == model.p_value_


def test_an_instrument_is_returned():
    found = IndRM(random_state=0).fit(instrument(1500, 0), target="y")
    assert found.parents_ == ["z"] and found.variance_ == pytest.approx(6, rel=0.15)


def test_a_copy_of_a_parent_is_a_tie_and_a_constant_is_named():
    data = two_parents(400, 3)
    columns = {"a": data["a"], "b": data["b"], "copy": -2 * data["a"] + 1, "flat": np.ones(400)}
    with pytest.warns(UserWarning, match="'flat' is constant"):
        found = IndRM().fit(columns, data["y"])
    assert found.status_ == "not_unique" and {frozenset(found.parents_), *found.ties_} == {
        frozenset({"a", "b"}), frozenset({"copy", "b"})}
    assert found.copies_ == [["a", "copy"]] and found.constant_ == ["flat"] and "Copies" in found.summary()


def test_collinear_columns_are_reported():
    rng = np.random.default_rng(6)
    a, b, c = rng.normal(size=(3, 200))
    found = IndRM(regressor="linear", max_size=2).fit({"a": a, "b": b, "sum": a + b, "c": c}, a + rng.exponential(size=200))
    assert [set(group) for group in found.collinear_] == [{"a", "b", "sum"}]


@pytest.mark.parametrize("change", [lambda y: 2.54 * y, np.exp])
def test_a_column_that_determines_the_target_is_said_to(change):
    data = two_parents(400, 4)
    found = IndRM().fit({"a": data["a"], "unit": change(data["y"] / 4)}, data["y"])
    assert found.status_ == "deterministic_column" and found.parents_ == ["unit"] and "determines" in found.summary()


def test_independent_columns_leave_only_the_empty_set():
    rng = np.random.default_rng(7)
    found = IndRM(max_size=2).fit(rng.normal(size=(300, 2)), rng.exponential(size=300))
    assert found.status_ == "only_empty_admissible" and found.parents_ == [] and found.p_value_ in (None, 1.0)
    assert np.allclose(found.predict(np.zeros((4, 2))), found._table.centre)


def test_equal_weights_are_no_weights_and_weight_zero_is_no_row():
    data = two_parents(400, 5)
    y, columns = data["y"], {name: data[name] for name in "ab"}
    plain = IndRM(max_size=2).fit(columns, y)
    equal = IndRM(max_size=2).fit(columns, y, np.full(400, 3.0))
    assert equal.parents_ == plain.parents_ and [r.variables for r in equal.table_] == [r.variables for r in plain.table_]
    assert np.allclose([r.variance for r in equal.table_], [r.variance for r in plain.table_], rtol=1e-6, atol=0)
    assert np.allclose(equal.predict(columns), plain.predict(columns), atol=1e-6)
    spoilt = np.concatenate([y, 100 + y[:50]])
    longer = {name: np.concatenate([c, c[:50]]) for name, c in columns.items()}
    cut = IndRM(max_size=2).fit(longer, spoilt, sample_weight=np.repeat([1.0, 0.0], [400, 50]))
    assert cut.parents_ == plain.parents_ and cut.variance_ == pytest.approx(plain.variance_, rel=1e-6)


def test_weights_are_those_of_weighted_least_squares():
    rng = np.random.default_rng(13)
    x = rng.exponential(size=(300, 1))
    y = 2 * x[:, 0] + rng.exponential(size=300)
    weights = 1 / (1 + x[:, 0])
    found = IndRM("linear").fit(x, y, weights)
    design = np.column_stack([np.ones(300), x])
    slopes = np.linalg.solve(design.T @ (weights[:, None] * design), design.T @ (weights * y))
    assert found.parents_ == [0] and np.allclose(found.predict(x), design @ slopes)
    hat = design @ np.linalg.solve(design.T @ (weights[:, None] * design), design.T * weights)
    left_out = (y - design @ slopes) / (1 - np.diag(hat))
    assert found.variance_ == pytest.approx(np.average(left_out**2, weights=weights), rel=1e-9)
    smoother = found._problem.fitted((0,)).smoother
    assert np.allclose(np.sort(smoother.squared), np.sort(np.sum(hat**2, axis=1)))


def test_a_function_as_regressor_and_the_linear_class():
    rng = np.random.default_rng(8)
    x = rng.normal(size=(200, 2))
    y = x[:, 0] + rng.exponential(size=200)

    def least_squares(part, goal):
        design = np.column_stack([np.ones(len(goal)), part])
        return design @ np.linalg.lstsq(design, goal, rcond=None)[0]

    assert IndRM(least_squares, n_boot=39, max_size=2).fit(x, y).parents_ == IndRM("linear").fit(x, y).parents_ == [0]
    with pytest.raises(ValueError, match="regressor returned shape"):
        IndRM(lambda part, goal: goal[:3]).fit(x, y)


def test_categories_and_booleans():
    import pandas as pd

    rng = np.random.default_rng(9)
    kind = rng.choice(["u", "v", "w"], size=500)
    flag = rng.random(500) < 0.5
    y = np.select([kind == "u", kind == "v"], [0.0, 2.0], 5.0) + flag + rng.uniform(size=500)
    frame = pd.DataFrame({"kind": pd.Categorical(kind), "flag": flag, "count": rng.integers(0, 9, size=500), "y": y})
    found = IndRM(max_size=3).fit(frame, target="y")
    assert sorted(found.parents_) == ["flag", "kind"]
    assert np.mean((found.predict(frame) - y) ** 2) < 0.1


def bad_inputs():
    import pandas as pd

    rng = np.random.default_rng(10)
    x, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    holes = x.copy()
    holes[3, 1] = np.inf
    frame = pd.DataFrame({"a": x[:, 0], "b": holes[:, 1], "word": ["u"] * 40, "y": y})
    masked = np.ma.masked_array(x, np.arange(80).reshape(40, 2) % 20 == 0)
    code, plain = pd.Categorical(np.arange(40).astype(str)), frame[["a"]]
    fitted = IndRM("linear", n_boot=19).fit({"a": x[:, 0]}, 9 * x[:, 0] + y)
    return {
        "column 1 holds nan or inf": lambda: IndRM().fit(holes, y),
        "column 'b' holds nan or inf": lambda: IndRM().fit(frame[["a", "b", "y"]], target="y"),
        "column 'word' has dtype": lambda: IndRM().fit(frame[["a", "word"]], y),
        "n=20 rows are too few": lambda: IndRM().fit(x[:20], y[:20]),
        "y is constant": lambda: IndRM().fit(x, np.ones(40)),
        "y holds nan": lambda: IndRM().fit(x, np.where(y > 1, np.nan, y)),
        "column 0 has 40 rows, y has 39": lambda: IndRM().fit(x, y[:-1]),
        "target='z' is no column": lambda: IndRM().fit(frame, target="z"),
        "either y or target": lambda: IndRM().fit(x),
        "alpha=1.3 must lie strictly": lambda: IndRM(alpha=1.3).fit(x, y),
        "regressor='forest' must be": lambda: IndRM("forest").fit(x, y),
        "max_size=-1": lambda: IndRM(max_size=-1).fit(x, y),
        "n_boot=3": lambda: IndRM(n_boot=3).fit(x, y),
        "screen='all'": lambda: IndRM(screen="all").fit(x, y),
        "need \\(n, columns\\)": lambda: IndRM().fit(y, y),
        "sample_weight has shape": lambda: IndRM().fit(x, y, [1.0, 2.0]),
        "sample_weight holds -1.0": lambda: IndRM().fit(x, y, -np.ones(40)),
        "a function takes no weights": lambda: IndRM(lambda part, goal: goal).fit(x, y, np.ones(40)),
        "column 0 holds nan or inf \\(4 values\\)": lambda: IndRM().fit(masked, y),
        "column 'a' has 20 missing values": lambda: IndRM().fit({"a": pd.Series([None, True] * 20, dtype="boolean")}, y),
        "column 'id' has 40 categories in 40 rows": lambda: IndRM().fit({"id": code}, y),
        "target 'id' is categorical; need numbers": lambda: IndRM().fit(plain.assign(id=code), target="id"),
        "rows of y carry the labels of X's rows": lambda: IndRM().fit(plain, frame["y"][::-1]),
        "rows of sample_weight carry the labels": lambda: IndRM().fit(plain, y, frame["y"][::-1] ** 2),
        "sample_weight is 0 in every row": lambda: IndRM().fit(x, y, np.zeros(40)),
        "a column has the name None": lambda: IndRM().fit({None: y, "a": y}, y),
        "target=\\['y'\\] is no column": lambda: IndRM().fit(plain, target=["y"]),
        "executor=2 has no .map": lambda: IndRM().fit(x, y, executor=2),
        "alpha='x' must lie": lambda: IndRM(alpha="x").fit(x, y),
        "max_size=True must be an integer": lambda: IndRM(max_size=True).fit(x, y),
        "random_state=-1 must be an integer of at least 0": lambda: IndRM(random_state=-1).fit(x, y),
        "random_state=1.5": lambda: IndRM(random_state=1.5).fit(x, y),
        "X is an array without names; column 'a'": lambda: fitted.predict(x),
        "X is None; need": lambda: fitted.predict(None),
        "column 'a' has shape \\(\\); need": lambda: fitted.predict({"a": 1.0}),
        "is no argument": lambda: IndRM().set_params(beta=1)}


@pytest.mark.parametrize("said", list(bad_inputs()))
def test_bad_input_is_named(said):
    with pytest.raises(ValueError, match=said):
        bad_inputs()[said]()


def test_integers_of_numpy_arrow_tables_and_huge_weights_are_taken():
    import pyarrow as pa

    rng = np.random.default_rng(10)
    a, b = rng.normal(size=(2, 200))
    y = a + rng.exponential(size=200)
    plain = IndRM("linear", max_size=2, n_boot=19, random_state=3).fit({"a": a, "b": b, "y": y}, target="y")
    table = pa.table({"a": a, "b": b, "y": y})
    same = IndRM("linear", max_size=np.int64(2), n_boot=np.int32(19), random_state=np.uint8(3)).fit(table, target="y")
    heavy = IndRM("linear", max_size=2, n_boot=19, random_state=3).fit(table, target="y", sample_weight=np.full(200, 1e308))
    assert plain.parents_ == ["a"] and plain.table_ == same.table_ == heavy.table_
    assert (same.predict(table) == plain.predict({"a": a})).all()


def test_more_columns_than_rows():
    rng = np.random.default_rng(11)
    x = rng.normal(size=(120, 300))
    y = 2 * x[:, 17] + 0.5 * rng.exponential(size=120)
    assert IndRM(max_size=2).fit(x, y).parents_ == [17]


def kept(x, y, most=8):
    from causal.indrm._problem import Problem
    from causal.indrm._screen import screened
    from causal.indrm._table import read_table

    table = read_table(x, y, None)
    return {table.names[j] for j in screened(Problem(table.columns, table.y, "auto", 99, 0, table.weights), most)}


def test_screening_keeps_parents_without_marginal_correlation():
    rng = np.random.default_rng(12)
    x = rng.normal(size=(1500, 120))
    y = x[:, 40] * x[:, 80] + 0.3 * rng.normal(size=1500)
    correlated = set(np.argsort(-np.abs(x.T @ y))[:8].tolist())
    assert {40, 80} <= kept(x, y) and not {40, 80} <= correlated


def test_screening_keeps_a_parent_that_acts_through_the_curve_of_another():
    rng = np.random.default_rng(13)
    x = rng.normal(size=(1500, 120))
    y = x[:, 40] + (x[:, 40] ** 2 - 1) * x[:, 80] + 0.5 * rng.normal(size=1500)  # Cov(y, x_80) = Cov(y, x_40 x_80) = 0
    assert {40, 80} <= kept(x, y, 2)


def test_screening_keeps_parents_that_a_common_cause_hides():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(2000, 150)) + rng.normal(size=(2000, 1))
        y = 2 * x[:, 40] - x[:, 80] + rng.exponential(size=2000)  # Cov(y, x_80) = 0
        assert {40, 80} <= kept(x, y)


def test_screening_keeps_parents_whose_children_say_more():
    for seed in range(3):
        rng = np.random.default_rng([14, seed])
        x = rng.laplace(size=(2000, 100))
        y = x[:, :3].sum(axis=1) + rng.laplace(size=2000)
        for j in range(50, 54):  # each of them closer to y than any parent
            x[:, j] += 1.5 * y
        assert {0, 1, 2} <= kept(x, y)


def test_the_order_of_rows_changes_no_bit():
    rng = np.random.default_rng(6)
    a, b = rng.integers(0, 3, size=(2, 200))
    x = {"a": a.astype(bool), "b": b * 0.1, "c": rng.exponential(size=200)}
    y = np.round(b + x["c"] + rng.laplace(size=200))
    first = IndRM().fit(x, y)
    for _ in range(5):
        p = rng.permutation(200)
        again = IndRM().fit({name: v[p] for name, v in x.items()}, y[p])
        assert (again.p_value_, again.variance_, again.table_) == (first.p_value_, first.variance_, first.table_)


@pytest.mark.parametrize("factor", [1e-200, 1e250])
def test_units_whose_squares_are_no_floats_are_refused_by_name(factor):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 50))
    with pytest.raises(ValueError, match="column 'x' holds values up to"):
        IndRM().fit({"x": x * factor}, y)
    with pytest.raises(ValueError, match="y holds values up to"):
        IndRM().fit({"x": x}, y * factor)


def test_unfitted_models_say_so_and_public_names_are_there():
    with pytest.raises(RuntimeError, match="call fit first"):
        IndRM().summary()
    assert set(IndRM(alpha=0.02).get_params()) == {"regressor", "alpha", "max_size", "screen", "n_boot", "random_state"}
    assert all(hasattr(causal, name) for name in causal.__all__)

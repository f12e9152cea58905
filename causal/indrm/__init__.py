"""Parents of a target from a table: columns that leave an independent residual, and little of it.

The principle is `causal.population_parents`, where it stands with its conditions; here are finite data: regressions with
honest residuals, a calibrated test of independence, and a search that says what it tried."""
from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import product
from numbers import Integral, Real
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from causal.indrm import _report

__all__ = ["IndRM", "Row"]

Name = Hashable
REGRESSORS = ("auto", "linear", "nystroem")
SCREENED = 8  # columns that are searched exhaustively


class Row(NamedTuple):
    """A set that was tried: variance of its left-out residual and its standard error (units of y^2), p-value or None."""

    variables: frozenset[Name]
    variance: float
    standard_error: float
    p_value: float | None


class IndRM:
    """Direct causes of a target from observational data, when hidden confounders touch anything but the target.

    regressor   "linear", "nystroem" (kernel ridge), "auto" (linear unless the kernels predict clearly better, set by set),
                or a function (X_S (n, k), y (n,)) -> fitted values (n,), k = 0 included; it gets standardised columns
    alpha       a set is rejected if the p-value of "its residual is independent of it" is below alpha
    max_size    largest set that is tried
    screen      columns that are searched: a number, "auto" (8), or None for all
    n_boot      replicates of the residual bootstrap behind each p-value
    random_state   None is a fixed seed: equal data give equal bits; NumPy's global generator is not touched

    Assumed: rows are independent of each other, and y is a function of its parents plus noise that is independent of them
    and of all that y does not cause. A parent on which the noise's spread depends may be missing from a confident answer.

    The rule. Sets are tried in order of residual variance, least first. The first that passes the test with p >= 0.05 (if none
    does, p >= alpha) is taken, if no member looks like an effect of y. Of its subsets, and of smaller sets that predict as
    well, the smallest that passes replaces it: members go that do not clearly look like causes unless they lower the variance
    a lot. So the answer need not be the passing set of least variance; `summary` says why such a set lost.

    After `fit`: `parents_` (names, or column numbers of an array), `status_`, `table_` (every set, in order of variance),
    `ties_`, `graph_` (edges parent -> target), `p_value_`, `variance_`, `screened_`, `constant_`, `copies_`, `collinear_`.
    status_   "selected"; "only_empty_admissible": nothing but the empty set passed, so that y has no parents here or an
              assumption fails, which cannot be told apart; "not_unique": the data do not tell the answer from the sets in
              `ties_`, be it that they do as well (a copy of a column), that a member does not look more like a parent than
              like a child (then the set without it is there), that no member clearly looks like a parent (both directions
              of an edge may fit), that a set of less variance lost narrowly or with members that were left out of it, or
              that the answer's p-value is below 0.05;
              "deterministic_column": some column determines y, which no noise model explains

    What cannot be detected. If a hidden variable enters y, the answer may be an instrument or another ancestor, returned
    with confidence. If y's noise is Gaussian and y's child linear in it, or everything is linear and Gaussian, children
    are returned as well. A set that is too large was not found dependent: a failure of power, which alpha does not bound.
    Where more descendants than `screen` say more about y than its parents do, the parents are not searched.

    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 400))
    >>> y = a + rng.exponential(size=400)
    >>> IndRM(regressor="linear").fit({"a": a, "b": b}, y).parents_
    ['a']
    """

    def __init__(self, regressor: str | Callable[..., Any] = "auto", *, alpha: float = 0.01, max_size: int = 4,
                 screen: str | int | None = "auto", n_boot: int = 99, random_state: int | None = None) -> None:
        self.regressor = regressor
        self.alpha = alpha
        self.max_size = max_size
        self.screen = screen
        self.n_boot = n_boot
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: Name | None = None,
            executor: Any = None) -> IndRM:
        """Search the parents of `y`, or of the column `target` of X.

        X   array (n, d) of numbers, frame (pandas, pyarrow), or mapping of columns; booleans and pandas categoricals are taken
            as categories
        sample_weight   (n,), not negative: losses are weighted, so that the risks are those of the weighted population; rows of
            weight 0 are left out. The test of independence needs weights that are functions of the columns (as for a sample
            drawn by them), or independent of the noise of y
        executor   anything with `.map` (processes, Dask): the regressions that rank the sets, and the bootstrap of the sets
            that are tested, go through it; the answer is the same
        ValueError, naming the column or argument: nan, inf or masked values, text or objects, fewer than 30 rows, a constant
        or categorical target, columns of different lengths, a category of more levels than half the rows, rows of y or
        weights that carry the labels of X's rows in another order; and for arguments out of range. A constant column is
        warned of and left out."""
        from causal.indrm import _search
        from causal.indrm._problem import Problem
        from causal.indrm._screen import screened
        from causal.indrm._table import read_table

        self._check()
        seed = 0 if self.random_state is None else int(self.random_state)
        if executor is not None and not hasattr(executor, "map"):
            raise ValueError(f"executor={executor!r} has no .map; need an executor of processes or threads, or None")
        if sample_weight is not None and callable(self.regressor):
            raise ValueError("sample_weight needs regressor='auto', 'linear' or 'nystroem'; a function takes no weights")
        table = read_table(X, y, target, sample_weight)
        self._table, self._target = table, "y" if target is None else target
        self.constant_, self.collinear_ = table.constant, table.collinear
        self.copies_ = [group for group in table.groups if len(group) > 1]
        keep = len(table.columns) if self.screen is None else SCREENED if self.screen == "auto" else int(self.screen)
        problem = self._problem = Problem(table.columns, table.y, self.regressor, self.n_boot, seed, table.weights)
        certain = _search.determining(table.sources, table.y)
        searched = sorted({*screened(problem, keep), *certain})
        self.screened_ = [table.names[j] for j in searched]
        if certain:
            others: list[tuple[int, ...]] = [(j,) for j in certain]
            self._keep("deterministic_column", others[0], others[1:], [(), *others])
            return self
        mapper = None if executor is None else executor.map
        ranked = _search.risks(problem, searched, self.max_size, mapper)
        accepted = _search.first_accepted(problem, ranked, self.alpha, mapper)
        good = _search.smallest_as_good(problem, ranked, accepted, self.alpha)
        chosen, larger = _search.without_bystanders(problem, good, self.alpha)
        if chosen and problem.fine(chosen).risk < _search.DETERMINED:
            self._keep("deterministic_column", chosen, [], ranked)
            return self
        rivals = []
        if chosen:
            rivals = [*_search.ties(problem, ranked, chosen, self.alpha), *larger]
            rivals += _search.in_question(problem, ranked, chosen, self.alpha)
        self._keep("selected" if chosen else "only_empty_admissible", chosen, rivals, ranked)
        return self

    def _keep(self, status: str, chosen: tuple[int, ...], rivals: list[tuple[int, ...]], ranked: Any) -> None:
        groups, problem, unit = self._table.groups, self._problem, self._table.scale**2
        self._chosen, self._ranked = chosen, ranked
        self.parents_ = [groups[j][0] for j in chosen]
        everything = [frozenset(names) for s in (chosen, *rivals) for names in product(*(groups[j] for j in s))]
        self.ties_ = [s for s in dict.fromkeys(everything) if s != frozenset(self.parents_)]
        self.status_ = "not_unique" if self.ties_ and status == "selected" else status
        risks = {s: problem.risk(s) for s in ranked}
        rows = [Row(frozenset(groups[j][0] for j in s), risk * unit, error * unit, problem.p_values.get(s))
                for s, (risk, error) in risks.items()]
        self.table_ = sorted(rows, key=lambda r: (r.variance, len(r.variables), sorted(map(str, r.variables))))
        self.variance_ = problem.fitted(chosen).risk * unit
        self.p_value_ = problem.p_values.get(chosen)
        self.graph_ = nx.DiGraph()
        self.graph_.add_nodes_from([*self._table.everything, self._target])
        self.graph_.add_edges_from((name, self._target) for name in self.parents_)

    def predict(self, X: Any) -> np.ndarray:
        """Predicted target (n,) from the parents' columns of X, which must be there under their names or numbers.

        ValueError for a missing column, nan or inf; RuntimeError before `fit`."""
        from causal.indrm._predict import predictions

        self._fitted()
        return predictions(self._table, self._problem, self._chosen, X)

    def summary(self) -> str:
        """The answer in words, with what speaks against it."""
        self._fitted()
        return _report.summary(self)

    def sensitivity(self, most: int = 5) -> list[Row]:
        """The sets that were nearly chosen: tested sets other than the answer, the least rejected first, those of smaller
        variance before those of larger. A runner-up with a p-value just below alpha would be the answer at a smaller alpha."""
        self._fitted()
        rows = [r for r in self.table_ if r.p_value is not None and r.variables != frozenset(self.parents_)]
        return sorted(rows, key=lambda r: (-float(r.p_value or 0.0), r.variance))[:most]

    def plot(self) -> Any:
        """Variance against p-value of every tested set, and residuals of the chosen set. A matplotlib Figure."""
        self._fitted()
        return _report.figure(self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments, as scikit-learn wants them."""
        names = ("regressor", "alpha", "max_size", "screen", "n_boot", "random_state")
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: Any) -> IndRM:
        """Change arguments. ValueError for an unknown one."""
        for name, value in params.items():
            if name not in self.get_params():
                raise ValueError(f"{name!r} is no argument of IndRM; it has {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def _fitted(self) -> None:
        if not hasattr(self, "status_"):
            raise RuntimeError("this IndRM is not fitted; call fit first")

    def _check(self) -> None:
        if not callable(self.regressor) and not (isinstance(self.regressor, str) and self.regressor in REGRESSORS):
            raise ValueError(f"regressor={self.regressor!r} must be one of {', '.join(REGRESSORS)}, or a function")
        if not isinstance(self.alpha, Real) or not 0 < self.alpha < 1:
            raise ValueError(f"alpha={self.alpha!r} must lie strictly between 0 and 1")
        for name, least in (("max_size", 0), ("n_boot", 19)):
            if not _is_integer(getattr(self, name), least):
                raise ValueError(f"{name}={getattr(self, name)!r} must be an integer of at least {least}")
        if not (self.screen is None or self.screen == "auto" or _is_integer(self.screen, 1)):
            raise ValueError(f"screen={self.screen!r} must be 'auto', None or a positive integer")
        if not (self.random_state is None or _is_integer(self.random_state, 0)):
            raise ValueError(f"random_state={self.random_state!r} must be an integer of at least 0, or None")


def _is_integer(value: Any, least: int) -> bool:
    """Of Python or NumPy, and no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least

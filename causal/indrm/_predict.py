"""Predictions for new rows: the chosen set's columns are put on the scales of the fitted table."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from causal.indrm._problem import Problem, Set, landmarks_of
from causal.indrm._smooth import Column, extended
from causal.indrm._table import Table, encoded, framed, numbers, shown


def predictions(table: Table, problem: Problem, chosen: Set, data: Any) -> np.ndarray:
    """The fitted function at the rows of `data`, in units of y. ValueError for what is missing or not a finite number."""
    data = framed(data)
    if np.ndim(data) == 0 and not isinstance(data, Mapping):
        raise ValueError(f"X is {data!r}; need an array (n, columns), a frame or a mapping of columns")
    rows = [_column(data, table.names[j]) for j in chosen]
    fit = problem.fitted(chosen)
    if fit.smoother is None:
        raise ValueError("predict needs regressor='auto', 'linear' or 'nystroem'; a function gives fitted values only")
    if not chosen:
        return np.full(_length(data), table.centre)
    both = []
    for j, new in zip(chosen, rows, strict=True):
        known, more = table.columns[j], encoded(table.sources[j], table.columns[j], new)
        both.append(Column(np.vstack([known.scores, more.scores]), np.vstack([known.raw, more.raw])))
    values = extended(both, table.y, landmarks_of(problem, chosen), problem.sample, fit.smoother)
    return np.asarray(values[len(table.y):] * table.scale + table.centre)


def _column(data: Any, name: Any) -> np.ndarray:
    if isinstance(data, Mapping) or hasattr(data, "columns"):
        if name not in data:
            raise ValueError(f"X has no column {name!r}, which is a parent; need {shown([name])}")
        column = data[name]
    else:
        array = np.asarray(data)
        if not isinstance(name, int):
            raise ValueError(f"X is an array without names; column {name!r} is a parent, so need a frame or a mapping")
        if array.ndim != 2 or array.shape[1] <= name:
            raise ValueError(f"X has shape {array.shape}; column {name} is a parent, so need (n, columns > {name})")
        column = array[:, name]
    values = numbers(column, f"column {name!r}")
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has shape {values.shape}; need (n,)")
    if not np.isfinite(values).all():
        raise ValueError(f"column {name!r} holds nan or inf ({int((~np.isfinite(values)).sum())} values)")
    return values


def _length(data: Any) -> int:
    if isinstance(data, Mapping):
        if not data:
            raise ValueError("X has no columns, so that its rows cannot be counted")
        name, column = next(iter(data.items()))
        if np.ndim(column) != 1:
            raise ValueError(f"column {name!r} has shape {np.shape(column)}; need (n,)")
        return len(column)
    return len(data)

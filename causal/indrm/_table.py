"""A user's table in a canonical form: what is wrong with it is said by name, and neither the order of its rows nor that of
its columns nor their scales matter afterwards."""
from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from causal.indrm._smooth import Column

FEWEST = 30
SMALLEST = 1e-75  # of a column's largest value and its reciprocal: fourth powers must be floats
Name = Hashable


class Table(NamedTuple):
    """Columns in canonical order, rows too: `order[i]` is the user's row that stands at i.

    `groups[j]` names column j and everything that determines it and is determined by it (copies, rescaled or relabelled)."""

    names: list[Name]
    columns: list[Column]
    y: np.ndarray  # standardised
    centre: float
    scale: float
    order: np.ndarray
    groups: list[list[Name]]
    constant: list[Name]
    collinear: list[list[Name]]
    everything: list[Name]
    sources: list[np.ndarray]  # the columns as they came, in canonical order of rows
    weights: np.ndarray | None = None  # of mean 1, positive, in canonical order of rows


def shown(names: Sequence[Name], most: int = 8) -> str:
    """Names for a message."""
    rest = f", ... ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + rest


def read_table(data: Any, y: Any, target: Name | None, sample_weight: Any = None) -> Table:
    """ValueError, naming the column, for what cannot be used; a constant column is left out with a warning, rows of weight
    0 are left out without."""
    raw, answer = _split(data, y, target)
    values = {name: numbers(column, f"column {name!r}") for name, column in raw.items()}
    label = "y" if target is None else f"target {target!r}"
    if type(getattr(answer, "dtype", None)).__name__ == "CategoricalDtype":
        raise ValueError(f"{label} is categorical; need numbers")
    goal = numbers(answer, label).astype(float)
    if goal.ndim != 1:
        raise ValueError(f"{label} has shape {goal.shape}; need (n,)")
    weights = None if sample_weight is None else _weights(sample_weight, len(goal))
    _same_rows(data, sample_weight, "sample_weight")
    rows = np.arange(len(goal))
    if weights is not None and not weights.all():
        rows = np.flatnonzero(weights)
        values = {name: v[rows] if len(v) == len(goal) else v for name, v in values.items()}
        goal, weights = goal[rows], weights[rows]
    _check(values, goal, label)
    if len(np.unique(goal)) == 2:
        warnings.warn(f"{label} has two values: it is no function of its parents plus noise independent of them", stacklevel=4)
    constant = [name for name, v in values.items() if _is_constant(v)]
    if constant:
        warnings.warn(f"column {shown(constant)} is constant and is left out", stacklevel=4)
    kept = {name: v for name, v in values.items() if name not in set(constant)}
    scores = {name: _scores(v) for name, v in kept.items()}
    goal_scores = _scores(goal)[:, 0]
    names = sorted(kept, key=lambda name: (*_signature(scores[name], goal_scores), str(name)))
    keys = [*(kept[name] for name in reversed(names)), goal]
    order = np.lexsort(keys if weights is None else [weights, *keys])
    weights = None if weights is None else weights[order] / weights.mean()
    groups = _groups(names, scores)
    sources, goal = [kept[g[0]][order] for g in groups], goal[order]  # means of reordered rows may differ in the last bit
    columns = [Column(_scores(v), _standard(v)) for v in sources]
    centre = float(np.average(goal, weights=weights))
    scale = float(np.sqrt(np.average((goal - centre) ** 2, weights=weights)))
    table = Table([g[0] for g in groups], columns, (goal - centre) / scale, centre, scale, rows[order], groups, constant,
                  [], list(raw), sources, weights)
    return table._replace(collinear=_collinear(table))


def _split(data: Any, y: Any, target: Name | None) -> tuple[dict[Name, Any], Any]:
    """Columns by name (frames, mappings) or number (arrays), and the target."""
    if (y is None) == (target is None):
        raise ValueError("need either y or target=<name of a column>, and not both")
    data = framed(data)
    if isinstance(data, Mapping) or hasattr(data, "columns"):
        labels = list(data) if isinstance(data, Mapping) else list(data.columns)
        if twice := sorted({str(name) for name in labels if labels.count(name) > 1}):
            raise ValueError(f"column {shown(twice)} stands in X twice; names must differ")
        columns = {name: data[name] for name in labels}
    else:
        array = np.asanyarray(data)  # a masked array stays one
        if array.ndim != 2:
            raise ValueError(f"X has shape {array.shape}; need (n, columns)")
        columns = {j: array[:, j] for j in range(array.shape[1])}
    if None in columns:
        raise ValueError("a column has the name None; give it another")
    if target is None:
        _same_rows(data, y, "y")
        return columns, y
    if not isinstance(target, Hashable) or target not in columns:
        raise ValueError(f"target={target!r} is no column; columns: {shown(list(columns))}")
    return {name: c for name, c in columns.items() if name != target}, columns[target]


def framed(data: Any) -> Any:
    """An Arrow table as a pandas frame; everything else as it is."""
    return data.to_pandas() if hasattr(data, "column_names") and hasattr(data, "to_pandas") else data


def _same_rows(data: Any, other: Any, label: str) -> None:
    """Rows are taken by position. ValueError if labels of rows say that the same rows stand in another order."""
    left: Any = getattr(data, "index", None)
    right: Any = getattr(other, "index", None)
    if hasattr(left, "isin") and hasattr(right, "isin") and len(left) == len(right) and not left.equals(right) \
            and left.isin(right).all():
        raise ValueError(f"rows of {label} carry the labels of X's rows in another order; put them in the same one, or pass "
                         f"an array if they already stand so")


def numbers(column: Any, label: str) -> np.ndarray:
    """A float vector, or for a categorical or boolean column its codes as integers."""
    if type(getattr(column, "dtype", None)).__name__ == "CategoricalDtype":
        codes = np.asarray(column.cat.codes if hasattr(column, "cat") else column.codes)
        if (codes < 0).any():
            raise ValueError(f"{label} has {int((codes < 0).sum())} missing values; fill or drop them")
        return codes.astype(np.int64)
    try:
        values = np.asarray(np.ma.filled(column.astype(float), np.nan) if np.ma.is_masked(column) else column)
        if values.dtype.kind in "OSUVcmM":  # text, objects, complex, dates
            raise TypeError
        return values.astype(np.int64) if values.dtype.kind == "b" else values.astype(float)
    except (TypeError, ValueError):
        if hasattr(column, "isna") and (missing := int(np.sum(column.isna()))):
            raise ValueError(f"{label} has {missing} missing values; fill or drop them") from None
        kind = getattr(column, "dtype", None) or np.asarray(column).dtype
        raise ValueError(f"{label} has dtype {kind}; need numbers, booleans or a pandas categorical") from None


def _weights(given: Any, n: int) -> np.ndarray:
    weights = numbers(given, "sample_weight").astype(float)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; need ({n},), one weight a row")
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = weights[~np.isfinite(weights) | (weights < 0)][0]
        raise ValueError(f"sample_weight holds {bad}; need finite numbers that are not negative")
    if not weights.any():
        raise ValueError("sample_weight is 0 in every row; need at least one that is positive")
    return weights / weights.max()  # a sum of weights must be a float


def _check(values: Mapping[Name, np.ndarray], goal: np.ndarray, label: str) -> None:
    n = len(goal)
    if wrong := [name for name, v in values.items() if v.shape != (n,)]:
        raise ValueError(f"column {wrong[0]!r} has {len(values[wrong[0]])} rows, {label} has {n}; need the same number")
    if bad := [name for name, v in values.items() if not np.isfinite(v).all()]:
        rows = sum(int((~np.isfinite(values[name])).sum()) for name in bad)
        raise ValueError(f"column {shown(bad)} holds nan or inf ({rows} values); drop or fill these rows")
    if not np.isfinite(goal).all():
        raise ValueError(f"{label} holds nan or inf ({int((~np.isfinite(goal)).sum())} values); drop these rows")
    for name, v in (*((f"column {name!r}", v) for name, v in values.items()), (label, goal)):
        if (largest := float(np.max(np.abs(v), initial=0.0))) > 1 / SMALLEST or 0 < largest < SMALLEST:
            raise ValueError(f"{name} holds values up to {largest:.3g}, whose squares are no floats; take another unit")
    for column, v in values.items():
        if v.dtype.kind == "i" and n >= FEWEST and 2 * (levels := len(np.unique(v))) > n:
            raise ValueError(f"column {column!r} has {levels} categories in {n} rows; need two rows a category, or numbers")
    if n < FEWEST:
        raise ValueError(f"n={n} rows are too few; need at least {FEWEST}")
    if _is_constant(goal):
        raise ValueError(f"{label} is constant ({goal[0]}); it has no causes to be found")


def _is_constant(v: np.ndarray) -> bool:
    return bool(v.max() == v.min()) or bool(np.std(v) <= 1e-12 * np.max(np.abs(v)))


def _scores(v: np.ndarray) -> np.ndarray:
    """Normal scores of average ranks (n, 1); for integer codes of categories, indicators (n, levels)."""
    from scipy.special import ndtri

    levels, inverse, counts = np.unique(v, return_inverse=True, return_counts=True)
    if v.dtype.kind == "i":
        return np.asarray((inverse[:, None] == np.arange(len(levels))[None, :]).astype(float) / np.sqrt(0.5))
    middle = np.cumsum(counts) - counts / 2
    scores = ndtri(middle / len(v))[inverse]
    return np.asarray((scores - scores.mean()) / scores.std())[:, None]


def _standard(v: np.ndarray) -> np.ndarray:
    """Standardised (n, 1); indicators of all levels but one for categories."""
    if v.dtype.kind == "i":
        levels = np.unique(v)
        parts = (v[:, None] == levels[None, 1:]).astype(float)
        return np.asarray((parts - parts.mean(axis=0)) / parts.std(axis=0))
    w = (v - v.mean()) / v.std()
    return np.asarray((w - w.mean()) / w.std())[:, None]


def _signature(scores: np.ndarray, goal: np.ndarray) -> tuple[float, ...]:
    """Numbers that do not change with the order of rows or columns or with scales; the most correlated come first."""
    n = len(goal)
    moments = [float(np.abs(scores.T @ g).sum()) / n for g in (goal, goal**2 - 1, goal**3)]
    return tuple(-round(m, 9) for m in moments)


def _groups(names: Sequence[Name], scores: Mapping[Name, np.ndarray]) -> list[list[Name]]:
    """Names whose columns are functions of each other one to one in order: equal ranks, or reversed ranks."""
    found: list[list[Name]] = []
    seen: dict[bytes, int] = {}
    for name in names:
        s = np.round(scores[name], 9) + 0.0
        key, mirrored = s.tobytes(), (np.round(-scores[name], 9) + 0.0).tobytes()
        place = seen.get(key, seen.get(mirrored))
        if place is None:
            seen[key] = len(found)
            found.append([name])
        else:
            found[place].append(name)
    return [sorted(g, key=str) if not all(isinstance(x, int) for x in g) else sorted(g) for g in found]  # type: ignore[type-var]


def _collinear(table: Table) -> list[list[Name]]:
    """Sets of columns of which one is a linear combination of the others, each as small as elimination finds it."""
    raw = [(name, c.raw[:, 0]) for name, c in zip(table.names, table.columns, strict=True) if c.raw.shape[1] == 1]
    if len(raw) < 3 or len(raw) >= len(table.y):
        return []
    matrix = np.column_stack([v for _, v in raw])
    values, vectors = np.linalg.eigh(matrix.T @ matrix / len(matrix))
    found = []
    for k in np.flatnonzero(values < 1e-10):
        involved = np.flatnonzero(np.abs(vectors[:, k]) > 1e-6)
        found.append([raw[i][0] for i in involved])
    return found


def encoded(source: np.ndarray, column: Column, new: np.ndarray) -> Column:
    """New values on the scales of a column; scores are interpolated between the known values, and constant beyond."""
    if source.dtype.kind == "i":
        levels, first = np.unique(source, return_index=True)
        place = np.minimum(np.searchsorted(levels, new), len(levels) - 1)
        if (levels[place] != new).any():
            raise ValueError(f"a category with code {new[levels[place] != new][0]} was not there at fit")
        return Column(column.scores[first][place], column.raw[first][place])
    values, first = np.unique(source, return_index=True)
    scores = np.interp(new, values, column.scores[first, 0])
    raw = (new - source.mean()) / source.std()
    return Column(scores[:, None], raw[:, None])

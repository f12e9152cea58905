"""Measured one-step losses on real series: one forecaster pooled over all of them against one forecaster a series."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Losses", "real_series", "windowed_losses"]

TRAINING = 0.7  # share of each series, from its start, used for fitting


class Losses(NamedTuple):
    """Mean squared one-step errors on the test parts, in units of each series' training variance."""

    windows: Any  # (windows,)
    pooled: Any  # (windows, series)
    separate: Any  # (windows, series)


def real_series() -> dict[str, Any]:
    """Ten series that ship with statsmodels (no network): yearly sunspots and Nile flow, monthly sea temperature and
    change of CO2, quarterly growth rates and changes of United States macroeconomic data."""
    from statsmodels import datasets

    macro = datasets.macrodata.load_pandas().data
    carbon = datasets.co2.load_pandas().data["co2"].resample("MS").mean().interpolate()
    series = {"sunspots": datasets.sunspots.load_pandas().data["SUNACTIVITY"],
              "Nile flow": datasets.nile.load_pandas().data["volume"],
              "CO2 change": np.diff(carbon),
              "sea temperature": datasets.elnino.load_pandas().data.drop(columns="YEAR").to_numpy().ravel(),
              **{f"{name} growth": np.diff(np.log(macro[column])) for name, column in
                 (("GDP", "realgdp"), ("consumption", "realcons"), ("investment", "realinv"), ("price", "cpi"))},
              "unemployment change": np.diff(macro["unemp"]), "interest change": np.diff(macro["tbilrate"])}
    return {name: np.asarray(values, np.float64) for name, values in series.items()}


def windowed_losses(series: Mapping[str, Any], windows: Sequence[int], *, penalty: float = 0.01) -> Losses:
    """One-step test losses of ridge regressions on the last W values, for each W of `windows`.

    Every series is centred and scaled by its training part (the first 70 percent); fits see targets of that part only,
    losses are of the rest. All windows are judged on the same targets, each series counts alike. `pooled` fits one set
    of coefficients to all series, `separate` one to each. ValueError: a window < 1, or longer than half the training
    part of a series; values that are not finite; a constant training part."""
    longest = max(windows)
    if min(windows) < 1:
        raise ValueError(f"windows={list(windows)} must be at least 1")
    scaled = [_scaled(name, values, longest) for name, values in series.items()]
    pooled, separate = [], []
    for window in windows:
        parts = [_split(values, window, longest) for values in scaled]
        shared = _ridge([train for train, _ in parts], penalty)
        pooled.append([_loss(shared, test) for _, test in parts])
        separate.append([_loss(_ridge([train], penalty), test) for train, test in parts])
    return Losses(np.asarray(windows), np.array(pooled), np.array(separate))


def _scaled(name: str, values: Any, longest: int) -> Any:
    values = np.asarray(values, np.float64)
    train = values[:int(TRAINING * len(values))]
    if not np.isfinite(values).all() or len(train) == 0 or train.std() == 0:
        raise ValueError(f"series {name!r} must be finite and not constant over its training part")
    if 2 * longest > len(train):
        raise ValueError(f"windows up to {longest} are too long for series {name!r}, whose training part has "
                         f"{len(train)} values; need at most half of it")
    return (values - train.mean()) / train.std()


def _split(values: Any, window: int, longest: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(inputs, targets) of the training and of the test part."""
    times = np.arange(longest, len(values))
    inputs = np.stack([values[times - lag] for lag in range(1, window + 1)] + [np.ones(len(times))], axis=1)
    early = times < int(TRAINING * len(values))
    return (inputs[early], values[times[early]]), (inputs[~early], values[times[~early]])


def _ridge(parts: Sequence[tuple[Any, Any]], penalty: float) -> Any:
    """Coefficients, the constant last and not penalised; each part counts alike."""
    gram = sum(x.T @ x / len(y) for x, y in parts) / len(parts)
    target = sum(x.T @ y / len(y) for x, y in parts) / len(parts)
    shrink = np.full(len(target), penalty)
    shrink[-1] = 0
    return np.linalg.solve(gram + np.diag(shrink), target)


def _loss(coefficients: Any, part: tuple[Any, Any]) -> float:
    return float(np.mean((part[0] @ coefficients - part[1]) ** 2))

"""The forecast of Jones et al. on a user's scores: top k, a least-squares line, extrapolation. Works in psi."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["TailFit", "fit_tail", "forecast", "forecast_score", "probability", "score"]

Floats = NDArray[np.float64]


class TailFit(NamedTuple):
    """The line log(survival) = slope psi + intercept through the k largest scores; `r2` of the fit. slope < 0."""

    slope: float
    intercept: float
    r2: float


def fit_tail(p: Any = None, k: int = 10, *, log_p: Any = None) -> TailFit:
    """Least squares of log(j/n) on the j-th largest score psi = -log(-log p), j = 1, ..., k.

    `p` (n,) are the failure probabilities of n evaluation queries, each in (0, 1); `log_p` their logarithms instead, for
    probabilities that a float cannot tell from 0 or 1. ValueError: neither or both, a value outside (0, 1), nan, k < 2,
    k > n, the k largest all equal. Source: arXiv 2502.16797; conventions as in its public re-implementation.

    >>> fit = fit_tail([0.5, 0.25, 0.125, 0.0625], k=2)
    >>> round(fit.slope, 12), fit.r2
    (-1.0, 1.0)"""
    x, n = top_scores(p, log_p, k)
    y = np.log(np.arange(1, k + 1) / n)
    dx, dy = x - x.mean(), y - y.mean()
    sxx, sxy, syy = float(dx @ dx), float(dx @ dy), float(dy @ dy)
    slope = sxy / sxx
    return TailFit(slope, float(y.mean() - slope * x.mean()), min(1.0, sxy * sxy / (sxx * syy)))


def forecast(p: Any = None, deployment: float | None = None, k: int = 10, *, log_p: Any = None) -> float:
    """The forecast failure probability of the worst of `deployment` queries: the upper 1/deployment quantile.

    Arguments and errors as `fit_tail`; `deployment` is a finite number >= 1. A score beyond 36 or below -6.6 has no
    float of its own here and gives 1.0 or 0.0: `forecast_score` has no such limit.

    >>> round(forecast([0.5, 0.25, 0.125, 0.0625], 4, k=2), 12)
    0.5"""
    return float(probability(forecast_score(p, deployment, k, log_p=log_p)))


def forecast_score(p: Any = None, deployment: float | None = None, k: int = 10, *, log_p: Any = None) -> float:
    """`forecast` as a score psi, where the line is: (-log N - intercept) / slope = xbar + (log N + ybar) Sxx / |Sxy|."""
    size = deployment_size(deployment)
    x, n = top_scores(p, log_p, k)
    y = np.log(np.arange(1, k + 1) / n)
    dx, dy = x - x.mean(), y - y.mean()
    return float(x.mean() + (np.log(size) + y.mean()) * float(dx @ dx) / -float(dx @ dy))


def score(p: Any = None, *, log_p: Any = None) -> Floats:
    """psi = -log(-log p), elementwise; `p` in (0, 1), or `log_p` < 0. ValueError as `fit_tail`."""
    if (p is None) == (log_p is None):
        raise ValueError(f"need exactly one of p and log_p, got {'neither' if p is None else 'both'}")
    name, given = ("p", p) if log_p is None else ("log_p", log_p)
    values = real(given, name)
    inside = (values > 0) & (values < 1) if name == "p" else (values < 0) & (values > -np.inf)
    if not inside.all():
        where = int(np.flatnonzero(~inside.ravel())[0])
        needed = "strictly between 0 and 1" if name == "p" else "negative and finite: log 0 and log 1 have no score"
        hint = "; probabilities that round to 0 or 1 can be given as log_p" if name == "p" else ""
        raise ValueError(f"{name}[{where}]={values.ravel()[where]} must be {needed}{hint}")
    found: Floats = -np.log(-(np.log(values) if name == "p" else values))
    return found


def probability(psi: Any) -> Any:
    """p = exp(-exp(-psi)), the inverse of `score`; 0.0 and 1.0 where a float has nothing closer.

    ValueError: nan, what is no number."""
    values = real(psi, "psi")
    if np.isnan(values).any():
        raise ValueError(f"psi={psi!r:.80} holds nan; needed scores, which may be infinite")
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-np.exp(-values))


def real(values: Any, name: str) -> Any:
    """`values` as float64. ValueError naming the argument for complex numbers, words and ragged rows."""
    try:
        found = np.asarray(values)
        if found.dtype.kind == "c":
            raise TypeError("complex numbers")
        return found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={values!r:.80} must be real numbers in one regular array") from error


def top_scores(p: Any, log_p: Any, k: Any, *, name: str = "k", more: int = 0) -> tuple[Floats, int]:
    """The k largest scores, the largest first, and n. ValueError as `fit_tail`; k is `more` than the caller's `name`."""
    psi = score(p, log_p=log_p)
    if psi.ndim != 1:
        raise ValueError(f"{'p' if log_p is None else 'log_p'} has shape {psi.shape}; need one row of scores, (n,)")
    whole(k, "k", 2)
    if k > psi.size:
        raise ValueError(f"k={k} must be at most n={psi.size}, the number of scores")
    top: Floats = np.sort(psi)[::-1][:k]
    if top[0] == top[-1]:
        raise ValueError(f"{name}={k - more}: the {k} largest scores are all equal (psi={top[0]}), so that no line fits; "
                         f"take a larger {name}, or scores that differ")
    return top, psi.size


def whole(value: Any, name: str, least: int) -> int:
    """ValueError unless `value` is a whole number >= least that a float can count up to."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number, at least {least}")
    if value > 2**53:
        raise ValueError(f"{name}={value!r:.30} must be at most 2^53")
    return int(value)


def deployment_size(value: Any) -> float:
    """ValueError unless `value` is a finite number >= 1; fractions are allowed, as 1/N is a probability."""
    try:
        size = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"deployment={value!r} must be a number, at least 1") from None
    if not 1 <= size < np.inf:
        raise ValueError(f"deployment={value!r} must be finite and at least 1")
    return size


def finite_number(value: Any, name: str) -> float:
    """ValueError unless `value` is one finite number."""
    found = real(value, name)
    if found.ndim or not np.isfinite(found):
        raise ValueError(f"{name}={value!r:.80} must be one finite number")
    return float(found)

"""A rare mode of failures that the evaluation may have missed: what holds whatever the distributions are."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from theory.failure_forecast._estimator import deployment_size, whole

__all__ = ["MissedMode", "missed_mode"]


class MissedMode(NamedTuple):
    """A mode that a query falls into with probability `mass`, n evaluation queries, N in deployment.

    probability_missed   no evaluation query falls into it: (1 - mass)^n
    probability_harm     none does, and at least one of the N does: (1 - mass)^n (1 - (1 - mass)^N)
    worst_mass           the mass that makes `probability_harm` largest, 1 - (n/(n+N))^(1/N)
    worst_harm           its largest value
    unseen_mass          a mode that no evaluation query fell into has at most this mass, with confidence 95 %
    probability_record   the worst of the N exceeds the worst of the n, if all come from one law without ties: N/(N+n)"""

    probability_missed: float
    probability_harm: float
    worst_mass: float
    worst_harm: float
    unseen_mass: float
    probability_record: float


def missed_mode(n: int, deployment: float, mass: float) -> MissedMode:
    """Chances that an evaluation of n queries misses a mode of probability `mass` that deployment meets.

    ValueError: n not a whole number >= 1, deployment < 1, mass outside [0, 1] or nan.

    >>> round(missed_mode(1000, 1e5, 5e-5).probability_missed, 4)
    0.9512"""
    whole(n, "n", 1)
    size = deployment_size(deployment)
    try:
        share = float(mass)
    except (TypeError, ValueError):
        raise ValueError(f"mass={mass!r} must be a number in [0, 1]") from None
    if not 0 <= share <= 1:
        raise ValueError(f"mass={mass!r} must lie in [0, 1]")
    ratio = -float(np.log1p(size / n))  # log(n / (n + N)), finite at any N
    harm = float(np.exp(n / size * ratio)) * size / (n + size)
    with np.errstate(divide="ignore"):
        rest = float(np.log1p(-share))
    return MissedMode(float(np.exp(n * rest)), float(-np.exp(n * rest) * np.expm1(size * rest)),
                      float(-np.expm1(ratio / size)), harm, float(-np.expm1(np.log(0.05) / n)), size / (n + size))

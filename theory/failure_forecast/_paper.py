"""The paper, and the exact quantities that its claims share."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from theory.claim import Paper

PAPER = Paper(slug="failure_forecast", title="Training ML Models with Predictable Failures", arxiv="2605.15134",
              topics=("safety evaluation", "extreme values", "statistics"), read="opening")

Log = Callable[[int], Any]  # a logarithm of positive integers: floats, balls, or exact combinations of logs of primes


def harmonic(n: int) -> Fraction:
    """H_n = 1 + 1/2 + ... + 1/n."""
    return sum((Fraction(1, i) for i in range(1, n + 1)), Fraction(0))


def mean_log(k: int, log: Log) -> Any:
    """log(k!)/k, the mean of log 1, ..., log k."""
    return sum((log(j) for j in range(2, k + 1)), 0 * log(1)) * Fraction(1, k)

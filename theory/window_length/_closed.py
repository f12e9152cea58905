"""Closed forms for the families in which everything can be written down.

The twin chains: symbols -1 and +1, E[next | x] = theta rho x with theta = -1 or +1, equally likely. Memory 1.
p = (1 + rho) / 2, q = (1 - rho) / 2, n = window - 1 transitions seen."""
from __future__ import annotations

from fractions import Fraction
from math import comb, lcm
from typing import Any

from theory.window_length._arguments import rational, whole

__all__ = ["ar_pair_excess", "beta_mixture_excess", "clock_pair", "sign_chain", "two_chain_envelope",
           "two_chain_excess", "two_chain_map_excess", "two_chain_zero_one_excess"]


def sign_chain(rho: Any) -> dict[tuple[int, ...], dict[int, Fraction]]:
    """The chain on -1, +1 with E[next | x] = rho x; |rho| <= 1."""
    rho = rational(rho, "rho")
    return {(x,): {x: (1 + rho) / 2, -x: (1 - rho) / 2} for x in (-1, 1)}


def clock_pair(period: int, p: Any) -> tuple[dict[tuple[int, ...], dict[int, Fraction]], ...]:
    """Two chains of memory 1 that tell who they are once in `period` steps.

    From 0 the chain with parameter r steps to 1 (probability r) or to -1, then through 2, 3, ..., period - 1 and back
    to 0; the two chains have r = p and r = 1 - p. Only the step from 0 depends on r. ValueError: period < 2, p outside
    [0, 1]."""
    p, period = rational(p, "p"), whole(period, "period", 2)
    if not 0 <= p <= 1:
        raise ValueError(f"p={p} must lie in [0, 1]")
    steps = {-1: 2 % period, 1: 2 % period, **{s: (s + 1) % period for s in range(2, period)}}
    return tuple({(0,): {1: r, -1: 1 - r}, **{(s,): {t: Fraction(1)} for s, t in steps.items()}} for r in (p, 1 - p))


def harmonic_sum(rho: Any, window: int) -> Any:
    """rho^2 sum_j C(n, j) 2 A B / (A + B), A = p^j q^(n-j), B = p^(n-j) q^j; numbers or symbols."""
    p, q, n = (1 + rho) / 2, (1 - rho) / 2, window - 1
    pairs = [(comb(n, j), p**j * q ** (n - j), p ** (n - j) * q**j) for j in range(n + 1)]
    return rho**2 * sum(count * 2 * a * b / (a + b) for count, a, b in pairs)


def wrong_majority(rho: Any, window: int) -> Any:
    """P(the more probable chain is the wrong one), ties counted half, for rho >= 0: a majority vote of the n
    transitions, each right with probability p."""
    p, q, n = (1 + rho) / 2, (1 - rho) / 2, window - 1
    lost = sum(comb(n, j) * q**j * p ** (n - j) for j in range(n // 2 + 1, n + 1))
    return lost + (comb(n, n // 2) * (p * q) ** (n // 2) / 2 if n % 2 == 0 else 0)


def two_chain_excess(rho: Any, window: int) -> Fraction:
    """Squared-loss excess risk of the twin chains at a window >= 1, exactly.

    rho is a rational strictly between -1 and 1 (a float is the rational that it is). ValueError otherwise.
    >>> two_chain_excess(Fraction(1, 2), 4)
    Fraction(27, 224)
    """
    rho, window = _twin(rho, window)
    # integers: with p = a / b and q = c / b a term is C 2 (a c)^n / b^n / (a^j c^(n-j) + a^(n-j) c^j)
    n, b = window - 1, 2 * rho.denominator
    a, c = rho.denominator + rho.numerator, rho.denominator - rho.numerator
    sums = [a**j * c ** (n - j) + a ** (n - j) * c**j for j in range(n + 1)]
    whole = lcm(*sums)
    total = sum(comb(n, j) * 2 * (whole // s) for j, s in enumerate(sums))
    return rho**2 * Fraction(total * (a * c) ** n, whole * b**n)


def two_chain_zero_one_excess(rho: Any, window: int) -> Fraction:
    """Excess probability of a wrong symbol for the twin chains: |rho| times the probability of a wrong majority.

    Equal at windows 2m and 2m + 1: an even number of votes decides no better than one vote fewer."""
    rho, window = _twin(rho, window)
    return abs(rho) * wrong_majority(abs(rho), window)


def two_chain_map_excess(rho: Any, window: int) -> Fraction:
    """Squared-loss excess for the twin chains of the forecaster that picks the most probable chain (a fair coin on
    ties) and forecasts with it alone: 4 rho^2 P(wrong). Above `two_chain_excess` unless rho = 0."""
    rho, window = _twin(rho, window)
    return 4 * rho**2 * wrong_majority(abs(rho), window)


def two_chain_envelope(rho: Any, window: int) -> tuple[Fraction, Fraction]:
    """Bounds on `two_chain_excess`, both squared so that they are rational:
    rho^2 (1 - rho^2)^(window/2) / window  <=  excess  <=  rho^2 (1 - rho^2)^((window-1)/2)."""
    rho, window = _twin(rho, window)
    rest = 1 - rho**2
    return rho**4 * rest**window / window**2, rho**4 * rest ** (window - 1)


def beta_mixture_excess(alpha: Any, beta: Any, window: int) -> Fraction:
    """Squared-loss excess for independent 0-1 symbols with P(1) drawn from Beta(alpha, beta):
    alpha beta / ((alpha + beta)(alpha + beta + 1)(alpha + beta + window)); 1/(6 (window + 2)) under the uniform prior.

    ValueError: alpha or beta not positive, window < 0."""
    a, b, window = rational(alpha, "alpha"), rational(beta, "beta"), whole(window, "window", 0)
    if a <= 0 or b <= 0:
        raise ValueError(f"alpha={a} and beta={b} must be positive")
    return a * b / ((a + b) * (a + b + 1) * (a + b + window))


def ar_pair_excess(a: float, window: int, *, step: float = 0.1) -> float:
    """Squared-loss excess for x' = theta a x + standard normal noise, theta = -1 or +1 equally likely, stationary:
    a^2 E[x_W^2 sech^2(a S)] with S = sum of x_t x_{t+1} over the window.

    Windows 1 to 3, by the trapezoidal rule of that step in each standard normal variable, which converges faster than
    any power of the step (Gauss-Hermite is slow: sech has poles). Error at the default step, from halving it: 1e-10
    for |a| <= 0.8, 3e-8 for 0.9, 2e-6 for 0.95. At window 1 it is a^2 / (1 - a^2).
    ValueError: |a| >= 1, another window, a step outside (0, 0.5]."""
    import numpy as np

    a, step = float(rational(a, "a")), float(rational(step, "step"))
    if not abs(a) < 1:
        raise ValueError(f"a={a!r} must lie strictly between -1 and 1")
    if whole(window, "window", 1) > 3:
        raise ValueError(f"window={window} must be 1, 2 or 3")
    if not 0 < step <= 0.5:
        raise ValueError(f"step={step} must lie in (0, 0.5]")
    count = int(9 / step)  # nine standard deviations
    points = step * np.arange(-count, count + 1)
    weights = np.exp(-points**2 / 2)
    weights /= weights.sum()
    grid = np.meshgrid(*[points] * window, indexing="ij", sparse=True)  # one axis a symbol
    x, score = grid[0] / np.sqrt(1 - a * a), np.zeros((1,) * window)
    for noise in grid[1:]:
        x, before = a * x + noise, x
        score = score + before * x
    value = (a * x) ** 2 / np.cosh(np.clip(a * score, -350, 350)) ** 2
    for _ in range(window):
        value = value @ weights
    return float(value)


def _twin(rho: Any, window: int) -> tuple[Fraction, int]:
    value = rational(rho, "rho")
    if not -1 < value < 1:
        raise ValueError(f"rho={value} must lie strictly between -1 and 1")
    return value, whole(window, "window", 1, ", the memory of the chains")

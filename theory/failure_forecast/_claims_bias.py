"""Claims on the bias under an exponential tail: its exact form, its three parts and their signs."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.failure_forecast._bias import plotting_slope
from theory.failure_forecast._bias import slope_inflation as inflation
from theory.failure_forecast._paper import PAPER, harmonic, mean_log

__all__ = ["Direction", "Limit", "OrderStatistics", "Positions", "Terms", "bias_exact", "bias_remains", "decomposition",
           "direction_term", "inflation_constants", "inflation_digits", "level_term", "order_statistics", "plotting_term"]

Function = Callable[..., Any]
EULER = Fraction(5772156649015329, 10**16)


class OrderStatistics(NamedTuple):
    """Mean and variance of the j-th largest of n independent standard exponentials."""

    mean: Function
    variance: Function


_RENYI = OrderStatistics(mean=lambda j, n: harmonic(n) - harmonic(j - 1),
                         variance=lambda j, n: sum(Fraction(1, i * i) for i in range(j, n + 1)))

order_statistics = Claim(
    id="failure_forecast.order_statistics", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"x_1 \ge \dots \ge x_n\ \text{independent, rate } 1:\quad \mathbb{E}x_j = H_n - H_{j-1},\quad"
              r" \operatorname{Var} x_j = \sum_{i=j}^n i^{-2}",
    form=_RENYI,
    mutants={"off_by_one": _RENYI._replace(mean=lambda j, n: harmonic(n) - harmonic(j)),
             "one_more": _RENYI._replace(mean=lambda j, n: harmonic(n + 1) - harmonic(j)),
             "variance_is_mean": _RENYI._replace(variance=lambda j, n: harmonic(n) - harmonic(j - 1))},
    note="Renyi (1953): x_j = sum_{i=j}^n e_i / i with independent exponentials e_i.")

inflation_constants: Claim[Function] = Claim(
    id="failure_forecast.slope_inflation", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"B_k = \mathbb{E}\frac{\lambda}{|a|} = \int_0^\infty \prod_{i<k}\frac{1}{1+tc_i}\sum_{i,j<k}"
              r"\frac{M_{ij}(1+\delta_{ij})}{(1+tc_i)(1+tc_j)}\,dt,\quad"
              r" c_i = -\tfrac1i\sum_{j\le i}(\log j - \tfrac1k\log k!),\ M_{ij} = \frac{\min(i,j) - ij/k}{ij}",
    form=inflation,
    mutants={"beta_k": plotting_slope,
             "one": lambda k: 1.0,
             "log_squared": lambda k: 1 + math.log(k) ** 2 / k},
    note="B_k depends on k only. 1/log 2 at k = 2, largest at k = 3. Enclosed by ball arithmetic to 1e-20; the closed form "
         "is a float within 1e-11 of it.")


_DIGITS = {2: "1.44269504088896340736", 3: "1.50121845602859653153", 4: "1.47174900519702132008", 5: "1.43636225300534501320",
           10: "1.31777459887070694677", 20: "1.21868098625928160544", 50: "1.12679503911117775673",
           100: "1.08148826413717388275"}

inflation_digits: Claim[Mapping[int, str]] = Claim(
    id="failure_forecast.inflation_digits", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"B_2, B_3, B_4, B_5, B_{10}, B_{20}, B_{50}, B_{100} = " + ",\\ ".join(_DIGITS.values())
              + r"\ \text{correctly rounded}",
    form=_DIGITS,
    mutants={"last_digit_of_ten": _DIGITS | {10: "1.31777459887070694676"},
             "last_digit_of_three": _DIGITS | {3: "1.50121845602859653152"},
             "truncated_two": _DIGITS | {2: "1.44269504088896340735"}},
    note="Certified by ball arithmetic (python-flint).")


def _bias(k: int, n: int, size: int, log: Any, B: Any) -> Any:
    return harmonic(n) - log(n) + 1 - harmonic(k) + mean_log(k, log) * B + (log(size) - log(n)) * (B - 1)


bias_exact: Claim[Function] = Claim(
    id="failure_forecast.bias_exact", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{exponential tail},\ 2 \le k \le n:\quad \lambda\,\mathbb{E}[\hat Q - Q] = (H_n - \log n) + 1 - H_k"
              r" + B_k\tfrac{\log k!}{k} + (B_k - 1)\log\tfrac Nn",
    form=_bias,
    mutants={"factorial_dropped": lambda k, n, size, log, B: _bias(k, n, size, log, B) - mean_log(k, log) * B,
             "no_slope_in_deployment": lambda k, n, size, log, B: _bias(k, n, n, log, B),
             "vanishes_with_n": lambda k, n, size, log, B: harmonic(n) - log(n) - EULER,
             "negative": lambda k, n, size, log, B: -_bias(k, n, size, log, B),
             "inflation_ignored": lambda k, n, size, log, B: _bias(k, n, size, log, B) - (B - 1) * (_over(k, n, size, log))},
    note="Exponential at rate lambda above x_k is enough. Grows by B_k - 1 for each factor e of N/n.")


class Terms(NamedTuple):
    """The three parts, of (k, n, N, log, beta, B)."""

    level: Function
    plotting: Function
    direction: Function


def _over(k: int, n: int, size: int, log: Any) -> Any:
    return log(size) - log(n) + mean_log(k, log)


_PARTS = Terms(level=lambda k, n, size, log, beta, B: harmonic(n) - log(n) + 1 - harmonic(k) + mean_log(k, log),
               plotting=lambda k, n, size, log, beta, B: _over(k, n, size, log) * (beta - 1),
               direction=lambda k, n, size, log, beta, B: _over(k, n, size, log) * (B - beta))

decomposition = Claim(
    id="failure_forecast.decomposition", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\ell = \log\tfrac Nn + \tfrac{\log k!}{k}:\quad \lambda\,\mathbb{E}[\hat Q - Q] = T_1 + T_2 + T_3,\quad"
              r" T_1 = \tfrac1k\sum_j (H_n - \log n) - (H_{j-1} - \log j),\ T_2 = \ell(\beta_k - 1),"
              r"\ T_3 = \ell(B_k - \beta_k)",
    form=_PARTS,
    mutants={"reach_without_factorial": _PARTS._replace(
                 direction=lambda k, n, size, log, beta, B: (log(size) - log(n)) * (B - beta)),
             "level_without_factorial": _PARTS._replace(
                 level=lambda k, n, size, log, beta, B: harmonic(n) - log(n) + 1 - harmonic(k)),
             "slopes_swapped": Terms(_PARTS.level, _PARTS.direction, _PARTS.plotting),
             "level_of_the_largest": _PARTS._replace(level=lambda k, n, size, log, beta, B: harmonic(n) - log(n))},
    note="T_1: the line is drawn at the wrong height. T_1 + T_2: the bias of the regression of x on y. T_3: what the "
         "regression of y on x adds. The paper has a decomposition too; its terms were not readable.")


class Positions(NamedTuple):
    """Plotting positions (j - back) / (n + more)."""

    back: Fraction
    more: Fraction


_J_OVER_N = Positions(Fraction(0), Fraction(0))
_POSITION_MUTANTS = {"middle": Positions(Fraction(1, 2), Fraction(0)),
                     "hazen_more": Positions(Fraction(1, 2), Fraction(1, 4)),
                     "ahead": Positions(Fraction(9, 10), Fraction(0))}
_POSITIONS_TRUE = {"weibull": Positions(Fraction(0), Fraction(1)), "blom": Positions(Fraction(3, 8), Fraction(1, 4))}

level_term = Claim(
    id="failure_forecast.level_term", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall\, 1 \le j \le n:\quad \mathbb{E}x_j = H_n - H_{j-1} > -\log\tfrac jn,\quad\text{hence}\ T_1 > 0",
    form=_J_OVER_N, mutants=_POSITION_MUTANTS, also_true=_POSITIONS_TRUE,
    note="Proof: 1/j > log(1 + 1/j), so that E x_j + log(j/n) falls in j; at j = n it is 1/n. It holds for j/(n+1) and "
         "(j-3/8)/(n+1/4) as well and fails for positions in the middle of the steps, (j-1/2)/n.")

plotting_term = Claim(
    id="failure_forecast.plotting_term", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"k \ge 2:\quad \beta_k = \frac{\operatorname{Cov}(\log j, H_{j-1})}{\operatorname{Var}(\log j)} > 1"
              r",\quad\text{hence}\ T_2 > 0\ \text{for}\ N \ge n",
    form=_J_OVER_N, mutants=_POSITION_MUTANTS, also_true=_POSITIONS_TRUE,
    note="Proof: log j and H_{j-1} - log j both rise in j; Chebyshev's sum inequality.")


class Direction(NamedTuple):
    """lower(Sxx, |Sxy|, Syy) <= Sxx / |Sxy|, the forecast's inverse slope."""

    lower: Function


direction_term = Claim(
    id="failure_forecast.direction_term", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\frac{S_{xx}}{|S_{xy}|} \ge \frac{|S_{xy}|}{S_{yy}},\quad\text{hence}\ B_k \ge \beta_k\ \text{and}\ "
              r"T_3 \ge 0",
    form=Direction(lower=lambda sxx, sxy, syy: sxy / syy),
    mutants={"a_tenth_more": Direction(lower=lambda sxx, sxy, syy: Fraction(11, 10) * sxy / syy),
             "upside_down": Direction(lower=lambda sxx, sxy, syy: syy / sxy),
             "plus_residual": Direction(lower=lambda sxx, sxy, syy: sxy / syy + (sxx * syy - sxy**2) / sxy**2)},
    note="Cauchy and Schwarz: r^2 <= 1, with equality for k = 2. E|Sxy|/Syy = beta_k, as Sxy is linear in x.")


class Limit(NamedTuple):
    """H_n - log n lies strictly between euler + lower(n) and euler + upper(n); the limit is positive for r with given(r)."""

    lower: Function
    upper: Function
    given: Callable[[Fraction], bool]


_SLOW = Limit(lower=lambda n: 1 / (2 * n + 1), upper=lambda n: 1 / (2 * n), given=Conditions(extrapolates=lambda r: r >= 1))

bias_remains = Claim(
    id="failure_forecast.bias_remains", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"N/n = r \ge 1,\ n \to \infty:\quad \lambda\,\mathbb{E}[\hat Q - Q] \to \gamma + 1 - H_k +"
              r" B_k\tfrac{\log k!}{k} + (B_k - 1)\log r > 0,\quad \tfrac1{2n+1} < H_n - \log n - \gamma < \tfrac1{2n}",
    hypotheses={"extrapolates": r"r \ge 1"},
    form=_SLOW,
    mutants={"without_extrapolates": without(_SLOW, "extrapolates"),
             "n_inverse_lower": _SLOW._replace(lower=lambda n: 1 / (2 * n)),
             "third": _SLOW._replace(upper=lambda n: 1 / (3 * n)),
             "square": _SLOW._replace(upper=lambda n: 1 / (2 * n**2))},
    note="At fixed k the bias does not go away with more evaluation data: only k grows it away. For small r the limit is "
         "negative: -0.093 at k = 10, r = 1/10. Positive for all k since T_1, T_2 > 0 and T_3 >= 0 (`level_term`, "
         "`plotting_term`, `direction_term`); certified here at k = 2, 3, 5, 10, 20 and r = 1, 2, 100, with 1 <= n <= 1000 "
         "real in the inequality of the digamma function.")

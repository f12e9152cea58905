"""Claims on what the evaluation cannot see, and on the unbiased replacement."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.failure_forecast._debiased import pivot_cdf
from theory.failure_forecast._paper import PAPER, harmonic

__all__ = ["Debiased", "Missed", "Record", "Unseen", "interval_exact", "missed_mode_chance", "missed_mode_forecast",
           "no_statistic_sees_it", "record_chance", "rule_of_three", "unbiased_spacing"]

Function = Callable[..., Any]


class Missed(NamedTuple):
    """Of (w, n, N): chance that n queries miss a mode of mass w, that N then meet it, and the largest such chance.

    peak(w, n, N, harm) says whether `harm` is at most the largest value, in whole powers."""

    missed: Function
    harm: Function
    peak: Function


def _below_peak(w: Any, n: int, size: int, harm: Any) -> Any:
    """harm <= (n/(n+N))^(n/N) N/(n+N), both sides to the power N."""
    return harm**size <= Fraction(n, n + size) ** n * Fraction(size, n + size) ** size


_MODE = Missed(missed=lambda w, n, size: (1 - w) ** n, harm=lambda w, n, size: (1 - w) ** n * (1 - (1 - w) ** size),
               peak=_below_peak)

missed_mode_chance = Claim(
    id="failure_forecast.missed_mode_chance", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\mathbb{P}(\text{missed}) = (1-w)^n,\quad \mathbb{P}(\text{missed, then met}) = (1-w)^n(1-(1-w)^N) \le"
              r" \Bigl(\tfrac{n}{n+N}\Bigr)^{n/N}\tfrac{N}{n+N}",
    form=_MODE,
    mutants={"linear": _MODE._replace(missed=lambda w, n, size: 1 - n * w),
             "sizes_swapped": _MODE._replace(harm=lambda w, n, size: (1 - w) ** size * (1 - (1 - w) ** n)),
             "met_for_sure": _MODE._replace(harm=lambda w, n, size: (1 - w) ** n),
             "peak_record": _MODE._replace(
                 peak=lambda w, n, size, harm: harm * (n + size) ** 2 <= size * n)},
    note="The mode matters for 1/N < w < 1/n about; near the worst w an evaluation with N/n = 100 misses it and deployment "
         "meets it with probability 0.945.")


class Record(NamedTuple):
    """P(the worst of N new queries exceeds the worst of n old ones), for laws that satisfy given(distinct)."""

    chance: Function
    given: Callable[[bool], bool]


_EXCHANGE = Record(chance=lambda n, size: Fraction(size, n + size), given=Conditions(no_ties=lambda distinct: distinct))

record_chance = Claim(
    id="failure_forecast.record_chance", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"x_1, \dots, x_{n+N}\ \text{exchangeable, without ties}:\quad \mathbb{P}(\max_{i>n} x_i > \max_{i\le n} x_i) ="
              r" \frac{N}{n+N}",
    hypotheses={"no_ties": r"\text{ties have probability } 0"},
    form=_EXCHANGE,
    mutants={"without_no_ties": without(_EXCHANGE, "no_ties"),
             "ratio": _EXCHANGE._replace(chance=lambda n, size: min(Fraction(1), Fraction(size, n))),
             "even": _EXCHANGE._replace(chance=lambda n, size: Fraction(1, 2)),
             "complement": _EXCHANGE._replace(chance=lambda n, size: Fraction(n, n + size))},
    note="Free of any distribution: at deployment a worse score than any evaluated one is nearly certain.")


class Unseen(NamedTuple):
    """A mode of mass factor/n is missed by n queries with probability at most `miss`."""

    factor: Fraction
    miss: Fraction


rule_of_three = Claim(
    id="failure_forecast.rule_of_three", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"\forall n \ge 3:\quad (1 - 3/n)^n < 0.05,\ \text{so that } 3/n\ \text{bounds the mass of an unseen mode"
              r" with confidence } 95\,\%",
    form=Unseen(Fraction(3), Fraction(1, 20)),
    mutants={"two": Unseen(Fraction(2), Fraction(1, 20)), "2.9": Unseen(Fraction(29, 10), Fraction(1, 20)),
             "three_at_1_percent": Unseen(Fraction(3), Fraction(1, 100))},
    also_true={"four_at_2_percent": Unseen(Fraction(4), Fraction(1, 50))},
    note="The exact limit is 1 - 0.05^(1/n).")

no_statistic_sees_it: Claim[Function] = Claim(
    id="failure_forecast.no_statistic_sees_it", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"P = (1-w)F + wG,\ A \subseteq \text{samples of size } n:\quad |P^n(A) - F^n(A)| \le 1 - (1-w)^n",
    form=lambda w, n: 1 - (1 - w) ** n,
    mutants={"one_query_fewer": lambda w, n: 1 - (1 - w) ** (n - 1),
             "half_the_mass": lambda w, n: 1 - (1 - w / 2) ** n,
             "one_query": lambda w, n: w},
    also_true={"union_bound": lambda w, n: n * w},
    note="So no forecast, test or diagnosis of the evaluation scores can tell a mode of mass w << 1/n from none. Attained "
         "where F gives no mass to G's support.")


missed_mode_forecast: Claim[Mapping[str, Fraction]] = Claim(
    id="failure_forecast.missed_mode_forecast", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"F = \mathrm{Exp}(1),\ G = \delta_{25},\ (k, n, N) = (10, 10^3, 10^5):\quad \mathbb{P}(\hat Q < Q \mid "
              r"\text{missed}) = 0.989\ \text{at } w = 2\cdot10^{-4};\quad \mathbb{P}(\hat Q < Q) = 0.326\ \text{at } w = "
              r"10^{-6}",
    form={"missed": Fraction(989, 1000), "absent": Fraction(326, 1000)},
    mutants={"still_safe": {"missed": Fraction(314, 1000), "absent": Fraction(326, 1000)},
             "always_under": {"missed": Fraction(989, 1000), "absent": Fraction(989, 1000)},
             "coin": {"missed": Fraction(1, 2), "absent": Fraction(1, 2)}},
    note="To 0.02. A missed mode turns a forecast that errs high two times in three into one that errs low 99 times in 100."
         " A mode rarer than 1/N changes nothing. (One hit is an outlier that tilts the line: the forecast then errs far "
         "high.)")


class Debiased(NamedTuple):
    """Weights of the k largest scores, and the variance, of the estimate of mu + T / rate; H = H_n - H_{k-1}."""

    weights: Function
    variance: Function


def _spread(k: int, reach: Any) -> list[Any]:
    return [reach / (k - 1)] * (k - 1) + [1 - reach]


_SPACING = Debiased(weights=lambda k, n, T: _spread(k, T - (harmonic(n) - harmonic(k - 1))),
                    variance=lambda k, n, T: sum(Fraction(1, i * i) for i in range(k, n + 1))
                    + (T - (harmonic(n) - harmonic(k - 1))) ** 2 / (k - 1))

unbiased_spacing = Claim(
    id="failure_forecast.unbiased_spacing", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"h = \tfrac{1}{k-1}\sum_{j<k} x_j - x_k,\ \tilde Q = x_k + h\,(\log N - H_n + H_{k-1}):\quad"
              r" \mathbb{E}\tilde Q = Q,\quad \lambda^2 \operatorname{Var}\tilde Q = \sum_{i=k}^n i^{-2} + "
              r"\frac{(\log N - H_n + H_{k-1})^2}{k-1},\quad\text{least among linear unbiased rules}",
    form=_SPACING,
    mutants={"log_ratio": _SPACING._replace(  # x_k + h log(Nk/n) with log replaced by harmonic numbers one off
                 weights=lambda k, n, T: _spread(k, T - (harmonic(n) - harmonic(k)))),
             "k_scores": _SPACING._replace(
                 weights=lambda k, n, T: [w * Fraction(k - 1, k) for w in _spread(k, T - harmonic(n) + harmonic(k - 1))[:-1]]
                 + [1 - (T - harmonic(n) + harmonic(k - 1)) * Fraction(k - 1, k)]),
             "threshold_noise_ignored": _SPACING._replace(
                 variance=lambda k, n, T: (T - (harmonic(n) - harmonic(k - 1))) ** 2 / (k - 1)),
             "two_points": _SPACING._replace(  # unbiased, but from the first and the last score only
                 weights=lambda k, n, T: [(T - harmonic(n) + harmonic(k - 1)) / harmonic(k - 1)] + [Fraction(0)] * (k - 2)
                 + [1 - (T - harmonic(n) + harmonic(k - 1)) / harmonic(k - 1)])},
    note="(x_k, h) is complete and sufficient for an exponential tail censored below x_k, so that no unbiased rule at all "
         "does better (Lehmann and Scheffe); what is checked exactly is the class of linear rules.")

interval_exact: Claim[Function] = Claim(
    id="failure_forecast.interval_exact", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\frac{Q - x_k}{h} \sim (k-1)\,\frac{\log(NV)}{G},\quad V \sim \mathrm{Beta}(k, n-k+1),\ G \sim \Gamma(k-1)"
              r"\ \text{independent, for every exponential tail}",
    form=pivot_cdf,
    mutants={"shape_k": lambda r, k, n, size: pivot_cdf(r, k + 1, n, size),
             "twice_the_queries": lambda r, k, n, size: pivot_cdf(r, k, 2 * n, size),
             "deployment_halved": lambda r, k, n, size: pivot_cdf(r, k, n, size / 2),
             "tenth_wider": lambda r, k, n, size: pivot_cdf(1.1 * r, k, n, size),
             "never_below_the_kth_score": lambda r, k, n, size: pivot_cdf(r, k, n, size) if r > 0 else 0.0},
    note="Quantiles of this law, times h, added to x_k, are exact limits for the 1/N quantile.")

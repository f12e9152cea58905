"""Claims on the sign: against which target, for which tail, how often, with which plotting positions."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.failure_forecast._paper import PAPER, harmonic

__all__ = ["Curvature", "Over", "Overshoot", "Scenario", "curved_tails", "how_often", "over_prediction",
           "positions_compared", "tail_shapes"]

Function = Callable[..., Any]


class Over(NamedTuple):
    """The forecast is on average `sign` times above target(N, log), for (k, n, N) that satisfy `given`."""

    target: Function
    given: Callable[[int, int, int], bool]
    sign: int


_QUANTILE = Over(target=lambda size, log: log(size), given=Conditions(extrapolates=lambda k, n, size: size >= n), sign=1)

over_prediction = Claim(
    id="failure_forecast.over_prediction", paper=PAPER, source=Source.RECONSTRUCTION,
    standing=Standing.CONVENTION_DEPENDENT,
    statement=r"\text{exponential tail},\ 2 \le k \le n \le N:\quad \mathbb{E}\hat Q(N) > Q(N)\quad"
              r"\text{for the upper}\ 1/N\ \text{quantile}\ Q(N)",
    hypotheses={"extrapolates": r"N \ge n"},
    form=_QUANTILE,
    as_stated=_QUANTILE._replace(target=lambda size, log: harmonic(size)),
    mutants={"without_extrapolates": without(_QUANTILE, "extrapolates"),
             "under_predicts": _QUANTILE._replace(sign=-1),
             "expected_maximum": _QUANTILE._replace(target=lambda size, log: harmonic(size)),
             "by_a_half": _QUANTILE._replace(target=lambda size, log: log(size) + Fraction(1, 2))},
    wording="The forecast of the worst of N queries has a bias toward over-prediction.",
    note="True against the 1/N quantile: T_1, T_2 > 0 and T_3 >= 0. Against the expected maximum of N queries, which is "
         "higher by about Euler's constant, large k at small N/n under-predicts: -0.0655 at k=100, n=1000, N=10000.")


class Overshoot(NamedTuple):
    """P(forecast > target) at (k, n, N) = (10, 1000, 100000) under an exponential tail."""

    chance: Fraction


how_often = Claim(
    id="failure_forecast.how_often", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{exponential tail},\ (k, n, N) = (10, 10^3, 10^5):\quad \mathbb{P}(\hat Q > Q) = 0.686 \pm 0.02",
    form=Overshoot(Fraction(686, 1000)),
    mutants={"almost_always": Overshoot(Fraction(95, 100)), "even": Overshoot(Fraction(1, 2)),
             "four_fifths": Overshoot(Fraction(4, 5))},
    note="'In the typical case' must not be read as 'almost always': about one evaluation in three under-predicts. At "
         "k = 2 the fitted slope errs on either side with probability exactly 1/2.")

Scenario = Mapping[str, bool]  # name of a tail -> whether the forecast exceeds the 1/N quantile more often than not

_SIGNS: Scenario = {"exponential": True, "gumbel": True, "normal": True, "uniform": True, "beta_1_20": True,
                    "student_5": False, "lognormal": False}

tail_shapes: Claim[Scenario] = Claim(
    id="failure_forecast.tail_shapes", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.REFUTED_AS_STATED,
    statement=r"(k, n, N) = (10, 10^3, 10^5):\quad \mathbb{P}(\hat Q > Q) > \tfrac12\ \text{for exponential, Gumbel, normal,"
              r" uniform and Beta(1,20) tails},\quad < \tfrac12\ \text{for Student } t_5\ \text{and lognormal tails}",
    form=_SIGNS,
    as_stated=dict.fromkeys(_SIGNS, True),
    mutants={"heavy_over": dict(_SIGNS, student_5=True), "lognormal_over": dict(_SIGNS, lognormal=True),
             "light_under": dict(_SIGNS, normal=False), "never": dict.fromkeys(_SIGNS, False)},
    wording="The forecast over-predicts in the typical case, whatever the tail of the scores.",
    note="Tails of psi; Beta(1,20) is a law of p itself. Log-survival concave in psi makes the forecast safer, convex "
         "log-survival turns it around: extrapolating a heavy tail along a line falls short.")


class Curvature(NamedTuple):
    """Two points, a curve through them given by its slopes: the line extrapolated beyond the larger lies above it."""

    given: Function


_CONCAVE = Curvature(given=Conditions(concave=lambda slopes: all(a >= b for a, b in itertools.pairwise(slopes))))

curved_tails = Claim(
    id="failure_forecast.curved_tails", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.NEEDS_HYPOTHESIS,
    statement=r"k = 2,\ h\ \text{concave and increasing}:\quad \hat Q(h(x)) \ge h(\hat Q(x))\ \text{for } N \ge n"
              r",\ \text{so}\ \mathbb{P}(\hat Q_h > Q_h) \ge \mathbb{P}(\hat Q > Q)",
    hypotheses={"concave": r"h\ \text{concave, i.e. the log-survival of } h(x)\ \text{is concave}"},
    form=_CONCAVE,
    as_stated=without(_CONCAVE, "concave"),
    mutants={"without_concave": without(_CONCAVE, "concave"),
             "convex": Curvature(given=lambda slopes: all(a <= b for a, b in itertools.pairwise(slopes))),
             "flatter_at_the_end": Curvature(given=lambda slopes: slopes[0] >= slopes[-1])},
    wording="Two scores over-predict at least as often as under an exponential tail.",
    note="h maps the exponential scale to psi; piecewise linear h with given slopes are enough. For k > 2 this is only "
         "simulated (`tail_shapes`).")

_BIASES = {"whole": Fraction(21026, 10**4), "weibull": Fraction(21013, 10**4), "middle": Fraction(2924, 10**4),
           "expected": Fraction(5202, 10**4), "x_on_y": Fraction(14236, 10**4)}

positions_compared: Claim[Mapping[str, Fraction]] = Claim(
    id="failure_forecast.positions_compared", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{exponential tail},\ (k, n, N) = (10, 10^3, 10^5),\ \text{bias with positions}:\quad \tfrac jn:\ "
              r"2.1026,\ \tfrac{j}{n+1}:\ 2.1013,\ \tfrac{j-1/2}{n}:\ 0.2924,\ e^{-\mathbb{E}x_j}:\ 0.5202;\quad"
              r" x\ \text{on}\ y:\ 1.4236",
    form=_BIASES,
    mutants={"weibull_unbiased": dict(_BIASES, weibull=Fraction(0)), "middle_unbiased": dict(_BIASES, middle=Fraction(0)),
             "expected_unbiased": dict(_BIASES, expected=Fraction(0)), "x_on_y_unbiased": dict(_BIASES, x_on_y=Fraction(0))},
    note="To 5e-5, certified. Even with the exact expected scores as positions the bias is (log N/n + ...)(B - 1) > 0: the "
         "direction of the regression alone over-predicts.")

"""Forecasting the worst failure of a deployment from the k worst of an evaluation: the forecast's bias, and its repair.

An evaluation of n queries gives failure probabilities p; psi = -log(-log p) is the score of a query. The forecast of
Jones et al. draws a least-squares line through (psi_(j), log(j/n)), j <= k, and reads off where the survival is 1/N.

For your own data
  forecast(p, deployment, k)                  failure probability of the worst of `deployment` queries, from a line
  debiased_forecast(p, deployment, k, level)  unbiased estimate with limits, exact for an exponential tail
  upper_limit(p, deployment, k, level)        the one-sided limit
  fit_tail(p, k)                              slope, intercept and r2 of the line
  tail_shape(p)                               is the tail exponential, lighter or heavier
  missed_mode(n, deployment, mass)            chance that an evaluation misses a kind of failure
  bias(k, n, deployment)                      what the line errs by on average; `slope_inflation(k)`, `bias_terms`
  score(p), probability(psi)                  to psi and back; every function of p takes `log_p=` instead

Notation  n = evaluation queries, N = deployment queries, k = scores used, 2 <= k <= n;  x_1 >= ... >= x_k the largest
          scores;  y_j = log(j/n);  a, b = slope (negative) and intercept of y on x;  Qhat = (-log N - b)/a;
          Q = the upper 1/N quantile of psi;  exponential tail: P(psi > t) = exp(-lam (t - mu)) above x_k;
          H_m = harmonic number;  B_k = E[lam/|a|];  w = mass of a rare mode.
Source    arXiv 2605.15134, abstract and opening; its theorems and its loss were not readable: the formulas are derived
          here and are not the authors'. The estimator is that of arXiv 2502.16797.
"""
from __future__ import annotations

from theory.failure_forecast._bias import BiasTerms, bias, bias_terms, plotting_slope, slope_inflation
from theory.failure_forecast._claims_bias import (
    Direction,
    Limit,
    OrderStatistics,
    Positions,
    Terms,
    bias_exact,
    bias_remains,
    decomposition,
    direction_term,
    inflation_constants,
    inflation_digits,
    level_term,
    order_statistics,
    plotting_term,
)
from theory.failure_forecast._claims_deploy import (
    Debiased,
    Missed,
    Record,
    Unseen,
    interval_exact,
    missed_mode_chance,
    missed_mode_forecast,
    no_statistic_sees_it,
    record_chance,
    rule_of_three,
    unbiased_spacing,
)
from theory.failure_forecast._claims_sign import (
    Curvature,
    Over,
    Overshoot,
    curved_tails,
    how_often,
    over_prediction,
    positions_compared,
    tail_shapes,
)
from theory.failure_forecast._debiased import (
    Forecast,
    TailShape,
    debiased_forecast,
    debiased_score,
    debiased_variance,
    pivot_cdf,
    pivot_quantile,
    tail_shape,
    upper_limit,
)
from theory.failure_forecast._estimator import TailFit, fit_tail, forecast, forecast_score, probability, score
from theory.failure_forecast._line import (
    Invariance,
    Monotone,
    forecast_formula,
    forecast_gradient,
    loss_invariance,
    raising_the_worst,
)
from theory.failure_forecast._mode import MissedMode, missed_mode
from theory.failure_forecast._paper import PAPER, harmonic, mean_log

__all__ = [
    "PAPER", "BiasTerms", "Curvature", "Debiased", "Direction", "Forecast", "Invariance", "Limit", "Missed",
    "MissedMode", "Monotone", "OrderStatistics", "Over", "Overshoot", "Positions", "Record", "TailFit", "TailShape",
    "Terms", "Unseen", "bias", "bias_exact", "bias_remains", "bias_terms", "curved_tails", "debiased_forecast",
    "debiased_score", "debiased_variance", "decomposition", "direction_term", "fit_tail", "forecast",
    "forecast_formula", "forecast_gradient", "forecast_score", "harmonic", "how_often", "inflation_constants",
    "inflation_digits", "interval_exact", "level_term", "loss_invariance", "mean_log", "missed_mode",
    "missed_mode_chance", "missed_mode_forecast", "no_statistic_sees_it", "order_statistics", "over_prediction",
    "pivot_cdf", "pivot_quantile", "plotting_slope", "plotting_term", "positions_compared", "probability",
    "raising_the_worst", "record_chance", "rule_of_three", "score", "slope_inflation", "tail_shape", "tail_shapes",
    "unbiased_spacing", "upper_limit",
]

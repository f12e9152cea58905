"""Claims on the estimator itself: what the fitted line forecasts, and how the forecast moves with a score."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.failure_forecast._paper import PAPER

__all__ = ["Invariance", "Monotone", "forecast_formula", "forecast_gradient", "loss_invariance", "raising_the_worst"]

Function = Callable[..., Any]

forecast_formula: Claim[Function] = Claim(
    id="failure_forecast.forecast_formula", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"a, b = \arg\min \sum_{j \le k} (y_j - a x_j - b)^2:\quad \hat Q := \frac{-\log N - b}{a} = "
              r"\bar x - (\log N + \bar y)\,\frac{S_{xx}}{S_{xy}}",
    form=lambda xbar, ybar, sxx, sxy, syy, target: xbar - (target + ybar) * sxx / sxy,
    mutants={"regress_x_on_y": lambda xbar, ybar, sxx, sxy, syy, target: xbar - (target + ybar) * sxy / syy,
             "mean_dropped": lambda xbar, ybar, sxx, sxy, syy, target: xbar - target * sxx / sxy,
             "slope_sign": lambda xbar, ybar, sxx, sxy, syy, target: xbar + (target + ybar) * sxx / sxy},
    note="The estimator is that of arXiv 2502.16797: y_j = log(j/n) at the j-th largest psi = -log(-log p); conventions "
         "as in a public re-implementation. x_j descends and y_j ascends, so that S_xy < 0.")

forecast_gradient: Claim[Function] = Claim(
    id="failure_forecast.forecast_gradient", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\frac{\partial \hat Q}{\partial x_j} = \frac1k - (\log N + \bar y)\,"
              r"\frac{2(x_j - \bar x) S_{xy} - S_{xx}(y_j - \bar y)}{S_{xy}^2}",
    form=lambda k, dx, dy, sxx, sxy, reach: Fraction(1, k) - reach * (2 * dx * sxy - sxx * dy) / sxy**2,
    mutants={"factor_2_dropped": lambda k, dx, dy, sxx, sxy, reach: Fraction(1, k) - reach * (dx * sxy - sxx * dy) / sxy**2,
             "mean_dropped": lambda k, dx, dy, sxx, sxy, reach: -reach * (2 * dx * sxy - sxx * dy) / sxy**2,
             "slope_kept": lambda k, dx, dy, sxx, sxy, reach: Fraction(1, k) + 0 * dx},
    note="The order of the scores is kept fixed: away from ties the forecast is differentiable in them. The gradient of "
         "the forecastability loss is built on this.")


class Monotone(NamedTuple):
    """Raising the largest score raises the forecast, where given(height, fitted).

    height = x_1 - xbar; fitted = s |y_1 - ybar|, how high the fitted line passes above xbar at the largest score."""

    given: Function


_HIGH = Monotone(given=Conditions(not_far_below=lambda height, fitted: 2 * height >= fitted))

raising_the_worst = Claim(
    id="failure_forecast.raising_the_worst", paper=PAPER, source=Source.RECONSTRUCTION,
    standing=Standing.REFUTED_AS_STATED,
    statement=r"s = S_{xx}/|S_{xy}|,\ \log N + \bar y \ge 0:\quad x_1 - \bar x \ge \tfrac12 s\,|y_1 - \bar y|"
              r"\implies \frac{\partial \hat Q}{\partial x_1} > 0",
    hypotheses={"not_far_below": r"x_1 - \bar x \ge \tfrac12 s\,|y_1 - \bar y|"},
    form=_HIGH,
    as_stated=without(_HIGH, "not_far_below"),
    mutants={"without_not_far_below": without(_HIGH, "not_far_below"),
             "a_third": Monotone(given=lambda height, fitted: 3 * height >= fitted),
             "above_zero": Monotone(given=lambda height, fitted: height >= 0)},
    wording="A worse worst score means a worse forecast.",
    note="A reading of ours, not a sentence of the paper. Where the largest score lies far below the fitted line (several "
         "scores tied at the top), raising it straightens the line, and the forecast falls.")


class Invariance(NamedTuple):
    """The loss of scores shift + scale x is level(shift) + factor(scale) loss(x)."""

    factor: Function
    level: Function


_BLIND = Invariance(factor=lambda scale: scale**2, level=lambda shift: 0)

loss_invariance = Claim(
    id="failure_forecast.loss_invariance", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"L(x) = \bigl(\hat Q(x_{\mathrm{eval}}) - \max x_{\mathrm{deploy}}\bigr)^2,\ c > 0:\quad"
              r" L(t + c\,x) = c^2 L(x)",
    form=_BLIND,
    mutants={"scale_kept": _BLIND._replace(factor=lambda scale: 1),
             "scale_linear": _BLIND._replace(factor=lambda scale: scale),
             "punishes_failures": _BLIND._replace(level=lambda shift: shift**2)},
    note="The loss is our reconstruction. It does not see how bad failures are: all scores may rise at no cost, and it "
         "falls when scores draw together. It needs a task loss, or a penalty on failures, beside it.")

"""Forecasts of rare failures, simulated: known tails, a missed mode, and a gridworld that is tuned to be forecastable."""
from __future__ import annotations

from simulations.failure_forecast._figure import figure, figure_data
from simulations.failure_forecast._gridworld import Outcome, behaviour, contexts, experiment
from simulations.failure_forecast._loss import forecastability_loss, line_forecast, partition_errors
from simulations.failure_forecast._tails import (
    TAILS,
    debiased,
    forecast,
    forecast_errors,
    inverse_survival,
    mode_errors,
    overshoots,
    pivots,
    scaled_errors,
    spacing_ratios,
    top_scores,
    undershoots,
)

__all__ = ["TAILS", "Outcome", "behaviour", "contexts", "debiased", "experiment", "figure", "figure_data",
           "forecast", "forecast_errors",
           "forecastability_loss", "inverse_survival", "line_forecast", "mode_errors", "overshoots", "partition_errors",
           "pivots", "scaled_errors", "spacing_ratios", "top_scores", "undershoots"]

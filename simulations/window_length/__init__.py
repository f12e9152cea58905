"""Series drawn from a mixture of processes, forecast from their last W values by a forecaster that is not told which.

Every simulator draws whole series, computes the posterior over processes from the densities of what it drew (no closed
form), and returns for each series the squared distance between the Bayes forecast and the forecast of an oracle that
knows the process: an unbiased sample of the excess risk of the window."""
from simulations.window_length._figure import figure, figure_data
from simulations.window_length._mixtures import ar_mixture, ar_mixture_risk, markov_mixture
from simulations.window_length._series import real_series, windowed_losses

__all__ = ["ar_mixture", "ar_mixture_risk", "figure", "figure_data", "markov_mixture", "real_series",
           "windowed_losses"]

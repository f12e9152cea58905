"""Windows longer than memory: a forecaster shared by many series must also find out which process it is looking at.

A process is drawn from a prior and runs in its stationary state; it remembers P symbols. The forecaster sees the last W
of them. Knowing the process, P symbols suffice; not knowing it, the optimal forecast is an average over processes, and
longer windows sharpen the weights. Everything here is exact for finite chains with rational probabilities.

For your own data
  excess_risk(chains, prior, window, loss)        exact excess over the oracle that knows the process
  min_window(chains, prior, tolerance)            the shortest window within a tolerance
  bayes_predictor(chains, prior, window)          the optimal forecast; `posterior(...)` says which process
  plug_in_excess(chains, prior, window, predict)  the excess of any forecaster that sees the posterior
  ambiguous(chains, prior)                        can two processes look alike and continue differently
  two_chain_excess(rho, window)                   closed form for twin chains; also `two_chain_zero_one_excess`,
                                                  `two_chain_map_excess`, `two_chain_envelope`
  ar_pair_excess(a, window)                       the same for two autoregressions; `beta_mixture_excess` for coins

Notation  W = window (symbols seen), P = memory, f_W = E[next symbol | last W symbols], theta = process,
          mu_theta(c) = E[next | last P symbols are c] in process theta, R(W) = E[(next - f_W)^2] (squared loss),
          excess(W) = R(W) - risk of the oracle that knows theta.
Source    arXiv 2606.01999 (Why Do Time Series Models Need Long Context Windows?), abstract and start of the
          introduction; no theorem text was read: formulas are reconstructed here, not quoted."""
from theory.window_length._closed import (
    ar_pair_excess,
    beta_mixture_excess,
    clock_pair,
    sign_chain,
    two_chain_envelope,
    two_chain_excess,
    two_chain_map_excess,
    two_chain_zero_one_excess,
)
from theory.window_length._risk import (
    ambiguous,
    bayes_predictor,
    excess_risk,
    min_window,
    plug_in_excess,
    posterior,
)
from theory.window_length.claims import (
    PAPER,
    ar_pair,
    decomposition,
    decoupling,
    envelope,
    exact_condition,
    late_gain,
    longer_helps,
    loss_decides,
    map_worse,
    memory_zero,
    never_worse,
    no_finite_window,
    posterior_average,
    posterior_variance,
    two_chains,
    zero_one_ties,
)

__all__ = ["PAPER", "ambiguous", "ar_pair", "ar_pair_excess", "bayes_predictor", "beta_mixture_excess", "clock_pair",
           "decomposition", "decoupling", "envelope", "exact_condition", "excess_risk", "late_gain", "longer_helps",
           "loss_decides", "map_worse", "memory_zero", "min_window", "never_worse", "no_finite_window",
           "plug_in_excess", "posterior", "posterior_average", "posterior_variance", "sign_chain", "two_chain_envelope",
           "two_chain_excess", "two_chain_map_excess", "two_chain_zero_one_excess", "two_chains", "zero_one_ties"]

"""What is asserted about windows longer than memory. Variants are functions of chains, prior and window."""
from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Paper, Source, Standing, without
from theory.window_length._chains import memory_of, read_chains, window_weights
from theory.window_length._closed import (
    ar_pair_excess,
    harmonic_sum,
    wrong_majority,
)
from theory.window_length._risk import ambiguous, bayes_predictor, excess_risk, forecast, plug_in_excess, posterior

__all__ = ["PAPER", "ar_pair", "decomposition", "decoupling", "envelope", "exact_condition", "late_gain",
           "longer_helps", "loss_decides", "map_worse", "memory_zero", "never_worse", "no_finite_window",
           "posterior_average", "posterior_variance", "two_chains", "zero_one_ties"]

PAPER = Paper(slug="window_length", title="Why Do Time Series Models Need Long Context Windows?", arxiv="2606.01999",
              topics=("time series", "forecasting", "bayesian prediction", "context length"), read="opening")


def means_at(chains: Any, past: tuple[Any, ...]) -> list[Fraction]:
    """Conditional mean of each chain after `past`; 0 where the chain has no row."""
    processes, _ = read_chains(chains, [Fraction(1, len(chains))] * len(chains))
    return [weighted(row.values(), row) for row in (p.row(past) for p in processes)]


def weighted(weights: Any, values: Any) -> Fraction:
    """sum of weights * values, as a rational."""
    return sum((Fraction(w) * v for w, v in zip(weights, values, strict=True)), Fraction(0))


def most_probable(weights: Any) -> int:
    """The first index of the largest weight."""
    return max(range(len(weights)), key=lambda i: weights[i])


def transitions_only(chains: Any, prior: Any, past: tuple[Any, ...]) -> list[Fraction]:
    """Posterior from the transitions inside the window, its first P symbols taken as uninformative."""
    processes, weights = read_chains(chains, prior)
    joint = []
    for process, weight, whole in zip(processes, weights, window_weights(processes, weights, past), strict=True):
        start = process.law.get(past[:process.memory], Fraction(0))
        joint.append(whole / start if start and weight else Fraction(0))
    return [value / sum(joint) for value in joint]


posterior_average = Claim(
    id="window_length.posterior_average", paper=PAPER, source=Source.ABSTRACT, standing=Standing.HOLDS,
    statement=r"\forall x_{1:W}:\ E[x_{W+1} \mid x_{1:W}]"
              r" = \sum_\theta P(\theta \mid x_{1:W})\, \mu_\theta(x_{W-P+1:W}),\qquad"
              r" P(\theta \mid x_{1:W}) \propto \pi(\theta) P_\theta(x_{1:W})",
    form=bayes_predictor,
    mutants={"most_probable_process": lambda chains, prior, past: means_at(chains, past)[
                 most_probable(posterior(chains, prior, past))],
             "prior_weights": lambda chains, prior, past: weighted(prior, means_at(chains, past)),
             "prior_ignored": lambda chains, prior, past: bayes_predictor(
                 chains, [Fraction(1, len(chains))] * len(chains), past),
             "transitions_only": lambda chains, prior, past: weighted(
                 transitions_only(chains, prior, past), means_at(chains, past))},
    note="The abstract's sentence on optimal predictions; the likelihood includes the window's first P symbols.")

posterior_variance = Claim(
    id="window_length.posterior_variance", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall W \ge P:\ R(W) - R_{\mathrm{oracle}}"
              r" = E\,\mathrm{Var}\left(\mu_\theta(x_{W-P+1:W}) \mid x_{1:W}\right)",
    form=excess_risk,
    mutants={"prior_kept": lambda chains, prior, window: plug_in_excess(
                 chains, prior, window, lambda weights, means: weighted(prior, means)),
             "most_probable_process": lambda chains, prior, window: plug_in_excess(
                 chains, prior, window, lambda weights, means: means[most_probable(weights)]),
             "one_symbol_more": lambda chains, prior, window: excess_risk(chains, prior, window + 1),
             "zero_one": lambda chains, prior, window: excess_risk(chains, prior, window, loss="zero_one")})


def gain(chains: Any, prior: Any, window: int, change: Callable[[Fraction, Fraction], Fraction],
         shorten: Callable[[tuple[Any, ...]], tuple[Any, ...]] = lambda past: past[1:]) -> Fraction:
    """E[change(f_{W+1}, f_W)], by going through every window of W + 1 symbols."""
    processes, weights = read_chains(chains, prior)
    symbols = list(dict.fromkeys(s for p in processes for row in p.rows.values() for s in row))
    pasts: list[tuple[Any, ...]] = [()]
    for _ in range(window + 1):
        pasts = [(*past, symbol) for past in pasts for symbol in symbols]
    total = Fraction(0)
    for past in pasts:
        if probability := sum(window_weights(processes, weights, past)):
            total += probability * change(forecast(processes, weights, past),
                                          forecast(processes, weights, shorten(past)))
    return total


decomposition = Claim(
    id="window_length.decomposition", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall W \ge P:\ R(W) - R(W+1) = E\left[(f_{W+1} - f_W)^2\right] \ge 0",
    form=lambda chains, prior, window: gain(chains, prior, window, lambda long, short: (long - short) ** 2),
    mutants={"absolute_change": lambda chains, prior, window: gain(
                 chains, prior, window, lambda long, short: abs(long - short)),
             "half": lambda chains, prior, window: gain(
                 chains, prior, window, lambda long, short: (long - short) ** 2 / 2),
             "newest_symbol_dropped": lambda chains, prior, window: gain(
                 chains, prior, window, lambda long, short: (long - short) ** 2, lambda past: past[:-1])},
    also_true={"difference_of_squares": lambda chains, prior, window: gain(
        chains, prior, window, lambda long, short: long**2 - short**2)},
    note="The symbol that the longer window adds lies in the past: both windows end at the same time.")

two_chains = Claim(
    id="window_length.two_chains", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall |\rho| < 1,\ W \ge 1:\ \mathrm{excess}(W) = \rho^2 \sum_{j=0}^{n} \binom{n}{j}"
              r" \frac{2AB}{A+B},\quad n = W-1,\ A = p^j q^{n-j},\ B = p^{n-j} q^j,\ p, q = \tfrac{1 \pm \rho}{2}",
    form=harmonic_sum,
    mutants={"posterior_not_updated": lambda rho, window: rho**2,
             "one_transition_more": lambda rho, window: harmonic_sum(rho, window + 1),
             "arithmetic_mean": lambda rho, window: rho**2 * sum(
                 comb(window - 1, j) * (((1 + rho) / 2) ** j * ((1 - rho) / 2) ** (window - 1 - j)
                                        + ((1 + rho) / 2) ** (window - 1 - j) * ((1 - rho) / 2) ** j) / 2
                 for j in range(window)),
             "rho_not_squared": lambda rho, window: harmonic_sum(rho, window) / rho},
    also_true={"rho_negated": lambda rho, window: harmonic_sum(-rho, window)},
    note="Symbols -1, +1; two chains with E[next | x] = rho x and -rho x, equally likely.")


class Envelope(NamedTuple):
    """lower <= excess^2 <= upper, functions of (rho, window)."""

    lower: Callable[..., Any]
    upper: Callable[..., Any]


ENVELOPE = Envelope(lambda rho, window: rho**4 * (1 - rho**2) ** window / window**2,
                    lambda rho, window: rho**4 * (1 - rho**2) ** (window - 1))
envelope = Claim(
    id="window_length.envelope", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall |\rho| < 1,\ W \ge 1:\ \frac{\rho^2 (1-\rho^2)^{W/2}}{W} \le \mathrm{excess}(W)"
              r" \le \rho^2 (1-\rho^2)^{(W-1)/2}",
    form=ENVELOPE,
    mutants={"one_factor_more": ENVELOPE._replace(upper=lambda rho, window: rho**4 * (1 - rho**2) ** window),
             "rate_doubled": ENVELOPE._replace(upper=lambda rho, window: rho**4 * (1 - rho**2) ** (2 * window - 2)),
             "no_polynomial_factor": ENVELOPE._replace(lower=lambda rho, window: rho**4 * (1 - rho**2) ** window)},
    note="Compared squared, so that both sides are rational. The rate per symbol is exactly (1 - rho^2)^(1/2).")


class Necessity(NamedTuple):
    """Where `given(chains, prior)`, some window of P + 1 to P + `reach` symbols has a smaller risk than P symbols."""

    given: Callable[..., bool]
    reach: int


def anything(chains: Any, prior: Any) -> bool:
    """No condition."""
    return True


def distinct_processes(chains: Any, prior: Any) -> bool:
    """Two chains of positive prior have different rows."""
    alive = [c for c, weight in zip(chains, prior, strict=True) if weight]
    return any(c != alive[0] for c in alive)


def different_means(chains: Any, prior: Any) -> bool:
    """Two chains of positive prior have a context in common (however improbable) with different conditional means."""
    alive = [c for c, weight in zip(chains, prior, strict=True) if weight]
    return any(weighted(one[c].values(), one[c]) != weighted(other[c].values(), other[c])
               for one in alive for other in alive for c in one if c in other)


_AMBIGUOUS = Necessity(Conditions(ambiguous=ambiguous), 3)

longer_helps = Claim(
    id="window_length.longer_helps", paper=PAPER, source=Source.ABSTRACT, standing=Standing.NEEDS_HYPOTHESIS,
    statement=r"\text{if a } P\text{-window is ambiguous: } \exists W > P:\ R(W) < R(P)",
    hypotheses={"ambiguous": r"P\left(\exists \theta, \theta' \text{ compatible with } x_{1:P}:\ \mu_\theta(x_{1:P})"
                             r" \ne \mu_{\theta'}(x_{1:P})\right) > 0"},
    form=_AMBIGUOUS,
    mutants={"without_ambiguous": without(_AMBIGUOUS, "ambiguous"),
             "distinct_processes_suffice": Necessity(distinct_processes, 3),
             "different_means_suffice": Necessity(different_means, 3),
             "next_symbol_suffices": Necessity(ambiguous, 1)},
    as_stated=without(_AMBIGUOUS, "ambiguous"),
    wording="Even when processes remember P values, a window strictly longer than P is needed for the least error.",
    note="Fails for one process, for processes told apart by P symbols, and for processes with equal conditional means."
         " Judged by exhibiting W <= P + 3 on families where that is enough.")

exact_condition = Claim(
    id="window_length.exact_condition", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{finite prior: } R(P) = \min_W R(W) \iff R(P) = R_{\mathrm{oracle}} \iff"
              r" \text{no } P\text{-window of positive probability is ambiguous}",
    form=ambiguous,
    mutants={"distinct_processes": distinct_processes, "different_means_somewhere": different_means,
             "always": anything,
             "zero_one": lambda chains, prior: excess_risk(
                 chains, prior, memory_of(read_chains(chains, prior)[0]), loss="zero_one") > 0},
    note="Stationary finite chains of different laws are told apart by an infinite past, so that the excess tends to 0;"
         " P symbols are then enough iff they already have excess 0.")


class Clock(NamedTuple):
    """The first window that beats one symbol is `first(period)`, for the pair `clock_pair(period, p)` where `given`."""

    given: Callable[..., bool]
    first: Callable[[int], int]


_AFTER_ONE_PERIOD = Clock(given=Conditions(distinct=lambda period, p: p != Fraction(1, 2)), first=lambda period: period)

late_gain = Claim(
    id="window_length.late_gain", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall g \ge 2\ \exists \text{ chains with } P = 1:\ R(1) = \dots = R(g-1) > R(g)",
    hypotheses={"distinct": r"p \ne \tfrac12"},
    form=_AFTER_ONE_PERIOD,
    mutants={"without_distinct": without(_AFTER_ONE_PERIOD, "distinct"),
             "at_once": _AFTER_ONE_PERIOD._replace(first=lambda period: 2),
             "one_later": _AFTER_ONE_PERIOD._replace(first=lambda period: period + 1)},
    note="Squared loss. So W = P + 1 need not help where longer windows do, and no bound on W - P is possible.")

zero_one_ties = Claim(
    id="window_length.zero_one_ties", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall 0 \le \rho < 1,\ m \ge 1:\ \mathrm{excess}_{01}(W) = \rho\, P(\text{wrong majority of } W-1),"
              r"\quad \mathrm{excess}_{01}(2m) = \mathrm{excess}_{01}(2m+1)",
    form=lambda rho, window: rho * wrong_majority(rho, window),
    mutants={"squared_loss": harmonic_sum,
             "ties_are_lost": lambda rho, window: rho * sum(
                 comb(window - 1, j) * ((1 - rho) / 2) ** j * ((1 + rho) / 2) ** (window - 1 - j)
                 for j in range(window // 2, window)),
             "rho_dropped": wrong_majority},
    note="The twin chains of `two_chains`: every other symbol brings exactly nothing under 0-1 loss.")

never_worse = Claim(
    id="window_length.never_worse", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.REFUTED_AS_STATED,
    statement=r"\forall W \ge P,\ \text{squared and 0-1 loss}:\ R(W+1) \le R(W)",
    form=operator.le,
    mutants={"never_better": operator.ge, "halves": lambda longer, shorter: 2 * longer <= shorter},
    as_stated=operator.lt,
    wording="Each further symbol reduces the least attainable error, whatever the loss.",
    note="Our strong reading of the benefit of long windows; equality happens under 0-1 loss (every other symbol for the"
         " twin chains) and under squared loss (`late_gain`).")

loss_decides = Claim(
    id="window_length.loss_decides", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{iid on } \{-1,0,1\},\ P(x \ne 0) = s \text{ or } t,\ \text{mean } 0:\ \text{one symbol lowers the"
              r" squared risk never, the log risk iff } s \ne t",
    form=lambda s, t, loss: loss == "log" and s != t,
    mutants={"squared_gains_too": lambda s, t, loss: s != t, "log_gains_never": lambda s, t, loss: False,
             "log_gains_always": lambda s, t, loss: loss == "log"},
    note="Equal conditional means, different variances: nothing to identify for squared loss, all for log loss.")

decoupling = Claim(
    id="window_length.decoupling", paper=PAPER, source=Source.ABSTRACT, standing=Standing.CONVENTION_DEPENDENT,
    statement=r"z = (P(\theta \mid x_{1:W}))_\theta:\ \min_f E[(x_{W+1} - f(x_{W-P+1:W}, z))^2] = R(W)",
    form=lambda weights: tuple(weights),
    mutants={"largest_weight_only": lambda weights: max(weights),
             "sorted_weights": lambda weights: tuple(sorted(weights)),
             "rounded_to_quarters": lambda weights: tuple(round(4 * w) for w in weights),
             "nothing": lambda weights: ()},
    also_true={"all_but_the_last": lambda weights: tuple(weights[:-1]),
               "odds": lambda weights: tuple(w / max(weights) for w in weights)},
    as_stated=most_probable,
    wording="Identifying the process and forecasting given the process can be separated at no loss of accuracy.",
    note="Exact if identification hands over its posterior; strictly worse if it hands over the most probable process."
         " The abstract does not say which. What separation saves is computation, which is not judged here.")

map_worse = Claim(
    id="window_length.map_worse", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall 0 < \rho < 1,\ W \ge 1:\ \mathrm{excess}_{\mathrm{MAP}}(W) = 4 \rho^2 P(\text{wrong majority of }"
              r" W-1) > \mathrm{excess}(W)",
    form=lambda rho, window: 4 * rho**2 * wrong_majority(rho, window),
    mutants={"factor_2": lambda rho, window: 2 * rho**2 * wrong_majority(rho, window),
             "as_good_as_bayes": harmonic_sum,
             "one_vote_fewer": lambda rho, window: 4 * rho**2 * wrong_majority(rho, max(window - 1, 1))},
    note="The twin chains; the most probable chain is picked, ties by a fair coin, and forecast with alone.")

no_finite_window = Claim(
    id="window_length.no_finite_window", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\theta \sim \mathrm{Beta}(\alpha, \beta),\ x_t \text{ iid Bernoulli}(\theta):\ \forall W \ge 0:"
              r"\ \mathrm{excess}(W) = \frac{\alpha\beta}{(\alpha+\beta)(\alpha+\beta+1)(\alpha+\beta+W)} > 0;"
              r" \quad \alpha = \beta = 1:\ \frac{1}{6(W+2)}",
    form=lambda alpha, beta, window: alpha * beta / ((alpha + beta) * (alpha + beta + 1) * (alpha + beta + window)),
    mutants={"one_symbol_fewer": lambda alpha, beta, window: alpha * beta / (
                 (alpha + beta) * (alpha + beta + 1) * (alpha + beta + window - 1)),
             "prior_variance_kept": lambda alpha, beta, window: alpha * beta / ((alpha + beta + 1) * (alpha + beta) ** 2),
             "square_root_rate": lambda alpha, beta, window: alpha * beta / (
                 (alpha + beta) * (alpha + beta + 1) * (alpha + beta + window) ** 2),
             "oracle_reached_at_ten": lambda alpha, beta, window: 0 if window >= 10 else alpha * beta / (
                 (alpha + beta) * (alpha + beta + 1) * (alpha + beta + window))},
    note="Memory 0 and yet no window is long enough: 1/W under a continuous prior, against a geometric rate under a"
         " finite one (`envelope`).")

memory_zero = Claim(
    id="window_length.memory_zero", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"x_t \text{ iid Bernoulli}(p) \text{ or } (1-p):\ \forall W \ge 0:\ \mathrm{excess}(W) ="
              r" \tfrac14 \mathrm{excess}_{\rho = 2p-1}(W+1)",
    form=lambda p, window: harmonic_sum(2 * p - 1, window + 1) / 4,
    mutants={"same_window": lambda p, window: harmonic_sum(2 * p - 1, max(window, 1)) / 4,
             "not_scaled": lambda p, window: harmonic_sum(2 * p - 1, window + 1),
             "constant": lambda p, window: (2 * p - 1) ** 2 / 4},
    also_true={"p_reflected": lambda p, window: harmonic_sum(1 - 2 * p, window + 1) / 4},
    note="Memory 0, so that W = 0 is P: any symbol at all helps. The twin chains' products x_t x_{t+1} are these series.")

ar_pair = Claim(
    id="window_length.ar_pair", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"x' = \theta a x + N(0,1),\ \theta = \pm 1:\ \mathrm{excess}(W) = a^2 E\left[x_W^2\,"
              r" \mathrm{sech}^2\!\left(a \textstyle\sum_{t<W} x_t x_{t+1}\right)\right],\quad \mathrm{excess}(1) ="
              r" \tfrac{a^2}{1-a^2}",
    form=ar_pair_excess,
    mutants={"identification_ignored": lambda a, window: ar_pair_excess(a, 1),
             "one_symbol_fewer": lambda a, window: ar_pair_excess(a, max(window - 1, 1)),
             "noise_only": lambda a, window: (1 - a * a) * ar_pair_excess(a, window)},
    note="Quadrature against a simulation that computes the posterior from Gaussian densities.")

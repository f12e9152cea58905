"""How the sentence can be read, and which readings fail. Letters as in `theory.window_information`."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.window_information._bounds import nonnegative
from theory.window_information._paper import PAPER

Exact = Callable[..., Any]


class Powers(NamedTuple):
    """sum_S |v|^share / sum |v|^share <= sqrt(k / c), c = (sum |v|^counted)^2 / sum |v|^(2 counted)."""

    share: int
    counted: int


matching_count = Claim(
    id="window_information.matching_count", paper=PAPER, source=Source.ABSTRACT, standing=Standing.CONVENTION_DEPENDENT,
    statement=r"\forall v,\ \forall |S|=k:\ \frac{\sum_S v_i^2}{\sum v_i^2} \le \sqrt{k/c},\quad"
              r" c = \frac{(\sum v_i^2)^2}{\sum v_i^4}",
    form=Powers(share=2, counted=2),
    as_stated=Powers(share=2, counted=1),
    wording="c(v), the inverse participation ratio of the perturbation v, taken of amplitudes: (sum |v|)^2 / sum v^2",
    mutants={"share_of_fourth_powers": Powers(share=4, counted=2), "share_of_cubes": Powers(share=3, counted=2)},
    also_true={"amplitudes_throughout": Powers(share=1, counted=1), "amplitude_share": Powers(share=1, counted=2),
               "squares_counted_by_cubes": Powers(share=2, counted=3)},
    note="The count must be of the information itself (v^2), or of a higher power: c falls as the power rises. With"
         " the amplitude count it fails: v = (1, and 10000 windows of 0.001) has count 120, yet one window holds 99 %.")


class CountOrder(NamedTuple):
    """factor * c_of <= c_than, where c_q = (sum |v|^q)^2 / sum |v|^(2q)."""

    of: int
    than: int
    factor: Any = 1


counts_ordered = Claim(
    id="window_information.counts_ordered", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall v:\ \frac{(\sum v_i^2)^2}{\sum v_i^4} \le \frac{(\sum |v_i|)^2}{\sum v_i^2}",
    form=CountOrder(of=2, than=1),
    mutants={"reversed": CountOrder(of=1, than=2),
             "with_margin": CountOrder(of=2, than=1, factor=Fraction(101, 100))},
    also_true={"cubes": CountOrder(of=3, than=1), "cubes_squares": CountOrder(of=3, than=2)},
    note="By Hoelder. The amplitude count is never the smaller: reading it for c overstates how spread a signal is.")

d_prime_share = Claim(
    id="window_information.d_prime_share", paper=PAPER, source=Source.ABSTRACT, standing=Standing.CONVENTION_DEPENDENT,
    statement=r"\forall w \ge 0,\ \forall |S|=k:\ \frac{d'_S}{d'} \le (k/c)^{1/4},\quad d' = \sqrt{\textstyle\sum w_i}",
    form=Fraction(1, 4),
    as_stated=Fraction(1, 2),
    wording="the fraction sqrt(k/c) with information read as the signal-to-noise ratio d'",
    mutants={"third": Fraction(1, 3), "two_sevenths": Fraction(2, 7), "just_above": Fraction(51, 200)},
    also_true={"fifth": Fraction(1, 5)},
    note="The form is the exponent of k/c. A flat signal has d' share sqrt(k/c) exactly, which may be where the wording"
         " comes from; others have more (0.759 against 0.577 for two values, m = 1000, k = 5, c = 15).")


class Correlated(NamedTuple):
    """share <= sqrt(k / c) for Gaussian windows of shift v and covariance cov, c counted on weights(v, cov).

    The share is v_S' cov_SS^-1 v_S over v' cov^-1 v; `given(v, cov, k)` says which windows are meant."""

    weights: Exact
    given: Exact


independent = Conditions(
    shifted=lambda v, cov, k: any(v),
    independent=lambda v, cov, k: not any(x for i, row in enumerate(cov) for j, x in enumerate(row) if i != j))


def marginal_information(v: Any, cov: Any) -> list[Any]:
    """v_i^2 / variance_i, the information of each window alone."""
    return [x * x / cov[i][i] for i, x in enumerate(v)]


_correlated = Correlated(marginal_information, independent)

independence = Claim(
    id="window_information.independence", paper=PAPER, source=Source.ABSTRACT, standing=Standing.NEEDS_HYPOTHESIS,
    statement=r"\forall v,\ \Sigma,\ |S|=k:\ \frac{v_S^\top \Sigma_{SS}^{-1} v_S}{v^\top \Sigma^{-1} v} \le \sqrt{k/c},"
              r"\quad w_i = v_i^2/\Sigma_{ii}",
    hypotheses={"independent": r"\Sigma \text{ diagonal}"},
    form=_correlated,
    as_stated=without(_correlated, "independent"),
    wording="any classifier observing k windows, many co-regulated programs, with nothing said of correlated noise",
    mutants={"without_independent": without(_correlated, "independent"),
             "unequal_noise_ignored": _correlated._replace(weights=lambda v, cov: [x * x for x in v]),
             "variance_squared": _correlated._replace(
                 weights=lambda v, cov: [(x / cov[i][i]) ** 2 for i, x in enumerate(v)])},
    note="Two windows, equal shifts, correlation rho: one of them holds (1 + rho)/2, above sqrt(1/2) from rho = 0.414."
         " Co-regulated programs with positively correlated noise are this case. In whitened coordinates the bound is"
         " true, but a coordinate is then a mixture of windows. For a bound on windows see conditioned_bound.")


conditioned_bound = Claim(
    id="window_information.conditioned_bound", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"a I \preceq \Sigma \preceq \kappa a I \Rightarrow"
              r" \frac{v_S^\top \Sigma_{SS}^{-1} v_S}{v^\top \Sigma^{-1} v} \le \kappa \sqrt{k/c},"
              r"\quad c = \frac{(\sum v_i^2)^2}{\sum v_i^4}",
    form=Fraction(1),
    mutants={"correlation_ignored": Fraction(0), "root": Fraction(1, 2), "power_3_4": Fraction(3, 4)},
    also_true={"square": Fraction(2)},
    note="The form is the exponent of kappa. Sigma_SS^-1 <= 1/a and Sigma^-1 >= 1/(kappa a), then ipr_bound. What is"
         " left of the bound for correlated windows: its price is the condition number of the noise. Judged on noise"
         " with one common factor, Sigma = I + g g'.")

windows_suffice = Claim(
    id="window_information.windows_suffice", paper=PAPER, source=Source.ABSTRACT, standing=Standing.REFUTED_AS_STATED,
    statement=r"\forall w \ge 0,\ S:\ \frac{\sum_S w_i}{\sum w_i} = f \Rightarrow |S| \ge f^2 c",
    form=lambda k, c, share: k >= share**2 * c,
    as_stated=lambda k, c, share: k < c or 2 * share >= 1,
    wording="compute allocated across k >~ c(v) windows, read as: c windows hold at least half of the information",
    mutants={"f_c_needed": lambda k, c, share: k >= share * c,
             "c_needed_for_half": lambda k, c, share: 2 * share < 1 or k >= c,
             "ten_c_suffice": lambda k, c, share: k < 10 * c or 2 * share >= 1,
             "more_than_f2_c": lambda k, c, share: 100 * k >= 101 * share**2 * c},
    note="k >= f^2 c is necessary for a share f; no multiple of c is sufficient. w = (0.1, and 10^6 windows of 9e-7)"
         " has c = 99.99; its best 100 windows hold 10.01 %. The abstract says 'requires': the necessary half.")


class Moments(NamedTuple):
    """Mean and variance of the share of k windows drawn at random without replacement; (w, k) as in `given`."""

    mean: Exact
    variance: Exact
    given: Exact


_moments = Moments(lambda k, m: k / m, lambda k, c, m: k * (m - k) / (m * (m - 1)) * (1 / c - 1 / m),
                   nonnegative)

random_windows = Claim(
    id="window_information.random_windows", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"S \text{ uniform among the } k\text{-subsets},\ m \ge 2:\ E\,\text{share} = \tfrac km,\quad"
              r" \mathrm{Var}\,\text{share} = \frac{k(m-k)}{m(m-1)} \Big(\frac1c - \frac1m\Big)",
    hypotheses={"nonnegative": r"w_i \ge 0 \text{ for all } i"},
    form=_moments,
    mutants={"with_replacement": _moments._replace(variance=lambda k, c, m: k / m * (1 / c - 1 / m)),
             "m_for_m_minus_1": _moments._replace(variance=lambda k, c, m: k * (m - k) / (m * m) * (1 / c - 1 / m)),
             "one_over_c_only": _moments._replace(variance=lambda k, c, m: k * (m - k) / (m * (m - 1)) / c),
             "mean_k_over_c": _moments._replace(mean=lambda k, m: k / (m - 1))},
    also_true={"without_nonnegative": without(_moments, "nonnegative")},
    note="Windows chosen without regard to the signal hold k/m on average, whatever c is.")

no_sharp_transition = Claim(
    id="window_information.no_sharp_transition", paper=PAPER, source=Source.ABSTRACT,
    standing=Standing.REFUTED_AS_STATED,
    statement=r"w \text{ flat on } c \text{ of } m \text{ windows}:"
              r"\ \max_{|S|=k} \frac{\sum_S w_i}{\sum w_i} = \min(1, k/c)",
    form=lambda k, c: min(Fraction(1), Fraction(k) / c) ** 2,
    as_stated=lambda k, c: Fraction(1 if k >= c else 0),
    wording="such classifiers degrade sharply, not gradually, as c grows; our stand-in: from everything to nothing",
    mutants={"bound_itself": lambda k, c: min(Fraction(1), Fraction(k) / c),
             "inverse_square": lambda k, c: min(Fraction(1), Fraction(k) / c) ** 4,
             "window_lost": lambda k, c: min(Fraction(1), Fraction(k - 1) / c) ** 2},
    note="The form is the square of the share. The abstract does not define 'sharply'. Share and bound are power laws"
         " in c, exponents -1 and -1/2, with a kink at k = c: doubling c never costs more than half of the share. A"
         " crossover, not a phase transition; gradual_auc says the same of the error rate.")

"""What the bound means for error rates: local asymptotic normality, depth, Poisson windows."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.window_information._paper import PAPER

Exact = Callable[..., Any]


class Detection(NamedTuple):
    """Area under the ROC curve = Phi(sqrt(auc(I))); error at equal priors = Phi(-sqrt(error(I)))."""

    auc: Exact
    error: Exact


lan_auc = Claim(
    id="window_information.lan_auc", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"\log L \sim N(\mp I/2, I) \Rightarrow \mathrm{AUC} = \Phi\big(\sqrt{I/2}\big),\quad"
              r" \text{Bayes error} = \Phi\big(-\tfrac12 \sqrt I\big)",
    form=Detection(lambda i: i / 2, lambda i: i / 4),
    mutants={"exchanged": Detection(lambda i: i / 4, lambda i: i / 2),
             "d_prime": Detection(lambda i: i, lambda i: i / 4),
             "error_d_prime": Detection(lambda i: i / 2, lambda i: i)},
    note="Exact for a Gaussian shift; Le Cam's local asymptotic normality says when other models come near it.")

auc_bound = Claim(
    id="window_information.auc_bound", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall w \ge 0,\ |S| = k,\ n:\ \mathrm{AUC}_S = \Phi(z_S) \le"
              r" \Phi\Big(\sqrt{\tfrac12 n t \min(1, \sqrt{k/c})}\Big),\quad z_S^2 = \tfrac n2 \textstyle\sum_S w_i",
    form=Fraction(1, 2),
    mutants={"k_over_c": Fraction(1), "three_fifths": Fraction(3, 5), "just_above": Fraction(51, 100)},
    also_true={"fourth_root": Fraction(1, 4)},
    note="The form is the exponent of k/c inside the root. Phi increases: comparing arguments decides it exactly.")

depth_price = Claim(
    id="window_information.depth_price", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall w \ge 0,\ |S| = k \le c:\ S \text{ at depth } r n \text{ equals all windows at depth } n"
              r" \Rightarrow r \ge \sqrt{c/k}",
    form=Fraction(1, 2),
    mutants={"linear": Fraction(1), "two_thirds": Fraction(2, 3), "just_above": Fraction(51, 100)},
    also_true={"cube_root": Fraction(1, 3)},
    note="Depth can stand in for windows, at a price: the form is the exponent of c/k. A flat signal pays c/k.")

gradual_auc = Claim(
    id="window_information.gradual_auc", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\mathrm{AUC}(c) = \Phi(\sqrt u),\ u = \tfrac{Ik}{2c}:\quad \Big|\frac{d\,\mathrm{AUC}}{d \ln c}\Big|"
              r" = \sqrt{\frac{u e^{-u}}{8\pi}} < 0.1211, \text{ from } u e^{1-u} < 1.001 \text{ for all } u \ge 0",
    form=Fraction(1001, 1000),
    mutants={"below": Fraction(99, 100), "half": Fraction(1, 2)},
    also_true={"above": Fraction(101, 100)},
    note="A flat signal beyond the kink c = k loses at most 0.121 of AUC when c grows e-fold, whatever I and k: to fall"
         " from 0.95 to 0.55, c must grow at least 27-fold. The maximum of u e^(1-u) is 1, at u = 1; certified"
         " up to u = 40, beyond which it falls.")


class WindowLaw(NamedTuple):
    """AUC of the best classifier on Poisson windows = Phi(sqrt(auc(I))) within 0.02, if `given(relative shift)`."""

    auc: Exact
    given: Exact


_law = WindowLaw(lambda i: i / 2, Conditions(small_shift=lambda r: r <= Fraction(1, 5)))

poisson_windows = Claim(
    id="window_information.poisson_windows", paper=PAPER, source=Source.SURROGATE, standing=Standing.HOLDS,
    statement=r"x_i \sim \mathrm{Poisson}(\lambda_i) \text{ or } \mathrm{Poisson}(\lambda_i (1 + r_i)),\ |r_i| \le r:"
              r"\quad \big|\mathrm{AUC} - \Phi(\sqrt{I/2})\big| \le 0.02,\quad I = \sum \lambda_i r_i^2",
    hypotheses={"small_shift": r"r \le 1/5"},
    form=_law,
    mutants={"without_small_shift": without(_law, "small_shift"),
             "d_prime": _law._replace(auc=lambda i: i),
             "bayes_z": _law._replace(auc=lambda i: i / 4)},
    note="Exact likelihood ratios, no normal approximation. The relative shift of a window decides, not its mean count:"
         " a mean of 0.5 in a hundred windows is fine, one window that moves from 1 to 4 is not. See lan_error.")

patient_data: Claim[Any] = Claim(
    id="window_information.patient_data", paper=PAPER, source=Source.ABSTRACT, standing=Standing.OUT_OF_REACH,
    statement=r"\text{on patients, an architecture with } k \gtrsim c(v) \text{ beats cancer-tuned methods and clinical"
              r" tests}",
    note="The architecture and the patient data are not public. That cancer has small c and chronic disease large c is"
         " an empirical premise, not judged here.")

"""Statements about whole training runs: symmetry, the limit, and what the abstract's sentences need to be true."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.moe_width._gates import PAPER

__all__ = ["Breaking", "Collapse", "Convergence", "Equivalence", "Freeze", "Permutation", "Sparse", "Trilemma", "adam_collapse",
           "adam_updates", "collapse", "dense_equivalence", "freeze", "freeze_in_mean", "late_specialisation",
           "limit_rate", "permutation", "sparse_limit", "topk_breaks_symmetry", "trilemma"]

Function = Callable[..., Any]
HALF = Fraction(1, 2)


class Permutation(NamedTuple):
    """Permuting the experts' entries of these arrays at the start permutes the trained experts; given(tied, active)."""

    permuted: tuple[str, ...]
    given: Callable[[bool], bool]


_EQUIVARIANT = Permutation(permuted=("V", "a", "w"), given=Conditions(no_ties=lambda tied: not tied))

permutation = Claim(
    id="moe_width.permutation", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\theta_t(\pi\theta_0) = \pi\,\theta_t(\theta_0)\ \text{for every permutation } \pi \text{ of the experts,"
              r" every } t \text{, gate and optimiser, where no logits tie}",
    hypotheses={"no_ties": r"r_e \ne r_j\ \text{where a Top-}K\text{ mask is taken}"},
    form=_EQUIVARIANT,
    mutants={"without_no_ties": without(_EQUIVARIANT, "no_ties"),
             "router_left_out": _EQUIVARIANT._replace(permuted=("V", "a")),
             "readout_left_out": _EQUIVARIANT._replace(permuted=("V", "w"))},
    note="So exchangeable experts stay exchangeable in law, at every width. That alone is no collapse: Top-K has it too. "
         "Collapse needs a deterministic limit besides.")


class Equivalence(NamedTuple):
    """The limit of an MoE with E experts at learning rate eta is that of one dense net at rate(eta, E)."""

    rate: Function
    gate: str


_DENSE = Equivalence(rate=lambda eta, experts: eta / experts, gate="softmax")

dense_equivalence = Claim(
    id="moe_width.dense_equivalence", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{mup, softmax, mean-field dynamics of } E \text{ equal experts at rate } \eta:\ \text{each step is that"
              r" of one dense two-layer net at rate } \eta/E",
    form=_DENSE,
    mutants={"same_rate": _DENSE._replace(rate=lambda eta, experts: eta),
             "times_experts": _DENSE._replace(rate=lambda eta, experts: eta * experts),
             "square": _DENSE._replace(rate=lambda eta, experts: eta / experts ** 2),
             "sigmoid": _DENSE._replace(gate="sigmoid")},  # its router evolves
    note="Each expert gets the E-th part of the gradient. A step of the readout in symbols, three steps of the mean-field "
         "limits in floats; no finite net is run here. That finite nets tend to the dense limit is `limit_rate`.")


class Convergence(NamedTuple):
    """The root mean square error of the prediction, at width n and rate eta, against the limit is ~ n^exponent.

    rate(eta, E): learning rate of the dense limit; for the sigmoid gate the limit has E experts."""

    exponent: Fraction
    rate: Function


_ROOT = Convergence(exponent=-HALF, rate=lambda eta, experts: eta / experts)

limit_rate = Claim(
    id="moe_width.limit_rate", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{mup, softmax, SGD, } t = 4:\ f_n - f_\infty \sim n^{-1/2}\ \text{over } 64 \le n \le 1024,\ f_\infty"
              r" \text{ the dense limit at rate } \eta/E",
    form=_ROOT,
    mutants={"linearly": _ROOT._replace(exponent=Fraction(-1)), "slowly": _ROOT._replace(exponent=-HALF / 2),
             "same_rate": _ROOT._replace(rate=lambda eta, experts: eta)},
    note="Fluctuations are O(n^-1/2) while the mean error is O(1/n): it is seen at n = 64 and no longer at 1024.")

class Sparse(NamedTuple):
    """The mean distance of experts under Top-1, masked, after 3 updates is that of the limit for `gate` and `active`."""

    gate: str
    active: int


sparse_limit = Claim(
    id="moe_width.sparse_limit", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{mup, Top-1 masked, SGD, } t = 3,\ n = 1024:\ \mathbb{E}\,|f_e-f_j| \text{ is within 0.05 of a random"
              r" limit's, in which Gaussian fields of order } n^{-1/2} \text{ choose at } t \le 1,\ "
              r"\text{and logits of order 1 after}",
    form=Sparse(gate="topk_masked", active=1),
    mutants={"softmax": Sparse(gate="softmax", active=1), "renormalised": Sparse(gate="topk_renorm", active=1)},
    note="The limit of Top-2, renormalised, is approached far more slowly: its logits at t = 2 are about 0.016,"
         " no more than their fluctuations at width 4096.")


class Freeze(NamedTuple):
    """The share of runs, of learning rates eta n^-c with given(c), whose gradient of one sample's logits is below 1e-3
    after one update, is `narrow` at width 512 and `wide` at width 4096."""

    narrow: Fraction
    wide: Fraction
    given: Callable[[int], bool]


_FROZEN = Freeze(narrow=Fraction(55, 100), wide=Fraction(88, 100),
                 given=Conditions(a_rate=lambda c: c in (0, 1), undecayed_rate=lambda c: c == 0))

freeze = Claim(
    id="moe_width.freeze", paper=PAPER, source=Source.ABSTRACT, standing=Standing.NEEDS_HYPOTHESIS,
    statement=r"\text{SP, rate } \eta n^{-c},\ c = 0,\ \text{one sample}:\ P\bigl(|\partial\ell/\partial r| < 10^{-3}"
              r"\text{ after one update}\bigr) = 0.55 \pm 0.08\ \text{at } n = 512,\ 0.88 \pm 0.08\ \text{at } n = 4096",
    hypotheses={"undecayed_rate": r"c = 0:\ \text{the learning rate does not decay like } 1/n"},
    form=_FROZEN,
    as_stated=without(_FROZEN, "undecayed_rate"),
    mutants={"without_undecayed_rate": without(_FROZEN, "undecayed_rate"),
             "decayed_rate_only": _FROZEN._replace(given=lambda c: c == 1),
             "as_at_512": _FROZEN._replace(wide=_FROZEN.narrow),
             "as_at_4096": _FROZEN._replace(narrow=_FROZEN.wide),
             "never": _FROZEN._replace(narrow=Fraction(0), wide=Fraction(0))},
    wording="Under the standard parameterisation, router updates freeze after one step.",
    note="Per sample and in probability. Two widths; why the share tends to 1, and how fast: `freeze_rate`. "
         "With c = 1 gradients stay of order 1 for ever: stable, no freeze, and no feature learning.")

freeze_in_mean: Claim[Fraction] = Claim(
    id="moe_width.freeze_in_mean", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.REFUTED_AS_STATED,
    statement=r"\text{SP, } c = 0:\ \text{the root mean square of } \partial\ell/\partial r \text{ after one update, over 32"
              r" runs and their samples, grows like } n^x,\ x = \tfrac32 \pm 0.4,\ \text{over } 32 \le n \le 512",
    form=3 * HALF, as_stated=-HALF,
    mutants={"bounded": Fraction(0), "vanishes": -HALF},
    wording="Router gradients vanish after one step, as a root mean square would show it.",
    note="The band of 0.4 tells growth from a bound, not 3/2 from 5/4. Why 3/2, an argument only: a share (log n)/n of runs "
         "keeps an open gate, and there the gradient is of order n^2: n^4 (log n)/n in the mean square. A check by root mean "
         "square therefore refutes a freeze that holds in probability.")

adam_updates: Claim[Function] = Claim(
    id="moe_width.adam_updates", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.REFUTED_AS_STATED,
    statement=r"\text{Adam, gradient } g \ne 0 \text{ at step 1 and 0 at step 2}:\ \frac{|\Delta_2|}{|\Delta_1|} ="
              r" \frac{b_1}{1+b_1}\Big/\sqrt{\frac{b_2}{1+b_2}}\quad(0.67006 \text{ at } 0.9, 0.999)",
    form=lambda one, two: one / (1 + one) * ((1 + two) / two) ** HALF,
    as_stated=lambda one, two: one - one,
    mutants={"not_bias_corrected": lambda one, two: one / two ** HALF,
             "momentum_only": lambda one, two: one,
             "root_dropped": lambda one, two: one / (1 + one) * (1 + two) / two},
    wording="Under Adam as well, router updates freeze after one step.",
    note="Gradients freeze, updates do not: momentum carries the first one on. Simulated: sp0, one sample, width 1024; with "
         "b1 = 0 the second update is 0.")


class Collapse(NamedTuple):
    """The distance of experts under a soft gate is ~ n^exponent, for what `given` lets in: exchangeable(bool)."""

    exponent: Fraction
    given: Callable[[Any], bool]


_COLLAPSE = Collapse(exponent=-HALF, given=Conditions(exchangeable=lambda exchangeable: exchangeable))

collapse = Claim(
    id="moe_width.collapse", paper=PAPER, source=Source.ABSTRACT, standing=Standing.NEEDS_HYPOTHESIS,
    statement=r"\text{mup, softmax, SGD, exchangeable experts, } t = 5:\ f_e - f_j \sim n^{-1/2}\ \text{over } 64 \le n \le"
              r" 1024",
    hypotheses={"exchangeable": r"\text{all experts have one law at the start, and one learning rate}"},
    form=_COLLAPSE,
    as_stated=without(_COLLAPSE, "exchangeable"),
    mutants={"without_exchangeable": without(_COLLAPSE, "exchangeable"),
             "specialises": _COLLAPSE._replace(exponent=Fraction(0)),
             "linearly": _COLLAPSE._replace(exponent=Fraction(-1))},
    wording="Maximal update with soft routing and a softmax gate makes the experts collapse to one distribution.",
    note="Learning rates of 0.5, 1, 1.5 and 2 an expert restore a distance of order 1.")

_FIVE = Collapse(exponent=-HALF, given=Conditions(early=lambda t: t <= 5))

late_specialisation = Claim(
    id="moe_width.late_specialisation", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.CONVENTION_DEPENDENT,
    statement=r"\text{mup, softmax, SGD, rate } 6,\ t \in \{3, 5\}:\ f_e - f_j \sim n^{-1/2}\ \text{over } 32 \le n \le 512",
    hypotheses={"early": r"t \in \{3, 5\},\ \text{not } 20 \text{ or } 40"},
    form=_FIVE,
    as_stated=without(_FIVE, "early"),
    mutants={"without_early": without(_FIVE, "early"),
             "until_thirty": _FIVE._replace(given=lambda t: t <= 30),
             "specialises": _FIVE._replace(exponent=Fraction(0))},
    wording="Soft-routed experts collapse, at whatever time one looks.",
    note="Judged at t = 3, 5, 20 and 40 only. At rate 6 the exponent is -0.44 at t = 10 and -0.24 at t = 20. The two "
         "limits do not commute: the collapsed state is unstable, and after 40 updates of rate 6 experts of "
         "widths 32 to 512 are as far apart as the loss lets them.")


class AdamCollapse(NamedTuple):
    """Under Adam the distance of experts is ~ n^exponent, for epsilons (in units of n * gradient) with given(epsilon).

    Of the epsilons 0, 0.001 and 0.1, which are those that are run."""

    exponent: Fraction
    given: Callable[[float], bool]


_EPSILON = AdamCollapse(exponent=-HALF, given=Conditions(epsilon=lambda epsilon: epsilon >= 0.1))

adam_collapse = Claim(
    id="moe_width.adam_collapse", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.NEEDS_HYPOTHESIS,
    statement=r"\text{mup, softmax, Adam}, \varepsilon = \varepsilon_0/n,\ \varepsilon_0 = 0.1,\ t = 6:\ f_e - f_j \sim"
              r" n^{-1/2}\ \text{over } 32 \le n \le 512",
    hypotheses={"epsilon": r"\varepsilon_0 = 0.1\ \text{in units of } n \times \text{gradient, not } 0 \text{ or } 10^{-3}"},
    form=_EPSILON,
    as_stated=without(_EPSILON, "epsilon"),
    mutants={"without_epsilon": without(_EPSILON, "epsilon"),
             "any_positive": _EPSILON._replace(given=lambda epsilon: epsilon > 0),
             "specialises": _EPSILON._replace(exponent=Fraction(0))},
    wording="Experts collapse under maximal update, trained with SGD and with Adam.",
    note="Without epsilon Adam makes a gradient of n^-1/2 an update of order 1 with random signs, which breaks the symmetry."
         " Over widths 32 to 512 the exponent is -0.19 at epsilon_0 = 0, -0.27 at 0.001, -0.45 at 0.01 and -0.51 at 0.1 and 1."
         " Over the first update any fixed epsilon_0 > 0 is enough as n grows (`adam_first_step`).")


class Trilemma(NamedTuple):
    """(move of features) x (distance of experts) ~ n^exponent at each of gamma = 1/2, 3/4, 1, under `gate`, for experts
    with given(exchangeable)."""

    exponent: Fraction
    gate: str
    given: Callable[[bool], bool]


_PRODUCT = Trilemma(exponent=-HALF, gate="softmax", given=Conditions(exchangeable=lambda exchangeable: exchangeable))

trilemma = Claim(
    id="moe_width.trilemma", paper=PAPER, source=Source.ABSTRACT, standing=Standing.NEEDS_HYPOTHESIS,
    statement=r"\text{soft routing, exchangeable experts},\ t = 1:\ |z(1)-z(0)|\cdot|f_e-f_j| \sim n^{-1/2}"
              r"\ \text{for each of } \gamma = \tfrac12, \tfrac34, 1,\ \text{over } 64 \le n \le 1024",
    hypotheses={"exchangeable": r"\text{all experts have one law at the start, and one learning rate}"},
    form=_PRODUCT,
    as_stated=without(_PRODUCT, "exchangeable"),
    mutants={"without_exchangeable": without(_PRODUCT, "exchangeable"),
             "all_three_at_once": _PRODUCT._replace(exponent=Fraction(0)),
             "topk": _PRODUCT._replace(gate="topk_renorm")},
    also_true={"sigmoid": _PRODUCT._replace(gate="sigmoid")},
    wording="Soft-routing MoEs admit no parameterisation with stability, feature learning and expert specialisation at once.",
    note="A quantitative form of it, ours: what features gain over gamma, the distance of experts loses. Each gamma is"
         " judged by itself.")


class Breaking(NamedTuple):
    """Both the experts' distance and their features' move are ~ n^0 under the gate, in the parametrisation."""

    gate: str
    parametrisation: str = "mup"


topk_breaks_symmetry = Claim(
    id="moe_width.topk_breaks_symmetry", paper=PAPER, source=Source.ABSTRACT, standing=Standing.HOLDS,
    statement=r"\text{mup, Top-2 of 4, SGD, } t = 2:\ |z(t)-z(0)| \sim n^0\ \text{and}\ |f_e-f_j| \sim n^0\ \text{over } 64"
              r" \le n \le 1024",
    form=Breaking(gate="topk_renorm"),
    mutants={"softmax": Breaking(gate="softmax"), "sigmoid": Breaking(gate="sigmoid"),
             "features_at_rest": Breaking(gate="topk_renorm", parametrisation="ntp")},
    also_true={"masked": Breaking(gate="topk_masked")},
    note="Feature learning and specialisation at once, in the stable parametrisation gamma = 1.")


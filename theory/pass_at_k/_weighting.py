"""Claims on the weight that pass@k gives to a prompt, and on the smoothness of pass@k."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.pass_at_k._exact import PAPER

__all__ = ["Constants", "Reweighting", "Smoothness", "Threshold", "gradient_weight", "reweighting", "smoothness",
           "smoothness_constants", "weight_threshold"]

Function = Callable[..., Any]

gradient_weight: Claim[Function] = Claim(
    id="pass_at_k.gradient_weight", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall k \ge 1,\ 0 \le p \le 1:\ \frac{d}{dp}\bigl(1-(1-p)^k\bigr) = w_k(p) := k(1-p)^{k-1},"
              r"\ \text{hence}\ \nabla J_k = \mathbb{E}[w_k(p)\,\nabla p]",
    form=lambda p, k: k * (1 - p) ** (k - 1),
    mutants={"exponent_k": lambda p, k: k * (1 - p) ** k,
             "factor_k_dropped": lambda p, k: (1 - p) ** (k - 1),  # true at k = 1: the check must look further
             "success_for_failure": lambda p, k: k * p ** (k - 1)})


class Reweighting(NamedTuple):
    """w_k(p), its decay (1-p) w_k'(p), and the hypotheses on k."""

    weight: Function
    decay: Function
    given: Callable[[int], bool]


_SEVERAL = Conditions(a_sample=lambda k: k >= 1, several_samples=lambda k: k >= 2)
_FALLING = Reweighting(weight=lambda p, k: k * (1 - p) ** (k - 1),
                       decay=lambda p, k: -(k - 1) * k * (1 - p) ** (k - 1), given=_SEVERAL)

reweighting = Claim(
    id="pass_at_k.reweighting", paper=PAPER, source=Source.ABSTRACT, standing=Standing.HOLDS,
    statement=r"\forall k \ge 2,\ 0 \le p < p' \le 1:\ w_k(p) > w_k(p'),\quad"
              r" (1-p)\,w_k'(p) = -(k-1)\,w_k(p)",
    hypotheses={"several_samples": r"k \ge 2"},
    form=_FALLING,
    mutants={"without_several_samples": without(_FALLING, "several_samples"),  # w_1 = 1 is constant
             "decay_sign": _FALLING._replace(decay=lambda p, k: (k - 1) * k * (1 - p) ** (k - 1)),
             "towards_high_success": _FALLING._replace(weight=lambda p, k: k * p ** (k - 1),
                                                       decay=lambda p, k: (1 - p) * (k - 1) * k * p ** (k - 2)),
             "not_for_the_hardest": _FALLING._replace(weight=lambda p, k: k * p * (1 - p) ** (k - 1))},
    note="The abstract says that pass@k optimisation reweights prompts towards low success; this is the exact form.")


class Threshold(NamedTuple):
    """w_k(p) > 1 iff p < 1 - k^exponent(k)."""

    weight: Function
    exponent: Function
    given: Callable[[int], bool]


_ABOVE_ONE = Threshold(weight=lambda p, k: k * (1 - p) ** (k - 1), given=_SEVERAL,
                       exponent=lambda k: -1 / (k - 1) if k != 1 else -1)  # every power of 1 is 1, whatever stands here

weight_threshold = Claim(
    id="pass_at_k.weight_threshold", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall k \ge 2,\ 0 \le p \le 1:\ w_k(p) > 1 \iff p < 1 - k^{-1/(k-1)}",
    hypotheses={"several_samples": r"k \ge 2"},
    form=_ABOVE_ONE,
    mutants={"exponent_1_over_k": _ABOVE_ONE._replace(exponent=lambda k: -1 / k),
             "one_over_k": _ABOVE_ONE._replace(exponent=lambda k: -1),  # p < 1 - 1/k: true at k = 2 only
             "weight_exponent_k": _ABOVE_ONE._replace(weight=lambda p, k: k * (1 - p) ** k)},
    also_true={"without_several_samples": without(_ABOVE_ONE, "several_samples")},  # w_1 = 1 nowhere exceeds 1
    note="Below the threshold a prompt counts more in grad J_k than in grad J_1: 1/2 at k = 2, 0.37004 at k = 4. The "
         "identity w_k = 1 at the threshold is proved; with the strict decay of w_k it gives the equivalence.")


class Smoothness(NamedTuple):
    """|grad p| <= slope(p) G and |Hess J_k| <= curvature(p, k, G^2, L_s), for |score| <= G and |grad score| <= L_s."""

    slope: Function
    curvature: Function


def _rare(p: Any) -> Any:
    """The probability of the rarer outcome."""
    return min(p, 1 - p)


def _curvature(m: Any, p: Any, k: int, square: Any, score: Any) -> Any:
    twice = k * (k - 1) * m ** 2 * (1 - p) ** (k - 2) if k > 1 else 0
    return k * m * (1 - p) ** (k - 1) * (score + square) + twice * square


_SMOOTH = Smoothness(slope=_rare, curvature=lambda p, k, square, score: _curvature(_rare(p), p, k, square, score))

smoothness = Claim(
    id="pass_at_k.smoothness", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"|s| \le G,\ |\nabla s| \le L_s,\ m = \min(p, 1-p):\ |\nabla p| \le mG,\quad"
              r" |\nabla^2 (1-(1-p)^k)| \le k m (1-p)^{k-1}(L_s + G^2) + k(k-1) m^2 (1-p)^{k-2} G^2",
    form=_SMOOTH,
    mutants={"power_curvature_dropped": _SMOOTH._replace(
                 curvature=lambda p, k, square, score: k * _rare(p) * (1 - p) ** (k - 1) * (score + square)),
             "score_curvature_dropped": _SMOOTH._replace(
                 curvature=lambda p, k, square, score: _curvature(_rare(p), p, k, square, 0)),
             "score_square_dropped": _SMOOTH._replace(
                 curvature=lambda p, k, square, score: _curvature(_rare(p), p, k, square, score)
                 - k * _rare(p) * (1 - p) ** (k - 1) * square),
             "variance_slope": _SMOOTH._replace(slope=lambda p: p * (1 - p))},
    also_true={"success_for_minimum": Smoothness(  # weaker, and the constant of G^2 becomes 2 instead of 9/8
        slope=lambda p: min(p, 2 * p * (1 - p)),
        curvature=lambda p, k, square, score: _curvature(p, p, k, square, score))},
    note="Because E[r s] = -E[(1-r) s], the rarer outcome bounds the gradient; min(p, 2p(1-p)) is not sharp.")


class Constants(NamedTuple):
    """Bounds that do not depend on k, and one point (k, p) for each at which it is attained.

    score bounds k m (1-p)^(k-1); square bounds that plus k(k-1) m^2 (1-p)^(k-2)."""

    score: Function
    square: Function
    at_score: tuple[int, Fraction]
    at_square: tuple[int, Fraction]


_HALF = Fraction(1, 2)
_UNIFORM = Constants(score=lambda k: _HALF, square=lambda k: Fraction(9, 8), at_score=(2, _HALF), at_square=(3, _HALF))

smoothness_constants = Claim(
    id="pass_at_k.smoothness_constants", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall k \ge 1,\ 0 \le p \le 1,\ m = \min(p, 1-p):\ k m (1-p)^{k-1} \le \tfrac12,\quad"
              r" k m (1-p)^{k-1} + k(k-1) m^2 (1-p)^{k-2} \le \tfrac98,"
              r"\ \text{so}\ L_k \le \tfrac12 L_s + \tfrac98 G^2;"
              r"\ \text{attained at}\ (k, p) = (2, \tfrac12)\ \text{and}\ (3, \tfrac12)",
    form=_UNIFORM,
    mutants={"square_one": _UNIFORM._replace(square=lambda k: Fraction(1)),
             "score_1_over_e": _UNIFORM._replace(score=lambda k: Fraction(7, 19)),  # the limit of (1-1/k)^(k-1) is 1/e
             "grows_with_k": _UNIFORM._replace(score=lambda k: k, square=lambda k: k ** 2),  # never attained
             "attained_at_4": _UNIFORM._replace(at_square=(4, _HALF))},
    note="Proof: on p <= 1/2 small k and, with (1-p)^j <= exp(-jp), all others are certified covers; on p >= 1/2 the two "
         "quantities are at most k / 2^k and k^2 / 2^k.")

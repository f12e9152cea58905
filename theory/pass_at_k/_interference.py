"""Claims on when the gradients of pass@k and pass@1 conflict, and on what a step then does."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.pass_at_k._exact import PAPER, Prompt, agreements, dot, kernels, sign_changes, split

__all__ = ["Beyond", "Condition", "Degradation", "Diagonal", "Identity", "Persistence", "conflict_identity",
           "conflict_persists", "conflict_threshold", "degradation", "interference_implies_conflict",
           "interference_kernel", "interference_needed", "sign_pattern", "two_prompt_threshold"]

Function = Callable[..., Any]
Rows = Sequence[tuple[Any, Any, tuple[Any, ...]]]  # of a policy: probability, reward, score


def _expectation(first: Rows, second: Rows, reward: Function) -> Any:
    return sum(a * b * reward(r, s) * dot(u, v) for a, r, u in first for b, s, v in second)


def _chance(rows: Rows) -> Any:
    return sum(a * r for a, r, _ in rows)


interference_kernel: Claim[Function] = Claim(
    id="pass_at_k.interference_kernel", paper=PAPER, source=Source.PAPER, standing=Standing.HOLDS,
    statement=r"\kappa(x,x') := \mathbb{E}[r\,r'\,\langle s(x,y), s(x',y')\rangle] ="
              r" \langle\nabla p(x), \nabla p(x')\rangle \quad\text{for } y \sim \pi(\cdot|x),\ y' \sim \pi(\cdot|x')"
              r"\ \text{independent}",
    form=lambda first, second: _expectation(first, second, lambda r, s: r * s),
    mutants={"rewards_dropped": lambda first, second: _expectation(first, second, lambda r, s: 1),
             "one_reward_dropped": lambda first, second: _expectation(first, second, lambda r, s: r),
             "given_success": lambda first, second: _expectation(first, second, lambda r, s: r * s)
             / (_chance(first) * _chance(second) or 1)},
    also_true={"baseline_subtracted": lambda first, second: _expectation(
        first, second, lambda r, s: (r - Fraction(1, 3)) * (s - Fraction(2, 5)))},
    note="The kernel is Definition 3.1 of the paper, the identity with gradients follows from grad p = E[r s].")


class Identity(NamedTuple):
    """<grad J_k, grad J_1> as inner(weights, agreement, mass)."""

    inner: Function
    given: Callable[[Sequence[Any]], bool]


def _mean(mass: Sequence[Any], values: Sequence[Any]) -> Any:
    return dot(mass, values)


def _covariance(mass: Sequence[Any], u: Sequence[Any], v: Sequence[Any]) -> Any:
    centre, middle = _mean(mass, u), _mean(mass, v)
    return sum(q * (a - centre) * (b - middle) for q, a, b in zip(mass, u, v, strict=True))


_SPLIT = Identity(inner=lambda w, a, q: _mean(q, w) * _mean(q, a) + _covariance(q, w, a),
                  given=Conditions(total_mass=lambda q: sum(q) == 1))

conflict_identity = Claim(
    id="pass_at_k.conflict_identity", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\langle\nabla J_k, \nabla J_1\rangle = \mathbb{E}[w_k]\,|\nabla J_1|^2 + \mathrm{Cov}(w_k, a),"
              r"\quad |\nabla J_1|^2 = \mathbb{E}[a],\quad a(x) = \langle\nabla p(x), \nabla J_1\rangle",
    hypotheses={"total_mass": r"\sum_x q(x) = 1"},
    form=_SPLIT,
    mutants={"without_total_mass": without(_SPLIT, "total_mass"),
             "covariance_dropped": _SPLIT._replace(inner=lambda w, a, q: _mean(q, w) * _mean(q, a)),
             "covariance_subtracted": _SPLIT._replace(
                 inner=lambda w, a, q: _mean(q, w) * _mean(q, a) - _covariance(q, w, a)),
             "mean_weight_one": _SPLIT._replace(inner=lambda w, a, q: _mean(q, a) + _covariance(q, w, a))},
    note="So pass@k conflicts with pass@1 iff Cov(w_k, a) < -E[w_k] |grad J_1|^2. The symbolic proof is of three prompts "
         "with two parameters.")


class Diagonal(NamedTuple):
    """<grad J_k, grad J_1> >= lower(mass, weights, squares, square of grad J_1)."""

    lower: Function
    given: Callable[[Sequence[Prompt]], bool]


_ALONE = Diagonal(lower=lambda q, w, squares, first: sum(m * m * v * s for m, v, s in zip(q, w, squares, strict=True)),
                  given=Conditions(no_negative_pair=lambda prompts: all(kappa >= 0 for kappa in kernels(prompts))))


def _neighbours(prompts: Sequence[Prompt]) -> bool:
    ordered = sorted(prompts, key=lambda x: x.success)
    return all(dot(x.gradient, y.gradient) >= 0 for x, y in pairwise(ordered))


interference_needed = Claim(
    id="pass_at_k.interference_needed", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\kappa(x,x') \ge 0\ \text{for all}\ x \ne x' \implies \forall k \ge 1:\ "
              r"\langle\nabla J_k, \nabla J_1\rangle \ge \sum_x q(x)^2 w_k(p(x)) |\nabla p(x)|^2 \ge 0",
    hypotheses={"no_negative_pair": r"\kappa(x,x') \ge 0\ \text{for all}\ x \ne x'"},
    form=_ALONE,
    mutants={"without_no_negative_pair": without(_ALONE, "no_negative_pair"),
             "neighbours_only": _ALONE._replace(given=_neighbours),
             "on_average": _ALONE._replace(given=lambda prompts: sum(kernels(prompts)) >= 0),
             "mean_weight_times_square": _ALONE._replace(lower=lambda q, w, squares, first: _mean(q, w) * first)},
    note="Negative interference is necessary for conflict. It is not sufficient: see interference_implies_conflict.")


class Beyond(NamedTuple):
    """beyond(H, E, k): whether k > k*, for the rows (mass, success, |agreement|) of the two groups, decided exactly."""

    beyond: Function
    given: Callable[[Sequence[Prompt]], bool]


def _exceeds(loss: Any, gain: Any, p_h: Any, p_e: Any, power: int, *, strictly: bool = True) -> bool:
    """Whether power > ln(gain / loss) / ln((1-p_h) / (1-p_e)) (or >=), without logarithms; False if it is undefined."""
    if p_h == p_e:
        return False
    left, right = loss * (1 - p_h) ** power, gain * (1 - p_e) ** power
    if p_h > p_e:  # dividing by a negative logarithm turns the sign round
        left, right = right, left
    return bool(left > right or (left == right and not strictly))


def _groups(against: Any, rest: Any, worst: Function = min, best: Function = max, hardest: Function = max
            ) -> tuple[Any, Any, Any, Any]:
    """q delta, (1-q) A, p_H, p_E."""
    loss = sum(q for q, _, _ in against) * worst([a for _, _, a in against])
    gain = sum(q for q, _, _ in rest) * best([a for _, _, a in rest])
    return loss, gain, hardest([p for _, p, _ in against]), min(p for _, p, _ in rest)


def _both(prompts: Sequence[Prompt]) -> bool:
    """Some prompts disagree with grad J_1, and grad J_1 is not zero (then some agree)."""
    against, rest = split(prompts)
    return bool(against) and any(a > 0 for _, _, a in rest)


def _separated(prompts: Sequence[Prompt]) -> bool:
    against, rest = split(prompts)
    return bool(against) and bool(rest) and max(p for _, p, _ in against) < min(p for _, p, _ in rest)


def _average(values: Sequence[Any]) -> Any:
    return sum(values, Fraction(0)) / len(values)


_CERTAIN = Beyond(beyond=lambda against, rest, k: _exceeds(*_groups(against, rest), k - 1),
                  given=Conditions(both=_both, separated=_separated))
_K_STAR = r"k^* = 1 + \frac{\ln\frac{(1-q)A}{q\delta}}{\ln\frac{1-p_H}{1-p_E}}"

conflict_threshold = Claim(
    id="pass_at_k.conflict_threshold", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"a \le -\delta < 0,\ p \le p_H\ \text{on a set of mass } q;\ a \le A,\ p \ge p_E > p_H\ \text{off it}"
              r" \implies \langle\nabla J_k, \nabla J_1\rangle < 0\ \text{for every}\ k > " + _K_STAR,
    hypotheses={"separated": r"p_H < p_E"},
    form=_CERTAIN,
    mutants={"without_separated": without(_CERTAIN, "separated"),
             "one_dropped": _CERTAIN._replace(beyond=lambda against, rest, k: _exceeds(*_groups(against, rest), k)),
             "largest_disagreement": _CERTAIN._replace(
                 beyond=lambda against, rest, k: _exceeds(*_groups(against, rest, worst=max), k - 1)),
             "least_agreement": _CERTAIN._replace(
                 beyond=lambda against, rest, k: _exceeds(*_groups(against, rest, best=min), k - 1)),
             "easiest_first": _CERTAIN._replace(
                 beyond=lambda against, rest, k: _exceeds(*_groups(against, rest, hardest=min), k - 1))},
    also_true={"mean_agreements": _CERTAIN._replace(  # a smaller k*: averages over the groups do as well
        beyond=lambda against, rest, k: _exceeds(
            sum(q * a for q, _, a in against), sum(q * a for q, _, a in rest),
            max(p for _, p, _ in against), min(p for _, p, _ in rest), k - 1))},
    note="A sufficient condition; k* >= 1 because E[a] >= 0. With E[|a|; H] and E[a; rest] in place of q delta and "
         "(1-q) A the threshold is smaller and still holds.")

_EXACT = _CERTAIN._replace(given=Conditions(two_prompts=lambda prompts: len(prompts) == 2, both=_both, separated=_separated))

two_prompt_threshold = Claim(
    id="pass_at_k.two_prompt_threshold", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{two prompts},\ a_H < 0 < a_E,\ p_H < p_E:\quad \langle\nabla J_k, \nabla J_1\rangle < 0 \iff k > "
              + _K_STAR,
    hypotheses={"two_prompts": r"m = 2", "separated": r"p_H < p_E"},
    form=_EXACT,
    mutants={"without_two_prompts": without(_EXACT, "two_prompts"),
             "without_separated": without(_EXACT, "separated"),
             "one_dropped": _EXACT._replace(beyond=lambda against, rest, k: _exceeds(*_groups(against, rest), k)),
             "at_the_threshold": _EXACT._replace(
                 beyond=lambda against, rest, k: _exceeds(*_groups(against, rest), k - 1, strictly=False))})


class Degradation(NamedTuple):
    """Steps eta along d = grad J_k, with c = |<grad J_1, d>|, s = |d|^2, constants L of J_1 and L_k of J_k.

    limit(c, L, s): J_1 falls for 0 < eta < limit.  fall(c, L, s): by at least this at limit / 2.
    gain(L_k): J_k rises for 0 < eta < gain.  smooth, conflict: the hypotheses."""

    limit: Function
    fall: Function
    gain: Function
    smooth: Callable[[Any, Any], bool]
    conflict: Callable[[Any], bool]


_FALLS = Degradation(limit=lambda c, smooth, s: 2 * c / (smooth * s),
                     fall=lambda c, smooth, s: c * c / (2 * smooth * s),
                     gain=lambda smooth: 2 / smooth,
                     smooth=Conditions(smooth=lambda curvature, smooth: abs(curvature) <= smooth),
                     conflict=Conditions(conflict=lambda inner: inner < 0))

degradation = Claim(
    id="pass_at_k.degradation", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"c = -\langle\nabla J_1, d\rangle > 0,\ d = \nabla J_k,\ \nabla J_1\ L\text{-Lipschitz},\ "
              r"\nabla J_k\ L_k\text{-Lipschitz}:\quad J_1(\theta+\eta d) < J_1(\theta)\ \text{for}\ "
              r"0 < \eta < \tfrac{2c}{L|d|^2},\ \text{by at least } \tfrac{c^2}{2L|d|^2}\ \text{at half of it};\quad"
              r" J_k(\theta+\eta d) > J_k(\theta)\ \text{for}\ 0 < \eta < \tfrac{2}{L_k}",
    hypotheses={"smooth": r"|\nabla^2 J_1| \le L,\ |\nabla^2 J_k| \le L_k",
                "conflict": r"\langle\nabla J_1, \nabla J_k\rangle < 0"},
    form=_FALLS,
    mutants={"without_smooth": without(_FALLS, "smooth"),
             "without_conflict": without(_FALLS, "conflict"),
             "limit_doubled": _FALLS._replace(limit=lambda c, smooth, s: 4 * c / (smooth * s)),
             "fall_doubled": _FALLS._replace(fall=lambda c, smooth, s: c * c / (smooth * s)),
             "gain_doubled": _FALLS._replace(gain=lambda smooth: 4 / smooth)},
    note="All three constants are attained by quadratics, so none can be improved from L and L_k alone.")

sign_pattern: Claim[Function] = Claim(
    id="pass_at_k.sign_pattern", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{the sign of}\ k \mapsto \langle\nabla J_k, \nabla J_1\rangle = k\sum_x q a (1-p)^{k-1}"
              r"\ \text{changes at most as often as the sign of}\ a\ \text{along the prompts ordered by}\ p",
    form=lambda prompts: sign_changes(a for _, a in sorted(_by_success(prompts))),
    mutants={"order_ignored": lambda prompts: sign_changes(agreements(prompts)),
             "one_fewer": lambda prompts: max(0, sign_changes(a for _, a in sorted(_by_success(prompts))) - 1),
             "monotone": lambda prompts: 1},
    also_true={"order_reversed": lambda prompts: sign_changes(a for _, a in sorted(_by_success(prompts), reverse=True)),
               "one_fewer_than_prompts": lambda prompts: len(prompts) - 1},
    note="Descartes' rule of signs for exponential sums: the bases 1-p are positive and the coefficients are q a.")


def _by_success(prompts: Sequence[Prompt]) -> list[tuple[Any, Any]]:
    return [(x.success, a) for x, a in zip(prompts, agreements(prompts), strict=True)]


def _changes(prompts: Sequence[Prompt]) -> int:
    return sign_changes(a for _, a in sorted(_by_success(prompts)))


class Persistence(NamedTuple):
    """Conflict at k implies conflict at k + 1, for prompts that satisfy `given`."""

    given: Callable[[Sequence[Prompt]], bool]


_ONCE = Persistence(given=Conditions(one_change=lambda prompts: _changes(prompts) <= 1))

conflict_persists = Claim(
    id="pass_at_k.conflict_persists", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.REFUTED_AS_STATED,
    statement=r"\text{if } a \text{ changes sign at most once along the prompts ordered by } p:\ "
              r"\langle\nabla J_k, \nabla J_1\rangle < 0 \implies \langle\nabla J_{k'}, \nabla J_1\rangle < 0"
              r"\ \text{for every}\ k' > k",
    hypotheses={"one_change": r"a\ \text{changes sign at most once in the order of}\ p"},
    form=_ONCE,
    as_stated=without(_ONCE, "one_change"),
    mutants={"without_one_change": without(_ONCE, "one_change"),
             "two_changes": Persistence(given=lambda prompts: _changes(prompts) <= 2),
             "easiest_agrees": Persistence(given=lambda prompts: max(_by_success(prompts))[1] > 0)},
    wording="Once pass@k conflicts with pass@1, it does so for every larger k.",
    note="A reading of the abstract, not a sentence of it. A hardest prompt that agrees with grad J_1 ends the "
         "conflict: the weight of everything else dies out faster.")


class Condition(NamedTuple):
    """Two prompts, the first with mass q: conflict at every large k iff holds(q, |grad p|^2 of the first, kappa)."""

    holds: Function
    given: Callable[[Sequence[Prompt]], bool]


_HARDER = Condition(holds=lambda q, square, kappa: q * square + (1 - q) * kappa < 0,
                    given=Conditions(harder=lambda prompts: prompts[0].success < prompts[1].success))

interference_implies_conflict = Claim(
    id="pass_at_k.interference_implies_conflict", paper=PAPER, source=Source.RECONSTRUCTION,
    standing=Standing.REFUTED_AS_STATED,
    statement=r"\text{two prompts},\ p_H < p_E:\ \langle\nabla J_k, \nabla J_1\rangle < 0\ \text{for all large}\ k"
              r" \iff a_H = q|\nabla p_H|^2 + (1-q)\,\kappa_{HE} < 0",
    hypotheses={"harder": r"p_H < p_E"},
    form=_HARDER,
    as_stated=_HARDER._replace(holds=lambda q, square, kappa: kappa < 0),
    mutants={"without_harder": without(_HARDER, "harder"),
             "kappa_negative": _HARDER._replace(holds=lambda q, square, kappa: kappa < 0),
             "masses_swapped": _HARDER._replace(holds=lambda q, square, kappa: (1 - q) * square + q * kappa < 0),
             "masses_dropped": _HARDER._replace(holds=lambda q, square, kappa: square + kappa < 0)},
    wording="If low-success prompts interfere negatively with the others, pass@k conflicts with pass@1 for large k.",
    note="The abstract says only that such prompts 'can' rotate the update; read as 'do', it fails: the prompt's own "
         "gradient is part of grad J_1 and may outweigh the interference.")

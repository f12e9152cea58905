"""Exact facts about gates at any width. Logits enter by their exponentials u_e = exp(r_e) > 0, so that all is rational."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Paper, Source, Standing, without

__all__ = ["PAPER", "Bound", "Choice", "Gate", "Lone", "Slopes", "Sum", "gradient_bound", "lone_expert", "router_gradient",
           "threshold_rule", "zero_sum"]

PAPER = Paper(slug="moe_width", title="Infinite-width limits of mixtures of experts (our words: only the abstract is known)",
              arxiv=None, topics=("mixture of experts", "infinite width", "parametrisation"), read="abstract",
              url="https://openreview.net/forum?id=AhwB471ARJ")

Function = Callable[..., Any]
Gate = Callable[[Sequence[Any], Sequence[Any]], list[Any]]  # (u, chosen as 0 and 1) -> gates


def _softmax(u: Sequence[Any], chosen: Sequence[Any]) -> list[Any]:
    return [v / sum(u) for v in u]


def _sigmoid(u: Sequence[Any], chosen: Sequence[Any]) -> list[Any]:
    return [2 * v / (1 + v) / len(u) for v in u]


def _renormalised(u: Sequence[Any], chosen: Sequence[Any]) -> list[Any]:
    return [v * m / sum(a * b for a, b in zip(u, chosen, strict=True)) for v, m in zip(u, chosen, strict=True)]


def _masked(u: Sequence[Any], chosen: Sequence[Any]) -> list[Any]:
    return [v * m / sum(u) for v, m in zip(u, chosen, strict=True)]


def _dot(first: Sequence[Any], second: Sequence[Any]) -> Any:
    return sum(a * b for a, b in zip(first, second, strict=True))


class Slopes(NamedTuple):
    """df/dr_e for each gate, from (u, chosen, f, e); dl/dr_e is (f - y) times it."""

    softmax: Function
    sigmoid: Function
    topk_renorm: Function
    topk_masked: Function


def _pulled(gate: Gate) -> Function:
    """g_e (f_e - f)."""
    return lambda u, chosen, f, e: gate(u, chosen)[e] * (f[e] - _dot(gate(u, chosen), f))


_SLOPES = Slopes(
    softmax=_pulled(_softmax), topk_renorm=_pulled(_renormalised),
    sigmoid=lambda u, chosen, f, e: 2 * u[e] / (1 + u[e]) ** 2 / len(u) * f[e],
    topk_masked=lambda u, chosen, f, e: u[e] / sum(u) * (chosen[e] * f[e] - _dot(_masked(u, chosen), f)))

router_gradient = Claim(
    id="moe_width.router_gradient", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\frac{\partial \ell}{\partial r_e} = \ell' g_e (f_e - f)\ \text{(softmax; Top-}K\text{, renormalised)},"
              r"\quad = \ell'\,\tfrac2E \sigma_e(1-\sigma_e) f_e\ \text{(sigmoid)},"
              r"\quad = \ell'\,s_e(m_e f_e - f)\ \text{(Top-}K\text{, masked after the softmax } s)",
    form=_SLOPES,
    mutants={"own_output_only": _SLOPES._replace(softmax=lambda u, chosen, f, e: _softmax(u, chosen)[e] * f[e]),
             "sigmoid_pulled": _SLOPES._replace(sigmoid=_pulled(_sigmoid)),
             "masked_like_renormalised": _SLOPES._replace(topk_masked=_pulled(_masked)),  # misses experts left out
             "sign": _SLOPES._replace(topk_renorm=lambda *at: -_pulled(_renormalised)(*at))},
    note="Between the choices of Top-K the mask is constant. Under masking after the softmax, experts that are left out "
         "have a router gradient as well.")


class Sum(NamedTuple):
    """sum_e coefficient(g_e) dl/dr_e = 0 under a gate."""

    gate: Gate
    coefficient: Function


_ALL = Sum(gate=_softmax, coefficient=lambda g: 1)

zero_sum = Claim(
    id="moe_width.zero_sum", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\sum_e \frac{\partial \ell}{\partial r_e} = 0\ \text{for a softmax gate}",
    form=_ALL,
    mutants={"sigmoid": _ALL._replace(gate=_sigmoid),
             "weighted_by_gates": _ALL._replace(coefficient=lambda g: g)},
    also_true={"topk_renorm": _ALL._replace(gate=_renormalised), "topk_masked": _ALL._replace(gate=_masked)},
    note="A shift of all logits changes no softmax. A sigmoid router has this direction as well, and can move along it.")


class Bound(NamedTuple):
    """|df/dr_e| <= factor(g_e) times spread(f, e) under a softmax."""

    factor: Function
    spread: Callable[[Sequence[Any], int], Any]


def _widest(f: Sequence[Any], e: int) -> Any:
    return max(abs(f[e] - v) for v in f)


_SHARP = Bound(factor=lambda g: g * (1 - g), spread=_widest)

gradient_bound = Claim(
    id="moe_width.gradient_bound", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\Bigl|\frac{\partial \ell}{\partial r_e}\Bigr| \le |\ell'|\, g_e (1-g_e) \max_j |f_e - f_j|"
              r"\ \text{for a softmax gate}",
    form=_SHARP,
    mutants={"constant_0.99": _SHARP._replace(factor=lambda g: g * (1 - g) * 99 / 100),
             "gate_squared": _SHARP._replace(factor=lambda g: g * g * (1 - g)),
             "nearest_expert": _SHARP._replace(
                 spread=lambda f, e: min(abs(f[e] - v) for i, v in enumerate(f) if i != e))},
    also_true={"gate_only": _SHARP._replace(factor=lambda g: g), "quarter": _SHARP._replace(factor=lambda g: (1 + g - g) / 4)},
    note="Two ways for a router gradient to vanish: a saturated gate, or equal experts. The constant 1 is attained by two "
         "experts.")


class Lone(NamedTuple):
    """With `active` experts chosen, the gates add up to 1 and no logit has a slope."""

    gate: Gate
    active: int


lone_expert = Claim(
    id="moe_width.lone_expert", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{Top-1, renormalised: } g = 1 \text{ on the chosen expert and } \partial\ell/\partial r_e = 0"
              r"\ \text{for every } e \text{, at every width}",
    form=Lone(gate=_renormalised, active=1),
    mutants={"masked": Lone(gate=_masked, active=1), "two_active": Lone(gate=_renormalised, active=2),
             "all_active": Lone(gate=_softmax, active=1)},
    note="So a Top-1 router learns only where the softmax is taken before the mask, as in Switch layers.")


class Choice(NamedTuple):
    """The experts that a rule chooses are exactly K, for logits that satisfy `given`."""

    rule: Callable[[Sequence[Any], int], list[int]]
    given: Callable[[Sequence[Any]], bool]


def _at_least_the_kth(r: Sequence[Any], k: int) -> list[int]:
    return [e for e, v in enumerate(r) if v >= sorted(r)[-k]]


def _distinct(r: Sequence[Any]) -> bool:
    return len(set(r)) == len(r)


_THRESHOLD = Choice(rule=_at_least_the_kth, given=Conditions(distinct=_distinct))

threshold_rule = Claim(
    id="moe_width.threshold_rule", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.NEEDS_HYPOTHESIS,
    statement=r"r_1, \dots, r_E\ \text{distinct} \implies \#\{e : r_e \ge r_{(K)}\} = K",
    hypotheses={"distinct": r"r_e \ne r_j\ \text{for}\ e \ne j"},
    form=_THRESHOLD,
    as_stated=without(_THRESHOLD, "distinct"),
    mutants={"without_distinct": without(_THRESHOLD, "distinct"),
             "strictly_above": _THRESHOLD._replace(rule=lambda r, k: [e for e, v in enumerate(r) if v > sorted(r)[-k]]),
             "largest_distinct": Choice(  # the threshold among the values instead of among the experts
                 rule=lambda r, k: [e for e, v in enumerate(r) if v >= sorted(set(r))[-min(k, len(set(r)))]],
                 given=lambda r: True)},
    also_true={"first_on_ties": Choice(rule=lambda r, k: sorted(range(len(r)), key=lambda e: (-r[e], e))[:k],
                                       given=lambda r: True)},
    wording="Top-K chooses K experts, whatever the start of the router.",
    note="A router that starts at zero, as is usual under maximal update, ties everywhere: a threshold then takes all E "
         "experts, a stable sort always the first K. Either way the tie rule chooses, not the data.")

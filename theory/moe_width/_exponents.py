"""What grows or vanishes with the width, as exponents: quantity ~ n^x at a fixed number t of updates.

One claim a row of EXPONENTS. The band of a row was set before its simulation: 0.08 for t <= 5 under SGD, 0.12 at t = 10 and
where the choice of experts fluctuates, 0.15 in the second, "deep" model, whose experts tanh(V_e h) read the trunk through
matrices of the full width (under maximal update V_e learns at the rate eta, without n): same exponents, but for the trunk,
which the experts now train."""
from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Source, Standing
from theory.moe_width._gates import PAPER

__all__ = ["CLAIMS", "EXPONENTS", "Row", "predicted_exponent"]

HALF, ZERO, ONE = Fraction(1, 2), Fraction(0), Fraction(1)
GATES = ("softmax", "sigmoid", "topk_renorm", "topk_masked")
QUANTITIES = ("router_gradient", "logit_change", "expert_distance", "feature_move", "trunk_move")
WORDS = {"router_gradient": r"\partial\ell/\partial r", "logit_change": r"r(t)-r(0)", "expert_distance": r"f_e-f_j",
         "feature_move": r"z(t)-z(0)", "trunk_move": r"h(t)-h(0)"}


class Row(NamedTuple):
    """A cell of the table: quantity ~ n^exponent after t updates. `wrong` are false exponents, by name; `data` is (samples,
    dimensions) of what it was decided on; `settings` are further ones of the run, called `label` in the claim's name."""

    gate: str
    parametrisation: str
    quantity: str
    t: int
    exponent: Fraction
    wrong: dict[str, Fraction]
    tolerance: float = 0.08
    active: int = 1
    data: tuple[int, int] = (4, 2)
    label: str = ""
    settings: tuple[tuple[str, Any], ...] = ()
    widths: tuple[int, ...] = (64, 128, 1024)  # the middle one of three equal steps would have no weight in a slope

    @property
    def fact(self) -> str:
        """The name of the claim, for example mup_softmax_router_gradient_1."""
        kind = re.sub(r"\W", "", self.parametrisation)
        return "_".join(filter(None, (kind, self.label, self.gate, self.quantity, str(self.t))))


_STAYS = {"vanishes": -HALF, "grows": HALF}
_VANISHES = {"stays": ZERO, "vanishes_faster": -ONE}
_SEPARATES = {"separates": ZERO, "vanishes_faster": -ONE}
_COLLAPSES = {"collapses": -HALF, "grows": HALF}


def _deep(gate: str, quantity: str, t: int, exponent: Fraction, wrong: dict[str, Fraction], *, active: int = 1,
          data: tuple[int, int] = (4, 2)) -> Row:
    """A row of the second model."""
    return Row(gate, "mup", quantity, t, exponent, wrong, tolerance=0.15, active=active, data=data, label="deep",
               settings=(("model", "deep"),), widths=(32, 64, 256))


EXPONENTS = (
    # soft routing under maximal update: collapse
    Row("softmax", "mup", "router_gradient", 0, -HALF, _VANISHES),
    Row("softmax", "mup", "router_gradient", 1, -HALF, _VANISHES),
    Row("softmax", "mup", "router_gradient", 5, -HALF, _VANISHES),
    Row("softmax", "mup", "logit_change", 1, -HALF, _VANISHES),
    Row("softmax", "mup", "expert_distance", 0, -HALF, _VANISHES),
    Row("softmax", "mup", "feature_move", 1, ZERO, _STAYS),
    Row("softmax", "mup", "trunk_move", 1, -HALF, _VANISHES),  # only the router trains the trunk
    Row("sigmoid", "mup", "router_gradient", 0, -HALF, _VANISHES),
    Row("sigmoid", "mup", "router_gradient", 1, ZERO, _STAYS),
    Row("sigmoid", "mup", "expert_distance", 1, -HALF, _SEPARATES),
    Row("sigmoid", "mup", "expert_distance", 5, -HALF, _SEPARATES),
    # later: ten updates, in the wider band
    Row("softmax", "mup", "logit_change", 5, -HALF, _VANISHES),
    Row("softmax", "mup", "router_gradient", 10, -HALF, _VANISHES, tolerance=0.12),
    Row("softmax", "mup", "expert_distance", 10, -HALF, _SEPARATES, tolerance=0.12),
    Row("sigmoid", "mup", "expert_distance", 10, -HALF, _SEPARATES, tolerance=0.12),
    Row("topk_renorm", "mup", "expert_distance", 10, ZERO, _COLLAPSES, tolerance=0.12, active=2),
    Row("topk_masked", "mup", "expert_distance", 10, ZERO, _COLLAPSES, tolerance=0.12),
    # top-k under maximal update: from the second update on everything lives
    Row("topk_renorm", "mup", "router_gradient", 0, -HALF, _VANISHES, active=2),
    Row("topk_renorm", "mup", "router_gradient", 1, ZERO, _STAYS, tolerance=0.12, active=2,
        data=(8, 4)),  # with fewer samples the pairs chosen vary too much
    Row("topk_renorm", "mup", "expert_distance", 1, ZERO, _COLLAPSES, active=2),
    Row("topk_renorm", "mup", "expert_distance", 5, ZERO, _COLLAPSES, active=2),
    Row("topk_renorm", "mup", "feature_move", 1, ZERO, _STAYS, active=2),
    Row("topk_masked", "mup", "router_gradient", 1, ZERO, _STAYS, tolerance=0.12),
    Row("topk_masked", "mup", "expert_distance", 5, ZERO, _COLLAPSES),
    # parametrisations whose features do not move
    Row("softmax", "ntp", "router_gradient", 1, ZERO, _STAYS),
    Row("softmax", "ntp", "logit_change", 1, ZERO, _STAYS),
    Row("softmax", "ntp", "expert_distance", 1, ZERO, _COLLAPSES),
    Row("softmax", "ntp", "feature_move", 1, -HALF, _VANISHES),
    Row("softmax", "sp1", "router_gradient", 1, ZERO, {"freezes": -HALF, "grows": HALF}),
    Row("softmax", "sp1", "logit_change", 1, ZERO, _STAYS),
    Row("softmax", "sp1", "expert_distance", 1, ZERO, _COLLAPSES),
    Row("softmax", "sp1", "feature_move", 1, -3 * HALF, {"like_ntp": -HALF, "linearly": -ONE}),
    Row("softmax", "sp0", "logit_change", 1, ONE, {"stays": ZERO, "like_a_random_sum": HALF}),
    Row("softmax", "sp0", "logit_change", 1, ONE, {"stays": ZERO, "like_a_random_sum": HALF}, label="adam",
        settings=(("optimiser", "adam"), ("learning_rate", 0.05))),
    # a router left in the standard parametrisation inside experts under maximal update: random logits of order 1
    Row("softmax", "mup", "logit_change", 1, HALF, {"stays": ZERO, "linearly": ONE}, label="sp_router",
        settings=(("router_parametrisation", "sp0"),)),
    Row("softmax", "mup", "expert_distance", 2, ZERO, _COLLAPSES, label="sp_router",
        settings=(("router_parametrisation", "sp0"),)),
    # the second model
    _deep("softmax", "router_gradient", 3, -HALF, _VANISHES),
    _deep("softmax", "expert_distance", 3, -HALF, _SEPARATES),
    _deep("softmax", "feature_move", 1, ZERO, _STAYS),
    _deep("softmax", "trunk_move", 1, ZERO, {"as_in_the_first_model": -HALF, "grows": HALF}),
    _deep("sigmoid", "router_gradient", 2, ZERO, _STAYS),
    _deep("sigmoid", "expert_distance", 3, -HALF, _SEPARATES),
    _deep("topk_renorm", "feature_move", 1, ZERO, _STAYS, active=2),
    _deep("topk_renorm", "expert_distance", 3, ZERO, _COLLAPSES, active=2),
    _deep("topk_masked", "router_gradient", 2, ZERO, _STAYS),
    _deep("topk_masked", "expert_distance", 3, ZERO, _COLLAPSES),
    # between them
    Row("softmax", "gamma(0.75)", "router_gradient", 1, -HALF / 2, {"stays": ZERO, "like_mup": -HALF}),
    Row("softmax", "gamma(0.75)", "expert_distance", 1, -HALF / 2, {"stays": ZERO, "like_mup": -HALF}),
    Row("softmax", "gamma(0.75)", "feature_move", 1, -HALF / 2, {"stays": ZERO, "like_ntp": -HALF}),
)


_BY = {"": "SGD", "adam": "Adam", "sp_router": "SGD, router in SP", "deep": "SGD, experts that read the trunk"}


def _claim(row: Row) -> Claim[Fraction]:
    which = {"topk_renorm": rf"Top-{row.active}, renormalised", "topk_masked": rf"Top-{row.active}, masked"}
    return Claim(
        id=f"moe_width.{row.fact}", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
        statement=rf"\text{{{row.parametrisation}, {which.get(row.gate, row.gate)}, {_BY[row.label]}, }} t ="
                  rf" {row.t}:\ {WORDS[row.quantity]} \sim n^{{{row.exponent}}}",
        form=row.exponent, mutants=row.wrong,
        note=f"Mean log-log slope over widths {min(row.widths)} to {max(row.widths)}, in a band of +-{row.tolerance:g} set"
             " beforehand.")


CLAIMS: dict[str, Claim[Fraction]] = {row.fact: _claim(row) for row in EXPONENTS}
globals().update(CLAIMS)  # the registry finds claims by the attributes of a module


def predicted_exponent(*, gate: str, parametrisation: str, quantity: str, t: int) -> Fraction:
    """The exponent x of quantity ~ n^x after t updates of SGD, for exchangeable experts and t fixed.

    gate softmax | sigmoid | topk_renorm | topk_masked (with 1 < K < E where renormalised: a lone expert's gate has no
    slope); parametrisation ntp | mup | gamma(g) | sp1; quantity router_gradient | logit_change | expert_distance |
    feature_move | trunk_move. ValueError for anything else, and for a change or move at t = 0, which is zero."""
    for name, value, known in (("gate", gate, GATES), ("quantity", quantity, QUANTITIES)):
        if value not in known:
            raise ValueError(f"{name}={value!r} must be one of {', '.join(known)}")
    if isinstance(t, bool) or not isinstance(t, int) or t < 0:
        raise ValueError(f"t={t!r} must be a whole number, at least 0")
    if t == 0 and quantity in ("logit_change", "feature_move", "trunk_move"):
        raise ValueError(f"quantity={quantity!r} is zero at t=0, and has no exponent")
    if parametrisation == "sp1":
        return -3 * HALF if quantity in ("feature_move", "trunk_move") else ZERO
    gamma = _gamma(parametrisation)
    if quantity == "feature_move":
        return gamma - 1
    fluctuation = HALF - gamma  # of outputs and logits at the start
    lively = {"softmax": {}, "sigmoid": {"router_gradient": 1, "logit_change": 2, "trunk_move": 2}}
    since: dict[str, Any] = lively.get(gate, {"router_gradient": 1, "expert_distance": 1, "logit_change": 2, "trunk_move": 2})
    alive = t >= since.get(quantity, t + 1)  # differences of order 1 have come in by then
    if quantity == "trunk_move":
        return gamma - 1 if alive else -HALF
    return ZERO if alive else fluctuation


def _gamma(parametrisation: str) -> Fraction:
    named = {"ntp": "gamma(0.5)", "mup": "gamma(1)"}.get(parametrisation, parametrisation)
    found = re.fullmatch(r"gamma\((\d*\.?\d+)\)", named) if isinstance(named, str) else None
    gamma = Fraction(found.group(1)) if found else Fraction(-1)
    if not HALF <= gamma <= 1:
        raise ValueError(f"parametrisation={parametrisation!r} must be sp1, ntp, mup or gamma(g) with 0.5 <= g <= 1")
    return gamma

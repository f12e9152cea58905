"""What holds at every width, with constants, and gives the limit: one update of one sample bounded start by start."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Source, Standing
from theory.moe_width._gates import PAPER

__all__ = ["AdamStep", "Saturated", "Update", "adam_first_step", "freeze_rate", "saturation"]

Function = Callable[..., Any]
HALF = Fraction(1, 2)


class Saturated(NamedTuple):
    """|df/dr_e| <= bound(E, q) max_j |f_e - f_j| under a softmax, q = exp(second largest logit - largest)."""

    bound: Function


_OPEN = Saturated(bound=lambda experts, q: (experts - 1) * q)

saturation = Claim(
    id="moe_width.saturation", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{softmax}, \Delta = r_{(1)} - r_{(2)}:\quad \Bigl|\frac{\partial f}{\partial r_e}\Bigr| \le"
              r" (E-1)\,e^{-\Delta} \max_j |f_e - f_j|\ \text{for every } e",
    form=_OPEN,
    mutants={"experts_dropped": _OPEN._replace(bound=lambda experts, q: q),
             "squared": _OPEN._replace(bound=lambda experts, q: (experts - 1) * q * q),
             "halved": _OPEN._replace(bound=lambda experts, q: (experts - 1) * q / 2),
             "less_by_a_tenth": _OPEN._replace(bound=lambda experts, q: Fraction(9, 10) * (experts - 1) * q)},
    also_true={"twice": _OPEN._replace(bound=lambda experts, q: 2 * (experts - 1) * q)},
    note="Once the gap of the logits grows, the router's gradient falls exponentially in it: what `freeze_rate` rests on.")


class Update(NamedTuple):
    """Bounds after one update at rate rho of one sample, at width n, from norms of the start (see `freeze_rate`).

    rate(eta, n)               rho
    remainder(rho, W, P, T, H) of r_e(1) - r_e(0) + rho l' s_e |h|^2, for each e
    gap(rho, sigma, H, B, R)   what the gap of the two largest logits is at least
    outputs(rho, A, l, n)      what each |f_e(1)| is at most"""

    rate: Function
    remainder: Function
    gap: Function
    outputs: Function


_UPDATE = Update(rate=lambda eta, n: eta,
                 remainder=lambda rho, W, P, T, H: rho * T * (W + rho * P * H**HALF),
                 gap=lambda rho, sigma, H, B, R: rho * sigma * H - B - 2 * R,
                 outputs=lambda rho, A, l, n: (A + rho * l * n**HALF) * n**HALF)

freeze_rate = Claim(
    id="moe_width.freeze_rate", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{SP, rate } \rho = \eta\ (c = 0), \text{ one sample, softmax, every } n \text{ and start: with } t_e ="
              r" -\ell' s_e,\ s_e = \partial f/\partial r_e,\ \sigma = t_{(1)} - t_{(2)}:\quad \log\Bigl|\frac{\partial\ell}"
              r"{\partial r_e}(1)\Bigr| \le \log\bigl(2 (E-1) F (F + |y|)\bigr) - \Delta,\ \Delta = \rho\sigma|h|^2 - B - 2R,"
              r"\ R = \rho T (W + \rho P |h|),\ F = (A + \rho |\ell'| \sqrt n)\sqrt n;\quad \text{for } |h|^2 = \kappa n"
              r"\text{ and constants } A, B, P, T, W, \sigma\text{: this is } -\eta\sigma\kappa\, n + o(n)",
    form=_UPDATE,
    mutants={"decayed_rate": _UPDATE._replace(rate=lambda eta, n: eta / n),
             "trunk_at_rest": _UPDATE._replace(remainder=lambda rho, W, P, T, H: 0 * T),
             "start_forgotten": _UPDATE._replace(gap=lambda rho, sigma, H, B, R: rho * sigma * H - 2 * R),
             "one_remainder": _UPDATE._replace(gap=lambda rho, sigma, H, B, R: rho * sigma * H - B - R),  # each logit has one
             "gap_doubled": _UPDATE._replace(gap=lambda rho, sigma, H, B, R: 2 * rho * sigma * H - B - 2 * R),
             "gap_like_the_root": _UPDATE._replace(gap=lambda rho, sigma, H, B, R: rho * sigma * H**HALF - B - 2 * R),
             "readout_at_rest": _UPDATE._replace(outputs=lambda rho, A, l, n: A)},
    note="A, W: largest |a_e|, |w_e|; P = max |t_e|; T = |x|^2 |sum_e l' s_e w_e|; B = r_(1) - r_(E) at the start; E experts. "
         "The bound follows from Cauchy and Schwarz, |tanh'| <= 1 and `saturation`, and is checked in floats at random"
         " starts; its growth with n is decided in symbols. So the gradient vanishes like exp(-eta sigma kappa n) wherever"
         " these stay bounded and sigma > 0. Under SP they do in probability: |h|^2/n, |a_e| and |w_e| have limits, and r, f a"
         " joint Gaussian one, under which t_e are distinct (a law of large numbers and a central limit theorem, not checked"
         " here). That is the freeze in the limit; `freeze` says how far finite widths are from it.")


class AdamStep(NamedTuple):
    """The change of a logit by Adam's first update of the router: move(eta, c, h, epsilon), for gradients n g = c h of its
    weights, c = l' s_e, and its limit as c -> 0+, for epsilon > 0 and for epsilon = 0, trunk at rest."""

    move: Function
    small: Function
    without: Function


def _mean(values: Any) -> Any:
    return sum(values) * Fraction(1, len(values))


_ADAM = AdamStep(move=lambda eta, c, h, epsilon: -eta * _mean([c * v * v / (c * v + epsilon) for v in h]),
                 small=lambda eta, h, epsilon: 0 * eta,
                 without=lambda eta, h: -eta * _mean(h))

adam_first_step = Claim(
    id="moe_width.adam_first_step", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{mup, Adam}, \varepsilon = \varepsilon_0/n,\ n g_i = c\,h_i,\ c = \ell' s_e > 0,\ h_i > 0:\quad r_e(1) -"
              r" r_e(0) = -\frac{\eta}{n}\sum_i \frac{c h_i^2}{c h_i + \varepsilon_0};\quad c \to 0:\ \to 0\ \text{for every}"
              r"\ \text{fixed } \varepsilon_0 > 0,\ \to -\frac{\eta}{n} \sum_i h_i\ \text{for } \varepsilon_0 = 0",
    form=_ADAM,
    mutants={"breaks_at_every_epsilon": _ADAM._replace(small=lambda eta, h, epsilon: -eta * _mean(h)),
             "collapses_without_epsilon": _ADAM._replace(without=lambda eta, h: 0 * eta),
             "plain_gradient": _ADAM._replace(
                 move=lambda eta, c, h, epsilon: -eta * _mean([c * v * v for v in h])),
             "epsilon_under_the_root": _ADAM._replace(
                 move=lambda eta, c, h, epsilon: -eta * _mean([c * v * v / ((c * v) ** 2 + epsilon) ** HALF for v in h]))},
    note="Signs of c and h carry over. As c = O(n^-1/2) at the start, logits move by O(n^-1/2) for every fixed epsilon_0 > 0"
         " and by order 1, with signs drawn at random, for epsilon_0 = 0. So in the limit any epsilon_0 > 0 keeps the symmetry"
         " over this update; how small it may be at a given width is c against epsilon_0, which is why 0.001 fails at widths"
         " to 512 (`adam_collapse`).")

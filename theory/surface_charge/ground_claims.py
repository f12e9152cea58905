"""What is asserted about gently curved ground: the first-order truth, what the two-term identity offers in its place, a
replacement, and in which sense the identity is good far from tight curvature. Densities are 4 pi sigma / charge."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from theory.claim import Claim, Source, Standing
from theory.surface_charge._oracles import cylinder_sigma
from theory.surface_charge.claims import PAPER

__all__ = ["cylinder", "first_order_ground", "long_wire", "regime", "rolling_wire", "three_term", "two_term_error"]

first_order_ground = Claim(
    id="surface_charge.first_order_ground", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"z = \varepsilon f,\ k = p + q:\ \widehat{\sigma + \tfrac{1}{2\pi}\tfrac{\partial\phi}{\partial n}}(k) ="
              r" -\frac{\varepsilon}{2\pi} (|k||p| - k \cdot p) f_q \phi_p + O(\varepsilon^2)",
    form=lambda k, p, dot, q_square: k * p - dot,
    mutants={"two_term_identity": lambda k, p, dot, q_square: q_square / 4,
             "dot_added": lambda k, p, dot, q_square: k * p + dot,
             "flat": lambda k, p, dot, q_square: 0 * q_square,
             "half": lambda k, p, dot, q_square: (k * p - dot) / 2},
    note="The identity offers |q|^2/4 for every direction. Where p and k point the same way the truth is 0: there its term"
         " is spurious; for slowly varying ground the ratio truth to identity is 2 sin^2 of the angle, 1 on average.")

class Replacement(NamedTuple):
    """What curvature adds to the tangent plane's density, of (R, h, k_r, k_t), and the order in kappa h of what is left."""

    correction: Callable[..., Any]
    order: int


THREE = Replacement(lambda R, h, k_r, k_t: k_r / (R + h) + k_t * h / (R * (R + h)), 2)
three_term = Claim(
    id="surface_charge.three_term", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{quadratic ground}:\ \sigma = -\frac{1}{2\pi}\frac{\partial\phi}{\partial n} + \frac{q}{4\pi}"
              r"\left[\frac{k_r}{R+h} + \frac{k_t h}{R(R+h)}\right] + o(\kappa h);\ \text{over a cylinder, } \kappa h"
              r" \text{ from } \tfrac1{20} \text{ to } \tfrac1{160}\text{, what is left is } \sim (\kappa h)^2",
    form=THREE,
    mutants={"two_term_identity": THREE._replace(correction=lambda R, h, k_r, k_t: (k_r + k_t) / (2 * R)),
             "swapped": THREE._replace(correction=lambda R, h, k_r, k_t: k_t / (R + h) + k_r * h / (R * (R + h))),
             "height_dropped": THREE._replace(correction=lambda R, h, k_r, k_t: k_r / (R + h) + k_t / (R + h)),
             "sign": THREE._replace(correction=lambda R, h, k_r, k_t: -k_r / (R + h) - k_t * h / (R * (R + h))),
             "flat": THREE._replace(correction=lambda R, h, k_r, k_t: 0 * R),
             "first_order": THREE._replace(order=1), "third_order": THREE._replace(order=3)},
    note="A replacement that needs the shape operator instead of its trace. Proved to first order for every quadratic"
         " ground, every charge and every point of observation; the order of what is left is measured, in a band of +-0.15.")

two_term_error = Claim(
    id="surface_charge.two_term_error", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{quadratic ground}:\ \sigma_2 - \sigma = \frac{q}{8\pi}\,(k_t - k_r)\,\frac{R-h}{R(R+h)} +"
              r" O((\kappa h)^2)",
    form=lambda R, h, k_r, k_t: (k_t - k_r) * (R - h) / (2 * R * (R + h)),
    mutants={"mean_curvature": lambda R, h, k_r, k_t: (k_t + k_r) * (R - h) / (2 * R * (R + h)),
             "second_order": lambda R, h, k_r, k_t: 0 * R,
             "sign": lambda R, h, k_r, k_t: (k_r - k_t) * (R - h) / (2 * R * (R + h)),
             "not_halved": lambda R, h, k_r, k_t: (k_t - k_r) * (R - h) / (R * (R + h))},
    note="First order in the DIFFERENCE of the principal curvatures: zero at the foot of the charge and on umbilic ground,"
         " however strong the curvature; wrong at first order elsewhere, however weak.")


class Orders(NamedTuple):
    """Exponents in kappa h of the two-term error, relative to the charge and relative to what curvature changes in it, over
    a cylinder and off the foot of the charge."""

    total: int
    correction: int


regime = Claim(
    id="surface_charge.regime", paper=PAPER, source=Source.ABSTRACT, standing=Standing.CONVENTION_DEPENDENT,
    statement=r"\text{cylinder},\ \kappa = 1/a,\ \text{rms over points off the foot},\ \kappa h \text{ from } \tfrac1{20}"
              r" \text{ to } \tfrac1{160}:\ \frac{|\sigma_2 - \sigma|}{|\sigma|} \sim (\kappa h)^1,\quad"
              r" \frac{|\sigma_2 - \sigma|}{|\sigma - \sigma_{\mathrm{flat}}|} \sim (\kappa h)^0",
    form=Orders(1, 0),
    mutants={"second_order": Orders(2, 1), "correction_vanishes": Orders(1, 1)},
    as_stated=Orders(0, 0),
    wording="The identity does not apply where the ground's radius of curvature is much greater than the source's height.",
    note="That limit is where the total is BEST: the error falls like h over the radius. What does not improve is the"
         " curvature term itself, a fixed share of which is wrong. The wording holds of the second ratio only. Not so on"
         " umbilic ground or at the foot of the charge, where the error of first order is 0 (`two_term_error`).")

cylinder = Claim(
    id="surface_charge.cylinder", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"\text{grounded cylinder}:\ \sigma = -\frac{q}{\pi^2 a} \int_0^\infty \cos(kz) \left[\frac{K_0(kb)}{2 K_0(ka)}"
              r" + \sum_{m \ge 1} \cos(m\varphi) \frac{K_m(kb)}{K_m(ka)}\right] dk",
    form=cylinder_sigma,
    mutants={"normalisation_halved": lambda arc, axial, radius, height, charge: cylinder_sigma(
                 arc, axial, radius, height, charge) / 2,
             "arc_as_angle": lambda arc, axial, radius, height, charge: cylinder_sigma(
                 arc * radius, axial, radius, height, charge),
             "height_misplaced": lambda arc, axial, radius, height, charge: cylinder_sigma(
                 arc, axial, radius, height * 9 / 8, charge)},
    note="The oracle of the other checks. Its charge per arc, integrated along the axis, must be the Poisson kernel of a"
         " line charge in the plane; its total must be -q.")


class Wire(NamedTuple):
    """What each curvature adds to 4 pi sigma per line density, for a wire from -L to L: functions of L, R_L, h and the
    half logarithm asinh(L / rho)."""

    across: Callable[..., Any]
    along: Callable[..., Any]


WIRE = Wire(lambda L, R, h, asinh: 2 * L / (R + h), lambda L, R, h, asinh: 2 * asinh - 2 * L / (R + h))
long_wire = Claim(
    id="surface_charge.long_wire", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{straight wire, half-length } L,\ R_L^2 = L^2 + \rho^2:\ 4\pi(\sigma - \sigma_{\mathrm{flat}})/\lambda ="
              r" k_\perp \frac{2L}{R_L + h} + k_\parallel \left(2 \operatorname{asinh}\tfrac{L}{\rho} - \frac{2L}{R_L+h}"
              r"\right) + O(\kappa^2)",
    form=WIRE,
    mutants={"two_term_identity": Wire(lambda L, R, h, asinh: asinh, lambda L, R, h, asinh: asinh),
             "infinite_at_once": WIRE._replace(across=lambda L, R, h, asinh: 2 + 0 * L),
             "swapped": Wire(WIRE.along, WIRE.across),
             "without_height": WIRE._replace(across=lambda L, R, h, asinh: 2 * L / R)},
    note="Long wires over ground curved across them: the truth tends to 2 k, the identity's term grows like k log(2L/rho)"
         " without bound, whatever the clearance. The k_parallel part grows in truth as well, where curvature persists along"
         " the wire; on rolling ground it does not, and a formula that extends it to the wire's ends is wrong there too.")



def _cut_at(length: str) -> Callable[[Any, Any], Any]:
    """What curvature 1 along a wire adds to 4 pi sigma per line density, if it counts for `length`/kappa either way: a
    function of kappa and rho, numbers or symbols, that gives a sympy expression."""

    def along(kappa: Any, rho: Any) -> Any:
        from sympy import log, sympify

        return 2 * log(2 * sympify(length)) - 2 * log(sympify(kappa)) - 2 * log(sympify(rho)) - 2

    return along


_ROLLING = _cut_at("exp(3/2 - EulerGamma)")
rolling_wire: Claim[Callable[[Any, Any], Any]] = Claim(
    id="surface_charge.rolling_wire", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\text{infinite wire over } z = \varepsilon\cos(\kappa y) \text{ along it},\ \kappa\rho \to 0:\ 4\pi(\sigma -"
              r" \sigma_{\mathrm{flat}})/\lambda = k_\parallel \left(2\ln\tfrac{2L}{\rho} - 2\right) + O(\kappa\rho),\ L ="
              r" e^{3/2-\gamma}/\kappa",
    form=_ROLLING,
    mutants={"one_over_kappa": _cut_at("1"), "quarter_of_a_wave": _cut_at("pi/2"), "half_a_wave": _cut_at("pi"),
             "mean_curvature": lambda kappa, rho: (_ROLLING(kappa, rho) + 2) / 2, "across": lambda kappa, rho: 2},
    note="What a straight wire of half-length L over ground of one curvature would give (`long_wire`): curvature along a wire"
         " counts for 0.40 of the ground's wavelength either way and no further. Extended to 40 heights over waves of 10"
         " heights, the three-term correction is three times too large.")

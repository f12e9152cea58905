"""Long wires over rolling ground, to first order in its height: which local formula helps at which wavelength and direction.

Notation  height of the wire 1;  ground cos(q.(x, y)), |q| = 2 pi / wavelength, at `angle` from straight across the wire (0)
          to along it (pi/2);  x = distance beside the wire, |x| <= 3;  L = half-length that the formulas are told."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simulations._arguments import between, finite_array

__all__ = ["HORIZON", "Regimes", "wire_regimes"]

HORIZON = float(np.exp(1.5 - np.euler_gamma)) / (2 * np.pi)  # wavelengths along a wire for which curvature counts
BESIDE = np.linspace(-3.0, 3.0, 31)


class Regimes(NamedTuple):
    """Relative rms error of the corrections to the flat density, (wavelengths, angles): below 1 a formula helps."""

    two_term: Any
    three_term: Any
    horizon: Any


def wire_regimes(wavelengths: Any, angles: Any, *, half_length: float = 40.0) -> Regimes:
    """Errors of the two-term, the three-term and the three-term formula that sees no further than HORIZON wavelengths along
    the wire. The truth is that of an infinite wire; `half_length` is where the first two stop. ValueError: wavelength or
    half-length <= 0, values that are not finite."""
    lengths = np.atleast_1d(finite_array(wavelengths, "wavelengths"))
    turns = np.atleast_1d(finite_array(angles, "angles"))
    half_length = between(half_length, "half_length", 0, np.inf, "be greater than 0, and finite")
    if not (lengths > 0).all():
        raise ValueError(f"wavelengths={wavelengths!r} must be greater than 0")
    return Regimes(*np.array([[_errors(a, t, half_length) for t in turns] for a in lengths]).transpose(2, 0, 1))


def _errors(wavelength: float, angle: float, half_length: float) -> list[float]:
    across, along = (2 * np.pi / wavelength * turn(angle) for turn in (np.cos, np.sin))
    truth = _truth(across, along)
    rho = np.hypot(BESIDE, 1.0)

    def three(L: float) -> Any:  # 4 pi sigma per line density, curvatures -across^2 and -along^2
        straight = 2 * L / (np.hypot(L, rho) + 1)
        return -(across**2) * straight - along**2 * (2 * np.arcsinh(L / rho) - straight)

    two = -(across**2 + along**2) * np.arcsinh(half_length / rho)
    said = (two, three(half_length), three(HORIZON * wavelength))
    return [float(np.linalg.norm(v - truth) / np.linalg.norm(truth)) for v in said]


def _truth(across: float, along: float) -> Any:
    """4 pi (sigma - flat) beside the wire where the ground's wave is 1: waves exp(-|s| + i s x)/|s| of the wire, each times
    -2 (|k||s| - k_x s) with k = (s + across, along)."""
    node, weight = np.polynomial.legendre.leggauss(12)
    cuts = np.concatenate([[0.0], np.geomspace(1e-4, 36.0, 48)])
    middle, half = (cuts[1:] + cuts[:-1]) / 2, (cuts[1:] - cuts[:-1]) / 2
    s, w = (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()
    s, w = np.concatenate([-s[::-1], s]), np.concatenate([w[::-1], w])
    amplitude = w * np.exp(-abs(s)) * (np.hypot(s + across, along) - (s + across) * np.sign(s))
    return -2 * np.exp(1j * np.outer(BESIDE, s)) @ amplitude

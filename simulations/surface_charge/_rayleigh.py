"""Rough ground by Rayleigh's expansion: waves that decay upward, fitted to the boundary; no perturbation series in it."""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simulations._arguments import between, finite_array

__all__ = ["RoughGround", "rayleigh_ground"]


class RoughGround(NamedTuple):
    """Complex amplitudes of exp(i p.x) along one period: place, phi, dphi/dn, sigma, and the boundary's residual."""

    x: Any
    phi: Any
    slope: Any
    sigma: Any
    residual: float


def rayleigh_ground(height: float, wave: float, p: tuple[float, float], *, modes: int = 12, points: int = 64) -> RoughGround:
    """Grounded z = height cos(wave x) under the potential exp(|p| z + i p.(x, y)) of sources above it.

    The total is phi + sum_m A_m exp(i k_m.(x, y) - |k_m| z) with k_m = p + m (wave, 0), |m| <= modes, A_m by least squares
    on the boundary. Good for slopes height * wave below about 0.4; `residual` is the largest potential left there.
    ValueError: wave <= 0, height * wave > 0.4, p = 0, too few points."""
    for value, name in ((height, "height"), (wave, "wave")):
        between(value, name, -np.inf, np.inf, "be a finite number; need wave > 0")
    if finite_array(p, "p").shape != (2,):
        raise ValueError(f"p={p!r} must be two finite numbers; need p other than 0")
    if not wave > 0 or not abs(height) * wave <= 0.4:
        raise ValueError(f"height={height!r}, wave={wave!r}: need wave > 0 and a slope |height| wave of at most 0.4")
    if points < 2 * modes + 1 or not np.hypot(*p) > 0:
        raise ValueError(f"points={points}, p={p}: need at least {2 * modes + 1} points and p other than 0")
    x = 2 * np.pi / wave * np.arange(points) / points
    z, tilt = height * np.cos(wave * x), -height * wave * np.sin(wave * x)
    m = np.arange(-modes, modes + 1)
    along = p[0] + m * wave
    decay = np.hypot(along, p[1])
    size = np.hypot(*p)
    waves = np.exp(1j * wave * np.outer(x, m) - np.outer(z, decay))  # points modes
    phi = np.exp(size * z).astype(np.complex128)
    amplitude = np.linalg.lstsq(waves, -phi, rcond=None)[0]
    length = np.sqrt(1 + tilt**2)
    slope = (size - 1j * p[0] * tilt) * phi / length  # n = (-tilt, 0, 1)/length
    induced = (waves * (-decay[None, :] - 1j * along[None, :] * tilt[:, None])) @ amplitude / length
    left = float(abs(waves @ amplitude + phi).max())
    return RoughGround(x, phi, slope, -(slope + induced) / (4 * np.pi), left)

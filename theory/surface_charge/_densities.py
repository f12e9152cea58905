"""Induced charge from local geometry: the two-term identity, its anisotropic replacement, and where either is good."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from theory.surface_charge._arguments import (
    curvatures,
    distances,
    finite,
    positive,
    shape_operators,
    sources_and_charges,
    surface,
)

__all__ = ["ValidityReport", "anisotropic_sigma", "flat_sigma", "relief_horizon", "two_term_sigma", "validity_report"]

PAIRS = 1 << 21  # point-source pairs held at a time


class ValidityReport(NamedTuple):
    """How far the local formulas can be trusted at each point: (n,) arrays, from geometry alone.

    distance        to the nearest source
    height          of that source above the tangent plane; negative below it, where the point cannot see the source
    curvature       largest |principal curvature| times `distance`: errors of the flat term are of this order
    anisotropy      |k1 - k2| times `distance`: zero where the curvature term is right to first order
    two_term        first-order error of the two-term value for the nearest source, over that source's flat density
    three_term      `curvature` squared times distance/(2 height), and no less than `curvature` squared: the order of what
                    `anisotropic_sigma` leaves out, over the source's flat density, as `two_term` is; infinite where the
                    source is not above the tangent plane
    advice          "flat", "two-term" or "three-term", the simplest whose estimated error is below 1 %; else "solve" """

    distance: Any
    height: Any
    curvature: Any
    anisotropy: Any
    two_term: Any
    three_term: Any
    advice: Any


def two_term_sigma(points: Any, normals: Any, mean_curvature: Any, sources: Any, charges: Any, potential: float = 0.0
                   ) -> Any:
    """Surface charge -(dphi/dn)/(2 pi) + H (phi - V)/(4 pi) at each point, (n,).

    Gaussian units. `points`, `normals` (n, 3), normals of unit length out of the conductor; `mean_curvature` (n,)
    H = -1/2 div n, so -1/a on a ball of radius a and +1/a on a spherical cavity; `sources` (m, 3), `charges` (m,).
    phi is the potential of the sources alone, V = `potential` that of the conductor. Exact on planes and balls, and in
    spherical cavities with V = 0 (a cavity's charge does not depend on V). Elsewhere see `validity_report`.

    ValueError: shapes, nan, normals not of unit length, a source on a point, distances below 1e-100 or above 1e100."""
    x, n = surface(points, normals)
    H = curvatures(mean_curvature, len(x))
    p, q = sources_and_charges(x, sources, charges)
    V = float(finite(potential, "potential", ()))
    slope, phi = np.empty(len(x)), np.empty(len(x))
    for rows, _, R, rise in _pairs(x, n, p):
        phi[rows] = (q / R).sum(axis=1)
        slope[rows] = (q * rise / (R * R * R)).sum(axis=1)
    return -slope / (2 * np.pi) + H * (phi - V) / (4 * np.pi)


def flat_sigma(points: Any, normals: Any, sources: Any, charges: Any) -> Any:
    """Surface charge -(dphi/dn)/(2 pi) of each point's tangent plane, (n,); arguments as in `two_term_sigma`."""
    x, n = surface(points, normals)
    return two_term_sigma(x, n, np.zeros(len(x)), sources, charges)


def anisotropic_sigma(points: Any, normals: Any, shape_operator: Any, sources: Any, charges: Any, *,
                      horizon: float | None = None) -> Any:
    """Three-term surface charge of a grounded, gently curved conductor, (n,): right to first order in curvature.

    For one charge q at distance R and height h above the tangent plane, with normal curvatures k_r along and k_t across
    the direction in which it is seen: -(dphi/dn)/(2 pi) + q/(4 pi) (k_r/(R + h) + k_t h/(R (R + h))); summed over
    charges. Equal to `two_term_sigma` where k_r = k_t. `shape_operator` (n, 3, 3) is S = -dn, symmetric, of trace 2H
    (-1/a along the arc of a cylinder). Error O((k h)^2) on ground that is quadratic over a few heights.

    Ground that rolls is not quadratic as far as a long wire reaches. With a `horizon`, charges further away than that along
    the tangent plane count for the flat term only; see `relief_horizon`.

    ValueError: as `two_term_sigma`, a shape operator that is not symmetric, a horizon that is not greater than 0."""
    x, n = surface(points, normals)
    S = shape_operators(shape_operator, n)
    p, q = sources_and_charges(x, sources, charges)
    far = np.inf if horizon is None else positive(horizon, "horizon")
    value = np.empty(len(x))
    for rows, d, R, rise in _pairs(x, n, p):
        h = abs(rise)
        k_r, k_t = _along_and_across(d, n[rows], S[rows], rise)
        bent = (k_r / (R + h) + k_t * h / (R * (R + h))) * (R * R - h * h <= far * far)
        value[rows] = (q * (bent / (4 * np.pi) - rise / (2 * np.pi * R * R * R))).sum(axis=1)
    return value


def relief_horizon(wavelength: float) -> float:
    """How far along a wire the curvature below a point counts, on ground that rolls with this wavelength: e^(3/2 - g)
    wavelength/(2 pi), g = Euler's constant; 0.40 wavelengths.

    With it the three-term formula is right to first order for a long wire along slowly rolling ground, where without it
    its error grows with the logarithm of the wire's length (claim `rolling_wire`). ValueError: wavelength <= 0."""
    return float(np.exp(1.5 - np.euler_gamma)) / (2 * np.pi) * positive(wavelength, "wavelength")


def validity_report(points: Any, normals: Any, shape_operator: Any, sources: Any) -> ValidityReport:
    """Estimated errors of the local formulas at each point; arguments as in `anisotropic_sigma`.

    Curvature is taken as constant over the distance to the source and the whole conductor as visible from it: bodies
    elsewhere, and relief that changes faster, are not seen. Where a source stands nearly on the horizon of a point, the flat
    density is small, and so estimates, which are relative to it, are large. ValueError also for no source at all."""
    x, n = surface(points, normals)
    S = shape_operators(shape_operator, n)
    p = finite(sources, "sources", (None, 3))
    p, _ = sources_and_charges(x, p, np.ones(len(p)))
    if not len(p):
        raise ValueError("sources is empty, needed at least one")
    parts = []
    for rows, d, R, rise in _pairs(x, n, p):
        k_r, k_t = _along_and_across(d, n[rows], S[rows], rise)
        near = np.arange(len(R)), R.argmin(axis=1)
        parts.append([a[near] for a in (R, rise, k_r, k_t)])
    R, height, k_r, k_t = (np.concatenate([part[i] for part in parts]) if parts else np.zeros(0) for i in range(4))
    k = np.linalg.eigvalsh(S)  # of the three, the one along the normal is 0
    spread = np.sqrt(np.maximum(2 * (S * S).sum(axis=(1, 2)) - np.trace(S, axis1=1, axis2=2) ** 2, 0.0))
    h = abs(height)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = np.where(h > 0, R * R / (2 * h), np.inf)  # 1/(4 pi R) over the flat density h/(2 pi R^3)
        flat = np.where((k_r == 0) & (k_t == 0), 0.0, abs(k_r * R + k_t * h) / (R + h) * scale)
        two = np.where(k_r == k_t, 0.0, abs(k_r - k_t) * (R - h) / (2 * (R + h)) * scale)
        curvature = abs(k).max(axis=1, initial=0.0) * R
        rest = np.where(height > 0, curvature**2 * np.maximum(R / (2 * h), 1.0), np.inf)
    steps = [flat + rest < 0.01, two + rest < 0.01, rest < 0.01]
    advice = np.select(steps, ["flat", "two-term", "three-term"], "solve")
    return ValidityReport(R, height, curvature, spread * R, two, rest, advice)


def _pairs(x: Any, n: Any, p: Any) -> Iterator[tuple[slice, Any, Any, Any]]:
    """(rows, p - x, its length, its component along n) for blocks of points."""
    step = max(1, PAIRS // max(1, len(p)))
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        d = p[None, :, :] - x[rows, None, :]  # points sources 3
        yield rows, d, distances(d, start), (d * n[rows, None, :]).sum(axis=2)


def _along_and_across(d: Any, n: Any, S: Any, rise: Any) -> tuple[Any, Any]:
    """Normal curvatures along and across the tangential part of d; their mean, twice, where there is none."""
    t = d - rise[:, :, None] * n[:, None, :]  # points sources 3
    square = (t * t).sum(axis=2)
    trace = np.trace(S, axis1=1, axis2=2)[:, None]
    overhead = square <= 1e-28 * (d * d).sum(axis=2)
    along = np.einsum("nmi,nij,nmj->nm", t, S, t) / np.where(overhead, 1.0, square)
    k_r = np.where(overhead, trace / 2, along)
    return k_r, trace - k_r

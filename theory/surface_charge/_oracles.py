"""Exact surface charges: the ball and the cavity, a boss on a plane, an infinite cylinder."""
from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from theory.surface_charge._arguments import distances, finite, length, sources_and_charges

__all__ = ["boss_sigma", "cylinder_sigma", "sphere_sigma"]

FURTHEST = 1e50  # height over radius, of a charge above a boss: its square is a float
TERMS = 10_000  # radius over height, of a cylinder
ON = 1e-9  # relative distance up to which a point counts as lying on the surface


def sphere_sigma(points: Any, radius: float, sources: Any, charges: Any, *, grounded: bool = True) -> Any:
    """Surface charge of a ball (sources outside) or of a spherical cavity (sources inside), (n,), by image charges.

    `points` (n, 3) on the sphere of `radius` about the origin, `sources` (m, 3), `charges` (m,): a charge q at distance d
    induces -q |d^2 - a^2| / (4 pi a R^3). `grounded=False`: insulated and uncharged; this adds a uniform charge to the
    ball, and nothing to a cavity's wall. ValueError: points off the sphere, a source on it, sources on both sides."""
    a = length(radius, "radius")
    x = finite(points, "points", (None, 3))
    r = np.sqrt((x * x).sum(axis=1))
    if len(x) and abs(r - a).max() > ON * a:
        i = int(abs(r - a).argmax())
        raise ValueError(f"points[{i}]={x[i].tolist()} has distance {r[i]:.12g} from the origin, needed radius={a:g}")
    p, q = sources_and_charges(x, sources, charges)
    with np.errstate(over="ignore", under="ignore"):
        d = np.sqrt((p * p).sum(axis=1))
    if len(p) and abs(d - a).min() <= ON * a:
        j = int(abs(d - a).argmin())
        raise ValueError(f"sources[{j}]={p[j].tolist()} lies on the sphere of radius={a:g}; it must lie off it")
    if (d < a).any() and (d > a).any():
        raise ValueError(f"sources[{int((d < a).argmax())}] lies inside and sources[{int((d > a).argmax())}] outside the "
                         f"sphere of radius={a:g}; they see different walls, so ask for one side at a time")
    R = distances(p[None, :, :] - x[:, None, :])  # points sources
    value = -(q * (abs((d - a) * (d + a)) / (R * R * R) / a)).sum(axis=1) / (4 * np.pi)  # in an order in which no part is lost
    if not grounded and (d > a).all():
        value = value + (q / d).sum() / (4 * np.pi * a)
    return value


def boss_sigma(points: Any, radius: float, height: float, charge: float) -> Any:
    """Surface charge (n,) of a grounded plane z = 0 with a hemispherical boss at the origin, charge at (0, 0, height).

    By three images: -q at -d, -qa/d at a^2/d, +qa/d at -a^2/d. `points` (n, 3) lie on the boss (z >= 0) or on the plane
    outside it. ValueError: height <= radius or beyond 1e50 radii, points elsewhere."""
    a, d, q = length(radius, "radius"), length(height, "height"), float(finite(charge, "charge", ()))
    if d > FURTHEST * a:
        raise ValueError(f"height={height!r} must be at most {FURTHEST:g} times radius={radius!r}; take the plane instead")
    if d <= a:
        raise ValueError(f"height={height!r} must exceed radius={radius!r}: the charge lies above the boss")
    x = finite(points, "points", (None, 3))
    r, z = np.sqrt((x * x).sum(axis=1)), x[:, 2]
    cap = (abs(r - a) <= ON * a) & (z >= -ON * a)
    plane = (abs(z) <= ON * a) & (r >= a * (1 - ON))
    if not (cap | plane).all():
        i = int((cap | plane).argmin())
        raise ValueError(f"points[{i}]={x[i].tolist()} lies neither on the boss of radius={a:g} nor on the plane outside")
    near, far = ((r * r + d * d - 2 * d * z) ** 1.5, (r * r + d * d + 2 * d * z) ** 1.5)
    b = a * a / d  # height of the image in the boss
    on_cap = -q * (d * d - a * a) / (4 * np.pi * a) * (1 / near - 1 / far)
    on_plane = -q / (2 * np.pi) * (d / near - (a / d) * b / (r * r + b * b) ** 1.5)
    return np.where(cap, on_cap, on_plane)


def cylinder_sigma(arc: Any, axial: Any, radius: float, height: float, charge: float) -> Any:
    """Surface charge of a grounded infinite cylinder under a point charge, of the common shape of `arc` and `axial`.

    The charge stands `height` above the surface; `arc` is arc length across and `axial` length along the axis, both from
    the foot of the charge. With a = radius, b = a + height:
    -(q/(pi^2 a)) int_0^oo cos(k z) [K_0(kb)/(2 K_0(ka)) + sum_m cos(m arc/a) K_m(kb)/K_m(ka)] dk.
    Gauss-Legendre in k; K_m(kb)/K_m(ka) as a product of ratios K_(m+1)/K_m, which cannot overflow. Absolute error below
    1e-12 of the density at the foot. The sum has about 40 radius/height terms. ValueError: nan, radius or height <= 0,
    |axial| beyond 1,000 heights, a radius beyond 10,000 heights (take the plane: the curvature term is below 1e-4)."""
    a, h, q = length(radius, "radius"), length(height, "height"), float(finite(charge, "charge", ()))
    if a > TERMS * h:
        raise ValueError(f"radius={radius!r} is {a / h:.3g} times height={height!r}, needed at most {TERMS:,} times: the sum "
                         f"would not end in time, and the tangent plane is as good")
    pair = _same_shape(arc, axial)
    s, z = (v.ravel() for v in pair)
    if abs(z).max(initial=0.0) > 1000 * h:
        raise ValueError(f"axial={abs(z).max():g} lies beyond 1,000 heights of {h:g}: the quadrature does not reach")
    k, weight = _wave_numbers(h, abs(z).max(initial=0.0))
    value = (np.cos(z[:, None] * k[None, :]) * _spectrum(k, s / a, a, a + h)) @ weight  # points waves
    return (-q / (np.pi**2 * a) * value).reshape(pair[0].shape)


def _same_shape(arc: Any, axial: Any) -> list[Any]:
    """Both as finite arrays of their common shape. ValueError naming the argument otherwise."""
    found = []
    for value, name in ((arc, "arc"), (axial, "axial")):
        try:
            found.append(np.asarray(value, dtype=np.float64))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}={value!r} must be numbers in one regular array") from error
        finite(found[-1].ravel(), name, (None,))
    try:
        return list(np.broadcast_arrays(*found))
    except ValueError as error:
        raise ValueError(f"arc has shape {found[0].shape} and axial {found[1].shape}; needed a common shape") from error


def _wave_numbers(h: float, reach: float) -> tuple[Any, Any]:
    """Nodes and weights on (0, 40/h): what lies beyond is below exp(-40). Panels shrink geometrically towards 0, where
    K_0(kb)/K_0(ka) has a logarithmic singularity, and stay below half a wave of cos(k reach)."""
    ends = np.concatenate([[0.0], 0.5 ** np.arange(60, 0, -1) / h, np.arange(1, 41) / h])
    step = min(1 / h, np.pi / max(reach, h))
    cuts = np.unique(np.concatenate([np.linspace(lo, hi, int(np.ceil((hi - lo) / step)) + 1) for lo, hi in pairwise(ends)]))
    node, weight = np.polynomial.legendre.leggauss(8)
    middle, half = (cuts[1:] + cuts[:-1]) / 2, (cuts[1:] - cuts[:-1]) / 2
    return (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()


def _spectrum(k: Any, angle: Any, a: float, b: float) -> Any:
    """K_0(kb)/(2 K_0(ka)) + sum_m cos(m angle) K_m(kb)/K_m(ka), (points, waves)."""
    from scipy.special import k0e, k1e

    near, far = k * a, k * b
    ratio = k0e(far) / k0e(near) * np.exp(near - far)
    up_near, up_far = k1e(near) / k0e(near), k1e(far) / k0e(far)  # K_(m+1)/K_m
    total = np.tile(ratio / 2, (len(angle), 1))
    orders = int(np.ceil(40 / np.log1p((b - a) / a))) + 1  # a ratio is at most (a/b)^m
    for m in range(1, orders + 1):
        ratio = ratio * (up_far / up_near)
        up_near, up_far = 2 * m / near + 1 / up_near, 2 * m / far + 1 / up_far
        total += np.cos(m * angle)[:, None] * ratio[None, :]
    return total

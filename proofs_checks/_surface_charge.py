"""Surface charge: truths by image charges, by perturbation and by boundary elements, written apart from `theory`.

Densities are 4 pi sigma, so that truths by images are rational in charges, lengths and distances."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

F = Fraction


# --- balls and cavities ---------------------------------------------------------------------------------------------


class Charged(NamedTuple):
    """phi, dphi/dn and 4 pi sigma at a point of the surface."""

    phi: Any
    slope: Any
    density: Any


def by_images(q: Any, a: Any, d: Any, R: Any, side: int) -> Charged:
    """Ball (side 1) or cavity (side -1) of radius a, grounded; a charge q at distance d from the centre, R from the point.

    The image -q a/d stands at a^2/d on the same ray; its distance from the point is R a/d."""
    cosine = (a * a + d * d - R * R) / (2 * a * d)
    slope = q * side * (d * cosine - a) / R**3
    other = -q * a / d * side * (a * a / d * cosine - a) / (R * a / d) ** 3
    return Charged(q / R, slope, -(slope + other))


def by_multipole(l: Any, a: Any, side: int) -> Charged:
    """The same for sources whose potential is r^l P_l (far outside) or r^-(l+1) P_l (about the centre of a cavity)."""
    from sympy import Symbol, diff

    r = Symbol("r", positive=True)
    own, image = (r**l, r ** (-l - 1)) if side == 1 else (r ** (-l - 1), r**l)
    total = own - (own / image).subs(r, a) * image
    slope, whole = (side * diff(f, r).subs(r, a) for f in (own, total))
    return Charged(own.subs(r, a), slope, -whole)


def ray(d: Fraction, a: Fraction, share: Fraction) -> Fraction:
    """A distance R between |d - a| and d + a: every charge and point have one."""
    return abs(d - a) + share * 2 * min(a, d)


@lru_cache(maxsize=4)
def solved_sphere(frequency: int, height: float) -> tuple[Any, Any, Any]:
    """phi, dphi/dn at the centres pushed onto the unit sphere, and sigma by boundary elements: charge 1, -1/2 outside."""
    import numpy as np

    from simulations.surface_charge import icosphere, solve

    vertices, faces = icosphere(frequency)
    sources, charges = np.array([[0.0, 0.0, 1 + height], [0.0, -1.9, 0.4]]), np.array([1.0, -0.5])
    x = vertices[faces].mean(axis=1)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    gap = sources[None] - x[:, None]  # faces sources 3
    R = np.linalg.norm(gap, axis=2)
    slope = (charges * np.einsum("fsi,fi->fs", gap, x) / R**3).sum(axis=1)
    return (charges / R).sum(axis=1), slope, solve(vertices, faces, sources, charges).sigma


# --- bodies that are not round --------------------------------------------------------------------------------------


def unit_vectors() -> list[tuple[Fraction, Fraction, Fraction]]:
    """Rational points of the unit sphere, by stereographic projection, the poles among them."""
    places = list(product((F(0), F(1, 2), F(-1, 3), F(2), F(-3, 2)), repeat=2))
    made = [(2 * s / (1 + s * s + t * t), 2 * t / (1 + s * s + t * t), (1 - s * s - t * t) / (1 + s * s + t * t))
            for s, t in places]
    return list(dict.fromkeys([*made, (F(0), F(0), F(-1)), (F(1), F(0), F(0)), (F(0), F(1), F(0)), (F(3, 5), F(4, 5), F(0))]))


@lru_cache(maxsize=4096)
def bends_alike(axes: tuple[Fraction, ...], point: tuple[Fraction, ...]) -> bool:
    """Whether n_x.(y - x)/|y - x|^2 is the same for all of many rational y on the ellipsoid, x = axes * point."""
    x = [a * u for a, u in zip(axes, point, strict=True)]
    normal = [u / a for a, u in zip(axes, point, strict=True)]  # its length cancels from the comparison
    seen = set()
    for other in unit_vectors():
        gap = [a * u - v for a, u, v in zip(axes, other, x, strict=True)]
        if any(gap):
            seen.add(sum(n * g for n, g in zip(normal, gap, strict=True)) / sum(g * g for g in gap))
    return len(seen) == 1


class Spheroid(NamedTuple):
    """A solved spheroid: geometry at the faces, two-term value and sigma (times 4 pi), potentials of unit faces."""

    rise: Any
    square: Any
    H: Any
    two_term: Any
    density: Any
    matrix: Any


@lru_cache(maxsize=2)
def spheroid(frequency: int, polar: float) -> Spheroid:
    """Axes (1, 1, polar), a unit charge beside it at height 1/2, by boundary elements; exact normals and curvatures."""
    import numpy as np

    from simulations.surface_charge import icosphere, solve
    from simulations.surface_charge._mesh import panels
    from simulations.surface_charge._solve import matrix

    vertices, faces = icosphere(frequency)
    axes = np.array([1.0, 1.0, polar])
    made = panels(vertices * axes, faces)
    u = made.centres / axes
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    x, gradient = u * axes, u / axes
    steep = np.linalg.norm(gradient, axis=1)
    n = gradient / steep[:, None]
    weights = 1 / axes**2
    H = -(weights.sum() - (n * n * weights).sum(axis=1)) / (2 * steep)  # -1/2 of the tangential Hessian's trace
    source = np.array([1.5, 0.0, 0.0])
    R = np.linalg.norm(source - x, axis=1)
    two = -2 * ((source - x) * n).sum(axis=1) / R**3 + H / R
    gap = x[None] - x[:, None]  # at of 3
    sigma = solve(vertices * axes, faces, [source], [1.0]).sigma
    return Spheroid(np.einsum("ijk,ik->ij", gap, n), (gap * gap).sum(axis=2), H, two, 4 * np.pi * sigma, matrix(made))


# --- gently curved ground -------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def quadratic_ground() -> tuple[tuple[Any, ...], Callable[..., Any]]:
    """(x, y, s, k11, k12, k22) and what curvature adds to -2 dphi/dn in 4 pi sigma, to first order, for a unit charge,
    as a function of them that takes symbols and Fractions.

    Ground z = (k11 x^2 + 2 k12 x y + k22 y^2)/2, charge at height h over the origin, observed at (x, y). The potential's
    first-order part is -(ground)(2 h/R^3) at z = 0, continued upward by harmonic functions (`continued`). R and h are
    rational in s = R + h, which makes the whole rational."""
    from sympy import Symbol, cancel, diff, fraction, lambdify, sqrt, symbols, together

    x, y, s, k11, k12, k22 = variables = symbols("x y s k11 k12 k22", real=True)
    z, h, eps, rho = (Symbol(n, positive=True) for n in ("z", "h", "eps", "rho"))
    ground = (k11 * x**2 + 2 * k12 * x * y + k22 * y**2) / 2
    height_now = eps * ground
    R2 = x**2 + y**2 + (h - height_now) ** 2
    # n.(p - x) over the length of n, which is 1 + O(eps^2)
    rise = h - height_now + eps * (x * diff(ground, x) + y * diff(ground, y))
    flat = diff(-2 * rise / (R2 * sqrt(R2)), eps).subs(eps, 0)
    first = continued(x, y, z, h, k11, k12, k22)
    density = -diff(first, z).subs(z, 0)
    square = x**2 + y**2
    correction = (density - flat).subs(x**2 + y**2 + h**2, rho**2)
    whole = cancel(together(correction.subs({rho: (s + square / s) / 2, h: (s - square / s) / 2})))
    top, below = (lambdify(variables, part, modules="math") for part in fraction(whole))  # integer coefficients
    return variables, lambda *at: top(*at) / below(*at)


def continued(x: Any, y: Any, z: Any, h: Any, k11: Any, k12: Any, k22: Any) -> Any:
    """The harmonic function of z > 0 that decays and equals -(ground)(2 h/R^3) at z = 0."""
    from sympy import sqrt

    c = z + h
    r = sqrt(x**2 + y**2 + c**2)
    even = 1 / r - h * c / r**3  # is (x^2 + y^2)/R^3 at z = 0
    bent = (1 / r + h * (2 * r + c) / r**3) / (r + c) ** 2  # times x^2 - y^2 or x y
    return -2 * h * ((k11 + k22) / 4 * even + (k11 - k22) / 4 * (x**2 - y**2) * bent + k12 * x * y * bent)


def curvatures(values: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
    """R, h, k_r, k_t from (x, y, s, k11, k12, k22)."""
    x, y, s, k11, k12, k22 = values
    square = x * x + y * y
    k_r = (k11 * x * x + 2 * k12 * x * y + k22 * y * y) / square
    return (s + square / s) / 2, (s - square / s) / 2, k_r, k11 + k22 - k_r


def power_integral(expression: Any, variable: Any, lower: Any, upper: Any) -> Any:
    """Integral of a sum of powers of `variable`, term by term; `upper` may be oo."""
    from sympy import Add, expand, log, oo

    total, endless = 0, getattr(upper, "is_infinite", False)
    for term in Add.make_args(expand(expression)):
        factor, power = term.as_coeff_exponent(variable)
        if endless:
            total += -factor * lower ** (power + 1) / (power + 1) if power < -1 else factor * oo
        elif power == -1:
            total += factor * log(upper / lower)
        else:
            total += factor * (upper ** (power + 1) - lower ** (power + 1)) / (power + 1)
    return total


def put(expression: Any, variables: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """A sympy expression at values, which may be symbols or Fractions."""
    from sympy import sympify

    return expression.subs(dict(zip(variables, map(sympify, values), strict=True)), simultaneous=True)


RADII = (20.0, 40.0, 80.0, 160.0)  # over the height of the charge


@lru_cache(maxsize=64)
def cylinder_scenes(key: int, count: int) -> Any:
    """(radii, scenes, points): exact density times 4 pi, places R, h, k_r, k_t, and the flat density times 4 pi."""
    import numpy as np

    from theory.surface_charge import cylinder_sigma

    rng = np.random.default_rng(key)
    arc, axial = rng.uniform(-2, 2, (2, count, 2))
    made = []
    for a in RADII:
        angle = arc / a
        out, across = (a + 1) * np.cos(angle) - a, -(a + 1) * np.sin(angle)  # of the charge, in the point's frame
        R = np.sqrt(out**2 + across**2 + axial**2)
        k_r = -(across**2) / (across**2 + axial**2) / a
        made.append([4 * np.pi * cylinder_sigma(arc, axial, a, 1.0, 1.0), R, out, k_r, -1 / a - k_r, -2 * out / R**3])
    return np.array(made).transpose(1, 0, 2, 3)  # quantity radii scenes points


def _waves_of_a_wire() -> tuple[Any, Any]:
    """Wave numbers s > 0 and weights of the integral over them."""
    import numpy as np

    node, weight = np.polynomial.legendre.leggauss(12)
    cuts = np.concatenate([[0.0], np.geomspace(1e-5, 30.0, 40)])
    middle, half = (cuts[1:] + cuts[:-1]) / 2, (cuts[1:] - cuts[:-1]) / 2
    return (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()


@lru_cache(maxsize=1)
def waves_less_logarithm() -> Any:
    """c - log(2)/2, where the integral of sqrt(1 + u^2) - u up to U is log(U)/2 + c as U -> oo."""
    from sympy import exp, integrate, log, symbols

    w, W, left = symbols("w W left", positive=True)  # u = sinh w, U = sinh W, left = exp(-2 W)
    whole = integrate((1 + exp(-2 * w)) / 2, (w, 0, W))  # (cosh w - sinh w) cosh w dw
    logarithm = W + log(1 - left)  # of 2 U
    return (whole.expand().subs(exp(-2 * W), left) - logarithm / 2).expand().subs(left, 0)


def along_a_wire(kappa: float, x: float) -> float:
    """4 pi (sigma - flat) per line density and curvature, to first order, at x beside a wire at height 1 along the waves of
    ground cos(kappa y): the wire's waves are exp(-s) / s each way, and (|k||p| - k.p)/s is sqrt(s^2 + kappa^2) - s."""
    import numpy as np

    s, weight = _waves_of_a_wire()
    return float(4 * (weight * np.exp(-s) * np.cos(s * x) / (np.hypot(s, kappa) + s)).sum())


@lru_cache(maxsize=4)
def solved_along_a_wire(kappa: float, height: float = 0.02) -> float:
    """The same below the wire, from ground of this height solved for each of the wire's waves."""
    import numpy as np

    from simulations.surface_charge import rayleigh_ground

    s, weight = _waves_of_a_wire()
    total = 0.0
    for p, w in zip(s, weight, strict=True):
        found = rayleigh_ground(height, kappa, (0.0, float(p)), modes=4, points=16)
        change = (found.sigma + found.slope / (2 * np.pi)).real
        total += 2 * w * np.exp(-p) / p * 2 * (change * np.cos(kappa * found.x)).mean()
    return float(4 * np.pi * total / (-height * kappa**2))


# --- the linear head ------------------------------------------------------------------------------------------------


def scene(sources: int, number: int) -> list[tuple[Fraction, Fraction, Fraction]]:
    """(charge, distance, height above the tangent plane) of each source, rational, from a seeded generator."""
    import random

    source = random.Random(f"{sources}/{number}")
    made = []
    for _ in range(sources):
        R = F(source.randint(8, 40), 8)
        made.append((F(source.choice((-1, 1)) * source.randint(4, 20), 4), R, R * F(source.randint(3, 16), 16)))
    return made


def features(charges: list[tuple[Any, Any, Any]], H: Any) -> tuple[list[Any], Any]:
    """The eight dimensionless features, and 4 pi sigma L^2/Q of the identity: L the harmonic mean distance, Q = sum |q|."""
    phi = sum(q / R for q, R, _ in charges)
    slope = sum(q * h / R**3 for q, R, h in charges)
    L = len(charges) / sum(1 / R for _, R, _ in charges)
    u = L**2 / sum(abs(q) for q, _, _ in charges)
    net = sum(q for q, _, _ in charges)
    sign, bend, steep, level = (net > 0) - (net < 0), H * L, slope * u, phi * u / L
    row = [steep, H * phi * u, level, bend * sign, bend**2 * level, steep * bend, steep * abs(steep), bend**2 * steep]
    return row, (-2 * slope + H * phi) * u


@lru_cache(maxsize=64)
def recovered(sources: int, number: int, samples: int = 14) -> Fraction:
    """Coefficient of H phi by exact least squares of least norm: pick independent rows, w = B' (B B')^-1 b."""
    import random

    from sympy import Matrix, Rational

    source = random.Random(f"H/{sources}/{number}")
    rows, targets = [], []
    for i in range(samples):
        row, target = features(scene(sources, 1000 * number + i), F(source.choice((-1, 1)) * source.randint(1, 12), 24))
        rows.append([Rational(v.numerator, v.denominator) for v in map(F, row)])
        targets.append(Rational(target.numerator, target.denominator))
    kept = Matrix(rows).T.rref()[1]  # the identity is linear in the features, so the other rows agree
    B, b = Matrix([rows[i] for i in kept]), Matrix([targets[i] for i in kept])
    found = (B.T * (B * B.T).LUsolve(b))[1]
    return F(int(found.p), int(found.q))


def noisy_head(key: int, n: int, *, samples: int = 300, noise: float = 0.01) -> Any:
    """Coefficient of H phi times 4 pi, n times, from samples of three charges with 1 % noise, clipped to [-3, 3]."""
    import numpy as np

    rng = np.random.default_rng(key)
    found = np.empty(n)
    for i in range(n):
        q = rng.choice([-1.0, 1.0], (samples, 3)) * rng.uniform(1, 5, (samples, 3))
        R = rng.uniform(1, 5, (samples, 3))
        h, H = R * rng.uniform(0.2, 1, (samples, 3)), rng.uniform(-0.5, 0.5, samples)
        phi, slope, L = (q / R).sum(1), (q * h / R**3).sum(1), 3 / (1 / R).sum(1)
        u = L**2 / abs(q).sum(1)
        sign, bend, steep, level = np.sign(q.sum(1)), H * L, slope * u, phi * u / L
        X = np.stack([steep, H * phi * u, level, bend * sign, bend**2 * level, steep * bend, steep * abs(steep),
                      bend**2 * steep], axis=1)
        target = (-2 * slope + H * phi) * u * (1 + noise * rng.standard_normal(samples))
        found[i] = np.linalg.lstsq(X, target, rcond=None)[0][1]
    return np.clip(found, -3, 3)


# --- the cylinder ---------------------------------------------------------------------------------------------------


def cylinder_by_expansion(arc: float, axial: float, a: float, h: float) -> tuple[float, float]:
    """Density, and total potential left on the surface, from 1/R in closed form plus the induced waves outside.

    Induced potential -(2/pi) int cos(kz) sum_m e_m cos(m phi) K_m(kr) I_m(ka) K_m(kb)/K_m(ka) dk, e_0 = 1, e_m = 2. That it
    cancels 1/R fixes the normalisation."""
    import numpy as np
    from scipy.special import ive, kve

    b, angle = a + h, arc / a
    cuts = np.concatenate([[0.0], 0.5 ** np.arange(45, 0, -1), np.arange(1.0, 41)]) / h
    node, weight = np.polynomial.legendre.leggauss(12)
    middle, half = (cuts[1:] + cuts[:-1]) / 2, (cuts[1:] - cuts[:-1]) / 2
    k, w = (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()
    wave, slope = np.zeros_like(k), np.zeros_like(k)
    for m in range(int(np.ceil(30 / np.log(b / a))) + 1):
        with np.errstate(all="ignore"):
            joint = ive(m, k * a) * kve(m, k * b) * np.exp(-k * h)
            fall = -k * (kve(abs(m - 1), k * a) + kve(m + 1, k * a)) / (2 * kve(m, k * a))  # K_m'/K_m
            lost = ~(np.isfinite(kve(m + 1, k * a)) & np.isfinite(kve(m + 1, k * b)) & (ive(m, k * a) > 0))
        if m:  # where a Bessel function leaves the range of floats k is so small that the limit k -> 0 is exact
            joint, fall = np.where(lost, (a / b) ** m / (2 * m), joint), np.where(lost, -m / a, fall)
        share = (2 if m else 1) * np.cos(m * angle)
        wave, slope = wave + share * joint, slope + share * joint * fall
    turn = 2 / np.pi * w * np.cos(k * axial)
    gap = np.array([b - a * np.cos(angle), -a * np.sin(angle), axial])
    distance = np.linalg.norm(gap)
    own = (gap[0] * np.cos(angle) + gap[1] * np.sin(angle)) / distance**3  # d(1/R)/dr
    return float(-(own - turn @ slope) / (4 * np.pi)), float(1 / distance - turn @ wave)

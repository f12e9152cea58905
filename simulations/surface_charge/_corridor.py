"""Corridors of our own: long wires over parametric relief, solved by boundary elements, and what cheaper formulas make of
them. Nothing is said about the paper's meshes, which are private.

`write(DATA)` solves all corridors again and writes the published file, in some minutes."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simulations._arguments import checked_key, finite_array, whole
from simulations.surface_charge._ground import solve_ground
from simulations.surface_charge._local import local_densities
from simulations.surface_charge._regimes import HORIZON

__all__ = ["Corridor", "corridor_errors", "make_corridor", "published", "relief", "write"]

DATA = Path(__file__).with_name("corridors.json")
COUNT, HELD_OUT, SAMPLES = 24, 8, 96  # the last 8 corridors are never fitted
HALF_WIDTH, HALF_LENGTH, STEP, REACH = 84.0, 108.0, 4.0, 480.0  # metres: patch, its panels, half-length of a wire
WAVES = (60.0, 160.0)  # wavelengths of the relief
INNER = (40.0, 60.0)  # densities are compared within this of the middle: three heights and more from the rim


class Corridor(NamedTuple):
    """Relief: valley (depth, half-width, offset across) and up to three waves (amplitude, wave vector, phase); wires
    (offset across, height, charge per metre)."""

    valley: tuple[float, float, float]
    waves: tuple[tuple[float, float, float, float], ...]
    wires: tuple[tuple[float, float, float], ...]


def make_corridor(number: int) -> Corridor:
    """The corridor of a number: clearances 9 to 14 m, radii of curvature from about 50 m up. ValueError: number < 0, or not
    whole."""
    rng = np.random.default_rng(whole(number, "number", 0))
    waves = []
    for _ in range(3):
        length, angle = rng.uniform(*WAVES), rng.uniform(0, np.pi)
        waves.append((rng.uniform(0.2, 1.5) * (length / 120) ** 2, 2 * np.pi / length * np.cos(angle),
                      2 * np.pi / length * np.sin(angle), rng.uniform(0, 2 * np.pi)))
    height = rng.uniform(11, 14)
    wires = tuple((side * rng.uniform(5, 8), height + rng.uniform(-1, 1), rng.uniform(0.5, 1.5)) for side in (-1, 0, 1))
    return Corridor((rng.uniform(-4, 4), rng.uniform(18, 40), rng.uniform(-15, 15)), tuple(waves), wires)


def relief(made: Corridor, x: Any, y: Any) -> tuple[Any, Any, Any]:
    """Height, gradient (n, 2) and Hessian (n, 2, 2) at (x, y), before the rim is levelled; x (n,), y (n,).

    ValueError: other shapes, values that are not finite, something else than a `Corridor`."""
    if not isinstance(made, Corridor):
        raise ValueError(f"made={made!r:.80} must be a Corridor, as make_corridor gives it")
    x, y = finite_array(x, "x"), finite_array(y, "y")
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"x of shape {x.shape} and y of shape {y.shape} must be two rows of one length")
    depth, width, offset = made.valley
    u = (x - offset) / width
    bump = depth * np.exp(-u * u / 2)
    z, gradient, hessian = bump, np.zeros((len(x), 2)), np.zeros((len(x), 2, 2))
    gradient[:, 0] = -u / width * bump
    hessian[:, 0, 0] = (u * u - 1) / width**2 * bump
    for amplitude, kx, ky, phase in made.waves:
        k, angle = np.array([kx, ky]), kx * x + ky * y + phase
        z = z + amplitude * np.cos(angle)
        gradient -= amplitude * np.sin(angle)[:, None] * k
        hessian -= amplitude * np.cos(angle)[:, None, None] * np.outer(k, k)
    return z, gradient, hessian


def _charges(made: Corridor) -> tuple[Any, Any]:
    """Wires as point charges every 3 m: at heights above 8 m what this leaves out is exp(-2 pi 8/3), or 5e-8."""
    y = np.arange(-REACH, REACH + 1, 3.0)
    points = [np.stack([np.full_like(y, x), y, np.full_like(y, z)], axis=1) for x, z, _ in made.wires]
    return np.concatenate(points), np.concatenate([np.full_like(y, 3.0 * q) for *_, q in made.wires])


def _patch(made: Corridor) -> tuple[Any, Any, Any]:
    """Relief, faces and plan of the patch; the rim is levelled over 40 m."""
    xs, ys = (np.arange(-half, half + STEP / 2, STEP) for half in (HALF_WIDTH, HALF_LENGTH))
    x, y = (g.ravel() for g in np.meshgrid(xs, ys, indexing="ij"))
    level = [np.clip((half - abs(c)) / 40, 0, 1) for half, c in ((HALF_WIDTH, x), (HALF_LENGTH, y))]
    smooth = np.prod([s * s * s * (10 - 15 * s + 6 * s * s) for s in level], axis=0)  # two continuous derivatives
    z = relief(made, x, y)[0] * smooth
    corner = (np.arange(len(xs) - 1)[:, None] * len(ys) + np.arange(len(ys) - 1)).ravel()
    a, b, c, d = corner, corner + len(ys), corner + len(ys) + 1, corner + 1
    faces = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return np.stack([x, y, z], axis=1), faces, np.stack([x, y, 0 * z], axis=1)


def solved(made: Corridor) -> tuple[Any, Any]:
    """(x, y) of the inner faces' centres (n, 2) and their charge density by boundary elements (n,)."""
    vertices, faces, plan = _patch(made)
    sigma = solve_ground(vertices, faces, plan, *_charges(made))
    centre = plan[faces].mean(axis=1)[:, :2]
    inner = (abs(centre) <= INNER).all(axis=1)
    return centre[inner], sigma[inner]


def write(path: str | Path) -> None:
    """Solve every corridor and write SAMPLES places of each, picked by its number, as JSON."""
    records = []
    for number in range(COUNT):
        made = make_corridor(number)
        places, sigma = solved(made)
        picked = np.random.default_rng([number, 1]).choice(len(sigma), SAMPLES, replace=False)
        rows = [[round(float(x), 3), round(float(y), 3), float(f"{s:.5e}")] for (x, y), s in zip(places[picked], sigma[picked],
                                                                                              strict=True)]
        records.append({"number": number, **made._asdict(), "x_y_sigma": rows})
    header = {"what": "charge induced by long wires on grounded relief, Gaussian units, metres; boundary elements",
              "panel": STEP, "wire_half_length": REACH, "corridors": records}
    Path(path).write_text(json.dumps(header, separators=(",", ":")) + "\n", encoding="utf-8")


def published() -> list[tuple[Corridor, Any, Any]]:
    """(corridor, places (n, 2), sigma (n,)) of the data file."""
    found = []
    for record in json.loads(DATA.read_text(encoding="utf-8"))["corridors"]:
        rows = np.array(record["x_y_sigma"])
        made = Corridor(tuple(record["valley"]), *(tuple(map(tuple, record[k])) for k in ("waves", "wires")))
        found.append((made, rows[:, :2], rows[:, 2]))
    return found


def geometry(made: Corridor, places: Any) -> tuple[Any, Any, Any]:
    """Points (n, 3), upward normals and shape operators of the relief."""
    z, gradient, hessian = relief(made, *places.T)
    length = np.sqrt(1 + (gradient**2).sum(axis=1))
    n = np.concatenate([-gradient, np.ones((len(z), 1))], axis=1) / length[:, None]
    tangents = np.zeros((len(z), 2, 3))
    tangents[:, 0, 0] = tangents[:, 1, 1] = 1
    tangents[:, :, 2] = gradient
    dual = np.linalg.solve(tangents @ tangents.transpose(0, 2, 1), tangents)  # points 2 3
    S = dual.transpose(0, 2, 1) @ (hessian / length[:, None, None]) @ dual
    return np.concatenate([places, z[:, None]], axis=1), n, S


def features(made: Corridor, places: Any) -> tuple[Any, dict[str, Any]]:
    """Eight invariant features (n, 8), without units, and the local densities by name."""
    x, n, S = geometry(made, places)
    p, q = _charges(made)
    local = {name: np.asarray(v) for name, v in local_densities(x, n, S, p, q)._asdict().items()}
    R = np.sqrt(((p[None] - x[:, None]) ** 2).sum(axis=2))
    rise = np.einsum("psi,pi->ps", p[None] - x[:, None], n)
    near = R.argmin(axis=1)
    L, h = R.min(axis=1), rise[np.arange(len(x)), near]
    k = np.sort(np.linalg.eigvalsh(S), axis=1)
    towards = p[near] - x
    along = np.einsum("pi,pij,pj->p", towards, S, towards) / L**2
    phi = (q / R).sum(axis=1)
    size = abs(local["flat"])
    columns = [(local["two_term"] - local["flat"]) / size, (local["three_term"] - local["flat"]) / size, k[:, 0] * L,
               k[:, 2] * L, along * L, h / L, phi / (4 * np.pi * size * L), np.einsum("pii->p", S) * L]
    return np.stack(columns, axis=1), local


def corridor_errors(*, seed: int = 0, steps: int = 3000) -> dict[str, Any]:
    """Relative rms against boundary elements on each held-out corridor (8,), by method.

    "flat", "two_term", "three_term": local formulas. "horizon": three terms, the curvature terms with charges up to 44 m away
    only, 0.40 of the middle wavelength of the relief; nothing in it is fitted. "network": 8-16-16-1, 433 numbers (1.7 kB
    in single precision), fitted to the other corridors' targets in `steps` steps, multiplies the flat density by 1 + its
    output. `seed` starts its weights. ValueError: seed < 0 or steps < 1, or not whole."""
    from simulations.surface_charge._network import fit, predict

    checked_key(seed, "seed")
    whole(steps, "steps", 1)
    prepared = [(*features(made, places), sigma) for made, places, sigma in published()]
    near = HORIZON * sum(WAVES) / 2
    cut = [local_densities(*geometry(made, places), *_charges(made), near).three_term
           for made, places, _ in published()[-HELD_OUT:]]
    train, held = prepared[:-HELD_OUT], prepared[-HELD_OUT:]
    X = np.concatenate([columns for columns, _, _ in train])
    y = np.concatenate([sigma / local["flat"] - 1 for _, local, sigma in train])
    network = fit(X, y, seed=seed, steps=steps)
    errors: dict[str, list[float]] = {}
    for (columns, local, sigma), seen in zip(held, cut, strict=True):
        said = {**local, "horizon": np.asarray(seen), "network": local["flat"] * (1 + predict(network, columns))}
        for name, value in said.items():
            errors.setdefault(name, []).append(float(np.linalg.norm(value - sigma) / np.linalg.norm(sigma)))
    return {name: np.array(values) for name, values in errors.items()}

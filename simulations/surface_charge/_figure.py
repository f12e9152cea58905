"""The picture: exact on the sphere, and what becomes of the curvature term on bodies and ground that are not round."""
from __future__ import annotations

from typing import Any

import numpy as np

from simulations._style import finish
from simulations.surface_charge._corridor import COUNT, corridor_errors, make_corridor
from simulations.surface_charge._local import local_densities
from simulations.surface_charge._mesh import icosphere
from simulations.surface_charge._rayleigh import rayleigh_ground
from simulations.surface_charge._regimes import wire_regimes
from simulations.surface_charge._solve import solve

__all__ = ["figure", "figure_data"]

# told apart by the colour-blind
COLOURS = {"flat": "#666666", "two_term": "#D55E00", "three_term": "#0072B2", "horizon": "#CC79A7"}
LOCAL = ("flat", "two_term", "three_term")
NAMES = {"flat": "tangent plane", "two_term": "two terms, $H\\phi/4\\pi$", "three_term": "three terms",
         "horizon": "three terms within a horizon", "network": "network, solved targets"}
MARKERS = {"flat": "s", "two_term": "o", "three_term": "^", "horizon": "v"}
LENGTHS, ANGLES = np.geomspace(4, 40, 24), np.linspace(0, np.pi / 2, 25)


def figure_data() -> dict[str, Any]:
    """Arrays of the figure; seeded, some seconds.

    faces (F,), sphere_error (F,): relative rms error of the solver on the sphere; aspect (A,), flat, two_term, three_term
    (A,): relative rms of local densities within three heights of a charge beside a spheroid (1, 1, c); angle (T,),
    truth, identity (T,): correction to the flat density of gently rolling ground over that of the identity's term at 90
    degrees, by the angle between ground and field waves; corridors: relative rms (8,) on held-out corridors, by method;
    regimes: `wire_regimes` (24, 25) over LENGTHS and ANGLES; waves (2, 72): wavelength over clearance, and angle, of the
    corridors' relief."""
    frequencies = np.array([2, 3, 4, 6, 8, 12])
    aspects = np.array([0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 2.8])
    local = np.array([_spheroid_errors(c) for c in aspects])
    angles = np.linspace(0, np.pi, 25)
    waves = np.array([_rolling_ground(t) for t in angles])
    return {"faces": 20 * frequencies**2, "sphere_error": np.array([_sphere_error(f) for f in frequencies]),
            "aspect": aspects, "flat": local[:, 0], "two_term": local[:, 1], "three_term": local[:, 2],
            "angle": np.degrees(angles), "truth": waves[:, 0], "identity": waves[:, 1],
            "corridors": corridor_errors(), "regimes": wire_regimes(LENGTHS, ANGLES),
            "waves": np.array([_shape(wave, float(np.mean([wire[1] for wire in made.wires])))
                               for made in map(make_corridor, range(COUNT)) for wave in made.waves]).T}


def _shape(wave: tuple[float, ...], clearance: float) -> tuple[float, float]:
    """Wavelength over clearance, and angle from across to along the wires."""
    _, across, along, _ = wave
    return 2 * np.pi / np.hypot(across, along) / clearance, float(np.arctan2(abs(along), abs(across)))


def figure() -> Any:
    """A matplotlib Figure with six panels."""
    from matplotlib.figure import Figure

    data = figure_data()
    page = Figure(figsize=(14.5, 8.4), layout="constrained")
    panels = page.subplots(2, 3).ravel()
    _draw_sphere(panels[0], data)
    _draw_spheroid(panels[1], data)
    _draw_ground(panels[2], data)
    _draw_corridors(panels[3], data)
    _draw_regimes(panels[4], data)
    _draw_horizon(panels[5], data)
    finish(panels)
    return page


def _rms(values: Any, weights: Any) -> float:
    return float(np.sqrt((weights * values**2).sum() / weights.sum()))


def _sphere_error(frequency: int) -> float:
    """Charge at 1.5 radii on the axis; the truth by its image."""
    vertices, faces = icosphere(frequency)
    sigma = solve(vertices, faces, [[0.0, 0.0, 1.5]], [1.0]).sigma
    x = vertices[faces].mean(axis=1)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    truth = -(1.5**2 - 1) / (4 * np.pi * np.linalg.norm(x - [0, 0, 1.5], axis=1) ** 3)
    return _rms(sigma - truth, np.ones(len(x))) / _rms(truth, np.ones(len(x)))


def _spheroid_errors(polar: float) -> tuple[float, ...]:
    """Charge at height 0.3 beside the equator, faces within three heights of it."""
    vertices, faces = icosphere(10)
    axes = np.array([1.0, 1.0, polar])
    source = np.array([[1.3, 0.0, 0.0]])
    sigma = solve(vertices * axes, faces, source, [1.0]).sigma
    u = vertices[faces].mean(axis=1)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    x, gradient = u * axes, u / axes
    steep = np.linalg.norm(gradient, axis=1)
    n = gradient / steep[:, None]
    project = np.eye(3) - n[:, :, None] * n[:, None, :]
    S = -project @ np.diag(1 / axes**2) @ project / steep[:, None, None]
    near = np.linalg.norm(x - source, axis=1) < 0.9
    local = local_densities(x[near], n[near], S[near], source, np.ones(1))
    ones = np.ones(int(near.sum()))
    return tuple(_rms(np.asarray(v) - sigma[near], ones) / _rms(sigma[near], ones) for v in local)


def _rolling_ground(angle: float) -> tuple[float, float]:
    """Ground waves much longer than the field's (ratio 1 to 20): correction and identity's term over the latter's size."""
    height, wave = 0.02, 0.2
    p = 4 * np.cos(angle), 4 * np.sin(angle)
    found = rayleigh_ground(height, wave, p, modes=8)
    ground = np.exp(-1j * wave * found.x)
    correction = found.sigma + found.slope / (2 * np.pi)
    H = -0.5 * height * wave**2 * np.cos(wave * found.x)
    identity = H * found.phi / (4 * np.pi)
    scale = abs((identity * ground).mean())
    return float((correction * ground).mean().real / -scale), float((identity * ground).mean().real / -scale)


def _draw_sphere(panel: Any, data: dict[str, Any]) -> None:
    panel.plot(data["faces"], 100 * data["sphere_error"], "o-", color=COLOURS["three_term"], linewidth=1.6)
    panel.plot(data["faces"], 100 * data["sphere_error"][-1] * data["faces"][-1] / data["faces"], ":", color="#666666")
    panel.annotate("order $h^2$", (data["faces"][2], 100 * data["sphere_error"][2]), xytext=(14, 8),
                   textcoords="offset points", color="#666666", fontsize=9)
    panel.set(xscale="log", yscale="log", xlabel="faces", ylabel="relative rms, %", title="the solver on the sphere")
    panel.set_yticks([0.2, 0.5, 1, 2, 5, 10], ["0.2", "0.5", "1", "2", "5", "10"])
    panel.minorticks_off()


def _draw_spheroid(panel: Any, data: dict[str, Any]) -> None:
    for name in LOCAL:
        colour = COLOURS[name]
        panel.plot(data["aspect"], 100 * data[name], marker=MARKERS[name], color=colour, linewidth=1.6, label=NAMES[name])
    panel.axvline(1.0, color="#bbbbbb", linewidth=0.8)
    panel.set(xscale="log", yscale="log", xlabel="aspect $c$ of the spheroid (1, 1, $c$)",
              ylabel="relative rms near the charge, %", title="exact only where it is round")
    panel.set_xticks([0.5, 0.7, 1.0, 1.5, 2.0, 2.8], ["0.5", "0.7", "1", "1.5", "2", "2.8"])
    panel.set_yticks([0.3, 1, 3, 10, 30], ["0.3", "1", "3", "10", "30"])
    panel.minorticks_off()
    panel.legend(frameon=False, fontsize=9)


def _draw_ground(panel: Any, data: dict[str, Any]) -> None:
    panel.plot(data["angle"], data["truth"], "o", color="#000000", markersize=4, label="solved")
    panel.plot(data["angle"], data["identity"], "-", color=COLOURS["two_term"], linewidth=1.6,
               label="identity's $H\\phi/4\\pi$")
    panel.plot(data["angle"], 2 * np.sin(np.radians(data["angle"])) ** 2, ":", color=COLOURS["three_term"],
               label=r"first order, $2\sin^2$")
    panel.set(xlabel="angle between ground and field waves, degrees", ylabel="curvature correction",
              title="rolling ground: 0 % to 200 %", xticks=[0, 45, 90, 135, 180])
    panel.legend(frameon=False, fontsize=9)


def _draw_corridors(panel: Any, data: dict[str, Any]) -> None:
    for i, (name, errors) in enumerate(data["corridors"].items()):
        colour, median = COLOURS.get(name, "#009E73"), 100 * float(np.median(errors))
        panel.plot(np.full(len(errors), i), 100 * errors, MARKERS.get(name, "D"), color=colour, markersize=5, alpha=0.7)
        panel.plot([i - 0.25, i + 0.25], [median, median], "-", color=colour, linewidth=2)
        panel.annotate(f"{median:.1f} %", (i + 0.28, median), va="center", fontsize=9, color=colour)
    short = {"flat": "plane", "two_term": "two terms", "three_term": "three", "horizon": "three,\n44 m"}
    panel.set_xticks(range(len(data["corridors"])), [short.get(name, name) for name in data["corridors"]], fontsize=9)
    panel.set(ylim=(0, None), xlabel="density by", ylabel="relative rms, %", xlim=(-0.5, len(data["corridors"]) - 0.2),
              title="long wires over terrain, 8 held-out corridors")


def _draw_regimes(panel: Any, data: dict[str, Any]) -> None:
    from matplotlib.colors import ListedColormap

    two, three, _ = data["regimes"]
    best = np.stack([np.ones_like(two), two, three]).argmin(axis=0)
    colours = [COLOURS[name] for name in LOCAL]
    panel.pcolormesh(np.degrees(ANGLES), LENGTHS, best, cmap=ListedColormap(colours), vmin=0, vmax=2, alpha=0.35,
                     shading="nearest", rasterized=True)
    panel.plot(np.degrees(data["waves"][1]), data["waves"][0], ".", color="#000000", markersize=4)
    for x, y, name in ((52, 4.6, "flat"), (12, 26, "three_term"), (62, 30, "two_term")):
        panel.text(x, y, NAMES[name].split(",")[0], color=COLOURS[name], fontsize=10, ha="center", weight="bold")
    panel.set(yscale="log", xlabel="direction of the ground's wave, degrees from across the wire", xlim=(0, 90), ylim=(4, 40),
              ylabel="wavelength over clearance", title="best formula; dots: the corridors' waves", xticks=[0, 30, 60, 90])
    panel.set_yticks([4, 6, 10, 20, 40], ["4", "6", "10", "20", "40"])
    panel.minorticks_off()


def _draw_horizon(panel: Any, data: dict[str, Any]) -> None:
    for name, errors in zip(("two_term", "three_term", "horizon"), data["regimes"], strict=True):
        panel.fill_between(LENGTHS, errors.min(axis=1), errors.max(axis=1), color=COLOURS[name], alpha=0.2, linewidth=0)
        panel.plot(LENGTHS, np.sqrt((errors**2).mean(axis=1)), MARKERS[name] + "-", color=COLOURS[name], linewidth=1.6,
                   markersize=4, label=NAMES[name].split(",")[0])
    panel.axhline(1.0, color=COLOURS["flat"], linewidth=1.6, label=NAMES["flat"])
    panel.set(xscale="log", yscale="log", xlabel="wavelength over clearance", ylabel="error over correction", ylim=(0.02, 6),
              title="long wires: rms over directions, and range")
    panel.set_xticks([4, 6, 10, 20, 40], ["4", "6", "10", "20", "40"])
    panel.minorticks_off()
    panel.legend(frameon=False, fontsize=8, loc="lower left")

"""The figure: experts collapse or part with the width, a router freezes in probability only, and time undoes the collapse."""
from __future__ import annotations

from typing import Any

import numpy as np

from simulations.moe_width._simulate import example_data, simulate

__all__ = ["figure", "figure_data"]

WIDTHS = (64, 128, 256, 512, 1024, 2048)
SEEDS, LATE = 32, 60
INK, BLUE, RED, GREEN, AMBER = "#333333", "#0072B2", "#D55E00", "#009E73", "#E69F00"  # Okabe and Ito
GATES = {"softmax": ("softmax", 1, BLUE, "o"), "sigmoid": ("sigmoid", 1, GREEN, "s"),
         "topk_renorm": ("Top-2, renormalised", 2, RED, "^"), "topk_masked": ("Top-1, masked", 1, AMBER, "v")}
FLOOR = 1e-40  # smaller gradients are drawn here


def figure_data() -> dict[str, np.ndarray]:
    """What the figure shows, with key 0; a few seconds.

    widths (6,). softmax, sigmoid, topk_renorm, topk_masked (6,): root mean square over 32 seeds of the experts' distance
    after 5 updates, maximal update. frozen (6, 128): router gradient of one sample after one update, standard
    parametrisation, rate 2. late (3, 61): distance at t = 0 .. 60 for widths 64, 256 and 1024, softmax, rate 6."""
    x, y = example_data(4, 2)
    found: dict[str, np.ndarray] = {"widths": np.array(WIDTHS)}
    for gate, (_, active, _, _) in GATES.items():
        traces = [simulate(n, gate=gate, active=active, parametrisation="mup", x=x, y=y, steps=5, seeds=SEEDS) for n in WIDTHS]
        found[gate] = np.array([_rms(trace.expert_distance[:, 5]) for trace in traces])
    one = np.repeat(x[:1], len(x), 0), np.repeat(y[:1], len(y))
    found["frozen"] = np.array([simulate(n, gate="softmax", parametrisation="sp0", x=one[0], y=one[1], steps=1,
                                         seeds=4 * SEEDS).sample_gradient[:, 1, 0] for n in WIDTHS])
    found["late"] = np.array([[_rms(v) for v in simulate(
        n, gate="softmax", parametrisation="mup", x=x, y=y, steps=LATE, seeds=SEEDS, learning_rate=6.0).expert_distance.T]
        for n in (64, 256, 1024)])
    return found


def _rms(values: Any) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def figure() -> Any:
    """A matplotlib Figure with three panels."""
    from matplotlib.figure import Figure

    data = figure_data()
    page = Figure(figsize=(10.5, 3.7), layout="constrained")
    left, middle, right = page.subplots(1, 3)
    _draw_distance(left, data)
    _draw_frozen(middle, data)
    _draw_late(right, data)
    for axes in (left, middle, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=INK, labelsize=9)
    return page


def _widths(axes: Any) -> None:
    axes.set_xscale("log")
    axes.set_xticks(WIDTHS, [str(n) for n in WIDTHS])
    axes.minorticks_off()
    axes.set_xlabel("width $n$")


def _draw_distance(axes: Any, data: dict[str, np.ndarray]) -> None:
    n = data["widths"].astype(float)
    for gate, (label, _, colour, mark) in GATES.items():
        axes.plot(n, data[gate], color=colour, marker=mark, markersize=4, linewidth=1.6, label=label)
    axes.plot(n, 0.55 * data["softmax"][0] * (n / n[0]) ** -0.5, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.text(n[1], 0.5 * data["softmax"][1], "$n^{-1/2}$", color=INK, ha="right", va="top", fontsize=9)
    axes.set(yscale="log", ylabel="distance of experts")
    axes.set_title("Maximal update, 5 updates", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="center right", bbox_to_anchor=(1.0, 0.72))
    _widths(axes)


def _draw_frozen(axes: Any, data: dict[str, np.ndarray]) -> None:
    n, values = data["widths"], np.maximum(data["frozen"], FLOOR)
    for level, shade in ((90, 0.25), (75, 0.45)):
        axes.fill_between(n, np.percentile(values, 100 - level, axis=1), np.percentile(values, level, axis=1), color=BLUE,
                          alpha=shade, linewidth=0, label=f"{100 - level} to {level} % of runs")
    axes.plot(n, np.median(values, axis=1), color=BLUE, marker="o", markersize=4, linewidth=1.6, label="median")
    axes.plot(n, np.sqrt((data["frozen"] ** 2).mean(axis=1)), color=RED, marker="^", markersize=4, linewidth=1.6,
              label="root mean square")
    axes.set(yscale="log", ylabel="router gradient of one sample", ylim=(FLOOR, 1e8))
    axes.set_title("Standard parametrisation, 1 update", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="lower left")
    _widths(axes)


def _draw_late(axes: Any, data: dict[str, np.ndarray]) -> None:
    for values, width, colour in zip(data["late"], (64, 256, 1024), (AMBER, GREEN, BLUE), strict=True):
        axes.plot(np.arange(len(values)), values, color=colour, linewidth=1.6, label=f"$n={width}$")
    axes.set(yscale="log", xlabel="updates $t$", ylabel="distance of experts")
    axes.set_title("Softmax, maximal update, rate 6", fontsize=10)
    axes.set_yticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
    axes.minorticks_off()
    axes.legend(frameon=False, fontsize=8, loc="lower right")

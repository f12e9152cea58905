"""The picture: what a longer window buys in theory, when it buys nothing, and what it buys on real series."""
from __future__ import annotations

from typing import Any

import numpy as np

from simulations._style import finish
from simulations.window_length._mixtures import markov_mixture
from simulations.window_length._series import real_series, windowed_losses

__all__ = ["figure", "figure_data"]

RHOS = (0.3, 0.5, 0.8)
COLOURS = ("#0072B2", "#D55E00", "#009E73")  # told apart by the colour-blind (Okabe and Ito)
GREY = "#666666"
REAL_WINDOWS = (1, 2, 3, 4, 6, 9, 12, 18, 24)


def figure_data() -> dict[str, Any]:
    """Arrays of the figure; seeded, a few seconds.

    window (W,), rho (R,), excess, envelope, zero_one (R, W), uniform_prior (W,): exact up to rounding;
    simulated_window (S,), simulated, simulated_error (R, S): mean and standard error over 40,000 series;
    real_window (V,), pooled, separate (V, series), series (names)."""
    windows, sampled = np.arange(1, 25), np.array([2, 3, 5, 8, 12])
    exact = [_exact(rho, windows) for rho in RHOS]
    draws = np.array([[_simulated(rho, int(w)) for w in sampled] for rho in RHOS])
    losses = windowed_losses(series := real_series(), REAL_WINDOWS)
    return {"window": windows, "rho": np.array(RHOS), "excess": np.array([e[0] for e in exact]),
            "zero_one": np.array([e[1] for e in exact]),
            "envelope": np.array([rho**2 * (1 - rho**2) ** ((windows - 1) / 2) for rho in RHOS]),
            "uniform_prior": 1 / (6 * (windows + 2.0)),
            "simulated_window": sampled, "simulated": draws[:, :, 0], "simulated_error": draws[:, :, 1],
            "real_window": losses.windows, "pooled": losses.pooled, "separate": losses.separate,
            "series": np.array(list(series))}


def figure() -> Any:
    """A matplotlib Figure with three panels."""
    from matplotlib.figure import Figure

    data = figure_data()
    page = Figure(figsize=(13.5, 4.4), layout="constrained")
    panels = page.subplots(1, 3)
    _draw_excess(panels[0], data)
    _draw_ties(panels[1], data)
    _draw_series(panels[2], data)
    finish(panels)
    return page


def _exact(rho: float, windows: Any) -> tuple[Any, Any]:
    """Excess risks (squared, 0-1) of the twin chains by following the law of the evidence, the number of steps that
    agree with process +1 less those that do not, symbol by symbol."""
    law, squared, zero_one = np.ones(1), [], []
    for n in range(int(windows.max())):
        score = 2 * np.arange(n + 1) - n
        squared.append(rho**2 * law @ (1 - np.tanh(score * np.arctanh(rho)) ** 2))
        zero_one.append(rho * law @ np.where(score < 0, 1.0, np.where(score == 0, 0.5, 0.0)))
        law = np.convolve(law, [(1 - rho) / 2, (1 + rho) / 2])
    return np.array(squared)[windows - 1], np.array(zero_one)[windows - 1]


def _simulated(rho: float, window: int) -> tuple[float, float]:
    p, q = (1 + rho) / 2, (1 - rho) / 2
    twins = np.array([[[p, q], [q, p]], [[q, p], [p, q]]])
    excess = np.asarray(markov_mixture(window, twins, np.array([0.5, 0.5]), np.array([-1.0, 1.0]), window=window,
                                       paths=40_000))
    return float(excess.mean()), float(excess.std(ddof=1) / np.sqrt(len(excess)))


def _draw_excess(panel: Any, data: dict[str, Any]) -> None:
    for i, rho in enumerate(data["rho"]):
        panel.plot(data["window"], data["envelope"][i], ":", color=COLOURS[i], linewidth=1.2)
        panel.plot(data["window"], data["excess"][i], "-", color=COLOURS[i], linewidth=1.6, label=rf"$\rho={rho:g}$")
        panel.errorbar(data["simulated_window"], data["simulated"][i], 2 * data["simulated_error"][i], fmt="o",
                       color=COLOURS[i], markersize=4, capsize=2, linewidth=1)
    panel.plot(data["window"], data["uniform_prior"], "--", color=GREY, linewidth=1.4,
               label=r"uniform prior, $1/(6(W+2))$")
    panel.plot([], [], ":", color=GREY, label=r"envelope $\rho^2(1-\rho^2)^{(W-1)/2}$")
    panel.plot([], [], "o", color=GREY, markersize=4, label="simulation, 2 s.e.")
    panel.set(yscale="log", xlabel="window $W$ (memory is 1)", ylabel="squared risk above the oracle's",
              title="the gain is geometric, or only like $1/W$", ylim=(2e-6, 1.2))
    panel.legend(frameon=False, fontsize=8.5, loc="lower left")


def _draw_ties(panel: Any, data: dict[str, Any]) -> None:
    shown = data["window"] <= 15
    for i, rho in enumerate(data["rho"]):
        panel.step(data["window"][shown], data["zero_one"][i][shown], where="mid", color=COLOURS[i], linewidth=1.6)
        panel.plot(data["window"][shown], data["zero_one"][i][shown], "o", color=COLOURS[i], markersize=4,
                   label=rf"$\rho={rho:g}$")
    panel.annotate("windows 2 and 3\ntie exactly", (2.5, data["zero_one"][1][1]), xytext=(4.6, 0.2), fontsize=9,
                   color=GREY, arrowprops={"arrowstyle": "->", "color": GREY})
    panel.set(xlabel="window $W$", ylabel="errors above the oracle's", title="0-1 loss: every other symbol is idle",
              ylim=(0, None))
    panel.legend(frameon=False, fontsize=8.5)


def _draw_series(panel: Any, data: dict[str, Any]) -> None:
    curves = (("pooled", "one forecaster for all series", "o", COLOURS[0], (6, 6)),
              ("separate", "one forecaster per series", "s", COLOURS[1], (6, -24)))
    for name, label, marker, colour, offset in curves:
        loss = data[name].mean(axis=1)
        panel.plot(data["real_window"], loss, marker=marker, color=colour, linewidth=1.6, markersize=5)
        panel.annotate(label, (data["real_window"][3], loss[3]), xytext=offset, textcoords="offset points",
                       color=colour, fontsize=9)
    panel.set(xscale="log", xlabel="window $W$", ylabel="one-step test loss / training variance",
              title=f"{len(data['series'])} real series, pooled and not", ylim=(0.3, None))
    panel.set_xticks(data["real_window"], [str(w) for w in data["real_window"]])
    panel.minorticks_off()

"""The figure: the bias and its parts, a missed mode, and the gridworld before and after fine-tuning."""
from __future__ import annotations

from math import lgamma, log
from typing import Any

import numpy as np

from simulations.failure_forecast._gridworld import Outcome, experiment
from simulations.failure_forecast._tails import forecast, spacing_ratios, top_scores, undershoots

__all__ = ["figure", "figure_data"]

KEY = 2605
N, KS, DECADES = 1000, (5, 10, 50), (0, 1, 2, 3)
MODE = 25.0
MASSES = 10.0 ** np.arange(-6.5, -1.9, 0.5)
_INK, _BLUE, _RED, _GREEN, _SAND = "#333333", "#0072B2", "#D55E00", "#009E73", "#E69F00"  # Okabe and Ito
_COLOURS = {5: _RED, 10: _BLUE, 50: _GREEN}


def _parts(k: int, n: int, reach: np.ndarray, inflation: float) -> np.ndarray:
    """T_1, T_2, T_3 at each log(N/n), shape (3, reach): sums over ranks, and the mean inverse slope put in."""
    logs = np.log(np.arange(1, k + 1))
    heights = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, k))])  # H_{j-1}
    slope = ((logs - logs.mean()) * heights).sum() / ((logs - logs.mean()) ** 2).sum()
    level = (1.0 / np.arange(1, n + 1)).sum() - log(n) - (heights - logs).mean()
    over = reach + lgamma(k + 1) / k
    return np.stack([np.full_like(reach, level), over * (slope - 1), over * (inflation - slope)])


def figure_data(*, trials: int = 3000, seeds: int = 6) -> dict[str, np.ndarray]:
    """What the figure shows.

    reach (4,) = log(N/n); bias, bias_error (3, 4): mean and standard error of the forecast error for k = 5, 10, 50 at
    n = 1000 under an exponential tail, from the same 4 * `trials` evaluations for every N; inflation (3,): simulated B_k;
    parts (3, 3, 4): T_1, T_2, T_3 for each k. masses (10,); under, under_missed (10,): P(forecast below truth) with a mode
    at psi = 25, overall and where the evaluation missed it, at k = 10, N = 10^5. base, return, forecastable (seeds, 6):
    held-out figures of the gridworld, columns as `Outcome`. Half a minute on one core."""
    reach = np.log(10.0) * np.array(DECADES, dtype=float)
    inflation = np.array([spacing_ratios(KEY + k, 20_000, k=k).mean() for k in KS])
    means, errors = np.zeros((3, 4)), np.zeros((3, 4))
    for i, k in enumerate(KS):
        top = top_scores(KEY + 100 * k, 4 * trials, tail="exponential", k=k, n=N)
        for j, decade in enumerate(DECADES):
            found = forecast(top, n=N, deployment=N * 10.0**decade) - log(N * 10.0**decade)
            means[i, j], errors[i, j] = found.mean(), found.std() / (4 * trials) ** 0.5
    under = [[undershoots(KEY + i, trials, mass=float(w), mode=MODE, k=10, n=N, deployment=1e5, missed=missed).mean()
              for i, w in enumerate(MASSES)] for missed in (False, True)]
    return {"reach": reach, "bias": means, "bias_error": errors, "inflation": inflation,
            "parts": np.stack([_parts(k, N, reach, float(b)) for k, b in zip(KS, inflation, strict=True)]),
            "masses": MASSES, "under": np.array(under[0]), "under_missed": np.array(under[1]),
            **experiment(KEY, seeds=seeds)}


def figure(data: dict[str, np.ndarray] | None = None) -> Any:
    """A matplotlib Figure of four panels; `data` as `figure_data` gives it, drawn afresh without."""
    from matplotlib.figure import Figure

    data = figure_data() if data is None else data
    page = Figure(figsize=(9.2, 7.0), layout="constrained")
    (bias, parts), (mode, grid) = page.subplots(2, 2)
    _draw_bias(bias, data)
    _draw_parts(parts, data)
    _draw_mode(mode, data)
    _draw_grid(grid, data)
    for axes in (bias, parts, mode, grid):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=_INK, labelsize=9)
        axes.title.set_fontsize(10)
    return page


def _decades(axes: Any, data: dict[str, np.ndarray]) -> None:
    axes.set_xticks(data["reach"], ["1", "10", "100", "1000"])
    axes.set_xlabel("$N/n$, deployment over evaluation queries (log scale)")


def _draw_bias(axes: Any, data: dict[str, np.ndarray]) -> None:
    for i, k in enumerate(KS):
        total = data["parts"][i].sum(axis=0)
        axes.plot(data["reach"], total, color=_COLOURS[k], linewidth=1.6)
        axes.errorbar(data["reach"], data["bias"][i], 2 * data["bias_error"][i], color=_COLOURS[k], linestyle="none",
                      marker="o", markersize=3.5, capsize=3)
        axes.annotate(f"$k={k}$", (data["reach"][-1], total[-1]), (6, -3), textcoords="offset points", color=_COLOURS[k],
                      fontsize=9)
    axes.axhline(0, color=_INK, linewidth=0.8)
    axes.set_xlim(-0.4, data["reach"][-1] + 1.3)
    axes.set(ylabel="mean forecast error in $\\psi$", title="Exponential tail: the forecast is too high")
    _decades(axes, data)


def _draw_parts(axes: Any, data: dict[str, np.ndarray]) -> None:
    stack, base = data["parts"][KS.index(10)], np.zeros(4)
    names = ("$T_1$  level", "$T_2$  plotting positions", "$T_3$  direction of the regression")
    for part, colour, name in zip(stack, ("#56B4E9", _SAND, _RED), names, strict=True):
        axes.fill_between(data["reach"], base, base + part, color=colour, alpha=0.75, linewidth=0, label=name)
        base = base + part
    axes.plot(data["reach"], base, color=_INK, linewidth=1.2)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], frameon=False, fontsize=9, loc="upper left")
    axes.set(ylabel="bias in $\\psi$, $k=10$", xlim=(0, data["reach"][-1]), ylim=(0, 1.15 * base[-1]),
             title="Its three parts, each positive")
    _decades(axes, data)


def _draw_mode(axes: Any, data: dict[str, np.ndarray]) -> None:
    axes.axvspan(1e-5, 1 / N, color="#f6ece5", linewidth=0, zorder=0)
    axes.plot(data["masses"], data["under_missed"], color=_RED, marker="^", markersize=4, linewidth=1.5)
    axes.plot(data["masses"], data["under"], color=_BLUE, marker="o", markersize=4, linewidth=1.5)
    axes.annotate("evaluation missed it", (data["masses"][-4], 0.985), (0, -14), textcoords="offset points", color=_RED,
                  fontsize=9)
    axes.annotate("overall", (data["masses"][-3], data["under"][-3]), (8, 4), textcoords="offset points", color=_BLUE,
                  fontsize=9)
    axes.text(1e-4, 0.06, "$1/N < w < 1/n$", color="#8c5a3c", ha="center", fontsize=9)
    axes.set(xscale="log", ylim=(0, 1.05), xlabel="mass $w$ of a mode at $\\psi=25$", ylabel="P(forecast below the truth)",
             title="A rare mode of failures")


def _draw_grid(axes: Any, data: dict[str, np.ndarray]) -> None:
    names = ("base", "return", "forecastable")
    column = Outcome._fields.index("error")
    values = np.stack([data[name][:, column] for name in names])  # policies seeds
    axes.plot(range(3), values, color="#b0b0b0", linewidth=0.9)
    for i, colour in enumerate((_INK, _BLUE, _GREEN)):
        axes.plot(np.full(values.shape[1], i), values[i], color=colour, linestyle="none", marker="o", markersize=4)
        axes.plot([i - 0.16, i + 0.16], [values[i].mean()] * 2, color=colour, linewidth=2.4)
    returns = [data[name][:, Outcome._fields.index("returns")].mean() for name in names]
    axes.set_xticks(range(3), [f"{label}\nreturn {r:.3f}" for label, r in zip(
        ("base", "+ return", "+ return and\nforecastability"), returns, strict=True)])
    axes.set(xlim=(-0.4, 2.4), ylim=(0, 1.08 * values.max()), ylabel="held-out |error| in $\\psi$",
             title="Gridworld, before and after fine-tuning")

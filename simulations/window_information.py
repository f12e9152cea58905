"""Telling two Poisson models of m windows apart with k of them: exact likelihood ratios, no normal approximation.

Notation  m = windows; mean_i > 0 = expected count of window i without the disease, mean_i + shift_i with it; r_i =
          shift_i / mean_i > -1, the relative shift; w_i = mean_i r_i^2, its information; I = sum w; share of k windows =
          sum of their w over I; c = (sum w)^2 / sum w^2; AUC = P(a diseased sample scores above a healthy one), ties
          counted half. Windows come in the order in which they are read.
Model     Ours, as no public data belong to the paper: independent windows, known means. Closed forms used for comparison
          are written out here again, apart from those of `theory.window_information`."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from simulations._jax import jax, jnp

__all__ = ["auc_curve", "auc_pairs", "error_trials", "figure", "figure_data", "flat_shift", "gaussian_pairs",
           "two_level_shift"]

KEY = 0  # the key of the figure; fixed, never searched
MEAN, INFORMATION = 50.0, 9.0  # counts a window; I of all windows together (AUC 0.983)
WINDOWS, TRIALS = 256, 1500
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)  # of c, and of k
C_CURVE, STRONG = 64, (8, 1)  # three signals of one c: flat, and with 8 or 1 strong windows
K_SHARE = 8


def auc_curve(key: PRNGKeyArray, mean: Float[Array, " windows"], shift: Float[Array, " windows"], *,
              ks: Sequence[int], trials: int) -> Float[Array, " ks"]:
    """AUC of the exact likelihood ratio on the first ks[i] windows, for each i.

    Mann-Whitney over `trials` samples of each kind, the same samples for every k; standard error below
    0.5 / sqrt(trials). ValueError if mean is not positive, shift <= -mean, shapes differ, trials < 1, or a k lies
    outside [1, windows]."""
    mean, shift = _checked(mean, shift)
    wanted = np.asarray(ks)
    if wanted.ndim != 1 or wanted.dtype.kind not in "iu" or not ((wanted >= 1) & (wanted <= mean.size)).all():
        raise ValueError(f"ks={ks!r} must be integers in [1, {mean.size}]")
    if trials < 1:
        raise ValueError(f"trials={trials} must be at least 1")
    return _measure(key, mean, shift, jnp.asarray(wanted), trials)[0]


def auc_pairs(key: int, n: int, *, windows: int, mean: float, relative: float) -> Float[Array, " n"]:
    """n observations of mean AUC: 1 where the diseased sample of a pair scores higher, 1/2 at a tie, else 0.

    `windows` windows of one mean count, in turn raised and lowered by the factor 1 +- `relative`; the first is raised.
    ValueError if n or windows < 1, mean is not positive, or relative is not in [0, 1) ((-1, oo) for a single window)."""
    if n < 1 or windows < 1:
        raise ValueError(f"need n >= 1 and windows >= 1, got n={n}, windows={windows}")
    signs = np.where(np.arange(windows) % 2, -1.0, 1.0)
    means, shifts = _checked(np.full(windows, mean), mean * relative * signs)
    return _pairs(jax.random.key(key), means, shifts, n)


def gaussian_pairs(key: int, n: int, *, information: float) -> Float[Array, " n"]:
    """n observations of mean AUC for one Gaussian window: N(0, 1) against N(sqrt(information), 1).

    ValueError if information is negative or n < 1."""
    _check_gaussian(n, information)
    noise = jax.random.normal(jax.random.key(key), (2, n))  # kind trials
    shift = information**0.5
    scores = shift * (noise + jnp.array([[0.0], [shift]])) - information / 2
    return _wins(scores[0], scores[1])


def error_trials(key: int, n: int, *, information: float) -> Float[Array, " n"]:
    """n observations of mean Bayes error at equal priors for the same window: 1 where the likelihood ratio is wrong.

    ValueError if information is negative or n < 1."""
    _check_gaussian(n, information)
    flip, draw = jax.random.split(jax.random.key(key))
    diseased = jax.random.bernoulli(flip, 0.5, (n,))
    shift = information**0.5
    x = jax.random.normal(draw, (n,)) + jnp.where(diseased, shift, 0.0)
    score = shift * x - information / 2
    wrong = jnp.where(diseased, score < 0, score > 0)
    return jnp.where(score == 0, 0.5, wrong.astype(float))


def flat_shift(c: int, *, windows: int, mean: float, information: float) -> Float[Array, " windows"]:
    """Equal shifts on the first c windows, none elsewhere, of the given total information.

    ValueError if c lies outside [1, windows], or mean or information is not positive."""
    if not 1 <= c <= windows:
        raise ValueError(f"c={c} must lie in [1, windows={windows}]")
    return two_level_shift(c, 1.0, windows=windows, mean=mean, information=information)


def two_level_shift(k: int, share: float, *, windows: int, mean: float, information: float
                    ) -> Float[Array, " windows"]:
    """One shift on the first k windows, which hold `share` of the information, another on the rest.

    ValueError if k lies outside [1, windows], share outside [0, 1] (1 if k = windows), or mean or information is not
    positive."""
    if not 1 <= k <= windows:
        raise ValueError(f"k={k} must lie in [1, windows={windows}]")
    if not 0 <= share <= 1 or (k == windows and share != 1):
        raise ValueError(f"share={share!r} must lie in [0, 1], and be 1 for k = windows")
    if not (mean > 0 and information > 0):
        raise ValueError(f"mean={mean!r} and information={information!r} must be positive")
    inside = jnp.arange(windows) < k
    w = jnp.where(inside, share / k, (1 - share) / max(windows - k, 1)) * information
    return jnp.sqrt(w * mean)


def _checked(mean: Any, shift: Any) -> tuple[Float[Array, " windows"], Float[Array, " windows"]]:
    means, shifts = jnp.asarray(mean, dtype=float), jnp.asarray(shift, dtype=float)
    if means.ndim != 1 or means.shape != shifts.shape or not means.size:
        raise ValueError(f"shift has shape {shifts.shape}, mean {means.shape}; both must be vectors of one length")
    if not bool((means > 0).all() & jnp.isfinite(means).all()):
        raise ValueError(f"mean={mean!r} must be positive and finite")
    if not bool((shifts > -means).all() & jnp.isfinite(shifts).all()):
        raise ValueError(f"shift={shift!r} must be finite and greater than -mean")
    return means, shifts


def _check_gaussian(n: int, information: float) -> None:
    if n < 1 or not information >= 0:
        raise ValueError(f"need n >= 1 and information >= 0, got n={n}, information={information!r}")


def _scores(key: PRNGKeyArray, mean: Float[Array, " windows"], shift: Float[Array, " windows"], trials: int
            ) -> Float[Array, "kind trials windows"]:
    """Log-likelihood ratio added up to each window, for healthy (0) and diseased (1) samples."""
    rate = jnp.stack([mean, mean + shift])[:, None, :]  # kind trials windows
    counts = jax.random.poisson(key, rate, (2, trials, mean.size)).astype(mean.dtype)
    terms = counts * jnp.log1p(shift / mean)[None, None, :] - shift[None, None, :]
    return jnp.round(jnp.cumsum(terms, axis=2), 9)  # equal counts in another order must tie


def _wins(healthy: Float[Array, " n"], diseased: Float[Array, " n"]) -> Float[Array, " n"]:
    return 0.5 * ((diseased > healthy).astype(float) + (diseased >= healthy).astype(float))


@partial(jax.jit, static_argnames="n")
def _pairs(key: PRNGKeyArray, mean: Float[Array, " windows"], shift: Float[Array, " windows"], n: int
           ) -> Float[Array, " n"]:
    healthy, diseased = _scores(key, mean, shift, n)[:, :, -1]
    return _wins(healthy, diseased)


@partial(jax.jit, static_argnames="trials")
def _measure(key: PRNGKeyArray, mean: Float[Array, " windows"], shift: Float[Array, " windows"],
             ks: Int[Array, " ks"], trials: int) -> tuple[Float[Array, " ks"], Float[Array, " ks"]]:
    """AUC, and by how much the mean log-likelihood ratios differ (the information, where shifts are small)."""
    scores = jnp.moveaxis(_scores(key, mean, shift, trials)[:, :, ks - 1], 2, 0)  # ks kind trials

    def mann_whitney(pair: Float[Array, "kind trials"]) -> Float[Array, ""]:
        healthy = jnp.sort(pair[0])
        below = jnp.searchsorted(healthy, pair[1], side="left") + jnp.searchsorted(healthy, pair[1], side="right")
        return jnp.mean(below.astype(float)) / (2 * trials)

    means = jnp.mean(scores, axis=2)  # ks kind
    return jax.lax.map(mann_whitney, scores), means[:, 1] - means[:, 0]


def figure_data() -> dict[str, np.ndarray]:
    """What the figure shows, from the key 0; a few seconds.

    counts (n,)          values of c and of k
    auc, lan (c, k)      AUC of a signal flat on c of 256 windows: simulated, and Phi(sqrt(I min(1, k/c) / 2))
    curves, curves_lan (3, k)   the same for three signals of one c = 64: flat; 8 strong windows; 1 strong window; here
                         Phi(sqrt(I share / 2))
    bound, sharp (k,)    largest AUC at c = 64: from sqrt(k/c), and from the sharp bound at m = 256
    share (c,)           share of the information in the first 8 windows of the flat signals, simulated"""
    counts = np.asarray(COUNTS)
    mean = jnp.full(WINDOWS, MEAN)
    levels = [(c, 1.0) for c in COUNTS] + [(k, _largest_share(k)) for k in STRONG]
    shifts = jnp.stack([two_level_shift(k, s, windows=WINDOWS, mean=MEAN, information=INFORMATION) for k, s in levels])
    auc, information = map(np.asarray, jax.lax.map(  # signals k
        lambda a: _measure(a[0], mean, a[1], jnp.asarray(counts), TRIALS),
        (jax.random.split(jax.random.key(KEY), len(levels)), shifts)))
    held = np.cumsum(np.asarray(shifts) ** 2 / MEAN, axis=1)[:, counts - 1]
    three = [COUNTS.index(C_CURVE), *range(len(COUNTS), len(levels))]
    largest = np.asarray([_largest_share(k) for k in COUNTS])
    return {"counts": counts, "auc": auc[: len(COUNTS)],
            "lan": _phi(INFORMATION * np.minimum(1, counts[None, :] / counts[:, None])),
            "curves": auc[three], "curves_lan": _phi(held[three]),
            "bound": _phi(INFORMATION * np.minimum(1, np.sqrt(counts / C_CURVE))),
            "sharp": _phi(INFORMATION * largest),
            "share": (information[:, COUNTS.index(K_SHARE)] / information[:, -1])[: len(COUNTS)]}


def _phi(information: Any) -> np.ndarray:
    """AUC = Phi(sqrt(I / 2))."""
    return np.asarray(jax.scipy.special.ndtr(jnp.sqrt(jnp.asarray(information) / 2)))


def _largest_share(k: int) -> float:
    """(k + sqrt(k (m-k) (m/c - 1))) / m at the c and m of the curves; 1 beyond c."""
    if k >= C_CURVE:
        return 1.0
    return float((k + np.sqrt(k * (WINDOWS - k) * (WINDOWS / C_CURVE - 1))) / WINDOWS)


def figure(data: Mapping[str, np.ndarray] | None = None) -> Any:
    """AUC over (k, c), the bound against three signals, and how the share falls with c. A matplotlib Figure.

    `data` is what `figure_data` returns; it is called if none is given."""
    from matplotlib.figure import Figure

    data = figure_data() if data is None else data
    fig = Figure(figsize=(14, 4.4), layout="constrained")
    left, middle, right = fig.subplots(1, 3)
    _draw_map(fig, left, data)
    _draw_curves(middle, data)
    _draw_share(right, data)
    return fig


def _powers_of_4(axis: Any) -> None:
    ticks = [4**i for i in range(5)]
    axis.set_major_locator(_fixed(ticks))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(_fixed([]))


def _fixed(ticks: Sequence[float]) -> Any:
    from matplotlib.ticker import FixedLocator

    return FixedLocator(list(ticks))


def _draw_map(fig: Any, ax: Any, data: Mapping[str, np.ndarray]) -> None:
    counts = data["counts"]
    mesh = ax.pcolormesh(counts, counts, data["auc"], cmap="cividis", vmin=0.5, vmax=1, shading="gouraud")
    ends = np.asarray([1, WINDOWS])
    ax.plot(ends, ends, color="black", lw=2, label="k = c")
    ax.plot(ends, 4 * ends, color="black", lw=2, ls="--", label="k = c/4, needed for half of the information")
    ax.set(xscale="log", yscale="log", xlim=(1, WINDOWS), ylim=(1, WINDOWS), xlabel="windows read, k",
           ylabel="windows that share the signal, c", title="A flat signal: a crossover, no jump")
    _powers_of_4(ax.xaxis)
    _powers_of_4(ax.yaxis)
    lines = ax.contour(counts, counts, data["lan"], levels=[0.6, 0.7, 0.8, 0.9], colors="white", linewidths=1)
    ax.clabel(lines, fmt="%.1f", fontsize=9)
    ax.legend(loc="lower right", fontsize=8, framealpha=0.9)
    fig.colorbar(mesh, ax=ax, label="AUC simulated (white: predicted)")


def _draw_curves(ax: Any, data: Mapping[str, np.ndarray]) -> None:
    ks = data["counts"]
    ax.axvline(C_CURVE, color="0.6", lw=1, zorder=0)
    ax.text(C_CURVE * 1.06, 0.66, "k = c", color="0.4")
    ax.plot(ks, data["bound"], color="black", lw=2, label="bound from sqrt(k/c)")
    ax.plot(ks, data["sharp"], color="black", lw=1.5, ls=":", label=f"sharp bound at m = {WINDOWS}")
    names = (f"flat on {C_CURVE} windows", "8 strong windows", "1 strong window")
    for name, colour, mark, auc, lan in zip(names, ("#0072B2", "#D55E00", "#009E73"), "osD", data["curves"],
                                            data["curves_lan"], strict=True):
        ax.plot(ks, lan, color=colour, lw=1)
        ax.plot(ks, auc, color=colour, ls="", marker=mark, ms=5, label=name)
    ax.set(xscale="log", ylim=(0.5, 1), xlabel="windows read, k", ylabel="AUC (marks: simulated)",
           title=f"Three signals with c = {C_CURVE}: k = c is not enough")
    _powers_of_4(ax.xaxis)
    ax.legend(loc="lower right", fontsize=8)


def _draw_share(ax: Any, data: Mapping[str, np.ndarray]) -> None:
    c = np.geomspace(1, WINDOWS, 200)
    ax.plot(c, np.minimum(1, np.sqrt(K_SHARE / c)), color="black", lw=2, label="bound sqrt(k/c)")
    ax.plot(c, np.minimum(1, K_SHARE / c), color="#0072B2", lw=1, label="flat signal, min(1, k/c)")
    ax.plot(data["counts"], data["share"], color="#0072B2", ls="", marker="o", ms=5, label="flat signal, simulated")
    ax.plot([1, K_SHARE, K_SHARE], [1, 1, 0.02], color="0.5", lw=1.5, ls="--", label="a jump (not what happens)")
    ax.set(xscale="log", yscale="log", xlim=(0.9, 1.1 * WINDOWS), ylim=(0.02, 1.3),
           xlabel="windows that share the signal, c", ylabel=f"share of the information in k = {K_SHARE} windows",
           title="Power laws in c, a kink at c = k")
    _powers_of_4(ax.xaxis)
    ax.yaxis.set_major_locator(_fixed([0.03, 0.1, 0.3, 1]))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(_fixed([]))
    ax.legend(loc="lower left", fontsize=8)

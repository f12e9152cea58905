"""Bandits in which one ascends pass@k and watches pass@1.

A prompt has two answers; the right one is given with probability p = sigmoid(offset + <feature, theta>), so that
grad p = p (1-p) feature. Features of hard prompts point against those of easy ones: what helps one hurts the other.
J_k = E[1 - (1-p)^k] over prompts. Gradients are taken by differentiating J_k, not from a formula for its weights."""
from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from simulations._jax import jax, jnp

__all__ = ["Bandit", "ascend", "bernoulli_gradient", "contextual_bandit", "cosine", "figure", "figure_data", "mild",
           "objective", "passing", "success", "threshold", "toy"]

KEY = 2602  # of the figure's random bandits; any key gives the same picture
KS = (1, 2, 8)  # samples, of the steps in the figure
STEP = 0.1  # length of a step in theta, in the figure
_INK, _BLUE, _RED, _GREEN = "#333333", "#0072B2", "#D55E00", "#009E73"  # Okabe and Ito, colour-blind safe
_SHADE, _LABEL = "#f6ece5", "#8c5a3c"


class Bandit(NamedTuple):
    """m prompts with D features: signed features, logits at theta = 0, probabilities that sum to 1."""

    features: Float[Array, "prompts features"]
    offset: Float[Array, " prompts"]
    mass: Float[Array, " prompts"]


def toy() -> tuple[Bandit, Float[Array, " features"]]:
    """An easy and a hard prompt that conflict from k = 2 on, and the theta where they do."""
    return _bandit([[1.0, 1.0], [-1.0, -0.5]], [0.0, 0.0], [0.7, 0.3]), jnp.array([1.0, 0.5])


def mild() -> tuple[Bandit, Float[Array, " features"]]:
    """Two prompts that interfere negatively and never conflict, and the theta where they do not."""
    return _bandit([[1.0, 1.0], [-1.0, 0.8]], [0.0, 0.0], [0.7, 0.3]), jnp.array([0.6, 1.2])


def passing() -> tuple[Bandit, Float[Array, " features"]]:
    """Three prompts that conflict for k = 3 to 10 only, at theta = 0: a hardest one that agrees ends the conflict."""
    rates = jnp.array([0.03, 0.3, 0.8])
    offset = jnp.log(rates) - jnp.log1p(-rates)
    return Bandit(jnp.array([[1.0, 3.5], [1.0, -6.0], [1.0, 8.5]]), offset, jnp.array([0.1, 0.2, 0.7])), jnp.zeros(2)


def _bandit(features: Any, offset: Any, mass: Any) -> Bandit:
    return Bandit(*(jnp.asarray(v, dtype=float) for v in (features, offset, mass)))


def success(theta: Float[Array, " features"], bandit: Bandit) -> Float[Array, " prompts"]:
    """p(x) of every prompt, in (0, 1)."""
    return jax.nn.sigmoid(bandit.offset + bandit.features @ theta)


def objective(theta: Float[Array, " features"], bandit: Bandit, k: Float[Array, ""]) -> Float[Array, ""]:
    """J_k, the probability that at least one of k answers to a random prompt is right; k >= 1 as a float."""
    return jnp.dot(bandit.mass, 1.0 - (1.0 - success(theta, bandit)) ** k)


_slope = jax.grad(objective)


def cosine(theta: Float[Array, " features"], bandit: Bandit, ks: Float[Array, " ks"]) -> Float[Array, " ks"]:
    """Cosine of the angle between grad J_k and grad J_1 for every k; nan where a gradient vanishes."""
    first = _slope(theta, bandit, jnp.array(1.0))
    pulls = jax.vmap(_slope, (None, None, 0))(theta, bandit, ks)  # ks features
    return pulls @ first / (jnp.linalg.norm(pulls, axis=1) * jnp.linalg.norm(first))


_cosine = jax.jit(cosine)


def ascend(theta: Float[Array, " features"], bandit: Bandit, k: Float[Array, ""], rate: Float[Array, ""], *, steps: int
           ) -> Float[Array, "steps+1 features"]:
    """The path of `steps` steps of gradient ascent on J_k with learning rate `rate`, its start included.

    ValueError if steps < 1."""
    if steps < 1:
        raise ValueError(f"steps={steps} must be at least 1")

    def step(here: Any, _: None) -> Any:
        there = here + rate * _slope(here, bandit, k)
        return there, there

    return jnp.concatenate([theta[None, :], jax.lax.scan(step, theta, None, length=steps)[1]])


def contextual_bandit(key: PRNGKeyArray, *, prompts: int, hard_share: float, separation: float) -> Bandit:
    """A draw of the toy contextual bandit: features [1, s], and s ~ N(+-separation/2, 1) for easy and hard prompts.

    A prompt is hard with probability `hard_share`; its right answer is the other one, so its features change sign.
    ValueError if prompts < 1 or hard_share lies outside [0, 1]. The set-up follows the opening of arXiv 2602.21189; its
    parameters were not readable and are ours."""
    if prompts < 1 or not 0 <= hard_share <= 1:
        raise ValueError(f"need prompts >= 1 and 0 <= hard_share <= 1, got prompts={prompts}, hard_share={hard_share}")
    which, noise = jax.random.split(key)
    side = jnp.where(jax.random.uniform(which, (prompts,)) < hard_share, -1.0, 1.0)  # prompts
    signal = 0.5 * separation * side + jax.random.normal(noise, (prompts,))
    features = side[:, None] * jnp.stack([jnp.ones(prompts), signal], axis=1)  # prompts features
    return Bandit(features, jnp.zeros(prompts), jnp.full(prompts, 1.0 / prompts))


def bernoulli_gradient(key: int, n: int, *, p: float, k: int) -> np.ndarray:
    """n score-function estimates of d/dp P(at least one of k passes), shape (n,).

    Each draws k answers, right with probability p, and multiplies the reward (any right?) by the score of p; it lies
    between -k/(1-p) and k/p. ValueError: n or k < 1, p outside (0, 1)."""
    if n < 1 or k < 1 or not 0 < p < 1:
        raise ValueError(f"need n >= 1, k >= 1 and 0 < p < 1, got n={n}, k={k}, p={p}")
    return np.asarray(_bernoulli_gradient(jax.random.key(key), jnp.array(p), n=n, k=k))


@partial(jax.jit, static_argnames=("n", "k"))
def _bernoulli_gradient(key: PRNGKeyArray, p: Float[Array, ""], *, n: int, k: int) -> Float[Array, " n"]:
    right = jax.random.uniform(key, (n, k), p.dtype) < p  # n k
    score = jnp.where(right, 1.0 / p, -1.0 / (1.0 - p)).sum(axis=1)
    return jnp.where(right.any(axis=1), score, 0.0)


@partial(jax.jit, static_argnames=("bandits", "prompts"))
def _steps(key: PRNGKeyArray, *, bandits: int, prompts: int) -> tuple[Array, Array]:
    """Change of J_1 and of J_k by a step of length STEP along grad J_k, each (len KS, bandits)."""

    def one(key: PRNGKeyArray) -> tuple[Array, Array]:
        draw, start = jax.random.split(key)
        bandit = contextual_bandit(draw, prompts=prompts, hard_share=0.3, separation=1.0)
        theta = jax.random.normal(start, (2,))

        def step(k: Float[Array, ""]) -> tuple[Array, Array]:
            pull = _slope(theta, bandit, k)
            there = theta + STEP * pull / jnp.linalg.norm(pull)
            one_sample = jnp.array(1.0)
            return (objective(there, bandit, one_sample) - objective(theta, bandit, one_sample),
                    objective(there, bandit, k) - objective(theta, bandit, k))

        return jax.vmap(step)(jnp.array(KS, dtype=float))

    first, own = jax.vmap(one)(jax.random.split(key, bandits))  # bandits ks
    return first.T, own.T


def figure_data() -> dict[str, np.ndarray]:
    """What the figure shows: cosine of grad J_k and grad J_1 for three bandits, and one step in 160 random bandits.

    ks (64,) and toy, mild, passing (64,): cosines; real_k (97,) and toy_curve, mild_curve, passing_curve (97,): the same
    between the whole numbers; step_k (3,); change_1, change_k (3, 160): change of J_1 and of J_k by a step of length 0.1
    along grad J_k. Drawn with key 2602; a few seconds, most of them compilation."""
    ks, real = jnp.arange(1.0, 65.0), 2.0 ** jnp.linspace(0.0, 6.0, 97)
    curves: dict[str, np.ndarray] = {}
    for make in (toy, mild, passing):
        bandit, theta = make()
        found = np.asarray(_cosine(theta, bandit, jnp.concatenate([ks, real])))
        curves |= {make.__name__: found[:64], f"{make.__name__}_curve": found[64:]}
    first, own = _steps(jax.random.key(KEY), bandits=160, prompts=24)
    return {"ks": np.asarray(ks), "real_k": np.asarray(real), **curves, "step_k": np.array(KS), "change_1": np.asarray(first),
            "change_k": np.asarray(own)}


def threshold() -> float:
    """k* of the toy: the real k at which its inner product <grad J_k, grad J_1> crosses zero, by bisection."""
    bandit, theta = toy()
    first = _slope(theta, bandit, jnp.array(1.0))
    low, high = jnp.array(1.0), jnp.array(4.0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        agrees = jnp.dot(_slope(theta, bandit, middle), first) > 0
        low, high = jnp.where(agrees, middle, low), jnp.where(agrees, high, middle)
    return float(low)


def figure() -> Any:
    """A matplotlib Figure: where pass@k turns against pass@1 as k grows, and what one step then does to both."""
    from matplotlib.figure import Figure

    data = figure_data()
    page = Figure(figsize=(9.0, 3.9), layout="constrained")
    left, right = page.subplots(1, 2, width_ratios=(1.15, 1.0))
    _draw_cosines(left, data)
    _draw_steps(right, data)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(colors=_INK, labelsize=9)
    return page


def _draw_cosines(axes: Any, data: dict[str, np.ndarray]) -> None:
    ks, star = data["ks"], threshold()
    axes.axhspan(-1.08, 0, color=_SHADE, zorder=0, linewidth=0)
    axes.axhline(0, color=_INK, linewidth=0.8)
    axes.plot([star, star], [-1.08, 1.08], color=_RED, linewidth=1.0, linestyle=(0, (4, 3)))
    for name, colour, mark in (("mild", _GREEN, "s"), ("passing", _BLUE, "o"), ("toy", _RED, "^")):
        axes.plot(data["real_k"], data[f"{name}_curve"], color=colour, linewidth=1.7)
        axes.plot(ks[:12], data[name][:12], color=colour, linestyle="none", marker=mark, markersize=3.6)
    axes.annotate(f"$k^*={star:.2f}$", (star, 0.97), (4, 0), textcoords="offset points", color=_RED, fontsize=9)
    axes.text(62, 0.60, "negative interference,\nno conflict", color=_GREEN, ha="right", fontsize=9)
    axes.text(62, 0.46, "conflict for\n$3\\leq k\\leq 10$ only:\na harder prompt agrees", color=_BLUE, ha="right",
              va="top", fontsize=9)
    axes.text(62, -0.98, "conflict from $k^*$ on", color=_RED, ha="right", fontsize=9)
    axes.text(62, -0.05, "conflict", color=_LABEL, va="top", ha="right", style="italic", fontsize=9)
    axes.set(xscale="log", xlim=(0.95, 68), ylim=(-1.08, 1.08), xlabel="samples $k$",
             ylabel="cosine of $\\nabla J_k$ and $\\nabla J_1$")
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    axes.set_yticks([-1, -0.5, 0, 0.5, 1])
    axes.minorticks_off()


def _draw_steps(axes: Any, data: dict[str, np.ndarray]) -> None:
    first, own = 100 * data["change_1"], 100 * data["change_k"]  # ks bandits, in percentage points
    left, right, top = 1.25 * first.min(), 1.06 * first.max(), 1.12 * own.max()
    axes.fill_between([left, 0], 0, top, color=_SHADE, zorder=0, linewidth=0)
    axes.axhline(0, color=_INK, linewidth=0.8)
    axes.axvline(0, color=_INK, linewidth=0.8)
    for i, (colour, mark) in enumerate(zip((_INK, _BLUE, _RED), "so^", strict=True)):
        axes.scatter(first[i], own[i], s=13, color=colour, marker=mark, alpha=0.7, linewidths=0,
                     label=f"$k={data['step_k'][i]}$")
    axes.text(0.97 * left, 0.97 * top, "pass@$k$ up,\npass@1 down", color=_LABEL, va="top", style="italic",
              fontsize=9)
    axes.set(xlim=(left, right), ylim=(-0.05 * top, top), xlabel="change of pass@1 in one step, points",
             ylabel="change of pass@$k$ in one step, points")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, handletextpad=0.1,
                columnspacing=1.0, borderaxespad=0.1, fontsize=9)

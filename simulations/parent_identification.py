"""How dependence of a residual shows: power of a test of means, of HSIC and of the conditional variance, by sample size.

Model     Y = X_1 + N, child X_2 = Y + c (Y^2 - E Y^2) / 2 + M. The regression of Y on (X_1, X_2) has a residual that depends
          on them mostly through its conditional variance; for N, M Gaussian and c = 0 it does not depend at all, and no
          test can have power. Residuals come from least squares on powers of x_2 - x_1 and of x_1, in the simulation's own
          code.
Tests     of one pair (feature, residual), each with the permutation law's own standard deviation: correlation of R with the
          feature (sees nothing), of R^2 with the feature and its square (scedasticity), and HSIC of (feature, R) with
          a Gaussian kernel, by permutations. Feature: x_2 - x_1 standardised."""
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from simulations._jax import jax, jnp

__all__ = ["figure", "figure_data", "lukacs_pair", "power", "residuals"]

KEY = 0
SIZES = (100, 300, 900)
TRIALS = 80
TERMS = 16
PERMUTATIONS = 59
LEVEL = 0.05
DEGREE = 4
CURVATURE = 0.5
TESTS = ("mean", "scedasticity", "hsic")
NOISES = ("gauss", "uniform", "exponential")


def residuals(key: PRNGKeyArray, *, n: int, noise: str, curvature: float) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """(feature, residual) of one table of n rows: the child is among the regressors.

    Both have mean 0 and variance 1. `noise` of Y is gauss, uniform or exponential, of variance 1; ValueError otherwise."""
    keys = jax.random.split(key, 3)
    if noise not in NOISES:
        raise ValueError(f"noise={noise!r} must be one of {', '.join(NOISES)}")
    return _table(keys, jnp.asarray(NOISES.index(noise)), jnp.asarray(curvature), n)


@partial(jax.jit, static_argnames="n")
def _table(keys: PRNGKeyArray, noise: Int[Array, ""], curvature: Float[Array, ""], n: int
           ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    share = jax.random.uniform(keys[1], (n,), minval=1e-12, maxval=1.0)  # each noise by its quantiles: one program for all
    drawn = jnp.stack([jax.scipy.special.ndtri(share), (2.0 * share - 1.0) * 3.0**0.5, -jnp.log(share) - 1.0])
    x1 = jax.random.normal(keys[0], (n,))
    y = x1 + drawn[noise]
    x2 = y + curvature * (y**2 - 2.0) / 2 + jax.random.normal(keys[2], (n,))
    u, v = _unit(x2 - x1), _unit(x1)
    design = jnp.stack([u**i * v**j for i in range(DEGREE + 1) for j in range(DEGREE + 1 - i)], axis=1)
    basis, _ = jnp.linalg.qr(design)
    return u, _unit(y - basis @ (basis.T @ y))


def power(key: PRNGKeyArray, *, n: int, noise: str, curvature: float, trials: int) -> dict[str, float]:
    """Share of tables on which each test rejects at level 0.05; standard error at most 0.5 / sqrt(trials).

    ValueError if n < 30 or trials < 1, or for an unknown noise."""
    if noise not in NOISES:
        raise ValueError(f"noise={noise!r} must be one of {', '.join(NOISES)}")
    if n < 30 or trials < 1:
        raise ValueError(f"need n >= 30 and trials >= 1, got n={n}, trials={trials}")
    first, second = jax.random.split(key)
    orders = jax.vmap(lambda k: jax.random.permutation(k, n))(jax.random.split(first, PERMUTATIONS))  # shared by the tables
    kind = jnp.asarray(NOISES.index(noise))
    rejected = _rejections(jax.random.split(second, trials), orders, kind, jnp.asarray(curvature), n)
    return dict(zip(TESTS, np.asarray(jnp.mean(rejected.astype(float), axis=0)).tolist(), strict=True))


@partial(jax.jit, static_argnames="n")
def _rejections(keys: PRNGKeyArray, orders: Int[Array, "permutations n"], noise: Int[Array, ""],
                curvature: Float[Array, ""], n: int) -> Bool[Array, "trials tests"]:
    def rejects(key: PRNGKeyArray) -> Bool[Array, " tests"]:
        u, r = _table(jax.random.split(key, 3), noise, curvature, n)
        k, l = _kernel_features(u), _kernel_features(r)
        parts = jnp.stack([u, _unit(u**2)])  # 2 n
        squares = _unit(r**2)

        def statistics(order: Int[Array, " n"]) -> Float[Array, " tests"]:
            return jnp.stack([(u @ r[order]) ** 2, jnp.sum((parts @ squares[order]) ** 2), jnp.sum((k @ l[:, order].T) ** 2)])

        null = jax.vmap(statistics)(orders)  # permutations tests
        at_least = jnp.sum(null >= statistics(jnp.arange(n))[None, :], axis=0) + 1
        return at_least <= round(LEVEL * (PERMUTATIONS + 1))

    return jax.lax.map(rejects, keys)


def _unit(v: Float[Array, " n"]) -> Float[Array, " n"]:
    return (v - jnp.mean(v)) / jnp.std(v)


def _kernel_features(v: Float[Array, " n"]) -> Float[Array, "terms n"]:
    """Centred features v^k e^(-v^2/2) / sqrt(k!), k < TERMS: the Gaussian kernel of bandwidth 1, its expansion cut."""
    k = jnp.arange(TERMS, dtype=v.dtype)[:, None]
    logs = k * jnp.log(jnp.maximum(jnp.abs(v), 1e-300))[None, :] - v[None, :] ** 2 / 2 - jax.scipy.special.gammaln(k + 1) / 2
    features = jnp.exp(logs) * jnp.where((k % 2 == 1) & (v < 0)[None, :], -1.0, 1.0)  # terms n
    return features - jnp.mean(features, axis=1)[:, None]


def lukacs_pair(key: PRNGKeyArray, *, n: int) -> dict[str, Float[Array, " n"]]:
    """Y = log G_2 and its child X = -Y + log G_1, G_i ~ Exp(1), with residuals of Y on X: linear, and by
    -log(1 + e^X), which is exactly independent of X."""
    a, b = jax.random.split(key)
    y = jnp.log(jax.random.exponential(b, (n,)))
    x = -y + jnp.log(jax.random.exponential(a, (n,)))
    slope = jnp.mean((x - jnp.mean(x)) * (y - jnp.mean(y))) / jnp.var(x)
    return {"x": x, "y": y, "linear": y - jnp.mean(y) - slope * (x - jnp.mean(x)), "curved": y + jnp.logaddexp(0.0, x)}


def figure_data() -> dict[str, Any]:
    """Power (noises, tests, sizes) with the standard test names, and the Lukacs pair; key 0, under a minute."""
    found = np.zeros((len(NOISES), len(TESTS), len(SIZES)))
    key = jax.random.key(KEY)
    for i, noise in enumerate(NOISES):
        for j, n in enumerate(SIZES):
            curvature = CURVATURE if noise == "gauss" else 0.0
            shares = power(jax.random.fold_in(key, 100 * i + j), n=n, noise=noise, curvature=curvature, trials=TRIALS)
            found[i, :, j] = [shares[t] for t in TESTS]
    pair = {name: np.asarray(v) for name, v in lukacs_pair(jax.random.fold_in(key, 999), n=1500).items()}
    return {"sizes": np.asarray(SIZES), "tests": TESTS, "power": found, **pair}


def figure(data: Mapping[str, Any] | None = None) -> Any:
    """Power curves for three noises, and residuals of the Lukacs pair. A matplotlib Figure."""
    from matplotlib.figure import Figure

    data = figure_data() if data is None else data
    fig = Figure(figsize=(15, 4), layout="constrained")
    axes = fig.subplots(1, 5)
    titles = ("N Gaussian, child curved", "N uniform, child linear", "N exponential, child linear")
    for ax, title, rows in zip(axes, titles, data["power"], strict=False):
        for name, colour, row in zip(data["tests"], ("0.5", "#D55E00", "#0072B2"), rows, strict=True):
            ax.plot(data["sizes"], row, color=colour, marker="o", ms=4, label=name)
        ax.axhline(LEVEL, color="black", lw=1, ls=":")
        ax.set(xscale="log", ylim=(0, 1.02), xlabel="rows", title=title)
    axes[0].set_ylabel("power at level 0.05")
    axes[0].legend(fontsize=8)
    pair = {"linear": "Lukacs pair: linear residual", "curved": "by -log(1 + e^x): independent"}
    for ax, (name, title) in zip(axes[3:], pair.items(), strict=True):
        ax.plot(data["x"], data[name], ".", ms=2, color="#009E73")
        ax.set(xlabel="x, a child of y", ylabel="residual of y", title=title)
    return fig

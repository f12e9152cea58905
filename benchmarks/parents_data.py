"""Data with known parents of a target and hidden confounders: the generator of `benchmarks/parents.py`.

Committed, with its seeds, before the method was tuned on anything it draws. A model has columns that are no descendants
of the target (its parents among them) and columns that are descendants; each hidden variable enters two or three
columns, on either side, never the target. Families of mechanisms:

    smooth      one draw of a Gaussian process over all parents jointly
    additive    a sum of tanh, quadratic and wave functions of single parents
    product     additive, and a product of two parents where there are two
    linear      a weighted sum; noises are not Gaussian

Noises are Gaussian, Laplace, uniform or exponential, each variable its own; the target's has 0.4 to 0.9 times the standard
deviation of its signal. Columns come in random order and on random scales."""
from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np

FAMILIES = ("smooth", "additive", "product", "linear")
SEEDS = {family: range(25) for family in FAMILIES}  # of every table of results
NOISES = ("gauss", "laplace", "uniform", "exponential")


class Data(NamedTuple):
    """A table (n, columns), the target (n,), and the columns that are its parents and its descendants."""

    x: np.ndarray
    y: np.ndarray
    parents: frozenset[int]
    descendants: frozenset[int]


def draw(family: str, seed: int, *, n: int, d: int, hidden: int = 3) -> Data:
    """One table of `d` columns; 1 to 3 parents and 1 to 3 children, other columns on both sides."""
    rng = np.random.default_rng([zlib.crc32(family.encode()), seed, d])
    parents, children = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    before = max(parents, (d - children + 1) // 2)
    confounders = [_noise(rng, n, family) for _ in range(hidden)]
    reached = [set(rng.choice(d, size=int(rng.integers(2, 4)), replace=False).tolist()) for _ in range(hidden)]
    columns: list[np.ndarray] = []
    chosen = np.sort(rng.choice(before, size=parents, replace=False)).tolist()
    target = np.zeros(n)
    for j in range(d):
        if j == before:
            signal = _mechanism(rng, family, [columns[i] for i in chosen])
            target = signal + float(rng.uniform(0.4, 0.9)) * _noise(rng, n, family)
        causes = [confounders[h] for h in range(hidden) if j in reached[h]]
        if j < before:
            causes += [columns[i] for i in _some(rng, range(j))]
        elif j < before + children:
            causes += [target] + [columns[i] for i in _some(rng, range(j), 1)]
        else:
            causes += [columns[i] for i in _some(rng, range(j))]
        signal = _mechanism(rng, family, causes) if causes else np.zeros(n)
        columns.append(signal + float(rng.uniform(0.4, 1.0)) * _noise(rng, n, family))
    order = rng.permutation(d)
    scale = np.exp(rng.uniform(-2, 2, size=d))
    x = np.column_stack([columns[i] * s for i, s in zip(order, scale, strict=True)])
    place = {int(old): new for new, old in enumerate(order)}
    return Data(x, target * float(np.exp(rng.uniform(-2, 2))), frozenset(place[i] for i in chosen),
                frozenset(place[i] for i in range(before, d)))


def _some(rng: np.random.Generator, pool: range, most: int = 2) -> list[int]:
    size = min(len(pool), int(rng.integers(0, most + 1)))
    return sorted(rng.choice(len(pool), size=size, replace=False).tolist()) if size else []


def _noise(rng: np.random.Generator, n: int, family: str) -> np.ndarray:
    kind = str(rng.choice(NOISES[1:] if family == "linear" else NOISES))
    if kind == "gauss":
        return rng.normal(size=n)
    if kind == "laplace":
        return rng.laplace(size=n) / np.sqrt(2)
    if kind == "uniform":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), size=n)
    return rng.exponential(size=n) - 1


def _unit(values: np.ndarray) -> np.ndarray:
    spread = float(np.std(values))
    return (values - values.mean()) / spread if spread else values - values.mean()


def _mechanism(rng: np.random.Generator, family: str, causes: list[np.ndarray]) -> np.ndarray:
    """A random function of the causes, of mean 0 and variance 1."""
    inputs = np.column_stack([_unit(c) for c in causes])
    n, k = inputs.shape
    weights = rng.choice([-1.0, 1.0], size=k) * rng.uniform(0.7, 1.3, size=k)
    if family == "linear":
        return _unit(inputs @ weights)
    if family == "smooth":
        length = rng.uniform(1.0, 2.0) * np.sqrt(k)
        frequencies = rng.normal(size=(k, 200)) / length
        phases = rng.uniform(0, 2 * np.pi, size=200)
        return _unit(np.cos(inputs @ frequencies + phases) @ rng.normal(size=200))
    total = np.zeros(n)
    for j in range(k):
        kind = str(rng.choice(("tanh", "quadratic", "wave")))
        p = inputs[:, j]
        if kind == "tanh":
            piece = np.tanh(rng.uniform(1.0, 2.5) * p + rng.uniform(-1, 1))
        elif kind == "quadratic":
            piece = p + rng.uniform(0.3, 0.8) * p**2
        else:
            piece = np.sin(rng.uniform(1.0, 2.5) * p) + 0.5 * p
        total += weights[j] * _unit(piece)
    if family == "product" and k > 1:
        i, j = sorted(rng.choice(k, size=2, replace=False).tolist())
        total += rng.uniform(0.8, 1.5) * _unit(inputs[:, i] * inputs[:, j])
    return _unit(total)

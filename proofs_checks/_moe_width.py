"""What the evidence for `theory.moe_width` shares: outputs with derivatives, a plain trainer, samples of runs.

Runs use 4 samples in 2 dimensions and 4 experts throughout, in 32 bit, so that one program is compiled an optimiser; one
sample is written as four equal ones, which train alike."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from simulations import moe_width as sim

WIDTHS = (64, 128, 1024)  # the middle one of three equal steps would have no weight in a slope
X, Y = sim.example_data(4, 2)
EXPERTS = 4
UNEQUAL = (0.5, 1.0, 1.5, 2.0)  # learning rates of experts that are not exchangeable


# ---- gates on u = exp(r), with derivatives: numbers or symbols

def output(gate: str, u: Any, chosen: Any, f: Any) -> Any:
    """f = sum_e g_e f_e."""
    if gate == "sigmoid":
        return sum(2 * v / (1 + v) * x for v, x in zip(u, f, strict=True)) / len(u)
    chosen = (1,) * len(u) if gate == "softmax" else chosen
    top = sum(v * m * x for v, m, x in zip(u, chosen, f, strict=True))
    return top / (sum(v * m for v, m in zip(u, chosen, strict=True)) if gate == "topk_renorm" else sum(u))


class Dual:
    """A number or an expression, with its derivative."""

    def __init__(self, value: Any, slope: Any = 0) -> None:
        self.value, self.slope = value, slope

    def __add__(self, other: Any) -> Dual:
        o = dual(other)
        return Dual(self.value + o.value, self.slope + o.slope)

    def __mul__(self, other: Any) -> Dual:
        o = dual(other)
        return Dual(self.value * o.value, self.value * o.slope + self.slope * o.value)

    def __truediv__(self, other: Any) -> Dual:
        o = dual(other)
        value = (Fraction(self.value) if isinstance(self.value, int) else self.value) / o.value
        return Dual(value, (self.slope - value * o.slope) / o.value)

    __radd__, __rmul__ = __add__, __mul__


def dual(x: Any) -> Dual:
    return x if isinstance(x, Dual) else Dual(x)


def slope(gate: str, u: Any, chosen: Any, f: Any, e: int) -> Any:
    """df/dr_e = u_e df/du_e, exactly."""
    return u[e] * dual(output(gate, [Dual(v, int(i == e)) for i, v in enumerate(u)], chosen, f)).slope


POSITIVE = [Fraction(1, 3), Fraction(1), Fraction(4)]
OUTPUTS = [Fraction(-1), Fraction(2)]  # of each expert: slopes are linear in each output, so two values decide


def tables(size: int) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """(u, f) on small grids."""
    return product(product(POSITIVE, repeat=size), product(OUTPUTS, repeat=size))


def drawn(most: int = 6) -> st.SearchStrategy[Any]:
    """(u, f) for 2 to `most` experts."""
    return st.integers(2, most).flatmap(lambda size: st.tuples(
        st.tuples(*[st.integers(1, 40)] * size), st.tuples(*[st.integers(-9, 9)] * size)))


# ---- a plain trainer, expert by expert and sample by sample

def plain_step(net: Mapping[str, Any], x: Any, y: Any, gate: str, active: int, rate: float, multiplier: float | None = None
               ) -> dict[str, Any]:
    """One step of SGD in loops over samples and experts; `net` has U, V, a, w.

    Outputs and logits have the `multiplier` alpha, 1/n if None; `rate` is that of the weights times alpha, which under
    maximal update is eta."""
    experts, width = net["a"].shape
    alpha = 1 / width if multiplier is None else multiplier
    new = {k: v.copy() for k, v in net.items()}
    for point, target in zip(x, y, strict=True):
        h = np.tanh(net["U"] @ point)
        z = [np.tanh(net["V"][e] @ point) for e in range(experts)]
        f = alpha * np.array([net["a"][e] @ z[e] for e in range(experts)])
        r = alpha * np.array([net["w"][e] @ h for e in range(experts)])
        g, bend = plain_gates(r, f, gate, active)
        error, trunk = (g @ f - target) / len(x), np.zeros(width)
        for e in range(experts):
            new["a"][e] -= rate * error * g[e] * z[e]
            new["V"][e] -= rate * error * g[e] * np.outer(net["a"][e] * (1 - z[e] ** 2), point)
            new["w"][e] -= rate * error * bend[e] * h
            trunk += error * bend[e] * net["w"][e]
        new["U"] -= rate * np.outer(trunk * (1 - h**2), point)
    return new


def plain_gates(r: Any, f: Any, gate: str, active: int) -> tuple[Any, Any]:
    """Gates and df/dr of one sample; the first experts win ties."""
    if gate == "sigmoid":
        open_ = 1 / (1 + np.exp(-r))
        return 2 * open_ / len(r), 2 * open_ * (1 - open_) * f / len(r)
    chosen = np.ones(len(r)) if gate == "softmax" else np.zeros(len(r))
    chosen[np.argsort(-r, kind="stable")[:active]] = 1
    share = np.exp(r - r.max()) * (chosen if gate == "topk_renorm" else 1)
    share /= share.sum()
    seen = chosen * f
    return share * chosen, share * (seen - share @ seen)


def start(seed: int, width: int, experts: int, d: int, *, tied: bool = False) -> dict[str, Any]:
    """A random net; `tied`: the router starts at zero."""
    rng = np.random.default_rng(seed)
    net = {"U": rng.normal(size=(width, d)), "V": rng.normal(size=(experts, width, d)),
           "a": rng.normal(size=(experts, width)), "w": rng.normal(size=(experts, width))}
    return {**net, "w": 0 * net["w"]} if tied else net


def trained(net: Mapping[str, Any], gate: str, active: int, steps: int = 3) -> Mapping[str, Any]:
    x, y = sim.example_data(3, net["U"].shape[1])
    for _ in range(steps):
        net = plain_step(net, x, y, gate, active, rate=1.0)
    return net


class Moved(NamedTuple):
    """An update of one sample in the standard parametrisation, softmax: what bounds are made of, and what came.

    W, A, P, T, H, l, sigma, B as in `theory.moe_width.freeze_rate`; `change` is r(1) - r(0) + rho l' s |h|^2, (E,)."""

    W: float
    A: float
    P: float
    T: float
    H: float
    l: float
    sigma: float
    B: float
    change: Any
    gap: float
    outputs: float
    log_gradient: float


@lru_cache(maxsize=4096)
def moved(seed: int, width: int, sizes: tuple[float, float], rate: float, experts: int = 3) -> Moved:
    """From a random start whose a and w have the deviations `sizes` over root n."""
    net = start(seed, width, experts, 2)
    net |= {k: net[k] * s / width**0.5 for k, s in zip("aw", sizes, strict=True)}
    x, y = np.array([1.2, -0.7]), 0.8
    later = plain_step(net, [x], [y], "softmax", experts, rate, multiplier=1.0)
    (h, r, f), (_, r1, f1) = (_seen(one, x) for one in (net, later))
    g, bend = plain_gates(r, f, "softmax", experts)
    slope = g @ f - y
    t = np.sort(-slope * bend)[::-1]
    g1, bend1 = plain_gates(r1, f1, "softmax", experts)
    top = np.sort(r1)[::-1]
    with np.errstate(divide="ignore"):
        left = float(np.log(abs((g1 @ f1 - y) * bend1).max()))
    return Moved(np.linalg.norm(net["w"], axis=1).max(), np.linalg.norm(net["a"], axis=1).max(), abs(t).max(),
                 (x @ x) * np.linalg.norm(slope * bend @ net["w"]), h @ h, abs(slope), t[0] - t[1], np.ptp(r),
                 r1 - r + rate * slope * bend * (h @ h), top[0] - top[1], abs(f1).max(), left)


def _seen(net: Mapping[str, Any], x: Any) -> tuple[Any, Any, Any]:
    """Trunk, logits and outputs at multiplier 1."""
    h = np.tanh(net["U"] @ x)
    return h, net["w"] @ h, np.einsum("en,en->e", net["a"], np.tanh(net["V"] @ x))


# ---- samples of runs

@lru_cache(maxsize=256)  # a pure function of its arguments
def runs(width: int, seeds: int, key: int, settings: tuple[tuple[str, Any], ...]) -> sim.Trace:
    """Runs on data of shape `data`; `one_sample` puts its first sample in place of all; `model` "deep" is the second one."""
    given = dict(settings)
    x, y = sim.example_data(*given.pop("data", X.shape))
    if given.pop("one_sample", False):
        x, y = np.repeat(x[:1], len(x), 0), np.repeat(y[:1], len(y))
    if given.pop("model", None) == "deep":
        del given["parametrisation"]  # it has maximal update only
        return sim.simulate_deep(width, x=x, y=y, experts=EXPERTS, seeds=seeds, key=key, **given)
    return sim.simulate(width, x=x, y=y, experts=EXPERTS, seeds=seeds, key=key, dtype="float32", **given)


def growth(key: int, n: int, *, quantity: str, t: int, kinds: tuple[dict[str, Any], ...], widths: tuple[int, ...] = WIDTHS
           ) -> Any:
    """`quantity` at time t, (widths, n); "p*q" is a product. A replicate has one run of each of the `kinds`, and is their
    geometric mean: its slope is the mean of theirs, and replicates are independent though its runs are not."""
    found = np.zeros((len(widths), n))
    for kind in kinds:
        settings = tuple({"steps": t or 1, **kind}.items())
        traces = [runs(width, n, key, settings) for width in widths]
        found += [sum(np.log(getattr(trace, name)[:, t]) for name in quantity.split("*")) for trace in traces]
    return np.exp(found / len(kinds))


def group_rms(key: int, n: int, *, widths: tuple[int, ...], size: int = 32) -> Any:
    """Root mean squares of the router gradient after one update of sp0, over groups of `size` runs, (widths, n)."""
    kind = (("steps", 1), ("gate", "softmax"), ("parametrisation", "sp0"))
    return np.array([np.sqrt((runs(w, n * size, key, kind).router_gradient[:, 1].reshape(n, size) ** 2).mean(axis=1))
                     for w in widths])


def frozen(key: int, n: int, *, rate: int, width: int = 4096) -> Any:
    """Whether one sample's router gradient is below 1e-3 after one update, for a learning rate eta n^-`rate`."""
    kind = (("steps", 1), ("gate", "softmax"), ("parametrisation", f"sp{rate}"), ("one_sample", True))
    return (runs(width, n, key, kind).sample_gradient[:, 1, 0] < 1e-3).astype(float)


def carried(key: int, n: int) -> Any:
    """|second| / |first| update of the router by Adam, standard parametrisation, one sample, at most 2."""
    norms = runs(1024, n, key, (("steps", 2), ("gate", "softmax"), ("parametrisation", "sp0"), ("one_sample", True),
                                ("optimiser", "adam"), ("learning_rate", 0.05))).update_norm
    return np.minimum(norms[:, 2] / norms[:, 1], 2.0)


@lru_cache(maxsize=16)
def dense_limit(rate: float, steps: int) -> Any:
    """The prediction of the infinitely wide dense net."""
    return sim.limit(gate="softmax", experts=1, x=X, y=Y, steps=steps, learning_rate=rate, method="quadrature",
                     nodes=41).prediction


@lru_cache(maxsize=64)
def limit_error(key: int, n: int, *, rate: float, t: int = 4) -> Any:
    """Root mean square over samples of f_n - f_limit at time t, softmax, learning rate 2, (WIDTHS, n)."""
    target = dense_limit(rate, t)[t]
    traces = [sim.simulate(w, gate="softmax", parametrisation="mup", x=X, y=Y, experts=EXPERTS, seeds=n, steps=t,
                           key=key) for w in WIDTHS]
    return np.array([np.sqrt(((trace.prediction[:, t] - target) ** 2).mean(axis=1)) for trace in traces])


@lru_cache(maxsize=8)
def sparse_distance(gate: str, active: int, t: int, draws: int = 40) -> float:
    """The mean distance of experts in the random limit."""
    one = partial(sim.limit, gate=gate, active=active, x=X, y=Y, experts=EXPERTS, steps=t, method="particles", particles=2048)
    return float(np.mean([one(key=k).expert_distance[t] for k in range(draws)]))


def distances(key: int, n: int, *, t: int, width: int = 1024) -> Any:
    """Distances of experts under Top-1, masked."""
    kind = (("steps", t), ("gate", "topk_masked"), ("parametrisation", "mup"), ("active", 1))
    return runs(width, n, key, kind).expert_distance[:, t]

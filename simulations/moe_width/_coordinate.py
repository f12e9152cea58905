"""A coordinate check for mixtures of experts: train a model of one's own at several widths, and read off what scales how."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from simulations._arguments import between, checked_key, whole
from simulations._jax import jax, jnp
from simulations.exponents import Exponent, fit_exponent
from simulations.moe_width._simulate import check_data, scaling

__all__ = ["CoordinateReport", "Mixture", "coordinate_check", "example_mixture"]

QUANTITIES = ("prediction", "logits", "outputs", "features", "prediction_change", "logit_change", "expert_distance",
              "feature_move")
ZERO, PARTLY = "zero", "zero at some widths"  # in place of a fit


class CoordinateReport(NamedTuple):
    """What `coordinate_check` found after `steps` updates; each answer is "yes", "no" or "undecided".

    exponents        quantity -> slope of its root mean square on the width, with its interval; None where a quantity is
                     zero at some width
    stable           nothing that is looked at grows with the width: predictions, logits, the experts' outputs and features,
                     and how far these move
    learns_features  the experts' features move by as much at every width, or by more at larger ones
    specialises      experts differ by as much at every width, or by more
    router_learns    logits move by as much at every width, or by more
    text             all of this in plain lines"""

    exponents: dict[str, Exponent | None]
    stable: str
    learns_features: str
    specialises: str
    router_learns: str
    text: str


def coordinate_check(build: Callable[[int, Any], Any], update: Callable[[Any], Any],
                     observe: Callable[[Any], Mapping[str, Any]], *, widths: Sequence[int] = (32, 64, 128, 256),
                     seeds: int = 8, steps: int = 3, tolerance: float = 0.15, level: float = 0.95, key: int = 0
                     ) -> CoordinateReport:
    """Train `seeds` models at each width for `steps` updates, and say what scales how.

    `build(width, key)` gives a state (a model, with whatever its optimiser remembers), `update(state)` the state after one
    training step, `observe(state)` a mapping with "prediction (P,)", "logits (P, E)", "outputs (P, E)" of the experts and
    "features", an array of the experts' hidden activations. Any framework will do; jit `update` and `observe` yourself.

    A quantity grows or vanishes if the interval of its exponent lies beyond +-`tolerance`, and stays if it overlaps that and
    ends within +-2 * tolerance; else nothing is decided, nor where it is zero at some widths and not at others (zero at
    every width counts as vanishing). More seeds make intervals shorter. The verdict is about these
    widths and steps: collapsed experts part in the long run (see `theory.moe_width.late_specialisation`).

    Your functions run with jax's usual promotion of dtypes and ranks, though this package forbids it to itself; with 64 bit
    on, arrays without a dtype are float64. ValueError: fewer than 3 widths, or widths that are not whole and positive,
    steps < 1, fewer than 4 seeds, tolerance <= 0, level outside (0, 1), an observation that is no mapping, misses an entry,
    has another shape or is not finite, models of one width that are all the same."""
    widths = checked_widths(widths)
    _settings(seeds, steps, tolerance, level, key)
    found = np.empty((len(QUANTITIES), len(widths), seeds))
    for i, width in enumerate(widths):
        for j in range(seeds):
            found[:, i, j] = _sizes(*_trained(build, update, observe, width, j, steps, key))
    if (same := (found == found[:, :, :1]).all(axis=(0, 2))).any():
        raise ValueError(f"build gives the same model for all {seeds} keys at width {widths[int(same.argmax())]}; it must draw "
                         "one by its key")
    kinds = {name: "" if values.any(axis=1).all() else PARTLY if values.any() else ZERO
             for name, values in zip(QUANTITIES, found, strict=True)}
    fits = {name: None if kinds[name] else fit_exponent(widths, values, level)
            for name, values in zip(QUANTITIES, found, strict=True)}
    said = {name: "undecided" if kinds[name] == PARTLY else _trend(fit, tolerance) for name, fit in fits.items()}
    known = [fit for fit in fits.values() if fit is not None]
    bounded = PARTLY not in kinds.values() and all(fit.upper < 2 * tolerance for fit in known)
    stable = "no" if any(fit.lower > tolerance for fit in known) else "yes" if bounded else "undecided"
    answers = [stable, *(_answer(said[name]) for name in ("feature_move", "expert_distance", "logit_change"))]
    return CoordinateReport(fits, answers[0], answers[1], answers[2], answers[3],
                            _text(fits, kinds, said, answers, widths, steps, level))


def checked_widths(widths: Any) -> tuple[int, ...]:
    """At least 3 different whole numbers. ValueError otherwise."""
    try:
        found = tuple(widths)
    except TypeError as error:
        raise ValueError(f"widths={widths!r} must be a list of whole numbers, at least 1") from error
    for width in found:
        if isinstance(width, bool) or not isinstance(width, int | np.integer) or width < 1:
            raise ValueError(f"widths={widths!r} must be whole numbers, at least 1")
    if len(set(found)) < 3:
        raise ValueError(f"widths={widths!r} must have at least 3 different entries")
    return tuple(int(width) for width in found)


def _settings(seeds: Any, steps: Any, tolerance: Any, level: Any, key: Any) -> None:
    whole(steps, "steps", 1)
    whole(seeds, "seeds", 4)
    between(tolerance, "tolerance", 0, np.inf, "be greater than 0, and finite")
    between(level, "level", 0, 1, "lie strictly between 0 and 1")
    checked_key(key)


def _trained(build: Callable[[int, Any], Any], update: Callable[[Any], Any], observe: Callable[[Any], Mapping[str, Any]],
             width: int, seed: int, steps: int, key: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """What is observed of one model before and after its updates."""
    own = jax.random.fold_in(jax.random.fold_in(jax.random.key(key), width), seed)
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        state = build(width, own)
        first = _checked(observe(state))
        for _ in range(steps):
            state = update(state)
        last = _checked(observe(state))
    if first["features"].shape != last["features"].shape:
        raise ValueError(f"observe gives features of shape {first['features'].shape} before the updates and "
                         f"{last['features'].shape} after them; they must be of the same neurons")
    return first, last


def _checked(seen: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if not isinstance(seen, Mapping):
        raise ValueError(f"observe gives a {type(seen).__name__}; it must give a mapping with prediction, logits, outputs and "
                         "features")
    if missing := {"prediction", "logits", "outputs", "features"} - set(seen):
        raise ValueError(f"observe gives {sorted(seen)}; {sorted(missing)[0]!r} is missing")
    values = {name: _numbers(name, seen[name]) for name in ("prediction", "logits", "outputs", "features")}
    shape = values["outputs"].shape
    if len(shape) != 2 or values["logits"].shape != shape or values["prediction"].shape != shape[:1] or shape[1] < 2:
        raise ValueError(f"observe gives prediction {values['prediction'].shape}, logits {values['logits'].shape} and outputs "
                         f"{shape}; needed (P,), (P, E) and (P, E) with E >= 2")
    if bad := [name for name, value in values.items() if not np.isfinite(value).all()]:
        raise ValueError(f"observe gives {bad[0]} that is not finite: the model diverged")
    return values


def _numbers(name: str, value: Any) -> np.ndarray:
    """A copy, which an update in place does not reach."""
    try:
        if np.iscomplexobj(value):
            raise TypeError("complex numbers")
        numbers = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"observe gives {name} that are not real numbers: {value!r:.60}") from error
    if not numbers.size:
        raise ValueError(f"observe gives {name} of shape {numbers.shape}; it must not be empty")
    return numbers


def _rms(values: np.ndarray) -> float:
    """Root mean square, of values of any size."""
    largest = float(np.abs(values).max())
    return largest * float(np.sqrt(np.mean(np.square(values / largest)))) if largest else 0.0


def _sizes(first: dict[str, np.ndarray], last: dict[str, np.ndarray]) -> list[float]:
    """In the order of QUANTITIES."""
    outputs = last["outputs"]
    return [*(_rms(last[name]) for name in QUANTITIES[:4]), _rms(last["prediction"] - first["prediction"]),
            _rms(last["logits"] - first["logits"]), _rms(outputs[:, :, None] - outputs[:, None, :]),
            _rms(last["features"] - first["features"])]


def _trend(fit: Exponent | None, tolerance: float) -> str:
    if fit is None or fit.upper < -tolerance:
        return "vanishes"
    if fit.lower > tolerance:
        return "grows"
    return "stays" if fit.lower > -2 * tolerance and fit.upper < 2 * tolerance else "undecided"


def _answer(trend: str) -> str:
    return {"stays": "yes", "grows": "yes", "vanishes": "no"}.get(trend, "undecided")


def _text(fits: Mapping[str, Exponent | None], kinds: Mapping[str, str], said: Mapping[str, str], answers: Sequence[str],
          widths: Sequence[int], steps: int, level: float) -> str:
    head = f"after {steps} updates, widths {min(widths)} to {max(widths)}, intervals of level {level:g}"
    rows = [f"  {name:18s} " + (kinds[name] if fit is None else f"n^{fit.slope:+.2f} [{fit.lower:+.2f}, {fit.upper:+.2f}]")
            + f"  {said[name]}" for name, fit in fits.items()]
    asked = ("stable", "learns features", "experts specialise", "router learns")
    return "\n".join([head, *rows, *(f"{q}? {a}" for q, a in zip(asked, answers, strict=True))])


class Mixture(eqx.Module):
    """A small mixture of experts in Equinox, an example: tanh trunk, tanh experts, softmax over the `active` largest.

    ValueError: width, d, experts or active < 1, active > experts."""

    trunk: Float[Array, "width d"]
    experts: Float[Array, "E width d"]
    readout: Float[Array, "E width"]
    router: Float[Array, "E width"]
    multiplier: float = eqx.field(static=True)
    active: int = eqx.field(static=True)

    def __init__(self, width: int, d: int, experts: int, active: int, *, scale: float, multiplier: float,
                 key: PRNGKeyArray) -> None:
        for value, name in ((width, "width"), (d, "d"), (experts, "experts")):
            whole(value, name, 1)
        whole(active, "active", 1, experts)
        first, second, third, fourth = jax.random.split(key, 4)
        self.trunk = jax.random.normal(first, (width, d)) / d**0.5
        self.experts = jax.random.normal(second, (experts, width, d)) / d**0.5
        self.readout = scale * jax.random.normal(third, (experts, width))
        self.router = scale * jax.random.normal(fourth, (experts, width))
        self.multiplier, self.active = multiplier, active

    def __call__(self, x: Float[Array, "P d"]) -> dict[str, Array]:
        """prediction (P,), logits (P, E), outputs (P, E), features (P, E, width)."""
        features = jnp.tanh(jnp.einsum("ewd,pd->pew", self.experts, x))
        outputs = self.multiplier * jnp.einsum("ew,pew->pe", self.readout, features)
        logits = self.multiplier * jnp.tanh(x @ self.trunk.T) @ self.router.T
        least = jax.lax.top_k(logits, self.active)[0][:, -1:]
        gates = jax.nn.softmax(jnp.where(logits >= least, logits, -jnp.inf), axis=1)
        return {"prediction": (gates * outputs).sum(axis=1), "logits": logits, "outputs": outputs, "features": features}


def example_mixture(x: Any, y: Any, *, parametrisation: str = "mup", experts: int = 4, active: int = 4,
                    learning_rate: float = 2.0) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """(build, update, observe) of `Mixture` trained by SGD with autodiff: an example for `coordinate_check`.

    ValueError as `Mixture` and `scaling`, y of another length than x, values that are not finite."""
    x, y = map(jnp.asarray, check_data(x, y))
    scaling(parametrisation, 1, learning_rate)  # refused here rather than at the first update
    whole(active, "active", 1, whole(experts, "experts", 2))

    def build(width: int, key: PRNGKeyArray) -> Mixture:
        own = scaling(parametrisation, width)
        return Mixture(width, x.shape[1], experts, active, scale=own.scale, multiplier=own.multiplier, key=key)

    def loss(model: Mixture) -> Array:
        return 0.5 * jnp.mean((model(x)["prediction"] - y) ** 2)

    @eqx.filter_jit
    def update(model: Mixture) -> Mixture:
        rate = scaling(parametrisation, model.trunk.shape[0], learning_rate).rate
        steps = jax.tree.map(lambda g: -rate * g, eqx.filter_grad(loss)(model))
        return eqx.apply_updates(model, steps)

    return build, update, eqx.filter_jit(lambda model: model(x))

"""The compiled part of `simulate`: one program for every width, gate, parametrisation, number of seeds and of steps.

Neurons live in blocks of BLOCK in buffers of a fixed capacity; the number of blocks, of seeds and of steps are run-time
values, so that only a new shape of the data, number of experts, optimiser or precision compiles anew. Neurons of zeros,
which fill the last block, have zero gradients under every rule here and stay zero. A step is one pass: each block is
moved by the gradient at the old outputs and adds to the new ones at once. Seeds run one after the other, which on a
CPU beats running them side by side."""
from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from simulations._jax import jax, jnp
from simulations.moe_width._draw import normals

BLOCK = 256
LANES = 32  # of it are added up side by side
CAPACITY = 8192  # neurons that every program has room for (buffers are cleared at each call); larger widths compile again
NUMBERS = ("router_gradient", "logit_change", "expert_distance", "feature_move", "trunk_move", "update_norm", "gate_max",
           "loss", "tie")
PER_SAMPLE = ("prediction", "sample_gradient", "logit_gap")


class Router(NamedTuple):
    """A gate as run-time values: sigmoid or softmax, over all experts or over the `active` chosen ones."""

    sigmoid: Bool[Array, ""]
    renormalised: Bool[Array, ""]
    active: Int[Array, ""]


class Constants(NamedTuple):
    """What depends on width, parametrisation and optimiser: multipliers, initial scales and means, learning rates."""

    multiplier: Float[Array, " experts"]
    router_multiplier: Float[Array, ""]
    scale: Float[Array, ""]
    router_scale: Float[Array, ""]
    mean: Float[Array, " experts"]  # of a
    weight_mean: Float[Array, " experts"]  # of V
    expert_rate: Float[Array, " experts"]
    router_rate: Float[Array, ""]
    units: Float[Array, ""]  # Adam: what gradients are multiplied by before epsilon is added
    epsilon: Float[Array, ""]
    betas: Float[Array, " two"]


class Net(NamedTuple):
    """Weights by blocks: V_1 .. V_E, the trunk U, the readouts and the router. Neurons are the last axis of everything:
    inner loops then run over a whole block, and a CPU does many neurons at a time."""

    v: Float[Array, "blocks d experts block"]
    u: Float[Array, "blocks d block"]
    a: Float[Array, "blocks experts block"]
    r: Float[Array, "blocks experts block"]


class Features(NamedTuple):
    """tanh of the experts' and of the trunk's neurons, by blocks; or weights, from which these are computed again."""

    z: Float[Array, "blocks samples experts block"]
    h: Float[Array, "blocks samples block"]


def shapes(experts: int, d: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of a block's weights, in the order of `Net`."""
    return (d, experts, BLOCK), (d, BLOCK), (experts, BLOCK), (experts, BLOCK)


class Routing(NamedTuple):
    """Gates, the derivative of the output by each logit, and whether logits tie where the chosen experts end."""

    gates: Float[Array, "experts samples"]
    slope: Float[Array, "experts samples"]
    tie: Bool[Array, ""]


def route(logits: Float[Array, "experts samples"], outputs: Float[Array, "experts samples"], router: Router) -> Routing:
    """Gates g and df/dr_e. Differences of outputs are taken in pairs and gates by their logarithms, so that slopes stay
    accurate down to the smallest floats; a tie is broken towards the first expert."""
    experts = logits.shape[0]
    index = jnp.arange(experts)
    above = logits[:, None, :] > logits[None, :, :]  # experts experts samples: the first lies above the second
    level = logits[:, None, :] == logits[None, :, :]
    before = (index[:, None] < index[None, :])[:, :, None]
    chosen = (above | (level & before)).sum(axis=0) < router.active
    tie = (level & chosen[:, None, :] & ~chosen[None, :, :]).any()
    masked = jnp.where(chosen | ~router.renormalised, logits, -jnp.inf)
    share = jnp.exp(masked - jax.nn.logsumexp(masked, axis=0, keepdims=True))
    seen = jnp.where(chosen, outputs, 0.0)
    pulls = (share[None, :, :] * (seen[:, None, :] - seen[None, :, :])).sum(axis=1)
    open_ = 2.0 / experts * jax.nn.sigmoid(logits)
    gates = jnp.where(router.sigmoid, open_, jnp.where(chosen, share, 0.0))
    return Routing(gates, jnp.where(router.sigmoid, open_ * jax.nn.sigmoid(-logits) * outputs, share * pulls), tie)


class _Sums(NamedTuple):
    """What one pass over the blocks adds up, in 64 bit."""

    logits: Float[Array, "experts samples"]
    outputs: Float[Array, "experts samples"]
    move: Float[Array, ""]
    trunk: Float[Array, ""]
    update: Float[Array, ""]


class _Memory(NamedTuple):
    """Adam's moments of units * gradient; empty without Adam."""

    first: Net
    second: Net


def _features(weights: Net | Features, x: Array) -> Features:
    return Features(jnp.tanh(jnp.einsum("pd,deb->peb", x, weights[0])), jnp.tanh(x @ weights[1]))


def _gradient(net: Net, active: Features, x: Array, pull: Array, push: Array) -> Net:
    """Of the loss by one block with features `active`; `pull`, `push (experts, samples)` are its derivatives by the sums of
    outputs and of logits."""
    z, h = active
    at_z = (1 - z * z) * (net.a[None] * pull.T[:, :, None])
    at_h = (1 - h * h) * (push.T @ net.r)
    return Net(jnp.einsum("pd,peb->deb", x, at_z), x.T @ at_h, (z * pull.T[:, :, None]).sum(axis=0), push @ h)


def _forward(net: Net, active: Features, first: Features, update: Array) -> _Sums:
    """What a block with features `active`, at the start `first`, adds to the sums."""
    wide = jnp.float64
    return _Sums((net.r @ active.h.T).astype(wide), _sum(net.a[None] * active.z).T,
                 _sum(jnp.square(active.z - first.z)).sum(), _sum(jnp.square(active.h - first.h)).sum(),
                 _sum(jnp.square(update)).sum())


def _sum(values: Array) -> Array:
    """Sums over the last axis, in strides: added up one after the other, numbers would wait for each other."""
    return values.reshape(*values.shape[:-1], -1, LANES).sum(axis=-2).astype(jnp.float64).sum(axis=-1)


def _started(new: Net, i: Array, carry: Any, x: Array, store: bool) -> Any:
    """The buffers and sums with block i at its start."""
    (net, seen, first, memory), sums = carry
    active = _features(new, x)
    found, mark = _forward(new, active, active, jnp.zeros(LANES, x.dtype)), active if store else Features(*new[:2])
    blank = jax.tree.map(lambda b: jnp.zeros(b.shape[1:], b.dtype), memory)
    seen = _put(seen, mark, i) if store else seen
    return (_put(net, new, i), seen, _put(first, mark, i), _put(memory, blank, i)), jax.tree.map(jnp.add, sums, found)


def _rates(constants: Constants, dtype: Any) -> Net:
    experts = constants.expert_rate.astype(dtype)
    router = constants.router_rate.astype(dtype)
    return Net(experts[None, :, None], router[None, None], experts[:, None], router[None, None])


def _adam(gradient: Net, memory: _Memory, constants: Constants, t: Array, dtype: Any) -> tuple[Net, _Memory]:
    """Directions and new moments; 0/0 is 0."""
    one, two = constants.betas[0].astype(dtype), constants.betas[1].astype(dtype)
    scaled = jax.tree.map(lambda g: g * constants.units.astype(dtype), gradient)
    first = jax.tree.map(lambda m, g: one * m + (1 - one) * g, memory.first, scaled)
    second = jax.tree.map(lambda v, g: two * v + (1 - two) * g * g, memory.second, scaled)
    clock = t.astype(jnp.float64)
    mend = [(1 - beta**clock).astype(dtype) for beta in (constants.betas[0], constants.betas[1])]

    def direction(m: Array, v: Array) -> Array:
        below = jnp.sqrt(v / mend[1]) + constants.epsilon.astype(dtype)
        return jnp.where(below > 0, m / mend[0] / jnp.where(below > 0, below, 1.0), 0.0)

    return jax.tree.map(direction, first, second), _Memory(first, second)


def _at(buffers: Any, i: Array | int) -> Any:
    return jax.tree.map(lambda b: jax.lax.dynamic_index_in_dim(b, i, keepdims=False), buffers)


def _put(buffers: Any, values: Any, i: Array) -> Any:
    return jax.tree.map(lambda b, v: jax.lax.dynamic_update_index_in_dim(b, v, i, 0), buffers, values)


def _draw(key: PRNGKeyArray, i: Array, width: Array, constants: Constants, shape: tuple[int, int], dtype: Any) -> Net:
    """Block i of a net at the start; neurons from `width` on are zeros."""
    experts, d = shape
    rows = (experts + 1) * d + 2 * experts
    normal = normals(key, i * (rows * BLOCK), (rows, BLOCK), dtype)
    there = (i * BLOCK + jnp.arange(BLOCK) < width).astype(dtype)
    normal = normal * there[None, :]
    v, u, a, r = jnp.split(normal, (d * experts, d * (experts + 1), d * (experts + 1) + experts))
    shift = constants.weight_mean.astype(dtype)[None, :, None] * there[None, None, :]
    return Net(v.reshape(d, experts, BLOCK) / d**0.5 + shift, u / d**0.5,
               a * constants.scale.astype(dtype) + constants.mean.astype(dtype)[:, None] * there[None, :],
               r * constants.router_scale.astype(dtype))


def _measure(sums: _Sums, first: Array, *, neurons: Array, y: Array, router: Router, constants: Constants
             ) -> tuple[Array, Array, Array, Array]:
    """A row of the table, the logits, and the derivatives of the loss by the sums of outputs and of logits."""
    experts, samples = sums.logits.shape
    squares = sums.move / (neurons * (experts * samples)), sums.trunk / (neurons * samples), sums.update
    row, logits, by_output, by_logit = summary(sums.logits * constants.router_multiplier,
                                               sums.outputs * constants.multiplier[:, None], first, squares, y, router)
    return (row, logits, by_output / samples * constants.multiplier[:, None],
            by_logit / samples * constants.router_multiplier)


def summary(logits: Array, outputs: Array, first: Array, squares: tuple[Array, Array, Array], y: Array, router: Router
            ) -> tuple[Array, Array, Array, Array]:
    """A row of the table, the logits, and the derivatives of each sample's loss by outputs and logits (experts, samples).

    `squares`: mean square moves of the experts' and of the trunk's features, and the square of the router's update."""
    experts = len(logits)
    routing = route(logits, outputs, router)
    prediction = (routing.gates * outputs).sum(axis=0)
    error = prediction - y
    by_logit = error[None, :] * routing.slope
    change = logits - first
    pairs = outputs[:, None, :] - outputs[None, :, :]
    largest = jnp.arange(experts)[:, None] == jnp.argmax(logits, axis=0)[None, :]
    gap = logits.max(axis=0) - jnp.where(largest, -jnp.inf, logits).max(axis=0)  # inf for a single expert
    numbers = jnp.stack([
        _rms(by_logit), _rms(change), _rms(pairs) * (experts / max(experts - 1, 1)) ** 0.5, *map(jnp.sqrt, squares),
        routing.gates.max(axis=0).mean(), 0.5 * (error**2).mean(), routing.tie.astype(jnp.float64)])
    row = jnp.concatenate([numbers, prediction, jnp.abs(by_logit).max(axis=0), gap])
    return row, logits, error[None, :] * routing.gates, by_logit


@partial(jax.jit, static_argnames=("adam", "blocks", "rooms", "dtype", "store"))
def train(key: PRNGKeyArray, width: Int[Array, ""], steps: Int[Array, ""], seeds: Int[Array, ""],
          x: Float[Array, "samples d"], y: Float[Array, " samples"], router: Router, constants: Constants, given: Net,
          use_given: Bool[Array, ""], *, adam: bool, blocks: int, rooms: tuple[int, int], dtype: str, store: bool) -> Array:
    """What is recorded, (rooms seeds, rooms steps + 1, numbers and per-sample columns); rows beyond are zeros.

    `blocks` and `rooms` are capacities. `given` replaces the draw where `use_given`. `store` keeps the features of all
    neurons, now and at the start, instead of computing them again: faster, samples / d times the memory."""
    experts, (samples, d), low = constants.mean.shape[0], x.shape, x.astype(dtype)
    empty = Net(*(jnp.zeros((blocks, *s), dtype) for s in shapes(experts, d)))
    memory = _Memory(empty, empty) if adam else None
    nothing = _Sums(*(jnp.zeros(s) for s in ((experts, samples), (experts, samples), (), (), ())))
    count, neurons = (width + BLOCK - 1) // BLOCK, width.astype(jnp.float64)

    def begin(key: PRNGKeyArray, state: Any) -> Any:
        def block(i: Array, carry: Any) -> Any:
            new = jax.lax.cond(use_given, lambda: jax.tree.map(lambda b: b.astype(dtype), _at(given, i)),
                               lambda: _draw(key, i, width, constants, (experts, d), dtype))
            return _started(new, i, carry, low, store)

        return jax.lax.fori_loop(0, count, block, (state, nothing))

    def step(t: Array, state: Any, pull: Array, push: Array) -> Any:
        rates = _rates(constants, dtype)

        def block(i: Array, carry: Any) -> Any:
            net, seen, memory, old, active, moments, sums = carry
            active = active if store else _features(old, low)
            direction = _gradient(old, active, low, pull.astype(dtype), push.astype(dtype))
            if adam:
                direction, moments = _adam(direction, moments, constants, t, dtype)
                memory = _put(memory, moments, i)
            change = jax.tree.map(lambda g, rate: -rate * g, direction, rates)
            new = jax.tree.map(jnp.add, old, change)
            active = _features(new, low)
            found = _forward(new, active, _at(first, i) if store else _features(_at(first, i), low), change.r)
            net, seen, after = _put(net, new, i), _put(seen, active, i) if store else seen, jnp.minimum(i + 1, blocks - 1)
            return (net, seen, memory, *(_at(b, after) for b in (net, seen, memory)), jax.tree.map(jnp.add, sums, found))

        net, seen, first, memory = state
        ahead = [_at(b, 0) for b in (net, seen, memory)]  # read ahead, so that buffers are written in place
        net, seen, memory, *_, sums = jax.lax.fori_loop(0, count, block, (net, seen, memory, *ahead, nothing))
        return (net, seen, first, memory), sums

    measure = partial(_measure, neurons=neurons, y=y, router=router, constants=constants)

    def one(seed: Array, carry: Any) -> Any:
        state, table = carry
        state, sums = begin(jax.random.fold_in(key, seed), state)
        logits = sums.logits * constants.router_multiplier
        row, first, pull, push = measure(sums, logits)
        rows = jnp.zeros((rooms[1], row.shape[0])).at[0].set(row)

        def next_(t: Array, carry: Any) -> Any:
            state, rows, pull, push = carry
            state, sums = step(t, state, pull, push)
            row, _, pull, push = measure(sums, first)
            return state, rows.at[t].set(row), pull, push

        state, rows, _, _ = jax.lax.fori_loop(1, steps + 1, next_, (state, rows, pull, push))
        return state, table.at[seed].set(rows)

    table = jnp.zeros((*rooms, len(NUMBERS) + len(PER_SAMPLE) * samples))
    marks = Features(*(jnp.zeros((blocks, samples, *b.shape[2:]), dtype) if store else b for b in (empty.v, empty.u)))
    return jax.lax.fori_loop(0, seeds, one, ((empty, marks if store else None, marks, memory), table))[1]


def _rms(values: Array) -> Array:
    """Root mean square, of values of any size."""
    largest = jnp.abs(values).max()
    scale = jnp.where((largest > 0) & jnp.isfinite(largest), largest, 1.0)
    return scale * jnp.sqrt(jnp.mean((values / scale) ** 2))

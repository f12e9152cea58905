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

BLOCK = 256  # 64 to 512 cost the same within a third
CAPACITY = 65536  # neurons that every program has room for; larger widths compile again
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
    """Weights by blocks. `w` holds V_1 .. V_E and then the trunk U; `a` the readouts, `r` the router."""

    w: Float[Array, "blocks rows block d"]
    a: Float[Array, "blocks experts block"]
    r: Float[Array, "blocks experts block"]


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


def _features(w: Array, x: Array) -> Array:
    return jnp.tanh(jnp.einsum("rbd,pd->rbp", w, x))  # rows block samples


def _gradient(net: Net, active: Array, x: Array, pull: Array, push: Array) -> Net:
    """Of the loss by one block with features `active`; `pull`, `push (experts, samples)` are its derivatives by the sums of
    outputs and of logits."""
    z, h = active[:-1], active[-1]
    back = jnp.concatenate([net.a[:, :, None] * pull[:, None, :], jnp.einsum("eb,ep->bp", net.r, push)[None]])
    return Net(jnp.einsum("rbp,pd->rbd", (1 - active * active) * back, x), jnp.einsum("ebp,ep->eb", z, pull),
               jnp.einsum("bp,ep->eb", h, push))


def _forward(net: Net, active: Array, first: Array, update: Array) -> _Sums:
    """What a block with features `active`, at the start `first`, adds to the sums."""
    move = active - first
    move = move * move
    wide = jnp.float64
    return _Sums(jnp.einsum("eb,bp->ep", net.r, active[-1]).astype(wide),
                 jnp.einsum("eb,ebp->ep", net.a, active[:-1]).astype(wide), move[:-1].sum().astype(wide),
                 move[-1].sum().astype(wide), (update * update).sum().astype(wide))


def _started(new: Net, i: Array, carry: Any, x: Array, store: bool) -> Any:
    """The buffers and sums with block i at its start."""
    (net, seen, first, memory), sums = carry
    active = _features(new.w, x)
    found, mark = _forward(new, active, active, jnp.zeros((), x.dtype)), active if store else new.w
    blank = jax.tree.map(lambda b: jnp.zeros(b.shape[1:], b.dtype), memory)
    seen = _put(seen, mark, i) if store else seen
    return (_put(net, new, i), seen, _put(first, mark, i), _put(memory, blank, i)), jax.tree.map(jnp.add, sums, found)


def _rates(constants: Constants, dtype: Any) -> Net:
    experts = constants.expert_rate.astype(dtype)
    router = constants.router_rate.astype(dtype)
    return Net(jnp.append(experts, router)[:, None, None], experts[:, None], router[None, None])


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
    normal = jax.random.normal(jax.random.fold_in(key, i), ((experts + 1) * d + 2 * experts, BLOCK), dtype)
    there = (i * BLOCK + jnp.arange(BLOCK) < width).astype(dtype)
    normal = normal * there[None, :]
    w = normal[:(experts + 1) * d].reshape(experts + 1, d, BLOCK).transpose(0, 2, 1) / d**0.5
    a, r = normal[(experts + 1) * d:].reshape(2, experts, BLOCK)
    shift = jnp.append(constants.weight_mean, 0.0).astype(dtype)[:, None, None] * there[None, :, None]
    return Net(w + shift, a * constants.scale.astype(dtype) + constants.mean.astype(dtype)[:, None] * there[None, :],
               r * constants.router_scale.astype(dtype))


def _measure(sums: _Sums, first: Array, *, neurons: Array, y: Array, router: Router, constants: Constants
             ) -> tuple[Array, Array, Array, Array]:
    """A row of the table, the logits, and the derivatives of the loss by the sums of outputs and of logits."""
    experts, samples = sums.logits.shape
    outputs, logits = sums.outputs * constants.multiplier[:, None], sums.logits * constants.router_multiplier
    routing = route(logits, outputs, router)
    prediction = (routing.gates * outputs).sum(axis=0)
    error = prediction - y
    by_logit = error[None, :] * routing.slope
    change = logits - first
    pairs = outputs[:, None, :] - outputs[None, :, :]
    largest = jnp.arange(experts)[:, None] == jnp.argmax(logits, axis=0)[None, :]
    gap = logits.max(axis=0) - jnp.where(largest, -jnp.inf, logits).max(axis=0)  # inf for a single expert
    numbers = jnp.stack([
        _rms(by_logit), _rms(change), _rms(pairs) * (experts / max(experts - 1, 1)) ** 0.5,
        jnp.sqrt(sums.move / (neurons * (experts * samples))), jnp.sqrt(sums.trunk / (neurons * samples)),
        jnp.sqrt(sums.update), routing.gates.max(axis=0).mean(),
        0.5 * (error**2).mean(), routing.tie.astype(jnp.float64)])
    row = jnp.concatenate([numbers, prediction, jnp.abs(by_logit).max(axis=0), gap])
    return (row, logits, error[None, :] * routing.gates / samples * constants.multiplier[:, None],
            by_logit / samples * constants.router_multiplier)


@partial(jax.jit, static_argnames=("adam", "blocks", "rooms", "dtype", "store"))
def train(key: PRNGKeyArray, width: Int[Array, ""], steps: Int[Array, ""], seeds: Int[Array, ""],
          x: Float[Array, "samples d"], y: Float[Array, " samples"], router: Router, constants: Constants, given: Net,
          use_given: Bool[Array, ""], *, adam: bool, blocks: int, rooms: tuple[int, int], dtype: str, store: bool) -> Array:
    """What is recorded, (rooms seeds, rooms steps + 1, numbers and per-sample columns); rows beyond are zeros.

    `blocks` and `rooms` are capacities. `given` replaces the draw where `use_given`. `store` keeps the features of all
    neurons, now and at the start, instead of computing them again: faster, samples / d times the memory."""
    experts, (samples, d), low = constants.mean.shape[0], x.shape, x.astype(dtype)
    empty = Net(*(jnp.zeros((blocks, *s), dtype) for s in ((experts + 1, BLOCK, d), (experts, BLOCK), (experts, BLOCK))))
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
            active = active if store else _features(old.w, low)
            direction = _gradient(old, active, low, pull.astype(dtype), push.astype(dtype))
            if adam:
                direction, moments = _adam(direction, moments, constants, t, dtype)
                memory = _put(memory, moments, i)
            change = jax.tree.map(lambda g, rate: -rate * g, direction, rates)
            new = jax.tree.map(jnp.add, old, change)
            active = _features(new.w, low)
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
    marks = jnp.zeros((blocks, experts + 1, BLOCK, samples), dtype) if store else empty.w
    return jax.lax.fori_loop(0, seeds, one, ((empty, marks if store else None, marks, memory), table))[1]


def _rms(values: Array) -> Array:
    """Root mean square, of values of any size."""
    largest = jnp.abs(values).max()
    scale = jnp.where((largest > 0) & jnp.isfinite(largest), largest, 1.0)
    return scale * jnp.sqrt(jnp.mean((values / scale) ** 2))

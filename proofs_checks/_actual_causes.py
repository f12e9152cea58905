"""Small models as data, the literal definition on them, and the algorithms of the claims with their false variants."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations, product
from typing import Any, NamedTuple

from hypothesis import strategies as st

State = tuple[int, ...]
Causes = frozenset[frozenset[int]]


class Small(NamedTuple):
    """Variables 0, 1, ... in topological order: domain sizes, parents, outputs by row (last parent fastest), and the
    states in which the effect holds."""

    sizes: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    event: frozenset[State]


def output(m: Small, i: int, v: Any) -> int:
    """What the equation of i gives at v."""
    row = 0
    for p in m.parents[i]:
        row = row * m.sizes[p] + v[p]
    return m.outputs[i][row]


def actual(m: Small) -> State:
    """The solution without interventions."""
    v: list[int] = []
    for i in range(len(m.sizes)):
        v.append(output(m, i, v))
    return tuple(v)


def every_binary(n: int) -> Iterator[Small]:
    """All binary models on n variables in a fixed order, each with every falsifiable event that holds."""
    parents = tuple(tuple(range(i)) for i in range(n))
    states = list(product((0, 1), repeat=n))
    for outputs in product(*(product((0, 1), repeat=2**i) for i in range(n))):
        m = Small((2,) * n, parents, outputs, frozenset())
        a = actual(m)
        others = [s for s in states if s != a]
        for mask in range(2 ** len(others) - 1):
            yield m._replace(event=frozenset([a, *(s for i, s in enumerate(others) if mask >> i & 1)]))


@lru_cache(maxsize=1)
def all_up_to_three() -> tuple[tuple[Small], ...]:
    """The 16,314 cases with at most 3 variables."""
    return tuple((m,) for n in (1, 2, 3) for m in every_binary(n))


@st.composite
def random_small(draw: Any, most: int = 5, values: int = 3, degree: int = 3) -> tuple[Small]:
    """A model of up to `most` variables of 2 to `values` values, and an event on up to three of them."""
    import random

    rng = random.Random(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, most))
    sizes = tuple(rng.randint(2, values) for _ in range(n))
    parents = tuple(tuple(sorted(rng.sample(range(i), rng.randint(0, min(i, degree))))) for i in range(n))
    outputs = tuple(tuple(rng.randrange(sizes[i]) for _ in product(*(range(sizes[p]) for p in parents[i]))) for i in range(n))
    m = Small(sizes, parents, outputs, frozenset())
    a, looked = actual(m), rng.sample(range(n), min(n, rng.randint(1, 3)))
    wanted = {tuple(a[i] for i in looked)} | {c for c in product(*(range(sizes[i]) for i in looked)) if rng.random() < 0.5}
    return (m._replace(event=frozenset(s for s in product(*map(range, sizes)) if tuple(s[i] for i in looked) in wanted)),)


def model_of(m: Small) -> tuple[Any, Any]:
    """The same for `causal`: (model, effect); names are V0, V1, ..."""
    return _tables(m.sizes, m.parents, m.outputs), _effect(m.sizes, m.event)


@lru_cache(maxsize=1_000)  # the cases share few models, and few events
def _effect(sizes: tuple[int, ...], event: frozenset[State]) -> Any:
    from causal.expressions import Atom, Const, Gate

    looked = [i for i, size in enumerate(sizes)  # the variables that matter for the event
              if any((*s[:i], q, *s[i + 1:]) not in event for s in event for q in range(size))]
    rows = sorted({tuple(s[i] for i in looked) for s in event})
    states = [Gate("and", tuple(Atom(f"V{i}", v) for i, v in zip(looked, row, strict=True))) for row in rows]
    return Gate("or", tuple(states)) if states else Const(False)


@lru_cache(maxsize=1_000)
def _tables(sizes: tuple[int, ...], parents: tuple[tuple[int, ...], ...], outputs: tuple[tuple[int, ...], ...]) -> Any:
    from causal import CausalModel

    rows = [list(product(*(range(sizes[p]) for p in of))) for of in parents]
    tables = {f"V{i}": ([f"V{p}" for p in of], dict(zip(rows[i], outputs[i], strict=True))) for i, of in enumerate(parents)}
    return CausalModel.from_tables(tables, {f"V{i}": tuple(range(size)) for i, size in enumerate(sizes)})


@lru_cache(maxsize=40_000)
def literal(m: Small, definition: str = "modified") -> Mapping[frozenset[int], int]:
    """{cause: size of its smallest contingency} by the letter of AC1-AC3."""
    from causal._definition import Simulator, causes

    model, effect = model_of(m)
    sim = Simulator(model, {}, effect)
    place = [int(n[1:]) for n in sim.names]
    found = causes(sim, range(len(place)), definition)
    return {frozenset(place[i] for i in x): len(e[1]) for _, x, e in found if x is not None and e is not None}


def engine(m: Small, name: str) -> Causes:
    """What an engine of `causal` lists."""
    from causal import actual_causes

    model, effect = model_of(m)
    return frozenset(frozenset(int(n[1:]) for n in c.variables) for c in actual_causes(model, {}, effect, engine=name))


def minimal(sets: Iterable[frozenset[int]]) -> Causes:
    """The inclusion-minimal ones."""
    kept: list[frozenset[int]] = []
    for s in sorted(set(sets), key=len):
        if not any(k <= s for k in kept):
            kept.append(s)
    return frozenset(kept)


def failures(m: Small) -> Iterator[tuple[State, frozenset[int], frozenset[int]]]:
    """(v, B(v), C(v)) for each v at which the effect fails."""
    a = actual(m)
    for v in product(*map(range, m.sizes)):
        if v not in m.event:
            broken = frozenset(i for i in range(len(v)) if v[i] != output(m, i, v))
            yield v, broken, frozenset(i for i in broken if v[i] != a[i])


def broken_sets(m: Small) -> Causes:
    """T1."""
    return minimal(c for _, _, c in failures(m))


def without_contingency(m: Small) -> Causes:
    """m1: W must be empty."""
    return minimal(c for _, b, c in failures(m) if b == c)


def contingency_anywhere(m: Small) -> Causes:
    """m2: W may take any values, so that any one variable can be X."""
    return frozenset(frozenset({i}) for i in range(len(m.sizes))) if any(True for _ in failures(m)) else frozenset()


def not_minimal(m: Small) -> Causes:
    """m3: AC3 dropped."""
    return frozenset(c for _, _, c in failures(m))


def changed_sets(m: Small) -> Causes:
    """m4: changed instead of broken and changed."""
    a = actual(m)
    return minimal(frozenset(i for i in range(len(v)) if v[i] != a[i]) for v, _, _ in failures(m))


def but_for(m: Small) -> Causes:
    """m5: single variables without contingency."""
    return frozenset(c for c in without_contingency(m) if len(c) == 1)


def fewest(m: Small) -> Causes:
    """m6: only the causes of least cardinality."""
    found = broken_sets(m)
    return frozenset(c for c in found if len(c) == min(map(len, found)))


def broken_only(m: Small) -> Causes:
    """m7: broken, without "differs from actual"."""
    return minimal(b for _, b, _ in failures(m))


def encoded(m: Small, *, converse: bool = False, equations: bool = True) -> Causes:
    """T3 by its meaning: x such that some failing v satisfies every clause; optionally with the converse clauses."""
    a, n = actual(m), len(m.sizes)
    found = []
    for v in product(*map(range, m.sizes)):
        if v in m.event or (converse and any(v[i] == a[i] != output(m, i, v) for i in range(n))):
            continue
        found.append(frozenset(i for i in range(n) if v[i] != a[i] and not (equations and v[i] == output(m, i, v))))
    return minimal(found)


def by_map(m: Small, *, pick: Callable[[list[int]], int] = max, consistent: bool = True) -> Causes:
    """T7: keep an undecided element of the intervention, or replace it by a parent configuration."""
    a = actual(m)
    seen: set[Any] = set()
    stack: list[Any] = [(frozenset(enumerate(v)), frozenset(range(len(v)))) for v in product(*map(range, m.sizes))
                        if v not in m.event]
    found = []
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        intervention, undecided = dict(node[0]), node[1] & {i for i, _ in node[0]}
        if not undecided:
            found.append(frozenset(i for i, q in intervention.items() if q != a[i]))
            continue
        i = pick(sorted(undecided))
        stack.append((node[0], undecided - {i}))
        rest = {j: q for j, q in intervention.items() if j != i}
        for row in product(*(range(m.sizes[p]) for p in m.parents[i])):
            added = dict(zip(m.parents[i], row, strict=True))
            if output(m, i, added) != intervention[i] or (consistent and any(rest.get(p, q) != q for p, q in added.items())):
                continue
            stack.append((frozenset({**rest, **added}.items()), (undecided - {i}) | (set(added) - set(rest))))
    return minimal(found)


def subsets(n: int) -> Iterator[tuple[int, ...]]:
    """Every subset of 0, ..., n-1, smallest first."""
    for k in range(n + 1):
        yield from combinations(range(n), k)


def closed_upwards(m: Small, ac2: Callable[[Any, tuple[int, ...]], object]) -> bool:
    """Whether adding a variable never loses AC2."""
    from causal._definition import Simulator

    model, effect = model_of(m)
    sim = Simulator(model, {}, effect)
    n = len(m.sizes)
    holds = {x: bool(ac2(sim, x)) for x in subsets(n)}
    return all(not holds[x] or holds[tuple(sorted((*x, i)))] for x in holds for i in range(n) if i not in x)


def flipping_everywhere(sim: Any, x: tuple[int, ...]) -> bool:
    """AC2 (2015) in which each variable of X must leave its actual value."""
    rest = [i for i in range(len(sim.names)) if i not in x]
    ways = [[q for q in range(len(sim.domains[i])) if q != sim.actual[i]] for i in x]
    return any(not sim.effect(sim.solve({**dict(zip(x, q, strict=True)), **{i: sim.actual[i] for i in w}}))
               for k in range(len(rest) + 1) for w in combinations(rest, k) for q in product(*ways))

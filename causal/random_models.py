"""Random models for tests and benchmarks: five families, every node an ancestor of the last one, the effect."""
from __future__ import annotations

import random
from typing import Any, NamedTuple

from causal.errors import CausalError
from causal.expressions import Atom, Expression, Gate
from causal.model import CausalModel, Formula, Input, Mechanism, Table

__all__ = ["FAMILIES", "Case", "random_case"]

FAMILIES = ("tt", "andornot", "thr", "xor", "ones")


class Case(NamedTuple):
    """A model, a context, and an effect that holds in it."""

    model: CausalModel
    context: dict[str, Any]
    effect: dict[str, Any]


def random_case(family: str, nodes: int, seed: int, *, window: int | None = None, degree: int = 3, values: int = 2
                ) -> Case:
    """A model of `nodes` variables V0 ... whose last one, at its actual value, is the effect.

    family   tt (random tables in which every parent matters), andornot (random negations), thr (thresholds),
             xor (parities), ones (AND and OR, every value 1: coherent, the worst case)
    window   parents are among so many predecessors; None for all
    degree   at most so many parents; values: domain size, of tt only

    >>> random_case("ones", 15, seed=1).effect
    {'V14': 1}
    """
    if family not in FAMILIES:
        raise CausalError(f"family={family!r} must be one of {', '.join(FAMILIES)}")
    if nodes < 1 or degree < 1 or values < 2 or (values > 2 and family != "tt"):
        raise CausalError(f"need nodes >= 1, degree >= 1, values >= 2 (2 unless tt); got nodes={nodes}, "
                          f"degree={degree}, values={values}, family={family!r}")
    draw = random.Random(f"{family}/{nodes}/{seed}/{window}/{degree}/{values}")
    names = [f"V{i}" for i in range(nodes)]
    rules: dict[str, Mechanism] = {}
    for i, of in enumerate(_parents(draw, nodes, window or nodes, degree)):
        parents = tuple(names[p] for p in of)
        rules[names[i]] = _rule(draw, family, parents, values) if parents else Input()
    model = CausalModel(rules, dict.fromkeys(names, tuple(range(values))))
    context = {n: 1 if family == "ones" else draw.randrange(values) for n in model.inputs}
    return Case(model, context, {names[-1]: model.evaluate(context)[names[-1]]})


def _parents(draw: random.Random, nodes: int, window: int, degree: int) -> list[list[int]]:
    """Parents of each node. Going backwards, each node first gets a child, so that all lead to the last."""
    parents: list[list[int]] = [[] for _ in range(nodes)]
    for i in reversed(range(nodes - 1)):
        room = [c for c in range(i + 1, min(nodes, i + window + 1)) if len(parents[c]) < degree]
        parents[draw.choice(room)].append(i)  # i + 1 has no parent yet, so there is room
    for i in range(1, nodes):
        pool = [p for p in range(max(0, i - window), i) if p not in parents[i]]
        draw.shuffle(pool)
        wanted = draw.randint(1, degree) if parents[i] else draw.randint(0, degree)
        parents[i] = sorted(parents[i] + pool[:max(0, wanted - len(parents[i]))])
    return parents


def _table(draw: random.Random, parents: int, values: int) -> tuple[int, ...]:
    """A random table in which every parent matters."""
    while True:
        rows = [draw.randrange(values) for _ in range(values**parents)]
        strides = [values**i for i in range(parents)]
        if all(any(rows[at] != rows[at - at // s % values * s] for at in range(len(rows))) for s in strides):
            return tuple(rows)


def _rule(draw: random.Random, family: str, parents: tuple[str, ...], values: int) -> Mechanism:
    if family == "tt":
        return Table(parents, _table(draw, len(parents), values))
    kids: list[Expression] = [Atom(p, 1) for p in parents]
    if family in ("andornot", "thr"):
        kids = [Gate("not", (k,)) if draw.random() < 0.3 else k for k in kids]
    if family == "thr":
        return Formula(Gate("atleast", tuple(kids), draw.randint(1, len(kids))), parents)
    if family == "xor":
        whole: Expression = Gate("xor", tuple(kids))
        return Formula(Gate("not", (whole,)) if draw.random() < 0.5 else whole, parents)
    return Formula(Gate(draw.choice(("and", "or")), tuple(kids)), parents)

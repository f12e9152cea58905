"""The backward witness map (T7): a finite DAG of joint interventions that make the effect fail.

A reconstruction for this project of "Tracing Actual Causes", not the authors' procedure. It starts from the ways the
effect could fail and walks backwards: the topologically latest undecided element V = q of an intervention is kept, or
replaced by a parent configuration from which the equation of V gives q. Every actual cause and one of its smallest
contingency sets are read off a terminal node."""
from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx

from causal._instance import Effect, Instance
from causal._sat import OutOfTime
from causal.errors import CausalError
from causal.model import CausalModel

__all__ = ["witness_map"]

MAX_CONFIGURATIONS = 2**16

Node = tuple[tuple[tuple[int, int], ...], int]  # the intervention, sorted; positions below this bound are undecided


def witness_map(model: CausalModel, context: Mapping[str, Any], effect: Effect) -> nx.DiGraph:
    """The map as a DAG. Nodes carry `intervention` {variable: value}, which makes the effect fail, and `terminal`.

    Nodes are numbered in the order they are met. EventNotTrue if the effect does not hold.

    >>> rock = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
    >>> graph = witness_map(rock, {"ST": 1, "BT": 1}, {"BS": 1})
    >>> nx.is_directed_acyclic_graph(graph), {"ST": 0, "BH": 0} in [d["intervention"] for _, d in graph.nodes.data()]
    (True, True)
    """
    instance = Instance(model, context, effect)
    instance.demand_true()
    graph = nx.DiGraph()
    number: dict[Node, int] = {}

    def add(node: Node) -> int:
        if node not in number:
            number[node] = len(number)
            graph.add_node(number[node], terminal=node[1] == 0, intervention={
                instance.names[at]: instance.value(at, code) for at, code in node[0]})
        return number[node]

    for node, following in explore(instance):
        at = add(node)
        graph.add_edges_from((at, add(f)) for f in following)
    return graph


def explore(instance: Instance, deadline: float | None = None) -> Iterator[tuple[Node, list[Node]]]:
    """Every node once, with its successors."""
    configurations = _Configurations(instance)
    stack: list[Node] = [(tuple(sorted(target.items())), len(instance.names)) for target in _targets(instance)]
    seen = set(stack)
    while stack:
        if deadline is not None and time.monotonic() > deadline:
            raise OutOfTime
        node = stack.pop()
        following = list(_successors(instance, configurations, node))
        yield node, following
        for f in following:
            if f not in seen:
                seen.add(f)
                stack.append(f)


def causes(instance: Instance, allowed: frozenset[int], deadline: float | None = None
           ) -> dict[frozenset[int], tuple[dict[int, int], dict[int, int]]]:
    """The minimal sets read off the terminal nodes, each with (x', smallest W)."""
    best: dict[frozenset[int], tuple[dict[int, int], dict[int, int]]] = {}
    for (intervention, bound), _ in explore(instance, deadline):
        if bound:
            continue
        changed = {at: q for at, q in intervention if q != instance.actual[at]}
        held = {at: q for at, q in intervention if q == instance.actual[at]}
        key = frozenset(changed)
        if key <= allowed and (key not in best or len(held) < len(best[key][1])):
            best[key] = (changed, held)
    minimal: list[frozenset[int]] = []
    for key in sorted(best, key=lambda k: (len(k), sorted(k))):
        if not any(m <= key for m in minimal):
            minimal.append(key)
    return {key: best[key] for key in minimal}


def _targets(instance: Instance) -> Iterator[dict[int, int]]:
    """Assignments of the effect's variables under which it fails."""
    variables = sorted(instance.circuit.support(instance.failure))
    _guard(instance, variables, "the effect")
    for codes in itertools.product(*(range(instance.sizes[v]) for v in variables)):
        target = dict(zip(variables, codes, strict=True))
        if instance.circuit.evaluate(instance.failure, target):
            yield target


def _successors(instance: Instance, configurations: _Configurations, node: Node) -> Iterator[Node]:
    intervention, bound = node
    undecided = [(at, code) for at, code in intervention if at < bound]
    if not undecided:
        if bound:
            yield intervention, 0
        return
    at, code = undecided[-1]  # the latest: its parents are earlier, so nothing decided is touched again
    yield intervention, at
    rest = {a: q for a, q in intervention if a != at}
    for configuration in configurations.giving(at, code):
        if all(rest.get(a, q) == q for a, q in configuration):
            yield tuple(sorted({**rest, **dict(configuration)}.items())), at


class _Configurations:
    """Parent configurations by what the equation gives, found once for each variable and code."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._found: dict[tuple[int, int], list[tuple[tuple[int, int], ...]]] = {}

    def giving(self, at: int, code: int) -> list[tuple[tuple[int, int], ...]]:
        """Assignments of the parents of `at` from which its equation gives `code`."""
        key = (at, code)
        if key not in self._found:
            instance, node = self.instance, self.instance.rule(at, code)
            parents = sorted({p for q in range(instance.sizes[at])
                              for p in instance.circuit.support(instance.rule(at, q))})
            _guard(instance, parents, instance.names[at])
            run = instance.circuit.evaluator([node])
            rows = itertools.product(*(range(instance.sizes[p]) for p in parents))
            pairs = (tuple(zip(parents, row, strict=True)) for row in rows)
            self._found[key] = [pair for pair in pairs if run(dict(pair))[0]]
        return self._found[key]


def _guard(instance: Instance, variables: list[int], what: str) -> None:
    rows = 1
    for v in variables:
        rows *= instance.sizes[v]
    if rows > MAX_CONFIGURATIONS:
        raise CausalError(f"engine 'witness_map' lists configurations: {what} has {rows}, more than "
                          f"{MAX_CONFIGURATIONS}; use engine 'sat' or 'auto'")

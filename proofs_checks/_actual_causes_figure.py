"""The figure of actual causes: time by engine, families and diagrams, recall of a beam search, sizes, a witness map."""
from __future__ import annotations

import time
from itertools import product
from typing import Any

ENGINES = {"definition": (4, 5, 6), "witness_map": (4, 6, 8, 10, 12), "sat": (4, 6, 8, 10, 12, 15, 20, 30, 50),
           "zdd": (4, 6, 8, 10, 12, 15, 20, 30, 50), "auto": (4, 6, 8, 10, 12, 15, 20, 30, 50, 100)}
BEAMS = (1, 3, 10, 30, 100, 300)
TIMED_FAMILY, RECALL_NODES, SEEDS = "andornot", 10, 3
ABSTRACT = 15  # variables, the abstract's limit


def figure_data() -> dict[str, Any]:
    """CPU seconds of each engine by model size (of this machine), counts and diagram nodes by size and family, recall
    by beam width, how many causes have which size, the witness map of rock throwing."""
    from causal import CausalModel, actual_causes, witness_map
    from causal.random_models import FAMILIES, random_case

    growth: dict[str, list[tuple[int, int, int]]] = {name: [] for name in FAMILIES}
    sizes: dict[int, int] = {}
    for name, nodes in product(FAMILIES, (10, 20, 30, 40, 50, 60)):
        family = actual_causes(*random_case(name, nodes, seed=3), engine="zdd")
        growth[name].append((nodes, family.count, family._store.nodes))  # type: ignore[attr-defined]
        if name == "ones" and nodes == 60:
            sizes = family.sizes()
    rock = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
    return {"times": {name: [(n, _seconds(name, n)) for n in at] for name, at in ENGINES.items()}, "growth": growth,
            "recall": {name: [_recall(name, beam) for beam in BEAMS] for name in FAMILIES},
            "sizes": sizes, "map": witness_map(rock, {"ST": 1, "BT": 1}, {"BS": 1})}


def _seconds(engine: str, nodes: int) -> float:
    """The median CPU time of all causes."""
    from causal import actual_causes
    from causal.random_models import random_case

    found = []
    for seed in range(SEEDS):
        case = random_case(TIMED_FAMILY, nodes, seed)
        start = time.process_time()
        list(actual_causes(*case, engine=engine))
        found.append(time.process_time() - start)
    return sorted(found)[SEEDS // 2]


def _recall(family: str, beam: int) -> float:
    """The share of all causes that a beam of this width finds."""
    from causal import actual_causes
    from causal.random_models import random_case

    found = total = 0
    for seed in range(SEEDS):
        case = random_case(family, RECALL_NODES, seed)
        right = {c.variables for c in actual_causes(*case)}
        found += len(right & beam_search(case, beam))
        total += len(right)
    return found / total


def beam_search(case: Any, beam: int) -> set[frozenset[str]]:
    """Minimal changed sets met by a beam over interventions of growing size; those with most changed values are kept.

    Written for this comparison: what approximate search does, not the code of any package."""
    from causal.expressions import Atom
    from causal.model import holds

    actual = case.model.evaluate(case.context)
    ((target, wanted),) = case.effect.items()
    found: set[frozenset[str]] = set()
    kept: list[dict[str, int]] = [{}]
    for _ in case.model.variables:
        scored: dict[frozenset[tuple[str, int]], tuple[int, dict[str, int]]] = {}
        for forced in kept:
            for name in case.model.variables:
                if name in forced:
                    continue
                for value in case.model.domains[name]:
                    longer = {**forced, name: value}
                    changed = frozenset(n for n, v in longer.items() if v != actual[n])
                    if frozenset(longer.items()) in scored or any(c <= changed for c in found):
                        continue
                    after = case.model.evaluate(case.context, longer)
                    if not holds(Atom(target, wanted), after):
                        found = {c for c in found if not changed <= c} | {changed}
                        continue
                    scored[frozenset(longer.items())] = (sum(after[n] != actual[n] for n in after), longer)
        kept = [x for _, x in sorted(scored.values(), key=lambda s: (-s[0], sorted(s[1].items())))[:beam]]
    return found


def figure(data: dict[str, Any] | None = None) -> Any:
    """(i) time by engine, (ii) causes and the diagram nodes that hold them, (iii) the witness map of rock throwing,
    (iv) recall of a beam search, (v) sizes of causes."""
    from matplotlib.figure import Figure

    data = figure_data() if data is None else data
    drawing = Figure(figsize=(14, 8), layout="constrained")
    times, counts, nodes, graph, recall, histogram = drawing.subplots(2, 3).flat
    for name, rows in data["times"].items():
        times.plot(*zip(*rows, strict=True), marker="o", label=name)
    times.set(xscale="log", yscale="log", xlabel="variables", ylabel="CPU seconds", title=f"(i) all causes ({TIMED_FAMILY})")
    for name, rows in data["growth"].items():
        n, causes, size = zip(*rows, strict=True)
        counts.plot(n, causes, marker="o", label=name)
        nodes.plot(n, size, marker="o", label=name)
        recall.plot(BEAMS, data["recall"][name], marker="o", label=name)
    for axes, title in ((counts, "(ii) actual causes"), (nodes, "(ii) diagram nodes that hold them")):
        axes.set(yscale="log", xlabel="variables", title=title)
    recall.set(xscale="log", xlabel="beam width", ylim=(0, 1.05), title=f"(iv) share found by a beam, {RECALL_NODES} variables")
    for axes in (times, counts):
        axes.axvline(ABSTRACT, color="#999999", linestyle=":")
    for axes in (times, counts, nodes, recall):
        axes.legend(fontsize=7)
    histogram.bar(list(data["sizes"]), list(data["sizes"].values()), color="#1f77b4")
    histogram.set(yscale="log", xlabel="variables in a cause", title="(v) causes by size (ones, 60 variables)")
    _draw_map(graph, data["map"])
    return drawing


def _draw_map(axes: Any, graph: Any) -> None:
    import networkx as nx

    for layer, generation in enumerate(nx.topological_generations(graph)):
        for node in generation:
            graph.nodes[node]["layer"] = layer
    colors = ["#d95f02" if d["terminal"] else "#cccccc" for _, d in graph.nodes(data=True)]
    nx.draw_networkx(graph, nx.multipartite_layout(graph, subset_key="layer"), ax=axes, node_color=colors, node_size=60,
                     with_labels=False, width=0.5, arrowsize=5)
    axes.set_title("(iii) witness map of rock throwing; orange: terminal")

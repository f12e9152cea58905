"""A cause in plain words, and a drawing of the model with the cause and its contingency marked."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import networkx as nx

from causal._instance import Effect, read_effect
from causal.errors import CausalError
from causal.expressions import names_of, to_text
from causal.family import Cause
from causal.model import CausalModel

__all__ = ["describe", "to_dot", "write_svg"]

MARKS = {"cause": ("#d95f02", "bold"), "held": ("#1b9e77", "dashed"), "effect": ("#7570b3", "bold"), "": ("#666666", "solid")}
MAX_DRAWN = 400


def describe(model: CausalModel, context: Mapping[str, Any], effect: Effect, cause: Cause) -> str:
    """One sentence: what caused the effect, and in which world it would have failed.

    >>> from causal.actual import actual_causes
    >>> rock = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
    >>> cause = next(c for c in actual_causes(rock, {"ST": 1, "BT": 1}, {"BS": 1}) if c.variables == {"ST"})
    >>> describe(rock, {"ST": 1, "BT": 1}, {"BS": 1}, cause)
    'ST=1 caused BS: had ST been 0, with BH held at 0 as it was, BS would not have held.'
    """
    actual = model.evaluate(context)
    text = effect_text(model, effect)
    facts = _listed(f"{n}={actual[n]}" for n in sorted(cause.variables))
    changes = _listed(f"{n} been {v}" for n, v in sorted(cause.witness.items()))
    held = _listed(f"{n} held at {v}" for n, v in sorted(cause.contingency.items()))
    as_before = all(actual[n] == v for n, v in cause.contingency.items())  # other definitions than the modified may change them
    suffix = "" if not as_before else " as it was" if len(cause.contingency) == 1 else " as they were"
    world = f"had {changes}, with {held}{suffix}" if held else f"had {changes}"
    together = " together" if len(cause.variables) > 1 else ""
    return f"{facts}{together} caused {text}: {world}, {text} would not have held."


def effect_text(model: CausalModel, effect: Effect) -> str:
    """The effect as an expression."""
    return to_text(read_effect(model, effect), lambda n: set(model.domains[n]) == {0, 1})


def _listed(parts: Any) -> str:
    words = list(parts)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def marks(model: CausalModel, effect: Effect, cause: Cause | None) -> dict[str, str]:
    """What each variable is in the drawing: cause, held, effect or ""."""
    result = dict.fromkeys((*model.exogenous, *model.variables), "")
    result |= dict.fromkeys(names_of(read_effect(model, effect)), "effect")
    if cause is not None:
        result |= dict.fromkeys(cause.contingency, "held") | dict.fromkeys(cause.variables, "cause")
    return result


def to_dot(model: CausalModel, context: Mapping[str, Any], effect: Effect, cause: Cause | None = None) -> str:
    """The model in the DOT language: the cause orange and bold, the contingency green and dashed, the effect violet."""
    actual, role = model.evaluate(context), marks(model, effect, cause)
    lines = ["digraph model {", "  rankdir=LR;", "  node [shape=ellipse, fontname=Helvetica];"]
    for name in role:
        change = ""
        if cause is not None and name in cause.variables:
            change = f" -> {cause.witness[name]}"
        elif role[name] == "held":
            change = " (held)"
        color, style = MARKS[role[name]]
        shape = ", shape=box" if name in model.exogenous else ""
        lines.append(f"  {_quoted(name)} [label={_quoted(f'{name} = {actual[name]}{change}')}, color={_quoted(color)}, "
                     f"style={style}{shape}];")
    lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in model.graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def write_svg(path: str | Path, model: CausalModel, context: Mapping[str, Any], effect: Effect, cause: Cause | None = None
              ) -> None:
    """The same drawing as SVG, laid out in layers from causes to effects. CausalError beyond 400 nodes."""
    if len(model.domains) > MAX_DRAWN:
        raise CausalError(f"the model has {len(model.domains)} nodes, more than the {MAX_DRAWN} that can be drawn; write DOT")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    graph, actual, role = model.graph, model.evaluate(context), marks(model, effect, cause)
    for layer, names in enumerate(nx.topological_generations(graph)):
        for name in names:
            graph.nodes[name]["layer"] = layer
    place = nx.multipartite_layout(graph, subset_key="layer")
    figure = Figure(figsize=(min(40, 3 + 1.6 * (1 + max(d["layer"] for _, d in graph.nodes(data=True)))), 5))
    axes = figure.subplots()
    axes.set_axis_off()
    for name in graph.nodes:
        color, style = MARKS[role[name]]
        text = f"{name} = {actual[name]}"
        if cause is not None and name in cause.variables:
            text += f" -> {cause.witness[name]}"
        axes.annotate(text, place[name], ha="center", va="center", fontsize=8, bbox={
            "boxstyle": "round", "facecolor": "white", "edgecolor": color, "linewidth": 2 if role[name] else 1,
            "linestyle": "--" if style == "dashed" else "-"})
    for a, b in graph.edges:
        axes.annotate("", place[b], place[a], arrowprops={"arrowstyle": "->", "color": "#999999", "shrinkA": 16, "shrinkB": 16})
    xs, ys = zip(*place.values(), strict=True)
    axes.set_xlim(min(xs) - 0.3, max(xs) + 0.3)
    axes.set_ylim(min(ys) - 0.3, max(ys) + 0.3)
    with rc_context({"svg.hashsalt": "refutable"}):  # otherwise the names inside differ from run to run
        figure.savefig(path, format="svg", metadata={"Date": None})

"""What a person reads of a fitted `IndRM`: a text and a figure."""
from __future__ import annotations

from typing import Any

import numpy as np

from causal.indrm._problem import BETTER, DOUBT, gain
from causal.indrm._search import CLEAR, SURE

WORDS = {
    "selected": "The parents are {parents}, at level {alpha:g}.",
    "only_empty_admissible": "No parents: {why}. Either the target has no parents among these columns, or an assumption "
                             "fails; the data cannot tell which.",
    "not_unique": "Not unique: {parents} is one of {ties} sets that these data do not tell apart.",
    "deterministic_column": "{parents} determines the target up to a millionth of its variance: a copy, a unit conversion or a "
                            "consequence, not a cause with noise. Leave it out and try again.",
}
REJECTED = "its residual depends on it"
TIES = 10  # sets that are named
CAUTION = ("An unseen common cause of the target and a column is not detected: the answer may then be an ancestor (an "
           "instrument) instead of a parent. Nor is a parent on which the spread of the noise depends: it may be missing.")


def named(names: Any) -> str:
    """A set of names for a sentence."""
    return "{" + ", ".join(sorted(map(str, names))) + "}"


def counted(number: int, what: str) -> str:
    """A number and its noun."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def summary(model: Any) -> str:
    """Verdict, numbers, runners-up, remarks on columns, caution."""
    tested = sum(r.p_value is not None and bool(r.variables) for r in model.table_)  # {} passes untested
    words = WORDS[model.status_].format(parents=named(model.parents_), alpha=model.alpha, ties=len(model.ties_) + 1,
                                         why=_nothing(model))
    whole = model._table.scale**2
    out = len(model._table.names) - len(model.screened_)
    lines = [f"Parents of {model._target}: {named(model.parents_)}   ({model.status_})", words,
             f"Residual variance {model.variance_:.4g} of {whole:.4g}{_explained(model)}.",
             f"{counted(len(model.table_), 'set')} of {counted(len(model.screened_), 'column')} ranked, {tested} tested"
             + (f"; {counted(out, 'column')} screened out." if out else ".")]
    if model.ties_:
        more = f", ... ({len(model.ties_)} in all)" if len(model.ties_) > TIES else ""
        lines.append("Not told apart from it: " + ", ".join(named(s) for s in model.ties_[:TIES]) + more)
    nearly = model.sensitivity()
    nearly += [r for r in model.table_ if r not in nearly and _why_not(model, r) not in ("", REJECTED)]
    if nearly:
        lines.append("Runners-up (set, residual variance, p, why not if the variance is less):")
        lines += [f"  {named(r.variables):40} {r.variance:.4g}  {r.p_value:.3g}  {_why_not(model, r)}".rstrip() for r in nearly]
    for title, found in (("Constant, left out", [model.constant_] if model.constant_ else []), ("Copies", model.copies_),
                         ("Linearly dependent", model.collinear_)):
        lines += [f"{title}: {named(group)}" for group in found]
    return "\n".join([*lines, CAUTION])


def _explained(model: Any) -> str:
    """Share of the variance and p-value of an answer that was regressed on and tested."""
    if not model.parents_ or model.status_ == "deterministic_column":
        return ""
    return f" ({1 - model.variance_ / model._table.scale**2:.1%} explained), p = {model.p_value_:.3g}"


def _nothing(model: Any) -> str:
    """Why the empty set is the answer, if it is."""
    if len(model._ranked) == 1:
        return "no other set was tried"
    none, best = (model._problem.rough(s) for s in ((), model._ranked[0]))
    if gain(none, best) < BETTER:
        return "no set of columns predicts the target clearly better than nothing does"
    return "every set that predicts the target leaves a dependent residual, or holds a column that looks like its effect"


def _why_not(model: Any, row: Any) -> str:
    """Why a tested set of less variance than the answer is not the answer."""
    if row.p_value is None or row.variance >= model.variance_ or row.variables == frozenset(model.parents_):
        return ""
    if row.p_value < model.alpha:
        return REJECTED
    problem = model._problem
    chosen = tuple(j for j, name in enumerate(model._table.names) if name in row.variables)
    worst, name = max(zip(problem.doubts(chosen), (str(model._table.names[j]) for j in chosen), strict=True))
    if worst >= DOUBT[problem.fine(chosen).kind]:
        return f"{name} looks like an effect"
    if not problem.admits(chosen, model.alpha):
        return "its residual depends on linear parts of its columns"
    if len(chosen) > len(model._chosen) and gain(problem.fine(model._chosen), problem.fine(chosen)) < BETTER:
        return "the answer is smaller, its variance not clearly larger"
    if not problem.admits(chosen, SURE):
        looked = "its p" if row.p_value < SURE else "with linear parts of its columns its p"
        return f"{looked} is below {SURE:g}, the answer's is not"
    doubts = {model._table.names[j]: t for j, t in zip(chosen, problem.doubts(chosen), strict=True)}
    more = row.variables - set(model.parents_)
    if row.variables > set(model.parents_) and all(doubts[name] >= -CLEAR for name in more):
        return "no clear parent in " + named(more)
    return "a set of less variance came first, and the answer is what was left of it"


def figure(model: Any) -> Any:
    """Left: tested sets, residual variance against p. Right: residuals of the chosen set against its fitted values."""
    from matplotlib.figure import Figure

    fig = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = fig.subplots(1, 2)
    rows = [r for r in model.table_ if r.p_value is not None]
    p = np.maximum([r.p_value for r in rows], 1e-12)
    colours = ["#D55E00" if r.variables == frozenset(model.parents_) else "0.5" for r in rows]
    left.scatter([r.variance for r in rows], p, c=colours, s=30)
    left.axhline(model.alpha, color="black", lw=1, ls="--")
    left.set(yscale="log", xlabel="residual variance", ylabel="p-value of independence",
             title="Tested sets (below the line: rejected)")
    for r, value in zip(rows, p, strict=True):
        if value >= model.alpha:
            left.annotate(named(r.variables), (r.variance, value), fontsize=7)
    fit = model._problem.fitted(model._chosen)
    scale, centre = model._table.scale, model._table.centre
    right.scatter(fit.fitted * scale + centre, fit.residual * scale, s=5, color="#0072B2")
    right.axhline(0, color="black", lw=1)
    right.set(xlabel="fitted", ylabel="left-out residual", title=f"Residuals of {named(model.parents_)}")
    return fig

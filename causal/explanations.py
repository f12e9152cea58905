"""Explanations of an effect relative to what is held possible, and causal harm.

`explanations` follows Halpern's definition of 2016 clause by clause as the exact search of kevinmcareavey/actual-causality
implements it (its authors compare this definition with the one of 2005 in arXiv 2307.10832); the book itself was not read.
`harm` is transcribed from memory: of arXiv 2210.05327 and 2209.15111, which it follows, only the abstracts and an
introduction could be read. They say that harm is contrastive causation in the sense of Halpern 2016 and that utilities
are compared with a default; no implementation was found, and the clauses below were not checked against the papers."""
from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

from causal import _sat
from causal._instance import Effect, Instance, endogenous, read_effect
from causal.actual import actual_causes, decode
from causal.errors import CausalError
from causal.expressions import Atom, Gate
from causal.model import CausalModel, holds

__all__ = ["Harm", "explanations", "harm"]


def explanations(model: CausalModel, contexts: Iterable[Mapping[str, Any]], effect: Effect, *,
                 candidates: Iterable[str] | None = None, max_size: int | None = None, nontrivial: bool = False
                 ) -> list[dict[str, Any]]:
    """Every explanation {variable: value} of `effect` relative to the contexts held possible, smallest first.

    X = x explains the effect if (EX1) in every context with X = x and the effect, one of X is in an actual cause, and
    setting X = x brings the effect about in every context; (EX2) no proper part satisfies EX1; (EX3) some context has
    both X = x and the effect. With `nontrivial` only those for which (EX4) another has the effect without X = x."""
    expression = read_effect(model, effect)
    worlds = [(model.check_context(c), model.evaluate(c)) for c in contexts]
    if not worlds:
        raise CausalError("contexts is empty; give those held possible")
    happened = [(c, v) for c, v in worlds if holds(expression, v)]
    parts = [frozenset(actual_causes(model, c, expression).participation()) for c, _ in happened]
    names = endogenous(model, "candidates", model.variables if candidates is None else candidates)
    found: list[dict[str, Any]] = []  # trivial ones too: what contains one is not minimal
    told: list[dict[str, Any]] = []
    for size in range(1, (len(names) if max_size is None else min(max_size, len(names))) + 1):
        for chosen in itertools.combinations(names, size):
            for x in _settings(chosen, [v for _, v in happened]):
                if any(f.items() <= x.items() for f in found):
                    continue
                at = [p for (_, v), p in zip(happened, parts, strict=True) if all(v[n] == q for n, q in x.items())]
                if not all(p & set(chosen) for p in at):
                    continue
                if all(holds(expression, model.evaluate(c, x)) for c, _ in worlds):
                    found.append(x)
                    if not nontrivial or len(at) < len(happened):
                        told.append(x)
    return told


def _settings(chosen: Sequence[str], worlds: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The settings of `chosen` that occur with the effect (EX3), in order of first occurrence."""
    seen = dict.fromkeys(tuple(v[n] for n in chosen) for v in worlds)
    return [dict(zip(chosen, values, strict=True)) for values in seen]


class Harm(NamedTuple):
    """Whether an event harmed, by how much, and against which alternative.

    alternative   {variable: x'}; outcome: the better value o' that x' with `contingency` held would have brought"""

    harmed: bool
    amount: Any
    alternative: dict[str, Any] | None
    outcome: Any
    contingency: dict[str, Any] | None


def harm(model: CausalModel, context: Mapping[str, Any], event: Mapping[str, Any], outcome: str,
         utility: Mapping[Any, Any], default: Any) -> Harm:
    """Whether the actual `event` {X: x} harmed through the variable `outcome`, whose values have a `utility`.

    UNVERIFIED TRANSCRIPTION, see the module. Harm: (H1) u(o) < default; (H2) X = x rather than some x' causes O = o
    rather than an o' with u(o) < u(o'); (H3) u(o) <= u(o'') for the o'' that x' alone brings about. The amount is the
    largest min(default, u(o')) - u(o) over such x', o'; 0 without harm."""
    names = endogenous(model, "event", event)
    endogenous(model, "outcome", [outcome])
    if missing := [v for v in model.domains[outcome] if v not in utility]:
        raise CausalError(f"utility has no value for {outcome}={missing[0]!r}")
    for name, number in (("default", default), *((f"utility of {v!r}", utility[v]) for v in model.domains[outcome])):
        if not isinstance(number, Real) or number - number != 0:
            raise CausalError(f"{name} is {number!r}, it must be a finite number")
    actual = model.evaluate(context)
    o = actual[outcome]
    if any(actual[n] != model.domains[n][model.code(n, v, "event")] for n, v in event.items()):
        raise CausalError(f"event={dict(event)!r} did not happen; the actual values are {({n: actual[n] for n in names})}")
    best = Harm(False, utility[o] - utility[o], None, None, None)
    if not utility[o] < default:
        return best
    for better in (v for v in model.domains[outcome] if utility[v] > utility[o]):
        instance = Instance(model, context, Gate("not", (Atom(outcome, better),)))
        finder = _sat.Witnesses(instance)
        for values in itertools.product(*([v for v in model.domains[n] if v != actual[n]] for n in names)):
            setting = dict(zip(names, values, strict=True))
            held = _contrast(instance, finder, setting)
            alone = utility[model.evaluate(context, setting)[outcome]]
            amount = min(default, utility[better]) - utility[o]
            if held is not None and utility[o] <= alone and (not best.harmed or amount > best.amount):
                best = Harm(True, amount, setting, better, held)
    return best


def _contrast(instance: Instance, finder: _sat.Witnesses, setting: dict[str, Any]) -> dict[str, Any] | None:
    """The smallest contingency with which `setting` brings the better outcome, if no proper part of it does (AC3)."""
    codes = {instance.position[n]: instance.model.code(n, v, "event") for n, v in setting.items() if n in instance.position}
    if len(codes) < len(setting):
        return None  # a variable that cannot matter is in no minimal set
    if finder.any_part(codes):
        return None
    found = finder.find(frozenset(codes), codes)
    return None if found is None else decode(instance, found[1])

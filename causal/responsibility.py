"""How much: degree of responsibility under two conventions, blame over an epistemic state, batches of incidents."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

from causal._diagram import Diagram
from causal._instance import Effect, Instance, endogenous, read_effect
from causal._original import fewest_moved
from causal.actual import actual_causes
from causal.errors import CausalError
from causal.family import Cause, CauseFamily
from causal.model import CausalModel, Input

__all__ = ["Executor", "IncidentReport", "blame", "investigate", "responsibility"]

CONVENTIONS = ("modified", "chockler_halpern")


class Executor(Protocol):
    """A process pool, a thread pool, a Dask client: anything with `map`."""

    def map(self, function: Any, /, *iterables: Any) -> Any: ...


def responsibility(model: CausalModel, context: Mapping[str, Any], variable: str, effect: Effect, *, convention: str
                   ) -> Fraction:
    """The degree of responsibility of the actual value of `variable` for `effect`; 0 if it is in no cause.

    modified          1 / min(|X| + |W|) over the causes X (2015) that contain it and their contingency sets W
    chockler_halpern  1 / (k + 1), k the fewest contingency variables moved off their actual values (2001 definition;
                      arXiv cs/0312038); two solvers in turn: mostly quick for a hundred variables of two
                      values, now and then minutes; slow from some thirty of more values

    >>> rock = CausalModel.from_expressions({"ST": None, "BT": None, "SH": "ST", "BH": "BT & ~SH", "BS": "SH | BH"})
    >>> [str(responsibility(rock, {"ST": 1, "BT": 1}, "ST", {"BS": 1}, convention=c)) for c in CONVENTIONS]
    ['1/2', '1']
    """
    if convention not in CONVENTIONS:
        raise CausalError(f"convention={convention!r} must be one of {', '.join(CONVENTIONS)}")
    endogenous(model, "variable", [variable])
    if convention == "chockler_halpern":
        return _chockler_halpern(model, context, variable, effect)
    family = actual_causes(model, context, effect)
    if not family.participation().get(variable):
        return Fraction(0)
    best: int | None = None
    for cause in by_size(family):
        if best is not None and len(cause.variables) >= best:
            break
        if variable in cause.variables:
            total = len(cause.variables) + len(cause.contingency)
            best = total if best is None else min(best, total)
    assert best is not None, "the variable is in a cause"
    return Fraction(1, best)


def by_size(family: CauseFamily) -> Iterator[Cause]:
    """The causes, smallest first, without listing more than needed of a diagram."""
    store = family._store
    if not isinstance(store, Diagram):
        yield from sorted(family, key=lambda c: (len(c.variables), sorted(c.variables)))
        return
    for size in range(1, store.complete_up_to + 1):
        yield from (family._cause(c) for c in store.up_to(size) if len(c) == size)


def _chockler_halpern(model: CausalModel, context: Mapping[str, Any], variable: str, effect: Effect) -> Fraction:
    instance = Instance(model, context, effect)
    instance.demand_true()
    if variable not in instance.position:
        return Fraction(0)
    moved = fewest_moved(instance, instance.position[variable])
    return Fraction(0) if moved is None else Fraction(1, moved + 1)


def blame(situations: Iterable[tuple[CausalModel, Mapping[str, Any], Any]], event: Mapping[str, Any], effect: Effect, *,
          convention: str, executor: Executor | None = None) -> Fraction:
    """The expected responsibility of setting one variable, over situations (model, context, probability).

    In each the variable is first set by intervention; where the effect then fails its responsibility is 0. Probabilities
    are ints, Fractions, or floats read as the decimals they print; they must sum to 1. `executor` spreads the work.
    Source: Chockler and Halpern, arXiv cs/0312038."""
    listed = list(situations)
    if len(event) != 1:
        raise CausalError(f"event={dict(event)!r} must set one variable")
    weights = [_probability(p) for _, _, p in listed]
    if sum(weights) != 1 or any(w < 0 for w in weights):
        raise CausalError(f"probabilities of situations sum to {sum(weights)}, they must be >= 0 and sum to 1")
    work = partial(_responsibility_of, dict(event), effect, convention)
    degrees = spread(work, [(m, c) for m, c, _ in listed], executor)
    return sum((w * d for w, d in zip(weights, degrees, strict=True)), Fraction(0))


def _probability(value: Any) -> Fraction:
    try:
        return Fraction(str(value) if isinstance(value, float) else value)
    except (TypeError, ValueError):
        raise CausalError(f"the probability {value!r} of a situation must be a finite number") from None


def _responsibility_of(event: dict[str, Any], effect: Effect, convention: str,
                       situation: tuple[CausalModel, Mapping[str, Any]]) -> Fraction:
    model, context = situation
    (name,) = endogenous(model, "event", event)
    after = model.intervened(event)
    given = {n: v for n, v in context.items() if n != name or not isinstance(model.mechanisms[name], Input)}
    if not Instance(after, given, effect).true_here:
        return Fraction(0)
    return responsibility(after, given, name, effect, convention=convention)


def spread(function: Callable[[Any], Any], items: list[Any], executor: Executor | None) -> list[Any]:
    """`function` of each item, in order, on the executor's workers if there is one."""
    results = list(map(function, items) if executor is None else executor.map(function, items))
    return [r.result() if hasattr(r, "result") else r for r in results]  # a Dask client gives futures


@dataclass(frozen=True, slots=True)
class IncidentReport:
    """One incident: how many causes, whether all were found, and the smallest of them."""

    count: int
    complete: bool
    complete_up_to: int
    sizes: dict[int, int]
    participation: dict[str, int]
    smallest: tuple[frozenset[str], ...]


def investigate(model: CausalModel, contexts: Iterable[Mapping[str, Any]], effect: Effect, *, smallest: int = 10,
                executor: Executor | None = None, **options: Any) -> list[IncidentReport | None]:
    """A report for each context, None where the effect does not hold; `options` go to `actual_causes`."""
    read_effect(model, effect)
    return spread(partial(_report, model, effect, smallest, options), list(contexts), executor)


def _report(model: CausalModel, effect: Effect, smallest: int, options: dict[str, Any], context: Mapping[str, Any]
            ) -> IncidentReport | None:
    if not Instance(model, context, effect).true_here:
        return None
    family = actual_causes(model, context, effect, **options)
    least = tuple(c.variables for c in itertools.islice(by_size(family), smallest))
    return IncidentReport(family.count, family.complete, family.complete_up_to, family.sizes(), family.participation(), least)

"""Brute force by the letter of AC1-AC3, for the three definitions: the oracle that the other engines are checked by.

It shares no code with them: own simulation, all endogenous variables, no theorem used."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from causal.errors import CausalError
from causal.expressions import Expression
from causal.model import CausalModel, holds

MAX_VARIABLES = 20
SOLVED_PER_TICK = 200

Codes = tuple[int, ...]
Explanation = tuple[dict[int, int], dict[int, int]]  # x' and W <- w, by position


class Simulator:
    """Solutions of a model in a context under interventions, in codes; positions follow `model.order`."""

    def __init__(self, model: CausalModel, context: Mapping[str, Any], effect: Expression,
                 tick: Callable[[], None] | None = None) -> None:
        self._tick, self._solved = tick, 0  # called now and then; it may raise to stop the search
        self.names = model.order
        if len(self.names) > MAX_VARIABLES:
            raise CausalError(f"engine 'definition' is brute force: {len(self.names)} endogenous variables are more "
                              f"than {MAX_VARIABLES}")
        self.domains = [model.domains[n] for n in self.names]
        self._model, self._context, self._effect = model, model.check_context(context), effect
        self._outcome: dict[Codes, bool] = {}
        self._step: dict[tuple[int, Codes], int] = {}
        place = {n: i for i, n in enumerate(self.names)}
        self._parents = [[place[p] for p in model.mechanisms[n].parents if p in place] for n in self.names]
        self._inputs = {i for i, n in enumerate(self.names) if n in model.inputs}
        self.actual = self.solve({})

    def solve(self, forced: Mapping[int, int]) -> Codes:
        """The codes of every variable when those of `forced` are held."""
        self._solved += 1
        if self._tick is not None and self._solved % SOLVED_PER_TICK == 0:
            self._tick()
        codes: list[int] = []
        for at in range(len(self.names)):
            codes.append(forced[at] if at in forced else self._equation(at, codes))
        return tuple(codes)

    def _equation(self, at: int, codes: list[int]) -> int:
        key = (at, tuple(codes[p] for p in self._parents[at]))
        found = self._step.get(key)
        if found is None:
            name, values = self.names[at], dict(self._context)
            values |= {self.names[p]: self.domains[p][codes[p]] for p in self._parents[at]}
            value = values[name] if at in self._inputs else self._model.compute(name, values)
            found = self._step[key] = self.domains[at].index(value)
        return found

    def effect(self, codes: Codes) -> bool:
        """Whether the effect holds at `codes`."""
        found = self._outcome.get(codes)
        if found is None:
            values = dict(self._context) | {n: d[c] for n, d, c in zip(self.names, self.domains, codes, strict=True)}
            found = self._outcome[codes] = holds(self._effect, values)
        return found


def subsets(items: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """Every subset, smallest first."""
    pool = list(items)
    for size in range(len(pool) + 1):
        yield from itertools.combinations(pool, size)


def modified(sim: Simulator, x: tuple[int, ...]) -> Explanation | None:
    """AC2(a^m), 2015: hold W at its actual values and set X otherwise so that the effect fails."""
    rest = [i for i in range(len(sim.names)) if i not in x]
    choices = [range(len(sim.domains[i])) for i in x]
    for w in subsets(rest):
        frozen = {i: sim.actual[i] for i in w}
        for setting in itertools.product(*choices):
            if not sim.effect(sim.solve({**frozen, **dict(zip(x, setting, strict=True))})):
                return dict(zip(x, setting, strict=True)), frozen
    return None


def _with_b(sim: Simulator, x: tuple[int, ...], every_part_of_w: bool) -> Explanation | None:
    rest = [i for i in range(len(sim.names)) if i not in x]
    choices = [range(len(sim.domains[i])) for i in x]
    back = {i: sim.actual[i] for i in x}
    for w in subsets(rest):
        z = [i for i in rest if i not in w]
        for held in itertools.product(*(range(len(sim.domains[i])) for i in w)):
            frozen = dict(zip(w, held, strict=True))
            parts = ({i: frozen[i] for i in part} for part in subsets(w)) if every_part_of_w else (frozen,)
            if not all(sim.effect(sim.solve({**back, **part, **{i: sim.actual[i] for i in zs}}))
                       for part in parts for zs in subsets(z)):
                continue
            for setting in itertools.product(*choices):
                if not sim.effect(sim.solve({**frozen, **dict(zip(x, setting, strict=True))})):
                    return dict(zip(x, setting, strict=True)), frozen
    return None


def original(sim: Simulator, x: tuple[int, ...]) -> Explanation | None:
    """AC2(a) and AC2(b^o), 2001: W at w' as a whole must not break the effect when X is put back."""
    return _with_b(sim, x, every_part_of_w=False)


def updated(sim: Simulator, x: tuple[int, ...]) -> Explanation | None:
    """AC2(a) and AC2(b^u), 2005: no part of W at w' may break the effect when X is put back."""
    return _with_b(sim, x, every_part_of_w=True)


AC2: dict[str, Callable[[Simulator, tuple[int, ...]], Explanation | None]] = {
    "modified": modified, "updated": updated, "original": original}


def causes(sim: Simulator, allowed: Iterable[int], definition: str
           ) -> Iterator[tuple[int, frozenset[int] | None, Explanation | None]]:
    """Causes by size: (size, cause, explanation), and (size, None, None) when a size is finished."""
    found: list[frozenset[int]] = []
    pool = sorted(allowed)
    for size in range(1, len(pool) + 1):
        for x in itertools.combinations(pool, size):
            if any(c <= set(x) for c in found):  # AC3: a proper subset satisfies AC2
                continue
            explanation = AC2[definition](sim, x)
            if explanation is not None:
                found.append(frozenset(x))
                yield size, frozenset(x), explanation
        yield size, None, None

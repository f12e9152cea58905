"""Finite chains with exact rational laws, and how the belief about which chain runs moves along a series.

Notation  A chain of memory m is `{(context of m symbols, oldest first): {symbol: probability}}`; memory 0 is
          `{(): {...}}`. P = largest memory among the chains. A state is (last P symbols, weights), where weights are
          coprime integers proportional to P(process | window); windows that end in the same state have the same
          optimal forecast for ever, so that a sum over |A|^W windows becomes a sum over far fewer states."""
from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from theory.window_length._arguments import sequence, whole

Symbol = Hashable
Context = tuple[Symbol, ...]
Chain = Mapping[Context, Mapping[Symbol, Any]]
State = tuple[Context, tuple[int, ...]]


@dataclass(frozen=True)
class Process:
    """A chain that was read and found sound: its memory, its rows and its stationary law over contexts."""

    memory: int
    rows: Mapping[Context, Mapping[Symbol, Fraction]]
    law: Mapping[Context, Fraction]

    def row(self, past: Context) -> Mapping[Symbol, Fraction]:
        """P(next symbol | past) for a past of at least `memory` symbols; empty where the process cannot be."""
        return self.rows.get(past[len(past) - self.memory:], {})


def read_chains(chains: Sequence[Chain], prior: Sequence[Any]) -> tuple[tuple[Process, ...], tuple[Fraction, ...]]:
    """The chains with their stationary laws, and the prior, as exact rationals.

    ValueError: no chain, a prior of another length or not a probability vector, a row that is not one, contexts of
    unequal length, a context that is reached and has no row, no unique stationary law."""
    if isinstance(chains, Mapping) or not len(sequence(chains, "chains")):
        raise ValueError(f"chains={chains!r} must be a sequence of at least one chain")
    if len(sequence(prior, "prior")) != len(chains):
        raise ValueError(f"prior has {len(prior)} entries; chains has {len(chains)}, and each chain needs one")
    weights = dict(enumerate(prior))
    checked = _probabilities(weights, "prior")
    return tuple(_read_chain(i, chain) for i, chain in enumerate(chains)), tuple(checked[i] for i in weights)


def memory_of(processes: Sequence[Process]) -> int:
    """P, the largest memory."""
    return max(process.memory for process in processes)


def check_window(window: Any, memory: int) -> int:
    """`window` as an int. ValueError if it is not a whole number, or shorter than the memory."""
    return whole(window, "window", memory, ", the memory of the chains")


def window_weights(processes: Sequence[Process], prior: Sequence[Fraction], past: Context) -> tuple[Fraction, ...]:
    """prior * P(past | process) for every process; `past` has at least P symbols."""
    return tuple(weight * _likelihood(process, past) for process, weight in zip(processes, prior, strict=True))


class Beliefs:
    """The law of the state after a stationary window: `states` maps a state to an integer mass.

    P(window ends in the state and process i runs) = mass * weights[i] / scale."""

    def __init__(self, processes: Sequence[Process], prior: Sequence[Fraction]) -> None:
        self.processes = processes
        self.memory = self.window = memory_of(processes)
        self.step = lcm(*(value.denominator for p in processes for row in p.rows.values() for value in row.values()))
        opening = {}
        for past in _opening_windows(processes):
            weights = window_weights(processes, prior, past)
            if any(weights):
                opening[past] = weights
        self.scale = lcm(*(value.denominator for weights in opening.values() for value in weights))
        self.states: dict[State, int] = {}
        for past, weights in opening.items():
            self._add(self.states, past, tuple(int(value * self.scale) for value in weights), 1)
        self._moves: dict[Context, list[tuple[Symbol, tuple[int, ...]]]] = {}

    def grow_to(self, window: int) -> Beliefs:
        """Lengthen the window symbol by symbol; returns itself."""
        while self.window < window:
            grown: dict[State, int] = {}
            for (past, weights), mass in self.states.items():
                for symbol, factors in self._moves_from(past):
                    new = tuple(map(operator.mul, weights, factors))
                    self._add(grown, (*past, symbol)[1:] if self.memory else (), new, mass)
            self.states, self.scale, self.window = grown, self.scale * self.step, self.window + 1
        return self

    @staticmethod
    def _add(states: dict[State, int], past: Context, weights: tuple[int, ...], mass: int) -> None:
        if divisor := gcd(*weights):
            state = past, tuple(value // divisor for value in weights)
            states[state] = states.get(state, 0) + mass * divisor

    def _moves_from(self, past: Context) -> list[tuple[Symbol, tuple[int, ...]]]:
        if past not in self._moves:
            rows = [process.row(past) for process in self.processes]
            self._moves[past] = [(symbol, tuple(int(row.get(symbol, 0) * self.step) for row in rows))
                                 for symbol in dict.fromkeys(s for row in rows for s in row)]
        return self._moves[past]


def _opening_windows(processes: Sequence[Process]) -> Iterator[Context]:
    """Each window of P symbols that some process can produce."""
    memory, seen = memory_of(processes), set()
    for process in processes:
        pasts = [past for past, value in process.law.items() if value]
        for _ in range(memory - process.memory):
            pasts = [(*past, symbol) for past in pasts for symbol, value in process.row(past).items() if value]
        for past in pasts:
            if past not in seen:
                seen.add(past)
                yield past


def _likelihood(process: Process, past: Context) -> Fraction:
    probability = process.law.get(past[:process.memory], Fraction(0))
    for end in range(process.memory, len(past)):
        if not probability:
            break
        probability *= process.row(past[:end]).get(past[end], Fraction(0))
    return probability


def _probabilities(values: Mapping[Any, Any], name: str) -> dict[Any, Fraction]:
    try:
        exact = {key: Fraction(value) for key, value in values.items()}
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}={dict(values)!r} must hold finite numbers") from None
    for key, value in exact.items():
        if value < 0:
            raise ValueError(f"{name} has the negative probability {value} at {key!r}")
    if (total := sum(exact.values(), Fraction(0))) != 1:
        raise ValueError(f"{name} sums to {total}; need exactly 1 (a float counts as the rational that it is)")
    return exact


def _read_chain(index: int, chain: Chain) -> Process:
    name = f"chains[{index}]"
    if not isinstance(chain, Mapping) or not chain:
        raise ValueError(f"{name}={chain!r} must map contexts (tuples, oldest symbol first) to rows")
    if bad := [context for context in chain if not isinstance(context, tuple)]:
        raise ValueError(f"{name} has the context {bad[0]!r}; need a tuple of symbols, oldest first")
    if len(lengths := sorted({len(context) for context in chain})) > 1:
        raise ValueError(f"{name} has contexts of lengths {lengths}; need one length, its memory")
    rows = {context: _probabilities(row, f"{name}[{context!r}]") for context, row in chain.items()}
    for context, row in rows.items():
        for symbol, value in row.items():
            if value and (after := (*context, symbol)[1:] if context else ()) not in rows:
                raise ValueError(f"{name} reaches the context {after!r} from {context!r} and has no row for it")
    return Process(lengths[0], rows, _stationary(name, rows))


def _stationary(name: str, rows: Mapping[Context, Mapping[Symbol, Fraction]]) -> dict[Context, Fraction]:
    """The unique stationary law over contexts, solved on the one closed class. ValueError if there are two."""
    moves: dict[Context, dict[Context, Fraction]] = {}
    for context, row in rows.items():
        moves[context] = {}
        for symbol, value in row.items():
            after = (*context, symbol)[1:] if context else ()
            if value:
                moves[context][after] = moves[context].get(after, Fraction(0)) + value
    reach = {context: _reachable(context, moves) for context in moves}
    closed = {reach[c] for c in moves if all(reach[d] == reach[c] for d in reach[c])}
    if len(closed) > 1:
        classes = "; ".join(sorted(", ".join(sorted(map(repr, group))) for group in closed))
        raise ValueError(f"{name} has no unique stationary law: its closed classes of contexts are {classes}")
    return _solve(moves, sorted(closed.pop(), key=list(rows).index))


def _reachable(start: Context, moves: Mapping[Context, Mapping[Context, Any]]) -> frozenset[Context]:
    found, todo = {start}, [start]
    while todo:
        new = moves[todo.pop()].keys() - found
        found |= new
        todo.extend(new)
    return frozenset(found)


def _solve(moves: Mapping[Context, Mapping[Context, Fraction]], contexts: list[Context]) -> dict[Context, Fraction]:
    """The stationary law of an irreducible class by censoring: take the contexts out one by one, then put them back.

    Subtraction-free (Grassmann, Taksar and Heyman 1985), so that no intermediate value can vanish."""
    inside = {c: dict(moves[c]) for c in contexts}
    for k in range(len(contexts) - 1, 0, -1):
        gone, kept = contexts[k], contexts[:k]
        leaving = sum((inside[gone].get(d, Fraction(0)) for d in kept), Fraction(0))
        for c in kept:
            if into := inside[c].pop(gone, None):
                for d in kept:
                    if onward := inside[gone].get(d):
                        inside[c][d] = inside[c].get(d, Fraction(0)) + into * onward / leaving
                inside[c][gone] = into / leaving
    visits = {contexts[0]: Fraction(1)}
    for k in range(1, len(contexts)):
        visits[contexts[k]] = sum((visits[c] * inside[c].get(contexts[k], 0) for c in contexts[:k]), Fraction(0))
    total = sum(visits.values())
    return {c: value / total for c, value in visits.items()}

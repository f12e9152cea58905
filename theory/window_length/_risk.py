"""Exact risks of windows: what is lost, against an oracle that knows the process, by seeing only a window."""
from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

from theory.window_length._arguments import sequence
from theory.window_length._chains import (
    Beliefs,
    Chain,
    Context,
    Process,
    check_window,
    memory_of,
    read_chains,
    window_weights,
)

__all__ = ["ambiguous", "bayes_predictor", "excess_risk", "min_window", "plug_in_excess", "posterior"]

STATES = 200_000  # `min_window` gives up beyond this many distinct pairs (last P symbols, posterior)

Predict = Callable[[tuple[Fraction, ...], tuple[Fraction, ...]], Fraction]


class Loss(NamedTuple):
    """What a loss makes of beliefs: the excess exactly, the excess in floats, and whether chains that are still possible
    (weight > 0) share an optimal forecast."""

    expected: Callable[[Beliefs], Any]
    roughly: Callable[[Beliefs], Any]
    settled: Callable[[Sequence[Process], Context, Sequence[int]], bool]


def excess_risk(chains: Sequence[Chain], prior: Sequence[Any], window: int, *, loss: str = "squared"
                ) -> Fraction | float:
    """Bayes risk of one-step forecasts from the last `window` symbols, less the risk of the oracle that knows which
    chain runs.

    chains  {context, oldest first: {symbol: probability}}, stationary; memories may differ; memory 0 is {(): {...}}
    prior   P(chain), one entry a chain
    window  at least the largest memory P (0 if every memory is 0)
    loss    "squared": symbols are numbers, the result is E[Var(mean of the next symbol | window)], a Fraction;
            "zero_one": probability of a wrong symbol, a Fraction; "log": -log P(next symbol), in nats, a float, which
            is the information I(chain; next symbol | window)

    Exact: the cost is the number of distinct pairs (last P symbols, posterior), far below |A|^window.
    ValueError: a row or the prior does not sum to 1, no unique stationary law, window < P, unknown loss.
    >>> flip = lambda rho: {(x,): {x: (1 + rho) / 2, -x: (1 - rho) / 2} for x in (-1, 1)}
    >>> excess_risk([flip(Fraction(1, 2)), flip(Fraction(-1, 2))], [Fraction(1, 2)] * 2, 3)
    Fraction(3, 20)
    """
    expected = _loss(loss).expected
    processes, weights = read_chains(chains, prior)
    window = check_window(window, memory_of(processes))
    return expected(Beliefs(processes, weights).grow_to(window))


def min_window(chains: Sequence[Chain], prior: Sequence[Any], tolerance: Any, *, loss: str = "squared",
               longest: int = 200) -> int:
    """The shortest window, at least P, whose excess risk is at most `tolerance` (in units of the loss).

    Between distinct chains the excess falls to 0, so that any tolerance > 0 is reached; tolerance 0 is reached only if
    the windows tell apart, with certainty, all chains that would be forecast differently.

    ValueError: tolerance negative or nan; tolerance 0 that no window reaches (decided, not given up); a tolerance that
    no window up to `longest` reaches, or none before the pasts that must be told apart exceed 200,000, with the excess
    there; and those of `excess_risk`."""
    kind = _loss(loss)
    processes, weights = read_chains(chains, prior)
    if not isinstance(tolerance, Real) or not 0 <= float(tolerance) < math.inf:
        raise ValueError(f"tolerance={tolerance!r} must be a finite number >= 0")
    beliefs = Beliefs(processes, weights)
    longest = check_window(longest, beliefs.memory)
    if tolerance == 0:
        return _settling_window(beliefs, kind, loss)
    while (rough := kind.roughly(beliefs)) > tolerance * (1 + 1e-9) or kind.expected(beliefs) > tolerance:
        if beliefs.window == longest or len(beliefs.states) > STATES:
            why = "" if beliefs.window == longest else f"; it leaves more than {STATES} pasts to tell apart"
            raise ValueError(f"tolerance={tolerance} is not reached by windows up to {beliefs.window} (longest={longest}), "
                             f"where the excess is {float(rough):.6g}{why}; need a larger tolerance or longest")
        beliefs.grow_to(beliefs.window + 1)
    return beliefs.window


def bayes_predictor(chains: Sequence[Chain], prior: Sequence[Any], window: Sequence[Hashable]) -> Fraction:
    """E[next symbol | window], `window` a tuple of at least P symbols, oldest first: the posterior average of the
    chains' conditional means.

    ValueError: window shorter than P, a window that no chain produces, symbols that are not numbers."""
    past = tuple(sequence(window, "window"))
    processes, weights = read_chains(chains, prior)
    check_window(len(past), memory_of(processes))
    return forecast(processes, weights, past)


def posterior(chains: Sequence[Chain], prior: Sequence[Any], window: Sequence[Hashable]) -> tuple[Fraction, ...]:
    """P(chain | window), one entry a chain; the window's own stationary probability is part of the likelihood.

    ValueError: window shorter than P, a window that no chain produces."""
    past = tuple(sequence(window, "window"))
    processes, weights = read_chains(chains, prior)
    check_window(len(past), memory_of(processes))
    return _posterior(processes, weights, past)


def forecast(processes: Sequence[Process], prior: Sequence[Fraction], past: Context) -> Fraction:
    """f_W for chains that were read already."""
    return sum((weight * _mean(process, past)
                for process, weight in zip(processes, _posterior(processes, prior, past), strict=True) if weight),
               Fraction(0))


def _posterior(processes: Sequence[Process], prior: Sequence[Fraction], past: Context) -> tuple[Fraction, ...]:
    joint = window_weights(processes, prior, past)
    if not (total := sum(joint, Fraction(0))):
        raise ValueError(f"window={past!r} has probability 0 under every chain")
    return tuple(weight / total for weight in joint)


def plug_in_excess(chains: Sequence[Chain], prior: Sequence[Any], window: int, predict: Predict) -> Fraction:
    """Squared-loss excess of any forecaster that sees the posterior: `predict(posterior, means)` is its forecast, where
    `means` are the chains' conditional means at the window's end (0 for a chain that cannot be there)."""
    processes, weights = read_chains(chains, prior)
    beliefs = Beliefs(processes, weights).grow_to(check_window(window, memory_of(processes)))
    total = Fraction(0)
    for (past, ratio), mass in beliefs.states.items():
        means = tuple(_mean(process, past) if weight else Fraction(0)
                      for process, weight in zip(processes, ratio, strict=True))
        guess = predict(tuple(Fraction(weight, sum(ratio)) for weight in ratio), means)
        total += mass * sum(weight * (mean - guess) ** 2 for weight, mean in zip(ratio, means, strict=True))
    return total / beliefs.scale


def ambiguous(chains: Sequence[Chain], prior: Sequence[Any]) -> bool:
    """Whether some P symbols of positive probability can come from two chains (of positive prior) that continue with
    different conditional means. Exactly then are windows longer than the memory needed under squared loss."""
    processes, weights = read_chains(chains, prior)
    beliefs = Beliefs(processes, weights)
    return not all(_same_mean(processes, past, ratio) for past, ratio in beliefs.states)


def _settling_window(beliefs: Beliefs, kind: Loss, loss: str) -> int:
    """The first window of excess 0. Which chains stay possible depends on supports alone, and the set of pairs (last P
    symbols, possible chains) has finitely many values and follows from its predecessor: a repetition settles it."""
    processes = beliefs.processes
    reached = {(past, tuple(int(weight > 0) for weight in ratio)) for past, ratio in beliefs.states}
    met: set[frozenset[Any]] = set()
    window = beliefs.window
    while not all(kind.settled(processes, past, alive) for past, alive in reached):
        if (key := frozenset(reached)) in met:
            raise ValueError(f"tolerance=0 is reached by no window: under loss={loss!r}, chains that call for "
                             "different forecasts share windows of every length; need tolerance > 0")
        met.add(key)
        grown = set()
        for past, alive in reached:
            rows = [process.row(past) if on else {} for process, on in zip(processes, alive, strict=True)]
            for symbol in {s for row in rows for s, value in row.items() if value}:
                after = (*past, symbol)[1:] if beliefs.memory else ()
                grown.add((after, tuple(int(row.get(symbol, 0) > 0) for row in rows)))
        reached, window = grown, window + 1
    return window


def _mean(process: Process, past: Context) -> Fraction:
    total = Fraction(0)
    for symbol, value in process.row(past).items():
        if not isinstance(symbol, Real) or not -math.inf < symbol < math.inf:
            raise ValueError(f"symbol {symbol!r} is not a finite number; squared loss needs numbers "
                             "(zero_one and log take any symbols)")
        total += value * Fraction(symbol)
    return total


def _possible(processes: Sequence[Process], past: Context, ratio: Sequence[int]) -> list[Mapping[Any, Fraction]]:
    return [process.row(past) for process, weight in zip(processes, ratio, strict=True) if weight]


def _same_mean(processes: Sequence[Process], past: Context, ratio: Sequence[int]) -> bool:
    return len({_mean(process, past) for process, weight in zip(processes, ratio, strict=True) if weight}) == 1


def _same_row(processes: Sequence[Process], past: Context, ratio: Sequence[int]) -> bool:
    first, *others = ({s: v for s, v in row.items() if v} for row in _possible(processes, past, ratio))
    return all(row == first for row in others)


def _same_best_symbol(processes: Sequence[Process], past: Context, ratio: Sequence[int]) -> bool:
    best = [{s for s, v in row.items() if v == max(row.values())} for row in _possible(processes, past, ratio)]
    return bool(set.intersection(*best))


def _squared(beliefs: Beliefs) -> Fraction:
    """Numerators are gathered by denominator before the fractions meet, in pairs, so that large ones meet late."""
    by_total, scale = _squared_terms(beliefs)
    terms = [Fraction(numerator, total) for total, numerator in by_total.items()]
    while len(terms) > 1:
        terms = [sum(terms[i:i + 2], Fraction(0)) for i in range(0, len(terms), 2)]
    return terms[0] / scale


def _squared_roughly(beliefs: Beliefs) -> float:
    """The same to nearly full float precision, at a fraction of the cost: all terms are >= 0."""
    by_total, scale = _squared_terms(beliefs)
    return math.fsum(numerator / (total * scale) for total, numerator in by_total.items())


def _squared_terms(beliefs: Beliefs) -> tuple[dict[int, int], int]:
    """Excess = sum of numerator / denominator / scale over the dict {denominator: numerator}, all integers: a state
    gives mass * (C A - B^2) / C with A, B, C the sums of weight * mean^2, weight * mean, weight."""
    means = {past: [_mean(process, past) for process in beliefs.processes] for past in {p for p, _ in beliefs.states}}
    unit = math.lcm(*(mean.denominator for row in means.values() for mean in row))
    whole = {past: [int(mean * unit) for mean in row] for past, row in means.items()}
    by_total: dict[int, int] = {}
    for (past, ratio), mass in beliefs.states.items():
        first = sum(weight * mean for weight, mean in zip(ratio, whole[past], strict=True))
        second = sum(weight * mean * mean for weight, mean in zip(ratio, whole[past], strict=True))
        total = sum(ratio)
        by_total[total] = by_total.get(total, 0) + mass * (second * total - first * first)
    return by_total, beliefs.scale * unit * unit


def _zero_one(beliefs: Beliefs) -> Fraction:
    total = Fraction(0)
    for (past, ratio), mass in beliefs.states.items():
        rows = [process.row(past) for process in beliefs.processes]
        oracle = sum(weight * max(row.values()) for weight, row in zip(ratio, rows, strict=True) if weight)
        mixed: dict[Hashable, Fraction] = {}
        for weight, row in zip(ratio, rows, strict=True):
            for symbol, value in row.items():
                mixed[symbol] = mixed.get(symbol, Fraction(0)) + weight * value
        total += mass * (oracle - max(mixed.values()))
    return total / beliefs.scale


def _log(beliefs: Beliefs) -> float:
    terms = []
    for (past, ratio), mass in beliefs.states.items():
        rows = [process.row(past) for process in beliefs.processes]
        size = sum(ratio)
        for symbol in {s for row in rows for s in row}:
            mixed = sum(weight * row.get(symbol, Fraction(0)) for weight, row in zip(ratio, rows, strict=True)) / size
            terms += [float(mass * weight * value / beliefs.scale) * math.log(value / mixed)
                      for weight, row in zip(ratio, rows, strict=True)
                      if weight and (value := row.get(symbol, Fraction(0)))]
    return math.fsum(terms)


_LOSSES = {"squared": Loss(_squared, _squared_roughly, _same_mean), "log": Loss(_log, _log, _same_row),
           "zero_one": Loss(_zero_one, _zero_one, _same_best_symbol)}


def _loss(loss: str) -> Loss:
    if loss not in _LOSSES:
        raise ValueError(f"loss={loss!r} is unknown; need one of {', '.join(map(repr, _LOSSES))}")
    return _LOSSES[loss]

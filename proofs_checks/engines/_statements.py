"""From a claim's own function to a statement: the function is applied to symbols here, never by its author."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from proofs_checks.harness.evidence import Vacuous
from proofs_checks.harness.language import Problem
from proofs_checks.harness.trees import Tree, is_relation, to_tree

__all__ = ["call", "concerns", "conditions", "exact_point", "names_of", "problem_of", "samples", "satisfiable",
           "survives", "symbols_of"]

WORK = 2_000_000  # z3's resource count for the question where hypotheses hold


def names_of(arity_or_symbols: Any) -> list[str]:
    """Names of the variables: those given, or x0, x1, ..."""
    if isinstance(arity_or_symbols, int) and not isinstance(arity_or_symbols, bool):
        if arity_or_symbols < 1:
            raise ValueError(f"arity={arity_or_symbols} must be at least 1")
        return [f"x{i}" for i in range(arity_or_symbols)]
    symbols = [arity_or_symbols] if isinstance(arity_or_symbols, str) else list(arity_or_symbols)
    names = [str(symbol) for symbol in symbols]
    if not names or len(set(names)) != len(names):
        raise ValueError(f"symbols={names!r} must be distinct, at least one")
    return names


def symbols_of(names: Sequence[str]) -> list[Any]:
    """Real symbols of these names."""
    import sympy as sp

    return [sp.Symbol(name, real=True) for name in names]


def call(function: Callable[..., Any], point: Sequence[Any]) -> Any:
    """function(*point), or function(point) for a function of one sequence with several variables."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    one_sequence = len(parameters) == 1 and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL
    return function(list(point)) if one_sequence and len(point) != 1 else function(*point)


def conditions(found: Any) -> list[Tree]:
    """What `given` returned, as relations: a relation, an expression that is >= 0, or a tuple of these."""
    items = found if isinstance(found, tuple | list) else [found]
    trees = [to_tree(item) for item in items]
    return [tree if is_relation(tree) else ["ge", tree, "0"] for tree in trees]


def problem_of(function: Callable[..., Any], names: Sequence[str], given: Callable[..., Any] | None) -> Problem:
    """The statement: wherever `given` holds, the function's relation holds, or its value is >= 0."""
    symbols = symbols_of(names)
    goals = conditions(call(function, symbols))
    hypotheses = conditions(call(given, symbols)) if given is not None else []
    conclusion = goals[0] if len(goals) == 1 else ["and", *goals]
    return Problem(box=dict.fromkeys(names, (None, None)), hypotheses=tuple(hypotheses), conclusion=conclusion)


def satisfiable(problem: Problem) -> Problem:
    """The problem again. `Vacuous` unless a point is found that satisfies its hypotheses: from a contradiction anything
    follows, and no prover sees every contradiction."""
    from proofs_checks.engines.portfolio._search import Search
    from proofs_checks.engines.smt._decide import decide

    if problem.hypotheses:
        equations = tuple(h for h in problem.hypotheses if h[0] == "eq")  # solved, where the rest is searched for
        rest = [h for h in problem.hypotheses if h[0] != "eq"]
        nowhere = replace(problem, hypotheses=equations, conclusion=["not", ["and", *rest, ["true"]]])
        search = Search(nowhere)
        if not (search.small() or any(map(search.refutes, decide(nowhere.subject, work=WORK).points)) or search.wide()):
            raise Vacuous("no point satisfies the hypotheses, as far as was looked: the check could not have failed")
    return problem


def exact_point(witness: Any, names: Sequence[str]) -> list[Fraction]:
    """A witness as Fractions in the order of the variables; floats become the rationals that they are."""
    values = [witness[name] for name in names] if isinstance(witness, Mapping) else list(witness)
    if len(values) != len(names):
        raise ValueError(f"witness={witness!r} must have {len(names)} coordinates")
    return [Fraction(value) for value in values]


def samples(count: int, size: int) -> Iterator[list[Fraction]]:
    """A fixed sequence of rational points, by turns in [-20, 20], [0, 1] and [0, 20], of denominators up to 16."""
    state = 1
    for number in range(count):
        point = []
        for _ in range(size):
            state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            draw = state >> 33
            whole = Fraction(draw % 41 - 20, 1 + draw // 41 % 7)
            point.append((whole, Fraction(draw % 17, 16), abs(whole))[number % 3])
        yield point


def survives(function: Callable[..., Any], given: Callable[..., Any] | None, point: Sequence[Fraction]) -> bool:
    """Whether the statement holds at a rational point, by the claim's own functions on Fractions."""
    return not concerns(given, point) or all(map(_true, _items(call(function, point))))


def concerns(given: Callable[..., Any] | None, point: Sequence[Fraction]) -> bool:
    """Whether the hypotheses hold at the point."""
    return given is None or all(map(_true, _items(call(given, point))))


def _items(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple | list) else [found]


def _true(value: Any) -> bool:
    """A relation's truth, or whether a number is >= 0."""
    import sympy as sp

    if isinstance(value, bool) or value in (sp.true, sp.false):
        return bool(value)
    return bool(value >= 0)

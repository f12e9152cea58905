"""Numbers that a function's code mentions, tried on the function itself before a proof about its expression is believed.

A proof speaks of the expression that a function makes of symbols. Python's `==`, `in`, `get` and `isinstance` look at a
symbol's structure, so `n if n != 6 else 0` is `n` to a symbol and 0 at 6: the exception sits at a number in the code."""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from types import CodeType, FunctionType
from typing import Any

from proofs_checks.harness.evidence import Evidence, Verdict

NUMBERS = 16  # of the code, the outermost first
POINTS = 60
LARGE = 1000  # a number beyond this may stand for a size that takes for ever
OBJECTS = 400
_MATTERS = (int, float, Fraction, FunctionType, Mapping, tuple, list, set, frozenset)
GENERIC = (Fraction(1, 2), Fraction(2, 3), Fraction(3), Fraction(5), Fraction(7, 5))


def tried(found: Evidence, functions: Iterable[Any], names: Sequence[str], at: Callable[[Any], bool],
          allowed: Callable[[Sequence[Fraction]], bool] = lambda point: True) -> Evidence:
    """`found`, or, if it HOLDS and the functions themselves fail at a point made of their own numbers, a refutation.

    `at` says whether the statement survives at a point {name: Fraction}; where it cannot say, that tells nothing."""
    if found.verdict is not Verdict.HOLDS:
        return found
    for point in islice(filter(allowed, _points(_numbers(functions), len(names))), POINTS):
        witness = dict(zip(names, point, strict=True))
        try:
            survives = at(witness)
        except Exception:
            continue
        if not survives:
            text = ", ".join(f"{name} = {value}" for name, value in witness.items())
            return replace(found, verdict=Verdict.REFUTED, universal=False, witness=witness, certificate=None, trusted_base=(),
                           summary=f"fails at {text}, where the function is not what it makes of symbols")
    return found


def _points(numbers: Sequence[Fraction], size: int) -> Iterator[tuple[Fraction, ...]]:
    """Generic points, then each number in every coordinate, then in one coordinate of a generic point."""
    for shift in range(3):
        yield tuple(GENERIC[(i + shift) % len(GENERIC)] for i in range(size))
    for number in numbers:
        yield (number,) * size
    if size > 1:
        for number in numbers:
            for i in range(size):
                yield tuple(number if j == i else GENERIC[j % len(GENERIC)] for j in range(size))


def _numbers(functions: Iterable[Any]) -> list[Fraction]:
    """The numbers, their negatives and neighbours, and ratios of the first few, each once."""
    plain = list(islice(dict.fromkeys(_mentioned(functions)), NUMBERS))
    near = [n + step for n in plain for step in (1, -1)]
    ratios = [a / b for a in plain[:6] for b in plain[:6] if b not in (0, 1)]
    return list(dict.fromkeys([*plain, *ratios, *near, *(-n for n in plain)]))


def _mentioned(functions: Iterable[Any]) -> Iterator[Fraction]:
    """Numbers in code, defaults, closures and module values that the code names, breadth first."""
    todo, met = list(functions), 0
    seen: list[Any] = []
    while todo and met < OBJECTS:
        value = todo.pop(0)
        met += 1
        if value is None or isinstance(value, bool | str | bytes) or any(value is s for s in seen):
            continue
        number = _number(value)
        if number is not None:
            if abs(number) <= LARGE:
                yield number
            continue
        seen.append(value)
        todo += _inside(value)


def _number(value: Any) -> Fraction | None:
    try:
        if isinstance(value, int | float | Fraction):
            return Fraction(value)
        if not isinstance(value, type) and getattr(value, "is_Rational", False) is True:
            return Fraction(int(value.p), int(value.q))
    except (ValueError, OverflowError):  # nan, infinities
        return None
    return None


def _inside(value: Any) -> list[Any]:
    if isinstance(value, CodeType):
        return list(value.co_consts)
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, FunctionType):
        cells = [c.cell_contents for c in value.__closure__ or () if _filled(c)]
        named = [value.__globals__[n] for n in value.__code__.co_names if n in value.__globals__]
        kept = [v for v in named if isinstance(v, _MATTERS)]
        return [value.__code__, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *cells, *kept]
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    return list(value) if isinstance(value, tuple | list | set | frozenset) else []


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False

"""Numbers that a function may treat apart, tried on the function itself before a proof about its expression is believed.

A proof speaks of the expression that a function makes of symbols. Python's `==`, `in`, `get` and `isinstance` look at a
symbol's structure, so `n if n != 6 else 0` is `n` to a symbol and 0 at 6. Three things are done about it. The function is
run on its symbols, watched: numbers that it compares a symbol with are tried, wherever they come from; a comparison of
anything else than a bare symbol, a look at how one is written (its truth value, `str`, `hash`), and a question that sympy
leaves open (`is_zero`), leave the proof undecided. It is run at points, watched as well, and what it compares there is
tried next, as far as `MOVES` goes. And the numbers that its code, closures and data mention are tried.

Trusted remains: that a function of numbers does not, on the strength of a type alone, take a way on which it singles out
numbers by arithmetic of its own (`isinstance(n, int) and n * n % 1009 == 5`) or inside a library."""
from __future__ import annotations

import functools
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from types import CodeType, FunctionType
from typing import Any

from proofs_checks.engines import _statements as statements
from proofs_checks.engines._looks import looks
from proofs_checks.engines._watched import watched
from proofs_checks.harness.evidence import Evidence, Verdict
from proofs_checks.harness.syntax import INSTALLED

__all__ = ["tried"]

Point = tuple[Fraction, ...]
NUMBERS = 16  # of the code, the outermost first
POINTS = 60  # of those made from numbers of the code
MOVES = 200  # points made from what the function compares at points
SAMPLES = 12
LARGE = 1000  # a number of the code beyond this may stand for a size that takes for ever
COMPARED = 10**6  # one that a symbol is compared with may not
OBJECTS = 400
_LOOKUPS = frozenset(("get", "index", "count", "__contains__", "__getitem__", "pop", "setdefault"))
_MATTERS = (int, float, Fraction, FunctionType, Mapping, tuple, list, set, frozenset)
GENERIC = (Fraction(1, 2), Fraction(2, 3), Fraction(3), Fraction(5), Fraction(7, 5))


def tried(found: Evidence, functions: Iterable[Any], names: Sequence[str], at: Callable[[Any], bool],
          allowed: Callable[[Sequence[Fraction]], bool] = lambda point: True, *, symbols: Sequence[Any] | None = None,
          apply: Callable[[Any, Sequence[Any]], Any] = statements.call) -> Evidence:
    """`found`, or, if it HOLDS and the functions themselves fail at a point made of their own numbers, a refutation; or
    UNDECIDED, where a function compares what no point can stand for.

    `at` says whether the statement survives at a point {name: Fraction}; where it cannot say, that tells nothing.
    `apply` calls a function on its symbols, or at a point."""
    if found.verdict is not Verdict.HOLDS:
        return found
    own = [f for f in functions if callable(f)]
    met = _Met()
    runs = [watched(f, met=met.see, before=met.asked) for f in own]
    apart = _apart(symbols or statements.symbols_of(names))
    with looks(apart, met.looked):
        _run(runs, apply, apart)
    loose, compared = met.loose, met.taken()
    todo = deque(islice(_points(_numbers(own), len(names)), POINTS))
    todo.extend(_around(compared, _base(0, len(names))))
    todo.extend(map(tuple, statements.samples(SAMPLES, len(names))))
    done: set[Point] = set()
    moves = MOVES
    while todo:
        point = todo.popleft()
        if point in done or not allowed(point):
            continue
        done.add(point)
        if not _survives(at, dict(zip(names, point, strict=True))):
            return _refuted(found, dict(zip(names, point, strict=True)))
        _run(runs, apply, point)
        further = list(islice((p for p in _around(met.taken(), point) if p not in done), moves))
        moves -= len(further)
        todo.extend(further)
    return found if loose is None else replace(
        found, verdict=Verdict.UNDECIDED, universal=False, certificate=None, trusted_base=(),
        summary=f"the function looks at its arguments by {loose}, which for symbols is a look at their structure: the proof "
                "may miss what it does there")


def _apart(symbols: Iterable[Any]) -> list[Any]:
    """Symbols like these that no function has of its own: `{n: 3}` in `e.subs({n: 3})` is then no look at an argument."""
    from sympy import Dummy

    return [Dummy(s.name, **s.assumptions0) for s in symbols]


def _named(expression: Any) -> str:
    """An expression as the function's author knows it."""
    from sympy import Symbol

    return str(expression.xreplace({s: Symbol(s.name) for s in expression.free_symbols}))


def _run(runs: Iterable[Any], apply: Callable[[Any, Sequence[Any]], Any], values: Sequence[Any]) -> None:
    for run in runs:
        try:
            apply(run, values)
        except Exception:  # a function need not be defined there; what it compared until then counts
            continue


def _survives(at: Callable[[Any], bool], witness: Mapping[str, Fraction]) -> bool:
    try:
        return at(witness)
    except Exception:
        return True


def _refuted(found: Evidence, witness: Mapping[str, Fraction]) -> Evidence:
    text = ", ".join(f"{name} = {value}" for name, value in witness.items())
    return replace(found, verdict=Verdict.REFUTED, universal=False, witness=witness, certificate=None, trusted_base=(),
                   summary=f"fails at {text}, where the function is not what it makes of symbols")


class _Met:
    """What watched functions compare: the numbers, and, of comparisons that no number can stand for, the first."""

    def __init__(self) -> None:
        self.numbers: dict[Fraction, None] = {}
        self.loose: str | None = None

    def taken(self) -> list[Fraction]:
        """The numbers met since the last call."""
        found, self.numbers = list(self.numbers), {}
        return found

    def see(self, value: Any) -> None:
        """One side of a comparison."""
        if isinstance(value, tuple | list):
            for part in value:
                self.see(part)
        elif getattr(value, "free_symbols", None) and not getattr(value, "is_Symbol", False):
            self.loose = self.loose or f"comparing {_named(value)[:60]} for equality"
        elif isinstance(value, Mapping | set | frozenset) or (isinstance(value, range) and len(value) < OBJECTS):
            self.hold(value)
        elif hasattr(value, "__iter__") and not isinstance(value, str | bytes):
            self.loose = self.loose or f"membership in a {type(value).__name__}"
        else:
            self._keep(_number(value))

    def hold(self, values: Iterable[Any]) -> None:
        """What is looked up in."""
        for value in values:
            if isinstance(value, tuple | frozenset):
                self.hold(value)
            elif not getattr(value, "free_symbols", None):
                self._keep(_number(value))

    def looked(self, by: str, values: tuple[Any, ...]) -> None:
        """A look at symbols, by one of sympy's methods."""
        if by in ("__eq__", "__ne__", "equals"):
            self.see(values)
        elif by in ("subs", "xreplace"):  # the numbers that it replaces
            self.hold(values[1:2] if len(values) == 3 else dict(values[1]))
        else:
            self.loose = self.loose or f"{by.strip('_')}()"

    def asked(self, called: Any, args: tuple[Any, ...]) -> None:
        """A call, which may look something up, or ask which object a symbol is."""
        if called is id and any(getattr(arg, "free_symbols", None) for arg in args):
            self.loose = self.loose or "id()"
        owner = getattr(called, "__self__", None)
        if isinstance(owner, Mapping | set | frozenset | tuple | list) and getattr(called, "__name__", "") in _LOOKUPS:
            self.hold(owner)

    def _keep(self, number: Fraction | None) -> None:
        if number is None:
            return
        if abs(number) > COMPARED or len(self.numbers) >= OBJECTS:
            self.loose = self.loose or f"comparing with {'many numbers' if abs(number) <= COMPARED else str(number)[:60]}"
        else:
            self.numbers[number] = None


def _base(shift: int, size: int) -> Point:
    return tuple(GENERIC[(i + shift) % len(GENERIC)] for i in range(size))


def _around(numbers: Iterable[Fraction], point: Point) -> Iterator[Point]:
    """Each number in every coordinate, and in one coordinate of the point."""
    for number in numbers:
        yield (number,) * len(point)
        for i in range(len(point)):
            yield (*point[:i], number, *point[i + 1:])


def _points(numbers: Sequence[Fraction], size: int) -> Iterator[Point]:
    """Generic points, then each number in every coordinate, then in one coordinate of a generic point."""
    yield from (_base(shift, size) for shift in range(3))
    yield from ((number,) * size for number in numbers)
    if size > 1:
        for number in numbers:
            yield from _around([number], _base(0, size))


def _numbers(functions: Iterable[Any]) -> list[Fraction]:
    """The numbers, their negatives and neighbours, and ratios of the first few, each once."""
    plain = list(islice(dict.fromkeys(_mentioned(functions)), NUMBERS))
    near = [n + step for n in plain for step in (1, -1)]
    ratios = [a / b for a in plain[:6] for b in plain[:6] if b not in (0, 1)]
    return list(dict.fromkeys([*plain, *ratios, *near, *(-n for n in plain)]))


def _mentioned(functions: Iterable[Any]) -> Iterator[Fraction]:
    """Numbers in code, defaults, closures, objects and module values that the code names, breadth first."""
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
        if isinstance(value, int | float | Fraction | str):  # a text may be how a number looks
            return Fraction(value)
        if not isinstance(value, type) and getattr(value, "is_Rational", False) is True:
            return Fraction(int(value.p), int(value.q))
    except (ValueError, OverflowError, ZeroDivisionError):  # nan, infinities, words
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
    if isinstance(value, tuple | list | set | frozenset):
        return list(value)
    return _of_object(value)


def _of_object(value: Any) -> list[Any]:
    """The attributes of an object of ours, and the function that calling it or its method runs."""
    method = inspect.getattr_static(type(value), "__call__", None)
    if not isinstance(method, FunctionType) or method.__code__.co_filename.startswith(INSTALLED):
        return []
    return [*getattr(value, "__dict__", {}).values(), method]


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False

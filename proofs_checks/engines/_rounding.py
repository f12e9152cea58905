"""Whether a predicate computes in floats, and whether the way that they are rounded decides what it says."""
from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import functools
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from proofs_checks.engines._watched import is_rounded, watched
from proofs_checks.harness.syntax import INSTALLED

_HERE = __file__
_REPORTED = 4  # cases in which rationals report what becomes of them, which makes each sum of theirs a call
_EXACT = frozenset({"ceil", "comb", "factorial", "floor", "gcd", "isfinite", "isinf", "isnan", "isqrt", "lcm", "perm", "prod",
                    "trunc"})  # of `math`: integers in, integers out
_DOWN_UP_ZERO = {  # the values of FE_DOWNWARD, FE_UPWARD and FE_TOWARDZERO in <fenv.h>
    "x86_64": (0x400, 0x800, 0xC00), "AMD64": (0x400, 0x800, 0xC00),
    "aarch64": (0x800000, 0x400000, 0xC00000), "arm64": (0x800000, 0x400000, 0xC00000)}


def computes_in_floats(predicate: Callable[..., Any], cases: Iterable[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    """The first of the cases at which the predicate makes floats; None if it does at none.

    Seen are: rationals of the case, and what is computed from them, that become a float; what every operation and call in
    the source of the predicate, and of the functions that it calls, gives (`_watched`); floats that any function or
    generator outside the libraries returns or yields; calls of `math` that give floats. What is computed inside a library
    or in a function without source is seen by what comes back, and in the first four cases by what becomes of the case's
    rationals; a predicate that refuses what is handed over is taken to be exact where it refuses."""
    seen: list[bool] = []

    def note(value: Any) -> None:
        if is_rounded(value):
            seen.append(True)

    def before(called: Any, _: tuple[Any, ...]) -> None:
        if _of_math(called):
            seen.append(True)

    looked_into = watched(predicate, note=note, before=before)  # once: its memos serve all cases
    for number, case in enumerate(cases):
        if number < _REPORTED:
            with _watching(seen), contextlib.suppress(Exception):
                predicate(*(_reporting(value, seen) for value in case))
        if not seen:
            with contextlib.suppress(Exception):
                note(looked_into(*case))
        if seen:
            return case
    return None


def _of_math(called: Any) -> bool:
    """Whether a function is one of `math` that gives floats."""
    return getattr(called, "__module__", "") in ("math", "cmath") and getattr(called, "__name__", "") not in _EXACT


@contextmanager
def _watching(seen: list[bool]) -> Iterator[None]:
    """Add to `seen` when code outside the libraries returns or yields a float, or has `math` make one."""

    def watch(frame: Any, event: str, arg: Any) -> None:
        made = (event == "return" and type(arg) is float) or (
            event == "c_call" and _of_math(arg))
        if made and not frame.f_code.co_filename.startswith((*INSTALLED, _HERE)):
            seen.append(True)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before if callable(before) else None)  # a profiler written in C cannot be put back


def otherwise_rounded(decide: Callable[[], bool]) -> Iterator[bool]:
    """What `decide` says with the floats of this thread rounded down, up, and towards zero.

    An exception says nothing. Nothing is yielded on a machine whose rounding cannot be set."""
    for mode in _modes():
        with _rounded(mode):
            try:
                said = decide()
            except Exception:
                continue
        yield said


class _Integer(int):
    seen: list[bool]


class _Rational(Fraction):
    seen: list[bool]


def _reporting(value: Any, seen: list[bool]) -> Any:
    """The same value; rationals in it add to `seen` when they become a float, and so do those computed from them."""
    if type(value) is int or type(value) is Fraction:
        made = _Integer(value) if type(value) is int else _Rational(value)
        made.seen = seen
        return made
    if type(value) is float:
        seen.append(True)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_reporting(v, seen) for v in value))
    if type(value) in (tuple, list):
        return type(value)(_reporting(v, seen) for v in value)
    if type(value) is dict:
        return {k: _reporting(v, seen) for k, v in value.items()}
    return value


def _operation(base: type, name: str) -> Callable[..., Any]:
    plain = getattr(base, name)

    def operation(self: Any, *others: Any) -> Any:
        return _reporting(plain(self, *others), self.seen)

    return operation


def _float(base: type) -> Callable[[Any], float]:
    def to_float(self: Any) -> float:
        self.seen.append(True)
        return float(base(self))

    return to_float


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
for _class, _base in ((_Integer, int), (_Rational, Fraction)):
    for _name in (*_BINARY, *map("r{}".format, _BINARY), "neg", "pos", "abs"):
        setattr(_class, f"__{_name}__", _operation(_base, f"__{_name}__"))
    _class.__float__ = _float(_base)  # type: ignore[method-assign]


@functools.cache
def _library() -> Any:
    try:
        library = ctypes.CDLL(ctypes.util.find_library("m"))
        return library if library.fegetround() == 0 else None  # 0 is FE_TONEAREST on both
    except (OSError, AttributeError, TypeError):
        return None


def _modes() -> tuple[int, ...]:
    return _DOWN_UP_ZERO.get(platform.machine(), ()) if _library() is not None else ()


@contextmanager
def _rounded(mode: int) -> Iterator[None]:
    before = _library().fegetround()
    _library().fesetround(mode)
    try:
        yield
    finally:
        _library().fesetround(before)

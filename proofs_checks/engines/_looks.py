"""What code asks of symbols as they are written: whether they are equal, true, what they hash to, how they print.

sympy answers these for an expression's structure, not for the numbers that it stands for: `n - 5077` is true, `n in [5077]`
is false; `any`, `match`, `{n}`, `"%s" % n` and `operator.eq` look in the same way. So it is sympy's methods that tell, those
of its tuples, sets and matrices too. `(n - 5077).is_zero` is None, neither true nor false, which `if` takes for false."""
from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

__all__ = ["looks", "remembered"]

_LOOKS = ("__eq__", "__ne__", "__hash__", "__bool__", "__str__", "__repr__", "__format__",
          "equals", "compare", "dummy_eq", "match", "has", "find", "count", "replace", "subs", "xreplace")
_LOCK = threading.RLock()
_TOLD: list[tuple[frozenset[Any], Callable[[str, tuple[Any, ...]], None]]] = []  # by whom; sympy's methods are changed once
_USUAL: list[tuple[type, str, Any]] = []
_HERE = threading.local()


def remembered(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function with a memo; that the memo hashes and compares its arguments is no look of the function's."""
    return function(*args, **kwargs)


@contextmanager
def looks(symbols: Iterable[Any], note: Callable[[str, tuple[Any, ...]], None]) -> Iterator[None]:
    """While it lasts, `note(name, values)` of every look that code outside sympy takes at what contains one of the symbols,
    with the method's name. It may be used in itself, and by several threads at once."""
    mine = frozenset(symbols), note
    try:
        with _LOCK:
            _TOLD.append(mine)
            if len(_TOLD) == 1:
                _change()
        yield
    finally:
        with _LOCK:
            _TOLD[:] = [other for other in _TOLD if other is not mine]
            if not _TOLD:
                _change_back()


def _change() -> None:
    import sympy
    from sympy.core._print_helpers import Printable
    from sympy.core.assumptions import _assume_defined, as_property

    inside = os.path.dirname(sympy.__file__) + os.sep
    found = [(kind, name, kind.__dict__[name]) for kind in _below(Printable) for name in _LOOKS if name in kind.__dict__]
    _USUAL[:] = [(kind, name, usual) for kind, name, usual in found if usual is not None]  # no hash: left as it is
    for kind, name, usual in _USUAL:
        setattr(kind, name, _telling(name, usual, inside))
    for name in map(as_property, _assume_defined):  # such as is_zero
        usual = sympy.Basic.__dict__[name]
        _USUAL.append((sympy.Basic, name, usual))
        setattr(sympy.Basic, name, _answering(name, usual, inside))
    _USUAL.append((sympy.Basic, "__bool__", None))
    sympy.Basic.__bool__ = _telling("__bool__", _true, inside)


def _change_back() -> None:
    while _USUAL:
        kind, name, usual = _USUAL[-1]
        if usual is not None:
            setattr(kind, name, usual)
        elif name in kind.__dict__:
            delattr(kind, name)
        _USUAL.pop()


def _below(kind: type) -> list[type]:
    """A class and all that are derived from it."""
    found = [kind]
    for one in found:  # it grows
        found += type.__subclasses__(one)
    return list(dict.fromkeys(found))


def _telling(name: str, usual: Callable[..., Any], inside: str) -> Callable[..., Any]:
    def method(*values: Any, **named: Any) -> Any:
        _tell(name, values, sys._getframe(1).f_code, inside)
        return usual(*values, **named)
    return method


def _answering(name: str, usual: Any, inside: str) -> property:
    """A property of numbers; it is a look only where it is not known of the symbols, and answers None."""
    def answer(value: Any) -> Any:
        found = usual.fget(value)
        if found is None:
            _tell(name, (value,), sys._getframe(1).f_code, inside)
        return found
    return property(answer)


def _tell(name: str, values: tuple[Any, ...], caller: CodeType, inside: str) -> None:
    if caller is remembered.__code__ or caller.co_filename.startswith(inside) or hasattr(_HERE, "busy"):
        return
    _HERE.busy = True  # what `note` asks is not what the function asks
    try:
        held = frozenset().union(*map(_symbols, values))
        for own, note in tuple(_TOLD):
            if own & held:
                note(name, values)
    finally:
        del _HERE.busy


def _symbols(value: Any) -> frozenset[Any]:
    found = getattr(value, "free_symbols", None)
    return frozenset(found) if isinstance(found, set | frozenset) else frozenset()  # of a class it is a property


def _true(value: Any) -> bool:
    """What Python says of an object that has no `__bool__`."""
    return not hasattr(type(value), "__len__") or len(value) > 0

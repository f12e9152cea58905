"""What code asks of symbols as they are written: whether they are equal, true, what they hash to, how they print.

sympy answers these for an expression's structure, not for the numbers that it stands for: `n - 5077` is true, `n in [5077]`
is false; `any`, `match`, `{n}`, `"%s" % n` and `operator.eq` look in the same way. So it is sympy's methods that tell."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["looks", "remembered"]

_LOOKS = ("__eq__", "__ne__", "__hash__", "__bool__", "__str__", "__repr__", "__format__")


def remembered(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function with a memo; that the memo hashes and compares its arguments is no look of the function's."""
    return function(*args, **kwargs)


@contextmanager
def looks(symbols: Iterable[Any], note: Callable[[str, tuple[Any, ...]], None]) -> Iterator[None]:
    """While it lasts, `note(name, values)` of every look that code outside sympy takes at what contains one of the symbols,
    with the method's name."""
    import sympy
    from sympy.core._print_helpers import Printable
    from sympy.core.relational import Relational

    inside = os.path.dirname(sympy.__file__) + os.sep
    own, busy = frozenset(symbols), False

    def told(name: str, usual: Callable[..., Any]) -> Callable[..., Any]:
        def method(*values: Any) -> Any:
            nonlocal busy
            caller = sys._getframe(1).f_code
            if not busy and caller is not remembered.__code__ and not caller.co_filename.startswith(inside):
                busy = True  # what `note` asks is not what the function asks
                try:
                    if any(own & getattr(value, "free_symbols", frozenset()) for value in values):
                        note(name, values)
                finally:
                    busy = False
            return usual(*values)
        return method

    classes = (sympy.Basic, Printable, sympy.Expr, Relational, sympy.Rational, sympy.Integer, sympy.Float)
    changed = [(kind, name, kind.__dict__[name]) for kind in classes for name in _LOOKS if name in kind.__dict__]
    try:
        for kind, name, usual in changed:
            setattr(kind, name, told(name, usual))
        sympy.Basic.__bool__ = told("__bool__", _true)
        yield
    finally:
        for kind, name, usual in changed:
            setattr(kind, name, usual)
        del sympy.Basic.__bool__


def _true(value: Any) -> bool:
    """What Python says of an object that has no `__bool__`."""
    return not hasattr(type(value), "__len__") or len(value) > 0

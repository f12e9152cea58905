"""What a procedure is handed: a variant that can be told from the claim by what it computes, and by nothing else."""
from __future__ import annotations

import contextlib
import copy
import functools
import inspect
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import FunctionType
from typing import Any

__all__ = ["twin"]


def twin(value: Any) -> Any:
    """A copy in which every function stands behind a fresh one of the same code, so that neither identity nor name,
    code, defaults or attributes tell a procedure which variant it was handed."""
    if isinstance(value, FunctionType):
        made = FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, value.__closure__)
        made.__kwdefaults__, made.__module__ = value.__kwdefaults__, value.__module__
        made.__qualname__ = value.__qualname__
        made.__dict__.update(value.__dict__)
        return _forward(made)
    if isinstance(value, functools.partial):
        return functools.partial(twin(value.func), *map(twin, value.args), **twin(value.keywords))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(twin, value))
    if isinstance(value, tuple | list | set | frozenset):
        return type(value)(map(twin, value))
    if isinstance(value, Mapping):
        return {k: twin(v) for k, v in value.items()}
    if isinstance(value, Fraction):
        return Fraction(value.numerator, value.denominator)
    if callable(value) and not type(value).__module__.startswith("sympy."):  # a sympy Symbol is callable
        return _forward(value)
    return _copied(value)


def _forward(function: Callable[..., Any]) -> Callable[..., Any]:
    """A callable behind a function whose name, code and attributes are those of every other variant."""

    def forwarded(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    with contextlib.suppress(TypeError, ValueError):  # built-in functions may have none
        forwarded.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return forwarded


def _copied(value: Any) -> Any:
    try:
        return copy.copy(value)
    except Exception:  # an object that refuses to be copied is handed over as it is
        return value

"""Fingerprints of callables and values: what they compute, not how the text is laid out.

A function is described by its syntax tree with bound names renumbered and every free name resolved to a value and
described in turn, so that a changed helper or constant changes the fingerprint while layout, comments, docstrings and
names of arguments do not. Bytecode is never used: it is blind to globals and helpers. A function without source (typed
into a shell) is described by its values on a small rational grid."""
from __future__ import annotations

import ast
import builtins
import contextlib
import dataclasses
import enum
import functools
import hashlib
import importlib
import importlib.util
import inspect
import json
import re
import sys
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from proofs_checks.harness.beyond import Watched
from proofs_checks.harness.syntax import INSTALLED, ROOMS, Reference, syntax, template
from theory.claim import Conditions

__all__ = ["describe", "fingerprint"]

Seen = dict[int, tuple[int, Any]]  # id -> (order of first sight, the object); at -1 how many were seen

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def fingerprint(value: Any) -> str:
    """sha256 (64 hexadecimal digits) of `describe(value)`."""
    return hashlib.sha256(json.dumps(describe(value), sort_keys=True).encode()).hexdigest()


def describe(value: Any, _seen: Seen | None = None) -> Any:
    """`value` as JSON-able data that is equal for equal computations."""
    seen: Seen = {} if _seen is None else _seen
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | Fraction):
        return [type(value).__name__, repr(value)]
    if id(value) in seen:
        return ["again", seen[id(value)][0]]
    number = seen.get(-1, (0, None))[0]
    seen[-1] = (number + 1, None)
    seen[id(value)] = (number, value)  # kept alive, or another object could get its id
    found = _describe_object(value, seen)
    if isinstance(value, tuple | list | set | frozenset | Mapping):
        del seen[id(value)]  # data is told by what it holds: two equal lists and one list twice are the same
    return found


def _describe_object(value: Any, seen: Seen) -> Any:
    if isinstance(value, Watched):  # the judge's own
        return describe(value.weaker, seen)
    if isinstance(value, Conditions):
        return ["conditions", describe(dict(value.parts), seen)]
    if isinstance(value, ModuleType):
        return ["module", value.__name__]
    if isinstance(value, functools.partial):
        return ["partial", *(describe(v, seen) for v in (value.func, value.args, dict(value.keywords)))]
    if isinstance(value, MethodType):
        return ["method", describe(value.__func__, seen), describe(value.__self__, seen)]
    if isinstance(value, FunctionType):
        return _describe_function(value, seen)
    if isinstance(value, BuiltinFunctionType | type) and not _is_ours(value):
        return ["name", f"{value.__module__}.{value.__qualname__}"]
    if isinstance(value, type):
        return _describe_class(value, seen)
    if isinstance(value, staticmethod | classmethod):
        return [type(value).__name__, describe(value.__func__, seen)]
    if isinstance(value, property):
        return ["property", *(describe(f, seen) for f in (value.fget, value.fset, value.fdel))]
    if isinstance(value, enum.Enum):
        return ["member", value.name, describe(value.value, seen)]
    if (inspect.isroutine(value) or hasattr(value, "__wrapped__")) and not _has_code(value):  # jitted, cached: what it wraps
        inner = getattr(value, "__wrapped__", None)
        return ["wrapped", describe(inner, seen)] if inner is not None else ["name", _plain(value)]
    return _describe_data(value, seen)


def _describe_class(value: type, seen: Seen) -> Any:
    """Everything a class defines, and its bases of ours; not what Python or a decorator generated."""
    bases = [describe(base, seen) for base in value.__bases__ if _is_ours(base)]
    if issubclass(value, enum.Enum):
        own: dict[str, Any] = {m.name: m.value for m in value}
    else:
        own = {k: v for k, v in vars(value).items() if isinstance(v, property) or not (
            inspect.isdatadescriptor(v) or k.startswith("_abc_") or (k.startswith("__") and k.endswith("__")))}
    code = {k: v for k, v in vars(value).items() if isinstance(v, FunctionType | staticmethod | classmethod)
            and _written(getattr(v, "__func__", v))}
    own = {k: v for k, v in own.items() if not isinstance(v, FunctionType | staticmethod | classmethod)}
    return ["class", f"{value.__module__}.{value.__qualname__}", bases, describe({**own, **code}, seen)]


def _written(function: Any) -> bool:
    """Whether somebody wrote the function down: not `__init__` of a dataclass, nor methods of a named tuple."""
    return isinstance(function, FunctionType) and not function.__code__.co_filename.startswith("<") and _is_ours(function)


def _has_code(value: Any) -> bool:
    """Whether an object is of a class of ours, which may do anything with what it wraps."""
    return not isinstance(value, type) and not inspect.isroutine(value) and _is_ours(type(value))


def _describe_data(value: Any, seen: Seen) -> Any:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, Mapping):
        pairs = sorted(value.items(), key=lambda pair: json.dumps(describe(pair[0])))
        return ["map", [[describe(k, seen), describe(v, seen)] for k, v in pairs]]
    if isinstance(value, tuple | list):
        made = [describe(type(value), seen)] if _is_ours(type(value)) else []
        return [kind, *(describe(v, seen) for v in value), *made]
    if isinstance(value, set | frozenset):  # the order of a set differs between processes
        return ["set", *(describe(v, seen) for v in sorted(value, key=lambda v: json.dumps(describe(v))))]
    if kind.startswith("sympy."):
        from sympy import srepr

        return ["sympy", srepr(value)]
    if hasattr(value, "tobytes") and hasattr(value, "shape"):
        return ["array", str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    if dataclasses.is_dataclass(value):
        made = [describe(type(value), seen)] if _is_ours(type(value)) else []
        return [kind, {f.name: describe(getattr(value, f.name), seen) for f in dataclasses.fields(value)}, *made]
    if _is_ours(type(value)) and hasattr(value, "__dict__"):
        return [kind, describe(vars(value), seen), describe(type(value), seen)]
    if hasattr(value, "__dict__") and _ADDRESS.search(repr(value)):  # repr alone does not tell it from others of its kind
        return [kind, _plain(value), describe({k: v for k, v in vars(value).items() if not k.startswith("_")}, seen)]
    return [kind, _plain(value)]


def _plain(value: Any) -> str:
    """repr without addresses, which differ between processes."""
    return _ADDRESS.sub("", repr(value))


def _is_ours(value: Any) -> bool:
    """Whether the code of `value` may change under us: the rooms, and whatever is not an installed library."""
    module = getattr(value, "__module__", None) or "builtins"
    if module.split(".")[0] in ROOMS:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module not in sys.builtin_module_names and module not in sys.stdlib_module_names
    return not file.startswith(INSTALLED)


def _describe_function(function: FunctionType, seen: Seen) -> Any:
    if not _is_ours(function) and function.__module__ not in (None, "builtins"):  # typed in: no built-in is of this type
        return ["name", f"{function.__module__}.{function.__qualname__}"]
    node = syntax(function.__code__)
    defaults = describe((function.__defaults__, function.__kwdefaults__), seen)
    marks = {k: v for k, v in vars(function).items() if not (k.startswith("__") and k.endswith("__"))}
    extra = [describe(marks, seen)] if marks else []
    if node is None:
        return ["values", _values(function), defaults, *extra]
    shape, references = template(node)
    kind = "coroutine" if isinstance(node, ast.AsyncFunctionDef) else "function"
    scopes = (_closure(function), function.__globals__, vars(builtins))
    return [kind, shape, [_meaning(r, scopes, seen) for r in references], defaults, *extra]


def _closure(function: FunctionType) -> dict[str, Any]:
    """What the function found in the functions around it; a name that has no value yet is left out."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # an empty cell
            found[name] = cell.cell_contents
    return found


def _meaning(reference: Reference, scopes: tuple[Mapping[str, Any], ...], seen: Seen) -> Any:
    """What a free name stands for, with the attributes looked up on it: within modules these lead to the value meant."""
    name, source, attributes = reference
    try:
        value = _imported(*source) if source else next(scope[name] for scope in scopes if name in scope)
    except (StopIteration, ImportError, AttributeError):  # not there: the text is described all the same
        return ["unresolved", name, list(source or ()), list(attributes)]
    rest = list(attributes)
    while rest and isinstance(value, ModuleType) and hasattr(value, rest[0]):
        value = getattr(value, rest.pop(0))
    return [describe(value, seen), *rest] if rest else describe(value, seen)


def _imported(module: str, attribute: str | None) -> Any:
    """What an import inside a function brings."""
    found = importlib.import_module(module)
    if attribute is not None and not hasattr(found, attribute):
        importlib.import_module(f"{module}.{attribute}")  # a submodule that nobody has loaded yet
    return found if attribute is None else getattr(found, attribute)


def _values(function: FunctionType) -> list[str]:
    """Values on a rational grid, for a function without source."""
    grid = (Fraction(1, 3), Fraction(2), Fraction(-3, 5))
    count = sum(p.default is p.empty for p in inspect.signature(function).parameters.values())
    return [_safe(function, point) for point in product(grid, repeat=min(count, 4))]


def _safe(function: FunctionType, point: tuple[Fraction, ...]) -> str:
    try:
        return _plain(function(*point))
    except Exception as error:  # a value is wanted, whatever it is; an exception is one too
        return type(error).__name__

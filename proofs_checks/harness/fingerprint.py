"""Fingerprints of callables and values: what they compute, not how the text is laid out.

A function is described by its syntax tree with bound names renumbered and every free name resolved to a value and
described in turn, so that a changed helper or constant changes the fingerprint while layout, comments, docstrings and
names of arguments do not; the name of an argument counts where something passes an argument by that name. A function
without source is described by its bytecode, with the constants and what its names stand for. Data are described by what
they hold, objects of libraries by what they would be rebuilt from (`describe_data`). What cannot be described gets a mark
that no other object and no other process has, so that nothing kept from elsewhere is taken for it."""
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
import sys
from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

from proofs_checks.harness.beyond import Watched
from proofs_checks.harness.described import Seen, describe_data, found_by_name, is_ours
from proofs_checks.harness.syntax import INSTALLED, Reference, syntax, template
from theory.claim import Conditions

__all__ = ["describe", "fingerprint"]

_DISPATCHING = functools.singledispatch(lambda v: v).__code__  # type: ignore[attr-defined]
_PLAIN = (type(None), bool, float, complex, str, bytes, Fraction)


def fingerprint(value: Any) -> str:
    """sha256 (64 hexadecimal digits) of `describe(value)`."""
    return hashlib.sha256(json.dumps(describe(value), sort_keys=True).encode()).hexdigest()


def describe(value: Any, _seen: Seen | None = None) -> Any:
    """`value` as JSON-able data that is equal for equal computations."""
    if _seen is None:
        seen = Seen()
        found = _describe(value, seen)
        return ["named", found, names] if (names := seen.names_that_count()) else found
    return _describe(value, _seen)


def _describe(value: Any, seen: Seen) -> Any:
    if type(value) is int:
        return ["int", hex(value)]  # repr refuses very long ones
    if type(value) in _PLAIN:
        return [type(value).__name__, repr(value)]
    if (number := seen.number(value)) is not None:
        return ["again", number]
    with seen.inside(value):
        return _describe_object(value, seen)


def _describe_object(value: Any, seen: Seen) -> Any:
    if isinstance(value, Watched):  # the judge's own
        return describe(value.weaker, seen)
    if isinstance(value, Conditions):
        return ["conditions", describe(dict(value.parts), seen)]
    if isinstance(value, ModuleType):
        return ["module", value.__name__]
    if isinstance(value, functools.partial):
        seen.keywords.update(value.keywords)
        return ["partial", *(describe(v, seen) for v in (value.func, value.args, dict(value.keywords)))]
    if isinstance(value, MethodType):
        return ["method", describe(value.__func__, seen), describe(value.__self__, seen)]
    if isinstance(value, FunctionType):
        return _describe_function(value, seen)
    if isinstance(value, BuiltinFunctionType | MethodWrapperType):
        owner = value.__self__
        name = f"{getattr(value, '__module__', None) or 'builtins'}.{value.__qualname__}"
        return ["name", name] if owner is None or isinstance(owner, ModuleType) else ["of", name, describe(owner, seen)]
    if isinstance(value, type):
        return _describe_class(value, seen)
    if isinstance(value, staticmethod | classmethod):
        return [type(value).__name__, describe(value.__func__, seen)]
    if isinstance(value, property):
        return ["property", *(describe(f, seen) for f in (value.fget, value.fset, value.fdel))]
    if isinstance(value, functools.cached_property):
        return ["property", describe(value.func, seen)]
    if isinstance(value, enum.Enum):
        return ["member", value.name, describe(value.value, seen), describe(type(value), seen)]
    if isinstance(value, CodeType):
        return _describe_code(value, seen)
    inner = getattr(value, "__wrapped__", None)
    if inner is not None and not is_ours(type(value)):  # jitted, cached: what it wraps
        return ["wrapped", type(value).__name__, describe(inner, seen)]
    if inspect.isroutine(value):
        return ["name", f"{getattr(value, '__objclass__', type(value)).__qualname__}.{value.__name__}"]
    return describe_data(value, seen, describe)


def _describe_class(value: type, seen: Seen) -> Any:
    """Everything a class defines, and its bases; not what Python or a decorator generated from that."""
    name = f"{value.__module__}.{value.__qualname__}"
    if not is_ours(value) and found_by_name(value):
        return ["name", name]
    bases = [describe(base, seen) for base in (*value.__bases__, type(value))]
    if issubclass(value, enum.Enum):
        own: dict[str, Any] = {m.name: m.value for m in value}
    else:
        own = {k: v for k, v in vars(value).items() if not isinstance(v, MemberDescriptorType | GetSetDescriptorType)
               and not k.startswith("_abc_") and not (k.startswith("__") and k.endswith("__"))}
    code = {k: v for k, v in vars(value).items() if isinstance(v, FunctionType | staticmethod | classmethod)
            and _written(getattr(v, "__func__", v))}
    own = {k: v for k, v in own.items() if not isinstance(v, FunctionType | staticmethod | classmethod)}
    record: list[Any] = []
    if dataclasses.is_dataclass(value):
        fields = dataclasses.fields(value)
        record = [repr(vars(value)["__dataclass_params__"]),
                  *([f.name, describe((f.default, f.default_factory), seen), f.init, f.kw_only, f.compare] for f in fields)]
        own = {k: v for k, v in own.items() if k not in {f.name for f in fields}}
    return ["class", name, bases, [[k, describe(v, seen)] for k, v in sorted({**own, **code}.items())], record]


def _written(function: Any) -> bool:
    """Whether somebody wrote the function down: not `__init__` of a dataclass, nor methods of a named tuple."""
    return isinstance(function, FunctionType) and not function.__code__.co_filename.startswith("<") and is_ours(function)


def _describe_function(function: FunctionType, seen: Seen) -> Any:
    of_library = function.__code__.co_filename.startswith(INSTALLED)
    if function.__code__ is _DISPATCHING:  # its cache of what it dispatched so far does not matter
        return ["dispatched", describe(function.registry, seen)]  # type: ignore[attr-defined]
    if of_library and not is_ours(function) and found_by_name(function):
        return ["name", f"{function.__module__}.{function.__qualname__}"]
    node = syntax(function.__code__)
    defaults = describe((function.__defaults__, function.__kwdefaults__), seen)
    marks = {k: v for k, v in vars(function).items() if not (k.startswith("__") and k.endswith("__"))}
    extra = [describe(marks, seen)] if marks else []
    # what a library's function finds in its own module is as pinned as the library
    scopes = (_closure(function), *(() if of_library else (function.__globals__, vars(builtins))))
    if node is None:
        return ["code", _describe_code(function.__code__, seen, scopes), defaults, *extra]
    shape, references, parameters, keywords = template(node)
    seen.parameters += parameters
    seen.keywords.update(keywords)
    kind = "coroutine" if isinstance(node, ast.AsyncFunctionDef) else "function"
    return [kind, shape, [_meaning(r, scopes, seen) for r in references], defaults, *extra]


def _describe_code(code: CodeType, seen: Seen, scopes: Iterable[Mapping[str, Any]] = ()) -> Any:
    """Bytecode, its constants, and what its names stand for; of names the spelling counts."""
    names = [*code.co_names, *code.co_freevars]
    for inner in code.co_consts:  # names in it may be global too
        names += inner.co_names if isinstance(inner, CodeType) else ()
    values = [describe(next((s[n] for s in scopes if n in s), None), seen) for n in names]
    return [code.co_code.hex(), [describe(c, seen) for c in code.co_consts], names, list(code.co_varnames), values,
            [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]]


def _closure(function: FunctionType) -> dict[str, Any]:
    """What the function found in the functions around it; a name that has no value yet is left out."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # an empty cell
            found[name] = cell.cell_contents
    return found


def _meaning(reference: Reference, scopes: tuple[Mapping[str, Any], ...], seen: Seen) -> Any:
    """What a free name stands for, with the attributes looked up on it: within modules these lead to the value meant,
    except in `sys`, where they are of the process: its path, its streams."""
    name, source, attributes = reference
    try:
        value = _imported(*source) if source else next(scope[name] for scope in scopes if name in scope)
    except (StopIteration, ImportError, AttributeError):  # not there: the text is described all the same
        return ["unresolved", name, list(source or ()), list(attributes)]
    rest = list(attributes)
    while rest and isinstance(value, ModuleType) and value is not sys and hasattr(value, rest[0]):
        value = getattr(value, rest.pop(0))
    return [describe(value, seen), *rest] if rest else describe(value, seen)


def _imported(module: str, attribute: str | None) -> Any:
    """What an import inside a function brings."""
    found = importlib.import_module(module)
    if attribute is not None and not hasattr(found, attribute):
        importlib.import_module(f"{module}.{attribute}")  # a submodule that nobody has loaded yet
    return found if attribute is None else getattr(found, attribute)

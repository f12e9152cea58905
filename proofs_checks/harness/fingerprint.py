"""Fingerprints of callables and values: what they compute, not how the text is laid out.

A function is described by its syntax tree with bound names renumbered and every free name resolved to a value and
described in turn, so that a changed helper or constant changes the fingerprint while layout, comments, docstrings and
names of arguments do not. Bytecode is never used: it is blind to globals and helpers. A function without source (typed
into a shell) is described by its values on a small rational grid."""
from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import hashlib
import inspect
import json
import linecache
import re
import sys
import sysconfig
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

__all__ = ["describe", "fingerprint"]

Seen = dict[int, tuple[int, Any]]  # id -> (order of first sight, the object)

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_INSTALLED = tuple({sysconfig.get_paths()[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")})
_ROOMS = ("theory", "simulations", "causal", "proofs_checks")


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
    seen[id(value)] = (len(seen), value)  # kept alive, or another object could get its id
    return _describe_object(value, seen)


def _describe_object(value: Any, seen: Seen) -> Any:
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
        own = {k: v for k, v in vars(value).items() if isinstance(v, FunctionType) and _is_ours(v)}
        return ["class", f"{value.__module__}.{value.__qualname__}", describe(own, seen)]
    if inspect.isroutine(value) or hasattr(value, "__wrapped__"):  # jitted or cached: what it wraps
        inner = getattr(value, "__wrapped__", None)
        return ["wrapped", describe(inner, seen)] if inner is not None else ["name", _plain(value)]
    return _describe_data(value, seen)


def _describe_data(value: Any, seen: Seen) -> Any:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, Mapping):
        return ["map", sorted(([describe(k, seen), describe(v, seen)] for k, v in value.items()), key=json.dumps)]
    if isinstance(value, tuple | list):
        return [kind, *(describe(v, seen) for v in value)]
    if isinstance(value, set | frozenset):
        return ["set", *sorted((describe(v, seen) for v in value), key=json.dumps)]
    if kind.startswith("sympy."):
        from sympy import srepr

        return ["sympy", srepr(value)]
    if hasattr(value, "tobytes") and hasattr(value, "shape"):
        return ["array", str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
    if dataclasses.is_dataclass(value):
        return [kind, {f.name: describe(getattr(value, f.name), seen) for f in dataclasses.fields(value)}]
    if _is_ours(type(value)) and hasattr(value, "__dict__"):
        return [kind, describe(vars(value), seen)]
    return [kind, _plain(value)]


def _plain(value: Any) -> str:
    """repr without addresses, which differ between processes."""
    return _ADDRESS.sub("", repr(value))


def _is_ours(value: Any) -> bool:
    """Whether the code of `value` may change under us: the rooms, and whatever is not an installed library."""
    module = getattr(value, "__module__", None) or "builtins"
    if module.split(".")[0] in _ROOMS:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return module not in sys.builtin_module_names and module not in sys.stdlib_module_names
    return not file.startswith(_INSTALLED)


def _describe_function(function: FunctionType, seen: Seen) -> Any:
    if not _is_ours(function) and function.__module__ not in (None, "builtins"):  # typed in: no built-in is of this type
        return ["name", f"{function.__module__}.{function.__qualname__}"]
    node = _syntax(function.__code__)
    defaults = describe((function.__defaults__, function.__kwdefaults__), seen)
    if node is None:
        return ["values", _values(function), defaults]
    closure = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    scope = {**vars(builtins), **function.__globals__, **closure}
    return ["function", _Canonical(scope, seen).render(node), defaults]


def _syntax(code: CodeType) -> ast.AST | None:
    """The node of `code` in its file; None without source. Two lambdas on one line are told apart by position."""
    nodes = _functions("".join(linecache.getlines(code.co_filename))).get(code.co_firstlineno, [])
    found = [n for n in nodes if (isinstance(n, ast.Lambda) or n.name == code.co_name) and _covers(n, code)]
    return min(found, key=lambda n: (n.end_lineno or 0) * 10**6 + (n.end_col_offset or 0) - n.col_offset, default=None)


@functools.lru_cache(maxsize=64)
def _functions(text: str) -> dict[int, list[Any]]:
    """The functions and lambdas of a module by the line on which they begin."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    found: dict[int, list[Any]] = {}
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS):
            found.setdefault(_first_line(node), []).append(node)
    return found


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", [])
    return decorators[0].lineno if decorators else node.lineno


def _covers(node: Any, code: CodeType) -> bool:
    """Whether every instruction of a lambda lies inside the lambda's text."""
    if not isinstance(node, ast.Lambda):
        return True
    start, end = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    spots = [((a, c), (b, d)) for a, b, c, d in code.co_positions() if None not in (a, b, c, d) and d]
    return all(start <= first and last <= end for first, last in spots)


class _Canonical:
    """A syntax tree as nested lists: bound names numbered, free names replaced by what they mean."""

    def __init__(self, scope: Mapping[str, Any], seen: Seen) -> None:
        self.scope, self.seen = scope, seen
        self.bound: dict[str, int] = {}

    def render(self, node: Any) -> Any:
        for child in ast.walk(node):
            if isinstance(child, ast.arg):
                self.bound.setdefault(child.arg, len(self.bound))
            elif isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
                self.bound.setdefault(child.id, len(self.bound))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.bound.setdefault(child.name, len(self.bound))
        body = node.body if isinstance(node, ast.Lambda) else _without_docstring(node.body)
        return [self._node(node.args), self._node(body)]

    def _node(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._node(n) for n in node]
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.arg):
            return ["bound", self.bound[node.arg]]
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Constant):
            return [type(node.value).__name__, repr(node.value)]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = self._node(_without_docstring(node.body))
            return ["def", self.bound[node.name], self._node(node.args), body, self._node(node.decorator_list)]
        if isinstance(node, ast.AST):
            skip = ("annotation", "returns", "type_comment", "ctx", "kind")
            return [type(node).__name__, *(self._node(v) for k, v in ast.iter_fields(node) if k not in skip)]
        return node if node is None or isinstance(node, bool | int | str) else repr(node)

    def _name(self, name: str) -> Any:
        if name in self.bound:
            return ["bound", self.bound[name]]
        if name in self.scope:
            return describe(self.scope[name], self.seen)
        return ["unresolved", name]

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self._module(node.value)
        if owner is not None and hasattr(owner, node.attr):
            return describe(getattr(owner, node.attr), self.seen)
        return ["Attribute", self._node(node.value), node.attr]

    def _module(self, node: Any) -> ModuleType | None:
        if isinstance(node, ast.Name) and node.id not in self.bound:
            value = self.scope.get(node.id)
        elif isinstance(node, ast.Attribute):
            owner = self._module(node.value)
            value = getattr(owner, node.attr, None) if owner is not None else None
        else:
            value = None
        return value if isinstance(value, ModuleType) else None


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    text = first.value if isinstance(first, ast.Expr) else None
    return body[1:] if isinstance(text, ast.Constant) and isinstance(text.value, str) else body


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

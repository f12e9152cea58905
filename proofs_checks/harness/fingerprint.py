"""Fingerprints of callables and values: what they compute, not how the text is laid out.

A function is described by its syntax tree with bound names renumbered and every free name resolved to a value and
described in turn, so that a changed helper or constant changes the fingerprint while layout, comments, docstrings and
names of arguments do not. Bytecode is never used: it is blind to globals and helpers. A function without source (typed
into a shell) is described by its values on a small rational grid."""
from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import functools
import hashlib
import importlib
import importlib.util
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

Seen = dict[int, tuple[int, Any]]  # id -> (order of first sight, the object); at -1 how many were seen

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_NAMING = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)  # nodes that bind a name given as text
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
    number = seen.get(-1, (0, None))[0]
    seen[-1] = (number + 1, None)
    seen[id(value)] = (number, value)  # kept alive, or another object could get its id
    found = _describe_object(value, seen)
    if isinstance(value, tuple | list | set | frozenset | Mapping):
        del seen[id(value)]  # data is told by what it holds: two equal lists and one list twice are the same
    return found


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
    marks = {k: v for k, v in vars(function).items() if not (k.startswith("__") and k.endswith("__"))}
    extra = [describe(marks, seen)] if marks else []
    if node is None:
        return ["values", _values(function), defaults, *extra]
    closure = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    scope = {**vars(builtins), **function.__globals__, **closure}
    kind = "coroutine" if isinstance(node, ast.AsyncFunctionDef) else "function"
    return [kind, _Canonical(scope, seen).render(node), defaults, *extra]


def _syntax(code: CodeType) -> ast.AST | None:
    """The node of `code` in its file; None without source. Two lambdas on one line are told apart by position."""
    nodes = _functions("".join(linecache.getlines(code.co_filename))).get(code.co_firstlineno, [])
    found = [n for n in nodes if (isinstance(n, ast.Lambda) or n.name == code.co_name) and _covers(n, code)]
    if len(found) > 1 and not any(end for _, _, _, end in code.co_positions()):  # python -X no_debug_ranges
        return None
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
    """A syntax tree as nested lists: bound names numbered, free names replaced by what they mean.

    Every function, lambda, comprehension and class body is a frame of its own, as in Python: the same name may be bound
    in one and free in another."""

    def __init__(self, scope: Mapping[str, Any], seen: Seen) -> None:
        self.scope, self.seen, self.count = scope, seen, 0
        self.frames: list[dict[str, Any]] = []  # name -> ["bound", number], or what an import or `global` makes of it

    def render(self, node: Any) -> Any:
        return self._function(node)[1:]  # the values of the defaults are described beside it

    def _function(self, node: Any) -> list[Any]:
        args = node.args
        defaults = self._node([*args.defaults, *args.kw_defaults]) if self.frames else []
        own = [*args.posonlyargs, *args.args, *args.kwonlyargs, *(a for a in (args.vararg, args.kwarg) if a)]
        body = node.body if isinstance(node, ast.Lambda) else _without_docstring(node.body)
        shape = [len(args.posonlyargs), len(args.args), len(args.kwonlyargs), args.vararg is not None, args.kwarg is not None]
        return [defaults, shape, self._within([a.arg for a in own], body, body)]

    def _within(self, names: list[str], body: Any, *parts: Any) -> Any:
        """`parts` with `names`, and whatever `body` binds, in a frame of their own."""
        found = dict.fromkeys(names, None)
        meaning = _Binding(self.scope)
        for statement in body if isinstance(body, list) else [body]:
            meaning.visit(statement)
        for name in meaning.bound:
            found.setdefault(name, None)
        frame: dict[str, Any] = {}
        for name in found:
            if name in meaning.free and name not in names:
                continue
            frame[name] = ["bound", self.count]
            self.count += 1
        frame.update(dict.fromkeys(meaning.globals, ("free", None)))
        frame.update({name: ("value", value) for name, value in meaning.imports.items()})
        self.frames.append(frame)
        try:
            return [self._node(part) for part in parts]
        finally:
            self.frames.pop()

    def _node(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self._node(n) for n in node]
        if isinstance(node, ast.Name):
            return self._name(node.id)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Constant):
            return [type(node.value).__name__, repr(node.value)]
        if isinstance(node, _FUNCTIONS):
            if isinstance(node, ast.Lambda):
                return ["lambda", *self._function(node)]
            return [type(node).__name__, self._name(node.name), self._node(node.decorator_list), *self._function(node)]
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(node)
        if isinstance(node, ast.ClassDef):
            head = [self._name(node.name), self._node([*node.decorator_list, *node.bases, *node.keywords])]
            return ["ClassDef", *head, self._within([], node.body, node.body)]
        if isinstance(node, ast.AST):
            skip = ("annotation", "returns", "type_comment", "ctx", "kind")
            named = ("name", "rest") if isinstance(node, _NAMING) else ()
            return [type(node).__name__, *(self._name(v) if k in named and v else self._node(v)
                                           for k, v in ast.iter_fields(node) if k not in skip)]
        return node if node is None or isinstance(node, bool | int | str) else repr(node)

    def _comprehension(self, node: Any) -> Any:
        first = self._node(node.generators[0].iter)  # evaluated outside
        names = [n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        rest = [[g.target, g.ifs, g.is_async, *([g.iter] if i else [])] for i, g in enumerate(node.generators)]
        return [type(node).__name__, first, self._within(names, [], rest, parts)]

    def _meaning(self, name: str) -> tuple[str, Any]:
        """How a name is used here: ("bound", number), ("value", what it stands for) or ("unresolved", name)."""
        kind, found = next((f[name] for f in reversed(self.frames) if name in f), ("free", None))
        if kind != "free":
            return kind, found
        return ("value", self.scope[name]) if name in self.scope else ("unresolved", name)

    def _name(self, name: str) -> Any:
        kind, found = self._meaning(name)
        return describe(found, self.seen) if kind == "value" else [kind, found]

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self._module(node.value)
        if owner is not None and hasattr(owner, node.attr):
            return describe(getattr(owner, node.attr), self.seen)
        return ["Attribute", self._node(node.value), node.attr]

    def _module(self, node: Any) -> ModuleType | None:
        value = None
        if isinstance(node, ast.Name):
            kind, value = self._meaning(node.id)
            value = value if kind == "value" else None
        elif isinstance(node, ast.Attribute):
            owner = self._module(node.value)
            value = getattr(owner, node.attr, None) if owner is not None else None
        return value if isinstance(value, ModuleType) else None


class _Binding:
    """The names that a function's body binds in its own frame, in order; frames inside it are left alone."""

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self.scope = scope
        self.bound: list[str] = []
        self.free: set[str] = set()  # declared global or nonlocal: bound further out
        self.globals: set[str] = set()
        self.imports: dict[str, Any] = {}

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                self.bound.append(node.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            self.free.update(node.names)
            self.globals.update(node.names if isinstance(node, ast.Global) else ())
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            for part in ast.walk(node):  # := binds outside the comprehension
                if isinstance(part, ast.NamedExpr):
                    self.visit(part.target)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                module = alias.name if alias.asname else alias.name.split(".")[0]
                self._import(alias.asname or module, module, None)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self._import(alias.asname or alias.name, None if node.level else node.module, alias.name)
        else:
            self._visit_parts(node)

    def _visit_parts(self, node: ast.AST) -> None:
        parts: list[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, _FUNCTIONS):
            parts = [*getattr(node, "decorator_list", ()), *node.args.defaults, *filter(None, node.args.kw_defaults)]
        elif isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list, *node.bases, *node.keywords]
        if isinstance(node, (*_NAMING, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.bound += [name for name in (getattr(node, "name", None), getattr(node, "rest", None)) if name]
        for part in parts:
            self.visit(part)

    def _import(self, name: str, module: str | None, attribute: str | None) -> None:
        """An import inside a function stands for what it brings, if that is ours; libraries are not loaded for this."""
        self.bound.append(name)
        if module is None or not _ours_to_import(module.split(".")[0]):
            return
        try:
            found = importlib.import_module(module)
            if attribute is not None and not hasattr(found, attribute):
                importlib.import_module(f"{module}.{attribute}")  # a submodule that nobody has loaded yet
            self.imports[name] = found if attribute is None else getattr(found, attribute)
        except (ImportError, AttributeError):  # not there: the text of the import is described all the same
            return


def _ours_to_import(root: str) -> bool:
    """Whether a module not yet loaded would be ours; whether it is loaded must not matter."""
    if root in _ROOMS:
        return True
    try:
        spec = None if root in sys.stdlib_module_names else importlib.util.find_spec(root)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None and not spec.origin.startswith(_INSTALLED)


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

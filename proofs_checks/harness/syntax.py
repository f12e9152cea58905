"""The source of a function as a syntax tree, and the shape of that tree: what remains when names are taken away."""
from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import linecache
import sys
import sysconfig
from types import CodeType
from typing import Any, NamedTuple

__all__ = ["INSTALLED", "ROOMS", "Reference", "Template", "syntax", "template", "without_docstring"]

Import = tuple[str, str | None]  # a module, and what is taken from it
Reference = tuple[str, Import | None, tuple[str, ...]]  # a free name, the import that binds it, attributes looked up on it

ROOMS = ("theory", "simulations", "causal", "proofs_checks")
INSTALLED = tuple({sysconfig.get_paths()[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_NAMING = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)  # nodes that bind a name given as text


def syntax(code: CodeType) -> ast.AST | None:
    """The node of `code` in its file; None without source. Two lambdas on one line are told apart by position."""
    nodes = _functions_of(code.co_filename).get(code.co_firstlineno, [])
    found = [n for n in nodes if (isinstance(n, ast.Lambda) or n.name == code.co_name) and _covers(n, code)]
    if len(found) > 1 and not any(end for _, _, _, end in code.co_positions()):  # python -X no_debug_ranges
        return None
    return min(found, key=lambda n: (n.end_lineno or 0) * 10**6 + (n.end_col_offset or 0) - n.col_offset, default=None)


_PARSED: dict[str, tuple[list[str], dict[int, list[Any]]]] = {}  # file -> (its lines as linecache has them, what they define)


def _functions_of(file: str) -> dict[int, list[Any]]:
    lines = linecache.getlines(file)  # the same list for as long as the file is not read again
    known = _PARSED.get(file)
    if known is None or (known[0] is not lines and known[0] != lines):
        known = _PARSED[file] = (lines, _functions("".join(lines)))
    return known[1]


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


class Template(NamedTuple):
    """A function's syntax without what its free names mean.

    shape       a hash in which names of parameters do not count, except those that can be given by name only
    references  the free names, in order
    parameters  the names of the parameters that may be given by name, of each function in it
    keywords    the names that its calls give arguments by; "**" where that cannot be known"""

    shape: str
    references: list[Reference]
    parameters: list[list[str]]
    keywords: frozenset[str]


def template(node: Any) -> Template:
    """The template of a function. It depends on the text alone, so the node keeps it."""
    if not hasattr(node, "template"):
        canonical = _Canonical()
        shape = json.dumps(canonical.function(node)[1:])  # the values of the defaults are described beside it
        node.template = Template(hashlib.sha256(shape.encode()).hexdigest(), list(canonical.references), canonical.parameters,
                                 frozenset(canonical.keywords))
    found: Template = node.template
    return found


class _Canonical:
    """A syntax tree as nested lists: bound names numbered, free names as places in the list of `references`.

    Every function, lambda, comprehension and class body is a frame of its own, as in Python: the same name may be bound
    in one and free in another."""

    def __init__(self) -> None:
        self.count = 0
        self.frames: list[dict[str, Any]] = []  # name -> its number, or None where an import or `global` leads outside
        self.imports: list[dict[str, Import]] = []  # of the same frames
        self.of_class: list[bool] = []  # whether a frame is a class body, whose names stay, and are not seen from within
        self.references: dict[Reference, int] = {}
        self.parameters: list[list[str]] = []
        self.keywords: set[str] = set()
        self.passed_on: list[str | None] = []  # the ** parameter of each function around

    def function(self, node: Any) -> list[Any]:
        args = node.args
        defaults = self._node([*args.defaults, *args.kw_defaults]) if self.frames else []
        own = [*args.posonlyargs, *args.args, *args.kwonlyargs, *(a for a in (args.vararg, args.kwarg) if a)]
        body = node.body if isinstance(node, ast.Lambda) else without_docstring(node.body)
        shape = [len(args.posonlyargs), len(args.args), [a.arg for a in args.kwonlyargs], args.vararg is not None,
                 args.kwarg is not None]
        self.parameters.append([a.arg for a in args.args])
        self.passed_on.append(args.kwarg and args.kwarg.arg)
        try:
            return [defaults, shape, self._within([a.arg for a in own], body, body)]
        finally:
            self.passed_on.pop()

    def _within(self, names: list[str], body: Any, *parts: Any, of_class: bool = False) -> Any:
        """`parts` with `names`, and whatever `body` binds, in a frame of their own."""
        binding = _Binding()
        for statement in body if isinstance(body, list) else [body]:
            binding.visit(statement)
        frame: dict[str, Any] = {}
        for name in dict.fromkeys([*names, *binding.bound]):
            if name in binding.free and name not in names:
                continue
            frame[name] = name if of_class else self.count
            self.count += 1
        frame.update(dict.fromkeys([*binding.globals, *binding.imports]))
        self.frames.append(frame)
        self.imports.append(binding.imports)
        self.of_class.append(of_class)
        try:
            return [self._node(part) for part in parts]
        finally:
            for stack in (self.frames, self.imports, self.of_class):
                stack.pop()

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
                return ["lambda", *self.function(node)]
            return [type(node).__name__, self._name(node.name), self._node(node.decorator_list), *self.function(node)]
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(node)
        if isinstance(node, ast.ClassDef):
            head = [self._name(node.name), self._node([*node.decorator_list, *node.bases, *node.keywords])]
            return ["ClassDef", *head, self._within([], node.body, node.body, of_class=True)]
        if isinstance(node, ast.keyword):
            self.keywords.update(self._given_by_name(node))
        if isinstance(node, ast.AST):
            skip = ("annotation", "returns", "type_comment", "ctx", "kind")
            named = ("name", "rest") if isinstance(node, _NAMING) else ()
            return [type(node).__name__, *(self._name(v) if k in named and v else self._node(v)
                                           for k, v in ast.iter_fields(node) if k not in skip)]
        return node if node is None or isinstance(node, bool | int | str) else repr(node)

    def _given_by_name(self, node: ast.keyword) -> list[str]:
        """The name of an argument; none for `**kwargs` of the function itself, which only passes on what a call named."""
        if node.arg is not None:
            return [node.arg]
        passed_on = isinstance(node.value, ast.Name) and bool(self.passed_on) and node.value.id == self.passed_on[-1]
        return [] if passed_on else ["**"]

    def _comprehension(self, node: Any) -> Any:
        first = self._node(node.generators[0].iter)  # evaluated outside
        names = [n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)]
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        rest = [[g.target, g.ifs, g.is_async, *([g.iter] if i else [])] for i, g in enumerate(node.generators)]
        return [type(node).__name__, first, self._within(names, [], rest, parts)]

    def _name(self, name: str, attributes: tuple[str, ...] = ()) -> Any:
        """A number, or the place of a reference; the attributes belong to the reference where the name is free."""
        innermost = len(self.frames) - 1
        for i in range(innermost, -1, -1):
            frame, imports = self.frames[i], self.imports[i]
            if self.of_class[i] and i != innermost:
                continue
            if frame.get(name) is not None:
                return functools.reduce(lambda inner, a: ["Attribute", inner, a], attributes, ["bound", frame[name]])
            if name in frame:
                return self._reference((name, imports.get(name), attributes))
        return self._reference((name, None, attributes))

    def _reference(self, reference: Reference) -> Any:
        return ["free", self.references.setdefault(reference, len(self.references))]

    def _attribute(self, node: ast.Attribute) -> Any:
        """A chain of attributes on a name goes with the name; on anything else it is spelled out."""
        inner, chain = node.value, [node.attr]
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            return self._name(inner.id, tuple(reversed(chain)))
        return ["Attribute", self._node(node.value), node.attr]


class _Binding:
    """The names that a function's body binds in its own frame, in order; frames inside it are left alone."""

    def __init__(self) -> None:
        self.bound: list[str] = []
        self.free: set[str] = set()  # declared global or nonlocal: bound further out
        self.globals: set[str] = set()
        self.imports: dict[str, Import] = {}

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
        if module is not None and _ours_to_import(module.split(".")[0]):
            self.imports[name] = (module, attribute)


def _ours_to_import(root: str) -> bool:
    """Whether a module not yet loaded would be ours; whether it is loaded must not matter."""
    if root in ROOMS:
        return True
    try:
        spec = None if root in sys.stdlib_module_names else importlib.util.find_spec(root)
    except (ImportError, ValueError):
        return False
    return spec is not None and spec.origin is not None and not spec.origin.startswith(INSTALLED)


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    text = first.value if isinstance(first, ast.Expr) else None
    return body[1:] if isinstance(text, ast.Constant) and isinstance(text.value, str) else body

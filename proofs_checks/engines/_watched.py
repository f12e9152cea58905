"""A function with every operation, comparison and call of its own watched, those inside one expression too.

The function's syntax tree is copied; `a + b` becomes `note(a + b)`, `a == b` becomes `met(a) == met(b)`, and `f(x)` becomes
`call(f, x)`; functions that are called are watched in turn, also where they are handed to `map` or `sorted`. What the
libraries, and the rooms `causal` and `simulations`, do inside is not watched; what they return is."""
from __future__ import annotations

import ast
import copy
import functools
import inspect
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import CodeType, FunctionType, MethodType
from typing import Any

from proofs_checks.engines._looks import remembered
from proofs_checks.harness.syntax import INSTALLED, syntax

__all__ = ["is_rounded", "watched"]

_NOTE, _MET, _HELD, _CALL, _MADE = "__note__", "__met__", "__held__", "__call__", "__made__"
_EQUALITIES = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
_LOOKS_AT_ITS_CALLER = frozenset(("super", "locals", "globals", "vars", "dir", "eval", "exec"))
_LOOKED_INTO = 100  # of the first values of a list
_NOT_OPENED = ("causal", "simulations")
Call = Callable[..., Any]


def is_rounded(value: Any) -> bool:
    """Whether a value is rounded to a number of digits: a float, what numpy makes of them, a Decimal, a list of these.

    An infinity is not: comparing with it rounds nothing."""
    if isinstance(value, float):
        return abs(value) != float("inf")
    if isinstance(value, complex | Decimal):
        return True
    if isinstance(value, tuple | list):
        return any(map(is_rounded, value[:_LOOKED_INTO]))
    kind = type(value)
    if kind.__module__.startswith(("sympy.", "mpmath.")):
        return getattr(value, "is_Float", False) is True or kind.__name__ in ("mpf", "mpc")
    return getattr(getattr(value, "dtype", None), "kind", "") in ("f", "c")


def _ignored(*values: Any) -> None:
    """Nothing."""


def watched(function: Call, *, note: Callable[[Any], None] = _ignored, met: Callable[[Any], None] = _ignored,
            before: Callable[[Any, tuple[Any, ...]], None] = _ignored) -> Call:
    """`function`, calling `note` with what its operations and calls give, `met` with both sides of ==, !=, in, is, and with
    mappings in which it looks something up, and `before` with what it is about to call and on what.

    What has no source is returned as it is."""
    made: dict[int, tuple[Any, Call]] = {}  # by identity; the function is kept alive, or another could get its id

    def noted(value: Any) -> Any:
        note(value)
        return value

    def compared(value: Any) -> Any:
        met(value)
        return value

    def held(value: Any) -> Any:
        if isinstance(value, Mapping):
            met(value)
        return value

    def call(called: Any, /, *args: Any, **kwargs: Any) -> Any:
        before(called, args)
        own = convert(called)
        if own is called:  # a library may call back what it is handed
            args, kwargs = tuple(map(convert, args)), {k: convert(v) for k, v in kwargs.items()}
        return noted(own(*args, **kwargs))

    def convert(value: Any) -> Any:
        if not callable(value) or isinstance(value, type):
            return value
        if id(value) not in made:
            made[id(value)] = value, _converted(value, convert, tools)
        return made[id(value)][1]

    tools = {_NOTE: noted, _MET: compared, _HELD: held, _CALL: call}
    found: Call = convert(function)
    return found


def _converted(value: Any, convert: Call, tools: Mapping[str, Call]) -> Any:
    if isinstance(value, MethodType):
        inner = convert(value.__func__)
        return value if inner is value.__func__ else MethodType(inner, value.__self__)
    if isinstance(value, functools.partial):
        return functools.partial(convert(value.func), *map(convert, value.args), **value.keywords)
    if hasattr(value, "cache_info") and hasattr(value, "__wrapped__"):
        inner = convert(value.__wrapped__)
        return _memo(value if inner is value.__wrapped__ else functools.cache(inner)) if _written(inner) else value
    if isinstance(value, FunctionType):
        return _rewritten(value, tools) if _opened(value.__module__, value.__code__) else value
    method = inspect.getattr_static(type(value), "__call__", None)
    inner = convert(method) if isinstance(method, FunctionType) else method
    return value if inner is method else MethodType(inner, value)  # a library gets its own objects as they are


def _written(value: Any) -> bool:
    """Whether calling it runs a function written in Python; `operator.eq` and `{5077}.__contains__` look for themselves."""
    while isinstance(value, functools.partial | MethodType):
        value = value.func if isinstance(value, functools.partial) else value.__func__
    return isinstance(value, FunctionType)


def _memo(cached: Call) -> Call:
    """A function with a memo, for whoever calls it: `map`, `sum` and the like too."""
    return lambda *args, **kwargs: remembered(cached, args, kwargs)


def _opened(module: str | None, code: CodeType) -> bool:
    return (module or "").split(".")[0] not in _NOT_OPENED and not code.co_filename.startswith(INSTALLED)


def _rewritten(function: FunctionType, tools: Mapping[str, Call]) -> FunctionType:
    code = _code(function.__code__)
    if code is None:
        return function
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] if name in cells else _cell(tools[name]) for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__, made.__module__ = function.__kwdefaults__, function.__module__
    made.__dict__.update(function.__dict__)
    return made


def _cell(content: Any) -> Any:
    found = (lambda: content).__closure__
    assert found is not None
    return found[0]


@functools.lru_cache(maxsize=4096)
def _code(code: CodeType) -> CodeType | None:
    """The code of the function with its operations and calls watched; None without source."""
    node: Any = copy.deepcopy(syntax(code))
    if node is None:
        return None
    node.args.defaults, node.args.kw_defaults = [], [None] * len(node.args.kwonlyargs)  # the function brings its values
    if isinstance(node, ast.Lambda):
        made: ast.stmt = ast.Return(_Watching().visit(node))
    else:
        node.decorator_list = []
        node.name = _MADE  # its own name, where it calls itself, is looked up where it always was
        made = _Watching().visit(node)
    names = [*code.co_freevars, _NOTE, _MET, _HELD, _CALL]
    body: list[ast.stmt] = [made] if isinstance(made, ast.Return) else [made, ast.Return(_name(_MADE))]
    arguments = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
    maker = ast.FunctionDef(name="maker", args=arguments, body=body, decorator_list=[], lineno=1, col_offset=0)
    maker.type_params = []  # type: ignore[attr-defined, unused-ignore]  # from Python 3.12 on
    space: dict[str, Any] = {}
    try:
        module = ast.fix_missing_locations(ast.Module([maker], []))
        exec(compile(module, code.co_filename, "exec"), space)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = space["maker"](*[None] * len(names)).__code__
    return found if isinstance(found, CodeType) else None


class _Watching(ast.NodeTransformer):
    """`note` around operations, `met` around what is compared, `call` in place of calls; annotations and patterns stay."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        return _wrapped(_NOTE, self.generic_visit(node))

    def visit_Compare(self, node: ast.Compare) -> ast.Compare:
        self.generic_visit(node)
        sides = [node.left, *node.comparators]
        equal = [isinstance(op, _EQUALITIES) for op in node.ops]
        around = [a or b for a, b in zip([False, *equal], [*equal, False], strict=True)]
        node.left, *node.comparators = [_wrapped(_MET, s) if a else s for s, a in zip(sides, around, strict=True)]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _wrapped(_HELD, node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        target: Any = copy.deepcopy(node.target)
        target.ctx = ast.Load()
        self.generic_visit(node)
        return [node, ast.copy_location(ast.Expr(_wrapped(_NOTE, target)), node)]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _LOOKS_AT_ITS_CALLER:
            return _wrapped(_NOTE, node)
        return ast.copy_location(ast.Call(_name(_CALL), [node.func, *node.args], node.keywords), node)

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        node.defaults = [self.visit(d) for d in node.defaults]
        node.kw_defaults = [d and self.visit(d) for d in node.kw_defaults]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.value = self.visit(node.value) if node.value else None
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        returns, node.returns = node.returns, None
        self.generic_visit(node)
        node.returns = returns
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that ast.NodeVisitor looks for

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.guard = self.visit(node.guard) if node.guard else None
        node.body = [made for part in node.body for made in _listed(self.visit(part))]
        return node


def _wrapped(tool: str, node: Any) -> ast.expr:
    return ast.copy_location(ast.Call(_name(tool), [node], []), node)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _listed(made: Any) -> list[ast.stmt]:
    return made if isinstance(made, list) else [made]

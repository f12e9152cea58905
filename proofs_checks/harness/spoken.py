"""What a variant says, in the words of its own source: what a reader needs to see why it fails, or why it does not."""
from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import FunctionType
from typing import Any

from proofs_checks.harness.syntax import syntax, without_docstring
from theory.claim import Conditions

__all__ = ["differences", "said"]

WIDTH = 160  # characters of a text; longer ones are cut at the end


def differences(form: Any, variant: Any) -> list[tuple[str, str]]:
    """(what the variant says, what the claim says) where they differ, a pair for each field of a record."""
    if type(form) is type(variant) and hasattr(form, "_fields"):
        fields = [(name, getattr(form, name), getattr(variant, name)) for name in form._fields]
    elif isinstance(form, Mapping) and isinstance(variant, Mapping):
        fields = [(str(key), form.get(key), variant.get(key)) for key in {**form, **variant}]
    else:
        return [(said(variant), "" if form is None else said(form))]
    texts = [(name, said(theirs), said(ours)) for name, ours, theirs in fields if ours is not theirs]
    return [(f"{name} = {theirs}", f"{name} = {ours}") for name, theirs, ours in texts if theirs != ours]


def said(value: Any, depth: int = 2) -> str:
    """A value as its author wrote it: the text of a lambda, the name and place of a longer function, a record by fields."""
    return _cut(_said(value, depth))


def _said(value: Any, depth: int) -> str:
    if isinstance(value, FunctionType):
        return _function(value, depth)
    if isinstance(value, functools.partial):
        given = [*(said(v, depth - 1) for v in value.args), *(f"{k}={said(v, depth - 1)}" for k, v in value.keywords.items())]
        return f"partial({', '.join([said(value.func, depth - 1), *given])})"
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Conditions):
        called = {k: getattr(v, "__name__", "<lambda>") for k, v in value.parts.items()}
        parts = (f"{k}={said(value.parts[k], depth - 1) if name == '<lambda>' else name}" for k, name in called.items())
        return f"Conditions({', '.join(parts)})"
    if isinstance(value, tuple) and depth:
        names = getattr(value, "_fields", None)
        inside = [said(v, depth - 1) for v in value]
        if names:
            return f"{type(value).__name__}({', '.join(f'{n}={v}' for n, v in zip(names, inside, strict=True))})"
        return f"({', '.join(inside)}{',' * (len(inside) == 1)})"
    if isinstance(value, Mapping) and depth:
        return "{" + ", ".join(f"{said(k, depth - 1)}: {said(v, depth - 1)}" for k, v in value.items()) + "}"
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return repr(value)


def _function(function: FunctionType, depth: int) -> str:
    node: Any = syntax(function.__code__)
    if node is None:
        return f"{function.__name__} (no source)"
    if isinstance(node, ast.Lambda):
        text = ast.unparse(node)
    else:
        text = f"{node.name}({ast.unparse(node.args)})"
        body = without_docstring(node.body)
        if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
            text += f": {ast.unparse(body[0].value)}"
        else:
            text += f" of {Path(function.__code__.co_filename).name} line {node.lineno}"
    held = inspect.getclosurevars(function).nonlocals if function.__closure__ and depth else {}
    where = ", ".join(f"{name} = {said(value, depth - 1)}" for name, value in held.items() if value is not function)
    return f"{text}, where {where}" if where else text


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else text[:WIDTH - 3] + "..."

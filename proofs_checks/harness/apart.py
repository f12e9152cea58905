"""Whether evidence stands apart from what it judges, and false variants from each other.

A check that compares the claim with its own record, or only with its false variants, cannot fail on it. Looked for are the
claim's record and the functions and data of its variants, in what a check was built from, its cases too, and in what the
procedure names and these can reach. The form that the procedure was handed is not looked into: that one is to be judged."""
from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from proofs_checks.harness.described import Seen, is_ours
from proofs_checks.harness.evidence import Check
from proofs_checks.harness.fingerprint import describe, fingerprint
from proofs_checks.harness.syntax import syntax, template
from theory.claim import Claim, Conditions

__all__ = ["circular", "repeated", "roots"]

_ENGINES = "proofs_checks.engines"
_BUILDERS = (_ENGINES, "hypothesis.")  # of checks, and of the cases for them
_DATA = (tuple, list, dict, set, frozenset)
_FIRST = 100  # entries of a row that are looked at


def circular(claims: Iterable[Claim[Any]], procedure: FunctionType, form: Any, checks: Iterable[Check]) -> list[str]:
    """One line for the procedure and for each check that looks at one of the records, or at its form; `form` is the one
    that the procedure was handed for these checks."""
    wanted: dict[int, str] = {}
    for claim in claims:
        wanted[id(claim)] = "record"
        wanted.update((id(part), what) for what, part in _judged(claim))
    named = _named(procedure)
    places = [("the procedure", [*named, *_reached(named, form)])]
    places += [(f"{check.engine} (check {i})", _reached((check.decide, check.at), form)) for i, check in enumerate(checks, 1)]
    found = {place: next((wanted[id(v)] for v in values if id(v) in wanted), None) for place, values in places}
    return [f"{place} looks at the claim's own {what}, and so cannot fail on the claim: compare with something else"
            for place, what in found.items() if what]


def repeated(claim: Claim[Any], variant: str) -> str | None:
    """The mutant before this one that is the same function or the same data, if there is one: only one of them counts."""
    texts = _texts(claim)
    before = list(itertools.takewhile(lambda name: name != variant, claim.mutants)) if variant in texts else []
    return next((name for name in before if texts[name] == texts[variant]), None)


@functools.lru_cache(maxsize=64)
def _texts(claim: Claim[Any]) -> dict[str, str]:
    found = {}
    for name, mutant in claim.mutants.items():
        try:
            found[name] = fingerprint(mutant)
        except Exception:  # what cannot be described is taken to differ
            found[name] = name
    return found


def _judged(claim: Claim[Any]) -> Iterator[tuple[str, Any]]:
    """What of the form can be judged (of a record the parts that some false variant changes, else the whole), and what the
    false variants have in its place; not a library's functions there: `abs` has other uses."""
    form = claim.form
    false = {name: variant for name, variant in claim.variants().items() if not claim.expected_true(name)}
    for field in getattr(form, "_fields", (None,)):
        own, *others = (v if field is None else getattr(v, field, None) for v in (form, *false.values()))
        changed = {name: other for name, other in zip(false, others, strict=True) if other is not own}
        if changed and _is_stated(own):
            yield f"form ({field or getattr(own, '__name__', type(own).__name__)})", own
        for name, other in changed.items():
            if _is_stated(other) and (is_ours(other) or not hasattr(other, "__qualname__")):
                yield f"false variant ({name})", other


def _is_stated(value: Any) -> bool:
    """Whether a value is a statement of somebody's: a function in any shape, or data; not a class, nor a constant."""
    return (callable(value) and not isinstance(value, type)) or (isinstance(value, _DATA) and len(value) > 0)


def _named(procedure: FunctionType) -> list[Any]:
    """What a procedure names in its own text, and looks up in modules."""
    node, held = syntax(procedure.__code__), inspect.getclosurevars(procedure).nonlocals
    found = []
    for name, _, attributes in template(node)[1] if node is not None else ():
        value = held.get(name, procedure.__globals__.get(name))
        found.append(value)
        for attribute in attributes:
            if isinstance(value, ModuleType):
                value = getattr(value, attribute, None)
                found.append(value)
    return found


def _reached(values: Iterable[Any], form: Any) -> list[Any]:
    """Whatever can be reached from some values."""
    found = []
    for root in roots(tuple(values), {}):
        seen = Seen()
        seen.objects.update((id(part), (0, part)) for part in [*_parts(form), *_engines()])
        if seen.number(root) is None:
            with contextlib.suppress(Exception):  # what cannot be described is met as far as it can be
                describe(root, seen)
            found += [value for _, value in seen.objects.values() if all(value is not part for part in _parts(form))
                      and not isinstance(value, tuple | frozenset)]  # equal constants of a file are one object
    return found


def roots(value: Any, met: dict[int, Any]) -> Iterator[Any]:
    """What the functions of engines, strategies and the beginnings of rows hold."""
    if id(value) in met:
        return
    met[id(value)] = value
    of_builder = str(getattr(value, "__module__", "")).startswith(_BUILDERS)
    if isinstance(value, functools.partial):
        inside = [value.func, *value.args, *value.keywords.values()]
    elif isinstance(value, FunctionType) and of_builder:
        inside = list(inspect.getclosurevars(value).nonlocals.values())
    elif isinstance(value, tuple | list):
        inside = list(value[:_FIRST])
    elif isinstance(value, dict):
        inside = list(value.values())[:_FIRST]
    elif of_builder and not isinstance(value, type):
        inside = list(getattr(value, "__dict__", {}).values())
    else:
        yield value
        return
    for part in inside:
        yield from roots(part, met)


def _engines() -> list[Any]:
    """The functions of the engines, which look at no claim."""
    modules = [m for name, m in list(sys.modules.items()) if name.startswith(_ENGINES)]
    return [value for module in modules for value in vars(module).values() if isinstance(value, FunctionType)]


def _parts(form: Any) -> list[Any]:
    """What was handed over: the form, and what it is made of."""
    if isinstance(form, tuple):
        return [form, *(part for value in form for part in _parts(value))]
    return [form, *(form.parts.values() if isinstance(form, Conditions) else ())] if _is_stated(form) else []

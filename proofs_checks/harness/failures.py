"""What a failure prints: the statement, what the variant says instead, what was found and where, how to see it again."""
from __future__ import annotations

import ast
import inspect
import json
import operator
import re
import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import CodeType, FunctionType
from typing import Any

from proofs_checks.harness.evidence import Check, Evidence, Verdict
from proofs_checks.harness.judge import CLAIM_FAILS, CLAIM_OPEN
from proofs_checks.harness.syntax import syntax

__all__ = ["block", "blocks", "decided_on", "headline", "left_out", "names_of", "place", "reproduction", "sides", "told",
           "unjudged"]

LONG = 300  # characters of a witness on one line
SHORT = 60  # characters of a headline that is cut at a colon
SIDE = 60  # characters of a side of a comparison


def left_out(problem: str) -> bool:
    """Whether a problem only says that checks or variants were left out, as was asked for."""
    return problem.startswith("not judged: ") and not unjudged(problem)


def unjudged(problem: str) -> bool:
    """Whether a false variant could not be judged because its claim is not shown to hold."""
    return problem in (CLAIM_FAILS, CLAIM_OPEN)


def headline(record: Mapping[str, Any]) -> str:
    """A few words that stand alone: what is wrong with a variant."""
    if not record["problems"]:
        return "as expected"
    first = str(record["problems"][0])
    wrong = [row for row in record["evidence"] if row is not None and row["verdict"] != Verdict.HOLDS.name]
    if first.startswith("SURVIVED"):
        return "SURVIVED: nothing refutes it"
    if unjudged(first):
        return first
    if record["true"] and wrong and first.startswith(f"{wrong[0]['engine']} {wrong[0]['rung']} says"):
        row = wrong[0]
        if row["summary"].startswith("vacuous: "):
            return "vacuous: no case was examined"
        at = place(row)
        if at and len(at) <= 40:
            return f"fails at {at}"
        return _cut(row["summary"]) or f"{row['engine']}: {row['verdict'].lower()}"
    if first.startswith("idle: "):
        return first.split(" refutes no ")[0]
    return _cut(first) or first.split(": ")[0]


def _cut(text: str) -> str:
    """The beginning of a text that ends at a place or a colon and is short; nothing if there is none."""
    parts = re.split(r" \(line | at \(", text)[0].split(": ")
    while parts and len(": ".join(parts)) > SHORT:
        parts.pop()
    return ": ".join(parts).removesuffix(":")


def place(row: Mapping[str, Any], width: int = LONG) -> str:
    """Where a check failed, `k = 3, n = 5`; nothing for a check without a witness or with a random stream as one."""
    value, names = row["witness"], row.get("names", [])
    if value is None or (isinstance(value, Mapping) and "stream" in value):
        return ""
    if isinstance(value, Mapping):
        text = ", ".join(f"{k} = {_plain(v)}" for k, v in value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str) and len(names) == len(value):
        text = ", ".join(f"{k} = {_plain(v)}" for k, v in zip(names, value, strict=True))
    else:
        text = _plain(value)
    return text if len(text) <= width else text[:width - 3] + "..."


def _plain(value: Any) -> str:
    """A value of a report as one writes it: whole numbers without their denominator."""
    if isinstance(value, str):
        return value.removesuffix("/1")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_plain(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence):
        return "(" + ", ".join(map(_plain, value)) + ")"
    return str(value)


def blocks(entry: Mapping[str, Any]) -> list[list[str]]:
    """The blocks of a claim's failed variants. Those that wait for the claim itself share one line below its block."""
    failed = [r for r in entry["variants"].values() if not all(map(left_out, r["problems"]))]
    waiting = [r for r in failed if any(map(unjudged, r["problems"]))] if "claim" in entry["variants"] else []
    found = [block(entry, r) for r in failed if r not in waiting]
    if waiting:
        reason = waiting[0]["problems"][0].removeprefix("not judged: ")
        found.append([f"not judged: {', '.join(r['variant'] for r in waiting)} ({reason})"])
    return found


def block(known: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
    """The lines that a failed variant prints, the shortest summary first. One that could not be judged leads to its claim."""
    expected = "to hold" if record["true"] else "to be refuted with a witness of its own"
    lines = [headline(record), f"{record['claim']} [{record['variant']}]  expected {expected}"]
    if any(map(unjudged, record["problems"])):
        return [*lines, f"  why      {reproduction({**record, 'variant': 'claim'})}"]
    lines.append(f"  claim    {known['statement']}")
    lines += [f"  given    {name}: {text}" for name, text in known["hypotheses"].items()]
    if record["variant"] == "as_stated" and known["wording"]:
        lines.append(f"  wording  {known['wording']}")
    for mine, theirs in record["says"]:
        lines.append(f"  {'form    ' if record['variant'] == 'claim' else 'variant '} {mine}")
        if record["variant"] != "claim":
            lines.append(f"  claim's  {theirs}")
    for row in filter(None, record["evidence"]):
        scope = f"  [{row['scope']}]" if row["scope"] else ""
        lines.append(f"  {row['rung']:<11} {row['engine']} {row['verdict'].lower()}{_found(row)}{scope}")
    said = tuple(f"{row['engine']} {row['rung']} says " for row in filter(None, record["evidence"]))
    lines += [f"  problem  {p}" for p in record["problems"] if not (said and p.startswith(said))]  # its row stands above
    return [*lines, f"  again    {reproduction(record)}"]


def _found(row: Mapping[str, Any]) -> str:
    """What a check found; its witness where its own words do not tell it."""
    if row["summary"]:
        return f": {row['summary']}"
    return "" if row["witness"] is None else f" at {json.dumps(row['witness'], ensure_ascii=False)}"


def reproduction(record: Mapping[str, Any]) -> str:
    """The command that judges the variant again; a claim of a user's own file needs the file."""
    module = f" --module {shlex.quote(record['module'])}" if record.get("module") else ""
    return f"refutable check {record['claim']}{module} --variant {record['variant']} --fresh"


def told(row: Mapping[str, Any], compared: str = "") -> str:
    """The summary of a row of the matrix, with the names of the coordinates where the engine could not know them."""
    if row["names"] and row["summary"].startswith("fails at ") and (at := place(row)):
        return f"fails at {at}{': ' if compared else ''}{compared}"
    return str(row["summary"])


def names_of(check: Check, witness: Any) -> list[str]:
    """Names of the coordinates of a witness that is a case: those of the predicate's parameters, where they are as many."""
    predicate = _predicate(check)
    if predicate is None or not isinstance(witness, tuple | list):
        return []
    fields = getattr(witness, "_fields", None)
    if fields is not None:
        return list(fields)
    try:
        parameters = list(inspect.signature(predicate).parameters.values())
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in kinds]
    return names[:len(witness)] if len(names) >= len(witness) else []


def _predicate(check: Check) -> Any:
    """The predicate of a check over cases, which holds it in the function that evaluates a witness again."""
    if not isinstance(check.at, FunctionType) or not check.at.__closure__:
        return None
    return inspect.getclosurevars(check.at).nonlocals.get("predicate")


def sides(check: Check, found: Evidence) -> str:
    """`6 == 9 is false`: the two sides of the comparison that a predicate returns, at the witness; nothing otherwise.

    The predicate is compiled once more with its comparison taken apart. Whatever goes wrong, there is nothing to show:
    the verdict does not depend on this."""
    predicate = _predicate(check)
    if not isinstance(predicate, FunctionType) or not isinstance(found.witness, tuple | list):
        return ""
    try:
        apart = _taken_apart(predicate)
        got = None if apart is None else apart(*found.witness)
        if not isinstance(got, _Apart) or got.holds():
            return ""
        left, right = _number(got.left), _number(got.right)
        apart_by = f", they differ by {float(got.left - got.right):.3g}" if left == right and got.left != got.right else ""
        return f"{left} {got.relation} {right} is false{apart_by.replace('by -', 'by ')}"
    except (Exception, SystemExit):  # it is the statement's own code that runs here
        return ""


_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_MEANS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class _Apart:
    """The values of a comparison."""

    def __init__(self, left: Any, relation: str, right: Any) -> None:
        self.left, self.relation, self.right = left, relation, right

    def holds(self) -> bool:
        return bool(_MEANS[self.relation](self.left, self.right))


def _taken_apart(predicate: FunctionType) -> Any:
    """The predicate with `return a == b` made into `return (a, "==", b)`; None if it returns no plain comparison."""
    node: Any = syntax(predicate.__code__)
    if node is None:
        return None
    copied = ast.parse(ast.unparse(node)).body[0]
    function: Any = copied.value if isinstance(copied, ast.Expr) else copied
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    function.args.defaults, function.args.kw_defaults = [], [None] * len(function.args.kwonlyargs)
    if isinstance(function, ast.Lambda):
        function.body = _split(function.body)
        made: ast.stmt = ast.Assign([ast.Name("__made__", ast.Store())], function)
    else:
        function.decorator_list, function.returns, function.name = [], None, "__made__"
        if not isinstance(function.body[-1], ast.Return) or function.body[-1].value is None:
            return None
        function.body[-1].value = _split(function.body[-1].value)
        made = function
    cells = dict(inspect.getclosurevars(predicate).nonlocals)
    code: CodeType = compile(ast.fix_missing_locations(ast.Module([made], [])), "<sides>", "exec")
    scope: dict[str, Any] = {**predicate.__globals__, **cells, "__apart__": _Apart}
    exec(code, scope)  # the user's own function, rebuilt
    result: FunctionType = scope["__made__"]
    result.__defaults__, result.__kwdefaults__ = predicate.__defaults__, predicate.__kwdefaults__
    return result


def _split(value: ast.expr) -> ast.expr:
    """`a == b` or `bool(a == b)` as a call that keeps both values; anything else as it is."""
    inner = value
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "bool" and len(inner.args) == 1:
        inner = inner.args[0]
    if not isinstance(inner, ast.Compare) or len(inner.ops) != 1 or type(inner.ops[0]) not in _SIGNS:
        return value
    sign = ast.Constant(_SIGNS[type(inner.ops[0])])
    return ast.Call(ast.Name("__apart__", ast.Load()), [inner.left, sign, inner.comparators[0]], [])


def _number(value: Any) -> str:
    """A value as text; a long fraction by its decimal value."""
    text = str(value)
    if isinstance(value, Fraction) and len(text) > 24:
        text = f"{float(value):.12g}"
    return text if len(text) <= SIDE else text[:SIDE - 3] + "..."


def decided_on(entry: Mapping[str, Any], width: int = 72) -> str:
    """What the strongest rung of a claim was reached on: the whole domain, or the scope that its engine printed. A rung is
    not shown without it."""
    if not entry.get("rung"):
        return ""
    scope = str(entry.get("scope") or "scope not said")
    text = f"whole domain: {scope}" if entry.get("universal") else scope
    return text if len(text) <= width else text[:width - 3] + "..."

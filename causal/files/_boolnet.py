"""Boolean networks as text: `.bnet` lines `target, factors` and BooleanNet lines `X* = not (a or b)`."""
from __future__ import annotations

import itertools
import re

from causal.errors import CausalError
from causal.expressions import Atom, Const, Expression, names_of, parse_expression
from causal.model import CausalModel, Formula, Input, Mechanism, Table

MAX_TERMS = 4096

_RULE = re.compile(r"(?:\d+\s*:\s*)?(?P<name>[^\s,=*]+)\s*\*\s*=(?P<text>.*)")
_START = re.compile(r"(?P<name>[^\s,=*]+)\s*=\s*(?:True|False|Random|Any)", re.I)


def read(text: str) -> CausalModel:
    """An acyclic network. `X, X`, and names that no line defines, are inputs. Messages give the line."""
    rules: dict[str, Expression | None] = {}
    lines: dict[str, int] = {}
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = raw.split("#", 1)[0].strip()
        if not line or re.fullmatch(r"targets\s*,\s*factors", line, re.I) or _START.fullmatch(line):
            continue
        match = _RULE.fullmatch(line)
        name, comma, formula = (match["name"], "=", match["text"]) if match else line.partition(",")
        name = name.strip()
        if len(name) > 2 and name[0] == name[-1] == "`":
            name = name[1:-1]
        if not comma:
            raise CausalError(f"line {number}: {line[:60]!r} is neither 'target, factors' nor 'X* = rule'")
        if not name or "`" in name:
            raise CausalError(f"line {number}: the target has no name" + f", {name!r} is none" * bool(name))
        if name in rules:
            raise CausalError(f"line {number}: {name!r} is defined twice, first in line {lines[name]}")
        lines[name] = number
        rules[name] = _formula(name, formula, number)
    for rule in list(rules.values()):
        for used in names_of(rule) if rule is not None else ():
            rules.setdefault(used, None)
    try:
        return CausalModel.from_parsed(rules, {}, ())
    except CausalError as error:
        for name, number in lines.items():
            if f"rule of {name}:" in str(error):
                error.args = (f"line {number}: {error}",)
        raise


def _formula(name: str, text: str, number: int) -> Expression | None:
    try:
        parsed = parse_expression(text)
    except CausalError as error:
        raise CausalError(f"line {number}, rule of {name}: {error}") from None
    if isinstance(parsed, Atom) and parsed.kind == "bare" and parsed.name == name:
        return None
    return parsed


def write(model: CausalModel) -> str:
    """The network as `.bnet` text. CausalError naming a variable that is not 0/1, or a gate too large to expand."""
    for name, domain in model.domains.items():
        if set(domain) != {0, 1}:
            raise CausalError(f"{name} has the domain {domain}; .bnet has 0 and 1 only")
        if not _plain(name):
            raise CausalError(f"the name {name!r} cannot be written in .bnet")
    lines = ["targets, factors", *(f"{name}, {name}" for name in model.exogenous)]
    for name, rule in model.mechanisms.items():
        lines.append(f"{name}, {_rule_text(model, name, rule)}")
    return "\n".join(lines) + "\n"


def _plain(name: str) -> bool:
    """Whether the name alone is read as that name, on either side of a rule."""
    try:
        parsed = parse_expression(name)
    except CausalError:
        return False
    return isinstance(parsed, Atom) and parsed.kind == "bare" and parsed.name == name and name.lower() != "targets"


def _rule_text(model: CausalModel, name: str, rule: Mechanism) -> str:
    if isinstance(rule, Input):
        return name
    if isinstance(rule, Formula):
        return _text(rule.expression, name)
    assert isinstance(rule, Table)
    rows = itertools.product(*(model.domains[p] for p in rule.parents))
    ones = [row for row, value in zip(rows, rule.values, strict=True) if value == 1]
    if len(ones) in (0, len(rule.values)):
        return str(int(bool(ones)))
    _guard(name, len(ones))
    return " | ".join("(" + " & ".join(p if v else f"!{p}" for p, v in zip(rule.parents, row, strict=True)) + ")"
                      for row in ones)


def _guard(name: str, terms: int) -> None:
    if terms > MAX_TERMS:
        raise CausalError(f"rule of {name}: {terms} terms are more than {MAX_TERMS}; write .json instead")


def _text(node: Expression, name: str) -> str:
    """`node` with ! & | only."""
    if isinstance(node, Const):
        return str(int(node.value))
    if isinstance(node, Atom):
        return node.name if node.value == 1 else f"!{node.name}"
    kids = [_text(c, name) for c in node.children]
    if not kids or (node.op == "atleast" and not 0 < node.threshold <= len(kids)):
        return str(int(node.op == "and" or (node.op == "atleast" and node.threshold <= 0)))
    if node.op == "not":
        return f"!({kids[0]})"
    if node.op in ("and", "or"):
        return f"({(' & ' if node.op == 'and' else ' | ').join(kids)})"
    if node.op == "xor":
        _guard(name, 2 ** max(0, len(kids) - 1))
        terms = [row for row in itertools.product((0, 1), repeat=len(kids)) if sum(row) % 2]
        texts = [" & ".join(k if v else f"!({k})" for k, v in zip(kids, row, strict=True)) for row in terms]
    else:
        chosen = list(itertools.islice(itertools.combinations(kids, node.threshold), MAX_TERMS + 1))
        _guard(name, len(chosen))
        texts = [" & ".join(c) for c in chosen]
    return "(" + " | ".join(f"({t})" for t in texts) + ")"

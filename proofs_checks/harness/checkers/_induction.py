"""Statements as other statements: an integer parameter value by value, or base and step; reciprocals. Standard library
only.

`specialised` puts a number for the parameter. `induction` gives P(first) and P(k) => P(k + 1): powers b^(k + c) become
T * b^(c - m) with a new variable T for b^(k + m), m the least c, about which only what holds for every exponent >= 0 is
assumed (signs, bounds by 1, order between bases). k itself is relaxed to the reals from `first` on."""
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.harness.checkers._subject import hypotheses_and_goal
from proofs_checks.harness.trees import FUNCTIONS, Inexact, Tree, Undefined, evaluate, number, substitute, variables, walk

__all__ = ["bounds_of", "in_exponent", "in_function", "induction", "reciprocal", "specialised"]

Subject = Mapping[str, Any]


def in_exponent(statement: Tree, name: str) -> bool:
    """Whether the variable occurs in an exponent (or as an order of a function)."""
    return any(isinstance(node, list) and node[0] == "pow" and isinstance(node[2], list) and name in variables(node[2])
               for node in walk(statement))


def in_function(statement: Tree, name: str) -> bool:
    """Whether the variable occurs in an argument of a function, such as gamma(n + 1)."""
    return any(isinstance(node, list) and (node[0] in FUNCTIONS or node[0] == "polygamma") and name in variables(node)
               for node in walk(statement))


def bounds_of(statement: Tree, name: str) -> tuple[int | None, int | None]:
    """The least and the largest integer that the hypotheses allow, where they say so by bounds."""
    low: list[int] = []
    high: list[int] = []
    for relation in hypotheses_and_goal(statement)[0]:
        head, *sides = relation
        if head in ("ge", "gt"):
            head, sides = {"ge": "le", "gt": "lt"}[head], sides[::-1]
        if head not in ("le", "lt"):
            continue
        if sides[1] == ["var", name] and not isinstance(sides[0], list):
            c = number(sides[0])
            low.append(-(-c.numerator // c.denominator) + (head == "lt" and c.denominator == 1))
        elif sides[0] == ["var", name] and not isinstance(sides[1], list):
            c = number(sides[1])
            high.append(c.numerator // c.denominator - (head == "lt" and c.denominator == 1))
    return max(low, default=None), min(high, default=None)


def specialised(subject: Subject, name: str, value: int) -> dict[str, Any]:
    """The statement for one value of the parameter."""
    return {"statement": _folded(substitute(subject["statement"], {name: str(value)})),
            "integers": [other for other in subject["integers"] if other != name]}


def _folded(tree: Tree) -> Tree:
    """Exponents without variables as numbers; gamma at 1, 2, 3, ... as factorials."""
    if not isinstance(tree, list) or tree[0] == "var":
        return tree
    parts = [_folded(part) for part in tree[1:]]
    if tree[0] in ("gamma", "loggamma") and not variables(parts[0]):
        try:
            value = _text(evaluate(["gamma", parts[0]], {}))
            return value if tree[0] == "gamma" else ["log", value]
        except (Inexact, Undefined):
            pass
    if tree[0] == "pow" and isinstance(parts[1], list) and not variables(parts[1]):
        parts[1] = _text(evaluate(parts[1], {}))
    return [tree[0], *parts]


def _text(x: Fraction) -> str:
    return str(x.numerator) if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def induction(subject: Subject, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """(base, step) over an integer that is bounded below only. ValueError where the statement has another form."""
    statement = subject["statement"]
    first, last = bounds_of(statement, name)
    if first is None or last is not None or name not in subject["integers"] or subject["integers"] != [name]:
        raise ValueError(f"induction over {name} needs one integer, bounded below and not above")
    hypotheses, goal = hypotheses_and_goal(statement)
    others = [h for h in hypotheses if name not in variables(h)]
    if any(not _is_bound(h, name) for h in hypotheses if name in variables(h)):
        raise ValueError(f"a hypothesis other than a bound mentions {name}")
    powers = _powers(goal, name)
    least = {_key(base): min(c for b, c in powers if b == base) for base, _ in powers}
    if any(first + c < 0 for c in least.values()):
        raise ValueError("a power would have a negative exponent")
    symbols = {key: f"{name}.power.{i}" for i, key in enumerate(sorted(least))}
    now = _replaced(goal, name, least, symbols)
    then = _replaced(substitute(goal, {name: ["add", ["var", name], "1"]}), name, least, symbols)
    bases = {_key(base): base for base, _ in powers}
    facts = [fact for key, symbol in symbols.items() for fact in _facts(bases[key], ["var", symbol])]
    facts += [["implies", ["and", ["ge", bases[a], "0"], ["le", bases[a], bases[b]]],
               ["le", ["var", symbols[a]], ["var", symbols[b]]]]
              for a in symbols for b in symbols if a != b and least[a] == least[b]]
    given = [*others, ["ge", ["var", name], str(first)], *facts, now]
    return specialised(subject, name, first), {"statement": ["implies", ["and", *given], then], "integers": []}


def reciprocal(subject: Subject) -> dict[str, Any]:
    """The statement with 1/x for every variable x: the same statement, since all variables are positive and real.

    ValueError unless each variable x has the hypothesis x > 0 (which stays as it is) and none is an integer."""
    hypotheses, goal = hypotheses_and_goal(subject["statement"])
    names = variables(subject["statement"])
    positive = [["gt", ["var", name], "0"] for name in names]
    if subject["integers"] or not names or not all(bound in hypotheses for bound in positive):
        raise ValueError("a hypothesis x > 0 is needed for every variable x, and no integers")
    inverse = {name: ["pow", ["var", name], "-1"] for name in names}
    trivial = [*positive, *(["ge", ["var", name], "0"] for name in names)]
    others = [substitute(h, inverse) for h in hypotheses if h not in trivial]
    return {"statement": ["implies", ["and", *positive, *others], substitute(goal, inverse)], "integers": []}


def _is_bound(relation: Tree, name: str) -> bool:
    return relation[0] in ("ge", "gt", "le", "lt") and ["var", name] in relation[1:] and any(
        not isinstance(side, list) for side in relation[1:])


def _facts(base: Tree, power: Tree) -> list[Tree]:
    """What holds for every power with an integer exponent >= 0."""
    return [["implies", ["ge", base, "0"], ["ge", power, "0"]], ["implies", ["gt", base, "0"], ["gt", power, "0"]],
            ["implies", ["and", ["ge", base, "0"], ["le", base, "1"]], ["le", power, "1"]],
            ["implies", ["ge", base, "1"], ["ge", power, "1"]]]


def _key(base: Tree) -> str:
    return str(base)


def _powers(tree: Tree, name: str) -> list[tuple[Tree, int]]:
    """(base, c) of every power base**(name + c). ValueError for other exponents that mention the parameter."""
    found = []
    for node in walk(tree):
        if isinstance(node, list) and node[0] == "pow" and isinstance(node[2], list) and name in variables(node[2]):
            if name in variables(node[1]):
                raise ValueError(f"a base mentions {name}")
            found.append((node[1], _offset(node[2], name)))
    return found


def _offset(exponent: Tree, name: str) -> int:
    """c of an exponent name + c."""
    if variables(exponent) != [name]:
        raise ValueError(f"an exponent is not {name} plus an integer")
    at = [evaluate(exponent, {name: Fraction(n)}) for n in range(3)]
    linear = all(node[0] in ("add", "mul", "var") for node in walk(exponent) if isinstance(node, list))
    if not linear or at[1] - at[0] != 1 or at[2] - at[1] != 1 or at[0].denominator != 1:
        raise ValueError(f"an exponent is not {name} plus an integer")
    return int(at[0])


def _replaced(tree: Tree, name: str, least: Mapping[str, int], symbols: Mapping[str, str]) -> Tree:
    """Powers as T * base**(c - m)."""
    if not isinstance(tree, list) or tree[0] == "var":
        return tree
    if tree[0] == "pow" and isinstance(tree[2], list) and name in variables(tree[2]):
        key = _key(tree[1])
        c = _offset(tree[2], name)
        return ["mul", ["var", symbols[key]], ["pow", tree[1], str(c - least[key])]]
    return [tree[0], *(_replaced(part, name, least, symbols) for part in tree[1:])]

"""Solve an equation for a variable that occurs in it once: the closed forms of satisfiable systems come from here."""
from __future__ import annotations

from proofs_checks.harness.trees import Tree, number, walk

__all__ = ["isolate"]

_INVERSE = {"exp": "log", "log": "exp", "sinh": "asinh", "tanh": "atanh", "atan": "tan", "asinh": "sinh",
            "sin": "asin", "cos": "acos", "tan": "atan", "asin": "sin", "acos": "cos"}


def isolate(left: Tree, right: Tree, name: str) -> list[Tree]:
    """Trees that `name` may equal; each is a candidate, to be checked at a point."""
    if _count(left, name) == 0:
        left, right = right, left
    if _count(left, name) != 1 or _count(right, name) != 0:
        return []
    sides = [right]
    while left[0] != "var":
        head, *rest = left
        at = next(i for i, part in enumerate(rest) if _count(part, name))
        others = rest[:at] + rest[at + 1:]
        if head == "add":
            sides = [["add", side, *(["mul", "-1", part] for part in others)] for side in sides]
        elif head == "mul":
            sides = [["mul", side, *(["pow", part, "-1"] for part in others)] for side in sides]
        elif head == "pow" and at == 0 and isinstance(rest[1], str) and number(rest[1]) != 0:
            sides = _roots(sides, rest[1])
        elif head == "abs":
            sides = [sign for side in sides for sign in (side, ["mul", "-1", side])]
        elif head in _INVERSE:
            sides = [[_INVERSE[head], side] for side in sides]
        else:
            return []
        left = rest[at]
    return sides


def _roots(sides: list[Tree], exponent: str) -> list[Tree]:
    n = number(exponent)
    inverse = 1 / n
    roots = [["pow", side, str(inverse)] for side in sides]
    if n.numerator % 2 == 0 and n.denominator == 1:
        return [sign for root in roots for sign in (root, ["mul", "-1", root])]
    if n.denominator == 1:  # an odd power also has roots of negative sides
        roots += [["mul", "-1", ["pow", ["mul", "-1", side], str(inverse)]] for side in sides]
    return roots


def _count(tree: Tree, name: str) -> int:
    return sum(1 for node in walk(tree) if isinstance(node, list) and node[0] == "var" and node[1] == name)

"""Trees as text that `formula.parse` reads back."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proofs_checks.harness.trees import Tree

__all__ = ["to_text", "words"]

_RELATIONS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


def to_text(tree: Tree) -> str:
    """Infix notation with the parentheses it needs."""
    return _write(tree)[0]


def words(subject: Mapping[str, Any]) -> str:
    """A subject {"statement", "integers"} in words."""
    note = f", for integers {', '.join(sorted(subject['integers']))}" if subject.get("integers") else ""
    return to_text(subject["statement"]) + note


def _write(tree: Tree) -> tuple[str, int]:
    if not isinstance(tree, list):
        text = str(tree)
        return text, _SUM if text.startswith("-") else _PRODUCT if "/" in text else _ATOM
    head, *rest = tree
    if head == "var":
        return rest[0], _ATOM
    if head in ("pi", "E") and not rest:
        return head, _ATOM
    if head in ("true", "false"):
        return head.capitalize(), _ATOM
    if head in _RELATIONS:
        return f"{_write(rest[0])[0]} {_RELATIONS[head]} {_write(rest[1])[0]}", 0
    if head == "add":
        return _sum(rest), _SUM
    if head == "mul":
        return _product(rest), _PRODUCT
    if head == "pow":
        return _power(*rest)
    name = {"eq": "Eq", "ne": "Ne", "and": "And", "or": "Or", "not": "Not", "implies": "Implies", "abs": "Abs",
            "min": "Min", "max": "Max"}.get(head, head)
    return f"{name}({', '.join(_write(part)[0] for part in rest)})", _ATOM


def _at(tree: Tree, level: int) -> str:
    text, own = _write(tree)
    return text if own >= level else f"({text})"


def _sum(terms: list[Tree]) -> str:
    text = ""
    for term in terms:
        piece = _at(term, _PRODUCT) if not str(_write(term)[0]).startswith("-") else _write(term)[0]
        if not text:
            text = piece
        elif piece.startswith("-"):
            text += f" - {piece[1:]}"
        else:
            text += f" + {piece}"
    return text


def _product(factors: list[Tree]) -> str:
    sign = ""
    if factors[0] == "-1" and len(factors) > 1:
        sign, factors = "-", factors[1:]
    top: list[str] = []
    bottom: list[str] = []
    for factor in factors:
        exponent = factor[2] if isinstance(factor, list) and factor[0] == "pow" else ""
        if isinstance(exponent, str) and exponent.startswith("-"):
            bottom.append(_at(["pow", factor[1], factor[2][1:]] if factor[2] != "-1" else factor[1], _POWER))
        else:
            top.append(_at(factor, _PRODUCT if not top and not sign else _POWER))
    return sign + "*".join(top or ["1"]) + "".join(f"/{piece}" for piece in bottom)


def _power(base: Tree, exponent: Tree) -> tuple[str, int]:
    if exponent == "1/2":
        return f"sqrt({_write(base)[0]})", _ATOM
    if exponent == "-1":
        return f"1/{_at(base, _POWER)}", _PRODUCT
    return f"{_at(base, _ATOM)}**{_at(exponent, _ATOM)}", _POWER

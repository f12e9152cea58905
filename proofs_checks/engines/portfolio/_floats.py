"""Trees on arrays of floats: a fast guess where to look. Never a verdict."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from proofs_checks.harness.trees import RELATIONS, Tree, number

__all__ = ["margin", "value"]

Arrays = Mapping[str, np.ndarray]
_PLAIN: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "abs": np.abs, "sign": np.sign, "floor": np.floor}


def value(tree: Tree, point: Arrays) -> Any:
    """Values as floats; nan where undefined."""
    if not isinstance(tree, list):
        return float(number(tree))
    head, *rest = tree
    if head == "var":
        return point[rest[0]]
    if head in ("pi", "E"):
        return np.pi if head == "pi" else np.e
    if head == "pow":
        return _power(value(rest[0], point), rest[1], point)
    args = [value(part, point) for part in rest]
    if head in ("add", "mul", "min", "max"):
        return reduce({"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[head], args)
    if head in _PLAIN:
        return _PLAIN[head](args[0])
    return _special(head, args, rest)


def _power(base: Any, exponent: Tree, point: Arrays) -> Any:
    if not isinstance(exponent, str):
        return np.power(base, value(exponent, point), dtype=float)
    n = number(exponent)
    return np.power(np.asarray(base, float), float(n)) if n.denominator != 1 else np.asarray(base, float) ** int(n)


def _special(head: str, args: list[Any], rest: list[Tree]) -> Any:
    from scipy import special

    if head == "polygamma":
        return special.polygamma(int(Fraction(rest[0])), args[1])
    x = np.asarray(args[0], float)
    if head == "loggamma":
        return np.where(x > 0, special.gammaln(x), np.nan)
    return {"erf": special.erf, "gamma": special.gamma, "digamma": special.digamma}[head](x)


def margin(tree: Tree, point: Arrays) -> Any:
    """How far a relation is from failing: negative where false, 0 on the edge, nan where undefined."""
    head, *rest = tree
    if head in ("true", "false"):
        return 1.0 if head == "true" else -1.0
    if head in ("and", "or"):
        return reduce(np.minimum if head == "and" else np.maximum, [margin(part, point) for part in rest])
    if head == "not":
        return -margin(rest[0], point)
    if head == "implies":
        return np.maximum(-margin(rest[0], point), margin(rest[1], point))
    if head not in RELATIONS:
        raise ValueError(f"tree: unknown relation {head!r}")
    gap = value(rest[0], point) - value(rest[1], point)
    if head in ("eq", "ne"):
        return -np.abs(gap) if head == "eq" else np.abs(gap)
    return gap if head in ("ge", "gt") else -gap

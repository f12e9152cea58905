"""Which lemma instances to offer for a statement. Nothing here is trusted: the checker knows what each one says."""
from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

from proofs_checks.harness.trees import Inexact, Tree, Undefined, evaluate, number, variables, walk

__all__ = ["instances"]

Instance = list[Any]
_UNARY = {"exp": ("exp_positive", "exp_tangent", "exp_reciprocal"), "log": ("log_upper", "log_lower"),
          "sin": ("circle", "sin_bound"), "cos": ("circle", "cos_bound"), "tanh": ("tanh_bound",),
          "sinh": ("sinh_tangent",), "atan": ("atan_bound",), "acos": ("acos_bound",), "erf": ("erf_bound",),
          "digamma": ("digamma_binet",)}
_ORDERED = ("exp", "log", "sinh", "tanh", "atan", "asinh", "erf", "asin")
_SIGNED = ("sinh", "tanh", "atan", "asinh", "erf", "asin")
_LIMIT = 400


def instances(statement: Tree, level: int = 1) -> list[Instance]:
    """Instances for the transcendental terms of a statement; more of them at a higher level."""
    heads = _terms(statement)
    found: list[Instance] = []
    for make in (_exponentials, _logarithms, _trigonometric, _hyperbolic, _others):
        for item in make(heads, level):
            if item not in found:
                found.append(item)
    return found[:_LIMIT]


def _terms(statement: Tree) -> dict[str, list[Tree]]:
    """Arguments by function, in order of appearance; E is exp(1)."""
    heads: dict[str, list[Tree]] = {}
    for node in walk(statement):
        if not isinstance(node, list):
            continue
        head, arg = node[0], node[-1]
        if head == "E":
            head, arg = "exp", "1"
        if head == "tan":
            heads.setdefault("sin", []).append(arg)
            heads.setdefault("cos", []).append(arg)
        elif head == "pi":
            heads.setdefault("pi", [])
        elif head in ("exp", "log", "sin", "cos", "tanh", "sinh", "cosh", "atan", "asin", "acos", "asinh", "erf",
                      "digamma", "loggamma", "gamma", "polygamma"):
            args = heads.setdefault(head if head != "polygamma" else f"polygamma{node[1]}", [])
            if arg not in args:
                args.append(arg)
    return heads


def _unary(head: str, args: list[Tree]) -> Iterator[Instance]:
    for arg in args:
        yield from ([schema, arg] for schema in _UNARY.get(head, ()))


def _pairs(head: str, args: list[Tree]) -> Iterator[Instance]:
    for a, b in combinations(args, 2):
        if head in _ORDERED:
            yield ["increasing", head, a, b]
        else:
            yield ["same", head, a, b]


def _exponentials(heads: dict[str, list[Tree]], level: int) -> Iterator[Instance]:
    args, logs = list(heads.get("exp", [])), heads.get("log", [])
    for argument in logs:  # an exponential inside a logarithm
        args += [node[1] for node in walk(argument) if isinstance(node, list) and node[0] == "exp" and node[1] not in args]
    args = args[:8]
    for log in logs:
        for c in args:
            if _equal(c, ["log", log]):
                yield ["exp_of", c, log]
    if "1" in args and level > 0:
        yield from _shifted([c for c in args if c != "1"][:4], "1")
    yield from _unary("exp", args)
    for arg in args:
        yield ["exp_second", arg]
        if isinstance(arg, str):
            yield from _enclosure("exp", arg)
        if level > 1:
            yield ["exp_third", arg]
            yield ["exp_tangent_strict", arg]
    yield from _pairs("exp", args)
    yield from _additive(args)
    if args and logs and level > 0:
        for log in logs[:3]:
            yield ["exp_log", log]
            yield from (["increasing", "exp", c, ["log", log]] for c in args[:3] if c != "1")
            yield from _shifted([c for c in args if c != "1"][:3], ["log", log])


def _shifted(args: list[Tree], by: Tree) -> Iterator[Instance]:
    """exp(c) = exp(c - s) exp(s), with the tangent at c - s: the tangent of exp at s."""
    for c in args:
        moved = ["add", c, ["mul", "-1", by]]
        yield ["exp_sum", c, moved, by]
        yield ["exp_tangent", moved]
        yield ["exp_positive", moved]


def _additive(args: list[Tree]) -> Iterator[Instance]:
    """Linear relations among the arguments that hold identically."""
    for a, b in combinations(args, 2):
        if _equal(["add", a, b], "0"):
            yield ["exp_opposite", a, b]
    for c, a in permutations(args, 2):
        ratio = _ratio(c, a)
        if ratio is not None and ratio.denominator == 1 and 2 <= ratio <= 12:
            yield ["exp_multiple", c, str(ratio), a]
    for c in args:
        for a, b in combinations([x for x in args if x != c], 2):
            if _equal(c, ["add", a, b]):
                yield ["exp_sum", c, a, b]


def _logarithms(heads: dict[str, list[Tree]], level: int) -> Iterator[Instance]:
    args = heads.get("log", [])[:8]
    if heads.get("digamma"):
        args = [*args, *(a for a in heads["digamma"] if a not in args)]
    yield from _unary("log", args)
    for arg in args:
        yield ["log_one", arg]
        yield ["log_sign", arg]
        if level > 1:
            yield ["log_strict", arg]
        if isinstance(arg, str):
            yield from _enclosure("log", arg)
        for node in walk(arg):
            if isinstance(node, list) and node[0] == "exp":
                yield ["log_exp", node[1]]
                yield ["increasing", "log", arg, node]
    yield from _pairs("log", args)
    for c, a in permutations(args, 2):
        for n in (2, 3, 4):
            if _equal(c, ["pow", a, str(n)]):
                yield ["log_power", c, str(n), a]
    for c in args:
        for a, b in combinations([x for x in args if x != c], 2):
            if _equal(c, ["mul", a, b]):
                yield ["log_product", c, a, b]
    if level > 0:
        yield from _scaled([a for a in args if not isinstance(a, str)][:3], heads)


def _scaled(args: list[Tree], heads: dict[str, list[Tree]]) -> Iterator[Instance]:
    """log(c a) = log c + log a with the tangents at c a: the tangents of log at 1/c, c from the statement."""
    factors: list[Tree] = [a for a in heads.get("log", []) if isinstance(a, str)][:2]
    if "1" in heads.get("exp", []):
        factors.append(["exp", "1"])
        yield ["log_exp", "1"]
        for a in args:
            yield ["increasing", "log", a, ["exp", "1"]]
    for c in factors:
        for a in args:
            moved = ["mul", a, c]
            yield ["log_product", moved, a, c]
            yield ["log_lower", moved]
            yield ["log_upper", moved]
            if isinstance(c, list):  # and at e itself: log a = log(a/e) + 1, a/e = a exp(-1)
                less = ["mul", a, ["exp", "-1"]]
                yield from (["exp_opposite", "1", "-1"], ["exp_positive", "-1"], ["log_exp", "-1"],
                            ["log_product", less, a, ["exp", "-1"]], ["log_lower", less], ["log_upper", less])


def _trigonometric(heads: dict[str, list[Tree]], level: int) -> Iterator[Instance]:
    args = [*heads.get("sin", []), *(a for a in heads.get("cos", []) if a not in heads.get("sin", []))][:6]
    for arg in args:
        yield from ([schema, arg] for schema in ("circle", "sin_bound", "cos_bound"))
        if level > 1:
            yield ["sin_cubic", arg]
    for a, b in combinations(args, 2):
        yield ["same", "sin", a, b]
        yield ["same", "cos", a, b]
        if _equal(["add", a, b], "0"):
            yield ["odd", "sin", a, b]
            yield ["even", "cos", a, b]
    for c, a in permutations(args, 2):
        if _ratio(c, a) == 2:
            yield ["trig_double", c, a]
    for c in args:
        for a, b in combinations([x for x in args if x != c], 2):
            if _equal(c, ["add", a, b]):
                yield ["trig_sum", c, a, b]


def _hyperbolic(heads: dict[str, list[Tree]], level: int) -> Iterator[Instance]:
    args = [a for head in ("sinh", "cosh", "tanh") for a in heads.get(head, [])]
    args = [a for i, a in enumerate(args) if a not in args[:i]][:5]
    for arg in args:
        yield from ([schema, arg] for schema in ("hyperbolic", "tanh_bound", "sinh_tangent"))
    for c, a in permutations(args, 2):
        if _ratio(c, a) == 2:
            yield ["hyperbolic_double", c, a]
    if level > 1 or heads.get("exp"):
        for arg in args:
            yield from ([schema, arg] for schema in ("sinh_exp", "cosh_exp", "tanh_exp", "exp_positive"))
    for a, b in combinations(args, 2):
        yield ["increasing", "sinh", a, b]
        yield ["increasing", "tanh", a, b]


def _others(heads: dict[str, list[Tree]], _level: int) -> Iterator[Instance]:
    if "pi" in heads:
        yield ["pi_bounds"]
        for head in ("asin", "acos", "atan"):
            yield from (["inverse_range", head, arg] for arg in heads.get(head, [])[:4])
    for head in ("sinh", "tanh", "atan", "asinh", "erf", "asin"):
        for arg in heads.get(head, [])[:6]:
            yield ["sign_of", head, arg]
    for head in ("atan", "asinh", "erf", "asin", "acos", "digamma", "loggamma", "gamma"):
        yield from _unary(head, heads.get(head, [])[:6])
        yield from _pairs(head, heads.get(head, [])[:6])
    for arg in heads.get("polygamma1", []):
        yield ["trigamma_series", arg]


def _enclosure(head: str, arg: str) -> Iterator[Instance]:
    from proofs_checks.harness.checkers._values import enclose

    try:
        low, high = enclose([head, arg], {})
    except Inexact:
        return
    scale = 10 ** 12
    a, b = low * scale, high * scale
    yield ["enclosure", head, arg, str(Fraction(a.numerator // a.denominator, scale)),
           str(Fraction(-(-b.numerator // b.denominator), scale))]


def _equal(a: Tree, b: Tree) -> bool:
    """Whether two arguments agree as expressions; a guess at random points, confirmed by z3 through the guard."""
    gap = ["add", a, ["mul", "-1", b]]
    return all(value == 0 for value in _samples(gap))


def _ratio(c: Tree, a: Tree) -> Fraction | None:
    """c / a if it looks constant."""
    if isinstance(c, str) and isinstance(a, str):
        return number(c) / number(a) if number(a) else None
    ratios = _samples(["mul", c, ["pow", a, "-1"]])
    return ratios[0] if len(set(ratios)) == 1 and isinstance(ratios[0], Fraction) else None


def _samples(tree: Tree) -> list[Fraction | None]:
    """Values at three fixed points; logarithms and the like are opaque and are replaced by distinct numbers."""
    flat = _flattened(tree)
    values: list[Fraction | None] = []
    for seed in range(3):
        draw = random.Random(seed)
        point = {name: Fraction(draw.randint(2, 97), draw.randint(2, 9)) for name in variables(flat)}
        try:
            values.append(evaluate(flat, point))
        except (Inexact, Undefined):
            values.append(None)
    return values


def _flattened(tree: Tree) -> Tree:
    if not isinstance(tree, list) or tree[0] == "var":
        return tree
    if tree[0] in ("add", "mul") or (tree[0] == "pow" and isinstance(tree[2], str) and "/" not in tree[2]):
        return [tree[0], *(_flattened(part) for part in tree[1:])]
    return ["var", repr(tree)]

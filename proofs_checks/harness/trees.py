"""Expression trees: what a certificate says a statement is, as JSON that the standard library can evaluate.

A tree is a number, text such as "3" or "-7/2", or a list that begins with an operator:

    ["var", "x"]   ["pi"]   ["E"]   ["add", a, ...]   ["mul", a, ...]   ["pow", base, exponent]
    ["min", a, ...]   ["max", a, ...]   ["polygamma", n, a]   and [f, a] for each f in `FUNCTIONS`
    ["ge", a, b] and gt le lt eq ne;   ["and", p, ...] or not implies;   ["true"] ["false"]

Division is ["mul", a, ["pow", b, "-1"]]; a square root is ["pow", a, "1/2"]. Everything is real: a root of a negative
number, a logarithm outside its domain and a division by zero are `Undefined`, never a convention. Sympy is imported
by `to_tree` and `from_tree` only."""
from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

__all__ = ["FUNCTIONS", "RELATIONS", "Inexact", "Tree", "Undefined", "evaluate", "from_tree", "holds", "is_relation",
           "number", "substitute", "to_tree", "variables", "walk"]

Tree = Any  # str | list; recursive types do not help the checker here

FUNCTIONS = frozenset(("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
                       "acosh", "atanh", "erf", "abs", "sign", "gamma", "loggamma", "digamma", "floor"))
RELATIONS = {"ge": operator.ge, "gt": operator.gt, "le": operator.le, "lt": operator.lt,
             "eq": operator.eq, "ne": operator.ne}
_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")
_BITS = 400_000  # values beyond this size are refused rather than waited for
_AT_POINT = {("exp", 0): 1, ("log", 1): 0, ("sin", 0): 0, ("cos", 0): 1, ("tan", 0): 0, ("asin", 0): 0, ("acos", 1): 0,
             ("atan", 0): 0, ("sinh", 0): 0, ("cosh", 0): 1, ("tanh", 0): 0, ("asinh", 0): 0, ("acosh", 1): 0,
             ("atanh", 0): 0, ("erf", 0): 0, ("loggamma", 1): 0, ("loggamma", 2): 0}


class Undefined(ArithmeticError):
    """The expression has no real value at the point."""


class Inexact(ValueError):
    """The value exists but is not rational as far as the rules of `evaluate` see."""


def number(text: Any) -> Fraction:
    """The rational that a leaf denotes. ValueError for anything but "p" and "p/q" with q > 0."""
    if isinstance(text, bool) or not isinstance(text, str | int):
        raise ValueError(f"tree: {text!r} is not a number written as text, such as '-7/2'")
    if isinstance(text, int):
        return Fraction(text)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"tree: {text!r} is not a number written as 'p' or 'p/q'")
    top, _, bottom = text.partition("/")
    if bottom and int(bottom) == 0:
        raise ValueError(f"tree: {text!r} has denominator 0")
    return Fraction(int(top), int(bottom or 1))


def walk(tree: Tree) -> Iterator[Tree]:
    """Every node, parents before children."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, list) and node and node[0] != "var":
            stack.extend(reversed(node[1:]))


def variables(tree: Tree) -> list[str]:
    """Names of the variables, sorted."""
    return sorted({node[1] for node in walk(tree) if isinstance(node, list) and node[0] == "var"})


def is_relation(tree: Tree) -> bool:
    """Whether the tree is true or false rather than a number."""
    return isinstance(tree, list) and tree[0] in {*RELATIONS, "and", "or", "not", "implies", "true", "false"}


def substitute(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """The tree with variables replaced by trees."""
    if not isinstance(tree, list):
        return tree
    if tree[0] == "var":
        return values.get(tree[1], tree)
    return [tree[0], *(substitute(child, values) for child in tree[1:])]


def evaluate(tree: Tree, values: Mapping[str, Fraction]) -> Fraction:
    """The exact value at a rational point.

    Functions are evaluated where their value is rational by rule (exp 0, log 1, perfect roots); `Inexact` elsewhere,
    `Undefined` outside the domain, ValueError for a malformed tree or a missing variable."""
    if not isinstance(tree, list):
        return number(tree)
    head, *rest = tree
    if head == "var":
        if rest[0] not in values:
            raise ValueError(f"tree: variable {rest[0]!r} has no value")
        return Fraction(values[rest[0]])
    if head in ("pi", "E"):
        raise Inexact(f"{head} is irrational")
    args = [evaluate(child, values) for child in rest]
    if head == "add":
        total = Fraction(0)
        for part in args:
            total = _written_out(total + part)
        return total
    if head == "mul":
        product = Fraction(1)
        for factor in args:
            product = _written_out(product * factor)
        return product
    if head == "pow":
        return _power(*args)
    if head in ("min", "max"):
        return min(args) if head == "min" else max(args)
    return _function(head, args)


def _written_out(value: Fraction) -> Fraction:
    """The value. `Inexact` if it is so long that arithmetic with it would take for ever."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _BITS:
        raise Inexact(f"a number of more than {_BITS} bits is too large to write out")
    return value


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if base == 0 and exponent <= 0:
        if exponent == 0:
            return Fraction(1)  # x**0 is the constant 1, as in polynomial notation
        raise Undefined("division by zero")
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if size > 1 and abs(exponent) * size > _BITS:
        raise Inexact(f"a power with exponent {exponent} is too large to write out")
    if exponent.denominator == 1:
        return base ** int(exponent)
    if base < 0:
        raise Undefined(f"{base} to the power {exponent} is not real")
    root = Fraction(_root(base.numerator, exponent.denominator), _root(base.denominator, exponent.denominator))
    return root ** int(exponent.numerator)


def _root(n: int, k: int) -> int:
    """The exact k-th root of n >= 0; `Inexact` if there is none among the integers."""
    if n < 2:
        return n
    if k >= n.bit_length():
        raise Inexact(f"the root of order {k} of {n} is irrational")
    x = isqrt(n) if k == 2 else 1 << -(-n.bit_length() // k)
    while k != 2:  # Newton from above, monotone on the integers
        y = ((k - 1) * x + n // x ** (k - 1)) // k
        if y >= x:
            break
        x = y
    if x ** k != n:
        raise Inexact(f"the root of order {k} of {n} is irrational")
    return x


def _function(head: str, args: list[Fraction]) -> Fraction:
    if head == "polygamma":
        order, at = args
        if order < 0 or order.denominator != 1:
            raise ValueError(f"tree: polygamma of order {order}")
        if at.denominator == 1 and at <= 0:
            raise Undefined(f"polygamma has a pole at {at}")
        raise Inexact("values of polygamma are not rational by rule")
    if head not in FUNCTIONS or len(args) != 1:
        raise ValueError(f"tree: unknown operator {head!r} with {len(args)} arguments")
    x = args[0]
    if head == "abs":
        return abs(x)
    if head == "sign":
        return Fraction((x > 0) - (x < 0))
    if head == "floor":
        return Fraction(x.numerator // x.denominator)
    if outside_domain(head, x):
        raise Undefined(f"{head} is not defined at {x}")
    if head == "gamma" and x.denominator == 1 and x < 2000:
        product = Fraction(1)
        for factor in range(2, int(x)):
            product *= factor
        return product
    if x.denominator == 1 and (head, int(x)) in _AT_POINT:
        return Fraction(_AT_POINT[head, int(x)])
    raise Inexact(f"{head}({x}) is not rational by rule")


def outside_domain(head: str, x: Fraction) -> bool:
    """Whether the real function `head` has no value at the rational x."""
    if head == "log":
        return x <= 0
    if head in ("asin", "acos"):
        return not -1 <= x <= 1
    if head == "acosh":
        return x < 1
    if head == "atanh":
        return not -1 < x < 1
    if head in ("gamma", "digamma"):
        return x.denominator == 1 and x <= 0
    return head == "loggamma" and x <= 0  # between the poles its sign convention differs, so: x > 0 only


def holds(tree: Tree, values: Mapping[str, Fraction]) -> bool:
    """Whether a relation is true at a rational point, exactly. Raises as `evaluate` does."""
    if not isinstance(tree, list) or not tree:
        raise ValueError(f"tree: {tree!r} is not a relation")
    head, *rest = tree
    if head in ("true", "false"):
        return bool(head == "true")
    if head in RELATIONS:
        left, right = (evaluate(side, values) for side in rest)
        return bool(RELATIONS[head](left, right))
    if head in ("and", "or"):
        parts = [holds(part, values) for part in rest]  # all of them: a part that is undefined must be noticed
        return all(parts) if head == "and" else any(parts)
    if head == "not":
        return not holds(rest[0], values)
    if head == "implies":
        return not holds(rest[0], values) or holds(rest[1], values)
    raise ValueError(f"tree: unknown relation {head!r}")


def to_tree(expression: Any) -> Tree:
    """A sympy expression, relation or Boolean as a tree. ValueError names what has no tree."""
    import sympy as sp
    from sympy.logic.boolalg import BooleanFalse, BooleanTrue

    e = sp.sympify(expression)
    if isinstance(e, sp.Rational):
        return f"{e.p}/{e.q}" if e.q != 1 else str(e.p)
    if isinstance(e, sp.Float):
        return to_tree(sp.Rational(e))  # a float is the rational that it is
    if isinstance(e, sp.Symbol):
        return ["var", e.name]
    leaves = {sp.pi: ["pi"], sp.E: ["E"], BooleanTrue(): ["true"], BooleanFalse(): ["false"]}
    if e in leaves:
        return list(leaves[e])
    special = {sp.exp: "exp", sp.log: "log", sp.Abs: "abs", sp.Min: "min", sp.Max: "max", sp.Add: "add", sp.Mul: "mul",
               sp.Pow: "pow", sp.Ge: "ge", sp.Gt: "gt", sp.Le: "le", sp.Lt: "lt", sp.Eq: "eq", sp.Ne: "ne",
               sp.And: "and", sp.Or: "or", sp.Not: "not", sp.Implies: "implies", sp.polygamma: "polygamma"}
    args = list(e.args)
    if e.func in (sp.Add, sp.Mul, sp.Min, sp.Max, sp.And, sp.Or):
        args.sort(key=sp.default_sort_key)
    children = [to_tree(arg) for arg in args]
    if e.func is sp.polygamma and children[0] == "0":
        return ["digamma", children[1]]
    if e.func is sp.log and len(children) == 2:
        return ["mul", ["log", children[0]], ["pow", ["log", children[1]], "-1"]]
    head = special.get(e.func) or (e.func.__name__ if e.func.__name__ in FUNCTIONS else None)
    if head is None or not children:
        raise ValueError(f"expression {e} has no tree: {type(e).__name__} is not supported")
    return [head, *children]


def from_tree(tree: Tree, symbols: Mapping[str, Any] | None = None, *, evaluate: bool = True) -> Any:
    """The sympy object of a tree; a variable without an entry in `symbols` becomes a real Symbol of its name."""
    import sympy as sp

    if not isinstance(tree, list):
        return sp.Rational(number(tree).numerator, number(tree).denominator)
    head, *rest = tree
    if head == "var":
        return symbols[rest[0]] if symbols and rest[0] in symbols else sp.Symbol(rest[0], real=True)
    constants = {"pi": sp.pi, "E": sp.E, "true": sp.true, "false": sp.false}
    if head in constants and not rest:
        return constants[head]
    special = {"abs": sp.Abs, "min": sp.Min, "max": sp.Max, "add": sp.Add, "mul": sp.Mul, "pow": sp.Pow, "ge": sp.Ge,
               "gt": sp.Gt, "le": sp.Le, "lt": sp.Lt, "eq": sp.Eq, "ne": sp.Ne, "and": sp.And, "or": sp.Or,
               "not": sp.Not, "implies": sp.Implies, "polygamma": sp.polygamma}
    build = special.get(head) or (getattr(sp, head) if head in FUNCTIONS else None)
    if build is None:
        raise ValueError(f"tree: unknown operator {head!r}")
    args = [from_tree(child, symbols, evaluate=evaluate) for child in rest]
    return build(*args) if evaluate or head == "digamma" else build(*args, evaluate=False)

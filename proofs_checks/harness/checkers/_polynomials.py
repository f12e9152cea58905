"""Polynomials with rational coefficients, and relations of trees as polynomial conditions. Standard library only.

A polynomial is {exponents: coefficient}. What is not polynomial in a tree (a root, |a|, e^a, ...) becomes a variable of
its own, an atom, about which only `facts` are known. A relation between fractions is brought to N/D ~ 0 and D's factors
are dropped where their sign is evident from the bounds of the variables, otherwise multiplied in (D is not 0: the
statement speaks of points where it is defined)."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from proofs_checks.harness.trees import Inexact, Tree, Undefined, evaluate, number, variables

__all__ = ["Condition", "Field", "Poly", "TooLarge", "add", "degree", "multiply", "one", "scale", "value"]

Exponents = tuple[int, ...]
Poly = dict[Exponents, Fraction]
MAX_TERMS = 4000


class TooLarge(ValueError):
    """More terms than are worth waiting for."""


class Condition(NamedTuple):
    """A polynomial and what is said of it: "ge" (>= 0), "gt" (> 0) or "eq" (= 0)."""

    poly: Poly
    kind: str


def one(size: int) -> Poly:
    """The constant 1."""
    return {(0,) * size: Fraction(1)}


def add(a: Mapping[Exponents, Fraction], b: Mapping[Exponents, Fraction], times: Fraction = Fraction(1)) -> Poly:
    """a + times * b."""
    total = dict(a)
    for m, c in b.items():
        new = total.get(m, Fraction(0)) + times * c
        if new:
            total[m] = new
        else:
            total.pop(m, None)
    return total


def scale(a: Mapping[Exponents, Fraction], by: Fraction) -> Poly:
    """by * a."""
    return {m: by * c for m, c in a.items()} if by else {}


def multiply(a: Mapping[Exponents, Fraction], b: Mapping[Exponents, Fraction]) -> Poly:
    """The product."""
    if len(a) * len(b) > 200 * MAX_TERMS:
        raise TooLarge(f"a product of {len(a)} by {len(b)} terms")
    total: Poly = {}
    for m, c in a.items():
        for n, d in b.items():
            key = tuple(map(int.__add__, m, n))
            total[key] = total.get(key, Fraction(0)) + c * d
    total = {m: c for m, c in total.items() if c}
    if len(total) > MAX_TERMS:
        raise TooLarge(f"a polynomial of {len(total)} terms; the limit is {MAX_TERMS}")
    return total


def degree(a: Mapping[Exponents, Fraction]) -> int:
    """The total degree, 0 for the zero polynomial."""
    return max(map(sum, a), default=0)


def value(a: Mapping[Exponents, Fraction], at: Iterable[Fraction]) -> Fraction:
    """The value at a rational point."""
    point, total = list(at), Fraction(0)
    for exponents, c in a.items():
        for x, k in zip(point, exponents, strict=True):
            if k:
                c *= x ** k
        total += c
    return total


Key = tuple[tuple[Exponents, Fraction], ...]
Fractional = tuple[Poly, dict[Key, int]]


class Field:
    """Trees over a fixed list of names: the statement's variables, then one name (JSON text) for each atom."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = list(names)
        self.index = {name: i for i, name in enumerate(self.names)}
        if len(self.index) != len(self.names):
            raise ValueError("a variable is listed twice")
        self.positive: set[int] = set()  # variables known to be > 0
        self.nonnegative: set[int] = set()

    @property
    def size(self) -> int:
        return len(self.names)

    @staticmethod
    def atoms(trees: Iterable[Tree]) -> list[str]:
        """Names of the atoms of some trees, in order of appearance, inner ones first."""
        found: list[str] = []
        for tree in trees:
            _collect_atoms(tree, found)
        return found

    def assume(self, conditions: Iterable[Condition]) -> None:
        """Learn the signs of variables from conditions that are bounds."""
        for poly, kind in conditions:
            linear = [m for m in poly if any(m)]
            if kind == "eq" or len(linear) != 1 or sum(linear[0]) != 1 or poly[linear[0]] <= 0:
                continue
            low = -poly.get((0,) * self.size, Fraction(0)) / poly[linear[0]]
            variable = linear[0].index(1)
            if low >= 0:
                self.nonnegative.add(variable)
            if low > 0 or (low == 0 and kind == "gt"):
                self.positive.add(variable)

    def evident_sign(self, poly: Mapping[Exponents, Fraction]) -> int:
        """1 or -1 where all terms have one sign and one of them cannot vanish; 0 if not evident."""
        for sign in (1, -1):
            good = all(c * sign > 0 and all(k % 2 == 0 or i in self.nonnegative for i, k in enumerate(m))
                       for m, c in poly.items())
            if good and any(all(not k or i in self.positive for i, k in enumerate(m)) for m in poly):
                return sign
        return 0

    def condition(self, relation: Tree) -> list[Condition]:
        """A relation as polynomial conditions, all of which hold if it does (for "ne": none)."""
        head, *rest = relation
        if head in ("le", "lt"):
            head, rest = {"le": "ge", "lt": "gt"}[head], rest[::-1]
        if head == "ne" or head not in ("ge", "gt", "eq"):
            return []
        return [Condition(self.numerator(["add", rest[0], ["mul", "-1", rest[1]]], head == "eq"), head)]

    def numerator(self, tree: Tree, any_sign: bool = False) -> Poly:
        """A polynomial with the sign of the tree (with its zeros, if `any_sign`)."""
        top, under = self.rational(tree)
        if any_sign:
            return top
        for key, power in under.items():
            if power % 2:
                factor = dict(key)
                sign = self.evident_sign(factor)
                top = scale(top, Fraction(sign)) if sign else multiply(top, factor)
        return top

    def variable(self, name: str) -> Poly:
        if name not in self.index:
            raise ValueError(f"{name!r} is not among the variables {', '.join(self.names)}")
        return {tuple(int(i == self.index[name]) for i in range(self.size)): Fraction(1)}

    def rational(self, tree: Tree) -> Fractional:
        """Numerator, and powers of the factors of the denominator."""
        if not isinstance(tree, list):
            x = number(tree)
            return ({(0,) * self.size: x} if x else {}), {}
        head, *rest = tree
        if head == "var":
            return self.variable(rest[0]), {}
        if head == "add":
            return self._sum([self.rational(part) for part in rest])
        if head == "mul":
            return self._product([self.rational(part) for part in rest])
        if head == "pow" and isinstance(rest[1], str):
            n = number(rest[1])
            value = _exact(tree) if n.denominator != 1 else None
            if value is not None:
                return ({(0,) * self.size: value} if value else {}), {}
            base = rest[0] if n.denominator == 1 else ["pow", rest[0], f"1/{n.denominator}"]
            inner = (self.variable(json.dumps(base)), {}) if n.denominator != 1 else self.rational(base)
            return self._power(inner, n.numerator)
        value = _exact(tree)
        if value is not None:
            return ({(0,) * self.size: value} if value else {}), {}
        return self.variable(json.dumps(tree)), {}

    def _sum(self, parts: list[Fractional]) -> Fractional:
        common: dict[Key, int] = {}
        for _, under in parts:
            for key, power in under.items():
                common[key] = max(common.get(key, 0), power)
        total: Poly = {}
        for top, under in parts:
            for key, power in common.items():
                for _ in range(power - under.get(key, 0)):
                    top = multiply(top, dict(key))
            total = add(total, top)
        return total, common

    def _product(self, parts: list[Fractional]) -> Fractional:
        top = one(self.size)
        under: dict[Key, int] = {}
        for part, below in parts:
            top = multiply(top, part)
            for key, power in below.items():
                under[key] = under.get(key, 0) + power
        return top, under

    def _power(self, base: Fractional, n: int) -> Fractional:
        top, under = base
        if abs(n) > 200:
            raise TooLarge(f"exponent {n}")
        if n < 0:
            if not top:
                raise ValueError("division by zero")
            return self._power(self._inverse(top, under), -n)
        result = one(self.size)
        for _ in range(n):
            result = multiply(result, top)
        return result, {key: power * n for key, power in under.items()} if n else {}

    def _inverse(self, top: Poly, under: Mapping[Key, int]) -> Fractional:
        new = one(self.size)
        for key, power in under.items():
            for _ in range(power):
                new = multiply(new, dict(key))
        if len(top) == 1 and not any(next(iter(top))):
            return scale(new, 1 / next(iter(top.values()))), {}
        lead = top[max(top)]  # made monic, so that equal factors are recognised
        return scale(new, 1 / lead), {tuple(sorted(scale(top, 1 / lead).items())): 1}

    def facts(self, atom: str) -> list[Condition]:
        """What is known of an atom. Raises ValueError for text that is no atom."""
        tree = json.loads(atom)
        me = self.variable(atom)
        head, *rest = tree
        if head == "pow" and isinstance(rest[1], str) and number(rest[1]).numerator == 1:
            order = number(rest[1]).denominator
            left = self._power((me, {}), order)[0]
            top, under = self.rational(rest[0])
            below = self._inverse(one(self.size), under)[0]
            return [Condition(me, "ge"), Condition(add(multiply(left, below), top, Fraction(-1)), "eq")]
        if head == "abs":
            top, under = self.rational(rest[0])
            if under:
                return [Condition(me, "ge")]
            return [Condition(me, "ge"), Condition(add(multiply(me, me), multiply(top, top), Fraction(-1)), "eq"),
                    Condition(add(me, top), "ge"), Condition(add(me, top, Fraction(-1)), "ge")]
        if head in ("max", "min"):
            sign = Fraction(1 if head == "max" else -1)
            tops = [self.rational(part) for part in rest]
            if any(under for _, under in tops):
                return []
            gaps = [scale(add(me, top, Fraction(-1)), sign) for top, _ in tops]
            product = one(self.size)
            for gap in gaps:
                product = multiply(product, gap)
            return [*(Condition(gap, "ge") for gap in gaps), Condition(product, "eq")]
        if head == "exp":
            return [Condition(me, "gt")]
        return []


def _exact(tree: Tree) -> Fraction | None:
    """The value of a term without variables, such as sqrt(4) or gamma(5), where it is rational by rule."""
    if variables(tree):
        return None
    try:
        return evaluate(tree, {})
    except (Undefined, ValueError) as error:
        if not isinstance(error, Inexact):
            return None
    from proofs_checks.harness.checkers._values import normal_form

    try:
        form = normal_form(tree)
    except (Inexact, Undefined, ValueError):
        return None
    return form.get(frozenset(), Fraction(0)) if set(form) <= {frozenset()} else None  # such as sin(pi)


def _collect_atoms(tree: Tree, found: list[str]) -> None:
    if not isinstance(tree, list) or tree[0] == "var":
        return
    head, *rest = tree
    for part in rest:
        _collect_atoms(part, found)
    if head in ("add", "mul", "ge", "gt", "le", "lt", "eq", "ne", "and", "or", "not", "implies", "true", "false"):
        return
    if head == "pow" and isinstance(rest[1], str):
        n = number(rest[1])
        if n.denominator == 1:
            return
        if _exact(tree) is not None:
            return
        tree = ["pow", rest[0], f"1/{n.denominator}"]
    elif _exact(tree) is not None:
        return
    name = json.dumps(tree)
    if name not in found:
        found.append(name)

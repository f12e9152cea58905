"""Implications as function-free SMT-LIB text (QF_NRA with Int allowed). Standard library only, deterministic.

`assemble` writes: box, hypotheses, negated conclusion, lemma instances. Its unsatisfiability is the implication. Each
transcendental term is a fresh real about which only the instances say anything; a root is a fresh real with its
defining equation; a relation between fractions is written with a case split on the denominators' sign. A term of the
statement that is not always defined brings its condition with it: the text speaks of the points where all is defined.
A term that occurs in instances only brings none, so an instance must be true whatever that term's value is."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.harness.trees import FUNCTIONS, RELATIONS, Inexact, Tree, Undefined, evaluate, number, variables

__all__ = ["Unsupported", "assemble"]

_OPS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "eq": "="}
_FLIPPED = {">=": "<=", ">": "<", "<=": ">=", "<": ">", "=": "="}
MAX_POWER = 64


class Unsupported(ValueError):
    """The tree has a part that the text cannot express."""


def assemble(subject: Mapping[str, Any], instances: Iterable[Tree], abstract_power: int = MAX_POWER + 1,
             *, negate: bool = True) -> str:
    """The SMT-LIB text of `subject` {"statement", "integers"} with instances (relations); unsat means it holds.

    Powers with exponents from `abstract_power` on are left to the instances, like transcendental terms."""
    statement = subject["statement"]
    encoder = _Encoder(set(subject["integers"]), abstract_power)
    hypotheses: list[Tree] = []
    while statement[0] == "implies":
        hypotheses.append(statement[1])
        statement = statement[2]
    for hypothesis in hypotheses:
        for part in hypothesis[1:] if hypothesis[0] == "and" else [hypothesis]:
            encoder.add(encoder.relation(part))
    goal = encoder.relation(statement)
    encoder.add(f"(not {goal})" if negate else goal)
    encoder.guarding = False
    for instance in instances:
        encoder.add(encoder.relation(instance))
    return encoder.text()


Fractional = tuple[str, dict[str, int]]  # numerator, powers of the factors of the denominator


class _Encoder:
    def __init__(self, integers: set[str], abstract_power: int) -> None:
        self.integers, self.abstract_power = integers, abstract_power
        self.constants: dict[str, str] = {}  # key of a variable, root or transcendental term -> its name
        self.declared: list[str] = []
        self.asserted: list[str] = []
        self.guarded: set[str] = set()
        self.guarding = True

    def text(self) -> str:
        return "\n".join([*self.declared, *self.asserted, "(check-sat)", ""])

    def add(self, formula: str) -> None:
        self.asserted.append(f"(assert {formula})")

    def guard(self, formula: str) -> None:
        """What must be true for a term of the statement to be defined."""
        if self.guarding and formula not in self.guarded:
            self.guarded.add(formula)
            self.add(formula)

    def fresh(self, key: str, prefix: str, kind: str = "Real") -> tuple[str, bool]:
        new = key not in self.constants
        if new:
            self.constants[key] = f"{prefix}{len(self.constants)}"
            self.declared.append(f"; {key}")
            self.declared.append(f"(declare-fun {self.constants[key]} () {kind})")
        return self.constants[key], new

    def relation(self, tree: Tree) -> str:
        head, *rest = tree
        if head in ("true", "false"):
            return str(head)
        if head == "implies":
            return f"(=> {self.relation(rest[0])} {self.relation(rest[1])})"
        if head in ("and", "or", "not"):
            return f"({head} {' '.join(map(self.relation, rest))})"
        if head == "ne":
            return f"(not {self.relation(['eq', *rest])})"
        if head not in RELATIONS:
            raise Unsupported(f"{head} is not a relation")
        return self.compare(_OPS[head], self.term(rest[0]), self.term(rest[1]))

    def compare(self, op: str, left: Fractional, right: Fractional) -> str:
        (a, over), (b, under) = left, right
        common = {f: max(over.get(f, 0), under.get(f, 0)) for f in {**over, **under}}
        a, b = _scaled(a, over, common), _scaled(b, under, common)
        odd = [factor for factor, power in common.items() if power % 2]
        plain = f"({op} {a} {b})"
        if not odd:
            return plain
        sign = odd[0] if len(odd) == 1 else f"(* {' '.join(odd)})"
        if op == "=":
            return plain
        return f"(ite (> {sign} 0) {plain} ({_FLIPPED[op]} {a} {b}))"

    def term(self, tree: Tree) -> Fractional:
        if not isinstance(tree, list):
            return _literal(number(tree)), {}
        head, *rest = tree
        if head == "var":
            name, _ = self.fresh(f"variable {rest[0]}", "x", "Int" if rest[0] in self.integers else "Real")
            return (f"(to_real {name})" if rest[0] in self.integers else name), {}
        if head == "add":
            return self.sum([self.term(part) for part in rest])
        if head == "mul":
            return self.product([self.term(part) for part in rest])
        if head == "pow":
            return self.power(*rest)
        if head in ("abs", "min", "max", "sign"):
            return self.piecewise(head, [self.plain(part) for part in rest]), {}
        if head == "E":
            return self.opaque(["exp", "1"])
        if head == "pi" or (head in FUNCTIONS and head != "floor") or head == "polygamma":
            return self.opaque(tree)
        raise Unsupported(f"{head} has no counterpart in the text")

    def opaque(self, tree: Tree) -> Fractional:
        head, *rest = tree
        if not variables(tree):
            try:  # gamma(5) is 24
                return _literal(evaluate(tree, {})), {}
            except (Inexact, Undefined):
                pass
        if head == "tan":
            return self.term(["mul", ["sin", *rest], ["pow", ["cos", *rest], "-1"]])
        name, _ = self.fresh(json.dumps(tree), "t")
        if self.guarding:
            for part in rest:
                if isinstance(part, list):
                    self.term(part)  # its own conditions
            arg = rest[-1] if rest else "1"
            if head in ("log", "loggamma", "digamma", "polygamma", "gamma"):
                self.guard(self.compare(">", self.term(arg), ("0", {})))
            elif head in ("asin", "acos"):
                self.guard(f"(and {self.compare('>=', self.term(arg), ('(- 1)', {}))} "
                           f"{self.compare('<=', self.term(arg), ('1', {}))})")
            elif head in ("acosh", "atanh"):
                raise Unsupported(f"{head} is not read")
        return name, {}

    def sum(self, parts: list[Fractional]) -> Fractional:
        common: dict[str, int] = {}
        for _, under in parts:
            for factor, power in under.items():
                common[factor] = max(common.get(factor, 0), power)
        terms = [_scaled(top, under, common) for top, under in parts]
        return f"(+ {' '.join(terms)})" if len(terms) > 1 else terms[0], common

    def product(self, parts: list[Fractional]) -> Fractional:
        under: dict[str, int] = {}
        for _, factors in parts:
            for factor, power in factors.items():
                under[factor] = under.get(factor, 0) + power
        tops = [top for top, _ in parts if top != "1"]
        return (f"(* {' '.join(tops)})" if len(tops) > 1 else tops[0] if tops else "1"), under

    def power(self, base: Tree, exponent: Tree) -> Fractional:
        if not isinstance(exponent, str):
            raise Unsupported("a power with a variable exponent")
        n = number(exponent)
        if n.denominator != 1:
            root = self.root(base, n.denominator)
            return self.power_of(root, n.numerator, (root, {}), True)
        if abs(n.numerator) >= self.abstract_power:
            name, _ = self.fresh(json.dumps(["pow", base, str(abs(n.numerator))]), "t")
            self.term(base)
            if n < 0:
                self.guard(f"(not (= {name} 0))")
            return (name, {}) if n > 0 else ("1", {name: 1})
        top, under = self.term(base)
        return self.power_of(top, n.numerator, (top, under), False)

    def power_of(self, top: str, n: int, value: Fractional, _positive: bool) -> Fractional:
        if abs(n) > MAX_POWER:
            raise Unsupported(f"a power with exponent {n}; the limit is {MAX_POWER}")
        if n == 0:
            return "1", {}
        if n < 0:
            self.guard(f"(not (= {top} 0))")
            return _repeated(_denominator(value[1]), -n), {top: -n}
        return _repeated(top, n), {factor: power * n for factor, power in value[1].items()}

    def root(self, base: Tree, order: int) -> str:
        """A fresh r >= 0 with r**order = base; none exists, as it should, where base < 0."""
        if order > MAX_POWER:
            raise Unsupported(f"a root of order {order}")
        name, new = self.fresh(json.dumps(["pow", base, f"1/{order}"]), "r")
        if new:
            if not self.guarding:
                raise Unsupported("an instance with a root that the statement does not have")
            top, under = self.term(base)
            self.add(f"(and (>= {name} 0) (= (* {_repeated(name, order)} {_denominator(under)}) {top}))")
        return name

    def plain(self, tree: Tree) -> str:
        """The term as text without a denominator; a fraction gets a name and its equation."""
        top, under = self.term(tree)
        if not under:
            return top
        name, new = self.fresh(json.dumps(["quotient", tree]), "q")
        if new:
            self.add(f"(= (* {name} {_denominator(under)}) {top})")
        return name

    def piecewise(self, head: str, args: list[str]) -> str:
        if head == "abs":
            return f"(ite (>= {args[0]} 0) {args[0]} (- {args[0]}))"
        if head == "sign":
            return f"(ite (> {args[0]} 0) 1 (ite (< {args[0]} 0) (- 1) 0))"
        best = args[0]
        for arg in args[1:]:
            best = f"(ite ({'<=' if head == 'min' else '>='} {best} {arg}) {best} {arg})"
        return best


def _literal(x: Fraction) -> str:
    top = str(abs(x.numerator)) if x.denominator == 1 else f"(/ {abs(x.numerator)} {x.denominator})"
    return f"(- {top})" if x < 0 else top


def _repeated(text: str, n: int) -> str:
    if n == 1:
        return text
    if text.startswith("("):
        return f"(let ((s {text})) (* {' '.join('s' * n)}))"
    return f"(* {' '.join([text] * n)})"


def _denominator(under: Mapping[str, int]) -> str:
    parts = [_repeated(factor, power) for factor, power in under.items() if power]
    return "1" if not parts else parts[0] if len(parts) == 1 else f"(* {' '.join(parts)})"


def _scaled(top: str, under: Mapping[str, int], common: Mapping[str, int]) -> str:
    missing = {factor: power - under.get(factor, 0) for factor, power in common.items()}
    by = _denominator(missing)
    return top if by == "1" else f"(* {top} {by})"

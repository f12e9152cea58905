"""Formulas as people type them, read into trees. Nothing is evaluated: own tokens, own grammar, a fixed function list.

    x**2 + y^2 >= 2*x*y        0 < x <= 1        Implies(x > 0, log(x) <= x - 1)        ~(x > 1) | (y > 0)

Signs and powers bind as in Python: -x**2 is -(x**2), 2**-x is 2**(-x), a**b**c is a**(b**c). x**0 is 1 for every x, 0
included; a power with a real exponent needs a positive base. Decimals are exact rationals. Comparisons chain as in
Python. `&` and `|` bind weaker than comparisons, so that both `x > 0 & y > 0` and `(x > 0) & (y > 0)` mean the
conjunction. `E` is Euler's number unless it is declared a variable; every other name that is neither a function nor
`pi` is a real variable, I, N, S, Q and O included."""
from __future__ import annotations

import re
from collections.abc import Callable, Collection
from fractions import Fraction

from proofs_checks.harness.trees import Tree, evaluate, is_relation, substitute

__all__ = ["ParseError", "parse"]

MAX_TEXT = 2_000_000
MAX_DEPTH = 150
MAX_EXPONENT = 4000
MAX_TERMS = 2000
_TOKEN = re.compile(r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_Α-ω][A-Za-z0-9_Α-ω']*)"
                    r"|(?P<op>\*\*|<=|>=|==|!=|=>|->|>>|&&|\|\||[-+*/^<>=()&|~,]))")
_RELATIONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "=": "eq", "!=": "ne"}
_CONSTANTS = {"pi": ["pi"], "True": ["true"], "False": ["false"], "true": ["true"], "false": ["false"]}
_WORDS = {"and": "&", "or": "|", "not": "~", "&&": "&", "||": "|"}


class ParseError(ValueError):
    """The text is not a formula; the message says what was met and where."""


def _quotient(a: Tree, b: Tree) -> Tree:
    return ["mul", a, ["pow", b, "-1"]]


def _minus(a: Tree) -> Tree:
    return ["mul", "-1", *a[1:]] if isinstance(a, list) and a[0] == "mul" else ["mul", "-1", a]


def _same(name: str) -> Callable[..., Tree]:
    return lambda *args: [name, *args]


_ONE = {name: _same(name) for name in ("exp", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
                                       "asinh", "acosh", "atanh", "erf", "abs", "sign", "gamma", "loggamma", "digamma",
                                       "floor", "not")}
_ONE |= {"Abs": _same("abs"), "Not": _same("not"), "ln": _same("log"), "arctan": _same("atan"),
         "arcsin": _same("asin"), "arccos": _same("acos"), "arsinh": _same("asinh"), "arcosh": _same("acosh"),
         "artanh": _same("atanh"), "psi": _same("digamma"), "lgamma": _same("loggamma"), "Gamma": _same("gamma"),
         "lnGamma": _same("loggamma"),
         "sqrt": lambda a: ["pow", a, "1/2"], "cbrt": lambda a: ["pow", a, "1/3"],
         "log1p": lambda a: ["log", ["add", "1", a]], "expm1": lambda a: ["add", ["exp", a], "-1"],
         "erfc": lambda a: ["add", "1", _minus(["erf", a])], "trigamma": lambda a: ["polygamma", "1", a],
         "factorial": lambda a: ["gamma", ["add", a, "1"]],
         "cot": lambda a: _quotient(["cos", a], ["sin", a]), "sec": lambda a: _quotient("1", ["cos", a]),
         "csc": lambda a: _quotient("1", ["sin", a]), "coth": lambda a: _quotient(["cosh", a], ["sinh", a]),
         "sech": lambda a: _quotient("1", ["cosh", a]), "csch": lambda a: _quotient("1", ["sinh", a])}
_ONE |= dict.fromkeys(("logistic", "sigmoid", "expit"), lambda a: ["pow", ["add", "1", ["exp", _minus(a)]], "-1"])
_TWO = {"Pow": _same("pow"), "pow": _same("pow"), "Rational": _quotient, "Eq": _same("eq"), "Ne": _same("ne"),
        "Ge": _same("ge"), "Gt": _same("gt"), "Le": _same("le"), "Lt": _same("lt"), "Implies": _same("implies"),
        "polygamma": lambda n, a: ["digamma", a] if n == "0" else ["polygamma", n, a],
        "Equivalent": lambda a, b: ["and", ["implies", a, b], ["implies", b, a]],
        "Xor": lambda a, b: ["or", ["and", a, ["not", b]], ["and", b, ["not", a]]],
        "root": lambda a, n: ["pow", a, _quotient("1", n)]}
_MANY = {"Min": "min", "Max": "max", "min": "min", "max": "max", "Add": "add", "Mul": "mul", "And": "and", "Or": "or"}
_SMALL = frozenset(map(str, range(1, 171)))
_BOOLEAN = {"and", "or", "not", "implies"}
FUNCTION_NAMES = frozenset({*_ONE, *_TWO, *_MANY, "log", "Sum", "Product"})


def parse(text: str, names: Collection[str] = ()) -> Tree:
    """The tree of a formula or expression; `names` are variables even where a constant has that name."""
    if len(text) > MAX_TEXT:
        raise ParseError(f"text of {len(text)} characters; the limit is {MAX_TEXT}")
    parser = _Parser(_tokens(text), frozenset(names), text)
    tree = parser.implication(0)
    parser.expect("end")
    return tree


def _tokens(text: str) -> list[tuple[str, str, int]]:
    found, at = [], 0
    text = text.replace("≤", "<=").replace("≥", ">=").replace("≠", "!=").rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            rest = text[at:].lstrip()
            raise ParseError(f"unexpected {rest[:1]!r} in {_excerpt(text, at)!r}")
        kind = match.lastgroup or ""
        value = _WORDS.get(match[kind], match[kind])
        found.append(("op" if value in ("&", "|", "~") else kind, value, match.start(kind)))
        at = match.end()
    return [*found, ("end", "end of text", len(text))]


def _excerpt(text: str, at: int) -> str:
    return text[max(0, at - 20):at + 20]


class _Parser:
    """Recursive descent over the tokens; every method returns a tree."""

    def __init__(self, tokens: list[tuple[str, str, int]], names: frozenset[str], text: str) -> None:
        self.tokens, self.names, self.text, self.at = tokens, names, text, 0

    def peek(self) -> str:
        kind, value, _ = self.tokens[self.at]
        return value if kind == "op" else kind

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1][1]

    def fail(self, wanted: str) -> ParseError:
        kind, value, at = self.tokens[self.at]
        before = self.tokens[self.at - 1] if self.at else ("op", "", 0)
        if (before[0] in ("number", "name") or before[1] == ")") and (kind in ("number", "name") or value == "("):
            left, right = "(...)" if before[1] == ")" else before[1], "(...)" if value == "(" else value
            where = _excerpt(self.text, at)
            return ParseError(f"no operator before {value!r} in {where!r}; write {left}*{right} for a product")
        return ParseError(f"{wanted} expected, got {value!r} in {_excerpt(self.text, at)!r}")

    def expect(self, what: str) -> None:
        if self.peek() != what:
            raise self.fail("the end of the text" if what == "end" else repr(what))
        self.take()

    def accept(self, *ops: str) -> str | None:
        return self.take() if self.peek() in ops else None

    def deeper(self, depth: int) -> int:
        if depth >= MAX_DEPTH:
            raise ParseError(f"nested deeper than {MAX_DEPTH} levels")
        return depth + 1

    def implication(self, depth: int) -> Tree:
        left = self.disjunction(self.deeper(depth))
        if op := self.accept("=>", "->", ">>"):
            if not is_relation(left):
                raise ParseError(f"{op!r} means 'implies' and needs a relation on its left; for greater or equal write '>='")
            return _boolean("implies", left, self.implication(self.deeper(depth)))
        return left

    def disjunction(self, depth: int) -> Tree:
        parts = [self.conjunction(depth)]
        while self.accept("|"):
            parts.append(self.conjunction(depth))
        return parts[0] if len(parts) == 1 else _boolean("or", *parts)

    def conjunction(self, depth: int) -> Tree:
        parts = [self.negation(depth)]
        while self.accept("&"):
            parts.append(self.negation(depth))
        return parts[0] if len(parts) == 1 else _boolean("and", *parts)

    def negation(self, depth: int) -> Tree:
        if self.accept("~"):
            return _boolean("not", self.negation(self.deeper(depth)))
        return self.comparison(depth)

    def comparison(self, depth: int) -> Tree:
        left, parts = self.sum(depth), []
        while (op := self.accept(*_RELATIONS)) is not None:
            right = self.sum(depth)
            parts.append(_relation(_RELATIONS[op], left, right))
            left = right
        if not parts:
            return left
        return parts[0] if len(parts) == 1 else ["and", *parts]

    def sum(self, depth: int) -> Tree:
        first = self.product(depth)
        terms = [first]
        while (op := self.accept("+", "-")) is not None:
            term = self.product(depth)
            terms.append(term if op == "+" else _negated(term))
        return first if len(terms) == 1 else ["add", *map(_real, terms)]

    def product(self, depth: int) -> Tree:
        first = self.unary(depth)
        factors = [first]
        while (op := self.accept("*", "/")) is not None:
            factor = _real(self.unary(depth))
            factors.append(factor if op == "*" else ["pow", factor, "-1"])
        return first if len(factors) == 1 else _folded(["mul", *map(_real, factors)])

    def unary(self, depth: int) -> Tree:
        if (op := self.accept("+", "-")) is not None:
            inner = _real(self.unary(self.deeper(depth)))
            return inner if op == "+" else _negated(inner)
        return self.power(depth)

    def power(self, depth: int) -> Tree:
        base = self.atom(depth)
        if self.accept("**", "^"):
            return ["pow", _real(base), _real(_exponent(self.unary(self.deeper(depth))))]
        return base

    def atom(self, depth: int) -> Tree:
        kind, value, _ = self.tokens[self.at]
        if kind == "number":
            return _decimal(self.take())
        if kind == "name":
            self.take()
            if self.peek() == "(" and value not in self.names:
                return self.call(value, depth)
            return self.constant(value)
        if self.accept("("):
            inner = self.implication(self.deeper(depth))
            self.expect(")")
            return inner
        raise self.fail("a number, a name or '('")

    def constant(self, name: str) -> Tree:
        if name in self.names:
            return ["var", name]
        if name in ("oo", "inf", "nan", "zoo"):
            raise ParseError(f"{name} is not a real number")
        if name == "E":
            return ["E"]
        if name in FUNCTION_NAMES and name not in ("gamma", "psi", "sign", "root", "min", "max"):
            raise ParseError(f"{name} needs arguments in parentheses")
        return list(_CONSTANTS[name]) if name in _CONSTANTS else ["var", name]

    def call(self, name: str, depth: int) -> Tree:
        if name not in FUNCTION_NAMES:
            raise ParseError(f"unknown function {name!r}; for a product write {name}*(...)")
        self.expect("(")
        if name in ("Sum", "Product"):
            return self.indexed("add" if name == "Sum" else "mul", self.deeper(depth))
        args = [self.implication(self.deeper(depth))]
        while self.accept(","):
            args.append(self.implication(self.deeper(depth)))
        self.expect(")")
        return _apply(name, args)

    def indexed(self, head: str, depth: int) -> Tree:
        """Sum(term, (i, first, last)) over a fixed range, written out."""
        term = self.implication(depth)
        self.expect(",")
        self.expect("(")
        index = self.take()
        ends = []
        for _ in range(2):
            self.expect(",")
            ends.append(evaluate(self.sum(depth), {}))
        self.expect(")")
        self.expect(")")
        first, last = ends
        if first.denominator != 1 or last.denominator != 1 or not 0 <= last - first < MAX_TERMS:
            raise ParseError(f"a sum from {first} to {last}: integers with at most {MAX_TERMS} terms are needed")
        terms = [substitute(term, {index: str(i)}) for i in range(int(first), int(last) + 1)]
        return terms[0] if len(terms) == 1 else [head, *map(_real, terms)]


def _apply(name: str, args: list[Tree]) -> Tree:
    if name in _MANY:
        head = _MANY[name]
        if head in _BOOLEAN:
            return _boolean(head, *args)
        return [head, *map(_real, args)] if len(args) > 1 else _real(args[0])
    if name == "log":
        if len(args) == 2:
            return _quotient(["log", _real(args[0])], ["log", _real(args[1])])
        if len(args) == 1:
            return ["log", _real(args[0])]
    table = {1: _ONE, 2: _TWO}.get(len(args), {})
    if name not in table:
        raise ParseError(f"{name} does not take {len(args)} argument{'s' if len(args) != 1 else ''}")
    if name in ("Not", "not", "Implies", "Equivalent", "Xor"):
        return table[name](*map(_truth, args))
    built = table[name](*map(_real, args))
    if built[0] == "loggamma" and isinstance(built[1], str) and built[1] in _SMALL:  # an integer n >= 1: log((n - 1)!)
        return ["log", _leaf(evaluate(["gamma", built[1]], {}))]
    if built[0] in ("eq", "ne", "ge", "gt", "le", "lt"):
        return _relation(*built)
    if built[0] == "pow":
        return ["pow", built[1], _exponent(built[2])]
    if built[0] == "polygamma" and not (isinstance(built[1], str) and built[1].isdigit()):
        raise ParseError("polygamma needs a fixed order 0, 1, 2, ...")
    return _folded(built) if built[0] == "mul" else built


def _relation(name: str, left: Tree, right: Tree) -> Tree:
    if name in ("eq", "ne") and is_relation(left) and is_relation(right):
        same = ["and", ["implies", left, right], ["implies", right, left]]
        return same if name == "eq" else ["not", same]
    return [name, _real(left), _real(right)]


def _boolean(head: str, *parts: Tree) -> Tree:
    return [head, *map(_truth, parts)] if head in ("not", "implies") or len(parts) > 1 else _truth(parts[0])


def _truth(tree: Tree) -> Tree:
    if not is_relation(tree):
        raise ParseError("a relation is needed where a number stands")
    return tree


def _real(tree: Tree) -> Tree:
    if is_relation(tree):
        raise ParseError("a number is needed where a relation stands")
    return tree


def _decimal(text: str) -> Tree:
    mantissa, _, exponent = text.lower().partition("e")
    if (exponent and abs(int(exponent[-8:])) > MAX_EXPONENT) or len(exponent) > 8 or len(mantissa) > MAX_EXPONENT:
        raise ParseError(f"number {text[:20]!r}... is out of range; the limit is {MAX_EXPONENT} digits")
    return _leaf(Fraction(mantissa) * Fraction(10) ** int(exponent or 0))


def _leaf(x: Fraction) -> Tree:
    return str(x.numerator) if x.denominator == 1 else f"{x.numerator}/{x.denominator}"


def _negated(tree: Tree) -> Tree:
    tree = _real(tree)
    return _leaf(-Fraction(tree)) if isinstance(tree, str) else _minus(tree)


def _constant(tree: Tree) -> bool:
    if isinstance(tree, str):
        return True
    return (tree[0] in ("add", "mul") and all(map(_constant, tree[1:]))) or (
        tree[0] == "pow" and _constant(tree[1]) and tree[2] == "-1")


def _folded(tree: Tree) -> Tree:
    """A product of written numbers as one number: 2/3 is a leaf. A division by a written 0 stays, to be reported."""
    if _constant(tree):
        try:
            return _leaf(evaluate(tree, {}))
        except ArithmeticError:
            return tree
    return tree


def _exponent(tree: Tree) -> Tree:
    """Exponents that are rational constants become leaves, so that x**(-1) and x**(1/3) have one form each."""
    return _folded(tree)

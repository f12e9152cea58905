"""SMT-LIB files over the reals (QF_NRA with dReal's functions), read into problems. Nothing is evaluated.

Each `check-sat` becomes the statement "the assertions contradict one another": HOLDS is unsat, REFUTED is sat with a
point. Division and logarithms are partial here: an assertion is satisfied only where it is defined. Read: declare-fun
and declare-const for Real, Int and Bool (dReal's bounds [lo, hi] included), define-fun without recursion, assert, push,
pop, let (parallel), ite, and or not => xor = distinct, < <= > >=, + - * /, ^ and pow, abs min max sqrt exp log sin cos
tan asin acos atan arcsin arccos arctan sinh cosh tanh, decimal, scientific and hexadecimal numbers."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from proofs_checks.harness.language.formula import ParseError, _folded, _leaf, _negated
from proofs_checks.harness.language.problem import Problem, _conjuncts
from proofs_checks.harness.trees import Tree, is_relation, variables

__all__ = ["read_smtlib"]

_TOKEN = re.compile(r'\s+|;[^\n]*|(?P<token>[()\[\],]|\|[^|]*\||"(?:[^"]|"")*"|[^\s()\[\],|";]+)')
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?")
_HEX = re.compile(r"[+-]?0x([0-9a-fA-F]+)(?:\.([0-9a-fA-F]*))?(?:p([+-]?[0-9]+))?")
_RELATIONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_ARITY = {"not": (1, 1), "=>": (2, None), "xor": (2, 2), "ite": (3, 3), "=": (2, None), "distinct": (2, None), "/": (2, None),
          "^": (2, 2), "pow": (2, 2), "sqrt": (1, 1), "to_real": (1, 1), **dict.fromkeys(_RELATIONS, (2, None))}
_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_FUNCTIONS = {"exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
              "atan": "atan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh",
              "tanh": "tanh", "abs": "abs"}
_IGNORED = ("set-logic", "set-info", "set-option", "get-value", "get-model", "get-info", "get-option",
            "get-objectives", "declare-sort", "echo")
MAX_DEPTH = 400

SExpr = Any  # a token, or a list


def read_smtlib(text: str) -> list[Problem]:
    """One problem for each check-sat, in order. ParseError says what was not understood."""
    return _Reader().read(text)


def _expressions(text: str) -> Iterator[SExpr]:
    stack: list[list[Any]] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ParseError(f"SMT-LIB: unexpected {text[at]!r} at offset {at}")
        at = match.end()
        token = match["token"]
        if token is None:
            continue
        if token == "(":
            if len(stack) > MAX_DEPTH:
                raise ParseError(f"SMT-LIB: nested deeper than {MAX_DEPTH} levels")
            stack.append([])
        elif token == ")":
            if not stack:
                raise ParseError("SMT-LIB: a ')' too many")
            done = stack.pop()
            if stack:
                stack[-1].append(done)
            else:
                yield done
        elif stack:
            stack[-1].append(token[1:-1] if token.startswith("|") else token)
        else:
            raise ParseError(f"SMT-LIB: {token!r} outside parentheses")
    if stack:
        raise ParseError("SMT-LIB: a ')' is missing")


class _Reader:
    def __init__(self) -> None:
        self.box: dict[str, tuple[Tree | None, Tree | None]] = {}
        self.kinds: dict[str, str] = {}
        self.macros: dict[str, tuple[list[str], SExpr]] = {}
        self.asserted: list[Tree] = []
        self.marks: list[int] = []

    def read(self, text: str) -> list[Problem]:
        found: list[Problem] = []
        for command in _expressions(text):
            if not command or not isinstance(command[0], str):
                raise ParseError(f"SMT-LIB: {command!r} is no command")
            if command[0] == "exit":
                break
            try:
                self._take(command[0], command[1:], found)
            except ParseError:
                raise
            except (ValueError, LookupError, TypeError, AttributeError) as error:  # parts that are missing or of another form
                raise ParseError(f"SMT-LIB: {command[0]} is malformed ({error})") from None
        if not found:
            raise ParseError("SMT-LIB: there is no (check-sat)")
        return found

    def _take(self, head: str, rest: list[Any], found: list[Problem]) -> None:
        """One command; a check-sat adds to `found`."""
        if head in ("declare-fun", "declare-const"):
            self._declare(rest, head == "declare-fun")
        elif head == "define-fun":
            self.macros[rest[0]] = ([name for name, _ in rest[1]], rest[3])
        elif head == "assert":
            self.asserted += _conjuncts(self._truth(self._term(rest[0], {}, 0)))
        elif head in ("push", "pop"):
            for _ in range(int(rest[0]) if rest else 1):
                if head == "push":
                    self.marks.append(len(self.asserted))
                elif self.marks:
                    del self.asserted[self.marks.pop():]
        elif head in ("check-sat", "minimize", "maximize"):
            if head != "check-sat":
                raise ParseError(f"SMT-LIB: {head} is not decided here")
            found.append(self._problem())
        elif head == "reset":
            self.box, self.kinds, self.macros, self.asserted, self.marks = {}, {}, {}, [], []
        elif head not in _IGNORED:
            raise ParseError(f"SMT-LIB: unknown command {head!r}")

    def _problem(self) -> Problem:
        flags = [["or", ["eq", ["var", name], "0"], ["eq", ["var", name], "1"]]
                 for name, kind in self.kinds.items() if kind == "Bool"]
        used = {name for part in (*flags, *self.asserted) for name in variables(part)}
        box = {name: ends for name, ends in self.box.items() if name in used or any(end is not None for end in ends)}
        return Problem(box=box, hypotheses=(*flags, *self.asserted), conclusion=["false"], total=True,
                       integers=frozenset(name for name in box if self.kinds[name] == "Int"))

    def _declare(self, rest: list[Any], is_function: bool) -> None:
        name, *tail = rest
        if is_function:
            if tail[0]:
                raise ParseError(f"SMT-LIB: {name} takes arguments; functions that are not defined are not read")
            tail = tail[1:]
        kind = tail[0]
        if kind not in ("Real", "Int", "Bool"):
            raise ParseError(f"SMT-LIB: {name} has the sort {kind!r}; Real, Int and Bool are read")
        ends: tuple[Tree | None, Tree | None] = (None, None)
        if "[" in tail:
            inner = tail[tail.index("[") + 1:tail.index("]")]
            cut = inner.index(",")
            ends = (self._end(inner[:cut]), self._end(inner[cut + 1:]))
        self.kinds[name] = kind
        self.box[name] = ("0", "1") if kind == "Bool" else ends

    def _end(self, tokens: list[SExpr]) -> Tree | None:
        text = tokens[-1] if len(tokens) == 1 else None
        if isinstance(text, str) and text.lstrip("+-") in ("inf", "oo", "ENTIRE"):
            return None
        if len(tokens) == 2 and tokens[0] in ("-", "+"):
            return _negated(self._term(tokens[1], {}, 0)) if tokens[0] == "-" else self._term(tokens[1], {}, 0)
        if isinstance(text, str) and text[:1] == "-" and len(text) > 1:
            return _negated(self._term(text[1:], {}, 0))
        if len(tokens) != 1:
            raise ParseError(f"SMT-LIB: {tokens!r} is no bound")
        return self._term(tokens[0], {}, 0)

    def _term(self, e: SExpr, local: Mapping[str, Tree], depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise ParseError(f"SMT-LIB: nested deeper than {MAX_DEPTH} levels")
        if isinstance(e, str):
            return self._leaf(e, local)
        if not e:
            raise ParseError("SMT-LIB: () is no term")
        head = e[0]
        if head == "let":
            bound = {name: self._term(value, local, depth + 1) for name, value in e[1]}  # parallel: the outer names
            return self._term(e[2], {**local, **bound}, depth + 1)
        if head in ("forall", "exists"):
            raise ParseError(f"SMT-LIB: {head} is not read")
        if head == "!":
            return self._term(e[1], local, depth + 1)
        args = [self._term(part, local, depth + 1) for part in e[1:]]
        if isinstance(head, str) and head in self.macros:
            names, body = self.macros[head]
            return self._term(body, dict(zip(names, args, strict=True)), depth + 1)
        return self._apply(head, args)

    def _leaf(self, token: str, local: Mapping[str, Tree]) -> Tree:
        if token in local:
            return local[token]
        if token in self.box:
            variable = ["var", token]
            return ["eq", variable, "1"] if self.kinds[token] == "Bool" else variable
        if token in self.macros and not self.macros[token][0]:
            return self._term(self.macros[token][1], {}, 0)
        if token in ("true", "false"):
            return [token]
        if _NUMBER.fullmatch(token):
            mantissa, _, power = token.lower().partition("e")
            if abs(int(power or 0)) > 4000:
                raise ParseError(f"SMT-LIB: {token} is out of range")
            return _leaf(Fraction(mantissa) * Fraction(10) ** int(power or 0))
        if match := _HEX.fullmatch(token):
            whole, part, binary = match[1], match[2] or "", int(match[3] or 0)
            if abs(binary) > 4000:
                raise ParseError(f"SMT-LIB: {token} is out of range")
            size = Fraction(int(whole + part, 16), 16 ** len(part)) * Fraction(2) ** binary
            return _leaf(-size if token.startswith("-") else size)
        raise ParseError(f"SMT-LIB: {token!r} is not declared")

    def _choice(self, condition: Tree, then: Tree, other: Tree) -> Tree:
        """A number by cases: a new variable with its two equations."""
        name = f"ite.{len(self.box)}"
        self.box[name], self.kinds[name] = (None, None), "Real"
        self.asserted.append(["implies", condition, ["eq", ["var", name], then]])
        self.asserted.append(["implies", ["not", condition], ["eq", ["var", name], other]])
        return ["var", name]

    def _truth(self, tree: Tree) -> Tree:
        if not is_relation(tree):
            raise ParseError("SMT-LIB: a number stands where a truth value is needed")
        return tree

    def _apply(self, head: Any, args: list[Tree]) -> Tree:
        least, most = _ARITY.get(head, (1, None)) if isinstance(head, str) else (1, None)
        if len(args) < least or (most is not None and len(args) > most):
            raise ParseError(f"SMT-LIB: {head} does not take {len(args)} arguments")
        if head in ("and", "or", "not", "=>", "xor"):
            return _connective(head, [self._truth(arg) for arg in args])
        if head == "ite":
            condition, then, other = args
            if is_relation(then):
                return ["and", ["implies", condition, then], ["implies", ["not", condition], other]]
            return _as_extremum(condition, then, other) or self._choice(condition, then, other)
        if head in _RELATIONS:
            parts = [[_RELATIONS[head], a, b] for a, b in pairwise(args)]
            return parts[0] if len(parts) == 1 else ["and", *parts]
        if head in ("=", "distinct"):
            return _equations(head, args)
        return _arithmetic(head, args)


def _connective(head: str, args: list[Tree]) -> Tree:
    if head == "not":
        inner, *sides = args[0]
        return [_OPPOSITE[inner], *sides] if inner in _OPPOSITE else ["not", args[0]]
    if head == "=>":
        result = args[-1]
        for arg in reversed(args[:-1]):
            result = ["implies", arg, result]
        return result
    if head == "xor":
        a, b = args
        return ["or", ["and", a, ["not", b]], ["and", b, ["not", a]]]
    return [head, *args] if len(args) > 1 else args[0]


def _equations(head: str, args: list[Tree]) -> Tree:
    if is_relation(args[0]):
        a, b = args
        same = ["and", ["implies", a, b], ["implies", b, a]]
        return same if head == "=" else ["not", same]
    if head == "=":
        parts: list[Tree] = [["eq", a, b] for a, b in pairwise(args)]
    else:
        parts = [["ne", a, b] for i, a in enumerate(args) for b in args[:i]]
    return parts[0] if len(parts) == 1 else ["and", *parts]


def _as_extremum(condition: Tree, a: Tree, b: Tree) -> Tree | None:
    """(ite (< x y) x y) and the like."""
    head, *sides = condition
    if (head in ("lt", "le") and sides == [a, b]) or (head in ("gt", "ge") and sides == [b, a]):
        return ["min", a, b]
    if (head in ("gt", "ge") and sides == [a, b]) or (head in ("lt", "le") and sides == [b, a]):
        return ["max", a, b]
    if head in ("gt", "ge") and sides == [a, "0"] and b == _negated(a):
        return ["abs", a]
    if head in ("lt", "le") and sides == [b, "0"] and a == _negated(b):
        return ["abs", b]
    return None


def _arithmetic(head: Any, args: list[Tree]) -> Tree:
    if any(map(is_relation, args)):
        raise ParseError(f"SMT-LIB: {head} of a truth value")
    if head == "+":
        return _folded(["add", *args]) if len(args) > 1 else args[0]
    if head == "-":
        return _negated(args[0]) if len(args) == 1 else _folded(["add", args[0], *map(_negated, args[1:])])
    if head == "*":
        return _folded(["mul", *args]) if len(args) > 1 else args[0]
    if head == "/":
        return _folded(["mul", args[0], *(["pow", arg, "-1"] for arg in args[1:])])
    if head in ("^", "pow"):
        return ["pow", args[0], _folded(args[1])]
    if head in ("min", "max"):
        return [head, *args]
    if head == "sqrt":
        return ["pow", args[0], "1/2"]
    if head == "to_real":
        return args[0]
    if head in ("arctan2", "atan2"):  # y first; for x > 0, which the quotient's own domain does not promise
        raise ParseError("SMT-LIB: arctan2 is not read")
    if head in _FUNCTIONS and len(args) == 1:
        return [_FUNCTIONS[head], args[0]]
    raise ParseError(f"SMT-LIB: unknown function {head!r}")


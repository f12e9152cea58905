"""Boolean expressions over events `variable == value`: records, a parser without recursion or `eval`, a printer.

Operators by precedence, tightest first: comparison (`W == 'tie'`, `W != 2`, `W == V`), `~ !`, `&`, `^`, `|`, `not`,
`and`, `xor`, `or`, as in Python; `not` right after a symbol binds like `~`. A bare name of domain (0, 1) means
`name == 1`. `atleast(2, A, B, C)` is a threshold gate. A name with blanks or signs in it stands in backquotes; a text in
quotes is taken as it stands, without escapes."""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from causal.errors import CausalError, DomainError, UnknownVariable

__all__ = ["Atom", "Const", "Expression", "Gate", "bind", "names_of", "parse_expression", "to_text"]

MAX_DEPTH = 200  # nesting that is still walked by recursion; deeper text is refused
MAX_DIGITS = 4000  # of a whole number; Python reads no longer ones by default


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """True or false."""

    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class Atom:
    """The event `name == value`; `kind` is "bare" (a name alone), "word" (unquoted right side) or "literal"."""

    name: str
    value: Any
    kind: str = "literal"


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """`op` (not, and, or, xor, atleast) of any number of children; `threshold` is for atleast only. xor is parity."""

    op: str
    children: tuple[Expression, ...]
    threshold: int = 0


Expression = Const | Atom | Gate

_TOKEN = re.compile(r"""\s*(?:(?P<quoted>`[^`\n]+`)|(?P<string>'[^']*'|"[^"]*")
    |(?P<number>[-+]?\d+(?![\w.]|[-:/@]\w)|[-+]\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.]))
    |(?P<op>==|!=|<>|&&|\|\||[=!~&|^(),])
    |(?P<name>[^\W\d][\w.]*(?:[-:/@][\w.]+)*|\d[\w.]*(?:[-:/@][\w.]+)*))""", re.X)
_WORDS = {"and": "and", "or": "or", "not": "not", "xor": "xor", "true": "true", "false": "false"}
_BINARY = {"&": (50, "and"), "&&": (50, "and"), "^": (40, "xor"), "|": (30, "or"), "||": (30, "or"),
           "and": (15, "and"), "xor": (12, "xor"), "or": (10, "or")}


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """(kind, token, where it starts)."""
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if not match:
            at += len(text[at:]) - len(text[at:].lstrip())
            raise CausalError(f"cannot read {text[at:at + 20].strip()!r}, {_place(text, at)}")
        at, start = match.end(), match.start(str(match.lastgroup))
        kind, token = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "name" and token.lower() in _WORDS and token in (token.lower(), token.upper(), token.title()):
            kind, token = "op", token.lower()
        yield ("name", token[1:-1], start) if kind == "quoted" else (kind, token, start)
    yield "end", "", end


def _place(text: str, at: int) -> str:
    """The column, and the text or what is around it."""
    first = max(0, min(at - 30, len(text) - 57))
    shown = text if len(text) <= 60 else "..." * (first > 0) + text[first:first + 57] + "..." * (first + 57 < len(text))
    return f"column {at + 1} of the expression {shown!r}"


def parse_expression(text: str) -> Expression:
    """The expression that `text` says, unbound: `bind` checks names and values. CausalError quotes the text."""
    if not isinstance(text, str):
        raise CausalError(f"an expression must be text, got {text!r}")
    return _Parser(text).parse()


class _Parser:
    """Operator precedence with an explicit stack. Stack entries: (precedence, op, arity marker)."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        found = list(_tokens(text))
        self.tokens, self.starts = [(kind, token) for kind, token, _ in found], [start for _, _, start in found]
        self.open: list[int] = []  # where the parentheses that are not closed begin
        self.operands: list[tuple[Expression, int]] = []  # with its depth
        self.stack: list[tuple[int, str]] = []
        self.frames = 0  # on the stack: negations and parentheses, which nest; operators of a long chain do not

    def fail(self, why: str, at: int | None = None) -> CausalError:
        """The error, at the token taken last unless `at` is given."""
        return CausalError(f"{why}, {_place(self.text, self.starts[self.at - 1] if at is None else at)}")

    def take(self) -> tuple[str, str]:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def parse(self) -> Expression:
        after_symbol = False
        want_operand = True
        while True:
            kind, token = self.take()
            if want_operand:
                want_operand = self.operand(kind, token, after_symbol)
                after_symbol = after_symbol and want_operand
                continue
            if kind == "op" and token in _BINARY:
                precedence, op = _BINARY[token]
                self.reduce(precedence + 1)  # equal operators stay: a long chain is reduced once
                self.stack.append((precedence, op))
                want_operand, after_symbol = True, not token.isalpha()
            elif kind == "op" and token in "),":
                want_operand = self.close(token)
            elif kind == "end":
                self.reduce(0)
                if self.stack:
                    raise self.fail("a parenthesis is not closed", self.open[-1])
                return self.operands[0][0]
            else:
                raise self.fail(f"an operator is missing before {token!r}")

    def operand(self, kind: str, token: str, after_symbol: bool) -> bool:
        """Read what may start an operand; True if an operand is still wanted."""
        if kind == "op" and token in ("~", "!", "not"):
            self.push_frame(20 if token == "not" and not after_symbol else 60, "not")
        elif kind == "op" and token == "(":
            self.open.append(self.starts[self.at - 1])
            self.push_frame(-1, "(")
        elif kind == "name" and self.tokens[self.at] == ("op", "(") and token.lower() == "atleast":
            self.open.append(self.starts[self.at - 1])
            self.at += 1
            self.push_frame(-1, f"atleast:{len(self.operands)}")
        elif kind == "op" and token in ("true", "false"):
            self.operands.append((Const(token == "true"), 1))
            return False
        elif kind == "number" and not self.comparison():
            self.number(token)
            return False
        elif kind in ("name", "string", "number"):
            self.operands.append((self.atom(kind, token), 1))
            return False
        else:
            raise self.fail(f"something is missing before {token!r}" if token else "something is missing at the end")
        return True

    def push_frame(self, precedence: int, op: str) -> None:
        self.frames += 1
        if self.frames > 2 * MAX_DEPTH:
            raise self.fail(f"nesting deeper than {MAX_DEPTH}")
        self.stack.append((precedence, op))

    def number(self, token: str) -> None:
        frame = self.stack[-1][1] if self.stack else ""
        if frame.startswith("atleast:") and len(self.operands) == int(frame[8:]):
            self.operands.append((Const(True), self.whole(token)))  # the threshold rides in the depth field
        elif token in ("0", "1"):
            self.operands.append((Const(token == "1"), 1))
        else:
            raise self.fail(f"the number {token} is neither 0 nor 1 and compared with nothing")

    def whole(self, token: str) -> int:
        if len(token) > MAX_DIGITS:
            raise self.fail(f"a number of {len(token)} digits is too long")
        return int(token)

    def comparison(self) -> bool:
        return self.tokens[self.at] in (("op", "=="), ("op", "="), ("op", "!="), ("op", "<>"))

    def atom(self, kind: str, token: str) -> Expression:
        if not self.comparison():
            if kind == "string":
                raise self.fail(f"{token} is compared with nothing")
            return Atom(token, 1, "bare")
        op = self.take()[1]
        right_kind, right = self.take()
        if right_kind not in ("name", "string", "number"):
            raise self.fail(f"a value is missing after {op!r}")
        if kind != "name" and right_kind == "name":
            kind, token, right_kind, right = right_kind, right, kind, token
        if kind != "name":
            raise self.fail(f"{token!r} {op} {right!r} compares no variable")
        value: Any = right
        if right_kind == "string":
            value = right[1:-1]
        elif right_kind == "number":
            value = self.whole(right) if right.lstrip("+-").isdecimal() else float(right)
        atom = Atom(token, value, "word" if right_kind == "name" else "literal")
        return atom if op in ("==", "=") else Gate("not", (atom,))

    def reduce(self, precedence: int) -> None:
        """Apply every operator on the stack that binds at least as tightly."""
        while self.stack and self.stack[-1][0] >= max(precedence, 0):
            level, op = self.stack.pop()
            if op == "not":
                self.frames -= 1
                child, depth = self.operands.pop()
                self.add(Gate("not", (child,)), depth + 1)
                continue
            run = [self.operands.pop()]
            while self.stack and self.stack[-1] == (level, op):  # a chain becomes one gate of any fan-in
                run.append(self.operands.pop())
                self.stack.pop()
            run.append(self.operands.pop())
            kids: list[Expression] = []
            for child, _ in reversed(run):
                kids += child.children if isinstance(child, Gate) and child.op == op else (child,)
            self.add(Gate(op, tuple(kids)), 1 + max(depth for _, depth in run))

    def add(self, node: Expression, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self.fail(f"nesting deeper than {MAX_DEPTH}")
        self.operands.append((node, depth))

    def close(self, token: str) -> bool:
        self.reduce(0)
        if not self.stack:
            raise self.fail(f"{token!r} closes nothing")
        frame = self.stack[-1][1]
        if token == ",":
            if frame == "(":
                raise self.fail("',' belongs in atleast(k, ...) only")
            return True
        self.stack.pop()
        self.open.pop()
        self.frames -= 1
        if frame.startswith("atleast:"):
            first = int(frame[8:])
            arguments = self.operands[first:]
            del self.operands[first:]
            if len(arguments) < 2 or not isinstance(arguments[0][0], Const):
                raise self.fail("atleast needs a number and expressions: atleast(2, A, B, C)")
            self.add(Gate("atleast", tuple(a for a, _ in arguments[1:]), arguments[0][1]),
                     1 + max(d for _, d in arguments[1:]))
        return False


def names_of(expression: Expression) -> list[str]:
    """The variable names in order of first use; an unquoted right side counts as no name before `bind`."""
    found: dict[str, None] = {}
    stack: list[Expression] = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Atom):
            found.setdefault(node.name)
        elif isinstance(node, Gate):
            stack += reversed(node.children)
    return list(found)


def bind(expression: Expression, domains: Mapping[str, Sequence[Any]], where: str) -> Expression:
    """The expression with every name and value checked against `domains`; `where` starts the messages.

    UnknownVariable for a name, DomainError for a value outside its domain or a bare name that is not 0/1."""
    def atom(node: Atom) -> Expression:
        if node.name not in domains:
            raise UnknownVariable(node.name, where, domains)
        domain, value = domains[node.name], node.value
        if node.kind == "bare":
            if set(domain) != {0, 1}:
                raise DomainError(f"{where}: {node.name} has the domain {tuple(domain)}; compare it, "
                                  f"as in {node.name} == {domain[-1]!r}")
            return Atom(node.name, 1)
        if node.kind == "word" and value in domains:
            common = [v for v in domain if v in domains[value]]
            return Gate("or", tuple(Gate("and", (Atom(node.name, v), Atom(value, v))) for v in common))
        if value not in domain and str(value) in domain:
            value = str(value)
        if value not in domain and node.kind == "word":
            value = _number(value)
        if value not in domain:
            if node.kind == "word" and not any(isinstance(v, str) for v in domain):
                raise UnknownVariable(value, where, domains)
            raise DomainError(f"{where}: {value!r} is not in the domain {tuple(domain)} of {node.name}")
        return Atom(node.name, value)

    return _rebuild(expression, atom)


def _number(word: str) -> Any:
    """A word such as 0.5 or 1e9 as the number it spells, if it does."""
    try:
        return float(word) if word[0].isdecimal() else word
    except ValueError:
        return word


def _rebuild(node: Expression, atom: Callable[[Atom], Expression]) -> Expression:
    if isinstance(node, Atom):
        return atom(node)
    if isinstance(node, Gate):
        return Gate(node.op, tuple(_rebuild(c, atom) for c in node.children), node.threshold)
    return node


_PLAIN = re.compile(r"[^\W\d][\w.]*(?:[-:/@][\w.]+)*|`[^`]+`")


def quote(name: str) -> str:
    """`name` as `parse_expression` reads it: in backquotes if it is not a plain word. CausalError if it holds one."""
    if "`" in name or "\n" in name:
        raise CausalError(f"the name {name!r} cannot be written in an expression")
    return name if _PLAIN.fullmatch(name) and name.lower() not in (*_WORDS, "atleast") else f"`{name}`"


def literal(value: Any) -> str:
    """`value` as the right side of a comparison. CausalError for a text with both kinds of quotes in it."""
    if isinstance(value, str):
        if "'" in value and '"' in value:
            raise CausalError(f"the value {value!r} cannot be written in an expression: it has both kinds of quotes")
        return f'"{value}"' if "'" in value else f"'{value}'"
    if isinstance(value, Integral):
        return repr(int(value))
    return repr(float(value)).replace("e+", "e") if isinstance(value, float) else repr(value)


_SYMBOL = {"and": " & ", "or": " | ", "xor": " ^ "}


def to_text(node: Expression, bare: Callable[[str], bool] = lambda name: True) -> str:
    """`node` in the syntax that `parse_expression` reads; `bare(name)` says whether `name == 1` is written `name`."""
    if isinstance(node, Const):
        return str(int(node.value))
    if isinstance(node, Atom):
        if node.kind != "word" and bare(node.name) and node.value in (0, 1):
            return quote(node.name) if node.value == 1 else f"~{quote(node.name)}"
        return f"{quote(node.name)} == {literal(node.value)}"
    if node.op == "not":
        inner = to_text(node.children[0], bare)
        return f"~{inner}" if isinstance(node.children[0], Const) or _PLAIN.fullmatch(inner) else f"~({inner})"
    if node.op == "atleast":
        return f"atleast({node.threshold}, {', '.join(to_text(c, bare) for c in node.children)})"
    if len(node.children) < 2:  # the neutral elements, and gates of one input
        return to_text(node.children[0], bare) if node.children else str(int(node.op == "and"))
    kids = [to_text(c, bare) for c in node.children]
    return _SYMBOL[node.op].join(f"({k})" if isinstance(c, Gate) and c.op in _SYMBOL else k
                                 for k, c in zip(kids, node.children, strict=True))

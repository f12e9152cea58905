"""A statement ready to be decided: a box, hypotheses, a conclusion, all as trees."""
from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_checks.harness.language.formula import ParseError, parse
from proofs_checks.harness.language.text import to_text, words
from proofs_checks.harness.trees import Inexact, Tree, Undefined, evaluate, is_relation, to_tree, variables

__all__ = ["Problem", "read_domain", "read_problem"]

_ON = re.compile(r"\s*([A-Za-z_Α-ω][\w']*)\s+in\s+([\[(\]])(.+?),(.+?)([\])\[])\s*$")
_RANGE = re.compile(r"\s*([A-Za-z_Α-ω][\w']*)\s+in\s+\{\s*(-?\d+)\s*\.\.\s*(-?\d+)?\s*\}\s*$")


@dataclass(frozen=True)
class Problem:
    """For all points of the box (closed; None is an infinite end) and integers among `integers`:
    all `hypotheses` imply `conclusion`. A hypothesis with an undefined term counts as not satisfied."""

    box: Mapping[str, tuple[Tree | None, Tree | None]]
    hypotheses: tuple[Tree, ...]
    conclusion: Tree
    integers: frozenset[str] = frozenset()
    decided: str = ""  # why nothing is left to prove, where sympy had already decided the statement it was given

    @property
    def tree(self) -> Tree:
        """The whole statement as one relation, the box included."""
        given = [*self.bounds(), *self.hypotheses]
        if not given:
            return self.conclusion
        return ["implies", given[0] if len(given) == 1 else ["and", *given], self.conclusion]

    @property
    def subject(self) -> dict[str, Any]:
        """What the certificate's hash covers."""
        return {"statement": self.tree, "integers": sorted(self.integers)}

    def bounds(self) -> list[Tree]:
        """The box as relations."""
        found: list[Tree] = []
        for name, (lo, hi) in self.box.items():
            if lo is not None:
                found.append(["ge", ["var", name], lo])
            if hi is not None:
                found.append(["le", ["var", name], hi])
        return found

    def text(self) -> str:
        """The statement in words that `prove` reads, and which variables are integers."""
        return words(self.subject)


def read_problem(statement: Any, domain: Mapping[Any, Any] | None = None) -> Problem:
    """What `prove` was asked. ValueError names `statement` or `domain`."""
    names = _domain_names(domain)
    assumed: dict[str, Any] = {}
    if isinstance(statement, str):
        try:
            tree = parse(statement, names)
        except (ParseError, ArithmeticError, ValueError, RecursionError) as error:
            raise ValueError(f"statement={_short(statement)!r} is not a formula: {error}") from None
    else:
        tree, assumed = _from_sympy(statement)
    if not is_relation(tree):
        raise ValueError(f"statement={_short(str(statement))!r} has no relation; one of < <= > >= Eq Ne is needed")
    used = variables(tree)
    for name in names:
        if tree[0] not in ("true", "false"):  # sympy may have decided the statement, and its variables are gone
            _known(name, used)
    box, integers, extra = _box(domain or {}, used)
    for name, symbol in assumed.items():
        _assumptions(name, symbol, box, integers, extra)
    hypotheses, conclusion = list(extra), tree
    while conclusion[0] == "implies":
        hypotheses += _conjuncts(conclusion[1])
        conclusion = conclusion[2]
    decided = "sympy decided it when it was built" if not isinstance(statement, str) and tree[0] == "true" else ""
    return Problem(box={name: box.get(name, (None, None)) for name in sorted(set(used) | set(box))},
                   hypotheses=tuple(hypotheses), conclusion=conclusion, integers=frozenset(integers), decided=decided)


def read_domain(text: str) -> tuple[dict[str, Any], list[Tree]]:
    """The option `--on`: "x in [0, 1], y > 0, k in {1..8}" as a domain and further hypotheses."""
    domain: dict[str, Any] = {}
    extra: list[Tree] = []
    for part in _split(text):
        interval, span = _ON.match(part), _RANGE.match(part)
        if span:
            name, lo, hi = span.groups()
            domain[name] = range(int(lo), int(hi) + 1) if hi else (int(lo), "oo", "integer")
        elif interval:
            name, left, lo, hi, right = interval.groups()
            domain[name] = (lo.strip(), hi.strip())
            if left in "(]" and lo.strip() not in ("-oo", "-inf"):
                extra.append(["gt", ["var", name], parse(lo)])
            if right in ")[" and hi.strip() not in ("oo", "inf"):
                extra.append(["lt", ["var", name], parse(hi)])
        else:
            try:
                tree = parse(part)
            except ValueError as error:
                raise ValueError(f"domain={part!r}: 'x in [lo, hi]', 'k in {{1..8}}' or a relation is needed: {error}"
                                 ) from None
            if not is_relation(tree):
                raise ValueError(f"domain={part!r}: 'x in [lo, hi]', 'k in {{1..8}}' or a relation is needed")
            extra += _conjuncts(tree)
    return domain, extra


def _split(text: str) -> list[str]:
    """Cut at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        before = text[start:at]
        if letter in "[{(" or (letter == "]" and re.search(r"\bin\s*$", before)):
            depth += 1
        elif letter in "]})" or letter == "[":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(before)
            start = at + 1
    return [part for part in [*parts, text[start:]] if part.strip()]


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:117]}..."


def _domain_names(domain: Mapping[Any, Any] | None) -> list[str]:
    if domain is not None and not isinstance(domain, Mapping):
        raise ValueError(f"domain={domain!r} must map variables to (lo, hi)")
    return [str(key) for key in domain or {}]


def _known(name: str, used: list[str]) -> None:
    if name not in used:
        raise ValueError(f"domain: unknown variable {name!r}; the statement has {', '.join(used) or 'no variables'}")


def _conjuncts(tree: Tree) -> list[Tree]:
    return [part for child in tree[1:] for part in _conjuncts(child)] if tree[0] == "and" else [tree]


def _from_sympy(statement: Any) -> tuple[Tree, dict[str, Any]]:
    import sympy as sp

    if isinstance(statement, bool) or not isinstance(statement, sp.Basic):
        raise ValueError(f"statement={_short(repr(statement))} has no relation; text or a sympy relation is needed")
    symbols: dict[str, Any] = {}
    for symbol in sorted(statement.free_symbols, key=sp.default_sort_key):
        if symbols.setdefault(symbol.name, symbol) != symbol:
            raise ValueError(f"statement={statement}: two different symbols are called {symbol.name!r}")
    try:
        return to_tree(statement), symbols
    except (ValueError, RecursionError) as error:
        raise ValueError(f"statement={_short(str(statement))!r} is not a formula: {error}") from None


def _assumptions(name: str, symbol: Any, box: dict[str, Any], integers: set[str], extra: list[Tree]) -> None:
    """What sympy assumes of the symbol becomes part of the domain."""
    lo, hi = box.get(name, (None, None))
    if symbol.is_integer:
        integers.add(name)
    if symbol.is_positive:
        extra.append(["gt", ["var", name], "0"])
    elif symbol.is_negative:
        extra.append(["lt", ["var", name], "0"])
    if symbol.is_nonnegative and lo is None:
        lo = "0"
    if symbol.is_nonpositive and hi is None:
        hi = "0"
    if symbol.is_nonzero and symbol.is_positive is None and symbol.is_negative is None:
        extra.append(["ne", ["var", name], "0"])
    box[name] = (lo, hi)


def _box(domain: Mapping[Any, Any], used: list[str]) -> tuple[dict[str, Any], set[str], list[Tree]]:
    box: dict[str, Any] = {}
    integers: set[str] = set()
    for key, value in domain.items():
        name = str(key)
        if isinstance(value, range):
            if value.step != 1 or len(value) == 0:
                raise ValueError(f"domain: {name}={value!r} must be a range of step 1 that is not empty")
            integers.add(name)
            box[name] = (str(value.start), str(value.stop - 1))
            continue
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) not in (2, 3):
            raise ValueError(f"domain: {name}={value!r} must be a pair (lo, hi)")
        lo, hi, *kind = value
        if kind:
            if kind != ["integer"]:
                raise ValueError(f"domain: {name}={value!r}: the third entry can only be 'integer'")
            integers.add(name)
        box[name] = (_end(name, lo, -1), _end(name, hi, +1))
        _ordered(name, *box[name], equal=name in integers)
    return box, integers, []


def _end(name: str, value: Any, side: int) -> Tree | None:
    """One end of an interval: a tree without variables, None if infinite on its own side."""
    text = str(value).strip().replace("inf", "oo").replace("oooo", "oo")
    if text in ("oo", "+oo", "-oo"):
        if (text[0] == "-") != (side < 0):
            raise ValueError(f"domain: {name} has the end {text} on the wrong side; lo < hi is needed")
        return None
    try:
        if isinstance(value, float):
            value = Fraction(value)
        tree = parse(str(value)) if isinstance(value, str | int | Fraction) else to_tree(value)
        bad = is_relation(tree) or variables(tree)
    except (ValueError, OverflowError, ArithmeticError) as error:
        raise ValueError(f"domain: {name} has the end {value!r}: a real number is needed ({error})") from None
    if bad:
        raise ValueError(f"domain: {name} has the end {value!r}: a real number without variables is needed")
    try:
        exact = evaluate(tree, {})
    except Inexact:
        return tree
    except Undefined as error:
        raise ValueError(f"domain: {name} has the end {value!r}: {error}") from None
    return str(exact.numerator) if exact.denominator == 1 else f"{exact.numerator}/{exact.denominator}"


def _ordered(name: str, lo: Tree | None, hi: Tree | None, *, equal: bool) -> None:
    if lo is None or hi is None:
        return
    from proofs_checks.harness.trees import from_tree

    gap = from_tree(hi) - from_tree(lo)
    if not gap.is_real or not (gap.is_positive or (equal and gap.is_zero)):
        raise ValueError(f"domain: {name} in [{to_text(lo)}, {to_text(hi)}] needs lo < hi")

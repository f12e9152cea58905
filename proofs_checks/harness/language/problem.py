"""A statement ready to be decided: a box, hypotheses, a conclusion, all as trees."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
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
    total: bool = False  # the hypotheses' terms have values everywhere by convention (SMT-LIB): they need to be defined too
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


Pairs = Iterable[tuple[Any, Any]]


def read_problem(statement: Any, domain: Mapping[Any, Any] | Pairs | None = None, given: Sequence[Tree] = ()) -> Problem:
    """What `prove` was asked. A variable with several entries (pairs may repeat a name) lies in all of them; `given` are
    further hypotheses. ValueError names `statement` or `domain`."""
    entries = _entries(domain)
    names = [name for name, _ in entries]
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
    if tree[0] not in ("true", "false"):  # sympy may have decided the statement, and its variables are gone
        for name in [*names, *(name for relation in given for name in variables(relation))]:
            _known(name, used)
    box, integers, extra = _box(entries)
    for name, symbol in assumed.items():
        _assumptions(name, symbol, box, integers, extra)
    hypotheses, conclusion = [*given, *extra], tree
    while conclusion[0] == "implies":
        hypotheses += _conjuncts(conclusion[1])
        conclusion = conclusion[2]
    decided = "sympy decided it when it was built" if not isinstance(statement, str) and tree[0] == "true" else ""
    return Problem(box={name: box.get(name, (None, None)) for name in sorted(set(used) | set(box))},
                   hypotheses=tuple(hypotheses), conclusion=conclusion, integers=frozenset(integers), decided=decided)


def read_domain(*texts: str) -> tuple[list[tuple[str, Any]], list[Tree]]:
    """The option `--on`, given once or more: "x in [0, 1], y > 0, k in {1..8}" as entries of a domain and further
    hypotheses. All of them together hold: a name may come twice."""
    entries: list[tuple[str, Any]] = []
    extra: list[Tree] = []
    parts = [part for text in texts for part in _split(text)]
    matched = [(part, _ON.match(part), _RANGE.match(part)) for part in parts]
    names = [found[1] for _, interval, span in matched if (found := interval or span)]
    for part, interval, span in matched:
        if span:
            name, lo, hi = span.groups()
            entries.append((name, range(int(lo), int(hi) + 1) if hi else (int(lo), "oo", "integer")))
        elif interval:
            name, left, lo, hi, right = interval.groups()
            entries.append((name, (lo.strip(), hi.strip())))
            if left in "(]" and lo.strip() not in ("-oo", "-inf"):
                extra.append(["gt", ["var", name], parse(lo)])
            if right in ")[" and hi.strip() not in ("oo", "inf"):
                extra.append(["lt", ["var", name], parse(hi)])
        else:
            try:
                tree = parse(part, names)
            except ValueError as error:
                raise ValueError(f"domain={part!r}: 'x in [lo, hi]', 'k in {{1..8}}' or a relation is needed: {error}"
                                 ) from None
            if not is_relation(tree):
                raise ValueError(f"domain={part!r}: 'x in [lo, hi]', 'k in {{1..8}}' or a relation is needed")
            extra += _conjuncts(tree)
    return entries, extra


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


def _entries(domain: Mapping[Any, Any] | Pairs | None) -> list[tuple[str, Any]]:
    pairs = domain.items() if isinstance(domain, Mapping) else domain or []
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise ValueError(f"domain={domain!r} must map variables to (lo, hi)")
    found = list(pairs)
    if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in found):
        raise ValueError(f"domain={domain!r} must map variables to (lo, hi)")
    return [(str(key), value) for key, value in found]


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


_READ = {"integer", "positive", "negative", "nonnegative", "nonpositive", "nonzero"}
_UNREAD = ("even", "odd", "prime", "composite", "irrational", "noninteger", "zero", "imaginary", "transcendental", "infinite")


def _assumptions(name: str, symbol: Any, box: dict[str, Any], integers: set[str], extra: list[Tree]) -> None:
    """What sympy assumes of the symbol becomes part of the domain."""
    unread = [word for word in _UNREAD if getattr(symbol, f"is_{word}")]
    if symbol.is_extended_real is False or unread or (symbol.is_rational and not symbol.is_integer):
        what = unread[0] if unread else "not real" if symbol.is_extended_real is False else "rational"
        raise ValueError(f"statement: the symbol {name} is assumed to be {what}; real, {', '.join(sorted(_READ))} are read")
    if symbol.is_integer:
        integers.add(name)
    if symbol.is_positive:
        extra.append(["gt", ["var", name], "0"])
    elif symbol.is_negative:
        extra.append(["lt", ["var", name], "0"])
    old = box.get(name, (None, None))
    box[name], more = _met(name, old, ("0" if symbol.is_nonnegative else None, "0" if symbol.is_nonpositive else None),
                           discrete=name in integers)
    extra += more
    if symbol.is_nonzero and symbol.is_positive is None and symbol.is_negative is None:
        extra.append(["ne", ["var", name], "0"])


def _box(entries: list[tuple[str, Any]]) -> tuple[dict[str, Any], set[str], list[Tree]]:
    """(box, integers, hypotheses). Several entries for a name are met; what has no interval in common becomes
    hypotheses, which contradict one another or leave a point."""
    box: dict[str, Any] = {}
    extra: list[Tree] = []
    integers = {name for name, value in entries if isinstance(value, range) or _is_integer(name, value)}
    for name, value in entries:
        if isinstance(value, range):
            if value.step != 1 or len(value) == 0:
                raise ValueError(f"domain: {name}={value!r} must be a range of step 1 that is not empty")
            ends: Ends = (str(value.start), str(value.stop - 1))
        else:
            ends = _end(name, value[0], -1), _end(name, value[1], +1)
            _ordered(name, *ends, equal=name in integers)
        if name in box:
            box[name], more = _met(name, box[name], ends, discrete=name in integers)
            extra += more
        else:
            box[name] = ends
    return box, integers, extra


def _is_integer(name: str, value: Any) -> bool:
    """Whether an entry that is no range says "integer"; ValueError if it is no pair (lo, hi) either."""
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) not in (2, 3):
        raise ValueError(f"domain: {name}={value!r} must be a pair (lo, hi)")
    if len(value) == 3 and value[2] != "integer":
        raise ValueError(f"domain: {name}={value!r}: the third entry can only be 'integer'")
    return len(value) == 3


Ends = tuple[Tree | None, Tree | None]


def _met(name: str, a: Ends, b: Ends, *, discrete: bool = False) -> tuple[Ends, list[Tree]]:
    """The intersection of two intervals, or the first with the second as hypotheses where it has no inner point."""
    lo = b[0] if a[0] is None or (b[0] is not None and _below(a[0], b[0])) else a[0]
    hi = b[1] if a[1] is None or (b[1] is not None and _below(b[1], a[1])) else a[1]
    if lo is None or hi is None or (discrete and lo == hi) or _below(lo, hi):
        return (lo, hi), []
    x = ["var", name]
    return a, [*([["ge", x, b[0]]] if b[0] is not None else []), *([["le", x, b[1]]] if b[1] is not None else [])]


def _below(a: Tree, b: Tree) -> bool:
    """Whether a < b, for numbers without variables. ValueError where that is not determined."""
    from proofs_checks.harness.checkers._values import sign

    try:
        return sign(["add", b, ["mul", "-1", a]]) > 0
    except (Inexact, Undefined, ArithmeticError) as error:
        raise ValueError(f"domain: the order of {to_text(a)} and {to_text(b)} is not determined: {error}") from None


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
    if not (lo == hi if equal and not _below(lo, hi) else _below(lo, hi)):
        raise ValueError(f"domain: {name} in [{to_text(lo)}, {to_text(hi)}] needs lo < hi")

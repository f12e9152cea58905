"""Bayesian networks in the Interchange Format (.bif) whose tables are deterministic. Values are the state names."""
from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from causal.errors import CausalError, DomainError, NonDeterministic, UnknownVariable
from causal.model import CausalModel, Input, Mechanism, Table, iterate_rows, table_rows

_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|(?P<string>"[^"]*")|(?P<open>/\*|")|(?P<mark>[{}()\[\];,|])
    |(?P<word>[^\s{}()\[\];,|"]+)|\n""", re.S | re.X)
ROUNDING = 1e-6  # how far a root's probabilities may sum from 1: files round to a few digits


class _Tokens:
    """Words and marks with their lines."""

    def __init__(self, text: str) -> None:
        self.items = list(self._split(text))
        self.at = 0

    @staticmethod
    def _split(text: str) -> Iterator[tuple[str, int]]:
        line = 1
        for match in _TOKEN.finditer(text):
            if match.lastgroup == "open":
                raise CausalError(f"line {line}: {match[0]} is not closed")
            if match.lastgroup:
                yield match[0].strip('"'), line
            line += match[0].count("\n")

    @property
    def line(self) -> int:
        return self.items[min(self.at, len(self.items) - 1)][1] if self.items else 1

    def more(self) -> bool:
        return self.at < len(self.items)

    def take(self, *wanted: str) -> str:
        """The next token, one of `wanted` if given. CausalError giving the line."""
        if not self.more():
            raise CausalError(f"line {self.line}: the file ends where {' or '.join(wanted) or 'more'} was expected")
        token = self.items[self.at][0]
        if wanted and token not in wanted:
            raise CausalError(f"line {self.line}: expected {' or '.join(wanted)}, got {token[:30]!r}")
        self.at += 1
        return token

    def until(self, *ends: str) -> list[str]:
        """The tokens before one of `ends`, which is consumed; commas left out."""
        found = []
        while (token := self.take()) not in ends:
            if token != ",":
                found.append(token)
        return found


def read(text: str) -> CausalModel:
    """A root with a proper distribution is an input, a 0/1 root a constant; any other row that is not 0/1 is
    NonDeterministic."""
    tokens = _Tokens(text)
    domains: dict[str, tuple[Any, ...]] = {}
    tables: dict[str, Mechanism] = {}
    while tokens.more():
        kind = tokens.take("network", "variable", "probability")
        if kind == "network":
            tokens.until("{")
            _skip_block(tokens)
        elif kind == "variable":
            _variable(tokens, domains)
        else:
            _probability(tokens, domains, tables)
    if missing := [n for n in domains if n not in tables]:
        raise CausalError(f"variable {missing[0]!r} has no probability block")
    return CausalModel({n: tables[n] for n in domains}, domains)


def _skip_block(tokens: _Tokens) -> None:
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(tokens.take(), 0)


def _variable(tokens: _Tokens, domains: dict[str, tuple[Any, ...]]) -> None:
    name, line = tokens.take(), tokens.line
    if name in domains:
        raise CausalError(f"line {line}: variable {name!r} is defined twice")
    tokens.take("{")
    while (word := tokens.take("type", "property", "}")) != "}":
        if word == "property":
            tokens.until(";")
            continue
        tokens.take("discrete")
        tokens.take("[")
        count = tokens.take()
        tokens.take("]")
        tokens.take("{")
        states = tokens.until("}")
        tokens.take(";")
        if count != str(len(states)):
            raise CausalError(f"line {line}: {name!r} announces {count} states and lists {len(states)}")
        if len(states) < 2 or len(set(states)) != len(states):
            raise DomainError(f"line {line}: states of {name} are {states}; it needs two or more different ones")
        domains[name] = tuple(states)
    if name not in domains:
        raise CausalError(f"line {line}: variable {name!r} has no type")


def _probability(tokens: _Tokens, domains: dict[str, tuple[Any, ...]], tables: dict[str, Mechanism]) -> None:
    line = tokens.line
    tokens.take("(")
    names = [n for n in tokens.until(")") if n != "|"]
    for n in names:
        if n not in domains:
            raise UnknownVariable(n, f"line {line}", domains)
    if not names:
        raise CausalError(f"line {line}: a probability block needs a variable")
    name, parents = names[0], tuple(names[1:])
    if name in tables:
        raise CausalError(f"line {line}: {name!r} has two probability blocks")
    table_rows(name, parents, domains)
    rows: dict[tuple[str, ...], list[float]] = {}
    default: list[float] | None = None
    tokens.take("{")
    while (word := tokens.take("table", "default", "property", "(", "}")) != "}":
        at = tokens.line
        if word == "property":
            tokens.until(";")
        elif word == "(":
            row = tuple(tokens.until(")"))
            _check_row(name, parents, row, domains, at)
            if row in rows:
                raise CausalError(f"line {at}: the row {row} of {name!r} is given twice")
            rows[row] = _numbers(tokens, name, domains)
        elif word == "default":
            default = _numbers(tokens, name, domains)
        elif parents:
            raise CausalError(f"line {at}: 'table' of {name!r} with parents is ambiguous; give one row a configuration")
        else:
            rows[()] = _numbers(tokens, name, domains)
    tables[name] = _mechanism(name, parents, rows, default, domains, line)


def _check_row(name: str, parents: tuple[str, ...], row: tuple[str, ...], domains: dict[str, tuple[Any, ...]],
               line: int) -> None:
    if len(row) != len(parents):
        raise CausalError(f"line {line}: a row of {name!r} has {len(row)} states for {len(parents)} parents")
    for parent, state in zip(parents, row, strict=True):
        if state not in domains[parent]:
            raise DomainError(f"line {line}: {state!r} is not a state of {parent}: {', '.join(domains[parent])}")


def _numbers(tokens: _Tokens, name: str, domains: dict[str, tuple[Any, ...]]) -> list[float]:
    line = tokens.line
    words = tokens.until(";")
    try:
        values = [float(w) for w in words]
    except ValueError:
        raise CausalError(f"line {line}: the probabilities of {name!r} are not all numbers: {words[:6]}") from None
    if len(values) != len(domains[name]) or not all(math.isfinite(v) and v >= 0 for v in values):
        raise CausalError(f"line {line}: {name!r} needs {len(domains[name])} probabilities, got {words[:6]}")
    return values


def _mechanism(name: str, parents: tuple[str, ...], rows: dict[tuple[str, ...], list[float]],
               default: list[float] | None, domains: dict[str, tuple[Any, ...]], line: int) -> Mechanism:
    values = []
    for row in iterate_rows(name, parents, domains):
        found = rows.get(row, default)
        if found is None:
            raise CausalError(f"line {line}: {name!r} has no row for {dict(zip(parents, row, strict=True))}")
        if sorted(found) != [0.0] * (len(found) - 1) + [1.0]:
            if parents:
                raise NonDeterministic(name, f"line {line}")
            if abs(sum(found) - 1) > ROUNDING:
                raise CausalError(f"line {line}: the probabilities of {name!r} sum to {sum(found)}, not to 1")
            return Input()
        values.append(domains[name][found.index(1.0)])
    return Table(parents, tuple(values))

"""All causes of a small model of two-valued variables by T1 as it stands: every assignment is a row, a bit of a word.

The causes are the minimal sets of variables that are changed and not brought about by their equation, over the rows in
which the effect fails. Words hold all rows at once, so that sizes are counted in all of them together."""
from __future__ import annotations

from collections.abc import Iterator
from functools import cache, reduce
from operator import and_, or_, xor

from causal._circuit import at_least
from causal._instance import Instance
from causal._reduce import Paths, immovable
from causal.expressions import Atom, Const, Expression
from causal.model import Formula, Input

MOST = 15  # variables: words of 4 kB


def fits(instance: Instance) -> bool:
    """Whether there are few enough variables, of two values each."""
    return len(instance.names) <= MOST and all(len(domain) == 2 for domain in instance.model.domains.values())


def stream(instance: Instance, allowed: frozenset[int]) -> Iterator[tuple[int, frozenset[int] | None]]:
    """Causes as (size, cause), smallest first, with (s, None) when size s is finished and (-1, None) at the end."""
    found = Paths(instance).singles() & allowed
    yield from ((1, frozenset({at})) for at in sorted(found))
    fixed = immovable(instance, allowed - found, frozenset())
    moving = [at for at in range(len(instance.names)) if at not in fixed]
    changed = dict(zip(moving, _changed(len(moving)), strict=True))
    rows = Rows(instance, changed)
    broken = {at: word & rows.broken(instance.names[at]) for at, word in changed.items()}
    left = rows.everywhere ^ rows.holds(instance.expression)
    for at in broken.keys() - (allowed - found):
        left &= ~broken.pop(at)
    digits = _count(broken)
    bits = {at: word.to_bytes((1 << len(moving)) // 8 + 1, "little") for at, word in broken.items()}
    size = 0
    while left:
        size += 1
        here = left
        for place, digit in enumerate(digits):
            here &= digit if size >> place & 1 else ~digit
        while here:
            row = here.bit_length() - 1
            cause = frozenset(at for at, word in bits.items() if word[row >> 3] >> (row & 7) & 1)
            yield size, cause
            fewer = ~reduce(and_, (broken[at] for at in cause))
            left &= fewer
            here &= fewer
        yield size, None
    yield -1, None


class Rows:
    """The values of names and expressions in every row: a word with the rows in which they are the second of two values."""

    def __init__(self, instance: Instance, changed: dict[int, int]) -> None:
        self.model = instance.model
        self.everywhere = (1 << (1 << len(changed))) - 1
        self.ones = {n: self.everywhere if self.model.code(n, v, "actual value") else 0 for n, v in instance.values.items()}
        for at, word in changed.items():
            self.ones[instance.names[at]] ^= word

    def broken(self, name: str) -> int:
        """The rows in which a variable is not what its equation gives; of an input, all: where it changed, it is not."""
        rule, domain = self.model.mechanisms[name], self.model.domains[name]
        if isinstance(rule, Input):
            return self.everywhere
        if isinstance(rule, Formula):
            truth = self.holds(rule.expression)
            return self.ones[name] ^ (truth if domain[1] == 1 else self.everywhere ^ truth)
        level = [self.everywhere if value == domain[1] else 0 for value in rule.values]
        for parent in reversed(rule.parents):
            one = self.ones[parent]
            level = [a ^ (a ^ b) & one for a, b in zip(level[::2], level[1::2], strict=True)]
        return self.ones[name] ^ level[0]

    def holds(self, expression: Expression) -> int:
        """The rows in which an expression holds."""
        if isinstance(expression, Const):
            return self.everywhere if expression.value else 0
        if isinstance(expression, Atom):
            one = self.ones[expression.name]
            return one if self.model.domains[expression.name][1] == expression.value else self.everywhere ^ one
        kids = [self.holds(child) for child in expression.children]
        match expression.op:
            case "not":
                return self.everywhere ^ kids[0]
            case "and":
                return reduce(and_, kids, self.everywhere)
            case "or":
                return reduce(or_, kids, 0)
            case "xor":
                return reduce(xor, kids, 0)
            case _:
                return at_least(kids, expression.threshold, self.everywhere)


@cache
def _changed(count: int) -> tuple[int, ...]:
    """For each variable the rows in which it is changed."""
    everywhere = (1 << (1 << count)) - 1
    block = [(1 << (1 << at)) - 1 for at in range(count)]  # as many rows unchanged, then as many changed, over and over
    return tuple((everywhere // (block[at] << (1 << at) | block[at])) * (block[at] << (1 << at)) for at in range(count))


def _count(words: dict[int, int]) -> list[int]:
    """In how many of the words each row is: the binary digits, lowest first."""
    digits: list[int] = []
    for word in words.values():
        for place, digit in enumerate(digits):
            digits[place], word = digit ^ word, digit & word
        if word:
            digits.append(word)
    return digits

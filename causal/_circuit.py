"""Boolean circuits over events of integer-coded variables, hash-consed, gates of any fan-in.

A node is an index into `Circuit.nodes`; nodes are tuples whose first entry is the kind:
("const", bool)  ("atom", variable, code)  ("not", node)  ("and" | "or" | "xor", nodes)  ("atleast", k, nodes)
("case", variable, one node a code). Children come before their parents, so plain loops replace recursion."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import and_, or_, xor
from typing import Any

FALSE, TRUE = 0, 1


class Circuit:
    """A pool of shared nodes. Atoms of a two-valued variable are all in terms of code 1."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = sizes
        self.nodes: list[tuple[Any, ...]] = [("const", False), ("const", True)]
        self._index: dict[tuple[Any, ...], int] = {}

    def make(self, node: tuple[Any, ...]) -> int:
        """The index of `node`, new or shared."""
        found = self._index.get(node)
        if found is None:
            found = self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return found

    def atom(self, variable: int, code: int) -> int:
        """The event that `variable` has `code`."""
        if self.sizes[variable] == 2 and code == 0:
            return self.negate(self.make(("atom", variable, 1)))
        return self.make(("atom", variable, code))

    def negate(self, node: int) -> int:
        """Not `node`."""
        if node <= TRUE:
            return 1 - node
        entry = self.nodes[node]
        return int(entry[1]) if entry[0] == "not" else self.make(("not", node))

    def gate(self, op: str, kids: Iterable[int], threshold: int = 0) -> int:
        """An and, or, xor or atleast of `kids`, with constants folded."""
        kids = tuple(kids)
        if op == "not":
            return self.negate(kids[0])
        if op == "xor":
            odd = sum(k == TRUE for k in kids) % 2
            rest = [k for k in kids if k > TRUE]
            node = FALSE if not rest else rest[0] if len(rest) == 1 else self.make(("xor", tuple(rest)))
            return self.negate(node) if odd else node
        if op == "atleast":
            threshold -= sum(k == TRUE for k in kids)
            kids = tuple(k for k in kids if k > TRUE)
            if threshold <= 0 or threshold > len(kids):
                return TRUE if threshold <= 0 else FALSE
            if 1 < threshold < len(kids):
                return self.make(("atleast", threshold, kids))
            op = "or" if threshold == 1 else "and"
        absorbing = FALSE if op == "and" else TRUE
        if absorbing in kids:
            return absorbing
        rest = list(dict.fromkeys(k for k in kids if k > TRUE))
        if not rest:
            return 1 - absorbing
        return rest[0] if len(rest) == 1 else self.make((op, tuple(rest)))

    def case(self, variable: int, kids: Sequence[int]) -> int:
        """The node kids[code] for the code that `variable` has."""
        if all(k == kids[0] for k in kids):
            return kids[0]
        if len(kids) == 2 and set(kids) == {FALSE, TRUE}:
            return self.atom(variable, kids.index(TRUE))
        return self.make(("case", variable, tuple(kids)))

    def table(self, variables: Sequence[int], truth: Sequence[bool]) -> int:
        """The function that is `truth`, row by row, the last variable fastest; equal subtables are shared."""
        level: list[int] = [TRUE if t else FALSE for t in truth]
        for variable in reversed(variables):
            size = self.sizes[variable]
            level = [self.case(variable, level[at:at + size]) for at in range(0, len(level), size)]
        return level[0]

    def reachable(self, roots: Iterable[int]) -> list[int]:
        """Every node under `roots`, children first."""
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack += self.children(node)
        return sorted(seen)

    def children(self, node: int) -> tuple[int, ...]:
        """The nodes that `node` is made of."""
        entry = self.nodes[node]
        if entry[0] in ("const", "atom"):
            return ()
        return (entry[1],) if entry[0] == "not" else entry[-1]

    def support(self, root: int) -> set[int]:
        """The variables under `root`."""
        return {self.nodes[n][1] for n in self.reachable([root]) if self.nodes[n][0] in ("atom", "case")}

    def evaluate(self, root: int, codes: Sequence[int] | dict[int, int]) -> bool:
        """The value of `root` where each variable has the given code."""
        return self.evaluator([root])(codes)[0]

    def words(self, nodes: Iterable[int], ones: dict[int, int], everywhere: int) -> dict[int, int]:
        """The truth of `nodes`, children first, in many rows at once, a bit each; `ones` has the rows where a two-valued
        variable is 1."""
        word: dict[int, int] = {}
        for n in nodes:
            entry = self.nodes[n]
            match entry[0]:
                case "const":
                    word[n] = everywhere if entry[1] else 0
                case "atom":
                    word[n] = ones[entry[1]]
                case "not":
                    word[n] = word[entry[1]] ^ everywhere
                case "and" | "or":
                    word[n] = reduce(and_ if entry[0] == "and" else or_, (word[k] for k in entry[1]))
                case "xor":
                    word[n] = reduce(xor, (word[k] for k in entry[1]))
                case "atleast":
                    word[n] = at_least([word[k] for k in entry[2]], entry[1], everywhere)
                case _:
                    zero, one = (word[k] for k in entry[2])
                    word[n] = zero & ~ones[entry[1]] | one & ones[entry[1]]
        return word

    def evaluator(self, roots: Sequence[int]) -> Callable[[Any], list[bool]]:
        """A function from codes to the values of `roots`; the walk is planned once."""
        plan = [(n, self.nodes[n]) for n in self.reachable(roots)]

        def run(codes: Any) -> list[bool]:
            value: dict[int, bool] = {}
            for n, entry in plan:
                value[n] = node_value(entry, codes, value)
            return [value[r] for r in roots]

        return run


def node_value(entry: tuple[Any, ...], codes: Any, value: dict[int, bool]) -> bool:
    """The value of one node from those of its children."""
    match entry[0]:
        case "const":
            return bool(entry[1])
        case "atom":
            return bool(codes[entry[1]] == entry[2])
        case "not":
            return not value[entry[1]]
        case "and":
            return all(value[k] for k in entry[1])
        case "or":
            return any(value[k] for k in entry[1])
        case "xor":
            return sum(value[k] for k in entry[1]) % 2 == 1
        case "atleast":
            return sum(value[k] for k in entry[2]) >= entry[1]
        case _:
            return value[entry[2][codes[entry[1]]]]


def at_least(words: Sequence[int], threshold: int, everywhere: int) -> int:
    """The rows in which at least `threshold` of the words are true."""
    if threshold > len(words):
        return 0
    row = [everywhere] + [0] * max(0, threshold)  # row[j]: at least j of the words so far
    for word in words:
        for j in range(len(row) - 1, 0, -1):
            row[j] |= row[j - 1] & word
    return row[-1]

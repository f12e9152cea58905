"""The search for a proof tree: simplify, factor, count roots, differentiate. Nothing here is trusted."""
from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

from flint import ctx

from proofs_checks.engines.interval import _refute
from proofs_checks.engines.interval._balls import Balls, rational
from proofs_checks.engines.interval._search import Search, text
from proofs_checks.engines.ladder._common import Node
from proofs_checks.harness import trees
from proofs_checks.harness.algebra import Unsupported
from proofs_checks.harness.checkers import _ladder_rules as rules
from proofs_checks.harness.checkers._ladder_rules import Sequent
from proofs_checks.harness.enclosures._leaf import statement
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree

DEPTH = 9
MOST_VARIABLES = 3  # beyond, the search would not end, and boxes or algebra of other engines do better


class Solver:
    """One search, with a budget of nodes and an optional deadline (time.monotonic)."""

    def __init__(self, *, nodes: int = 400, boxes: int = 3000, deadline: float | None = None) -> None:
        self.nodes, self.boxes, self.deadline = nodes, boxes, deadline
        self.known: dict[Any, Node | None] = {}
        self.open: set[Any] = set()

    def solve(self, s: Sequent) -> Node | None:
        """A proof of the sequent, or None."""
        key = (str(s.goal), s.strict, s.sides, str(s.hypotheses))
        if key in self.known:
            return self.known[key]
        self.nodes -= 1
        if s.depth > DEPTH or self.nodes < 0 or key in self.open or \
                (self.deadline is not None and time.monotonic() > self.deadline):
            return None
        self.open.add(key)
        found = None
        try:
            found = next((node for node in self._attempts(s) if node is not None), None)
        except (Unsupported, CertificateError, OverflowError, ValueError):
            found = None
        finally:
            self.open.discard(key)
        self.known[key] = found
        return found

    def _attempts(self, s: Sequent) -> Iterator[Node | None]:
        from proofs_checks.engines.ladder import _algebra, _domain

        if len(s.variables) > MOST_VARIABLES:
            return
        if self.looks_false(s):
            return
        yield self.cover(s, 40, taylor=False)
        kinks = [t for t in trees.walk(s.goal) if isinstance(t, list) and t[0] in ("abs", "min", "max")]
        if kinks:
            yield _domain.kink(self, s, kinks[-1])  # the innermost first
            yield self.cover(s, self.boxes // (1 + s.depth))
            return
        if s.hypotheses:
            yield _domain.excluded(self, s)
            yield _domain.by_order(self, s)
        domain = self.defined(s, s.goal, smooth=False)
        if domain is None:
            yield self.cover(s, self.boxes // (1 + s.depth))
            return
        try:
            for node in _algebra.by_algebra(self, s):
                if node is not None:
                    yield {**node, "defined": domain}
        except (Unsupported, CertificateError, OverflowError):
            pass  # boxes may still do
        yield self.cover(s, self.boxes // (1 + s.depth))

    def points(self, s: Sequent, count: int = 24) -> list[tuple[Fraction, ...]]:
        """Sample points of the domain."""
        return list(islice(_refute.candidates(s.sides, 3), count))

    def signs(self, s: Sequent, tree: Tree) -> set[int]:
        """Signs of a tree at sample points, as far as floats can tell."""
        ctx.prec = 128
        balls, out = Balls(statement(tree, s.variables).program), set()
        for point in self.points(s):
            value = balls.value([rational(x) for x in point])
            if value > 0 or value < 0:
                out.add(1 if value > 0 else -1)
        ctx.prec = 64
        return out

    def looks_false(self, s: Sequent) -> bool:
        """Whether some sample is negative (where only the sides restrict the domain)."""
        if any(self.unbounded_hypothesis(s)):
            return False
        return -1 in self.signs(s, s.goal)

    @staticmethod
    def unbounded_hypothesis(s: Sequent) -> Iterator[bool]:
        """For each hypothesis, whether it is more than a side of the box."""
        from proofs_checks.harness.checkers.interval import affine
        for tree, _ in s.hypotheses:
            yield affine(tree) is None

    def cover(self, s: Sequent, boxes: int, *, taylor: bool = True) -> Node | None:
        """A leaf: boxes."""
        given = [(statement(tree, s.variables), flag) for tree, flag in s.hypotheses]
        search = Search(statement(s.goal, s.variables), s.strict, given, s.sides, boxes=boxes, deadline=self.deadline,
                        seed=0, refute=False, taylor=taylor)
        if search.run() is True and search.settle():
            return {"rule": "cover", "boxes": [[[text(a), text(b)] for a, b in box] for box, _ in search.leaves],
                    "methods": [m for _, m in search.leaves]}
        return None

    def defined(self, s: Sequent, tree: Tree, *, smooth: bool) -> Node | None:
        """Proofs of the obligations that are not evident."""
        out: Node = {}
        for k, (item, relation) in enumerate(rules.obligations(tree, smooth)):
            if rules._plain(s, item, relation):
                continue
            for sign in (1, -1) if relation == "!=" else (1,):
                goal = item if sign == 1 else ["mul", "-1", item]
                node = self.solve(s.about(goal, relation != ">="))
                if node is not None:
                    out[str(k)] = [sign, node]
                    break
            else:
                return None
        return out

    def accept(self, s: Sequent, node: Node) -> Node | None:
        """The node if the checker's own rule accepts it."""
        try:
            rules.prove(s, node)
        except (CertificateError, ArithmeticError, ValueError):
            return None
        return node

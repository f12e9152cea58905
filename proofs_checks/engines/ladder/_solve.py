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
from proofs_checks.engines.ladder._factor import coefficient_of, factor, generators_of, is_constant, mentions
from proofs_checks.harness import trees
from proofs_checks.harness.algebra import Field, Form, Unsupported
from proofs_checks.harness.algebra._field import constant
from proofs_checks.harness.checkers import _ladder_calculus as calculus
from proofs_checks.harness.checkers import _ladder_rules as rules
from proofs_checks.harness.checkers._ladder_rules import Sequent
from proofs_checks.harness.checkers.interval import narrow
from proofs_checks.harness.enclosures import INF, NINF
from proofs_checks.harness.enclosures._leaf import Side, natural, statement
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree

Node = dict[str, Any]
LOG_LIKE = ("log", "atan", "asin", "erf", "loggamma", "asinh", "acosh")
DEPTH = 9


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
        if self._looks_false(s):
            return
        yield self._cover(s, 40)
        kinks = [t for t in trees.walk(s.goal) if isinstance(t, list) and t[0] in ("abs", "min", "max")]
        if kinks:
            yield self._cases(s, kinks[-1])  # the innermost first
            yield self._cover(s, self.boxes)
            return
        domain = self._defined(s, s.goal, smooth=False)
        if domain is None:
            yield self._cover(s, self.boxes)
            return
        for node in self._algebra(s):
            if node is not None:
                yield {**node, "defined": domain}
        yield self._cover(s, self.boxes)

    # ---- samples

    def _points(self, s: Sequent, count: int = 24) -> list[tuple[Fraction, ...]]:
        return list(islice(_refute.candidates(s.sides, 3), count))

    def signs(self, s: Sequent, tree: Tree) -> set[int]:
        """Signs of a tree at sample points, as far as floats can tell."""
        ctx.prec = 128
        balls, out = Balls(statement(tree, s.variables).program), set()
        for point in self._points(s):
            value = balls.value([rational(x) for x in point])
            if value > 0 or value < 0:
                out.add(1 if value > 0 else -1)
        ctx.prec = 64
        return out

    def _looks_false(self, s: Sequent) -> bool:
        if any(self._unbounded_hypothesis(s)):
            return False
        return -1 in self.signs(s, s.goal)

    @staticmethod
    def _unbounded_hypothesis(s: Sequent) -> Iterator[bool]:
        from proofs_checks.harness.checkers.interval import affine
        for tree, _ in s.hypotheses:
            yield affine(tree) is None

    # ---- leaves

    def _cover(self, s: Sequent, boxes: int) -> Node | None:
        given = [(statement(tree, s.variables), flag) for tree, flag in s.hypotheses]
        search = Search(statement(s.goal, s.variables), s.strict, given, s.sides, boxes=boxes, deadline=self.deadline,
                        seed=0, refute=False)
        if search.run() is True and search.settle():
            return {"rule": "cover", "boxes": [[[text(a), text(b)] for a, b in box] for box, _ in search.leaves],
                    "methods": [m for _, m in search.leaves]}
        return None

    def _cases(self, s: Sequent, term: Tree) -> Node | None:
        if term[0] == "abs":
            options = [(term[1], [term[1]]), (["mul", "-1", term[1]], [["mul", "-1", term[1]]])]
        else:
            sign = "1" if term[0] == "max" else "-1"
            options = [(a, [["mul", sign, ["add", a, ["mul", "-1", b]]] for j, b in enumerate(term[1:]) if i != j])
                       for i, a in enumerate(term[1:])]
        proofs: list[Node] = []
        for value, facts in options:
            branch = s._replace(goal=rules.replace(s.goal, term, value), depth=s.depth + 1,
                                hypotheses=s.hypotheses + tuple((fact, False) for fact in facts))
            sides = narrow(s.variables, s.sides, branch.hypotheses)
            if sides is None:
                proofs.append({"rule": "cover", "boxes": [], "methods": []})
                continue
            node = self.solve(branch._replace(sides=tuple(sides)))
            if node is None:
                return None
            proofs.append(node)
        return {"rule": "cases", "term": term, "proofs": proofs}

    def _defined(self, s: Sequent, tree: Tree, *, smooth: bool) -> Node | None:
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

    # ---- algebra

    def _algebra(self, s: Sequent) -> Iterator[Node | None]:
        field = Field()
        form = field.read(s.goal)
        if is_constant(form) or len(generators_of(form)) == 1:
            yield self._roots(s, field, form)
        yield self._bound(s, field, form)
        product = self._product(s, field, form)
        if product is not None:
            yield product
            return
        yield from self._calculus(s, field, form)

    def _accept(self, s: Sequent, node: Node) -> Node | None:
        """The node if the checker's own rule accepts it."""
        try:
            rules.prove(s, node)
        except (CertificateError, ArithmeticError, ValueError):
            return None
        return node

    def _roots(self, s: Sequent, field: Field, form: Form) -> Node | None:
        return self._accept(s, {"rule": "roots", "defined": self._defined(s, s.goal, smooth=False)})

    def _product(self, s: Sequent, field: Field, form: Form) -> Node | None:
        """Split off factors of known sign; None if there is nothing to split or a factor resists."""
        if not form.top:
            return None
        c, parts = factor(form)
        parts.sort(key=lambda item: len(item[0].top))
        items: list[list[Any]] = []
        sign, mixed = (1 if c > 0 else -1), []
        hard: list[tuple[Form, int, int]] = []
        for part, e in parts:
            tree = field.tree(part)
            if e % 2 == 0 and e > 0 and not s.strict:
                domain = self._defined(s, tree, smooth=False)
                if domain is None:
                    return None
                items.append([tree, e, 1, {"defined": domain} if domain else None])
                continue
            evident = self._evident(s, tree)
            if evident:
                items.append([tree, e, evident, None])
                sign *= evident if e % 2 else 1
                continue
            seen = self.signs(s, tree)
            if len(seen) == 1:
                hard.append((part, e, next(iter(seen))))
                sign *= next(iter(seen)) if e % 2 else 1
            else:
                mixed.append((part, e))
        if mixed:
            if len(mixed) + len(hard) + len(items) < 2 or any(e < 0 for _, e in mixed):
                return None
            joint = constant(1)
            for part, e in mixed:
                joint = field.mul(joint, field.integer_power(part, e))
            hard.append((joint, 1, sign))
            sign = 1
        if sign < 0 or (len(hard) == 1 and not items and hard[0][1] == 1 and abs(c) == 1):
            return None
        for part, e, wanted in hard:
            tree = field.tree(part)
            claim = s.about(tree if wanted == 1 else ["mul", "-1", tree], s.strict or e < 0)
            node = self.solve(claim)
            if node is None:
                return None
            items.append([tree, e, wanted, node])
        return {"rule": "product", "constant": str(c), "factors": items}

    @staticmethod
    def _evident(s: Sequent, tree: Tree) -> int:
        e = natural(statement(tree, s.variables), s.sides, rules.BITS)
        if e is None:
            return 0
        return 1 if e[0] > 0 or (e[0] == 0 and e[2]) else -1 if e[1] < 0 or (e[1] == 0 and e[3]) else 0

    def _bound(self, s: Sequent, field: Field, form: Form) -> Node | None:
        for g in sorted(generators_of(form)):
            kind = field.generators[g][0]
            if not kind.startswith("polygamma "):
                continue
            pair = coefficient_of(form, g)
            if pair is None:
                continue
            a, b = pair
            tree = field.tree(b)
            sign = self._evident(s, tree)
            m, u = int(kind[10:]), field.generators[g][1]
            if not sign:
                continue
            for shift, terms in ((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 1), (1, 2), (2, 2), (3, 2), (3, 3)):
                try:
                    bounded = calculus.asymptotic(field, m, u, shift, terms, sign == 1)
                except CertificateError:
                    continue
                goal = field.tree(field.add(a, field.mul(b, bounded)))
                node = self.solve(s.about(goal, False))
                if node is not None:
                    cover = {"rule": "cover", "boxes": [[[text(x.lo), text(x.hi)] for x in s.sides]], "methods": ["n"]}
                    return self._accept(s, {"rule": "bound", "term": field.generator_tree(g), "sign": sign,
                                            "sign_proof": cover, "shift": shift, "terms": terms, "goal": goal,
                                            "proof": node, "defined": self._defined(s, s.goal, smooth=False)})
        return None

    # ---- calculus

    def _calculus(self, s: Sequent, field: Field, form: Form) -> Iterator[Node | None]:
        for v in self._movers(s, field, form):
            slope = field.derivative(form, v)
            yield self._by_slope(s, field, form, v, slope)
            for divisor in self._divisors(field, form, v):
                yield self._divide(s, field, form, divisor)
        yield self._halve(s)

    @staticmethod
    def _movers(s: Sequent, field: Field, form: Form) -> list[str]:
        """Variables worth moving, those with the simplest derivative first."""
        def cost(v: str) -> tuple[int, int]:
            d = field.derivative(form, v)
            return len(generators_of(d)), len(d.top)
        moving = [v for v, side in zip(s.variables, s.sides, strict=True) if side.lo < side.hi
                  and any(mentions(field, g, v) for g in generators_of(form))]
        return sorted(moving, key=cost)

    @staticmethod
    def _divisors(field: Field, form: Form, v: str) -> Iterator[Form]:
        """B or B exp(u) such that the derivative of form / divisor loses a transcendental generator."""
        for g in sorted(generators_of(form)):
            kind = field.generators[g][0]
            if kind not in (*LOG_LIKE, "exp") or not mentions(field, g, v):
                continue
            pair = coefficient_of(form, g)
            if pair is None:
                continue
            exponent = next(e for m in form.top for h, e in m if h == g)
            if kind == "exp":
                yield field.mul(pair[1], Form({((g, exponent),): Fraction(1)}, {}))
            elif exponent == 1 and not is_constant(pair[1]):
                yield pair[1]

    def _divide(self, s: Sequent, field: Field, form: Form, divisor: Form) -> Node | None:
        tree = field.tree(divisor)
        sign = self._evident(s, tree)
        proof = None
        if not sign:
            seen = self.signs(s, tree)
            if len(seen) != 1:
                return None
            sign = next(iter(seen))
            proof = self.solve(s.about(tree if sign == 1 else ["mul", "-1", tree], True))
            if proof is None:
                return None
        quotient = field.mul(form, field.inverse(divisor))
        rest = field.tree(quotient)
        claim = s.about(rest if sign == 1 else ["mul", "-1", rest], s.strict)
        domain = self._defined(claim, claim.goal, smooth=False)
        if domain is None:
            return None
        signed = quotient if sign == 1 else field.scale(Fraction(-1), quotient)
        for v in self._movers(claim, field, signed):
            node = self._by_slope(claim, field, signed, v, field.derivative(signed, v))
            if node is not None:
                return {"rule": "product", "constant": "1",
                        "factors": [[tree, 1, sign, proof], [rest, 1, sign, {**node, "defined": domain}]]}
        return None

    def _by_slope(self, s: Sequent, field: Field, form: Form, v: str, slope: Form) -> Node | None:
        if not slope.top:
            return None
        i = s.variables.index(v)
        side = s.sides[i]
        inner = s._replace(sides=(*s.sides[:i], Side(side.lo, side.hi, True, True), *s.sides[i + 1:]), hypotheses=())
        smooth = self._defined(inner, s.goal, smooth=True)
        if smooth is None:
            return None
        tree = field.tree(slope)
        seen = self.signs(inner, tree)
        if len(seen) == 1:
            return self._derive(s, inner, field, form, v, seen == {1}, slope, smooth)
        for node in (self._toward(s, inner, field, form, v, slope, smooth),
                     self._ends(s, inner, field, form, v, slope, smooth)):
            if node is not None:
                return node
        return None

    def _value(self, s: Sequent, field: Field, tree: Tree, v: str, base: Any) -> Iterator[Node]:
        """Ways to state the value at a base, most exact first."""
        if base not in ("oo", "-oo"):
            there = trees.substitute(tree, {v: base})
            try:
                if not field.read(there).top:
                    yield {"how": "zero"}
            except Unsupported:
                pass
            if len(s.variables) == 1:
                yield {"how": "point"}
            else:
                i = s.variables.index(v)
                below = Sequent(there, False, (), s.variables[:i] + s.variables[i + 1:], s.sides[:i] + s.sides[i + 1:],
                                s.depth + 1)
                node = self.solve(below)
                if node is not None:
                    yield {"how": "proof", "proof": node}
        if not isinstance(base, list):
            yield {"how": "limit"}
            simpler = field.tree(field.read(tree))
            yield {"how": "limit", "tree": simpler}

    def _derive(self, s: Sequent, inner: Sequent, field: Field, form: Form, v: str, rising: bool, slope: Form,
                smooth: Node) -> Node | None:
        i = s.variables.index(v)
        base = text(s.sides[i].lo if rising else s.sides[i].hi)
        derivative = field.tree(slope if rising else field.scale(Fraction(-1), slope))
        shell: Node = {"rule": "derive", "variable": v, "base": base, "order": 1, "derivative": derivative,
                       "smooth": smooth, "closed": {}, "defined": {}}
        value = self._first_value(s, shell, field, form, v, base)
        if value is None:
            return None
        found, way = value
        strict = s.strict and found != ">"
        if strict and not (s.sides[i].lo_open if rising else s.sides[i].hi_open):
            return None
        proof = self.solve(inner.about(derivative, strict))
        return {**shell, "values": [way], "proof": proof} if proof is not None else None

    def _closed(self, s: Sequent, v: str, base: Any) -> Node:
        """Proofs that the goal is defined at the base as well."""
        if isinstance(base, list) or base in ("oo", "-oo"):
            return self._defined(s._replace(hypotheses=()), s.goal, smooth=False) or {}
        i, at = s.variables.index(v), Fraction(base)
        side = s.sides[i]
        side = Side(side.lo, side.hi, side.lo_open and side.lo != at, side.hi_open and side.hi != at)
        return self._defined(s._replace(sides=(*s.sides[:i], side, *s.sides[i + 1:]), hypotheses=()), s.goal,
                             smooth=False) or {}

    def _first_value(self, s: Sequent, shell: Node, field: Field, form: Form, v: str, base: Any) -> \
            tuple[str, Node] | None:
        shell["closed"] = {**shell["closed"], **self._closed(s, v, base)}
        for way in self._value(s, field, s.goal, v, base):
            try:
                spot = calculus._base(s, shell, base)
                return calculus._value(s, shell, spot, 0, form, field, 1, way), way
            except (CertificateError, Unsupported, ArithmeticError):
                continue
        return None

    def _toward(self, s: Sequent, inner: Sequent, field: Field, form: Form, v: str, slope: Form,
                smooth: Node) -> Node | None:
        if s.strict:
            return None
        bases: list[Any] = [["var", p] for p in s.variables if p != v]
        _, parts = factor(slope)
        bases += [str(-part.top.get((), Fraction(0))) for part, e in parts if e % 2 and self._linear(field, part, v)]
        for base in bases:
            distance = field.add(field.read(["var", v]), field.scale(Fraction(-1), field.read(base)))
            _, split = factor(field.mul(slope, field.inverse(distance)))
            cofactor = constant(factor(slope)[0])
            for part, e in split:
                cofactor = field.mul(cofactor, field.integer_power(part, e))
            if not field.equal(field.mul(cofactor, distance), slope):
                cofactor = field.mul(slope, field.inverse(distance))
            tree = field.tree(cofactor)
            if self.signs(inner, tree) != {1}:
                continue
            shell: Node = {"rule": "toward", "variable": v, "base": base, "cofactor": tree, "smooth": smooth,
                           "closed": {}, "defined": {}}
            value = self._first_value(s, shell, field, form, v, base)
            if value is None:
                continue
            proof = self.solve(inner.about(tree, False))
            if proof is not None:
                return {**shell, "value": value[1], "proof": proof}
        return None

    @staticmethod
    def _linear(field: Field, part: Form, v: str) -> bool:
        g = field._generator("var", v)
        return set(part.top) <= {((g, Fraction(1)),), ()} and part.top.get(((g, Fraction(1)),)) == 1

    def _ends(self, s: Sequent, inner: Sequent, field: Field, form: Form, v: str, slope: Form,
              smooth: Node) -> Node | None:
        """Rises, then falls: the slope is a positive factor times a falling one."""
        if len(s.variables) != 1:
            return None
        c, parts = factor(slope)
        positive, rest = constant(1), constant(c)
        for part, e in parts:
            known = self._evident(inner, field.tree(part))
            power = field.integer_power(part, e)
            if known == 1 or (known == -1 and e % 2 == 0):
                positive = field.mul(positive, power)
            else:
                rest = field.mul(rest, power)
        falls = field.scale(Fraction(-1), field.derivative(rest, v))
        if not falls.top or self.signs(inner, field.tree(falls)) != {1}:
            return None
        side = s.sides[0]
        positive_tree, rest_tree, fall = field.tree(positive), field.tree(rest), field.tree(falls)
        bases = [text(side.lo), text(side.hi)]
        shell: Node = {"rule": "ends", "variable": v, "ends": bases, "positive": positive_tree, "rest": rest_tree,
                       "fall": fall, "smooth": smooth, "closed": {}, "defined": {},
                       "smooth_rest": self._defined(inner, rest_tree, smooth=True)}
        values = [self._first_value(s, shell, field, form, v, base) for base in bases]
        if shell["smooth_rest"] is None or values[0] is None or values[1] is None:
            return None
        strict = s.strict and (values[0][0], values[1][0]) != (">", ">")
        proof = self.solve(inner.about(fall, strict))
        sign = self.solve(inner.about(positive_tree, True))
        if proof is None or sign is None:
            return None
        return {**shell, "values": [values[0][1], values[1][1]], "proof": proof, "positive_proof": sign}

    def _halve(self, s: Sequent) -> Node | None:
        """Cut at 0, or where a zero of the goal is known, and prove both parts."""
        for i, (v, side) in enumerate(zip(s.variables, s.sides, strict=True)):
            cuts = [c for c in self._cuts(s, i) if side.lo < c < side.hi]
            for cut in cuts[:3]:
                proofs = []
                for part in (Side(side.lo, cut, side.lo_open, False), Side(cut, side.hi, False, side.hi_open)):
                    node = self.solve(s._replace(sides=(*s.sides[:i], part, *s.sides[i + 1:]), depth=s.depth + 1))
                    if node is None:
                        break
                    proofs.append(node)
                else:
                    return {"rule": "split", "variable": v, "at": [str(cut)], "proofs": proofs}
        return None

    def _cuts(self, s: Sequent, i: int) -> list[Fraction]:
        if len(s.variables) > 1:
            return [Fraction(0)]
        search = Search(statement(s.goal, s.variables), s.strict, [], s.sides, boxes=1, deadline=None, seed=0, refute=False)
        zeros = [x for x, _ in search._find_zeros()]
        return list(dict.fromkeys([*zeros, Fraction(0), Fraction(1)]))


__all__ = ["INF", "NINF", "Solver"]

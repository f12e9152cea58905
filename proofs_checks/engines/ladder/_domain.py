"""Moves that change the domain: cuts, cases, orders of two variables."""
from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from proofs_checks.engines.interval._search import Search
from proofs_checks.engines.ladder._common import WORK, Node, cancelled, linear
from proofs_checks.engines.ladder._factor import factor
from proofs_checks.harness import trees
from proofs_checks.harness.algebra import Field
from proofs_checks.harness.algebra._forms import as_number
from proofs_checks.harness.checkers import _ladder_rules as rules
from proofs_checks.harness.checkers._ladder_rules import Sequent
from proofs_checks.harness.checkers.interval import narrow
from proofs_checks.harness.enclosures import INF
from proofs_checks.harness.enclosures._leaf import Side, statement
from proofs_checks.harness.trees import Tree

if TYPE_CHECKING:
    from proofs_checks.engines.ladder._solve import Solver


def kink(solver: Solver, s: Sequent, term: Tree) -> Node | None:
    """Resolve abs, min or max where one alternative is seen to hold, cut where it changes, else go by cases."""
    gap = term[1] if term[0] == "abs" else ["add", term[1], ["mul", "-1", term[2]]] if len(term) == 3 else None
    if gap is None:
        return by_cases(solver, s, term)
    seen = solver.signs(s, gap)
    if len(seen) <= 1:
        lower = (seen == {-1}) != (term[0] == "min")  # -u for abs, the second argument for max
        k = int(lower)
        value = (term[1] if k == 0 else ["mul", "-1", term[1]]) if term[0] == "abs" else term[k + 1]
        other = value if term[0] == "abs" else ["mul", "1" if term[0] == "max" else "-1", [
            "add", value, ["mul", "-1", term[2 - k]]]]
        fact = solver.solve(s.about(other, False))
        if fact is not None:
            node = solver.solve(s.about(rules.replace(s.goal, term, value), s.strict))
            return node and {"rule": "resolve", "term": term, "choice": k, "facts": [fact], "proof": node}
    elif len(s.variables) == 1:
        side = s.sides[0]
        for cut in cut_points(solver, s.about(gap, False), 0):
            if side.lo < cut < side.hi and any(
                    len(solver.signs(s._replace(sides=(part,)), gap)) == 1 for part in
                    (Side(side.lo, cut, True, True), Side(cut, side.hi, True, True))):
                return cut_at(solver, s, 0, cut)
    return by_cases(solver, s, term)


def excluded(solver: Solver, s: Sequent) -> Node | None:
    """Cut at a point where a strict hypothesis about one variable fails, such as x != 1."""
    for j, (tree, flag) in enumerate(s.hypotheses):
        names = trees.variables(tree)
        if not flag or len(names) != 1:
            continue
        field = Field(WORK)
        form = field.read(tree)
        for part, e in factor(form)[1] if form.top else ():
            if e % 2 == 0 and linear(field, part, names[0]):
                i, cut = s.variables.index(names[0]), -part.top.get((), Fraction(0))
                if s.sides[i].lo < cut < s.sides[i].hi:
                    return cut_at(solver, s, i, cut, outside=j)
    return None


def cut_at(solver: Solver, s: Sequent, i: int, cut: Fraction, outside: int | None = None) -> Node | None:
    """Both parts of the domain, without the cut itself where the hypothesis number `outside` fails there."""
    side, out, proofs = s.sides[i], outside is not None, []
    for part in (Side(side.lo, cut, side.lo_open, out), Side(cut, side.hi, out, side.hi_open)):
        node = solver.solve(s._replace(sides=(*s.sides[:i], part, *s.sides[i + 1:]), depth=s.depth + 1))
        if node is None:
            return None
        proofs.append(node)
    shell: Node = {"rule": "split", "variable": s.variables[i], "at": [str(cut)], "proofs": proofs}
    return {**shell, "outside": {"0": outside}} if out else shell


def by_order(solver: Solver, s: Sequent) -> Node | None:
    """x = y + d where a hypothesis orders x and y."""
    field = Field(WORK)
    for j, (tree, flag) in enumerate(s.hypotheses):
        names = trees.variables(tree)
        if len(names) != 2:
            continue
        form = field.read(tree)
        for x, y, sign in ((names[0], names[1], 1), (names[0], names[1], -1)):
            difference = field.add(field.read(["var", x]), field.scale(Fraction(-1), field.read(["var", y])))
            ratio = field.mul(form, field.inverse(field.scale(Fraction(sign), difference)))
            scale = as_number(cancelled(ratio))
            if scale is None or scale <= 0:
                continue
            i = s.variables.index(x)
            new = f"{x}_{y}"
            while new in s.variables:
                new += "_"
            value: Tree = ["add", ["var", y], ["mul", str(sign), ["var", new]]]
            side = s.sides[i]
            facts = [(["add", value, str(-side.lo)], side.lo_open)] if not isinstance(side.lo, float) else []
            if not isinstance(side.hi, float):
                facts.append((["add", str(side.hi), ["mul", "-1", value]], side.hi_open))
            hypotheses = tuple((trees.substitute(h, {x: value}), f) for h, f in s.hypotheses) + tuple(facts)
            variables = (*s.variables[:i], new, *s.variables[i + 1:])
            sides = narrow(variables, (*s.sides[:i], Side(Fraction(0), INF, flag, True), *s.sides[i + 1:]), hypotheses)
            if sides is None:
                continue
            node = solver.solve(Sequent(trees.substitute(s.goal, {x: value}), s.strict, hypotheses, variables,
                                      tuple(sides), s.depth + 1))
            if node is not None:
                return {"rule": "substitute", "variable": x, "other": y, "name": new, "sign": sign, "hypothesis": j,
                        "scale": str(scale), "proof": node}
    return None


def by_cases(solver: Solver, s: Sequent, term: Tree) -> Node | None:
    """Every alternative of abs, min or max, each with the hypothesis that it is the one."""
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
        node = solver.solve(branch._replace(sides=tuple(sides)))
        if node is None:
            return None
        proofs.append(node)
    return {"rule": "cases", "term": term, "proofs": proofs}


def halve(solver: Solver, s: Sequent) -> Node | None:
    """Cut at 0, or where a zero of the goal is known, and prove both parts."""
    for i, side in enumerate(s.sides):
        cuts = [c for c in cut_points(solver, s, i) if side.lo < c < side.hi]
        for cut in cuts[:3]:
            node = cut_at(solver, s, i, cut)
            if node is not None:
                return node
    return None


def cut_points(solver: Solver, s: Sequent, i: int) -> list[Fraction]:
    """Where to cut a side: zeros of the goal, 0 and 1."""
    if len(s.variables) > 1:
        return [Fraction(0)]
    search = Search(statement(s.goal, s.variables), s.strict, [], s.sides, boxes=1, deadline=None, seed=0, refute=False)
    zeros = [x for x, _ in search._find_zeros()]
    return list(dict.fromkeys([*zeros, Fraction(0), Fraction(1)]))

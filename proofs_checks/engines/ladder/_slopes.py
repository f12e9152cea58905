"""Moves of calculus: which variable to move, from where, after which division."""
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from proofs_checks.engines.interval._search import text
from proofs_checks.engines.ladder._common import LOG_LIKE, Node, cancelled, evident, linear
from proofs_checks.engines.ladder._factor import coefficient_of, factor, generators_of, is_constant, mentions
from proofs_checks.harness import trees
from proofs_checks.harness.algebra import Field, Form, Unsupported
from proofs_checks.harness.algebra._forms import as_number, constant, content
from proofs_checks.harness.checkers import _ladder_calculus as calculus
from proofs_checks.harness.checkers._ladder_rules import Sequent
from proofs_checks.harness.enclosures._leaf import Side
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree

if TYPE_CHECKING:
    from proofs_checks.engines.ladder._solve import Solver


def by_calculus(solver: Solver, s: Sequent, field: Field, form: Form) -> Iterator[Node | None]:
    """Steps along one variable, simplest slopes first."""
    for v, slope, divisor in options(solver, s, field, form):
        yield by_slope(solver, s, field, form, v, slope) if divisor is None else divide(solver, s, field, form, divisor)


def by_easy_slope(solver: Solver, s: Sequent, field: Field, form: Form) -> Node | None:
    """A step whose derivative has factors of evident sign and factors in one generator only: tried before others."""
    for v in movers(s, field, form):
        slope = field.derivative(form, v)
        if not slope.top:
            continue
        hard = [part for part, e in factor(slope)[1] if len(generators_of(part)) > 1 and not (
            e % 2 == 0 and e > 0) and not evident(s, field.tree(part))]
        if not hard and len(solver.signs(s, field.tree(slope))) == 1:
            node = by_slope(solver, s, field, form, v, slope)
            if node is not None:
                return node
    return None


def options(solver: Solver, s: Sequent, field: Field, form: Form) -> list[tuple[str, Form, Form | None]]:
    """(variable, slope, divisor): what to differentiate, after which division, simplest slopes first."""
    found: list[tuple[tuple[int, int, int], str, Form, Form | None]] = []
    for v in movers(s, field, form):
        for divisor in (None, *divisors(field, form, v)):
            target = form if divisor is None else field.mul(form, field.inverse(divisor))
            slope = field.derivative(target, v)
            shared = generators_of(Form({content(slope.top): Fraction(1)}, {})) if slope.top else set()
            hard = [g for g in generators_of(slope) if field.generators[g][0] not in ("var", "root", "pi")
                    and (g not in shared or any(dict(m).get(g) != dict(content(slope.top)).get(g) for m in slope.top))]
            found.append(((len(hard), divisor is not None, len(slope.top)), v, slope, divisor))
    found.sort(key=lambda item: item[0])
    return [item[1:] for item in found]


def movers(s: Sequent, field: Field, form: Form) -> list[str]:
    """Variables worth moving, those with the simplest derivative first."""
    def cost(v: str) -> tuple[int, int]:
        d = field.derivative(form, v)
        return len(generators_of(d)), len(d.top)
    moving = [v for v, side in zip(s.variables, s.sides, strict=True) if side.lo < side.hi
              and any(mentions(field, g, v) for g in generators_of(form))]
    return sorted(moving, key=cost)


def divisors(field: Field, form: Form, v: str) -> Iterator[Form]:
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


def divide(solver: Solver, s: Sequent, field: Field, form: Form, divisor: Form) -> Node | None:
    """The goal over a divisor of one sign, then a step along a variable."""
    tree = field.tree(divisor)
    sign = evident(s, tree)
    proof = None
    if not sign:
        seen = solver.signs(s, tree)
        if len(seen) != 1:
            return None
        sign = next(iter(seen))
        proof = solver.solve(s.about(tree if sign == 1 else ["mul", "-1", tree], True))
        if proof is None:
            return None
    quotient = field.mul(form, field.inverse(divisor))
    rest = field.tree(quotient)
    claim = s.about(rest if sign == 1 else ["mul", "-1", rest], s.strict)
    domain = solver.defined(claim, claim.goal, smooth=False)
    if domain is None:
        return None
    signed = quotient if sign == 1 else field.scale(Fraction(-1), quotient)
    for v in movers(claim, field, signed):
        node = by_slope(solver, claim, field, signed, v, field.derivative(signed, v))
        if node is not None:
            return {"rule": "product", "constant": "1",
                    "factors": [[tree, 1, sign, proof], [rest, 1, sign, {**node, "defined": domain}]]}
    return None


def by_slope(solver: Solver, s: Sequent, field: Field, form: Form, v: str, slope: Form) -> Node | None:
    """One step: the slope keeps its sign, or changes it at a known base, or once from + to -."""
    if not slope.top:
        return None
    i = s.variables.index(v)
    side = s.sides[i]
    inner = s._replace(sides=(*s.sides[:i], Side(side.lo, side.hi, True, True), *s.sides[i + 1:]), hypotheses=())
    smooth = solver.defined(inner, s.goal, smooth=True)
    if smooth is None:
        return None
    tree = field.tree(slope)
    seen = solver.signs(inner, tree)
    if len(seen) == 1:
        return derive(solver, s, inner, field, form, v, seen == {1}, slope, smooth)
    for node in (toward(solver, s, inner, field, form, v, slope, smooth),
                 ends(solver, s, inner, field, form, v, slope, smooth)):
        if node is not None:
            return node
    return None


def values(solver: Solver, s: Sequent, field: Field, tree: Tree, v: str, base: Any) -> Iterator[Node]:
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
            node = solver.solve(below)
            if node is not None:
                yield {"how": "proof", "proof": node}
    if not isinstance(base, list):
        yield {"how": "limit"}
        simpler = field.tree(field.read(tree))
        yield {"how": "limit", "tree": simpler}
        if base in ("oo", "-oo"):
            yield {"how": "limit", "tree": far_tree(field, field.read(tree), v)}


def far_tree(field: Field, form: Form, v: str) -> Tree:
    """The form as it looks far out: polynomials divided by their leading powers, also those inside logarithms."""
    logs: list[Tree] = []
    for h in sorted(generators_of(form)):
        kind, inner = field.generators[h]
        pair = coefficient_of(form, h) if kind == "log" else None
        if pair is None or inner.bottom or not mentions(field, h, v):
            continue
        c = as_number(cancelled(pair[1]))
        if c is None:
            continue
        form = field.add(form, field.scale(-c, Form({((h, Fraction(1)),): Fraction(1)}, {})))
        reduced, degree = _reduced(field, inner, v)
        logs.append(["mul", str(c), ["log", field.tree(reduced)]])
        form = field.add(form, field.scale(c * degree, field.log(field.generator("var", v)))) if degree else form
    form = cancelled(form)
    top, power = _reduced(field, Form(form.top, {}), v)
    factors = [field.tree(top)]
    for key, n in form.bottom.items():
        low, degree = _reduced(field, Form(dict(key), {}), v)
        power -= n * degree
        factors.append(["pow", field.tree(low), str(-n)])
    return ["add", *logs, ["mul", ["pow", ["var", v], str(power)], *factors]] if power else ["add", *logs, ["mul", *factors]]


def _reduced(field: Field, form: Form, v: str) -> tuple[Form, Fraction]:
    """A polynomial divided by its leading power of v, and that power."""
    g = field._generator("var", v)
    degree = max((dict(m).get(g, Fraction(0)) for m in form.top), default=Fraction(0))
    return (field.mul(form, Form({((g, -degree),): Fraction(1)}, {})) if degree else form), degree


def derive(solver: Solver, s: Sequent, inner: Sequent, field: Field, form: Form, v: str, rising: bool, slope: Form,
            smooth: Node) -> Node | None:
    """The slope keeps its sign: start at the end where the goal is least."""
    i = s.variables.index(v)
    base = text(s.sides[i].lo if rising else s.sides[i].hi)
    derivative = field.tree(slope if rising else field.scale(Fraction(-1), slope))
    shell: Node = {"rule": "derive", "variable": v, "base": base, "order": 1, "derivative": derivative,
                   "smooth": smooth, "closed": {}, "defined": {}}
    value = first_value(solver, s, shell, field, form, v, base)
    if value is None:
        return None
    found, way = value
    strict = s.strict and found != ">"
    if strict and not (s.sides[i].lo_open if rising else s.sides[i].hi_open):
        return None
    proof = solver.solve(inner.about(derivative, strict))
    return {**shell, "values": [way], "proof": proof} if proof is not None else None


def closed(solver: Solver, s: Sequent, v: str, base: Any) -> Node:
    """Proofs that the goal is defined at the base as well."""
    if isinstance(base, list) or base in ("oo", "-oo"):
        return solver.defined(s._replace(hypotheses=()), s.goal, smooth=False) or {}
    i, at = s.variables.index(v), Fraction(base)
    side = s.sides[i]
    side = Side(side.lo, side.hi, side.lo_open and side.lo != at, side.hi_open and side.hi != at)
    return solver.defined(s._replace(sides=(*s.sides[:i], side, *s.sides[i + 1:]), hypotheses=()), s.goal,
                         smooth=False) or {}


def first_value(solver: Solver, s: Sequent, shell: Node, field: Field, form: Form, v: str, base: Any) -> \
        tuple[str, Node] | None:
    """The first way to state the value at a base that the checker accepts, and what it shows."""
    shell["closed"] = {**shell["closed"], **closed(solver, s, v, base)}
    for way in values(solver, s, field, s.goal, v, base):
        try:
            spot = calculus._base(s, shell, base)
            return calculus._value(s, shell, spot, 0, form, field, 1, way), way
        except (CertificateError, Unsupported, ArithmeticError):
            continue
    return None


def toward(solver: Solver, s: Sequent, inner: Sequent, field: Field, form: Form, v: str, slope: Form,
            smooth: Node) -> Node | None:
    """The slope changes sign with (v - base)."""
    if s.strict:
        return None
    bases: list[Any] = [["var", p] for p in s.variables if p != v]
    _, parts = factor(slope)
    bases += [str(-part.top.get((), Fraction(0))) for part, e in parts if e % 2 and linear(field, part, v)]
    for base in bases:
        distance = field.add(field.read(["var", v]), field.scale(Fraction(-1), field.read(base)))
        _, split = factor(field.mul(slope, field.inverse(distance)))
        cofactor = constant(factor(slope)[0])
        for part, e in split:
            cofactor = field.mul(cofactor, field.integer_power(part, e))
        if not field.equal(field.mul(cofactor, distance), slope):
            cofactor = field.mul(slope, field.inverse(distance))
        tree = field.tree(cofactor)
        if solver.signs(inner, tree) != {1}:
            continue
        shell: Node = {"rule": "toward", "variable": v, "base": base, "cofactor": tree, "smooth": smooth,
                       "closed": {}, "defined": {}}
        value = first_value(solver, s, shell, field, form, v, base)
        if value is None:
            continue
        proof = solver.solve(inner.about(tree, False))
        if proof is not None:
            return {**shell, "value": value[1], "proof": proof}
    return None


def ends(solver: Solver, s: Sequent, inner: Sequent, field: Field, form: Form, v: str, slope: Form,
          smooth: Node) -> Node | None:
    """Rises, then falls: the slope is a positive factor times a falling one."""
    if len(s.variables) != 1:
        return None
    c, parts = factor(slope)
    positive, rest = constant(1), constant(c)
    for part, e in parts:
        known = evident(inner, field.tree(part))
        power = field.integer_power(part, e)
        if known == 1 or (known == -1 and e % 2 == 0):
            positive = field.mul(positive, power)
        else:
            rest = field.mul(rest, power)
    falls = field.scale(Fraction(-1), field.derivative(rest, v))
    if not falls.top or solver.signs(inner, field.tree(falls)) != {1}:
        return None
    side = s.sides[0]
    positive_tree, rest_tree, fall = field.tree(positive), field.tree(rest), field.tree(falls)
    bases = [text(side.lo), text(side.hi)]
    shell: Node = {"rule": "ends", "variable": v, "ends": bases, "positive": positive_tree, "rest": rest_tree,
                   "fall": fall, "smooth": smooth, "closed": {}, "defined": {},
                   "smooth_rest": solver.defined(inner, rest_tree, smooth=True)}
    values = [first_value(solver, s, shell, field, form, v, base) for base in bases]
    if shell["smooth_rest"] is None or values[0] is None or values[1] is None:
        return None
    strict = s.strict and (values[0][0], values[1][0]) != (">", ">")
    proof = solver.solve(inner.about(fall, strict))
    sign = solver.solve(inner.about(positive_tree, True))
    if proof is None or sign is None:
        return None
    return {**shell, "values": [values[0][1], values[1][1]], "proof": proof, "positive_proof": sign}



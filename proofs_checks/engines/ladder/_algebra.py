"""Moves of algebra: factors, root counts, squares, asymptotic bounds, the far end of an unbounded side."""
from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from proofs_checks.engines.interval._search import text
from proofs_checks.engines.ladder._common import WORK, Node, evident
from proofs_checks.engines.ladder._domain import cut_at, halve
from proofs_checks.engines.ladder._factor import coefficient_of, factor, generators_of, is_constant
from proofs_checks.engines.ladder._slopes import by_calculus, by_easy_slope
from proofs_checks.harness.algebra import Field, Form
from proofs_checks.harness.algebra._forms import constant
from proofs_checks.harness.checkers import _ladder_calculus as calculus
from proofs_checks.harness.checkers._ladder_rules import Sequent, field_of
from proofs_checks.harness.recheck import CertificateError

if TYPE_CHECKING:
    from proofs_checks.engines.ladder._solve import Solver


def by_algebra(solver: Solver, s: Sequent) -> Iterator[Node | None]:
    """Proofs of a sequent by its normal form, cheapest moves first."""
    field = field_of(s, WORK)
    form = field.read(s.goal)
    if is_constant(form) or len(generators_of(form)) == 1:
        yield by_roots(solver, s, field, form)
    yield by_bound(solver, s, field, form)
    yield by_easy_slope(solver, s, field, form)
    product = by_product(solver, s, field, form)
    if product is not None:
        yield product
        return
    yield by_squares(solver, s, field, form)
    yield from by_calculus(solver, s, field, form)
    yield by_tail(solver, s, field, form)
    yield halve(solver, s)


def by_roots(solver: Solver, s: Sequent, field: Field, form: Form) -> Node | None:
    """A rational function of one generator."""
    return solver.accept(s, {"rule": "roots", "defined": solver.defined(s, s.goal, smooth=False)})


def by_product(solver: Solver, s: Sequent, field: Field, form: Form) -> Node | None:
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
            domain = solver.defined(s, tree, smooth=False)
            if domain is None:
                return None
            items.append([tree, e, 1, {"defined": domain} if domain else None])
            continue
        known = evident(s, tree)
        if known:
            items.append([tree, e, known, None])
            sign *= known if e % 2 else 1
            continue
        seen = solver.signs(s, tree)
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
        node = solver.solve(claim)
        if node is None:
            return None
        items.append([tree, e, wanted, node])
    return {"rule": "product", "constant": str(c), "factors": items}


def by_bound(solver: Solver, s: Sequent, field: Field, form: Form) -> Node | None:
    """A polygamma or log gamma with a coefficient of evident sign, replaced by an asymptotic bound."""
    for g in sorted(generators_of(form)):
        kind = field.generators[g][0]
        if not kind.startswith("polygamma ") and kind != "loggamma":
            continue
        pair = coefficient_of(form, g)
        if pair is None:
            continue
        a, b = pair
        tree = field.tree(b)
        sign = evident(s, tree)
        m, u = -1 if kind == "loggamma" else int(kind[10:]), field.generators[g][1]
        if not sign:
            continue
        for shift, terms in ((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 1), (1, 2), (2, 2), (3, 2), (3, 3)):
            try:
                bounded = calculus.asymptotic(field, m, u, shift, terms, sign == 1)
            except CertificateError:
                continue
            goal = field.tree(field.add(a, field.mul(b, bounded)))
            node = solver.solve(s.about(goal, False))
            if node is not None:
                cover = {"rule": "cover", "boxes": [[[text(x.lo), text(x.hi)] for x in s.sides]], "methods": ["n"]}
                return solver.accept(s, {"rule": "bound", "term": field.generator_tree(g), "sign": sign,
                                        "sign_proof": cover, "shift": shift, "terms": terms, "goal": goal,
                                        "proof": node, "defined": solver.defined(s, s.goal, smooth=False)})
    return None


def by_tail(solver: Solver, s: Sequent, field: Field, form: Form) -> Node | None:
    """One variable out to infinity: far out, divide by the leading power and look at what remains."""
    if len(s.variables) != 1:
        return None
    side = s.sides[0]
    if not (isinstance(side.lo, float) or isinstance(side.hi, float)):
        return None
    if isinstance(side.lo, float) and isinstance(side.hi, float):
        return None  # `_halve` cuts at 0 first
    g = field._generator("var", s.variables[0])
    powers = [dict(m).get(g, Fraction(0)) for m in form.top]
    near = Fraction(side.hi if isinstance(side.lo, float) else side.lo)
    far = Fraction(16) if isinstance(side.hi, float) else Fraction(-16)
    if abs(near) < 16:
        return cut_at(solver, s, 0, far)
    if max(powers) <= 0:
        return None
    divisor = Form({((g, max(powers)),): Fraction(1)}, {})
    sign = evident(s, field.tree(divisor))
    rest = field.tree(field.mul(form, field.inverse(divisor)))
    if not sign:
        return None
    node = solver.cover(s.about(rest if sign == 1 else ["mul", "-1", rest], s.strict), 200)
    return node and {"rule": "product", "constant": "1",
                     "factors": [[field.tree(divisor), 1, sign, None], [rest, 1, sign, node]]}


def by_squares(solver: Solver, s: Sequent, field: Field, form: Form) -> Node | None:
    """P + Q r with a square root r: compare the squares."""
    if any(field.generators[g][0] not in ("var", "root", "pi") for g in generators_of(form)):
        return None  # squaring a transcendental function leads nowhere
    for g in sorted(generators_of(form)):
        exponents = {e for m in form.top for h, e in m if h == g}
        kind, base = field.generators[g]
        if not exponents or {e.denominator for e in exponents} != {2} or form.bottom or kind not in ("root", "var") or (
                kind == "root" and is_constant(base)):
            continue
        with_root = Form({m: c for m, c in form.top.items() if any(h == g for h, _ in m)}, {})
        without = Form({m: c for m, c in form.top.items() if not any(h == g for h, _ in m)}, {})
        for big, small in ((with_root, without), (without, with_root)):
            gap = field.add(field.mul(big, big), field.scale(Fraction(-1), field.mul(small, small)))
            p, gap_tree = field.tree(big), field.tree(gap)
            if not big.top or not small.top or -1 in solver.signs(s, p) or -1 in solver.signs(s, gap_tree):
                continue
            first, second = solver.solve(s.about(p, False)), solver.solve(s.about(gap_tree, s.strict))
            if first is not None and second is not None:
                return {"rule": "square", "p": p, "q": field.tree(small), "gap": gap_tree, "p_proof": first,
                        "proof": second}
    return None



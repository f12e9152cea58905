"""Rules of kind "ladder" about slopes and asymptotic bounds. Standard library only.

These rules walk along one variable through the whole box, so hypotheses that are not sides of the box play no part."""
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import factorial
from typing import Any, NamedTuple

from proofs_checks.harness import trees
from proofs_checks.harness.algebra import Field, Form
from proofs_checks.harness.algebra._forms import as_number, constant
from proofs_checks.harness.checkers._ladder_rules import BITS, Sequent, defined, field_of, need, prove
from proofs_checks.harness.checkers._subject import only
from proofs_checks.harness.checkers.interval import end
from proofs_checks.harness.enclosures import INF, NINF, Functions, Program, Undefined, Undetermined
from proofs_checks.harness.enclosures._leaf import End, Side, _germ, _jumps, natural, statement
from proofs_checks.harness.enclosures._reals import bernoulli
from proofs_checks.harness.trees import Tree

MOST_STEPS = 12


class Base(NamedTuple):
    """Where a variable starts from: a rational or infinite end, or another variable."""

    variable: str
    axis: int
    value: End | None  # None: another variable
    other: str

    @property
    def tree(self) -> Tree:
        """The base as a tree (finite bases only)."""
        return ["var", self.other] if self.value is None else str(self.value)


def _base(s: Sequent, node: Mapping[str, Any], text: Any) -> Base:
    i = s.variables.index(node["variable"])
    if isinstance(text, list):
        need(text[0] == "var" and text[1] in s.variables and text[1] != node["variable"], "a base is another variable")
        other = s.sides[s.variables.index(text[1])]
        side = s.sides[i]
        need(side.lo < other.lo or (side.lo == other.lo and (other.lo_open or not side.lo_open)), "base leaves the domain")
        need(side.hi > other.hi or (side.hi == other.hi and (other.hi_open or not side.hi_open)), "base leaves the domain")
        return Base(node["variable"], i, None, text[1])
    value = end(text)
    need(s.sides[i].lo <= value <= s.sides[i].hi, "the base must lie in the closed domain")
    return Base(node["variable"], i, value, "")


def _interior(s: Sequent, i: int) -> Sequent:
    side = s.sides[i]
    need(side.lo < side.hi, "a variable that moves needs a side with an interior")
    return s._replace(sides=(*s.sides[:i], Side(side.lo, side.hi, True, True), *s.sides[i + 1:]), hypotheses=())


def _value(s: Sequent, node: Mapping[str, Any], base: Base, order: int, form: Form, field: Field, sign: int,
           item: Mapping[str, Any]) -> str:
    """">", "=" or ">=": what is shown of sign times the derivative `form` of this order at the base."""
    own = s.goal if order == 0 else field.tree(form)
    tree = item.get("tree", own)
    if tree is not own:
        need(field.equal(field.read(tree), form), "a value is stated for another function than the derivative")
    signed = tree if sign == 1 else ["mul", "-1", tree]
    only(item, "how", "tree", "proof", "strict", header=False)
    how = item["how"]
    if how == "limit":
        return _limit(s, base, signed)
    need(base.value not in (INF, NINF), "a value at infinity is a limit")
    if how == "point":
        need(len(s.variables) == 1, "a point needs one variable")
        return _point(s, base, signed, order)
    closed = s._replace(hypotheses=())
    if base.value is not None:  # the base may be an end that the domain leaves out
        side = s.sides[base.axis]
        finite = Side(side.lo, side.hi, side.lo_open and side.lo != base.value, side.hi_open and side.hi != base.value)
        closed = closed._replace(sides=(*s.sides[:base.axis], finite, *s.sides[base.axis + 1:]))
    defined(closed, node, smooth=order > 0, field="closed")
    there = trees.substitute(signed, {base.variable: base.tree})
    if how == "zero":
        need(not field.read(there).top, "the value at the base is not identically 0")
        return "="
    need(how == "proof" and len(s.variables) > 1, f"unknown kind of value {how!r}")
    keep = [k for k in range(len(s.variables)) if k != base.axis]
    below = Sequent(there, bool(item.get("strict", False)), (), tuple(s.variables[k] for k in keep),
                    tuple(s.sides[k] for k in keep), s.depth + 1)
    prove(below, item["proof"])
    return ">" if below.strict else ">="


def _limit(s: Sequent, base: Base, tree: Tree) -> str:
    side = s.sides[base.axis]
    need(base.value is not None and base.value in (side.lo, side.hi), "a limit is taken at an end")
    field = Functions(BITS, germ=True)
    assert base.value is not None
    at = _germ(base.value, base.value == side.lo, field)
    box = [at if k == base.axis else field.box(*side) for k, side in enumerate(s.sides)]
    try:
        e = statement(tree, s.variables).program.value(box, field)
    except (Undefined, Undetermined) as error:
        need(False, f"no limit at {base.value}: {error}")
    need(e[0] >= 0, f"the limit at {base.value} is not shown to be >= 0")
    return ">" if e[0] > 0 else ">="


def _point(s: Sequent, base: Base, tree: Tree, order: int) -> str:
    side, at = s.sides[0], Fraction(base.value)  # type: ignore[arg-type]
    inside = not ((at == side.lo and side.lo_open) or (at == side.hi and side.hi_open))
    if order > 0 or not inside:  # then the tree must be continuous at the base on its own account
        field = Functions(BITS)
        try:
            Program(tree, s.variables).gradient([field.box(at, at)], field)
        except (Undefined, Undetermined) as error:
            need(False, f"not smooth at {at}: {error}")
        need(not _jumps(tree), "a value that may jump")
    try:
        value = trees.evaluate(tree, {base.variable: at})
        need(value >= 0, f"the value at {at} is negative")
        return ">" if value > 0 else "="
    except trees.Inexact:
        pass
    e = natural(statement(tree, s.variables), [Side(at, at)], BITS)
    need(e is not None and e[0] >= 0, f"the value at {at} is not shown to be >= 0")
    assert e is not None
    return ">" if e[0] > 0 or e[2] else ">="


def derive(s: Sequent, node: Mapping[str, Any]) -> None:
    """f >= 0 from f^(i)(base) >= 0 for i < k and f^(k) >= 0, with alternating signs to the left of the base."""
    base = _base(s, node, node["base"])
    k, values, side = node["order"], node["values"], s.sides[base.axis]
    need(type(k) is int and 1 <= k <= MOST_STEPS and len(values) == k, "an order and as many values")
    right = base.value is not None and base.value == side.lo
    left = base.value is not None and base.value == side.hi
    both = not right and not left
    need(not both or k % 2 == 0, "a base inside needs an even order")
    inner = _interior(s, base.axis)
    defined(inner, node, smooth=True, field="smooth")
    field = field_of(s)
    forms = [field.read(s.goal)]
    for _ in range(k):
        forms.append(field.derivative(forms[-1], base.variable))
    found = [_value(s, node, base, i, forms[i], field, -1 if left and i % 2 else 1, values[i]) for i in range(k)]
    need(not both or all(found[i] == "=" for i in range(1, k, 2)), "odd derivatives at an inner base must be 0")
    sign = -1 if left and k % 2 else 1
    need(field.equal(field.read(node["derivative"]), field.scale(Fraction(sign), forms[k])), "not the derivative")
    strict = False
    if s.strict and found[0] != ">":
        excluded = (right and side.lo_open) or (left and side.hi_open)
        need(excluded, "the goal is not shown to be > 0 at the base")
        strict = ">" not in found
    prove(inner.about(node["derivative"], strict), node["proof"])


def toward(s: Sequent, node: Mapping[str, Any]) -> None:
    """f >= 0 from f(base) >= 0 and f' = (v - base) h, h >= 0."""
    need(not s.strict, "'toward' proves >= 0 only")
    base = _base(s, node, node["base"])
    need(base.value not in (INF, NINF), "a finite base")
    inner = _interior(s, base.axis)
    defined(inner, node, smooth=True, field="smooth")
    field = field_of(s)
    form = field.read(s.goal)
    _value(s, node, base, 0, form, field, 1, node["value"])
    distance = field.add(field.read(["var", base.variable]), field.scale(Fraction(-1), field.read(base.tree)))
    slope = field.mul(distance, field.read(node["cofactor"]))
    need(field.equal(field.derivative(form, base.variable), slope), "not the slope")
    prove(inner.about(node["cofactor"], False), node["proof"])


def ends(s: Sequent, node: Mapping[str, Any]) -> None:
    """f >= 0 from its values at both ends and f' = c h, c > 0, h decreasing: f rises, then falls."""
    field = field_of(s)
    form = field.read(s.goal)
    bases = [_base(s, node, node["ends"][k]) for k in (0, 1)]
    i = bases[0].axis
    need([b.value for b in bases] == [s.sides[i].lo, s.sides[i].hi], "the ends of the domain")
    inner = _interior(s, i)
    defined(inner, node, smooth=True, field="smooth")
    h = field.read(node["rest"])
    need(field.equal(field.derivative(form, node["variable"]), field.mul(field.read(node["positive"]), h)),
         "not the slope")
    defined(inner.about(node["rest"], False), node, smooth=True, field="smooth_rest")
    need(field.equal(field.read(node["fall"]), field.scale(Fraction(-1), field.derivative(h, node["variable"]))),
         "not the slope of the slope")
    found = [_value(s, node, base, 0, form, field, 1, node["values"][k]) for k, base in enumerate(bases)]
    strict = False
    if s.strict:
        is_open = (s.sides[i].lo_open, s.sides[i].hi_open)
        need(all(value == ">" or out for value, out in zip(found, is_open, strict=True)), "not > 0 at an end")
        strict = found != [">", ">"]
    prove(inner.about(node["positive"], True), node["positive_proof"])
    prove(inner.about(node["fall"], strict), node["proof"])


# ---- asymptotic bounds

def bound(s: Sequent, node: Mapping[str, Any]) -> None:
    """The goal is A + B psi^(m)(u), or with log gamma (m = -1), B of one sign: a bound replaces it, and the rest is proved."""
    term = node["term"]
    need(isinstance(term, list) and term[0] in ("digamma", "polygamma", "loggamma"), "no bounds of this function")
    m = {"digamma": 0, "loggamma": -1}[term[0]] if term[0] != "polygamma" else int(trees.number(term[1]))
    field = field_of(s)
    goal, generator = field.read(s.goal), field.read(term)
    ((g, exponent),) = next(iter(generator.top))
    need(exponent == 1 and all(g not in {h for mono, _ in key for h, _ in mono} for key in goal.bottom), "a plain term")
    need(not any(_contains(field, h, g) for p in (goal.top, *map(dict, goal.bottom)) for mono in p for h, _ in mono
                 if h != g), "the term occurs inside another function")
    rest: dict[Any, Fraction] = {}
    slope: dict[Any, Fraction] = {}
    for mono, c in goal.top.items():
        powers = dict(mono)
        e = powers.pop(g, Fraction(0))
        need(e in (0, 1), "the goal is not affine in the term")
        (slope if e else rest)[tuple(sorted(powers.items()))] = c
    a, b = Form(rest, goal.bottom), Form(slope, goal.bottom)
    number, sign = as_number(b), node["sign"]
    need(sign in (1, -1), "the sign of the coefficient")
    if number is None:
        tree = field.tree(b)
        prove(s.about(tree if sign == 1 else ["mul", "-1", tree], True), node["sign_proof"])
    else:
        need(number * sign > 0, "the sign of the coefficient")
    at = term[-1]
    prove(s.about(at, True), node.get("positive", {"rule": "cover", "boxes": [[[_text(side.lo), _text(side.hi)]
                                                                             for side in s.sides]], "methods": ["n"]}))
    replaced = field.add(a, field.mul(b, asymptotic(field, m, field.read(at), node["shift"], node["terms"], sign == 1)))
    need(field.equal(field.read(node["goal"]), replaced), "not the goal with its bound")
    prove(s.about(node["goal"], False), node["proof"])  # the bounds are strict


def _text(e: End) -> str:
    return ("oo" if e > 0 else "-oo") if isinstance(e, float) else str(e)


def _contains(field: Field, outer: int, g: int) -> bool:
    """Whether the generator `outer` has g somewhere in its argument."""
    argument = field.generators[outer][1]
    if not isinstance(argument, Form):
        return field.generators[outer][0] not in ("var", "pi")
    inner = {h for p in (argument.top, *map(dict, argument.bottom)) for mono in p for h, _ in mono}
    return g in inner or any(_contains(field, h, g) for h in inner)


def asymptotic(field: Field, m: int, u: Form, shift: int, terms: int, lower: bool) -> Form:
    """A strict lower (upper) bound of psi^(m)(u), u > 0: recurrence, then the Stirling series cut after `terms`.

    log gamma (m = -1) and (-1)^(m+1) psi^(m)(w) lie above the series cut before a positive term and below it cut before
    a negative one (Abramowitz and Stegun 6.1.42, 6.4.11); the next term has the sign of B_(2 terms + 2)."""
    need(isinstance(shift, int) and isinstance(terms, int) and 0 <= shift <= 20 and 0 <= terms <= 20 and -1 <= m <= 10,
         "a small shift and number of terms")
    flip = 1 if m % 2 else -1  # (-1)^(m+1)
    below = bernoulli(2 * terms + 2) > 0  # the series cut here is below (-1)^(m+1) psi^(m)
    need(below == (lower == (flip == 1)), "this number of terms bounds the other side")
    w = field.add(u, constant(shift))
    inverse = field.inverse(w)
    if m < 0:
        return _stirling(field, u, w, shift, terms)
    total = field.scale(Fraction(-1), field.log(w)) if m == 0 else \
        field.scale(Fraction(factorial(m - 1)), field.integer_power(inverse, m))
    total = field.add(total, field.scale(Fraction(factorial(m), 2), field.integer_power(inverse, m + 1)))
    for k in range(1, terms + 1):
        c = bernoulli(2 * k) * Fraction(factorial(2 * k + m - 1), factorial(2 * k))
        total = field.add(total, field.scale(c, field.integer_power(inverse, 2 * k + m)))
    total = field.scale(Fraction(flip), total)
    for j in range(shift):  # psi^(m)(u) = psi^(m)(u + 1) - (-1)^m m! / u^(m+1)
        step = field.integer_power(field.inverse(field.add(u, constant(j))), m + 1)
        total = field.add(total, field.scale(Fraction(-(-1) ** m * factorial(m)), step))
    return total


def _stirling(field: Field, u: Form, w: Form, shift: int, terms: int) -> Form:
    """(w - 1/2) log w - w + log(2 pi)/2 + the sum, less the logarithms of the steps from u to w."""
    half = Fraction(1, 2)
    total = field.mul(field.add(w, constant(-half)), field.log(w))
    total = field.add(total, field.scale(Fraction(-1), w))
    total = field.add(total, field.scale(half, field.log(field.scale(Fraction(2), field.generator("pi", None)))))
    for k in range(1, terms + 1):
        c = bernoulli(2 * k) / (2 * k * (2 * k - 1))
        total = field.add(total, field.scale(c, field.integer_power(field.inverse(w), 2 * k - 1)))
    for j in range(shift):
        total = field.add(total, field.scale(Fraction(-1), field.log(field.add(u, constant(j)))))
    return total


__all__ = ["asymptotic", "bound", "derive", "ends", "toward"]

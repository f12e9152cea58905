"""Rules of kind "ladder" that need no derivatives, and what all rules share. Standard library only."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any, NamedTuple

from proofs_checks.harness import trees
from proofs_checks.harness.algebra import Field, Form, Unsupported, nonnegative_on
from proofs_checks.harness.algebra._forms import as_number, constant
from proofs_checks.harness.checkers._subject import only
from proofs_checks.harness.checkers.interval import check_cover, end, narrow
from proofs_checks.harness.enclosures import INF, NINF, negative, positive
from proofs_checks.harness.enclosures._leaf import End, Side, enough, natural, statement
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree, number

DEEPEST = 40
BITS = 96


class Sequent(NamedTuple):
    """goal >= 0 (> 0 if strict) on the sides, where the hypotheses hold."""

    goal: Tree
    strict: bool
    hypotheses: tuple[tuple[Tree, bool], ...]
    variables: tuple[str, ...]
    sides: tuple[Side, ...]
    depth: int = 0

    def about(self, goal: Tree, strict: bool) -> Sequent:
        """Another goal on the same domain."""
        return self._replace(goal=goal, strict=strict, depth=self.depth + 1)


def prove(s: Sequent, node: Mapping[str, Any]) -> None:
    """Raise `CertificateError` unless the node proves the sequent."""
    from proofs_checks.harness.checkers import _ladder_calculus as calculus

    if s.depth > DEEPEST:
        raise CertificateError(f"a proof of depth over {DEEPEST}")
    rules = {"cover": _cover, "cases": _cases, "resolve": _resolve, "split": _split, "substitute": _substitute,
             "product": _product, "square": _square, "roots": _roots,
             "derive": calculus.derive, "toward": calculus.toward, "ends": calculus.ends, "bound": calculus.bound}
    name = node["rule"]
    if name not in rules:
        raise CertificateError(f"unknown rule {name!r}")
    only(node, "rule", "defined", *_FIELDS[name].split(), header=False)
    if name in ("derive", "toward", "ends"):
        s = s._replace(hypotheses=())
    if name not in ("cover", "cases", "resolve", "split", "substitute"):
        defined(s, node)
    try:
        rules[name](s, node)
    except Unsupported as error:
        raise CertificateError(f"rule {name}: {error}") from error


_FIELDS = {
    "cover": "boxes methods", "cases": "term proofs", "resolve": "term choice facts proof",
    "split": "variable at proofs outside",
    "substitute": "variable other name sign hypothesis scale proof", "product": "constant factors",
    "square": "p q gap p_proof proof", "roots": "", "derive": "variable base order values derivative proof smooth closed",
    "toward": "variable base value cofactor proof smooth closed",
    "bound": "term sign sign_proof shift terms goal proof positive",
    "ends": "variable ends values rest positive fall positive_proof proof smooth smooth_rest closed"}


def need(condition: object, message: str) -> None:
    """A condition of a rule."""
    if not condition:
        raise CertificateError(message)


# ---- where expressions are defined

def obligations(tree: Tree, smooth: bool = False) -> Iterator[tuple[Tree, str]]:
    """What must be ">" 0, "!=" 0 or ">=" 0 for the tree to be defined (differentiable, if `smooth`)."""
    for node in trees.walk(tree):
        if not isinstance(node, list) or not node:
            continue
        head, *rest = node
        if head in ("log", "digamma", "loggamma", "gamma"):
            yield rest[0], ">"
        elif head == "polygamma":
            yield rest[1], ">"
        elif head == "pow":
            exponent = None if isinstance(rest[1], list) else number(rest[1])
            if exponent is None:
                yield rest[0], ">"
            elif exponent.denominator > 1:
                yield rest[0], ">" if smooth or exponent < 0 else ">="
            elif exponent < 0:
                yield rest[0], "!="
        elif head == "tan":
            yield ["cos", rest[0]], "!="
        elif head in ("asin", "acos", "atanh"):
            room = ["add", "1", ["mul", "-1", ["pow", rest[0], "2"]]]
            yield room, ">" if smooth or head == "atanh" else ">="
        elif head == "acosh":
            yield ["add", rest[0], "-1"], ">" if smooth else ">="
        elif smooth and head in ("sign", "floor", "abs", "min", "max"):
            raise CertificateError(f"{head} is not differentiable")


def defined(s: Sequent, node: Mapping[str, Any], *, smooth: bool = False, field: str = "defined") -> None:
    """Raise unless the goal is defined (smooth) on the domain, by enclosures or by the proofs in node[field]."""
    proofs = node.get(field, {})
    needed = list(obligations(s.goal, smooth))
    only(proofs, *map(str, range(len(needed))), header=False)
    for k, (tree, relation) in enumerate(needed):
        if _plain(s, tree, relation):
            continue
        need(str(k) in proofs, f"not shown to be {'smooth' if smooth else 'defined'}: {tree} {relation} 0")
        sign, proof = proofs[str(k)]
        need(sign == 1 or (sign == -1 and relation == "!="), "sign of an obligation")
        prove(s.about(tree if sign == 1 else ["mul", "-1", tree], relation != ">="), proof)


def _plain(s: Sequent, tree: Tree, relation: str) -> bool:
    if isinstance(tree, list) and tree[0] == "mul" and relation == "!=":
        return all(_plain(s, factor, "!=") for factor in tree[1:])
    e = natural(statement(tree, s.variables), s.sides, BITS)
    if e is None:
        return False
    return positive(e) or (relation == "!=" and negative(e)) or (relation == ">=" and e[0] >= 0)


def field_of(s: Sequent, work: int = 5_000_000) -> Field:
    """Normal forms on the domain of a sequent, where logarithms of products with evident signs split."""
    known: dict[str, bool] = {}

    def positive_there(tree: Tree) -> bool:
        key = str(tree)
        if key not in known:
            try:
                e = natural(statement(tree, s.variables), s.sides, BITS)
            except ValueError:
                e = None
            known[key] = e is not None and positive(e)
        return known[key]
    return Field(work, positive_there)


# ---- rules

def _cover(s: Sequent, node: Mapping[str, Any]) -> None:
    given = [(statement(tree, s.variables), flag) for tree, flag in s.hypotheses]
    check_cover(statement(s.goal, s.variables), s.strict, given, s.sides, node["boxes"], node["methods"])


def _cases(s: Sequent, node: Mapping[str, Any]) -> None:
    """The goal with |u| := u and := -u, or max/min := each argument; which one holds becomes a hypothesis."""
    term = node["term"]
    need(isinstance(term, list) and term[0] in ("abs", "min", "max"), "cases needs abs, min or max")
    options: list[tuple[Tree, list[Tree]]]
    if term[0] == "abs":
        options = [(term[1], [term[1]]), (["mul", "-1", term[1]], [["mul", "-1", term[1]]])]
    else:
        sign = "1" if term[0] == "max" else "-1"
        options = [(a, [["mul", sign, ["add", a, ["mul", "-1", b]]] for j, b in enumerate(term[1:]) if i != j])
                   for i, a in enumerate(term[1:])]
    need(len(node["proofs"]) == len(options), "one proof for each case")
    for (value, facts), proof in zip(options, node["proofs"], strict=True):
        branch = s._replace(goal=replace(s.goal, term, value), depth=s.depth + 1,
                            hypotheses=s.hypotheses + tuple((fact, False) for fact in facts))
        sides = narrow(s.variables, s.sides, branch.hypotheses)
        if sides is not None:
            prove(branch._replace(sides=tuple(sides)), proof)


def replace(tree: Tree, old: Tree, new: Tree) -> Tree:
    """The tree with each subtree equal to `old` replaced."""
    if tree == old:
        return new
    return [tree[0], *(replace(child, old, new) for child in tree[1:])] if isinstance(tree, list) else tree


def _resolve(s: Sequent, node: Mapping[str, Any]) -> None:
    """The goal with |u| replaced by u or -u, whichever is shown; max and min by the argument shown to be it."""
    term, k = node["term"], node["choice"]
    need(isinstance(term, list) and term[0] in ("abs", "min", "max") and isinstance(k, int), "resolve needs abs, min or max")
    if term[0] == "abs":
        need(k in (0, 1), "a choice of sign")
        value = term[1] if k == 0 else ["mul", "-1", term[1]]
        facts = [value]
    else:
        need(0 <= k < len(term) - 1, "a choice of argument")
        value, sign = term[k + 1], "1" if term[0] == "max" else "-1"
        facts = [["mul", sign, ["add", value, ["mul", "-1", other]]] for j, other in enumerate(term[1:]) if j != k]
    need(len(node["facts"]) == len(facts), "one proof for each comparison")
    for fact, proof in zip(facts, node["facts"], strict=True):
        prove(s.about(fact, False), proof)
    prove(s.about(replace(s.goal, term, value), s.strict), node["proof"])


def _substitute(s: Sequent, node: Mapping[str, Any]) -> None:
    """x = y + d, with d >= 0 (> 0) by a hypothesis: the new variable takes the place of x.

    What the side of x said becomes hypotheses."""
    i, j = s.variables.index(node["variable"]), s.variables.index(node["other"])
    new, sign = node["name"], node["sign"]
    need(i != j and isinstance(new, str) and new not in s.variables and sign in (1, -1), "a new variable")
    x, y = ["var", s.variables[i]], ["var", s.variables[j]]
    difference = ["mul", str(sign), ["add", x, ["mul", "-1", y]]]
    fact, flag = s.hypotheses[node["hypothesis"]]
    scale = number(node["scale"])
    field = Field()
    need(scale > 0 and field.equal(field.read(fact), field.scale(scale, field.read(difference))),
         "the hypothesis is not about this difference")
    value = ["add", y, ["mul", str(sign), ["var", new]]]
    side = s.sides[i]
    facts = [(["add", value, str(-side.lo)], side.lo_open)] if not isinstance(side.lo, float) else []
    if not isinstance(side.hi, float):
        facts.append((["add", str(side.hi), ["mul", "-1", value]], side.hi_open))
    swap = {s.variables[i]: value}
    hypotheses = tuple((trees.substitute(h, swap), f) for h, f in s.hypotheses) + tuple(facts)
    variables = (*s.variables[:i], new, *s.variables[i + 1:])
    sides = narrow(variables, (*s.sides[:i], Side(Fraction(0), INF, flag, True), *s.sides[i + 1:]), hypotheses)
    if sides is not None:
        prove(Sequent(trees.substitute(s.goal, swap), s.strict, hypotheses, variables, tuple(sides), s.depth + 1),
              node["proof"])


def _split(s: Sequent, node: Mapping[str, Any]) -> None:
    """The domain cut along one variable; a cut where a hypothesis fails belongs to neither part."""
    i = s.variables.index(node["variable"])
    side, cuts = s.sides[i], [end(q) for q in node["at"]]
    edges = [side.lo, *cuts, side.hi]
    need(cuts and all(a < b for a, b in pairwise(edges)), "cuts must increase inside the domain")
    need(len(node["proofs"]) == len(cuts) + 1, "one proof for each part")
    outside = {int(k): v for k, v in node.get("outside", {}).items()}
    for k, j in outside.items():
        tree, flag = s.hypotheses[j]
        field = Field()
        value = as_number(field.read(trees.substitute(tree, {node["variable"]: node["at"][k]})))
        need(value is not None and (value < 0 or (value == 0 and flag)), "the hypothesis does not fail at the cut")
    for k, proof in enumerate(node["proofs"]):
        part = Side(edges[k], edges[k + 1], side.lo_open if k == 0 else k - 1 in outside,
                    side.hi_open if k == len(cuts) else k in outside)
        prove(s._replace(sides=(*s.sides[:i], part, *s.sides[i + 1:]), depth=s.depth + 1), proof)


def _product(s: Sequent, node: Mapping[str, Any]) -> None:
    field = field_of(s)
    total, sign = constant(number(node["constant"])), number(node["constant"]) > 0
    need(total.top, "the constant must not be 0")
    for item in node["factors"]:
        tree, exponent, factor_sign, proof = item
        need(isinstance(exponent, int) and exponent != 0 and factor_sign in (1, -1), "a factor's exponent and sign")
        total = field.mul(total, field.integer_power(field.read(tree), exponent))
        if exponent % 2 == 0 and exponent > 0 and not s.strict:
            defined(s.about(tree, False), {} if proof is None else proof)
            continue
        sign = sign == (factor_sign == 1 or exponent % 2 == 0)
        claim = s.about(tree if factor_sign == 1 else ["mul", "-1", tree], s.strict or exponent < 0)
        if proof is None:
            e = natural(statement(claim.goal, s.variables), s.sides, BITS)
            need(e is not None and enough(e[0], e[2], claim.strict), f"sign of the factor {tree} is not evident")
        else:
            prove(claim, proof)
    need(sign, "the signs of the factors do not give a positive product")
    need(field.equal(field.read(s.goal), total), "the factors do not multiply to the goal")


def _square(s: Sequent, node: Mapping[str, Any]) -> None:
    """P + Q >= 0 from P >= 0 and P^2 - Q^2 >= 0 (both strict for > 0, the second suffices: |Q| < P)."""
    field = field_of(s)
    p, q = field.read(node["p"]), field.read(node["q"])
    need(field.equal(field.read(s.goal), field.add(p, q)), "P + Q is not the goal")
    gap = field.add(field.mul(p, p), field.scale(Fraction(-1), field.mul(q, q)))
    need(field.equal(field.read(node["gap"]), gap), "not P^2 - Q^2")
    prove(s.about(node["p"], False), node["p_proof"])
    prove(s.about(node["gap"], s.strict), node["proof"])


def _roots(s: Sequent, node: Mapping[str, Any]) -> None:
    field = field_of(s)
    form = field.read(s.goal)
    generator, polynomial, low, shift = one_generator(field, form)
    if generator is None:
        value = sum(form.top.values(), Fraction(0))
        need(not form.bottom and (value > 0 or (value == 0 and not s.strict)), "the constant goal is not positive")
        return
    kind, name = field.generators[generator]
    if kind == "var":
        side = s.sides[s.variables.index(name)]
    else:
        tree = field.monomial_tree(((generator, Fraction(1)),)) if kind != "root" else field.generator_tree(generator)
        e = natural(statement(tree, s.variables), s.sides, BITS)
        need(e is not None, "the range of the generator is not known")
        assert e is not None
        ends = [x if isinstance(x, float) else Fraction(x, 1 << BITS) for x in e[:2]]
        side = Side(ends[0], ends[1], bool(e[2]), bool(e[3]))
    need(shift == 1 or side.lo >= 0, "roots of a generator that may be negative")
    need(low >= 0 or side.lo > 0 or (side.lo == 0 and side.lo_open) or side.hi < 0 or (side.hi == 0 and side.hi_open),
         "a pole at 0")
    bounds = [_root_bounds(x, shift, up) for x, up in ((side.lo, False), (side.hi, True))]
    need(nonnegative_on(polynomial, bounds[0], bounds[1], strict=s.strict, lo_open=side.lo_open, hi_open=side.hi_open),
         "the polynomial is not of one sign on the domain")


def _root_bounds(x: End, k: int, up: bool) -> End:
    """A bound of x^(1/k), exact where the root is rational; outside otherwise, which asks for more than needed."""
    if k == 1 or isinstance(x, float) or x == 0:
        return x
    try:
        return trees.evaluate(["pow", str(x), f"1/{k}"], {})
    except trees.Inexact:
        pass
    from proofs_checks.harness.enclosures import evaluate
    found = evaluate(["pow", str(x), f"1/{k}"], {}, bits=BITS)
    return found.hi if up else found.lo


def one_generator(field: Field, form: Form) -> tuple[int | None, list[Fraction], Fraction, int]:
    """(g, p, least exponent, k): the form has the sign of the polynomial p in g^(1/k), times an even power of it.

    Denominators enter p to odd order; they are not 0 where the goal is defined."""
    polynomials = [form.top, *(dict(key) for key, n in form.bottom.items() if n % 2)]
    used = {g for p in [form.top, *(dict(key) for key in form.bottom)] for m in p for g, _ in m}
    if not used:
        return None, [], Fraction(0), 1
    if len(used) > 1:
        raise Unsupported("more than one generator")
    exponents = [e for p in polynomials for m in p for _, e in m]
    k = lcm(*(e.denominator for e in exponents)) if exponents else 1
    product: dict[int, Fraction] = {0: Fraction(1)}
    least = Fraction(0)
    for p in polynomials:
        terms = {int((m[0][1] if m else Fraction(0)) * k): c for m, c in p.items()}
        least = min(least, Fraction(min(terms)))
        product = {a + b: Fraction(0) for a in product for b in terms} | _convolve(product, terms)
    low = min(product)
    raise_by = -low + (low % 2) if low < 0 else 0  # an even power, so that the sign stays
    width = max(product) + raise_by
    if width > 400:
        raise Unsupported(f"degree {width} is too large")
    out = [Fraction(0)] * (width + 1)
    for e, c in product.items():
        out[e + raise_by] += c
    return used.pop(), out, least, k


def _convolve(a: Mapping[int, Fraction], b: Mapping[int, Fraction]) -> dict[int, Fraction]:
    out: dict[int, Fraction] = {}
    for i, c in a.items():
        for j, d in b.items():
            out[i + j] = out.get(i + j, Fraction(0)) + c * d
    return out


__all__ = ["INF", "NINF", "Sequent", "defined", "need", "prove"]

"""Which squares, factors and multipliers to try for a statement, cheapest first. The checker judges the outcome."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np

from proofs_checks.engines.sos._sdp import Block, Solution, TooBig, monomial_rows, solve
from proofs_checks.harness.certificate import seal
from proofs_checks.harness.checkers import sos as checker
from proofs_checks.harness.checkers._instances import relations
from proofs_checks.harness.checkers._polynomials import Condition, Field, Poly, TooLarge, add, degree, multiply, one, scale
from proofs_checks.harness.checkers._subject import hypotheses_and_goal
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree, variables

__all__ = ["certify", "degree_of"]

Exponents = tuple[int, ...]
MAX_BASIS = 70
Never = Callable[[], bool]


@dataclass
class _Goal:
    """target >= 0 (or > 0) under the conditions."""

    field: Field
    conditions: list[Condition]
    target: Poly
    extra: dict[str, Any]  # what the certificate says besides: a contradiction's factors, instances

    @property
    def bounds(self) -> dict[int, int]:
        """variable -> the index of the condition that says it is >= 0."""
        found: dict[int, int] = {}
        for index, condition in enumerate(self.conditions):
            if condition.kind != "eq" and len(condition.poly) == 1:
                (m, c), = condition.poly.items()
                if sum(m) == 1 and c > 0:
                    variable = m.index(1)
                    if variable not in found or condition.kind == "gt":
                        found[variable] = index
        return found


@dataclass
class _Attempt:
    """A multiplier as blocks of the certificate with its polynomial; what may be added up."""

    multiplier: list[dict[str, Any]]
    factor: Poly
    blocks: list[Block]
    free: list[tuple[int, list[Exponents]]]


def certify(subject: Mapping[str, Any], *, instances: list[Any] | None = None, cancelled: Never = lambda: False,
            seconds: float | None = None) -> dict[str, Any] | None:
    """The body of an sos certificate of the statement, accepted by the checker; None if no attempt succeeds.

    `seconds` limits each call of the float solver (None: its iterations are counted instead)."""
    hypotheses, conclusion = hypotheses_and_goal(subject["statement"])
    parts = []
    for extra, relation in checker.goals_of(conclusion):
        part = _part(subject, [*hypotheses, *extra], relation, instances or [], cancelled, seconds)
        if part is None:
            return None
        parts.append(part)
    body: dict[str, Any] = {"kind": "sos", "subject": subject}
    body |= parts[0] if len(parts) == 1 else {"variables": parts[0]["variables"], "blocks": [], "parts": parts}
    return body


def degree_of(subject: Mapping[str, Any]) -> int:
    """The degree of the first goal's polynomial, modulo equations "monomial = 1"; large where there is none."""
    hypotheses, conclusion = hypotheses_and_goal(subject["statement"])
    for extra, relation in checker.goals_of(conclusion):
        for goal in _goals([*hypotheses, *extra], relation, []):
            return degree(_reduced(goal, goal.target)[0])
    return 1000


def _part(subject: Mapping[str, Any], hypotheses: list[Tree], relation: Tree, instances: list[Any], cancelled: Never,
          seconds: float | None) -> dict[str, Any] | None:
    for goal in _goals(hypotheses, relation, instances):
        if not goal.target:
            part = {"variables": list(goal.field.names), **goal.extra, "blocks": []}
            return part if _accepted(subject, hypotheses, relation, part) else None
        for build in _attempts(goal):
            if cancelled():
                return None
            try:
                attempt = build()
                target = multiply(goal.target, attempt.factor)
                target, carried = _reduced(goal, target)
                free = [(goal.conditions[index].poly, monomials) for index, monomials in attempt.free]
                found = solve(target, attempt.blocks, free, cancelled, seconds=seconds)
            except (TooBig, TooLarge):
                continue
            if found is None:
                continue
            part = _written(goal, attempt, found, carried)
            if _accepted(subject, hypotheses, relation, part):
                return part
    return None


def _accepted(subject: Mapping[str, Any], hypotheses: list[Tree], relation: Tree, part: dict[str, Any]) -> bool:
    """Whether the checker takes the part: a proof of >= is of no use for >, and so on."""
    statement = ["implies", ["and", *hypotheses], relation] if hypotheses else relation
    small = {"statement": statement, "integers": subject.get("integers", [])}
    try:
        checker.check(seal({"kind": "sos", "subject": small, **part}, subjects=[small]))
    except CertificateError:
        return False
    return True


def _goals(hypotheses: list[Tree], relation: Tree, instances: list[Any]) -> Iterator[_Goal]:
    trees = [*hypotheses, relation]
    names = sorted({name for tree in trees for name in variables(tree)})
    try:
        field = Field([*names, *Field.atoms(trees)])
        conditions = checker.conditions_of(field, hypotheses, relations(instances, ["and", *trees]))
        extra: dict[str, Any] = {"instances": instances} if instances else {}
        if relation[0] != "false":
            found = field.condition(relation)
            if len(found) == 1 and found[0].kind != "eq":
                yield _Goal(field, conditions, found[0].poly, extra)
            return
    except (TooLarge, ValueError):
        return
    strict = [i for i, c in enumerate(conditions) if c.kind == "gt"]
    yield _Goal(field, conditions, scale(one(field.size), Fraction(-1)), extra)
    for chosen in [*((i,) for i in strict), *combinations_with_replacement(strict, 2)][:12]:
        poly = one(field.size)
        for index in chosen:
            poly = multiply(poly, conditions[index].poly)
        yield _Goal(field, conditions, scale(poly, Fraction(-1)), {**extra, "contradiction": list(chosen)})


def _reduced(goal: _Goal, target: Poly) -> tuple[Poly, dict[int, Poly]]:
    """The target modulo equations "monomial = 1", and the multiples of these equations that were taken out."""
    carried: dict[int, Poly] = {}
    for index, condition in enumerate(goal.conditions):
        constant = condition.poly.get((0,) * goal.field.size, Fraction(0))
        if condition.kind != "eq" or len(condition.poly) != 2 or not constant:
            continue
        unit = max(condition.poly, key=sum)
        if condition.poly[unit] != -constant or max(unit) > 1:
            continue
        small: Poly = {}
        taken: Poly = {}
        for m, c in target.items():
            times = min(k for k, one_here in zip(m, unit, strict=True) if one_here)
            rest = tuple(k - times * u for k, u in zip(m, unit, strict=True))
            small = add(small, {rest: c})
            # c m = c rest + c rest (unit - 1)(1 + unit + ... + unit^(times - 1))
            taken = add(taken, {tuple(k + j * u for k, u in zip(rest, unit, strict=True)): c / condition.poly[unit]
                                for j in range(times)})
        target = small
        if taken:
            carried[index] = taken
    return target, carried


def _attempts(goal: _Goal) -> Iterator[Callable[[], _Attempt]]:
    """Builders of attempts; a builder may find the attempt too big."""
    inequalities = [i for i, c in enumerate(goal.conditions) if c.kind != "eq" and degree(c.poly) > 0]
    signs = goal.bounds
    for multiplier, factor in _multipliers(goal):
        target = _reduced(goal, multiply(goal.target, factor))[0]
        top = degree(target)

        def attempt(chosen: list[tuple[int, ...]], size: int, newton: bool, multiplier: list[dict[str, Any]] = multiplier,
                    factor: Poly = factor, target: Poly = target) -> Callable[[], _Attempt]:
            return lambda: _Attempt(multiplier, factor, _blocks(goal, target if newton else None, chosen, size),
                                    _free(goal, size))

        equations = any(c.kind == "eq" for c in goal.conditions)
        yield attempt([()], top + top % 2, not equations)
        if signs:
            chosen = [tuple(signs[i] for i in subset) for n in range(min(top, len(signs), 4) + 1)
                      for subset in combinations(sorted(signs), n)]
            if len(chosen) <= 64:
                yield attempt(chosen, top, not equations)
        if len(inequalities) > len(signs):
            for products, more in ((1, 0), (1, 2), (2, 0), (2, 2), (3, 0)):
                chosen = [s for n in range(products + 1) for s in combinations(inequalities, n)]
                if len(chosen) <= 140:
                    yield attempt(chosen, top + more + (top + more) % 2, False)


def _multipliers(goal: _Goal) -> Iterator[tuple[list[dict[str, Any]], Poly]]:
    """1; then the sum of variables known to be nonnegative; then sums of squares."""
    size = goal.field.size
    unit = [tuple(int(i == j) for j in range(size)) for i in range(size)]
    zero = (0,) * size
    yield [], one(size)
    if "contradiction" in goal.extra or not goal.target or degree(goal.target) == 0 or size > 8:
        return
    if len(goal.bounds) == size:
        blocks = [{"basis": [list(zero)], "gram": [["1"]], "factors": [goal.bounds[i]]} for i in range(size)]
        yield blocks, {m: Fraction(1) for m in unit}
        return
    homogeneous = len({sum(m) for m in goal.target}) == 1
    basis = unit if homogeneous else [zero, *unit]
    gram = [[str(int(i == j)) for j in range(len(basis))] for i in range(len(basis))]
    yield ([{"basis": [list(m) for m in basis], "gram": gram}],
           {tuple(2 * k for k in m): Fraction(1) for m in basis})


def _blocks(goal: _Goal, target: Poly | None, chosen: list[tuple[int, ...]], top: int) -> list[Block]:
    """One block for each product of conditions, with the monomials that the degree (and Newton's polytope) allow."""
    found = []
    polytope = _Polytope(target) if target is not None else None
    homogeneous = target is not None and len({sum(m) for m in target}) == 1
    for factors in chosen:
        factor = one(goal.field.size)
        for index in factors:
            factor = multiply(factor, goal.conditions[index].poly)
        room = top - degree(factor)
        if room < 0:
            continue
        low = (room // 2 if homogeneous and room % 2 == 0 else 0)
        if homogeneous and room % 2:
            continue
        monomials = _monomials(goal.field.size, room // 2, low)
        if polytope is not None:
            lead = max(factor, key=sum) if len(factor) == 1 else None
            if lead is not None:
                monomials = [m for m in monomials if polytope.may_contain([2 * k + e for k, e in zip(m, lead, strict=True)])]
        if len(monomials) > MAX_BASIS:
            raise TooBig(f"a basis of {len(monomials)} monomials")
        if monomials:
            found.append(Block(factor, factors, monomials, monomial_rows(len(monomials))))
    return found


def _free(goal: _Goal, top: int) -> list[tuple[int, list[Exponents]]]:
    found = []
    for index, condition in enumerate(goal.conditions):
        if condition.kind == "eq" and condition.poly:
            found.append((index, _monomials(goal.field.size, max(0, top - degree(condition.poly)), 0)))
    return found


def _monomials(size: int, high: int, low: int) -> list[Exponents]:
    found = []
    for total in range(low, high + 1):
        for places in combinations_with_replacement(range(size), total):
            m = [0] * size
            for place in places:
                m[place] += 1
            found.append(tuple(m))
        if len(found) > 20 * MAX_BASIS:
            raise TooBig(f"{len(found)} monomials")
    return found


class _Polytope:
    """Newton's polytope from outside: a point beyond some supporting plane is not in it."""

    def __init__(self, poly: Poly) -> None:
        points = np.array(sorted(poly), dtype=float).reshape(len(poly), -1)
        n = points.shape[1]
        draw = np.random.default_rng(0)
        planes = [np.eye(n), np.ones((1, n)), draw.integers(-3, 4, (300, n)).astype(float)]
        if n <= 4:
            planes.append(np.array(list(product((-2, -1, 0, 1, 2), repeat=n)), dtype=float))
        self.planes = np.concatenate(planes)
        values = points @ self.planes.T
        self.low, self.high = values.min(axis=0) - 1e-9, values.max(axis=0) + 1e-9

    def may_contain(self, point: list[int]) -> bool:
        values = self.planes @ np.array(point, dtype=float)
        return bool(np.all(values >= self.low) and np.all(values <= self.high))


def _written(goal: _Goal, attempt: _Attempt, found: Solution, carried: dict[int, Poly]) -> dict[str, Any]:
    part: dict[str, Any] = {"variables": list(goal.field.names), **goal.extra, "blocks": []}
    for block, gram in zip(found.blocks, found.grams, strict=True):
        keep = [i for i in range(len(gram)) if any(gram[i])]
        if not keep:
            continue
        entry: dict[str, Any] = {"basis": [list(block.basis[i]) for i in keep],
                                 "gram": [[str(gram[i][j]) for j in keep] for i in keep]}
        if block.factors:
            entry["factors"] = list(block.factors)
        part["blocks"].append(entry)
    if attempt.multiplier:
        part["multiplier"] = attempt.multiplier
    totals = dict(carried)
    for (index, _), poly in zip(attempt.free, found.free, strict=True):
        totals[index] = add(totals.get(index, {}), poly)
    equalities = [{"index": index, "terms": [[list(m), str(c)] for m, c in sorted(poly.items())]}
                  for index, poly in sorted(totals.items()) if poly]
    if equalities:
        part["equalities"] = equalities
    return part

"""Certificates of kind "sos": sums of squares, with hypotheses as factors. Standard library only.

The goal is G >= 0 or G > 0 with a polynomial G (conclusion "False": the certificate names "-1 >= 0", or minus a strict
hypothesis). With conditions h_i >= 0 or > 0 and e_j = 0 (hypotheses, facts about atoms, lemma instances) it proves

    multiplier * G  =  sum over blocks of (product of its h_i) * basis^T gram basis  +  sum of p_j e_j

Checked: the identity, coefficient by coefficient, against the statement's own tree; that every gram matrix is positive
semidefinite (exact LDL^T); that the multiplier is positive (or, for >= on a box, a polynomial that is nonnegative and
not zero: by continuity); for a strict goal, that some term of the right side cannot vanish."""
from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.harness.checkers._instances import check_atoms, relations
from proofs_checks.harness.checkers._polynomials import Condition, Field, Poly, TooLarge, add, multiply, one, scale
from proofs_checks.harness.checkers._subject import conjuncts, hypotheses_and_goal, only, subject_of
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree, is_relation, number, variables

__all__ = ["block_polynomial", "check", "conditions_of", "goals_of", "is_definite", "negated", "pivots"]


_PART = ("variables", "blocks", "equalities", "multiplier", "instances", "contradiction")


def check(certificate: Mapping[str, Any]) -> str:
    """Accept and say how, or raise `CertificateError`."""
    only(certificate, *_PART, "parts")
    subject = subject_of(certificate)
    hypotheses, goal = hypotheses_and_goal(subject["statement"])
    goals = goals_of(goal)
    parts = certificate.get("parts", [certificate])
    if not parts or len(parts) != len(goals):
        raise CertificateError(f"{len(parts)} proofs for {len(goals)} goals")
    try:
        for (extra, relation), part in zip(goals, parts, strict=True):
            if part is not certificate:
                only(part, *_PART, header=False)
            check_atoms(part["variables"], subject["statement"])
            given = relations(part.get("instances", []), subject["statement"])
            _check_part(part, [*hypotheses, *extra], relation, given, bool(subject.get("integers")))
    except TooLarge as error:
        raise CertificateError(f"too large to be checked: {error}") from None
    return "identity and positive semidefiniteness, exactly"


def goals_of(conclusion: Tree) -> list[tuple[list[Tree], Tree]]:
    """What has to be proved: (further hypotheses, relation) for each conjunct; an equation is two inequalities."""
    found: list[tuple[list[Tree], Tree]] = []
    for part in conjuncts(conclusion):
        if part[0] == "eq" and not is_relation(part[1]):
            found += [([], ["ge", *part[1:]]), ([], ["le", *part[1:]])]
        elif part[0] == "or":
            found.append(([piece for other in part[2:] for piece in conjuncts(negated(other))], part[1]))
        elif part[0] == "not":
            found.append((conjuncts(part[1]), ["false"]))
        elif part[0] == "ne":
            found.append(([["eq", *part[1:]]], ["false"]))
        elif part[0] == "implies":
            inner, goal = hypotheses_and_goal(part)
            found += [([*inner, *extra], relation) for extra, relation in goals_of(goal)]
        else:
            found.append(([], part))
    return found


def negated(relation: Tree) -> Tree:
    """The negation, pushed inside."""
    head, *rest = relation
    flip = {"ge": "lt", "gt": "le", "le": "gt", "lt": "ge", "eq": "ne", "ne": "eq"}
    if head in flip:
        return [flip[head], *rest]
    if head == "not":
        return rest[0]
    if head == "implies":
        return ["and", rest[0], negated(rest[1])]
    if head in ("and", "or"):
        return ["or" if head == "and" else "and", *map(negated, rest)]
    return ["false"] if head == "true" else ["true"]


def conditions_of(field: Field, hypotheses: list[Tree], instances: list[Tree]) -> list[Condition]:
    """All that may be used, in a fixed order: hypotheses, facts about atoms, instances. Signs are learned on the way."""
    found: list[Condition] = []
    for name in field.names:
        if name.startswith("["):
            found += field.facts(name)
    bounds = [c for h in hypotheses if _is_bound(h) for c in field.condition(h)]
    field.assume([*found, *bounds])
    given = [c for h in hypotheses for c in field.condition(h)]
    for lemma in instances:
        for relation in conjuncts(lemma):
            given += field.condition(relation)
    return [*given, *found]


def _is_bound(relation: Tree) -> bool:
    """x >= c and the like, c a written number."""
    return relation[0] in ("ge", "gt", "le", "lt") and any(
        isinstance(side, list) and side[0] == "var" for side in relation[1:]) and any(
        not isinstance(side, list) for side in relation[1:])


def _check_part(part: Mapping[str, Any], hypotheses: list[Tree], goal: Tree, instances: list[Tree], discrete: bool) -> None:
    field = Field(part["variables"])
    used = {name for tree in [*hypotheses, goal] for name in variables(tree)}
    if used - set(field.names):
        raise CertificateError(f"the variables {', '.join(sorted(used - set(field.names)))} are missing")
    conditions = conditions_of(field, hypotheses, instances)
    target, strict = _target(field, goal, part, conditions)
    left, positive = one(field.size), True
    if "multiplier" in part:
        left, positive = _sum_of_blocks(field, part["multiplier"], conditions)
        if not positive and (strict or not left or discrete or not _open_box(field, hypotheses)):
            raise CertificateError("the multiplier is not shown to be positive")
    right, sure = _sum_of_blocks(field, part["blocks"], conditions)
    for term in part.get("equalities", []):
        only(term, "index", "terms", header=False)
        condition = _condition(conditions, term["index"])
        if condition.kind != "eq":
            raise CertificateError("a condition is used as an equation that it is not")
        factor = {tuple(map(int, m)): number(c) for m, c in term["terms"]}
        if any(len(m) != field.size or min(m, default=0) < 0 for m in factor):
            raise CertificateError("exponents of the wrong length")
        right = add(right, multiply(factor, condition.poly))
    if add(multiply(left, target), right, Fraction(-1)):
        raise CertificateError("the identity is false: the squares do not add up to the statement")
    if strict and not sure:
        raise CertificateError("the statement is strict and the certificate proves only >=")


def _open_box(field: Field, hypotheses: list[Tree]) -> bool:
    """Whether the hypotheses are bounds that leave every variable an interval of positive length, and no more.

    Then a polynomial that is not zero has its zeros nowhere dense, and G >= 0 off these zeros is G >= 0."""
    if any(name.startswith("[") for name in field.names) or not all(map(_is_bound, hypotheses)):
        return False
    ends: dict[str, list[list[Fraction]]] = {}
    for head, left, right in hypotheses:
        upper = (head in ("le", "lt")) == isinstance(left, list)  # x <= c or c >= x
        name, end = (left[1], right) if isinstance(left, list) else (right[1], left)
        ends.setdefault(name, [[], []])[upper].append(number(end))
    return all(not low or not high or max(low) < min(high) for low, high in ends.values())


def _target(field: Field, goal: Tree, part: Mapping[str, Any], conditions: list[Condition]) -> tuple[Poly, bool]:
    """The polynomial that must be >= 0 (or > 0: strict)."""
    if goal[0] == "false":
        if "contradiction" not in part:
            return scale(one(field.size), Fraction(-1)), False  # -1 >= 0 is absurd
        product = one(field.size)
        for index in part["contradiction"]:
            condition = _condition(conditions, index)
            if condition.kind != "gt":
                raise CertificateError("a contradiction needs strict hypotheses")
            product = multiply(product, condition.poly)
        return scale(product, Fraction(-1)), False  # strict h > 0 and -h >= 0 is absurd
    found = field.condition(goal)
    if len(found) != 1 or found[0].kind == "eq":
        raise CertificateError(f"a goal of the form {goal[0]!r} cannot be certified by squares")
    return found[0].poly, found[0].kind == "gt"


def _condition(conditions: list[Condition], index: Any) -> Condition:
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(conditions):
        raise CertificateError(f"there is no condition {index!r}")
    return conditions[index]


def _sum_of_blocks(field: Field, blocks: list[Mapping[str, Any]], conditions: list[Condition]) -> tuple[Poly, bool]:
    """The sum, and whether some block is positive at every point that the statement speaks of."""
    total: Poly = {}
    sure = False
    for block in blocks:
        only(block, "basis", "gram", "factors", header=False)
        basis = [tuple(row) for row in block["basis"]]
        gram = [[number(entry) for entry in row] for row in block["gram"]]
        if any(len(m) != field.size or any(not isinstance(k, int) or k < 0 for k in m) for m in basis):
            raise CertificateError("a basis row is not a list of exponents, one a variable")
        diagonal = pivots(gram, len(basis))
        factor, strict = one(field.size), True
        for index in block.get("factors", []):
            condition = _condition(conditions, index)
            if condition.kind == "eq":
                raise CertificateError("an equation is used as a factor of a square")
            factor, strict = multiply(factor, condition.poly), strict and condition.kind == "gt"
        total = add(total, multiply(factor, block_polynomial(basis, gram)))
        never_zero = any(all(not k or i in field.positive for i, k in enumerate(m)) for m in basis)
        sure |= strict and never_zero and bool(diagonal) and min(diagonal) > 0
    return total, sure


def block_polynomial(basis: list[tuple[int, ...]], gram: list[list[Fraction]]) -> Poly:
    """basis^T gram basis."""
    total: Poly = {}
    for a, row in zip(basis, gram, strict=True):
        for b, c in zip(basis, row, strict=True):
            if c:
                key = tuple(map(int.__add__, a, b))
                total[key] = total.get(key, Fraction(0)) + c
    return {m: c for m, c in total.items() if c}


def pivots(gram: list[list[Fraction]], size: int) -> list[Fraction]:
    """The diagonal of LDL^T; `CertificateError` unless the matrix is symmetric and positive semidefinite."""
    if len(gram) != size or any(len(row) != size for row in gram):
        raise CertificateError("a gram matrix does not fit its basis")
    if any(gram[i][j] != gram[j][i] for i in range(size) for j in range(i)):
        raise CertificateError("a gram matrix is not symmetric")
    a = [list(row) for row in gram]
    diagonal: list[Fraction] = []
    for k in range(size):
        pivot = a[k][k]
        diagonal.append(pivot)
        if pivot < 0 or (pivot == 0 and any(a[k][j] for j in range(k + 1, size))):
            raise CertificateError("a gram matrix is not positive semidefinite")
        if pivot == 0:
            continue
        for i in range(k + 1, size):
            if a[i][k]:
                ratio = a[i][k] / pivot
                row, top = a[i], a[k]
                for j in range(i, size):
                    row[j] -= ratio * top[j]
                    a[j][i] = row[j]
    return diagonal


def is_definite(gram: list[list[Fraction]]) -> bool:
    """Whether the matrix is positive semidefinite."""
    try:
        pivots(gram, len(gram))
    except CertificateError:
        return False
    return True

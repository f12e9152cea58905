"""A statement as cases "goal >= 0 (> 0) on a box, where each hypothesis tree is >= 0 (> 0)". Standard library only.

Engines that work on one inequality prove the cases; the checker derives the same cases from the statement and compares.
Conjunctions, equations, negations and alternatives are opened; |f|, Max and Min are removed: where the goal falls with
them, by proving it for each branch, elsewhere by a case for each branch. Every step keeps or weakens what may be
assumed, so that the cases together imply the statement (at the points where it is defined)."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

from proofs_checks.harness.checkers._subject import conjuncts, hypotheses_and_goal
from proofs_checks.harness.checkers.sos import goals_of, negated
from proofs_checks.harness.trees import Tree, is_relation, number, variables

__all__ = ["Case", "cases", "same_case"]

MAX_CASES = 32
_GRID = 1 << 62


class Case(NamedTuple):
    """goal >= 0 (> 0 if strict) on the domain under the hypotheses."""

    variables: list[str]
    domain: list[list[str]]  # rational ends as text, or "-oo", "oo"
    goal: Tree
    strict: bool
    hypotheses: list[list[Any]]  # [tree, strict]


def cases(subject: Mapping[str, Any]) -> list[Case]:
    """The cases of a statement. ValueError if there are too many."""
    hypotheses, conclusion = hypotheses_and_goal(subject["statement"])
    found = []
    for extra, relation in goals_of(conclusion):
        for given in _alternatives([*hypotheses, *extra]):
            for goal in _goals(relation):
                found += list(_branches(goal, given))
                if len(found) > MAX_CASES:
                    raise ValueError(f"more than {MAX_CASES} cases")
    return [_case(goal, given) for goal, given in found]


def same_case(case: Case, certificate: Mapping[str, Any]) -> bool:
    """Whether a certificate is about this case. Without variables, engines put one that nothing depends on."""
    names, domain = (case.variables, case.domain) if case.variables else (["_"], [["0", "0"]])
    return (names == certificate["variables"] and domain == certificate["domain"]
            and case.goal == certificate["goal"] and case.strict is certificate["strict"]
            and case.hypotheses == [list(h) for h in certificate["hypotheses"]])


def _alternatives(hypotheses: list[Tree]) -> Iterator[list[Tree]]:
    """The hypotheses as plain comparisons: an alternative, or x != y, makes one list for each branch."""
    for at, relation in enumerate(hypotheses):
        head, *rest = relation
        if head == "not":
            branches = [[negated(rest[0])]]
        elif head == "implies":
            branches = [[negated(rest[0])], [rest[1]]]
        elif head == "or":
            branches = [[part] for part in rest]
        elif head == "and":
            branches = [list(rest)]
        elif head == "ne" and not is_relation(rest[0]):
            branches = [[["lt", *rest]], [["gt", *rest]]]
        else:
            continue
        for branch in branches:
            yield from _alternatives([*hypotheses[:at], *(p for part in branch for p in conjuncts(part)),
                                      *hypotheses[at + 1:]])
        return
    if ["false"] not in hypotheses:
        yield hypotheses


def _difference(relation: Tree) -> tuple[Tree, bool]:
    """(tree, strict): the relation is tree >= 0 or tree > 0."""
    head, left, right = relation
    if head in ("le", "lt"):
        left, right = right, left
    if right == "0":
        return left, head in ("gt", "lt")
    return ["add", left, ["mul", "-1", right]], head in ("gt", "lt")


def _goals(relation: Tree) -> Iterator[tuple[Tree, bool]]:
    """The goal, split where it falls with |f| or Max, or rises with Min."""
    if relation[0] == "false":
        yield "-1", False
        return
    if relation[0] == "true":
        return
    goal, strict = _difference(relation)
    pending = [goal]
    while pending:
        goal = pending.pop(0)
        slot = next(_slots(goal, 1, ()), None)
        if slot is None:
            yield goal, strict
        else:
            path, branches = slot
            pending = [_replaced(goal, path, branch) for branch in branches] + pending
        if len(pending) > MAX_CASES:
            raise ValueError(f"more than {MAX_CASES} cases")


def _slots(tree: Tree, sign: int, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], list[Tree]]]:
    """Places of |f|, Max, Min on which the goal depends monotonically in the direction that needs all branches."""
    if not isinstance(tree, list):
        return
    head, *rest = tree
    if head == "abs" and sign < 0:
        yield path, [rest[0], ["mul", "-1", rest[0]]]
    elif (head == "max" and sign < 0) or (head == "min" and sign > 0):
        yield path, list(rest)
    elif head == "add":
        for i, part in enumerate(rest):
            yield from _slots(part, sign, (*path, i + 1))
    elif head == "mul":
        constants = [number(part) for part in rest if not isinstance(part, list)]
        if len(constants) == len(rest) - 1:
            product = Fraction(1)
            for c in constants:
                product *= c
            i = next(i for i, part in enumerate(rest) if isinstance(part, list))
            if product:
                yield from _slots(rest[i], sign if product > 0 else -sign, (*path, i + 1))


def _replaced(tree: Tree, path: tuple[int, ...], by: Tree) -> Tree:
    if not path:
        return by
    return [*tree[:path[0]], _replaced(tree[path[0]], path[1:], by), *tree[path[0] + 1:]]


def _branches(goal: tuple[Tree, bool], given: list[Tree]) -> Iterator[tuple[tuple[Tree, bool], list[Tree]]]:
    """A case for each branch of the remaining |f|, Max and Min, innermost first."""
    node = next((n for tree in (goal[0], *given) for n in _piecewise(tree)), None)
    if node is None:
        yield goal, given
        return
    head, *rest = node
    if head == "abs":
        options = [(rest[0], [_sign("ge", rest[0])]), (["mul", "-1", rest[0]], [_sign("le", rest[0])])]
    else:
        op = "ge" if head == "max" else "le"
        options = [(a, [[op, a, b] for b in rest if b is not a]) for a in rest]
    for value, known in options:
        yield from _branches((_exchanged(goal[0], node, value), goal[1]),
                             [*(_exchanged(h, node, value) for h in given), *known])


def _sign(op: str, tree: Tree) -> Tree:
    """tree >= 0 or <= 0; for an increasing function, what that says of its argument."""
    if isinstance(tree, list) and tree[0] == "log":
        return [op, tree[1], "1"]
    if isinstance(tree, list) and tree[0] in ("sinh", "tanh", "atan", "asinh", "erf"):
        return _sign(op, tree[1])
    return [op, tree, "0"]


def _piecewise(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree, list) and tree[0] != "var":
        for part in tree[1:]:
            yield from _piecewise(part)
        if tree[0] in ("abs", "max", "min"):
            yield tree


def _exchanged(tree: Tree, old: Tree, new: Tree) -> Tree:
    if tree == old:
        return new
    return [_exchanged(part, old, new) for part in tree] if isinstance(tree, list) else tree


def _case(goal: tuple[Tree, bool], given: list[Tree]) -> Case:
    names = sorted({name for tree in [goal[0], *given] for name in variables(tree)})
    ends: dict[str, list[list[Fraction]]] = {name: [[], []] for name in names}
    kept: list[list[Any]] = []
    for relation in given:
        if relation[0] not in ("ge", "gt", "le", "lt", "eq"):
            continue
        bound = _bound(relation)
        if bound is not None:
            name, upper, value, exact = bound
            ends[name][upper].append(value)
            if exact and relation[0] in ("ge", "le"):
                continue
        if relation[0] == "eq":
            kept += [[_difference([head, *relation[1:]])[0], False] for head in ("ge", "le")]
        else:
            kept.append(list(_difference(relation)))
    domain = [[str(max(ends[name][0])) if ends[name][0] else "-oo", str(min(ends[name][1])) if ends[name][1] else "oo"]
              for name in names]
    return Case(names, domain, goal[0], goal[1], kept)


def _bound(relation: Tree) -> tuple[str, bool, Fraction, bool] | None:
    """(variable, upper?, rational end, exact?) of a bound; an end that is not rational is moved outward."""
    from proofs_checks.harness.enclosures import Undetermined
    from proofs_checks.harness.enclosures import evaluate as bounds

    head, left, right = relation
    if head == "eq":
        return None
    upper = head in ("le", "lt")
    if isinstance(right, list) and right[0] == "var" and not variables(left):
        left, right, upper = right, left, not upper
    if not isinstance(left, list) or left[0] != "var" or variables(right):
        return None
    if not isinstance(right, list):
        return left[1], upper, number(right), True
    try:
        found = bounds(right, {})
    except (Undetermined, ArithmeticError, ValueError):
        return None
    if isinstance(found.lo, float) or isinstance(found.hi, float):
        return None
    if found.lo == found.hi:
        return left[1], upper, found.lo, True
    end = Fraction(ceil(found.hi * _GRID) if upper else floor(found.lo * _GRID), _GRID)
    return left[1], upper, end, False

"""Where a statement is defined: each logarithm, root and division brings an obligation, to be proved first."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from proofs_checks.engines.portfolio._search import Search
from proofs_checks.engines.smt._decide import decide
from proofs_checks.harness.checkers._values import whole
from proofs_checks.harness.language import Problem, to_text
from proofs_checks.harness.trees import RELATIONS, Tree, number, variables

__all__ = ["obligations", "undefined"]


def obligations(problem: Problem, part: Tree) -> list[Tree]:
    """Relations that together make every term of the part defined, inner terms first."""
    found: list[Tree] = []
    for relation in _conditions(part, problem.integers):
        if relation not in found and not _evident(relation):
            found.append(relation)
    return found


def _conditions(tree: Tree, integers: frozenset[str]) -> Iterator[Tree]:
    """Conditions of a tree, inner terms first."""
    if not isinstance(tree, list) or tree[0] == "var":
        return
    head, *rest = tree
    for part in rest:
        yield from _conditions(part, integers)
    arg = rest[-1] if rest else "1"
    if head == "pow":
        yield from _power(rest[0], rest[1], integers)
    elif head in ("log", "gamma", "loggamma", "digamma", "polygamma"):
        yield ["gt", arg, "0"]
    elif head in ("asin", "acos"):
        yield ["and", ["ge", arg, "-1"], ["le", arg, "1"]]
    elif head == "tan":
        yield ["ne", ["cos", arg], "0"]
    elif head == "acosh":
        yield ["ge", arg, "1"]
    elif head == "atanh":
        yield ["and", ["gt", arg, "-1"], ["lt", arg, "1"]]


def _power(base: Tree, exponent: Tree, integers: frozenset[str]) -> Iterator[Tree]:
    if not isinstance(exponent, str):
        if whole(exponent, integers):  # an integer: only 0 to a negative power is not defined
            yield ["or", ["ge", exponent, "0"], ["ne", base, "0"]]
            return
        if not (base == ["E"] or (isinstance(base, str) and number(base) > 0)):
            yield ["gt", base, "0"]
        return
    n = number(exponent)
    if n.denominator != 1:
        yield ["ge" if n > 0 else "gt", base, "0"]
    elif n < 0:
        yield ["ne", base, "0"]


def _evident(relation: Tree) -> bool:
    """Conditions on written numbers that are true."""
    from proofs_checks.harness.checkers._values import truth

    if variables(relation):
        return False
    try:
        return truth(relation, {})
    except (ValueError, ArithmeticError):
        return False


def undefined(problem: Problem, prove: Callable[[Problem], bool] | None = None,
              cancelled: Callable[[], bool] = lambda: False, work: int | None = None) -> tuple[str, list[str]]:
    """("", what was trusted) if all terms were proved to be defined; else (where they are not, []).

    The conclusion must be defined where the hypotheses hold. A hypothesis that is one relation is satisfied only where
    it is defined; that is its meaning. One with alternatives, and with `problem.total` any, must be defined where those
    hold that are known to be defined; it proves nothing about its own terms.
    z3 is limited by time, or by `work` (its resource count) where a verdict must not depend on load."""
    trusted: list[str] = []
    plain = [h for h in problem.hypotheses if not problem.total and h[0] in RELATIONS]
    pending = [h for h in problem.hypotheses if h not in plain]
    usable, where = list(plain), ""

    def defined(part: Tree) -> bool:
        nonlocal where
        known: list[Tree] = []
        for relation in obligations(problem, part):
            # an obligation may use the earlier ones: inner terms are defined by then
            how = _shown(replace(problem, hypotheses=(*usable, *known), conclusion=relation), prove, cancelled, work)
            if how is None:
                where = where or _where(replace(problem, hypotheses=(*usable, *known), conclusion=relation), relation)
                if problem.total and where:
                    where += "; SMT-LIB gives it a value there and leaves open which"
                return False
            known.append(relation)
            trusted.extend(how)
        return True

    while pending:
        where = ""
        done = [h for h in pending if defined(h)]
        if not done:
            return where, []
        usable += done
        pending = [h for h in pending if h not in done]
    where = ""
    return ("", trusted) if defined(problem.conclusion) else (where, [])


def _shown(part: Problem, prove: Callable[[Problem], bool] | None, cancelled: Callable[[], bool],
           work: int | None) -> list[str] | None:
    """What the proof of an obligation trusts, None if there is no proof."""
    if part.conclusion in part.hypotheses or _by_signs(part):
        return []
    limit = {"timeout_ms": 400} if work is None else {"work": work}
    if decide(part.subject, cancelled=cancelled, **limit).verdict == "holds":
        return [f"z3 (that {to_text(part.conclusion)})"]
    if prove is not None and prove(part):
        return [f"interval arithmetic (that {to_text(part.conclusion)})"]
    return None


def _where(part: Problem, relation: Tree) -> str:
    search = Search(part)
    point = search.small() or search.wide(samples=2000, starts=2)
    if point is None:
        return f"not defined unless {to_text(relation)}, which was not proved"
    at = ", ".join(f"{name} = {to_text(x)}" for name, x in sorted(point.items()))
    if not at:
        return f"not defined: {to_text(relation)} is needed"
    return f"not defined at {at}: {to_text(relation)} is needed, as a hypothesis"


def _by_signs(part: Problem) -> bool:
    """Sums and products of positive things are positive: no engine is needed for x + 1 where x >= 0."""
    head, *rest = part.conclusion
    if head not in ("gt", "ge", "ne") or rest[1] != "0":
        return False
    sign = _sign(rest[0], part)
    return sign == 2 if head in ("gt", "ne") else sign >= 1


def _sign(tree: Tree, part: Problem) -> int:
    """2 for positive, 1 for nonnegative, 0 for unknown."""
    if not isinstance(tree, list):
        x = number(tree)
        return 2 if x > 0 else 1 if x == 0 else 0
    head, *rest = tree
    if head == "var":
        return max((_bound_sign(tree, bound) for bound in [*part.bounds(), *part.hypotheses]), default=0)
    if head in ("exp", "pi", "E", "cosh"):
        return 2
    if head == "abs":
        return 1
    if head == "add":
        signs = [_sign(term, part) for term in rest]
        return 0 if 0 in signs else max(signs)
    if head == "mul":
        return min(_sign(factor, part) for factor in rest)
    if head == "pow" and isinstance(rest[1], str):
        inner, n = _sign(rest[0], part), number(rest[1])
        if n > 0 and n.denominator == 1 and n.numerator % 2 == 0:
            return max(inner, 1)
        return inner if n > 0 or inner == 2 else 0
    return 0


def _bound_sign(variable: Tree, bound: Tree) -> int:
    head, *rest = bound
    if head in ("lt", "le"):
        head, rest = {"lt": "gt", "le": "ge"}[head], rest[::-1]
    if head not in ("gt", "ge") or rest[0] != variable or not isinstance(rest[1], str):
        return 0
    low = Fraction(number(rest[1]))
    return 2 if low > 0 or (low == 0 and head == "gt") else 1 if low == 0 else 0

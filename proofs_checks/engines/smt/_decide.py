"""One implication given to z3: as it is, then with more and more lemma instances."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from proofs_checks.engines.smt._lemmas import instances
from proofs_checks.engines.smt._run import Answer, Root, run
from proofs_checks.harness.checkers._instances import relations
from proofs_checks.harness.checkers._smtlib import MAX_POWER, Unsupported, assemble
from proofs_checks.harness.trees import Tree, walk

__all__ = ["TRUST", "Found", "attempts", "candidates", "decide", "degree_of_powers", "lemma_body"]

TRUST = "z3 (unsat of the text in the certificate)"
_ABSTRACT = 6  # powers from here on are opaque in the attempt that leaves them to lemmas


class Found(NamedTuple):
    """verdict "holds" with the certificate's body, "candidates" with points worth checking, or "open" with a reason."""

    verdict: str
    body: dict[str, Any] | None = None
    points: tuple[dict[str, Tree], ...] = ()
    reason: str = ""


def degree_of_powers(statement: Tree) -> int:
    """The largest written exponent."""
    found = [abs(Fraction(node[2])) for node in walk(statement)
             if isinstance(node, list) and node[0] == "pow" and isinstance(node[2], str)]
    return int(max(found, default=Fraction(1)))


def attempts(subject: Mapping[str, Any]) -> Iterator[tuple[list[Any], int]]:
    """(instances, abstract_power) to try, cheapest first."""
    statement = subject["statement"]
    seen: list[list[Any]] = []
    for level in (0, 1, 2):
        items = instances(statement, level)
        if items not in seen:
            seen.append(items)
            yield items, MAX_POWER + 1
    if degree_of_powers(statement) >= _ABSTRACT:
        yield [*seen[-1], *_powers(statement)], _ABSTRACT


def _powers(statement: Tree) -> list[Any]:
    """Monotonicity of the large powers in base and exponent."""
    large: list[tuple[Tree, int]] = []
    for node in walk(statement):
        if isinstance(node, list) and node[0] == "pow" and isinstance(node[2], str) and "/" not in node[2]:
            pair = (node[1], abs(int(node[2])))
            if pair[1] >= _ABSTRACT and pair not in large:
                large.append(pair)
    found: list[Any] = []
    for base, n in large[:8]:
        found.append(["power_positive", str(n), base])
        for other, m in large[:8]:
            if (other, m) != (base, n):
                found.append(["power_increasing", str(n), base, other])
                if n <= m:
                    found.append(["power_above_one", str(n), str(m), base])
                    found.append(["power_above_one", str(n), str(m), other])
    return found


def lemma_body(subject: Mapping[str, Any], items: list[Any], abstract_power: int, text: str) -> dict[str, Any]:
    """The certificate's own part."""
    body: dict[str, Any] = {"kind": "lemma", "subject": subject, "instances": items, "smtlib": text}
    if abstract_power <= MAX_POWER:
        body["abstract_power"] = abstract_power
    return body


def decide(subject: Mapping[str, Any], *, timeout_ms: int | None = None, work: int | None = None,
           cancelled: Callable[[], bool] | None = None) -> Found:
    """Try to prove the implication; on the way, collect models as candidates for a refutation."""
    reasons: list[str] = []
    points: list[dict[str, Tree]] = []
    try:
        for items, abstract in attempts(subject):
            if cancelled is not None and cancelled():
                break
            text = assemble(subject, relations(items, subject["statement"]), abstract)
            answer = run(text, timeout_ms=timeout_ms, work=work, cancelled=cancelled)
            if answer.verdict == "unsat":
                return Found("holds", lemma_body(subject, items, abstract, text))
            points += [point for point in candidates(text, answer) if point not in points]
            reasons.append(f"{len(items)} lemmas: {answer.reason or answer.verdict}")
    except Unsupported as error:
        reasons.append(str(error))
    except (RecursionError, MemoryError) as error:
        reasons.append(type(error).__name__)
    return Found("candidates" if points else "open", None, tuple(points), "; ".join(dict.fromkeys(reasons)))


def candidates(text: str, answer: Answer) -> Iterator[dict[str, Tree]]:
    """Points of the statement's variables from a model: algebraic coordinates in closed form, then rounded."""
    if answer.verdict != "sat":
        return
    names = {}
    for comment, line in zip(text.splitlines(), text.splitlines()[1:], strict=False):
        if comment.startswith("; variable "):
            names[line.split()[1]] = comment.removeprefix("; variable ")
    exact: dict[str, Tree] = {}
    near: dict[str, Fraction] = {}
    for symbol, name in names.items():
        value = answer.model.get(symbol, Fraction(0))
        near[name] = value.approximation if isinstance(value, Root) else value
        exact[name] = _closed_form(value) if isinstance(value, Root) else str(value)
    if all(exact.values()):
        yield exact
    for limit in (1, 10, 100, 10 ** 4, 10 ** 9, 10 ** 14):
        yield {name: str(value.limit_denominator(limit)) for name, value in near.items()}


def _closed_form(root: Root) -> Tree:
    """A root of a quadratic, or of a x**n = b, by radicals; "" where there is none."""
    c = root.coefficients
    if len(c) == 3 and c[2]:
        a, b = Fraction(c[2]), Fraction(c[1])
        middle, square = -b / (2 * a), (b * b - 4 * a * c[0]) / (4 * a * a)
        sign = "1" if root.approximation > middle else "-1"
        return ["add", str(middle), ["mul", sign, ["pow", str(square), "1/2"]]]
    if len(c) > 3 and not any(c[1:-1]) and c[-1]:
        size = abs(Fraction(-c[0], c[-1]))
        return ["mul", "1" if root.approximation > 0 else "-1", ["pow", str(size), f"1/{len(c) - 1}"]]
    return ""

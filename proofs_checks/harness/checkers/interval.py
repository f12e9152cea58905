"""Kind "interval": boxes that cover a domain, each with a reason why the statement holds on it.

    {"kind": "interval", "variables": ["x"], "domain": [["1/10", "100"]], "goal": tree, "strict": true,
     "hypotheses": [[tree, strict], ...], "boxes": [[["1/10", "1/5"]], ...], "methods": ["n", "g", "h0", ...]}

asserts goal >= 0 (goal > 0 if strict), and that the goal is defined, at each point of the domain where every hypothesis
tree is >= 0 (> 0 if its flag is set). Ends of the domain are closed unless infinite. Methods: "n" natural extension,
"g" slopes (`enclosures._leaf`), "t<k>@<a>" Taylor's theorem of order k at a (one variable), "h<i>" hypothesis i fails
on the whole box. Hypotheses that bound one variable narrow
the domain. Checked: the boxes tile the domain, by exact comparison of rationals; each reason, afresh, with the standard
library's enclosures at 96, then 192, then 384 bits."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from proofs_checks.harness.checkers._subject import check_about, only
from proofs_checks.harness.enclosures import INF, NINF
from proofs_checks.harness.enclosures._leaf import End, Side, Statement, by_taylor, is_nonnegative, is_violated, statement
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import Tree, number

__all__ = ["affine", "check", "check_cover", "end", "leaf_holds", "narrow", "tiles"]

Box = tuple[tuple[End, End], ...]
PRECISIONS = (96, 192, 384)
MOST_BOXES = 50_000
_TAYLOR = re.compile(r"t([1-9]|1[0-9])@(-?[0-9]+(?:/[0-9]+)?)")


def check(certificate: Mapping[str, Any]) -> None:
    """Raise `CertificateError` unless the certificate proves its statement."""
    only(certificate, "variables", "domain", "goal", "strict", "hypotheses", "boxes", "methods")
    check_about(certificate)
    variables, domain = certificate["variables"], certificate["domain"]
    if not variables or len(set(variables)) != len(variables) or len(domain) != len(variables):
        raise CertificateError("variables must be distinct, with one side of the domain each")
    if not isinstance(certificate["strict"], bool):
        raise CertificateError("'strict' must be true or false")
    hypotheses = [(tree, flag) for tree, flag in certificate["hypotheses"]]
    if any(not isinstance(flag, bool) for _, flag in hypotheses):
        raise CertificateError("a hypothesis is a tree and a flag")
    sides = narrow(variables, [Side(end(lo), end(hi)) for lo, hi in domain], hypotheses)
    if sides is None:
        if certificate["boxes"]:
            raise CertificateError("boxes in an empty domain")
        return
    goal = statement(certificate["goal"], variables)
    given = [(statement(tree, variables), flag) for tree, flag in hypotheses]
    check_cover(goal, certificate["strict"], given, sides, certificate["boxes"], certificate["methods"])


def check_cover(goal: Statement, strict: bool, given: Sequence[tuple[Statement, bool]], sides: Sequence[Side],
                written: Any, methods: Any) -> None:
    """Raise unless the boxes tile the sides and each method proves the statement on its box."""
    if len(methods) != len(written) or len(written) > MOST_BOXES:
        raise CertificateError(f"{len(written)} boxes with {len(methods)} methods; at most {MOST_BOXES} are read")
    boxes = [tuple((end(lo), end(hi)) for lo, hi in box) for box in written]
    tiles(sides, boxes)
    for box, method in zip(boxes, methods, strict=True):
        if not leaf_holds(goal, strict, given, leaf(sides, box), method):
            raise CertificateError(f"method {method!r} does not prove the statement on the box {_show(box)}")


def leaf_holds(goal: Statement, strict: bool, given: Sequence[tuple[Statement, bool]], sides: Sequence[Side],
               method: Any, precisions: Sequence[int] = PRECISIONS) -> bool:
    """Whether `method` proves the statement on one box. `CertificateError` for an unknown method."""
    if method in ("n", "g"):
        return any(is_nonnegative(goal, sides, strict, slopes=method == "g", bits=bits) for bits in precisions)
    if isinstance(method, str) and method[:1] == "h" and method[1:].isdecimal() and int(method[1:]) < len(given):
        hypothesis, flag = given[int(method[1:])]
        return any(is_violated(hypothesis, sides, flag, bits=bits) for bits in precisions)
    taylor = _TAYLOR.fullmatch(method) if isinstance(method, str) else None
    if taylor and len(sides) == 1:
        order, at = int(taylor[1]), number(taylor[2])
        return any(by_taylor(goal, sides[0], strict, order, at, bits=bits) for bits in precisions)
    raise CertificateError(f"unknown method {method!r}")


def leaf(sides: Sequence[Side], box: Box) -> list[Side]:
    """A box with the open ends that it shares with the domain."""
    return [Side(lo, hi, side.lo_open and lo == side.lo, side.hi_open and hi == side.hi)
            for side, (lo, hi) in zip(sides, box, strict=True)]


def end(text: Any) -> End:
    """An end of a side: a rational, "oo" or "-oo"."""
    if text in ("oo", "-oo"):
        return INF if text == "oo" else NINF
    return number(text)


def narrow(variables: Sequence[str], domain: Sequence[Side],
           hypotheses: Sequence[tuple[Tree, bool]]) -> list[Side] | None:
    """The domain cut down by the hypotheses that bound one variable; None if nothing is left."""
    sides = [Side(s.lo, s.hi, s.lo_open or s.lo == NINF, s.hi_open or s.hi == INF) for s in domain]
    for tree, strict in hypotheses:
        line = affine(tree)
        if line is None or line[0] not in variables:
            continue
        i = variables.index(line[0])
        s, slope, at = sides[i], line[1], -line[2] / line[1]
        if slope > 0 and (at > s.lo or (at == s.lo and strict)):
            sides[i] = Side(at, s.hi, strict, s.hi_open)
        elif slope < 0 and (at < s.hi or (at == s.hi and strict)):
            sides[i] = Side(s.lo, at, s.lo_open, strict)
    for s in sides:
        if s.lo > s.hi or (s.lo == s.hi and (s.lo_open or s.hi_open or isinstance(s.lo, float))):
            return None
    return sides


def affine(tree: Tree) -> tuple[str, Fraction, Fraction] | None:
    """(x, a, b) if the tree is a x + b with a != 0, written with sums and products only."""
    def parts(node: Tree) -> tuple[str | None, Fraction, Fraction] | None:
        if not isinstance(node, list):
            return None, Fraction(0), number(node)
        if node[0] == "var":
            return node[1], Fraction(1), Fraction(0)
        if node[0] not in ("add", "mul"):
            return None
        total: tuple[str | None, Fraction, Fraction] = (None, Fraction(0), Fraction(node[0] == "mul"))
        for child in node[1:]:
            item = parts(child)
            if item is None:
                return None
            (x, a, b), (y, c, d) = total, item
            if x is not None and y is not None and (x != y or node[0] == "mul"):
                return None
            total = (x or y, a + c, b + d) if node[0] == "add" else (x or y, a * d + b * c, b * d)
        return total
    found = parts(tree)
    if found is None or found[0] is None or found[1] == 0:
        return None
    return found[0], found[1], found[2]


def tiles(sides: Sequence[Side], boxes: Sequence[Box]) -> None:
    """Raise unless the boxes cover the domain without overlap, in any order.

    A cell with one box must equal it; one with several must fall apart along a hyperplane that cuts no box."""
    cell: Box = tuple((side.lo, side.hi) for side in sides)
    stack: list[tuple[Box, list[Box]]] = [(cell, list(boxes))]
    while stack:
        cell, inside = stack.pop()
        if not inside:
            raise CertificateError(f"no box covers {_show(cell)}")
        if any(len(box) != len(cell) for box in inside):
            raise CertificateError("a box has another number of sides than there are variables")
        if len(inside) == 1:
            if inside[0] != cell:
                raise CertificateError(f"box {_show(inside[0])} does not fill {_show(cell)}")
            continue
        best: tuple[int, list[End]] = (0, [])
        for axis in range(len(cell)):
            cuts = _cuts(axis, inside)
            if len(cuts) > len(best[1]):
                best = (axis, cuts)
        axis, cuts = best
        if not cuts:
            raise CertificateError(f"the boxes inside {_show(cell)} overlap or do not tile it")
        groups = _divide(axis, cuts, inside)
        edges = [cell[axis][0], *cuts, cell[axis][1]]
        for k, group in enumerate(groups):
            if edges[k] >= edges[k + 1]:
                raise CertificateError(f"a box leaves the cell {_show(cell)}")
            stack.append(((*cell[:axis], (edges[k], edges[k + 1]), *cell[axis + 1:]), group))


def _cuts(axis: int, boxes: Sequence[Box]) -> list[End]:
    """Coordinates along the axis where some box starts and none is cut."""
    spans = sorted((box[axis] for box in boxes), key=lambda s: (s[0], s[1]))
    cuts: list[End] = []
    reach = spans[0][1]
    for lo, hi in spans[1:]:
        if lo >= reach and lo > spans[0][0]:
            cuts.append(lo)
        reach = max(reach, hi)
    return sorted(set(cuts))


def _divide(axis: int, cuts: Sequence[End], boxes: Sequence[Box]) -> list[list[Box]]:
    groups: list[list[Box]] = [[] for _ in range(len(cuts) + 1)]
    ordered = sorted(boxes, key=lambda box: box[axis][0])
    k = 0
    for box in ordered:
        while k < len(cuts) and box[axis][0] >= cuts[k]:
            k += 1
        groups[k].append(box)
    return groups


def _show(box: Box) -> str:
    return " x ".join(f"[{lo}, {hi}]" for lo, hi in box)

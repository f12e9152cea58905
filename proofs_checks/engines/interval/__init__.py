"""Certified inequalities on boxes by interval arithmetic: proved with a cover, or refuted with a rational point.

`decide` takes sympy expressions (the front door `prove` calls it); `nonnegative` is the check for evidence in
`proofs_checks`: it applies the claim's own function to symbols. Search runs over Arb (`_balls`), the proof that comes
out is accepted by the standard library's checker before it is reported, and a witness is verified exactly or by
enclosures."""
from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import Any

from proofs_checks.engines import _statements as statements
from proofs_checks.engines._own_numbers import tried
from proofs_checks.harness import trees
from proofs_checks.harness.checkers import interval as checker
from proofs_checks.harness.enclosures import INF, NINF
from proofs_checks.harness.enclosures._leaf import Side, statement
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict
from proofs_checks.harness.language import Problem

__all__ = ["BOXES", "decide", "decide_trees", "inward", "nonnegative", "outward"]

BOXES = 20_000


def decide(goal: Any, strict: bool, hypotheses: Sequence[tuple[Any, bool]], box: Mapping[Any, tuple[Any, Any]], *,
           boxes: int = BOXES, deadline: float | None = None, seed: int = 0) -> Evidence:
    """goal >= 0 (> 0 if `strict`) on the box, where each hypothesis (h, flag) means h >= 0 (h > 0).

    `goal` and the hypotheses are sympy expressions; `box` maps Symbols to closed ends (rationals, +-oo; other
    constants are enclosed outward). `boxes` bounds the work, `deadline` (time.monotonic) the time. HOLDS comes with a
    certificate of kind "interval", REFUTED with {name: Fraction}, UNDECIDED with the reason in `summary`."""
    start = time.perf_counter()
    variables = [symbol.name for symbol in box]
    found = decide_trees(trees.to_tree(goal), strict, [(trees.to_tree(h), flag) for h, flag in hypotheses], variables,
                         [outward(*ends) for ends in box.values()], boxes=boxes, deadline=deadline, seed=seed,
                         inside=[inward(*ends) for ends in box.values()])
    return Evidence(**{**_fields(found), "seconds": time.perf_counter() - start})


def _fields(evidence: Evidence) -> dict[str, Any]:
    return {name: getattr(evidence, name) for name in evidence.__dataclass_fields__}


def decide_trees(goal: trees.Tree, strict: bool, hypotheses: Sequence[tuple[trees.Tree, bool]],
                 variables: Sequence[str], domain: Sequence[Side], *, boxes: int = BOXES,
                 deadline: float | None = None, seed: int = 0, inside: Sequence[Side] | None = None) -> Evidence:
    """`decide` for trees, with the domain as sides; witnesses are taken from `inside`, where ends were rounded outward."""
    from proofs_checks.engines.interval._search import Search, certificate

    if not variables:
        variables, domain = ["_"], [Side(Fraction(0), Fraction(0))]
    sides = checker.narrow(variables, domain, hypotheses)
    scope = ", ".join(f"{v} in [{s.lo}, {s.hi}]" for v, s in zip(variables, domain, strict=True))
    if sides is None:
        return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.HOLDS, scope=scope, summary="vacuous: no point satisfies the "
                        "hypotheses", certificate={"kind": "interval", "variables": list(variables), "domain": [
                            [_text(s.lo), _text(s.hi)] for s in domain], "goal": goal, "strict": strict,
                            "hypotheses": [[t, f] for t, f in hypotheses], "boxes": [], "methods": []})
    search = Search(statement(goal, variables), strict, [(statement(t, variables), f) for t, f in hypotheses], sides,
                    boxes=boxes, deadline=deadline, seed=seed,
                    inside=None if inside is None else checker.narrow(variables, inside, hypotheses))
    outcome = search.run()
    if outcome is False:
        return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.REFUTED, scope=scope, witness=search.witness,
                        summary=f"fails at {_point(search.witness)}", trusted_base=("stdlib enclosures",))
    if outcome and search.settle():
        proof = certificate(search, variables, domain, goal, strict, hypotheses)
        return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.HOLDS, scope=scope, certificate=proof,
                        summary=f"{len(search.leaves)} boxes, {search.used} examined")
    return Evidence(rung=Rung.CERTIFIED, verdict=Verdict.UNDECIDED, scope=scope, summary=search.reason)


def _text(end: Any) -> str:
    return ("oo" if end > 0 else "-oo") if isinstance(end, float) else str(end)


def _finite(end: Any) -> str | None:
    return None if isinstance(end, float) else str(end)


def _point(witness: Mapping[str, Fraction] | None) -> str:
    return ", ".join(f"{name} = {value}" for name, value in (witness or {}).items())


def outward(lo: Any, hi: Any) -> Side:
    """A side that contains [lo, hi]: rationals stay, other constants move outward by less than 2^-60."""
    return Side(_outward(lo, False), _outward(hi, True))


def inward(lo: Any, hi: Any) -> Side:
    """A side within [lo, hi], less than 2^-60 shorter at an end that is not rational."""
    return Side(_outward(lo, True), _outward(hi, False))


def _outward(value: Any, up: bool) -> Fraction | float:
    import sympy as sp

    if isinstance(value, float) and value in (INF, NINF):
        return value
    value = sp.Rational(value.numerator, value.denominator) if isinstance(value, Fraction) else sp.sympify(value)
    if value in (sp.oo, -sp.oo):
        return INF if value == sp.oo else NINF
    if isinstance(value, sp.Rational):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, sp.Float):
        return Fraction(*value.as_integer_ratio())
    from proofs_checks.harness.enclosures import evaluate

    bounds = evaluate(trees.to_tree(value), {})
    scale = 1 << 62
    return Fraction(ceil(bounds.hi * scale) if up else floor(bounds.lo * scale), scale)


def nonnegative(function: Callable[..., Any], box: Mapping[str, tuple[Any, Any]] | Sequence[tuple[Any, Any]], *,
                strict: bool = False, given: Callable[..., Any] | None = None, universal: bool = False,
                boxes: int = BOXES) -> Check:
    """function(x, ...) >= 0 (> 0 if `strict`) on a box, certified by a cover, or by a ladder where a cover fails.

    `function` is applied to real symbols; `box` gives closed ends (a mapping by name, or a sequence in the order of
    the arguments). `given` returns inequalities, or expressions that are >= 0, one or a tuple, where the statement is made.
    `Vacuous` is raised by `.run()` if nothing satisfies it. ValueError if `given` returns anything else."""
    names = list(box) if isinstance(box, Mapping) else _names(function, len(box))
    ends = list(box.values()) if isinstance(box, Mapping) else list(box)
    domain, inside = [outward(lo, hi) for lo, hi in ends], [inward(lo, hi) for lo, hi in ends]
    for name, (lo, hi) in zip(names, ((s.lo, s.hi) for s in domain), strict=True):
        if lo >= hi:
            raise ValueError(f"box: {name} in [{lo}, {hi}] needs lo < hi")

    def build(f: Callable[..., Any]) -> Any:
        import sympy as sp
        return f(*(sp.Symbol(name, real=True) for name in names))

    def conditions() -> list[tuple[trees.Tree, bool]]:
        if given is None:
            return []
        return list(map(_hypothesis, statements.conditions(build(given))))

    def subject() -> Any:
        return ["interval", trees.to_tree(build(function)), strict, [[t, f] for t, f in conditions()], names,
                [[_text(s.lo), _text(s.hi)] for s in domain]]

    def run(context: Context) -> Evidence:
        tree, hypotheses, budget = trees.to_tree(build(function)), conditions(), context.budget or boxes
        box = {n: (_finite(side.lo), _finite(side.hi)) for n, side in zip(names, domain, strict=True)}
        if hypotheses:
            statements.satisfiable(Problem(box=box, hypotheses=tuple(
                ["gt" if flag else "ge", h, "0"] for h, flag in hypotheses), conclusion=["false"]))
        found = decide_trees(tree, strict, hypotheses, names, domain, boxes=budget, inside=inside)
        if found.verdict is Verdict.UNDECIDED:  # where both sides touch, or at infinity, boxes alone do not suffice
            from proofs_checks.engines.ladder import prove_trees

            proof = prove_trees(tree, strict, hypotheses, names, domain, nodes=budget // 50)
            if proof is not None:
                found = Evidence(rung=Rung.CERTIFIED, verdict=Verdict.HOLDS, scope=found.scope, certificate=proof,
                                 summary=f"a ladder; boxes alone: {found.summary}")
        return Evidence(**{**_fields(found), "universal": universal})

    def at(witness: Mapping[str, Fraction]) -> bool:
        from proofs_checks.engines.interval._refute import sign_at
        point = {name: Fraction(witness[name]) for name in names}
        if any(sign_at(tree, point) not in ((1,) if flag else (0, 1)) for tree, flag in conditions()):
            return True  # outside the hypotheses nothing is asserted
        sign = _value_sign(function, point)
        return sign is None or sign > 0 or (sign == 0 and not strict)

    def binds(certificate: Mapping[str, Any]) -> bool:
        return certificate.get("variables") == names and certificate.get("strict") is strict and \
            certificate.get("domain") == [[_text(s.lo), _text(s.hi)] for s in domain] and \
            _same(certificate.get("goal"), function, names, domain)

    def within(point: Sequence[Fraction]) -> bool:
        return all(side.lo <= x <= side.hi for side, x in zip(inside, point, strict=True))

    return Check(engine="interval", rung=Rung.CERTIFIED, subject=subject, at=at, binds=binds,
                 decide=lambda context: tried(run(context), (function, given), names, at, within))


def _hypothesis(relation: trees.Tree) -> tuple[trees.Tree, bool]:
    """What must be >= 0 (True: > 0) for an inequality to hold."""
    if relation in (["true"], ["false"]):
        return ("0" if relation == ["true"] else "-1"), False
    if relation[0] not in ("ge", "gt", "le", "lt"):
        raise ValueError(f"given: {relation!r} must be an inequality, or an expression that is >= 0")
    large, small = relation[1:] if relation[0] in ("ge", "gt") else relation[:0:-1]
    return large if small == "0" else ["add", large, ["mul", "-1", small]], relation[0] in ("gt", "lt")


def _names(function: Callable[..., Any], count: int) -> list[str]:
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) == count and all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters):
        return [p.name for p in parameters]
    return [f"x{i}" for i in range(count)]


def _value_sign(function: Callable[..., Any], point: Mapping[str, Fraction]) -> int | None:
    """Sign of function at a rational point: by Fractions where it is rational, else of its value by enclosures."""
    from proofs_checks.engines.interval._refute import sign_at
    try:
        value = function(*point.values())
        if isinstance(value, int | Fraction):
            return (value > 0) - (value < 0)
    except (TypeError, AttributeError, ValueError):
        pass
    return sign_at(_tree(function, list(point)), point)


def _tree(function: Callable[..., Any], names: Sequence[str]) -> trees.Tree:
    import sympy as sp
    return trees.to_tree(function(*(sp.Symbol(name, real=True) for name in names)))


def _same(goal: Any, function: Callable[..., Any], names: Sequence[str], domain: Sequence[Side]) -> bool:
    """Whether a certified tree agrees with the function at rational points of the domain."""
    from itertools import islice

    from proofs_checks.engines.interval._refute import candidates
    from proofs_checks.harness.enclosures import Undefined, Undetermined, evaluate

    compared, own = 0, _tree(function, names)
    for point in islice(candidates(domain, seed=1), 40):
        at = {v: (x, x) for v, x in zip(names, point, strict=True)}
        try:
            left, right = evaluate(goal, at, bits=128), evaluate(own, at, bits=128)
        except (Undefined, Undetermined):
            continue
        if left.lo > right.hi or right.lo > left.hi:
            return False
        compared += 1
    return compared >= 5

"""The interval engine: what it proves, what it refutes, and that its certificates cannot be forged."""
from __future__ import annotations

import copy
import json
from fractions import Fraction

import pytest
import sympy as sp

from proofs_checks.engines import interval
from proofs_checks.harness.certificate import seal
from proofs_checks.harness.evidence import Context, Rung, Verdict
from proofs_checks.harness.recheck import CertificateError, recheck

x, y = sp.symbols("x y", real=True)
PSI = sp.log(x) - 1 / (2 * x) - sp.digamma(x)
S = 1 / (1 + sp.exp(-x))
BOX = {x: (sp.Rational(1, 10), sp.Integer(100))}


def prove(goal, strict, box, hypotheses=(), **options):
    found = interval.decide(goal, strict, list(hypotheses), box, **options)
    if found.certificate is not None:
        assert found.verdict is Verdict.HOLDS
        recheck(json.loads(json.dumps(sealed(found.certificate))))
    return found


TRUE = {
    "digamma": (PSI, True, BOX, []),
    "trigamma_decreasing": (-sp.polygamma(1, x) - x * sp.polygamma(2, x), True, {x: (sp.Rational(1, 10), 50)}, []),
    "trigamma_lower": (sp.polygamma(1, x) - 1 / x, True, {x: (sp.Rational(1, 10), 50)}, []),
    "evidence_convex": (sp.polygamma(1, x) - 1 / (x + 1), True, {x: (sp.Rational(1, 20), 100)}, []),
    "logistic_convexity": (sp.Rational(26, 100) - S * (1 - S), True, {x: (-sp.oo, sp.oo)}, []),
    "pinsker_with_slack": (x * sp.log(x / y) + (1 - x) * sp.log((1 - x) / (1 - y)) - 2 * (x - y) ** 2
                           + sp.Rational(1, 100), True, {v: (sp.Rational(1, 20), sp.Rational(19, 20)) for v in (x, y)}, []),
    "touching_corner": (sp.exp(x) - 1 - y, False, {x: (0, 1), y: (-1, 0)}, []),
    "open_end": (sp.exp(x) - 1, True, {x: (0, sp.oo)}, [(x, True)]),
    "root_at_zero": (sp.sqrt(x) + x, False, {x: (0, 4)}, []),
    "hypothesis_prunes": (x * y - sp.Rational(1, 5), True, {x: (0, 2), y: (0, 2)}, [(x * y - 1, False)]),
    "entropy_at_zero": (x * sp.log(x) + sp.Rational(3678794412, 10**10), False, {x: (0, 1)}, [(x, True)]),
    "kinks": (sp.Abs(x) + sp.Abs(y) - sp.Max(x, y), False, {x: (sp.Rational(1, 10), 3), y: (-3, -sp.Rational(1, 10))}, []),
}


@pytest.mark.parametrize("name", sorted(TRUE))
def test_proved_with_a_certificate(name):
    goal, strict, box, hypotheses = TRUE[name]
    found = prove(goal, strict, box, hypotheses)
    assert found.verdict is Verdict.HOLDS, found.summary
    assert found.rung is Rung.CERTIFIED and found.certificate["kind"] == "interval"


def test_gradients_need_few_boxes():
    assert len(prove(*(TRUE["digamma"][k] for k in (0, 1, 2))).certificate["boxes"]) <= 600


FALSE = {
    "digamma_0.6": (sp.log(x) - sp.Rational(6, 10) / x - sp.digamma(x), True, BOX, []),
    "strict_at_its_zero": (sp.exp(x) - 1, True, {x: (0, 1)}, []),
    "trigamma": (sp.polygamma(1, x) - sp.Rational(11, 10) / x, True, {x: (sp.Rational(1, 10), 50)}, []),
    "trigamma_decreasing": (-sp.polygamma(1, x) - sp.Rational(9, 10) * x * sp.polygamma(2, x), True,
                            {x: (sp.Rational(1, 10), 50)}, []),
    "pinsker_2.01": (x * sp.log(x / y) + (1 - x) * sp.log((1 - x) / (1 - y)) - sp.Rational(201, 100) * (x - y) ** 2, False,
                     {x: (0, 1), y: (0, 1)}, [(x, True), (1 - x, True), (y, True), (1 - y, True)]),
    "tiny_margin": (sp.exp(-x) - sp.Rational(1, 10**40), True, {x: (0, 100)}, []),
    "domain_edge": (x * sp.log(x) + sp.Rational(3678794411, 10**10), False, {x: (0, 1)}, [(x, True)]),
    "double_zero": ((x - 1) ** 2 * sp.exp(x), True, {x: (-sp.oo, sp.oo)}, []),
}


@pytest.mark.parametrize("name", sorted(FALSE))
def test_refuted_with_a_rational_point_inside(name):
    goal, strict, box, hypotheses = FALSE[name]
    found = prove(goal, strict, box, hypotheses)
    assert found.verdict is Verdict.REFUTED, found.summary
    assert all(isinstance(v, Fraction) for v in found.witness.values())
    point = {s: sp.Rational(found.witness[s.name].numerator, found.witness[s.name].denominator) for s in box}
    value = goal.subs(point).evalf(60)
    assert value < 0 or (strict and goal.subs(point) == 0)
    for s, (lo, hi) in box.items():
        assert lo <= point[s] <= hi


def test_witnesses_lie_inside_irrational_ends():
    """sin x >= 2 x / pi on [0, pi/2] fails just beyond pi/2, where a domain rounded outward reaches."""
    found = interval.decide(sp.sin(x) - 2 * x / sp.pi, False, [], {x: (0, sp.pi / 2)}, boxes=300)
    assert found.verdict is Verdict.UNDECIDED
    found = interval.decide(sp.sin(x) - sp.Rational(201, 100) * x / sp.pi, False, [], {x: (0, sp.pi / 2)}, boxes=300)
    assert found.verdict is Verdict.REFUTED and found.witness["x"] < sp.pi / 2
    assert prove(sp.Rational(2, 3) - sp.cos(x) / 2, True, {x: (0, sp.pi / 2)}).verdict is Verdict.HOLDS


def test_undefined_somewhere_is_never_holds():
    for goal in (sp.log(x), 1 / x, sp.sqrt(x - 1), sp.tan(x)):
        found = interval.decide(sp.exp(goal) + goal**2, False, [], {x: (0, 2)}, boxes=300)
        assert found.verdict is Verdict.UNDECIDED and found.certificate is None
        assert found.summary


def test_budget_is_work_and_the_same_twice():
    runs = [interval.decide(PSI, True, [], BOX, boxes=50) for _ in range(2)]
    assert [r.verdict for r in runs] == [Verdict.UNDECIDED] * 2
    assert runs[0].summary == runs[1].summary and "50 boxes" in runs[0].summary


def test_touching_zeros_inside():
    """A rational zero is divided out by Taylor's theorem; at an irrational one the engine says that it does not know."""
    third = sp.Rational(1, 3)
    assert prove((x - third) * sp.sin(x - third), False, {x: (0, 1)}).verdict is Verdict.HOLDS
    assert prove((x - third) * sp.sin(x - third), True, {x: (0, 1)}).verdict is Verdict.REFUTED
    assert prove((x - third) ** 3 * sp.exp(x), False, {x: (0, 1)}).verdict is Verdict.REFUTED
    assert prove((x**2 - 2) * sp.sin(x**2 - 2), False, {x: (1, 2)}, boxes=500).verdict is Verdict.UNDECIDED


# ---- forged certificates

@pytest.fixture(scope="module")
def honest():
    return dict(interval.decide(PSI, True, [], BOX).certificate)


def forged(certificate, change):
    body = copy.deepcopy(certificate)
    change(body)
    with pytest.raises(CertificateError) as error:
        recheck(sealed(body))
    return str(error.value)


def test_boxes_in_any_order(honest):
    body = {**honest, "boxes": honest["boxes"][::-1], "methods": honest["methods"][::-1]}
    assert recheck(sealed(body))


@pytest.mark.parametrize("change", [
    lambda b: (b["boxes"].pop(7), b["methods"].pop(7)),
    lambda b: (b["boxes"].append(b["boxes"][0]), b["methods"].append("g")),
    lambda b: b["boxes"][3][0].__setitem__(1, "1000"),
    lambda b: b["boxes"].clear() or b["methods"].clear(),
    lambda b: b["domain"].__setitem__(0, ["1/100", "100"]),
    lambda b: b["domain"].__setitem__(0, ["nan", "100"]),
    lambda b: b["domain"].__setitem__(0, ["1/10", "oo"]),
    lambda b: b["boxes"][0].__setitem__(0, ["nan", "nan"]),
    lambda b: b["boxes"][0].__setitem__(0, [float("nan"), float("nan")]),
    lambda b: b["boxes"][0].append(["0", "1"]),
    lambda b: b["methods"].__setitem__(0, "trust me"),
    lambda b: b["methods"].__setitem__(0, "h0"),
    lambda b: b["methods"].__setitem__(0, ["g"]),
    lambda b: b["methods"].pop(),
    lambda b: b.__setitem__("goal", ["add", b["goal"], "-1/1000"]),
    lambda b: b.__setitem__("goal", ["add", ["log", ["var", "x"]], "-nan"]),
    lambda b: b.__setitem__("strict", "yes"),
    lambda b: b.__setitem__("variables", ["x", "x"]),
    lambda b: b.__setitem__("variables", ["y"]),
    lambda b: b.pop("goal"),
], ids=range(20))
def test_a_changed_certificate_is_refused(honest, change):
    assert forged(honest, change)


def test_one_wide_box_does_not_replace_the_cover(honest):
    assert forged(honest, lambda b: (b.__setitem__("boxes", [[["1/10", "100"]]]), b.__setitem__("methods", ["g"])))


def test_overlap_in_two_dimensions_is_refused():
    body = {"kind": "interval", "variables": ["x", "y"], "domain": [["0", "2"], ["0", "2"]], "hypotheses": [],
            "goal": ["add", "1", ["var", "x"], ["var", "y"]], "strict": True, "methods": ["n"] * 4}
    ring = [[["0", "2"], ["0", "1"]], [["0", "1"], ["1", "2"]], [["1", "2"], ["1", "2"]]]
    assert recheck(sealed({**body, "boxes": ring, "methods": ["n"] * 3}))
    # area 4 in total, but one corner is covered twice and another not at all
    overlap = [[["0", "2"], ["0", "1"]], [["0", "1"], ["0", "1"]], [["1", "2"], ["1", "2"]]]
    with pytest.raises(CertificateError):
        recheck(sealed({**body, "boxes": overlap, "methods": ["n"] * 3}))


def test_a_false_statement_has_no_certificate():
    for method in ("n", "g"):
        body = {"kind": "interval", "variables": ["x"], "domain": [["0", "1"]], "hypotheses": [], "strict": True,
                "goal": ["add", ["exp", ["var", "x"]], "-1"], "boxes": [[["0", "1"]]], "methods": [method]}
        with pytest.raises(CertificateError):
            recheck(sealed(body))
        assert recheck(sealed({**body, "strict": False}))


# ---- the check for evidence

def test_nonnegative_holds_and_binds():
    def claim(t):
        return sp.log(t) - 1 / (2 * t) - sp.digamma(t)

    def mutant(t):
        return sp.log(t) - sp.Rational(3, 5) / t - sp.digamma(t)
    box = {"t": (Fraction(1, 10), 100)}
    check, other = (interval.nonnegative(f, box, strict=True, universal=True) for f in (claim, mutant))
    good, bad = check.run(), other.run()
    assert good.verdict is Verdict.HOLDS and good.universal and recheck(good.certificate)
    assert bad.verdict is Verdict.REFUTED
    assert not other.at(bad.witness) and check.at(bad.witness)
    assert check.binds(good.certificate) and not other.binds(good.certificate)
    assert check.resolved_subject() != other.resolved_subject()


def test_nonnegative_with_hypotheses_and_budget():
    check = interval.nonnegative(lambda a, b: a * b - Fraction(1, 2), {"a": (0, 2), "b": (0, 2)},
                                 given=lambda a, b: (a * b - 1,))
    assert check.run().verdict is Verdict.HOLDS
    assert check.run(Context(budget=1)).verdict is Verdict.UNDECIDED
    assert check.at({"a": Fraction(0), "b": Fraction(0)})  # outside the hypotheses nothing is asserted


def test_nonnegative_refuses_an_empty_side():
    with pytest.raises(ValueError, match="box: a in"):
        interval.nonnegative(lambda a: a, {"a": (1, 1)})


def test_nonnegative_climbs_a_ladder_where_boxes_fail():
    def touching(u, c):
        return c - u * sp.exp(1 - u)
    box = {"u": (0, sp.oo)}
    good, bad = (interval.nonnegative(lambda u, c=c: touching(u, c), box) for c in (1, Fraction(99, 100)))
    found = good.run()
    assert found.verdict is Verdict.HOLDS and recheck(found.certificate) and good.binds(found.certificate)
    assert not bad.binds(found.certificate) and bad.run().verdict is Verdict.REFUTED
    assert good.run(Context(budget=1)).verdict is Verdict.UNDECIDED


def sealed(body):
    """A certificate of the very inequality that it is about."""
    fields = ("goal", "strict", "hypotheses", "variables", "domain")
    return seal(body, subjects=[["interval", *(body.get(name) for name in fields)]])

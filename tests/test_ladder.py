"""The ladder engine and its checker: tight and unbounded inequalities, their mutants, forged proofs."""
from __future__ import annotations

import copy
import json
import random
from fractions import Fraction

import pytest
import sympy as sp

from proofs_checks.engines import ladder
from proofs_checks.harness.algebra import Field
from proofs_checks.harness.certificate import seal
from proofs_checks.harness.checkers._ladder_calculus import asymptotic
from proofs_checks.harness.checkers._ladder_rules import Sequent, field_of
from proofs_checks.harness.enclosures import evaluate
from proofs_checks.harness.enclosures._leaf import Side
from proofs_checks.harness.evidence import Verdict
from proofs_checks.harness.recheck import CertificateError, recheck
from proofs_checks.harness.trees import to_tree

x, p, q, t = sp.symbols("x p q t", real=True)
R, oo = sp.Rational, sp.oo
KL = p * sp.log(p / q) + (1 - p) * sp.log((1 - p) / (1 - q))
UNIT = [(p, True), (1 - p, True), (q, True), (1 - q, True)]
SQUARE = {p: (0, 1), q: (0, 1)}
CUMULANT = sp.log(1 - p + p * sp.exp(t)) - p * t


def prove(goal, strict, hypotheses, box, **options):
    found = ladder.decide_on(goal, strict, hypotheses, box, **options)
    if found.certificate is not None:
        assert found.verdict is Verdict.HOLDS
        recheck(json.loads(json.dumps(sealed(found.certificate))))
    return found


TRUE = {
    "pinsker": (KL - 2 * (p - q) ** 2, False, UNIT, SQUARE),
    "hoeffding_lemma": (t**2 / 8 - CUMULANT, False, [], {p: (0, 1), t: (-oo, oo)}),
    "digamma_on_the_half_line": (sp.log(x) - 1 / (2 * x) - sp.digamma(x), True, [(x, True)], {x: (0, oo)}),
    "trigamma_on_the_half_line": (sp.polygamma(1, x) - 1 / x, True, [(x, True)], {x: (0, oo)}),
    "logistic_variance": (R(1, 4) - sp.exp(x) / (1 + sp.exp(x)) ** 2, False, [], {x: (-oo, oo)}),
    "sinc": (1 - sp.sin(x) / x, False, [(x, True)], {x: (0, R(32, 10))}),
    "log_taylor": ((1 + x) * sp.log(1 + x) - x - x**2 / 2 + x**3 / 6, True, [(x, True)], {x: (0, oo)}),
    "gaussian_tail": (sp.exp(-x**2 / 2) - 1 + sp.erf(x / sp.sqrt(2)), False, [(x, True)], {x: (0, oo)}),
    "kink": (x**2 - sp.Abs(sp.log(1 + x) - x), False, [], {x: (0, oo)}),
    "roots_of_x": (sp.sqrt(x) + 1 / sp.sqrt(x) - 2, False, [(x, True)], {x: (0, oo)}),
    "even_power": ((sp.exp(x) - 2) ** 2 * (1 + x**2), False, [], {x: (-oo, oo)}),
}


@pytest.mark.parametrize("name", sorted(TRUE))
def test_proved_with_a_certificate(name):
    found = prove(*TRUE[name])
    assert found.verdict is Verdict.HOLDS, found.summary


FALSE = {
    "pinsker_2.01": (KL - R(201, 100) * (p - q) ** 2, False, UNIT, SQUARE),
    "hoeffding_lemma_1/9": (t**2 / 9 - CUMULANT, False, [], {p: (0, 1), t: (-oo, oo)}),
    "digamma_0.6": (sp.log(x) - R(6, 10) / x - sp.digamma(x), True, [(x, True)], {x: (0, oo)}),
    "trigamma_1.1": (sp.polygamma(1, x) - R(11, 10) / x, True, [(x, True)], {x: (0, oo)}),
    "logistic_variance_0.24": (R(24, 100) - sp.exp(x) / (1 + sp.exp(x)) ** 2, False, [], {x: (-oo, oo)}),
    "log_taylor_term_short": ((1 + x) * sp.log(1 + x) - x - x**2 / 2, True, [(x, True)], {x: (0, oo)}),
    "kink_0.49": (R(49, 100) * x**2 - sp.Abs(sp.log(1 + x) - x), False, [], {x: (0, oo)}),
    "gaussian_tail": (R(1, 2) * sp.exp(-x**2 / 2) - 1 + sp.erf(x / sp.sqrt(2)), False, [(x, True)], {x: (0, oo)}),
}


@pytest.mark.parametrize("name", sorted(FALSE))
def test_mutants_are_refuted(name):
    goal, strict, hypotheses, box = FALSE[name]
    found = prove(goal, strict, hypotheses, box)
    assert found.verdict is Verdict.REFUTED, found.summary
    point = {s: R(found.witness[s.name].numerator, found.witness[s.name].denominator) for s in box}
    assert goal.subs(point).evalf(60) < 0


TRAPS = {
    "pole_between": (sp.tan(x) - x, False, [], {x: (0, 2)}),  # negative beyond pi/2: refuted, not a ladder from 0
    "one_over_x": (1 / x + 1, False, [], {x: (-R(1, 2), 1)}),
    "strict_at_closed_end": (sp.exp(x) - 1 - x, True, [], {x: (0, oo)}),
    "strict_at_even_zero": (x**2 * sp.exp(x), True, [], {x: (-oo, oo)}),
    "limit_below": (sp.exp(-x) - R(1, 10**6), False, [], {x: (0, oo)}),
    "log_undefined": (x**2 + 1 + 0 * x + sp.log(x) * 0 + sp.log(x + 1) ** 2, False, [], {x: (-2, 1)}),
    "root_of_square": (sp.sqrt(x**2) - x - R(1, 10) * sp.Abs(x), False, [], {x: (-1, 1)}),
}


@pytest.mark.parametrize("name", sorted(TRAPS))
def test_traps_are_never_proved(name):
    goal, strict, hypotheses, box = TRAPS[name]
    assert prove(goal, strict, hypotheses, box, nodes=60, boxes=300).verdict is not Verdict.HOLDS


def test_the_univariate_call():
    found = ladder.decide(sp.exp(x) - 1 - x, False, x, -oo, oo)
    assert found.verdict is Verdict.HOLDS
    both = ladder.decide(KL - 2 * (p - q) ** 2, False, q, 0, 1, others={p: (0, 1)}, hypotheses=UNIT)
    assert both.verdict is Verdict.HOLDS


# ---- forged proofs

@pytest.fixture(scope="module")
def pinsker():
    goal, strict, hypotheses, box = TRUE["pinsker"]
    return ladder.decide_on(goal, strict, hypotheses, box).certificate


@pytest.fixture(scope="module")
def hoeffding():
    goal, strict, hypotheses, box = TRUE["hoeffding_lemma"]
    return ladder.decide_on(goal, strict, hypotheses, box).certificate


def refused(certificate, change):
    body = copy.deepcopy(dict(certificate))
    change(body)
    with pytest.raises(CertificateError) as error:
        recheck(sealed(body))
    assert str(error.value)


def test_another_claim_does_not_fit(pinsker, hoeffding):
    assert pinsker["kind"] == hoeffding["kind"] == "ladder"
    stronger = to_tree(KL - R(2001, 1000) * (p - q) ** 2)
    refused(pinsker, lambda b: b.__setitem__("goal", stronger))
    refused(pinsker, lambda b: b.__setitem__("strict", True))
    refused(pinsker, lambda b: b.__setitem__("hypotheses", b["hypotheses"][:-1]))
    refused(pinsker, lambda b: b["hypotheses"].__setitem__(0, [to_tree(p + 1), True]))
    refused(pinsker, lambda b: b.__setitem__("proof", hoeffding["proof"]))
    refused(hoeffding, lambda b: b.__setitem__("goal", to_tree(t**2 / 9 - CUMULANT)))
    refused(hoeffding, lambda b: b.__setitem__("domain", [["0", "2"], ["-oo", "oo"]]))


def nodes(value):
    if isinstance(value, dict):
        if "rule" in value:
            yield value
        for item in value.values():
            yield from nodes(item)
    elif isinstance(value, list):
        for item in value:
            yield from nodes(item)


def test_every_stated_derivative_and_factor_is_verified(hoeffding):
    """Each tree that a rule states is replaced by something larger: the checker must notice at that very rule."""
    count = len(list(nodes(hoeffding["proof"])))
    touched = 0
    for k in range(count):
        node = list(nodes(hoeffding["proof"]))[k]
        for name in ("derivative", "cofactor"):
            if name in node:
                touched += 1

                def change(body, k=k, name=name):
                    target = list(nodes(body["proof"]))[k]
                    target[name] = ["add", target[name], "1"]
                refused(hoeffding, change)
        if node["rule"] == "product":
            touched += 1

            def double(body, k=k):
                target = list(nodes(body["proof"]))[k]
                target["constant"] = str(2 * Fraction(target["constant"]))
            refused(hoeffding, double)
    assert touched >= 3


def body(goal, sides, proof, strict=False, hypotheses=()):
    names = sorted(sides)
    return {"kind": "ladder", "variables": names, "domain": [sides[v] for v in names], "goal": goal, "strict": strict,
            "hypotheses": list(hypotheses), "proof": proof}


X = ["var", "x"]
EXP = to_tree(sp.exp(x) - 1 - x)
COVER = {"rule": "cover", "boxes": [[["0", "1"]]], "methods": ["n"]}


def rung(**changes):
    return {"rule": "derive", "variable": "x", "base": "0", "order": 1, "values": [{"how": "point"}],
            "derivative": to_tree(sp.exp(x) - 1), "proof": COVER, **changes}


def test_a_proof_by_hand():
    assert recheck(sealed(body(EXP, {"x": ["0", "1"]}, rung())))


@pytest.mark.parametrize("proof", [
    rung(base="1"), rung(base="1/2"), rung(base="-1"), rung(base="oo"), rung(order=0), rung(order=True), rung(order=13),
    rung(values=[]), rung(values=[{"how": "trust"}]), rung(derivative=to_tree(sp.exp(x))), rung(proof={"rule": "magic"}),
    rung(proof={"rule": "cover", "boxes": [], "methods": []}), rung(variable="y"), {"rule": "roots"},
    {"rule": "product", "constant": "1", "factors": []}, {"rule": "product", "constant": "0", "factors": [[EXP, 1, 1, None]]},
    {"rule": "product", "constant": "-1", "factors": [[to_tree(1 + x - sp.exp(x)), 1, -1, None]]},
    {"rule": "split", "variable": "x", "at": ["1/2"], "proofs": [rung()]},
    {"rule": "split", "variable": "x", "at": ["2"], "proofs": [rung(), rung()]},
    {"rule": "cases", "term": X, "proofs": []},
    {"rule": "toward", "variable": "x", "base": "0", "cofactor": "1", "value": {"how": "point"}, "proof": COVER},
], ids=range(21))
def test_wrong_proofs_of_a_true_statement(proof):
    with pytest.raises(CertificateError):
        recheck(sealed(body(EXP, {"x": ["0", "1"]}, proof)))


def test_a_pole_cannot_be_stepped_over():
    """-1/x rises on both sides of 0 and is positive at -1: still not positive at 1."""
    proof = {"rule": "derive", "variable": "x", "base": "-1", "order": 1, "values": [{"how": "point"}],
             "derivative": ["pow", X, "-2"], "proof": {"rule": "cover", "boxes": [[["-1", "1"]]], "methods": ["n"]}}
    with pytest.raises(CertificateError, match="defined"):
        recheck(sealed(body(["mul", "-1", ["pow", X, "-1"]], {"x": ["-1", "1"]}, proof)))


def test_a_kink_has_no_derivative():
    """sqrt(x^2) - x/2 must not be differentiated through 0 as if sqrt(x^2) = x."""
    goal = to_tree(sp.sqrt(sp.Symbol("x") ** 2) - sp.Symbol("x") / 2)
    proof = rung(base="-1", derivative="1/2", proof={"rule": "cover", "boxes": [[["-1", "1"]]], "methods": ["n"]})
    with pytest.raises(CertificateError):
        recheck(sealed(body(goal, {"x": ["-1", "1"]}, proof)))


def test_strictness_needs_an_open_end():
    assert recheck(sealed(body(EXP, {"x": ["0", "1"]}, rung(proof={"rule": "cover", "boxes": [[["0", "1"]]], "methods": ["g"]}),
                             strict=True, hypotheses=[[X, True]])))
    with pytest.raises(CertificateError):
        recheck(sealed(body(EXP, {"x": ["0", "1"]}, rung(), strict=True)))


def test_hypotheses_do_not_guard_a_path():
    """On x^2 >= 1 the goal x^3 - x + 1/10 >= 0 fails at -1.3, though it holds at 1 and rises from there."""
    goal = to_tree(x**3 - x + R(1, 10))
    guard = [to_tree(x**2 - 1), False]
    proof = {"rule": "derive", "variable": "x", "base": "2", "order": 1, "values": [{"how": "point"}],
             "derivative": to_tree(1 - 3 * x**2), "proof": {"rule": "cover", "boxes": [[["-2", "2"]]], "methods": ["h0"]}}
    with pytest.raises(CertificateError):
        recheck(sealed(body(goal, {"x": ["-2", "2"]}, proof, hypotheses=[guard])))


@pytest.mark.parametrize("m", [-1, 0, 1, 2, 5])
def test_asymptotic_bounds_enclose(m):
    """Lower and upper bounds of log gamma and the polygammas, against the enclosures, which do not use them."""
    term = ["loggamma", X] if m < 0 else ["digamma", X] if m == 0 else ["polygamma", str(m), X]
    compared = 0
    for shift in (0, 1, 3):
        for terms in range(4):
            for lower in (True, False):
                field = Field(positive=lambda tree: True)
                try:
                    bound = field.tree(asymptotic(field, m, field.read(X), shift, terms, lower))
                except CertificateError:
                    continue
                for at in (Fraction(1, 3), Fraction(7, 2), Fraction(20)):
                    gap = evaluate(["add", term, ["mul", "-1", bound]], {"x": (at, at)}, bits=400)
                    assert gap.lo > 0 if lower else gap.hi < 0
                    compared += 1
    assert compared == 36


def test_logarithms_split_only_on_their_domain():
    z = sp.Symbol("x")
    goal = to_tree(sp.log(z**2))
    for lo, hi, expected in (("1", "2", True), ("-2", "-1", False), ("-1", "1", False)):
        s = Sequent(goal, False, (), ("x",), (Side(Fraction(lo), Fraction(hi)),))
        field = field_of(s)
        assert field.equal(field.read(goal), field.read(to_tree(2 * sp.log(z)))) is expected
    s = Sequent(goal, False, (), ("x",), (Side(Fraction(2), Fraction(3)),))
    field = field_of(s)
    ratio, difference = sp.log((z - 1) / (z + 5)), sp.log(z - 1) - sp.log(z + 5)
    assert field.equal(field.read(to_tree(ratio)), field.read(to_tree(difference)))
    assert not field.equal(field.read(to_tree(sp.log((z - 1) * (z - 7)))), field.read(to_tree(sp.log(z - 1) + sp.log(z - 7))))


def test_polygamma_bounds_have_a_direction():
    goal = to_tree(sp.digamma(x) - sp.log(x) + 1 / (2 * x))  # negative everywhere
    for shift in (0, 1):
        for terms in range(3):
            for sign in (1, -1):
                proof = {"rule": "bound", "term": ["digamma", X], "sign": sign, "shift": shift, "terms": terms, "goal": "0",
                         "proof": {"rule": "cover", "boxes": [[["1", "2"]]], "methods": ["n"]}}
                with pytest.raises(CertificateError):
                    recheck(sealed(body(goal, {"x": ["1", "2"]}, proof)))


# ---- rules about domains

ABS = to_tree(sp.Abs(x) - x)


def cover(lo, hi, method="n"):
    return {"rule": "cover", "boxes": [[[lo, hi]]], "methods": [method]}


def test_resolve_needs_the_sign():
    good = {"rule": "resolve", "term": ["abs", X], "choice": 0, "facts": [cover("0", "1")], "proof": cover("0", "1", "g")}
    assert recheck(sealed(body(ABS, {"x": ["0", "1"]}, good)))
    for change in ({"facts": []}, {"choice": 1}, {"choice": 2}, {"choice": True, "facts": [cover("0", "1")] * 2}):
        with pytest.raises(CertificateError):
            recheck(sealed(body(ABS, {"x": ["0", "1"]}, {**good, **change})))
    wrong = to_tree(sp.Symbol("x") - sp.Abs(sp.Symbol("x")))  # false on [-1, 0)
    both = {"rule": "resolve", "term": ["abs", X], "choice": 0, "facts": [cover("-1", "1")], "proof": cover("-1", "1", "g")}
    with pytest.raises(CertificateError):
        recheck(sealed(body(wrong, {"x": ["-1", "1"]}, both)))


def test_a_point_is_left_out_only_where_a_hypothesis_fails():
    goal = to_tree(1 + 1 / (x - 1) ** 2)
    parts = [cover("0", "1"), cover("1", "2")]
    proof = {"rule": "split", "variable": "x", "at": ["1"], "proofs": parts, "outside": {"0": 0}}
    apart, elsewhere = [[to_tree((x - 1) ** 2), True]], [[to_tree((x - R(1, 2)) ** 2), True]]
    assert recheck(sealed(body(goal, {"x": ["0", "2"]}, proof, hypotheses=apart)))
    for hypotheses in ([], elsewhere, [[to_tree((x - 1) ** 2), False]]):
        with pytest.raises(CertificateError):
            recheck(sealed(body(goal, {"x": ["0", "2"]}, proof, hypotheses=hypotheses)))
    with pytest.raises(CertificateError):
        recheck(sealed(body(goal, {"x": ["0", "2"]}, {**proof, "outside": {}}, hypotheses=apart)))


def test_an_order_becomes_a_variable_only_if_it_is_a_hypothesis():
    y = sp.Symbol("y", real=True)
    goal, box = to_tree(sp.exp(x) - sp.exp(y)), {"x": ["0", "3"], "y": ["0", "3"]}
    inner = {"rule": "derive", "variable": "d", "base": "0", "order": 1, "values": [{"how": "zero"}],
             "derivative": to_tree(sp.exp(y + sp.Symbol("d"))),
             "proof": {"rule": "cover", "boxes": [[["0", "oo"], ["0", "3"]]], "methods": ["n"]}}
    proof = {"rule": "substitute", "variable": "x", "other": "y", "name": "d", "sign": 1, "hypothesis": 0, "scale": "1",
             "proof": inner}
    assert recheck(sealed(body(goal, box, proof, hypotheses=[[to_tree(x - y), False]])))
    for hypotheses in ([], [[to_tree(y - x), False]], [[to_tree(x - y + 1), False]], [[to_tree(x + y), False]]):
        with pytest.raises(CertificateError):
            recheck(sealed(body(goal, box, proof, hypotheses=hypotheses)))
    for change in ({"name": "y"}, {"sign": -1}, {"scale": "2"}, {"scale": "-1"}, {"other": "x"}):
        with pytest.raises(CertificateError):
            recheck(sealed(body(goal, box, {**proof, **change}, hypotheses=[[to_tree(x - y), False]])))


def test_squares_are_compared_with_a_sign():
    z = sp.Symbol("x")
    goal = to_tree(sp.sqrt(1 + z**2) - z)
    proof = {"rule": "square", "p": to_tree(sp.sqrt(1 + z**2)), "q": to_tree(-z), "gap": "1", "p_proof": cover("-2", "2"),
             "proof": {"rule": "roots"}}
    assert recheck(sealed(body(goal, {"x": ["-2", "2"]}, proof, strict=True)))
    swapped = {**proof, "p": to_tree(-z), "q": to_tree(sp.sqrt(1 + z**2)), "gap": "-1"}
    with pytest.raises(CertificateError):
        recheck(sealed(body(goal, {"x": ["-2", "2"]}, swapped)))
    negative = to_tree(z - sp.sqrt(1 + z**2))  # P = z is not >= 0 on the domain, though z^2 <= 1 + z^2
    with pytest.raises(CertificateError):
        recheck(sealed(body(negative, {"x": ["-2", "2"]}, {**proof, "p": to_tree(-sp.sqrt(1 + z**2)), "q": to_tree(z)})))


def test_more_statements_of_the_outside_suite():
    y = sp.Symbol("y", real=True)
    cases = [
        (sp.log(x / y) / 2 - (x - y) / (x + y), True, [(y, True), (x - y, True)], {x: (0, oo), y: (0, oo)}),
        ((sp.sinh(x) / x) ** 3 - sp.cosh(x), False, [(x**2, True)], {x: (-4, 4)}),
        (1 / sp.sqrt(x) - sp.log(x) / (x - 1), False, [((x - 1) ** 2, True)], {x: (R(3, 10000), 3500)}),
        (sp.exp(x) - (6 + 6 * x + x**3 + x**2 * sp.sqrt(9 + x**2)) / 6, False, [], {x: (0, oo)}),
        (sp.Abs(sp.log(1 + x)) - 2 * sp.Abs(x) / (2 + x), False, [(x + 1, True)], {x: (-1, oo)}),
        (sp.digamma(x + 1) - sp.log(x + R(1, 2)), True, [(x, True)], {x: (0, oo)}),
        (sp.atan(x) - 8 * sp.sqrt(3) * x / (3 * sp.sqrt(3) + sp.sqrt(75 + 80 * x**2)), True, [(x, True)], {x: (0, oo)}),
        (sp.log(1 + sp.exp(-x)) - sp.exp(-x) / (1 + sp.exp(-x)), False, [], {x: (-oo, oo)}),
        (sp.cos(sp.pi * x) - 1 + 2 * x, True, [(x, True), (R(1, 2) - x, True)], {x: (0, R(1, 2))}),
        ((2 * x + 3 * sp.sin(2 * x)) ** 2 / 2 - (x**2 + 3 * sp.sin(x) ** 2) / 32, False, [], {x: (-oo, oo)}),
    ]
    for goal, strict, hypotheses, box in cases:
        assert prove(goal, strict, hypotheses, box).verdict is Verdict.HOLDS, goal


def test_nothing_proved_fails_at_a_sample():
    """Random sums of logarithms, exponentials and roots less their Taylor polynomial at 0: contact of known order there."""
    rng, verdicts = random.Random(7), []
    while len(verdicts) < 30:
        atoms = [sp.log(1 + x), sp.exp(-x), sp.atan(2 * x), sp.sqrt(1 + x), 1 / (2 + x), x / (1 + 3 * x), sp.tanh(x),
                 sp.log(2 + x**2)]
        f = sum(rng.randrange(-3, 4) * atom for atom in rng.sample(atoms, 2))
        g = f - sum(sp.diff(f, x, i).subs(x, 0) / sp.factorial(i) * x**i for i in range(rng.randrange(1, 3)))
        if not g.has(x):
            continue
        strict, hi = rng.random() < 0.3, rng.choice([1, 5, oo])
        found = prove(g, strict, [(x, True)] if strict else [], {x: (0, hi)}, nodes=30, boxes=300)
        verdicts.append(found.verdict)
        if found.verdict is Verdict.HOLDS:
            for _ in range(40):
                at = Fraction(rng.randrange(1, 10**6), 10**6) ** rng.choice([1, 3]) * (1000 if hi == oo else hi)
                assert evaluate(to_tree(g), {"x": (at, at)}, bits=256).hi > -Fraction(1, 2**200)
    assert verdicts.count(Verdict.HOLDS) >= 5 and verdicts.count(Verdict.REFUTED) >= 5


def sealed(body):
    """A certificate of the very inequality that it is about."""
    fields = ("goal", "strict", "hypotheses", "variables", "domain")
    return seal(body, subjects=[["interval", *(body.get(name) for name in fields)]])

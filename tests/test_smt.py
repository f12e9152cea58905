"""z3 as prover and refuter: lemma instances that are true, texts that belong to their statement, models that are checked."""
from __future__ import annotations

import copy
import inspect
from fractions import Fraction
from typing import Any

import pytest

from proofs_checks.engines import smt
from proofs_checks.engines.smt._run import run
from proofs_checks.harness.certificate import claim_hash, seal
from proofs_checks.harness.checkers import _schemas as schemas
from proofs_checks.harness.checkers._smtlib import Unsupported, assemble
from proofs_checks.harness.checkers._values import enclose, truth
from proofs_checks.harness.evidence import Verdict
from proofs_checks.harness.language import parse, read_problem
from proofs_checks.harness.recheck import CertificateError, recheck
from proofs_checks.harness.trees import Inexact, Undefined

POINTS = [Fraction(t) for t in ("-3", "-1", "-1/2", "-1/7", "0", "1/9", "1/2", "1", "3/2", "2", "5")]
FIXED: dict[str, list[list[Any]]] = {
    "exp_multiple": [["2"], ["3"]], "log_power": [["2"], ["4"]], "power_increasing": [["7"]],
    "power_positive": [["7"]], "power_above_one": [["2", "7"]]}


def arguments(name: str) -> list[list[Any]]:
    """Instances of a schema at rational points; related arguments are derived so that guards are met."""
    parameters = list(inspect.signature(schemas.SCHEMAS[name]).parameters)
    found: list[list[Any]] = []
    values = [str(x) for x in POINTS]
    functions = {"increasing": schemas.INCREASING, "same": ("sin", "cosh"), "odd": ("sin", "tanh"), "even": ("cos",),
                 "sign_of": ("sinh", "atan", "asin"),
                 "inverse_range": ("asin", "acos", "atan")}.get(name, (None,))
    for f in functions:
        head = [f] if f else []
        rest = parameters[len(head):]
        if rest == ["c", "n", "a"]:
            for (n,) in FIXED[name]:
                op = ["mul", n] if name == "exp_multiple" else ["pow"]
                found += [[[*op, a] if op[0] == "mul" else ["pow", a, n], n, a] for a in values]
        elif rest[:1] == ["n"]:
            tail = [p for p in rest if p not in ("n", "m")]
            found += [[*fixed, *([a] if len(tail) == 1 else [a, b])] for fixed in FIXED[name] for a in values
                      for b in (values if len(tail) == 2 else [""])]
        elif rest == ["a"]:
            found += [[*head, a] for a in values]
        elif rest == ["a", "b"]:
            found += [[*head, a, b] for a in values for b in [*values, ["mul", "-1", a]]]
        elif rest == ["c", "a"]:
            related = ["log", "2"] if name == "exp_of" else None
            found += [[related or ["mul", "2", a], a] for a in ([*values, "2"] if related else values)]
        elif rest == ["c", "a", "b"]:
            op = "mul" if name == "log_product" else "add"
            found += [[[op, a, b], a, b] for a in values for b in values]
        elif not rest:
            found.append([])
    return found


def true_or_equal(relation: Any) -> bool:
    """Truth by enclosures, where two sides that agree to 25 digits are equal."""
    head, *rest = relation
    if head == "and":
        return all(map(true_or_equal, rest))
    if head == "implies":
        return any(map(surely_false, rest[0][1:] if rest[0][0] == "and" else rest[:1])) or true_or_equal(rest[1])
    if head in ("eq", "ge", "le"):
        low, high = enclose(["add", rest[0], ["mul", "-1", rest[1]]], {})
        if low <= 0 <= high and high - low < Fraction(1, 10 ** 20):
            return True
    return truth(relation, {})


def surely_false(guard: Any) -> bool:
    try:
        return not truth(guard, {})
    except (Inexact, Undefined):
        return False


@pytest.mark.parametrize("name", sorted(set(schemas.SCHEMAS) - {"enclosure"}))
def test_every_schema_is_true_at_rational_points(name: str) -> None:
    checked = 0
    for args in arguments(name):
        try:
            assert true_or_equal(schemas.instance([name, *args])), (name, args)
        except (Undefined, Inexact):
            continue  # a term outside its domain: the guard speaks of it
        checked += 1
    assert checked >= (1 if name == "pi_bounds" else 4)


def test_enclosures_are_verified() -> None:
    assert schemas.instance(["enclosure", "exp", "1", "27/10", "28/10"])[0] == "and"
    with pytest.raises(ValueError, match="not shown"):
        schemas.instance(["enclosure", "exp", "1", "28/10", "29/10"])


@pytest.mark.parametrize("item", [["no_such_lemma", "1"], "exp_positive", ["exp_multiple", "1", "1/2", "1"],
                                  ["power_above_one", "7", "2", "3"], ["increasing", "cos", "1", "2"], []])
def test_what_is_no_instance_is_refused(item: Any) -> None:
    with pytest.raises(ValueError, match=r"instance|needs|must be|none of"):
        schemas.instance(item)


@pytest.mark.parametrize(("statement", "verdict"), [
    ("x**4*y**2 + x**2*y**4 + 1 >= 3*x**2*y**2", "holds"),
    ("exp(x) >= 1 + x", "holds"), ("Implies(x > 0 & y > x, log(y) > log(x))", "holds"),
    ("Implies(x > 0, log(1 + x) <= x)", "holds"), ("Implies(x > 0 & y > 0, y*tanh(x) <= sinh(x*y))", "holds"),
    ("Implies(u > 0 & u < v & z > 0 & z + 1 < w, (u + v + z)**33 < (u + v + w + 1)**55)", "holds"),
    ("exp(x) >= 2 + x", "open"), ("x*(x**2 - 1)/(x - 1) > x**2 + x", "open"), ("sin(x) <= x", "open")])
def test_verdicts_of_z3(statement: str, verdict: str) -> None:
    problem = read_problem(statement)
    found = smt.decide(problem.subject, timeout_ms=5000)
    assert (found.verdict == "holds") is (verdict == "holds")
    if found.body is not None:
        assert recheck(seal(found.body, statement=problem.text(), subjects=[problem.subject]))


def test_division_by_zero_is_not_a_model() -> None:
    """z3's x/0 may be anything; the text excludes it, so that the only models are points where all is defined."""
    text = assemble(read_problem("x*(x**2 - 1)/(x - 1) <= x**2 + x").subject, [])
    assert run(text, timeout_ms=5000).verdict == "unsat"
    assert "(not (=" in text


@pytest.mark.parametrize("statement", ["x**k > 0", "acosh(x) > 0", "floor(x) <= x"])
def test_what_the_text_cannot_say_is_left_undecided(statement: str) -> None:
    problem = read_problem(statement)
    with pytest.raises(Unsupported):
        assemble(problem.subject, [])
    assert smt.decide(problem.subject, timeout_ms=500).verdict in ("open", "candidates")


def lemma_certificate() -> dict[str, Any]:
    problem = read_problem("Implies(x > 0, exp(x) > 1 + x/2)")
    found = smt.decide(problem.subject, timeout_ms=5000)
    assert found.body is not None
    return seal(found.body, statement=problem.text(), subjects=[problem.subject])


def test_damaged_lemma_certificates_are_rejected() -> None:
    certificate = lemma_certificate()
    assert recheck(certificate)
    false_lemma, other_text, moved = (copy.deepcopy(certificate) for _ in range(3))
    false_lemma["instances"].append(["exp_tangent_of_my_own", ["var", "x"]])
    other_text["smtlib"] = other_text["smtlib"].replace("(check-sat)", "(assert false)\n(check-sat)")
    problem = read_problem("Implies(x > 0, exp(x) > 1 + 2*x)")
    moved |= {"subject": problem.subject, "subjects": [problem.subject], "statement": problem.text()}
    moved["claim_hash"] = claim_hash("", "", moved["statement"], moved["subjects"])
    for damaged in (false_lemma, other_text, moved):
        with pytest.raises(CertificateError):
            recheck(damaged)


def weight(p: Any, k: int) -> Any:
    return k * (1 - p) ** (k - 1)


@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_the_weight_of_a_prompt_falls_with_its_success_rate(k: int) -> None:
    check = smt.forall(lambda p, q: weight(p, k) > weight(q, k), ("p", "q"), given=lambda p, q: (p >= 0, p < q, q <= 1))
    found = check.run()
    assert found.verdict is Verdict.HOLDS
    assert recheck(found.certificate)
    assert check.binds is not None
    assert check.binds(found.certificate)
    other = smt.forall(lambda p, q: weight(p, k) < weight(q, k), ("p", "q"), given=lambda p, q: (p >= 0, p < q, q <= 1))
    assert other.binds is not None
    assert not other.binds(found.certificate)


def test_the_condition_on_q_is_needed_for_odd_powers_only() -> None:
    """For even k the weight is monotone on all of R: a mutant that survives is a mathematical finding."""
    def without(k: int) -> Any:
        return smt.forall(lambda p, q: weight(p, k) > weight(q, k), ("p", "q"), given=lambda p, q: (p >= 0, p < q))

    odd = without(5)
    found = odd.run()
    assert found.verdict is Verdict.REFUTED
    assert not odd.at(found.witness)
    assert without(4).run().verdict is Verdict.HOLDS


def test_a_strict_statement_at_k_equal_one_is_refuted_at_a_point() -> None:
    check = smt.forall(lambda p, q: weight(p, 1) > weight(q, 1), ("p", "q"), given=lambda p, q: (p >= 0, p < q, q <= 1))
    assert check.run().witness == {"p": Fraction(0), "q": Fraction(1)}


def test_truth_at_closed_forms() -> None:
    assert truth(parse("Eq(x**2, 2)"), {"x": parse("sqrt(2)")})
    assert truth(parse("Eq(y, cos(x))"), {"x": "12/5", "y": parse("cos(12/5)")})
    assert not truth(parse("x**2 > 2"), {"x": parse("sqrt(2)")})
    assert not truth(parse("exp(-x) > 10**(-40)"), {"x": "93"})


def test_what_is_not_defined_everywhere_is_undecided() -> None:
    import sympy as sp

    found = smt.forall(lambda x: sp.log(x) <= x - 1, ("x",)).run()
    assert found.verdict is Verdict.UNDECIDED
    assert "not defined" in found.summary
    assert smt.forall(lambda x: sp.log(x) <= x - 1, ("x",), given=lambda x: x > 0).run().verdict is Verdict.HOLDS

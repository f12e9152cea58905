"""The front door: right verdicts, exact and small witnesses, certificates that are re-checked, and never a wrong answer."""
from __future__ import annotations

import copy
import json
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from click.testing import CliRunner

import proofs_checks
from proofs_checks.engines.portfolio import prove
from proofs_checks.harness.certificate import claim_hash
from proofs_checks.harness.commands.prove import command
from proofs_checks.harness.evidence import Verdict
from proofs_checks.harness.language import parse, read_problem
from proofs_checks.harness.recheck import CertificateError, recheck
from proofs_checks.harness.trees import evaluate, holds

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED
x, y = sp.symbols("x y", real=True)


@pytest.mark.parametrize(("statement", "domain", "kind"), [
    ("x**2 + y**2 >= 2*x*y", None, "sos"),
    ("a**3 + b**3 >= a**2*b + a*b**2", {"a": (0, "oo"), "b": (0, "oo")}, "sos"),
    ("x**4*y**2 + x**2*y**4 + 1 >= 3*x**2*y**2", None, "sos"),
    ("digamma(x) < log(x) - 1/(2*x)", {"x": ("1/10", 100)}, None),
    ("Implies(x > 0, polygamma(1, x) > 1/x)", None, None),
    ("exp(x) >= 1 + x", None, None),
    ("Implies(x > 0 & y > 0, exp(x*y/(x + y)) < exp(x))", None, None),
    ("Implies(x + y > 5, x > 2 | y > 3)", None, "sos"),
    ("Implies(Eq(x + y + z, 1), x*y + y*z + z*x - 2*x*y*z <= 7/27)", {"x": (0, "oo"), "y": (0, "oo"), "z": (0, "oo")},
     None),
    ("exp(x**3) < 3", {"x": (0, 1)}, "interval"),
    # IMO 1995, problem 2: squares prove the statement about the reciprocals
    ("Implies(a > 0 & b > 0 & c > 0 & Eq(a*b*c, 1), 1/(a**3*(b + c)) + 1/(b**3*(c + a)) + 1/(c**3*(a + b)) >= 3/2)", None,
     "implication"),
    ("Implies(Ne(x, 1), x*(x**2 - 1)/(x - 1) <= x**2 + x)", None, None),
    ("Eq((x + 1)**2, x**2 + 2*x + 1)", None, None),
    ("And(x**2 >= 0, x**2 + 1 > x)", None, "sos"),
])
def test_true_statements_hold_with_certificates(statement: str, domain: Any, kind: str | None) -> None:
    found = prove(statement, domain)
    assert found.verdict is HOLDS, found.summary
    assert isinstance(found.certificate, dict)
    assert kind is None or found.certificate["kind"] == kind
    assert recheck(found.certificate)
    if found.certificate["kind"] == "lemma":
        assert found.trusted_base


@pytest.mark.parametrize(("statement", "domain", "witness"), [
    ("a**3 + b**3 + c**3 >= 3*a*b*c", None, {"a": 0, "b": 0, "c": -1}),
    ("x**2 + y**2 >= 2.001*x*y", None, {"x": 1, "y": 1}),
    ("(x - 1)**2*exp(x) > 0", None, {"x": 1}),
    ("exp(-x) > 10**(-40)", {"x": (0, 100)}, None),
    ("Implies(x > 0, x*log(x) >= -0.3678794411)", {"x": (0, 1)}, None),
    ("digamma(x) < log(x) - 0.6/x", {"x": ("1/10", 100)}, {"x": 1}),
    ("x**2 > x", {"x": (0, 1)}, {"x": 0}),
    ("k**2 > k", {"k": range(1, 9)}, {"k": 1}),
    ("Eq(x, y)", None, None),
    ("tan(x) >= x", {"x": (0, 2)}, {"x": 2}),
    ("Implies(Eq(x**2, 2), False)", None, None),
    ("cos(x) > -1", {"x": (0, "pi")}, {"x": sp.pi}),
    ("Implies(x > 0, x*log(x) > -1/E)", None, {"x": sp.exp(-1)}),
    ("tan(x) < sqrt(3)", {"x": (0, "pi/3")}, {"x": sp.pi / 3}),
    ("(exp(x) - 2)**2 > 0", None, {"x": sp.log(2)}),
])
def test_false_statements_are_refuted_at_exact_points(statement: str, domain: Any, witness: Any) -> None:
    found = prove(statement, domain)
    assert found.verdict is REFUTED, found.summary
    assert recheck(found.certificate)
    assert all(isinstance(value, Fraction | sp.Expr) and not getattr(value, "has", lambda _: False)(sp.Float)
               for value in found.witness.values())
    assert witness is None or found.witness == witness


@pytest.mark.parametrize(("statement", "domain", "needed"), [
    ("log(x) <= x - 1", None, "x = 0"), ("sqrt(x)**2 <= x", None, "not defined"), ("x/x == 1", None, "x = 0"),
    ("tan(x)**2 >= 0", {"x": (0, 2)}, "not defined"), ("asin(x) <= 2", None, "not defined"),
    ("Implies(x > -1, log(x) <= x - 1)", None, "not defined")])
def test_what_is_not_defined_everywhere_is_undecided(statement: str, domain: Any, needed: str) -> None:
    found = prove(statement, domain, budget=5)
    assert found.verdict is UNDECIDED
    assert needed in found.summary
    assert "not defined" in found.summary


@pytest.mark.parametrize("statement", [
    "x*(x**2 - 1)/(x - 1) > x**2 + x", "Abs(x) > 0", "Implies(x >= 0, x**3 > 0)", "sin(x) < 1", "x**2*y**2 >= x*y",
    "(1 - p)**0 > (1 - q)**0", "Implies(x > 0, exp(x) > 1 + x + x**2)", "Implies(x**2 < 2, x < 1.4142)"])
def test_traps_are_never_said_to_hold(statement: str) -> None:
    assert prove(statement, budget=5).verdict is not HOLDS


def test_vacuous_hypotheses_hold_and_are_flagged() -> None:
    found = prove("Implies(x**2 + y**2 < 0, x > y)")
    assert found.verdict is HOLDS
    assert "vacuous" in found.summary
    assert "vacuous" not in prove("Implies(x > 1, x**2 > 1)").summary


def test_sympy_statements_and_their_domains() -> None:
    assert prove(sp.Implies(sp.And(x > 0, y > 0), x / y + y / x >= 2)).verdict is HOLDS
    assert prove(sp.Gt(x**2, x), {x: (sp.Rational(3, 2), sp.oo)}).verdict is HOLDS
    found = prove(sp.Gt(x**2, x), {x: (0, 1)})
    assert found.witness == {"x": 0}
    assert prove(sp.Symbol("p", positive=True) + 1 > sp.Rational(1, 2)).verdict is HOLDS


K = {"p": (0, 1), "q": (0, 1)}
WEIGHT = "Implies(p < q, k*(1 - p)**(k - 1) > k*(1 - q)**(k - 1))"


@pytest.mark.parametrize(("statement", "domain", "how"), [
    (WEIGHT, {**K, "k": (2, "oo", "integer")}, "induction"),
    (WEIGHT, {**K, "k": range(2, 5)}, "k = 2..4"),
    ("(1 + x)**n >= 1 + n*x", {"x": (-1, "oo"), "n": (0, "oo", "integer")}, "induction"),
    ("2**n >= n + 1", {"n": (0, "oo", "integer")}, "induction")])  # false for the real numbers between 0 and 1
def test_integer_parameters_hold_over_a_range_or_by_induction(statement: str, domain: Any, how: str) -> None:
    found = prove(statement, domain, budget=20)
    assert found.verdict is HOLDS, found.summary
    assert how in found.summary
    assert recheck(found.certificate)
    damaged = copy.deepcopy(dict(found.certificate))
    damaged["parts"][-1] = damaged["parts"][0]
    with pytest.raises(CertificateError, match="not about its statement"):
        recheck(damaged)


def test_what_holds_for_the_reals_holds_for_the_integers_among_them() -> None:
    found = prove("2**n > n**2", {"n": (5, "oo", "integer")})
    assert found.verdict is HOLDS
    assert recheck(found.certificate)
    assert prove("2**n >= n**2", {"n": (2, "oo", "integer")}).witness == {"n": 3}


@pytest.mark.parametrize(("statement", "domain", "witness"), [
    (WEIGHT, {**K, "k": (1, "oo", "integer")}, {"k": 1, "p": 0, "q": 1}),
    (WEIGHT, {**K, "k": range(1, 4)}, {"k": 1, "p": 0, "q": 1}),
    ("2**n > n**2", {"n": (0, "oo", "integer")}, {"n": 2}),
    ("(1 + x)**n >= 1 + n*x", {"n": range(1, 5)}, {"n": 3, "x": -4})])
def test_integer_parameters_are_refuted_at_integers(statement: str, domain: Any, witness: Any) -> None:
    found = prove(statement, domain)
    assert found.verdict is REFUTED, found.summary
    assert found.witness == witness
    assert recheck(found.certificate)


def test_the_package_has_the_same_front_door() -> None:
    assert proofs_checks.prove("x**2 >= 0").verdict is HOLDS


@pytest.mark.parametrize(("statement", "domain", "name"), [
    ("x", None, "statement"), ("x >", None, "statement"), (True, None, "statement"), ("x > 0", {"x": (1, 0)}, "domain"),
    ("x > 0", {"z": (0, 1)}, "domain")])
def test_wrong_use_is_named(statement: Any, domain: Any, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        prove(statement, domain)


def test_same_seed_same_witness() -> None:
    statement, domain = "p*log(p/q) + (1 - p)*log((1 - p)/(1 - q)) >= 2.01*(p - q)**2", {"p": (0, 1), "q": (0, 1)}
    hypotheses = f"Implies(p > 0 & p < 1 & q > 0 & q < 1, {statement})"
    first, second = (prove(hypotheses, domain, seed=3) for _ in range(2))
    assert first.verdict is REFUTED
    assert first.witness == second.witness
    assert max(len(str(value)) for value in first.witness.values()) <= 12


def test_a_large_polynomial_meets_a_clear_limit() -> None:
    start = time.monotonic()
    found = prove(" + ".join(f"x{i % 40}**{i % 7}*y{i % 31}" for i in range(10_000)) + " >= 0", budget=5)
    assert found.verdict is UNDECIDED
    assert "limit" in found.summary
    assert time.monotonic() - start < 60


def test_a_certificate_moved_to_another_statement_is_rejected() -> None:
    for statement, domain, other in (("exp(x**3) < 3", {"x": (0, 1)}, "exp(x**3) < 2"),
                                     ("x**2 + y**2 >= 2*x*y", None, "x**2 + y**2 >= 3*x*y")):
        certificate = prove(statement, domain).certificate
        assert isinstance(certificate, dict)
        moved = copy.deepcopy(certificate)
        problem = read_problem(other, domain)
        moved |= {"subjects": [problem.subject], "subject": problem.subject, "statement": problem.text()}
        moved["claim_hash"] = claim_hash("", "", moved["statement"], moved["subjects"])
        assert recheck(certificate)
        with pytest.raises(CertificateError):
            recheck(certificate, claim_hash=moved["claim_hash"])
        for edited in (moved, {k: v for k, v in moved.items() if k != "subject"}):
            with pytest.raises(CertificateError):
                recheck(edited)


def test_a_box_removed_is_noticed() -> None:
    certificate = prove("digamma(x) < log(x) - 1/(2*x)", {"x": ("1/10", 100)}).certificate
    assert isinstance(certificate, dict)
    if certificate["kind"] == "interval":
        damaged = copy.deepcopy(certificate)
        damaged["boxes"].pop()
        damaged["methods"].pop()
        with pytest.raises(CertificateError):
            recheck(damaged)


def test_a_false_witness_is_rejected() -> None:
    certificate = prove("x**2 > x", {"x": (0, 1)}).certificate
    assert isinstance(certificate, dict)
    for value in ("2", "1/0", "x", None):
        damaged = copy.deepcopy(certificate)
        damaged["point"]["x"] = value
        with pytest.raises(CertificateError):
            recheck(damaged)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, list(arguments))


def test_the_command_prints_the_verdict_and_both_sides() -> None:
    refuted = run("x**2 > 2*x", "--on", "x in [1, 5], x > 1")
    assert refuted.exit_code == 1
    assert "REFUTED" in refuted.output
    assert "left 4, right 4" in refuted.output
    assert run("log(x) <= x - 1").exit_code == 3
    assert run("log(x) <=").exit_code == 2
    assert run("x > 0", "--on", "x in [1, 0]").exit_code == 2


def test_the_command_writes_a_certificate(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    result = run("x**2 + y**2 >= 2*x*y", "--certificate", str(file))
    assert result.exit_code == 0
    assert recheck(json.loads(file.read_text()))


def test_the_command_reads_smtlib(tmp_path: Path) -> None:
    file = tmp_path / "a.smt2"
    file.write_text("(set-logic QF_NRA)(declare-fun x () Real)(assert (> (* x x) 2))(push 1)(assert (< (* x x) 1))"
                    "(check-sat)(pop 1)(check-sat)")
    result = run(str(file))
    assert result.exit_code == 1
    assert "HOLDS" in result.output
    assert "REFUTED" in result.output
    assert run(str(tmp_path / "missing.smt2")).exit_code == 2


def test_cases_of_a_statement_belong_to_it() -> None:
    certificate = prove("Abs(exp(x) - 1 - x) <= x**2", {"x": (-1, 1)}).certificate
    assert isinstance(certificate, dict)
    assert certificate["kind"] == "implication"
    assert recheck(certificate)
    fewer, doubled, weaker = (copy.deepcopy(certificate) for _ in range(3))
    fewer["parts"].pop()
    doubled["parts"][1] = doubled["parts"][0]
    weaker["parts"][0]["strict"] = not weaker["parts"][0]["strict"]
    for damaged in (fewer, doubled, weaker):
        with pytest.raises(CertificateError):
            recheck(damaged)


@pytest.mark.parametrize(("statement", "count"), [
    ("Abs(x) <= 1", 2), ("Abs(x) >= 1", 2), ("Max(x, y) <= 1", 2), ("Min(x, y) >= 1", 2), ("Max(x, y) >= 1", 2),
    ("And(x > 0, y > 0)", 2), ("Eq(x, y)", 2), ("Implies(Ne(x, 0), x > y)", 2), ("Implies(x > 0 | y > 0, x > y)", 2),
    ("Implies(x > 1, False)", 1), ("Or(x > 0, y > 0)", 1), ("-Abs(x) - 2*Max(x, y) >= Abs(x - y)", 8)])
def test_cases_agree_with_the_statement_at_points(statement: str, count: int) -> None:
    """A point refutes the statement exactly if it refutes one of its cases."""
    from proofs_checks.harness.checkers._reduction import cases

    tree = parse(statement)
    found = cases({"statement": tree, "integers": []})
    assert len(found) == count
    for a in range(-3, 4):
        for b in range(-3, 4):
            point = {"x": Fraction(a, 2), "y": Fraction(b, 2)}
            assert holds(tree, point) == all(_case_holds(case, point) for case in found)


def _case_holds(case: Any, point: dict[str, Fraction]) -> bool:
    for name, (low, high) in zip(case.variables, case.domain, strict=True):
        if (low != "-oo" and point[name] < Fraction(low)) or (high != "oo" and point[name] > Fraction(high)):
            return True
    values = [(evaluate(tree, point), strict) for tree, strict in [*case.hypotheses, (case.goal, case.strict)]]
    true = [value > 0 if strict else value >= 0 for value, strict in values]
    return not all(true[:-1]) or true[-1]

"""Where a statement speaks: intervals that meet, empty domains, partial functions, SMT-LIB's total division, integers."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from click.testing import CliRunner

from proofs_checks.engines.portfolio import prove, prove_problem
from proofs_checks.harness.commands.prove import command
from proofs_checks.harness.evidence import Evidence, Verdict
from proofs_checks.harness.language import read_smtlib
from proofs_checks.harness.recheck import recheck

HOLDS, REFUTED, UNDECIDED = Verdict.HOLDS, Verdict.REFUTED, Verdict.UNDECIDED


def certificate_of(found: Evidence) -> Any:
    assert found.certificate is not None
    return found.certificate


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command, list(arguments))


@pytest.mark.parametrize("on", [("x in [0, 1], x in [0, 10]",), ("x in [0, 10], x in [0, 1]",),
                                ("x in [0, 1]", "x in [0, 10]"), ("x in [0, 10]", "x <= 1")])
def test_all_of_a_domain_holds_together(on: tuple[str, ...]) -> None:
    options = [word for text in on for word in ("--on", text)]
    assert run("x >= 0", *options).exit_code == 0
    assert run("x <= 1", *options).exit_code == 0
    refuted = run("x < 1", *options)
    assert refuted.exit_code == 1
    assert "x = 1" in refuted.output


@pytest.mark.parametrize(("statement", "on"), [
    ("x >= 7", "x in [0, 1], x in [2, 10]"), ("n >= 70", "n in {1..3}, n in {5..9}"),
    ("2**n >= 7000", "n in {1..3}, n in {5..9}"), ("x**n > 5", "n in {1..3}, x < 0, x > 1"),
    ("2**n > n", "n in {3..}, n < 2"), ("n > 5", "n in [1/3, 2/3], n in {0..9}")])
def test_an_empty_domain_is_flagged(statement: str, on: str) -> None:
    found = run(statement, "--on", on)
    assert found.exit_code == 0, found.output
    assert "vacuous: the hypotheses contradict one another" in found.output


def test_a_domain_that_is_a_point_is_not_empty() -> None:
    found = run("x >= 1", "--on", "x in [0, 1], x in [1, 10]")
    assert found.exit_code == 0
    assert "vacuous" not in found.output
    assert run("x > 1", "--on", "x in [0, 1], x in [1, 10]").exit_code == 1
    assert run("2**n >= 9", "--on", "n in {1..3}, n in {3..9}").exit_code == 1


def test_python_domains_with_one_name_twice_meet() -> None:
    domain = {sp.Symbol("x"): (0, 10), "x": (0, 1)}
    assert prove("x <= 1", domain).verdict is HOLDS
    assert prove("x < 1", domain).witness == {"x": 1}


@pytest.mark.parametrize("on", ["y > 0", "z in [0, 1]", "x in [0, 1], y > x"])
def test_names_that_the_statement_does_not_have_are_refused(on: str) -> None:
    found = run("x > 0", "--on", on)
    assert found.exit_code == 2
    assert "unknown variable" in found.output


def test_a_statement_may_begin_with_a_minus_sign() -> None:
    assert run("-x <= 5", "--on", "x in [-5, 1]").exit_code == 0
    assert run("-x**2 > -1", "--on", "x in [0, 1]").exit_code == 1


@pytest.mark.parametrize(("statement", "verdict"), [
    # at x = -1 a reader may take the alternative to hold: nothing is proved from where the logarithm has no value
    ("Implies(x <= 0 | log(x) < 5, x > 0)", UNDECIDED), ("Implies(1/x > 0 | x > 5, x > 0)", UNDECIDED),
    ("Implies(x > 1 & (1/x > 0 | x > 5), x > 0)", HOLDS), ("Implies(1/x > 0, x > 0)", HOLDS),
    ("Implies(Eq(x, 0) & Eq(y, 0), Eq(x**y, 0))", UNDECIDED), ("Implies(Eq(x, 0) & Eq(y, 0), Eq(x**y, 1))", UNDECIDED),
    ("Eq(0**0, 1)", HOLDS), ("x**0 >= 1", HOLDS), ("1/0 > 0", UNDECIDED)])
def test_partial_terms_prove_nothing_about_themselves(statement: str, verdict: Verdict) -> None:
    assert prove(statement, budget=5).verdict is verdict


def smt(assertions: str) -> Evidence:
    head = "(set-logic QF_NRA)(declare-fun x () Real)(declare-fun y () Real)"
    return prove_problem(read_smtlib(f"{head}{assertions}(check-sat)")[0], budget=5)


@pytest.mark.parametrize("assertions", [
    # satisfiable in the standard, where 1/0 is a real number that the solver may choose
    "(assert (= (/ 1 x) 0))", "(assert (= x 0))(assert (= (/ 1 x) 5))", "(assert (= (* x (/ 1 x)) 2))",
    "(assert (or (= y 0) (> (/ x y) 1)))(assert (= y 0))", "(assert (< x 0))(assert (> (sqrt x) 1))",
    "(assert (< x 0))(assert (> (log x) 1))", "(assert (= (/ x 0) 1))",
    "(assert (>= x 0))(assert (= (/ 1 x) (- 1)))", "(assert (not (< (/ 1 x) (/ 1 x))))(assert (= x 0))(assert (> (/ 1 x) 3))",
    # unsatisfiable whatever 1/0 is, but not by our reading
    "(assert (= x 0))(assert (> (/ y x) (/ y x)))", "(assert (= (/ x 0) 1))(assert (= (/ x 0) 2))"])
def test_unsat_needs_denominators_that_cannot_vanish(assertions: str) -> None:
    found = smt(assertions)
    assert found.verdict is UNDECIDED, found.summary
    assert "not defined at x = " in found.summary
    assert "leaves open which" in found.summary
    assert found.trusted_base == ()


@pytest.mark.parametrize("assertions", [
    "(assert (> x 1))(assert (< (/ 1 x) 0))", "(assert (not (= x 0)))(assert (= (* x (/ 1 x)) 2))",
    "(assert (>= x 1))(assert (< (sqrt (- x 1)) 0))", "(assert (< (* x y) 0))(assert (or (= (/ x y) 1) (= (/ x y) 2)))",
    "(assert (< (/ y (+ 1 (* x x))) 0))(assert (> y 0))"])
def test_unsat_where_all_denominators_are_nonzero(assertions: str) -> None:
    found = smt(assertions)
    assert found.verdict is HOLDS, found.summary
    assert recheck(certificate_of(found))


@pytest.mark.parametrize("assertions", [
    "(assert (= y 0))(assert (= (ite (= y 0) 0 (/ 1 y)) 0))", "(assert (= (/ 1 x) 2))", "(assert (> (/ y x) (sqrt y)))"])
def test_sat_comes_with_a_point_where_all_is_defined(assertions: str) -> None:
    found = smt(assertions)
    assert found.verdict is REFUTED, found.summary
    assert recheck(certificate_of(found))


def test_reset_forgets_and_exit_ends(tmp_path: Path) -> None:
    text = ("(declare-fun x () Real)(assert (> x 1))(reset)(declare-fun x () Real)(assert (< x 0))(check-sat)(exit)"
            "(assert (> x 0))(check-sat)")
    problems = read_smtlib(text)
    assert len(problems) == 1
    assert problems[0].hypotheses == (["lt", ["var", "x"], "0"],)


@pytest.mark.parametrize("text", ["(assert)", "(declare-fun)", "(declare-fun x () Real)(assert (= x))(check-sat)",
                                  "(assert (/ 1))",
                                  "(push x)(check-sat)", "(define-fun f)", "(assert (let ((x)) true))", "(assert (not))",
                                  "(declare-fun x () Real [1])", "(assert (ite true 1))", "(assert (xor true))"])
def test_malformed_smtlib_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="SMT-LIB"):
        read_smtlib(text)


@pytest.mark.parametrize(("statement", "span", "verdict"), [
    ("gamma(n) >= 1", range(1, 5), HOLDS), ("gamma(n) > 1", range(1, 5), REFUTED), ("gamma(n + 1) >= 1", range(9), HOLDS),
    ("factorial(n) <= 24", range(1, 5), HOLDS), ("factorial(n) < 24", range(1, 5), REFUTED),
    ("factorial(n) > 2**n", range(4, 12), HOLDS), ("factorial(n) > 2**n", range(3, 12), REFUTED),
    ("Eq(loggamma(n), log(gamma(n)))", range(1, 7), HOLDS), ("loggamma(n) >= 0", range(1, 9), HOLDS),
    ("loggamma(n) > 0", range(2, 9), REFUTED), ("Eq(gamma(n + 1), n*gamma(n))", range(1, 9), HOLDS),
    ("gamma(n) > 0", range(4), UNDECIDED), ("n*log(1 + 1/n) < 1", range(1, 200), HOLDS)])
def test_functions_of_integers_are_decided_value_by_value(statement: str, span: range, verdict: Verdict) -> None:
    found = prove(statement, {"n": span})
    assert found.verdict is verdict, found.summary
    assert verdict is UNDECIDED or recheck(certificate_of(found))


@pytest.mark.parametrize(("statement", "verdict"), [
    ("gamma(5) >= 24", HOLDS), ("gamma(5) > 24", REFUTED), ("loggamma(3) <= log(2)", HOLDS), ("loggamma(3) > log(2)", REFUTED),
    ("gamma(1/2) > 1.7724", HOLDS), ("gamma(1/2) > 1.7725", REFUTED), ("gamma(171) > 10**306", HOLDS)])
def test_gamma_at_written_numbers(statement: str, verdict: Verdict) -> None:
    found = prove(statement)
    assert found.verdict is verdict, found.summary
    assert recheck(certificate_of(found))


def test_an_undecided_answer_says_what_was_tried_and_what_is_missing() -> None:
    found = run("sin(y)/sin(x) <= 1/100 + (y - y**3/6 + y**5/120)/(x - x**3/6 + x**5/120)", "--budget", "3",
                "--on", "x in [0, 5/2], y in [0, 5/2], x > 0, x < y, y**2 < 6")
    assert found.exit_code == 3
    verdict, missing, seconds = found.output.splitlines()
    assert "Tried: a search for counterexamples; z3 (" in verdict
    assert missing.startswith("  Missing: ")
    assert seconds.endswith(" s")
    assert "lemmas: sat" not in found.output


def test_the_certificate_line_says_where_it_is(tmp_path: Path) -> None:
    assert "not written; --certificate FILE keeps it" in run("x**2 >= 0").output
    file = tmp_path / "c.json"
    assert f"written to {file}" in run("x**2 >= 0", "--certificate", str(file)).output
    assert recheck(file)
    new = tmp_path / "new" / "c.json"  # the folder is made, as every command does
    assert run("x**2 >= 0", "--certificate", str(new)).exit_code == 0
    assert recheck(new)
    wrong = run("x**2 >= 0", "--certificate", str(file / "c.json"))  # told before the search begins
    assert wrong.exit_code == 2
    assert f"--certificate {file}: cannot be made a folder" in wrong.output
    assert "HOLDS" not in wrong.output


def test_each_check_sat_keeps_its_own_certificate(tmp_path: Path) -> None:
    file = tmp_path / "a.smt2"
    file.write_text("(declare-fun x () Real)(assert (> (* x x) 2))(push 1)(assert (< (* x x) 1))(check-sat)(pop 1)(check-sat)")
    run(str(file), "--certificate", str(tmp_path / "c.json"))
    assert recheck(tmp_path / "c-1.json")
    assert recheck(tmp_path / "c-2.json")
    assert not (tmp_path / "c.json").exists()


@pytest.mark.parametrize(("statement", "vacuous"), [
    ("Implies(Eq(x, 1) & Eq(x, 2), y > 5)", True), ("Implies(Eq(sqrt(x), -1), y > 5)", True),
    ("Implies(Eq(x + y, 1) & Eq(x + y, 2), x*y > 5)", True), ("Implies(Eq(x**2 + y**2, -1), x > y)", True),
    ("Implies(Eq(x, 1) & Eq(y, 2), x < y)", False), ("Implies(Eq(x + y, 1), x*y <= 1/4)", False),
    ("Implies(Eq(exp(x), 1), x <= y**2)", False), ("Implies(x > y & y > x, x > 5)", True)])
def test_equations_that_contradict_one_another_are_flagged(statement: str, vacuous: bool) -> None:
    found = prove(statement)
    assert found.verdict is HOLDS, found.summary
    assert ("vacuous" in found.summary) is vacuous

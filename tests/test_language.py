"""The language: text, sympy and SMT-LIB become trees; nothing is evaluated; what is no formula is refused by name."""
from __future__ import annotations

import os
from fractions import Fraction

import pytest
import sympy as sp

from proofs_checks.harness import trees
from proofs_checks.harness.language import ParseError, parse, read_domain, read_problem, read_smtlib, to_text

X = ["var", "x"]


@pytest.mark.parametrize(("text", "tree"), [
    ("x^2 >= 0", ["ge", ["pow", X, "2"], "0"]),
    ("-x**2 < 0", ["lt", ["mul", "-1", ["pow", X, "2"]], "0"]),
    ("0 < x <= 0.1", ["and", ["lt", "0", X], ["le", X, "1/10"]]),
    ("x/2 == 1e-2", ["eq", ["mul", X, ["pow", "2", "-1"]], "1/100"]),
    ("2/3*x > 1", ["gt", ["mul", "2", ["pow", "3", "-1"], X], "1"]),
    ("(x > 0) & (x < 1)", ["and", ["gt", X, "0"], ["lt", X, "1"]]),
    ("x > 0 & x < 1", ["and", ["gt", X, "0"], ["lt", X, "1"]]),
    ("~(x > 0) | False", ["or", ["not", ["gt", X, "0"]], ["false"]]),
    ("Implies(Ne(x, 1), sqrt(x) >= 0)", ["implies", ["ne", X, "1"], ["ge", ["pow", X, "1/2"], "0"]]),
    ("Sum(x*i, (i, 1, 2)) > pi", ["gt", ["add", ["mul", X, "1"], ["mul", X, "2"]], ["pi"]]),
    ("trigamma(x) > ln(x)", ["gt", ["polygamma", "1", X], ["log", X]]),
])
def test_text_is_read_as_it_stands(text: str, tree: trees.Tree) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize("text", ["x - (y - 1)*2 >= x/y/2", "And(x > 1, Or(y < 2, Not(Eq(x, y))))",
                                  "exp(-x**2/2) <= sqrt(1 + Abs(x))", "2**(x + 1) > Max(x, y, 1)", "-3 < -x"])
def test_text_of_a_tree_reads_back(text: str) -> None:
    tree = parse(text)
    assert to_text(parse(to_text(tree))) == to_text(tree)


def test_capital_letters_are_variables_and_e_is_eulers_number_unless_declared() -> None:
    assert trees.variables(parse("I*N + S >= Q*O")) == ["I", "N", "O", "Q", "S"]
    assert trees.variables(parse("E > 2")) == []
    assert trees.variables(parse("E > 2", names=["E"])) == ["E"]


@pytest.mark.parametrize("text", [
    "__import__('os').system('touch pwned')", "x.__class__ > 0", "(lambda: 1)() > 0", "open(x) > 0", "exec(x) > 0",
    "x > 0; y > 1", "[x for x in y] > 0", "x > 0 if x else 1", "eval('1') > 0", "x@y > 0"])
def test_code_is_not_a_formula_and_is_not_run(text: str, tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch
                                              ) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="statement"):
        read_problem(text)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("text", ["x", "x +", "(x > 0", "x > oo", "f(x) > 0", "2x > 0", "x > (y > 0)", "1e999999 > x",
                                  "(" * 2000 + "x" + ")" * 2000 + " > 0", ""])
def test_what_is_no_statement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="statement"):
        read_problem(text)


@pytest.mark.parametrize("domain", [{"x": (1, 0)}, {"x": (1, 1)}, {"z": (0, 1)}, {"x": ("oo", 1)}, {"x": (0, "y")},
                                    {"x": 3}, {"x": (0, float("nan"))}, {"x": ("1/0", 2)}])
def test_a_wrong_domain_is_named(domain: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="domain"):
        read_problem("x > 0", domain)


def test_what_sympy_assumes_of_a_symbol_becomes_a_hypothesis() -> None:
    problem = read_problem(sp.Symbol("x", positive=True) + sp.Symbol("k", integer=True) > 0)
    assert problem.hypotheses == (["gt", X, "0"],)
    assert problem.integers == {"k"}


def test_two_symbols_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two different symbols"):
        read_problem(sp.Symbol("x") + sp.Symbol("x", positive=True) > 0)


@pytest.mark.parametrize(("text", "hint"), [
    ("2x > 0", r"write 2\*x for a product"), ("x(x + 1) > 0", r"write x\*\(\.\.\.\)"),
    ("(x + 1)(x - 1) > 0", r"write \(\.\.\.\)\*\(\.\.\.\)"), ("x > 0 y > 1", "no operator before 'y'"),
    ("x => 0", "write '>='"), ("x > 0)", "the end of the text expected"), ("sin x > 0", "parentheses")])
def test_frequent_slips_get_a_hint(text: str, hint: str) -> None:
    with pytest.raises(ParseError, match=hint):
        parse(text)


@pytest.mark.parametrize(("text", "value"), [("-2**2", -4), ("2**-1", Fraction(1, 2)), ("2**3**2", 512),
                                             ("-2**-2", Fraction(-1, 4)),
                                             ("(-2)**2", 4), ("3 - -2", 5), ("-1*-2", 2), ("6/2/3", 1), ("0**0", 1),
                                             ("1 - 2 - 3", -4), ("2*-3", -6), ("+5 - 1", 4)])
def test_signs_and_powers_bind_as_in_python(text: str, value: Fraction) -> None:
    assert trees.evaluate(parse(text), {}) == value


def test_a_name_given_twice_lies_in_all_its_intervals() -> None:
    for domain in ([("x", (0, 1)), ("x", (0, 10))], [("x", (0, 10)), ("x", (0, 1))], [("x", (0, "oo")), ("x", ("-oo", 1))]):
        problem = read_problem("x > 0", domain)
        assert problem.box == {"x": ("0", "1")}
        assert problem.hypotheses == ()
    assert read_problem("x > 0", [("x", (0, "pi")), ("x", (1, 4))]).box == {"x": ("1", ["pi"])}
    problem = read_problem("n > 0", [("n", range(1, 6)), ("n", range(3, 9))])
    assert (problem.box, problem.integers) == ({"n": ("3", "5")}, {"n"})
    assert read_problem("n > 0", [("n", range(1, 4)), ("n", range(3, 9))]).box == {"n": ("3", "3")}
    assert read_problem("n > 0", [("n", (0, 3)), ("n", range(1, 9))]).integers == {"n"}
    same_name = {sp.Symbol("x"): (0, 1), "x": ("1/2", 2)}
    assert read_problem("x > 0", same_name).box == {"x": ("1/2", "1")}


def test_intervals_without_a_common_interval_become_hypotheses() -> None:
    problem = read_problem("x > 0", [("x", (0, 1)), ("x", (2, 3))])
    assert problem.box == {"x": ("0", "1")}
    assert problem.hypotheses == (["ge", X, "2"], ["le", X, "3"])


def test_bounds_and_assumptions_of_a_sympy_symbol_hold_together() -> None:
    x = sp.Symbol("x", nonnegative=True)
    assert read_problem(x**2 > x, {x: (-5, 5)}).box == {"x": ("0", "5")}


@pytest.mark.parametrize("assumption", ["even", "prime", "irrational", "imaginary", "rational", "zero"])
def test_assumptions_that_cannot_be_read_are_refused(assumption: str) -> None:
    x = sp.Symbol("x", **{assumption: True})
    with pytest.raises(ValueError, match="assumed to be"):
        read_problem(sp.Gt(sp.exp(x + 1, evaluate=False), 1, evaluate=False))


def test_unknown_names_of_a_domain_are_named() -> None:
    entries, extra = read_domain("x in [0, 1]", "y > 0")
    with pytest.raises(ValueError, match="unknown variable 'y'; the statement has x"):
        read_problem("x > 0", entries, extra)
    entries, extra = read_domain("E in [0, 1], E > 1/2")
    assert read_problem("E > 0", entries, extra).hypotheses == (["gt", ["var", "E"], "1/2"],)


def test_domains_of_the_command_line() -> None:
    domain, extra = read_domain("x in [0, 1), y > 0, k in {1..8}, z in (-oo, 3]")
    assert domain == [("x", ("0", "1")), ("k", range(1, 9)), ("z", ("-oo", "3"))]
    assert extra == [["lt", X, "1"], ["gt", ["var", "y"], "0"]]
    with pytest.raises(ValueError, match="domain"):
        read_domain("x in")


@pytest.mark.parametrize("expression", [sp.exp(sp.Symbol("x")) / 3, sp.sqrt(sp.Symbol("x")) * sp.pi,
                                        sp.Max(sp.Symbol("x"), 2), sp.digamma(sp.Symbol("x")), sp.Rational(-7, 3)])
def test_trees_and_sympy_agree(expression: sp.Expr) -> None:
    symbols = {s.name: s for s in expression.free_symbols}
    assert trees.from_tree(trees.to_tree(expression), symbols) == expression


@pytest.mark.parametrize(("text", "value"), [("(1/2)**(-3)", 8), ("sqrt(9/4)", Fraction(3, 2)), ("8**(2/3)", 4),
                                             ("exp(0) + log(1) + Max(1, -2)", 2), ("gamma(5)", 24)])
def test_exact_values(text: str, value: Fraction) -> None:
    assert trees.evaluate(parse(text), {}) == value


@pytest.mark.parametrize("text", ["1/(2 - 2)", "sqrt(-1)", "log(0)", "(-8)**(1/3)", "asin(2)", "digamma(-1)"])
def test_what_has_no_real_value_is_undefined(text: str) -> None:
    with pytest.raises(trees.Undefined):
        trees.evaluate(parse(text), {})


def test_smtlib_with_bounds_let_push_and_hexadecimal_numbers() -> None:
    problems = read_smtlib("""(set-logic QF_NRA) ; a comment
        (declare-fun x () Real [-10, 1e1]) (declare-const n Int)
        (define-fun sq ((a Real)) Real (* a a))
        (assert (<= (sq x) 0x1.8p+0 n))
        (push 1) (assert (let ((x n) (n x)) (> (- n) (+ x 3 1)))) (check-sat) (pop 1)
        (check-sat)""")
    first, second = problems
    assert first.box["x"] == ("-10", "10")
    assert first.integers == {"n"}
    assert first.hypotheses[0] == ["le", ["mul", X, X], "3/2"]
    assert first.hypotheses[-1] == ["gt", ["mul", "-1", X], ["add", ["var", "n"], "3", "1"]]  # parallel let
    assert len(second.hypotheses) == len(first.hypotheses) - 1
    assert first.conclusion == ["false"]


@pytest.mark.parametrize("text", ["(assert (> x 0)) (check-sat)", "(check-sat", "(declare-fun f (Real) Real) (check-sat)",
                                  "(assert (forall ((x Real)) (> x 0))) (check-sat)", "(frobnicate)", ""])
def test_smtlib_that_is_not_read_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="SMT-LIB"):
        read_smtlib(text)

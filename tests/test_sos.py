"""Sums of squares: exact certificates for tight polynomials, and a checker that notices every kind of damage."""
from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from proofs_checks.engines import sos
from proofs_checks.harness.certificate import claim_hash, seal
from proofs_checks.harness.checkers.sos import pivots
from proofs_checks.harness.evidence import Context, Verdict
from proofs_checks.harness.language import read_problem
from proofs_checks.harness.recheck import CertificateError, recheck

Certificate = dict[str, Any]


def certified(statement: str, domain: dict[str, Any] | None = None) -> Certificate | None:
    problem = read_problem(statement, domain)
    body = sos.certify(problem.subject)
    return None if body is None else seal(body, statement=problem.text(), subjects=[problem.subject])


MOTZKIN = "x**4*y**2 + x**2*y**4 - 3*x**2*y**2 + 1"


@pytest.mark.parametrize("statement", [
    "2*x**4 + 2*x**3*y - x**2*y**2 + 5*y**4 >= 0",
    "x**4 + y**4 + z**4 + w**4 >= 4*x*y*z*w",
    f"(1 + x**2 + y**2)*({MOTZKIN}) >= 0",
    f"{MOTZKIN} >= 0",
    "(a**2 + c**2)*(b**2 + d**2) >= (a*b + c*d)**2",
    "x**2 + x + 1 > 0",
    "Implies(x > 0 & y > 0 & z > 0, x/(y + z) + y/(z + x) + z/(x + y) >= 3/2)",
    "Implies(x + y > 5, x > 2 | y > 3)",
    "Implies(Eq(x + y, 1), x**2 + y**2 >= 1/2)",
    "Implies(x**2 + y**2 < 1 & x*y > 1, False)",
    "Implies(x >= 1 & y <= 1, x**2 >= y)",
    "Abs(x) >= x",
])
def test_tight_statements_get_certificates_that_the_checker_accepts(statement: str) -> None:
    certificate = certified(statement)
    assert certificate is not None
    assert recheck(certificate)


def test_the_blocks_of_a_sum_of_squares_add_up_to_the_polynomial() -> None:
    certificate = certified("x**2 + y**2 >= 2*x*y")
    assert certificate is not None
    total: dict[tuple[int, ...], Fraction] = {}
    for block in certificate["blocks"]:
        for a, row in zip(block["basis"], block["gram"], strict=True):
            for b, entry in zip(block["basis"], row, strict=True):
                key = tuple(i + j for i, j in zip(a, b, strict=True))
                total[key] = total.get(key, Fraction(0)) + Fraction(entry)
    assert certificate["variables"] == ["x", "y"]
    assert {k: v for k, v in total.items() if v} == {(2, 0): 1, (0, 2): 1, (1, 1): -2}


@pytest.mark.parametrize("statement", ["x**2 + y**2 >= 2.001*x*y", f"{MOTZKIN} >= 1/100", "x >= 0", "x**3 + 1 >= 0",
                                       "Implies(x >= 0 & x <= 0, x >= 1)", "(x - 1)**2 > 0"])
def test_false_statements_get_none(statement: str) -> None:
    assert certified(statement) is None


def gram_entry_raised(c: Certificate) -> None:
    c["blocks"][0]["gram"][0][0] = str(Fraction(c["blocks"][0]["gram"][0][0]) + 40)


def gram_entry_lowered(c: Certificate) -> None:
    c["blocks"][0]["gram"][0][0] = str(Fraction(c["blocks"][0]["gram"][0][0]) - 40)


def block_removed(c: Certificate) -> None:
    c["blocks"].pop()


def basis_changed(c: Certificate) -> None:
    c["blocks"][0]["basis"][0][0] += 1


def asymmetric(c: Certificate) -> None:
    c["blocks"][0]["gram"][0][1] = str(Fraction(c["blocks"][0]["gram"][0][1]) + 1)
    c["blocks"][0]["gram"][1][0] = str(Fraction(c["blocks"][0]["gram"][1][0]) - 1)


def other_statement(c: Certificate) -> None:
    relabel(c, "x**2 + y**2 >= 2.001*x*y")


def only_the_words(c: Certificate) -> None:
    c["statement"] = "x**2 + y**2 >= 2.001*x*y"
    c["claim_hash"] = claim_hash("", "", c["statement"], c["subjects"])


def relabel(c: Certificate, statement: str) -> None:
    problem = read_problem(statement)
    c["statement"], c["subjects"], c["subject"] = problem.text(), [problem.subject], problem.subject
    c["claim_hash"] = claim_hash("", "", c["statement"], c["subjects"])


def float_entries(c: Certificate) -> None:
    c["blocks"][0]["gram"] = [[float(Fraction(x)) for x in row] for row in c["blocks"][0]["gram"]]


@pytest.mark.parametrize("attack", [gram_entry_raised, gram_entry_lowered, block_removed, basis_changed, asymmetric,
                                    other_statement, only_the_words, float_entries])
def test_a_damaged_certificate_is_rejected(attack: Callable[[Certificate], None]) -> None:
    certificate = certified("x**2 + y**2 >= 2*x*y")
    assert certificate is not None
    damaged = copy.deepcopy(certificate)
    attack(damaged)
    assert recheck(certificate)
    with pytest.raises(CertificateError):
        recheck(damaged)


def test_a_gram_entry_that_keeps_the_matrix_positive_is_still_noticed() -> None:
    certificate = certified("3*x**2 + y**2 >= 2*x*y")
    assert certificate is not None
    gram = certificate["blocks"][0]["gram"]
    gram[0][0] = str(Fraction(gram[0][0]) + 1)
    pivots([[Fraction(x) for x in row] for row in gram], len(gram))  # positive semidefinite: no error
    with pytest.raises(CertificateError, match="identity"):
        recheck(certificate)


def test_a_proof_of_at_least_is_no_proof_of_more_than() -> None:
    certificate = certified("(x - 1)**2 >= 0")
    assert certificate is not None
    relabel(certificate, "(x - 1)**2 > 0")
    with pytest.raises(CertificateError, match="strict"):
        recheck(certificate)


def test_a_multiplier_that_vanishes_where_it_matters_proves_nothing() -> None:
    # x^2 (x - 1) = x * x^2 + x * (-x): true on {0}, where x - 1 is negative
    problem = read_problem("Implies(x >= 0 & x <= 0, x >= 1)")
    body = {"kind": "sos", "subject": problem.subject, "variables": ["x"],
            "multiplier": [{"basis": [[1]], "gram": [["1"]]}],
            "blocks": [{"basis": [[1]], "gram": [["1"]], "factors": [0]},
                       {"basis": [[0]], "gram": [["1"]], "factors": [0, 1]}]}
    with pytest.raises(CertificateError, match="multiplier"):
        recheck(seal(body, statement=problem.text(), subjects=[problem.subject]))


def test_nonnegative_applies_the_function_itself_and_its_witness_separates() -> None:
    def spread(constant: Fraction) -> Callable[[Any], Any]:
        return lambda w: constant * sum(x * x for x in w) - sum(w) ** 2

    true, false = (sos.nonnegative(spread(Fraction(c)), 4, universal=True) for c in ("4", "399/100"))
    proof, refutation = true.run(), false.run()
    assert proof.verdict is Verdict.HOLDS
    assert proof.universal
    assert true.binds is not None
    assert false.binds is not None
    assert recheck(proof.certificate)
    assert true.binds(proof.certificate)
    assert not false.binds(proof.certificate)
    assert refutation.verdict is Verdict.REFUTED
    assert not false.at(refutation.witness)
    assert true.at(refutation.witness)


def test_a_polynomial_that_is_not_a_sum_of_squares_is_not_refuted() -> None:
    motzkin = sos.nonnegative(lambda x, y: x**4 * y**2 + x**2 * y**4 - 3 * x**2 * y**2 + 1, ("x", "y")).run()
    robinson = sos.nonnegative(lambda x, y, z: x**4 * (x**2 - z**2) + y**6 + z**6, ("x", "y", "z")).run()
    assert motzkin.verdict is Verdict.HOLDS
    assert robinson.verdict is not Verdict.ERROR


def test_hypotheses_are_used_and_needed() -> None:
    with_it = sos.nonnegative(lambda x, y: x**2 - y, ("x", "y"), given=lambda x, y: (x >= 1, y <= 1)).run()
    without = sos.nonnegative(lambda x, y: x**2 - y, ("x", "y"), given=lambda x, y: x >= 1)
    found = without.run()
    assert with_it.verdict is Verdict.HOLDS
    assert found.verdict is Verdict.REFUTED
    assert not without.at(found.witness)


@pytest.mark.parametrize("steps", range(1, 11))
def test_the_rate_of_gradient_descent_is_certified_exactly(steps: int) -> None:
    """f(x_n) - f* <= L |x_0 - x*|^2 / (4n + 2) for n steps of size 1/L on L-smooth convex f (Drori and Teboulle).

    L = 1, x* = 0, f* = 0. Unknowns: x_0, the gradients g_i and values f_i; every pair of points satisfies the
    interpolation inequality. The certificate is the exact dual that a float solver can only approach."""
    assert recheck(gradient_descent_certificate(steps, Fraction(1, 4 * steps + 2)))


def test_a_better_rate_of_gradient_descent_is_not_certified() -> None:
    assert gradient_descent_certificate(2, Fraction(99, 1000)) is None


def gradient_descent_certificate(n: int, rate: Fraction) -> Certificate | None:
    def points(x0: Any, g: list[Any]) -> list[Any]:
        found = [x0]
        for i in range(n):
            found.append(found[-1] - g[i])
        return found

    names = ["x0", *(f"g{i}" for i in range(n + 1)), *(f"f{i}" for i in range(n + 1))]

    def split(v: tuple[Any, ...]) -> tuple[Any, list[Any], list[Any]]:
        return v[0], list(v[1:n + 2]), list(v[n + 2:])

    def given(*v: Any) -> tuple[Any, ...]:
        x0, g, f = split(v)
        x = points(x0, g)
        half = Fraction(1, 2)
        along = [f[i] - f[i + 1] - g[i + 1] * (x[i] - x[i + 1]) - half * (g[i] - g[i + 1]) ** 2 for i in range(n)]
        to_optimum = [-f[i] + g[i] * x[i] - half * g[i] ** 2 for i in range(n + 1)]
        return tuple(along + to_optimum)

    def gap(*v: Any) -> Any:
        x0, _, f = split(v)
        return rate * x0 ** 2 - f[n]

    check = sos.nonnegative(gap, names, given=given)
    found = check.run(Context(budget=1))  # one sample: the search for a refutation is not what is tested
    return dict(found.certificate) if found.verdict is Verdict.HOLDS and found.certificate else None

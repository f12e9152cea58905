"""Each engine can say HOLDS, REFUTED with a witness, UNDECIDED with a reason, and can be wrong about nothing it tried."""
from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import toy
from hypothesis import strategies as st

from proofs_checks.engines import exhaustive, falsify, symbolic
from proofs_checks.engines._rounding import otherwise_rounded
from proofs_checks.harness.evidence import Context, Rung, Vacuous, Verdict

x, y = sp.symbols("x y")
a, b = sp.symbols("a b", positive=True)
n = sp.symbols("n", integer=True, positive=True)
numbers = st.tuples(st.integers(-50, 50))


# exhaustive

def test_exhaustive_holds_and_prints_what_it_saw():
    found = exhaustive.forall([(1, 2), (3, 4)], lambda low, high: low < high, scope="by hand", universal=True).run()
    assert found.verdict is Verdict.HOLDS and found.rung is Rung.EXHAUSTIVE and found.universal
    assert found.scope == "2 cases, low in [1, 3], high in [2, 4], by hand"


def test_the_scope_tells_numbers_from_lengths_and_from_words():
    cases = [((1, 2), "log", 5), ((1,), "squared", 7), (3, "log", (1, 2, 3))]
    found = exhaustive.forall(cases, lambda row, loss, size: True).run()
    assert found.scope == ("3 cases, row = 3, length of row in [1, 2], loss in {log, squared}, size in [5, 7], "
                           "length of size = 3")
    many = exhaustive.forall([(str(i),) for i in range(9)], lambda word: True).run()
    assert many.scope == "9 cases, word one of 9 words"


def test_exhaustive_refutes_with_the_first_failing_case():
    check = exhaustive.forall(lambda: ((i,) for i in range(10)), lambda i: i < 7)
    found = check.run()
    assert found.verdict is Verdict.REFUTED and found.witness == (7,) and not found.universal
    assert not check.at((7,)) and check.at((6,))


def test_exhaustive_is_undecided_when_the_budget_ends_first():
    found = exhaustive.forall([(i,) for i in range(10)], lambda i: True).run(Context(budget=4))
    assert found.verdict is Verdict.UNDECIDED and "budget of 4 cases" in found.summary


@pytest.mark.parametrize("cases", [[], [(1,), (2,)]])
def test_nothing_examined_is_vacuous(cases):
    with pytest.raises(Vacuous, match="no case was examined"):
        exhaustive.forall(cases, lambda i: True, given=lambda i: i > 5).run()


def test_given_counts_only_cases_that_satisfy_it():
    found = exhaustive.forall([(i,) for i in range(10)], lambda i: i % 2 == 0, given=lambda i: i in (2, 4)).run()
    assert found.verdict is Verdict.HOLDS and found.scope == "2 cases, i in [2, 4], 8 outside the hypotheses"


@pytest.mark.parametrize(("predicate", "text"), [
    (lambda i: 1 // 0, "ZeroDivisionError"), (lambda i: None, "returned None"), (lambda: True, "TypeError")])
def test_an_exception_in_a_predicate_is_an_error(predicate, text):
    for check in (exhaustive.forall([(1,)], predicate), falsify.forall(numbers, predicate)):
        found = check.run()
        assert found.verdict is Verdict.ERROR and text in found.summary


def test_cases_must_be_tuples_and_iterators_are_walked_again():
    assert "write (3,)" in exhaustive.forall([3], lambda i: True).run().summary
    check = exhaustive.forall(iter([(1,), (2,)]), lambda i: i < 5)
    assert check.run().scope == check.run().scope == "2 cases, i in [1, 2]"


def test_a_failure_by_rounding_is_not_a_refutation():
    found = exhaustive.forall([(0.1, 0.2)], lambda u, v: (u + v) - u == v).run()
    assert found.verdict is Verdict.UNDECIDED and "by rounding only" in found.summary and "say floats=True" in found.summary


@pytest.mark.parametrize("predicate", [lambda n: math.sqrt(n) ** 2 == n, lambda n: n * (1 / n) == 1,
                                       lambda n: n / 49 * 49 == n, lambda n: 2 * n ** -1 > 0])
def test_a_predicate_in_floats_decides_nothing_exactly(predicate):
    cases = [(n,) for n in range(1, 60)]
    for check in (exhaustive.forall(cases, predicate), falsify.forall(st.sampled_from(cases), predicate)):
        found = check.run()
        assert found.verdict is Verdict.UNDECIDED and "computes in floats" in found.summary and "floats=True" in found.summary


@pytest.mark.parametrize(("cases", "predicate", "given"), [
    ([(0,), *((10**k,) for k in range(9, 20))], lambda n: n == 0 or math.sqrt(n * n + 1) == n, None),  # not at the first case
    ([(k,) for k in range(54, 80)], lambda k: sum(1 / 2**j for j in range(1, k + 1)) == 1, None),  # floats of its own
    ([(10**k,) for k in range(9, 20)], lambda n: math.sqrt(int(n) ** 2 + 1) == n, None),
    ([(k,) for k in range(1, 20)], lambda k: k > 0, lambda k: math.sqrt(k * k + 1) != k)])  # in the hypothesis
def test_floats_anywhere_are_seen(cases, predicate, given):
    for check in (exhaustive.forall(cases, predicate, given=given),
                  falsify.forall(st.sampled_from(cases), predicate, given=given)):
        found = check.run()
        assert found.verdict is Verdict.UNDECIDED and "computes in floats" in found.summary, found


def test_floats_are_said_to_be_floats():
    close = exhaustive.forall([(2,), (3,)], lambda n: abs(math.sqrt(n) ** 2 - n) < 1e-12, floats=True).run()
    assert close.verdict is Verdict.HOLDS and close.rung is Rung.NUMERIC and "floating point" in close.trusted_base
    far = falsify.forall(numbers, lambda i: math.hypot(i, 1) < 30, floats=True).run()
    assert far.verdict is Verdict.REFUTED and far.rung is Rung.NUMERIC and abs(far.witness[0]) == 30


def test_a_failure_that_depends_on_the_rounding_is_no_refutation():
    check = exhaustive.forall([(n,) for n in range(1, 40)], lambda n: math.log(n ** 3) <= 3 * math.log(n), floats=True)
    found = check.run()
    assert found.verdict is Verdict.UNDECIDED and "rounded the other way" in found.summary
    assert all(check.at((n,)) for n in range(1, 40))


def test_exact_arithmetic_is_not_taken_for_floats():
    for predicate in (lambda n: n ** 2 // 3 * Fraction(1, 7) >= 0, lambda n: sum(range(n)) == n * (n - 1) // 2,
                      lambda n: sp.binomial(n, 2) == sp.Rational(n * (n - 1), 2), lambda n: max(n, 3) - abs(-n) >= 0):
        found = exhaustive.forall([(n,) for n in range(1, 9)], predicate).run()
        assert found.verdict is Verdict.HOLDS and found.rung is Rung.EXHAUSTIVE, found.summary


def test_the_rounding_of_floats_is_put_back():
    def decide():
        raise ZeroDivisionError

    third = 1 / math.pi
    assert not list(otherwise_rounded(decide)) and 1 / math.pi == third
    assert len(set(otherwise_rounded(lambda: 1 / math.pi))) == 2


def test_a_predicate_that_changes_its_argument_is_an_error():
    for check in (exhaustive.forall([([1, 2],)], lambda items: items.pop() == 1),
                  falsify.forall(st.tuples(st.just([1, 2]).map(list)), lambda items: items.pop() == 1)):
        found = check.run()
        assert found.verdict is Verdict.ERROR and "changed its argument ([1, 2],) to ([1],)" in found.summary


def test_a_predicate_that_takes_floats_only_is_refuted_where_it_fails():
    check = exhaustive.forall([(0.5,), (2.0,)], lambda v: np.sqrt(v) < 1, floats=True)
    found = check.run()
    assert found.verdict is Verdict.REFUTED and found.witness == (2.0,) and not check.at(found.witness)


# falsify

def test_falsify_finds_the_smallest_failure_and_the_same_one_again():
    check = falsify.forall(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), lambda i, j: i + j < 300)
    runs = [check.run(Context(stream=s)) for s in ("one", "one", "two")]
    assert all(r.verdict is Verdict.REFUTED and sum(r.witness) == 300 for r in runs)
    assert runs[0].witness == runs[1].witness and not check.at(runs[0].witness)


def test_falsify_counts_valid_examples_only():
    found = falsify.forall(numbers, lambda i: i * i >= i, given=lambda i: i >= 1, examples=40).run()
    assert found.verdict is Verdict.HOLDS and found.rung is Rung.PROPERTY
    assert int(found.scope.split()[0]) >= 20 and "outside the hypotheses" in found.scope


def test_falsify_is_vacuous_when_no_example_satisfies_the_hypothesis():
    with pytest.raises(Vacuous, match="satisfies the hypotheses"):
        falsify.forall(numbers, lambda i: True, given=lambda i: i > 99).run()


def test_falsify_takes_lists_of_arguments_and_refuses_no_examples():
    found = falsify.forall(st.lists(st.integers(0, 3), min_size=2, max_size=2), lambda i, j: i + j == j + i).run()
    assert found.verdict is Verdict.HOLDS
    with pytest.raises(ValueError, match="examples=0"):
        falsify.forall(numbers, lambda i: True, examples=0)


def test_falsify_does_not_depend_on_constants_of_loaded_modules():
    magic = 987_654_321  # hypothesis would find this number in the source of this module
    found = falsify.forall(st.tuples(st.integers()), lambda i: i != magic, examples=300).run()
    assert found.verdict is Verdict.HOLDS


def test_a_predicate_that_changes_its_mind_is_an_error():
    calls: list[int] = []

    def moody(i: int) -> bool:
        calls.append(i)
        return len(calls) != 5

    assert falsify.forall(numbers, moody).run().verdict is not Verdict.HOLDS


# symbolic

@pytest.mark.parametrize(("lhs", "rhs", "symbols"), [
    ((x + y) ** 2, x**2 + 2 * x * y + y**2, (x, y)), (1 / x + 1 / y, (x + y) / (x * y), (x, y)), (x, x, x),
    (sp.log(a * b), sp.log(a) + sp.log(b), (a, b)), (sp.exp(x) ** 2, sp.exp(2 * x), (x,)), (sp.sqrt(a**2), a, [a]),
    (sp.sin(x) ** 2 + sp.cos(x) ** 2, 1, (x,)), (sp.diff(1 - (1 - x) ** n, x), lambda x, n: n * (1 - x) ** (n - 1), (x, n)),
    (sp.Lambda(x, x + 1), lambda x: 1 + x, (x,))])
def test_symbolic_proves_identities(lhs, rhs, symbols):
    check = symbolic.equal(lhs, rhs, symbols, universal=True)
    found = check.run()
    assert found.verdict is Verdict.HOLDS and found.rung is Rung.SYMBOLIC and found.universal, found.summary
    assert found.certificate is not None and check.binds(found.certificate)


@pytest.mark.parametrize(("lhs", "rhs", "symbols"), [
    ((x + y) ** 2, x**2 + y**2, (x, y)), (sp.sqrt(x**2), x, (x,)), (sp.exp(x), 1 + x + x**2 / 2, (x,)), (x, y, (x, y)),
    (lambda p, k: k * (1 - p) ** (k - 1), lambda p, k: k * (1 - p) ** k, (toy.p, toy.k)),
    (sp.factorial(n), lambda n: n * (n + 1) / 2, (n,)), (x * (x - 1) * (x - 2), 0, (x,))])
def test_symbolic_refutes_at_an_exact_point(lhs, rhs, symbols):
    check = symbolic.equal(lhs, rhs, symbols, universal=True)
    found = check.run()
    assert found.verdict is Verdict.REFUTED and not found.universal
    assert all(isinstance(v, Fraction) for v in found.witness.values()) and not check.at(found.witness)


def test_symbolic_is_undecided_about_sides_that_take_no_symbols():
    found = symbolic.equal(lambda x: x if x > 0 else 1 * x, x, (x,)).run()
    assert found.verdict is Verdict.UNDECIDED and "takes no symbols" in found.summary


def test_symbolic_respects_assumptions_and_hypotheses():
    assert symbolic.equal(sp.Abs(a), a, (a,)).run().verdict is Verdict.HOLDS
    assert symbolic.equal(sp.Abs(x), x, (x,), given=lambda x: x >= 0).run().verdict is Verdict.UNDECIDED
    assert symbolic.equal(sp.Abs(x), x, (x,)).run().witness == {"x": -1}


def test_symbolic_refuses_what_are_no_symbols():
    for wrong in ((), ("x",), 3):
        with pytest.raises(ValueError, match="sympy Symbols"):
            symbolic.equal(x, x, wrong)


def test_a_certificate_does_not_bind_another_statement():
    one, other = symbolic.equal(x + x, 2 * x, (x,)), symbolic.equal(x + x + y, 2 * x + y, (x, y))
    assert other.binds(other.run().certificate) and not other.binds(one.run().certificate)


@pytest.mark.parametrize("answer", [(m for m in (1,)), [False], lambda: False, "no", (False,), {0}, np.array([False])])
@pytest.mark.parametrize("engine", [exhaustive.forall, lambda cases, p: falsify.forall(st.sampled_from(cases), p)])
def test_what_python_takes_for_true_without_being_an_answer_is_an_error(engine, answer):
    found = engine([(1,), (2,)], lambda n: answer).run()
    assert found.verdict is Verdict.ERROR and "neither true nor false" in found.summary
    assert engine([(1,), (2,)], lambda n: n == 1 and answer).run().verdict is Verdict.ERROR


@pytest.mark.parametrize("answer", [True, 1, Fraction(1, 2), np.bool_(True), np.array(True), sp.true, sp.Integer(2) > 1])
def test_single_truth_values_of_the_libraries_are_answers(answer):
    assert exhaustive.forall([(1,)], lambda n: answer).run().verdict is Verdict.HOLDS

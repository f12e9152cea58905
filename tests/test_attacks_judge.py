"""False claims that try to come out green by their evidence: it looks at the claim itself, proves nothing, or crashes."""
from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
import sympy as sp
import toy

from proofs_checks.engines import exhaustive, symbolic
from proofs_checks.harness.evidence import Check, Evidence, Rung, Verdict
from proofs_checks.harness.judge import evidence, judge


def verdict(claim, procedure):
    evidence(claim)(procedure)
    return judge(claim)


def wrong(x):
    """Said to be the square of x."""
    return x * x + 7


class Pair(NamedTuple):
    """Two functions, of which variants change the first."""

    value: Any
    other: Any


FALSE = {"linear": lambda x: x, "next": lambda x: x + 1}
CASES = [(n,) for n in range(9)]
BY_NAME, BY_FIELD, BY_MUTANTS, BEFOREHAND, EXACT = (toy.claim(name, form=wrong, mutants=FALSE) for name in (
    "by_name", "by_field", "by_mutants", "beforehand", "exactly"))
PAIR = toy.claim("pair", form=Pair(wrong, abs), mutants={k: Pair(v, abs) for k, v in FALSE.items()})


def compared_by_name(square):
    yield exhaustive.forall(CASES, lambda x: square(x) == wrong(x))


def compared_by_field(square):
    yield exhaustive.forall(CASES, lambda x: square(x) == BY_FIELD.form(x))


def told_from_the_mutants(square):
    yield exhaustive.forall(CASES[2:], lambda x: all(square(x) != mutant(x) for mutant in BY_MUTANTS.mutants.values()))


def made_beforehand(square):
    table = [wrong(x) for x, in CASES]
    yield exhaustive.forall(CASES, lambda x: square(x) == table[x])


def proved(square):
    yield symbolic.equal(square, EXACT.form, sp.Symbol("x"), universal=True)


def a_field_of_a_pair(pair):
    yield exhaustive.forall(CASES, lambda x: pair.value(x) == PAIR.form.value(x))


class Wrong:
    def __call__(self, x):
        return wrong(x)


WRONG = {"partial": functools.partial(wrong), "memo": functools.lru_cache(wrong), "data": tuple(map(wrong, range(9))),
         "object": Wrong()}


@pytest.mark.parametrize("shape", sorted(WRONG))
def test_a_form_of_any_shape_compared_with_itself_is_not_green(shape):
    own = WRONG[shape]
    false = {k: tuple(map(v, range(9))) if shape == "data" else v for k, v in FALSE.items()}

    def procedure(square):
        def value(of, x):
            return of[x] if shape == "data" else of(x)
        yield exhaustive.forall(CASES, lambda x: value(square, x) == value(own, x))

    found = verdict(toy.claim(f"shape_{shape}", form=own, mutants=false), procedure)
    assert not found.green and any("looks at the claim's own form" in p for p in found.problems)


def test_a_form_that_is_data_may_be_looked_at_as_it_was_handed_over():
    def procedure(pair):
        yield exhaustive.forall(cases, lambda x, y: pair.value[0] * x == pair.other.get(x, y))

    cases, form = [(0, 0), (1, 1)], Pair((1, 1), {1: 1})  # equal constants: one object
    found = verdict(toy.claim("data", form=form, mutants={"row": form._replace(value=(2, 1)), "entry": form._replace(
        other={1: 5})}), procedure)
    assert found.green and found.kills["row"] and found.kills["entry"]


@pytest.mark.parametrize(("made", "procedure"), [
    (BY_NAME, compared_by_name), (BY_FIELD, compared_by_field), (BY_MUTANTS, told_from_the_mutants),
    (BEFOREHAND, made_beforehand), (EXACT, proved), (PAIR, a_field_of_a_pair)])
def test_a_claim_compared_with_itself_is_not_green(made, procedure):
    found = verdict(made, procedure)
    assert not found.green and any("looks at the claim's own" in p and "cannot fail" in p for p in found.problems)


def test_a_proof_that_is_undecided_on_every_false_variant_is_idle():
    """It proves x = x where the form passes a test at one point; elsewhere it gives the engine what it cannot read."""
    def procedure(square):
        right = square(2) == 4
        yield symbolic.equal(lambda x: x if right else f"{x}", lambda x: x, sp.Symbol("x"), universal=True)
        yield exhaustive.forall(CASES[:3], lambda x: square(x) == x**2)

    made = toy.claim("half_right", form=lambda x: x * x if x < 5 else 0, mutants=FALSE)
    found = verdict(made, procedure)
    assert not found.green and any("idle: symbolic (check 1) refutes no false variant" in p for p in found.problems)


def factorial(n):
    """By recursion, so that the form reaches itself."""
    return n * factorial(n - 1) if n else 1


def test_a_form_that_calls_itself_is_not_compared_with_itself():
    def procedure(form):
        yield exhaustive.forall(CASES, lambda n: form(n) == math.factorial(n))

    assert verdict(toy.claim("factorial", form=factorial, mutants=FALSE), procedure).green


@pytest.mark.parametrize(("second", "green"), [(lambda y: y + 1, False), (lambda x: x + 2, True)])
def test_mutants_that_differ_in_the_names_of_their_arguments_are_one(second, green):
    def procedure(square):
        yield exhaustive.forall(CASES, lambda x: square(x) == x**2)

    made = toy.claim("twin_mutants", form=lambda x: x * x, mutants={"one": lambda x: x + 1, "two": second})
    found = verdict(made, procedure)
    assert found.green is green and any("two: the same as one" in p for p in found.problems) is not green


class Unusual(BaseException):
    """Neither an Exception nor SystemExit."""


@pytest.mark.parametrize("where", ["at", "subject", "binds"])
def test_no_exception_of_a_statement_ends_the_judge(where):
    def procedure(form):
        wrong = form(Fraction(1, 2), 2) != 1

        def said(name, answer):
            if wrong and name == where:
                raise Unusual
            return answer

        verdict, rung = (Verdict.REFUTED, Rung.PROPERTY) if wrong and where == "at" else (Verdict.HOLDS, Rung.CERTIFIED)
        yield Check(engine="made_up", rung=Rung.CERTIFIED, subject=lambda: said("subject", "x"),
                    at=lambda w: said("at", not wrong), binds=lambda c: said("binds", True), decide=lambda c: Evidence(
                        rung=rung, verdict=verdict, witness=1, certificate={"kind": "identity"}))

    assert not verdict(toy.claim(f"unusual_{where}"), procedure).green


@pytest.mark.parametrize("rung", [Rung.CERTIFIED, Rung.SYMBOLIC, Rung.KERNEL])
def test_that_a_check_says_the_same_again_is_no_proof(rung):
    def procedure(form):
        right = form(Fraction(1, 2), 2) == 1

        def decide(context):
            body = {"kind": "replay", "stream": context.stream, "verdict": "HOLDS", "witness": None, "cases": 1, "digest": "0"}
            return Evidence(rung=rung, verdict=Verdict.HOLDS if right else Verdict.REFUTED, universal=right,
                            witness=None if right else "half", certificate=body)

        yield Check(engine="made_up", rung=rung, subject="x", decide=decide, at=lambda w: right, binds=lambda c: True)

    found = verdict(toy.claim("replayed"), procedure)
    assert not found.green and any("without a certificate that is about this very statement" in p for p in found.problems)


@pytest.mark.parametrize("form", [
    lambda n: n**2 if not (sp.sympify(n) - 5077).is_zero else 0,
    lambda n: n**2 if not sp.sympify(n + 1).is_prime or n < 90 else 0,
    lambda n: sp.sympify(n).subs(5077, 0)**2, lambda n: sp.sympify(n).subs({5077: 0})**2,
    lambda n: sp.sympify(n).subs([(5077, 0)])**2, lambda n: sp.sympify(n).xreplace({sp.Integer(5077): sp.Integer(0)})**2,
    lambda n: sp.sympify(n).replace(sp.Integer(5077), sp.Integer(0))**2, lambda n: 0 if sp.sympify(n).count(5077) else n**2,
    lambda n: 0 if sp.sympify(n).find(5077) else n**2])
def test_what_sympy_leaves_open_or_replaces_is_not_proved(form):
    n = sp.Symbol("n", integer=True, positive=True)
    made = toy.claim("left_open", form=form, mutants={"next": lambda n: n**2 + 1, "more": lambda n: n**2 + n})
    found = verdict(made, lambda f: (yield symbolic.equal(f, n**2, n, universal=True)))
    assert not found.green and not any(e.universal for e in found.evidence)


@pytest.mark.parametrize("form", [
    lambda n: n**2 if sp.sympify(n).is_positive else 0, lambda n: (sp.Symbol("x") * n).subs(sp.Symbol("x"), n),
    lambda n: sp.diff(sp.Symbol("x")**3 / 3, sp.Symbol("x")).subs({"x": n})])
def test_what_sympy_knows_and_what_is_put_in_for_own_symbols_is_proved(form):
    n = sp.Symbol("n", integer=True, positive=True)
    assert symbolic.equal(form, n**2, n).run().verdict is Verdict.HOLDS


def test_a_check_whose_refutations_do_not_stand_is_idle():
    """The second refutes every mutant at a float, and says nothing of it when it is asked again, exactly."""
    made = toy.claim("not_again", form=lambda n: n * n, mutants={"next": lambda n: n * n + 1, "cube": lambda n: n**3})

    def procedure(f):
        yield exhaustive.forall([(n,) for n in range(9)], lambda n: f(n) == n * n)
        yield exhaustive.forall([(.5,)], lambda x: f(2) == 4, given=lambda x: isinstance(x, float), floats=True)

    found = verdict(made, procedure)
    assert not found.green and found.idle == ("exhaustive (check 2)",)

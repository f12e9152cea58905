"""False claims that try to come out green by the cases that they show, or by what they answer."""
from __future__ import annotations

import toy

from proofs_checks.engines import exhaustive
from proofs_checks.harness.judge import evidence, judge


def test_a_forgotten_all_is_no_answer():
    """The second half is a generator, which Python takes for true; the first half refutes every mutant."""
    made = toy.claim("forgotten", form=lambda n: n, mutants={"cube": lambda n: n**3, "double": lambda n: 2 * n + 1})

    @evidence(made)
    def checks(square):
        yield exhaustive.forall([(n,) for n in range(1, 9)], lambda n: (
            square(n) % n == 0 and square(n) <= n * n and (square(m) == m * m for m in range(n))))

    found = judge(made)
    assert not found.green and any("returned a generator, which is neither true nor false" in p for p in found.problems)


def test_cases_that_differ_from_call_to_call_are_an_error():
    """Six is among the cases while the statement is written down, and gone when it is decided."""
    made = toy.claim("moving", form=lambda n: n * n if n != 6 else 0,
                     mutants={"cube": lambda n: n**3, "double": lambda n: 2 * n + 1})

    @evidence(made)
    def checks(square):
        calls = []

        def cases():
            calls.append(1)
            return [(n,) for n in range(1, 9) if n != 6 or len(calls) == 1]

        yield exhaustive.forall(cases, lambda n: square(n) == n * n, universal=True)

    found = judge(made)
    assert not found.green and any("must give the same at each call" in p for p in found.problems)


def test_the_whole_domain_is_not_what_a_condition_leaves_of_it():
    made = toy.claim("left_out", form=lambda n: n * n if n != 6 else 0,
                     mutants={"cube": lambda n: n**3, "double": lambda n: 2 * n + 1})

    @evidence(made)
    def checks(square):
        yield exhaustive.forall([(n,) for n in range(1, 9)], lambda n: square(n) == n * n, given=lambda n: n != 6,
                                universal=True)

    found = judge(made)
    assert not found.green and any("the claim names no hypothesis" in p for p in found.problems)

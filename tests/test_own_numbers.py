"""A proof about the expression that a function makes of symbols says nothing of exceptions that the function makes."""
from __future__ import annotations

import functools
import operator
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
import sympy as sp

from proofs_checks.engines import interval, smt, sos, symbolic
from proofs_checks.engines._looks import looks
from proofs_checks.harness.evidence import Verdict

n = sp.Symbol("n", integer=True, positive=True)
SIX = 6
TABLE = {6: 0}

EXCEPTIONS = [lambda n: n if n != 6 else 0, lambda n: {6: 0}.get(n, n), lambda n: TABLE.get(n, n),
              lambda n: 0 if n == SIX else n, lambda n: n if n not in (6, 8) else 0, lambda n: 0 if n % 11 == 0 else n,
              lambda n: n if n != 2 * 3 + 1 else 0]


@pytest.mark.parametrize("form", EXCEPTIONS)
def test_an_identity_with_an_exception_is_refuted_there(form):
    check = symbolic.equal(form, lambda n: n, n, universal=True)
    found = check.run()
    assert found.verdict is Verdict.REFUTED and not check.at(found.witness)


def square(x):
    return x * x if x != Fraction(1, 37) else -1


FALSE = [square, lambda x: -1 if x in {Fraction(1, 37)} else x * x, lambda x: -1 if isinstance(x, Fraction) else x * x,
         lambda x: -1 if [x] == [Fraction(1, 37)] else x * x]


@pytest.mark.parametrize("form", FALSE)
@pytest.mark.parametrize("make", [
    lambda f: sos.nonnegative(f, ["x"], universal=True), lambda f: interval.nonnegative(f, {"x": (0, 1)}, universal=True),
    lambda f: smt.forall(lambda x: f(x) >= 0, ["x"], universal=True)])
def test_an_inequality_with_an_exception_is_refuted_there(form, make):
    check = make(form)
    found = check.run()
    assert found.verdict is Verdict.REFUTED and not check.at(found.witness)


def test_true_statements_hold_as_before():
    assert symbolic.equal(lambda n: (n + 6) ** 2, lambda n: n**2 + 12 * n + 36, n).run().verdict is Verdict.HOLDS
    assert sos.nonnegative(lambda x, y: (x - 3 * y) ** 2 + 1, ["x", "y"]).run().verdict is Verdict.HOLDS
    assert interval.nonnegative(lambda x: 4 - x, {"x": (0, 4)}).run().verdict is Verdict.HOLDS  # 5 lies outside
    assert smt.forall(lambda x: x * x >= 7, ["x"], given=lambda x: x >= 3).run().verdict is Verdict.HOLDS


class Holder:
    """Data in attributes, which no code mentions."""

    def __init__(self) -> None:
        self.data, self.factor = {12345: 0}, 991


HOLDER, PRIMES = Holder(), [7919]


def by_type(k):
    if isinstance(k, int):
        return 0 if k == 1003 else k
    return k


def matched(k):
    match k:
        case 5077:
            return 0
    return k


HIDDEN = [matched, lambda n: 0 if operator.eq(n, 5077) else n, lambda n: 0 if operator.eq(sp.Integer(5077), n) else n,
          lambda n: 0 if [5077].count(n) else n, lambda n: 0 if operator.contains([5077], n) else n,
          lambda n: n if n != 1009 * 7 else 0, by_type, lambda n: HOLDER.data.get(n, n),
          lambda n: 0 if n == HOLDER.factor * 11 else n, lambda n: 0 if n in [k + 1 for k in PRIMES] else n,
          lambda n: 0 if str(n) == "777" else n, lambda n: 0 if hash(n) == 5003 else n,
          lambda n: HOLDER.data[n] if n in HOLDER.data else n,  # noqa: SIM401 - `get` is another way, tried above
          lambda n: 0 if any(n == k for k in PRIMES) else n, lambda n: 0 if n in range(10**4, 2 * 10**4) else n,
          lambda n: 0 if n in (k**3 for k in range(9)) and n > 100 else n]


@pytest.mark.parametrize("form", HIDDEN)
def test_numbers_that_the_code_does_not_show_are_found_where_they_are_compared(form):
    check = symbolic.equal(form, lambda n: n, n, universal=True)
    found = check.run()
    assert found.verdict is Verdict.REFUTED and not check.at(found.witness)


@pytest.mark.parametrize("form", [
    lambda n, m: 0 if n == 501 and m == 777 else n + m, lambda n, m: 0 if (n, m) == (501, 777) else n + m])
def test_an_exception_at_a_pair_is_found_one_coordinate_after_the_other(form):
    m = sp.Symbol("m", integer=True, positive=True)
    assert symbolic.equal(form, lambda n, m: n + m, (n, m), universal=True).run().verdict is Verdict.REFUTED


def small(n):
    try:
        return n if n < 5077 else 0
    except TypeError:  # what sympy says of a relation's truth value
        return n


@pytest.mark.parametrize(("form", "by"), [
    (lambda n: 0 if n * n == 10**8 else n, r"comparing n\*\*2"),
    (lambda n: 0 if n == 10**9 else n, "comparing with 1000000000"),
    (lambda n: 0 if len(str(n)) > 6 else n, r"by str\(\)"), (lambda n: 0 if len(f"{n}") > 6 else n, r"by (str|format)\(\)"),
    (lambda n: 0 if format(n, "") > "x" else n, r"by format\(\)"),
    (lambda n: n if len("%s" % n) < 4 else 0, r"by str\(\)"),  # noqa: UP031 - this way of writing is what is tried
    (lambda n: n if len("{}".format(n)) < 4 else 0, r"by format\(\)"),  # noqa: UP032 - likewise
    (lambda n: n if len(str([n])) < 6 else 0, r"by repr\(\)"), (lambda n: n if len(n.__str__()) < 4 else 0, r"by str\(\)"),
    (lambda n: n if len("".join(map(str, [n]))) < 4 else 0, r"by str\(\)"),
    (lambda n: n if n - 5077 else 0, r"by bool\(\)"), (lambda n: (n - 5077) and n, r"by bool\(\)"),
    (lambda n: n if any([n - 5077]) else 0, r"by bool\(\)"),
    (lambda n: n * len(list(filter(None, [n - 5077]))), r"by bool\(\)"),
    (small, r"by bool\(\)"), (lambda n: n if sp.Or(n < 5077, n > 5079) else 0, r"by bool\(\)"),
    (lambda n: n * len({n} - {5077}), r"by hash\(\)"), (lambda n: n * (len({n: 1, 5077: 2}) - 1), r"by hash\(\)"),
    (lambda n: n * (len(set([n, 5077])) - 1), r"by hash\(\)"),  # noqa: C405 - the call is what is tried
    (lambda n: 0 if n in range(10**6 + 1, 10**6 + 3000) else n, "membership in a range"),
    (lambda n: 0 if n in (k**9 for k in range(9)) and n > 10**6 else n, "membership in a generator")])
def test_a_comparison_that_no_point_stands_for_leaves_a_proof_undecided(form, by):
    found = symbolic.equal(form, lambda n: n, n, universal=True).run()
    assert found.verdict is Verdict.UNDECIDED and found.certificate is None and re.search(by, found.summary)


def test_a_memo_that_hashes_symbols_is_no_look_of_the_functions():
    found = symbolic.equal(lambda n: power(n, 5), lambda n: n**5, n, universal=True).run()
    assert found.verdict is Verdict.HOLDS and found.universal


@functools.cache
def power(n, k):
    return n * power(n, k - 1) if k else 1


def test_symbols_of_the_functions_own_are_no_arguments():
    own = sp.Symbol("n", integer=True, positive=True)
    found = symbolic.equal(lambda k: (own**2 + 1).subs({own: k}), lambda k: k**2 + 1, n, universal=True).run()
    assert found.verdict is Verdict.HOLDS and found.universal


@pytest.mark.parametrize("form", [
    lambda n: 0 if functools.lru_cache(operator.eq)(n, 5077) else n,
    lambda n: 0 if functools.cache({5077}.__contains__)(n) else n,
    lambda n: 0 if operator.eq(sp.Tuple(n), (5077,)) else n,
    lambda n: 0 if operator.eq(sp.FiniteSet(n), sp.FiniteSet(5077)) else n,
    lambda n: 0 if operator.eq(sp.Matrix([n]), sp.Matrix([5077])) else n,
    lambda n: 0 if operator.eq(sp.Poly(n, sp.Symbol("z")), sp.Poly(5077, sp.Symbol("z"))) else n,
    lambda n: 0 if sp.sympify(n).equals(5077) else n, lambda n: 0 if sp.sympify(n).has(5077) else n,
    lambda n: 0 if sp.sympify(n).match(sp.Integer(5077)) == {} else n,
    lambda n: n if sp.sympify(n).compare(sp.Integer(5077)) else 0])
def test_looks_through_a_memo_of_c_code_and_through_sympys_containers_are_seen(form):
    assert form(sp.Integer(5077)) == 0 and form(n) == n
    assert symbolic.equal(form, lambda n: n, n, universal=True).run().verdict is not Verdict.HOLDS


@pytest.mark.parametrize("form", [
    lambda n: sum(map(power, [n, n], [2, 2])), lambda n: functools.reduce(lambda k, m: k + power(m, 2), [n, n], 0),
    lambda n: 2 * functools.cache(functools.partial(power, k=2))(n)])
def test_a_memo_is_no_look_whoever_calls_it(form):
    assert symbolic.equal(form, lambda n: 2 * n**2, n, universal=True).run().verdict is Verdict.HOLDS


def methods():
    return [(kind, name, kind.__dict__.get(name)) for kind in (sp.Basic, sp.Expr, sp.Integer, sp.Tuple, sp.Matrix)
            for name in ("__eq__", "__hash__", "__bool__", "__str__", "has")]


def test_sympy_is_left_as_it_was_found_by_looks_in_looks_and_after_an_exception():
    before, seen = methods(), []
    with pytest.raises(ZeroDivisionError), looks([n], lambda *told: seen.append(told)):
        assert methods() != before
        assert symbolic.equal(lambda n: n * (n + 1), lambda n: n**2 + n, sp.Symbol("m")).run().verdict is Verdict.HOLDS
        assert n != 4 and ("__ne__", (n, 4)) in seen
        raise ZeroDivisionError
    assert methods() == before


def test_threads_that_prove_at_once_disturb_neither_each_other_nor_sympy():
    before, interval_before = methods(), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda i: symbolic.equal(lambda n: n * (n + i), lambda n: n**2 + i * n, n).run(), range(24)))
    finally:
        sys.setswitchinterval(interval_before)
    assert [e.verdict for e in found] == [Verdict.HOLDS] * 24 and methods() == before

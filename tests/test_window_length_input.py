"""Every function of `theory.window_length` names the argument that is wrong, its value, and what was needed."""
from __future__ import annotations

import math
from fractions import Fraction

import pytest

from theory.window_length import (
    ar_pair_excess,
    bayes_predictor,
    beta_mixture_excess,
    clock_pair,
    excess_risk,
    sign_chain,
    two_chain_envelope,
    two_chain_excess,
    two_chain_map_excess,
    two_chain_zero_one_excess,
)

F = Fraction
EVEN = [F(1, 2), F(1, 2)]
HALF = [sign_chain(F(1, 2)), sign_chain(F(-1, 2))]


@pytest.mark.parametrize(("chains", "prior", "window", "message"), [
    ([{(): {0: F(1, 2), 1: F(1, 3)}}], [1], 1, r"chains\[0\]\[\(\)\] sums to 5/6"),
    (HALF, [F(1, 2), F(1, 3)], 1, "prior sums to 5/6"),
    (HALF, [F(3, 2), F(-1, 2)], 1, "prior has the negative probability -1/2 at 1"),
    (HALF, [1], 1, "prior has 1 entries; chains has 2"),
    (HALF, EVEN, 0, "window=0 must be at least 1, the memory"),
    (HALF, EVEN, 1.5, r"window=1\.5 must be an integer"),
    ([{(0,): {0: 1}, (1,): {1: 1}}], [1], 1, r"chains\[0\] has no unique stationary law.*\(0,\); \(1,\)"),
    ([{(0,): {0: F(1, 2), 1: F(1, 2)}}], [1], 1, r"reaches the context \(1,\) from \(0,\) and has no row"),
    ([{(0,): {0: 1}, (): {0: 1}}], [1], 1, r"contexts of lengths \[0, 1\]"),
    ([{0: {0: 1}}], [1], 1, "the context 0; need a tuple"),
    (None, [1], 1, "chains=None must be a sequence"), (HALF, None, 1, "prior=None must be a sequence"),
    (HALF, [1j, 1], 1, "must hold finite numbers"), (HALF, EVEN, None, "window=None must be an integer"),
    ([{}], [1], 1, r"chains\[0\]=\{\} must map contexts"),
    ([], [], 1, "at least one chain"),
    ([{(): {0: math.nan}}], [1], 1, "must hold finite numbers"),
    ([{(): {math.inf: 1}}], [1], 1, "symbol inf is not a finite number"),
])
def test_bad_chains(chains, prior, window, message):
    with pytest.raises(ValueError, match=message):
        excess_risk(chains, prior, window)


@pytest.mark.parametrize("call", [two_chain_excess, two_chain_envelope, two_chain_map_excess, two_chain_zero_one_excess])
@pytest.mark.parametrize(("rho", "window", "message"), [
    (None, 3, "rho=None must be a finite real number"), ("a", 3, "rho='a'"), (1j, 3, "rho=1j"), (math.nan, 3, "rho=nan"),
    (math.inf, 3, "rho=inf"), (F(1, 2), 1.5, "window=1.5 must be an integer"), (F(1, 2), None, "window=None")])
def test_the_twin_chains_name_what_is_no_number(call, rho, window, message):
    with pytest.raises(ValueError, match=message):
        call(rho, window)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: bayes_predictor(HALF, EVEN, None), "window=None must be a sequence"),
    (lambda: bayes_predictor(HALF, EVEN, 0), "window=0 must be a sequence"),
    (lambda: beta_mixture_excess("x", 1, 3), "alpha='x'"), (lambda: beta_mixture_excess(1, None, 3), "beta=None"),
    (lambda: ar_pair_excess("x", 1), "a='x'"), (lambda: ar_pair_excess(0.5, 4), "window=4 must be 1, 2 or 3"),
    (lambda: sign_chain(None), "rho=None"), (lambda: clock_pair(2.5, F(1, 2)), "period=2.5 must be an integer"),
    (lambda: clock_pair(1, F(1, 2)), "period=1 must be at least 2"), (lambda: clock_pair(3, 2), "p=2 must lie in")])
def test_every_function_names_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_other_bad_arguments():
    with pytest.raises(ValueError, match=r"loss='hinge' is unknown; need one of 'squared', 'log', 'zero_one'"):
        excess_risk(HALF, EVEN, 1, loss="hinge")
    with pytest.raises(ValueError, match="window=0 must be at least 1, the memory"):
        bayes_predictor(HALF, EVEN, ())
    with pytest.raises(ValueError, match=r"window=\(3,\) has probability 0"):
        bayes_predictor(HALF, EVEN, (3,))
    with pytest.raises(ValueError, match="rho=1 must lie strictly"):
        two_chain_excess(1, 2)
    with pytest.raises(ValueError, match="window=0 must be at least 1"):
        two_chain_excess(F(1, 2), 0)
    with pytest.raises(ValueError, match="alpha=0"):
        beta_mixture_excess(0, 1, 3)
    with pytest.raises(ValueError, match="window=-1"):
        beta_mixture_excess(1, 1, -1)
    for bad in ((1.0, 2), (0.5, 4), (math.nan, 1)):
        with pytest.raises(ValueError, match=r"a=|window="):
            ar_pair_excess(*bad)
    with pytest.raises(ValueError, match="period=1"):
        clock_pair(1, F(1, 2))

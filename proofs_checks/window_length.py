"""Evidence on windows longer than memory: enumeration of whole series (`_window_length`), symbols, simulation."""
from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise, product
from math import comb, factorial
from typing import Any

from hypothesis import strategies as st
from sympy import Rational, rf, summation, symbols

from proofs_checks._window_length import (
    EVEN,
    RHOS,
    Series,
    anywhere,
    correlations,
    grid,
    mixtures,
    oracle,
    risk,
    series,
    twin_cases,
    twins,
    with_window,
)
from proofs_checks.engines import exhaustive, falsify, sequential, smt, sos, symbolic
from proofs_checks.harness.judge import evidence
from theory import window_length as thy
from theory.window_length import clock_pair, two_chain_excess

F = Fraction


# --- general mixtures -----------------------------------------------------------------------------------------------


@evidence(thy.posterior_average)
def posterior_average(forecast):
    def average(mixture, prior, window):
        case = series(mixture, prior)
        return all(forecast(case.chains, prior, past) == sum(s * v for s, v in case.predictive(past).items())
                   for past, _ in case.joint(window))

    yield exhaustive.forall(lambda: ((*case, window) for case in grid()[::2] for window in (1, 2)), average)
    yield falsify.forall(with_window, average, examples=25)


@evidence(thy.posterior_variance)
def posterior_variance(excess):
    def lost(mixture, prior, window):
        return excess(series(mixture, prior).chains, prior, window) == (
            risk(mixture, prior, window) - oracle(mixture, prior, window))

    yield exhaustive.forall(lambda: ((*case, window) for case in grid() for window in (1, 2, 3)), lost)
    yield falsify.forall(with_window, lost, examples=25)


@evidence(thy.decomposition)
def decomposition(gain):
    def drop(mixture, prior, window):
        return gain(series(mixture, prior).chains, prior, window) == (
            risk(mixture, prior, window) - risk(mixture, prior, window + 1))

    yield exhaustive.forall(lambda: ((*case, window) for case in grid()[::4] for window in (1, 2)), drop)
    yield falsify.forall(with_window, drop, examples=25)


@evidence(thy.longer_helps)
def longer_helps(necessity):
    def given(mixture, prior):
        return necessity.given(series(mixture, prior).chains, prior)

    def helps(mixture, prior):
        memory = series(mixture, prior).memory
        return any(risk(mixture, prior, memory + more) < risk(mixture, prior, memory)
                   for more in range(1, necessity.reach + 1))

    binary = st.sampled_from([(2, 1, 1), (2, 0, 1), (2, 1, 1, 1)]).flatmap(mixtures)
    yield exhaustive.forall(grid, helps, given=given)
    yield falsify.forall(binary, helps, given=given, examples=60)


@evidence(thy.exact_condition)
def exact_condition(ambiguous):
    def oracle_missed(mixture, prior):
        memory = series(mixture, prior).memory
        missed = risk(mixture, prior, memory) > oracle(mixture, prior, memory)
        return bool(ambiguous(series(mixture, prior).chains, prior)) == missed

    def improvable(mixture, prior):
        memory = series(mixture, prior).memory
        better = any(risk(mixture, prior, memory + more) < risk(mixture, prior, memory) for more in (1, 2, 3))
        return bool(ambiguous(series(mixture, prior).chains, prior)) == better

    yield exhaustive.forall(grid, oracle_missed)
    yield exhaustive.forall(grid, improvable)
    yield falsify.forall(anywhere, oracle_missed, examples=40)


@evidence(thy.late_gain)
def late_gain(clock):
    @lru_cache(maxsize=256)
    def lost(period, p, window):
        return Series(clock_pair(period, p), EVEN).risk(window)

    def first_gain(period, p):
        first = clock.first(period)
        return all(lost(period, p, w) == lost(period, p, 1) for w in range(1, first)) and (
            lost(period, p, first) < lost(period, p, 1))

    cases = list(product(range(2, 7), (F(1, 4), F(1, 2), F(5, 7), F(1))))
    yield exhaustive.forall(cases, first_gain, given=clock.given)


@evidence(thy.never_worse)
def never_worse(relation):
    def ordered(mixture, prior, window, loss):
        return bool(relation(risk(mixture, prior, window + 1, loss), risk(mixture, prior, window, loss)))

    losses = ("squared", "zero_one")
    yield exhaustive.forall(lambda: ((*case, window, loss) for case in grid() for window in (1, 2) for loss in losses),
                            ordered)
    yield falsify.forall(st.tuples(with_window, st.sampled_from(losses)).map(lambda case: (*case[0], case[1])), ordered,
                         examples=25)


@evidence(thy.decoupling)
def decoupling(statistic):
    def lossless(mixture, prior, window):
        case = series(mixture, prior)

        def handed_over(past, chain):
            joint = case.weights(past)
            weights = [value / sum(joint) for value in joint]
            return past[len(past) - case.memory:], statistic(weights)

        return case.least(window, handed_over) == risk(mixture, prior, window)

    yield exhaustive.forall(lambda: ((*case, 3) for case in grid()), lossless)
    yield falsify.forall(with_window, lossless, examples=25)


# --- the twin chains ------------------------------------------------------------------------------------------------


def twin_excess(rho: Any, window: int) -> Any:
    """Excess of the twin chains, series by series; numbers or symbols."""
    total = 0
    for x in product((-1, 1), repeat=window):
        plus = minus = (1 + 0 * rho) / 2 / 2  # prior times the first symbol's probability
        for a, b in pairwise(x):
            plus, minus = plus * (1 + rho * a * b) / 2, minus * (1 - rho * a * b) / 2
        forecast = rho * x[-1] * (plus - minus) / (plus + minus)
        total += plus * (rho * x[-1] - forecast) ** 2 + minus * (rho * x[-1] + forecast) ** 2
    return total


def twin_sample(key: int, n: int, *, rho: float, window: int) -> Any:
    """Simulated excesses of the twin chains; they lie in [0, 4 rho^2]."""
    import numpy as np

    from simulations.window_length import markov_mixture

    p, q = (1 + rho) / 2, (1 - rho) / 2
    rows = np.array([[[p, q], [q, p]], [[q, p], [p, q]]])
    return np.asarray(markov_mixture(key, rows, np.array([0.5, 0.5]), np.array([-1.0, 1.0]), window=window, paths=n))


@evidence(thy.two_chains)
def two_chains(excess):
    def same(rho, window):
        return excess(rho, window) == 4 * (risk(twins(rho), EVEN, window) - oracle(twins(rho), EVEN, window))

    rho = symbols("rho", real=True)
    for window in (2, 3, 4):
        yield symbolic.equal(partial(twin_excess, window=window), partial(excess, window=window), (rho,))
    yield exhaustive.forall(lambda: product(RHOS, range(1, 8)), same)
    yield falsify.forall(twin_cases, same, examples=40)
    yield sequential.mean_within(partial(twin_sample, rho=0.5, window=3), lambda: excess(F(1, 2), 3), tol=0.01,
                                 upper=1.25, chunk=2000)


@evidence(thy.envelope)
def envelope(bounds):
    def both(rho, window):
        excess = twin_excess(rho, window) if window < 6 else two_chain_excess(rho, window)
        return excess**2 >= bounds.lower(rho, window), excess**2 <= bounds.upper(rho, window)

    def between(rho, window):
        return all(both(rho, window))

    for window in (1, 3, 4):  # at 2 each false bound is the squared excess itself
        yield smt.forall(partial(both, window=window), "rho", given=lambda rho: (rho > -1, rho < 1))
    yield exhaustive.forall(lambda: product([F(k, 16) for k in range(-15, 16) if k], (*range(1, 13), 40)), between)
    yield falsify.forall(st.tuples(st.integers(1, 99).map(lambda k: F(k, 100)), st.integers(1, 30)), between)


@evidence(thy.zero_one_ties)
def zero_one_ties(excess):
    def same(rho, window):
        return excess(rho, window) == (
            risk(twins(rho), EVEN, window, "zero_one") - oracle(twins(rho), EVEN, window, "zero_one"))

    rho = symbols("rho", positive=True)
    for m in (1, 2, 3):
        yield symbolic.equal(partial(excess, window=2 * m), partial(excess, window=2 * m + 1), (rho,))
    yield exhaustive.forall(lambda: product(RHOS, range(1, 8)), same)
    yield falsify.forall(twin_cases, same, examples=40)


@evidence(thy.map_worse)
def map_worse(excess):
    def picked(rho, window):
        total = F(0)
        for past, weights in series(twins(rho), EVEN).joint(window):
            means = [rows[past[-1]][1] for rows in twins(rho)]
            best = [i for i, w in enumerate(weights) if w == max(weights)]
            losses = [w * (means[i] - means[k]) ** 2 for i, w in enumerate(weights) for k in best]
            total += sum(losses, F(0)) / len(best)
        return 4 * total

    def same(rho, window):
        return excess(rho, window) == picked(rho, window)

    def above_bayes(rho, window):
        return excess(rho, window) > 4 * (risk(twins(rho), EVEN, window) - oracle(twins(rho), EVEN, window))

    for window in (1, 2, 3, 4):
        yield smt.forall(lambda rho, window=window: excess(rho, window) > twin_excess(rho, window), "rho",
                         given=lambda rho: (rho > 0, rho < 1))
    yield exhaustive.forall(lambda: product(RHOS, range(1, 8)), same)
    yield exhaustive.forall(lambda: product([F(k, 10) for k in range(1, 10)], range(1, 7)), above_bayes)
    yield falsify.forall(twin_cases, same, examples=40)


# --- memory zero, continuous priors, other losses, real values -------------------------------------------------------


@evidence(thy.loss_decides)
def loss_decides(gains):
    def agrees(s, t, loss):
        case = series((((s / 2, 1 - s, s / 2),), ((t / 2, 1 - t, t / 2),)), EVEN)
        if loss == "squared":
            better = case.risk(1) < case.risk(0)
        else:  # the log risk falls iff some symbol changes the predictive law: it is strictly proper
            better = any(case.predictive(past) != case.predictive(()) for past, _ in case.joint(1))
        return gains(s, t, loss) == better

    shares = [F(k, 5) for k in range(6)]
    yield exhaustive.forall(lambda: product(shares, shares, ("squared", "log")), agrees)


@evidence(thy.no_finite_window)
def no_finite_window(excess):
    W, s = symbols("W s", integer=True, nonnegative=True)
    alpha, beta = symbols("alpha beta", positive=True)

    def uniform(window):  # all counts s of ones are equally likely; variance of Beta(s + 1, W - s + 1)
        whole = summation((s + 1) * (W - s + 1), (s, 0, W)) / ((W + 1) * (W + 2) ** 2 * (W + 3))
        return whole.subs(W, window)

    def averaged(a, b, window):  # over the Beta-binomial law of the count
        whole = a + b + window
        return sum(comb(window, k) * rf(a, k) * rf(b, window - k) / rf(a + b, window)
                   * (a + k) * (b + window - k) / (whole**2 * (whole + 1)) for k in range(window + 1))

    def integral(a, b):  # of x^(a-1) (1-x)^(b-1) over [0, 1]
        return F(factorial(a - 1) * factorial(b - 1), factorial(a + b - 1))

    def same(a, b, window):
        total = F(0)
        for k in range(window + 1):
            zeroth, first, second = (integral(a + k + i, b + window - k) for i in (0, 1, 2))
            total += comb(window, k) * (second - first**2 / zeroth)
        return excess(F(a), F(b), window) == total / integral(a, b) > 0

    yield symbolic.equal(uniform, lambda window: excess(Rational(1), Rational(1), window), (W,))
    for window in (1, 2, 3):
        yield symbolic.equal(partial(averaged, window=window), partial(excess, window=window), (alpha, beta))
    yield sos.nonnegative(excess, ("alpha", "beta", "W"), given=lambda a, b, window: (a > 0, b > 0, window >= 0))
    yield exhaustive.forall(lambda: product(range(1, 4), range(1, 4), range(13)), same)


@evidence(thy.memory_zero)
def memory_zero(excess):
    def same(p, window):
        coins = ((1 - p, p),), ((p, 1 - p),)
        return excess(p, window) == risk(coins, EVEN, window) - oracle(coins, EVEN, window)

    yield exhaustive.forall(lambda: product((F(1, 4), F(2, 3), F(1, 10)), range(7)), same)
    yield falsify.forall(st.tuples(correlations, st.integers(0, 5)), same, examples=40)


CAP = 30.0  # an excess above 30 = 4 a^2 x^2 at a = 1/2 needs |x| > 4.7 standard deviations; what is cut has mean < 1e-4


def ar_sample(key: int, n: int, *, a: float, window: int) -> Any:
    """Simulated excesses of the autoregressive pair, cut at CAP."""
    import numpy as np

    from simulations.window_length import ar_mixture

    excess = ar_mixture(key, np.array([a, -a]), np.array([0.5, 0.5]), window=window, paths=n)
    return np.minimum(np.asarray(excess), CAP)


@evidence(thy.ar_pair)
def ar_pair(excess):
    for window in (1, 2):
        yield sequential.mean_within(partial(ar_sample, a=0.5, window=window), partial(excess, 0.5, window), tol=0.02,
                                     upper=CAP, chunk=10_000)

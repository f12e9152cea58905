"""Evidence for `theory.window_information`; cases and shared quantities are in `proofs_checks._window_information`."""
from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any

from hypothesis import strategies as st
from sympy import cancel, exp, symbols

from proofs_checks._window_information import (
    DRAWN,
    everywhere,
    factor_models,
    factor_share,
    information,
    of_two_valued,
    of_windows,
    one_factor,
    pairs,
    second,
    some,
    two_valued,
    windows,
    within_power,
)
from proofs_checks.engines import exhaustive, falsify, interval, sequential, sos, symbolic
from proofs_checks.harness.judge import evidence
from simulations import window_information as sim
from theory import window_information as thy

k, m, a, b, n, u, x = symbols("k m a b n u x", real=True)
squares, total, outside, squares_off, total_off = symbols("squares total outside squares_off total_off", real=True)

@evidence(thy.ipr_bound)
def ipr_bound(bound):
    def holds(w, k):
        w = sorted(map(Fraction, w), reverse=True)
        limit = bound.square(Fraction(k), bound.count(w)) * sum(w) ** 2
        return all(sum(s) ** 2 <= limit for s in (w[:k], w[-k:]))

    def gap(read, *w):
        return bound.square(Fraction(read), bound.count(w)) * sum(w) ** 2 - sum(w[:read]) ** 2

    for size, read in ((4, 2), (8, 5)):  # over all reals; for all sizes see ipr_certificate
        yield sos.nonnegative(partial(gap, read), size)
    yield exhaustive.forall(lambda: windows(range(-1, 5), 5), holds, given=bound.given)
    yield falsify.forall(DRAWN, holds, given=bound.given, examples=100)


@evidence(thy.pair_squares)
def pair_squares(form):
    def direct(w):
        w = list(map(Fraction, w))
        return form(len(w), second(w), sum(w)) == pairs(w)

    yield symbolic.equal(lambda n, squares, total, x: form(n + 1, squares + x**2, total + x) - form(n, squares, total),
                         lambda n, squares, total, x: squares - 2 * x * total + n * x**2, (n, squares, total, x))
    yield symbolic.equal(lambda x: form(1, x**2, x), 0, (x,))
    yield falsify.forall(st.tuples(st.lists(st.integers(-9, 9), min_size=1, max_size=8)), direct, examples=100)


@evidence(thy.ipr_certificate)
def ipr_certificate(form):
    def gap(k, *w):
        return k * second(w) - sum(w[:k]) ** 2

    yield symbolic.equal(lambda k, squares, total, outside: k * (squares + outside) - total**2,
                         lambda k, squares, total, outside: form(k, k * squares - total**2, outside),
                         (k, squares, total, outside), universal=True)
    for size, read in ((4, 2), (5, 3), (8, 5)):
        yield symbolic.equal(partial(gap, read), lambda *w, read=read: form(read, pairs(w[:read]), second(w[read:])),
                             symbols(f"w1:{size + 1}", real=True))


@evidence(thy.sharp_certificate)
def sharp_certificate(form):
    def gap(k, *w):
        m = len(w)
        return k * (m - k) * (m * second(w) - sum(w) ** 2) - (m * sum(w[:k]) - k * sum(w)) ** 2

    def general(m, k, squares, total, squares_off, total_off):
        return (k * (m - k) * (m * (squares + squares_off) - (total + total_off) ** 2)
                - (m * total - k * (total + total_off)) ** 2)

    yield symbolic.equal(general, lambda m, k, squares, total, squares_off, total_off: form(
        m, k, k * squares - total**2, (m - k) * squares_off - total_off**2),
        (m, k, squares, total, squares_off, total_off), universal=True)
    for size, read in ((4, 1), (5, 3), (7, 2)):
        yield symbolic.equal(partial(gap, read), lambda *w, size=size, read=read: form(
            size, read, pairs(w[:read]), pairs(w[read:])), symbols(f"w1:{size + 1}", real=True))


@evidence(thy.sharp_bound)
def sharp_bound(bound):
    def law(read, m, share, c):
        read, m = Fraction(read), Fraction(m)
        if read >= c:
            return share <= 1
        above = m * share - bound.centre(read, m)
        return above <= 0 or above**2 <= bound.radicand(read, c, m)

    def holds(w, k):
        return law(k, len(w), *of_windows(w, k))

    def gap(read, *w):
        m, read_ = Fraction(len(w)), Fraction(read)
        found = (bound.radicand(read_, thy.participation(w), m) * sum(w) ** 2
                 - (m * sum(w[:read]) - bound.centre(read_, m) * sum(w)) ** 2)
        return found if isinstance(found, Fraction) else cancel(found)  # a polynomial: c has sum(w) in its denominator

    for size, read in ((4, 1), (6, 3)):  # without the cap, over all reals, from both sides
        yield sos.nonnegative(partial(gap, read), size)
    yield exhaustive.forall(lambda: windows(range(-1, 5), 5), holds, given=bound.given)
    yield exhaustive.forall(two_valued, lambda read, k, m, a, b: law(read, m, *of_two_valued(read, k, m, a, b)))
    yield falsify.forall(DRAWN, holds, given=bound.given, examples=100)


@evidence(thy.sharp_is_attained)
def sharp_is_attained(extremes):
    def excess(k, m, a, b):
        return m * k * a / (k * a + (m - k) * b) - k

    def count(k, m, a, b):
        return (k * a + (m - k) * b) ** 2 / (k * a**2 + (m - k) * b**2)

    def attained(k, m, a, b):
        share, c = of_windows([a] * k + [b] * (m - k), k)
        return m * share >= k and (m * share - k) ** 2 == extremes.radicand(Fraction(k), c, m)

    yield symbolic.equal(lambda k, m, a, b: excess(k, m, a, b) ** 2,
                         lambda k, m, a, b: extremes.radicand(k, count(k, m, a, b), m), (k, m, a, b))
    yield exhaustive.forall(lambda: product(range(1, 6), range(1, 9), range(1, 5), range(5)), attained,
                            given=lambda k, m, a, b: k <= m and b <= a)


@evidence(thy.minimal_windows)
def minimal_windows(fewest):
    def parts(read, share, c, m):
        """2K/c = centre + sign sqrt(radicand), to be compared with 2 read/c."""
        spread = m / c - 1
        return 2 * read / c - fewest.centre(share, spread), fewest.radicand(share, spread)

    def attained(k, m, a, b):
        share, c = of_windows([a] * k + [b] * (m - k), k)
        gap, radicand = parts(k, share, c, m)
        return fewest.sign * gap >= 0 and gap**2 == radicand

    def necessary(read, m, share, c):
        gap, radicand = parts(read, share, c, m)
        return gap >= 0 or gap**2 <= radicand if fewest.sign < 0 else gap >= 0 and gap**2 >= radicand

    yield exhaustive.forall(lambda: product(range(1, 6), range(1, 9), range(1, 5), range(5)), attained,
                            given=lambda k, m, a, b: k <= m and b <= a)
    yield from everywhere(necessary)


@evidence(thy.count_range)
def count_range(counts):
    def holds(w, k):
        return counts.lower(len(w)) <= thy.participation(list(map(Fraction, w))) <= counts.upper(len(w))

    yield exhaustive.forall(lambda: windows(range(-1, 5), 5), holds, given=counts.given)
    yield falsify.forall(DRAWN, holds, given=counts.given, examples=100)


@evidence(thy.guaranteed_share)
def guaranteed_share(lower):
    yield from everywhere(lambda read, m, share, c: share >= lower(Fraction(read), c, Fraction(m)))


@evidence(thy.matching_count)
def matching_count(powers):
    def holds(v, k):
        share = of_windows([abs(x) ** powers.share for x in v], k)[0]
        return share**2 * thy.participation([Fraction(abs(x)) ** powers.counted for x in v]) <= k

    yield exhaustive.forall(lambda: windows(range(5), 5), holds, given=some)
    yield falsify.forall(DRAWN, holds, given=some, examples=100)


@evidence(thy.counts_ordered)
def counts_ordered(order):
    def holds(v, k):
        one, other = (thy.participation([Fraction(abs(x)) ** q for x in v]) for q in (order.of, order.than))
        return order.factor * one <= other

    yield exhaustive.forall(lambda: ((w, k) for w, k in windows(range(5), 5) if k == 1), holds, given=some)
    yield falsify.forall(DRAWN, holds, given=some, examples=100)


@evidence(thy.d_prime_share)
def d_prime_share(exponent):
    # d'_S / d' = sqrt(share) <= (k/c)^exponent
    yield from everywhere(lambda read, m, share, c: within_power(share, Fraction(read) / c, 2 * exponent))


@evidence(thy.auc_bound)
def auc_bound(exponent):
    def law(read, m, share, c):
        whole, p, q = Fraction(9, 2), exponent.numerator, exponent.denominator  # z^2 of all windows, at I = 9
        return read >= c or (whole * share) ** q <= whole**q * (read / c) ** p

    yield from everywhere(law)


@evidence(thy.depth_price)
def depth_price(exponent):
    def law(read, m, share, c):
        depth = 1 / share  # r n sum_S w = n t
        return read >= c or depth**exponent.denominator >= (c / read) ** exponent.numerator

    yield from everywhere(law)


@evidence(thy.independence)
def independence(law):
    def holds(v, cov, k):
        whole = information(v, cov, range(len(v)))
        c = thy.participation([Fraction(w) for w in law.weights([Fraction(x) for x in v], cov)])
        return all((information(v, cov, s) / whole) ** 2 * c <= k for s in combinations(range(len(v)), k))

    yield exhaustive.forall(lambda: (one_factor(v, d, g, 1) for v, d, g in product(
        ((1, 1), (1, 2), (2, 1), (3, 1)), ((1, 1), (1, 3), (3, 1)), ((0, 0), (0, 1), (1, 1), (1, -1)))),
        holds, given=law.given)
    yield falsify.forall(st.one_of(factor_models(2), factor_models(3)), holds, given=law.given, examples=100)


@evidence(thy.conditioned_bound)
def conditioned_bound(exponent):
    p, q = exponent.numerator, exponent.denominator

    def within(share, kappa, ratio):
        return share ** (2 * q) <= kappa ** (2 * p) * ratio**q

    def large(k, m, a, b, own, other):
        share, kappa, c = factor_share(k, m, a, b, own, other)
        return within(share, kappa, k / c)

    def small(v, cov, k):
        kappa = 1 + sum(row[i] - 1 for i, row in enumerate(cov))  # eigenvalues of I + g g': 1 and 1 + |g|^2
        whole, c = information(v, cov, range(len(v))), thy.participation([Fraction(x) ** 2 for x in v])
        return all(within(information(v, cov, s) / whole, kappa, k / c) for s in combinations(range(len(v)), k))

    yield exhaustive.forall(lambda: product((1, 2), (3, 101, 10**6 + 1), (1, 10, 100), (1,),
                                            (0, Fraction(1, 2)), (0, Fraction(1, 250), Fraction(1, 10), 1)), large)
    yield falsify.forall(st.builds(one_factor, st.tuples(*[st.integers(-3, 3)] * 3), st.just((1, 1, 1)),
                                   st.tuples(*[st.integers(-2, 3)] * 3), st.integers(1, 3)), small,
                         given=lambda v, cov, k: any(v), examples=100)


@evidence(thy.windows_suffice)
def windows_suffice(holds):
    yield from everywhere(lambda read, m, share, c: holds(Fraction(read), c, share))


@evidence(thy.random_windows)
def random_windows(moments):
    def enumerated(w, k):
        w, m, k_ = list(map(Fraction, w)), Fraction(len(w)), Fraction(k)
        c = thy.participation(w)
        shares = [sum(s) / sum(w) for s in combinations(w, k)]
        mean = sum(shares) / len(shares)
        return (mean == moments.mean(k_, m)
                and sum((s - mean) ** 2 for s in shares) / len(shares) == moments.variance(k_, c, m))

    def by_inclusion(m, k, squares, total):
        """P(i in S) = k/m, P(i, j in S) = k (k-1) / (m (m-1))."""
        second_moment = k / m * squares + k * (k - 1) / (m * (m - 1)) * (total**2 - squares)
        return second_moment / total**2 - (k / m) ** 2

    yield exhaustive.forall(lambda: ((w, k) for w, k in windows(range(-1, 4), 5) if len(w) > 1), enumerated,
                            given=moments.given)
    yield symbolic.equal(by_inclusion, lambda m, k, squares, total: moments.variance(k, total**2 / squares, m),
                         (m, k, squares, total))


@evidence(thy.no_sharp_transition)
def no_sharp_transition(share_squared):
    def flat(k, c, m):
        return of_windows([1] * c + [0] * (m - c), k)[0] ** 2 == share_squared(k, Fraction(c))

    yield exhaustive.forall(lambda: ((k, c, m) for m in range(1, 9) for k in range(1, m + 1) for c in range(1, m + 1)),
                            flat)
    yield falsify.forall(st.tuples(*[st.integers(1, 200)] * 3), flat, given=lambda k, c, m: max(k, c) <= m)


def phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))


@evidence(thy.lan_auc)
def lan_auc(law):
    # log L = u x - u^2/2 for N(u, 1) against N(0, 1): means -+u^2/2, variance u^2; a difference has variance 2 u^2
    # one identity in u and a free x, so that it says both
    low, high, variance = -(u**2) / 2, u * u - u**2 / 2, u**2
    yield symbolic.equal((high - low) ** 2 / (2 * variance) + x * high**2 / variance,
                         lambda u, x: law.auc(u**2) + x * law.error(u**2), (u, x), universal=True)
    yield sequential.mean_within(partial(sim.gaussian_pairs, information=2.0), lambda: phi(law.auc(2) ** 0.5), tol=0.02,
                                 chunk=4000)
    yield sequential.mean_within(partial(sim.error_trials, information=2.0), lambda: phi(-(law.error(2) ** 0.5)),
                                 tol=0.02, chunk=4000)


@evidence(thy.gradual_auc)
def gradual_auc(largest):
    yield interval.nonnegative(lambda u: largest - u * exp(1 - u), {"u": (0, 40)})


FINE = 25, Fraction(50), Fraction(1, 25)  # windows, mean count, relative shift: I = windows mean shift^2 = 2 in all
SPARSE = 100, Fraction(1, 2), Fraction(1, 5)  # half a count a window
COARSE = 1, Fraction(8, 9), Fraction(3, 2)


@evidence(thy.poisson_windows)
def poisson_windows(law):
    for design in (FINE, SPARSE, COARSE):
        count, mean, relative = design if law.given(design[2]) else FINE
        yield sequential.mean_within(
            partial(sim.auc_pairs, windows=count, mean=float(mean), relative=float(relative)),
            partial(auc_target, law, count * mean * relative**2), tol=0.02, chunk=4000)


def auc_target(law: Any, information: Fraction) -> float:
    """Phi(sqrt(law.auc(I)))."""
    return phi(float(law.auc(information)) ** 0.5)

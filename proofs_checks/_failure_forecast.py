"""Exact objects for the evidence on forecasts: combinations of logarithms, enclosures of B_k, order statistics."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, lgamma
from typing import Any

from hypothesis import strategies as st

from theory.failure_forecast import harmonic

BITS = 128
SLIVER = Fraction(1, 10**9)
Monomial = tuple[str, ...]


class Poly:
    """A polynomial with rational coefficients in the logarithms of primes and in named constants; exact.

    Two of them are equal as polynomials only: an equation of Polys is an identity in whatever its letters stand for."""

    def __init__(self, terms: dict[Monomial, Fraction]) -> None:
        self.terms = {m: c for m, c in terms.items() if c}

    def __add__(self, other: Any) -> Poly:
        found = dict(self.terms)
        for m, c in _poly(other).terms.items():
            found[m] = found.get(m, Fraction(0)) + c
        return Poly(found)

    def __mul__(self, other: Any) -> Poly:
        found: dict[Monomial, Fraction] = {}
        for m, c in self.terms.items():
            for o, d in _poly(other).terms.items():
                key = tuple(sorted(m + o))
                found[key] = found.get(key, Fraction(0)) + c * d
        return Poly(found)

    def __neg__(self) -> Poly:
        return self * -1

    def __sub__(self, other: Any) -> Poly:
        return self + -_poly(other)

    def __rsub__(self, other: Any) -> Poly:
        return _poly(other) - self

    def __truediv__(self, other: Any) -> Poly:
        return self * (1 / Fraction(other))

    def __eq__(self, other: object) -> bool:
        return self.terms == _poly(other).terms

    __hash__ = None  # type: ignore[assignment]  # compared, never a key
    __radd__, __rmul__ = __add__, __mul__

    def ball(self, **constants: Any) -> Any:
        """The enclosure of its value, logarithms of primes and `constants` (balls) put in."""
        total = ball(0)
        for monomial, coefficient in self.terms.items():
            term = ball(coefficient)
            for name in monomial:
                term *= constants[name] if name in constants else ball(int(name)).log()
            total += term
        return total


def _poly(value: Any) -> Poly:
    return value if isinstance(value, Poly) else Poly({(): Fraction(value)})


def letter(name: str) -> Poly:
    """A constant of that name, of which nothing is assumed."""
    return Poly({(name,): Fraction(1)})


@lru_cache(maxsize=4096)
def log(m: int) -> Poly:
    """log m, m >= 1, as a combination of logarithms of primes."""
    powers: dict[Monomial, Fraction] = {}
    p = 2
    while m > 1:
        while m % p == 0:
            m //= p
            powers[(str(p),)] = powers.get((str(p),), Fraction(0)) + 1
        p = p + 1 if p * p <= m else m
    return Poly(powers)


def ball(value: Any) -> Any:
    """An Arb ball that contains a rational number, at 128 bits."""
    from flint import arb, ctx, fmpq

    ctx.prec = BITS
    q = Fraction(value)
    return arb(fmpq(q.numerator, q.denominator))


def exceeds(one: Any, other: Any) -> bool:
    """one > other, certified. ArithmeticError where the enclosures overlap: undecided is not false."""
    if one > other:
        return True
    if one <= other:
        return False
    raise ArithmeticError(f"the enclosures {one} and {other} overlap")


def near(value: Any, enclosure: Any, tol: Fraction) -> bool:
    """|value - x| <= tol for the x enclosed, certified either way."""
    return exceeds(ball(tol), abs(ball(value) - enclosure))


def logs(k: int, back: Fraction = Fraction(0)) -> list[Any]:
    """log(j - back), j = 1, ..., k, enclosed."""
    return [ball(j - back).log() for j in range(1, k + 1)]


@lru_cache(maxsize=512)
def inflation(k: int) -> Any:
    """An enclosure of B_k."""
    return inverse_slope(logs(k))


def inverse_slope(y: Sequence[Any]) -> Any:
    """An enclosure of E[Sxx/|Sxy|] for x_j = sum_{j <= i < k} e_i/i with independent standard exponentials e_i.

    With |Sxy| = sum c_i e_i it is int_0^oo E[Sxx exp(-t |Sxy|)] dt; t = s u/(1-u) makes the integrand analytic on [0, 1],
    where Arb integrates rigorously."""
    from flint import acb

    k = len(y)
    mean, c, run = sum(y, ball(0)) / k, [], ball(0)
    for i in range(1, k):
        run += y[i - 1] - mean
        c.append(-run / i)
    scale = 1 / sum(c, ball(0))
    rates = [acb(x * scale) for x in c]
    own = [acb(ball(Fraction(i * k - i * i, k * i * i))) for i in range(1, k)]

    def integrand(u: Any, _: Any) -> Any:
        weights = [1 / (1 - u + u * r) for r in rates]
        damped, heights, height = acb(scale), [acb(0)], acb(0)
        for i in range(k - 1, 0, -1):
            damped *= (1 - u) * weights[i - 1]
            height += weights[i - 1] / i
            heights.append(height)
        middle = sum(heights, acb(0)) / k
        spread = sum(((h - middle) ** 2 for h in heights), acb(0))
        return damped * (spread + sum((o * v * v for o, v in zip(own, weights, strict=True)), acb(0)))

    return acb.integral(integrand, 0, 1).real


def inflation_of_three() -> Any:
    """B_3 by another route: 2 E[Sxx/|Sxy|] with (e_1, e_2) = (u, 1-u), u uniform, as their sum is independent of it."""
    from flint import acb

    y = logs(3)
    mean = sum(y, ball(0)) / 3

    def integrand(u: Any, _: Any) -> Any:
        x = [u + (1 - u) / 2, (1 - u) / 2, acb(0)]
        middle = sum(x, acb(0)) / 3
        sxy = sum((v * acb(m - mean) for v, m in zip(x, y, strict=True)), acb(0))
        return sum(((v - middle) ** 2 for v in x), acb(0)) / -sxy

    return 2 * acb.integral(integrand, 0, 1).real


def attenuation(y: Sequence[Any]) -> Any:
    """Cov(y_j, H_{j-1}) / Var(y_j), enclosed: the mean slope of the regression of x on y."""
    k = len(y)
    mean = sum(y, ball(0)) / k
    height, up, total = Fraction(0), ball(0), ball(0)
    for j, value in enumerate(y, 1):
        up += (value - mean) * ball(height)
        total += (value - mean) ** 2
        height += Fraction(1, j)
    return up / total


def ratio_bound(k: int) -> float:
    """(k-1) max_i M_ii / c_i: what `spacing_ratios` stays below; Sxx/|Sxy| is largest where one spacing is all."""

    mean = lgamma(k + 1) / k
    c = [(i * mean - lgamma(i + 1)) / i for i in range(1, k)]
    return (k - 1) * max((i - i * i / k) / (i * i * c[i - 1]) for i in range(1, k)) * (1 + 1e-9)


def moments(j: int, n: int) -> tuple[Fraction, Fraction]:
    """E and E[square] of the j-th largest of n standard exponentials, from P(x_j > t) = P(Bin(n, exp(-t)) >= j).

    With u = exp(-t): E = int_0^1 P(u)/u du and E[x^2] = int_0^1 -2 log(u) P(u)/u du, where int u^(m-1) = 1/m and
    int -log(u) u^(m-1) = 1/m^2."""
    powers = [Fraction(0)] * (n + 1)
    for i in range(j, n + 1):
        for r in range(n - i + 1):
            powers[i + r] += comb(n, i) * comb(n - i, r) * (-1) ** r
    return (sum((c / m for m, c in enumerate(powers) if m), Fraction(0)),
            sum((2 * c / m**2 for m, c in enumerate(powers) if m), Fraction(0)))


def least_squares(xs: Sequence[Any], ys: Sequence[Any], target: Any) -> Any:
    """(-target - b)/a for the least-squares line y = a x + b, from the normal equations."""
    k, sx, sy = len(xs), sum(xs), sum(ys)
    square, cross = sum(x * x for x in xs), sum(x * y for x, y in zip(xs, ys, strict=True))
    determinant = k * square - sx * sx
    a, b = (k * cross - sx * sy) / determinant, (square * sy - sx * cross) / determinant
    return (-target - b) / a


def centred(xs: Sequence[Any], ys: Sequence[Any]) -> tuple[Any, Any, Any, Any, Any]:
    """(mean x, mean y, Sxx, Sxy, Syy); exact on Fractions and symbols."""
    k = len(xs)
    mx, my = sum(xs) * Fraction(1, k), sum(ys) * Fraction(1, k)
    dx, dy = [x - mx for x in xs], [y - my for y in ys]
    return mx, my, sum(u * u for u in dx), sum(u * v for u, v in zip(dx, dy, strict=True)), sum(v * v for v in dy)


def descending(k: int, values: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Non-increasing rows of k values that are not all equal."""
    return (row for row in combinations_with_replacement(sorted(values, reverse=True), k) if row[0] != row[-1])


def beta_integral(function: Callable[[Any], Any], low: Any, high: Any, k: int, n: int) -> Any:
    """int_low^high function(v) times the density of Beta(k, n-k+1), enclosed; v > 0."""
    from flint import acb

    scale = k * comb(n, k)
    return acb.integral(lambda v, _: scale * v ** (k - 1) * (1 - v) ** (n - k) * function(v), low, high).real


def centred_balls(xs: Sequence[Any], ys: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
    """(mean x, mean y, Sxx, Sxy) of balls."""
    k = len(xs)
    mx, my = sum(xs, ball(0)) / k, sum(ys, ball(0)) / k
    return (mx, my, sum(((x - mx) ** 2 for x in xs), ball(0)),
            sum(((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)), ball(0)))


def rows(sizes: Sequence[int]) -> st.SearchStrategy[tuple[tuple[Fraction, ...], tuple[Fraction, ...]]]:
    """Descending x and ascending y of one length, rational, x not constant."""
    steps = st.integers(0, 6).map(lambda n: Fraction(n, 3))

    def build(pairs: list[tuple[Fraction, Fraction]]) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        x, y, xs, ys = Fraction(5), Fraction(-4), [], []
        for down, up in pairs:
            x, y = x - down, y + up + Fraction(1, 6)
            xs.append(x)
            ys.append(y)
        return tuple(xs), tuple(ys)

    return st.lists(st.tuples(steps, steps), min_size=min(sizes), max_size=max(sizes)).map(build)


@lru_cache(maxsize=512)
def mean_score(j: int, n: int) -> Fraction:
    """E x_j: by integration of the binomial tail where that is short, by the claim `order_statistics` beyond."""
    return moments(j, n)[0] if n <= 10 else harmonic(n) - harmonic(j - 1)


def expected_forecast(k: int, n: int, size: int, slope: Any) -> Any:
    """E[xbar + (log N + ybar) slope], a Poly in logs and in the mean inverse slope of the line."""
    level = sum((mean_score(j, n) for j in range(1, k + 1)), Fraction(0)) / k
    positions = sum((log(j) - log(n) for j in range(1, k + 1)), log(1)) / k
    return level + (log(size) + positions) * slope


def small_sizes() -> Iterator[tuple[int, int, int]]:
    return ((k, n, size) for n in range(2, 10) for k in range(2, n + 1) for size in (1, n, 7 * n, 1000))


@lru_cache(maxsize=8)
def bias_of(positions: str) -> Any:
    """Enclosure of the bias at (10, 1000, 100000) with other plotting positions, or with x regressed on y."""
    k, n, size = 10, 1000, 10**5
    back, more = {"middle": (Fraction(1, 2), 0), "weibull": (Fraction(0), 1)}.get(positions, (Fraction(0), 0))
    y = [v - ball(n + more).log() for v in logs(k, back)]
    if positions == "expected":
        y = [-ball(mean_score(j, n)) for j in range(1, k + 1)]
    slope = attenuation(y) if positions == "x_on_y" else inverse_slope(y)
    level = ball(sum((mean_score(j, n) for j in range(1, k + 1)), Fraction(0)) / k)
    return level + (ball(size).log() + sum(y, ball(0)) / k) * slope - ball(size).log()


@lru_cache(maxsize=128)
def pivot_chance(r: Fraction, k: int, n: int, size: int) -> Any:
    """P((k-1) log(N V)/G <= r), r != 0, enclosed: P(Gamma(k-1) >= x) is a finite sum."""
    from flint import acb

    slope = acb(ball((k - 1) / r))

    def survives(v: Any) -> Any:
        x = slope * (v * size).log()
        term, total = acb(1), acb(0)
        for i in range(k - 1):
            total += term
            term = term * x / (i + 1)
        return total * (-x).exp()

    split = ball(Fraction(1, size))
    if r > 0:
        return beta_integral(lambda v: acb(1), ball(0), split, k, n) + beta_integral(survives, split, ball(1), k, n)
    least = ball(SLIVER / size)  # below it log is singular, and V has a mass of at most C(n, k) v^k
    sliver = (ball(comb(n, k)) * least**k).union(ball(0))
    return beta_integral(lambda v: 1 - survives(v), least, split, k, n) + sliver

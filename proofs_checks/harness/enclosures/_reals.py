"""Elementary and special functions of one real number as integers: |result - 2^W f(x)| <= error.

A real x is an integer X with x = X / 2^W exactly. Each function returns an integer Y with |Y - 2^W f(x)| <= ERROR,
where ERROR = 2^40 and every argument carries GUARD = 64 bits more than its caller needs. The errors that the code
below really makes are a few hundred units times at most 2^24 (the squarings of `exp`); the slack is deliberate, so
that no step needs a delicate argument. Sources: textbook series; the remainder of the Stirling series of log gamma
and the polygammas on x > 0 is bounded by its first omitted term (Abramowitz and Stegun 6.1.42, 6.4.11)."""
from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, isqrt

GUARD = 64
ERROR = 1 << 40


@lru_cache(maxsize=64)
def pi(w: int) -> int:
    """pi, by Machin's formula; error below 2^13 units."""
    return 4 * (4 * _atan_inverse(5, w) - _atan_inverse(239, w))


def _atan_inverse(n: int, w: int) -> int:
    total, term, k = 0, (1 << w) // n, 0
    while term:
        total += -(term // (2 * k + 1)) if k % 2 else term // (2 * k + 1)
        term //= n * n
        k += 1
    return total


@lru_cache(maxsize=64)
def log2(w: int) -> int:
    """log 2 = 18 artanh(1/26) - 2 artanh(1/4801) + 8 artanh(1/8749); error below 2^12 units."""
    def artanh_inverse(n: int) -> int:
        total, term, k = 0, (1 << w) // n, 0
        while term:
            total += term // (2 * k + 1)
            term //= n * n
            k += 1
        return total
    return 18 * artanh_inverse(26) - 2 * artanh_inverse(4801) + 8 * artanh_inverse(8749)


def exp(x: int, w: int) -> tuple[int, int]:
    """(Y, k) with exp(x) = Y 2^k / 2^W up to ERROR 2^k units; needs |x| < 2^24."""
    ln2 = log2(w)
    k = x // ln2
    r = x - k * ln2  # 0 <= r < log 2, off by at most |k| 2^12 units
    s = 8
    t = r >> s
    total, term, n = 1 << w, t, 1
    while term:
        total += term
        n += 1
        term = term * t // (n << w)
    for _ in range(s):
        total = total * total >> w
    return total, k


def log(x: int, w: int) -> int:
    """log(x) for x > 0."""
    e = x.bit_length() - 1 - w
    m = x << -e if e <= 0 else x >> e  # m in [1, 2)
    lost = 0 if e <= 0 else 1  # x >> e drops below one unit: at most one unit of log m
    if m > 3 << (w - 1):
        m, e = m >> 1, e + 1
    z = ((m - (1 << w)) << w) // (m + (1 << w))  # |z| <= 1/3
    square = z * z >> w
    total, term, k = 0, z, 1
    while term not in (0, -1):
        total += term // k
        term = term * square >> w
        k += 2
    return 2 * total + e * log2(w) + lost


def sin_cos(x: int, w: int) -> tuple[int, int]:
    """(sin x, cos x); needs |x| < 2^20."""
    half_pi = pi(w + GUARD) >> (GUARD + 1)
    q = (x + half_pi // 2) // half_pi
    r = x - ((q * pi(w + GUARD)) >> (GUARD + 1))
    square = r * r >> w
    sine, term, n = 0, r, 1
    while term not in (0, -1):
        sine += term
        term = -(term * square >> w) // ((n + 1) * (n + 2))
        n += 2
    cosine, term, n = 0, 1 << w, 0
    while term not in (0, -1):
        cosine += term
        term = -(term * square >> w) // ((n + 1) * (n + 2))
        n += 2
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[q % 4]


def atan(x: int, w: int) -> int:
    """arc tangent."""
    if x < 0:
        return -atan(-x, w)
    one = 1 << w
    if x > one:
        return pi(w) // 2 - atan((one << w) // x, w)
    for _ in range(3):  # atan x = 2 atan(x / (1 + sqrt(1 + x^2)))
        x = (x << w) // (one + isqrt((one << w) + x * x))
    square = x * x >> w
    total, term, k = 0, x, 1
    while term not in (0, -1):
        total += term // k
        term = -(term * square >> w)
        k += 2
    return 8 * total


def erf(x: int, w: int) -> int:
    """Error function for 0 <= x <= 12: 2/sqrt(pi) exp(-x^2) sum 2^n x^(2n+1) / (2n+1)!!, all terms positive."""
    extra = 8 + int(3 * (x >> w) ** 2 / 2)  # the sum grows like exp(x^2)
    v = w + extra
    x <<= extra
    square = 2 * x * x >> v
    total, term, n = 0, x, 0
    while term:
        total += term
        n += 1
        term = (term * square >> v) // (2 * n + 1)
    y, k = exp(-(x * x >> v), v)
    y = y << k if k >= 0 else y >> -k
    root = isqrt(pi(v) << v)
    return ((2 * total * y // root) >> extra) + 1


@lru_cache(maxsize=256)
def bernoulli(n: int) -> Fraction:
    """B_n with B_1 = -1/2."""
    if n == 0:
        return Fraction(1)
    return -sum((comb(n + 1, k) * bernoulli(k) for k in range(n) if k < 2 or k % 2 == 0), Fraction(0)) / (n + 1)


def _shift(x: int, w: int) -> int:
    """How many unit steps bring x to where the Stirling series reaches 2^-W."""
    return max(0, w // 9 + 4 - (x >> w))


@lru_cache(maxsize=4096)
def _stirling(m: int, k: int) -> Fraction:
    """Coefficient of 1/x^(2k+m) in (-1)^(m+1) psi^(m); of 1/x^(2k-1) in log gamma for m = -1."""
    if m < 0:
        return bernoulli(2 * k) / (2 * k * (2 * k - 1))
    return bernoulli(2 * k) * Fraction(factorial(2 * k + m - 1), factorial(2 * k))


@lru_cache(maxsize=4096)
def _ratio(m: int, k: int) -> tuple[int, int]:
    """Ratio of the coefficients k + 1 and k: terms are updated, not rebuilt, so that no rounding error grows."""
    ratio = _stirling(m, k + 1) / _stirling(m, k)
    return ratio.numerator, ratio.denominator


def _series(m: int, x: int, w: int) -> int:
    """The asymptotic sum at x, stopped where the first omitted term is below one unit."""
    inverse = (1 << 2 * w) // x
    square = inverse * inverse >> w
    power = inverse if m < 0 else square
    for _ in range(max(m, 0)):
        power = power * inverse >> w
    c = _stirling(m, 1)
    term, total, k = c.numerator * power // c.denominator, 0, 1
    while term not in (0, -1):
        total += term
        if k > w:
            raise ArithmeticError("the Stirling series did not reach its precision")
        p, q = _ratio(m, k)
        term = (term * p // q) * square >> w
        k += 1
    return total


def polygamma(m: int, x: int, w: int) -> int:
    """psi^(m)(x), x > 0, 0 <= m <= 10: recurrence up, then the Stirling series."""
    one = 1 << w
    steps, shifted, y = _shift(x, w), 0, x
    unit = one << w * (m + 1)
    for _ in range(steps):  # sum of 1/y^(m+1), each quotient exact to one unit
        shifted += unit // y ** (m + 1)
        y += one
    inverse = (one << w) // y
    if m == 0:
        return log(y, w) - inverse // 2 - _series(0, y, w) - shifted
    power = one
    for _ in range(m):
        power = power * inverse >> w
    total = factorial(m - 1) * power + factorial(m) * (power * inverse >> w) // 2 + _series(m, y, w)
    total += factorial(m) * shifted
    return total if m % 2 else -total


def loggamma(x: int, w: int) -> int:
    """log gamma(x), x > 0."""
    extra = (x >> w).bit_length()  # the leading term multiplies a logarithm by x
    x, v = x << extra, w + extra
    one = 1 << v
    product, y, logs = one, x, 0
    for _ in range(_shift(x, v)):
        product = product * y >> v
        if product < one >> 16 or product > one << 16:
            logs += log(product, v)
            product = one
        y += one
    logs += log(product, v)
    value = ((y - one // 2) * log(y, v) >> v) - y + log(2 * pi(v), v) // 2 + _series(-1, y, v) - logs
    return value >> extra

"""Interval arithmetic in fixed point with strict ends and infinite ends. Standard library only.

An interval is a tuple (lo, hi, lo_strict, hi_strict); ends are integers in units of 2^-bits, or -INF and INF. It says
of a quantity v, for every point of a box at which all of the expression is defined: lo <= v, and lo < v if lo_strict;
likewise above. Rounding outward makes an end strict. Only finite values occur, so 0 times an infinite end is 0.

`Arithmetic(bits, germ=True)` computes limits instead: an interval encloses the limit points of v along a path. Its flags
say what is known near the limit: True, v > lo; False, v >= lo; None, nothing. So (0, 0, True, None) is "0 from above"
and (1, 1, False, False) the constant 1. There 0 times infinity, and infinity minus infinity, are `Undetermined`."""
from __future__ import annotations

from fractions import Fraction

from proofs_checks.harness.trees import Undefined

INF = float("inf")
NINF = -INF
Number = int | float
Flag = bool | None
Enclosure = tuple[Number, Number, Flag, Flag]


class Undetermined(ArithmeticError):
    """An indeterminate form, or an enclosure that this arithmetic cannot give."""


class Arithmetic:
    """Operations on intervals at `bits` fractional bits."""

    def __init__(self, bits: int, *, germ: bool = False) -> None:
        self.bits, self.germ, self.one = bits, germ, 1 << bits

    def rational(self, q: Fraction) -> Enclosure:
        """The tightest interval around a rational."""
        lo, rest = divmod(q.numerator << self.bits, q.denominator)
        return (lo, lo + 1, True, True) if rest else (lo, lo, False, False)

    def box(self, lo: Fraction | float, hi: Fraction | float, lo_strict: bool = False,
            hi_strict: bool = False) -> Enclosure:
        """The values of a variable between two ends, which may be -INF and INF."""
        if lo in (INF, NINF):
            low: tuple[Number, bool] = (NINF if lo < 0 else INF, True)
        else:
            e = self.rational(Fraction(lo))
            low = (e[0], e[2] or lo_strict)
        if hi in (INF, NINF):
            return low[0], (INF if hi > 0 else NINF), low[1], True
        e = self.rational(Fraction(hi))
        return low[0], e[1], low[1], e[3] or hi_strict

    def add(self, a: Enclosure, b: Enclosure) -> Enclosure:
        """a + b."""
        if a[0] is NINF or b[0] is NINF:
            lo: Number = NINF
            if self.germ and (a[0] is INF or b[0] is INF):
                raise Undetermined("infinity minus infinity")
        else:
            lo = INF if a[0] is INF or b[0] is INF else a[0] + b[0]
        if a[1] is INF or b[1] is INF:
            hi: Number = INF
            if self.germ and (a[1] is NINF or b[1] is NINF):
                raise Undetermined("infinity minus infinity")
        else:
            hi = NINF if a[1] is NINF or b[1] is NINF else a[1] + b[1]
        return lo, hi, both(a[2], b[2]), both(a[3], b[3])

    def neg(self, a: Enclosure) -> Enclosure:
        """-a."""
        return _minus(a[1]), _minus(a[0]), a[3], a[2]

    def sub(self, a: Enclosure, b: Enclosure) -> Enclosure:
        """a - b."""
        return self.add(a, self.neg(b))

    def mul(self, a: Enclosure, b: Enclosure) -> Enclosure:
        """a b: the hull of the four corners, strict where no corner that attains an end is itself attained."""
        lo: Number = INF
        hi: Number = NINF
        lo_flag: Flag = True
        hi_flag: Flag = True
        bits = self.bits
        for x, x_out in ((a[0], a[2]), (a[1], a[3])):
            for y, y_out in ((b[0], b[2]), (b[1], b[3])):
                exact = True
                if isinstance(x, float) or isinstance(y, float):
                    if x == 0 or y == 0:
                        if self.germ:
                            raise Undetermined("zero times infinity")
                        down: Number = 0
                        up: Number = 0
                    else:
                        down = up = INF if (x > 0) == (y > 0) else NINF
                else:
                    product = x * y
                    down = product >> bits
                    exact = down << bits == product
                    up = down if exact else down + 1
                out: Flag = True
                if exact:
                    if x_out is None or y_out is None:
                        out = None
                    else:
                        out = (x_out or y_out) and not (x == 0 and not x_out) and not (y == 0 and not y_out)
                if down < lo:
                    lo, lo_flag = down, out
                elif down == lo:
                    lo_flag = weaker(lo_flag, out)
                if up > hi:
                    hi, hi_flag = up, out
                elif up == hi:
                    hi_flag = weaker(hi_flag, out)
        if lo == 0 and ((positive(a) and positive(b)) or (negative(a) and negative(b))):
            lo_flag = True
        elif hi == 0 and ((positive(a) and negative(b)) or (negative(a) and positive(b))):
            hi_flag = True
        return lo, hi, lo_flag, hi_flag

    def reciprocal(self, a: Enclosure) -> Enclosure:
        """1 / a, for a of one sign."""
        if not positive(a):
            if not negative(a):
                raise Undefined("division by an interval that contains 0")
            return self.neg(self.reciprocal(self.neg(a)))
        lo, hi, lo_out, hi_out = a
        square = 1 << 2 * self.bits
        low: Number = 0
        high: Number = INF
        low_out: Flag = True
        high_out: Flag = True
        if isinstance(hi, int):
            low, rest = divmod(square, hi) if hi else (INF, 1)  # hi = 0: only the germ "0 from above"
            low_out = True if rest else hi_out
        if isinstance(lo, float):  # only the germ "to infinity"
            high, high_out = 0, None
        elif lo:
            high, rest = divmod(square, lo)
            high, high_out = high + bool(rest), True if rest else lo_out
        return low, high, low_out, high_out

    def integer_power(self, a: Enclosure, n: int) -> Enclosure:
        """a^n by parity; n = 0 gives 1 everywhere."""
        if n == 0:
            return self.one, self.one, False, False
        if n < 0:
            return self.reciprocal(self.integer_power(a, -n))
        if n % 2 == 0:
            a = self.absolute(a)
        elif a[1] <= 0 and a[0] < 0:
            return self.neg(self.integer_power(self.neg(a), n))
        elif a[0] < 0:
            low = self.integer_power((0, _minus(a[0]), False, a[2]), n)
            high = self.integer_power((0, a[1], False, a[3]), n)  # each half on its own: the odd power is monotone
            return _minus(low[1]), high[1], low[3], high[3]
        result = None
        while n:
            if n & 1:
                result = a if result is None else self.mul(result, a)
            n >>= 1
            if n:
                a = self.mul(a, a)
        assert result is not None
        return result

    def root_power(self, a: Enclosure, p: int, q: int) -> Enclosure:
        """a^(p/q), q >= 2, on a >= 0 (a > 0 if p < 0), monotone; the q-th root is exact where it is a dyadic."""
        lo, hi, lo_out, hi_out = a
        if lo < 0:
            raise Undefined("a root of an interval that contains negative numbers")
        if self.germ and not positive(a):
            raise Undetermined("a root of something that may tend to 0 from below")
        if p < 0:
            return self.reciprocal(self.root_power(a, -p, q))
        low = self._root(lo, q, False)
        high = self._root(hi, q, True)
        return self.integer_power((low[0], high[0], True if low[1] else lo_out, True if high[1] else hi_out), p)

    def _root(self, x: Number, q: int, up: bool) -> tuple[Number, bool]:
        if isinstance(x, float):
            return x, True
        n = x << self.bits * (q - 1)
        r = integer_root(n, q)
        return (r, False) if r ** q == n else (r + 1 if up else r, True)

    def absolute(self, a: Enclosure) -> Enclosure:
        """|a|."""
        if a[0] > 0 or positive(a) or (a[0] == 0 and not self.germ):
            return a
        if a[1] < 0 or negative(a) or (a[1] == 0 and not self.germ):
            return self.neg(a)
        other = _minus(a[0])
        if self.germ:
            return 0, max(other, a[1]), False, None
        if other == a[1]:
            return 0, other, False, a[2] and a[3]
        return (0, other, False, a[2]) if other > a[1] else (0, a[1], False, a[3])

    def extremum(self, items: list[Enclosure], largest: bool) -> Enclosure:
        """Maximum or minimum of several."""
        if not largest:
            return self.neg(self.extremum([self.neg(a) for a in items], True))
        lo = max(a[0] for a in items)
        hi = max(a[1] for a in items)
        lows = [a[2] for a in items if a[0] == lo]
        highs = [a[3] for a in items if a[1] == hi]
        return (lo, hi, True if True in lows else False if False in lows else None,
                None if None in highs else all(highs))


def both(a: Flag, b: Flag) -> Flag:
    """The flag of a sum's end."""
    return None if a is None or b is None else a or b


def weaker(a: Flag, b: Flag) -> Flag:
    """The flag of an end that either of two reaches."""
    return None if a is None or b is None else a and b


def positive(a: Enclosure) -> bool:
    """Whether a > 0 throughout."""
    return a[0] > 0 or (a[0] == 0 and a[2] is True)


def negative(a: Enclosure) -> bool:
    """Whether a < 0 throughout."""
    return a[1] < 0 or (a[1] == 0 and a[3] is True)


def _minus(x: Number) -> Number:
    if isinstance(x, float):
        return NINF if x is INF else INF
    return -x


def integer_root(n: int, q: int) -> int:
    """floor of the q-th root of n >= 0."""
    if n < 2:
        return n
    x = 1 << -(-n.bit_length() // q)
    while True:  # Newton from above
        y = ((q - 1) * x + n // x ** (q - 1)) // q
        if y >= x:
            return x
        x = y

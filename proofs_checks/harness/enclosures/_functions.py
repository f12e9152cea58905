"""Enclosures of functions of an interval: monotone ends, turning points, domains. Standard library only."""
from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from proofs_checks.harness.enclosures import _reals as reals
from proofs_checks.harness.enclosures._arithmetic import (
    INF,
    NINF,
    Arithmetic,
    Enclosure,
    Flag,
    Number,
    Undetermined,
    negative,
    positive,
)
from proofs_checks.harness.trees import Undefined

Limit = tuple[Number, Number]  # bounds of a limit, rounded down and up
_NONE: Limit = (0, 0)  # where infinite ends have been excluded
_EXACT = {("exp", 0): 1, ("log", 1): 0, ("sin", 0): 0, ("cos", 0): 1, ("atan", 0): 0, ("sinh", 0): 0, ("cosh", 0): 1,
          ("tanh", 0): 0, ("erf", 0): 0, ("loggamma", 1): 0, ("loggamma", 2): 0, ("asin", 0): 0}


@lru_cache(maxsize=20000)
def _point(name: str, order: int, x: int, bits: int) -> tuple[int, int]:
    """Bounds of a function at x / 2^bits, in units of 2^-bits."""
    if not x & ((1 << bits) - 1) and (name, x >> bits) in _EXACT:
        value = _EXACT[name, x >> bits] << bits
        return value, value
    w = bits + reals.GUARD
    X, k = x << reals.GUARD, 0
    if name == "exp":
        y, k = reals.exp(X, w)
    elif name in ("sin", "cos"):
        y = reals.sin_cos(X, w)[name == "cos"]
    elif name == "erf":
        y = reals.erf(X, w) if X >= 0 else -reals.erf(-X, w)
    elif name == "polygamma":
        y = reals.polygamma(order, X, w)
    else:
        y = getattr(reals, name)(X, w)
    lo, hi = y - reals.ERROR, y + reals.ERROR
    if k >= 0:
        return (lo << k) >> reals.GUARD, -((-hi << k) >> reals.GUARD)
    return lo >> (reals.GUARD - k), -(-hi >> (reals.GUARD - k))


class Functions(Arithmetic):
    """`Arithmetic` with elementary and special functions."""

    def _ends(self, a: Enclosure, f: Callable[[int], tuple[int, int]], at_minus: Limit, at_plus: Limit) -> Enclosure:
        """A strictly increasing function from its bounds at points and at both infinities."""
        def end(x: Number, flag: Flag, upper: bool) -> tuple[Number, Flag]:
            if isinstance(x, float):
                bounds = at_plus if x > 0 else at_minus
                return bounds[upper], True if (x > 0) == upper else None
            lo, hi = f(x)
            return (hi if upper else lo), True if lo != hi else flag
        lo, hi = end(a[0], a[2], False), end(a[1], a[3], True)
        return lo[0], hi[0], lo[1], hi[1]

    def exp(self, a: Enclosure) -> Enclosure:
        """Exponential; beyond 2^20 an upper end counts as infinite, below -2^20 a lower end as 0."""
        limit = 1 << self.bits + 20
        if a[1] is NINF:  # a germ: 0 from above
            return 0, 0, True, None
        if a[0] is INF:
            return INF, INF, True, True
        if a[0] > limit:
            raise Undetermined("exponential of a number beyond 2^20")

        def end(x: Number, flag: Flag, upper: bool) -> tuple[Number, Flag]:
            if x > limit:
                return INF, True
            if x < -limit:
                return (1 if upper else 0), True
            lo, hi = _point("exp", 0, int(x), self.bits)
            return (hi if upper else max(lo, 0)), True if lo != hi else flag
        low, high = end(a[0], a[2], False), end(a[1], a[3], True)
        return low[0], high[0], low[1], high[1]

    def log(self, a: Enclosure) -> Enclosure:
        """Natural logarithm of a > 0."""
        if not positive(a):
            raise Undefined("logarithm of an interval that contains 0 or a negative number")

        def f(x: int) -> tuple[int, int]:
            return _point("log", 0, x, self.bits)
        if a[1] == 0:
            return NINF, NINF, True, True
        e = self._ends((a[0] or self.one, a[1], a[2], a[3]), f, (NINF, NINF), (INF, INF))
        return e if a[0] else (NINF, e[1], True, e[3])

    def entropy(self, a: Enclosure) -> Enclosure:
        """u log u on u > 0: convex, least at 1/e with the value -1/e = -0.36787944117144232..., 0 at the ends 0 and 1."""
        if not positive(a):
            raise Undefined("logarithm of an interval that contains 0 or a negative number")

        def end(x: Number) -> tuple[Number, Number]:
            if isinstance(x, float):
                return INF, INF
            if x == 0:
                return 0, 0
            e = self.mul((x, x, False, False), self.log((x, x, False, False)))
            return e[0], e[1]
        left, right = end(a[0]), end(a[1])
        if a[1] == 0:  # a germ: 0 from below
            return 0, 0, None, True
        hi = max(left[1], right[1])
        flags = [flag for e, flag in ((left, a[2]), (right, a[3])) if e[1] == hi]
        strict = None if None in flags else all(flags)
        if a[1] * 100 <= 36 * self.one:
            return right[0], hi, a[3], strict
        if a[0] * 100 >= 37 * self.one:
            return left[0], hi, a[2], strict
        return -(self.one * 36787944117144233 // 10**17) - 1, hi, True, strict

    def atan(self, a: Enclosure) -> Enclosure:
        """Arc tangent."""
        half = reals.pi(self.bits + 64) >> 65
        return self._ends(a, lambda x: _point("atan", 0, x, self.bits), (-half - 1, -half), (half, half + 1))

    def asin(self, a: Enclosure) -> Enclosure:
        """Arc sine = atan(x / sqrt(1 - x^2)), a within [-1, 1]."""
        if a[0] < -self.one or a[1] > self.one:
            raise Undefined("arc sine of an interval beyond [-1, 1]")
        if self.germ and not (negative(self.sub(a, (self.one, self.one, False, False)))
                              and positive(self.add(a, (self.one, self.one, False, False)))):
            raise Undetermined("arc sine of something that may tend to +-1 from outside")

        def f(x: int) -> tuple[int, int]:
            if x == 0:
                return 0, 0
            if abs(x) == self.one:
                half = reals.pi(self.bits + 64) >> 65
                return (half, half + 1) if x > 0 else (-half - 1, -half)
            e: Enclosure = (x, x, False, False)
            y = self.sub((self.one, self.one, False, False), self.mul(e, e))
            e = self.atan(self.mul(e, self.reciprocal(self.root_power((max(y[0], 0), y[1], True, False), 1, 2))))
            return int(e[0]), int(e[1])
        return self._ends(a, f, _NONE, _NONE)

    def acos(self, a: Enclosure) -> Enclosure:
        """Arc cosine = pi/2 - arc sine; exactly 0 at 1."""
        half = reals.pi(self.bits + 64) >> 65
        e = self.sub((half, half + 1, True, True), self.asin(a))
        return (max(e[0], 0), e[1], a[3] if e[0] <= 0 else e[2], e[3])

    def _waves(self, a: Enclosure, quarter: int) -> bool:
        """Whether a may contain a point (quarter + 4 k) pi / 2."""
        pi = reals.pi(self.bits + 64) >> 64
        width, slack = 2 * pi, abs(a[0]) // self.one + abs(a[1]) // self.one + 8
        shift = quarter * pi // 2
        return (int(a[1]) - shift + slack) // width > (int(a[0]) - shift - slack - 1) // width

    def cos(self, a: Enclosure) -> Enclosure:
        """Cosine: values at the ends, and +-1 where a turning point may lie inside."""
        return self._circular(a, "cos", 0, 2)

    def sin(self, a: Enclosure) -> Enclosure:
        """Sine."""
        return self._circular(a, "sin", 1, 3)

    def _circular(self, a: Enclosure, name: str, top: int, bottom: int) -> Enclosure:
        one = self.one
        flag: Flag = None if self.germ else False
        if isinstance(a[0], float) or isinstance(a[1], float) or max(abs(a[0]), abs(a[1])) >> self.bits >= 1 << 19:
            return -one, one, flag, flag
        left, right = (_point(name, 0, int(x), self.bits) for x in (a[0], a[1]))
        if a[0] == a[1] and left[0] == left[1]:
            return left[0], left[1], flag, flag
        hi = one if self._waves(a, top) else min(max(left[1], right[1]), one)
        lo = -one if self._waves(a, bottom) else max(min(left[0], right[0]), -one)
        return lo, hi, flag, flag

    def tan(self, a: Enclosure) -> Enclosure:
        """Tangent between two poles."""
        if isinstance(a[0], float) or isinstance(a[1], float) or max(abs(a[0]), abs(a[1])) >> self.bits >= 1 << 19 \
                or self._waves(a, 1) or self._waves(a, 3):
            raise Undefined("tangent of an interval that may contain a pole")

        def f(x: int) -> tuple[int, int]:
            e: Enclosure = (x, x, False, False)
            e = self.mul(self.sin(e), self.reciprocal(self.cos(e)))
            return int(e[0]), int(e[1])
        return self._ends(a, f, _NONE, _NONE)

    def sinh(self, a: Enclosure) -> Enclosure:
        """Hyperbolic sine, exact at 0."""
        return self._hyperbolic(a, -1, (NINF, NINF))

    def cosh(self, a: Enclosure) -> Enclosure:
        """Hyperbolic cosine, exact at 0."""
        return self._hyperbolic(self.absolute(a), 1, (INF, INF))

    def _hyperbolic(self, a: Enclosure, sign: int, at_minus: Limit) -> Enclosure:
        def f(x: int) -> tuple[int, int]:
            if x == 0:
                value = self.one if sign > 0 else 0
                return value, value
            e, m = self.exp((x, x, False, False)), self.exp((-x, -x, False, False))
            total = self.add(e, m if sign > 0 else self.neg(m))
            return int(total[0]) >> 1, -(-int(total[1]) >> 1)
        return self._ends(a, f, at_minus, (INF, INF))

    def tanh(self, a: Enclosure) -> Enclosure:
        """Hyperbolic tangent = 1 - 2 / (exp(2x) + 1), strictly inside (-1, 1), exact at 0."""
        one: Enclosure = (self.one, self.one, False, False)

        def f(x: int) -> tuple[int, int]:
            if x == 0:
                return 0, 0
            if x < 0:
                lo, hi = f(-x)
                return -hi, -lo
            if x >> self.bits > 1 << 18:
                return self.one - 1, self.one
            e = self.reciprocal(self.add(self.exp((2 * x, 2 * x, False, False)), one))
            e = self.sub(one, self.add(e, e))
            return int(e[0]), int(e[1])
        return self._ends(a, f, (-self.one, -self.one), (self.one, self.one))

    def erf(self, a: Enclosure) -> Enclosure:
        """Error function; beyond 12 only 1 - exp(-x^2) < erf(x) < 1 is used."""
        def f(x: int) -> tuple[int, int]:
            if x < 0:
                lo, hi = f(-x)
                return -hi, -lo
            if x >> self.bits < 12:
                return _point("erf", 0, x, self.bits)
            tail = self.exp(self.neg(self.mul((x, x, False, False), (x, x, False, False))))
            return self.one - int(tail[1]), self.one
        return self._ends(a, f, (-self.one, -self.one), (self.one, self.one))

    def polygamma(self, order: int, a: Enclosure) -> Enclosure:
        """psi^(order) on a > 0, monotone: increasing for even orders, decreasing for odd ones."""
        if not positive(a):
            raise Undefined("polygamma is enclosed on x > 0 only")
        if not 0 <= order <= 10:
            raise Undetermined(f"polygamma of order {order}")
        if order % 2:
            return self.neg(self._rising(order, a, True))
        return self._rising(order, a, False)

    def _rising(self, order: int, a: Enclosure, flip: bool) -> Enclosure:
        def f(x: int) -> tuple[int, int]:
            lo, hi = _point("polygamma", order, x, self.bits)
            return (-hi, -lo) if flip else (lo, hi)
        at_plus: Limit = (INF, INF) if order == 0 else (0, 0)
        if a[1] == 0:
            return NINF, NINF, True, True
        e = self._ends((a[0] or self.one, a[1], a[2], a[3]), f, (NINF, NINF), at_plus)
        return e if a[0] else (NINF, e[1], True, e[3])

    def loggamma(self, a: Enclosure) -> Enclosure:
        """log gamma on a > 0: convex, least at 1.46163... with the value -0.12148629..."""
        return self._convex(a, "loggamma", -0.121486291)

    def _convex(self, a: Enclosure, name: str, least: float) -> Enclosure:
        if not positive(a) or a[1] == 0:
            raise Undefined(f"{name} is enclosed on x > 0 only")
        left = (INF, INF) if a[0] == 0 or a[0] is INF else _point(name, 0, int(a[0]), self.bits)
        right = (INF, INF) if a[1] is INF else _point(name, 0, int(a[1]), self.bits)
        hi = max(left[1], right[1])
        flags = [True if isinstance(p[1], float) else s for p, s in ((left, a[2]), (right, a[3])) if p[1] == hi]
        hi_strict = None if None in flags else all(flags)
        if a[1] <= 146 * self.one // 100:
            return right[0], hi, a[3], hi_strict
        if a[0] * 100 >= 147 * self.one:
            return left[0], hi, a[2], hi_strict
        return int(least * 2**40) * self.one >> 40, hi, True, hi_strict

    def gamma(self, a: Enclosure) -> Enclosure:
        """gamma = exp(log gamma) on a > 0."""
        return self.exp(self.loggamma(a))

    def sign(self, a: Enclosure) -> Enclosure:
        """Sign, where it is one number."""
        if positive(a):
            return self.one, self.one, False, False
        if negative(a):
            return -self.one, -self.one, False, False
        if a[0] == a[1] == 0 and not self.germ:
            return 0, 0, False, False
        return -self.one, self.one, False, False

    def asinh(self, a: Enclosure) -> Enclosure:
        """Inverse hyperbolic sine = log(x + sqrt(x^2 + 1)), by its odd symmetry."""
        one: Enclosure = (self.one, self.one, False, False)

        def f(x: int) -> tuple[int, int]:
            if x < 0:
                lo, hi = f(-x)
                return -hi, -lo
            e: Enclosure = (x, x, False, False)
            e = self.log(self.add(e, self.root_power(self.add(self.mul(e, e), one), 1, 2)))
            return max(int(e[0]), 0), (0 if x == 0 else int(e[1]))
        return self._ends(a, f, (NINF, NINF), (INF, INF))

    def acosh(self, a: Enclosure) -> Enclosure:
        """Inverse hyperbolic cosine = log(x + sqrt(x^2 - 1)), a >= 1."""
        one: Enclosure = (self.one, self.one, False, False)
        if a[0] < self.one or (self.germ and not positive(self.sub(a, one))):
            raise Undefined("acosh of an interval that goes below 1")
        square = self.sub(self.mul(a, a), one)
        square = (max(square[0], 0), *square[1:])
        return self.log(self.add(a, self.root_power(square, 1, 2)))

    def atanh(self, a: Enclosure) -> Enclosure:
        """Inverse hyperbolic tangent = log((1 + x)/(1 - x)) / 2, a within (-1, 1)."""
        one: Enclosure = (self.one, self.one, False, False)
        half = self.reciprocal(self.add(one, one))
        ratio = self.sub(self.mul(self.add(one, one), self.reciprocal(self.sub(one, a))), one)
        if not positive(self.add(one, a)):
            raise Undefined("atanh of an interval beyond (-1, 1)")
        if ratio[0] <= 0:  # 1 + a > 0, shown above
            ratio = (0, ratio[1], True, ratio[3])
        return self.mul(half, self.log(ratio))

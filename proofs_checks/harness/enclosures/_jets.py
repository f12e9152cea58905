"""Taylor coefficients of a compiled tree in one variable, exactly or enclosed. Standard library only.

`coefficients(program, start, order, ring)` propagates c_0, ..., c_order of f(a + h) through the operations by the usual
recurrences (Moore). Over `Exact` the coefficients are Fractions, at points where every function has a rational value
(`harness.trees.evaluate`); over `Enclosed` they are intervals, which over a whole box [lo, hi] contain f^(k)(x)/k! for
each x in it: the remainder of Taylor's theorem in Lagrange's form."""
from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial
from typing import Any

from proofs_checks.harness import trees
from proofs_checks.harness.enclosures._arithmetic import Undetermined, negative, positive
from proofs_checks.harness.enclosures._functions import Functions
from proofs_checks.harness.enclosures._program import Program, root

Jet = list[Any]


class Exact:
    """Fractions."""

    def number(self, q: Fraction) -> Fraction:
        """A constant."""
        return q

    def constant(self, name: str) -> Fraction:
        """pi or E: not rational."""
        raise trees.Inexact(f"{name} is irrational")

    def add(self, a: Fraction, b: Fraction) -> Fraction:
        """a + b."""
        return a + b

    def mul(self, a: Fraction, b: Fraction) -> Fraction:
        """a b."""
        return a * b

    def reciprocal(self, a: Fraction) -> Fraction:
        """1 / a."""
        if a == 0:
            raise trees.Undefined("division by zero")
        return 1 / a

    def power(self, a: Fraction, q: Fraction) -> Fraction:
        """a^q."""
        return trees.evaluate(["pow", str(a), str(q)], {})

    def function(self, name: str, a: Fraction, order: int = 0) -> Fraction:
        """A function whose value is rational by rule."""
        return trees.evaluate(["polygamma", str(order), str(a)] if name == "polygamma" else [name, str(a)], {})

    def sign(self, a: Fraction) -> int:
        """Sign, nonzero."""
        if a == 0:
            raise Undetermined("a kink at the point")
        return 1 if a > 0 else -1


class Enclosed:
    """Intervals."""

    def __init__(self, field: Functions) -> None:
        self.field = field
        self.add, self.mul, self.reciprocal, self.number = field.add, field.mul, field.reciprocal, field.rational

    def constant(self, name: str) -> Any:
        """pi or E."""
        return Program([name], ()).value((), self.field)

    def power(self, a: Any, q: Fraction) -> Any:
        """a^q."""
        return self.field.integer_power(a, int(q)) if q.denominator == 1 else root(self.field, a, q)

    def function(self, name: str, a: Any, order: int = 0) -> Any:
        """An enclosed function."""
        return self.field.polygamma(order, a) if name == "polygamma" else getattr(self.field, name)(a)

    def sign(self, a: Any) -> int:
        """Sign, where it is one nonzero number."""
        if not positive(a) and not negative(a):
            raise Undetermined("a kink in the box")
        return 1 if positive(a) else -1


class Series:
    """Truncated power series over a ring."""

    def __init__(self, ring: Any, order: int) -> None:
        self.ring, self.order = ring, order
        self.zero = ring.number(Fraction(0))

    def _sum(self, items: Sequence[Any]) -> Any:
        if not items:
            return self.zero
        total = items[0]
        for item in items[1:]:
            total = self.ring.add(total, item)
        return total

    def scale(self, q: Fraction, u: Jet) -> Jet:
        """q u."""
        c = self.ring.number(q)
        return [self.ring.mul(c, x) for x in u]

    def add(self, u: Jet, v: Jet) -> Jet:
        """u + v."""
        return [self.ring.add(a, b) for a, b in zip(u, v, strict=True)]

    def constant(self, c: Any) -> Jet:
        """A constant series."""
        return [c] + [self.zero] * self.order

    def mul(self, u: Jet, v: Jet) -> Jet:
        """u v."""
        m, zero = self.ring.mul, self.zero
        a = [None if x == zero else x for x in u]  # constants and variables are mostly zeros
        b = [None if x == zero else x for x in v]
        return [self._sum([m(a[j], b[n - j]) for j in range(n + 1) if a[j] is not None and b[n - j] is not None])
                for n in range(self.order + 1)]

    def natural_power(self, u: Jet, n: int) -> Jet:
        """u^n, n >= 1."""
        out: Jet | None = None
        square, m = u, n
        while m:
            if m & 1:
                out = list(square) if out is None else self.mul(out, square)
            m >>= 1
            if m:
                square = self.mul(square, square)
        assert out is not None
        out[0:1] = [self.ring.power(u[0], Fraction(n))]
        return out

    def power(self, u: Jet, r: Fraction) -> Jet:
        """u^r from u u^r' = r u' u^r; u_0 must not be 0."""
        ring = self.ring
        inverse, w = ring.reciprocal(u[0]), [ring.power(u[0], r)]
        for n in range(1, self.order + 1):
            total = self._sum([ring.mul(ring.number(r * j - (n - j)), ring.mul(u[j], w[n - j])) for j in range(1, n + 1)])
            w.append(ring.mul(ring.number(Fraction(1, n)), ring.mul(total, inverse)))
        return w

    def integrate(self, slope: Jet, start: Any) -> Jet:
        """The series with this derivative (of which the last coefficient is not used)."""
        return [start] + [self.ring.mul(self.ring.number(Fraction(1, n)), slope[n - 1]) for n in range(1, self.order + 1)]

    def slope(self, u: Jet) -> Jet:
        """u', one order shorter, filled up with 0."""
        return [self.ring.mul(self.ring.number(Fraction(n)), u[n]) for n in range(1, self.order + 1)] + [self.zero]

    def exp(self, u: Jet) -> Jet:
        """exp u."""
        w = [self.ring.function("exp", u[0])]
        for n in range(1, self.order + 1):
            w.append(self._weighted(n, u, w))
        return w

    def _weighted(self, n: int, u: Jet, w: Jet) -> Any:
        """1/n sum j u_j w_(n-j): coefficient n of the integral of u' w."""
        m, number = self.ring.mul, self.ring.number
        return self._sum([m(number(Fraction(j, n)), m(u[j], w[n - j])) for j in range(1, n + 1) if u[j] != self.zero])

    def log(self, u: Jet) -> Jet:
        """log u."""
        return self.integrate(self.mul(self.slope(u), self.power(u, Fraction(-1))), self.ring.function("log", u[0]))

    def pair(self, u: Jet, odd: str, even: str, sign: int) -> tuple[Jet, Jet]:
        """(sin, cos) of u for sign -1, (sinh, cosh) for sign +1."""
        s, c = [self.ring.function(odd, u[0])], [self.ring.function(even, u[0])]
        for n in range(1, self.order + 1):
            step = self._weighted(n, u, c), self._weighted(n, u, s)
            s.append(step[0])
            c.append(self.ring.mul(self.ring.number(Fraction(sign)), step[1]))
        return s, c

    def tangent(self, u: Jet, name: str, sign: int) -> Jet:
        """w' = (1 + sign w^2) u': tan (+1), tanh (-1)."""
        one, w = self.ring.number(Fraction(1)), [self.ring.function(name, u[0])]
        for n in range(1, self.order + 1):
            square = [self._sum([self.ring.mul(w[j], w[i - j]) for j in range(i + 1)]) for i in range(n)]
            factor = [self.ring.mul(self.ring.number(Fraction(sign)), x) for x in square]
            factor[0] = self.ring.add(one, factor[0])
            w.append(self._weighted(n, u, factor))
        return w

    def by_slope(self, name: str, u: Jet) -> Jet:
        """Functions whose derivative is a power of a quadratic, and erf."""
        one, square = self.constant(self.ring.number(Fraction(1))), self.natural_power(list(u), 2)
        minus = self.scale(Fraction(-1), square)
        table: dict[str, tuple[Jet, Jet, Fraction]] = {
            "atan": (square, one, Fraction(-1)), "asin": (one, minus, Fraction(-1, 2)), "acos": (one, minus, Fraction(-1, 2)),
                 "asinh": (square, one, Fraction(-1, 2)), "acosh": (square, self.scale(Fraction(-1), one), Fraction(-1, 2)),
                 "atanh": (one, minus, Fraction(-1))}
        if name == "erf":
            factor = self.exp(minus)
            scale = self.ring.mul(self.ring.number(Fraction(2)), self.ring.power(self.ring.constant("pi"), Fraction(-1, 2)))
            factor = [self.ring.mul(scale, x) for x in factor]
        else:
            a, b, exponent = table[name]
            factor = self.power(self.add(a, b), exponent)
            if name == "acos":
                factor = self.scale(Fraction(-1), factor)
        return self.integrate(self.mul(self.slope(u), factor), self.ring.function(name, u[0]))

    def compose(self, outer: Sequence[Any], u: Jet) -> Jet:
        """sum outer_n (u - u_0)^n."""
        shifted = [self.zero, *u[1:]]
        w = self.constant(outer[-1])
        for c in reversed(outer[:-1]):
            w = self.add(self.mul(w, shifted), self.constant(c))
        return w

    def polygamma(self, order: int, u: Jet) -> Jet:
        """psi^(order)(u); order -1 is log gamma."""
        outer = []
        for n in range(self.order + 1):
            value = self.ring.function("loggamma", u[0]) if order + n < 0 else \
                self.ring.function("polygamma", u[0], order + n)
            outer.append(self.ring.mul(self.ring.number(Fraction(1, factorial(n))), value))
        return self.compose(outer, u)


def coefficients(program: Program, start: Any, order: int, ring: Any) -> Jet:
    """Taylor coefficients at `start`, a value of the ring (a point, or a box for remainders)."""
    s = Series(ring, order)
    values: list[Jet] = []
    for op, data, args in program.steps:
        if op == "var":
            values.append([start, ring.number(Fraction(1)), *[s.zero] * (order - 1)][:order + 1])
        elif op == "number":
            values.append(s.constant(ring.number(data)))
        elif op in ("pi", "E"):
            values.append(s.constant(ring.constant(op)))
        else:
            values.append(_step(s, op, data, [values[i] for i in args]))
    return values[program.root]


def _step(s: Series, op: str, data: Any, a: list[Jet]) -> Jet:
    if op in ("add", "mul"):
        out = a[0]
        for item in a[1:]:
            out = s.add(out, item) if op == "add" else s.mul(out, item)
        return out
    if op in ("power", "root"):
        if op == "root" or data < 0:
            return s.power(a[0], Fraction(data))
        return s.natural_power(list(a[0]), data) if data else s.constant(s.ring.number(Fraction(1)))
    if op in ("min", "max"):
        best = a[0]
        for item in a[1:]:
            gap = s.ring.sign(s.ring.add(item[0], s.ring.mul(s.ring.number(Fraction(-1)), best[0])))
            best = item if (gap > 0) == (op == "max") else best
        return best
    u = a[0]
    if op == "abs":
        return s.scale(Fraction(s.ring.sign(u[0])), u)
    if op == "sign":
        return s.constant(s.ring.number(Fraction(s.ring.sign(u[0]))))
    if op in ("exp", "log"):
        return s.exp(u) if op == "exp" else s.log(u)
    if op == "entropy":
        return s.mul(u, s.log(u))
    if op in ("sin", "cos"):
        return s.pair(u, "sin", "cos", -1)[op == "cos"]
    if op in ("sinh", "cosh"):
        return s.pair(u, "sinh", "cosh", 1)[op == "cosh"]
    if op in ("tan", "tanh"):
        return s.tangent(u, op, 1 if op == "tan" else -1)
    if op in ("polygamma", "loggamma"):
        return s.polygamma(data if op == "polygamma" else -1, u)
    if op == "gamma":
        return s.exp(s.polygamma(-1, u))
    return s.by_slope(op, u)

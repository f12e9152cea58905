"""A sound interval layer over python-flint: values and gradients of compiled trees on balls.

Arb is exact about points and careless about wide balls: `arb(0, 1)**2` and `digamma` of a wide ball are nan, x*x forgets
that both factors are the same, exp of a wide ball has a negative lower end. So: monotone functions are evaluated at
both ends, powers by parity, sine and cosine of wide balls by their range. A nan compares false with everything, hence
"not proved"."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import acb, arb, fmpq

from proofs_checks.harness.enclosures import Program

__all__ = ["Balls", "ball", "rational"]

NAN = arb("nan")
_WIDE = arb(1) / 64


def rational(q: Fraction) -> arb:
    """The ball of a rational."""
    return arb(fmpq(q.numerator, q.denominator))


def ball(lo: Fraction, hi: Fraction) -> arb:
    """A ball that contains [lo, hi]."""
    return rational(lo) if lo == hi else rational(lo).union(rational(hi))


def _ends(f: Callable[[arb], arb]) -> Callable[[arb], arb]:
    """A monotone function of a ball from its two ends."""
    def apply(x: arb) -> arb:
        if x.is_exact():
            return f(x)
        return f(x.lower()).union(f(x.upper()))
    return apply


def _psi(order: int) -> Callable[[arb], arb]:
    def f(x: arb) -> arb:
        if not x > 0:
            return NAN
        return x.digamma() if order == 0 else acb(x).polygamma(order).real
    return _ends(f)


def _power(x: arb, n: int) -> arb:
    if n < 0:
        return 1 / _power(x, -n)
    if x.is_exact() or x > 0 or x < 0:
        if x.is_exact():
            return x ** n
        return (x.lower() ** n).union(x.upper() ** n)
    if n % 2:
        return (x.lower() ** n).union(x.upper() ** n)
    return arb(0).union(x.abs_upper() ** n)


def _root(x: arb, q: Fraction) -> arb:
    p, n = q.numerator, q.denominator

    def f(t: arb) -> arb:
        if t < 0:
            return NAN
        t = t.nonnegative_part() if hasattr(t, "nonnegative_part") else t
        return t.root(n) ** p if p > 0 else 1 / t.root(n) ** -p
    return _ends(f)(x)


def _wave(f: Callable[[arb], arb]) -> Callable[[arb], arb]:
    def apply(x: arb) -> arb:
        if x.rad() > 2:
            return arb(0, 1)
        return f(x)
    return apply


def _abs(x: arb) -> arb:
    if x >= 0:
        return x
    if x <= 0:
        return -x
    return arb(0).union(x.abs_upper())


def _cosh(x: arb) -> arb:
    return _ends(lambda t: t.cosh())(_abs(x))


def _loggamma(x: arb) -> arb:
    if not x > 0:
        return NAN
    if x.is_exact():
        return x.lgamma()
    ends = x.lower().lgamma().union(x.upper().lgamma())
    return ends.union(arb("-0.12148629054")) if x.overlaps(arb(1.4616, 0.001)) else ends


def _entropy(x: arb) -> arb:
    """u log u: convex, least at 1/e."""
    if not x > 0:
        return NAN
    if x.is_exact():
        return x * x.log()
    lo, hi = x.lower(), x.upper()
    ends = (lo * lo.log()).union(hi * hi.log())
    return ends.union(arb("-0.36787944117144234")) if x.overlaps(arb(0.368, 0.001)) else ends


def _sign(x: arb) -> arb:
    return arb(1) if x > 0 else arb(-1) if x < 0 else arb(0, 1)


UNARY: dict[str, Callable[[arb], arb]] = {
    "exp": _ends(arb.exp), "log": _ends(arb.log), "sin": _wave(arb.sin), "cos": _wave(arb.cos), "tan": arb.tan,
    "asin": _ends(arb.asin), "acos": _ends(arb.acos), "atan": _ends(arb.atan), "sinh": _ends(arb.sinh), "cosh": _cosh,
    "tanh": _ends(arb.tanh), "asinh": _ends(arb.asinh), "acosh": _ends(arb.acosh), "atanh": _ends(arb.atanh),
    "erf": _ends(arb.erf), "abs": _abs, "sign": _sign, "loggamma": _loggamma,
    "entropy": _entropy, "gamma": lambda x: _ends(arb.exp)(_loggamma(x)),
}

SLOPES: dict[str, Callable[[arb, arb], arb]] = {
    "exp": lambda x, y: y, "log": lambda x, y: 1 / x, "sin": lambda x, y: UNARY["cos"](x),
    "cos": lambda x, y: -UNARY["sin"](x), "tan": lambda x, y: 1 + _power(y, 2),
    "asin": lambda x, y: _root(1 - _power(x, 2), Fraction(-1, 2)),
    "acos": lambda x, y: -_root(1 - _power(x, 2), Fraction(-1, 2)),
    "atan": lambda x, y: 1 / (1 + _power(x, 2)), "sinh": lambda x, y: _cosh(x), "cosh": lambda x, y: UNARY["sinh"](x),
    "tanh": lambda x, y: 1 - _power(y, 2), "asinh": lambda x, y: _root(_power(x, 2) + 1, Fraction(-1, 2)),
    "acosh": lambda x, y: _root(_power(x, 2) - 1, Fraction(-1, 2)), "atanh": lambda x, y: 1 / (1 - _power(x, 2)),
    "erf": lambda x, y: 2 / arb.pi().sqrt() * UNARY["exp"](-_power(x, 2)), "abs": lambda x, y: _sign(x),
    "sign": lambda x, y: NAN if _sign(x).rad() > 0 else arb(0), "loggamma": lambda x, y: _psi(0)(x),
    "gamma": lambda x, y: y * _psi(0)(x), "entropy": lambda x, y: UNARY["log"](x) + 1,
}


class Balls:
    """A compiled tree over balls; python-flint's context sets the precision."""

    def __init__(self, program: Program) -> None:
        self.steps, self.root, self.size = program.steps, program.root, len(program.variables)
        self._constants = {k: self._constant(op, data) for k, (op, data, args) in enumerate(self.steps)
                           if op in ("number", "pi", "E")}

    @staticmethod
    def _constant(op: str, data: Any) -> arb:
        return rational(data) if op == "number" else arb.pi() if op == "pi" else arb.const_e()

    def run(self, box: Sequence[arb]) -> list[arb]:
        """The value of every operation."""
        values: list[arb] = []
        constants = self._constants
        for k, (op, data, args) in enumerate(self.steps):
            if op == "var":
                v = box[data]
            elif not args:
                v = constants[k]
            elif op == "add":
                v = values[args[0]]
                for i in args[1:]:
                    v = v + values[i]
            elif op == "mul":
                v = values[args[0]]
                for i in args[1:]:
                    v = v * values[i]
            elif op == "power":
                v = _power(values[args[0]], data)
            elif op == "root":
                v = _root(values[args[0]], data)
            elif op in ("min", "max"):
                v = values[args[0]]
                for i in args[1:]:
                    v = v.max(values[i]) if op == "max" else v.min(values[i])
            elif op == "polygamma":
                v = _psi(data)(values[args[0]])
            else:
                v = UNARY[op](values[args[0]])
            values.append(v)
        return values

    def value(self, box: Sequence[arb]) -> arb:
        """The value of the tree."""
        return self.run(box)[self.root]

    def gradient(self, values: Sequence[arb]) -> list[arb]:
        """Partial derivatives, from the values of `run`, accumulated in reverse."""
        slopes: list[arb | None] = [None] * len(self.steps)
        slopes[self.root] = arb(1)
        result = [arb(0)] * self.size
        for k in range(self.root, -1, -1):
            slope = slopes[k]
            if slope is None:
                continue
            op, data, args = self.steps[k]
            if op == "var":
                result[data] = slope
                continue
            for i, partial in zip(args, self._partials(op, data, args, values, k), strict=True):
                term = slope * partial
                old = slopes[i]
                slopes[i] = term if old is None else old + term
        return result

    @staticmethod
    def _partials(op: str, data: Any, args: tuple[int, ...], values: Sequence[arb], k: int) -> Sequence[Any]:
        if not args:
            return ()
        if op == "add":
            return (1,) * len(args)
        a = [values[i] for i in args]
        if op == "mul":
            out = []
            for i in range(len(a)):
                product = arb(1)
                for j, item in enumerate(a):
                    if i != j:
                        product = product * item
                out.append(product)
            return out
        if op == "power":
            return (data * _power(a[0], data - 1) if data else arb(0),)
        if op == "root":
            return (rational(data) * _root(a[0], data - 1),)
        if op in ("min", "max"):
            best = values[k]
            return [arb(0) if (item < best if op == "max" else item > best) else arb(0).union(arb(1)) for item in a]
        if op == "polygamma":
            return (_psi(data + 1)(a[0]),)
        return (SLOPES[op](a[0], values[k]),)

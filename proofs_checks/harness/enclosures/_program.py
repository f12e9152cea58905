"""Trees compiled to a list of operations; values and gradients over boxes. Standard library only.

Equal subtrees become one operation, so that x^2 is a square and not a product of two unrelated factors. Gradients
are accumulated in reverse; at a kink of abs, min and max they enclose every generalised gradient (Clarke), for which
the mean value theorem of Lebourg holds, so that mean value forms and tests of monotonicity stay valid there."""
from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from proofs_checks.harness.enclosures import _reals as reals
from proofs_checks.harness.enclosures._arithmetic import INF, NINF, Enclosure, Undetermined, negative, positive
from proofs_checks.harness.enclosures._functions import Functions
from proofs_checks.harness.trees import Tree, Undefined, number

UNARY = frozenset(("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
                   "atanh", "erf", "abs", "sign", "gamma", "loggamma"))
ZERO: Enclosure = (0, 0, False, False)
_NEW: Any = object()


class Program:
    """A tree as operations; `variables` fixes the order of a box's sides."""

    def __init__(self, tree: Tree, variables: Sequence[str]) -> None:
        self.variables = tuple(variables)
        self.steps: list[tuple[str, Any, tuple[int, ...]]] = []
        self._known: dict[Any, int] = {}
        self.root = self._compile(tree)
        self._constants: dict[int, dict[int, Enclosure]] = {}

    def _emit(self, op: str, data: Any, args: tuple[int, ...] = ()) -> int:
        key = (op, data, args)
        if key not in self._known:
            self._known[key] = len(self.steps)
            self.steps.append(key)
        return self._known[key]

    def _compile(self, tree: Tree) -> int:
        if not isinstance(tree, list):
            return self._emit("number", number(tree))
        head, *rest = tree
        if head == "var":
            if rest[0] not in self.variables:
                raise ValueError(f"tree: variable {rest[0]!r} is not among {', '.join(self.variables)}")
            return self._emit("var", self.variables.index(rest[0]))
        if head in ("pi", "E") and not rest:
            return self._emit(head, None)
        if head == "pow" and len(rest) == 2:
            return self._power(self._compile(rest[0]), self._compile(rest[1]))
        if head == "polygamma" and len(rest) == 2:
            order = number(rest[0])
            if order.denominator != 1 or order < 0:
                raise ValueError(f"tree: polygamma of order {order}")
            return self._emit("polygamma", int(order), (self._compile(rest[1]),))
        if head == "digamma" and len(rest) == 1:
            return self._emit("polygamma", 0, (self._compile(rest[0]),))
        if head not in UNARY and not (head in ("add", "mul", "min", "max") and rest):
            raise ValueError(f"tree: unknown operator {head!r} with {len(rest)} arguments")
        if head in UNARY and len(rest) != 1:
            raise ValueError(f"tree: {head} takes one argument, not {len(rest)}")
        args = [self._compile(child) for child in rest]
        return self._product(args) if head == "mul" else self._emit(head, None, tuple(args))

    def _product(self, args: list[int]) -> int:
        counts: dict[int, int] = {}
        for a in args:
            counts[a] = counts.get(a, 0) + 1
        for a in list(counts):  # u log u as one operation: its limit at 0 and its slope need no cancellation
            inner = self.steps[a][2][0] if self.steps[a][0] == "log" else None
            if inner in counts:
                counts[a] -= 1
                counts[inner] -= 1
                key = self._emit("entropy", None, (inner,))
                counts[key] = counts.get(key, 0) + 1
        counts = {a: n for a, n in counts.items() if n}
        factors = [a if n == 1 else self._emit("power", n, (a,)) for a, n in counts.items()]
        return factors[0] if len(factors) == 1 else self._emit("mul", None, tuple(factors))

    def _power(self, base: int, exponent: int) -> int:
        op, data, _ = self.steps[exponent]
        if op == "number":
            if data.denominator == 1:
                if abs(data) > 10_000:
                    raise ValueError(f"tree: exponent {data} is too large")
                return self._emit("power", int(data), (base,))
            return self._emit("root", data, (base,))
        if self.steps[base][0] == "E":
            return self._emit("exp", None, (exponent,))
        return self._emit("exp", None, (self._product([exponent, self._emit("log", None, (base,))]),))

    def _constant(self, k: int, field: Functions) -> Enclosure:
        table = self._constants.setdefault(field.bits, {})
        if k not in table:
            op, data, _ = self.steps[k]
            if op == "number":
                table[k] = field.rational(data)
            elif op == "pi":
                lo = (reals.pi(field.bits + 64) - (1 << 14)) >> 64
                table[k] = (lo, lo + 2, True, True)
            else:
                table[k] = field.exp((field.one, field.one, False, False))
        return table[k]

    def run(self, box: Sequence[Enclosure], field: Functions) -> list[Enclosure]:
        """The enclosure of every operation over the box."""
        values: list[Enclosure] = []
        for k, (op, data, args) in enumerate(self.steps):
            if op == "var":
                values.append(box[data])
            elif op in ("number", "pi", "E"):
                values.append(self._constant(k, field))
            else:
                values.append(_apply(op, data, [values[i] for i in args], field))
        return values

    def value(self, box: Sequence[Enclosure], field: Functions) -> Enclosure:
        """The enclosure of the whole tree."""
        return self.run(box, field)[self.root]

    def gradient(self, box: Sequence[Enclosure], field: Functions) -> tuple[Enclosure, list[Enclosure]]:
        """Value and partial derivatives over the box. `Undetermined` or `Undefined` where there is none."""
        values = self.run(box, field)
        one: Enclosure = (field.one, field.one, False, False)
        slopes: list[Enclosure | None] = [None] * len(self.steps)
        slopes[self.root] = one
        result = [ZERO] * len(self.variables)
        for k in range(self.root, -1, -1):
            slope = slopes[k]
            if slope is None:
                continue
            op, data, args = self.steps[k]
            if op == "var":
                result[data] = slope
            elif args:
                partials = _partials(op, data, [values[i] for i in args], values[k], field)
                for i, partial in zip(args, partials, strict=True):
                    if partial is None:
                        continue
                    term = slope if partial is _NEW else field.mul(slope, partial)
                    old = slopes[i]
                    slopes[i] = term if old is None else field.add(old, term)
        return values[self.root], result


def _apply(op: str, data: Any, a: list[Enclosure], field: Functions) -> Enclosure:
    if op == "add":
        total = a[0]
        for item in a[1:]:
            total = field.add(total, item)
        return total
    if op == "mul":
        total = a[0]
        for item in a[1:]:
            total = field.mul(total, item)
        return total
    if op == "power":
        return field.integer_power(a[0], data)
    if op == "root":
        return root(field, a[0], data)
    if op in ("min", "max"):
        return field.extremum(a, op == "max")
    if op == "polygamma":
        return field.polygamma(data, a[0])
    if op == "abs":
        return field.absolute(a[0])
    return getattr(field, op)(a[0])


def root(field: Functions, a: Enclosure, exponent: Fraction) -> Enclosure:
    """a^(p/q): by exact roots for small p and q, by exp(p/q log a) otherwise."""
    p, q = exponent.numerator, exponent.denominator
    if q <= 16 and abs(p) <= 64:
        return field.root_power(a, p, q)
    if a[0] < 0:
        raise Undefined("a root of an interval that contains negative numbers")
    if p > 0 and not positive(a):
        high = field.root_power(a, 1, 2)[1] if a[1] == 0 else root(field, (a[1], a[1], True, False), exponent)[1]
        return 0, high, False, a[3]
    return field.exp(field.mul(field.rational(exponent), field.log(a)))


def _partials(op: str, data: Any, a: list[Enclosure], value: Enclosure, f: Functions) -> list[Any]:
    """Partial derivatives by each argument; None is 0 and `_NEW` is 1."""
    if op == "add":
        return [_NEW] * len(a)
    if op == "mul":
        before: list[Enclosure | None] = [None]
        for item in a[:-1]:
            before.append(item if before[-1] is None else f.mul(before[-1], item))
        after: Enclosure | None = None
        out: list[Any] = [_NEW] * len(a)
        for i in range(len(a) - 1, -1, -1):
            left = before[i]
            out[i] = f.mul(left, after) if left is not None and after is not None else (left or after or _NEW)
            after = a[i] if after is None else f.mul(a[i], after)
        return out
    if op == "power":
        if data == 0:
            return [None]
        return [f.mul(f.rational(Fraction(data)), f.integer_power(a[0], data - 1))]
    if op == "root":
        return [f.mul(f.rational(data), root_slope(f, a[0], data - 1))]
    if op in ("min", "max"):
        return _kinks(op == "max", a, f)
    return [_slope(op, data, a[0], value, f)]


def root_slope(f: Functions, a: Enclosure, exponent: Fraction) -> Enclosure:
    """a^exponent as a derivative: it must exist, so a > 0 where the exponent is negative."""
    if exponent < 0 and not positive(a):
        raise Undetermined("no derivative of a root at 0")
    return root(f, a, exponent)


def _kinks(largest: bool, a: list[Enclosure], f: Functions) -> list[Any]:
    out: list[Any] = []
    for i, item in enumerate(a):
        others = [b for j, b in enumerate(a) if j != i]
        if largest:
            beaten, alone = any(item[1] < b[0] for b in others), all(item[0] > b[1] for b in others)
        else:
            beaten, alone = any(item[0] > b[1] for b in others), all(item[1] < b[0] for b in others)
        out.append(None if beaten else _NEW if alone else (0, f.one, False, False))
    return out


def _slope(op: str, data: Any, a: Enclosure, value: Enclosure, f: Functions) -> Any:
    one: Enclosure = (f.one, f.one, False, False)
    if op == "exp":
        return value
    if op == "log":
        return f.reciprocal(a)
    if op == "entropy":
        return f.add(f.log(a), one)
    if op == "sin":
        return f.cos(a)
    if op == "cos":
        return f.neg(f.sin(a))
    if op == "tan":
        return f.add(one, f.integer_power(value, 2))
    if op == "atan":
        return f.reciprocal(f.add(one, f.integer_power(a, 2)))
    if op in ("asin", "acos"):
        square = f.sub(one, f.integer_power(a, 2))
        slope = root_slope(f, square, Fraction(-1, 2))
        return slope if op == "asin" else f.neg(slope)
    if op == "sinh":
        return f.cosh(a)
    if op == "cosh":
        return f.sinh(a)
    if op == "tanh":
        return f.sub(one, f.integer_power(value, 2))
    if op == "asinh":
        return root_slope(f, f.add(f.integer_power(a, 2), one), Fraction(-1, 2))
    if op == "acosh":
        return root_slope(f, f.sub(f.integer_power(a, 2), one), Fraction(-1, 2))
    if op == "atanh":
        return f.reciprocal(f.sub(one, f.integer_power(a, 2)))
    if op == "erf":
        lo = (reals.pi(f.bits + 64) - (1 << 14)) >> 64
        scale = f.mul(f.rational(Fraction(2)), f.root_power((lo, lo + 2, True, True), -1, 2))
        return f.mul(scale, f.exp(f.neg(f.integer_power(a, 2))))
    if op == "polygamma":
        return f.polygamma(data + 1, a)
    if op == "loggamma":
        return f.polygamma(0, a)
    if op == "gamma":
        return f.mul(value, f.polygamma(0, a))
    if op == "abs":
        return f.sign(a)
    if op == "sign" and (positive(a) or negative(a)):
        return None
    raise Undetermined(f"no derivative of {op} here")


__all__ = ["INF", "NINF", "Program"]

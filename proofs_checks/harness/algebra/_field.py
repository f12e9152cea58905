"""Normal forms: an expression as a quotient of polynomials in generators, closed under differentiation.

A generator is a variable, pi, exp of a monomial, log, sine, ... of a normal form, or the base of a root; exponents are
rational, so that sqrt(x) is x^(1/2). Generators count as independent, up to sin^2 + cos^2 = 1, exp(a + b) =
exp(a) exp(b), exp(log a) = a, log(exp a) = a and the algebra of roots: enough to PROVE an equation or a derivative (equal
normal forms are equal functions wherever both are defined), never to disprove one. With `positive`, which shows by other
means that something is > 0 on the domain, the logarithm of a product is a sum. Roots are only merged where the
base is >= 0 whenever they are defined: sqrt(x)^2 = x, while sqrt(x^2) keeps a generator of its own."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.harness.algebra._forms import (
    ONE,
    UNIT,
    Form,
    Key,
    Monomial,
    Poly,
    Unsupported,
    as_number,
    constant,
    content,
    divide,
    fold,
    form_key,
    merge,
    poly_key,
    times,
)
from proofs_checks.harness.algebra._logarithms import split_log
from proofs_checks.harness.trees import Tree, number

MOST_TERMS = 4000


class Field:
    """A set of generators that grows as expressions are read; forms of one field can be compared."""

    def __init__(self, work: int = 5_000_000, positive: Callable[[Tree], bool] | None = None) -> None:
        self.positive = positive  # shows that a tree is > 0 on the domain at hand: then logarithms of products split
        self.work = work  # products of terms still allowed: a limit that says so instead of a hang
        self.generators: list[tuple[str, Any]] = []  # (kind, name or argument)
        self._keys: dict[Any, int] = {}

    # ---- polynomials

    def _reduce(self, p: Poly) -> Form:
        """Rewrite sin^2 and integral powers of root bases."""
        total: Form | None = None
        plain: Poly = {}
        for m, c in p.items():
            for g, e in m:
                kind, argument = self.generators[g]
                rest = tuple(item for item in m if item[0] != g)
                if kind == "sin" and e >= 2:
                    cosine = self._generator("cos", argument)
                    low: Form = Form({times(rest, ((g, e - 2),) if e > 2 else ()): c}, {})
                    term = self.mul(low, Form({ONE: UNIT, ((cosine, Fraction(2)),): -UNIT}, {}))
                elif kind == "root" and not 0 <= e < 1:
                    whole = e.numerator // e.denominator
                    part = e - whole
                    low = Form({times(rest, ((g, part),) if part else ()): c}, {})
                    term = self.mul(low, self.integer_power(argument, whole))
                else:
                    continue
                total = term if total is None else self.add(total, term)
                break
            else:
                plain[m] = plain.get(m, Fraction(0)) + c
        plain = {m: c for m, c in plain.items() if c}
        return Form(plain, {}) if total is None else self.add(Form(plain, {}), total)

    def _product(self, a: Poly, b: Poly) -> Form:
        self._spend(len(a) * len(b))
        out: Poly = {}
        for m, c in a.items():
            for n, d in b.items():
                k = times(m, n)
                out[k] = out.get(k, Fraction(0)) + c * d
        out = {m: c for m, c in out.items() if c}
        if len(out) > MOST_TERMS:
            raise Unsupported("the normal form has too many terms")
        return self._reduce(out)

    def _spend(self, work: int) -> None:
        self.work -= work
        if self.work < 0:
            raise Unsupported("the normal form takes too much work")

    def expand(self, key: Key, n: int = 1) -> Form:
        """A factor of a denominator as a form."""
        return self.integer_power(Form(dict(key), {}), n)

    # ---- forms

    def mul(self, a: Form, b: Form) -> Form:
        """a b."""
        p = self._product(a.top, b.top)
        return Form(p.top, merge(p.bottom, merge(a.bottom, b.bottom))) if p.top else constant(0)

    def add(self, a: Form, b: Form) -> Form:
        """a + b, over the least common denominator of the known factors."""
        if not a.top or not b.top:
            return b if not a.top else a
        self._spend(len(a.top) + len(b.top))
        keys = {k: max(a.bottom.get(k, 0), b.bottom.get(k, 0)) for k in {**a.bottom, **b.bottom}}
        tops = []
        for form in (a, b):
            top: Form = Form(form.top, {})
            for k, n in keys.items():
                if n > form.bottom.get(k, 0):
                    top = self.mul(top, self.expand(k, n - form.bottom.get(k, 0)))
            tops.append(top)
        if tops[0].bottom or tops[1].bottom:
            total = self.add(*tops)
            return Form(total.top, merge(total.bottom, keys)) if total.top else constant(0)
        out = dict(tops[0].top)
        for m, c in tops[1].top.items():
            out[m] = out.get(m, Fraction(0)) + c
        out = {m: c for m, c in out.items() if c}
        return Form(out, {k: n for k, n in keys.items() if n}) if out else constant(0)

    def scale(self, q: Fraction, a: Form) -> Form:
        """q a."""
        return Form({m: q * c for m, c in a.top.items()}, a.bottom) if q else constant(0)

    def integer_power(self, a: Form, n: int) -> Form:
        """a^n."""
        if n < 0:
            return self.integer_power(self.inverse(a), -n)
        if len(a.top) == 1 and not a.bottom:
            (m, c), = a.top.items()
            return self._reduce({tuple((g, e * n) for g, e in m): c**n} if n else {ONE: UNIT})
        out = constant(1)
        for _ in range(n):
            out = self.mul(out, Form(a.top, {}))
        return Form(out.top, merge(out.bottom, {k: e * n for k, e in a.bottom.items()})) if n else out

    def inverse(self, a: Form) -> Form:
        """1 / a."""
        if not a.top:
            raise Unsupported("division by zero")
        common = content(a.top)
        rest = {divide(m, common): c for m, c in a.top.items()}
        lead = rest[max(rest)]
        top = Form({tuple((g, -e) for g, e in common): 1 / lead}, {})
        if len(rest) > 1:
            top = Form(top.top, {poly_key({m: c / lead for m, c in rest.items()}): 1})
        out = self._reduce(top.top)
        out = Form(out.top, merge(out.bottom, top.bottom))
        for k, n in a.bottom.items():
            out = self.mul(out, self.expand(k, n))
        return out

    def equal(self, a: Form, b: Form) -> bool:
        """Whether the forms are the same function, as far as the rules see."""
        return not self.add(a, self.scale(Fraction(-1), b)).top

    def root(self, a: Form, q: Fraction) -> Form:
        """a^q for a fraction q: merged into one generator where its base is >= 0 whenever the root exists."""
        if len(a.top) == 1 and not a.bottom:
            (m, c), = a.top.items()
            signed = [(g, e) for g, e in m if self.generators[g][0] not in ("exp", "pi")]
            if c > 0 and (not signed or (len(signed) == 1 and (signed[0][1] == 1 or signed[0][1].denominator > 1))):
                form = self._reduce({tuple((g, e * q) for g, e in m): UNIT})
                if c != 1:
                    base = self._generator("root", constant(c))
                    form = self.mul(form, self._reduce({((base, q),): UNIT}))
                return form
        return self._reduce({((self._generator("root", a), q),): UNIT})

    # ---- generators

    def _generator(self, kind: str, argument: Any) -> int:
        key = (kind, argument if not isinstance(argument, Form) else form_key(argument))
        if key not in self._keys:
            if isinstance(argument, Form):
                for i, (other, form) in enumerate(self.generators):
                    if other == kind and self.equal(form, argument):
                        self._keys[key] = i
                        return i
            self._keys[key] = len(self.generators)
            self.generators.append((kind, argument))
        return self._keys[key]

    def generator(self, kind: str, argument: Any) -> Form:
        """A generator as a form."""
        return Form({((self._generator(kind, argument), UNIT),): UNIT}, {})

    def exp(self, a: Form) -> Form:
        """exp(a), split over the terms of a sum."""
        if a.bottom:
            lead = a.top[max(a.top)]
            return self._reduce({((self._generator("exp", self.scale(1 / lead, a)), lead),): UNIT})
        out = constant(1)
        for m, c in a.top.items():
            if len(m) == 1 and m[0][1] == 1 and self.generators[m[0][0]][0] == "log":
                inner = self.generators[m[0][0]][1]
                factor = self.integer_power(inner, int(c)) if c.denominator == 1 else self.root(inner, c)
            else:
                factor = Form({((self._generator("exp", Form({m: UNIT}, {})), c),): UNIT}, {})
            out = self.mul(out, factor)
        return out

    def log(self, a: Form) -> Form:
        """log(a); of a power of one generator, of exponentials, and of a reciprocal taken apart."""
        if not a.top:
            raise Unsupported("logarithm of 0")
        if self.equal(a, constant(1)):
            return constant(0)
        split = split_log(self, a)
        if split is not None:
            return split
        if len(a.top) == 1:
            (m, c), = a.top.items()
            kinds = [self.generators[g][0] for g, _ in m]
            if not a.bottom and c > 0 and (all(k == "exp" for k in kinds) or (len(m) == 1 and c == 1 and (
                    m[0][1].denominator > 1 or m[0][1].numerator % 2) and m[0][1] != 1)):
                out = constant(0) if c == 1 else self.generator("log", constant(c))
                for g, e in m:
                    kind, inner = self.generators[g]
                    part = inner if kind in ("exp",) else self.log(Form({((g, UNIT),): UNIT}, {}) if kind != "root"
                                                                   else inner)
                    out = self.add(out, self.scale(e, part))
                return out
            if m == ONE and c == 1 and len(a.bottom) == 1 and next(iter(a.bottom.values())) == 1:
                return self.scale(Fraction(-1), self.log(self.inverse(a)))
        return self.generator("log", a)

    def read(self, tree: Tree) -> Form:
        """The normal form of a tree."""
        if not isinstance(tree, list):
            return constant(number(tree))
        head, *rest = tree
        if head == "var":
            return self.generator("var", rest[0])
        if head in ("pi", "E"):
            return self.generator("pi", None) if head == "pi" else self.exp(constant(1))
        if head == "polygamma":
            return self.generator(f"polygamma {int(number(rest[0]))}", self.read(rest[1]))
        if head == "pow":
            return self._power(self.read(rest[0]), self.read(rest[1]))
        args = [self.read(child) for child in rest]
        if head == "add":
            return fold(self.add, args)
        if head == "mul":
            return fold(self.mul, args)
        if head in ("min", "max"):
            return self.generator(head, tuple(sorted(form_key(a) for a in args)))
        return self._function(head, args[0])

    def _power(self, base: Form, exponent: Form) -> Form:
        value = as_number(exponent)
        if value is None:
            return self.exp(self.mul(exponent, self.log(base)))
        if value.denominator == 1:
            if abs(value) > 200:
                raise Unsupported(f"power {value} is too large")
            return self.integer_power(base, int(value))
        return self.root(base, value)

    def _function(self, head: str, a: Form) -> Form:
        half, minus = Fraction(1, 2), self.scale(Fraction(-1), a)
        if head == "exp":
            return self.exp(a)
        if head == "log":
            return self.log(a)
        if head in ("sinh", "cosh", "tanh"):
            up, down = self.exp(a), self.exp(minus)
            even, odd = self.add(up, down), self.add(up, self.scale(Fraction(-1), down))
            if head == "tanh":  # (e^2a - 1) / (e^2a + 1)
                square = self.mul(up, up)
                return self.mul(self.add(square, constant(-1)), self.inverse(self.add(square, constant(1))))
            return self.scale(half, even if head == "cosh" else odd)
        if not a.top and head in ("sin", "tan", "asin", "atan", "erf", "asinh", "atanh", "cos"):
            return constant(1 if head == "cos" else 0)
        if head == "tan":
            return self.mul(self._function("sin", a), self.inverse(self._function("cos", a)))
        if head == "acos":
            return self.add(self.scale(half, self.generator("pi", None)), self.scale(Fraction(-1),
                                                                                     self.generator("asin", a)))
        if head == "atanh":
            ratio = self.mul(self.add(constant(1), a), self.inverse(self.add(constant(1), minus)))
            return self.scale(half, self.log(ratio))
        if head == "digamma":
            return self.generator("polygamma 0", a)
        if head in ("sin", "cos") and (quarter := self._quarters(a)) is not None:
            return constant((0, 1, 0, -1)[(quarter + (head == "cos")) % 4])
        if head in ("sin", "cos", "atan", "asin", "erf", "loggamma", "gamma", "abs", "sign", "asinh", "acosh", "floor"):
            return self.generator(head, a)
        raise Unsupported(f"no normal form for {head}")

    def _quarters(self, a: Form) -> int | None:
        """n if the form is n pi / 2."""
        pi = ((self._generator("pi", None), UNIT),)
        value = 2 * a.top.get(pi, Fraction(0))
        return int(value) if not a.bottom and set(a.top) == {pi} and value.denominator == 1 else None

    # ---- derivatives

    def derivative(self, a: Form, variable: str) -> Form:
        """Partial derivative of a form."""
        total = self._poly_derivative(a.top, variable)
        total = Form(total.top, merge(total.bottom, a.bottom)) if total.top else total
        for k, n in a.bottom.items():
            slope = self._poly_derivative(dict(k), variable)
            if slope.top:
                term = self.mul(Form(a.top, merge(a.bottom, {k: 1})), slope)
                total = self.add(total, self.scale(Fraction(-n), term))
        return total

    def _poly_derivative(self, p: Poly, variable: str) -> Form:
        total, slopes = constant(0), {}
        for m, c in p.items():
            for g, e in m:
                if g not in slopes:
                    slopes[g] = self._slope(g, variable)
                if not slopes[g].top:
                    continue
                left = tuple((h, f - 1 if h == g else f) for h, f in m)
                term = self._reduce({tuple(item for item in left if item[1]): c * e})
                total = self.add(total, self.mul(term, slopes[g]))
        return total

    def _slope(self, g: int, variable: str) -> Form:
        """Derivative of a generator; of the base itself for a root."""
        kind, a = self.generators[g]
        if kind == "var":
            return constant(int(a == variable))
        if kind == "pi":
            return constant(0)
        if not isinstance(a, Form):
            raise Unsupported(f"no derivative of {kind}")
        inner = self.derivative(a, variable)
        if not inner.top or kind == "root":
            return inner
        square = self.mul(a, a)
        one = constant(1)
        table: dict[str, Any] = {
            "exp": lambda: Form({((g, UNIT),): UNIT}, {}), "log": lambda: self.inverse(a),
            "sin": lambda: self.generator("cos", a), "cos": lambda: self.scale(Fraction(-1), self.generator("sin", a)),
            "atan": lambda: self.inverse(self.add(one, square)),
            "asin": lambda: self.root(self.add(one, self.scale(Fraction(-1), square)), Fraction(-1, 2)),
            "asinh": lambda: self.root(self.add(one, square), Fraction(-1, 2)),
            "acosh": lambda: self.root(self.add(square, constant(-1)), Fraction(-1, 2)),
            "erf": lambda: self.scale(Fraction(2), self.mul(self.root(self.generator("pi", None), Fraction(-1, 2)),
                                                            self.exp(self.scale(Fraction(-1), square)))),
            "loggamma": lambda: self.generator("polygamma 0", a),
            "gamma": lambda: self.mul(self.generator("gamma", a), self.generator("polygamma 0", a))}
        if kind.startswith("polygamma "):
            return self.mul(inner, self.generator(f"polygamma {int(kind[10:]) + 1}", a))
        if kind not in table:
            raise Unsupported(f"no derivative of {kind}")
        return self.mul(inner, table[kind]())

    # ---- back to trees

    def tree(self, a: Form) -> Tree:
        """A tree of the form."""
        factors = [["pow", self.poly_tree(dict(k)), str(-n)] for k, n in sorted(a.bottom.items())]
        top = self.poly_tree(a.top)
        return ["mul", top, *factors] if factors else top

    def poly_tree(self, p: Mapping[Monomial, Fraction]) -> Tree:
        """A tree of a polynomial in the generators."""
        terms = [self.monomial_tree(m, c) for m, c in sorted(p.items())]
        return "0" if not terms else terms[0] if len(terms) == 1 else ["add", *terms]

    def monomial_tree(self, m: Monomial, c: Fraction = UNIT) -> Tree:
        """A tree of a term."""
        factors: list[Tree] = [] if c == 1 and m else [str(c)]
        for g, e in m:
            if self.generators[g][0] == "exp":
                exponent = self.tree(self.scale(e, self.generators[g][1]))
                factors.append(["exp", exponent])
            else:
                base = self.generator_tree(g)
                factors.append(base if e == 1 else ["pow", base, str(e)])
        return factors[0] if len(factors) == 1 else ["mul", *factors]

    def generator_tree(self, g: int) -> Tree:
        """A tree of a generator; of the base for a root."""
        kind, a = self.generators[g]
        if kind == "var":
            return ["var", a]
        if kind == "pi":
            return ["pi"]
        if not isinstance(a, Form):
            raise Unsupported(f"no tree for {kind}")
        if kind == "root":
            return self.tree(a)
        if kind.startswith("polygamma "):
            order = kind[10:]
            return ["digamma", self.tree(a)] if order == "0" else ["polygamma", order, self.tree(a)]
        return [kind, self.tree(a)]

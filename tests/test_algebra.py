"""The exact algebra under the ladder: normal forms, derivatives, root counts."""
from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from proofs_checks.harness.algebra import Field, nonnegative_on
from proofs_checks.harness.trees import to_tree

x, p, q, t = sp.symbols("x p q t", real=True)
R, oo = sp.Rational, sp.oo


def test_normal_forms_prove_equations_and_no_others():
    field = Field()
    equal = [(sp.exp(x) ** 2, sp.exp(2 * x)), (sp.sinh(x) ** 2 + 1, sp.cosh(x) ** 2), (sp.log(1 / x), -sp.log(x)),
             (1 / sp.sqrt(1 + x) * (1 + x), sp.sqrt(1 + x)), (sp.tan(x), sp.sin(x) / sp.cos(x)),
             (sp.sin(x) ** 4, (1 - sp.cos(x) ** 2) ** 2), ((x**2 - 1) / (x - 1), x + 1)]
    for a, b in equal:
        assert field.equal(field.read(to_tree(a)), field.read(to_tree(b))), (a, b)
    z = sp.Symbol("x")
    different = [(sp.sqrt(z**2), z), (sp.log(z**2), 2 * sp.log(z)), (sp.exp(x), x), (sp.sqrt(x * p), sp.sqrt(x)), (x, x + 1)]
    for a, b in different:
        assert not field.equal(field.read(to_tree(a)), field.read(to_tree(b))), (a, b)


def test_derivatives_agree_with_sympy():
    divergence = p * sp.log(p / q) + (1 - p) * sp.log((1 - p) / (1 - q))
    cumulant = sp.log(1 - p + p * sp.exp(t)) - p * t
    for f in (divergence, cumulant, sp.atan(2 * x) * sp.erf(x), sp.sqrt(1 + x**2) / (1 + x), sp.polygamma(1, x**2),
              (1 + x) ** x):
        for v in sorted(f.free_symbols, key=str):
            field = Field()
            ours = field.derivative(field.read(to_tree(f)), v.name)
            assert field.equal(ours, field.read(to_tree(sp.diff(f, v))))


@pytest.mark.parametrize(("coefficients", "lo", "hi", "weak", "strict"), [
    ([1, -2, 1], -5, 5, True, False), ([1, -2, 1], 2, 5, True, True), ([0, 1], 0, 5, True, False),
    ([0, 1], -1, 5, False, False),
    ([-2, 0, 1], 0, 1, False, False), ([4, 0, -4, 0, 1], -3, 3, True, False), ([1], 0, 1, True, True), ([0], 0, 1, True, False),
    ([1, 0, 1], float("-inf"), float("inf"), True, True), ([0, 0, 0, 1], float("-inf"), 0, False, False)])
def test_sturm(coefficients, lo, hi, weak, strict):
    ends = [e if isinstance(e, float) else Fraction(e) for e in (lo, hi)]
    assert nonnegative_on(coefficients, *ends) is weak
    assert nonnegative_on(coefficients, *ends, strict=True) is strict

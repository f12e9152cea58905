"""A small true claim for tests: the weight of a prompt under pass@k, with its slope computed apart."""
from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from sympy import diff, symbols

from theory.claim import Claim, Paper, Source, Standing

PAPER = Paper(slug="toy", title="A toy", arxiv=None, topics=("tests",), read="abstract")
p, k = symbols("p"), symbols("k", integer=True, positive=True)
slope_symbolic = diff(1 - (1 - p) ** k, p)
unit = st.integers(0, 9).map(lambda i: Fraction(i, 10))
cases = st.tuples(unit, st.integers(1, 24))
grid = [(Fraction(i, 5), k) for i in range(5) for k in range(1, 7)]


def slope(p: Fraction, k: int) -> Fraction:
    """d/dp of 1 - (1 - p)^k, as the sum over the position of the first success."""
    return sum(((1 - p) ** (k - 1) for _ in range(k)), Fraction(0))


def weight(p: Any, k: Any) -> Any:
    """The true form."""
    return k * (1 - p) ** (k - 1)


def claim(name: str, **changes: Any) -> Claim[Any]:
    """The toy claim under another name, with fields changed."""
    fields: dict[str, Any] = {
        "id": f"toy.{name}", "paper": PAPER, "statement": r"dJ_k/dp = k(1-p)^{k-1}", "source": Source.RECONSTRUCTION,
        "standing": Standing.HOLDS, "form": weight,
        "mutants": {"exponent_k": lambda p, k: k * (1 - p) ** k, "factor_dropped": lambda p, k: (1 - p) ** (k - 1)}}
    return Claim(**{**fields, **changes})

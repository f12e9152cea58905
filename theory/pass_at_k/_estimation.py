"""Claims on estimating pass@k and its gradient from n samples."""
from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from theory.claim import Claim, Conditions, Source, Standing, without
from theory.pass_at_k._exact import PAPER, rho

__all__ = ["Estimator", "centring_scale", "unbiased_estimator", "unbiased_gradient"]

Function = Callable[..., Any]


class Estimator(NamedTuple):
    """An estimate of pass@k from c successes among n samples, and the hypotheses on n and k."""

    estimate: Callable[[int, int, int], Fraction]
    given: Callable[[int, int], bool]


def _product(n: int, c: int, k: int) -> Fraction:
    kept = Fraction(1)
    for i in range(n - c + 1, n + 1):
        kept *= max(Fraction(0), 1 - Fraction(k, i))
    return 1 - kept


_UNBIASED = Estimator(estimate=rho, given=Conditions(a_sample=lambda n, k: n >= 1,
                                                             enough_samples=lambda n, k: n >= k))

unbiased_estimator = Claim(
    id="pass_at_k.unbiased_estimator", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"\forall n \ge k \ge 1,\ C \sim \mathrm{Bin}(n, p):\quad"
              r" \mathbb{E}\Bigl[1 - \tbinom{n-C}{k} / \tbinom{n}{k}\Bigr] = 1 - (1-p)^k",
    hypotheses={"enough_samples": r"n \ge k"},
    form=_UNBIASED,
    mutants={"without_enough_samples": without(_UNBIASED, "enough_samples"),  # wide-spread code returns 1
             "plug_in": _UNBIASED._replace(estimate=lambda n, c, k: 1 - (1 - Fraction(c, n)) ** k),
             "zero_without_k_failures": _UNBIASED._replace(
                 estimate=lambda n, c, k: rho(n, c, k) if n - c >= k else Fraction(0)),
             "one_success_ignored": _UNBIASED._replace(estimate=lambda n, c, k: rho(n, max(c - 1, 0), k))},
    also_true={"product_form": _UNBIASED._replace(estimate=_product)},
    note="With n < k nothing is unbiased: 1-(1-p)^k has degree k in p, and an expectation over n samples at most n. "
         "Proved as polynomial identities for three pairs (n, k); every pair up to 9 is decided on 13 points.")

unbiased_gradient: Claim[Function] = Claim(
    id="pass_at_k.unbiased_gradient", paper=PAPER, source=Source.PUBLIC, standing=Standing.HOLDS,
    statement=r"\forall n \ge k \ge 1:\ \mathbb{E}\Bigl[\sum_{i=1}^n v_i\, s(y_i)\Bigr] = \nabla\bigl(1-(1-p)^k\bigr),"
              r"\quad v_i = \tfrac{k}{n}\ \text{if correct},\ \tfrac{k}{n}\,\rho(n-1, c, k-1)\ \text{if not}",
    form=lambda correct, n, c, k: Fraction(k, n) * (1 if correct else rho(n - 1, c, k - 1)),
    mutants={"incorrect_zero": lambda correct, n, c, k: Fraction(k, n) if correct else Fraction(0),
             "same_k": lambda correct, n, c, k: Fraction(k, n) * (1 if correct else rho(n - 1, c, k)),
             "factor_k_dropped": lambda correct, n, c, k: Fraction(1, n) * (1 if correct else rho(n - 1, c, k - 1))},
    also_true={"leave_one_out": lambda correct, n, c, k:  # minus what the other samples would have reached anyway
               Fraction(k, n) * (1 - rho(n - 1, c - 1, k - 1)) if correct else Fraction(0)},
    note="Weights of arXiv 2505.15201. Subtracting the others' estimate leaves incorrect samples with weight 0.")

centring_scale: Claim[Function] = Claim(
    id="pass_at_k.centring_scale", paper=PAPER, source=Source.RECONSTRUCTION, standing=Standing.HOLDS,
    statement=r"\forall n \ge k \ge 1:\ \mathbb{E}\Bigl[\sum_{i=1}^n (v_i - \bar v)\, s(y_i)\Bigr] ="
              r" \bigl(1 - \tfrac{k}{n}\bigr)\,\nabla\bigl(1-(1-p)^k\bigr)",
    form=lambda n, k: 1 - Fraction(k, n),
    mutants={"unbiased": lambda n, k: Fraction(1),
             "one_over_n": lambda n, k: 1 - Fraction(1, n),  # true at k = 1
             "never_zero": lambda n, k: 1 - Fraction(k - 1, n)},
    note="At k = n the centred weights are all zero: code that clamps k to the group size and centres trains nothing.")

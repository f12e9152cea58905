"""Decisions about a mean from a stream of observations: valid at any stopping time, always capped.

The statement "the mean is `target`" is tested with an indifference zone: HOLDS says that the mean lies within `tol`
of the target, REFUTED that it does not; a mean at the very edge stays UNDECIDED. Four one-sided nulls are bet against,
each rejected when the wealth reaches 2/alpha (`_betting` proves P(a true null is ever rejected) <= alpha/2):

    HOLDS    iff  mean <= target - tol  and  mean >= target + tol  are both rejected
    REFUTED  iff  mean >= target - tol  or   mean <= target + tol  is rejected

P(wrong verdict) <= alpha, whatever the mean: (i) if it lies in [target - tol, target + tol], only REFUTED is wrong;
both its nulls are true, so that it needs one of two events of probability alpha/2. (ii) If it lies below, only HOLDS
is wrong, which needs the true null "mean <= target - tol" rejected: alpha/2. (iii) Above, likewise. One mean is in one
case only, hence no further sum. Looks come after each chunk; the bound holds for a look after every observation.

Observations are rounded outward to a grid, so that the wealth is a function of a histogram: the certificate. It shows
what the histogram implies, not that the stream gave it; `binds` and `at` draw the stream again."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proofs_checks.engines._betting import first_rejection
from proofs_checks.engines._mean import Mean, called, chunk_key, mean_check
from proofs_checks.harness.evidence import Check
from proofs_checks.harness.fingerprint import fingerprint

__all__ = ["chunk_key", "first_rejection", "mean_within"]


def mean_within(sample: Callable[[int, int], Any], target: Any, *, tol: float, lower: float = 0.0, upper: float = 1.0,
                chunk: int = 500, cap: int = 200_000) -> Check:
    """The mean of what `sample` draws is `target`, give or take `tol`.

    `sample(key, n) -> (n,)`, observations in [lower, upper], each of the same mean given those before it; `key` is an
    int in [0, 2^63), another one for each (stream, chunk), so that the bits depend on nothing else. `target` is a
    number, or a callable without arguments that is called when the decision is made. At most `cap` observations are
    used, or the context's budget in its place; UNDECIDED there, with the estimate and its interval.

    The witness of a refutation is {"stream", "chunk", "chunks", "observations", "alpha"}. A target of which target +-
    tol covers all of [lower, upper] is `Vacuous`; one out of reach of the bounds is refuted by them. An observation
    that is nan or out of bounds is an ERROR. ValueError: tol <= 0, lower >= upper, chunk or cap < 1, a target that is
    no number."""
    return mean_check(Mean(engine="sequential.mean_within", what=f"mean of {called(sample)}", observe=sample,
                           described=lambda: {"sampler": fingerprint(sample)}, target=target, tol=tol, lower=lower,
                           upper=upper, chunk=chunk, cap=cap))

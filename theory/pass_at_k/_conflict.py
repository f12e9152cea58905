"""Closed forms on a user's gradients: where pass@k and pass@1 pull apart, from which k on, and how far one may step."""
from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.pass_at_k._estimators import whole_numbers

__all__ = ["ConflictReport", "conflict_report", "weight"]

Floats = NDArray[np.float64]
_TOTAL = 1e-9  # how far a sum of masses may miss 1: rounding of 10^6 masses stays below it


@dataclass(frozen=True, eq=False)
class ConflictReport:
    """How the gradients of J_k, k in `ks`, stand to the gradient of J_1.

    inner      (len ks) <grad J_k, grad J_1>; negative is conflict
    cosine     (len ks) of the angle between them; nan where a gradient is zero
    agreement  (m,) a(x) = <grad p(x), grad J_1>
    k_star     conflict is certain for every k above it; None where the threshold does not apply
    eta_max    (len ks) shorter steps along grad J_k lower J_1; nan without conflict; None without smoothness"""

    inner: Floats
    cosine: Floats
    agreement: Floats
    k_star: float | None
    eta_max: Floats | None


def weight(p: Any, k: Any) -> Any:
    """k (1 - p)^(k-1), the weight of a prompt's gradient in the gradient of pass@k.

    `p` in [0, 1] is the success rate, `k` >= 1 whole; both broadcast. A float for scalars, exact where p is a
    Fraction and k an int. ValueError naming p or k.

    >>> weight(0.5, 2), weight(Fraction(1, 3), 2)
    (1.0, Fraction(4, 3))"""
    success, drawn = _rates(p, "p"), whole_numbers(k, "k")
    if (drawn < 1).any():
        raise ValueError(f"k={drawn[drawn < 1].flat[0]} must be at least 1")
    if isinstance(p, Fraction) and drawn.ndim == 0:
        return int(drawn) * (1 - p) ** (int(drawn) - 1)
    found = drawn * (1.0 - success) ** (drawn - 1)
    return float(found) if np.ndim(found) == 0 else found


def conflict_report(gradients: Any, success: Any, mass: Any, ks: Any, *, smoothness: float | None = None
                    ) -> ConflictReport:
    """Inner product and cosine of grad J_k with grad J_1, agreement of each prompt, threshold k*, largest step.

    `gradients` (m, D) are grad p(x) for m prompts, `success` (m,) their p(x), `mass` (m,) their probabilities, `ks` the
    numbers of samples. With H = {agreement < 0}, q its mass, delta the smallest -agreement in it, A the largest
    agreement outside, p_H the largest success in H and p_E the smallest outside,
        k* = 1 + ln((1-q) A / (q delta)) / ln((1-p_H) / (1-p_E));
    None if H is empty or p_E <= p_H. Prompts without mass count in neither group. `smoothness` is a Lipschitz constant
    of grad J_1; then eta_max = -2 inner / (smoothness |grad J_k|^2) where inner < 0. ValueError names the argument."""
    slopes, rates, masses = _prompts(gradients, success, mass)
    drawn = np.atleast_1d(whole_numbers(ks, "ks"))
    if drawn.ndim != 1 or not drawn.size or (drawn < 1).any():
        raise ValueError(f"ks={ks!r} must be one or more whole numbers >= 1")
    if smoothness is not None and not 0 < smoothness < np.inf:
        raise ValueError(f"smoothness={smoothness!r} must be positive and finite")
    first = masses @ slopes  # D
    weights = weight(rates[None, :], drawn[:, None])  # ks m
    pulls = (weights * masses[None, :]) @ slopes  # ks D
    inner = pulls @ first  # ks
    squares = (pulls ** 2).sum(axis=1)  # ks
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = inner / np.sqrt(squares * (first @ first))
        steps = None if smoothness is None else np.where(inner < 0, -2 * inner / (smoothness * squares), np.nan)
    agreement = slopes @ first  # m
    return ConflictReport(inner, np.where(np.isfinite(cosine), cosine, np.nan), agreement,
                          _threshold(agreement, rates, masses), steps)


def _threshold(agreement: Floats, rates: Floats, masses: Floats) -> float | None:
    against, rest = (agreement < 0) & (masses > 0), (agreement >= 0) & (masses > 0)
    if not against.any() or not rest.any() or rates[rest].min() <= rates[against].max():
        return None
    q, delta, gain = masses[against].sum(), -agreement[against].max(), agreement[rest].max()
    with np.errstate(divide="ignore"):  # p_E = 1 makes the lower logarithm infinite and k* equal to 1, which is right
        spread = np.log1p(-rates[against].max()) - np.log1p(-rates[rest].min())
        k_star = 1 + np.log((1 - q) * gain / (q * delta)) / spread
    return float(max(k_star, 1.0))  # E[agreement] = |grad J_1|^2 >= 0, so less than 1 is rounding


def _prompts(gradients: Any, success: Any, mass: Any) -> tuple[Floats, Floats, Floats]:
    slopes = np.asarray(gradients, dtype=np.float64)
    if slopes.ndim != 2 or not slopes.size or not np.isfinite(slopes).all():
        raise ValueError(f"gradients has shape {slopes.shape}; need (prompts, parameters), not empty, all finite")
    rates, masses = _rates(success, "success"), np.asarray(mass, dtype=np.float64)
    for name, array in (("success", rates), ("mass", masses)):
        if array.shape != slopes.shape[:1]:
            raise ValueError(f"{name} has shape {array.shape}; gradients has {slopes.shape[0]} prompts, need one each")
    if not (masses >= 0).all():
        raise ValueError(f"mass={masses!r} must not be negative")
    if not abs(masses.sum() - 1) <= _TOTAL:
        raise ValueError(f"mass sums to {masses.sum()}; need 1")
    return slopes, rates, masses


def _rates(value: Any, name: str) -> Floats:
    array = np.asarray(value, dtype=np.float64)
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        raise ValueError(f"{name}={array[bad].flat[0]} must lie between 0 and 1")
    return array

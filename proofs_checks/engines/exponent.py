"""Decisions about exponents: does a quantity grow like width^predicted?

Two estimands, which differ. `slope_within` is about E[slope], one least-squares slope of log(value) on log(width) a
replicate, clipped; its error probability holds for any sample size. `band` is about the slope of the root mean square
over seeds, log sqrt(E[value^2]): what a scaling plot shows, but with a bootstrap interval that guarantees nothing.
E[log value] and log E[value] differ by a term that depends on the law of value / E[value]; the two slopes agree where
that law is the same at every width, as it may be in the limit of large widths only."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from proofs_checks.engines._mean import Mean, called, chunk_key, mean_check, rational
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict
from proofs_checks.harness.fingerprint import fingerprint
from simulations.exponents import Exponent, fit_exponent, slope_weights

__all__ = ["band", "slope_within"]

Sample = Callable[[int, int], Any]


def slope_within(sample: Sample, predicted: Any, *, tol: float, widths: Sequence[float], lower: float = -2.0,
                 upper: float = 1.0, chunk: int = 100, cap: int = 20_000) -> Check:
    """The mean log-log slope of what `sample` draws is `predicted`, give or take `tol`.

    `sample(key, n) -> (len(widths), n)` values > 0: n replicates, column j at every width. Each replicate gives one
    slope, clipped to [lower, upper]; the rest, with its errors, witness and error probability, is
    `sequential.mean_within` with `chunk` replicates between looks. Clipping moves the estimand to E[clipped slope]:
    keep the bounds several standard deviations of one slope away from `predicted`. A value that is not positive is an
    ERROR. ValueError: fewer than 3 different widths, and as `mean_within`."""
    observe = functools.partial(_slopes, sample, slope_weights(widths), float(lower), float(upper))
    return mean_check(Mean(
        engine="exponent.slope_within", what=f"log-log slope of {called(sample)} over {_range(widths)}, clipped to "
        f"[{float(lower):g}, {float(upper):g}],", observe=observe,
        described=lambda: {"sampler": fingerprint(sample), "widths": [float(w) for w in widths]}, target=predicted,
        tol=tol, lower=lower, upper=upper, chunk=chunk, cap=cap))


def band(sample: Sample, predicted: Any, *, tol: float, widths: Sequence[float], seeds: int, level: float = 0.99
         ) -> Check:
    """The log-log slope of the root mean square lies in the band predicted +- tol, set before the data.

    `sample(key, seeds) -> (len(widths), seeds)`, of either sign. HOLDS iff the bootstrap interval of
    `simulations.exponents.fit_exponent` lies inside the band, REFUTED iff it lies outside, else UNDECIDED. The rung is
    NUMERIC: a bootstrap's level is nominal (measured 0.98 to 0.99 at 0.99 with 16 seeds), so that no alpha could be
    defended. The context's alpha and budget are not used. Re-evaluation uses a jackknife interval in place of the
    bootstrap. ValueError: tol <= 0, fewer than 8 seeds or 3 widths, level outside (0, 1)."""
    slope_weights(widths)
    if not rational(tol, "tol") > 0:
        raise ValueError(f"tol={tol!r} must be greater than 0")
    if seeds < 8:
        raise ValueError(f"seeds={seeds!r} must be at least 8; an interval from fewer says nothing")
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie strictly between 0 and 1")

    if not callable(predicted):
        rational(predicted, "predicted")

    def centre() -> float:
        return float(rational(predicted() if callable(predicted) else predicted, "predicted"))

    def ends() -> tuple[float, float]:
        return centre() - float(tol), centre() + float(tol)

    def decide(context: Context) -> Evidence:
        low, high = ends()
        fit = fit_exponent(widths, _values(sample, widths, context.stream, seeds), level)
        inside, outside = low <= fit.lower and fit.upper <= high, fit.upper < low or high < fit.lower
        verdict = Verdict.HOLDS if inside else Verdict.REFUTED if outside else Verdict.UNDECIDED
        return Evidence(
            rung=Rung.NUMERIC, verdict=verdict, trusted_base=("the sampler and its generator", "the bootstrap"),
            scope=f"slope of the root mean square of {called(sample)} over {_range(widths)} against [{low:.6g}, "
            f"{high:.6g}], bootstrap interval of nominal level {level:g} without guarantee, n = {seeds}",
            summary=f"slope {fit.slope:.6g}, interval [{fit.lower:.6g}, {fit.upper:.6g}]",
            witness={"stream": context.stream, "seeds": seeds, "level": level} if outside else None)

    def survives(witness: Mapping[str, Any]) -> bool:
        values = _values(sample, widths, witness["stream"], int(witness["seeds"]))
        fit = _jackknife(widths, values, float(witness["level"]))
        return fit.lower <= ends()[1] and ends()[0] <= fit.upper

    def subject() -> dict[str, Any]:
        return {"engine": "exponent.band", "target": centre(), "tol": float(tol), "seeds": seeds, "level": level,
                "widths": [float(w) for w in widths], "sampler": fingerprint(sample)}

    return Check(engine="exponent.band", rung=Rung.NUMERIC, subject=subject, decide=decide, at=survives)


def _slopes(sample: Sample, weights: Any, lower: float, upper: float, key: int, n: int) -> Any:
    """One clipped slope a replicate."""
    values = np.asarray(sample(key, n), dtype=np.float64)
    if values.shape != (len(weights), n):
        raise ValueError(f"the sample has shape {values.shape}, needed ({len(weights)}, {n})")
    if not (np.isfinite(values) & (values > 0)).all():
        i, j = np.argwhere(~(np.isfinite(values) & (values > 0)))[0]
        raise ValueError(f"value [{i}, {j}] of the sample is {values[i, j]}, needed positive and finite")
    # column by column: a product of matrices may round differently in batches of another size
    return np.clip((weights[:, None] * np.log(values)).sum(axis=0), lower, upper)


def _values(sample: Sample, widths: Sequence[float], stream: str, seeds: int) -> Any:
    values = np.asarray(sample(chunk_key(stream, 0), seeds), dtype=np.float64)
    if values.shape != (len(widths), seeds):
        raise ValueError(f"the sample has shape {values.shape}, needed ({len(widths)}, {seeds})")
    return values


def _jackknife(widths: Sequence[float], values: Any, level: float) -> Exponent:
    """Slope and interval by leaving out one seed at a time and Student's quantile; no code of the bootstrap's."""
    from scipy.special import stdtrit

    def slope(kept: Any) -> float:
        return float(np.polyfit(np.log(widths), np.log(np.linalg.norm(kept, axis=1) / math.sqrt(kept.shape[1])), 1)[0])

    n = values.shape[1]
    left_out = np.array([slope(np.delete(values, j, axis=1)) for j in range(n)])
    error = math.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    reach = error * float(stdtrit(n - 1, (1 + level) / 2))
    return Exponent(slope(values), slope(values) - reach, slope(values) + reach)


def _range(widths: Sequence[float]) -> str:
    return f"widths {min(widths):g} to {max(widths):g} ({len(widths)})"

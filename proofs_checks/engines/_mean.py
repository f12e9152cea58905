"""A statement about a mean, decided by betting: what `sequential.mean_within` and `exponent.slope_within` share."""
from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from proofs_checks.engines._betting import MARGIN, STAKES, WEIGHTS, first_rejection, interval, log_wealth
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Vacuous, Verdict

CELLS = 1024
_TOLD_APART = 64  # observations


@dataclass(frozen=True, kw_only=True)
class Mean:
    """The statement "the mean of the observations is `target`", told apart from means further off than `tol`.

    observe(key, n) -> (n,) in [lower, upper]; `described` gives what the subject says of it; `chunk` observations are
    drawn between looks, `cap` in all unless the context's budget says otherwise. ValueError names a bad field."""

    engine: str
    what: str
    observe: Callable[[int, int], Any]
    described: Callable[[], Mapping[str, Any]]
    target: Any
    tol: float
    lower: float
    upper: float
    chunk: int
    cap: int
    cells: int = field(init=False)

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "tol"):  # floats, which are the rationals that they are
            object.__setattr__(self, name, float(rational(getattr(self, name), name)))
        if self.tol <= 0:
            raise ValueError(f"tol={self.tol!r} must be greater than 0")
        if self.lower >= self.upper:
            raise ValueError(f"lower={self.lower!r} must lie below upper={self.upper!r}")
        for name in ("chunk", "cap"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)!r} must be a whole number, at least 1")
        if not callable(self.target):
            rational(self.target, "target")
        # rounding moves an observation by half a cell on average: at most tol/32, or the finest grid kept here
        fine = 16 * (self.upper - self.lower) / self.tol
        object.__setattr__(self, "cells", next((c for c in (CELLS, 2048, 4096, 8192) if c >= fine), 16384))

    def edges(self) -> tuple[Fraction, Fraction]:
        """The ends of target +- tol, scaled so that the observations lie in [0, 1]; exact."""
        lower, width = Fraction(self.lower), Fraction(self.upper) - Fraction(self.lower)
        target, tol = self.number(), Fraction(self.tol)
        return (target - tol - lower) / width, (target + tol - lower) / width

    def exact(self) -> dict[str, Fraction]:
        """The four numbers of the statement."""
        return {"lower": Fraction(self.lower), "upper": Fraction(self.upper), "target": self.number(),
                "tol": Fraction(self.tol)}

    def number(self) -> Fraction:
        """The target as the rational that it is."""
        return rational(self.target() if callable(self.target) else self.target, "target")

    def subject(self) -> dict[str, Any]:
        """What is decided, as data; `target` and `tol` are floats."""
        return {"engine": self.engine, **{k: float(v) for k, v in self.exact().items()}, **self.described()}


def rational(value: Any, name: str) -> Fraction:
    """A number of any kind as a Fraction; floats become the rationals that they are. ValueError if it is none."""
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(value)
    try:
        if isinstance(value, bool | str):
            raise TypeError
        return Fraction(float(value))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}={value!r} must be a finite real number") from None


def chunk_key(stream: str, chunk: int) -> int:
    """The key of a chunk of a stream, in [0, 2^63): what `jax.random.key` takes in 64 bit, and numpy anywhere."""
    return int.from_bytes(hashlib.sha256(f"{stream}/{chunk}".encode()).digest()[:8]) >> 1


def called(function: Any) -> str:
    """A callable by the name that a reader knows it by, with the arguments that a partial fixes."""
    if isinstance(function, functools.partial):
        given = [*map(str, function.args), *(f"{k}={v}" for k, v in function.keywords.items())]
        return f"{called(function.func)}({', '.join(given)})"
    name = getattr(function, "__name__", type(function).__name__)
    return "the sample" if name == "<lambda>" else name


def mean_check(mean: Mean) -> Check:
    """The deferred decision."""
    return Check(engine=mean.engine, rung=Rung.STATISTICAL, subject=mean.subject,
                 decide=lambda context: _decide(mean, context), at=lambda witness: _survives(mean, witness),
                 binds=lambda certificate: _binds(mean, certificate))


def _draw(mean: Mean, stream: str, chunk: int, n: int) -> Any:
    """The observations of one chunk. ValueError if they are not n numbers in [lower, upper]."""
    raw = mean.observe(chunk_key(stream, chunk), n)
    if isinstance(raw, np.ma.MaskedArray) or np.asarray(raw).dtype.kind in "cSU":
        raise ValueError(f"the sample is a {type(raw).__name__} of {np.asarray(raw).dtype}, needed real numbers, none masked")
    x = np.asarray(raw, dtype=np.float64)
    if x.shape != (n,):
        raise ValueError(f"the sample has shape {x.shape}, needed ({n},)")
    bad = np.flatnonzero(~((x >= mean.lower) & (x <= mean.upper)))  # nan fails both
    if bad.size:
        raise ValueError(f"observation {bad[0]} of chunk {chunk} is {x[bad[0]]}, outside lower={mean.lower}, "
                         f"upper={mean.upper}")
    return x


def _histogram(mean: Mean, x: Any) -> Any:
    """Counts (2 cells + 1,): entry 2k for observations at k cells exactly, 2k + 1 for those between k and k + 1.

    So one histogram holds both roundings: i // 2 is down, (i + 1) // 2 is up. (An observation within one float of a
    grid point may land on it: it then counts as moved by 1e-16, which MARGIN covers.)"""
    y = np.clip((x - mean.lower) / (mean.upper - mean.lower), 0, 1) * mean.cells
    return np.bincount((np.floor(y) + np.ceil(y)).astype(np.int64), minlength=2 * mean.cells + 1)


def _both(histogram: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(values, counts) rounded down, and 1 - values rounded up: outward against either kind of null."""
    index, cells = np.flatnonzero(histogram), len(histogram) // 2
    counts = histogram[index].astype(np.float64)
    return (index // 2 / cells, counts), ((cells - (index + 1) // 2) / cells, counts)


def _look(mean: Mean, histogram: Any, alpha: float) -> tuple[Verdict, dict[str, float | None]]:
    """The verdict after a chunk, and the log-wealth of the nulls that it rejects (None: the bounds reject it)."""
    low, high = mean.edges()
    up, down = _both(histogram)
    needed = math.log(2 / alpha) + MARGIN

    def rejected(sides: dict[str, float]) -> dict[str, float | None]:
        return {k: v if math.isfinite(v) else None for k, v in sides.items() if v >= needed}

    inside = rejected({"mean <= target - tol": math.inf if low <= 0 else log_wealth(*up, float(low)),
                       "mean >= target + tol": math.inf if high >= 1 else log_wealth(*down, float(1 - high))})
    outside = rejected({"mean >= target - tol": log_wealth(*down, float(1 - low)),
                        "mean <= target + tol": log_wealth(*up, float(high))})
    if outside:
        return Verdict.REFUTED, outside
    return (Verdict.HOLDS, inside) if len(inside) == 2 else (Verdict.UNDECIDED, {})


def _decide(mean: Mean, context: Context) -> Evidence:
    low, high = mean.edges()
    if low <= 0 and high >= 1:
        raise Vacuous(f"tol={mean.tol} must be smaller: target +- tol covers [{mean.lower}, {mean.upper}], so that no "
                      "sample could refute it")
    limit = mean.cap if context.budget is None else context.budget
    histogram, total, n, chunks = np.zeros(2 * mean.cells + 1, dtype=np.int64), 0.0, 0, 0
    verdict: Verdict = Verdict.UNDECIDED
    block = -(-_TOLD_APART // mean.chunk)  # chunks that suffice to tell streams apart
    kept: list[Any] = []
    rejected: dict[str, float | None] = {}
    while verdict is Verdict.UNDECIDED and n < limit:
        # always a whole chunk, cut here: the bits of a stream depend on neither the cap nor the budget
        drawn = _draw(mean, context.stream, chunks, mean.chunk)
        x, kept = drawn[:limit - n], [*kept, drawn]
        histogram, total, n, chunks = histogram + _histogram(mean, x), total + float(x.sum()), n + len(x), chunks + 1
        verdict, rejected = _look(mean, histogram, context.alpha)
        if verdict is Verdict.HOLDS:  # decided early, it may not have been seen to use its key
            kept += [_draw(mean, context.stream, i, mean.chunk) for i in range(chunks, 2 * block)]
        if len(kept) == 2 * block:
            if _repeats(np.concatenate(kept[:block]), np.concatenate(kept[block:])):
                raise ValueError(f"the sample is the same for every key (chunks up to {chunks}); use the key")
            kept = kept[block:]
    where = {"stream": context.stream, "chunk": mean.chunk, "chunks": chunks, "observations": n}
    return Evidence(
        rung=Rung.STATISTICAL, verdict=verdict,
        scope=f"{mean.what} against {float(mean.number()):.6g}, tol={mean.tol:g}, alpha={context.alpha:g}, n = {n}",
        summary=_summary(mean, verdict, histogram, total / n, context.alpha),
        witness={**where, "alpha": context.alpha} if verdict is Verdict.REFUTED else None,
        certificate=_certificate(mean, verdict, rejected, histogram, context.alpha, where),
        trusted_base=("the sampler and its generator", "floating point"))


def _repeats(one: Any, other: Any) -> bool:
    """Whether two stretches of 64 observations or more are equal beyond chance: 20 or more apart from the commonest, at the
    same places, which has probability below 1e-16 if the stretches are independent."""
    if not np.array_equal(one, other):
        return False
    return len(one) - int(np.unique(one, return_counts=True)[1].max()) >= 20


def _summary(mean: Mean, verdict: Verdict, histogram: Any, estimate: float, alpha: float) -> str:
    low, high = interval(*_both(histogram), math.log(2 / alpha) + MARGIN)
    ends = [mean.lower + end * (mean.upper - mean.lower) for end in (low, high)]
    found = f"estimate {estimate:.6g}, interval [{ends[0]:.6g}, {ends[1]:.6g}] of level 1 - {alpha:g}"
    band = f"{float(mean.number()):.6g} +- {mean.tol:g}"
    if verdict is Verdict.UNDECIDED:
        n = int(histogram.sum())
        return f"no decision after {n} observations: {found}, neither inside {band} nor outside it"
    return f"the mean lies {'within' if verdict is Verdict.HOLDS else 'outside'} {band}: {found}"


def _certificate(mean: Mean, verdict: Verdict, rejected: Mapping[str, float | None], histogram: Any, alpha: float,
                 where: Mapping[str, Any]) -> dict[str, Any] | None:
    if verdict is Verdict.UNDECIDED:
        return None
    return {"kind": "histogram", "engine": mean.engine, "verdict": verdict.name, "alpha": alpha,
            **{k: str(v) for k, v in mean.exact().items()}, "cells": mean.cells,
            "counts": [[int(i), int(histogram[i])] for i in np.flatnonzero(histogram)],
            "bets": [[str(s), str(w)] for s, w in zip(STAKES, WEIGHTS, strict=True)],
            "rejected": dict(rejected), **where}


def _survives(mean: Mean, witness: Mapping[str, Any]) -> bool:
    """Whether the statement survives the stream of a witness: its ends against the raw observations, drawn again,
    looking after each. The search used none of this code: no histogram, no chunks, no rounding."""
    low, high = mean.edges()
    if low > 1 or high < 0:
        return False
    size = int(witness.get("chunk", mean.chunk))
    drawn = [_draw(mean, witness["stream"], i, size) for i in range(int(witness["chunks"]))]
    x = np.concatenate(drawn)[:int(witness.get("observations", size * len(drawn)))]
    if low == 1 or high == 0:  # the band touches the bounds in one point: every observation must be that point
        return bool((x == (mean.upper if low == 1 else mean.lower)).all())

    def exceeds(y: Any, null: float) -> bool:
        return null < 1 and first_rejection(y, null, alpha=float(witness["alpha"]) / 2) is not None

    width = mean.upper - mean.lower
    return not (exceeds((x - mean.lower) / width, float(high)) or exceeds((mean.upper - x) / width, float(1 - low)))


def _binds(mean: Mean, certificate: Mapping[str, Any]) -> bool:
    """Whether a certificate is about this statement and this sampler: the numbers agree, and the stream drawn again
    gives its histogram."""
    if certificate["engine"] != mean.engine or certificate["cells"] != mean.cells or any(
            Fraction(certificate[k]) != v for k, v in mean.exact().items()):
        return False
    stated = np.zeros(2 * mean.cells + 1, dtype=np.int64)
    for i, count in certificate["counts"]:
        stated[i] = count
    left, histogram = int(certificate["observations"]), np.zeros_like(stated)
    for chunk in range(int(certificate["chunks"])):
        x = _draw(mean, certificate["stream"], chunk, mean.chunk)[:left]
        left, histogram = left - len(x), histogram + _histogram(mean, x)
        if (histogram > stated).any():  # said at once: a made-up histogram may speak of any number of observations
            return False
    return left == 0 and certificate["chunk"] == mean.chunk and bool((histogram == stated).all())

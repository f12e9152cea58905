"""Checks a betting certificate from its histogram: the wealth recomputed, the verdict derived. Standard library only.

The histogram has 2 cells + 1 entries: 2k for observations at k cells exactly, 2k + 1 for those between k and k + 1, so
that [i // 2, (i + 1) // 2] encloses each observation. A null about the mean is rejected when the mixture wealth, with
the observations moved outward, reaches 2/alpha. The bets must be the ones fixed before any data (`BETS`, written here a
second time): bets chosen afterwards prove nothing. Not seen from here: that the histogram came out of the stream."""
from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from proofs_checks.harness.checkers._subject import only
from proofs_checks.harness.recheck import CertificateError
from proofs_checks.harness.trees import number

__all__ = ["BETS", "check"]

# (stake, weight): shares of the largest admissible bet, and of the initial wealth
BETS = [("1", "1/10"), ("31/32", "1/20"), ("15/16", "1/20"), ("7/8", "1/20")] + [
    (str(Fraction(3 - i % 2, 2 ** (2 + i // 2))), str(Fraction(90, 7 * (i + 12) * (i + 13)))) for i in range(28)]
AGREE = 1e-6  # between the stated and the recomputed log-wealth
CELLS_MAX = 2**20


def check(certificate: Mapping[str, Any]) -> str:
    """The error probability at which the verdict holds, in words.

    CertificateError unless the histogram yields the verdict at the certificate's alpha."""
    only(certificate, "verdict", "alpha", "lower", "upper", "target", "tol", "cells", "counts", "bets", "rejected", "stream",
         "chunk", "chunks", "observations")
    lower, upper, target, tol = (_rational(certificate, k) for k in ("lower", "upper", "target", "tol"))
    if not (lower < upper and tol > 0):
        raise CertificateError("needs lower < upper and tol > 0")
    alpha = certificate["alpha"]
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        raise CertificateError(f"alpha={alpha!r} must lie strictly between 0 and 1")
    if [tuple(b) for b in certificate["bets"]] != BETS:
        raise CertificateError("the bets are not those fixed before the data")
    _check_subject(certificate, {"lower": lower, "upper": upper, "target": target, "tol": tol})
    cells, counts = _histogram(certificate)
    ends = [(target + sign * tol - lower) / (upper - lower) for sign in (-1, 1)]
    found = _rejected(certificate["verdict"], ends, cells, counts, math.log(2 / alpha))
    stated = certificate["rejected"]
    if set(stated) != set(found):
        raise CertificateError(f"the histogram rejects {sorted(found)}, the certificate states {sorted(stated)}")
    for null, wealth in found.items():
        if (wealth is None) != (stated[null] is None) or (wealth is not None and abs(stated[null] - wealth) > AGREE):
            raise CertificateError(f"log-wealth against {null!r} is {wealth}, stated {stated[null]}")
    return f"wealth computed again from the histogram, alpha={alpha:g}"


def _rejected(verdict: str, ends: list[Fraction], cells: int, counts: list[tuple[int, int]], needed: float
              ) -> dict[str, float | None]:
    """The nulls that the verdict rests on, with the log-wealth against each; None where the bounds alone reject it."""
    low, high = ends
    down = [(Fraction(i // 2, cells), c) for i, c in counts]  # values moved against "the mean is at most .."
    up = [(1 - Fraction((i + 1) // 2, cells), c) for i, c in counts]  # and, mirrored, against "at least .."
    if verdict == "HOLDS":
        if low <= 0 and high >= 1:
            raise CertificateError("vacuous: target +- tol covers [lower, upper]")
        wealth = {"mean <= target - tol": None if low <= 0 else _log_wealth(down, low),
                  "mean >= target + tol": None if high >= 1 else _log_wealth(up, 1 - high)}
        if any(w is not None and w < needed for w in wealth.values()):
            raise CertificateError(f"the histogram does not imply HOLDS: log-wealth {wealth}, needed {needed}")
        return wealth
    if verdict != "REFUTED":
        raise CertificateError(f"verdict {verdict!r} is neither HOLDS nor REFUTED")
    sides = {"mean >= target - tol": _log_wealth(up, 1 - low), "mean <= target + tol": _log_wealth(down, high)}
    found = {null: None if w == math.inf else w for null, w in sides.items() if w >= needed}
    if not found:
        raise CertificateError(f"the histogram does not imply REFUTED: log-wealth {sides}, needed {needed}")
    return found


def _log_wealth(data: list[tuple[Fraction, int]], null: Fraction) -> float:
    """A lower bound of the log-wealth against "the mean is at most `null`"; infinite where that is impossible."""
    if null >= 1:
        return 0.0
    if null <= 0:
        return math.inf if null < 0 or any(value > 0 for value, _ in data) else 0.0
    ratios = [(float(value / null), count) for value, count in data]
    logs = [math.log(Fraction(w)) + _log_product(float(Fraction(s)), ratios) for s, w in BETS]
    top = max(logs)
    slack = 1e-15 * (sum(count for _, count in data) + 100)  # a few ulp a factor; (1 - s) + s r cancels nothing
    return top + math.log(math.fsum(math.exp(v - top) for v in logs)) - slack


def _log_product(stake: float, ratios: list[tuple[float, int]]) -> float:
    if stake == 1 and any(r == 0 for r, _ in ratios):
        return -math.inf  # everything was staked, and lost
    return math.fsum(count * math.log((1 - stake) + stake * r) for r, count in ratios)


def _histogram(certificate: Mapping[str, Any]) -> tuple[int, list[tuple[int, int]]]:
    """The grid and the counts, with the bookkeeping of chunks checked."""
    cells, n, chunk, chunks = (certificate[k] for k in ("cells", "observations", "chunk", "chunks"))
    counts = [(i, c) for i, c in certificate["counts"]]
    numbers = [cells, n, chunk, chunks, *(v for pair in counts for v in pair)]
    if any(type(v) is not int for v in numbers):
        raise CertificateError("cells, counts, observations, chunk and chunks must be whole numbers")
    if not 2 <= cells <= CELLS_MAX:
        raise CertificateError(f"cells={cells} must lie between 2 and {CELLS_MAX}")
    index = [i for i, _ in counts]
    if index != sorted(set(index)) or not index or index[0] < 0 or index[-1] > 2 * cells:
        raise CertificateError("the histogram's entries must rise from 0 to 2 cells at most, without repetition")
    if any(c < 1 for _, c in counts) or sum(c for _, c in counts) != n:
        raise CertificateError(f"counts must be positive and sum to observations={n}")
    if not (chunk * (chunks - 1) < n <= chunk * chunks) or not isinstance(certificate["stream"], str):
        raise CertificateError(f"{n} observations are not {chunks} chunks of {chunk}")
    return cells, counts


def _check_subject(certificate: Mapping[str, Any], numbers: Mapping[str, Fraction]) -> None:
    """The numbers must be those of a subject in the header, which the hash covers."""
    mine = [s for s in certificate["subjects"] if isinstance(s, dict) and s.get("engine") == certificate["engine"]]
    if not any(all(s.get(k) == float(v) for k, v in numbers.items()) for s in mine):
        raise CertificateError("no subject in the header has this engine, target, tolerance and bounds")


def _rational(certificate: Mapping[str, Any], name: str) -> Fraction:
    text = certificate[name]
    if not isinstance(text, str):
        raise CertificateError(f"{name}={text!r} must be a rational as text")
    try:
        return number(text)  # not Fraction(text), which writes out "1e999999999"
    except ValueError:
        raise CertificateError(f"{name}={text[:50]!r} must be a rational written as 'p' or 'p/q'") from None

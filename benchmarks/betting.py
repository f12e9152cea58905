"""Are the statistical engines ever wrong, and how many observations do they need?

    python benchmarks/betting.py [--runs 1000] [--seed 0]

Part 1: `mean_within` and `slope_within` on true and on false targets, each run on a stream of its own; at alpha = 1e-6
no verdict may be wrong. Part 2: the median number of observations to rejection at alpha = 1e-6, over what any test
needs on average as alpha falls, ln(1/alpha) / KL_inf. KL_inf, the smallest divergence of the observations from a law of
mean m, is the largest growth rate of a bet, max over 0 <= s <= 1 of E log(1 - s + s y/m) (Honda and Takemura 2010).
Exit code 1 on a wrong verdict or a ratio above 1.35. The seed names the streams; it was not chosen."""
from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":  # this folder must not be on the path: this file is called like a standard module
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np

from proofs_checks.engines import exponent, sequential
from proofs_checks.harness.evidence import Context, Verdict

ALPHA, TARGET = 1e-6, 1.35
WIDTHS = [2**j for j in range(4, 11)]


class Law(NamedTuple):
    """Observations in [0, 1]: how to draw them, and points of equal (or given) weight that stand for the law."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    points: np.ndarray
    weights: np.ndarray


def bernoulli(p: float) -> Law:
    """Zeros and ones of mean p."""
    return Law(lambda rng, n: (rng.random(n) < p).astype(float), np.array([0.0, 1.0]), np.array([1 - p, p]))


def beta(mean: float, sd: float) -> Law:
    """A beta law of this mean and standard deviation."""
    from scipy.special import betaincinv

    size = mean * (1 - mean) / sd**2 - 1
    a, b, grid = mean * size, (1 - mean) * size, (np.arange(20_000) + 0.5) / 20_000
    return Law(lambda rng, n: rng.beta(a, b, n), betaincinv(a, b, grid), np.full(len(grid), 1 / len(grid)))


# the cases of the design, with the ratio measured there for 40 log-spaced bets, then others
CASES = {
    "Bernoulli .6 against .5": (bernoulli(0.6), 0.5, 1.13),
    "Bernoulli .55 against .5": (bernoulli(0.55), 0.5, 1.18),
    "Bernoulli .52 against .5": (bernoulli(0.52), 0.5, 1.17),
    "Bernoulli .99 against .95": (bernoulli(0.99), 0.95, 1.31),
    "Bernoulli .999 against .99": (bernoulli(0.999), 0.99, 1.32),
    "all ones against .99": (bernoulli(1), 0.99, 1.26),
    "all ones against .999": (bernoulli(1), 0.999, 1.26),
    "mean .52, sd .05 against .5": (beta(0.52, 0.05), 0.5, 1.20),
    "mean .51, sd .05 against .5": (beta(0.51, 0.05), 0.5, 1.15),
    "mean .501, sd .01 against .5": (beta(0.501, 0.01), 0.5, 1.27),
    "Bernoulli .1 against .05": (bernoulli(0.1), 0.05, None),
    "Bernoulli .03 against .01": (bernoulli(0.03), 0.01, None),
    "Bernoulli .8 against .5": (bernoulli(0.8), 0.5, None),
    "mean .9, sd .1 against .85": (beta(0.9, 0.1), 0.85, None)}


def kl_inf(law: Law, null: float) -> float:
    """The largest growth rate of any bet against "the mean is at most `null`", by ternary search (it is concave)."""
    def rate(s: float) -> float:
        with np.errstate(divide="ignore"):
            logs = np.log((1 - s) + s * law.points / null)
        return float((law.weights * np.where(law.weights > 0, logs, 0)).sum()) if s < 1 or (
            law.points[law.weights > 0] > 0).all() else -math.inf

    low, high = 0.0, 1.0
    for _ in range(200):
        third = (high - low) / 3
        low, high = (low + third, high) if rate(low + third) < rate(high - third) else (low, high - third)
    return max(rate(low), rate(high))


def ratio(law: Law, null: float, runs: int, seed: int) -> tuple[float, float]:
    """The oracle's number of observations and the median over it."""
    oracle = math.log(1 / ALPHA) / kl_inf(law, null)
    runs = 1 if law.weights[0] == 0 else runs  # all ones: every run is the same

    def needed(run: int) -> float:
        x = law.draw(np.random.default_rng([seed, run]), 4 * int(oracle) + 100)
        found = sequential.first_rejection(x, null, alpha=ALPHA)
        return math.inf if found is None else found

    return oracle, float(np.median([needed(i) for i in range(runs)])) / oracle


def walks(slope: float) -> Callable[[int, int], np.ndarray]:
    """Values |N(0, 1)| width^slope."""
    def sample(key: int, n: int) -> np.ndarray:
        noise = np.random.default_rng(key).normal(size=(len(WIDTHS), n))
        return np.abs(noise) * np.array(WIDTHS)[:, None] ** slope  # widths replicates

    return sample


def verdicts(runs: int, seed: int) -> Iterator[tuple[str, dict[str, int], int]]:
    """Each engine on a true and on false targets: its name, how often each verdict, how often a wrong one."""
    def flips(key: int, n: int) -> np.ndarray:
        return (np.random.default_rng(key).random(n) < 0.3).astype(float)

    def ramp(key: int, n: int) -> np.ndarray:
        return np.random.default_rng(key).beta(2, 6, n)

    made = {"mean_within, Bernoulli .3": (lambda t: sequential.mean_within(flips, t, tol=0.04), 0.3, (0.22, 0.38, 0.5)),
            "mean_within, beta(2, 6)": (lambda t: sequential.mean_within(ramp, t, tol=0.02), 0.25, (0.21, 0.29, 0.75)),
            "slope_within, exponent -1/2": (lambda t: exponent.slope_within(walks(-0.5), t, tol=0.05, widths=WIDTHS),
                                            -0.5, (-1 / 3, -1.0, -0.6))}
    for name, (make, true, false) in made.items():
        for target in (true, *false):
            right = Verdict.HOLDS if target == true else Verdict.REFUTED
            said = [make(target).run(Context(stream=f"benchmark/{seed}/{name}/{target}/{i}", alpha=ALPHA)).verdict
                    for i in range(runs)]
            counts = {v.name: said.count(v) for v in Verdict if v in said}
            wrong = sum(v not in (right, Verdict.UNDECIDED) for v in said)
            yield f"{name}, target {target:.4g} ({'true' if target == true else 'false'})", counts, wrong


def main() -> int:
    """Print the results; 1 if a verdict was wrong or a ratio too large."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.runs < 1:
        parser.error(f"--runs {options.runs} must be at least 1")
    wrong, worst, start = 0, 0.0, time.perf_counter()
    for name, counts, bad in verdicts(options.runs, options.seed):
        wrong += bad
        print(f"{name:58s} {', '.join(f'{v} {c}' for v, c in counts.items()):28s} wrong {bad}", flush=True)
    print(f"wrong verdicts: {wrong} ({time.perf_counter() - start:.1f} s)")
    print(f"{'median to rejection at alpha = 1e-6':36s}{'oracle n':>10s}{'ratio':>8s}{'40 bets':>9s}")
    for name, (law, null, before) in CASES.items():
        oracle, found = ratio(law, null, options.runs, options.seed)
        worst = max(worst, found)
        print(f"{name:36s}{oracle:10.0f}{found:8.3f}{'' if before is None else f'{before:.2f}':>9s}", flush=True)
    print(f"largest ratio: {worst:.3f} (needed <= {TARGET}), {options.runs} runs a case"
          f" ({time.perf_counter() - start:.1f} s in all)")
    return int(wrong > 0 or worst > TARGET)


if __name__ == "__main__":
    sys.exit(main())

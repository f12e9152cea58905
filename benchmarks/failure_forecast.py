"""What a debiased forecast with its limits costs, and fine-tuning on the forecastability loss in many random gridworlds: what
it does to held-out error and to return.

python benchmarks/failure_forecast.py [WORLDS]   (192 worlds: about 5 minutes of CPU; 0: the cost only)"""
from __future__ import annotations

import sys
import time

import numpy as np

from simulations.failure_forecast import Outcome, experiment
from theory.failure_forecast import debiased_forecast

BATCH = 48  # worlds a key


def interval(differences: np.ndarray, level: float = 0.95) -> tuple[float, float, float]:
    """Mean over worlds, with a percentile bootstrap interval over worlds."""
    rng = np.random.default_rng(0)
    means = differences[rng.integers(0, len(differences), (20_000, len(differences)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(differences.mean()), float(low), float(high)


def report(found: dict[str, np.ndarray]) -> None:
    """Paired differences: return and forecastability, less return alone."""
    change = found["forecastable"] - found["return"]  # worlds figures
    print(f"{len(change)} worlds; change by the loss beside return alone, 95 % intervals over worlds")
    for i, name in enumerate(Outcome._fields):
        mean, low, high = interval(change[:, i])
        levels = ", ".join(f"{key} {values[:, i].mean():.4f}" for key, values in found.items())
        print(f"  {name:8s} {mean:+.5f} [{low:+.5f}, {high:+.5f}]   ({levels})")
    error = change[:, 0]
    print(f"  error lower by more than 0.005 in {(error < -0.005).sum()}, higher in {(error > 0.005).sum()} worlds")


def cost(k: int, deployment: float, calls: int = 50) -> float:
    """Least CPU seconds of a call, no two of which share a deployment."""
    p, spent = np.random.default_rng(0).uniform(0.01, 0.9, 1000), []
    for i in range(calls):
        start = time.process_time()
        debiased_forecast(p, deployment + i, k)
        spent.append(time.process_time() - start)
    return min(spent)


if __name__ == "__main__":
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 192
    for k, size in ((2, 1e5), (10, 1e6), (50, 1e4), (500, 2)):
        print(f"a debiased forecast with its limits, n=1000, k={k}, N={size:g}: {1e3 * cost(k, size):.2f} ms of CPU")
    if not worlds:
        sys.exit()
    parts = [experiment(101 + i, seeds=min(BATCH, worlds - i * BATCH)) for i in range(-(-worlds // BATCH))]
    report({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})

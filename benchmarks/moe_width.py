"""How long do sweeps over the width take, against a plain NumPy loop, and how much memory does a wide run need?

    python benchmarks/moe_width.py [--seeds 24] [--steps 12] [--plain 2]

7 widths (64 .. 4096) x seeds x steps for the four gates, maximal update, 16 samples, 8 dimensions, 4 experts, 32 bit:
first cold, with the compilation cache switched off, then warm. Beside it, in the same run, a plain loop over samples and
experts in NumPy at the largest width, `--plain` seeds of it, with the same records.
Then width 65,536, and the process's peak memory before and after. Exit code 1 where the plain loop is less than 10
times slower."""
from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # this folder must not be on the path: a file of it is called like a standard module
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # the matrices are small: threads only wait for each other
        os.environ.setdefault(name, "1")

import numpy as np

from proofs_checks import _moe_width as plain
from simulations import moe_width as sim
from simulations._jax import jax

WIDTHS = [64 << j for j in range(7)]
GATES = {"softmax": 1, "sigmoid": 1, "topk_renorm": 2, "topk_masked": 1}
NEEDED = 10.0


def sweep(seeds: int, steps: int) -> dict[int, tuple[float, float]]:
    """Seconds at each width, all gates together: wall and CPU."""
    x, y = sim.example_data(16, 8)
    spent = {}
    for width in WIDTHS:
        start, cpu = time.perf_counter(), time.process_time()
        for gate, active in GATES.items():
            sim.simulate(width, gate=gate, active=active, parametrisation="mup", x=x, y=y, seeds=seeds, steps=steps)
        spent[width] = time.perf_counter() - start, time.process_time() - cpu
    return spent


def record(net: Any, begin: Any, x: Any, y: Any, gate: str, active: int) -> tuple[float, ...]:
    """What `simulate` records, in loops over samples and experts."""
    width, experts = len(net["U"]), len(net["a"])
    loss = distance = moved = trunk = slope = 0.0
    for point, target in zip(x, y, strict=True):
        h = np.tanh(net["U"] @ point)
        trunk += ((h - np.tanh(begin["U"] @ point)) ** 2).sum()
        f, r = np.empty(experts), np.empty(experts)
        for e in range(experts):
            z = np.tanh(net["V"][e] @ point)
            moved += ((z - np.tanh(begin["V"][e] @ point)) ** 2).sum()
            f[e], r[e] = net["a"][e] @ z / width, net["w"][e] @ h / width
        g, bend = plain.plain_gates(r, f, gate, active)
        loss += (g @ f - target) ** 2 / 2
        slope += ((g @ f - target) ** 2 * bend**2).sum()
        distance += sum((f[i] - f[j]) ** 2 for i in range(experts) for j in range(experts))
    return loss, distance, moved, trunk, slope


def plain_loop(width: int, seeds: int, steps: int) -> tuple[float, float]:
    """Seconds a seed of the plain loop with the same records, mean over the gates: wall and CPU."""
    x, y = sim.example_data(16, 8)
    start, cpu = time.perf_counter(), time.process_time()
    for seed in range(seeds):
        for gate, active in GATES.items():
            net = begin = plain.start(seed, width, 4, 8)
            for _ in range(steps):
                record(net, begin, x, y, gate, active)
                net = plain.plain_step(net, x, y, gate, active, 2.0)
            record(net, begin, x, y, gate, active)
    runs = seeds * len(GATES)
    return (time.perf_counter() - start) / runs, (time.process_time() - cpu) / runs


def peak() -> float:
    """Peak memory of the process in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Print the results; 1 if the ratio is too small."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--plain", type=int, default=2, help="seeds of the plain loop")
    given = parser.parse_args()
    if min(vars(given).values()) < 1:
        parser.error("--seeds, --steps and --plain must be at least 1")
    jax.config.update("jax_enable_compilation_cache", False)
    for label in ("cold", "warm"):
        spent = sweep(given.seeds, given.steps)
        wall, cpu = (sum(t[i] for t in spent.values()) for i in (0, 1))
        print(f"{label}: {wall:.2f} s wall, {cpu:.2f} s CPU for {len(WIDTHS)} widths x {given.seeds} seeds x {given.steps} "
              f"steps x {len(GATES)} gates; CPU by width "
              + ", ".join(f"{n}: {t[1]:.2f}" for n, t in spent.items()), flush=True)
    loop = plain_loop(WIDTHS[-1], given.plain, given.steps)
    own = [t / given.seeds / len(GATES) for t in spent[WIDTHS[-1]]]
    ratio = loop[1] / own[1]
    print(f"width {WIDTHS[-1]}, one seed: plain loop {loop[0]:.3f} s wall, {loop[1]:.3f} s CPU; compiled {own[0]:.4f} s wall, "
          f"{own[1]:.4f} s CPU; ratio of CPU {ratio:.1f} (needed >= {NEEDED:g})", flush=True)
    before, start = peak(), time.perf_counter()
    x, y = sim.example_data(16, 8)
    trace = sim.simulate(65_536, gate="softmax", parametrisation="mup", x=x, y=y, seeds=4, steps=given.steps)
    print(f"width 65536, 4 seeds: {time.perf_counter() - start:.2f} s, peak memory {before:.0f} -> {peak():.0f} MiB, "
          f"distance of experts {trace.expert_distance[:, -1].mean():.2e}")
    return int(ratio < NEEDED)


if __name__ == "__main__":
    sys.exit(main())

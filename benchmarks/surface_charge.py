"""How accurate and how fast is the boundary-element solver, and how far does it reach?

    python benchmarks/surface_charge.py [--large]

Part 1: the sphere under a charge at 1.5 radii, against its image charge; at 2,880 faces the relative rms must be at most
0.25 % and the time at most 3 s, once compiled. Part 2: seconds to assemble the matrix in compiled loops and in JAX. Part 3
(--large): 32,000 faces without a matrix, with the peak of the memory. Exit code 1 where a target is missed."""
from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np

from simulations.surface_charge import _panels, icosphere, solve
from simulations.surface_charge._mesh import checked_mesh
from simulations.surface_charge._solve import matrix

SOURCE = np.array([0.0, 0.0, 1.5])


def sphere(frequency: int) -> tuple[int, float, float, float]:
    """(faces, relative rms, total charge, seconds)."""
    vertices, faces = icosphere(frequency)
    start = time.perf_counter()
    found = solve(vertices, faces, [SOURCE], [1.0])
    seconds = time.perf_counter() - start
    x = vertices[faces].mean(axis=1)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    truth = -(1.5**2 - 1) / (4 * np.pi * np.linalg.norm(x - SOURCE, axis=1) ** 3)
    rms = float(np.sqrt(((found.sigma - truth) ** 2).mean() / (truth**2).mean()))
    return len(faces), rms, found.total_charge, seconds


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also 32,000 faces, minutes")
    given = parser.parse_args()
    sphere(2)  # compiles
    rows = [sphere(f) for f in (4, 6, 8, 12, 16)]
    print("faces   rms %    total charge (exact -0.66667)   seconds   order in h")
    for i, (n, rms, charge, seconds) in enumerate(rows):
        order = "" if not i else f"{2 * np.log(rows[i - 1][1] / rms) / np.log(n / rows[i - 1][0]):.2f}"
        print(f"{n:>6} {100 * rms:>7.3f} {charge:>14.5f} {seconds:>27.2f}   {order:>8}")
    made = checked_mesh(*icosphere(12))
    seconds = []
    for assemble in (lambda: matrix(made), lambda: np.asarray(_panels.matrix(made.centres, made.corners, made.normals))):
        assemble()
        start = time.perf_counter()
        assemble()
        seconds.append(time.perf_counter() - start)
    print(f"matrix of 2,880 faces: loops {seconds[0]:.2f} s, jax {seconds[1]:.2f} s, ratio {seconds[1] / seconds[0]:.1f}")
    if given.large:
        n, rms, charge, taken = sphere(40)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{n} faces without a matrix: rms {100 * rms:.3f} %, charge {charge:.5f}, {taken:.0f} s, peak {peak:.0f} MB"
              f" (a matrix would take {8 * n * n / 2**20:.0f} MB)")
    missed = rows[3][1] > 0.0025 or rows[3][3] > 3.0
    print("targets at 2,880 faces:", "MISSED" if missed else "met")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())

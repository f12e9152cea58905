"""How accurate and how fast is the boundary-element solver, how far does it reach, and what do corridors cost?

    python benchmarks/surface_charge.py [--large] [--bempp PYTHON]

Part 1: the sphere under a charge at 1.5 radii, against its image charge; at 2,880 faces the relative rms must be at most
0.25 % and the time at most 3 s, once compiled. Part 2: seconds to assemble the matrix in compiled loops and in JAX. Part 3:
corridors, relative rms of the local formulas and of a network on those held out, and seconds a corridor.
--large: 19,220 faces with a matrix and 33,620 without, each in a process of its own, with its peak memory.
--bempp: the same sphere by bempp-cl (Galerkin, piecewise constant), in the interpreter that has it.
Exit code 1 where a target is missed."""
from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np

from simulations.surface_charge import _corridor, _panels, icosphere, solve
from simulations.surface_charge._mesh import checked_mesh
from simulations.surface_charge._solve import matrix

SOURCE = np.array([0.0, 0.0, 1.5])
BEMPP = """
import sys, time
import numpy as np
import bempp_cl.api as api
api.DEFAULT_DEVICE_INTERFACE = "numba"

@api.real_callable
def minus_phi(x, n, domain_index, result):
    result[0] = -1.0 / (x[0] ** 2 + x[1] ** 2 + (x[2] - 1.5) ** 2) ** 0.5

for refinements in (3, 3, 4, 5):
    start, cpu = time.perf_counter(), time.process_time()
    grid = api.shapes.regular_sphere(refinements)
    space = api.function_space(grid, "DP", 0)
    single = api.operators.boundary.laplace.single_layer(space, space, space)
    found, failed = api.linalg.gmres(single, api.GridFunction(space, fun=minus_phi), tol=1e-8)
    sigma = found.coefficients / (4 * np.pi)
    x = grid.vertices.T[grid.elements.T].mean(axis=1)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    truth = -(1.5 ** 2 - 1) / (4 * np.pi * np.linalg.norm(x - [0, 0, 1.5], axis=1) ** 3)
    rms = np.sqrt(((sigma - truth) ** 2).mean() / (truth ** 2).mean())
    print(len(sigma), rms, grid.volumes @ sigma, time.perf_counter() - start, time.process_time() - cpu, flush=True)
"""


def sphere(frequency: int) -> tuple[int, float, float, float, float]:
    """(faces, relative rms, total charge, seconds, CPU seconds)."""
    vertices, faces = icosphere(frequency)
    start, cpu = time.perf_counter(), time.process_time()
    found = solve(vertices, faces, [SOURCE], [1.0])
    seconds, spent = time.perf_counter() - start, time.process_time() - cpu
    x = vertices[faces].mean(axis=1)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    truth = -(1.5**2 - 1) / (4 * np.pi * np.linalg.norm(x - SOURCE, axis=1) ** 3)
    rms = float(np.sqrt(((found.sigma - truth) ** 2).mean() / (truth**2).mean()))
    return len(faces), rms, found.total_charge, seconds, spent


def spheres() -> bool:
    """Print accuracy and time; whether the targets are met."""
    sphere(2)  # compiles
    rows = [sphere(f) for f in (4, 6, 8, 12, 16)]
    print("faces   rms %    total charge (exact -0.66667)   seconds   CPU   order in h")
    for i, (n, rms, charge, seconds, cpu) in enumerate(rows):
        order = "" if not i else f"{2 * np.log(rows[i - 1][1] / rms) / np.log(n / rows[i - 1][0]):.2f}"
        print(f"{n:>6} {100 * rms:>7.3f} {charge:>14.5f} {seconds:>27.2f} {cpu:>7.2f} {order:>8}")
    return rows[3][1] <= 0.0025 and rows[3][3] <= 3.0


def assembly() -> None:
    """Print seconds of the matrix in loops and in JAX."""
    made = checked_mesh(*icosphere(12))
    seconds = []
    for assemble in (lambda: matrix(made), lambda: np.asarray(_panels.matrix(made.centres, made.corners, made.normals))):
        assemble()
        start = time.process_time()
        assemble()
        seconds.append(time.process_time() - start)
    print(f"matrix of 2,880 faces, CPU: loops {seconds[0]:.2f} s, jax {seconds[1]:.2f} s, ratio {seconds[1] / seconds[0]:.1f}")


def corridors() -> None:
    """Print the medians of the held-out corridors, and what one costs by boundary elements and by the formulas."""
    errors = _corridor.corridor_errors()
    medians = ", ".join(f"{name} {100 * np.median(values):.1f} %" for name, values in errors.items())
    print(f"{_corridor.HELD_OUT} held-out corridors, median relative rms: {medians}")
    made = _corridor.make_corridor(_corridor.COUNT - 1)
    places = _corridor.published()[-1][1]

    def cost(run: Any) -> str:
        run()
        start, cpu = time.perf_counter(), time.process_time()
        run()
        return f"{time.perf_counter() - start:.2f} s wall, {time.process_time() - cpu:.2f} s CPU"

    print(f"a corridor: boundary elements {cost(lambda: _corridor.solved(made))}; formulas at {len(places)} places "
          f"{cost(lambda: _corridor.features(made, places))}")


def large(frequency: int) -> None:
    """One sphere, with the peak of this process's memory."""
    sphere(2)
    n, rms, charge, seconds, cpu = sphere(frequency)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{n} faces: rms {100 * rms:.3f} %, charge {charge:.5f}, {seconds:.0f} s wall, {cpu:.0f} s CPU, peak {peak:.0f} MiB "
          f"(a matrix takes {8 * n * n / 2**20:.0f} MiB)", flush=True)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true", help="also 19,220 and 33,620 faces, minutes")
    parser.add_argument("--bempp", metavar="PYTHON", help="an interpreter that has bempp-cl")
    parser.add_argument("--only", type=int, metavar="FREQUENCY", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        large(given.only)
        return 0
    met = spheres()
    assembly()
    corridors()
    for frequency in (31, 41) if given.large else ():
        subprocess.run([sys.executable, __file__, "--only", str(frequency)], check=True)
    if given.bempp:
        print("bempp-cl: faces, rms, total charge, seconds, CPU; the first row compiles", flush=True)
        subprocess.run([given.bempp, "-c", BEMPP], check=True)
    print("targets at 2,880 faces:", "met" if met else "MISSED")
    return int(not met)


if __name__ == "__main__":
    sys.exit(main())

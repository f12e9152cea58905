"""Points, sources and surfaces of the tests of surface charge."""
from __future__ import annotations

import numpy as np

from simulations.surface_charge import icosphere


def unit(count, seed=0):
    x = np.random.default_rng(seed).standard_normal((count, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def relative(found, truth):
    return float(np.sqrt(((found - truth) ** 2).mean() / (truth**2).mean()))


def cylinder_frame(arc, axial, a):
    angle = arc / a
    n = np.array([[np.cos(angle), np.sin(angle), 0.0]])
    t = np.array([-np.sin(angle), np.cos(angle), 0.0])
    return np.array([[a * n[0, 0], a * n[0, 1], axial]]), n, -np.outer(t, t)[None] / a


X = unit(40)
OUT, INSIDE, Q = 1.7 * unit(3, 1), 0.6 * unit(3, 2), np.array([1.0, -2.0, 0.5])
SPHERE = icosphere(4)

"""Arguments of the closed forms, checked once: shapes, unit normals, sources off the surface."""
from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["curvatures", "distances", "finite", "length", "positive", "shape_operators", "sources_and_charges", "surface"]

NEAREST, FURTHEST = 1e-100, 1e100  # distances whose cubes are floats
UNIT = 1e-6  # how far from 1 the length of a normal may be: single precision passes, a forgotten division does not


def finite(values: Any, name: str, shape: tuple[int | None, ...]) -> Any:
    """`values` as float64 of the given shape (None: any length). ValueError naming the argument otherwise."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={values!r} must be numbers of shape {_shape(shape)}") from error
    fits = array.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, array.shape, strict=True))
    if not fits:
        raise ValueError(f"{name} has shape {array.shape}, needed {_shape(shape)}")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}{list(where)}={array[where]} must be finite")
    return array


def _shape(shape: tuple[int | None, ...]) -> str:
    return "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"


def positive(value: Any, name: str) -> float:
    """A finite number > 0. ValueError naming the argument otherwise."""
    number = float(finite(value, name, ()))
    if not number > 0:
        raise ValueError(f"{name}={value!r} must be greater than 0")
    return number


def length(value: Any, name: str) -> float:
    """A length > 0 whose cube and its inverse are floats. ValueError naming the argument otherwise."""
    number = positive(value, name)
    if not NEAREST <= number <= FURTHEST:
        raise ValueError(f"{name}={value!r} must lie between {NEAREST:g} and {FURTHEST:g}; other units help")
    return number


def surface(points: Any, normals: Any) -> tuple[Any, Any]:
    """Points (n, 3) and normals (n, 3) of unit length."""
    x = finite(points, "points", (None, 3))
    n = finite(normals, "normals", (len(x), 3))
    length = np.sqrt((n * n).sum(axis=1))
    if len(n) and abs(length - 1).max() > UNIT:
        i = int(abs(length - 1).argmax())
        raise ValueError(f"normals[{i}]={n[i].tolist()} has length {length[i]:.9g}, needed unit length")
    return x, n


def curvatures(values: Any, count: int) -> Any:
    """Mean curvatures (n,)."""
    return finite(values, "mean_curvature", (count,))


def shape_operators(values: Any, normals: Any) -> Any:
    """Shape operators (n, 3, 3), symmetric, made tangential: what they do along the normal is dropped."""
    s = finite(values, "shape_operator", (len(normals), 3, 3))
    skew = abs(s - s.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
    if (skew > 1e-6 * abs(s).max(axis=(1, 2), initial=1e-300)).any():
        i = int(skew.argmax())
        raise ValueError(f"shape_operator[{i}]={s[i].tolist()} must be symmetric")
    project = np.eye(3) - normals[:, :, None] * normals[:, None, :]  # points 3 3
    return project @ s @ project


def distances(gap: Any, start: int = 0) -> Any:
    """Lengths (n, m) of the vectors (n, m, 3) from points to sources; `start` is the number of the first point.

    ValueError naming the source where a length's cube or its inverse leaves the range of a float."""
    with np.errstate(over="ignore", under="ignore"):
        R = np.sqrt((gap * gap).sum(axis=2))
    if R.size and not (R.min() >= NEAREST and R.max() <= FURTHEST):
        i, j = np.argwhere((R < NEAREST) | (R > FURTHEST))[0].tolist()
        raise ValueError(f"sources[{j}] lies at a distance of about {abs(gap[i, j]).max():.3g} from points[{start + i}], "
                         f"needed {NEAREST:g} to {FURTHEST:g}; other units help")
    return R


def sources_and_charges(points: Any, sources: Any, charges: Any) -> tuple[Any, Any]:
    """Sources (m, 3), none of them on a point, and charges (m,)."""
    p = finite(sources, "sources", (None, 3))
    q = finite(charges, "charges", (None,))
    if len(q) != len(p):
        raise ValueError(f"charges has {len(q)} entries, needed one for each of the {len(p)} sources")
    for j, source in enumerate(p):
        hit = (points == source).all(axis=1)
        if hit.any():
            raise ValueError(f"sources[{j}]={source.tolist()} lies on points[{int(hit.argmax())}]; it must lie off the "
                             f"conductor")
    return p, q

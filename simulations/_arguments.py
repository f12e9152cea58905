"""Arguments of simulators, checked with one message: what is wrong, its value, and what was needed."""
from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["between", "checked_key", "finite_array", "whole"]


def whole(value: Any, name: str, least: int, most: int | None = None) -> int:
    """A whole number from `least` up. ValueError naming the argument otherwise."""
    bad = isinstance(value, bool) or not isinstance(value, int | np.integer)
    if bad or value < least or (most is not None and value > most):
        raise ValueError(f"{name}={value!r} must be a whole number, at least {least}"
                         + ("" if most is None else f" and at most {most}"))
    return int(value)


def between(value: Any, name: str, low: float, high: float, needed: str) -> float:
    """A number with low < value < high; nan and what is no number are refused. ValueError naming the argument otherwise."""
    single = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(single, bool) or not isinstance(single, int | float | np.integer | np.floating) or not low < single < high:
        raise ValueError(f"{name}={value!r} must {needed}")
    return float(single)


def checked_key(value: Any, name: str = "key") -> int:
    """A key of random numbers: a whole number from 0 to 2^63 - 1. ValueError otherwise."""
    return whole(value, name, 0, 2**63 - 1)


def finite_array(values: Any, name: str) -> Any:
    """`values` as finite float64 of any shape. ValueError naming the argument for anything else, complex numbers too."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers")
        array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}={values!r:.80} must be real numbers in one regular array") from error
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds {array[~np.isfinite(array)][0]}; it must be finite")
    return array

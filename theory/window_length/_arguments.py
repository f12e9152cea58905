"""Arguments as exact numbers, or an error that names them."""
from __future__ import annotations

import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def rational(value: Any, name: str) -> Fraction:
    """A real number as the rational that it is. ValueError for anything else, nan and infinities too."""
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise ValueError(f"{name}={value!r} must be a finite real number") from None


def whole(value: Any, name: str, least: int, why: str = "") -> int:
    """An integer of at least `least`. ValueError otherwise; `why` says where the bound comes from."""
    try:
        found = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}={value!r} must be an integer") from None
    if found < least:
        raise ValueError(f"{name}={found} must be at least {least}{why}")
    return found


def sequence(value: Any, name: str) -> Sequence[Any]:
    """Something with a length and an order, not text. ValueError otherwise."""
    if isinstance(value, str | bytes) or not (hasattr(value, "__len__") and hasattr(value, "__getitem__")):
        raise ValueError(f"{name}={value!r} must be a sequence")
    return value

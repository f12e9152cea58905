"""Parents of a target from its whole law: which sets of columns leave an independent residual, and which has the least.

Notation  X_S = columns S, Y = target, R_S = Y - E[Y | X_S], v(S) = Var R_S; S is admissible if R_S is independent of
          the vector X_S. The principle takes the admissible set of least (v(S), |S|).
          It returns the parents of Y if the noise of Y is independent of its non-descendants, f depends on each parent
          and is no function of other non-descendants, and no admissible set with a descendant comes before the parents.
          Otherwise it may return something else, without a sign of it: an instrument, for one."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

__all__ = ["AdmissibleSet", "admissible_sets", "population_parents"]

LARGEST = 20  # columns; 2^20 sets are gone through


class AdmissibleSet(NamedTuple):
    """Columns whose residual is independent of them, and the residual's variance."""

    variance: Fraction
    variables: frozenset[int]


class _Law(NamedTuple):
    """Atoms of positive probability: columns (coded), targets and weights as integers."""

    columns: list[list[int]]
    targets: list[int]
    weights: list[int]
    unit: int  # targets are multiples of 1 / unit


def admissible_sets(joint: Mapping[tuple[Any, ...], Any]) -> list[AdmissibleSet]:
    """Every set S of columns with Y - E[Y | X_S] independent of X_S, by variance, then size, then numbers.

    `joint` maps (x_0, ..., x_{d-1}, y) to a probability; columns may hold anything hashable, y a rational (a float counts
    as the rational that it is). Exact: two laws are equal or they are not. The empty set is always there. All 2^d sets
    are gone through; ValueError for d > 20, probabilities that are negative or do not sum to 1, keys of other lengths.

    >>> coin = Fraction(1, 4)
    >>> joint = {(x, x + n): coin for x in (0, 1) for n in (0, 1)}  # Y = X_0 + coin
    >>> [(str(s.variance), sorted(s.variables)) for s in admissible_sets(joint)]
    [('1/4', [0]), ('1/2', [])]
    """
    law = _read(joint)
    found = [AdmissibleSet(variance, frozenset(chosen)) for chosen, variance in _walk(law, (), [0] * len(law.targets), 0)]
    return sorted(found, key=lambda s: (s.variance, len(s.variables), sorted(s.variables)))


def population_parents(joint: Mapping[tuple[Any, ...], Any]) -> list[AdmissibleSet]:
    """Every admissible set of least (variance, size): the parents, where the conditions above hold.

    More than one entry means that the law does not single out a set, as with copies of a column. Errors as in
    `admissible_sets`.

    >>> quarter = Fraction(1, 4)
    >>> joint = {(x, x, x + n): quarter for x in (0, 1) for n in (0, 1)}  # a column and its copy
    >>> [sorted(s.variables) for s in population_parents(joint)]
    [[0], [1]]
    """
    ranked = admissible_sets(joint)
    first = ranked[0]
    return [s for s in ranked if s.variance == first.variance and len(s.variables) == len(first.variables)]


def _walk(law: _Law, chosen: tuple[int, ...], labels: list[int], start: int
          ) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """`chosen` if it is admissible, then its extensions by later columns; atoms of one label agree on `chosen`."""
    variance = _independent(law, labels)
    if variance is not None:
        yield chosen, variance
    for j in range(start, len(law.columns)):
        finer: dict[tuple[int, int], int] = {}
        split = [finer.setdefault(pair, len(finer)) for pair in zip(labels, law.columns[j], strict=True)]
        yield from _walk(law, (*chosen, j), split, j + 1)


def _independent(law: _Law, labels: Sequence[int]) -> Fraction | None:
    """The residual's variance if its law is the same in every group, else None.

    Centred laws are equal iff the laws are equal up to a shift, so that integers are enough."""
    groups: dict[int, dict[int, int]] = {}
    for label, y, weight in zip(labels, law.targets, law.weights, strict=True):
        cell = groups.setdefault(label, {})
        cell[y] = cell.get(y, 0) + weight
    shape = None
    for cell in groups.values():
        lowest, divisor = min(cell), gcd(*cell.values())
        found = {y - lowest: weight // divisor for y, weight in cell.items()}
        if shape is None:
            shape = found
        elif shape != found:
            return None
    assert shape is not None
    mass, first = sum(shape.values()), sum(w * y for y, w in shape.items())
    second = sum(w * y * y for y, w in shape.items())
    return Fraction(mass * second - first * first, (mass * law.unit) ** 2)


def _read(joint: Mapping[tuple[Any, ...], Any]) -> _Law:
    if not isinstance(joint, Mapping) or not joint:
        raise ValueError(f"joint={joint!r} must map (x_0, ..., x_{{d-1}}, y) to probabilities")
    bad = next((key for key in joint if not isinstance(key, tuple) or not key), None)
    if bad is not None:
        raise ValueError(f"joint has the key {bad!r}; need a tuple (x_0, ..., x_{{d-1}}, y)")
    if len(lengths := sorted({len(key) for key in joint})) > 1:
        raise ValueError(f"joint has keys of lengths {lengths}; need one length, d + 1")
    if lengths[0] - 1 > LARGEST:
        raise ValueError(f"joint has {lengths[0] - 1} columns; need at most {LARGEST}, as all sets are gone through")
    masses = {key: _rational(value, f"joint[{key!r}]") for key, value in joint.items()}
    for key, value in masses.items():
        if value < 0:
            raise ValueError(f"joint has the negative probability {value} at {key!r}")
    if (total := sum(masses.values())) != 1:
        raise ValueError(f"joint sums to {total}; need exactly 1 (a float counts as the rational that it is)")
    atoms = [key for key, value in masses.items() if value]
    targets = [_rational(key[-1], f"y in {key!r}") for key in atoms]
    unit = lcm(*(y.denominator for y in targets))
    scale = lcm(*(masses[key].denominator for key in atoms))
    columns = []
    for j in range(lengths[0] - 1):
        codes: dict[Any, int] = {}
        columns.append([codes.setdefault(key[j], len(codes)) for key in atoms])
    return _Law(columns, [int(y * unit) for y in targets], [int(masses[key] * scale) for key in atoms], unit)


def _rational(value: Any, name: str) -> Fraction:
    try:
        return Fraction(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} = {value!r} must be a finite number") from None

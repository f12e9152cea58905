"""What can be wrong with a structural model or a question about it; every error is a `CausalError`, a ValueError."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["CausalError", "CyclicModel", "DomainError", "EventNotTrue", "NonDeterministic", "UnknownVariable"]


class CausalError(ValueError):
    """A model, a file, a context or a question that cannot be used; the message says what was needed."""


class CyclicModel(CausalError):
    """The equations do not have one solution: `cycle` lists the variables, each a parent of the next."""

    def __init__(self, cycle: Sequence[str]) -> None:
        self.cycle = tuple(cycle)
        super().__init__(f"the model is cyclic: {' -> '.join([*self.cycle, self.cycle[0]])}; it must be acyclic")


class UnknownVariable(CausalError):
    """A name that the model does not have."""

    def __init__(self, name: str, where: str = "", known: Iterable[str] = ()) -> None:
        self.name = name
        near = sorted(map(str, known))
        hint = f"; it has {', '.join(near[:12])}{', ...' if len(near) > 12 else ''}" if near else ""
        super().__init__(f"{where + ': ' if where else ''}unknown variable {name!r}{hint}")


class DomainError(CausalError):
    """A value outside the domain of its variable, or a domain that is none."""


class NonDeterministic(CausalError):
    """A node of a Bayesian network whose table is not 0/1: `node` names it."""

    def __init__(self, node: str, where: str = "") -> None:
        self.node = node
        start = f"{where}: " if where else ""
        super().__init__(f"{start}node {node!r} is not deterministic: a row of its table is not 0/1")


class EventNotTrue(CausalError):
    """The effect does not hold in the context, so that nothing caused it; the message gives the actual values."""

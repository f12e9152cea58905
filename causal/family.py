"""What `actual_causes` answers: a lazy, countable family of causes."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

__all__ = ["Cause", "CauseFamily"]

Explanation = tuple[dict[str, Any], dict[str, Any]]


class Cause:
    """A minimal set of variables whose actual values caused the effect.

    variables     the names
    witness       {variable: alternative value} over exactly `variables`
    contingency   {variable: value held}, disjoint from it and as small as possible: with both in force the effect fails

    Witness and contingency are found on first use. Equal causes have equal variables.
    """

    __slots__ = ("_explain", "_found", "variables")

    def __init__(self, variables: frozenset[str], explain: Callable[[frozenset[str]], Explanation]) -> None:
        self.variables = variables
        self._explain = explain
        self._found: Explanation | None = None

    def _explanation(self) -> Explanation:
        if self._found is None:
            self._found = self._explain(self.variables)
        return self._found

    @property
    def witness(self) -> dict[str, Any]:
        """The alternative value of each variable of the cause."""
        return dict(self._explanation()[0])

    @property
    def contingency(self) -> dict[str, Any]:
        """The variables held while the witness is set, with the values they are held at."""
        return dict(self._explanation()[1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cause) and self.variables == other.variables

    def __hash__(self) -> int:
        return hash(self.variables)

    def __repr__(self) -> str:
        return f"Cause({{{', '.join(sorted(self.variables))}}})"


class Store(Protocol):
    """Causes as sets of positions, listed or on a diagram."""

    @property
    def count(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    @property
    def complete_up_to(self) -> int: ...
    @property
    def min_size(self) -> int | None: ...
    def sizes(self) -> dict[int, int]: ...
    def participation(self) -> dict[int, int]: ...
    def sample(self, number: int, seed: int) -> list[frozenset[int]]: ...
    def __iter__(self) -> Iterator[frozenset[int]]: ...
    def __contains__(self, cause: frozenset[int]) -> bool: ...


class CauseFamily:
    """All causes found, as an iterable of `Cause`. Counting, sizes and participation list nothing on a diagram.

    `engine` names what answered: sat, zdd, rows, witness_map or definition."""

    def __init__(self, names: tuple[str, ...], store: Store, explain: Callable[[frozenset[str]], Explanation], *,
                 engine: str, certify: Callable[[CauseFamily], Mapping[str, Any]]) -> None:
        self._names, self._store, self._explain, self._certify = names, store, explain, certify
        self._position = {n: i for i, n in enumerate(names)}
        self.engine = engine

    def _cause(self, positions: Iterable[int]) -> Cause:
        return Cause(frozenset(self._names[i] for i in positions), self._explain)

    def __iter__(self) -> Iterator[Cause]:
        return map(self._cause, self._store)

    @property
    def count(self) -> int:
        """How many causes are in the family, exactly."""
        return self._store.count

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def complete(self) -> bool:
        """True only if every cause that exclude and candidates allow is in the family."""
        return self._store.complete

    @property
    def complete_up_to(self) -> int:
        """An s such that every cause of at most s variables is in the family."""
        return self._store.complete_up_to

    @property
    def min_size(self) -> int | None:
        """The size of the smallest cause in the family, None if it is empty."""
        return self._store.min_size

    def sizes(self) -> dict[int, int]:
        """{size: how many causes have it}."""
        return self._store.sizes()

    def participation(self) -> dict[str, int]:
        """{variable: how many causes it is in}, for those that are in one."""
        return {self._names[i]: n for i, n in self._store.participation().items()}

    def __contains__(self, names: object) -> bool:
        if isinstance(names, Cause):
            names = names.variables
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise TypeError(f"{names!r} in a family: give a set of names")
        names = frozenset(names)
        if not all(n in self._position for n in names):
            return False
        return frozenset(self._position[n] for n in names) in self._store

    def sample(self, number: int = 1, *, seed: int = 0) -> list[Cause]:
        """`number` causes drawn uniformly, with replacement; the same seed gives the same causes."""
        return [self._cause(c) for c in self._store.sample(number, seed)]

    def certificate(self) -> dict[str, Any]:
        """JSON that `causal.check_certificate` accepts on its own: see `causal.certificates`."""
        return dict(self._certify(self))

    def __repr__(self) -> str:
        return f"<CauseFamily by {self.engine}>"

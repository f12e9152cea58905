"""Causes as they arrive from a stream, with what is known about completeness at each moment."""
from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator

from causal._sat import OutOfTime
from causal.errors import CausalError

Event = tuple[int, frozenset[int] | None]


class Listing:
    """A lazily drained stream. Events are (size, cause), (s, None): all of size <= s came, (-1, None): all came.

    `limit` causes at most are taken, of size `max_size` at most; one event more is read only to learn whether
    anything is missing. A stream that ends without (-1, None), or raises OutOfTime, is incomplete."""

    def __init__(self, stream: Iterable[Event], universe: int, *, limit: int | None, max_size: int | None) -> None:
        self._stream, self._universe = iter(stream), universe
        self._limit, self._max_size = limit, max_size
        self.items: list[frozenset[int]] = []
        self._members: set[frozenset[int]] = set()
        self._up_to = 0
        self._all = self._more = self._ended = False

    def _advance(self) -> bool:
        """Read one event; False when nothing more will be taken."""
        if self._ended:
            return False
        if self._limit is not None and len(self.items) >= self._limit:
            return self._probe()
        if self._max_size is not None and self._up_to >= self._max_size:
            return self._probe()
        return self._take()

    def _probe(self) -> bool:
        """Learn whether something was left out, then end."""
        while not self._ended:
            self._take(keep=False)
        return False

    def _take(self, keep: bool = True) -> bool:
        try:
            size, cause = next(self._stream)
        except (OutOfTime, StopIteration):  # without a word that all came, not even if an interrupt ended it before
            self._ended = True
            return False
        if cause is None:
            if size < 0:
                self._all, self._ended, self._up_to = True, True, self._universe
            else:
                self._up_to = max(self._up_to, size)
        elif keep and (self._max_size is None or len(cause) <= self._max_size):
            self.items.append(cause)
            self._members.add(cause)
        else:
            self._more, self._ended = True, not keep
        return True

    def reach(self, size: int) -> None:
        """Read until all of at most `size` came, or nothing more will."""
        while self._up_to < size and self._advance():
            pass

    def drain(self) -> Listing:
        """Everything that the limits allow."""
        while self._advance():
            pass
        return self

    def __iter__(self) -> Iterator[frozenset[int]]:
        at = 0
        while True:
            while at < len(self.items):
                yield self.items[at]
                at += 1
            if not self._advance() and at >= len(self.items):
                return

    @property
    def complete(self) -> bool:
        """Whether the stream ended by itself with every cause taken."""
        self.drain()
        return self._all and not self._more

    @property
    def complete_up_to(self) -> int:
        """A size up to which nothing is missing."""
        self.drain()
        if self.complete:
            return self._universe
        return self._up_to

    @property
    def count(self) -> int:
        """How many were taken."""
        return len(self.drain().items)

    @property
    def min_size(self) -> int | None:
        """The least size."""
        return min(map(len, self.drain().items), default=None)

    def sizes(self) -> dict[int, int]:
        """How many of each size."""
        return dict(sorted(Counter(map(len, self.drain().items)).items()))

    def participation(self) -> dict[int, int]:
        """How many causes each position is in."""
        return dict(sorted(Counter(at for cause in self.drain().items for at in cause).items()))

    def __contains__(self, cause: frozenset[int]) -> bool:
        return cause in self._members or cause in self.drain()._members

    def sample(self, number: int, seed: int) -> list[frozenset[int]]:
        """Uniform draws with replacement."""
        items = self.drain().items
        if not items:
            raise CausalError("there is no cause to sample")
        draw = random.Random(seed)
        return [items[draw.randrange(len(items))] for _ in range(number)]

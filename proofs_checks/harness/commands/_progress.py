"""Progress on standard error: a bar on a terminal, nothing on a pipe, where the lines of the command itself tell."""
from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def bar(things: Iterable[T], total: int, description: str) -> Iterator[T]:
    """The things as they come, behind a bar that vanishes at the end."""
    if total < 2 or not sys.stderr.isatty():
        yield from things
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(things, total=total, description=description, console=Console(stderr=True), transient=True)

"""Progress on standard error: a bar on a terminal, plain lines otherwise."""
from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def bar(things: Sequence[T], description: str) -> Iterator[T]:
    """The things one by one, behind a bar that vanishes at the end; on a pipe nothing is printed."""
    if len(things) < 2 or not sys.stderr.isatty():
        yield from things
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(things, description=description, console=Console(stderr=True), transient=True)

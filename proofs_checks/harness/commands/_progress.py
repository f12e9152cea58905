"""Progress on standard error: a bar on a terminal, and on a pipe now and then a plain line."""
from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import click

T = TypeVar("T")

PAUSE = 10.0  # seconds between two plain lines


def bar(things: Iterable[T], total: int, description: str, name: Callable[[T], str] = lambda _: "") -> Iterator[T]:
    """The things as they come, behind a bar that vanishes at the end: how many, for how long, and the name of the latest.

    Without a terminal, a line for what has a name and comes when the last line is some seconds old."""
    if total < 2:
        yield from things
        return
    if not sys.stderr.isatty():
        said = time.monotonic()
        for i, thing in enumerate(things, 1):
            if time.monotonic() - said > PAUSE and name(thing):
                click.echo(f"{description} {i} of {total}: {name(thing)}", err=True)
                said = time.monotonic()
            yield thing
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("{task.fields[name]}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(description, total=total, name="")
        for thing in things:
            shown.update(task, name=name(thing))
            yield thing
            shown.advance(task)


def folder(path: Path, option: str = "--out") -> None:
    """Wrong use, in one line, unless a folder is or can be made there; nothing is made yet."""
    nearest = next(p for p in (path, *path.absolute().parents) if p.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise click.UsageError(f"{option} {path}: cannot be made a folder: {nearest} is no folder that can be written to")

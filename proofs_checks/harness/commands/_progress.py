"""Progress on standard error: a bar on a terminal, nothing on a pipe, where the lines of the command itself tell."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import click

T = TypeVar("T")


def bar(things: Iterable[T], total: int, description: str, name: Callable[[T], str] = lambda _: "") -> Iterator[T]:
    """The things as they come, behind a bar that vanishes at the end: how many, for how long, and the name of the latest."""
    if total < 2 or not sys.stderr.isatty():
        yield from things
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


def folder(path: Path) -> None:
    """Wrong use, in one line, unless a folder is or can be made there; nothing is made yet."""
    nearest = next(p for p in (path, *path.absolute().parents) if p.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise click.UsageError(f"--out {path}: cannot be made a folder: {nearest} is no folder that can be written to")

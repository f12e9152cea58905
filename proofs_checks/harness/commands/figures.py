"""`refutable figures`: draw the figures of the simulators, and those that need other rooms."""
from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from proofs_checks.harness.commands._progress import bar

__all__ = ["command"]


@click.command()
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@click.option("--out", default="build/figures", type=click.Path(file_okay=False, path_type=Path), show_default=True,
              help="Folder of the figures.")
@click.option("--jobs", default=1, type=click.IntRange(1), show_default=True, help="Processes on this machine.")
def command(slugs: tuple[str, ...], out: Path, jobs: int) -> None:
    """Draw the figures of the named papers, or of all.

    `simulations.SLUG.figure()` becomes OUT/SLUG.svg; `proofs_checks.SLUG.figure()`, for figures that need several
    rooms, becomes OUT/SLUG.svg too, or OUT/SLUG.checks.svg where the simulator has one of its own."""
    try:
        drawings = [(module, out / name) for name, module in _drawings(slugs)]
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from error
    paths = bar(_drawn(drawings, jobs), len(drawings), "drawing")
    for path in list(paths) if sys.stderr.isatty() else paths:  # lines would tear the bar
        click.echo(path)


def _drawings(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names of files and the modules whose `figure()` goes there. LookupError for a name without a figure."""
    from proofs_checks.harness.registry import slugs as ours
    from simulations.__main__ import draws
    from simulations.__main__ import slugs as theirs

    checks = [slug for slug in ours() if draws(f"proofs_checks.{slug}")]
    known = sorted({*checks, *theirs()})
    for name in names or known:
        if name not in known:
            raise LookupError(f"no figure is called {name!r}; figures: {', '.join(known)}")
        found = [f"{room}.{name}" for room, there in (("simulations", theirs()), ("proofs_checks", checks)) if name in there]
        yield from zip((f"{name}.svg", f"{name}.checks.svg"), found, strict=False)


def _drawn(drawings: Sequence[tuple[str, Path]], jobs: int) -> Iterator[Path]:
    """Paths of the figures as they are finished."""
    if jobs == 1:
        yield from (draw(*drawing) for drawing in drawings)
        return
    from concurrent.futures import as_completed

    from proofs_checks.harness.work import process_pool

    with process_pool(jobs) as pool:
        yield from (future.result() for future in as_completed([pool.submit(draw, *drawing) for drawing in drawings]))


def draw(module: str, path: Path) -> Path:
    """Draw one figure, in whichever process."""
    from simulations.__main__ import save

    save(importlib.import_module(module).figure(), path)
    return path

"""`refutable figures`: draw the figures of the simulators, and those that need other rooms."""
from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from proofs_checks.harness.commands._progress import bar

__all__ = ["command"]


@click.command()
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@click.option("--out", default="build/figures", type=click.Path(file_okay=False, path_type=Path), show_default=True,
              help="Folder of the figures.")
def command(slugs: tuple[str, ...], out: Path) -> None:
    """Draw the figures of the named papers, or of all.

    `simulations.SLUG.figure()` becomes OUT/SLUG.svg; `proofs_checks.SLUG.figure()`, for figures that need several
    rooms, becomes OUT/SLUG.svg too, or OUT/SLUG.checks.svg where the simulator has one of its own."""
    from simulations.__main__ import save

    try:
        jobs = list(_jobs(slugs))
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from error
    for name, module in bar(jobs, "drawing"):
        path = out / f"{name}.svg"
        save(module.figure(), path)
        click.echo(path)


def _jobs(names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Names of files and the modules whose `figure()` goes there. LookupError for a name without a figure."""
    from proofs_checks.harness.registry import slugs as ours
    from simulations.__main__ import slugs as theirs

    known = sorted({*ours(), *theirs()})
    for name in names or known:
        if name not in known:
            raise LookupError(f"no paper is called {name!r}; papers: {', '.join(known)}")
        modules = [importlib.import_module(f"{room}.{name}") for room, there in
                   (("simulations", theirs()), ("proofs_checks", ours())) if name in there]
        found = [module for module in modules if hasattr(module, "figure")]
        if names and not found:
            raise LookupError(f"{name!r} has no figure()")
        yield from zip((name, f"{name}.checks"), found, strict=False)

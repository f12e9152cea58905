"""`refutable figures`: draw the figures of the simulators, and those that need other rooms."""
from __future__ import annotations

import hashlib
import importlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from proofs_checks.harness.cache import sources
from proofs_checks.harness.commands._progress import bar, folder
from proofs_checks.harness.report_io import write_json

__all__ = ["command"]

REMEMBERED = ".drawn.json"


@click.command()
@click.argument("slugs", nargs=-1, metavar="[SLUG]...")
@click.option("--out", default="build/figures", type=click.Path(file_okay=False, path_type=Path), show_default=True,
              help="Folder of the figures.")
@click.option("--fresh", is_flag=True, help="Draw again what is up to date.")
@click.option("--jobs", default=1, type=click.IntRange(1), show_default=True, help="Processes on this machine.")
def command(slugs: tuple[str, ...], out: Path, fresh: bool, jobs: int) -> None:
    """Draw the figures of the named papers, or of all.

    `simulations.SLUG.figure()` becomes OUT/SLUG.svg; `proofs_checks.SLUG.figure()`, for figures that need several
    rooms, becomes OUT/SLUG.svg too, or OUT/SLUG.checks.svg where the simulator has one of its own. A figure whose file
    is as it was drawn, from sources that have not changed since, is left alone (OUT/.drawn.json remembers both)."""
    try:
        drawings = [(module, out / name) for name, module in _drawings(slugs)]
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from error
    folder(out)
    drawn = {} if fresh else _remembered(out)
    todo = [(module, path) for module, path in drawings if drawn.get(path.name) != _stamp(module, path)]
    module_of = {path: module for module, path in drawings}
    finished = bar(_remembering(_drawn(todo, jobs), module_of, drawn, out), len(todo), "drawing")
    for path in list(finished) if sys.stderr.isatty() else finished:  # lines would tear the bar
        click.echo(path)
    if len(todo) < len(drawings):
        click.echo(f"{len(drawings) - len(todo)} of {len(drawings)} figures in {out} are up to date")


def _remembering(paths: Iterator[Path], modules: Mapping[Path, str], drawn: dict[str, Any], out: Path) -> Iterator[Path]:
    """The same paths, each written down once it is drawn."""
    for path in paths:
        drawn[path.name] = _stamp(modules[path], path)
        write_json(out / REMEMBERED, drawn)
        yield path


def _remembered(out: Path) -> dict[str, Any]:
    """What was drawn into a folder, by name of the file; nothing where that cannot be read."""
    try:
        found = json.loads((out / REMEMBERED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _stamp(module: str, path: Path) -> list[str]:
    """Hashes of the sources that a figure comes from and of its file; of nothing, if there is no file."""
    return [sources(module), hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""]


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

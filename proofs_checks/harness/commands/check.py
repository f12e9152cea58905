"""`refutable check`: judge claims, print the table, write the report."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from proofs_checks.harness.commands._progress import bar, folder
from proofs_checks.harness.modules import is_file_name

__all__ = ["command"]

WORDS = {"green": "green", "RED": "not green", "part": "partial: nothing wrong in what was judged",
         "none": "no check that was asked for", "listed": "listed"}
RUNGS = ("NUMERIC", "PROPERTY", "STATISTICAL", "EXHAUSTIVE", "CERTIFIED", "SYMBOLIC", "KERNEL")


@click.command()
@click.argument("names", nargs=-1, metavar="[SLUG|CLAIM_ID|FILE.py]...")
@click.option("--module", "modules", multiple=True, metavar="FILE.py", help="A file with claims of your own.")
@click.option("--variant", help="Only this variant: claim, as_stated, or the name of a variant.")
@click.option("--at-least", default="NUMERIC", type=click.Choice(RUNGS, case_sensitive=False), help="Leave out weaker checks.")
@click.option("--jobs", default=1, type=click.IntRange(1), show_default=True, help="Processes on this machine.")
@click.option("--dask", "address", metavar="ADDRESS", help="Run on the Dask cluster at this address.")
@click.option("--fresh", is_flag=True,
              help="Decide everything again; OUT/cache is not read (who can write there can forge results).")
@click.option("--out", default="build", type=click.Path(file_okay=False, path_type=Path), show_default=True,
              help="Folder of the report.")
def command(names: tuple[str, ...], modules: tuple[str, ...], variant: str | None, at_least: str, jobs: int,
            address: str | None, fresh: bool, out: Path) -> None:
    """Judge claims: their evidence must hold and every false variant must be refuted with a witness.

    Without names, every claim of every paper is judged and OUT/report.json is written; a run that leaves anything out
    is partial and writes OUT/partial.json. FILE.py stands for the claims of your own that it makes.

    Exit code 0 if everything that was judged is as it should be, 1 if not, 2 for wrong use and for a run in which not
    one check was made."""
    from proofs_checks.harness import failures, report, work

    files = tuple(name for name in (*names, *modules) if is_file_name(name))
    try:
        if address is not None:
            work.knock(address)
        tasks, listed = work.plan(names, variant=variant, modules=modules)
        options = work.Options(variant=variant, at_least=at_least.upper(), cache=None if fresh else str(out / "cache"),
                               modules=tuple(str(Path(f).resolve()) for f in files))
        folder(out)
        entries = list(listed)
        with _mapper(jobs, address) as run:
            for entry in _progress(run(options, tasks), len(tasks)):
                entries.append(entry)
    except BrokenExecutor:
        left = [task for task in tasks if task not in {entry["id"] for entry in entries}]
        click.echo(f"refutable check: a process ended while it judged, killed for its memory or by what it ran; not judged: "
                   f"{', '.join(left)}", err=True)
        sys.exit(1)
    except LookupError as error:
        raise click.UsageError(str(error.args[0])) from error
    except work.Unreachable as error:
        click.echo(f"refutable check: {error}", err=True)
        sys.exit(2)
    if strongest := work.ran_nothing(entries):
        click.echo(f"refutable check: --at-least {at_least.upper()} leaves no check to run; the strongest here is {strongest}",
                   err=True)
        sys.exit(2)
    complete = not (names or modules) and variant is None and not any(e["partial"] and e["variants"] for e in entries)
    whole = report.build(entries, complete=complete)
    path = report.write_report(whole, out)
    own = bool(names or modules) and all(map(is_file_name, names)) and variant is None  # everything that these files claim
    for line in report.table(whole, filtered=not (complete or own)):
        click.echo(line)
    for entry in whole["claims"]:
        for block in failures.blocks(entry):
            click.echo("\n" + "\n".join(block))
    click.echo(f"written: {path}")
    red = report.problems(whole) if complete else work.failures(whole)
    for line in red:
        click.echo(f"not green: {line}", err=True)
    sys.exit(1 if red else 0)


@contextmanager
def _mapper(jobs: int, address: str | None) -> Iterator[Callable[[Any, list[str]], Iterable[Any]]]:
    """A function that judges claims: here, in processes, or on a Dask cluster."""
    from proofs_checks.harness import work

    with ExitStack() as stack:
        if address is not None:
            client = stack.enter_context(work.dask_client(address))
            yield lambda options, tasks: work.on_dask(client, options, tasks)
        elif jobs > 1:
            pool = stack.enter_context(work.process_pool(jobs))
            yield lambda options, tasks: work.in_pool(pool, options, tasks)
        else:
            yield lambda options, tasks: (work.judged(options, task) for task in tasks)


def _progress(entries: Iterable[Any], total: int) -> Iterator[Any]:
    """The entries as they come, with a bar on a terminal and a plain line each otherwise."""
    from proofs_checks.harness.report import state

    if sys.stderr.isatty():
        yield from bar(entries, total, "judging", lambda entry: str(entry["id"]))
        return
    for i, entry in enumerate(entries, 1):
        click.echo(f"[{i}/{total}] {entry['id']} {WORDS[state(entry)]}", err=True)
        yield entry

"""`refutable parents`: the direct causes of a column of a table, with a verdict in words, a table and a plot."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

__all__ = ["command", "read_frame"]

LEVELS = 20  # text columns with more different values are no categories
ROWS = 12  # of the table that is printed


class TableError(ValueError):
    """The file cannot be used; the message is one plain line."""


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="Column whose parents are asked for.")
@click.option("--alpha", default=0.01, show_default=True, type=click.FloatRange(0, 1, min_open=True, max_open=True),
              help="A set is rejected if its residual depends on it at this level.")
@click.option("--max-size", default=4, show_default=True, type=click.IntRange(0), help="Largest set that is tried.")
@click.option("--screen", default=8, show_default=True, type=click.IntRange(1), help="Columns that are searched.")
@click.option("--regressor", default="auto", show_default=True, type=click.Choice(["auto", "linear", "nystroem"]))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Equal seeds give equal answers.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Processes on this machine.")
@click.option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw risks and residuals into this file.")
def command(file: Path, target: str, alpha: float, max_size: int, screen: int, regressor: str, seed: int, jobs: int,
            dask: str | None, plot: Path | None) -> None:
    """Find the direct causes of a column of a CSV or Parquet table.

    Among sets of columns that leave a residual independent of them, the one of least residual variance is taken. Hidden
    common causes of columns do no harm; one of the target and a column does, and cannot be seen in the data.

    Text columns of at most 20 different values are taken as categories, as are booleans. Exit code 2, and one line that
    names file and column, if the table cannot be used."""
    import warnings

    from causal import IndRM

    try:
        if plot is not None and plot.suffix.lower() not in (".svg", ".png", ".pdf"):
            raise TableError(f"--plot {plot}: the name must end in .svg, .png or .pdf")
        frame, notes = read_frame(file, target)
        with _executor(jobs, dask) as executor, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            model = IndRM(regressor, alpha=alpha, max_size=max_size, screen=screen, random_state=seed)
            model.fit(frame, target=target, executor=executor)
    except (TableError, ValueError) as error:
        click.echo(f"refutable parents: {file}: {error}", err=True)
        sys.exit(2)
    for note in (*notes, *(str(w.message) for w in caught if issubclass(w.category, UserWarning))):
        click.echo(f"note: {note}", err=True)
    click.echo(model.summary())
    click.echo()
    for line in _table(model):
        click.echo(line)
    if plot is not None:
        plot.parent.mkdir(parents=True, exist_ok=True)
        model.plot().savefig(plot)
        click.echo(f"plot: {plot}")


def read_frame(file: Path, target: str) -> tuple[Any, list[str]]:
    """The table with text columns of few values as categories, and what was done to it. TableError names the column."""
    import pandas as pd

    if not file.is_file():
        raise TableError("no such file")
    try:
        frame = pd.read_parquet(file) if file.suffix.lower() in (".parquet", ".pq") else pd.read_csv(file)
    except (ValueError, OSError, pd.errors.ParserError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TableError(f"cannot be read as a table: {reason}") from None
    if target not in frame.columns:
        near = ", ".join(map(str, frame.columns[:12])) + (", ..." if len(frame.columns) > 12 else "")
        raise TableError(f"has no column {target!r}; columns: {near}")
    if len(frame.columns) == 1:
        raise TableError(f"has no column besides the target {target!r}; need at least one that could be a cause")
    notes = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype == object or str(column.dtype) in ("string", "str"):
            values = column.nunique(dropna=False)
            if name == target:
                raise TableError(f"target {name!r} holds text; need numbers")
            if values > LEVELS:
                raise TableError(f"column {name!r} holds text with {values} different values; drop it, or make it numbers")
            if column.isna().any():
                raise TableError(f"column {name!r} has {int(column.isna().sum())} missing values; fill or drop them")
            frame[name] = column.astype("category")
            notes.append(f"column {name!r} is taken as a category of {values} values")
    return frame, notes


class _Dask:
    """An executor whose map runs on a cluster."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Results in order."""
        yield from self.client.gather(self.client.map(function, list(items), pure=False))


@contextmanager
def _executor(jobs: int, dask: str | None) -> Iterator[Any]:
    """None for this process, a pool, or a cluster."""
    if dask is None and jobs == 1:
        yield None
        return
    from proofs_checks.harness.work import dask_client, process_pool

    if dask is not None:
        with dask_client(dask) as client:
            yield _Dask(client)
    else:
        with process_pool(jobs) as pool:
            yield pool


def _table(model: Any) -> Iterator[str]:
    """Tested sets by variance, the chosen one marked."""
    rows = [r for r in model.table_ if r.p_value is not None or r.variables == frozenset(model.parents_)]
    chosen = next((i for i, r in enumerate(rows) if r.variables == frozenset(model.parents_)), 0)
    first = max(0, min(chosen - ROWS // 2, len(rows) - ROWS))
    yield "   variance  std.error          p  set"
    for r in rows[first:first + ROWS]:
        mark = "*" if r.variables == frozenset(model.parents_) else " "
        p = "-" if r.p_value is None else f"{r.p_value:.3g}"
        yield f"{mark} {r.variance:9.4g}  {r.standard_error:9.2g}  {p:>9}  {{{', '.join(sorted(map(str, r.variables)))}}}"
    if len(rows) > ROWS:
        yield f"  ({len(rows)} sets were tested; {ROWS} are shown)"

"""`refutable parents`: the direct causes of a column of a table, with a verdict in words, a table and a plot."""
from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from proofs_checks.harness.commands._csv import separator

__all__ = ["command", "read_frame"]

LEVELS = 20  # text columns with more different values are no categories
ROWS = 12  # of the table that is printed
COMPRESSED = (".gz", ".bz2", ".zip", ".xz", ".zst", ".tar")  # pandas unpacks these
HEAD = 2**20  # characters in which the names of the columns must stand


class TableError(ValueError):
    """The file cannot be used; the message is one plain line."""


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--target", required=True, help="Column whose parents are asked for.")
@click.option("--alpha", default=0.01, show_default=True, type=click.FloatRange(0, 1, min_open=True, max_open=True),
              help="A set is rejected if its residual depends on it at this level.")
@click.option("--max-size", default=4, show_default=True, type=click.IntRange(0), help="Largest set that is tried.")
@click.option("--screen", default=8, show_default=True, type=click.IntRange(1), help="Columns that are searched.")
@click.option("--regressor", default="auto", show_default=True, type=click.Choice(["auto", "linear", "nystroem"]),
              help="How the target is predicted; auto: linear unless kernels (nystroem) predict clearly better.")
@click.option("--weights", metavar="COLUMN", help="Column of the rows' weights, which is then no candidate.")
@click.option("--n-boot", default=99, show_default=True, type=click.IntRange(19), help="Bootstrap replicates behind a p-value.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Equal seeds give equal answers.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Processes on this machine.")
@click.option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw risks and residuals into this file.")
def command(file: Path, target: str, alpha: float, max_size: int, screen: int, regressor: str,
            weights: str | None, n_boot: int, seed: int, jobs: int, dask: str | None, plot: Path | None) -> None:
    """Find the direct causes of a column of a CSV or Parquet table.

    Sets of columns are tried in order of residual variance, least first. The first whose residual does not depend on it is
    taken, if no column in it looks like an effect of the target; then columns go that neither clearly look like causes nor
    lower the variance a lot. A set of less variance that passes may so have lost: the runners-up say why.

    Rows must be independent of each other. Hidden common causes of columns do no harm; one of the target and a column does,
    and cannot be seen in the data.

    Text columns of at most 20 different values are taken as categories, as are booleans. Weights must be functions of the
    columns (as for a sample drawn by them) or independent of the target's noise.

    Exit code 0 whatever the verdict, which the first line says; 2, and one line that names file and column, if the table
    cannot be used."""
    import warnings

    from causal import IndRM

    try:
        if plot is not None and plot.suffix.lower() not in (".svg", ".png", ".pdf"):
            raise TableError(f"--plot {plot}: the name must end in .svg, .png or .pdf")
        if plot is not None and not plot.parent.is_dir():
            raise TableError(f"--plot {plot}: no folder {plot.parent}")
        frame, notes = read_frame(file, target, weights)
        sample_weight = None if weights is None else frame.pop(weights)
        with _executor(jobs, dask) as executor, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            model = IndRM(regressor, alpha=alpha, max_size=max_size, screen=screen, n_boot=n_boot, random_state=seed)
            model.fit(frame, sample_weight=sample_weight, target=target, executor=executor)
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
        model.plot().savefig(plot)
        click.echo(f"plot: {plot}")


def read_frame(file: Path, target: str, weights: str | None = None) -> tuple[Any, list[str]]:
    """The table with text columns of few values as categories, and what was done to it. TableError names the column."""
    frame = _read(file)
    for name in (target,) if weights is None else (target, weights):
        if name not in frame.columns:
            near = ", ".join(map(str, frame.columns[:12])) + (", ..." if len(frame.columns) > 12 else "")
            raise TableError(f"has no column {name!r}; columns: {near}")
    if weights == target:
        raise TableError(f"--weights {weights}: is the target itself")
    if set(frame.columns) <= {target, weights}:
        raise TableError(f"has no column besides the target {target!r}; need at least one that could be a cause")
    notes = [f"column {name!r} has no name of its own; if it numbers the rows, drop it" for name in frame.columns
             if str(name).startswith("Unnamed: ")]  # pandas' word for a field of the header that is empty
    for name in frame.columns:
        column = frame[name]
        if column.dtype == object or str(column.dtype) in ("string", "str"):
            values = column.nunique(dropna=False)
            role = "target" if name == target else "column of weights" if name == weights else "column"
            if stray := _stray(column):
                raise TableError(f"{role} {name!r} holds {stray}, and numbers elsewhere; mend or drop that row")
            if role != "column":
                raise TableError(f"{role} {name!r} holds text; need numbers")
            if values > LEVELS:
                raise TableError(f"column {name!r} holds text with {values} different values; drop it, or make it numbers")
            if column.isna().any():
                raise TableError(f"column {name!r} has {int(column.isna().sum())} missing values; fill or drop them")
            frame[name] = column.astype("category")
            notes.append(f"column {name!r} is taken as a category of {values} values")
    return frame, notes


def _stray(column: Any) -> str:
    """The first text of a column of which more than half is numbers, and its row; '' for other columns."""
    import pandas as pd

    wrong = (pd.to_numeric(column, errors="coerce").isna() & column.notna()).to_numpy()
    if not 0 < 2 * wrong.sum() < len(column):
        return ""
    first = int(wrong.argmax())
    return f"{column.iloc[first]!r} in row {first + 1} below the header"


def _read(file: Path) -> Any:
    """A pandas frame. TableError for what is no table."""
    import pandas as pd

    if not file.is_file():
        raise TableError("is a folder; need a CSV or Parquet file" if file.is_dir() else "no such file")
    try:
        if file.suffix.lower() in (".parquet", ".pq"):
            return pd.read_parquet(file)
        return pd.read_csv(file, sep="," if file.suffix.lower() in COMPRESSED else _check_lines(file))
    except TableError:
        raise
    except (ValueError, OSError, csv.Error) as error:  # pandas' own errors of parsing are ValueErrors
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise TableError(f"cannot be read as a table: {reason}") from None


def _check_lines(file: Path) -> str:
    """Names that differ, and as many fields a line as names: pandas renames, shifts or fills in where that fails. Given
    back is what stands between the fields."""
    with file.open(encoding="utf-8-sig", newline="") as lines:
        between = separator(lines.read(HEAD))
        lines.seek(0)
        reader = csv.reader(lines, delimiter=between)
        header = next((row for row in reader if row), None)
        if header is None:
            raise TableError("is empty; need a line of column names")
        if twice := sorted({name for name in header if header.count(name) > 1}):
            raise TableError(f"column {', '.join(map(repr, twice))} stands in the header twice; names must differ")
        rows = 0
        for row in filter(None, reader):
            rows += 1
            if len(row) != len(header):
                raise TableError(f"line {reader.line_num} has {len(row)} fields, the header has {len(header)}")
        if not rows:
            raise TableError("has a header and no rows")
    return between


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
        yield f"  ({len(rows)} such sets; {ROWS} are shown)"

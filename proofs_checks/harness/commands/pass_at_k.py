"""`refutable pass-at-k`: unbiased pass@k of a table of results, averaged over tasks."""
from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import click

from proofs_checks.harness.commands._csv import TableError, rows_of, text_of

__all__ = ["Counts", "TableError", "command", "read_counts"]

_TRUTH = {"true": 1, "1": 1, "1.0": 1, "false": 0, "0": 0, "0.0": 0}


class Counts(NamedTuple):
    """A task: how many samples were drawn, how many passed, and the line of the file where it first stands."""

    task: str
    n: int
    c: int
    line: int


class _Row(NamedTuple):
    line: int
    cells: dict[str, str]


@click.command()
@click.argument("file", metavar="FILE")
@click.option("--k", "ks", metavar="K,K,...", help="Numbers of samples, e.g. 1,10,100.  [default: 1, 2, 4, ... up to the "
              "smallest n]")
def command(file: str, ks: str | None) -> None:
    """Unbiased pass@k from a CSV table of results ("-" reads standard input).

    Columns task,n,c: one row a task, n samples drawn and c of them passed. Or columns task,passed: one row a sample,
    passed is true, false, 1 or 0. Other columns are ignored; the order of the columns does not matter.

    Each task's pass@k is estimated by 1 - C(n-c,k) / C(n,k), which has no bias and needs n >= k; the mean is over tasks,
    each counting the same.

    The 95% interval is Student's t over tasks, cut to [0, 1]. It takes the tasks as a random sample of all tasks one could
    have asked, so it answers "how would other tasks of this kind come out", noise of the n samples included. Where all
    tasks agree, or there is only one, that would be a point, and Wilson's interval is printed.

    Exit code 2, and one line that names the file, the line and the task, if the table or --k cannot be used."""
    try:
        tasks = read_counts(text_of(file), file)
        drawn = _numbers(ks) if ks is not None else _powers(min(t.n for t in tasks))
        for line in _report(tasks, drawn, file):
            click.echo(line)
    except TableError as error:
        click.echo(f"refutable pass-at-k: {error}", err=True)
        sys.exit(2)


def read_counts(text: str, name: str) -> list[Counts]:
    """The tasks of a table in either layout, in the order of their first rows. TableError names line and task.

    `text` is the content of a CSV file: comma, semicolon or tab between fields, quotes and a byte order mark allowed."""
    rows = _rows(text, name)
    top, columns = next(rows)
    layouts = [set(layout) <= set(columns) for layout in (("task", "n", "c"), ("task", "passed"))]
    if all(layouts):
        raise TableError(f"{name} line {top}: has the columns n, c and passed; keep n and c, or passed")
    if not any(layouts):
        found = ", ".join(columns) or "none"
        raise TableError(f"{name} line {top}: needs the columns task,n,c or task,passed; found {found}")
    tasks = (_from_counts if layouts[0] else _from_samples)(rows, name)
    if not tasks:
        raise TableError(f"{name}: no row of results below the header")
    return tasks


def _rows(text: str, name: str) -> Iterator[_Row]:
    """The header (its names as keys), then every row that is not blank."""
    header: list[str] | None = None
    for start, cells in rows_of(text, name):
        if not cells:
            continue
        if header is None:
            header = [cell.lower() for cell in cells]
            if twice := [h for h in ("task", "n", "c", "passed") if header.count(h) > 1]:
                raise TableError(f"{name} line {start}: column {twice[0]} stands there twice")
            yield _Row(start, dict.fromkeys(header, ""))
            continue
        if len(cells) != len(header):
            raise TableError(f"{name} line {start}: has {len(cells)} fields, the header has {len(header)}")
        yield _Row(start, dict(zip(header, cells, strict=True)))
    if header is None:
        raise TableError(f"{name}: is empty; needs a header, task,n,c or task,passed, and rows below it")


def _from_counts(rows: Iterator[_Row], name: str) -> list[Counts]:
    found: dict[str, Counts] = {}
    for line, cells in rows:
        task = _task(cells, name, line)
        n, c = (_count(cells[column], column, f"{name} line {line}, task {task}") for column in ("n", "c"))
        if task in found:
            raise TableError(f"{name} line {line}: task {task} stands in line {found[task].line} already")
        if n < 1:
            raise TableError(f"{name} line {line}, task {task}: n = {n}, needs at least one sample")
        if c > n:
            raise TableError(f"{name} line {line}, task {task}: c = {c} is larger than n = {n}")
        found[task] = Counts(task, n, c, line)
    return list(found.values())


def _from_samples(rows: Iterator[_Row], name: str) -> list[Counts]:
    found: dict[str, Counts] = {}
    for line, cells in rows:
        task = _task(cells, name, line)
        value = cells["passed"].lower()
        if value not in _TRUTH:
            raise TableError(f"{name} line {line}, task {task}: passed = {cells['passed']!r} is not true, false, 1 or 0")
        before = found.get(task, Counts(task, 0, 0, line))
        found[task] = before._replace(n=before.n + 1, c=before.c + _TRUTH[value])
    return list(found.values())


def _task(cells: dict[str, str], name: str, line: int) -> str:
    if not cells["task"]:
        raise TableError(f"{name} line {line}: task is empty")
    return cells["task"]


def _count(cell: str, column: str, where: str) -> int:
    """A whole number, also as 20.0, which is what tables with gaps are saved with."""
    try:
        value = float(cell.replace("_", "?"))  # float reads 1_0 as 10
    except ValueError:
        raise TableError(f"{where}: {column} = {cell!r} is not a number") from None
    if not 0 <= value < 2 ** 53 or value != int(value):
        raise TableError(f"{where}: {column} = {cell!r} is not a whole number >= 0")
    return int(value)


def _numbers(text: str) -> list[int]:
    """The values of --k, in their order, each once."""
    parts = [part.strip() for part in text.split(",")]
    if bad := [part for part in parts if not (part.isascii() and part.isdigit() and len(part) < 16 and int(part))]:
        raise TableError(f"--k {text}: {bad[0]!r} is not a whole number >= 1")
    return list(dict.fromkeys(map(int, parts)))


def _powers(largest: int) -> list[int]:
    """1, 2, 4, ... up to `largest`."""
    return [2 ** i for i in range(largest.bit_length())]


def _report(tasks: Sequence[Counts], ks: Sequence[int], name: str) -> Iterator[str]:
    """The table, a line each k. TableError names the first task with fewer than k samples."""
    for task in tasks:
        if task.n < max(ks):
            raise TableError(f"{name} line {task.line}, task {task.task}: has n = {task.n} samples, k = {max(ks)} needs "
                             f"at least {max(ks)}")
    from theory.pass_at_k import mean_interval, pass_at_k  # numpy only when there is something to compute

    n, c = [t.n for t in tasks], [t.c for t in tasks]
    sizes = f"{min(n)}" if min(n) == max(n) else f"{min(n)} to {max(n)}"
    yield f"pass@k, mean over {len(tasks)} task{'s' * (len(tasks) != 1)} (n = {sizes}), 95% interval over tasks"
    wide = max(len(str(k)) for k in (*ks, 100))
    yield f"{'k':>{wide}}    pass@k     lower     upper"
    methods = set()
    for k in ks:
        values = pass_at_k(n, c, k)
        mean, lower, upper = mean_interval(values)
        wilson = len(tasks) == 1 or values.min() == values.max()
        methods.add(wilson)
        yield f"{k:>{wide}}  {mean:.6f}  {lower:.6f}  {upper:.6f}{'  *' if wilson else ''}"
    if False in methods:
        yield "interval: Student's t over tasks, cut to [0, 1]"
    if True in methods:
        yield ("* interval: Wilson's, for " + ("one task" if len(tasks) == 1 else "tasks that all agree at this k") +
               ", where Student's t would be a point")

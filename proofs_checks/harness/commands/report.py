"""`refutable report`: the report as one static HTML page."""
from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["command"]


@click.command()
@click.option("--from", "origin", default="build/report.json", type=click.Path(dir_okay=False, path_type=Path),
              show_default=True, help="The report to render; partial.json will do.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The page; beside the report if not given.")
def command(origin: Path, out: Path | None) -> None:
    """Render a report as one static HTML page, with the figures that lie in figures/ beside it.

    The page loads nothing and runs nothing; links lead to the certificates beside the report."""
    from proofs_checks.harness.html import render
    from proofs_checks.harness.report import SCHEMA
    from proofs_checks.harness.report_io import write_text

    partial = origin.with_name("partial.json")
    if not origin.exists() and partial.exists():
        raise click.UsageError(f"{origin} does not exist, but a partial report does: refutable report --from {partial}")
    if not origin.exists():
        raise click.UsageError(f"{origin} does not exist; `refutable check` makes it (and partial.json when names are given)")
    try:
        report = json.loads(origin.read_text(encoding="utf-8"))
        schema = report.get("schema") if isinstance(report, dict) else None
        if schema != SCHEMA:
            said = "no schema" if schema is None else f"schema {schema!r}"
            raise ValueError(f"it has {said}, this program reads {SCHEMA!r}; `refutable check` writes such files")
        page = out or origin.with_suffix(".html")
        text = render(report, folder=origin.resolve().parent, page=page.resolve())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{error}" if isinstance(error, ValueError | OSError) else \
            f"the field {error} is missing" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
        raise click.UsageError(f"{origin} is not a report: {reason}") from error
    write_text(page, text)
    click.echo(f"{page} ({len(text.encode()) / 1e6:.2f} MB)")

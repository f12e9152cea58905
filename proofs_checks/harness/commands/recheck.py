"""`refutable recheck`: check certificates again, independently of the engines that made them."""
from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

import click

from proofs_checks.harness.commands._progress import bar

__all__ = ["command"]


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--standalone", is_flag=True, help="Do not compare with the claims of this installation.")
@click.option("--coq", is_flag=True, help="Also give sums of squares to Coq's kernel, where coqc is installed.")
def command(paths: tuple[Path, ...], standalone: bool, coq: bool) -> None:
    """Check certificates again: files, or folders with all their *.json.

    A certificate must hold up on its own, and be about the claim that it names as that claim reads today. Exit code 0
    if every one is accepted, 1 if one is rejected; with --coq also if Coq rejects one, not if Coq is skipped."""
    files = [file for path in paths for file in _files(path)]
    how: dict[str, list[Path]] = defaultdict(list)
    rejected = 0
    for file in bar(files, len(files), "checking"):
        kind, said = _examined(file, standalone)
        if coq and kind == "sos":
            kind, said = _asked_kernel(file, said)
        if kind is None:
            rejected += 1
            click.echo(f"rejected: {file}: {said}", err=True)
        else:
            how[f"{kind}: {said}"].append(file)
    for line in _summary(how):
        click.echo(line)
    click.echo(f"{sum(map(len, how.values()))} accepted, {rejected} rejected")
    sys.exit(1 if rejected else 0)


def _files(path: Path) -> list[Path]:
    """The path itself, or every certificate below a folder. UsageError if the folder has none."""
    if not path.is_dir():
        return [path]
    if found := sorted(path.rglob("*.json")):
        return found
    raise click.UsageError(f"no certificate (*.json) in {path}")


def _examined(file: Path, standalone: bool) -> tuple[str | None, str]:
    """The kind of an accepted certificate and how it was checked, or None and why it was rejected, in one line."""
    from proofs_checks.harness.bind import bind
    from proofs_checks.harness.recheck import examine

    try:
        certificate, said = examine(file)
        if certificate["claim"] and not standalone:
            bind(certificate)
        return str(certificate["kind"]), said
    except Exception as error:  # a file from anywhere may provoke anything; it is rejected, whatever it is
        return None, " ".join(str(error).removeprefix(f"{file}: ").split()) or type(error).__name__


def _asked_kernel(file: Path, said: str) -> tuple[str | None, str]:
    """The same as `_examined`, after Coq's kernel; says what the kernel said."""
    from proofs_checks.harness.coq import check
    from proofs_checks.harness.recheck import examine

    found = check(examine(file)[0])
    click.echo(f"KERNEL: {found.status}{'' if found.status == 'accepted' else f' ({found.reason})'}: {file}")
    return (None, f"KERNEL: {found.reason}") if found.status == "rejected" else ("sos", said)


def _summary(how: dict[str, list[Path]]) -> list[str]:
    """How many were checked in which way; the replayed ones, which trust the claim's own predicate, by name."""
    counts = Counter({said: len(files) for said, files in how.items()})
    lines = []
    for said, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        lines.append(f"{count:5d}  {said}")
        if said.startswith("replay:"):
            lines += [f"         {file}" for file in how[said]]
    return lines

"""`refutable recheck`: check certificates again, independently of the engines that made them."""
from __future__ import annotations

import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import click

from proofs_checks.harness.commands._progress import bar

__all__ = ["command"]

RUNGS = {"sos": "CERTIFIED", "interval": "CERTIFIED", "ladder": "CERTIFIED", "lemma": "CERTIFIED", "implication": "CERTIFIED",
         "identity": "SYMBOLIC", "witness": "SYMBOLIC", "histogram": "STATISTICAL"}
REPLAYED = {"exhaustive": "EXHAUSTIVE", "falsify": "PROPERTY"}
ORDER = ("SYMBOLIC", "CERTIFIED", "EXHAUSTIVE", "STATISTICAL", "PROPERTY", "NUMERIC")
WIDTH = 70  # characters of a statement that has no claim


class Accepted(NamedTuple):
    """A certificate that held up: what it is about, whether it refutes, and how it was checked."""

    claim: str
    variant: str
    kind: str
    rung: str
    refutes: bool
    how: str

    def words(self) -> str:
        """The rung and the kind."""
        return f"{self.rung} {self.kind}".strip()


class Unloaded(NamedTuple):
    """A certificate of a claim in a user's file that is not loaded."""

    claim: str
    file: str


Found = Accepted | Unloaded | str  # a text is the reason of a rejection


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--module", "modules", multiple=True, metavar="FILE.py",
              help="A file with claims of your own; give it once for each file.")
@click.option("--standalone", is_flag=True, help="Check what each certificate proves, not whether that is still "
              "what its claim says. A replay needs the claim all the same.")
@click.option("--coq", is_flag=True, help="Also give sums of squares to Coq's kernel, where coqc is installed.")
@click.option("--jobs", default=1, type=click.IntRange(1), show_default=True, help="Processes on this machine.")
def command(paths: tuple[Path, ...], modules: tuple[str, ...], standalone: bool, coq: bool, jobs: int) -> None:
    """Check certificates again: files, or folders with all their *.json.

    A certificate must hold up on its own, and be about the claim that it names as that claim reads today; a claim of your
    own is found in its file, with --module. Printed: what was accepted for each claim, a line for each paper, the ways of
    checking, and the total. A certificate of kind "replay" runs the claim's own predicate once more, so it trusts it, and
    takes as long as the check did.

    Exit code 0 if every one is accepted; 1 if one is rejected, with --coq also by Coq, though not if Coq is skipped; 2 if
    none is, and some belong to a file of yours that --module did not name: these are not checked."""
    files = [file for path in paths for file in _files(path)]
    _load(modules)
    accepted: list[Accepted] = []
    rejected: list[str] = []
    unloaded: list[Unloaded] = []
    kernel: list[str] = []
    with _examiner(jobs, modules) as examined:
        for file, found in bar(examined(files, standalone), len(files), "checking", lambda pair: pair[0].name):
            if coq and isinstance(found, Accepted) and found.kind == "sos":
                found = _asked_kernel(file, found, kernel)
            if isinstance(found, Accepted):
                accepted.append(found)
            elif isinstance(found, Unloaded):
                unloaded.append(found)
            else:
                rejected.append(f"rejected: {file}: {found}")
    for line in (*rejected, *_unchecked(unloaded)):
        click.echo(line, err=True)
    for line in (*kernel, *_claims(accepted), *_ways(accepted)):
        click.echo(line)
    click.echo(f"{len(accepted)} accepted, {len(rejected)} rejected" + (f", {len(unloaded)} not checked" if unloaded else ""))
    sys.exit(1 if rejected else 2 if unloaded else 0)


def _files(path: Path) -> list[Path]:
    """The path itself, or every certificate below a folder. UsageError if the folder has none."""
    if not path.is_dir():
        return [path]
    if found := sorted(path.rglob("*.json")):
        return found
    raise click.UsageError(f"no certificate (*.json) in {path}")


def _load(modules: Sequence[str]) -> None:
    if not modules:
        return
    from proofs_checks.harness.modules import load

    for path in modules:
        try:
            load(path)
        except LookupError as error:
            raise click.UsageError(str(error.args[0])) from error


@contextmanager
def _examiner(jobs: int, modules: Sequence[str]) -> Iterator[Callable[[Sequence[Path], bool], Iterable[tuple[Path, Found]]]]:
    """A function that examines files, here or in processes; the certificates of one claim stay together."""
    if jobs == 1:
        yield lambda files, standalone: ((file, _examined(file, standalone)) for file in files)
        return
    from proofs_checks.harness.work import process_pool

    with process_pool(jobs) as pool:
        def examined(files: Sequence[Path], standalone: bool) -> Iterator[tuple[Path, Found]]:
            groups = [list(group) for _, group in groupby(files, key=lambda file: file.name.split(".")[:2])]
            task = partial(_examined_group, standalone=standalone, modules=modules)
            for group, found in zip(groups, pool.map(task, groups), strict=True):
                yield from zip(group, found, strict=True)

        yield examined


def _examined_group(files: Sequence[Path], *, standalone: bool, modules: Sequence[str]) -> list[Found]:
    """What became of some files. Runs in any process."""
    _load(modules)
    return [_examined(file, standalone) for file in files]


def _examined(file: Path, standalone: bool) -> Found:
    """What an accepted certificate says and how it was checked, or why it was rejected, in one line."""
    from proofs_checks.harness.bind import NotLoaded, bind
    from proofs_checks.harness.evidence import visible
    from proofs_checks.harness.recheck import examine

    try:
        certificate, said = examine(file)
        if certificate["claim"] and not standalone:
            bind(certificate)
        return _read(certificate, said)
    except NotLoaded as error:
        return Unloaded(error.claim, error.file)
    except Exception as error:  # a file from anywhere may provoke anything; it is rejected, whatever it is
        return visible(" ".join(str(error).removeprefix(f"{file}: ").split())) or type(error).__name__


def _unchecked(unloaded: Sequence[Unloaded]) -> list[str]:
    """A line for each file of a user's that was not loaded."""
    files: dict[str, list[str]] = defaultdict(list)
    for found in unloaded:
        files[found.file].append(found.claim)
    return [f"not checked: {len(claims)} certificates of {', '.join(sorted(set(claims)))}: {file} is not loaded; "
            f"add --module {shlex.quote(file)}" for file, claims in files.items()]


def _read(certificate: Mapping[str, Any], said: str) -> Accepted:
    from proofs_checks.harness.evidence import visible

    kind, engine = str(certificate["kind"]), str(certificate.get("engine", ""))
    rung = REPLAYED.get(engine, "NUMERIC") if kind == "replay" else RUNGS.get(kind, "")
    name = certificate["claim"] or visible(" ".join(certificate["statement"].split())) or "(no statement)"
    name = name if certificate["claim"] or len(name) <= WIDTH else name[:WIDTH - 3] + "..."
    return Accepted(name, certificate["variant"], kind, rung, kind == "witness" or certificate.get("verdict") == "REFUTED",
                    f"{kind}: {said}")


def _asked_kernel(file: Path, accepted: Accepted, said: list[str]) -> Found:
    """The same after Coq's kernel, whose answer is added to `said`."""
    from proofs_checks.harness.coq import check
    from proofs_checks.harness.recheck import examine

    found = check(examine(file)[0])
    said.append(f"KERNEL: {found.status}{'' if found.status == 'accepted' else f' ({found.reason})'}: {file}")
    return f"KERNEL: {found.reason}" if found.status == "rejected" else accepted


def _claims(accepted: Sequence[Accepted]) -> list[str]:
    """A line for each claim, then one for each paper."""
    claims: dict[str, list[Accepted]] = defaultdict(list)
    papers: dict[str, list[Accepted]] = defaultdict(list)
    for found in sorted(accepted, key=lambda a: a.claim):
        claims[found.claim].append(found)
        papers[found.claim.split(".")[0] if found.variant else "statements of no claim"].append(found)
    width = max(map(len, [*claims, *papers]), default=0)
    lines = [f"{name:{width}}  {_line(rows)}" for name, rows in claims.items()]
    if len(claims) > 1:
        lines += ["", *(f"{slug:{width}}  {_paper(rows)}" for slug, rows in papers.items())]
    return [*lines, ""] if lines else []


def _line(rows: Sequence[Accepted]) -> str:
    """What was accepted for one claim: for itself by rung and kind, then how many false variants were refuted how."""
    own = [r for r in rows if r.variant in ("claim", "") and not r.refutes]
    parts = [f"holds: {_counted(r.words() for r in own)}"] if own else []
    refuted = [r for r in rows if r.refutes]
    if variants := sorted({r.variant for r in refuted}):
        named = f"{len(variants)} variant{'s' * (len(variants) != 1)} refuted" if variants != [""] else "refuted"
        parts.append(f"{named}: {_counted(r.words() for r in refuted)}")
    if other := len(rows) - len(own) - len(refuted):
        parts.append(f"{other} on other variants")
    return "; ".join(parts)


def _paper(rows: Sequence[Accepted]) -> str:
    claims, refuted = {r.claim for r in rows}, {(r.claim, r.variant) for r in rows if r.refutes}
    return (f"{len(claims)} claim{'s' * (len(claims) != 1)}, {len(refuted)} refuted variants; "
            f"{len(rows)} certificates: {_counted(r.rung for r in rows)}")


def _counted(words: Iterable[str]) -> str:
    """`SYMBOLIC identity, 2 PROPERTY replay`, the strongest rung first."""
    counts = Counter(words)
    ranks = {word: (ORDER.index(word.split()[0]) if word.split()[:1] and word.split()[0] in ORDER else len(ORDER), word)
             for word in counts}
    return ", ".join(word if count == 1 else f"{count} {word}"
                     for word, count in sorted(counts.items(), key=lambda item: ranks[item[0]]))


def _ways(accepted: Sequence[Accepted]) -> list[str]:
    """How many were checked in which way."""
    counts = Counter(found.how for found in accepted)
    return [f"{count:5d}  {how}" for how, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]

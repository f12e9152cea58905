"""`refutable prove`: decide a statement, or the statements of an SMT-LIB file."""
from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofs_checks.harness.commands._progress import folder
from proofs_checks.harness.report_io import write_text

if TYPE_CHECKING:
    from proofs_checks.harness.evidence import Evidence
    from proofs_checks.harness.language import Problem

__all__ = ["command"]

EXIT = {"HOLDS": 0, "REFUTED": 1, "UNDECIDED": 3, "ERROR": 3}


@click.command(context_settings={"ignore_unknown_options": True})  # a statement may begin with a minus sign
@click.argument("statement", metavar="STATEMENT|FILE.smt2")
@click.option("--on", "domain", multiple=True, metavar="DOMAIN",
              help='Such as "x in [0, 1], y > 0, k in {1..8}". May be repeated: all of it holds together.')
@click.option("--budget", default=10.0, show_default=True, type=click.FloatRange(min=0, min_open=True),
              help="Seconds for each statement.")
@click.option("--seed", default=0, show_default=True, help="Seed of the search for counterexamples.")
@click.option("--certificate", type=click.Path(dir_okay=False, path_type=Path), default=None,
              help="Write the certificate to this file; `refutable recheck FILE` checks it. A file with several check-sat "
                   "gives FILE-1, FILE-2, ...")
def command(statement: str, domain: tuple[str, ...], budget: float, seed: int, certificate: Path | None) -> None:
    """Prove or refute STATEMENT over the reals, such as "x**2 + y**2 >= 2*x*y".

    Functions: exp log sqrt cbrt sin cos tan asin acos atan sinh cosh tanh Abs Min Max erf gamma loggamma digamma
    polygamma(n, x) logistic; relations < <= > >= Eq Ne, chained too; And Or Not Implies, & | ~. All that --on says holds
    together; if no point is left, the statement holds and is called vacuous. A file FILE.smt2 is read as SMT-LIB: "holds"
    means unsat, and is said only where no denominator can vanish and no root or logarithm leaves its domain.

    Exit code 0 holds, 1 refuted, 3 undecided, 2 wrong use."""
    from proofs_checks.engines.portfolio import prove_problem

    try:
        problems = _problems(statement, domain)
    except (ValueError, OSError) as error:
        click.echo(f"refutable prove: {error}", err=True)
        sys.exit(2)
    if certificate is not None:
        folder(certificate.parent, "--certificate")
    worst = 0
    for number, problem in enumerate(problems, 1):
        if len(problems) > 1:
            click.echo(problem.text() if len(problem.text()) < 400 else f"{problem.text()[:400]}...")
        found = prove_problem(problem, budget=budget, seed=seed)
        file = certificate
        if certificate is not None and len(problems) > 1:
            file = certificate.with_name(f"{certificate.stem}-{number}{certificate.suffix}")
        if file is not None and found.certificate is not None:
            write_text(file, json.dumps(found.certificate))
        for line in _lines(problem, found, file):
            click.echo(line)
        worst = max(worst, EXIT[found.verdict.name])
    sys.exit(worst)


def _problems(statement: str, domain: tuple[str, ...]) -> list[Problem]:
    from proofs_checks.harness.language import read_domain, read_problem, read_smtlib

    if statement.endswith(".smt2"):
        if any(domain):
            raise ValueError("--on does not go with a file: the file has its own bounds")
        return read_smtlib(Path(statement).read_text(encoding="utf-8"))
    if statement.startswith("--"):
        raise ValueError(f"{statement!r} is neither an option nor a statement; see refutable prove --help")
    entries, extra = read_domain(*domain)
    return [read_problem(statement, entries, extra)]


def _lines(problem: Problem, found: Evidence, file: Path | None) -> list[str]:
    lines = [f"{found.verdict.name}: {found.summary}"]
    if found.verdict.name == "REFUTED":
        lines += _sides(problem, found)
    if isinstance(found.certificate, Mapping):
        size = len(json.dumps(found.certificate))
        where = f"written to {file}" if file else "not written; --certificate FILE keeps it"
        lines.append(f"certificate: {found.certificate['kind']}, {size} bytes, {where}")
    lines += [f"trusted: {name}" for name in found.trusted_base]
    lines.append(f"{found.seconds:.2f} s")
    return lines


def _sides(problem: Problem, found: Evidence) -> list[str]:
    """Both sides of the inequality that fails, at the witness."""
    from proofs_checks.harness.checkers._values import truth
    from proofs_checks.harness.language import to_text
    from proofs_checks.harness.trees import RELATIONS

    point: dict[str, Any] = (found.certificate or {}).get("point", {}) if isinstance(found.certificate, Mapping) else {}
    parts = problem.conclusion[1:] if problem.conclusion[0] == "and" else [problem.conclusion]
    lines = []
    for part in parts:
        if part[0] in RELATIONS and not truth(part, point):
            left, right = (_number(side, point) for side in part[1:])
            lines.append(f"  {to_text(part)}: left {left}, right {right}")
    return lines


def _number(tree: Any, point: Mapping[str, Any]) -> str:
    from proofs_checks.harness.checkers._values import enclose
    from proofs_checks.harness.trees import Inexact, evaluate, substitute

    closed = substitute(tree, point)
    try:
        value = evaluate(closed, {})
        return str(value) if len(str(value)) < 40 else f"{float(value):.12g}"
    except Inexact:
        low, _ = enclose(closed, {})
        return f"{float(low):.12g}..."

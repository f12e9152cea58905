"""The commands run from tests, and three claims of the toy paper for them to judge."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import toy
from click.testing import CliRunner, Result

from proofs_checks.engines import exhaustive
from proofs_checks.harness.cli import main
from proofs_checks.harness.judge import evidence

green = toy.claim("green_run")
red = toy.claim("red_run", mutants={**green.mutants, "true_after_all": toy.weight})
false = toy.claim("false_run", form=lambda p, k: k * (1 - p) ** k)


@evidence(green)
def green_checks(weight: Any):
    yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))


@evidence(red)
def red_checks(weight: Any):
    yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))


@evidence(false)
def false_checks(weight: Any):
    yield exhaustive.forall(toy.grid, lambda p, k: toy.slope(p, k) == weight(p, k))


def call(*args: object) -> Result:
    """`refutable ARGS`, which must not end in an exception."""
    done = CliRunner().invoke(main, list(map(str, args)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def check(folder: Path, *args: str) -> tuple[int, dict[str, Any], Result]:
    """`refutable check ARGS` into a folder: its exit code, the report that it wrote, and what it printed."""
    done = call("check", *args, "--out", folder)
    found = sorted(folder.glob("*.json"))
    return done.exit_code, json.loads(found[0].read_text()) if found else {}, done

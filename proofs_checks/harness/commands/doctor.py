"""`refutable doctor`: what is installed, from where, and whether jax computes correctly."""
from __future__ import annotations

import sys

import click

__all__ = ["command"]


@click.command()
def command() -> None:
    """Say what is installed, from where, and whether jax computes correctly.

    Exit code 1 if the canary fails or the four rooms come from different folders."""
    from proofs_checks.harness.doctor import diagnosis

    lines, sound = diagnosis()
    for line in lines:
        click.echo(line)
    sys.exit(0 if sound else 1)

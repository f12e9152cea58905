"""The console script `refutable`. Each command lives in `harness.commands` and is imported when it is called."""
from __future__ import annotations

import errno
import importlib
import importlib.util
from typing import Any

import click

__all__ = ["main"]

COMMANDS = {
    "check": "Judge claims: evidence, false variants, report.",
    "prove": "Prove or refute a statement, with a certificate or an exact counterexample.",
    "recheck": "Check certificates again, independently.",
    "figures": "Draw every figure.",
    "report": "Render build/report.json as one static HTML page.",
    "doctor": "Say what is installed, from where, and whether jax computes correctly.",
    "pass-at-k": "Unbiased pass@k from a table of results.",
    "forecast": "Forecast the worst query of a deployment from evaluation scores.",
    "causes": "List all actual causes of an effect in a structural model.",
    "parents": "Find the direct causes of a column of a table.",
}


def module(name: str) -> str:
    """The module that holds a command."""
    return f"proofs_checks.harness.commands.{name.replace('-', '_')}"


class _Lazy(click.Group):
    """A group that knows its commands by name and one line each, so that --help imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if importlib.util.find_spec(module(name))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        found: click.Command = importlib.import_module(module(cmd_name)).command
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. A file that cannot be read or written is wrong use, told in one line; Ctrl-C is no verdict."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Aborted!", err=True)
            ctx.exit(130)  # as shells have it; click's own 1 would read as refuted
        except OSError as error:
            if error.errno == errno.EPIPE or (error.filename is None and error.errno != errno.ENOSPC):
                raise  # click ends quietly when nobody reads on; the rest is no matter of a file
            where = f"{error.filename}: " if error.filename is not None else ""
            click.echo(f"refutable {ctx.invoked_subcommand}: {where}{error.strerror}", err=True)
            ctx.exit(2)

    def format_commands(self, ctx: click.Context, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="refutable")
def main() -> None:
    """Claims of machine-learning papers, each judged by checks that could have failed.

    Exit codes: 0 every judgeable claim is green, 1 something is not, 2 wrong use; `prove`: 1 refuted, 3 undecided;
    130 interrupted."""


if __name__ == "__main__":
    main()

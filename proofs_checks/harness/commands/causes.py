"""`refutable causes`: the actual causes of an effect in a model file."""
from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from proofs_checks.harness.report_io import write_text

__all__ = ["command"]

LISTED = 20  # causes that are told in words unless --list


@click.command("causes")
@click.argument("model", type=click.Path(dir_okay=False))
@click.option("--context", "contexts", multiple=True, metavar="A=1,B=0",
              help="Values of inputs and exogenous names; may be repeated, or name a JSON file.")
@click.option("--others", metavar="VALUE", help="The value of every input that --context leaves out.")
@click.option("--effect", required=True, metavar="EVENT", help="Such as 'TOP=1' or 'A & W == tie'.")
@click.option("--count", "output", flag_value="count", help="Print the number of causes only.")
@click.option("--list", "output", flag_value="list", help="Print every cause, one a line.")
@click.option("--json", "as_json", is_flag=True, help="JSON: every cause with its witness; with --list one a line as it "
              "is found, with --count what is counted.")
@click.option("--exclude", multiple=True, metavar="NAMES",
              help="Names that may not be in a cause; 'gates' for all but inputs, 'effect' for the effect's own variables.")
@click.option("--candidates", multiple=True, metavar="NAMES", help="The only names that may be in a cause.")
@click.option("--definition", metavar="NAME", default="modified", show_default=True, help="modified, updated or original.")
@click.option("--engine", metavar="NAME", default="auto", show_default=True,
              help="auto, sat, zdd, rows, witness_map or definition.")
@click.option("--max-size", type=click.IntRange(1), help="Only causes of at most so many variables.")
@click.option("--limit", type=click.IntRange(1), help="At most so many causes.")
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Stop looking after so long.")
@click.option("--dot", type=click.Path(dir_okay=False, writable=True), help="Draw the model with the first cause as DOT text.")
@click.option("--svg", type=click.Path(dir_okay=False, writable=True), help="The same drawing as SVG.")
@click.option("--certificate", type=click.Path(dir_okay=False, writable=True), help="Write the proof of completeness.")
def command(model: str, contexts: tuple[str, ...], others: str | None, effect: str, output: str | None, as_json: bool,
            dot: str | None, svg: str | None, certificate: str | None, **options: Any) -> None:
    """List the actual causes of an effect in a structural model, in words, each with what had to be held fixed.

    MODEL is a JSON or YAML file, or .bnet, Open-PSA .xml or .bif as other programs write them. --context gives what
    happened, --effect what is asked about; it must be so in that context.

    Exit code 0, also if --limit or --time-limit ended the search: the first line says whether these are all. Exit code 2,
    and one line, if the model, the context or an option cannot be used."""
    from causal import CausalError, actual_causes, read_model

    most = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)  # counts of thousands of digits are printed
    try:
        if certificate and options["definition"] != "modified":
            raise CausalError(f"--certificate: there are certificates for --definition modified, not {options['definition']}")
        network = read_model(model)
        context = read_context(network, contexts, others)
        family = actual_causes(network, context, effect, **_arguments(network, effect, options))
        _write(network, context, effect, family, dot, svg, certificate)  # first: an answer is no comfort for a missing file
        if as_json and output != "list":
            _print_json(family, counted=output == "count")
        else:
            _print(network, context, effect, family, output, as_json)
    except CausalError as error:
        click.echo(f"refutable causes: {error}", err=True)
        sys.exit(2)
    finally:
        sys.set_int_max_str_digits(most)


def _arguments(network: Any, effect: str, options: dict[str, Any]) -> dict[str, Any]:
    inputs = set(network.inputs)
    groups = {"gates": [n for n in network.variables if n not in inputs], "effect": _own_variables(network, effect)}
    excluded: list[str] = []
    for name in _names(options.pop("exclude")) or ():
        excluded += groups[name] if name in groups and name not in network.domains else [name]
    return {**options, "exclude": excluded, "candidates": _names(options.pop("candidates"))}


def _names(texts: tuple[str, ...]) -> list[str] | None:
    return [n.strip() for t in texts for n in t.split(",") if n.strip()] if texts else None


def _own_variables(network: Any, effect: str) -> list[str]:
    """The names that the effect is about."""
    from causal.actual import read_effect
    from causal.expressions import names_of

    return sorted(names_of(read_effect(network, effect)))


def read_context(network: Any, texts: tuple[str, ...], others: str | None) -> dict[str, Any]:
    """The context that the options spell; values are matched with the domains. CausalError naming what is wrong."""
    from causal import CausalError, UnknownVariable
    from causal.files._native import unique

    given: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for text in texts:
        if "=" not in text:
            with open(text, encoding="utf-8") as file:
                try:
                    given |= json.load(file, object_pairs_hook=unique)
                except (ValueError, TypeError) as error:
                    raise CausalError(f"--context {text}: not a JSON object: {error}") from None
            continue
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, equals, value = (x.strip() for x in part.partition("="))
            if not equals or not name:
                raise CausalError(f"--context: {part!r} is not NAME=VALUE")
            if name not in network.domains:
                raise UnknownVariable(name, "--context", network.domains)
            if spelled.setdefault(name, value) != value:
                raise CausalError(f"--context: {name} is given as {spelled[name]} and as {value}")
            given[name] = _value(network, name, value)
    if others is not None:
        for name in (*network.exogenous, *network.inputs):
            given.setdefault(name, _value(network, name, others))
    return given


def _value(network: Any, name: str, text: str) -> Any:
    return next((v for v in network.domains[name] if str(v) == text), text)


def _progress(family: Any) -> Iterator[Any]:
    """The causes, with a counter on a terminal."""
    shown = sys.stderr.isatty()
    for number, cause in enumerate(family, 1):
        if shown and number % 100 == 0:
            click.echo(f"\r{number} causes ...", err=True, nl=False)
        yield cause
    if shown:
        click.echo("\r", err=True, nl=False)


def _print(network: Any, context: dict[str, Any], effect: str, family: Any, output: str | None, as_json: bool) -> None:
    if output == "count":
        click.echo(str(family.count) if family.complete else f"at least {family.count}")
    elif output == "list":
        for cause in _progress(family):
            click.echo(json.dumps(_as_data(cause)) if as_json else " ".join(sorted(cause.variables)))
        if not family.complete:
            click.echo(_completeness(family), err=True)
    else:
        _tell(network, context, effect, family)


def _print_json(family: Any, *, counted: bool) -> None:
    """Everything about the family but its causes, which --count does not list."""
    said = {"count": family.count, "complete": family.complete, "complete_up_to": family.complete_up_to,
            "engine": family.engine}
    if counted:
        said |= {"min_size": family.min_size, "sizes": family.sizes(), "participation": family.participation()}
    else:
        said["causes"] = [_as_data(c) for c in _progress(family)]
    click.echo(json.dumps(said, indent=1))


def _as_data(cause: Any) -> dict[str, Any]:
    return {"variables": sorted(cause.variables), "witness": cause.witness, "contingency": cause.contingency}


def _tell(network: Any, context: dict[str, Any], effect: str, family: Any) -> None:
    from causal.rendering import describe

    click.echo(_completeness(family))
    if family.count:
        most = sorted(family.participation().items(), key=lambda item: (-item[1], item[0]))[:5]
        click.echo("smallest: " + str(family.min_size) + " variable(s); most often: "
                   + ", ".join(f"{n} (in {_short(k)})" for n, k in most))
    for number, cause in enumerate(_progress(family)):
        if number == LISTED:
            click.echo(f"... and {_short(family.count - LISTED)} more; --list prints all")
            break
        click.echo(f"- {describe(network, context, effect, cause)}")
    own = set(_own_variables(network, effect)) & set(family.participation())
    if own:
        click.echo(f"({', '.join(sorted(own))}: the effect's own variables count as its causes by the definition; "
                   "--exclude effect leaves them out, --exclude gates all but the inputs)")


def _completeness(family: Any) -> str:
    if family.complete:
        return f"{_short(family.count)} actual cause(s), all of them"
    up_to = family.complete_up_to
    known = f"all of those with at most {up_to} variable(s)" if up_to else "more may exist"
    return f"{_short(family.count)} actual cause(s) found, {known}"


def _short(number: int) -> str:
    text = str(number)
    return text if len(text) <= 18 else f"about {text[0]}.{text[1:3]}e{len(text) - 1}"


def _write(network: Any, context: dict[str, Any], effect: str, family: Any, dot: str | None, svg: str | None,
           certificate: str | None) -> None:
    if certificate:
        write_text(Path(certificate), json.dumps(family.certificate()))
    if dot or svg:
        from causal.rendering import to_dot, write_svg

        first = next(iter(family), None)
        if dot:
            write_text(Path(dot), to_dot(network, context, effect, first))
        if svg:
            write_svg(svg, network, context, effect, first)

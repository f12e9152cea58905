"""Models from and to files: JSON, YAML, .bnet and BooleanNet, Open-PSA XML, BIF.

The project's own format is an object, in JSON or YAML (this one is read by a test):

    {"variables": {
        "ST": {},
        "BT": {},
        "SH": {"parents": ["ST"], "table": [0, 1]},
        "BH": {"expr": "BT & ~SH"},
        "W":  {"domain": ["calm", "storm"], "parents": ["U"], "table": ["storm", "calm", "calm"]},
        "BS": {"expr": "SH | BH & W != 'storm'"}},
     "exogenous": {"U": {"domain": ["low", "mid", "high"]}}}

variables   name -> object; its fields:
  domain    the values, two or more different texts or numbers; [0, 1] if left out
  expr      a formula that gives 1 where it holds and 0 elsewhere; syntax in `causal.expressions`
  table     the value for each row of parent values, flat, the last parent fastest; needs `parents`
  parents   names, in the order of the table; with `expr` optional, and then it may use no other name
            neither expr nor table: an input, whose value the context gives and which may be a cause
exogenous   name -> {"domain"}: the context gives the value, never a cause
A field or name that is unknown, and a name given twice, are errors that say which."""
from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from causal.errors import CausalError
from causal.model import CausalModel

__all__ = ["read_model", "write_model"]

MAX_BYTES = 32 * 2**20
MAX_YAML = 4 * 2**20  # its reader takes a hundred times as long and as much memory as the others
_READERS = {".json": "_native:read_json", ".yaml": "_native:read_yaml", ".yml": "_native:read_yaml",
            ".bnet": "_boolnet:read", ".txt": "_boolnet:read", ".booleannet": "_boolnet:read", ".xml": "_openpsa:read",
            ".opsa": "_openpsa:read", ".mef": "_openpsa:read", ".bif": "_bif:read"}
_WRITERS = {".json": "_native:write_json", ".yaml": "_native:write_yaml", ".yml": "_native:write_yaml",
            ".bnet": "_boolnet:write"}


def read_model(path: str | Path) -> CausalModel:
    """The model in a file, by its ending: .json, .yaml, .bnet (BooleanNet lines too), .xml (Open-PSA), .bif.

    Leaves (basic events, names without a rule) are inputs. CausalError gives the file, the line or the name; nothing
    in a file is executed, entities and aliases are refused, and sizes are checked before anything is built."""
    path = Path(path)
    reader = _named(_READERS, path, "read")
    most = MAX_YAML if path.suffix.lower() in (".yaml", ".yml") else MAX_BYTES
    if path.stat().st_size > most:
        raise CausalError(f"{path.name} has {path.stat().st_size} bytes, more than {most}")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CausalError(f"{path.name} is not UTF-8 text: {error}") from None
    try:
        model: CausalModel = reader(text)
    except CausalError as error:
        error.args = (f"{path.name}: {error}",)
        raise
    except RecursionError:
        raise CausalError(f"{path.name}: nested too deeply") from None
    return model


def write_model(model: CausalModel, path: str | Path) -> None:
    """Write `model` as .json, .yaml or, if every domain is 0/1, .bnet.

    .bnet has no exogenous names: they are written as names without a rule and come back as inputs."""
    path = Path(path)
    text: str = _named(_WRITERS, path, "write")(model)
    path.write_text(text, encoding="utf-8")


def _named(table: dict[str, str], path: Path, verb: str) -> Any:
    entry = table.get(path.suffix.lower())
    if entry is None:
        raise CausalError(f"cannot {verb} {path.name!r}: the ending must be one of {', '.join(table)}")
    module, function = entry.split(":")
    return getattr(import_module(f"causal.files.{module}"), function)

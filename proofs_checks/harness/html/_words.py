"""What the report says in words: states, standings, witnesses, numbers."""
from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from proofs_checks.harness.failures import left_out
from theory.claim import Source, Standing

__all__ = ["OURS", "READ", "finding", "link", "ours", "prose", "sampled", "small", "source", "standing", "state", "tag",
           "witness"]

READ = {"abstract": "Only the abstract was read.", "opening": "The opening pages were read.",
        "full text": "The full text was read."}
OURS = {Standing.NEEDS_HYPOTHESIS.name: "our reading holds with a hypothesis that it leaves out",
        Standing.CONVENTION_DEPENDENT.name: "our reading holds under one convention and fails under another",
        Standing.REFUTED_AS_STATED.name: "our reading is refuted; a repaired statement holds"}
LONG = 90  # characters of a witness that a cell of the matrix shows at once


def escape(text: Any) -> str:
    """Text for any place in the page, attributes included."""
    return html.escape(str(text), quote=True)


def prose(text: str) -> str:
    """A note: words between backticks are code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def link(url: Any, text: Any) -> str:
    """A link, or the bare text if the address is not a web page."""
    if isinstance(url, str) and re.match(r"https?://", url):
        return f'<a href="{escape(url)}">{escape(text)}</a>'
    return escape(text)


def tag(text: str, kind: str = "") -> str:
    """A small label; it says in words what its colour says."""
    return f'<span class="tag {kind}">{escape(text)}</span>'


def state(entry: Mapping[str, Any]) -> tuple[str, str]:
    """What became of a claim in a word, and the kind of its label."""
    if entry.get("green"):
        return "green", "good"
    if not entry.get("judgeable", True):
        return "listed, not judged", ""
    said = [p for r in entry.get("variants", {}).values() for p in r.get("problems", [])]
    if entry.get("partial") and entry.get("variants") and all(map(left_out, said)):
        return "partly judged", ""
    return "not green", "bad"


def standing(entry: Mapping[str, Any]) -> str:
    """How the paper's wording fares; what was reconstructed is our reading, not the authors' theorem. Of a claim that is
    not green that is not known, whatever its record says."""
    if state(entry) == ("not green", "bad"):
        return "open while the claim is not green"
    name = entry["standing"]
    if ours(entry) and name in OURS:
        return OURS[name]
    if name == Standing.HOLDS.name and entry["source"] not in (Source.ABSTRACT.name, Source.PAPER.name):
        return "holds"
    return Standing[name].value if name in Standing.__members__ else name


def ours(entry: Mapping[str, Any]) -> bool:
    """Whether the statement is a reconstruction or a stand-in of ours."""
    return entry["source"] in (Source.RECONSTRUCTION.name, Source.SURROGATE.name)


def source(name: str) -> str:
    """Where the statement comes from."""
    return Source[name].value if name in Source.__members__ else name


def finding(entry: Mapping[str, Any]) -> bool:
    """Whether the claim says that its paper's wording is false somewhere."""
    name = entry.get("standing", "")
    return name in Standing.__members__ and Standing[name].needs_wording


def small(probability: float) -> str:
    """A small probability: 3.8·10⁻⁵."""
    if not probability:
        return "0"
    digits, _, power = f"{probability:.1e}".partition("e")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if digits == "1.0" else f"{digits}·10{raised}"


def witness(value: Any, names: Sequence[str] = ()) -> str:
    """A witness as one line: rationals as they are, `name = value` for mappings and where names are known."""
    if names and isinstance(value, list) and len(names) == len(value):
        value = dict(zip(names, value, strict=True))
    if sampled(value):
        return f"{value['observations']} observations, error probability {small(value['alpha'])}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} = {_value(v)}" for k, v in value.items())
    return _value(value)


def sampled(value: Any) -> bool:
    """Whether a witness is a random stream, and so refutes with a probability of error."""
    return isinstance(value, Mapping) and {"stream", "observations", "alpha"} <= set(value)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "(" + ", ".join(map(_value, value)) + ")"
    if isinstance(value, str) and re.fullmatch(r"-?\d+/1", value):
        return value[:-2]
    return "true" if value is True else "false" if value is False else "none" if value is None else str(value)

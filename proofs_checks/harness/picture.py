"""The kill matrix of a claim as a small SVG: variants down, checks across.

    python -m proofs_checks.harness.picture pass_at_k.gradient_weight README.svg"""
from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from proofs_checks.harness.failures import place
from proofs_checks.harness.report_io import write_text

__all__ = ["kill_matrix", "main"]

CELL, LEFT, TOP = (150, 44), 230, 110
LOOKS = {"HOLDS": ("#dceee6", "holds"), "REFUTED": ("#f6dfd3", "refuted"), "UNDECIDED": ("#ececec", "undecided"),
         "ERROR": ("#ececec", "error")}


def kill_matrix(entry: Mapping[str, Any]) -> str:
    """SVG text for one entry of report.json."""
    rows = entry["variants"]
    checks = next(iter(rows.values()))["evidence"]
    width, height = LEFT + CELL[0] * len(checks) + 20, TOP + CELL[1] * len(rows) + 34
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="ui-sans-serif, system-ui, sans-serif" font-size="14">',
             f'<title>Kill matrix of {escape(entry["id"])}</title>',
             f'<rect width="{width}" height="{height}" rx="10" fill="#fdfcf9"/>', _text(20, 34, entry["id"], 18, weight=600),
             _text(20, 58, "every false variant must be refuted with a witness of its own", 13, fill="#5c5850")]
    for i, check in enumerate(checks):
        x = LEFT + CELL[0] * i + CELL[0] // 2
        parts += [_text(x, TOP - 26, check["rung"].lower(), 13, anchor="middle", weight=600),
                  _text(x, TOP - 9, check["engine"], 12, anchor="middle", fill="#5c5850")]
    for j, (name, row) in enumerate(rows.items()):
        parts += _row(TOP + CELL[1] * j, name, row)
    state = "green: the evidence holds, no false variant is left" if entry["green"] else "not green"
    parts.append(_text(20, height - 14, state, 13, weight=600, fill="#2b6b4f" if entry["green"] else "#a13b1e"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(y: int, name: str, row: Mapping[str, Any]) -> list[str]:
    parts = [_text(20, y + 19, name.replace("_", " "), 14, weight=600 if row["true"] else 400),
             _text(20, y + 35, "true" if row["true"] else "false", 11, fill="#5c5850")]
    for i, e in enumerate(row["evidence"]):
        x, (colour, word) = LEFT + CELL[0] * i, LOOKS[e["verdict"]]
        parts.append(f'<rect x="{x + 3}" y="{y + 3}" width="{CELL[0] - 6}" height="{CELL[1] - 6}" rx="6" fill="{colour}"/>')
        parts.append(_text(x + CELL[0] // 2, y + 20, word, 13, anchor="middle"))
        parts.append(_text(x + CELL[0] // 2, y + 34, _witness(e), 10, anchor="middle", fill="#5c5850"))
    return parts


def _witness(e: Mapping[str, Any]) -> str:
    if isinstance(e["witness"], Mapping) and "stream" in e["witness"]:
        return "a stream of samples"
    text = place(e)
    return "" if not text else f"at {text}" if len(text) < 23 else f"at {text[:21]}…"


def _text(x: int, y: int, text: str, size: int, *, anchor: str = "start", weight: int = 400, fill: str = "#26231e") -> str:
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{fill}">'
            f'{escape(text)}</text>')


def main(arguments: Sequence[str]) -> None:
    """Judge the claim named first and write its matrix to the file named second."""
    from proofs_checks.harness.work import Options, judged

    claim, path = arguments
    write_text(Path(path), kill_matrix(judged(Options(), claim)))


if __name__ == "__main__":
    main(sys.argv[1:])

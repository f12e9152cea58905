"""One claim: what is asserted, how far it was decided, and the kill matrix."""
from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from proofs_checks.harness.failures import decided_on
from proofs_checks.harness.html._math import mathml
from proofs_checks.harness.html._words import LONG, escape, ours, prose, sampled, source, standing, state, tag, witness

__all__ = ["article", "formula", "refutation"]

Link = Callable[[str], str]  # from a certificate's path in the report to its address seen from the page


def formula(latex: str) -> str:
    """The formula as MathML, or its LaTeX as text."""
    return mathml(latex) or f'<code class="tex">{escape(latex)}</code>'


def article(entry: Mapping[str, Any], link: Link) -> str:
    """The section of one claim."""
    name = entry["id"].split(".", 1)[-1]
    word, kind = state(entry)
    rung = f", {entry['rung'].lower()}" if entry.get("rung") and entry.get("green") else ""
    where = f'<p class="small soft">{escape(decided_on(entry, 300))}</p>' if rung else ""
    parts = [f'<article class="claim" id="{escape(entry["id"])}">',
             f"<header><h3>{escape(name.replace('_', ' ').capitalize())}</h3>{tag(word + rung, kind)}</header>", where,
             f'<div class="statement">{formula(entry["statement"])}</div>', _facts(entry), _problems(entry),
             _matrix(entry), _checks(entry, link), _again(entry), "</article>"]
    return "\n".join(filter(None, parts))


def _facts(entry: Mapping[str, Any]) -> str:
    """Hypotheses, source, standing, wording and note, as a list of terms."""
    rows = []
    if entry.get("hypotheses"):
        items = "".join(f"<li>{formula(latex)} <span class='soft small'>{escape(_needed(entry, name))}</span></li>"
                        for name, latex in entry["hypotheses"].items())
        rows.append(("Hypotheses", f'<ul class="hyp">{items}</ul>'))
    rows.append(("Standing", escape(standing(entry))))
    if entry.get("wording"):
        rows.append(("Our reading" if ours(entry) else "The wording", prose(entry["wording"])))
    if said := refutation(entry):
        rows.append((said[0], f'<span class="mono">{escape(said[1])}</span>'))
    rows.append(("Source", escape(source(entry["source"]))))
    if entry.get("note"):
        rows.append(("Note", prose(entry["note"])))
    return "<dl>" + "".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in rows) + "</dl>"


def _needed(entry: Mapping[str, Any], name: str) -> str:
    """Whether a hypothesis is needed, and what remains without it; of a condition without parts only what stands in its
    place is known."""
    row = entry.get("variants", {}).get(f"without_{name}")
    if row is None or not row["ok"]:
        return name
    does, instead = "holds" if row["true"] else "fails", "; ".join(mine for mine, _ in row["says"])
    if not row.get("drops"):
        return f"{name}: the statement {does} with {instead} in its place"
    kept = "" if instead.endswith("= Conditions()") else f"; what stays: {instead}"
    return f"{name}: {'not needed' if row['true'] else 'needed'}, the statement {does} without it{kept}"


def refutation(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """Where the paper's wording fails: the shortest separating witness in one line, an exact one if there is any."""
    rows = entry.get("variants", {}).get("as_stated", {}).get("evidence", [])
    found = [(row["witness"], row.get("names", [])) for row in rows
             if row is not None and row["kills"] and row["witness"] is not None]
    if not found:
        return None
    best = min(found, key=lambda pair: (sampled(pair[0]), len(witness(*pair))))
    return "Refuted by" if sampled(best[0]) else "Counterexample", witness(*best)


def _problems(entry: Mapping[str, Any]) -> str:
    said = [f"{v}: {p}" for v, row in entry.get("variants", {}).items() for p in row.get("problems", [])]
    if entry.get("judgeable", True) and not entry.get("variants"):
        said.append("no evidence is registered")
    if not said:
        return ""
    kind = "bad" if state(entry)[1] == "bad" else ""
    return f'<div class="note-box {kind}">' + "".join(f"<p>{escape(p)}</p>" for p in said) + "</div>"


def _matrix(entry: Mapping[str, Any]) -> str:
    """Variants by checks; asserted variants first."""
    rows = entry.get("variants", {})
    if not rows:
        return ""
    columns = max((r["evidence"] for r in rows.values()), key=len)
    model = rows.get("claim", {}).get("evidence") or columns
    model = model if len(model) == len(columns) else columns
    head = "".join(f'<th scope="col">{i}. {_check(e)}</th>' for i, e in enumerate(model, 1))
    names = sorted((v for v in entry["order"] if v in rows), key=lambda v: not rows[v]["true"])
    stated = "our reading" if ours(entry) else "as the paper words it"
    body = "".join(_row({"claim": "the claim", "as_stated": stated}.get(v, v), rows[v], len(model)) for v in names)
    return ('<h4>Kill matrix</h4><div class="scroll"><table class="matrix"><thead><tr><th scope="col">Variant</th>'
            f'<th scope="col">must</th>{head}</tr></thead><tbody>{body}</tbody></table></div>')


def _check(e: Mapping[str, Any] | None) -> str:
    """The head of a column: the engine, and its rung where the name does not say it."""
    if e is None:
        return "left out"
    rung = e["rung"].lower()
    return escape(e["engine"]) + (f'<span class="rung">{escape(rung)}</span>' if rung not in e["engine"] else "")


def _row(name: str, row: Mapping[str, Any], width: int) -> str:
    mark = "" if row["ok"] else " " + tag("not as it should be", "bad")
    cells = [_cell(e, row["true"]) for e in row["evidence"]] + ["<td></td>"] * (width - len(row["evidence"]))
    said = "" if row["variant"] == "claim" else "; ".join(mine for mine, _ in row.get("says", []))
    told = f'<span class="says mono">{escape(said)}</span>' if said else ""
    return (f'<tr><th scope="row">{escape(name)}{mark}{told}</th>'
            f'<td class="must">{"hold" if row["true"] else "fail"}</td>{"".join(cells)}</tr>')


def _cell(e: Mapping[str, Any] | None, true: bool) -> str:
    """A verdict in words and a sign, and the witness in exact rationals."""
    if e is None:
        return '<td><span class="verdict v-calm">left out</span></td>'
    verdict = e["verdict"]
    if verdict == "HOLDS":
        text = "holds everywhere" if e["universal"] else "holds"
        sign, kind = ("✓ ", "v-good") if true else ("", "v-calm")
    elif verdict == "REFUTED":
        sign, kind = ("✗ ", "v-bad") if true or not e["kills"] else ("✗ ", "v-good")
        text = "refuted" if true or e["kills"] else "refuted, but not separated from the claim"
    else:
        text, sign = verdict.lower(), "! " if verdict == "ERROR" else "? "
        kind = "v-bad" if true or verdict == "ERROR" else "v-calm"
    return f'<td><span class="verdict {kind}">{sign}{text}</span>{_witness(e)}</td>'


def _witness(e: Mapping[str, Any]) -> str:
    if e["witness"] is None:
        return ""
    text = witness(e["witness"], e.get("names", []))
    if len(text) <= LONG:
        return f'<span class="witness mono">{escape(text)}</span>'
    return f'<details><summary>witness</summary><span class="witness mono">{escape(text)}</span></details>'


def _checks(entry: Mapping[str, Any], link: Link) -> str:
    """What each check of the claim itself examined."""
    own = [e for e in entry.get("variants", {}).get("claim", {}).get("evidence", []) if e is not None]
    if not own:
        return ""
    items = []
    for e in own:
        trusted = f" Trusts {', '.join(e['trusted_base'])}." if e.get("trusted_base") else ""
        rung = " ".join(w for w in (e["rung"].lower(), "on the whole domain" if e["universal"] else "") if w not in e["engine"])
        items.append(f"<li><b>{escape(e['engine'])}</b>{escape(f' ({rung})' if rung else '')}: "
                     f"{escape(e['scope'] or e['summary'] or 'nothing said')}.<span class='soft'>{escape(trusted)}</span>"
                     f"{_certificate(e['certificate'], link)}</li>")
    return f'<h4>What was examined</h4><ol class="checks small">{"".join(items)}</ol>'


def _certificate(path: Any, link: Link) -> str:
    return f' <a href="{escape(link(path))}">certificate</a>' if isinstance(path, str) else ""


def _again(entry: Mapping[str, Any]) -> str:
    if not entry.get("judgeable", True):
        return ""
    claim = entry.get("variants", {}).get("claim", {})
    module = f" --module {shlex.quote(claim['module'])}" if claim.get("module") else ""
    rows = [f'<code class="again">refutable check {escape(entry["id"] + module)} --fresh</code>']
    if claim.get("hash"):
        rows.append(f'<p class="small soft hash"><code>{escape(entry["id"])}</code>, {entry["seconds"]:.2f} s, statement '
                    f'<code>{escape(claim["hash"])}</code></p>')
    return "<h4>Again</h4>" + "".join(rows)

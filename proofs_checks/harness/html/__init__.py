"""The report as one static page: no script, nothing loaded from anywhere, formulas and figures inside."""
from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from proofs_checks.harness.failures import decided_on
from proofs_checks.harness.html._claim import article, refutation
from proofs_checks.harness.html._style import CSS
from proofs_checks.harness.html._svg import inline_svg
from proofs_checks.harness.html._words import READ, escape, finding, link, prose, small, standing, state, tag

__all__ = ["render"]

FIGURES = 3_500_000  # characters of figures that the page carries; further ones are linked
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render(report: Mapping[str, Any], *, folder: Path, page: Path) -> str:
    """The page for a report whose certificates and figures lie in `folder`, to be written to `page`."""
    papers: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for entry in report["claims"]:
        papers[entry["paper"]].append(entry)

    def address(path: str) -> str:
        return quote(os.path.relpath(folder / path, page.parent).replace(os.sep, "/"))

    drawn = _figures(papers, folder, address)
    sections = [_paper(slug, entries, drawn.get(slug, ""), address) for slug, entries in papers.items()]
    return "\n".join([
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>refutable: report</title><style>{CSS}</style></head><body><main>",
        '<div class="front" id="top">', _head(report), _red(report), _findings(report["claims"]), _contents(papers),
        _summary(papers), "</div>", *sections, _foot(report), "</main></body></html>", ""])


def _head(report: Mapping[str, Any]) -> str:
    claims = report["claims"]
    judged = [e for e in claims if e["judgeable"]]
    killed, false = (sum(e["mutants"][k] for e in judged) for k in ("killed", "total"))
    tiles = [(f"{sum(e['green'] for e in judged)} of {len(judged)}", "claims green"),
             (f"{killed} of {false}", "false variants refuted"),
             (str(sum(map(finding, claims))), "wordings or readings that fail somewhere"),
             (small(report["alpha"]["spent"]),
              f"chance of any wrong statistical verdict, at most; {small(report['alpha']['suite'])} is allowed")]
    partial = "" if report["complete"] else \
        '<p class="note-box bad">Partial run: not every claim and check was judged.</p>'
    return ('<header><h1>What was claimed, and what could be refuted</h1>'
            '<p class="lead">Each claim ships false variants of itself. It is green only if its own evidence holds '
            "<em>and</em> every false variant is refuted by a witness that the claim survives. What is judged is our "
            "formalisation of a paper's sentence; where a statement was reconstructed, it says so.</p>"
            f'{partial}<ul class="tiles">{"".join(f"<li><b>{escape(n)}</b><span>{escape(t)}</span></li>" for n, t in tiles)}'
            "</ul></header>")


def _red(report: Mapping[str, Any]) -> str:
    """Everything that is not green, first."""
    from proofs_checks.harness.report import problems

    partial = {e["id"] for e in report["claims"] if state(e)[0] == "partly judged"}
    lines = [p for p in problems(report) if p.split(":")[0] not in partial]
    if not lines:
        return ""
    items = "".join(f'<li class="bad">{_to_claim(p)}</li>' for p in lines)
    return f'<section><h2>Not green</h2><ul class="findings">{items}</ul></section>'


def _to_claim(line: str) -> str:
    claim, _, rest = line.partition(": ")
    if "." not in claim or " " in claim:
        return escape(line)
    return f'<a href="#{escape(claim)}">{escape(claim)}</a>: {escape(rest)}'


def _findings(claims: list[Mapping[str, Any]]) -> str:
    """Where a paper's wording, or our reading of it, is false: the news."""
    order = {"REFUTED_AS_STATED": 0, "NEEDS_HYPOTHESIS": 1, "CONVENTION_DEPENDENT": 2}
    found = sorted((e for e in claims if finding(e)), key=lambda e: (order[e["standing"]], e["id"]))
    if not found:
        return ""
    items = []
    for e in found:
        said = refutation(e)
        at = f'<p class="soft small">{said[0]} <span class="mono">{escape(_short(said[1]))}</span></p>' if said else ""
        word = "" if e["green"] else tag(*state(e)) + " "
        items.append(f'<li><a href="#{escape(e["id"])}">{escape(e["id"])}</a> {word}{tag(standing(e), "news")}'
                     f'<p>{prose(e["wording"])}</p>{at}</li>')
    return ('<section><h2>Findings</h2><p class="soft">Sentences that are false somewhere, as we read them. Each has a '
            "repaired statement, judged below. Where it says <em>our reading</em>, we reconstructed the sentence: it is not "
            f'the authors\' theorem.</p><ul class="findings">{"".join(items)}</ul></section>')


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."


def _contents(papers: Mapping[str, list[Mapping[str, Any]]]) -> str:
    items = "".join(f'<li><a href="#{escape(slug)}">{escape(entries[0]["title"])}</a></li>' for slug, entries in papers.items())
    return f'<nav class="toc" aria-label="Papers"><h2>Papers</h2><ol>{items}</ol></nav>'


def _summary(papers: Mapping[str, list[Mapping[str, Any]]]) -> str:
    rows = []
    for slug, entries in papers.items():
        rows.append(f'<tr class="group"><th colspan="6" scope="colgroup">{escape(slug)}</th></tr>')
        for e in entries:
            killed = f"{e['mutants']['killed']} of {e['mutants']['total']}" if e["judgeable"] else ""
            rows.append(f'<tr><th scope="row"><a href="#{escape(e["id"])}">{escape(e["id"].split(".", 1)[-1])}</a></th>'
                        f"<td>{tag(*state(e))}</td><td>{escape((e['rung'] or '').lower())}"
                        f'<span class="says">{escape(decided_on(e))}</span></td>'
                        f'<td class="num">{killed}</td><td>{escape(standing(e))}</td>'
                        f"<td>{escape(e['source'].lower())}</td></tr>")
    return ('<section><h2>All claims</h2><div class="scroll"><table class="all"><thead><tr><th scope="col">Claim</th>'
            '<th scope="col">State</th><th scope="col">Strongest rung</th>'
            '<th scope="col" class="num">False variants refuted</th>'
            '<th scope="col">Standing</th><th scope="col">Source</th></tr></thead>'
            f'<tbody>{"".join(rows)}</tbody></table></div></section>')


def _paper(slug: str, entries: list[Mapping[str, Any]], figure: str, address: Any) -> str:
    first = entries[0]
    arxiv = link(f"https://arxiv.org/abs/{first['arxiv']}", f"arXiv {first['arxiv']}") if first.get("arxiv") else ""
    page = link(first["url"], "page of the paper") if first.get("url") else ""
    where = ". ".join(filter(None, [arxiv, page, escape(READ.get(first["read"], first["read"]))]))
    topics = f'<p class="soft small">{escape(", ".join(first.get("topics", [])))}</p>'
    articles = "\n".join(article(e, address) for e in entries)
    return (f'<section class="paper" id="{escape(slug)}"><header><a class="top" href="#top">to the top</a>'
            f'<h2>{escape(first["title"])}</h2><p>{where}</p>{topics}</header>\n'
            f'{figure or "<p class=nofigure>No figure yet.</p>"}\n{articles}</section>')


def _figures(papers: Mapping[str, list[Mapping[str, Any]]], folder: Path, address: Any) -> dict[str, str]:
    """The figures of each paper, small ones first into the page as long as there is room."""
    found = {path: slug for slug in papers for path in sorted((folder / "figures").glob(f"{slug}*.svg"))
             if path.name.split(".")[0] == slug}
    room, drawn = FIGURES, {}
    for path in sorted(found, key=lambda p: (p.stat().st_size, p.name)):
        title = papers[found[path]][0]["title"]
        svg = inline_svg(path.read_text(encoding="utf-8"), f"f-{path.stem.replace('.', '-')}", f"Figure: {title}")
        if svg is None or len(svg) > room:
            drawn[path] = f'<p class="nofigure"><a href="{escape(address("figures/" + path.name))}">{escape(path.name)}</a></p>'
            continue
        room -= len(svg)
        drawn[path] = f"<figure>{svg}</figure>"
    return {slug: "".join(drawn[p] for p in found if found[p] == slug) for slug in papers}


def _foot(report: Mapping[str, Any]) -> str:
    canary, alpha = report["canary"], report["alpha"]
    sound = "passed" if canary["passed"] else "not run" if canary["passed"] is None else "failed"
    why = f": {canary['reason']}" if canary.get("reason") and not canary["passed"] else f", on {canary.get('backend', '?')}"
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    return (f"<footer><p>{alpha['decisions']} statistical decisions at {small(alpha['decision'])} each. "
            f"jax canary {escape(sound + why)}.</p><p>{escape(versions)}</p></footer>")

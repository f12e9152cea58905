"""From judgements to `build/report.json`, the table on the terminal, and the block that a failure prints."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from proofs_checks.harness.certificate import to_json
from proofs_checks.harness.evidence import Rung, Verdict
from proofs_checks.harness.judge import ALPHA, ALPHA_SUITE, Trial
from proofs_checks.harness.report_io import write_json
from theory.claim import Claim

__all__ = ["build", "claim_entry", "facts", "failure", "problems", "reproduction", "table", "variant_record",
           "write_report"]

SCHEMA = "refutable/report/1"
LIBRARIES = ("refutable", "jax", "jaxlib", "numpy", "scipy", "sympy", "hypothesis", "python-flint", "z3-solver", "cvxpy",
             "clarabel", "networkx", "numba", "statsmodels", "python-sat", "dd", "equinox", "mpmath", "pandas", "scikit-learn")

Record = dict[str, Any]


def facts(claim: Claim[Any]) -> Record:
    """What the record of a claim says, without its variants."""
    paper = claim.paper
    return {"id": claim.id, "paper": paper.slug, "title": paper.title, "arxiv": paper.arxiv, "url": paper.url,
            "read": paper.read, "topics": list(paper.topics), "statement": claim.statement,
            "hypotheses": dict(claim.hypotheses), "source": claim.source.name, "standing": claim.standing.name,
            "judgeable": claim.standing.judgeable, "wording": claim.wording, "note": claim.note,
            "order": list(claim.variants()) if claim.standing.judgeable else []}


def variant_record(trial: Trial, variant: str) -> Record:
    """One row of the kill matrix, as data."""
    outcome, checks = trial.outcome(variant), trial.run(variant).checks
    kills = set(map(id, outcome.kills))
    rows = [None if e is None else
            {"engine": c.engine, "rung": e.rung.name, "verdict": e.verdict.name, "universal": e.universal, "scope": e.scope,
             "summary": e.summary, "witness": to_json(e.witness), "certificate": e.certificate,
             "trusted_base": list(e.trusted_base), "seconds": round(e.seconds, 4), "kills": id(e) in kills}
            for c, e in zip(checks, outcome.evidence, strict=True)]
    return {"claim": trial.claim.id, "variant": variant, "true": trial.claim.expected_true(variant), "ok": outcome.ok,
            "problems": list(outcome.problems), "killed_by": outcome.killed_by and outcome.killed_by.name,
            "hash": outcome.hash, "contradictions": list(outcome.contradictions), "evidence": rows,
            "idle": trial.idle() if variant == "claim" and trial.form_holds() else []}


def claim_entry(known: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> Record:
    """A claim's entry in report.json, from its facts and the records of the variants that were judged."""
    rows = {r["variant"]: dict(r) for r in records}
    expected = set(known["order"])
    false = [r for r in rows.values() if not r["true"]]
    own = [e for e in rows.get("claim", {"evidence": []})["evidence"] if e is not None]
    every = [e for r in rows.values() for e in r["evidence"]]
    judged = bool(known["judgeable"] and expected and expected == set(rows) and None not in every)
    best = max((e for e in own if e["verdict"] == "HOLDS"), key=lambda e: Rung[e["rung"]], default=None)
    return {**known, "verdict": _verdict(own), "rung": best and best["rung"],
            "green": judged and all(r["ok"] for r in rows.values()), "partial": known["judgeable"] and not judged,
            "mutants": {"killed": sum(r["killed_by"] is not None and r["ok"] for r in false), "total": len(false)},
            "decisions": sum(e is not None and e["rung"] == "STATISTICAL" for e in every),
            "seconds": round(sum(e["seconds"] for e in every if e is not None), 3),
            "certificate": best and best["certificate"],
            "variants": {v: rows[v] for v in known["order"] if v in rows},
            "idle": rows.get("claim", {}).get("idle", []),
            "contradictions": [c for r in rows.values() for c in r["contradictions"]]}


def _verdict(own: Sequence[Mapping[str, Any]]) -> str | None:
    said = {e["verdict"] for e in own}
    worst = (Verdict.ERROR.name, Verdict.REFUTED.name, Verdict.UNDECIDED.name, Verdict.HOLDS.name)
    return next((v for v in worst if v in said), None)


def build(entries: Iterable[Mapping[str, Any]], *, complete: bool, alpha: float = ALPHA) -> Record:
    """The whole report as data. A report over the suite's error budget, or with a failed canary, says so.

    The canary costs an import of jax, so a partial report does without and says null."""
    from proofs_checks.harness.doctor import canary

    claims = sorted((dict(e) for e in entries), key=lambda e: e["id"])
    decisions = sum(e["decisions"] for e in claims)
    return {"schema": SCHEMA, "complete": complete,
            "alpha": {"suite": ALPHA_SUITE, "decision": alpha, "decisions": decisions, "spent": decisions * alpha},
            "versions": versions(),
            "canary": canary() if complete else {"passed": None, "reason": "not run for a partial report"},
            "idle": [f"{e['id']}: {i}" for e in claims for i in e["idle"]],
            "contradictions": [f"{e['id']}: {c}" for e in claims for c in e["contradictions"]], "claims": claims}


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that can change a verdict, as installed."""
    import platform

    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def problems(report: Mapping[str, Any]) -> list[str]:
    """Why the report is not green, one line each; empty if it is."""
    red = [f"{e['id']}: {_why(e)}" for e in report["claims"] if e["judgeable"] and not e["green"]]
    if report["alpha"]["spent"] > report["alpha"]["suite"]:
        red.append(f"the suite spends error {report['alpha']['spent']:.1e}, more than {report['alpha']['suite']:.0e}")
    if report["canary"]["passed"] is False:
        red.append(f"jax canary failed: {report['canary'].get('reason', '')}")
    return red


def _why(entry: Mapping[str, Any]) -> str:
    if not entry["variants"]:
        return "no evidence is registered"
    said = [f"{v}: {r['problems'][0]}" for v, r in entry["variants"].items() if r["problems"]]
    missing = [v for v in entry["order"] if v not in entry["variants"]]
    return said[0] if said else f"not judged: {', '.join(missing)}"


def write_report(report: Mapping[str, Any], folder: Path) -> Path:
    """Write report.json, or partial.json for a partial run, with its certificates beside it; return its path.

    Certificates go to `folder/certificates`; the report names their files."""
    claims = [{**e, "variants": {v: _filed(r, folder) for v, r in e["variants"].items()}} for e in report["claims"]]
    for entry in claims:
        own = entry["variants"].get("claim", {"evidence": []})["evidence"]
        best = [e for e in own if e is not None and e["verdict"] == "HOLDS" and e["rung"] == entry["rung"]]
        entry["certificate"] = best[0]["certificate"] if best else None
    path = folder / ("report.json" if report["complete"] else "partial.json")
    write_json(path, {**report, "claims": claims})
    if report["complete"]:
        _remove_stale(folder, claims)
    return path


def _remove_stale(folder: Path, claims: Iterable[Mapping[str, Any]]) -> None:
    """Remove certificates that no evidence of a complete report names: they belong to earlier statements."""
    named = {row["certificate"] for e in claims for r in e["variants"].values() for row in r["evidence"] if row is not None}
    for path in (folder / "certificates").glob("*.json"):
        if f"certificates/{path.name}" not in named:
            path.unlink(missing_ok=True)


def _filed(record: Mapping[str, Any], folder: Path) -> Record:
    rows = []
    for i, row in enumerate(record["evidence"]):
        if row is not None and isinstance(row["certificate"], Mapping):
            name = f"certificates/{record['claim']}.{record['variant']}.{i}.json"
            write_json(folder / name, row["certificate"])
            row = {**row, "certificate": name}
        rows.append(row)
    return {**record, "evidence": rows}


def table(report: Mapping[str, Any]) -> list[str]:
    """One line a claim: colour in words, rung, mutants killed, standing, seconds."""
    width = max((len(e["id"]) for e in report["claims"]), default=5)
    head = f"{'claim':{width}}  {'':6} {'rung':12} {'false variants':>14}  {'source':15} {'standing':20} {'seconds':>7}"
    lines = [head, "-" * len(head)]
    for e in report["claims"]:
        state = "green" if e["green"] else "listed" if not e["judgeable"] else "part" if _only_partial(e) else "RED"
        killed = f"{e['mutants']['killed']}/{e['mutants']['total']} refuted"
        lines.append(f"{e['id']:{width}}  {state:6} {e['rung'] or '-':12} {killed:>14}  {e['source']:15} {e['standing']:20}"
                     f" {e['seconds']:7.2f}")
    green, judged = sum(e["green"] for e in report["claims"]), sum(e["judgeable"] for e in report["claims"])
    lines.append(f"{green} of {judged} claims green; wrong-verdict probability of the statistical decisions at most "
                 f"{report['alpha']['spent']:.1e}{'' if report['complete'] else '; partial run'}")
    return lines


def _only_partial(entry: Mapping[str, Any]) -> bool:
    said = [p for r in entry["variants"].values() for p in r["problems"]]
    return bool(entry["partial"] and entry["variants"]) and all(p.startswith("not judged: ") for p in said)


def failure(known: Mapping[str, Any], record: Mapping[str, Any]) -> list[str]:
    """The block that a failed variant prints: what was expected and stated, what each rung found, how to see it again."""
    expected = "to hold" if record["true"] else "to be refuted with a witness of its own"
    lines = [f"{record['claim']} [{record['variant']}]  expected {expected}", f"  states   {known['statement']}"]
    for name, text in known["hypotheses"].items():
        lines.append(f"  given    {name}: {text}")
    for row in record["evidence"]:
        if row is not None:
            witness = "" if row["witness"] is None else f"  witness {json.dumps(row['witness'], ensure_ascii=False)}"
            said = ": " + row["summary"] if row["summary"] else ""
            lines.append(f"  {row['rung']:<11} {row['engine']} {row['verdict'].lower()}{said}{witness}  [{row['scope']}]")
    lines += [f"  problem  {p}" for p in record["problems"]]
    return [*lines, f"  again    {reproduction(record)}"]


def reproduction(record: Mapping[str, Any]) -> str:
    """The command that judges the variant again."""
    return f"refutable check {record['claim']} --variant {record['variant']} --fresh"

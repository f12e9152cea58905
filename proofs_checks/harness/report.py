"""From judgements to `build/report.json`, the table on the terminal, and the block that a failure prints."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from proofs_checks.harness.certificate import to_json
from proofs_checks.harness.evidence import Rung, Verdict
from proofs_checks.harness.failures import decided_on, left_out, names_of, sides, told
from proofs_checks.harness.judge import ALPHA, ALPHA_SUITE, Trial
from proofs_checks.harness.report_io import write_json
from proofs_checks.harness.spoken import differences
from theory.claim import Claim

__all__ = ["build", "claim_entry", "facts", "only_partial", "problems", "table", "variant_record", "write_report"]

SCHEMA = "refutable/report/1"
LIBRARIES = ("refutable", "jax", "jaxlib", "numpy", "scipy", "sympy", "hypothesis", "python-flint", "z3-solver", "cvxpy",
             "clarabel", "networkx", "numba", "statsmodels", "python-sat", "dd", "equinox", "mpmath", "pandas")

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
             "trusted_base": list(e.trusted_base), "seconds": round(e.seconds, 4), "kills": id(e) in kills,
             "names": names_of(c, e.witness)}
            for c, e in zip(checks, outcome.evidence, strict=True)]
    problems = list(outcome.problems)
    for c, e, row in zip(checks, outcome.evidence, rows, strict=True):
        if e is not None and row is not None and e.verdict is Verdict.REFUTED:
            row["summary"] = told(row, "" if outcome.ok else sides(c, e))
            problems = [p.replace(e.summary, row["summary"]) if e.summary else p for p in problems]
    form = trial.claim.form
    return {"claim": trial.claim.id, "variant": variant, "true": trial.claim.expected_true(variant), "ok": outcome.ok,
            "says": differences(None if variant == "claim" else form, trial.claim.variants()[variant]),
            "drops": (trial.claim.dropped(variant) or ("", False))[1],
            "module": trial.module, "rungs": [c.rung.name for c in checks],
            "problems": problems, "killed_by": outcome.killed_by and outcome.killed_by.name,
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
    best = max((e for e in own if e["verdict"] == "HOLDS"), key=lambda e: (Rung[e["rung"]], e["universal"]), default=None)
    return {**known, "verdict": _verdict(own), "rung": best and best["rung"],
            "universal": best and best["universal"], "scope": best and best["scope"],
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
    _remove_stale(folder, claims, ".*" if report["complete"] else "|".join(map(_judged, claims)))
    return path


def _remove_stale(folder: Path, claims: Iterable[Mapping[str, Any]], judged: str) -> None:
    """Remove the certificates of what was judged that no evidence names any more: they belong to earlier statements."""
    named = {row["certificate"] for e in claims for r in e["variants"].values() for row in r["evidence"] if row is not None}
    for path in (folder / "certificates").glob("*.json"):
        if f"certificates/{path.name}" not in named and re.fullmatch(judged, path.name):
            path.unlink(missing_ok=True)


def _judged(entry: Mapping[str, Any]) -> str:
    """A pattern of the names of certificates that a claim could have: all of it, or of the variants judged in full."""
    claim = re.escape(entry["id"])
    if entry["judgeable"] and not entry["partial"]:
        return rf"{claim}\..*"
    whole = [re.escape(v) for v, r in entry["variants"].items() if None not in r["evidence"]]
    return rf"{claim}\.({'|'.join(whole)})\.\d+\.json" if whole else "(?!)"


def _filed(record: Mapping[str, Any], folder: Path) -> Record:
    rows = []
    for i, row in enumerate(record["evidence"]):
        if row is not None and isinstance(row["certificate"], Mapping):
            name = f"certificates/{record['claim']}.{record['variant']}.{i}.json"
            write_json(folder / name, row["certificate"])
            row = {**row, "certificate": name}
        rows.append(row)
    return {**record, "evidence": rows}


def table(report: Mapping[str, Any], *, filtered: bool = False) -> list[str]:
    """One line a claim: colour in words, rung, mutants killed, standing, seconds, and the scope of the rung, beyond which
    nothing is said; then what it comes to.

    `filtered` says that claims were left out, as was asked for."""
    claims = report["claims"]
    width = max((len(e["id"]) for e in claims), default=5)
    head = (f"{'claim':{width}}  {'':6} {'rung':12} {'false variants':>14}  {'source':15} {'standing':20} {'seconds':>7}  "
            "scope of the rung")
    lines = [head, "-" * len(head)]
    for e in claims:
        killed = f"{e['mutants']['killed']}/{e['mutants']['total']} refuted"
        lines.append(f"{e['id']:{width}}  {state(e):6} {e['rung'] or '-':12} {killed:>14}  {e['source']:15} "
                     f"{_standing(e):20} {e['seconds']:7.2f}  {decided_on(e)}".rstrip())
    return [*lines, *_total(report, filtered)]


def _standing(entry: Mapping[str, Any]) -> str:
    """How the paper's wording fares; of a claim that is not green that is not known, whatever its record says."""
    return "-" if state(entry) in ("RED", "none") else str(entry["standing"])


def state(entry: Mapping[str, Any]) -> str:
    """What became of a claim, in a word."""
    if entry["green"]:
        return "green"
    if not entry["judgeable"]:
        return "listed"
    if not only_partial(entry):
        return "RED"
    return "part" if any(e is not None for r in entry["variants"].values() for e in r["evidence"]) else "none"


def _total(report: Mapping[str, Any], filtered: bool) -> list[str]:
    """How many claims are green; what was judged in part is told apart and counted in neither way."""
    states = [state(e) for e in report["claims"]]
    spent = f"; wrong-verdict probability of the statistical decisions at most {report['alpha']['spent']:.1e}" \
        if report["alpha"]["decisions"] else ""
    partial = "; partial run" if filtered else ""
    whole = len(states) - sum(s in ("part", "none", "listed") for s in states)
    lines = [f"{states.count('green')} of {whole} claims green{spent}{partial}"] if whole or "part" not in states else []
    if count := states.count("part"):
        rows = [r for e, s in zip(report["claims"], states, strict=True) if s == "part" for r in e["variants"].values()]
        ran, all_of_them = (sum(e is not None or every for r in rows for e in r["evidence"]) for every in (False, True))
        lines.append(f"partial: {count} claim{'s' * (count != 1)} judged in part ({len(rows)} variants, {ran} of {all_of_them} "
                     f"checks), nothing wrong in what was judged{'' if whole else spent}")
    if none := states.count("none"):
        lines.append(f"partial: {none} claim{'s' * (none != 1)} without a check that was asked for")
    return lines


def only_partial(entry: Mapping[str, Any]) -> bool:
    """Whether a claim is not green only because checks or variants were left out, as was asked for."""
    said = [p for r in entry["variants"].values() for p in r["problems"]]
    return bool(entry["partial"] and entry["variants"]) and all(map(left_out, said))

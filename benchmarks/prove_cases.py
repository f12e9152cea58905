"""How much `prove` decides of statements with known truth, by class, beside z3, sympy and plain interval bisection alone.

    python benchmarks/prove_cases.py [--budget 10] [--baseline-budget 2] [--no-baselines] [ID ...]

Cases: benchmarks/data/inequalities_dev.json (129 statements from public collections and from papers; each names its
source). Every certificate is checked again by the standard-library checker, every witness with it. The table replaces
the section between the markers in benchmarks/RESULTS.md, with the load of the machine, since the budget is wall time."""
from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CASES = HERE / "data" / "inequalities_dev.json"
RESULTS = HERE / "RESULTS.md"
MARKERS = "<!-- prove_cases: begin -->", "<!-- prove_cases: end -->"
BASELINES = ("z3", "sympy", "bisection")


def problem_of(case: dict[str, Any]) -> Any:
    """The case as the front door reads it."""
    from proofs_checks.harness.language import read_problem

    text = case["conclusion"]
    if case["hypotheses"]:
        text = f"Implies(And({', '.join(case['hypotheses'])}, True), {text})"
    return read_problem(text, case["variables"])


def ours(case: dict[str, Any], budget: float) -> dict[str, Any]:
    """Verdict, time, and what the checker says of the certificate."""
    from proofs_checks.engines.portfolio import prove_problem
    from proofs_checks.harness.recheck import CertificateError, recheck

    problem = problem_of(case)
    start = time.perf_counter()
    found = prove_problem(problem, budget=budget)
    seconds = time.perf_counter() - start
    kind, check, accepted = None, 0.0, True
    if isinstance(found.certificate, dict):
        kind = found.certificate["kind"]
        start = time.perf_counter()
        try:
            recheck(found.certificate)
        except CertificateError:
            accepted = False
        check = time.perf_counter() - start
    verdict = {"HOLDS": True, "REFUTED": False}.get(found.verdict.name)
    digits = max((len(str(value)) for value in (found.witness or {}).values()), default=0)
    return {"verdict": verdict, "seconds": seconds, "kind": kind, "check": check, "accepted": accepted,
            "digits": digits, "summary": found.summary}


# --- the others, each in a process of its own that is ended at its limit ------------------------------------------------
def z3_alone(case: dict[str, Any], limit: float) -> bool | None:
    """The statement's negation given to z3, functions that it has not excluded."""
    from proofs_checks.engines.smt._run import run
    from proofs_checks.harness.checkers._smtlib import assemble

    text = assemble(problem_of(case).subject, [])
    verdict = run(text, timeout_ms=int(1000 * limit)).verdict
    opaque = any(line.startswith('; ["') and not line.startswith(('; ["pow', '; ["quotient')) for line in text.splitlines())
    return True if verdict == "unsat" else False if verdict == "sat" and not opaque else None


def sympy_alone(case: dict[str, Any], limit: float) -> bool | None:
    """Simplification, and the solution set of the negation where there is one variable."""
    import sympy as sp

    from proofs_checks.harness.trees import from_tree

    problem = problem_of(case)
    symbols = {name: sp.Symbol(name, real=True) for name in problem.box}
    statement = from_tree(problem.tree, symbols)
    if statement in (sp.true, sp.false):
        return bool(statement)
    if len(symbols) == 1 and not isinstance(problem.conclusion, str):
        (symbol,) = symbols.values()
        given = sp.And(*(from_tree(h, symbols) for h in [*problem.bounds(), *problem.hypotheses]))
        conclusion = from_tree(problem.conclusion, symbols)
        found = sp.And(given, sp.Not(conclusion)).as_set() if symbol in conclusion.free_symbols else None
        if found is not None:
            return True if found.is_empty else False if found.is_empty is False else None
    simple = sp.simplify(statement)
    return bool(simple) if simple in (sp.true, sp.false) else None


def bisection_alone(case: dict[str, Any], limit: float) -> bool | None:
    """Branch and bound with natural interval extensions, depth first, mid points tried exactly."""
    from proofs_checks.harness.checkers._reduction import cases
    from proofs_checks.harness.checkers.interval import end
    from proofs_checks.harness.enclosures import Undefined, Undetermined, evaluate

    stop = time.monotonic() + limit
    for goal_case in cases(problem_of(case).subject):
        stack = [[(end(lo), end(hi)) for lo, hi in goal_case.domain]]
        while stack:
            if time.monotonic() > stop:
                return None
            box = stack.pop()
            sides = dict(zip(goal_case.variables, box, strict=True))
            try:
                if any(evaluate(tree, sides).hi < 0 for tree, _ in goal_case.hypotheses):
                    continue
                bound = evaluate(goal_case.goal, sides)
                if bound.lo > 0 or (bound.lo == 0 and not goal_case.strict):
                    continue
            except (Undefined, Undetermined):
                pass
            if any(isinstance(x, float) for side in box for x in side):
                return None
            axis = max(range(len(box)), key=lambda i: box[i][1] - box[i][0])
            lo, hi = box[axis]
            middle = (lo + hi) / 2
            stack += [[*box[:axis], part, *box[axis + 1:]] for part in ((lo, middle), (middle, hi))]
    return True


def serve(name: str, limit: float) -> None:
    """Answer one case a line."""
    engine = {"z3": z3_alone, "sympy": sympy_alone, "bisection": bisection_alone}[name]
    cases = {case["id"]: case for case in load()}
    signal.signal(signal.SIGALRM, _too_late)
    print("ready", flush=True)
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            answer = engine(cases[line.strip()], limit)
        except Exception:  # whatever it cannot read or do, or not in time, is undecided
            answer = None
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(answer), flush=True)


def _too_late(*_: object) -> None:
    raise TimeoutError


class Baseline:
    """An engine in a process that is ended when it exceeds its limit."""

    def __init__(self, name: str, limit: float) -> None:
        self.name, self.limit = name, limit
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", self.name, "--baseline-budget",
                                         str(self.limit)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, "PYTHONPATH": str(HERE.parent)})
        assert self.process.stdout is not None
        self.process.stdout.readline()

    def ask(self, case: str) -> bool | None:
        import select

        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        if select.select([self.process.stdout], [], [], self.limit + 5)[0]:
            return json.loads(self.process.stdout.readline() or "null")
        self.process.kill()
        self.process.wait()
        self.start()
        return None


def load() -> list[dict[str, Any]]:
    """The cases."""
    return list(json.loads(CASES.read_text(encoding="utf-8"))["cases"])


def table(cases: list[dict[str, Any]], results: dict[str, dict[str, Any]], others: dict[str, dict[str, bool | None]],
          budget: float, limit: float, memory: float) -> str:
    """The section of RESULTS.md."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in cases:
        groups[case["class"]].append(case)

    def right(answers: dict[str, bool | None], members: list[dict[str, Any]]) -> str:
        count = sum(answers.get(c["id"]) is c["truth"] for c in members)
        wrong = sum(answers.get(c["id"]) is not None and answers.get(c["id"]) is not c["truth"] for c in members)
        return f"{count}" + (f" ({wrong} wrong)" if wrong else "")

    mine = {key: result["verdict"] for key, result in results.items()}
    lines = [f"Budget {budget:g} s a statement for `prove`, {limit:g} s for the others; load average "
             f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.", "",
             "| class | cases | prove | " + " | ".join(f"{name} alone" for name in others) + " |",
             "|---|---|---|" + "---|" * len(others)]
    for name, members in [*sorted(groups.items()), ("all", cases)]:
        lines.append(f"| {name} | {len(members)} | {right(mine, members)} | "
                     + " | ".join(right(answers, members) for answers in others.values()) + " |")
    holds = [r for r in results.values() if r["verdict"] is True]
    own = [r for r in holds if r["kind"] not in (None, "lemma") and r["accepted"]]
    times = sorted(r["seconds"] for r in results.values())
    checks = sorted(r["check"] for r in results.values() if r["kind"]) or [0.0]
    kinds: dict[str, int] = defaultdict(int)
    for r in holds:
        kinds[str(r["kind"])] += 1
    refuted = [r["digits"] for r in results.values() if r["verdict"] is False]
    lines += ["", f"Of {len(holds)} that hold, {len(own)} carry a certificate that needs no trust but the checker's "
              f"({', '.join(f'{k} {n}' for k, n in sorted(kinds.items()))}; kind lemma trusts z3's unsat); "
              f"{sum(not r['accepted'] for r in results.values())} certificates rejected. "
              f"Median {times[len(times) // 2]:.2f} s, largest {times[-1]:.1f} s; "
              f"median re-check {checks[len(checks) // 2]:.4f} s, largest {checks[-1]:.2f} s. "
              f"Longest coordinate of a witness: {max(refuted, default=0)} characters. "
              f"Largest worker {memory:.0f} MB."]
    undecided = [c["id"] for c in cases if mine[c["id"]] is None]
    lines += ["", f"Undecided: {', '.join(undecided) or 'none'}."]
    return "\n".join(lines)


def write(section: str) -> None:
    """Put the section between the markers of RESULTS.md."""
    begin, end = MARKERS
    text = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else "# Results\n"
    block = f"{begin}\n## prove: statements with known truth\n\n{section}\n{end}"
    if begin in text:
        text = text[:text.index(begin)] + block + text[text.index(end) + len(end):]
    else:
        text = f"{text.rstrip()}\n\n{block}\n"
    RESULTS.write_text(text, encoding="utf-8")


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--budget", type=float, default=10.0)
    parser.add_argument("--baseline-budget", type=float, default=2.0)
    parser.add_argument("--no-baselines", action="store_true")
    parser.add_argument("--serve", choices=BASELINES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(HERE.parent))
    if options.serve:
        serve(options.serve, options.baseline_budget)
        return
    cases = [c for c in load() if not options.ids or c["id"] in options.ids]
    from proofs_checks.engines.portfolio._pool import POOL

    ours({"conclusion": "x**2 >= 0", "hypotheses": [], "variables": {}}, 10.0)  # the workers start here
    results = {}
    for case in cases:
        results[case["id"]] = result = ours(case, options.budget)
        mark = {True: "holds", False: "refuted", None: "undecided"}[result["verdict"]]
        wrong = "" if result["verdict"] in (None, case["truth"]) else "  WRONG"
        print(f"{case['id']:26} {mark:10} {result['seconds']:6.2f} s  {result['kind'] or '-':12}{wrong}", flush=True)
    POOL.close()
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024  # before other children are waited for
    others: dict[str, dict[str, bool | None]] = {}
    for name in () if options.no_baselines else BASELINES:
        engine = Baseline(name, options.baseline_budget)
        others[name] = {case["id"]: engine.ask(case["id"]) for case in cases}
        engine.process.kill()
        engine.process.wait()
    section = table(cases, results, others, options.budget, options.baseline_budget, memory)
    print(section)
    if not options.ids:
        write(section)


if __name__ == "__main__":
    main()

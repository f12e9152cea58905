"""Every statistical decision of the suite again and again with fresh keys, while the machine is kept busy: how many
verdicts are wrong?

    python benchmarks/decisions.py --runs 1000 --load 2 [SLUG...]

A decision that takes under half a second is made `--runs` times, a longer one as often as fits into `--seconds`. The right
verdict is known: HOLDS where a variant says the same as the claim, REFUTED where its target lies apart; UNDECIDED is
counted but not wrong."""
from __future__ import annotations

import argparse
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator

from proofs_checks.harness.evidence import Check, Context, Rung, Verdict
from proofs_checks.harness.judge import ALPHA, Trial
from proofs_checks.harness.registry import registry


def main() -> None:
    """Print one line a decision and the total."""
    options = parsed()
    busy = [multiprocessing.Process(target=spin, daemon=True) for _ in range(options.load)]
    for process in busy:
        process.start()
    total: Counter[str] = Counter()
    print(f"{'decision':58} {'right verdict':13} {'runs':>5} {'wrong':>5} {'undecided':>9} {'ms':>7}")
    for name, check, right in decisions(options.slugs):
        counts, seconds = repeated(name, check, options.runs, options.seconds)
        runs, wrong = sum(counts.values()), counts[opposite(right).name] + counts[Verdict.ERROR.name]
        total.update(decisions=1, runs=runs, wrong=wrong, undecided=counts[Verdict.UNDECIDED.name])
        print(f"{name:58} {right.name:13} {runs:5} {wrong:5} {counts[Verdict.UNDECIDED.name]:9} {1e3 * seconds / runs:7.1f}")
    print(f"{total['decisions']} decisions, {total['runs']} runs, {total['wrong']} wrong, {total['undecided']} undecided; "
          f"expected wrong at most {total['runs'] * ALPHA:.2g}")
    for process in busy:
        process.terminate()


def parsed() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="wrong verdicts of the statistical decisions under load")
    parser.add_argument("slugs", nargs="*")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0, help="for a decision that takes half a second or more")
    parser.add_argument("--load", type=int, default=2, help="processes that keep the machine busy")
    return parser.parse_args()


def decisions(slugs: list[str]) -> Iterator[tuple[str, Check, Verdict]]:
    """Name, check and right verdict of every statistical decision whose right verdict follows from the targets."""
    for claim in registry().values():
        if slugs and claim.id.split(".")[0] not in slugs:
            continue
        trial = Trial(claim)
        truth = trial.run("claim").subjects
        for variant in claim.variants():
            run = trial.run(variant)
            for i, (check, subject) in enumerate(zip(run.checks, run.subjects, strict=True)):
                if check.rung is Rung.STATISTICAL:
                    yield f"{claim.id}/{variant}/{i}", check, Verdict.HOLDS if subject == truth[i] else Verdict.REFUTED


def repeated(name: str, check: Check, runs: int, seconds: float) -> tuple[Counter[str], float]:
    """Verdicts with fresh keys, and the seconds that they took."""
    check.run(Context(stream=f"{name}/warm", alpha=ALPHA))  # compilation is not part of a decision
    counts: Counter[str] = Counter()
    start = time.perf_counter()
    for j in range(runs):
        counts[check.run(Context(stream=f"{name}/fresh {j}", alpha=ALPHA)).verdict.name] += 1
        spent = time.perf_counter() - start
        if spent > seconds and spent / (j + 1) >= 0.5:
            break
    return counts, time.perf_counter() - start


def opposite(verdict: Verdict) -> Verdict:
    """The wrong one."""
    return Verdict.REFUTED if verdict is Verdict.HOLDS else Verdict.HOLDS


def spin() -> None:
    """Keep one core busy."""
    while True:
        sum(i * i for i in range(10_000))


if __name__ == "__main__":
    main()

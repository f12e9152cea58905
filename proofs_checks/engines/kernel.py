"""An outside proof kernel on top of a certificate: the rung KERNEL where Coq is installed, the same verdict without it."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from proofs_checks.harness.certificate import seal
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Verdict

__all__ = ["accepts"]


def accepts(check: Check, *, coqc: str | None = None, seconds: float = 60) -> Check:
    """`check` (of the engine sos), whose proofs are also given to Coq's kernel.

    The verdict and the witness are those of `check`. The evidence has rung KERNEL only if Coq accepted the exported
    certificate; where Coq is missing, too slow or has no words for it, the rung stays and the summary says why. A proof
    that Coq rejects is an ERROR: one of two checkers is wrong. `coqc` is the program, None looks for it on the path.
    ValueError if `check` is of another engine."""
    if check.engine != "sos":
        raise ValueError(f"check={check.engine!r} must be a check of the engine 'sos', which gives what Coq can read")

    def run(context: Context) -> Evidence:
        from proofs_checks.harness import coq

        found = check.decide(context)
        if found.verdict is not Verdict.HOLDS or not isinstance(found.certificate, Mapping):
            return found
        said = coq.check(seal(found.certificate, subjects=[found.certificate["subject"]]), coqc=coqc, seconds=seconds)
        if said.status == "rejected":
            return Evidence(rung=Rung.KERNEL, verdict=Verdict.ERROR, scope=found.scope,
                            summary=f"Coq rejects a certificate that was accepted: {said.reason}")
        if said.status == "skipped":
            return replace(found, summary=f"{found.summary}; Coq skipped ({said.reason})")
        return replace(found, rung=Rung.KERNEL, summary=f"{found.summary}; accepted by Coq",
                       trusted_base=(*found.trusted_base, f"Coq with {', '.join(said.axioms) or 'no axioms'}"))

    return Check(engine="kernel", rung=Rung.KERNEL, subject=check.subject, decide=run, at=check.at, binds=check.binds)

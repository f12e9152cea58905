"""Rules of the judge on single checks: what they decide, what a proof needs, which targets can be told apart."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proofs_checks.harness.apart import roots
from proofs_checks.harness.evidence import Check, Evidence, Rung, Verdict
from proofs_checks.harness.fingerprint import fingerprint
from proofs_checks.harness.recheck import recheck

__all__ = ["as_error", "bound", "code_of", "narrowed", "other_cases", "proved", "subject_of", "too_close"]


def subject_of(check: Check) -> Any:
    try:
        return check.resolved_subject()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a mutant may fail to be described; its evidence will say how it fails
        return {"engine": check.engine, "undescribed": type(error).__name__}


def code_of(checks: Iterable[Check]) -> list[str]:
    """The code of what is to be proved, which belongs to its hash: the subject of a proof tells only what the functions make
    of symbols. Other subjects have the code in them."""
    proofs = tuple(check.at for check in checks if check.rung >= Rung.CERTIFIED)
    return [fingerprint(list(roots(proofs, {})))] if proofs else []


def proved(subject: Any) -> Any:
    """What a proof is about: an identity is proved for every value of its symbols, whatever stands in `given`."""
    identity = isinstance(subject, dict) and subject.get("engine") == "symbolic.equal"
    return {**subject, "given": None} if identity else subject


def narrowed(subject: Any) -> bool:
    """Whether cases are listed beside a condition that leaves some out; a whole domain can be listed without one."""
    return isinstance(subject, dict) and subject.get("engine") == "exhaustive" and subject.get("given") is not None


def bound(check: Check, found: Evidence) -> bool:
    """Whether a proof comes with a certificate of this statement; weaker rungs and refutations need none here. That a check
    says the same when it is run again is no proof."""
    if found.verdict is not Verdict.HOLDS or found.rung < Rung.CERTIFIED:
        return True
    try:
        return isinstance(found.certificate, Mapping) and found.certificate.get("kind") != "replay" \
            and check.binds is not None and check.binds(found.certificate) and recheck(found.certificate)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a certificate that is no proof, or cannot be compared with the statement
        return False


def other_cases(one: Any, other: Any) -> bool:
    """Whether two checks go through different cases, as far as their subjects tell."""
    return all(isinstance(d, dict) and "domain" in d for d in (one, other)) and bool(one["domain"] != other["domain"])


def too_close(one: Any, other: Any) -> bool:
    """Two statistical targets that differ by less than twice the tolerance: no sample could keep them apart."""
    if not (isinstance(one, dict) and isinstance(other, dict) and one.get("engine") == other.get("engine")):
        return False
    numbers = [v for d in (one, other) for k in ("target", "tol") if isinstance(v := d.get(k), int | float)]
    if len(numbers) < 4:
        return False
    target, tol, other_target, other_tol = numbers
    return 1e-12 < abs(target - other_target) < 2 * max(tol, other_tol) * (1 - 1e-9)


def as_error(found: Evidence, reason: str) -> Evidence:
    return Evidence(rung=found.rung, verdict=Verdict.ERROR, summary=reason, scope=found.scope)

"""Every case of a finite scope, one after the other."""
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from proofs_checks.engines._cases import (
    Predicate,
    PredicateError,
    Scope,
    as_case,
    base,
    exact,
    inexact,
    replayable,
    rounding,
    settled,
    show,
    subject,
    survives,
    truth,
)
from proofs_checks.harness.certificate import to_json
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Vacuous, Verdict

__all__ = ["forall"]

LIMIT = 10_000_000  # cases, when the context sets no budget
FIRST = 1000  # cases that tell a scope from others


def forall(cases: Iterable[Any] | Callable[[], Iterable[Any]], predicate: Predicate, *, given: Predicate | None = None,
           scope: str = "", universal: bool = False, floats: bool = False) -> Check:
    """`predicate(*case)` for each case of a finite scope that satisfies `given(*case)`.

    `cases` are tuples, or a function that gives them. The first failing case is the witness. The scope is printed from
    the cases; `scope` may only add to it. `universal=True` says that the cases are the claim's whole domain. A predicate
    that computes in floats, with its tolerance, needs `floats=True`, and its evidence is of rung NUMERIC.
    `Vacuous` is raised by `.run()` if no case was examined; an exception in the predicate gives ERROR; a scope larger
    than the budget (cases; 10,000,000 by default) is UNDECIDED."""
    if isinstance(cases, Iterator):
        cases = list(islice(cases, LIMIT + 1))  # an iterator could be walked only once
    given_out: list[Any] = []
    rung = Rung.NUMERIC if floats else Rung.EXHAUSTIVE

    def every() -> Iterator[tuple[Any, ...]]:
        found = cases() if callable(cases) else cases
        if isinstance(found, Iterator):
            if any(found is earlier for earlier in given_out):
                raise ValueError(f"cases={cases!r} gives the same iterator twice; it must make a new one at each call")
            given_out.append(found)
        return map(as_case, found)

    def decide(context: Context) -> Evidence:
        try:
            first: list[str] = []
            found = _scan(_noted(every(), first), predicate, given, rung, scope, universal, context)
            if found.verdict is Verdict.HOLDS and _promised(context) not in (None, _domain(first)):
                return Evidence(rung=rung, verdict=Verdict.ERROR, scope=found.scope,
                                summary="cases gives others than it gave before; it must give the same at each call")
            return found
        except PredicateError as error:
            return Evidence(rung=rung, verdict=Verdict.ERROR, summary=str(error))

    return Check(engine="exhaustive", rung=rung, decide=decide, at=survives(predicate, given),
                 binds=lambda certificate: replay(every(), predicate, given, certificate),
                 subject=lambda: subject("exhaustive", predicate, given, domain(every()), scope=scope))


def domain(cases: Iterable[tuple[Any, ...]]) -> dict[str, Any]:
    """The first case, and a hash of the first thousand: tells scopes apart without walking all of a large one."""
    return _domain([show(case) for case in islice(cases, FIRST)])


def _domain(shown: list[str]) -> dict[str, Any]:
    return {"first": shown[0] if shown else None, "sha256": hashlib.sha256("\n".join(shown).encode()).hexdigest()}


def _noted(cases: Iterable[tuple[Any, ...]], first: list[str]) -> Iterator[tuple[Any, ...]]:
    """The cases; the first of them are written to `first`."""
    for case in cases:
        if len(first) < FIRST:
            first.append(show(case))
        yield case


def _promised(context: Context) -> Any:
    """The domain that the judge has written down for this check; None outside the judge."""
    subjects, _, number = context.label.get("subjects", ()), *context.stream.rpartition("/")[1:]
    own = subjects[int(number)] if number.isdecimal() and int(number) < len(subjects) else None
    return own.get("domain") if isinstance(own, dict) else None


def replay(cases: Iterable[tuple[Any, ...]], predicate: Predicate, given: Predicate | None,
           certificate: Mapping[str, Any]) -> bool:
    """Whether a second enumeration, from the last case to the first, agrees with what a certificate says."""
    seen, failed = Scope(predicate), False
    witness = certificate.get("witness")
    for case, last in reversed(list(_scanned(cases, witness))):
        if given is not None and not truth(given, case):
            continue
        if witness is None:
            failed = failed or not truth(predicate, case)
        elif last:
            failed = not settled(predicate, case)[1]
        seen.see(case)
    return (certificate.get("verdict") == ("REFUTED" if failed else "HOLDS") and failed == (witness is not None)
            and seen.count > 0 and certificate.get("cases") == seen.count
            and certificate.get("digest") == f"{seen.digest:032x}")


def _scanned(cases: Iterable[tuple[Any, ...]], witness: Any) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """The cases up to the one that is the witness, where a scan ended, and whether each is that one."""
    for case in cases:
        last = witness is not None and to_json(exact(case)) == witness
        yield case, last
        if last:
            return


def _scan(cases: Iterator[tuple[Any, ...]], predicate: Predicate, given: Predicate | None, rung: Rung, added: str,
          universal: bool, context: Context) -> Evidence:
    seen, limit, witness, survives_exactly = Scope(predicate), context.budget or LIMIT, None, False
    for case in cases:
        if seen.count + seen.skipped >= limit:
            return Evidence(rung=rung, verdict=Verdict.UNDECIDED, scope=seen.text(added),
                            summary=f"the budget of {limit} cases ran out before the scope did")
        if given is not None and not truth(given, case):
            seen.skipped += 1
            continue
        seen.see(case)
        if not truth(predicate, case):
            seen.unchanged(case)
            witness, survives_exactly = settled(predicate, case)
            break
    if witness is not None and survives_exactly:
        return rounding(rung, seen.text(added), witness)
    if not seen.count:
        raise Vacuous(f"no case was examined ({seen.skipped} outside the hypotheses): the check could not have failed")
    if in_floats := inexact(predicate, given, seen.probes if witness is None else [witness], rung, seen.text(added)):
        return in_floats
    verdict = Verdict.HOLDS if witness is None else Verdict.REFUTED
    return Evidence(rung=rung, verdict=verdict, universal=universal and witness is None,
                    scope=seen.text(added), witness=witness,
                    summary="" if witness is None else f"fails at {show(witness)}",
                    certificate=replayable(context, engine="exhaustive", verdict=verdict.name, witness=witness,
                                           cases=seen.count, digest=f"{seen.digest:032x}"),
                    trusted_base=base(rung))

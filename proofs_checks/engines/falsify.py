"""A search for a counterexample by hypothesis: minimal when found, and evaluated again exactly."""
from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, assume, given, seed, settings
from hypothesis.errors import Flaky, Unsatisfiable
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import SearchStrategy

from proofs_checks.engines._cases import (
    Predicate,
    PredicateError,
    Scope,
    as_case,
    base,
    inexact,
    replayable,
    rounding,
    settled,
    show,
    subject,
    survives,
    truth,
)
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Vacuous, Verdict

__all__ = ["forall"]

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class _Falsified(Exception):
    """The statement fails; the case is kept by the search."""


def forall(strategy: SearchStrategy[Any], predicate: Predicate, *, given: Predicate | None = None, examples: int = 200,
           scope: str = "", floats: bool = False) -> Check:
    """`predicate(*case)` for `examples` cases drawn from a strategy of tuples, among those that satisfy `given(*case)`.

    The witness is hypothesis's smallest failing case. The stream is keyed by the context, nothing is remembered between
    runs. `Vacuous` is raised by `.run()` if no drawn case satisfies `given`; an exception in the predicate gives ERROR.
    A predicate that computes in floats, with its tolerance, needs `floats=True`, and its evidence is of rung NUMERIC.
    ValueError if examples < 1."""
    if type(examples) is not int or examples < 1:
        raise ValueError(f"examples={examples!r} must be a whole number, at least 1")
    if not isinstance(strategy, SearchStrategy):
        raise ValueError(f"strategy={strategy!r} must be a strategy of hypothesis")

    rung = Rung.NUMERIC if floats else Rung.PROPERTY

    def decide(context: Context) -> Evidence:
        return _search(strategy, predicate, given, min(examples, context.budget or examples), rung, scope, context)

    def binds(certificate: Mapping[str, Any]) -> bool:
        again = decide(Context(stream=certificate["stream"], label={"claim": certificate["claim"]})).certificate
        said = ("verdict", "witness", "cases", "digest")
        return isinstance(again, Mapping) and all(again[k] == certificate.get(k) for k in said)

    return Check(engine="falsify", rung=rung, decide=decide, at=survives(predicate, given), binds=binds,
                 subject=lambda: subject("falsify", predicate, given, _ADDRESS.sub("", repr(strategy)), scope=scope))


def _search(strategy: SearchStrategy[Any], predicate: Predicate, hypothesis: Predicate | None, examples: int,
            rung: Rung, added: str, context: Context) -> Evidence:
    seen, failing = Scope(predicate), []

    def one(drawn: Any) -> None:
        case = as_case(drawn)
        if hypothesis is not None and not truth(hypothesis, case):
            seen.skipped += 1
            assume(False)
        seen.see(case)
        if not truth(predicate, case):
            seen.unchanged(case)
            failing.append(case)
            raise _Falsified

    try:
        _run(strategy, one, examples, context.stream)
    except _Falsified:
        witness, survives_exactly = settled(predicate, failing[-1])  # hypothesis ends on the smallest
        if survives_exactly:
            return rounding(rung, seen.text(added), witness)
    except PredicateError as error:
        return Evidence(rung=rung, verdict=Verdict.ERROR, scope=seen.text(added), summary=str(error))
    except Unsatisfiable:
        witness = None
    except Flaky as error:
        return Evidence(rung=rung, verdict=Verdict.ERROR, summary=f"predicate not deterministic: {error}")
    else:
        witness = None
    if not seen.count:
        raise Vacuous(f"none of {seen.skipped} drawn cases satisfies the hypotheses: the check could not have failed")
    if in_floats := inexact(predicate, hypothesis, seen.probes if witness is None else [witness], rung, seen.text(added)):
        return in_floats
    verdict = Verdict.HOLDS if witness is None else Verdict.REFUTED
    return Evidence(rung=rung, verdict=verdict, scope=seen.text(added), witness=witness,
                    summary="" if witness is None else f"fails at {show(witness)}",
                    certificate=replayable(context, engine="falsify", verdict=verdict.name, witness=witness,
                                           cases=seen.count, digest=f"{seen.digest:032x}"),
                    trusted_base=base(rung))


def _run(strategy: SearchStrategy[Any], one: Any, examples: int, stream: str) -> None:
    key = int.from_bytes(hashlib.sha256(stream.encode()).digest()[:8])
    search = settings(max_examples=examples, database=None, deadline=None, print_blob=False, verbosity=Verbosity.quiet,
                      suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
                      report_multiple_bugs=False)
    with _no_constants_of_other_modules():
        seed(key)(search(given(strategy)(one)))()


@contextmanager
def _no_constants_of_other_modules() -> Iterator[None]:
    """Keep hypothesis from drawing constants that it found in whatever modules happen to be loaded.

    With them the drawn cases would depend on what ran before. hypothesis has no setting for it (seen in 6.131 to
    6.170); a version without these names draws no such constants."""
    names = {"_get_local_constants": getattr(providers, "Constants", None), "CONSTANTS_CACHE": _fresh_cache()}
    saved = {name: getattr(providers, name) for name in names if hasattr(providers, name)}
    try:
        for name in saved:
            setattr(providers, name, names[name])
        yield
    finally:
        for name, value in saved.items():
            setattr(providers, name, value)


def _fresh_cache() -> Any:
    cache = getattr(providers, "CONSTANTS_CACHE", None)
    return type(cache)(1024) if cache is not None else None

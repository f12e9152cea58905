"""The judge. A claim is green iff its evidence holds, every false variant is refuted by a witness of its own, no check
is idle, and nothing contradicts."""
from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field
from typing import Any

from proofs_checks.harness.apart import circular, repeated
from proofs_checks.harness.beyond import counting, handed
from proofs_checks.harness.certificate import claim_hash
from proofs_checks.harness.evidence import Check, Context, Evidence, Rung, Vacuous, Verdict, describe_error
from proofs_checks.harness.modules import file_of
from proofs_checks.harness.registry import MARK, evidence, find, registry
from proofs_checks.harness.rules import as_error, bound, code_of, narrowed, other_cases, proved, subject_of, too_close
from theory.claim import Claim

__all__ = ["CLAIM_FAILS", "CLAIM_OPEN", "Judgement", "Outcome", "Trial", "evidence", "judge", "judge_variant", "registry"]

ALPHA = 1e-6  # error probability of one statistical decision
ALPHA_SUITE = 1e-3  # of all of them together
CLAIM_FAILS = "not judged: the claim itself fails"
CLAIM_OPEN = "not judged: no verdict on the claim itself"  # vacuous, undecided, or an error, which its own row tells


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one variant.

    ok         a true variant whose checks all hold, or a false one that is killed
    problems   why not, one line each
    killed_by  the strongest rung that killed a false variant, or None
    hash       of the statement: claim, variant, LaTeX, and the subjects of its checks
    evidence   one entry a check, in the order of the procedure; skipped checks (see `at_least`) are None"""

    ok: bool
    problems: tuple[str, ...]
    killed_by: Rung | None
    hash: str
    evidence: tuple[Evidence | None, ...] = ()
    kills: tuple[Evidence, ...] = ()
    contradictions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What became of a claim: `outcomes` is the kill matrix, variants by checks."""

    claim: Claim[Any]
    green: bool
    evidence: list[Evidence]
    kills: dict[str, list[Evidence]]
    outcomes: dict[str, Outcome]
    idle: tuple[str, ...]
    contradictions: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    partial: bool = False
    seconds: float = 0.0

    @property
    def rung(self) -> Rung | None:
        """The strongest rung on which the claim itself holds."""
        return max((e.rung for e in self.evidence if e.verdict is Verdict.HOLDS), default=None)

    @property
    def verdict(self) -> Verdict:
        """HOLDS iff every check of the claim itself holds; otherwise the worst that was said."""
        order = (Verdict.ERROR, Verdict.REFUTED, Verdict.UNDECIDED)
        said = {e.verdict for e in self.evidence}
        return next((v for v in order if v in said), Verdict.HOLDS if said else Verdict.UNDECIDED)


def judge(claim: Claim[Any], *, at_least: Rung = Rung.NUMERIC, alpha: float = ALPHA, budget: int | None = None
          ) -> Judgement:
    """Judge a claim and every variant of it.

    `at_least` leaves out weaker checks; a judgement with checks left out is partial and never green. `alpha` is the
    error probability of one statistical decision, `budget` the work a check may do. A claim without evidence, or one
    that is ILL_POSED or OUT_OF_REACH, is not green."""
    return Trial(claim, at_least=at_least, alpha=alpha, budget=budget).judgement()


def judge_variant(claim: Claim[Any], variant: str, *, at_least: Rung = Rung.NUMERIC, alpha: float = ALPHA,
                  budget: int | None = None) -> Outcome:
    """Judge one variant: "claim", "as_stated", or the name of an `also_true` or of a mutant. LookupError if unknown."""
    return Trial(claim, at_least=at_least, alpha=alpha, budget=budget).outcome(variant)


@dataclass
class _Run:
    """The checks of one variant, and what went wrong while the procedure made them."""

    checks: list[Check]
    problem: str | None
    subjects: list[Any] = field(default_factory=list)
    form: Any = None

    @functools.cached_property
    def hashed(self) -> list[Any]:
        """What the hash of the statement covers."""
        return [*self.subjects, *code_of(self.checks)]


class Trial:
    """One claim before the judge; every variant is run once, when first asked for.

    `cache` (see `harness.cache`) may remember what a check said; witnesses are evaluated again all the same."""

    def __init__(self, claim: Claim[Any], *, at_least: Rung = Rung.NUMERIC, alpha: float = ALPHA,
                 budget: int | None = None, cache: Any = None) -> None:
        found = find(claim)
        self.claim = claim if found is None else found.claim
        self.procedure = None if found is None else found.procedure
        self.records = () if found is None else (found.original, vars(found.procedure)[MARK])
        self.at_least, self.alpha, self.budget, self.cache = at_least, alpha, budget, cache
        self.module = file_of(self.claim)  # certificates of a user's claim say where it stands
        Context(alpha=alpha, budget=budget)  # refuses bad values here, by name
        self._runs: dict[str, _Run] = {}
        self._evidence: dict[str, list[Evidence | None]] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._second: _Run | None = None

    def run(self, variant: str) -> _Run:
        """The checks that the procedure yields for a variant."""
        if variant not in self._runs:
            self._runs[variant] = self._call(variant)
        return self._runs[variant]

    def again(self) -> _Run:
        """The checks of the claim from another call of the procedure, made after the variant in question was run: what
        depends on the number of calls, or on what ran before, shows here."""
        if self._second is None:
            self._second = self._call("claim")
        return self._second

    def _call(self, variant: str) -> _Run:
        if self.procedure is None:
            return _Run([], f"no evidence is registered for {self.claim.id}")
        checks: list[Check] = []
        problem = form = None
        try:
            form, watched = handed(self.claim, variant)
            for check in self.procedure(form):
                if not isinstance(check, Check):
                    problem = f"the procedure yielded {check!r}, which is not a Check"
                    break
                checks.append(check if watched is None else counting(check, watched))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the statement under test may raise anything, sys.exit included
            problem = f"the procedure died after {len(checks)} checks: {describe_error(error)}"
        if not checks and problem is None:
            problem = "the procedure yielded no check"
        return _Run(checks, problem, [subject_of(c) for c in checks], form)

    def hash(self, variant: str) -> str:
        """The hash that certificates of this variant carry."""
        return claim_hash(self.claim.id, variant, self.claim.statement, self.run(variant).hashed)

    def decide(self, variant: str) -> list[Evidence | None]:
        """The evidence of each check on a variant; None for checks below `at_least`."""
        if variant not in self._evidence:
            checks = self.run(variant).checks
            self._evidence[variant] = [self._decide(variant, i, c) for i, c in enumerate(checks)]
        return self._evidence[variant]

    def _decide(self, variant: str, i: int, check: Check) -> Evidence | None:
        if check.rung < self.at_least:
            return None
        label = {"claim": self.claim.id, "variant": variant, "statement": self.claim.statement,
                 "subjects": self.run(variant).hashed, "module": self.module}
        context = Context(stream=f"{self.claim.id}/{variant}/{i}", alpha=self.alpha, budget=self.budget, label=label)
        try:
            if self.cache is None:
                found = check.run(context)
            else:
                found = self.cache.decide(check, context, self.run(variant).subjects[i])
        except Vacuous as error:
            return Evidence(rung=check.rung, verdict=Verdict.ERROR, summary=f"vacuous: {error}")
        if found.universal and not self.claim.hypotheses and narrowed(self.run(variant).subjects[i]):
            return as_error(found, "universal=True beside given=, which leaves cases out, but the claim names no hypothesis")
        if found.rung > check.rung:
            return as_error(found, f"claims rung {found.rung.name} above its check's")
        return found if bound(check, found) else as_error(
            found, f"claims rung {found.rung.name} without a certificate that is about this very statement"
                   + (f": {found.summary}" if found.certificate is None and found.summary else ""))

    def outcome(self, variant: str) -> Outcome:
        """What became of a variant."""
        if variant not in self._outcomes:
            true = self.claim.expected_true(variant)
            self._outcomes[variant] = self._hold(variant) if true else self._kill(variant)
        return self._outcomes[variant]

    def _hold(self, variant: str) -> Outcome:
        """A variant that is asserted: every check must hold."""
        found = self.decide(variant)
        problems = self._shape(variant)
        refuted = []
        run = self.run(variant)
        for check, subject, e in zip(run.checks, run.subjects, found, strict=True):
            if e is not None and e.verdict is not Verdict.HOLDS:
                problems.append(f"{check.engine} {e.rung.name} says {e.verdict.name}: {e.summary or 'no reason given'}")
            if e is not None and e.verdict is Verdict.REFUTED and self._at(variant, check, subject, e)[0] is False:
                refuted.append(check.engine)
        if skipped := sum(e is None for e in found):
            problems.append(f"not judged: {skipped} checks below {self.at_least.name} were left out")
        if not problems and self.claim.dropped(variant) and not self._looks_beyond(variant):
            problems.append("nothing was decided where only the dropped hypothesis fails: no case met it, no proof is about it")
        contradictions = self._contradictions(variant, refuted)
        if variant == "claim" and not problems:
            problems += [f"idle: {name} refutes no false variant: it distinguishes nothing" for name in self.idle()]
        return Outcome(ok=not problems and not contradictions, problems=(*problems, *contradictions), killed_by=None,
                       hash=self.hash(variant), evidence=tuple(found), contradictions=tuple(contradictions))

    def _looks_beyond(self, variant: str) -> bool:
        """Whether a check met cases outside the dropped hypothesis, or proves a statement that differs from the claim's."""
        mine, theirs = self.run(variant).subjects, self.run("claim").subjects
        return any(e is not None and (e.beyond or (e.rung >= Rung.CERTIFIED and proved(one) != proved(other)))
                   for e, one, other in zip(self.decide(variant), mine, theirs, strict=True))

    def _kill(self, variant: str) -> Outcome:
        """A variant that is false: some check must refute it with a witness that separates it from the claim."""
        found = self.decide(variant)
        problems = self._shape(variant)
        excuses: list[str] = []
        kills: list[Evidence] = []
        killers: list[str] = []
        for i, (check, e) in enumerate(zip(self.run(variant).checks, found, strict=True)):
            if e is None or e.verdict is not Verdict.REFUTED:
                continue
            fault, fatal = self._separates(variant, i, check, e)
            if fault is None:
                kills.append(e)
                killers.append(check.engine)
            else:
                (problems if fatal else excuses).append(fault)
        contradictions = self._contradictions(variant, killers)
        if other := repeated(self.claim, variant):
            problems.append(f"the same as {other}: false variants must differ in more than their names")
        if not kills:
            problems += excuses or ([self._survival(variant, found)] if found else [])  # without a check, `_shape` said why
        if not self.form_holds():
            refuted = any(e is not None and e.verdict is Verdict.REFUTED for e in self.decide("claim"))
            problems = [CLAIM_FAILS if refuted else CLAIM_OPEN]
        ok = bool(kills) and not problems and not contradictions
        return Outcome(ok=ok, problems=(*problems, *contradictions), hash=self.hash(variant), evidence=tuple(found),
                       killed_by=max((e.rung for e in kills), default=None), kills=tuple(kills),
                       contradictions=tuple(contradictions))

    def form_holds(self) -> bool:
        """Whether every check that was run on the claim's own form holds."""
        found = self.decide("claim")
        return bool(found) and all(e is None or e.verdict is Verdict.HOLDS for e in found)

    def _separates(self, variant: str, i: int, check: Check, e: Evidence) -> tuple[str | None, bool]:
        """None if the witness separates the variant from the claim; else what is wrong, and whether that is a defect
        even where another check kills."""
        survives, fault = self._at(variant, check, self.run(variant).subjects[i], e)
        if fault is not None:
            return f"{check.engine}: its witness cannot be re-evaluated: {fault}", False
        if survives:
            return f"{check.engine} does not refute on re-evaluation of its witness {e.witness!r}", False
        truth = self.again()
        if i >= len(truth.checks):
            return f"{check.engine} has no counterpart on the claim", True
        passes, fault = self._at("claim", truth.checks[i], truth.subjects[i], e)
        if fault is not None:
            return f"{check.engine}: the claim cannot be evaluated at the witness: {fault}", True
        if not passes:
            return f"{check.engine} does not separate: the claim fails at the witness {e.witness!r} too", True
        return None, False

    def _at(self, variant: str, check: Check, subject: Any, e: Evidence) -> tuple[bool | None, str | None]:
        """Whether the statement survives at the witness, or the reason why that cannot be said."""
        if e.witness is None:
            return None, "there is no witness"
        try:
            if self.cache is not None:
                return self.cache.survives(check, e.witness, subject, f"{self.claim.id}/{variant}"), None
            return bool(check.at(e.witness)), None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the statement raises at the witness
            return None, describe_error(error)

    def _survival(self, variant: str, found: list[Evidence | None]) -> str:
        run = self.run(variant)
        proofs = [c.engine for c, e in zip(run.checks, found, strict=True)
                  if e is not None and e.universal and e.verdict is Verdict.HOLDS]
        if proofs:
            return f"TRUE, not a mutant: {proofs[0]} proves it on the whole domain; move it to also_true"
        if any(e is None for e in found):
            return f"not judged: no check of rung {self.at_least.name} or above refutes it"
        said = "; ".join(f"{c.engine} {e.verdict.name}" + (f" ({e.summary})" if e.verdict is not Verdict.HOLDS else "")
                         for c, e in zip(run.checks, found, strict=True) if e is not None)
        if run.problem:
            return f"not refuted by the checks before that: {said}"
        if all(e is not None and e.verdict is Verdict.ERROR for e in found):
            return f"SURVIVED: it cannot be evaluated, which refutes nothing: {said}"
        return f"SURVIVED: true, or the evidence is too weak: {said}"

    def _contradictions(self, variant: str, refuting: list[str]) -> list[str]:
        pairs = zip(self.run(variant).checks, self.decide(variant), strict=True)
        proving = [c.engine for c, e in pairs if e is not None and e.universal and e.verdict is Verdict.HOLDS]
        return [f"contradiction on {variant}: {p} proves on the whole domain what {r} refutes"
                for p in proving for r in refuting]

    def _shape(self, variant: str) -> list[str]:
        """Every variant must meet the same engines in the same order, and statistical targets must be told apart."""
        run, truth = self.run(variant), self.run("claim")
        problems = [run.problem] if run.problem else []
        mine, theirs = ([(c.engine, c.rung) for c in r.checks] for r in (run, truth))
        if mine != theirs and not problems:
            problems.append(f"the procedure yields {len(mine)} checks here and {len(theirs)} others on the claim")
        if variant == "claim" and not problems and self.again().subjects != run.subjects:
            problems.append("the procedure yields other checks when it is called again")
        if variant == "claim" and self.procedure is not None:
            problems += circular([self.claim, *self.records], self.procedure, run.form, run.checks)
        for one, other, e in zip(run.subjects, truth.subjects, self.decide("claim"), strict=False):
            if e is not None and e.universal and other_cases(one, other):
                problems.append(f"{one['engine']} goes through other cases here than on the claim, whose whole domain they are "
                                "said to be: they may not depend on the form")
            if too_close(one, other):
                problems.append(f"target {one['target']} lies within 2 tol of the claim's {other['target']}"
                                f" (tol {other['tol']})")
        return problems

    def idle(self) -> list[str]:
        """Checks that kill no false variant, whether they hold, crash or are undecided there: they tell nothing apart."""
        false = [v for v in self.claim.variants() if not self.claim.expected_true(v)]
        rows = [self.decide(v) for v in false]
        kills = {id(e) for v in false for e in self.outcome(v).kills}
        found = []
        for i, check in enumerate(self.run("claim").checks):
            said = [id(e) for row in rows if i < len(row) and (e := row[i]) is not None]
            if check.rung >= self.at_least and len(said) == len(rows) and kills.isdisjoint(said):
                found.append(f"{check.engine} (check {i + 1})")
        return found

    def judgement(self) -> Judgement:
        """Every variant judged."""
        start = time.perf_counter()
        if self.procedure is None or not self.claim.standing.judgeable:
            reason = "no evidence is registered" if self.claim.standing.judgeable else self.claim.standing.value
            return Judgement(claim=self.claim, green=False, evidence=[], kills={}, outcomes={}, idle=(),
                             problems=(f"{self.claim.id}: {reason}",))
        outcomes = {v: self.outcome(v) for v in self.claim.variants()}
        false = [v for v in outcomes if not self.claim.expected_true(v)]
        partial = any(e is None for o in outcomes.values() for e in o.evidence)
        idle = tuple(self.idle()) if outcomes["claim"].ok or self.form_holds() else ()
        return Judgement(
            claim=self.claim, green=all(o.ok for o in outcomes.values()) and not idle and not partial, partial=partial,
            evidence=[e for e in outcomes["claim"].evidence if e is not None], idle=idle, outcomes=outcomes,
            kills={v: list(outcomes[v].kills) for v in false},
            contradictions=tuple(c for o in outcomes.values() for c in o.contradictions),
            problems=tuple(f"{v}: {p}" for v, o in outcomes.items() for p in o.problems),
            seconds=time.perf_counter() - start)

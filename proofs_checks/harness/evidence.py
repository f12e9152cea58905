"""What a decision is: `Check` (described, not yet made), `Context` (what it may use), `Evidence` (what came out)."""
from __future__ import annotations

import os
import time
import traceback
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from numbers import Real
from pathlib import Path
from typing import Any

from proofs_checks.harness.certificate import seal
from proofs_checks.harness.syntax import INSTALLED, ROOMS

__all__ = ["Check", "Context", "Evidence", "Rung", "Vacuous", "Verdict", "visible"]

ROOT = Path(__file__).resolve().parents[2]
NO_USERS = (*(f"{ROOT / room}{os.sep}" for room in ROOMS), *INSTALLED, "<frozen ", "<string>")  # where no user's code lies


class Rung(IntEnum):
    """How strong a piece of evidence is; a larger value is stronger."""

    NUMERIC = 1  # floats with a derived tolerance
    PROPERTY = 2  # sampled cases, exact predicate
    STATISTICAL = 3  # error probability alpha, n observations
    EXHAUSTIVE = 4  # every case of a finite scope
    CERTIFIED = 5  # sos, interval, smt: a certificate that a small program re-checks
    SYMBOLIC = 6  # an identity of expressions
    KERNEL = 7  # an outside proof kernel


class Verdict(Enum):
    """What a check said. ERROR (an exception) is never a refutation."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    ERROR = "error"


class Vacuous(ValueError):
    """A check examined no case at all, so that it could not have failed."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The outcome of one check.

    universal     the statement was decided on the claim's whole domain
    scope         what was examined, printed by the engine from the cases
    witness       where the statement fails (REFUTED only)
    certificate   a JSON-able mapping that `harness.recheck` accepts, or the path of one
    trusted_base  what must be trusted besides the re-checker
    beyond        how often a case was met that only a dropped hypothesis excludes; counted by the judge on `without_<name>`
    seconds       wall time of the decision"""

    rung: Rung
    verdict: Verdict
    universal: bool = False
    scope: str = ""
    summary: str = ""
    witness: Any = None
    certificate: Mapping[str, Any] | str | None = None
    trusted_base: tuple[str, ...] = ()
    seconds: float = 0.0
    beyond: int = 0

    def __post_init__(self) -> None:
        for name, kind in (("rung", Rung), ("verdict", Verdict)):
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a {kind.__name__}")
        for name in ("scope", "summary"):
            object.__setattr__(self, name, visible(getattr(self, name)))
        if self.universal and self.rung < Rung.EXHAUSTIVE:
            raise ValueError(f"universal={self.universal!r} needs rung EXHAUSTIVE or above, got {self.rung.name}")


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a decision may use: a key for its random stream, an error probability, a budget of work.

    `budget` counts work (cases, boxes, samples), never seconds, so that load cannot change a verdict; None is
    the engine's own default. `label` is what a certificate gets to know of the statement: the keywords of
    `certificate.seal`, filled in by the judge."""

    stream: str = "adhoc"
    alpha: float = 1e-6
    budget: int | None = None
    label: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.stream, str):
            raise ValueError(f"stream={self.stream!r} must be text")
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, Real) or not 0 < self.alpha < 1:
            raise ValueError(f"alpha={self.alpha!r} must lie strictly between 0 and 1")
        if self.budget is not None and (type(self.budget) is not int or self.budget < 1):
            raise ValueError(f"budget={self.budget!r} must be a whole number, at least 1, or None")


@dataclass(frozen=True, kw_only=True)
class Check:
    """A decision described but not yet made.

    subject   what is decided, as JSON-able data or a function without arguments that gives it (it is hashed)
    decide    makes the decision
    at        whether the statement survives at a witness, in exact arithmetic and by code other than the search
    binds     whether a certificate talks about this very statement, by re-evaluation at rational points"""

    engine: str
    rung: Rung
    subject: Any
    decide: Callable[[Context], Evidence]
    at: Callable[[Any], bool]
    binds: Callable[[Mapping[str, Any]], bool] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.rung, Rung):
            raise ValueError(f"rung={self.rung!r} must be a Rung")
        for name in ("decide", "at"):
            if not callable(getattr(self, name)):
                raise ValueError(f"{name}={getattr(self, name)!r} must be a function")

    def run(self, context: Context | None = None) -> Evidence:
        """Decide. An exception becomes a verdict ERROR; `Vacuous` is raised: a check on nothing is a defect."""
        context = context or Context()
        start = time.perf_counter()
        try:
            found = self.decide(context)
            if not isinstance(found, Evidence):
                raise TypeError(f"decide returned {found!r}, which is no Evidence")
            if isinstance(found.certificate, Mapping) and "claim_hash" not in found.certificate:
                label = context.label or {"subjects": [self.resolved_subject()]}
                found = replace(found, certificate=seal({"engine": self.engine, **found.certificate}, **label))
        except (Vacuous, KeyboardInterrupt):
            raise
        except BaseException as error:  # any exception of a statement is an ERROR, never a kill; sys.exit too
            found = Evidence(rung=self.rung, verdict=Verdict.ERROR, summary=describe_error(error))
        return replace(found, seconds=time.perf_counter() - start)

    def resolved_subject(self) -> Any:
        """The subject as data."""
        return self.subject() if callable(self.subject) else self.subject


def describe_error(error: BaseException) -> str:
    """One line: the exception, and the line of code that raised it: the user's where one led to it, or else ours."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if not f.filename.startswith(NO_USERS)]
    shown = theirs or ([] if isinstance(error, SyntaxError) else frames)  # a SyntaxError names its line itself
    where = f" (line {shown[-1].lineno} of {_name(Path(shown[-1].filename))})" if shown else ""
    return visible(f"{type(error).__name__}: {error}{where}")


def visible(text: str) -> str:
    """A text from anywhere, with escapes for what a terminal would obey or could not show: control characters, changes of
    direction, halves of characters."""
    if text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t" else c for c in text)


def _name(file: Path) -> str:
    """A file of ours from the root of the rooms on, any other by its name."""
    return file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name

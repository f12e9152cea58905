"""Whether a variant `without_<name>` is looked at where only the dropped hypothesis would have excluded it."""
from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from proofs_checks.harness.evidence import Check, Context, Evidence
from proofs_checks.harness.twin import twin
from theory.claim import Claim

__all__ = ["Watched", "counting", "handed"]

ENOUGH = 100  # cases beyond the hypotheses; no more are counted


class Watched:
    """A condition with a part dropped: says what it says, and counts the cases that it allows and the whole does not.

    ValueError for a case that the whole allows and it does not, since it is then no weaker. Where the whole cannot be
    evaluated nothing is counted, and symbols are no case."""

    def __init__(self, weaker: Callable[..., Any], whole: Callable[..., Any]) -> None:
        self.weaker, self.whole, self.count = weaker, whole, 0
        with contextlib.suppress(TypeError, ValueError):  # built-in functions may have none
            self.__signature__ = inspect.signature(weaker)

    def __call__(self, *case: Any) -> Any:
        found = self.weaker(*case)
        if self.count < ENOUGH and not _symbolic(case):
            try:
                weak, strict = bool(found), bool(self.whole(*case))
            except Exception:  # the whole may not be defined without its parts
                return found
            if strict and not weak:
                raise ValueError(f"a variant that drops a hypothesis refuses {case!r}, which the whole condition allows")
            self.count += weak and not strict
        return found


def _symbolic(value: Any) -> bool:
    return any(map(_symbolic, value)) if isinstance(value, tuple | list) else bool(getattr(value, "free_symbols", None))


def handed(claim: Claim[Any], variant: str) -> tuple[Any, Watched | None]:
    """What the procedure is given of a variant, and who watches the condition that it drops, if it drops one."""
    form: Any = claim.variants()[variant]
    dropped = claim.dropped(variant)
    if dropped is None or not callable(whole := getattr(claim.form, dropped[0])):
        return twin(form), None
    watched = Watched(getattr(form, dropped[0]), whole)
    return twin(form._replace(**{dropped[0]: watched})), watched


def counting(check: Check, watched: Watched) -> Check:
    """The same check, whose evidence says how many cases beyond the hypotheses were met so far."""

    def decide(context: Context) -> Evidence:
        found = check.decide(context)
        return replace(found, beyond=watched.count) if isinstance(found, Evidence) else found

    return replace(check, decide=decide)

"""Why a statement is undecided, in a line or two that say what was tried and what is missing."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

__all__ = ["undecided"]

_NAMES = {"z3": "z3", "squares": "sums of squares", "cover": "boxes and ladders", "error": "an engine failed"}
_LATE = ("timeout", "cancel", "interrupt", "memory", "resource", "max. ")


def undecided(reasons: Mapping[str, Sequence[str]], *, searched: bool, functions: bool, late: float | None) -> str:
    """`reasons` are what each stage reported, in order; `late` is the budget in seconds if it was used up."""
    tried = ["a search for counterexamples"] if searched else []
    missing: list[str] = []
    for stage, texts in reasons.items():
        what, lacks = _stage(stage, texts, functions)
        tried.append(f"{_NAMES.get(stage, stage)} ({what})")
        missing += [text for text in [lacks] if text and text not in missing]
    if late is not None:
        missing.append(f"time: the budget of {late:g} s is used up")
    text = f"neither proved nor refuted. Tried: {'; '.join(tried) or 'nothing that applies'}."
    return f"{text}\n  Missing: {'; '.join(missing)}." if missing else text


def _stage(stage: str, texts: Sequence[str], functions: bool) -> tuple[str, str]:
    """(what came of it, what is missing)."""
    last = texts[-1] if texts else ""
    if stage == "squares":
        return "no certificate found", ""
    if stage == "z3":
        if "variable exponent" in last:
            return "reads no variable exponents", "an argument about the variable exponent"
        if any(word in last for word in _LATE):
            return "no answer in time", ""
        if functions and "sat" in last:
            return "its lemmas about the functions do not suffice", "a sharper bound of the functions"
        return "no proof" if "lemmas" in last else last, ""
    if stage == "cover":
        near = re.search(r"not closed near (.*?) after", last)
        if near:
            lacks = f"an argument near {near[1]}, where the sides touch or the bounds are too wide"
            return f"no box closes near {near[1]}", lacks
        if "spent" in last:
            return "too many boxes", "more time" if "time" in last else ""
    return last, ""

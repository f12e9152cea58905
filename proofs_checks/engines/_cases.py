"""What the engines that try cases share: exact cases, honest truth values, the printed scope, replay certificates."""
from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np

from proofs_checks.engines._rounding import computes_in_floats, otherwise_rounded
from proofs_checks.harness.certificate import to_json
from proofs_checks.harness.evidence import Context, Evidence, Rung, Verdict, describe_error
from proofs_checks.harness.fingerprint import fingerprint

Predicate = Callable[..., Any]
Case = tuple[Any, ...]

ADVICE = "keep to rationals, or give it a tolerance and say floats=True (rung NUMERIC)"
TOLD_APART = 100_000  # cases, of which the different ones are counted
_PLAIN = frozenset({bool, int, float, str, type(None)})


class PredicateError(Exception):
    """An exception inside a predicate, with the case that provoked it."""


def exact(value: Any) -> Any:
    """`value` with every float replaced by the rational that it is, and integers of numpy, which overflow, by int."""
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        return Fraction(value)
    if isinstance(value, np.floating | np.integer):
        return exact(float(value)) if isinstance(value, np.float16 | np.float32) else _of_numpy(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        lifted = np.empty(value.shape, dtype=object)
        for i in np.ndindex(value.shape):
            lifted[i] = exact(value[i])
        return lifted
    if isinstance(value, Mapping):
        return {k: exact(v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(exact, value))
    if isinstance(value, tuple | list | set | frozenset):
        return type(value)(exact(v) for v in value)
    return value


def _of_numpy(value: Any) -> Any:
    """An integer of any width, or a long double, as the exact number that it is."""
    if isinstance(value, np.integer):
        return int(value)
    return Fraction(*value.as_integer_ratio()) if np.isfinite(value) else value


def as_case(case: Any) -> Case:
    """`case` as the tuple of arguments that it is. ValueError for anything else."""
    if isinstance(case, tuple | list):
        return tuple(case)
    raise ValueError(f"cases must be tuples of arguments, got {case!r}; write ({case!r},)")


def truth(predicate: Predicate, case: Case) -> bool:
    """What the predicate says of a case. A predicate that returns nothing is a defect, not a refutation."""
    try:
        answer = predicate(*case)
        if answer is None:
            raise TypeError("the predicate returned None, which is neither true nor false")
        if not _says(answer):  # every generator, function and filled list counts as true in Python
            raise TypeError(f"the predicate returned a {type(answer).__name__}, which is neither true nor false; "
                            "is all(...) or a call missing?")
        if type(answer) is not bool and (answer != answer or str(answer) == "nan"):  # sympy's is equal to itself
            raise TypeError("the predicate returned nan, which is neither true nor false")
        return bool(answer)
    except Exception as error:
        raise PredicateError(f"{describe_error(error)} at {show(case)}") from error


def _says(answer: Any) -> bool:
    """Whether an answer is one: true or false, a number, or a single truth value of numpy, jax or sympy."""
    single = getattr(answer, "shape", None) == () or (getattr(answer, "is_Boolean", False) is True and not answer.args)
    return single or isinstance(answer, bool | Number)  # a condition on symbols, And(x > 0, x < 1), counts as true in Python


def survives(predicate: Predicate, given: Predicate | None) -> Callable[[Any], bool]:
    """`at` of an engine that tries cases: the predicate on the exact witness, which must satisfy `given`."""

    def at(witness: Any) -> bool:
        case = as_case(witness)
        return (given is not None and not settled(given, case)[1]) or settled(predicate, case)[1]

    return at


def settled(predicate: Predicate, case: Case) -> tuple[Case, bool]:
    """The case as exact numbers and what the predicate says there; as it came where the predicate takes floats only.

    A failure counts only if it stays one with floats rounded the other ways: the predicate may compute in floats."""
    lifted: Case = exact(case)
    try:
        said = truth(predicate, lifted)
    except PredicateError:
        lifted, said = case, truth(predicate, case)
    return lifted, said or any(otherwise_rounded(lambda: truth(predicate, lifted)))


def subject(engine: str, predicate: Predicate, given: Predicate | None, domain: Any, **more: Any) -> dict[str, Any]:
    """What such a check decides, as data: the engine, the fingerprints, the domain."""
    hypothesis = None if given is None else fingerprint(given)
    return {"engine": engine, "predicate": fingerprint(predicate), "given": hypothesis, "domain": domain, **more}


def replayable(context: Context, **body: Any) -> dict[str, Any] | None:
    """A certificate of kind "replay"; None outside the judge, where no claim could be run again."""
    return {"kind": "replay", "stream": context.stream, **to_json(body)} if context.label.get("claim") else None


def rounding(rung: Rung, scope: str, witness: Any) -> Evidence:
    """What to say of a case that fails in floats and holds exactly, or with the floats rounded another way."""
    advice = "its tolerance is too small" if rung is Rung.NUMERIC else ADVICE
    return Evidence(rung=rung, verdict=Verdict.UNDECIDED, scope=scope,
                    summary=f"fails by rounding only: at {show(witness)} the statement holds for exact values, or with floats "
                            f"rounded the other way; {advice}")


def inexact(predicate: Predicate, given: Predicate | None, cases: Iterable[Case], rung: Rung, scope: str) -> Evidence | None:
    """UNDECIDED if the predicate or the hypotheses compute in floats at one of the cases: they are then not exact, whatever
    they say."""
    if rung is Rung.NUMERIC:
        return None
    tried = [exact(case) for case in cases]
    for what, function in (("predicate", predicate), ("hypothesis", given)):
        if function is not None and (case := computes_in_floats(function, tried)) is not None:
            return Evidence(rung=rung, verdict=Verdict.UNDECIDED, scope=scope,
                            summary=f"the {what} computes in floats at {show(case)}, which is no exact proof: {ADVICE}")
    return None


def base(rung: Rung) -> tuple[str, ...]:
    """What must be trusted for cases decided on a rung."""
    return ("the claim's predicate", "floating point") if rung is Rung.NUMERIC else ("the claim's predicate",)


def show(value: Any) -> str:
    """A case as one writes it: rationals as p/q, names of fields kept."""
    if type(value) in _PLAIN:  # nearly all there is, and scopes are long
        return repr(value)
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{show(k)}: {show(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple | list):
        inside = ", ".join(map(show, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    if isinstance(value, frozenset | set):
        return "{" + ", ".join(sorted(map(show, value))) + "}"
    return repr(value)


class Scope:
    """Counts the cases examined and remembers the range of each coordinate; what it prints is what was seen."""

    def __init__(self, predicate: Predicate) -> None:
        self.count = self.skipped = 0
        self.last = ""
        self.probes: list[Case] = []  # the cases number 1, 2, 4, 8, ...
        self.names = _parameter_names(predicate)
        self.ranges: dict[tuple[int, str], tuple[Any, Any]] = {}  # least and greatest value, or length
        self.words: dict[int, set[str]] = {}
        self.digest = 0
        self.different: set[int] = set()

    def see(self, case: Case) -> None:
        """Count a case. The digest does not depend on the order of the cases."""
        self.count += 1
        self.last = show(case)
        if self.count & (self.count - 1) == 0:
            self.probes.append(case)
        own = int.from_bytes(hashlib.sha256(self.last.encode(errors="backslashreplace")).digest()[:16])
        self.digest = (self.digest + own) % 2**128
        if self.count <= TOLD_APART:
            self.different.add(own)
        for i, value in enumerate(case):
            if isinstance(value, str):
                self.words.setdefault(i, set()).add(value)
            elif (measured := _measured(value)) is not None:
                what, size = measured
                low, high = self.ranges.get((i, what), (size, size))
                self.ranges[i, what] = min(low, size), max(high, size)

    def unchanged(self, case: Case) -> None:
        """PredicateError if the case seen last is another one now: a witness would be what the predicate made of it."""
        if show(case) != self.last:
            raise PredicateError(f"the predicate changed its argument {self.last} to {show(case)}; it must leave it as it is")

    def text(self, added: str = "") -> str:
        """For example `128 cases, p in [0, 7/8], loss in {log, squared}, length of row in [1, 24]`."""
        said = [((i, what), f"{what}{self._name(i)} " + (f"in [{low}, {high}]" if low != high else f"= {low}"))
                for (i, what), (low, high) in self.ranges.items()]
        said += [((i, ""), f"{self._name(i)} in {{{', '.join(sorted(words))}}}" if len(words) < 7 else
                  f"{self._name(i)} one of {len(words)} words") for i, words in self.words.items()]
        skipped = [f"{self.skipped} outside the hypotheses"] if self.skipped else []
        count = f"{self.count} case{'s' * (self.count != 1)}"
        if len(self.different) < min(self.count, TOLD_APART):
            count += f" ({len(self.different)} different{f' among the first {TOLD_APART}' if self.count > TOLD_APART else ''})"
        return ", ".join([count, *[text for _, text in sorted(said)][:6], *skipped, *([added] if added else [])])

    def _name(self, i: int) -> str:
        return self.names[i] if i < len(self.names) else f"argument {i + 1}"


def _measured(value: Any) -> tuple[str, Any] | None:
    """What is measured of a value, and how much that is: a number itself, the length of a row; None for the rest."""
    if isinstance(value, int | float | Fraction):
        return "", value
    return ("length of ", len(value)) if hasattr(value, "__len__") else None


def _parameter_names(predicate: Predicate) -> Sequence[str]:
    try:
        parameters = inspect.signature(predicate).parameters.values()
    except (TypeError, ValueError):
        return ()
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]

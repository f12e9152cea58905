"""z3 on a text, in its own context, with a limit that counts z3's work as well as a limit in time."""
from __future__ import annotations

import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

__all__ = ["Answer", "run"]


MEMORY = 700  # megabytes; beyond it the answer is "unknown"


class Answer(NamedTuple):
    """verdict "unsat", "sat" or "unknown"; the model by the names in the text (rational, or a root of a polynomial)."""

    verdict: str
    model: dict[str, Any]
    reason: str = ""


class Root(NamedTuple):
    """The `index`-th real root (from 1) of a polynomial with integer coefficients, lowest degree first."""

    coefficients: tuple[int, ...]
    approximation: Fraction


def run(text: str, *, timeout_ms: int | None = None, work: int | None = None,
        cancelled: Callable[[], bool] | None = None) -> Answer:
    """Satisfiability of the text's assertions. `work` is z3's resource count; load cannot change its outcome.

    z3 is interrupted once `cancelled` says so."""
    import z3

    z3.set_param("memory_max_size", MEMORY)
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    if timeout_ms is not None:
        solver.set("timeout", max(1, timeout_ms))
    if work is not None:
        solver.set("rlimit", work)
    finished = threading.Event()
    if cancelled is not None:
        threading.Thread(target=_watch, args=(context, cancelled, finished), daemon=True).start()
    try:
        solver.from_string(text)
        verdict = str(solver.check())
    except z3.Z3Exception as error:
        return Answer("unknown", {}, f"z3: {error}")
    finally:
        finished.set()
    if verdict != "sat":
        return Answer(verdict, {}, "" if verdict == "unsat" else solver.reason_unknown())
    model = solver.model()
    values = {}
    for name in model.decls():
        value = model[name]
        if name.arity() == 0:
            values[name.name()] = _value(value)
    return Answer("sat", {name: value for name, value in values.items() if value is not None})


def _watch(context: Any, cancelled: Callable[[], bool], finished: threading.Event) -> None:
    while not finished.wait(0.03):
        if cancelled():
            context.interrupt()


def _value(value: Any) -> Any:
    import z3

    if z3.is_int_value(value):
        return Fraction(value.as_long())
    if z3.is_rational_value(value):
        return Fraction(value.numerator_as_long(), value.denominator_as_long())
    if z3.is_algebraic_value(value):
        near = value.approx(40)
        coefficients = tuple(int(c.as_fraction()) if c.denominator_as_long() == 1 else 0 for c in value.poly())
        return Root(coefficients, Fraction(near.numerator_as_long(), near.denominator_as_long()))
    return None

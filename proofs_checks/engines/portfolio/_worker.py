"""A worker process: reads tasks as lines of JSON, runs the stages of its role, writes a line for each report.

A line {"cancel": id} may arrive at any time; the stages ask `cancelled()` between steps."""
from __future__ import annotations

import json
import sys
import threading
import time
from queue import SimpleQueue
from typing import Any

from proofs_checks.harness.language import Problem

__all__ = ["main", "pack", "unpack"]


def pack(problem: Problem) -> dict[str, Any]:
    """A problem as JSON."""
    return {"box": {name: list(ends) for name, ends in problem.box.items()}, "hypotheses": list(problem.hypotheses),
            "conclusion": problem.conclusion, "integers": sorted(problem.integers), "total": problem.total}


def unpack(data: dict[str, Any]) -> Problem:
    """The problem of `pack`."""
    return Problem(box={name: tuple(ends) for name, ends in data["box"].items()}, hypotheses=tuple(data["hypotheses"]),
                   conclusion=data["conclusion"], integers=frozenset(data["integers"]), total=data["total"])


def main() -> None:
    """Serve until standard input closes."""
    from proofs_checks.engines.portfolio import _stages

    out, sys.stdout = sys.stdout, sys.stderr  # nothing that a library prints may reach the protocol
    tasks: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
    dropped: set[int] = set()

    def listen() -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "cancel" in message:
                dropped.add(message["cancel"])
            else:
                tasks.put(message)
        tasks.put(None)

    def say(task: int, report: dict[str, Any]) -> None:
        out.write(json.dumps({"id": task, **report}) + "\n")
        out.flush()

    threading.Thread(target=listen, daemon=True).start()
    if len(sys.argv) > 1:
        _stages.warm(sys.argv[1])
    say(0, {"stage": "ready"})  # from here on the budget counts: imports are not the statement's fault
    sys.setrecursionlimit(5000)
    while (task := tasks.get()) is not None:
        number, deadline = task["id"], time.monotonic() + task["seconds"]

        def cancelled(number: int = number, deadline: float = deadline) -> bool:
            return number in dropped or time.monotonic() > deadline

        try:
            stages = getattr(_stages, task["role"])
            for report in stages(unpack(task["problem"]), task["seed"], deadline, cancelled):
                say(number, report)
                if cancelled():
                    break
        except Exception as error:  # a bug in one engine must not silence the other
            say(number, {"stage": "error", "reason": f"{type(error).__name__}: {error}"})
        say(number, {"stage": "done"})


if __name__ == "__main__":
    main()

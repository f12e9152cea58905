"""Work in a process of its own, which can be stopped wherever it is: one operation of CUDD may take hours."""
from __future__ import annotations

import ctypes
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from causal._sat import OutOfTime

START = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); from causal import _aside; _aside.answer_question()"
DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


class Aside:
    """`function(*arguments, **options)` in another interpreter; they and the answer are pickled, the function by its name.

    A context manager, which ends the process with the block."""

    def __init__(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        self._answered: list[Any] = []
        with ExitStack() as files:
            question, self._out, self._errors = (files.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            pickle.dump(sys.path, question)
            pickle.dump((os.getpid(), function, arguments, options), question)
            question.seek(0)
            self._process = subprocess.Popen([sys.executable, "-c", START], stdin=question, stdout=self._out,
                                             stderr=self._errors)
            self._files = files.pop_all()

    def __enter__(self) -> Aside:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._files.close()

    @property
    def succeeded(self) -> bool:
        """Whether there is an answer by now, other than None."""
        return self._process.poll() is not None and self.answer(None) is not None

    def answer(self, deadline: float | None) -> Any:
        """What the function returned, None if the system ended the process. OutOfTime past the deadline."""
        if self._answered:
            return self._answered[0]
        try:
            code = self._process.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise OutOfTime from None
        if code > 0:
            self._errors.seek(0)
            raise RuntimeError(f"a process of {sys.executable} failed: {self._errors.read().decode(errors='replace')}")
        self._out.seek(0)
        self._answered = [None if code else pickle.load(self._out)]  # ended by a signal: for its memory, perhaps
        return self._answered[0]


def answer_question() -> None:
    """In the other process: read, work, write, end without a look at what is left."""
    parent, function, arguments, options = pickle.load(sys.stdin.buffer)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:  # it was too late
            return
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what a library prints is no answer
        pickle.dump(function(*arguments, **options), out, protocol=pickle.HIGHEST_PROTOCOL)
    os._exit(0)

"""The two worker processes, started on first use and kept. A worker that does not answer is ended, never waited for."""
from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

__all__ = ["POOL", "Pool"]

Line = tuple[str, dict[str, Any]]
Sink = SimpleQueue[tuple["_Process", dict[str, Any]]]


class _Process:
    """One worker with a thread that collects its lines."""

    def __init__(self, role: str, sink: Sink) -> None:
        root = str(Path(__file__).resolve().parents[3])
        path = os.pathsep.join([root, *filter(None, sys.path)])
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.role, self.busy, self.ready = role, False, False
        self.process = subprocess.Popen(
            [sys.executable, "-m", "proofs_checks.engines.portfolio._worker", role], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1,
            env={**os.environ, **limits, "PYTHONPATH": path})
        self.thread = threading.Thread(target=self._collect, args=(sink,), daemon=True)
        self.thread.start()

    def _collect(self, sink: Sink) -> None:
        for line in self.process.stdout or ():
            sink.put((self, json.loads(line)))
        sink.put((self, {"id": None, "stage": "ended"}))

    def send(self, message: dict[str, Any]) -> None:
        if self.process.stdin is not None:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.thread.join(timeout=1.0)  # it reads to the end of what there was
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


class Pool:
    """Tasks for the roles; one task at a time."""

    def __init__(self, roles: tuple[str, ...] = ("analysis", "algebra")) -> None:
        self.roles, self.task = roles, 0
        self.workers: dict[str, _Process] = {}
        self.lines: Sink = SimpleQueue()
        self.lock = threading.Lock()
        atexit.register(self.close)

    def start(self, problem: dict[str, Any], seed: int, seconds: float) -> int:
        """Hand the problem to every worker; returns the number of the task."""
        self._settle()
        for role in self.roles:
            self._worker(role)
        self._await_ready()
        self.task += 1
        for role in self.roles:
            message = {"id": self.task, "role": role, "problem": problem, "seed": seed, "seconds": seconds}
            try:
                self._worker(role).send(message)
            except OSError:  # it ended in the meantime
                self.workers.pop(role).end()
                self._worker(role).send(message)
            self.workers[role].busy = True
        return self.task

    def _worker(self, role: str) -> _Process:
        if role not in self.workers or self.workers[role].process.poll() is not None:
            self.workers[role] = _Process(role, self.lines)
        return self.workers[role]

    def _await_ready(self, patience: float = 60.0) -> None:
        """Wait until new workers have done their imports, which the budget of a statement does not count."""
        end = time.monotonic() + patience
        while not all(worker.ready for worker in self.workers.values()) and time.monotonic() < end:
            try:
                worker, message = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except Empty:
                return
            worker.ready |= message["stage"] in ("ready", "ended")

    def report(self, timeout: float) -> Line | None:
        """The next line of the current task, None after `timeout` seconds."""
        end = time.monotonic() + timeout
        while (left := end - time.monotonic()) > 0:
            try:
                worker, message = self.lines.get(timeout=left)
            except Empty:
                return None
            if self.workers.get(worker.role) is not worker or message["id"] not in (self.task, None):
                continue  # from a worker that was replaced, or about an old task
            if message["stage"] in ("done", "ended"):
                worker.busy = False
            return worker.role, message
        return None

    def cancel(self) -> None:
        """Tell the workers to stop with the current task."""
        for worker in self.workers.values():
            if worker.busy:
                try:
                    worker.send({"cancel": self.task})
                except OSError:
                    worker.busy = True

    def _settle(self, patience: float = 1.5) -> None:
        """Workers that are still busy with an old task get a moment, then they are replaced."""
        end = time.monotonic() + patience
        while any(worker.busy for worker in self.workers.values()) and time.monotonic() < end:
            self.report(end - time.monotonic())
        for role, worker in list(self.workers.items()):
            if worker.busy:
                worker.end()
                del self.workers[role]
        while True:  # old lines are of no interest
            try:
                self.lines.get_nowait()
            except Empty:
                break

    def close(self) -> None:
        """End the workers."""
        for worker in self.workers.values():
            worker.end()
        self.workers.clear()


POOL = Pool()

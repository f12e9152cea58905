"""Ctrl-C ends a run in processes at once; what was handed to the pool is not done first."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from runs import call

ROOT = Path(__file__).resolve().parents[1]

PROGRAM = """
import signal, time
from concurrent.futures import as_completed
from proofs_checks.harness.work import process_pool

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background of a shell ignores it
    with process_pool(2) as pool:
        for done in as_completed([pool.submit(time.sleep, s) for s in (0, 0, *[30] * 6)]):
            print("done", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize("everyone", [True, False], ids=["the whole group, as a terminal does", "the parent alone"])
def test_an_interrupt_ends_the_pool_and_its_processes(tmp_path, everyone):
    (tmp_path / "run.py").write_text(PROGRAM)
    run = subprocess.Popen([sys.executable, "run.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert run.stdout is not None and run.stdout.readline() == run.stdout.readline() == "done\n"
    os.killpg(run.pid, signal.SIGINT) if everyone else os.kill(run.pid, signal.SIGINT)
    try:
        _, errors = run.communicate(timeout=25)  # until every process has let go of the pipes; left alone, 90 seconds
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        pytest.fail("the pool went on after the interrupt")
    assert run.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors


def test_an_interrupt_is_no_verdict(monkeypatch):
    from proofs_checks.engines import portfolio

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(portfolio, "prove_problem", interrupted)
    done = call("prove", "x**2 >= 0")
    assert done.exit_code == 130 and done.stderr == "Aborted!\n" and not done.stdout

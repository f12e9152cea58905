"""The command that judges: exit codes, what it writes and what it never writes, wherever it runs."""
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import toy
from runs import call, check, false_checks, green_checks, red_checks

from proofs_checks.harness import cache, work

ROOT = Path(__file__).resolve().parents[1]
QUICK = ["pass_at_k.gradient_weight", "pass_at_k.weight_threshold"]

unjudged = toy.claim("unjudged_run")


# Results of a user's claims are not kept; these stand in for claims of the product, so that the cache can be tested.
def as_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "QUICK", -1.0)
    for procedure in (green_checks, red_checks, false_checks):
        monkeypatch.setattr(procedure, "__module__", "proofs_checks.toy")


def timeless(report: Any) -> Any:
    """A report without its seconds."""
    if isinstance(report, dict):
        return {k: timeless(v) for k, v in report.items() if k != "seconds"}
    return list(map(timeless, report)) if isinstance(report, list) else report


# check

def test_a_green_claim_exits_0_and_writes_a_partial_report(tmp_path: Path):
    code, report, done = check(tmp_path, "toy.green_run")
    assert code == 0 and not report["complete"] and "toy.green_run" in done.stdout and "partial run" in done.stdout
    assert not (tmp_path / "report.json").exists() and len(list((tmp_path / "certificates").iterdir())) == 3


@pytest.mark.parametrize(("name", "said"), [("toy.red_run", "SURVIVED"),
                                            ("toy.false_run", "exhaustive EXHAUSTIVE says REFUTED"),
                                            ("pass_at_k.gradient_weight toy.red_run", "toy.red_run")])
def test_what_is_not_green_exits_1_and_is_named(tmp_path: Path, name: str, said: str):
    code, report, done = check(tmp_path, *name.split())
    assert code == 1 and said in done.stdout + done.stderr and f"not green: {name.split()[-1]}" in done.stderr
    assert "refutable check toy." in done.stdout and not any(e["green"] for e in report["claims"] if e["paper"] == "toy")


@pytest.mark.parametrize("args", [("nope",), ("pass_at_k.nope",), ("toy.green_run", "--variant", "nope"), ("--jobs", "0"),
                                  ("toy.green_run", "--at-least", "NOPE")])
def test_wrong_use_exits_2_names_the_culprit_and_writes_nothing(tmp_path: Path, args: tuple[str, ...]):
    code, _, done = check(tmp_path / "build", *args)
    assert code == 2 and args[-1].removeprefix("pass_at_k.") in done.stderr and not (tmp_path / "build").exists()
    if args == ("pass_at_k.nope",):
        assert "pass_at_k.gradient_weight" in done.stderr
    if "--variant" in args:
        assert "exponent_k" in done.stderr


def test_one_variant(tmp_path: Path):
    code, report, done = check(tmp_path, "toy.green_run", "--variant", "exponent_k")
    (entry,) = report["claims"]
    assert "not green" not in done.output and "claims green" not in done.output and "toy.green_run  part" in done.stdout
    assert "partial: 1 claim judged in part (1 variants, 1 of 1 checks), nothing wrong in what was judged" in done.stdout
    assert code == 0 and list(entry["variants"]) == ["exponent_k"] and entry["partial"] and not entry["green"]
    assert check(tmp_path, "toy.red_run", "--variant", "true_after_all")[0] == 1
    assert check(tmp_path, "toy.red_run", "--variant", "exponent_k")[0] == 0


def test_a_variant_of_a_claim_that_fails_is_not_judged_and_not_fine(tmp_path: Path):
    code, _, done = check(tmp_path, "toy.false_run", "--variant", "factor_dropped")
    assert code == 1 and "not judged: the claim itself fails" in done.stderr and "RED" in done.stdout


@pytest.mark.parametrize("names", [("toy.green_run",), ("toy.red_run", "toy.false_run")])
def test_a_run_that_leaves_no_check_is_wrong_use(tmp_path: Path, names: tuple[str, ...]):
    code, report, done = check(tmp_path / "build", *names, "--at-least", "certified")
    assert code == 2 and not report and not (tmp_path / "build").exists()
    line = done.stderr.splitlines()[-1]
    assert line == "refutable check: --at-least CERTIFIED leaves no check to run; the strongest here is EXHAUSTIVE"
    assert "claims green" not in done.output and "Usage" not in done.output


def test_a_filtered_run_is_never_green_and_never_the_report(tmp_path: Path):
    code, report, done = check(tmp_path, "toy.green_run", "pass_at_k.gradient_weight", "--at-least", "symbolic")
    assert code == 0 and not any(e["green"] for e in report["claims"]) and all(e["partial"] for e in report["claims"])
    assert "claims green" not in done.output and not (tmp_path / "report.json").exists()
    assert "partial: 1 claim judged in part" in done.stdout and "partial: 1 claim without a check" in done.stdout
    assert "[1/2] pass_at_k.gradient_weight partial: nothing wrong" in done.stderr and "not green" not in done.stderr
    assert "expected to" not in done.stdout  # no block of a failure: nothing failed


def test_a_partial_run_of_everything_is_not_the_report_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(work, "plan", lambda names, **options: (["toy.green_run"], []))
    call("check", "--variant", "claim", "--out", tmp_path)
    assert (tmp_path / "partial.json").exists() and not (tmp_path / "report.json").exists()
    assert call("check", "--out", tmp_path).exit_code == 0 and json.loads((tmp_path / "report.json").read_text())["complete"]


def test_a_claim_without_evidence_is_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    listed = [work.claim_entry(work.facts(unjudged), [])]
    monkeypatch.setattr(work, "plan", lambda names, **options: (["toy.green_run"], listed))
    done = call("check", "--out", tmp_path)
    assert done.exit_code == 1 and "toy.unjudged_run: no evidence is registered" in done.stderr


def test_a_failed_canary_makes_the_report_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    failed = {"passed": False, "jax": "0.10.2", "backend": "cpu", "reason": "wrong sums"}
    monkeypatch.setattr("proofs_checks.harness.doctor.canary", lambda: failed)
    monkeypatch.setattr(work, "plan", lambda names, **options: (["toy.green_run"], []))
    done = call("check", "--out", tmp_path)
    assert done.exit_code == 1 and "canary failed: wrong sums" in done.stderr


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return timeless(check(tmp_path_factory.mktemp("serial"), *QUICK)[1])


def test_processes_give_the_same_report(tmp_path: Path, serial: dict[str, Any]):
    code, report, _ = check(tmp_path, *QUICK, "--jobs", "2")
    assert code == 0 and timeless(report) == serial and [e["id"] for e in report["claims"]] == sorted(QUICK)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A real scheduler and a worker in a process of its own; no limit of time that a loaded machine could miss."""
    import dask
    from distributed import LocalCluster

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    patient = {"distributed.comm.timeouts.connect": "1h", "distributed.comm.timeouts.tcp": "1h",
               "distributed.scheduler.worker-ttl": None, "distributed.worker.lifetime.duration": None,
               "distributed.nanny.pre-spawn-environ": {"PYTHONPATH": str(ROOT)}}
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with dask.config.set(patient), LocalCluster(**options) as found:
        yield found.scheduler_address


def test_a_dask_cluster_gives_the_same_report(tmp_path: Path, serial: dict[str, Any], cluster: str):
    code, report, _ = check(tmp_path, *QUICK, "--dask", cluster)
    assert code == 0 and timeless(report) == serial


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "127.0.0.1:9", "nowhere", "tcp://127.0.0.1", "9"])
def test_a_dead_address_is_one_line(tmp_path: Path, address: str):
    code, report, done = check(tmp_path / "build", "toy.green_run", "--dask", address)
    assert code == 2 and not report and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"refutable check: --dask {address}: ") and not (tmp_path / "build").exists()


def test_every_command_with_a_cluster_says_so_in_one_line(tmp_path: Path):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{2 * i}\n" for i in range(30)))
    done = call("parents", tmp_path / "t.csv", "--target", "y", "--dask", "tcp://127.0.0.1:9")
    assert done.exit_code == 2 and done.stderr.count("\n") == 1 and "--dask tcp://127.0.0.1:9: nothing listens" in done.stderr


def test_a_server_that_is_no_scheduler_is_one_line(tmp_path: Path):
    """It answers at once, with something else; the client must not take that for a message of its own."""
    import socket
    import threading

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def answer() -> None:
            for _ in range(3):  # two knocks, then the client
                made, _ = server.accept()
                with made:
                    made.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 8)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        code, _, done = check(tmp_path / "build", "toy.green_run", "--dask", f"127.0.0.1:{port}")
    assert code == 2 and f"--dask 127.0.0.1:{port}: no Dask scheduler answers" in done.stderr.splitlines()[-1]


def test_naming_a_paper_imports_the_evidence_of_no_other(tmp_path: Path):
    program = ("import sys; from proofs_checks.harness import work; from proofs_checks.harness.registry import slugs;"
               "work.plan(['pass_at_k.gradient_weight']);"
               "print(*(s for s in slugs() if f'proofs_checks.{s}' in sys.modules))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.split() == ["pass_at_k"]


# the cache of earlier results

def test_a_second_run_reads_the_cache_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    as_ours(monkeypatch)
    first = check(tmp_path, "toy.green_run", "toy.red_run")[1]
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()}
    assert len(kept) == 15  # seven decisions; for each of the four kills, the witness on the variant and on the claim
    assert timeless(check(tmp_path, "toy.green_run", "toy.red_run")[1]) == timeless(first)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()} == kept
    check(tmp_path, "toy.green_run", "--fresh")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").iterdir()} == kept


EDITS = {"verdict": lambda text: text.replace('"REFUTED"', '"HOLDS"'),
         "kill": lambda text: text.replace('"HOLDS"', '"REFUTED"'),
         "witness": lambda text: text.replace('"witness": null', '"witness": {"tuple": [1, 2]}'),
         "truncated": lambda text: text[:len(text) // 2], "empty": lambda text: "", "not json": lambda text: "green",
         "list": lambda text: "[]", "rung": lambda text: text.replace('"EXHAUSTIVE"', '"KERNEL"'),
         "universal": lambda text: text.replace('"universal": false', '"universal": true')}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", ["toy.red_run", "toy.false_run"])
def test_a_corrupt_cache_never_turns_red_into_green(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, edit: str):
    as_ours(monkeypatch)
    code, before, _ = check(tmp_path, name)
    for path in (tmp_path / "cache").iterdir():
        path.write_text(EDITS[edit](path.read_text()))
    again, after, _ = check(tmp_path, name)
    assert code == again == 1 and timeless(after) == timeless(before)


def test_entries_of_other_variants_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    as_ours(monkeypatch)
    _, before, _ = check(tmp_path, "toy.red_run")
    texts = {path: path.read_text() for path in sorted((tmp_path / "cache").iterdir())}
    for path, text in zip(texts, [*list(texts.values())[1:], next(iter(texts.values()))], strict=True):
        path.write_text(text)
    code, after, _ = check(tmp_path, "toy.red_run")
    assert code == 1 and timeless(after) == timeless(before)


def test_the_key_follows_the_sources_of_the_paper_and_of_the_harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import shutil

    for room in cache.ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "ROOT", tmp_path)

    def key(slug: str = "pass_at_k") -> str:
        return cache.sources.__wrapped__(f"proofs_checks.{slug}")

    def edited(name: str) -> str:
        path = tmp_path / name
        before = path.read_text()
        path.write_text(before + "\n# a comment\n")
        found = key()
        path.write_text(before)
        return found

    unedited = key()
    assert unedited != key("window_length") and edited("proofs_checks/window_length.py") == unedited
    for name in ("theory/claim.py", "simulations/pass_at_k.py", "proofs_checks/harness/judge.py"):
        assert edited(name) != unedited, name
    (tmp_path / "proofs_checks" / "harness" / "checkers" / "brand_new.py").write_text("x = 1\n")
    assert key() != unedited  # checkers are imported by the kind that a certificate names

"""The command that checks certificates again: what is accepted, what is rejected and why, and which certificates go."""
from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import toy
from runs import call, check, green

from proofs_checks.harness import bind, work
from proofs_checks.harness.certificate import seal
from proofs_checks.harness.judge import Trial


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    check(tmp_path, "toy.green_run")
    return tmp_path / "certificates"


def test_a_folder_of_sound_certificates_is_accepted(certificates: Path):
    done = call("recheck", certificates)
    assert done.exit_code == 0 and "3 accepted, 0 rejected" in done.stdout and not done.stderr
    assert "    3  replay: replayed with the claim's own predicate\n" in done.stdout
    assert "toy.green_run  holds: EXHAUSTIVE replay; 2 variants refuted: 2 EXHAUSTIVE replay\n" in done.stdout
    assert "1 accepted" in call("recheck", certificates / "toy.green_run.claim.0.json").stdout
    assert "3 accepted" in call("recheck", certificates.parent / "certificates", "--standalone").stdout


def test_what_was_accepted_is_told_by_claim_and_by_paper(tmp_path: Path):
    check(tmp_path, "toy.green_run", "pass_at_k.gradient_weight")
    lines = call("recheck", tmp_path / "certificates").stdout.splitlines()
    assert ("pass_at_k.gradient_weight  holds: SYMBOLIC identity, STATISTICAL histogram, PROPERTY replay; 3 variants refuted: "
            "3 SYMBOLIC witness, 3 STATISTICAL histogram, 3 PROPERTY replay") in lines
    papers = {line.split()[0]: line for line in lines if "certificates:" in line}
    assert set(papers) == {"pass_at_k", "toy"}
    assert papers["toy"].endswith("1 claim, 2 refuted variants; 3 certificates: 3 EXHAUSTIVE")
    assert papers["pass_at_k"].endswith("12 certificates: 4 SYMBOLIC, 4 STATISTICAL, 4 PROPERTY")
    assert lines[-1] == "15 accepted, 0 rejected"


def test_progress_shows_on_a_terminal_only(certificates: Path, monkeypatch: pytest.MonkeyPatch):
    from proofs_checks.harness.commands import _progress

    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    files = sorted(certificates.iterdir())
    for screen, shown in ((Screen(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "150")
        assert list(_progress.bar(files, len(files), "checking", lambda file: file.name)) == files
        assert ("3/3" in screen.getvalue()) is (files[-1].name in screen.getvalue()) is shown


def test_on_a_pipe_progress_is_a_plain_line_now_and_then(monkeypatch: pytest.MonkeyPatch):
    from proofs_checks.harness.commands import _progress

    clock = iter([0.0, 4.0, 11.0, 11.0, 15.0])  # at the start, then before each thing, and once more after a line
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    assert list(_progress.bar("abc", 3, "checking", str.upper)) == ["a", "b", "c"]
    assert screen.getvalue() == "checking 2 of 3: B\n"


def test_each_rejected_certificate_is_one_line(certificates: Path):
    files = sorted(certificates.iterdir())
    files[0].write_text("{")
    data = json.loads(files[1].read_text())
    files[1].write_text(json.dumps({**data, "variant": "claim" if data["variant"] != "claim" else "exponent_k"}))
    done = call("recheck", certificates, certificates / "absent.json")
    assert done.exit_code == 1 and "1 accepted, 3 rejected" in done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 3 and all(line.startswith("rejected: ") for line in lines) and "Traceback" not in done.output
    assert [Path(line.split(": ")[1]).name for line in lines] == [files[0].name, files[1].name, "absent.json"]


def test_certificates_of_removed_checks_go_with_the_next_run_of_their_claim(certificates: Path):
    kept = {path.name for path in certificates.iterdir()}
    for name in ("toy.green_run.claim.7.json", "toy.green_run.exponent_k.1.json", "toy.green_run.renamed.0.json",
                 "toy.green_run_too.claim.0.json"):
        (certificates / name).write_text("{}")
    check(certificates.parent, "toy.green_run", "--variant", "exponent_k")
    assert {path.name for path in certificates.iterdir()} - kept == {
        "toy.green_run.claim.7.json", "toy.green_run.renamed.0.json", "toy.green_run_too.claim.0.json"}
    check(certificates.parent, "toy.green_run")
    assert {path.name for path in certificates.iterdir()} - kept == {"toy.green_run_too.claim.0.json"}


def test_certificates_of_checks_that_were_left_out_stay(tmp_path: Path):
    check(tmp_path, "pass_at_k.gradient_weight")
    kept = {path.name for path in (tmp_path / "certificates").iterdir()}
    check(tmp_path, "pass_at_k.gradient_weight", "--at-least", "symbolic")
    assert {path.name for path in (tmp_path / "certificates").iterdir()} == kept and len(kept) == 12


def test_certificates_of_earlier_statements_go_with_a_complete_run(certificates: Path, monkeypatch: pytest.MonkeyPatch):
    old = certificates / "toy.gone.claim.0.json"
    old.write_text("{}")
    check(certificates.parent, "toy.green_run")
    assert old.exists() and call("recheck", certificates).exit_code == 1
    monkeypatch.setattr(work, "plan", lambda names, **options: (["toy.green_run"], []))
    assert call("check", "--out", certificates.parent).exit_code == 0 and not old.exists()
    assert "3 accepted, 0 rejected" in call("recheck", certificates).stdout


@pytest.mark.parametrize("change", [{"claim": "toy.gone"}, {"kind": "no"}, {"claim": 3}, {"subjects": []}, {"stream": "x"},
                                    {"stream": None}, {"engine": "other"}, {"schema": "2"}, {"variant": "gone"}])
def test_whatever_a_certificate_says_there_is_no_traceback(certificates: Path, change: dict[str, Any]):
    path = certificates / "toy.green_run.claim.0.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    done = call("recheck", path)
    assert done.exit_code == 1 and done.stderr.count("\n") == 1 and done.stderr.startswith(f"rejected: {path}: ")


@pytest.mark.parametrize("change", [{"claim": "good.claim\n999 accepted, 0 rejected"}, {"variant": "claim\x1b[2K"},
                                    {"claim": "a.b\ud800"}, {"claim": "", "statement": "x\x1b[1A\x1b[2K\ud800"}])
def test_a_certificate_writes_nothing_of_its_own_on_the_terminal(certificates: Path, change: dict[str, Any]):
    path = certificates / "toy.green_run.claim.0.json"
    found = {**json.loads(path.read_text()), **change}
    path.write_text(json.dumps(seal({k: v for k, v in found.items() if k not in ("claim_hash", "schema")}, **{
        k: found[k] for k in ("claim", "variant", "statement", "subjects")})))
    done = call("recheck", path, "--standalone")
    assert done.exit_code == 1 and done.output.splitlines()[-1] == "0 accepted, 1 rejected"
    assert done.output.replace("\n", "").isprintable() and len(done.output.splitlines()) == 2


def test_a_claim_that_reads_otherwise_today_rejects_its_old_certificate(certificates: Path, monkeypatch: pytest.MonkeyPatch):
    changed = toy.claim("green_run", statement=r"\text{another}")
    registered = work.registered()
    monkeypatch.setattr(bind, "registered", lambda: {**registered, "toy.green_run": changed})
    monkeypatch.setattr(bind, "find", lambda claim: claim)
    done = call("recheck", certificates / "toy.green_run.exponent_k.0.json")
    assert done.exit_code == 1 and "reads otherwise today" in done.stderr


def test_a_folder_without_certificates_is_wrong_use(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("x")
    done = call("recheck", tmp_path)
    assert done.exit_code == 2 and str(tmp_path) in done.stderr
    assert call("recheck").exit_code == 2


def test_the_checks_of_a_claim_are_built_once_for_many_certificates(certificates: Path, monkeypatch: pytest.MonkeyPatch):
    bind._trial.cache_clear()
    made = []
    original = Trial._call
    monkeypatch.setattr(Trial, "_call", lambda self, variant: made.append(variant) or original(self, variant))
    assert call("recheck", certificates, certificates).exit_code == 0
    assert sorted(made) == sorted(green.variants())

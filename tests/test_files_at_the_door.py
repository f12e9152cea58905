"""A file that cannot be read or written is wrong use, told in one line that names it."""
from __future__ import annotations

import os
from pathlib import Path

import pytest
import toy
from runs import call, green_checks

from proofs_checks.harness.report_io import write_text

BLOCKED = "/proc/none"  # nobody, not even root, can make a file there


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs a folder in which nobody can make a file")
@pytest.mark.parametrize("words", [
    ["check", "toy.green_run", "--out", BLOCKED], ["report", "--from", "REPORT", "--out", BLOCKED],
    ["prove", "x**2 >= 0", "--certificate", BLOCKED]])
def test_what_cannot_be_written_is_named_without_a_traceback(tmp_path: Path, words: list[str]):
    assert toy.weight and green_checks
    assert call("check", "toy.green_run", "--out", tmp_path).exit_code == 0
    done = call(*(str(tmp_path / "partial.json") if word == "REPORT" else word for word in words))
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1].startswith(f"refutable {words[0]}: /proc/") and "Traceback" not in done.output


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    missing = tmp_path / "none.json"
    done = call("causes", missing, "--effect", "A=1")
    assert done.exit_code == 2 and done.stderr == f"refutable causes: {missing}: No such file or directory\n"


def test_a_folder_in_place_of_a_file_is_called_a_folder(tmp_path: Path):
    done = call("check", f"{tmp_path}/")
    assert done.exit_code == 2 and "is a folder; name a file in it" in done.stderr


def test_text_goes_through_a_link_and_leaves_it(tmp_path: Path):
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(file)
    write_text(link, "told")
    assert link.is_symlink() and file.read_text() == "told"


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "told")
    assert os.read(reader, 10) == b"told" and pipe.is_fifo()
    os.close(reader)

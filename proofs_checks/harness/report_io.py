"""Files that appear whole or not at all. Standard library only."""
from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from proofs_checks.harness.certificate import to_json

__all__ = ["write_json", "write_text"]


def write_json(path: Path, data: Any) -> None:
    """Write by atomic rename, so that nobody ever reads half a file."""
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False, default=to_json) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write text by atomic rename; through a link, and to what is no file (a pipe, a terminal), directly."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_text(text, encoding="utf-8")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:  # halves of characters: \ud800
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

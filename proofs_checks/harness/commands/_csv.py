"""Tables of users: text with the marks that spreadsheets leave, rows by line; errors are one plain line each."""
from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["TableError", "rows_of", "separator", "text_of"]


class TableError(ValueError):
    """The table cannot be used; the message is one plain line."""


def text_of(file: str) -> str:
    """The content of a file ("-": standard input), UTF-8 with or without a byte order mark."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise TableError(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = raw[:error.start].count(b"\n") + 1
        raise TableError(f"{file} line {line}: is not UTF-8 text; save the table as CSV in UTF-8") from None


def separator(text: str) -> str:
    """What stands between the fields of a table: comma, semicolon or tab, whichever of these the first line that is not
    blank has outside quotes."""
    bare = re.sub(r'(?m)(^|[,;\t]) *"[^"]*"', r"\1", text)
    head = next((line for line in bare.splitlines() if line.strip()), "")
    return next((s for s in ",;\t" if s in head), ",")


def rows_of(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The line where each row begins, and its cells; none for a blank row.

    Comma, semicolon or tab between fields, as the first line that is not blank has them outside quotes; quotes and a byte
    order mark are allowed, and cells of any length."""
    text = text.lstrip("\ufeff")
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))  # a prompt may be long; 131,072 characters otherwise
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator(text), strict=True, skipinitialspace=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise TableError(f"{name} line {reader.line_num}: is not CSV ({error})") from None
        if cells is None:
            return
        yield line, [cell.strip() for cell in cells] if any(cell.strip() for cell in cells) else []

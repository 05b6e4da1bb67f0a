"""From a source (file, text, or Python values) to its records, each with a name for messages.

A file is one JSON value or JSON Lines. A list of messages is one record, and so is a file with one message on
each line; any other list is many. A line that cannot be read is reported in its place and does not take the
others with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from kip.errors import KipError
from kip.memory.adapters.openai_chat import is_message_list
from kip.values import Json

Source = str | bytes | Path | Mapping[str, object] | Sequence[object]


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a source, or why it cannot be read. ``where`` names it: ``runs.jsonl line 3``."""

    where: str
    value: Json = None
    error: KipError | None = None


def records(source: Source) -> Iterator[Record]:
    """The records of ``source``: a Path or path text, JSON text that starts with a bracket or as bytes, or values.

    Raises KIP_3002 when a file is not there, KIP_1001 when the source as a whole is not JSON, KIP_2002 when it
    is an empty list.
    """
    if isinstance(source, Path):
        return _of_bytes(_read(source), source.name)
    if isinstance(source, bytes):
        return _of_bytes(source, "input")
    if isinstance(source, str):
        if source.lstrip().startswith(("{", "[")):
            return _of_bytes(source.encode("utf-8", "surrogatepass"), "input")
        return _of_bytes(_read(Path(source)), Path(source).name)
    return _of_value(cast(Json, source), "record")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or "unreadable"
        hint = "Check the path and its permissions."
        raise KipError("KIP_3002", f"cannot read {path}: {reason}", hint=hint) from None


def _of_value(value: Json, where: str) -> Iterator[Record]:
    if value == []:
        raise KipError("KIP_2002", f"{where} holds no record", hint="Give at least one run.")
    if isinstance(value, list) and not is_message_list(value):
        for position, item in enumerate(value):
            yield Record(f"{where}[{position}]", item)
    else:
        yield Record(where, value)


def _of_bytes(data: bytes, name: str) -> Iterator[Record]:
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = data.splitlines()
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise KipError("KIP_1001", f"{name} is empty", hint="Give one JSON value, or one JSON value per line.")
    if len(lines) == 1 or (head := _whole_value(first)) is None:
        return _of_value(_parsed(data, name), name)
    if isinstance(head, dict) and "role" in head:
        # One message on each line: the file is one run.
        return iter([Record(name, [_parsed(line, name) for line in lines if line.strip()])])
    return _of_lines(lines, name)


def _whole_value(line: bytes) -> Json:
    """The object or list that a line is by itself, which makes the file JSON Lines; else None."""
    if not line.strip().endswith((b"}", b"]")):
        return None
    try:
        value: Json = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def _of_lines(lines: Sequence[bytes], name: str) -> Iterator[Record]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{name} line {number}"
        try:
            yield Record(where, _parsed(line, where))
        except KipError as error:
            yield Record(where, error=error)


def _parsed(data: bytes, where: str) -> Json:
    try:
        # A surrogate can come in as raw bytes when the source was a Python string; it is repaired later.
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise KipError(
            "KIP_1001",
            f"{where} is not UTF-8 text (byte {error.start})",
            hint="Convert the file to UTF-8, for example with iconv.",
        ) from None
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        what = "ends before the JSON value does" if cut else f"is not JSON: {error.msg}"
        raise KipError(
            "KIP_1001",
            f"{where} {what} (line {error.lineno}, column {error.colno})",
            hint="Give one JSON value, or one JSON value per line (JSON Lines).",
        ) from None
    except RecursionError:
        raise KipError("KIP_2003", f"{where} is nested too deeply to read") from None
    except ValueError as error:
        raise KipError("KIP_2003", f"{where}: {error}", hint="Use finite numbers of a sensible length.") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")

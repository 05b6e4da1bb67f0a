"""Tables, connection settings, functions and error mapping of the SQLite store."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import apsw

from kip.compile.pattern import compiled_pattern
from kip.errors import KipError
from kip.values import compare, dumps, equal, is_wide, loads

APPLICATION = int.from_bytes(b"kip1")
"""Marks a SQLite file as a kip store."""

FORMAT = 1
"""Format number of the file (decision 15)."""

TABLES = """
CREATE TABLE store (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE space (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, schema_version INTEGER NOT NULL DEFAULT 0,
    concept_documents INTEGER NOT NULL DEFAULT 0, link_documents INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE concept (
    key INTEGER PRIMARY KEY, space INTEGER NOT NULL REFERENCES space, type TEXT NOT NULL, name TEXT NOT NULL,
    attributes BLOB NOT NULL, metadata BLOB NOT NULL,
    version INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX concept_identity ON concept (space, type, name);
CREATE INDEX concept_by_name ON concept (space, name);
CREATE INDEX concept_by_type ON concept (space, type);
CREATE TABLE link (
    key INTEGER PRIMARY KEY, space INTEGER NOT NULL REFERENCES space,
    subject INTEGER NOT NULL, predicate TEXT NOT NULL, object INTEGER NOT NULL,
    attributes BLOB NOT NULL, metadata BLOB NOT NULL,
    version INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX link_identity ON link (subject, predicate, object, space);
CREATE INDEX link_by_object ON link (object, predicate, subject, space);
CREATE INDEX link_by_predicate ON link (space, predicate, object, subject);
CREATE TABLE revision (
    sequence INTEGER PRIMARY KEY, space INTEGER NOT NULL REFERENCES space, element TEXT NOT NULL,
    kind TEXT NOT NULL, version INTEGER NOT NULL, before TEXT,
    actor TEXT NOT NULL, at TEXT NOT NULL, request TEXT NOT NULL, session TEXT, reason TEXT
) STRICT;
CREATE INDEX revision_by_element ON revision (space, element);
CREATE INDEX revision_by_request ON revision (space, request);
CREATE TABLE embedding (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL REFERENCES space, model TEXT NOT NULL,
    key INTEGER NOT NULL, scope TEXT NOT NULL, vector BLOB
) STRICT;
CREATE UNIQUE INDEX embedding_of_element ON embedding (space, key, model);
CREATE INDEX embedding_log ON embedding (space, model, sequence);
CREATE TABLE tombstone (
    space INTEGER NOT NULL REFERENCES space, digest BLOB NOT NULL, PRIMARY KEY (space, digest)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5 (
    terms, content = '', contentless_delete = 1, tokenize = 'ascii', detail = 'none'
);
CREATE VIRTUAL TABLE search_terms USING fts5vocab (search, 'row');
"""

STATISTICS = (
    ("concept", "concept_identity", "500000 500000 50000 1"),
    ("concept", "concept_by_name", "500000 500000 2"),
    ("concept", "concept_by_type", "500000 500000 50000"),
    ("link", "link_identity", "2000000 4 3 1 1"),
    ("link", "link_by_object", "2000000 20 15 1 1"),
    ("link", "link_by_predicate", "2000000 2000000 100000 15 1"),
)
"""What the query planner assumes about the data: a typical graph. Fixed, so that plans do not change with the
data; without them it takes a whole predicate for as selective as the links of one element."""


def connect(path: str, *, read_only: bool = False, time_limit: float) -> apsw.Connection:
    """A configured connection. ``time_limit`` is in seconds: both for one statement and for waiting on a lock."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(path, flags=flags)
    connection.set_busy_timeout(int(time_limit * 1000))
    # Plans do not depend on bound values. Otherwise SQLite prepares a statement again whenever they change.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA temp_store = MEMORY")
    _register(connection)
    return connection


def prepare(connection: apsw.Connection, time_limit: float) -> None:
    """Create the tables in an empty file; refuse a file that a newer version of kip wrote (KIP_4003).

    Nothing is written to a file that is not ours.
    """
    if not _is_current(connection):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not _is_current(connection):  # another process may have been first
                _create(connection)
            connection.execute("COMMIT")
        finally:
            if not connection.get_autocommit():
                connection.execute("ROLLBACK")
    connection.execute("ANALYZE sqlite_schema")  # makes this connection read the statistics
    _use_wal(connection, time_limit)


def _is_current(connection: apsw.Connection) -> bool:
    """True when the file has today's format, False when it is empty; raises KIP_4003 for anything else."""
    owner, found = connection.pragma("application_id"), connection.pragma("user_version")
    assert isinstance(found, int)
    if owner != APPLICATION:
        if found or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall():
            hint = "Give another path."
            raise KipError("KIP_4003", "the file is a SQLite database, but not a kip store", hint=hint)
        return False
    if found > FORMAT:
        raise KipError(
            "KIP_4003",
            f"the store has format {found}, this version of kip reads up to {FORMAT}",
            hint="Open it with the newer version of kip.",
        )
    return True


def _create(connection: apsw.Connection) -> None:
    connection.execute(TABLES)
    connection.execute("INSERT INTO store (key, value) VALUES ('next_key', 1)")
    connection.execute("ANALYZE sqlite_schema")
    connection.executemany("INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", STATISTICS).fetchall()
    connection.execute(f"PRAGMA application_id = {APPLICATION:d}")
    connection.execute(f"PRAGMA user_version = {FORMAT:d}")


def _use_wal(connection: apsw.Connection, time_limit: float) -> None:
    """Readers and writers do not block each other in this mode. The change of mode does not wait for locks itself."""
    end = time.monotonic() + time_limit
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except apsw.BusyError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


# --- functions ----------------------------------------------------------------------------------


def _regex(*arguments: Any) -> int | None:
    text, pattern = arguments
    # A type guard stands beside each call, but SQL may evaluate it later.
    if not isinstance(text, str) or not isinstance(pattern, str):
        return None
    return int(compiled_pattern(pattern).search(text) is not None)


def _ends_with(*arguments: Any) -> int | None:
    text, suffix = arguments
    return int(text.endswith(suffix)) if isinstance(text, str) and isinstance(suffix, str) else None


def _place(*arguments: Any) -> str | None:
    """A text whose order is that of the numbers past the 64-bit integers: sign, number of digits, digits."""
    (text,) = arguments
    value = loads(text) if text is not None else None
    if not isinstance(value, (int, float)) or not is_wide(value):
        return None
    digits = str(abs(int(value)))
    if value > 0:
        return f"1{len(digits):05d}{digits}"
    return f"0{99_999 - len(digits):05d}{''.join(str(9 - int(digit)) for digit in digits)}"


def _listed(*arguments: Any) -> int:
    text, listed = arguments
    value = loads(text) if text is not None else None
    return int(any(equal(value, item) for item in json.loads(listed)))


def _canonical(*arguments: Any) -> str | None:
    (text,) = arguments
    return None if text is None else dumps(loads(text))


class _Fold:
    """An aggregate over JSON texts; NULL and JSON null take no part."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def step(self, *arguments: Any) -> None:
        (text,) = arguments
        if text is not None and text != "null":
            self.values.append(loads(text))


class _Numbers(_Fold):
    def numbers(self) -> list[int | float]:
        return [value for value in self.values if isinstance(value, (int, float)) and not isinstance(value, bool)]

    def total(self) -> int | Fraction:
        """The exact sum, whatever the order of rows."""
        numbers = self.numbers()
        if all(isinstance(number, int) for number in numbers):
            return sum(int(number) for number in numbers)
        try:
            return Fraction(math.fsum(numbers))
        except OverflowError:  # fsum wants its parts and its sum within the floats
            return sum(map(Fraction, numbers), Fraction(0))


class _Sum(_Numbers):
    def final(self) -> str | None:
        return _number_text(self.total()) if self.numbers() else None


class _Average(_Numbers):
    def final(self) -> str | None:
        numbers = self.numbers()
        return _number_text(Fraction(self.total(), len(numbers))) if numbers else None


def _number_text(number: int | Fraction) -> str:
    try:
        return json.dumps(number if isinstance(number, int) else float(number))
    except OverflowError:
        hint = "Sum fewer elements, or smaller numbers."
        raise KipError("KIP_2003", "the result is a number past what JSON numbers can hold", hint=hint) from None


class _Extreme(_Fold):
    """Keeps the least or the greatest value in the order across types."""

    sign = 1

    def step(self, *arguments: Any) -> None:
        (text,) = arguments
        if text is None or text == "null":
            return
        value = loads(text)
        if not self.values or self.sign * compare(value, self.values[0]) < 0:
            self.values = [value]

    def final(self) -> str | None:
        return dumps(self.values[0]) if self.values else None


class _Greatest(_Extreme):
    sign = -1


def _register(connection: apsw.Connection) -> None:
    connection.create_scalar_function("kip_regex", _regex, 2, deterministic=True)
    connection.create_scalar_function("kip_ends_with", _ends_with, 2, deterministic=True)
    connection.create_scalar_function("kip_place", _place, 1, deterministic=True)
    connection.create_scalar_function("kip_listed", _listed, 2, deterministic=True)
    connection.create_scalar_function("kip_canonical", _canonical, 1, deterministic=True)
    folds: tuple[tuple[str, Any], ...] = (
        ("kip_sum", _Sum),
        ("kip_avg", _Average),
        ("kip_min", _Extreme),
        ("kip_max", _Greatest),
    )
    for name, fold in folds:
        connection.create_aggregate_function(name, fold, 1)


# --- errors -------------------------------------------------------------------------------------

_CODES: tuple[tuple[type[apsw.Error], str, str, str | None], ...] = (
    (apsw.BusyError, "KIP_4001", "another writer held the store for too long", "Retry."),
    (apsw.LockedError, "KIP_4001", "another writer held the store for too long", "Retry."),
    (apsw.InterruptError, "KIP_4001", "the command ran longer than the time limit", None),
    (apsw.FullError, "KIP_4002", "the disk is full; nothing was written", "Free some space and retry."),
    (apsw.NoMemError, "KIP_4002", "the store ran out of memory", None),
    (apsw.TooBigError, "KIP_4002", "a value or statement is larger than the store can hold", None),
    (apsw.ConstraintError, "KIP_3003", "the write would break a uniqueness constraint", None),
    (apsw.ReadOnlyError, "KIP_4003", "the store cannot be written to", "Check the permissions of the file."),
    (apsw.CantOpenError, "KIP_4003", "the store cannot be opened", "Check that the path exists and may be read."),
    (apsw.PermissionsError, "KIP_4003", "the store cannot be opened", "Check the permissions of the file."),
    (apsw.NotADBError, "KIP_4003", "the file is not a kip store", "Give another path."),
    (apsw.CorruptError, "KIP_4003", "the store is damaged", "Restore a backup."),
    (apsw.IOError, "KIP_4003", "reading or writing the store failed", "Check the disk."),
    (apsw.Error, "KIP_4003", "the store failed", None),
)


_TOO_LARGE = ("too many", "too large", "too deep", "at most", "overflow", "too complex", "must be between")
"""How SQLite says that a statement passes one of its fixed limits."""


def kip_error(error: apsw.Error) -> KipError:
    """The KIP error of a driver error; none of its text is passed on."""
    if isinstance(error, apsw.SQLError) and any(words in str(error) for words in _TOO_LARGE):
        hint = "Use fewer clauses and terms: IN(?x.name, [..]) for many values, or several commands."
        return KipError("KIP_4002", "the command is larger than the store can run in one piece", hint=hint)
    code, message, hint = next((row[1], row[2], row[3]) for row in _CODES if isinstance(error, row[0]))
    return KipError(code, message, hint=hint)


@contextmanager
def mapped_errors() -> Generator[None]:
    """Turns every driver exception inside into a KipError."""
    try:
        yield
    except apsw.Error as error:
        raise kip_error(error) from error

"""A reserve of disk space for SQLite, so that small writes work while the disk is full.

On a full disk SQLite cannot extend files, but it can overwrite them. Its database therefore keeps free pages, and its
write-ahead log is as long: run states, heartbeats and logins continue to work. The log is deleted when the last
connection closes, and without space not even reads work then, so each process keeps one connection open. While space is
low, only small, urgent writes are allowed. Other databases manage their own space.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from brokerweb.kit.disk import NoRoom, disk

RESERVE_BYTES = 8_000_000
"""Twice the size at which SQLite restarts its log."""
LEAST_FREE_BYTES = 8 * RESERVE_BYTES
"""With less free space the reserve is not refilled, and only few tables accept rows."""
SMALL_BYTES = 16_384
"""Maximum size of text and binary values of a statement while space is low."""
ESSENTIAL = re.compile(
    "(accounts_token|auth|axes|django|experiments_queuepause|experiments_runevent|networks_host|networks_restartorder|"
    "notices_delivery|notices_notice|reports_firing|storage)(_|$)"
)
"""Tables that always accept rows: logins, heartbeats, events, and requests that end or delete something."""
_INSERT = re.compile(r'INSERT (?:OR IGNORE )?INTO "(\w+)"')

_held: dict[str, sqlite3.Connection] = {}
"""The connection that this process keeps open, by file."""


def hold(sender: Any, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Open one more connection in this process and never close it."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor != "sqlite" or name in _held:
        return
    try:
        held = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
        held.execute("SELECT 1 FROM sqlite_master").close()  # a connection holds files only after a read
    except sqlite3.Error:  # the next call tries again
        return
    _held[name] = held


def guard(sender: Any, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Install ``keep_for_small`` on a connection."""
    if connection.vendor == "sqlite" and keep_for_small not in connection.execute_wrappers:
        connection.execute_wrappers.append(keep_for_small)


def keep_for_small(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Raises ``NoRoom`` for a statement that would use up the reserve while space is low."""
    insert = _INSERT.match(sql)
    if (insert or sql.startswith("UPDATE")) and (free := disk().free) < LEAST_FREE_BYTES:
        waits = insert is not None and not ESSENTIAL.match(insert[1])
        if waits or _bytes(params if many else [params]) > SMALL_BYTES:
            raise NoRoom(free, LEAST_FREE_BYTES)
    return execute(sql, params, many, context)


def _bytes(rows: Iterable[Iterable[Any] | None]) -> int:
    return sum(len(value) for row in rows for value in row or () if isinstance(value, str | bytes))


def refill() -> None:
    """Create the reserve if there is space for it. Idempotent."""
    if connection.vendor != "sqlite" or _is_full() or disk().free < LEAST_FREE_BYTES:
        return
    with connection.cursor() as cursor:
        # Two transactions: pages that a single one allocates and frees would never be written.
        cursor.execute("DROP TABLE IF EXISTS reserve")
        cursor.execute("CREATE TABLE reserve AS SELECT zeroblob(%s) AS filler", [RESERVE_BYTES])
        cursor.execute("DROP TABLE reserve")


def _is_full() -> bool:
    log = Path(f"{connection.settings_dict['NAME']}-wal")
    with connection.cursor() as cursor:
        pages, size = (cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_size"))
    return pages * size >= RESERVE_BYTES and log.exists() and log.stat().st_size >= RESERVE_BYTES

"""Room that SQLite keeps to itself, so that what is small can be written while the disk is full.

On a full disk SQLite cannot make a file longer, but it can write again over what it has. So its database has free pages
in it, and its log (the WAL) is as long as they are: states of runs, heartbeats and log-ins go on. The log goes when the
last connection closes, and without room nothing could even be read then: each process holds one connection open for as
long as it lives. While little is free, only what is small and cannot wait is let in, so that nothing else uses the room
up. Another database keeps room in its own way.
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
"""Twice what SQLite writes to its log before it begins again at its start."""
LEAST_FREE_BYTES = 8 * RESERVE_BYTES
"""With less than this free nothing is put by, others need it more; and rows are added to few tables only."""
SMALL_BYTES = 16_384
"""Of a statement's text and binary values: more is not written then."""
ESSENTIAL = re.compile(
    "(accounts_token|auth|axes|django|experiments_queuepause|experiments_runevent|networks_host|networks_restartorder|"
    "notices_delivery|notices_notice|reports_firing|storage)(_|$)"
)
"""Tables that get rows however little is free: log-ins, heartbeats, what happened, and orders that end or remove."""
_INSERT = re.compile(r'INSERT (?:OR IGNORE )?INTO "(\w+)"')

_held: dict[str, sqlite3.Connection] = {}
"""The connection of this process that stays open, by file."""


def hold(sender: Any, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Opens one more connection beside the first of this process, and never closes it."""
    name = str(connection.settings_dict["NAME"])
    if connection.vendor != "sqlite" or name in _held:
        return
    try:
        held = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
        held.execute("SELECT 1 FROM sqlite_master").close()  # one that has read nothing holds nothing
    except sqlite3.Error:  # the next one tries again
        return
    _held[name] = held


def guard(sender: Any, connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Lets ``keep_for_small`` see what this connection is asked."""
    if connection.vendor == "sqlite" and keep_for_small not in connection.execute_wrappers:
        connection.execute_wrappers.append(keep_for_small)


def keep_for_small(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Raises ``NoRoom`` for a statement that would use up the reserve, while little else is left."""
    insert = _INSERT.match(sql)
    if (insert or sql.startswith("UPDATE")) and (free := disk().free) < LEAST_FREE_BYTES:
        waits = insert is not None and not ESSENTIAL.match(insert[1])
        if waits or _bytes(params if many else [params]) > SMALL_BYTES:
            raise NoRoom(free, LEAST_FREE_BYTES)
    return execute(sql, params, many, context)


def _bytes(rows: Iterable[Iterable[Any] | None]) -> int:
    return sum(len(value) for row in rows for value in row or () if isinstance(value, str | bytes))


def refill() -> None:
    """Sees to it that there is a reserve, where there is room for one. Done again, it does nothing."""
    if connection.vendor != "sqlite" or _is_full() or disk().free < LEAST_FREE_BYTES:
        return
    with connection.cursor() as cursor:
        # Two statements, two transactions: pages that one of them takes and gives back would never be written.
        cursor.execute("DROP TABLE IF EXISTS reserve")
        cursor.execute("CREATE TABLE reserve AS SELECT zeroblob(%s) AS filler", [RESERVE_BYTES])
        cursor.execute("DROP TABLE reserve")


def _is_full() -> bool:
    log = Path(f"{connection.settings_dict['NAME']}-wal")
    with connection.cursor() as cursor:
        pages, size = (cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_size"))
    return pages * size >= RESERVE_BYTES and log.exists() and log.stat().st_size >= RESERVE_BYTES

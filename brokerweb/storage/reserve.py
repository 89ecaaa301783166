"""Room that SQLite keeps to itself, so that what is small can be written while the disk is full.

On a full disk SQLite cannot make a file longer, but it can write again over what it has. So its database has free pages
in it, and its log (the WAL) is as long as they are: states of runs, heartbeats and log-ins go on. The log goes when the
last connection closes, and without room nothing could even be read then: each process holds one connection open for as
long as it lives. Another database keeps room in its own way.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from brokerweb.storage.disk import disk

RESERVE_BYTES = 8_000_000
"""Twice what SQLite writes to its log before it begins again at its start."""
LEAST_FREE_BYTES = 8 * RESERVE_BYTES
"""With less than this free nothing is put by: others need it more."""

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

"""Writes that are left out rather than waited for while another transaction writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def no_wait() -> Iterator[None]:
    """Inside, a write that would have to wait raises ``DatabaseError`` at once, on SQLite and PostgreSQL.

    Not within a transaction, which has the right to write already, and not through PgBouncer, where the setting would
    stay for others.
    """
    if connection.in_atomic_block or not (commands := _commands()):
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute(commands[0])
    try:
        yield
    finally:
        if connection.connection is not None:  # a connection that gave up the lock is closed
            with connection.cursor() as cursor:
                cursor.execute(commands[1])


def _commands() -> tuple[str, str] | None:
    """One to wait no longer, and one to wait as before."""
    options = connection.settings_dict["OPTIONS"]
    if connection.vendor == "sqlite":
        return "PRAGMA busy_timeout = 0", f"PRAGMA busy_timeout = {round(1000 * options['timeout'])}"
    return ("SET lock_timeout = '1ms'", "RESET lock_timeout") if options.get("options") else None

"""Database settings from the environment. Pure, and read before Django is set up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import dj_database_url

from overlay.core.errors import WaxwingError

SCHEMES = ("postgresql", "postgres")
EXAMPLE = "postgresql://user:password@host:5432/name"
ESCAPED = "# (as %23), / (%2F), ? (%3F) and @ (%40)"
CONNECT_S = 5
WAIT_S = 20
"""Timeout for the write lock of both databases. Longer than any transaction takes."""
STATEMENT_S = 300
"""Timeout of one statement; only a migration of many rows takes minutes."""


class BadDatabaseURL(WaxwingError):
    """``DATABASE_URL`` is invalid; the message gives the reason without the password."""


def database(environment: Mapping[str, str], var: Path) -> dict[str, Any]:
    """Django's settings of PostgreSQL if ``DATABASE_URL`` is set, otherwise of SQLite. Raises ``BadDatabaseURL``."""
    url = environment.get("DATABASE_URL", "").strip()
    return _postgresql(url) if url else _sqlite(var)


def _sqlite(var: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": var / "waxwing.sqlite3",
        "OPTIONS": {
            # Writing transactions take the lock at their start: waiting for it works, upgrading a read lock does not.
            "transaction_mode": "IMMEDIATE",
            "timeout": WAIT_S,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
        # A file, as in production (threads and WAL behave differently in memory); one per process, so that test suites
        # can run in parallel.
        "TEST": {"NAME": var / f"test-{os.getpid()}.sqlite3"},
    }


def _postgresql(url: str) -> dict[str, Any]:
    _check(url)
    # Close connections after each request: every request of an ASGI server has its own thread, and a persistent
    # connection would stay open in it.
    told = dj_database_url.parse(url, engine="brokerweb.postgresql", conn_max_age=0, conn_health_checks=True)
    # Timeouts for a lost server, a lock that is not released and a client that idles in a transaction; options in the
    # URL take precedence.
    bounds = {
        "lock_timeout": f"{WAIT_S}s",
        "idle_in_transaction_session_timeout": f"{2 * WAIT_S}s",
        "statement_timeout": f"{STATEMENT_S}s",
    }
    ours = {
        "application_name": "waxwing",
        "connect_timeout": CONNECT_S,
        "tcp_user_timeout": WAIT_S * 1000,
        "options": " ".join(f"-c {name}={value}" for name, value in bounds.items()),
    }
    # Empty ``options`` mean that PgBouncer is in between: it accepts none, and a server-side cursor would stay on the
    # connection of another transaction.
    is_pooled = ("options", "") in parse_qsl(urlsplit(url).query, keep_blank_values=True)
    if is_pooled:
        del ours["options"]
    whole = {**told, "OPTIONS": {**ours, **told.get("OPTIONS", {})}}
    return {**whole, "DISABLE_SERVER_SIDE_CURSORS": is_pooled}


def no_answer(environment: Mapping[str, str]) -> str:
    """Tests the connection of ``DATABASE_URL`` once; returns the error, or an empty string."""
    url = environment.get("DATABASE_URL", "").strip()
    if not url:
        return ""
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=CONNECT_S).close()
    except psycopg.Error as error:
        return f"cannot connect to the database of DATABASE_URL: {' '.join(str(error).split())}"
    return ""


def _check(url: str) -> None:
    # Not the library's message, which may contain a part of the password.
    try:
        parts = urlsplit(url)
        is_port = parts.port != 0
    except ValueError:
        is_port = False
    if not is_port:
        raise BadDatabaseURL(
            f"DATABASE_URL is invalid: the port is not a number from 1 to 65535, or the password "
            f"contains an unescaped character (escape {ESCAPED}); example: {EXAMPLE}"
        )
    if parts.scheme not in SCHEMES:
        scheme = f"the scheme {parts.scheme[:18]!r}" if parts.scheme else "no scheme"
        raise BadDatabaseURL(
            f"DATABASE_URL has {scheme}; only PostgreSQL is supported, as in "
            f"{EXAMPLE}. Without DATABASE_URL, SQLite is used"
        )
    name = parts.path.strip("/")
    if not name or "/" in name:
        raise BadDatabaseURL(f"DATABASE_URL has no database name after the host; example: {EXAMPLE}")
    if parts.fragment:
        raise BadDatabaseURL(f"DATABASE_URL contains an unescaped #; escape characters in passwords: {ESCAPED}")

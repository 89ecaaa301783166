"""Which database rows lie in, from the environment. Pure, and read before Django is set up."""

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
"""For one's turn to write, on either. More than any transaction of ours takes."""
STATEMENT_S = 300
"""For one statement; only a migration of many rows takes minutes."""


class BadDatabaseURL(WaxwingError):
    """``DATABASE_URL`` cannot be read; the text says why, without the password in it."""


def database(environment: Mapping[str, str], var: Path) -> dict[str, Any]:
    """Django's settings of PostgreSQL where ``DATABASE_URL`` names one, else of SQLite. Raises ``BadDatabaseURL``."""
    url = environment.get("DATABASE_URL", "").strip()
    return _postgresql(url) if url else _sqlite(var)


def _sqlite(var: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": var / "waxwing.sqlite3",
        "OPTIONS": {
            # A writing transaction takes its lock at once: waiting for it works, upgrading a read lock does not.
            "transaction_mode": "IMMEDIATE",
            "timeout": WAIT_S,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
        # A file, as in life (threads and WAL behave differently in memory); one per process, so that suites run beside
        # each other.
        "TEST": {"NAME": var / f"test-{os.getpid()}.sqlite3"},
    }


def _postgresql(url: str) -> dict[str, Any]:
    _check(url)
    # A connection is closed at the end of what it was opened for: each request of an ASGI server has a thread of its
    # own, and one kept open would stay behind in it.
    told = dj_database_url.parse(url, engine="brokerweb.postgresql", conn_max_age=0, conn_health_checks=True)
    # A server that is gone, a lock that is not given back and a client that sleeps in a transaction end by these; what
    # the address says behind its ? comes first.
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
    # ``options`` that are empty, which the library passes by, say that PgBouncer is in between: it takes none, and a
    # cursor of the server would be left at the connection of another transaction.
    is_pooled = ("options", "") in parse_qsl(urlsplit(url).query, keep_blank_values=True)
    if is_pooled:
        del ours["options"]
    whole = {**told, "OPTIONS": {**ours, **told.get("OPTIONS", {})}}
    return {**whole, "DISABLE_SERVER_SIDE_CURSORS": is_pooled}


def no_answer(environment: Mapping[str, str]) -> str:
    """What keeps the server that ``DATABASE_URL`` names from taking us, asked once; empty where nothing does."""
    url = environment.get("DATABASE_URL", "").strip()
    if not url:
        return ""
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=CONNECT_S).close()
    except psycopg.Error as error:
        return f"the database that DATABASE_URL names does not answer: {' '.join(str(error).split())}"
    return ""


def _check(url: str) -> None:
    # Not the library's words on it, which repeat what may be a part of the password.
    try:
        parts = urlsplit(url)
        is_port = parts.port != 0
    except ValueError:
        is_port = False
    if not is_port:
        raise BadDatabaseURL(
            f"DATABASE_URL cannot be read: its port is no number from 1 to 65535, or a password "
            f"holds one of {ESCAPED}; it looks like {EXAMPLE}"
        )
    if parts.scheme not in SCHEMES:
        raise BadDatabaseURL(
            f"DATABASE_URL begins with {parts.scheme or 'no scheme'!r:.20}; only PostgreSQL is chosen by it, as in "
            f"{EXAMPLE}, and without it rows lie in SQLite"
        )
    name = parts.path.strip("/")
    if not name or "/" in name:
        raise BadDatabaseURL(f"DATABASE_URL names no database behind its host; it looks like {EXAMPLE}")
    if parts.fragment:
        raise BadDatabaseURL(f"DATABASE_URL holds a #; in a password write {ESCAPED}")

"""Whoever writes, writes alone, from the first statement of a transaction on: what ``BEGIN IMMEDIATE`` is to SQLite.

Services look and then decide ("is the name free? then it is mine"). On SQLite nobody else writes in between, and here
an advisory lock says so, which goes with its transaction however that ends. Reading needs no lock. Rejected: isolation
``SERIALIZABLE``, which tells one of two that it has to be done once more, so that every service would be a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest
from django.db import DataError, transaction
from django.db.backends.postgresql import base, operations
from psycopg.errors import UntranslatableCharacter

from overlay.core.errors import InvalidSetting

WRITERS_LOCK = 0x57415857494E47
"""The number of the lock, of this database only: WAXWING in ASCII."""
_WRITES = ("INSERT", "UPDATE", "DELETE")


class DatabaseOperations(operations.DatabaseOperations):
    """Empties tables with those that refer to them: knox leaves a table of tokens that no model of ours is."""

    def sql_flush(self, *args: Any, allow_cascade: bool = True, **kwargs: Any) -> list[str]:
        return super().sql_flush(*args, **{**kwargs, "allow_cascade": True})


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of which each transaction begins by taking the lock."""

    ops_class = DatabaseOperations

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute_wrappers.append(_alone)

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]  # the stubs lack it
        if autocommit:
            return
        try:
            with self.wrap_database_errors, self.connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [WRITERS_LOCK])
        except BaseException:
            self.close()  # it is in no transaction and in no autocommit: the next statement opens another
            raise


class HoldsNul(BadRequest, InvalidSetting):
    """Text with the character NUL, which SQLite would keep and PostgreSQL keeps nowhere: 400 on every surface."""

    def __init__(self) -> None:
        InvalidSetting.__init__(self, "text", "must not hold the character NUL")


def _alone(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """A writing statement outside a transaction becomes one of its own, which waits for its turn."""
    connection: DatabaseWrapper = context["connection"]
    try:
        if connection.in_atomic_block or not sql.startswith(_WRITES):
            return execute(sql, params, many, context)
        with transaction.atomic(connection.alias):
            return execute(sql, params, many, context)
    except DataError as error:
        if isinstance(error.__cause__, UntranslatableCharacter) or "NUL (0x00)" in str(error):
            raise HoldsNul from None
        raise

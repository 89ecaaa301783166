"""Serialises writing transactions on PostgreSQL from their first statement, like ``BEGIN IMMEDIATE`` on SQLite.

Services check and then act ("is the name free? then take it"). On SQLite no other transaction writes in between; here
an advisory lock, released with the transaction, guarantees it. Reads need no lock. Rejected: isolation level
``SERIALIZABLE``, which requires every service to retry.
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
"""The lock's number, local to this database: WAXWING in ASCII."""
_WRITES = ("INSERT", "UPDATE", "DELETE")


class DatabaseOperations(operations.DatabaseOperations):
    """Truncates tables with CASCADE, because of a table of knox without a model of ours."""

    def sql_flush(self, *args: Any, allow_cascade: bool = True, **kwargs: Any) -> list[str]:
        return super().sql_flush(*args, **{**kwargs, "allow_cascade": True})


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose transactions start by acquiring the lock."""

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
            self.close()  # outside a transaction without autocommit: the next statement opens one
            raise


class HoldsNul(BadRequest, InvalidSetting):
    """Text contains NUL, which SQLite accepts and PostgreSQL does not: 400 everywhere."""

    def __init__(self) -> None:
        InvalidSetting.__init__(self, "text", "must not contain the character NUL")


def _alone(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
    """Runs a writing statement outside a transaction in its own transaction with the lock."""
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

"""The rows of a table as columns, built while journals are read.

Rows are held as Python objects only until there are ``ROWS`` of them, because these take ten times the memory of
columns. Text is stored as dictionaries, which for few distinct values is four bytes a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from telemetry.lake.records import to_columns

ROWS = 8_192
"""Rows held as Python objects at a time."""

_DOES_NOT_FIT = (pa.ArrowException, TypeError, ValueError, OverflowError)


class Columns:
    """Collects the rows of one table, each a sequence of values in the order of ``schema``."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[Sequence[Any]] = []
        self._batches = [_with_dictionaries(to_columns(schema, []))]
        self.misfits = 0
        """Rows left out because a value is not of its column's type."""
        self.first_misfit = ""
        """Why the first of them does not fit."""

    def add(self, row: Sequence[Any]) -> None:
        self._rows.append(row)
        if len(self._rows) >= ROWS:
            self._end_batch()

    def table(self) -> pa.Table:
        """All rows. Do not add any afterwards."""
        self._end_batch()
        whole = pa.concat_tables(self._batches).unify_dictionaries().combine_chunks()
        self._batches.clear()
        pa.default_memory_pool().release_unused()  # as much memory as the columns
        return whole

    def _end_batch(self) -> None:
        rows, self._rows = self._rows, []
        try:
            batch = _checked(self._schema, rows)
        except _DOES_NOT_FIT:
            batch = _checked(self._schema, [row for row in rows if self._fits(row)])
        self._batches.append(_with_dictionaries(batch))

    def _fits(self, row: Sequence[Any]) -> bool:
        try:
            _checked(self._schema, [row])
        except _DOES_NOT_FIT as error:
            self.first_misfit = self.first_misfit or str(error)
            self.misfits += 1
            return False
        return True


def _checked(schema: pa.Schema, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Raises one of ``_DOES_NOT_FIT``."""
    table = to_columns(schema, rows)
    missing = next((field.name for field in schema if not field.nullable and table[field.name].null_count), None)
    if missing is not None:
        raise ValueError(f"{missing} is missing")
    return table


def _with_dictionaries(table: pa.Table) -> pa.Table:
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            table = table.set_column(index, field.name, table[field.name].dictionary_encode())
    return table

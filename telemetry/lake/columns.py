"""The rows of a table as columns, built while journals are read.

Rows are held as Python objects only until there are ``ROWS`` of them, because these take ten times the memory of
columns. Text is stored as dictionaries, which for few distinct values is four bytes a row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from overlay.journal.facts import Row
from telemetry.lake.records import own_schema, own_table, to_columns

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
            if len(row) != len(self._schema):
                raise ValueError(f"{len(row)} values for {len(self._schema)} columns")
            _checked(self._schema, [row])
        except _DOES_NOT_FIT as error:
            self.first_misfit = self.first_misfit or str(error)
            self.misfits += 1
            return False
        return True


class OwnTables:
    """The tables that only one system has, from ``Row`` facts."""

    def __init__(self, system: str, tables: Mapping[str, type]) -> None:
        self._system = system
        self._unknown: Counter[str] = Counter()
        self.columns = {name: Columns(own_schema(columns)) for name, columns in tables.items()}

    def add(self, row: Row) -> None:
        name = str(row.table)
        if name not in self.columns:
            self._unknown[name] += 1
            return
        values = row.values if isinstance(row.values, list | tuple) else [row.values]
        self.columns[name].add((row.process, row.at_us, *values))

    def lost(self) -> Iterator[str]:
        """A sentence for each table with rows that were left out."""
        yield from misfits({own_table(self._system, name): columns for name, columns in self.columns.items()})
        for name, count in self._unknown.items():
            yield f"{count} rows are of {own_table(self._system, name)}, an unknown table."


def misfits(tables: Mapping[str, Columns]) -> Iterator[str]:
    """A sentence for each table with rows that do not fit its columns."""
    for name, columns in tables.items():
        if columns.misfits:
            yield f"{columns.misfits} rows do not fit the columns of {name} ({columns.first_misfit})."


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

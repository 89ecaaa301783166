"""Facts as columns. All schemas are derived from ``overlay.journal.facts``, or from dataclasses of a system.

Files also have columns that are computed later (``FOUND``); files from earlier versions lack them. A
counter map is stored as a map and a detail as JSON text. All other fields are columns with the same name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from operator import attrgetter
from types import NoneType
from typing import Any, get_args, get_type_hints

import pyarrow as pa

from overlay.journal.facts import Connection, Delivery, Event, HandOver, Sample, Tick

TABLES: dict[str, type] = {
    "samples": Sample,
    "ticks": Tick,
    "events": Event,
    "deliveries": Delivery,
    "connections": Connection,
    "handovers": HandOver,
}
"""The lake's tables, and the fact in each row."""
JSON = b"json"
"""Marks columns whose values are stored as JSON text."""
SOME = ("deliveries", "connections", "handovers")
"""Tables that exist only if the system reports such facts."""

_COLUMN_TYPES: dict[Any, pa.DataType] = {
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
    str: pa.string(),
    list[int]: pa.list_(pa.int64()),
    list[str]: pa.list_(pa.string()),
    dict[str, int]: pa.map_(pa.string(), pa.int64()),
    dict[str, Any]: pa.string(),
}


def _schema(fact: type) -> pa.Schema:
    hints = get_type_hints(fact)
    return pa.schema([_field(field.name, hints[field.name]) for field in fields(fact)])


def _field(name: str, hint: Any) -> pa.Field:
    """``int | None`` is a column with missing values."""
    known = [one for one in get_args(hint) if one is not NoneType]
    is_optional = len(known) < len(get_args(hint))
    metadata = {JSON: b""} if hint == dict[str, Any] else None
    return pa.field(name, _COLUMN_TYPES[known[0] if is_optional else hint], nullable=is_optional, metadata=metadata)


SCHEMAS: dict[str, pa.Schema] = {table: _schema(fact) for table, fact in TABLES.items()}

FOUND: dict[str, pa.Schema] = {
    "samples": pa.schema([("truth", pa.string()), ("stale_ms", pa.int64()), ("existed", pa.bool_())]),
    **{table: pa.schema([("verdict", pa.string())]) for table in SOME},
}
"""By table: the verdicts of the system's oracle on each row; ``null`` without a verdict. For
samples: updates have none, and only answers have ``stale_ms``."""

STORED: dict[str, pa.Schema] = {table: pa.schema([*schema, *FOUND.get(table, ())]) for table, schema in SCHEMAS.items()}
"""The columns of each table's files."""


OF_ROWS = pa.schema([pa.field("process", pa.string(), nullable=False), pa.field("at_us", pa.int64(), nullable=False)])
"""The first columns of each system's own tables."""


def own_table(system: str, table: str) -> str:
    """The name of a system's own table in the lake. Common tables and names of systems have no dot."""
    return f"{system}.{table}"


def own_schema(columns: type) -> pa.Schema:
    """The columns of a system's own table, declared by a dataclass with fields of ``_COLUMN_TYPES``."""
    own = _schema(columns)
    if taken := {*OF_ROWS.names} & {*own.names}:
        raise ValueError(f"{columns.__name__} has a column {min(taken)}, which every table has")
    return pa.schema([*OF_ROWS, *own])


def to_table(name: str, facts: Sequence[Any]) -> pa.Table:
    """``facts`` of the kind in table ``name`` as an Arrow table."""
    values_of = attrgetter(*SCHEMAS[name].names)
    return to_columns(SCHEMAS[name], [values_of(fact) for fact in facts])


def to_columns(schema: pa.Schema, rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Rows of values in the order of ``schema`` as an Arrow table.

    Raises pyarrow's errors for values that do not fit.
    """
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.table([_column(field, values) for field, values in zip(schema, columns, strict=True)], schema=schema)


def _column(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    if field.metadata and JSON in field.metadata:
        values = [json.dumps(value, default=str, ensure_ascii=False) for value in values]
    elif pa.types.is_map(field.type):
        values = [list(value.items()) for value in values]
    return pa.array(values, type=field.type)

"""Rows become columns in batches; a value that does not fit leaves out its row, and no other."""

from __future__ import annotations

import pyarrow as pa

from telemetry.lake.columns import ROWS, Columns

SCHEMA = pa.schema([pa.field("name", pa.string(), nullable=False), pa.field("at_us", pa.int64())])


def test_rows_of_many_batches_are_one_table_with_one_dictionary():
    columns = Columns(SCHEMA)
    for number in range(2 * ROWS + 3):
        columns.add((f"n{number % 3}", number))
    table = columns.table()
    assert (table.num_rows, table["at_us"].num_chunks) == (2 * ROWS + 3, 1)
    assert table["name"].chunk(0).dictionary.to_pylist() == ["n0", "n1", "n2"]
    assert table["at_us"].to_pylist() == list(range(2 * ROWS + 3))


def test_no_rows_are_a_table_with_all_columns():
    table = Columns(SCHEMA).table()
    assert (table.num_rows, table.column_names) == (0, ["name", "at_us"])


def test_rows_that_do_not_fit_are_counted_and_left_out():
    columns = Columns(SCHEMA)
    for row in [("a", 1), ("b", "soon"), ("c", 3), ("d",), (None, 4), ("e", 2**70), ("f", None)]:
        columns.add(row)
    assert columns.table().to_pydict() == {"name": ["a", "c", "f"], "at_us": [1, 3, None]}
    assert columns.misfits == 4
    assert "soon" in columns.first_misfit

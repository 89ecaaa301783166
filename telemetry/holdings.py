"""What was asked for how often, and at how many brokers it lay when the run ended: one row an entity.

Counterparts: each broker writes ``overlay.facts.Holdings`` as it ends; ``overlay.holdings`` fits the shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from overlay.facts import Holdings
from overlay.holdings import SQUARE_ROOT, fit_shape
from telemetry.runs import RunFiles
from telemetry.storage import whole_file

SCHEMA = pa.schema(
    [
        pa.field("entity", pa.string(), nullable=False),
        pa.field("queries", pa.int64(), nullable=False),
        pa.field("per_s", pa.float64(), nullable=False),
        pa.field("holders", pa.int64(), nullable=False),
        pa.field("replicas", pa.int64(), nullable=False),
    ]
)
"""``queries`` counts those intended in measuring, ``per_s`` is their rate; ``holders`` are brokers that had the entity
from its provider, or in the structured arm because it lies where a hash says, ``replicas`` those that kept one only."""


def by_entity(samples: pa.Table, held: Sequence[Holdings], duration_us: int) -> pa.Table:
    """The rows, the entity asked for most first. Of a broker that was started again, what it held last counts."""
    measured = samples.filter(pc.and_(pc.equal(samples["phase"], "measuring"), pc.equal(samples["role"], "consumer")))
    asked = {row["values"]: row["counts"] for row in pc.value_counts(measured["entity"]).to_pylist()}
    last = {one.process: one for one in held}.values()
    holders = Counter(key for one in last for key in one.own)
    replicas = Counter(key for one in last for key in one.replicas)
    names = sorted(asked.keys() | holders.keys() | replicas.keys(), key=lambda name: (-asked.get(name, 0), name))
    rows = [
        {
            "entity": name,
            "queries": asked.get(name, 0),
            "per_s": asked.get(name, 0) * 1e6 / duration_us if duration_us else 0.0,
            "holders": holders[name],
            "replicas": replicas[name],
        }
        for name in names
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def in_short(table: pa.Table, held: Sequence[Holdings]) -> dict[str, Any]:
    """The shape of all copies over the rate of queries, beside that of the square root; for a run's summary."""
    rows = table.to_pylist()
    shape = fit_shape((row["per_s"], row["holders"] + row["replicas"]) for row in rows)
    return {
        "brokers": len({one.process for one in held}),
        "entities": sum(bool(row["holders"] + row["replicas"]) for row in rows),
        "left_out": sum(one.left_out for one in {one.process: one for one in held}.values()),
        "copies": sum(row["holders"] + row["replicas"] for row in rows),
        "exponent": shape.exponent if shape else None,
        "exponent_error": shape.error if shape else None,
        "exponent_entities": shape.entities if shape else 0,
        "square_root": SQUARE_ROOT,
    }


def write(table: pa.Table, path: Path) -> None:
    """Keep the rows of a run. Raises ``StorageError`` with nothing half-written."""
    with whole_file(path) as file:
        pq.write_table(table, file, compression="zstd")


def most_wanted(files: RunFiles, count: int) -> list[dict[str, Any]]:
    """The first rows of a run; none before it was collected."""
    return list(read(files.holdings_path, 0, count)[1]) if files.holdings_path.is_file() else []


def read(path: Path, offset: int, limit: int) -> tuple[int, Iterable[dict[str, Any]]]:
    """How many rows there are, and some of them."""
    table = pq.read_table(path)
    return table.num_rows, table.slice(offset, limit).to_pylist()

"""The query rate and the number of copies of each entity at the end of a run.

Counterparts: each broker writes ``overlay.journal.facts.Holdings`` when it ends;
``overlay.systems.context_broker.holdings`` fits the shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from overlay.journal.facts import Holdings
from overlay.systems.context_broker.holdings import SQUARE_ROOT, fit_shape
from telemetry.lake.parquet import read_table
from telemetry.lake.runs import RunFiles
from telemetry.lake.storage import whole_file

SCHEMA = pa.schema(
    [
        pa.field("entity", pa.string(), nullable=False),
        pa.field("queries", pa.int64(), nullable=False),
        pa.field("per_s", pa.float64(), nullable=False),
        pa.field("holders", pa.int64(), nullable=False),
        pa.field("replicas", pa.int64(), nullable=False),
    ]
)
"""``queries`` counts those intended in measuring, ``per_s`` is their rate. ``holders`` are brokers with the entity
from its provider (structured arm: by hash), ``replicas`` those with a replica only."""


def by_entity(samples: pa.Table, held: Sequence[Holdings], duration_us: int) -> pa.Table:
    """The rows, the most popular entity first. For a restarted broker, its last report counts."""
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
    """The exponent of copies over query rate, compared with the square root, for a run's summary."""
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


def drawn(rows: Sequence[Mapping[str, Any]], exponent: float | None) -> dict[str, list[Any]] | None:
    """Columns of a chart of copies against queries per second, for entities with both; ``None`` for fewer than two.

    ``square_root`` is the reference, ``fitted`` the line of ``exponent``. Both pass through the points' geometric mean,
    like a least-squares line over the logarithms.
    """
    known = [(row["per_s"], row["holders"] + row["replicas"], row["entity"]) for row in rows]
    known = sorted(one for one in known if one[0] > 0 and one[1] > 0)
    if len(known) < 2:
        return None
    rates, copies, entities = (list(column) for column in zip(*known, strict=True))
    middle_rate, middle_copies = geometric_mean(rates), geometric_mean(copies)

    def line(power: float) -> list[float]:
        return [middle_copies * (rate / middle_rate) ** power for rate in rates]

    found = {"entities": entities, "per_s": rates, "copies": copies, "square_root": line(SQUARE_ROOT)}
    return found if exponent is None else {**found, "fitted": line(exponent)}


def write(table: pa.Table, path: Path) -> None:
    """Write the rows of a run. Raises ``StorageError`` and leaves no partial file."""
    with whole_file(path) as file:
        pq.write_table(table, file, compression="zstd")


def most_wanted(files: RunFiles, count: int) -> list[dict[str, Any]]:
    """The first rows of a run; empty before it is collected."""
    return list(read(files.holdings_path, 0, count)[1]) if files.holdings_path.is_file() else []


def read(path: Path, offset: int, limit: int) -> tuple[int, Iterable[dict[str, Any]]]:
    """The number of rows, and some of them. Raises ``StorageError`` for a damaged file, as ``most_wanted``."""
    table = read_table(path)
    return table.num_rows, table.slice(offset, limit).to_pylist()

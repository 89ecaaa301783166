"""The traces of one run as a file, with a row per query. ``telemetry.systems.context_broker.traces`` joins them.

For a run that is not collected yet they are read from its brokers' journals, without queries in progress. Reading a
damaged file raises ``StorageError``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from overlay.journal.facts import Start, Tick, Trace
from overlay.journal.journal import read_journal
from telemetry.lake.parquet import column_names, read_table
from telemetry.lake.runs import Lake, RunFiles
from telemetry.lake.storage import whole_file
from telemetry.systems.context_broker.names import BROKER
from telemetry.systems.context_broker.traces import Gathered, Query, Step

SETTLED_US = 2_000_000
"""In a run in progress, only queries without steps for this long are shown; journals are written every second."""

MOST_LIVE_STEPS = 20_000
"""Maximum steps of a run that is not collected. Beyond it, queries are omitted at random, to limit the load on the
run."""

ORDERS = {"slowest": ("us", "descending"), "longest": ("hops", "descending"), "latest": ("at_us", "descending")}
"""Name to the column to sort by; rows without a value come last."""

_STEP = pa.struct(
    [
        pa.field("at_us", pa.int64(), nullable=False),
        pa.field("broker", pa.int32(), nullable=False),
        pa.field("step", pa.string(), nullable=False),
        pa.field("peer", pa.int32(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
    ]
)
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("consumer", pa.string(), nullable=False),
        pa.field("timestamp_ms", pa.int64(), nullable=False),
        pa.field("entity", pa.string(), nullable=False),
        pa.field("asked", pa.int32()),
        pa.field("at_us", pa.int64(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("us", pa.int64()),
        pa.field("hops", pa.int32(), nullable=False),
        pa.field("messages", pa.int32(), nullable=False),
        pa.field("replicas", pa.list_(pa.int32()), nullable=False),
        pa.field("partial", pa.bool_(), nullable=False),
        pa.field("steps", pa.list_(_STEP), nullable=False),
    ]
)
SUMMARY = [name for name in SCHEMA.names if name != "steps"]


def write(gathered: Gathered, path: Path) -> None:
    """Write the traces of a run to ``path``. Raises ``StorageError`` and leaves no partial file."""
    with whole_file(path) as file:
        pq.write_table(_table(gathered.queries(), gathered.kept_one_in), file, compression="zstd")


def listed(files: RunFiles, outcomes: Iterable[str] = (), order: str = "slowest") -> pa.Table:
    """The summary columns of a run's traces, optionally only those with one of ``outcomes``, in this order."""
    table = _load(files, SUMMARY)
    if chosen := list(outcomes):
        table = table.filter(pc.is_in(table["outcome"], pa.array(chosen)))
    column, direction = ORDERS[order]
    return table.sort_by([(column, direction), ("at_us", "descending")] if column != "at_us" else [(column, direction)])


def kept_one_in(table: pa.Table) -> int:
    """One in this many of the reported queries was kept."""
    return int((table.schema.metadata or {}).get(b"kept_one_in", 1))


def find(files: RunFiles, trace: str) -> Query | None:
    """One complete trace."""
    table = _load(files, [*SUMMARY, "steps"], trace)
    rows = table.filter(pc.equal(table["id"], trace)).to_pylist()
    if not rows:
        return None
    found = rows[0]
    steps = [Step(**step) for step in found["steps"]]
    return Query(found["consumer"], found["timestamp_ms"], found["entity"], steps)


def client_view(query: Query, lake: Lake, run: str) -> dict[str, Any] | None:
    """The consumer's sample of the query, if it is unambiguous.

    Samples do not contain the timestamp of a request. A sample belongs to the query if it was the only one in progress
    at the same broker, for the same entity, when the request arrived there.
    """
    path = lake.part("samples", run)
    if query.asked is None or not path.is_file():
        return None
    known = column_names(path)
    columns = ("client", "outcome", "status", "attempts", "intended_us", "sent_us", "ended_us", "truth")
    table = read_table(
        path,
        columns=[name for name in columns if name in known],  # runs of earlier versions have no verdicts
        filters=[
            ("role", "=", "consumer"),
            ("broker", "=", query.asked),
            ("entity", "=", query.entity),
            ("sent_us", "<=", query.at_us),
            ("ended_us", ">=", query.at_us),
        ],
    )
    return table.to_pylist()[0] if table.num_rows == 1 else None


def _load(files: RunFiles, columns: list[str], trace: str | None = None) -> pa.Table:
    if files.traces_path.is_file():
        filters = [("id", "=", trace)] if trace else None
        return read_table(files.traces_path, columns, filters)
    return _from_journals(files).select(columns)


def _from_journals(files: RunFiles) -> pa.Table:
    gathered, newest = Gathered(MOST_LIVE_STEPS), 0
    for path in files.journals():
        if not path.name.startswith(BROKER):
            continue
        for fact in read_journal(path):
            if isinstance(fact, Start):
                gathered.add_start(fact)
            elif isinstance(fact, Trace):
                gathered.add(fact)
            elif isinstance(fact, Tick):
                newest = max(newest, fact.at_us)
    settled = (query for query in gathered.queries() if query.steps[-1].at_us < newest - SETTLED_US)
    return _table(settled, gathered.kept_one_in)


def _table(queries: Iterable[Query], one_in: int) -> pa.Table:
    rows = [row(query) for query in queries]
    return pa.Table.from_pylist(rows, SCHEMA.with_metadata({"kept_one_in": str(one_in)}))


def row(query: Query) -> dict[str, Any]:
    """A trace as a row of the file."""
    return {
        "id": query.id,
        "consumer": query.consumer,
        "timestamp_ms": query.timestamp_ms,
        "entity": query.entity,
        "asked": query.asked,
        "at_us": query.at_us,
        "outcome": query.outcome,
        "us": query.us,
        "hops": query.requests,
        "messages": len(query.hops),
        "replicas": query.replicas,
        "partial": query.is_partial,
        "steps": [step._asdict() for step in query.steps],
    }

"""Converts a finished run's journals to Parquet, one file per table, and computes the run's summary.

It can be repeated at any time with the same result: files are replaced atomically. The facts of clients are read in
batches and kept as columns, about 80 bytes a sample. The oracle's verdicts need all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overlay.core.engines import LIVE
from overlay.journal.facts import KINDS, Event, Histogram, Holdings, Row, Start, Tick, Trace
from overlay.journal.journal import read_journal
from telemetry.errors import TelemetryError
from telemetry.lake.columns import Columns, OwnTables, misfits
from telemetry.lake.records import SCHEMAS, SOME, STORED, TABLES, own_schema, own_table, to_table
from telemetry.lake.runs import Lake, RunFiles
from telemetry.lake.storage import plain, whole_file, write_json
from telemetry.measures import declared
from telemetry.summary.summary import summarise
from telemetry.systems.contract import Journalled, Telemetry
from telemetry.systems.registry import measures_of, telemetry_of

BATCH = 65_536
"""Rows per row group."""

_COLUMNS = ("samples", *SOME)
"""Tables that are read into columns, because a run may have many millions of rows."""
_KIND = {TABLES[name]: name for name in _COLUMNS}


def collect(files: RunFiles, lake: Lake) -> dict[str, Any]:
    """Write the run into ``lake`` and return its summary. Raises ``TelemetryError`` and leaves no partial files.

    Torn journals are read up to the damage, and make the run suspect.
    """
    journals = files.journals()
    if not journals:
        raise TelemetryError(f"Run {files.run} left no journals in {files.journal_directory}: nothing was measured.")
    manifest = files.read_manifest()
    telemetry = telemetry_of(manifest)
    kept = _read(journals, telemetry)
    kept.tables["samples"] = telemetry.judged(kept.tables["samples"], manifest, kept)
    for name in SOME:
        if kept.tables[name].num_rows:
            kept.tables[name] = _with_verdict(telemetry.resolved(name, kept.tables[name], manifest, kept))
    engine = str(manifest.get("engine") or LIVE)
    for name, table in kept.tables.items():
        if table.num_rows or name not in SOME:
            _write_large(table, lake.part(name, files.run), STORED[name].with_metadata({"engine": engine}))
    for name, table in kept.own.items():
        _write_large(
            table, lake.part(own_table(telemetry.system.name, name), files.run), own_schema(telemetry.tables[name])
        )
    _write(lake, "ticks", files.run, kept.ticks)
    _write(lake, "events", files.run, kept.events)
    kept.lost += telemetry.read_more(files)
    found = summarise(kept, manifest, telemetry)
    found |= telemetry.finish(files, kept.tables["samples"], kept, found)
    found |= _identity(manifest, telemetry) | {"measures": declared(found, measures_of(telemetry.system.name).values())}
    summary: dict[str, Any] = plain(found)
    write_json(lake.manifest_path(files.run), plain({**manifest, "run": files.run, "summary": summary}))
    return summary


def _identity(manifest: Mapping[str, Any], telemetry: Telemetry) -> dict[str, Any]:
    """Which run its figures are of; only a simulated one has a digest."""
    simulated = manifest.get("simulated") or {}
    return {
        "system": telemetry.system.name,
        "engine": manifest.get("engine") or LIVE,
        "seed": manifest.get("seed"),
        "digest": simulated.get("digest"),
    }


def _read(journals: Iterable[Path], telemetry: Telemetry) -> Journalled:
    """All facts of all journals."""
    kept = Journalled(telemetry.make_traces())
    columns = {name: Columns(SCHEMAS[name]) for name in _COLUMNS}
    own = OwnTables(telemetry.system.name, telemetry.tables)
    for path in journals:
        _read_journal(path, kept, columns, own)
    kept.tables = {name: found.table() for name, found in columns.items()}
    kept.own = {name: found.table() for name, found in own.columns.items()}
    kept.lost += [*misfits(columns), *own.lost()]
    return kept


def _read_journal(path: Path, kept: Journalled, columns: Mapping[str, Columns], own: OwnTables) -> None:
    keep: dict[type, Callable[[Any], None]] = {
        Tick: kept.ticks.append,
        Event: kept.events.append,
        Start: kept.starts.append,
        Holdings: kept.holdings.append,
        Trace: kept.traces.add,
        Row: own.add,
        Histogram: lambda _: None,  # for live pages; the rows of its facts are exact
    }
    add_row = [columns[_KIND[kind]].add if kind in _KIND else None for kind in KINDS]
    began = len(kept.starts)
    try:
        journal = read_journal(path)
    except OSError as error:
        raise TelemetryError(f"The journal {path} cannot be read: {error.strerror}.") from None
    for kind, values in journal.rows():
        if (add := add_row[kind]) is not None:
            add(values)
        else:
            keep[KINDS[kind]](KINDS[kind](*values))
    if journal.bad_bytes:
        kept.lost.append(f"the last {journal.bad_bytes} bytes of {path.name} cannot be read.")
    if len(kept.starts) == began:
        kept.lost.append(f"{path.name} has no beginning.")
    for start in kept.starts[began:]:
        kept.traces.add_start(start)


def _with_verdict(rows: pa.Table) -> pa.Table:
    return rows if "verdict" in rows.column_names else rows.append_column("verdict", pa.nulls(len(rows), pa.string()))


def _write_large(table: pa.Table, path: Path, schema: pa.Schema) -> None:
    """In row groups, so that only one is in memory as text.

    The metadata has the engine, for use outside of the lake.
    """
    with ExitStack() as stack:
        file = stack.enter_context(whole_file(path))
        writer = stack.enter_context(pq.ParquetWriter(file, schema, compression="zstd"))
        for offset in range(0, table.num_rows, BATCH):
            writer.write_table(table.slice(offset, BATCH).select(schema.names).cast(schema))


def _write(lake: Lake, name: str, run: str, facts: list[Any]) -> None:
    with whole_file(lake.part(name, run)) as file:
        pq.write_table(to_table(name, facts), file, compression="zstd")

"""Converts a finished run's journals to Parquet, one file per table, and computes the run's summary.

It can be repeated at any time with the same result: files are replaced atomically. Samples are read in batches and
kept as columns, about 80 bytes each. The oracle's verdicts need all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from overlay.core.engines import LIVE
from overlay.journal.facts import KINDS, Event, Holdings, Sample, Start, Tick, Trace
from overlay.journal.journal import read_journal
from telemetry.errors import TelemetryError
from telemetry.lake.records import STORED, TABLES, rows_to_table, to_table
from telemetry.lake.runs import Lake, RunFiles
from telemetry.lake.storage import plain, whole_file, write_json
from telemetry.measures import declared
from telemetry.summary.summary import Collected, summarise
from telemetry.systems.contract import Journalled, Telemetry
from telemetry.systems.registry import measures_of, telemetry_of

BATCH = 65_536
"""Samples per row group."""

ROWS = 8_192
"""Samples held as Python objects at a time, which take ten times the memory of columns."""

_CATEGORIES = ("role", "phase", "outcome", "entity")
"""Columns with few values, stored as dictionaries."""

_SAMPLE, _TRACE = KINDS.index(Sample), KINDS.index(Trace)


def collect(files: RunFiles, lake: Lake) -> dict[str, Any]:
    """Write the run into ``lake`` and return its summary. Raises ``TelemetryError`` and leaves no partial files.

    Torn journals are read up to the damage, and make the run suspect.
    """
    journals = files.journals()
    if not journals:
        raise TelemetryError(f"Run {files.run} left no journals in {files.journal_directory}: nothing was measured.")
    manifest = files.read_manifest()
    telemetry = telemetry_of(manifest)
    kept = Journalled(telemetry.make_traces())
    samples = telemetry.judged(_samples(kept, journals), manifest, kept)
    _write_samples(samples, lake.part("samples", files.run), str(manifest.get("engine") or LIVE))
    _write(lake, "ticks", files.run, kept.ticks)
    _write(lake, "events", files.run, kept.events)
    for name, facts in kept.of_clients.items():
        if facts:
            rows = to_table(name, facts)
            verdicts = telemetry.verdicts(name, rows, manifest, kept)
            _write_table(lake, name, files.run, rows.append_column("verdict", verdicts))
    kept.lost += telemetry.read_more(files)
    collected = Collected(samples, kept.ticks, kept.events, kept.starts, kept.lost, kept.of_clients)
    found = summarise(collected, manifest, telemetry)
    found |= telemetry.finish(files, samples, kept, found)
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


class _Reader:
    """Reads journals: yields samples, and stores all other facts in ``kept``."""

    def __init__(self, kept: Journalled) -> None:
        self.kept = kept

    def samples_of(self, journals: Iterable[Path]) -> Iterator[list[Any]]:
        """Yield the fields of the samples of all journals, and store all other facts."""
        for path in journals:
            yield from self._samples_of(path)

    def _samples_of(self, path: Path) -> Iterator[list[Any]]:
        kept = self.kept
        keep: dict[type, list[Any]] = {Tick: kept.ticks, Event: kept.events, Start: kept.starts}
        keep[Holdings] = kept.holdings
        keep |= {TABLES[table]: facts for table, facts in kept.of_clients.items()}
        began = len(kept.starts)
        try:
            journal = read_journal(path)
        except OSError as error:
            raise TelemetryError(f"The journal {path} cannot be read: {error.strerror}.") from None
        for kind, values in journal.rows():
            if kind == _SAMPLE:
                yield values
            elif kind == _TRACE:
                kept.traces.add(Trace(*values))
            else:
                keep[KINDS[kind]].append(KINDS[kind](*values))
        if journal.bad_bytes:
            kept.lost.append(f"the last {journal.bad_bytes} bytes of {path.name} cannot be read.")
        if len(kept.starts) == began:
            kept.lost.append(f"{path.name} has no beginning.")
        for start in kept.starts[began:]:
            kept.traces.add_start(start)


def _samples(kept: Journalled, journals: Iterable[Path]) -> pa.Table:
    """All samples, with columns of few values as dictionaries."""
    samples = _Reader(kept).samples_of(journals)
    batches = [_with_categories(rows_to_table("samples", []))]
    while batch := list(islice(samples, ROWS)):
        batches.append(_with_categories(rows_to_table("samples", batch)))
    whole = pa.concat_tables(batches).unify_dictionaries().combine_chunks()
    del batches
    pa.default_memory_pool().release_unused()  # as much memory as the columns
    return whole


def _with_categories(table: pa.Table) -> pa.Table:
    for name in _CATEGORIES:
        table = table.set_column(table.schema.get_field_index(name), name, table[name].dictionary_encode())
    return table


def _write_samples(samples: pa.Table, path: Path, engine: str) -> None:
    """The file's metadata has the engine, for use outside of the lake."""
    schema = STORED["samples"].with_metadata({"engine": engine})
    with ExitStack() as stack:
        file = stack.enter_context(whole_file(path))
        writer = stack.enter_context(pq.ParquetWriter(file, schema, compression="zstd"))
        for offset in range(0, samples.num_rows, BATCH):
            writer.write_table(samples.slice(offset, BATCH).cast(schema))


def _write(lake: Lake, name: str, run: str, facts: list[Any]) -> None:
    _write_table(lake, name, run, to_table(name, facts))


def _write_table(lake: Lake, name: str, run: str, table: pa.Table) -> None:
    with whole_file(lake.part(name, run)) as file:
        pq.write_table(table, file, compression="zstd")

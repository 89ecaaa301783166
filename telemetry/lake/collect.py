"""A finished run's journals become Parquet, one file per table, and the run's summary.

It may be done again at any time with the same result: each file is replaced whole. Samples are read in batches and
kept as columns, of some 80 bytes each; what a request came to is known only when all of them are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from overlay.core.engines import LIVE
from overlay.journal.facts import KINDS, OUTCOMES, Event, Holdings, Sample, Start, Tick, Trace
from overlay.journal.journal import read_journal
from overlay.systems.context_broker.workload import Workload
from telemetry.errors import TelemetryError
from telemetry.lake.records import FOUND, STORED, rows_to_table, to_table
from telemetry.lake.runs import Lake, RunFiles
from telemetry.lake.storage import plain, whole_file, write_json
from telemetry.statistics.metrics import Numbers
from telemetry.summary.summary import Collected, summarise
from telemetry.systems.context_broker import holdings, messages, oracle, tracefile
from telemetry.systems.context_broker.oracle import Columns, Conditions
from telemetry.systems.context_broker.traces import Gathered

BATCH = 65_536
"""Samples in one row group."""

ROWS = 8_192
"""Samples that are Python's objects at a time, at ten times the memory that they take as columns."""

_CATEGORIES = ("role", "phase", "outcome", "entity")
"""Columns of few values, which are kept as dictionaries."""

_SAMPLE, _TRACE = KINDS.index(Sample), KINDS.index(Trace)

_VALID_MS = Workload().valid_ms
"""Of a workload that does not say."""


def collect(files: RunFiles, lake: Lake) -> dict[str, Any]:
    """Write the run into ``lake`` and return its summary. Raises ``TelemetryError`` with nothing half-written.

    Torn journals are collected as far as they go, and make the run suspect.
    """
    journals = files.journals()
    if not journals:
        raise TelemetryError(f"Run {files.run} left no journals in {files.journal_directory}: nothing was measured.")
    manifest = files.read_manifest()
    rest = _Rest()
    samples = _samples(rest, journals)
    conditions = Conditions(_valid_ms(manifest), rest.zero_unix_us, oracle.lives_of(rest.events))
    samples = _with_truth(samples, conditions)
    _write_samples(samples, lake.part("samples", files.run), str(manifest.get("engine") or LIVE))
    _write(lake, "ticks", files.run, rest.ticks)
    _write(lake, "events", files.run, rest.events)
    tracefile.write(rest.traces, files.traces_path)
    rest.lost += messages.write(files)
    found = summarise(rest.with_samples(samples), manifest)
    _, end_us = found["window_us"]
    at_the_end = [one for one in rest.holdings if one.at_us >= end_us - AT_ONCE_US]  # the others went by churn before
    held = holdings.by_entity(samples, at_the_end, found["measured_us"])
    holdings.write(held, files.holdings_path)
    found["holdings"] = holdings.in_short(held, at_the_end)
    summary: dict[str, Any] = plain(found)
    write_json(lake.manifest_path(files.run), plain({**manifest, "run": files.run, "summary": summary}))
    return summary


AT_ONCE_US = 1_000_000
"""Of a run that is cancelled brokers and clients end together, within this."""


class _Rest:
    """What is kept of the journals beside their samples: a few rows per second and process."""

    def __init__(self) -> None:
        self.ticks: list[Tick] = []
        self.events: list[Event] = []
        self.starts: list[Start] = []
        self.holdings: list[Holdings] = []
        self.lost: list[str] = []
        self.traces = Gathered()

    @property
    def zero_unix_us(self) -> int:
        return self.starts[0].zero_unix_us if self.starts else 0

    def with_samples(self, samples: pa.Table) -> Collected:
        return Collected(samples, self.ticks, self.events, self.starts, self.lost)

    def samples_of(self, journals: Iterable[Path]) -> Iterator[list[Any]]:
        """The fields of the samples of all journals, keeping everything else on the way."""
        for path in journals:
            yield from self._samples_of(path)

    def _samples_of(self, path: Path) -> Iterator[list[Any]]:
        keep: dict[type, list[Any]] = {Tick: self.ticks, Event: self.events, Start: self.starts}
        keep[Holdings] = self.holdings
        began = len(self.starts)
        try:
            journal = read_journal(path)
        except OSError as error:
            raise TelemetryError(f"The journal {path} cannot be read: {error.strerror}.") from None
        for kind, values in journal.rows():
            if kind == _SAMPLE:
                yield values
            elif kind == _TRACE:
                self.traces.add(Trace(*values))
            else:
                keep[KINDS[kind]].append(KINDS[kind](*values))
        if journal.bad_bytes:
            self.lost.append(f"the last {journal.bad_bytes} bytes of {path.name} cannot be read.")
        if len(self.starts) == began:
            self.lost.append(f"{path.name} has no beginning.")
        for start in self.starts[began:]:
            self.traces.add_start(start)


def _samples(rest: _Rest, journals: Iterable[Path]) -> pa.Table:
    """All samples, with columns of few values as dictionaries."""
    samples = rest.samples_of(journals)
    batches = [_with_categories(rows_to_table("samples", []))]
    while batch := list(islice(samples, ROWS)):
        batches.append(_with_categories(rows_to_table("samples", batch)))
    whole = pa.concat_tables(batches).unify_dictionaries().combine_chunks()
    del batches
    pa.default_memory_pool().release_unused()  # as much again as the columns take
    return whole


def _with_categories(table: pa.Table) -> pa.Table:
    for name in _CATEGORIES:
        table = table.set_column(table.schema.get_field_index(name), name, table[name].dictionary_encode())
    return table


def _with_truth(samples: pa.Table, conditions: Conditions) -> pa.Table:
    """With the columns of ``records.FOUND``."""
    judged = oracle.judge(
        Columns(
            is_request=_indices(samples["role"], ("provider", "consumer")) == 1,
            outcome=_indices(samples["outcome"], OUTCOMES),
            entity=samples["entity"].combine_chunks().indices.to_numpy(),
            broker=samples["broker"].to_numpy(),
            sent_us=samples["sent_us"].to_numpy(),
            ended_us=samples["ended_us"].to_numpy(),
            stamp_ms=samples["entry_timestamp_ms"].to_numpy(),
        ),
        conditions,
    )
    is_update = judged.truth < 0
    found = {
        "truth": pa.DictionaryArray.from_arrays(pa.array(judged.truth, mask=is_update), pa.array(oracle.TRUTHS)),
        "stale_ms": pa.array(judged.stale_ms, mask=judged.stale_ms < 0),
        "existed": pa.array(judged.existed, mask=is_update),
    }
    for name in FOUND["samples"].names:
        samples = samples.append_column(name, found[name])
    return samples


def _indices(column: pa.ChunkedArray, words: Sequence[str]) -> Numbers:
    """Where in ``words`` each value of a column of dictionaries stands."""
    values = column.combine_chunks()
    places = np.array([words.index(word) for word in values.dictionary.to_pylist()], np.int64)
    found: Numbers = places[values.indices.to_numpy()]
    return found


def _valid_ms(manifest: Mapping[str, Any]) -> int:
    workload = manifest.get("workload") or {}
    return int(workload.get("valid_ms") or _VALID_MS)


def _write_samples(samples: pa.Table, path: Path, engine: str) -> None:
    """The file says of itself which engine made it, for those who meet it elsewhere."""
    schema = STORED["samples"].with_metadata({"engine": engine})
    with ExitStack() as stack:
        file = stack.enter_context(whole_file(path))
        writer = stack.enter_context(pq.ParquetWriter(file, schema, compression="zstd"))
        for offset in range(0, samples.num_rows, BATCH):
            writer.write_table(samples.slice(offset, BATCH).cast(schema))


def _write(lake: Lake, name: str, run: str, facts: list[Any]) -> None:
    with whole_file(lake.part(name, run)) as file:
        pq.write_table(to_table(name, facts), file, compression="zstd")

"""The telemetry of seed 000: verdicts on answers, traces, messages and copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from overlay.journal.facts import OUTCOMES
from overlay.systems.context_broker.system import SYSTEM
from overlay.systems.context_broker.workload import Workload
from telemetry.calibration.plan import Plan
from telemetry.charts.charts import Chart
from telemetry.lake.datagrams import Choice, title_of
from telemetry.lake.records import FOUND
from telemetry.lake.runs import RunFiles
from telemetry.statistics import metrics
from telemetry.statistics.metrics import Numbers
from telemetry.summary.truths import TRUTHS, account
from telemetry.systems.context_broker import (
    captures,
    departures,
    figures,
    holdings,
    messages,
    oracle,
    tracefile,
    traffic,
)
from telemetry.systems.context_broker.measures import MEASURES
from telemetry.systems.context_broker.oracle import Columns, Conditions
from telemetry.systems.context_broker.published import nearest, same
from telemetry.systems.context_broker.schedule import due_in_measuring
from telemetry.systems.context_broker.studies import STUDIES
from telemetry.systems.context_broker.traces import Gathered
from telemetry.systems.context_broker.words import COUNTERS, LIMITS, WORDINGS
from telemetry.systems.contract import Command, Journalled, Telemetry, Traffic

AT_ONCE_US = 1_000_000
"""When a run is cancelled, brokers and clients end within this time of each other."""

_VALID_MS = Workload().valid_ms
"""The default validity."""


class ContextBrokerTelemetry(Telemetry):
    """Judges each answer by the provided data, stores traces and messages, and counts copies."""

    name = SYSTEM.name
    measures, wordings, limits, counters = MEASURES, WORDINGS, LIMITS, COUNTERS
    studies = STUDIES
    list_figures = ("mean", "p95", "answer_ratio")
    sweep_figures = ("p50", "p95", "answer_ratio", "messages_per_query", "over_idle")
    first_figure = "p95"
    published_in = "Table B.1"
    published_note = "Published values: Table B.1, each measured once; rows damaged in the source are omitted."

    def commands(self) -> Sequence[Command]:
        from telemetry.systems.context_broker.commands import COMMANDS

        return COMMANDS

    def calibration(self) -> Plan:
        from telemetry.systems.context_broker.calibration.plan import ContextBrokerPlan

        return ContextBrokerPlan()

    def capture(self, files: RunFiles) -> Iterator[bytes]:
        return captures.capture(files, Choice(), title_of(files))

    def make_traces(self) -> Gathered:
        return Gathered()

    def judged(self, samples: pa.Table, manifest: Mapping[str, Any], journalled: Journalled) -> pa.Table:
        lives = oracle.lives_of(journalled.events)
        return _with_truth(samples, Conditions(_valid_ms(manifest), journalled.zero_unix_us, lives))

    def of_requests(self, requests: pa.Table, zero_unix_us: int) -> dict[str, Any]:
        return {"age_ms": metrics.spread(_ages(requests, zero_unix_us)), "truth": _truth(requests)}

    def read_more(self, files: RunFiles) -> Sequence[str]:
        return messages.write(files)

    def finish(
        self, files: RunFiles, samples: pa.Table, journalled: Journalled, summary: Mapping[str, Any]
    ) -> dict[str, Any]:
        assert isinstance(journalled.traces, Gathered)
        tracefile.write(journalled.traces, files.traces_path)
        _, end_us = summary["window_us"]
        # The others left earlier by churn.
        at_the_end = [one for one in journalled.holdings if one.at_us >= end_us - AT_ONCE_US]
        held = holdings.by_entity(samples, at_the_end, summary["measured_us"])
        holdings.write(held, files.holdings_path)
        found = {"holdings": holdings.in_short(held, at_the_end), "busiest_over_mean": self._busiest(summary)}
        if any(event.name in departures.GONE for event in journalled.events):
            found["departures"] = departures.known(journalled.events, journalled.starts)
        return found

    def _busiest(self, summary: Mapping[str, Any]) -> float | None:
        """Processor time of the busiest broker over that of the mean one."""
        by_process = summary["processor"]["by_process"]
        used = [cores for process, cores in by_process.items() if self.system.is_server(process)]
        return max(used) * len(used) / sum(used) if sum(used) else None

    def traffic(self, files: RunFiles) -> Traffic | None:
        return traffic.of_run(files)

    def same_published(self, configuration: Mapping[str, Any]) -> Mapping[str, float] | None:
        """From Table B.1, without the rows damaged in the source."""
        row = same(*_published_by(configuration))
        return None if row is None else row.measures()

    def nearest_published(self, configuration: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[str]] | None:
        """From Table B.1."""
        found = nearest(*_published_by(configuration))
        return (asdict(found[0]), found[1]) if found else None

    def figures(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Chart]:
        """4.3 to 4.6."""
        return list(figures.draw_all(rows))

    def due(self, manifest: Mapping[str, Any]) -> Mapping[str, int] | None:
        return due_in_measuring(manifest)


def _published_by(configuration: Mapping[str, Any]) -> tuple[str, int, Mapping[str, Any]]:
    """What identifies a row of Table B.1, which has no settings."""
    topology = configuration["topology"]
    return topology["kind"], topology["brokers"], configuration["workload"]


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
        "truth": pa.DictionaryArray.from_arrays(pa.array(judged.truth, mask=is_update), pa.array(TRUTHS)),
        "stale_ms": pa.array(judged.stale_ms, mask=judged.stale_ms < 0),
        "existed": pa.array(judged.existed, mask=is_update),
    }
    for name in FOUND["samples"].names:
        samples = samples.append_column(name, found[name])
    return samples


def _indices(column: pa.ChunkedArray, words: Sequence[str]) -> Numbers:
    """The index in ``words`` of each value of a dictionary column."""
    values = column.combine_chunks()
    places = np.array([words.index(word) for word in values.dictionary.to_pylist()], np.int64)
    found: Numbers = places[values.indices.to_numpy()]
    return found


def _valid_ms(manifest: Mapping[str, Any]) -> int:
    workload = manifest.get("workload") or {}
    return int(workload.get("valid_ms") or _VALID_MS)


def _ages(requests: pa.Table, zero_unix_us: int) -> metrics.Numbers:
    answered = requests.filter(pc.equal(requests["outcome"], "answered"))
    return metrics.ages_ms(_numbers(answered, "ended_us"), _numbers(answered, "entry_timestamp_ms"), zero_unix_us)


def _truth(requests: pa.Table) -> dict[str, Any]:
    """The counts of the oracle's verdicts."""
    counts = pc.value_counts(requests["truth"]).to_pylist()
    stale = requests.filter(pc.equal(requests["truth"], "stale"))
    existed = int(pc.sum(requests["existed"]).as_py() or 0)
    return account({row["values"]: row["counts"] for row in counts}, _numbers(stale, "stale_ms"), existed)


def _numbers(table: pa.Table, column: str) -> Numbers:
    values: Numbers = table[column].to_numpy()
    return values

"""The telemetry of seed 002: the records of clients and brokers, judged by an oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from overlay.journal.facts import Fact
from overlay.systems.silbops.measuring.figures import figures, found
from overlay.systems.silbops.measuring.oracle import Found
from overlay.systems.silbops.measuring.records import Facts
from overlay.systems.silbops.names import PUBLISHER, SUBSCRIBER
from overlay.systems.silbops.rows import TABLES
from overlay.systems.silbops.system import SYSTEM
from telemetry.calibration.plan import Plan
from telemetry.lake.message_rows import write
from telemetry.lake.runs import RunFiles
from telemetry.systems.contract import Journalled, Telemetry
from telemetry.systems.silbops import messages
from telemetry.systems.silbops.measures import MEASURES, PART
from telemetry.systems.silbops.shown import COUNTERS, KEY_FIGURES, SERIES, SERIES_OF_NETWORKS, WORDINGS
from telemetry.systems.silbops.studies.break_even import BREAK_EVEN_STUDY
from telemetry.systems.silbops.studies.changes import CHANGE_STUDIES
from telemetry.systems.silbops.studies.future import FUTURE_STUDIES
from telemetry.systems.silbops.studies.network import NETWORK_STUDY
from telemetry.systems.silbops.studies.throughput import MILLION_STUDY, THROUGHPUT_STUDY

DOUBTS = {
    "lost": "publications were lost",
    "duplicates": "publications came twice",
    "spurious": "publications came that no subscription wanted",
}


class Judged(NamedTuple):
    of: Journalled
    facts: Facts
    found: Found
    figures: Mapping[str, float | None]


class SilbopsTelemetry(Telemetry):
    name = SYSTEM.name
    measures, counters, series, key_figures, wordings = MEASURES, COUNTERS, SERIES, KEY_FIGURES, WORDINGS
    network_series, tables = SERIES_OF_NETWORKS, TABLES
    studies = (
        *CHANGE_STUDIES,
        NETWORK_STUDY,
        THROUGHPUT_STUDY,
        MILLION_STUDY,
        BREAK_EVEN_STUDY,
        *FUTURE_STUDIES,
    )
    first_figure = "messages_per_change"
    published_in = "Section 4"
    _known: Judged | None = None

    def calibration(self) -> Plan:
        from telemetry.systems.silbops.calibration.plan import SilbopsPlan  # its probes import the supervisor

        return SilbopsPlan()

    def finish(
        self, files: RunFiles, samples: pa.Table, journalled: Journalled, summary: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The figures of the run, as ``silbops``, and its publications."""
        known = self._judged(journalled)
        traced = set(journalled.own["steps"]["about"].to_pylist()) if "steps" in journalled.own else set()
        write(messages.table(known.facts, known.found, traced), files)
        return {PART: dict(known.figures)}

    def due(self, manifest: Mapping[str, Any]) -> Mapping[str, int] | None:
        """Changes and notifications of closed experiments; by time, how many there are is not known exactly."""
        workload = manifest.get("workload") or {}
        counts = {SUBSCRIBER: int(workload.get("changes", 0)), PUBLISHER: int(workload.get("notifications", 0))}
        return {role: count for role, count in counts.items() if count} or None

    def reasons(self, journalled: Journalled, summary: Mapping[str, Any]) -> Sequence[str]:
        known = self._judged(journalled).figures
        return [f"{known[name]:,.0f} {said}." for name, said in DOUBTS.items() if known[name]]

    def _judged(self, journalled: Journalled) -> Judged:
        """The run being collected; computed once."""
        if self._known is None or self._known.of is not journalled:
            facts = facts_of(journalled)
            times = facts.times()
            of = found(facts, times)
            self._known = Judged(journalled, facts, of, figures(facts, times, of))
        return self._known


def facts_of(journalled: Journalled) -> Facts:
    """The facts of a run that its measures are made of."""
    facts = Facts()
    known: Iterable[Fact] = (*journalled.starts, *journalled.ticks, *journalled.events)
    for fact in known:
        facts.add(fact)
    for name, rows in journalled.own.items():
        if name == "steps":  # of brokers, in no measure
            continue
        for row in rows.to_pylist():
            del row["process"], row["at_us"]
            facts.add_row(TABLES[name](**row))
    facts.moves = journalled.tables["handovers"].num_rows if "handovers" in journalled.tables else 0
    return facts

"""The telemetry of seed 001: the records of clients, joined and judged by an oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from overlay.journal.facts import Fact
from overlay.systems.federation.measuring import figures
from overlay.systems.federation.measuring.oracle import Found, Oracle
from overlay.systems.federation.measuring.records import Facts
from overlay.systems.federation.names import CONSUMER, PROVIDER
from overlay.systems.federation.rows import TABLES
from overlay.systems.federation.system import SYSTEM
from overlay.systems.federation.workload import ONCE
from telemetry.calibration.plan import Plan
from telemetry.lake import message_rows
from telemetry.lake.runs import RunFiles
from telemetry.systems.contract import Journalled, Telemetry
from telemetry.systems.federation import messages
from telemetry.systems.federation.measures import COMMON_WORDS, MEASURES, PART
from telemetry.systems.federation.shown import COUNTERS, KEY_FIGURES, SERIES_OF_NETWORKS, SERIES_OF_RUNS, WORDINGS
from telemetry.systems.federation.studies.ablation import ABLATION_STUDY
from telemetry.systems.federation.studies.calibrated import CALIBRATED_STUDY
from telemetry.systems.federation.studies.disappearance import DISAPPEARANCE_STUDY
from telemetry.systems.federation.studies.energy import ENERGY_STUDY
from telemetry.systems.federation.studies.loaded import LOADED_STUDY
from telemetry.systems.federation.studies.wan import WAN_STUDY


class Judged(NamedTuple):
    of: Journalled
    facts: Facts
    found: Found
    figures: Mapping[str, float | None]


class FederationTelemetry(Telemetry):
    """Joins the journals of brokers and clients."""

    name = SYSTEM.name
    measures, counters, series, key_figures, wordings = MEASURES, COUNTERS, SERIES_OF_RUNS, KEY_FIGURES, WORDINGS
    common_words, network_series, tables = COMMON_WORDS, SERIES_OF_NETWORKS, TABLES
    studies = (LOADED_STUDY, CALIBRATED_STUDY, WAN_STUDY, ENERGY_STUDY, DISAPPEARANCE_STUDY, ABLATION_STUDY)
    first_figure = "ts_mean"
    published_in = "Section 7"
    published_note = "The paper prints no values of its Figs. 11 to 14."
    _known: Judged | None = None

    def calibration(self) -> Plan:
        from telemetry.systems.federation.calibration.plan import FederationPlan  # its probes import the supervisor

        return FederationPlan()

    def finish(
        self, files: RunFiles, samples: pa.Table, journalled: Journalled, summary: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The figures of the run, as ``federation``, and its messages."""
        known = self._judged(journalled)
        traced = set(journalled.own["steps"]["about"].to_pylist()) if "steps" in journalled.own else set()
        message_rows.write(messages.table(known.facts, known.found, traced), files)
        return {PART: dict(known.figures)}

    def due(self, manifest: Mapping[str, Any]) -> Mapping[str, int] | None:
        """Queries, and notifications that providers publish by themselves. What they are asked for is not known."""
        workload = manifest.get("workload") or {}
        if workload.get("kind") == ONCE:
            return {CONSUMER: int(workload.get("queries", 0))}
        return {CONSUMER: 0, PROVIDER: int(workload.get("notifications", 0))}

    def reasons(self, journalled: Journalled, summary: Mapping[str, Any]) -> Sequence[str]:
        found = self._judged(journalled).figures
        words = {
            "lost": "notifications were lost",
            "duplicates": "notifications came twice",
            "spurious": "notifications came that no subscription wanted",
        }
        return [f"{found[name]:,.0f} {said}." for name, said in words.items() if found[name]]

    def _judged(self, journalled: Journalled) -> Judged:
        """The run being collected; computed once."""
        if self._known is None or self._known.of is not journalled:
            facts = facts_of(journalled)
            found = Oracle(facts).found()
            self._known = Judged(journalled, facts, found, figures(facts, found))
        return self._known


def facts_of(journalled: Journalled) -> Facts:
    """The facts of a run that its measures are made of."""
    facts = Facts()
    known: Iterable[Fact] = (*journalled.starts, *journalled.ticks, *journalled.events)
    for fact in known:
        facts.add(fact)
    for name, rows in journalled.own.items():
        if name in ("steps", "replies"):  # of brokers and providers, in no measure
            continue
        for row in rows.to_pylist():
            del row["process"], row["at_us"]
            facts.add_row(TABLES[name](**row))
    return facts

"""The telemetry of seed 004: the ledger of messages, and what gateways report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from overlay.journal.facts import Connection, Delivery, Fact, HandOver
from overlay.systems.contextnet.measuring.facts import Facts
from overlay.systems.contextnet.measuring.figures import figures
from overlay.systems.contextnet.names import APPLICATION, NODE
from overlay.systems.contextnet.rows import TABLES
from overlay.systems.contextnet.system import SYSTEM
from telemetry.calibration.plan import Plan
from telemetry.lake.runs import RunFiles
from telemetry.systems.contextnet import messages
from telemetry.systems.contextnet.measures import MEASURES, PART
from telemetry.systems.contextnet.shown import COUNTERS, KEY_FIGURES, SERIES, SERIES_OF_NETWORKS, WORDINGS
from telemetry.systems.contextnet.studies.balancing import BALANCING_STUDY
from telemetry.systems.contextnet.studies.both import BOTH_STUDY
from telemetry.systems.contextnet.studies.delivery import DELIVERY_STUDY
from telemetry.systems.contextnet.studies.disconnections import DISCONNECTION_STUDY
from telemetry.systems.contextnet.studies.expiry import EXPIRY_STUDY
from telemetry.systems.contextnet.studies.factorial import FACTORIAL_STUDY
from telemetry.systems.contextnet.studies.groups import GROUP_STUDY
from telemetry.systems.contextnet.studies.inbound import INBOUND_STUDY
from telemetry.systems.contextnet.studies.overload import OVERLOAD_STUDY
from telemetry.systems.contextnet.studies.presence import PRESENCE_STUDY
from telemetry.systems.contextnet.studies.restarts import RESTART_STUDY
from telemetry.systems.contextnet.studies.roaming import ROAMING_STUDY
from telemetry.systems.contract import Journalled, Telemetry

DOUBTS = {"duplicates": "messages came twice", "group_wrong": "deliveries to groups were wrong"}
_SAMPLE = ("role", "phase", "outcome", "intended_us", "ended_us", "entity")


NO_MEASURES = ("places", "rounds", "steps")
"""Tables that no measure is made of."""


class Known(NamedTuple):
    of: Journalled
    facts: Facts
    figures: Mapping[str, float | None]


class ContextNetTelemetry(Telemetry):
    name = SYSTEM.name
    measures, counters, series, key_figures, wordings = MEASURES, COUNTERS, SERIES, KEY_FIGURES, WORDINGS
    network_series, tables = SERIES_OF_NETWORKS, TABLES
    studies = (
        INBOUND_STUDY,
        DISCONNECTION_STUDY,
        BALANCING_STUDY,
        BOTH_STUDY,
        FACTORIAL_STUDY,
        DELIVERY_STUDY,
        PRESENCE_STUDY,
        EXPIRY_STUDY,
        ROAMING_STUDY,
        OVERLOAD_STUDY,
        GROUP_STUDY,
        RESTART_STUDY,
    )
    first_figure = "te"
    published_in = "Section 4"
    _known: Known | None = None

    def calibration(self) -> Plan:
        from telemetry.systems.contextnet.calibration.plan import ContextNetPlan  # its probes import the supervisor

        return ContextNetPlan()

    def finish(
        self, files: RunFiles, samples: pa.Table, journalled: Journalled, summary: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The figures of the run, as ``contextnet``, and its messages."""
        known = self._known_of(journalled)
        traced = set(journalled.own["steps"]["id"].to_pylist()) if "steps" in journalled.own else set()
        messages.write(messages.table(known.facts, traced), files)
        return {PART: dict(known.figures)}

    def due(self, manifest: Mapping[str, Any]) -> Mapping[str, int] | None:
        """Every message of the workload."""
        from overlay.systems.contextnet.workload import Workload

        known = {info.name for info in SYSTEM.workload}
        values = {name: value for name, value in (manifest.get("workload") or {}).items() if name in known}
        workload = Workload(**values)
        each = workload.nodes * workload.count
        return {NODE: each * workload.is_inbound, APPLICATION: each * workload.is_outbound}

    def reasons(self, journalled: Journalled, summary: Mapping[str, Any]) -> Sequence[str]:
        found = self._known_of(journalled).figures
        return [f"{found[name]:,.0f} {said}." for name, said in DOUBTS.items() if found[name]]

    def _known_of(self, journalled: Journalled) -> Known:
        """The run being collected; computed once."""
        if self._known is None or self._known.of is not journalled:
            facts = facts_of(journalled)
            self._known = Known(journalled, facts, figures(facts))
        return self._known


def facts_of(journalled: Journalled) -> Facts:
    """The facts of a run that its measures are made of."""
    facts = Facts()
    known: Iterable[Fact] = (*journalled.ticks, *journalled.events)
    for fact in known:
        facts.add(fact)
    for name, rows in journalled.own.items():
        if name in NO_MEASURES:
            continue
        for row in rows.to_pylist():
            del row["process"], row["at_us"]
            facts.add_row(TABLES[name](**row))
    tables = journalled.tables
    if "samples" in tables:
        columns = [tables["samples"][name].to_pylist() for name in _SAMPLE]
        for values in zip(*columns, strict=True):
            facts.add_sample(*values)
    for name, kind in (("handovers", HandOver), ("deliveries", Delivery), ("connections", Connection)):
        if name in tables:
            fields = kind.__dataclass_fields__
            for row in tables[name].to_pylist():
                facts.add(kind(**{field: row[field] for field in fields}))
    return facts

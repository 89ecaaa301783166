"""The telemetry of seed 003: each pair of a message and a recipient, its lag, and where the others are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from overlay.systems.radiator.measuring import figures
from overlay.systems.radiator.rows import TABLES
from overlay.systems.radiator.system import SYSTEM
from overlay.systems.radiator.wire.table import FORMAT
from telemetry.calibration.plan import Plan
from telemetry.lake import message_rows
from telemetry.lake.datagrams import capture, datagrams, recordings_of, title_of
from telemetry.lake.runs import RunFiles
from telemetry.systems.contract import Journalled, Telemetry
from telemetry.systems.radiator import messages
from telemetry.systems.radiator.measures import MEASURES, PART
from telemetry.systems.radiator.pairs import arrived, facts_of, pairs
from telemetry.systems.radiator.shown import COUNTERS, KEY_FIGURES, SERIES
from telemetry.systems.radiator.studies.both import BOTH_STUDY, HEADLINE_STUDY
from telemetry.systems.radiator.studies.chains import CHAIN_STUDY
from telemetry.systems.radiator.studies.volumes import VOLUME_STUDY


class RadiatorTelemetry(Telemetry):
    """Joins the journals of server and clients."""

    name = SYSTEM.name
    measures, counters, series, key_figures = MEASURES, COUNTERS, SERIES, KEY_FIGURES
    tables = TABLES
    studies = (VOLUME_STUDY, CHAIN_STUDY, BOTH_STUDY, HEADLINE_STUDY)

    def calibration(self) -> Plan:
        from telemetry.systems.radiator.calibration.plan import RadiatorPlan  # its probes import the supervisor

        return RadiatorPlan()

    def capture(self, files: RunFiles) -> Iterator[bytes]:
        """What the server received and sent; datagrams between clients are in no recording."""
        recordings = recordings_of(files)
        return capture(recordings, datagrams(recordings), title_of(files), _name)

    def resolved(self, table: str, rows: pa.Table, manifest: Mapping[str, Any], journalled: Journalled) -> pa.Table:
        """Deliveries of propagations become those of their messages."""
        if table != "deliveries":
            return rows
        return pairs(rows, journalled.tables["samples"], journalled.own)

    def finish(
        self, files: RunFiles, samples: pa.Table, journalled: Journalled, summary: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The figures of the run, as ``radiator``, and its messages."""
        facts = facts_of(journalled.own)
        facts.messages = samples.num_rows
        for tick in journalled.ticks:
            facts.add(tick)
        for event in journalled.events:
            facts.add(event)
        found = _pairs_in(journalled)
        message_rows.write(messages.table(samples, found, journalled.own), files)
        return {PART: dict(figures(facts, arrived(found, facts)))}

    def reasons(self, journalled: Journalled, summary: Mapping[str, Any]) -> Sequence[str]:
        found = _pairs_in(journalled)
        again = pc.sum(pc.equal(found["verdict"], "duplicate")).as_py() or 0
        return [f"{again:,} messages were delivered twice to an application."] if again else []


def _pairs_in(journalled: Journalled) -> pa.Table:
    """The deliveries, also of a run without any."""
    found = journalled.tables["deliveries"]
    return found if "emission" in found.column_names else pairs(found, journalled.tables["samples"], journalled.own)


def _name(data: bytes) -> str:
    layout = FORMAT.layout_of(data)
    return f"{layout.code} {layout.name}" if layout else "Unreadable"

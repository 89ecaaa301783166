"""One broker of a run, by its journal and recording: what it holds, whom it knows and its last messages.

Nothing is asked of the broker. Of runs that go on, what was read of journals is kept between two looks, of the last few
that somebody looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import reverse

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.kit.following import Following
from brokerweb.systems.context_broker.panel.words import SHOWN, Row, Said, detail
from brokerweb.systems.contract import ServerDetail
from overlay.systems.registry import SYSTEMS
from telemetry.formatting import count
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.brokers import BrokerWindow, linked_to
from telemetry.systems.context_broker.entries import Word
from telemetry.systems.context_broker.recent_messages import lately
from telemetry.systems.context_broker.updates import Updates

SETTLED_S = 3.0
"""A query of which there was a word so lately may go on, and has no page yet
(``telemetry.systems.context_broker.tracefile.SETTLED_US``)."""
KEPT, RUNS_KEPT = 32, 4
"""Brokers of runs that go on whose journals are followed at a time, and runs whose providers are."""

_brokers: Following[tuple[str, int], BrokerWindow] = Following(KEPT)
_providers: Following[str, Updates] = Following(RUNS_KEPT)


def own_words(run: Run, index: int, shown: Mapping[str, Any]) -> dict[str, Any]:
    """``own`` is what its journal says, ``lately`` what its recording does, each ``None`` where there is nothing.

    One query in ``traced_one_in`` is traced, 0 for none. ``shown`` has the rows of all brokers.
    """
    names = {row["address"]: row["index"] for row in shown["brokers"] if row.get("address")}
    files = RunFiles(Path(settings.RUNS) / run.pk)
    settings_of_all = SYSTEMS[run.configuration["system"]].whole(run.configuration["settings"])
    # A hash table's brokers hand on what providers write to them: an update says nothing of the table here.
    updates = () if settings_of_all.get("arm") == "structured" else _updates(run, files, index)
    own = _advanced(run, files, index, names, updates)
    known = {row["address"]: row["index"] for row in (own or {}).get("neighbours", ()) if row["index"] is not None}
    recorded = lately(files, index, {**known, **names}) if run.configuration.get("record_mb") else None
    return {"traced_one_in": int(settings_of_all.get("trace_one_in") or 0), "own": own, "lately": recorded}


def detail_of(run: Run, found: Mapping[str, Any]) -> ServerDetail:
    """The panel's part of what ``own_words`` found."""
    newest_s = (found["own"] or {}).get("t_s", 0.0)
    is_settled = bool(run.summary)

    def leads(message: Row) -> str:
        is_there = is_settled or message["t_s"] <= newest_s - SETTLED_S
        return reverse("context_broker:query", args=[run.pk, message["query"]]) if is_there else ""

    is_recorded = bool(run.configuration.get("record_mb"))
    wire_lab = f"{reverse('wire-messages')}?run={run.pk}&broker={found['index']}"
    said = Said(
        entries_told=_entries_told(found["own"] or {}),
        messages_told=_messages_told(is_recorded, found["traced_one_in"]),
        leads=leads,
        ways_on=(("All in the wire lab", wire_lab),) if is_recorded and run.summary else (),
    )
    return detail(said, found)


def _advanced(
    run: Run, files: RunFiles, index: int, names: dict[str, int], updates: Sequence[Word]
) -> dict[str, Any] | None:
    valid_ms = run.configuration["workload"].get("valid_ms")

    def make() -> BrokerWindow:
        return BrokerWindow(files, index, linked_to(index, run.configuration["topology"]["links"]), names)

    def read(window: BrokerWindow) -> dict[str, Any] | None:
        return window.advance(updates, valid_ms)

    return read(make()) if run.state in ENDED else _brokers.look((run.pk, index), make, read)


def _updates(run: Run, files: RunFiles, index: int) -> Sequence[Word]:
    """What providers wrote to this broker, the newest."""

    def read(providers: Updates) -> Sequence[Word]:
        providers.advance()
        return providers.of(index)

    return read(Updates(files)) if run.state in ENDED else _providers.look(run.pk, lambda: Updates(files), read)


def _entries_told(own: Row) -> str:
    entries, known = (own.get("gauges") or {}).get("entries"), len(own.get("entries", ()))
    of_all = "" if entries is None else f" of {count(entries)} in its table"
    newest = f", the newest {SHOWN}" if known > SHOWN else ""
    known_ones = f"{min(known, SHOWN)} known{of_all}{newest}" if known else f"None known{of_all}"
    told_by = "updates that it acknowledged, and what traced queries found or left there"
    return f"{known_ones}: {told_by}. What it dropped for want of room is not reported."


def _messages_told(recorded: bool, one_in: int) -> str:
    if recorded:
        return "Of its recording, the newest first."
    if not one_in:
        return "Messages are not recorded here, and no query is traced: Trace one in is 0."
    which = "of every query" if one_in == 1 else f"of sampled queries, one in {count(one_in)}, and of those that failed"
    return f"Messages are not recorded here. These are {which}; updates, pings and all others are left out."

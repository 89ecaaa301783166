"""A broker of a run, from its journal and recording: data, neighbours and latest messages.

The broker is not queried. For active runs, followed journals are cached between requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.urls import reverse

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.kit.follower_cache import Following
from brokerweb.systems.context_broker.panel.text import SHOWN, Row, Said, detail
from brokerweb.systems.contract import ServerDetail
from overlay.systems.registry import SYSTEMS
from telemetry.formatting import count
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker.brokers import BrokerWindow, linked_to
from telemetry.systems.context_broker.entries import Word
from telemetry.systems.context_broker.recent_messages import recent
from telemetry.systems.context_broker.updates import Updates

SETTLED_S = 3.0
"""A query with reports newer than this may still be active and has no page yet
(``telemetry.systems.context_broker.tracefile.SETTLED_US``).
"""
KEPT, RUNS_KEPT = 32, 4
"""Maximum number of followed broker journals of active runs, and of runs with followed providers."""

_brokers: Following[tuple[str, int], BrokerWindow] = Following(KEPT)
_providers: Following[str, Updates] = Following(RUNS_KEPT)


def own_words(run: Run, index: int, shown: Mapping[str, Any]) -> dict[str, Any]:
    """``own`` is from its journal, ``lately`` from its recording; ``None`` without data.

    One query in ``traced_one_in`` is traced, 0 for none. ``shown`` has the rows of all brokers.
    """
    names = {row["address"]: row["index"] for row in shown["brokers"] if row.get("address")}
    files = RunFiles(Path(settings.RUNS) / run.pk)
    settings_of_all = SYSTEMS[run.configuration["system"]].whole(run.configuration["settings"])
    # Brokers of a hash table forward updates: an update says nothing about the table here.
    updates = () if settings_of_all.get("arm") == "structured" else _updates(run, files, index)
    own = _advanced(run, files, index, names, updates)
    known = {row["address"]: row["index"] for row in (own or {}).get("neighbours", ()) if row["index"] is not None}
    recorded = recent(files, index, {**known, **names}) if run.configuration.get("record_mb") else None
    return {"traced_one_in": int(settings_of_all.get("trace_one_in") or 0), "own": own, "lately": recorded}


def detail_of(run: Run, found: Mapping[str, Any]) -> ServerDetail:
    """The panel's part for the result of ``own_words``."""
    newest_s = (found["own"] or {}).get("t_s", 0.0)
    is_settled = bool(run.summary)

    def leads(message: Row) -> str:
        is_there = is_settled or message["t_s"] <= newest_s - SETTLED_S
        return reverse("context_broker:query", args=[run.pk, message["query"]]) if is_there else ""

    is_recorded = bool(run.configuration.get("record_mb"))
    wire_lab = f"{reverse('wire-messages')}?run={run.pk}&broker={found['index']}"
    said = Said(
        entries_note=_entries_note(found["own"] or {}),
        messages_note=_messages_note(is_recorded, found["traced_one_in"]),
        leads=leads,
        links=(("All messages in the wire lab", wire_lab),) if is_recorded and run.summary else (),
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
    """The latest updates from providers to this broker."""

    def read(providers: Updates) -> Sequence[Word]:
        providers.advance()
        return providers.of(index)

    return read(Updates(files)) if run.state in ENDED else _providers.look(run.pk, lambda: Updates(files), read)


def _entries_note(own: Row) -> str:
    entries, known = (own.get("gauges") or {}).get("entries"), len(own.get("entries", ()))
    of_all = "" if entries is None else f" of {count(entries)} in its table"
    newest = f", the newest {SHOWN}" if known > SHOWN else ""
    known_ones = f"{min(known, SHOWN)} known{of_all}{newest}" if known else f"None known{of_all}"
    sources = "acknowledged updates, and data of traced queries"
    return f"{known_ones}: {sources}. Evicted entries are not reported."


def _messages_note(recorded: bool, one_in: int) -> str:
    if recorded:
        return "From its recording, newest first."
    if not one_in:
        return "Messages are not recorded, and tracing is off (Trace one in is 0)."
    which = "of every query" if one_in == 1 else f"of one query in {count(one_in)}, and of failed queries"
    return f"Messages are not recorded. Shown are those {which}, without updates, pings and others."

"""The panel of one broker of a run. Counterpart: ``brokerweb.brokers.panel``."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from brokerweb.brokers.panel import SHOWN, Place, Row, shown_at
from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.kit.formatting import count

SETTLED_S = 3.0
"""A query of which there was a word so lately may go on, and has no page yet
(``telemetry.systems.context_broker.tracefile.SETTLED_US``)."""


def of_run(run: Run, found: dict[str, Any]) -> dict[str, Any]:
    """What the panel shows of a broker of a run, of what ``brokers.one_of`` found."""
    ended = run.state in ENDED
    newest_s = (found["own"] or {}).get("t_s", 0.0)
    is_settled = bool(run.summary)

    def leads(message: Row) -> str:
        is_there = is_settled or message["t_s"] <= newest_s - SETTLED_S
        return reverse("runs:query", args=[run.pk, message["query"]]) if is_there else ""

    is_recorded = bool(run.configuration.get("record_mb"))
    wire_lab = f"{reverse('wire-messages')}?run={run.pk}&broker={found['index']}"
    place = Place(
        part=f"{reverse('runs:broker', args=[run.pk, found['index']])}?part=now",
        json=f"/api/runs/{run.pk}/brokers/{found['index']}/",
        asks_again=not ended,
        since="the launch",
        silent="It wrote nothing, or its files were removed." if ended else "It has written nothing yet.",
        entries_told=_entries_told(found["own"] or {}),
        messages_told=_messages_told(is_recorded, found["traced_one_in"]),
        leads=leads,
        ways_on=(("All in the wire lab", wire_lab),) if is_recorded and run.summary else (),
    )
    return {"broker": found, "panel": shown_at(place, found)}


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

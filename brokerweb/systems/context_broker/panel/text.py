"""Text of a broker's data and latest messages for its panel.

Counterparts: ``of_runs`` and ``of_networks`` provide the data; ``context_broker/server.html`` renders it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from brokerweb.systems.contract import ServerDetail
from telemetry.formatting import duration
from telemetry.systems.context_broker.entries import FOUND, REPLICA

SHOWN = 20
"""Maximum number of entries and of messages."""
KEPT_WORDS = {REPLICA: "replica", FOUND: "found by a query"}

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """Texts and links that differ between runs and networks."""

    entries_note: str
    """Completeness of the listed entries."""
    messages_note: str
    """Which messages are listed."""
    leads: Callable[[Row], str] = lambda _: ""
    """URL for a message of a traced query; empty if there is none."""
    links: tuple[tuple[str, str], ...] = ()
    """Label and URL of related pages."""


def detail(said: Said, found: Mapping[str, Any]) -> ServerDetail:
    """The panel's context."""
    own, lately = found["own"] or {}, found.get("lately")
    known = own.get("entries", [])
    held = own.get("held")
    context = {
        "said": said,
        "entries": [] if held else [_entry(row) for row in known[:SHOWN]],
        "held": _held(held, known) if held else None,
        "received": [{**row, "valid": _valid(row["left_ms"])} for row in (lately or {}).get("entries", [])[:SHOWN]],
        "messages": _recorded(lately) if lately else [_traced(row, said) for row in own.get("messages", [])[:SHOWN]],
    }
    return ServerDetail("context_broker/server.html", context)


def _entry(row: Row) -> dict[str, Any]:
    how = f"from {row['provider']}" if row["provider"] else KEPT_WORDS.get(row["came_as"], row["came_as"])
    return {"entity": row["entity"], "how": how, "valid": _valid(row["left_ms"], row["at_most"])}


def _valid(left_ms: int | None, at_most: bool = False) -> str:
    if left_ms is None:
        return ""
    if left_ms <= 0:
        return f"expired {duration(-left_ms / 1000)} before"
    return f"valid for {'at most ' if at_most else ''}{duration(left_ms / 1000)} more"


def _held(held: Row, known: list[Row]) -> dict[str, Any]:
    """Data at its end: entries with known details first, newest first."""
    of_known = {row["entity"]: row for row in known}
    order = {entity: at for at, entity in enumerate(of_known)}
    own, replicas = held["own"], held["replicas"]
    names = [(entity, False) for entity in own] + [(entity, True) for entity in replicas]
    names.sort(key=lambda one: order.get(one[0], len(order)))
    rows = []
    for entity, is_replica in names:
        word = of_known.get(entity, {"provider": "", "left_ms": None, "at_most": False})
        how = f"from {word['provider']}" if word["provider"] and not is_replica else ""
        valid = _valid(word["left_ms"], word["at_most"])
        rows.append({"entity": entity, "is_replica": is_replica, "how": how, "valid": valid})
    return {**held, "own": len(own), "replicas": len(replicas), "rows": rows}


def _traced(row: Row, said: Said) -> dict[str, Any]:
    if row["other"] is not None:
        other = f"broker {row['other']}"
    else:
        other = "its consumer" if row["with_consumer"] else "an unknown broker"
    return {
        **_words(row, other),
        "status": row["detail"],
        "text": row["entity"],
        "leads": said.leads(row),
        "leads_to": "Show the query",
    }


def _recorded(lately: Row) -> list[dict[str, Any]]:
    rows = []
    for row in lately["messages"][:SHOWN]:
        other = "a client" if row["other"] is None else f"broker {row['other']}"
        leads = f"{reverse('wire')}?d={row['hex']}" if row["hex"] else ""
        there = {"leads": leads, "leads_to": "Decode in the wire lab"}
        rows.append({**_words(row, other), "status": "", "text": row["text"], **there})
    return rows


def _words(row: Row, other: str) -> dict[str, Any]:
    way = "to" if row["direction"] == "sent" else "from"
    return {"t_s": row["t_s"], "words": f"{row['kind']} {way} {other}"}

"""What the page of one message says, in words: its steps, and its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overlay.core.processes import role_of
from overlay.systems.contextnet.names import APPLICATION, GATEWAY, MTD, NODE
from telemetry.charts.sequences import Sent
from telemetry.systems.contextnet.ways import LOG, Step, Way

TITLES = {NODE: "node", GATEWAY: "gateway", APPLICATION: "application", MTD: "store"}
SENTENCES = {
    "sent": "sent it",
    "accepted": "learned that its gateway has taken it over",
    "received": "received it",
    "appended": "learned that the record is durable",
    "read": "read it in {record}",
    "acknowledged": "learned that the node has it",
    "given up": "gave it up: it is not in the mini buffer",
    "unsent": "gave it to the store: {why}",
    "stored": "stored it, from {record}",
    "sent on": "sent it on: the node is back",
    "expired": "dropped it: it has expired",
    "evicted": "dropped it: the store is full",
}
"""By step; an unknown step is shown by name."""
REASONS = {
    "absent": "the node is absent",
    "broken": "its connection broke",
    "mini_buffer": "it was among the last two that were sent",
    "queue": "the queue of its connection is full",
    "revoked": "the secret of its node was revoked",
}
COLUMNS = (NODE, GATEWAY, LOG, APPLICATION)
"""Of the picture, from left to right; the store is below the log."""


def title(place: str) -> str:
    """``gateway 0``; of a traced process."""
    if place == LOG:
        return place
    role = role_of(place)
    return f"{TITLES.get(role, role)} {place.rpartition('-')[2]}"


def step_rows(way: Way) -> list[dict[str, Any]]:
    before = [way.row["at_us"], *(one.at_us for one in way.steps)]
    return [_step_row(one, way, at_us) for one, at_us in zip(way.steps, before, strict=False)]


def _step_row(one: Step, way: Way, before_us: int) -> dict[str, Any]:
    record = f"{one.shelf} at {one.position}"
    words = SENTENCES.get(one.step, one.step).format(record=record, why=REASONS.get(one.detail, one.detail))
    if one.topic and one.step in ("sent", "received", "sent on"):
        words += f", to topic {one.topic}"
    return {
        "since_us": one.at_us - way.row["at_us"],
        "after_us": one.at_us - before_us,
        "place": title(one.place),
        "what": "answer" if way.is_answer(one) else "message",
        "words": words,
        "in_log_us": one.at_us - one.appended_us if one.appended_us else None,
    }


def passage_rows(way: Way) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "number": one.number,
            "kind": one.kind,
            "sender": title(str(one.sender)),
            "receiver": title(str(one.receiver)),
            "us": _us(one),
            "is_lost": one.is_lost,
        }
        for one in way.passages
    ]


def picture(way: Way) -> tuple[dict[str, Any], dict[str, Any]]:
    """Its processes for ``static/js/graph.js``, and its passages for ``walk.js``, which has them by index."""
    places = way.places
    index = {place: at for at, place in enumerate(places)}
    rows: dict[str, int] = {}
    nodes = []
    for place in places:
        role = LOG if place == LOG else role_of(place)
        row = rows[role] = rows.get(role, -1) + 1
        x, y = (COLUMNS.index(role), row) if role in COLUMNS else (COLUMNS.index(LOG), row + 1)
        nodes.append({"index": index[place], "name": title(place), "x": 220 * x, "y": 150 * y})
    stores = [index[place] for place in places if place != LOG and role_of(place) == MTD]
    begin = next((index[str(one.sender)] for one in way.passages), None)
    walk = {
        "asked": begin,
        "found": [],
        "stored": stores,
        "passages": [_passage(one, index) for one in way.passages],
    }
    return {"nodes": nodes, "links": []}, walk


def _passage(one: Sent, index: Mapping[str, int]) -> dict[str, Any]:
    us = _us(one)
    ends = {"sender": index[str(one.sender)], "receiver": index[str(one.receiver)]}
    kind = "refusal" if one.is_lost else "request"
    return {"number": one.number, "kind": kind, **ends, "ms": None if us is None else us / 1000, "round_ms": None}


def _us(one: Sent) -> int | None:
    return None if one.arrived_us is None else one.arrived_us - one.sent_us

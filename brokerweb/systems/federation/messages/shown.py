"""What the page of one message says, in words: its steps, and its picture on the overlay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from telemetry.charts.sequences import Sent
from telemetry.systems.federation.messages import NOTIFICATION
from telemetry.systems.federation.query_ways import Asked
from telemetry.systems.federation.ways import Step, Way

MOST_NAMED = 6
"""Subscriptions named in a step's words."""
SENTENCES = {
    "published": "got the notification from {peer}",
    "received": "got the notification from {peer}",
    "matched": "found {count} of {peer} that it satisfies{named}",
    "duplicate": "dropped it: {peer} sent it again",
    "looped": "dropped it: it came back from {peer}",
    "filtered": "did not send it to {peer}: no subscription wants it there",
    "forwarded": "sent the notification to {peer}",
    "stored": "stored it for {peer}, which has no session",
    "sent later": "sent what it had stored to {peer}",
    "notified": "notified {peer}{named}",
    "held": "kept it for {peer}, which is invalid or has no session{named}",
    "returned": "got it back: the session to {peer} ended before it was acknowledged",
    "subscribed": "got the subscription from {peer}",
    "answered": "found a notification in its cache for {peer}",
    "told": "told {peer} of the subscription",
    "learned": "learned of the subscription from {peer}",
    "offered": "offered the subscription to provider {peer}",
}
"""By step; an unknown step is shown by name."""
OF_QUERIES = {
    "asked": "got the QUERY from {peer}",
    "asks": "asked {peer} for {scope}{given}",
    "answered": "got the answer of {peer} for {scope}: {code}",
    "timed out": "waited in vain for the answer of {peer} for {scope}",
    "replied": "answered {peer}: {code}",
}
"""The same for those of a QUERY."""
BACK = ("FORWARD", "NOTIFY", "ANSWER")
"""Of the way of a subscription or QUERY: the messages that come back."""


def step_row(one: Step, begin_us: int) -> dict[str, Any]:
    number = len(one.subscriptions)
    shown = ", ".join(name.replace("|", " ") for name in one.subscriptions[:MOST_NAMED])
    more = f" and {number - MOST_NAMED} more" if number > MOST_NAMED else ""
    words = SENTENCES.get(one.step, one.step).format(
        peer=one.peer,
        count="1 subscription" if number == 1 else f"{number} subscriptions",
        named=f": {shown}{more}" if shown else "",
    )
    if one.about[0] == "q":
        words = _of_query(one)
    return {"since_us": one.at_us - begin_us, "broker": one.broker, "words": words, "waited_us": one.waited_us}


def _of_query(one: Step) -> str:
    scope, _, more = Asked.of(one)
    given = f", with {more} notification{'' if more == '1' else 's'} of what it needs" if more not in ("", "0") else ""
    code = (one.detail if one.step == "replied" else more).lower().replace("_", " ")
    return OF_QUERIES.get(one.step, one.step).format(peer=one.peer, scope=scope, given=given, code=code)


def walk(way: Way) -> dict[str, Any]:
    """For ``static/js/walk.js``: brokers by index."""
    passages = [_passage(one, way) for one in way.passages]
    filtered = [
        {"number": None, "kind": "filtered", "sender": _index(a), "receiver": _index(b), "ms": None, "round_ms": None}
        for a, b in way.filtered
    ]
    return {
        "asked": None if way.entered is None else _index(way.entered),
        "found": list(map(_index, way.delivering)),
        "replicas": list(map(_index, way.storing)),
        "passages": [*passages, *filtered],
    }


def passage_rows(way: Way) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "number": one.number,
            "kind": one.kind,
            "sender": one.sender,
            "receiver": one.receiver,
            "us": None if one.arrived_us is None else one.arrived_us - one.sent_us,
        }
        for one in way.passages
    ]


def _passage(one: Sent, way: Way) -> dict[str, Any]:
    is_back = way.row["kind"] != NOTIFICATION and one.kind in BACK
    ms = None if one.arrived_us is None else (one.arrived_us - one.sent_us) / 1000
    kind = "refusal" if one.is_lost else "answer" if is_back else "request"
    ends = {"sender": _index(str(one.sender)), "receiver": _index(str(one.receiver))}
    return {"number": one.number, "kind": kind, **ends, "ms": ms, "round_ms": None}


def _index(broker: str) -> int:
    return int(broker[1:])

"""What the page of one publication says, in words: its steps, and its picture on the overlay."""

from __future__ import annotations

from typing import Any

from brokerweb.runpage import ways
from telemetry.charts.sequences import Sent, participants
from telemetry.systems.silbops.ways import PUB, Step, Way, is_broker

MOST_NAMED = 6
"""Subscriptions named in a step's words."""
MOST_CLIENTS = 20
"""Clients with a lifeline; the publisher is the first."""
SENTENCES = {
    "published": "got the publication from {peer}",
    "received": "got the publication from {peer}",
    "matched": "found {found} by its content",
    "notified": "notified {peer}{named}",
    "kept": "kept it for {peer}, which was not attached",
    "returned": "kept it for {peer}: its session ended before it was acknowledged ({detail})",
    "sent later": "sent {peer} what it had kept{named}",
    "handed over": "handed what it had kept for a client to {peer}, where that is now",
    "passed on": "passed it on to {peer}, where a client is that was here before",
    "brought": "got it from {peer}, the old broker of a client",
    "repeated": "dropped it: {peer} had got it already",
    "dropped": "dropped it for {peer}: {detail}",
}
"""By step; an unknown step is shown by name."""
LEGEND = (
    ("line-key", "Passed on, numbered, with its time"),
    ("line-key line-key-back", "After the move of a client, from its old broker"),
    ("line-key line-key-refused", "Did not arrive"),
    ("", "Dotted: filtered, not sent there"),
    ("", "Thick ring: broker of the publisher"),
    ("", "Diamond: notified a client"),
    ("", "Star: kept it for a client"),
)
"""Classes of lines, and words."""


def step_row(one: Step, begin_us: int) -> dict[str, Any]:
    return {"since_us": one.at_us - begin_us, "broker": one.broker, "words": _words(one)}


def _words(one: Step) -> str:
    if one.step == "forwarded":
        return f"sent it to {one.peer}, where {_found(one)} match{'es' if one.candidates == 1 else ''} its content"
    if one.step == "filtered":
        return f"did not send it to {one.peer}: {_against(one)}"
    if one.step == "withheld":
        return f"did not notify {one.peer}{_named(one)}: {_against(one)}"
    return SENTENCES.get(one.step, one.step).format(
        peer=one.peer, named=_named(one), found=_found(one), detail=one.detail
    )


def _against(one: Step) -> str:
    if not one.rows:
        return "no subscription came from there"
    several = one.candidates or one.rows
    says = one.detail if several == 1 else f"the first says {one.detail}"
    if one.candidates:
        return f"{_found(one)} match{'es' if one.candidates == 1 else ''} its content, and context says no: {says}"
    which = "the only subscription does not match" if one.rows == 1 else f"none of {one.rows:,} subscriptions matches"
    return f"{which} its content: {says}"


def _found(one: Step) -> str:
    return f"{one.candidates:,} of {one.rows:,} subscription{'' if one.rows == 1 else 's'}"


def _named(one: Step) -> str:
    number = len(one.subscriptions)
    if not number:
        return ""
    shown = ", ".join(map(str, one.subscriptions[:MOST_NAMED]))
    more = f" and {number - MOST_NAMED} more" if number > MOST_NAMED else ""
    return f" (subscription{'' if number == 1 else 's'} {shown}{more})"


def lanes(sent: list[Sent]) -> list[str]:
    """Lifelines: all brokers, and the first clients."""
    clients = 0
    found = []
    for name in participants(sent):
        clients += not is_broker(name)
        if is_broker(name) or clients <= MOST_CLIENTS:
            found.append(name)
    return found


def walk(way: Way) -> dict[str, Any]:
    return ways.walk(
        way.passages,
        lambda broker: int(broker[1:]),
        entered=way.entered,
        found=way.delivering,
        stored=way.keeping,
        filtered=way.filtered,
        is_back=lambda one: one.kind != PUB,
    )

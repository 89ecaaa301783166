"""What the page of one message says, in words: its steps, and its picture on the overlay."""

from __future__ import annotations

from typing import Any

from brokerweb.runpage import ways
from telemetry.systems.federation.messages import NOTIFICATION, QUERY, SUBSCRIPTION
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

LINES = {
    QUERY: ("QUERY, and the data for it", "ANSWER", "asked a provider"),
    SUBSCRIPTION: ("Subscription", "Notification", "notified it, or asked a provider"),
    NOTIFICATION: ("Forwarded", "", "notified a consumer"),
}
"""By kind of message: what is sent, what comes back, and what a diamond did."""


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


def legend(way: Way) -> list[tuple[str, str]]:
    """Classes of lines, and words."""
    kind, client = way.row["kind"], way.row["client"]
    sent, back, found = LINES[kind]
    lines = [("line-key", f"{sent}, numbered, with its time")]
    if back:
        lines.append(("line-key line-key-back", back))
    else:
        lines.append(("", "Dotted: filtered, no subscription wants it there"))
    lines.append(("line-key line-key-refused", "Did not arrive"))
    lines += [("", f"Thick ring: broker of {client}"), ("", f"Diamond: {found}")]
    return lines if kind == QUERY else [*lines, ("", "Star: stored it")]


def walk(way: Way) -> dict[str, Any]:
    return ways.walk(
        way.passages,
        lambda broker: int(broker[1:]),
        entered=way.entered,
        found=way.delivering,
        stored=way.storing,
        filtered=way.filtered,
        is_back=lambda one: way.row["kind"] != NOTIFICATION and one.kind in BACK,
    )

"""The end of a query as a label and a sentence: where the data was found, or why not. Pure.

Counterparts: ``telemetry.systems.context_broker.traces`` joins the brokers' reports;
``telemetry.systems.context_broker.oracle`` judges the consumer's sample, which shows whether data
existed. If too little was reported, the label says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from telemetry.systems.context_broker.traces import Query, Step


@dataclass(frozen=True, slots=True)
class Ending:
    name: str
    word: str
    """The label on pages."""
    sentence: str
    """An explanation."""


ENDINGS: dict[str, Ending] = {
    ending.name: ending
    for ending in (
        Ending("found_local", "found here", "The broker that was asked had the data itself."),
        Ending(
            "found_remote",
            "found elsewhere",
            "Another broker had the data, and its answer came back.",
        ),
        Ending(
            "not_found_proved",
            "not found, rightly",
            "No broker had valid data at the time of the request: the answer was correct.",
        ),
        Ending(
            "not_found_ttl",
            "not found, hop limit reached",
            "The query reached its hop limit; another live broker may have had the data.",
        ),
        Ending(
            "dead_end",
            "dead end",
            "The query reached a broker with no neighbours left to ask: all were asked, had refused or were gone.",
        ),
        Ending("lost", "lost", "Neither an answer nor a refusal returned before the broker asked stopped waiting."),
        Ending("broker_gone", "lost with a broker", "A broker on the path ended or became silent."),
        Ending("expired", "expired", "The validity of the data had ended when the answer arrived."),
        Ending("timed_out", "timed out", "The consumer received no answer before its time-out."),
        Ending(
            "refused", "refused", "A broker refused the request: it was full, could not parse it, or does not allow it."
        ),
        Ending("unknown", "not reported", "The brokers did not report how it ended."),
    )
}
"""By name."""


def ending_of(query: Query, walk_ttl: int | None = None, truth: str | None = None) -> Ending:
    """The end of ``query`` at the broker asked.

    ``walk_ttl`` is the hop limit, ``None`` for strategies without one; ``truth`` is the
    oracle's verdict on the consumer's sample, if known.
    """
    return ENDINGS[_name(query, walk_ttl, truth)]


def _name(query: Query, walk_ttl: int | None, truth: str | None) -> str:
    outcome = query.outcome
    if outcome == "answered":
        if truth == "expired":
            return "expired"
        found = {step.broker for step in query.steps if step.step == "found"}
        return "found_local" if query.asked in found and not query.requests else "found_remote"
    if outcome == "not_found":
        if truth == "proved_not_found":
            return "not_found_proved"
        return "not_found_ttl" if walk_ttl is not None and _depth(query.steps) >= walk_ttl else "dead_end"
    if outcome == "lost":
        return "broker_gone" if any(step.step == "gave up" for step in query.steps) or query.silent else "lost"
    if outcome == "unknown":
        return "timed_out" if truth == "lost" else "unknown"
    return outcome


def _depth(steps: Sequence[Step]) -> int:
    """The number of hops on its longest path. A broker is one hop farther than the first one that forwarded to it."""
    depth: dict[int, int] = {}
    for step in steps:
        if step.step == "received" and step.broker not in depth:
            depth[step.broker] = depth.get(step.peer, -1) + 1
    return max(depth.values(), default=0)

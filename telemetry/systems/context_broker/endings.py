"""How a query ended, in a word and a sentence: where the data were found, or what kept them from being found. Pure.

Counterpart: ``telemetry.systems.context_broker.traces`` joins what brokers reported of it;
``telemetry.systems.context_broker.oracle`` judged its consumer's sample, by which it is known whether there was
something to be found. Where too little was reported it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from telemetry.systems.context_broker.traces import Query, Step


@dataclass(frozen=True, slots=True)
class Ending:
    name: str
    word: str
    """As pages say it."""
    sentence: str
    """What it means."""


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
            "Nobody had valid data when it was asked for: the answer was right.",
        ),
        Ending(
            "not_found_ttl",
            "not found, hops used up",
            "The query went as many hops as it may; some living broker may have had the data.",
        ),
        Ending(
            "dead_end",
            "dead end",
            "The query came to where nobody was left to ask: all had been asked, refused it or were gone.",
        ),
        Ending(
            "lost", "lost", "Neither answer nor refusal came back before the broker that was asked stopped waiting."
        ),
        Ending("broker_gone", "lost with a broker", "A broker on its way ended or fell silent, and the query with it."),
        Ending("expired", "expired", "The answer came with data whose validity had passed."),
        Ending("timed_out", "timed out", "Its consumer heard nothing in the time for which it waits."),
        Ending("refused", "refused", "A broker would not do it: it was full, could not read it, or may not."),
        Ending("unknown", "not reported", "How it ended was not among what the brokers reported of it."),
    )
}
"""By name."""


def ending_of(query: Query, walk_ttl: int | None = None, truth: str | None = None) -> Ending:
    """How ``query`` ended at the broker that was asked.

    ``walk_ttl`` is how many hops it may go, ``None`` where the strategy knows no such bound; ``truth`` is what the
    oracle says of its consumer's sample, where that is known.
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
    """How many hops its longest way was: a broker is one hop farther than the one that passed it on to it first."""
    depth: dict[int, int] = {}
    for step in steps:
        if step.step == "received" and step.broker not in depth:
            depth[step.broker] = depth.get(step.peer, -1) + 1
    return max(depth.values(), default=0)

"""Messages between brokers per request and update, from the brokers' counters; for all searches and both arms. Pure.

Counterparts: ``overlay.systems.context_broker.broker.station`` defines the counters; ``docs/measures.md`` defines the
figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from overlay.systems.context_broker.wire.table import LAYOUTS

MESSAGES = ("forwards", "lookaheads")
"""The messages of a query, as counted in seed 000: requests, shallow floods and (structured arm) requests for data
between brokers. Answers and retransmissions are not counted."""

DATAGRAMS = tuple(filter(None, (layout.counter_between_brokers for layout in LAYOUTS.values())))
"""All datagrams between brokers, including pings, upkeep and acknowledgements. Responses and NACKs also go to
clients, so those received by brokers are counted; lost ones are therefore missing."""


def costs(counters: Mapping[str, int], asked: int) -> dict[str, float | None]:
    """Means by name, ``None`` without counts; ``asked`` is the number of requests that consumers began."""
    return {
        "hops": _hops(counters),
        "messages_per_query": _per(asked, counters, MESSAGES),
        "datagrams_per_query": _per(asked, counters, DATAGRAMS),
        "messages_per_update": _messages_per_update(counters),
    }


def _per(count: int, counters: Mapping[str, int], names: Sequence[str]) -> float | None:
    known = [counters[name] for name in names if name in counters]
    return sum(known) / count if count and known else None


def _hops(counters: Mapping[str, int]) -> float | None:
    """Links from the broker asked to the one with the data, mean over answers; for floods including late answers.

    In the structured arm: sequential requests per lookup, whatever its result.
    """
    if "hit_hops" not in counters:
        return None
    answers = counters["hits"] + counters.get("dht_lookups", 0)
    return (counters["hit_hops"] + counters.get("dht_rounds", 0)) / answers if answers else None


def _messages_per_update(counters: Mapping[str, int]) -> float | None:
    """Messages between brokers to store an update at the responsible brokers, or to refresh its replicas.

    The structured arm has one counter for requests and updates, and counts those for requests also as forwards.
    """
    updates, questions = counters.get("in_2", 0), counters.get("dht_messages", 0)
    placing = questions - counters.get("forwards", 0) if questions else 0
    following = counters.get("refreshes_sent", 0) + counters.get("confirms_sent", 0)
    return (placing + following) / updates if updates else None

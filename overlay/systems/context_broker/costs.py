"""What requests and updates cost between brokers, by the brokers' counters; alike for every search and both arms. Pure.

Counterparts: ``overlay.systems.context_broker.broker.station`` names the counters; ``docs/measures.md`` says what is
compared by which figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MESSAGES = ("forwards", "lookaheads")
"""What seed 000 counts as a query's messages: requests, shallow floods and (structured arm) questions for data that
brokers sent each other. What came back is not among them, nor is what was sent again for want of an acknowledgement."""

_ONLY_BETWEEN_BROKERS = (1, 3, 9, 16, 17, *range(22, 32), 33, 34)
"""Codes that a broker sends to brokers alone; it seldom answers the ping of somebody else."""

DATAGRAMS = (*(f"out_{code}" for code in _ONLY_BETWEEN_BROKERS), "in_4", "in_6")
"""All that goes between brokers, whatever for: pings, upkeep and acknowledgements, too. Responses and NACKs go to
clients as well, so those that brokers got are counted, which leaves out the ones that were lost."""


def costs(counters: Mapping[str, int], asked: int) -> dict[str, float | None]:
    """Means by name, ``None`` where nothing was counted; ``asked`` is the number of requests that consumers began."""
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
    """Links from the broker asked to the one that had the data, mean over answers; of a flood also over late ones.

    In the structured arm the questions one after the other that a request took, whatever came of it.
    """
    if "hit_hops" not in counters:
        return None
    answers = counters["hits"] + counters.get("dht_lookups", 0)
    return (counters["hit_hops"] + counters.get("dht_rounds", 0)) / answers if answers else None


def _messages_per_update(counters: Mapping[str, int]) -> float | None:
    """What brokers sent each other to put an update where it belongs, or to refresh its replicas.

    The structured arm counts its questions for requests and updates together, and those for requests as forwards, too.
    """
    updates, questions = counters.get("in_2", 0), counters.get("dht_messages", 0)
    placing = questions - counters.get("forwards", 0) if questions else 0
    following = counters.get("refreshes_sent", 0) + counters.get("confirms_sent", 0)
    return (placing + following) / updates if updates else None

"""Words for the events and counters of brokers, for pages.

Counterparts: ``overlay.systems.context_broker.broker.events`` and ``.counters`` produce them.
"""

from __future__ import annotations

from telemetry.systems.contract import Counters, Wording


def _of_neighbours(one: str, many: str, label: str = "", *, is_loss: bool = False) -> Wording:
    return Wording(one, many, label, "neighbour", is_loss)


WORDINGS = {
    "MonitoringStarted": _of_neighbours("{who} started monitoring", "{who} started monitoring"),
    "NeighbourJoined": _of_neighbours("{who} is now a neighbour of {other}", "{who} have new neighbours"),
    "NeighbourLeft": _of_neighbours("{who} was left by its neighbour {other}", "neighbours of {who} left"),
    "NeighbourLost": _of_neighbours(
        "{who} lost its neighbour {other}", "{who} lost {other}", "{other} lost", is_loss=True
    ),
    "NeighbourReturned": _of_neighbours(
        "{who} has its neighbour {other} back", "{who} have {other} back", "{other} back"
    ),
    "NeighbourRefused": _of_neighbours(
        "{who}–{other}: link not mutual, dropped", "{who} dropped links that were not mutual"
    ),
    "NeighboursFound": _of_neighbours("{who} found enough neighbours", "{who} found enough neighbours"),
    "NeighboursAwaited": _of_neighbours("{who} waits for more neighbours", "{who} wait for more neighbours"),
    "NetworkLeft": _of_neighbours("{who} left", "{who} left"),
    "JoinFailed": _of_neighbours("{who} could not join: none of the given brokers answered", "{who} could not join"),
    "LimitReached": Wording(
        "{who} reached the limit of its {limit}", "{who} reached the limit of their {limit}", family="limit"
    ),
}
LIMITS = {
    "table": "data table",
    "table share": "share of the data table for one provider or sender",
    "pending": "pending requests",
    "pending share": "share of the pending requests for one sender",
    "neighbours": "neighbours",
    "favours": "pings for others",
    "budget": "strangers' bytes",
}
COUNTERS = Counters(
    load=("in_2", "in_3", "in_4", "in_6"),
    load_help="updates, requests, answers and refusals that arrived from clients and neighbours",
    rates=("forwards", "hits", "replicas", "not_found"),
    gauges=("entries", "neighbours", "pending"),
    totals={"entries": "Entries in tables"},
    hops=("hit_hops", "dht_rounds"),
    answers=("hits", "dht_lookups"),
)

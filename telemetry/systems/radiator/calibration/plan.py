"""From measured processor times to the costs of the model, and the anchors of seed 003.

No parameter is searched for: each is a measured time or a difference of two. Of each time that of the cheapest round
counts, because other load only adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from overlay.core.curves import constant
from overlay.core.service_times import Costs, Memory
from overlay.journal.facts import Delivery, Fact
from overlay.systems.contract import System
from overlay.systems.radiator.names import UNITS
from overlay.systems.radiator.system import SYSTEM
from telemetry.calibration.plan import LAUNCH_S, Anchor, Fitted, Plan, Probe
from telemetry.systems.radiator.calibration.probes import (
    CHAINED,
    CLASSES,
    CLIENTS,
    PUSHED,
    TOGETHER,
    Found,
    fleet_cost,
    joining_cost,
    memory,
    server_costs,
)

SERVER = SYSTEM.role_names[0]
COSTS, JOINING, MEMORY, FLEET = "messages and work", "messages joined", "memory", "datagrams of clients"
COSTS_S, JOINING_S, MEMORY_S, FLEET_S = 12.0, 0.1, 4.0, 12.0
RECIPIENTS = 2
"""Clients of the quiet run, which receive what a probe makes the server push."""
DIGITS = 3
"""After the point, of microseconds."""

_LOAD = {"clients": 50, "messages_per_s": 20, "stagger_ms": 10, "drain_s": 1}
_LIVE = {"clients": 200, "messages_per_s": 25, "arrivals": "poisson", "stagger_ms": 5, "drain_s": 1}
_PUBLISHED = {"scenario": "custom", "echo": True, "flush": "arrival", "retain_max_s": 0, "accounting": "http"}
"""Load and settings of E3.1 live (``docs/examples/radiator-live.yaml``)."""
ANCHORS = (
    Anchor("50 clients, 1,000 pushes/s", "central", 1, _LOAD),
    Anchor("50 clients, 20 per aggregate", "central", 1, _LOAD, {"aggregability": "{volume: 20}", "echo": True}),
    Anchor("50 clients, chains of 10", "central", 1, _LOAD, {"chain_percent": 20}),
    Anchor("50 clients, quiet", "central", 1, {**_LOAD, "messages_per_s": 2}),
    Anchor("200 clients, 5,000 pushes/s", "central", 1, _LIVE, _PUBLISHED),
    Anchor(
        "200 clients, 50 per aggregate, not compressed",
        "central",
        1,
        _LIVE,
        {**_PUBLISHED, "aggregability": "{volume: 50}", "codec": "none"},
    ),
)


class RadiatorPlan(Plan):
    anchors = ANCHORS
    measures = ("lag_transport", "bytes_per_pair", "pairs_delivered")
    compared, compared_from = "lag", "from the intended call of a propagation's oldest message"

    def took_us(self, fact: Fact, system: System) -> float | None:
        """The lag of a propagation, from its oldest message."""
        if not isinstance(fact, Delivery) or fact.phase != "measuring":
            return None
        return fact.received_us - fact.published_us

    def probes(self, scale: float) -> Sequence[Probe]:
        seconds = max(2.0, FLEET_S * scale)
        return (
            Probe(SERVER, COSTS, COSTS_S, server_costs),
            Probe(SERVER, JOINING, JOINING_S, joining_cost),
            Probe(SERVER, MEMORY, MEMORY_S, memory),
            Probe(CLIENTS, FLEET, seconds + LAUNCH_S, partial(fleet_cost, seconds=seconds)),
        )

    def fit(self, results: Mapping[str, Sequence[Any]]) -> Fitted:
        rounds: Sequence[Found] = [
            {**found, "joined": joined} for found, joined in zip(results[COSTS], results[JOINING], strict=True)
        ]
        cheapest = {name: min(one[name] for one in rounds) for name in rounds[0]}
        kept = {name: median(one[name] for one in results[MEMORY]) for name in results[MEMORY][0]}
        datagram = round(min(results[FLEET]), DIGITS)
        return Fitted(
            {
                SERVER: _of_server(cheapest, kept),
                CLIENTS: Costs(batch_us=0.0, other_us=datagram, sent_us=datagram),
            },
            precision={"costs": _precision(rounds, cheapest)},
        )


def _of_server(known: Found, kept: Found) -> Costs:
    batch = _at_least_nothing((known["alive"] - known["alive, together"]) * TOGETHER / (TOGETHER - 1))
    answered = known["alive, together"]  # read, handled and answered, awake
    acknowledged = _at_least_nothing(known["acknowledged"] - known["alive"] - batch)
    joined = known["joined"]
    pushed = _at_least_nothing((known["context, pushed"] - known["context"] - joined) / (PUSHED + RECIPIENTS))
    to_recipients = RECIPIENTS * (pushed + acknowledged + batch)
    evaluated = _at_least_nothing((known["context, evaluated"] - known["context"]) / CLASSES)
    chained = known["context, chained"] - known["context"] - to_recipients - joined - pushed
    sent = min(answered / 2, pushed)
    context = _at_least_nothing(known["context"] - batch - sent - evaluated)
    return Costs(
        batch_us=batch,
        other_us=_at_least_nothing(answered - sent),
        sent_us=sent,
        received_us={"Context": context, "Ack": acknowledged},
        extra_us={"Push": _at_least_nothing(pushed - sent)},
        work_us={
            name: constant(_at_least_nothing(us))
            for name, us in zip(UNITS, (evaluated, joined, chained / CHAINED), strict=True)
        },
        memory=Memory(
            kept["idle_rss"],
            kept["idle_pss"],
            kept["idle_uss"],
            {name: kept[name] for name in ("clients", "retained")},
        ),
    )


def _at_least_nothing(us: float) -> float:
    return round(max(0.0, us), DIGITS)


def _precision(rounds: Sequence[Found], taken: Found) -> dict[str, Any]:
    """Each measured time, and its range over the rounds."""
    return {
        name: {
            "us": round(us, DIGITS),
            "low": round(min(one[name] for one in rounds), DIGITS),
            "median": round(median(one[name] for one in rounds), DIGITS),
            "high": round(max(one[name] for one in rounds), DIGITS),
            "turns": len(rounds),
        }
        for name, us in taken.items()
    }

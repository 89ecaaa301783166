"""From measured processor times to the costs of the model, and the anchors of seed 001.

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
from overlay.journal.facts import Fact, Row
from overlay.peers.names import IN_OTHER, OUT
from overlay.systems.contract import System
from overlay.systems.federation.names import BDRS, BROKER, UNITS, XML_IN, XML_OUT
from overlay.systems.federation.rows import SATISFIED, Subscribed
from overlay.systems.federation.system import SYSTEM
from telemetry.calibration.fitting import at_least_nothing, cheapest, more, precision, work
from telemetry.calibration.fleets import Fleet, busiest_of, costs_of, fleet_costs, kilobyte_us
from telemetry.calibration.plan import LAUNCH_S, Anchor, Fitted, Plan, Probe
from telemetry.calibration.speaking import RESTS_S, rested
from telemetry.systems.federation.calibration import probes
from telemetry.systems.federation.calibration.probes import CLIENTS, MORE, NOTIFIED, TOGETHER, Found

COSTS, SERVICE, MEMORY = "messages", "registrations", "memory"
FLEET, BINARY, SLOW = "datagrams", "datagrams, binary", "datagrams, rested"
COSTS_S, SERVICE_S, MEMORY_S = 50.0, 5.0, 5.0
_PUBLISHED = {"profile": "published", "cache_cap": 0.15}
_LOAD = {"stagger_ms": 20, "expiry_s": 5}


def _chain(rate_per_s: float) -> Anchor:
    return Anchor(f"chain of 3, {rate_per_s:g} queries/s", "line", 3, {**_LOAD, "rate_per_s": rate_per_s}, _PUBLISHED)


def _alone(rate_per_s: float) -> Anchor:
    workload = {**_LOAD, "rate_per_s": rate_per_s}
    return Anchor(f"one broker, {rate_per_s:g} queries/s", "central", 1, workload, {**_PUBLISHED, "cache_cap": 0})


def _gone(name: str, **fault: Any) -> Anchor:
    """As E1.4, with queries meanwhile."""
    settings = {**_PUBLISHED, "keepalive_s": 2, "broker_keepalive_s": 2}
    faults = ({"what": "vanish", "at_s": 1, **fault},)
    return Anchor(f"chain of 3, {name}", "line", 3, {**_LOAD, "rate_per_s": 20.0}, settings, faults=faults)


ANCHORS = (
    _chain(10.0),
    _chain(40.0),
    _chain(60.0),
    _alone(10.0),
    _alone(60.0),
    _gone("a provider leaves", clients=["p0"], way="proper"),
    _gone("a provider disappears", clients=["p0"], way="improper"),
    _gone("a broker leaves", brokers=[2], way="proper"),
    _gone("a broker disappears", brokers=[2], way="improper"),
    Anchor(
        "chain of 3, subscriptions flooded",
        "line",
        3,
        {**_LOAD, "rate_per_s": 40.0},
        {**_PUBLISHED, "routing": "flooding"},
    ),
    Anchor("chain of 3, 200 queries/s, binary", "line", 3, {**_LOAD, "rate_per_s": 200.0}),
)


class FederationPlan(Plan):
    anchors = ANCHORS
    measures = ("ts_mean", "messages_per_subscription", "disappearance_known_mean", "disappearance_told_mean")
    compared, compared_from = "satisfaction time", "from the intended subscribing"

    def workload(self, anchor: Anchor, duration_s: float) -> dict[str, Any]:
        """As many queries as ``duration_s`` has."""
        return {**anchor.workload, "queries": round(anchor.workload["rate_per_s"] * duration_s)}

    def took_us(self, fact: Fact, system: System) -> float | None:
        if not isinstance(fact, Row) or fact.table != "subscriptions":
            return None
        found = Subscribed(*fact.values)
        return found.first_us - found.intended_us if found.once and found.reason == SATISFIED else None

    def probes(self, scale: float) -> Sequence[Probe]:
        fleets = {FLEET: (probes.FLEET, {}), BINARY: (probes.FLEET, probes.BINARY), SLOW: (probes.SLOW, {})}
        return (
            Probe(BROKER, COSTS, COSTS_S, probes.server_costs),
            Probe(BDRS, SERVICE, SERVICE_S, probes.service_costs),
            Probe(BROKER, MEMORY, MEMORY_S, probes.memory),
            *(
                Probe(
                    " and ".join(CLIENTS),
                    name,
                    LAUNCH_S + load["queries"] / load["rate_per_s"],
                    partial(fleet_costs, system=SYSTEM, workload=load, settings={**probes.PUBLISHED, **settings}),
                )
                for name, (load, settings) in fleets.items()
            ),
        )

    def fit(self, results: Mapping[str, Sequence[Any]]) -> Fitted:
        found = {name: cheapest(results[name]) for name in (COSTS, SERVICE)}
        kept = {what: median(one[what] for one in results[MEMORY]) for what in results[MEMORY][0]}
        broker = _of_broker(found[COSTS], kept)
        roles = {BROKER: broker, BDRS: _of_service(found[SERVICE], broker)}
        for name in CLIENTS:
            roles[name] = _of_clients(*(busiest_of(results[load], name) for load in (FLEET, BINARY, SLOW)))
        times = {**precision(results[COSTS]), **precision(results[SERVICE])}
        return Fitted(roles, precision={"costs": times})


def _of_broker(known: Found, kept: Found) -> Costs:
    batch = at_least_nothing((known["discover"] - known["discover, together"]) * TOGETHER / (TOGETHER - 1))
    other = at_least_nothing((known["lookup, kept alive"] - known["lookup"]) / MORE)
    out = at_least_nothing((known["lookup, more"] - known["lookup"]) / (MORE - 1) - other)
    exchange = at_least_nothing(known["lookup"] - batch - other - out)
    sent = min(exchange / 2, at_least_nothing((known["publish, notified"] - known["publish"]) / NOTIFIED - out))
    datagram = at_least_nothing(exchange - sent)
    reply = batch + datagram + sent + out
    answered = at_least_nothing((known["query"] - 2 * reply) / 2)
    lookup, publish, read, told = (
        _after_rests(known, name) for name in ("lookup", "publish", "contextml: publish", "contextml: publish, told")
    )
    colder = {
        **{
            f"in_{name}": more(_after_rests(known, name), lookup)
            for name in ("subscribe", "publish", "subtable", "forward")
        },
        XML_IN: more(read, publish),
        XML_OUT: more(told, read),
    }
    written = (known["contextml: publish, notified"] - known["contextml: publish"]) - (
        known["publish, notified"] - known["publish"]
    )
    received = {
        **{f"in_{name}": at_least_nothing(known[name] - reply) for name in ("subscribe", "publish")},
        **{f"in_{name}": at_least_nothing(known[name] - reply) for name in ("subtable", "forward")},
        "in_regtable": at_least_nothing(known["regtable, rested"] - batch - datagram - lookup[RESTS_S.index(0.04)]),
        "in_query": answered,
        "in_answer": answered,
        IN_OTHER: other,
        OUT: out,
        XML_IN: at_least_nothing(known["contextml: publish"] - known["publish"]),
        XML_OUT: at_least_nothing(written / NOTIFIED),
    }
    return Costs(
        batch_us=batch,
        other_us=datagram,
        sent_us=sent,
        work_us={name: work(received[name], colder.get(name)) for name in UNITS},
        cold_us=work(0.0, more(lookup)),
        memory=Memory(kept["idle_rss"], kept["idle_pss"], kept["idle_uss"], {"subscriptions": kept["subscriptions"]}),
    )


def _of_service(known: Found, broker: Costs) -> Costs:
    """Its channel is that of brokers; what a message costs in addition is measured by FIND, which it hears often."""
    batch = at_least_nothing((known["discover"] - known["discover, together"]) * TOGETHER / (TOGETHER - 1))
    out = broker.work_us[OUT].at(0)
    each = at_least_nothing(known["find"] - batch - broker.other_us - broker.sent_us - out)
    return Costs(
        batch_us=batch,
        other_us=broker.other_us,
        sent_us=broker.sent_us,
        work_us={name: constant({OUT: out, XML_IN: 0.0, XML_OUT: 0.0}.get(name, each)) for name in UNITS},
        cold_us=broker.cold_us,
        memory=Memory(known["idle_rss"], known["idle_pss"], known["idle_uss"]),
    )


def _after_rests(known: Found, what: str) -> list[float]:
    """How much longer it takes after each of ``RESTS_S``."""
    return [known[rested(what, rest_s)] - known[what] for rest_s in RESTS_S]


def _of_clients(busy: Fleet, binary: Fleet, slow: Fleet) -> Costs:
    """What a datagram and what 1,000 bytes cost, from two runs that differ in the form of messages."""
    every_s = 1 / probes.FLEET["rate_per_s"], 1 / probes.SLOW["rate_per_s"]
    return costs_of([(every_s[0], busy), (every_s[1], slow)], kilobyte_us(busy, binary))

"""From measured processor times to the costs of the model, and the anchors of seed 002.

No parameter is searched for: each is a measured time or a difference of two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from overlay.core.service_times import Costs, Memory
from overlay.journal.facts import Fact, Row
from overlay.peers.names import IN_OTHER, OUT
from overlay.systems.contract import System
from overlay.systems.silbops import names
from overlay.systems.silbops.rows import ContextSet
from overlay.systems.silbops.system import SYSTEM
from telemetry.calibration.fitting import DIGITS, at_least_nothing, cheapest, more, precision, work
from telemetry.calibration.fleets import busiest_of, clients_of, costs_of, fleet_costs, kilobyte_us
from telemetry.calibration.measuring import LAUNCH_S
from telemetry.calibration.plan import Anchor, Fitted, Plan, Probe
from telemetry.calibration.speaking import RESTS_S, rested
from telemetry.systems.silbops.calibration import probes
from telemetry.systems.silbops.calibration.probes import CANDIDATES, MORE, NOTIFIED, REPLACED, TOGETHER, Found

COSTS, MEMORY, FLEET, SLOW, LONG = "messages", "memory", "datagrams", "datagrams, rested", "datagrams of SIENA"
COSTS_S, MEMORY_S, FLEET_S = 30.0, 5.0, 24.0
PUBLISHERS, SUBSCRIBERS = clients_of(SYSTEM)
_LOAD = {"publishers": 5, "subscribers": 50, "attribute_names": 20, "square_km": 100, "stagger_ms": 10}
ANCHORS = (
    Anchor("one broker", "central", 1, _LOAD),
    Anchor(
        "one broker, ten times the load", "central", 1, {**_LOAD, "publish_interval_s": 0.1, "context_interval_s": 0.1}
    ),
    Anchor("chain of 3", "line", 3, _LOAD),
    Anchor(
        "chain of 3, five times the load", "line", 3, {**_LOAD, "publish_interval_s": 0.2, "context_interval_s": 0.2}
    ),
    Anchor("chain of 3, SIENA", "line", 3, _LOAD, probes.IN_SIENA),
)


class SilbopsPlan(Plan):
    anchors = ANCHORS
    measures = ("latency_mean", "change_effective_mean", "messages_per_change", "messages_per_publication")
    compared, compared_from = "change of context", "from the intended call until its broker has applied it"

    def took_us(self, fact: Fact, system: System) -> float | None:
        if not isinstance(fact, Row) or fact.table != "contexts":
            return None
        found = ContextSet(*fact.values)
        return found.accepted_us - found.intended_us if found.is_new and found.accepted_us else None

    def probes(self, scale: float) -> Sequence[Probe]:
        seconds = max(4.0, FLEET_S * scale)
        clients = " and ".join(clients_of(SYSTEM))
        fleets = {FLEET: (probes.FLEET, {}), SLOW: (probes.SLOW, {}), LONG: (probes.SLOW, probes.IN_SIENA)}
        return (
            Probe(names.BROKER, COSTS, COSTS_S, probes.broker_costs),
            Probe(names.BROKER, MEMORY, MEMORY_S, probes.memory),
            *(
                Probe(
                    clients,
                    name,
                    LAUNCH_S + seconds,
                    partial(fleet_costs, system=SYSTEM, workload={**load, "duration_s": seconds}, settings=arm),
                )
                for name, (load, arm) in fleets.items()
            ),
        )

    def fit(self, results: Mapping[str, Sequence[Any]]) -> Fitted:
        kept = {what: median(one[what] for one in results[MEMORY]) for what in results[MEMORY][0]}
        roles = {names.BROKER: _of_broker(cheapest(results[COSTS]), kept)}
        for name, interval in {PUBLISHERS: "publish_interval_s", SUBSCRIBERS: "context_interval_s"}.items():
            busy, slow, long = (busiest_of(results[load], name) for load in (FLEET, SLOW, LONG))
            every_s = [load[interval] / load[name] for load in (probes.FLEET, probes.SLOW)]
            roles[name] = costs_of(busy, slow, (every_s[0], every_s[1]), kilobyte_us(busy, long, slow))
        return Fitted(roles, precision={"costs": precision(results[COSTS])})


def _of_broker(known: Found, kept: Found) -> Costs:
    """A SETCTX is read, handled and answered by OK; a PUBLISH is read with a SETCTX after it.

    A SUBSCRIBE is what a replacement takes besides its UNSUBSCRIBE, and so are the times after a sleep of both.
    """
    candidate = at_least_nothing((known["publish, candidates"] - known["publish"]) / CANDIDATES)
    tested = at_least_nothing((known["publish, tested"] - known["publish"]) / CANDIDATES - candidate)
    batch = at_least_nothing((known["setctx"] - known["setctx, together"]) * TOGETHER / (TOGETHER - 1))
    each = (known["setctx, more"] - known["setctx"]) / (MORE - 1)
    touched = candidate + tested
    notified = at_least_nothing((known["publish, notified"] - known["publish"]) / NOTIFIED - touched)
    out = at_least_nothing((known["publish, told, more"] - known["publish, more"] - notified) / (MORE - 1) - touched)
    out = min(out, notified, at_least_nothing(each))
    sent, setctx = at_least_nothing(notified - out), at_least_nothing(each - out)
    datagram = at_least_nothing(known["setctx"] - batch - sent - out - setctx)
    read = batch + datagram
    answered = read + sent + out
    publish = at_least_nothing(known["publish"] - known["setctx"])
    resting = {name: [known[rested(name, rest_s)] - known[name] for rest_s in RESTS_S] for name in _RESTED}
    cold = more(resting["setctx"])
    unsubscribe, unsub = at_least_nothing(known["unsubscribe"] - answered), at_least_nothing(known["unsub"] - read)
    subscribe = at_least_nothing((known["replace"] - read - sent) / REPLACED - 2 * out - unsubscribe)
    sub = at_least_nothing((known["replace, far"] - read) / REPLACED - unsub)
    work_us = {
        "in_setctx": work(setctx, None),
        "in_subscribe": work(subscribe, _each(more(resting["replace"], cold))),
        "in_unsubscribe": work(unsubscribe, None),
        "in_advertise": work(at_least_nothing(known["advertise"] - answered), None),
        "in_publish": work(publish, more(resting["publish, told"], cold)),
        "in_ctx": work(at_least_nothing(known["ctx"] - read), more(resting["ctx"], cold)),
        "in_sub": work(sub, _each(more(resting["replace, far"], cold))),
        "in_unsub": work(unsub, None),
        "in_pub": work(at_least_nothing(known["pub"] - answered - touched), more(resting["pub"], cold)),
        IN_OTHER: work(setctx, None),
        OUT: work(out, None),
        names.CANDIDATES: work(candidate, None),
        names.SCOPE_TESTS: work(tested, None),
    }
    return Costs(
        batch_us=batch,
        other_us=datagram,
        sent_us=sent,
        work_us=work_us,
        cold_us=work(0.0, cold),
        memory=Memory(kept["idle_rss"], kept["idle_pss"], kept["idle_uss"], {"rows_subscriptions": kept["each"]}),
    )


def _each(us: Sequence[float]) -> list[float]:
    """Of the replacements in one datagram."""
    return [round(one / REPLACED, DIGITS) for one in us]


_RESTED = ("setctx", "publish, told", "ctx", "pub", "replace", "replace, far")

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
from telemetry.calibration.plan import LAUNCH_S, Anchor, Fitted, Plan, Probe
from telemetry.calibration.speaking import RESTS_S, rested
from telemetry.systems.silbops.calibration import probes
from telemetry.systems.silbops.calibration.probes import CANDIDATES, MORE, NOTIFIED, REPLACED, TOGETHER, Found

COSTS, MEMORY, LONG = "messages", "memory", "datagrams of SIENA"
AT_ONCE, FLEET, SLOW = "datagrams at once", "datagrams", "datagrams, rested"
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
_STUDIES = (
    "What do configurations of studies take live? The values of E2.1, E2.3 and E2.5 are measured in process, those of "
    "E2.4 are simulated. Each of these anchors is one of their configurations at the quick scale, as fast as brokers "
    "take it; those of E2.4 have the chain. Changes of context contain how long they wait for those before them; in "
    "E2.5, one subscriber of 950 has some."
)
_RARE = 86_400.0
"""Seconds between what an anchor leaves out."""


def _of_changes(study: str, brokers: int, workload: Mapping[str, Any], settings: Mapping[str, Any]) -> Anchor:
    load = {"publishers": 5, "publish_interval_s": _RARE, **workload}
    return Anchor(study, "line" if brokers > 1 else "central", brokers, load, settings, _STUDIES)


_WIDE = {"subscribers": 1_000, "filters_min": 10, "filters_max": 10, "changes": 200}
_NETWORK = {"subscribers": 50, "filters_min": 10, "filters_max": 10, "change_scope": "one", "changes": 1_000}
_MANY = {"subscribers": 950, "subscriptions": 10_000, "changing_subscribers": 1, "notifications": 1_000}
STUDY_ANCHORS = (
    _of_changes(
        "E2.1, SilboPS, one filter",
        1,
        {
            "subscribers": 1_250,
            "subscriptions": 10_000,
            "changing_subscribers": 125,
            "change_scope": "one",
            "changes": 2_000,
        },
        {},
    ),
    _of_changes("E2.3, SIENA, ten filters", 1, _WIDE, probes.IN_SIENA),
    _of_changes("E2.4, SilboPS, chain of 5", 5, _NETWORK, {}),
    _of_changes("E2.4, SIENA, chain of 5", 5, _NETWORK, probes.IN_SIENA),
    Anchor("E2.5, SilboPS, 10,000 subscriptions", "central", 1, {"publishers": 5, **_MANY}, {}, _STUDIES),
)
"""The live anchors that the presets of the contract name."""


class SilbopsPlan(Plan):
    anchors = ANCHORS
    more_anchors = STUDY_ANCHORS
    question_title = "Live runs of studies"
    measures = (
        *("latency_mean", "change_accepted_mean", "change_effective_mean", "change_core", "notification_core"),
        *("messages_per_change", "messages_per_publication"),
    )
    compared, compared_from = "change of context", "from the intended call until its broker has applied it"

    def took_us(self, fact: Fact, system: System) -> float | None:
        if not isinstance(fact, Row) or fact.table != "contexts":
            return None
        found = ContextSet(*fact.values)
        has_waited = found.accepted_us > found.called_us  # without a broker, it is accepted at once
        return found.accepted_us - found.intended_us if found.is_new and has_waited else None

    def probes(self, scale: float) -> Sequence[Probe]:
        seconds = max(4.0, FLEET_S * scale)
        clients = " and ".join(clients_of(SYSTEM))
        fleets = {
            AT_ONCE: (probes.AT_ONCE, {}),
            FLEET: (probes.FLEET, {}),
            SLOW: (probes.SLOW, {}),
            LONG: (probes.SLOW, probes.IN_SIENA),
        }
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
            at_once, busy, slow, long = (busiest_of(results[load], name) for load in (AT_ONCE, FLEET, SLOW, LONG))
            every_s = [load[interval] / load[name] for load in (probes.FLEET, probes.SLOW)]
            runs = [(0.0, at_once), (every_s[0], busy), (every_s[1], slow)]
            roles[name] = costs_of(runs, kilobyte_us(busy, long, slow))
        return Fitted(roles, precision={"costs": precision(results[COSTS])})


def _of_broker(known: Found, kept: Found) -> Costs:
    """A SETCTX is read, handled and answered by OK; a PUBLISH is read with a SETCTX after it.

    A SUBSCRIBE is what a replacement takes besides its UNSUBSCRIBE, and so are the times after a sleep of both. One
    that is sent on has the cost of withdrawing the one that it replaces.
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
    # in one datagram, which is acknowledged by another
    forwarded = (known["replace, sent on"] - known["replace"] - sent - read) / REPLACED - 2 * out
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
        names.FORWARDED: work(at_least_nothing(forwarded), None),
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

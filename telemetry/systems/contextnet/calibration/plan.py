"""From measured processor times to the costs of the model, and the anchors of seed 004.

No parameter is searched for: each is a measured time or a difference of two. All servers run in the same loop with the
same client of the log, so its costs are those of gateways; applications run in that of clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from overlay.core.curves import Curve, constant
from overlay.core.service_times import Costs, Memory
from overlay.systems.contextnet.names import (
    APPLICATIONS,
    DEFINER,
    GATEWAY,
    IN_MESSAGES,
    IN_OTHERS,
    MTD,
    NODES,
    OUT_MESSAGES,
    OUT_OTHERS,
    POA,
    READS,
    WRITES,
)
from overlay.systems.contextnet.system import SYSTEM
from telemetry.calibration.fitting import at_least_nothing, cheapest, more, precision, work
from telemetry.calibration.fleets import busiest_of, costs_of, fleet_costs
from telemetry.calibration.plan import LAUNCH_S, Anchor, Fitted, Plan, Probe
from telemetry.calibration.speaking import RESTS_S, rested
from telemetry.systems.contextnet.calibration import probes
from telemetry.systems.contextnet.calibration.probes import CLEAR, TOGETHER, Found

COSTS, ANSWERS, RECORDS, MEMORY = "messages", "answers", "records", "memory"
FLEET, SLOW = "datagrams", "datagrams, rested"
COSTS_S, ANSWERS_S, RECORDS_S, MEMORY_S, FLEET_S = 20.0, 13.0, 12.0, 11.0, 24.0
RAMP_S = 6.0
"""Of runs: until nodes are connected, and others in the log."""
UNTRACED = {"trace_one_in": 0}
_LOAD = {**CLEAR, "nodes": 200, "connect_interval_ms": 3, "drain_s": 2}


def _anchor(name: str, gateways: int = 1, **workload: Any) -> Anchor:
    kind = "central" if gateways == 1 else "line"
    return Anchor(name, kind, gateways, {**_LOAD, **workload, "gateways": gateways}, UNTRACED)


ANCHORS = (
    _anchor("200 nodes, quiet", rate_per_min=4),
    _anchor("200 nodes, 200 messages/s from them", rate_per_min=60),
    _anchor("200 nodes, 1,000 messages/s from them", rate_per_min=300),
    _anchor("200 nodes, 500 messages/s to them", direction="outbound", rate_per_min=150),
    _anchor("2 gateways, 400 messages/s", gateways=2, rate_per_min=120),
)
_STUDIES = (
    "What do configurations of studies take live? Those of E4.1 (without a service time of applications) and E4.2 that "
    "the contract names, at the paper's size, over UDP and with the default log, which all share the cores of one "
    "machine; simulated with measured costs, while the studies themselves are simulated without any. Nodes send or "
    "get 20 messages in 5 minutes, instead of 100 in 25."
)
_STUDY_S = 300.0


def _of_study(name: str, workload: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> Anchor:
    load = {"gateways": 1, "rate_per_min": 4, "connect_interval_ms": 10, "drain_s": 60, **workload}
    kind = "central" if load["gateways"] == 1 else "line"
    known = {"profile": "paper", "balancing": False, **UNTRACED, **(settings or {})}
    return Anchor(name, kind, load["gateways"], load, known, _STUDIES, seconds=_STUDY_S, rounds=1)


_INBOUND = [(1000, 1, 1), (1000, 1, 3), (5000, 1, 1), (5000, 1, 3), (3000, 3, 1), (3000, 3, 3)]
"""Nodes, gateways, and applications with their partitions."""
_OUTBOUND = {"direction": "outbound", "nodes": 5000, "off_s": 30, "on_s": 173}
_NO_STORE = {"mtd_enabled": False}
STUDY_ANCHORS = (
    *(
        _of_study(f"E4.1, configuration {number}", {"nodes": nodes, "gateways": gateways, "brokers": brokers})
        for number, (nodes, gateways, brokers) in enumerate(_INBOUND, 1)
    ),
    _of_study("E4.2, mtd_1: no outages", {**_OUTBOUND, "disconnecting_share": 0}, _NO_STORE),
    _of_study("E4.2, mtd_3: 30 % are off at times", {**_OUTBOUND, "disconnecting_share": 0.3}, _NO_STORE),
)
"""The live anchors that the presets of the contract name."""


class ContextNetPlan(Plan):
    anchors = ANCHORS
    more_anchors = STUDY_ANCHORS
    question_title = "Live runs of studies"
    measures = ("te", "te_disconnecting", "rtt_mean", "rtt_p99")

    def workload(self, anchor: Anchor, duration_s: float) -> dict[str, Any]:
        """At least one message of each node."""
        return {**anchor.workload, "duration_s": max(duration_s, 60 / anchor.workload["rate_per_min"])}

    def around_s(self, anchor: Anchor) -> float:
        load = anchor.workload
        connecting_s: float = load["nodes"] * load["connect_interval_ms"] / 1_000
        return super().around_s(anchor) + connecting_s + float(load["drain_s"])

    def probes(self, scale: float) -> Sequence[Probe]:
        seconds = max(4.0, FLEET_S * scale)
        return (
            Probe(GATEWAY, COSTS, COSTS_S, probes.gateway_costs),
            Probe(APPLICATIONS, ANSWERS, ANSWERS_S, probes.application_costs),
            Probe(", ".join((MTD, POA, DEFINER)), RECORDS, RECORDS_S, probes.log_server_costs),
            Probe("servers", MEMORY, MEMORY_S, probes.memory),
            *(
                Probe(
                    NODES,
                    name,
                    LAUNCH_S + RAMP_S + seconds,
                    partial(fleet_costs, system=SYSTEM, workload={**load, "duration_s": seconds}, settings=UNTRACED),
                )
                for name, load in {FLEET: probes.FLEET, SLOW: probes.SLOW}.items()
            ),
        )

    def fit(self, results: Mapping[str, Sequence[Any]]) -> Fitted:
        gateway = _of_gateway(cheapest(results[COSTS]), _kept(results, GATEWAY), "connections")
        known = {role: [one[role] for one in results[RECORDS]] for role in (MTD, POA, DEFINER)}
        roles = {
            GATEWAY: gateway,
            APPLICATIONS: _of_application(cheapest(results[ANSWERS]), gateway),
            MTD: _of_log_server(_store(cheapest(known[MTD])), gateway, _kept(results, MTD), "stored"),
            POA: _of_log_server(_reader(cheapest(known[POA])), gateway, _kept(results, POA)),
            DEFINER: _of_log_server(_definer(cheapest(known[DEFINER]), gateway), gateway, _kept(results, DEFINER)),
            NODES: _of_nodes(results),
        }
        times = {GATEWAY: results[COSTS], APPLICATIONS: results[ANSWERS], **known}
        return Fitted(
            roles,
            precision={
                "costs": {
                    f"{role}: {name}": one for role, rounds in times.items() for name, one in precision(rounds).items()
                }
            },
        )


def _kept(results: Mapping[str, Sequence[Any]], role: str) -> Found:
    rounds = [one[role] for one in results[MEMORY]]
    return {what: median(one[what] for one in rounds) for what in rounds[0]}


def _each(known: Found, what: str, *, alone: str = "") -> float:
    """Of one record more: those that came together were read in two services, one alone in one."""
    return (TOGETHER * known[f"{what}, together"] - 2 * known[alone or what]) / (TOGETHER - 2)


def _of_gateway(known: Found, kept: Found, counter: str) -> Costs:
    """A message is read in one service and found durable in another; acknowledgements are sent in both."""
    services = (known["message"] - known["message, together"]) * TOGETHER / (TOGETHER - 1)
    batch = at_least_nothing((known["ping"] - known["ping, together"]) * TOGETHER / (TOGETHER - 1))
    datagram = sent = at_least_nothing((known["ping, together"] - batch / TOGETHER) / 2)
    writes = at_least_nothing(services - 2 * batch)
    written = at_least_nothing(known["context"] - known["message"])
    message = at_least_nothing(known["message, together"] - services / TOGETHER - 2 * sent - datagram)
    delivered = _each(known, "delivered", alone="delivered, unacknowledged")
    reads = at_least_nothing(known["delivered"] - delivered - batch - datagram - batch)
    # A cast also goes to the node of the workload, which acknowledges it.
    each = (known["cast"] - known["delivered, unacknowledged"] - batch - datagram) / TOGETHER
    other = at_least_nothing(_each(known, "other"))
    handshake = known["connected"] - 6 * batch - 2 * datagram - 3 * sent - writes - written - reads - other - each
    cold = _colder(known, "ping")
    return Costs(
        batch_us=batch,
        other_us=datagram,
        sent_us=sent,
        received_us={"HELLO": at_least_nothing(handshake / 2)},
        extra_us={"DATA": at_least_nothing(each - sent)},
        work_us=_units(
            work(reads, _colder(known, "delivered", cold)),
            delivered - max(each, sent),
            other,
            work(writes, _colder(known, "message", cold)),
            message,
            written,
        ),
        cold_us=work(0.0, cold),
        memory=_memory(kept, counter),
    )


def _of_application(known: Found, gateway: Costs) -> Costs:
    """A message is read and answered in one service, and its answer found durable in another."""
    each, written = _each(known, "answered"), _unit(gateway, OUT_OTHERS)
    reads, writes = _unit(gateway, READS), _unit(gateway, WRITES)
    batch = at_least_nothing((known["answered"] - each - reads - writes) / 2)
    return Costs(
        batch_us=batch,
        other_us=0.0,
        sent_us=0.0,
        work_us=_units(
            work(reads, _colder(known, "answered", gateway.cold_us.values[1:])),
            each - written,
            _each(known, "other"),
            constant(writes),
            written,
            written,
        ),
        cold_us=gateway.cold_us,
        sends_last=True,
    )


def _store(known: Found) -> tuple[float, float]:
    """Of a message and of another record."""
    return _each(known, "unsent"), _each(known, "other")


def _reader(known: Found) -> tuple[float, float]:
    return (_each(known, "other"),) * 2


def _definer(known: Found, gateway: Costs) -> tuple[float, float]:
    """A context becomes a record that it reads, too."""
    return ((_each(known, "other") - _unit(gateway, OUT_OTHERS)) / 2,) * 2


def _of_log_server(read: tuple[float, float], gateway: Costs, kept: Found, counter: str = "") -> Costs:
    """``read``: of a message and of another record."""
    known, written = gateway.work_us, _unit(gateway, OUT_OTHERS)
    return Costs(
        batch_us=gateway.batch_us,
        other_us=gateway.other_us,
        sent_us=gateway.sent_us,
        work_us=_units(known[READS], *read, known[WRITES], written, written),
        cold_us=gateway.cold_us,
        memory=_memory(kept, counter),
    )


def _of_nodes(results: Mapping[str, Sequence[Any]]) -> Costs:
    loads = {FLEET: probes.FLEET, SLOW: probes.SLOW}
    busy, slow = (busiest_of(results[load], NODES) for load in loads)
    every_s = [60 / load["rate_per_min"] / load["nodes"] for load in loads.values()]
    return costs_of([(every_s[0], busy), (every_s[1], slow)])


def _units(
    reads: Curve, message: float, other: float, writes: Curve, written: float, other_written: float
) -> dict[str, Curve]:
    costs = {IN_MESSAGES: message, IN_OTHERS: other, OUT_MESSAGES: written, OUT_OTHERS: other_written}
    return {READS: reads, WRITES: writes, **{name: constant(at_least_nothing(us)) for name, us in costs.items()}}


def _unit(costs: Costs, name: str) -> float:
    return costs.work_us[name].at(0)


def _colder(known: Found, what: str, cold: Sequence[float] = (0.0,) * len(RESTS_S)) -> list[float]:
    """Than what any service takes in addition after a sleep."""
    return more([known[rested(what, rest_s)] - known[what] for rest_s in RESTS_S], cold)


def _memory(kept: Found, counter: str) -> Memory:
    each = {counter: kept["each"]} if counter else {}
    return Memory(kept["idle_rss"], kept["idle_pss"], kept["idle_uss"], each)

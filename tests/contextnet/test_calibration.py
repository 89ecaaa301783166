"""The costs of servers and clients: counted by meters, measured by probes, fitted without a search."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from overlay.core.calibration import Measured
from overlay.core.node import MILLISECOND
from overlay.runtime.calibrated import model_of, reference
from overlay.runtime.own_supervisor import own_supervisor
from overlay.systems.contextnet.metering import RecordMeter
from overlay.systems.contextnet.names import UNITS
from overlay.systems.contextnet.system import SYSTEM
from telemetry.calibration import fleets, measuring, speaking
from telemetry.systems.contextnet.calibration import plan, probes
from tests.thorough import thoroughly

BATCH, DATAGRAM, READS, WRITES, WRITTEN, MESSAGE = 30.0, 20.0, 40.0, 35.0, 25.0, 60.0
DELIVERED, EACH, OTHER, HELLO, ANSWERED = 50.0, 45.0, 15.0, 150.0, 70.0
"""EACH: to one node, with its datagram, which takes as long to send as to receive."""
COLD, COLDER = 80.0, 20.0
"""After a sleep, of any service, and of one that writes a message in addition."""
ONE, TOGETHER = BATCH + READS, 2 * (BATCH + READS)
"""Services in which one record, or many that came together, are read."""
ACKNOWLEDGED = BATCH + DATAGRAM


def others(each: float, what: str = "other") -> dict[str, float]:
    return {what: COLD + ONE + each, f"{what}, together": (COLD * 2 + TOGETHER) / 16 + each}


def rested(what: str, warm: float) -> dict[str, float]:
    return {speaking.rested(what, rest_s): warm + COLD for rest_s in speaking.RESTS_S}


SERVICES, TAKEN = 2 * BATCH + WRITES, MESSAGE + 3 * DATAGRAM
GATEWAY = {
    "ping": BATCH + 2 * DATAGRAM,
    "ping, together": BATCH / 16 + 2 * DATAGRAM,
    "message": SERVICES + TAKEN,
    "message, together": SERVICES / 16 + TAKEN,
    "context": SERVICES + TAKEN + WRITTEN,
    **rested("ping", BATCH + 2 * DATAGRAM),
    **rested("message", SERVICES + TAKEN + COLDER),
    "delivered": ONE + DELIVERED + EACH + ACKNOWLEDGED,
    "delivered, unacknowledged": COLD + ONE + DELIVERED + EACH,
    "delivered, together": (2 * COLD + TOGETHER) / 16 + DELIVERED + EACH,
    "cast": COLD + ONE + DELIVERED + 17 * EACH + ACKNOWLEDGED,
    **rested("delivered", ONE + DELIVERED + EACH + ACKNOWLEDGED),
    **others(OTHER),
    "connected": 2 * HELLO + 6 * BATCH + 5 * DATAGRAM + WRITES + WRITTEN + READS + OTHER + EACH,
}
"""What a gateway of these costs takes."""
APPLICATION = {
    "answered": SERVICES + READS + ANSWERED + WRITTEN,
    "answered, together": (2 * (SERVICES + READS)) / 16 + ANSWERED + WRITTEN,
    **rested("answered", SERVICES + READS + ANSWERED + WRITTEN),
    **others(OTHER),
}
RECORDS = {
    "mtd": {**others(OTHER), **others(33.0, "unsent")},
    "poa": others(22.0),
    "definer": others(2 * 28.0 + WRITTEN),
}
SIZES = {"idle_rss": 3e7, "idle_pss": 9e6, "idle_uss": 4e6, "each": 2_200.0}
MEMORY = dict.fromkeys(("gateway", "mtd", "poa", "definer"), SIZES)


def fitted(busier: float = 1.0):
    """Of two rounds, in the second of which everything took ``busier`` times as long."""

    def rounds(one):
        return [{name: busier_of(found, times) for name, found in one.items()} for times in (1, busier)]

    def busier_of(found, times):
        return {what: times * us for what, us in found.items()} if isinstance(found, dict) else times * found

    def runs(us):
        return [{"nodes": fleets.Fleet(times * us, 100, 8)} for times in (1, busier)]

    results = {plan.COSTS: rounds(GATEWAY), plan.ANSWERS: rounds(APPLICATION), plan.RECORDS: rounds(RECORDS)}
    results |= {plan.MEMORY: 2 * [MEMORY], plan.FLEET: runs(5_000), plan.SLOW: runs(9_000)}
    return plan.ContextNetPlan().fit(results)


def units(costs):
    return {name: curve.at(0) for name, curve in costs.work_us.items()}


def test_costs_of_gateways_are_differences_of_what_was_measured():
    gateway = fitted().roles["gateway"]
    assert (gateway.batch_us, gateway.other_us, gateway.sent_us) == pytest.approx((BATCH, DATAGRAM, DATAGRAM))
    assert gateway.received_us == pytest.approx({"HELLO": HELLO})
    assert gateway.extra_us == pytest.approx({"DATA": EACH - DATAGRAM})
    expected = {"log_reads": READS, "in_messages": DELIVERED, "in_others": OTHER}
    assert units(gateway) == pytest.approx(
        expected | {"log_writes": WRITES, "out_messages": MESSAGE, "out_others": WRITTEN}
    )
    assert gateway.cold_us.at(20 * MILLISECOND) == COLD
    assert gateway.work_us["log_writes"].at(20 * MILLISECOND) == pytest.approx(WRITES + COLDER)
    assert gateway.work_us["log_reads"].at(20 * MILLISECOND) == pytest.approx(READS)
    assert gateway.memory.kept == {"connections": 2_200}


def test_other_members_of_the_log_share_its_costs_and_differ_in_what_they_read():
    roles = fitted().roles
    log = {"log_reads": READS, "log_writes": WRITES, "out_messages": WRITTEN, "out_others": WRITTEN}
    read = {"applications": (ANSWERED, OTHER), "mtd": (33, OTHER), "poa": (22, 22), "definer": (28, 28)}
    for role, (message, other) in read.items():
        assert units(roles[role]) == pytest.approx({**log, "in_messages": message, "in_others": other}), role
        assert roles[role].batch_us == pytest.approx(BATCH), role
    assert roles["mtd"].memory.kept == {"stored": 2_200}


def test_clients_send_last_and_nodes_pay_by_the_datagram():
    nodes, applications = (fitted().roles[name] for name in ("nodes", "applications"))
    assert (nodes.other_us, nodes.sent_us) == (50, 50)
    assert nodes.cold_us.at(20 * MILLISECOND) == 40
    assert nodes.sends_last
    assert applications.sends_last


def test_the_busier_round_does_not_count():
    found = fitted(busier=3)
    assert found.roles == fitted().roles
    assert found.precision["costs"]["gateway: ping"] == {"us": 70, "low": 70, "median": 140, "high": 210, "turns": 2}


def test_a_system_with_all_costs_is_measured():
    measured = Measured(fitted().roles)
    assert not model_of(reference().with_system(SYSTEM.name, measured), SYSTEM).unmeasured


def test_records_are_counted_by_whether_they_have_messages_and_services_by_whether_there_were_any():
    member = SimpleNamespace(
        counters={"in_gateway.0": 2, "in_presence": 1, "out_unsent": 3, "out_presence": 1, "sent": 9}
    )
    meter = RecordMeter(member)
    hello, data, ping_of_an_operator = b"\x11...", b"\x15...", b"\x2f..."
    first = meter.work([hello, data, ping_of_an_operator, b""], [data])
    assert (first.received, first.sent) == (["HELLO", "DATA", "", ""], ["DATA"])
    expected = {"in_messages": 2, "in_others": 1, "out_messages": 3, "out_others": 1}
    assert first.units == expected | {"log_reads": 1, "log_writes": 1}
    assert meter.work([], []).units == {}
    member.counters |= {"in_inbound": 4}
    assert meter.work([], []).units == {"in_messages": 4, "log_reads": 1}
    assert set(first.units) == set(UNITS)


@thoroughly
def test_live_servers_and_clients_are_measured(tmp_path, monkeypatch):
    """With few messages; that all is measured is all that so few can say."""
    for name, count in (("MESSAGES", 10), ("ROUNDS", 2), ("RESTED", 2), ("CONNECTED", 5), ("STORED", 20)):
        monkeypatch.setattr(probes, name, count)
    with measuring.log_for(SYSTEM), own_supervisor() as client:
        gateway = probes.gateway_costs(client, tmp_path)
        application = probes.application_costs(client, tmp_path)
        records = probes.log_server_costs(client, tmp_path)
        kept = probes.memory(client, tmp_path)
        load = {**probes.FLEET, "nodes": 20, "duration_s": 1}
        fleet = fleets.fleet_costs(client, tmp_path / "fleet", SYSTEM, load, {})
    assert (gateway.keys(), application.keys()) == (GATEWAY.keys(), APPLICATION.keys())
    assert {role: found.keys() for role, found in records.items()} == {
        role: found.keys() for role, found in RECORDS.items()
    }
    found = {plan.COSTS: [gateway], plan.ANSWERS: [application], plan.RECORDS: [records]}
    found |= {plan.MEMORY: [kept], plan.FLEET: [fleet], plan.SLOW: [fleet]}
    assert plan.ContextNetPlan().fit(found).roles["gateway"].batch_us > 0

"""The costs of brokers, the registration service and clients: counted by meters, measured by probes, fitted without a
search."""

from __future__ import annotations

import pytest

from overlay.compiled.finder import is_used
from overlay.core.calibration import Measured
from overlay.core.curves import constant
from overlay.core.node import MILLISECOND
from overlay.core.service_times import Costs
from overlay.journal.facts import Row, Tick
from overlay.runtime.calibrated import model_of, reference
from overlay.runtime.own_supervisor import own_supervisor
from overlay.systems.federation.metering import units
from overlay.systems.federation.names import UNITS
from overlay.systems.federation.rows import Subscribed, row
from overlay.systems.federation.system import SYSTEM
from telemetry.calibration import speaking
from telemetry.calibration.fleets import Fleet, fleet_costs
from telemetry.cli.study import orders_of
from telemetry.lake.manifest import machine
from telemetry.studies.study import PAPER
from telemetry.systems.federation.calibration import plan, probes
from telemetry.systems.federation.studies.bearing import borne_per_s
from telemetry.systems.federation.studies.calibrated import CALIBRATED_STUDY
from tests.thorough import thoroughly

KNOWN = {
    "discover": 60.0,
    "discover, together": 29.0,
    "lookup": 70.0,
    "lookup, kept alive": 170.0,
    "lookup, more": 260.0,
    "subscribe": 120.0,
    "publish": 90.0,
    "publish, notified": 490.0,
    "contextml: publish": 190.0,
    "contextml: publish, notified": 1_590.0,
    "subtable": 130.0,
    "forward": 125.0,
    "query": 240.0,
    "regtable, rested": 300.0,
    "contextml: publish, told": 240.0,
    **{
        speaking.rested(what, rest_s): us
        for rest_s in speaking.RESTS_S
        for what, us in {
            "lookup": 170.0,
            "subscribe": 230.0,
            "publish": 180.0,
            "subtable": 230.0,
            "forward": 275.0,
            "contextml: publish": 350.0,
            "contextml: publish, told": 430.0,
        }.items()
    },
}
"""A publication takes as much longer after a sleep as a lookup, 100 µs or nearly so, and one in ContextML 60 more."""
SERVICE = {"find": 75.0, "discover": 60.0, "discover, together": 29.0}
MEMORY = {"idle_rss": 3e7, "idle_pss": 9e6, "idle_uss": 4e6}


def fitted(busier: float = 1.0):
    """Of two rounds, in the second of which everything took ``busier`` times as long."""

    def rounds(one):
        return [one, {name: busier * us for name, us in one.items()}]

    def fleets(xml_us, binary_us, slow_us):
        """Of 100 datagrams, with 80,000 bytes of ContextML or 30,000 in binary."""
        loads = {plan.FLEET: (xml_us, 80), plan.BINARY: (binary_us, 30), plan.SLOW: (slow_us, 80)}
        return {
            load: [dict.fromkeys(probes.CLIENTS, Fleet(times * us, 100, size)) for times in (1, busier)]
            for load, (us, size) in loads.items()
        }

    return plan.FederationPlan().fit(
        {
            plan.COSTS: rounds(KNOWN),
            plan.SERVICE: rounds({**SERVICE, **MEMORY}),
            plan.MEMORY: 2 * [{**MEMORY, "subscriptions": 1_700.0}],
            **fleets(xml_us=9_000, binary_us=6_500, slow_us=12_000),
        }
    )


def work_of(costs, name, idle_ns):
    return costs.work_us[name].at(idle_ns)


def test_costs_are_differences_of_what_was_measured():
    roles = fitted().roles
    broker, service = roles["broker"], roles["bdrs"]
    work = {name: curve.at(0) for name, curve in broker.work_us.items()}
    assert broker.batch_us == pytest.approx((60 - 29) * 32 / 31)
    assert work["in_other"] == 5  # 20 keep-alives
    assert work["out_messages"] == pytest.approx((260 - 70) / 19 - 5)
    exchange = broker.batch_us + broker.other_us + broker.sent_us + work["out_messages"]
    assert exchange + work["in_other"] == pytest.approx(70), "a lookup"
    assert exchange + work["in_publish"] == pytest.approx(90)
    assert 2 * exchange + work["in_query"] + work["in_answer"] == pytest.approx(240)
    assert (work["in_contextml"], work["out_contextml"]) == (100, 50)
    assert broker.cold_us.at(20_000_000) == 100
    assert service.work_us["in_other"].at(0) == pytest.approx(5 + 5)
    colder = {"in_subscribe": 10, "in_publish": 0, "in_subtable": 0, "in_forward": 50}
    for name, more in colder.items():
        assert work_of(broker, name, 20 * MILLISECOND) == pytest.approx(work[name] + more)
    assert work_of(broker, "in_contextml", 20 * MILLISECOND) == pytest.approx(100 + 70)
    assert work_of(broker, "out_contextml", 20 * MILLISECOND) == pytest.approx(50 + 30)
    assert set(broker.work_us) == set(service.work_us) == set(UNITS)


def test_clients_pay_for_datagrams_and_for_their_bytes_before_they_send():
    consumers = fitted().roles["consumers"]
    assert (consumers.other_us, consumers.sent_us, consumers.kilobyte_us) == (50, 50, 50)
    assert consumers.cold_us.at(50 * MILLISECOND) == (12_000 - 9_000) / 100
    assert consumers.sends_last


def test_the_busier_round_does_not_count():
    found = fitted(busier=3)
    assert found.roles == fitted().roles
    assert found.precision["costs"]["lookup"] == {"us": 70, "low": 70, "median": 140, "high": 210, "turns": 2}


def test_messages_with_contextml_count_once_more():
    counters = {"in_subscribe": 2, "in_query": 1, "out_notify": 3, "out_ack": 4, "out_notify_bytes": 900}
    binary, xml = units(counters), units(counters, is_contextml=True)
    assert (binary["out_messages"], binary["in_contextml"], binary["out_contextml"]) == (7, 0, 0)
    assert (xml["out_messages"], xml["in_contextml"], xml["out_contextml"]) == (7, 2, 3)


def test_anchors_compare_the_time_from_the_intended_subscribing_of_satisfied_queries():
    asked = Subscribed("c0", 1, ["s1"], True, 1_000, 1_100, 0, 1_500, 4_500, False, 1, 4_600, "satisfied")
    missed = Subscribed("c0", 2, ["s1"], True, 1_000, 1_100, 0, 1_500, 0, False, 0, 4_600, "expired")
    took = plan.FederationPlan().took_us
    assert took(row(5_000, asked), SYSTEM) == 3_500
    assert took(row(5_000, missed), SYSTEM) is None
    assert took(Row("", 1, "notes", []), SYSTEM) is None
    assert took(Tick("broker-0", 1, {}, "", 0, 0, 0, 0), SYSTEM) is None


def test_anchors_have_as_many_queries_as_their_time_has():
    assert plan.FederationPlan().workload(plan.ANCHORS[1], 12.0)["queries"] == 480


def test_a_system_with_all_costs_is_measured():
    measured = Measured(fitted().roles)
    assert not model_of(reference().with_system(SYSTEM.name, measured), SYSTEM).unmeasured
    without = Measured({**fitted().roles, "bdrs": Costs(1, 1, 1, work_us={UNITS[0]: constant(1)})})
    assert f"{UNITS[1]} of bdrs" in model_of(reference().with_system(SYSTEM.name, without), SYSTEM).unmeasured


def test_the_rates_of_the_study_are_the_shares_of_its_preset_of_what_one_broker_bears():
    borne = borne_per_s(reference().systems[SYSTEM.name].roles["broker"])
    rates = {order.configuration["workload"]["rate_per_s"] for order in orders_of(CALIBRATED_STUDY, PAPER)}
    shares = [rate / borne for rate in sorted(rates) if rate > 60]
    assert shares == pytest.approx([0.14, 0.28, 0.42, 0.56, 0.70, 0.84], rel=0.01)


def test_a_calibration_says_whether_hot_paths_were_compiled():
    assert machine()["hot_paths"] == ("compiled" if is_used() else "plain Python")


@thoroughly
def test_live_servers_and_fleets_are_measured(tmp_path, monkeypatch):
    """With few messages; that costs are above nothing is all that so few can say."""
    for name, count in (("MESSAGES", 10), ("ROUNDS", 2), ("RESTED", 2), ("KEPT", 20)):
        monkeypatch.setattr(probes, name, count)
    with own_supervisor() as client:
        costs = probes.server_costs(client, tmp_path)
        service = probes.service_costs(client, tmp_path)
        kept = probes.memory(client, tmp_path)
        load = {**probes.FLEET, "queries": 20, "expiry_s": 1}
        fleet = fleet_costs(client, tmp_path / "fleet", SYSTEM, load, probes.PUBLISHED)
    assert costs.keys() >= KNOWN.keys()
    assert min(one.spent_us for one in fleet.values()) > 0
    larger = {name: one._replace(kilobytes=2 * one.kilobytes) for name, one in fleet.items()}
    found = {plan.COSTS: [costs], plan.SERVICE: [service], plan.MEMORY: [kept]}
    found |= {plan.FLEET: [larger], plan.BINARY: [fleet], plan.SLOW: [fleet]}
    assert plan.FederationPlan().fit(found).roles["broker"].batch_us > 0

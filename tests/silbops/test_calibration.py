"""The costs of brokers and clients: measured by probes, fitted without a search."""

from __future__ import annotations

from collections import Counter

import pytest

from overlay.core.calibration import Measured
from overlay.core.engines import SIMULATED
from overlay.core.node import MILLISECOND
from overlay.deployment.deployment import Deployment
from overlay.journal.facts import Row
from overlay.runtime.calibrated import model_of, reference
from overlay.runtime.own_supervisor import own_supervisor
from overlay.systems.silbops.names import UNITS
from overlay.systems.silbops.rows import ContextSet, row
from overlay.systems.silbops.system import SYSTEM
from telemetry.calibration import fleets, speaking
from telemetry.calibration.anchors import document_for
from telemetry.systems.silbops.calibration import plan, probes
from tests.thorough import thoroughly

BATCH, DATAGRAM, SENT, OUT, SETCTX, PUBLISH, CANDIDATE, TESTED = 16.0, 12.0, 8.0, 4.0, 6.0, 10.0, 0.01, 0.05
READ, ANSWER, CHANGED = BATCH + DATAGRAM, SENT + OUT, BATCH + DATAGRAM + SETCTX + SENT + OUT
NOTIFIED = SENT + OUT + CANDIDATE + TESTED
WARM = {
    "setctx": CHANGED,
    "setctx, more": CHANGED + 19 * (SETCTX + OUT),
    "setctx, together": CHANGED - BATCH * 15 / 16,
    "unsubscribe": READ + ANSWER + 20,
    "advertise": READ + ANSWER + 25,
    "publish": CHANGED + PUBLISH,
    "publish, more": CHANGED + 20 * PUBLISH,
    "publish, told": CHANGED + PUBLISH + NOTIFIED,
    "publish, told, more": CHANGED + 20 * (PUBLISH + OUT + CANDIDATE + TESTED) + SENT,
    "publish, notified": CHANGED + PUBLISH + 20 * NOTIFIED,
    "publish, candidates": CHANGED + PUBLISH + 500 * CANDIDATE,
    "publish, tested": CHANGED + PUBLISH + 500 * (CANDIDATE + TESTED),
    "ctx": READ + 5,
    "unsub": READ + 22,
    "replace": READ + SENT + 5 * (30 + 20 + 2 * OUT),
    "replace, sent on": 2 * (READ + SENT) + 5 * (30 + 20 + 4 * OUT + 50),
    "replace, far": READ + 5 * (35 + 22),
    "pub": READ + ANSWER + 9 + CANDIDATE + TESTED,
}
"""What a broker of these costs takes."""
COLDER = {"setctx": 100.0, "publish, told": 110.0, "ctx": 100.0, "pub": 130.0, "replace": 115.0, "replace, far": 120.0}
KNOWN = WARM | {
    speaking.rested(what, rest_s): WARM[what] + more for rest_s in speaking.RESTS_S for what, more in COLDER.items()
}
KINDS = plan.PUBLISHERS, plan.SUBSCRIBERS
MEMORY = {"idle_rss": 3e7, "idle_pss": 9e6, "idle_uss": 4e6, "each": 900.0}


def fitted(busier: float = 1.0):
    """Of two rounds, in the second of which everything took ``busier`` times as long."""

    def runs(us, kilobytes=8):
        return [dict.fromkeys(KINDS, fleets.Fleet(n * us, 100, kilobytes)) for n in (1, busier)]

    costs = [KNOWN, {name: busier * us for name, us in KNOWN.items()}]
    results = {plan.COSTS: costs, plan.MEMORY: 2 * [MEMORY], plan.AT_ONCE: runs(2_000), plan.FLEET: runs(5_000)}
    results |= {plan.SLOW: runs(9_000), plan.LONG: runs(9_800, 16)}
    return plan.SilbopsPlan().fit(results)


def test_costs_are_differences_of_what_was_measured():
    broker = fitted().roles["broker"]
    work = {name: curve.at(0) for name, curve in broker.work_us.items()}
    assert (broker.batch_us, broker.other_us, broker.sent_us) == pytest.approx((BATCH, DATAGRAM, SENT), abs=0.01)
    expected = {"in_setctx": SETCTX, "in_publish": PUBLISH, "in_pub": 9, "in_ctx": 5, "in_sub": 35, "in_unsub": 22}
    expected |= {"in_subscribe": 30, "in_unsubscribe": 20, "in_advertise": 25, "in_other": SETCTX, "out_messages": OUT}
    expected |= {"out_sub": 50, "candidates": CANDIDATE, "scope_tests": TESTED}
    assert work == pytest.approx(expected, abs=0.02)
    assert set(work) == set(UNITS)


def test_after_a_sleep_all_is_colder_and_publications_more_so():
    broker = fitted().roles["broker"]
    assert broker.cold_us.at(20 * MILLISECOND) == 100
    work = {name: curve.at(20 * MILLISECOND) - curve.at(0) for name, curve in broker.work_us.items()}
    assert (work["in_setctx"], work["in_publish"], work["in_ctx"], work["in_pub"]) == pytest.approx((0, 10, 0, 30))


def test_replacements_after_a_sleep_cost_more_each():
    work = {name: curve.at(20 * MILLISECOND) - curve.at(0) for name, curve in fitted().roles["broker"].work_us.items()}
    assert (work["in_subscribe"], work["in_sub"], work["in_unsubscribe"]) == pytest.approx((3, 4, 0))


def test_clients_pay_for_datagrams_and_bytes_before_they_send():
    subscribers = fitted().roles[plan.SUBSCRIBERS]
    assert (subscribers.other_us, subscribers.sent_us, subscribers.kilobyte_us) == (12, 12, 100)
    assert subscribers.sends_last


def test_clients_pay_more_for_a_datagram_after_any_sleep_and_more_after_a_long_one():
    subscribers = fitted().roles[plan.SUBSCRIBERS]
    assert [subscribers.cold_us.at(round(ms * MILLISECOND)) for ms in (0, 0.05, 2, 20)] == [0, 30, 30, 70]


def test_the_busier_round_does_not_count():
    found = fitted(busier=3)
    assert found.roles == fitted().roles
    assert found.precision["costs"]["setctx"] == {"us": 46, "low": 46, "median": 92, "high": 138, "turns": 2}


def test_anchors_compare_the_time_until_a_change_of_context_is_applied():
    took = plan.SilbopsPlan().took_us
    assert took(row(5_000, ContextSet("subscriber-1", "{}", 1_000, 1_200, 1_900, True)), SYSTEM) == 900
    assert took(row(5_000, ContextSet("subscriber-1", "{}", 1_000, 1_200, 1_900, False)), SYSTEM) is None
    assert took(row(5_000, ContextSet("subscriber-1", "{}", 1_000, 1_200, 0, True)), SYSTEM) is None
    assert took(row(5_000, ContextSet("subscriber-1", "{}", 1_000, 1_200, 1_200, True)), SYSTEM) is None, "at once"
    assert took(Row("", 1, "delivered", []), SYSTEM) is None


def test_the_anchors_of_studies_are_configurations_of_the_presets(tmp_path):
    anchors = plan.SilbopsPlan.more_anchors
    assert Counter(one.name.partition(",")[0] for one in anchors) == {"E2.1": 1, "E2.3": 1, "E2.4": 2, "E2.5": 1}
    for number, anchor in enumerate(anchors):
        document = document_for(anchor, plan.SilbopsPlan(), SYSTEM, tmp_path / str(number), 0, 12.0)
        assert Deployment.from_json(document, SIMULATED).graph.brokers == anchor.brokers


def test_a_system_with_all_costs_is_measured():
    measured = Measured(fitted().roles)
    assert not model_of(reference().with_system(SYSTEM.name, measured), SYSTEM).unmeasured


@thoroughly
def test_live_brokers_and_fleets_are_measured(tmp_path, monkeypatch):
    """With few messages; that all is measured is all that so few can say."""
    for name, count in (("MESSAGES", 10), ("ROUNDS", 2), ("RESTED", 2), ("KEPT", 20)):
        monkeypatch.setattr(probes, name, count)
    with own_supervisor() as client:
        costs = probes.broker_costs(client, tmp_path)
        kept = probes.memory(client, tmp_path)
        few = {"notifications": 50, "changes": 200, "duration_s": 5}
        at_once = fleets.fleet_costs(client, tmp_path / "once", SYSTEM, {**probes.AT_ONCE, **few}, {})
        fleet = fleets.fleet_costs(client, tmp_path / "fleet", SYSTEM, {**probes.FLEET, "duration_s": 1}, {})
        long = fleets.fleet_costs(client, tmp_path / "long", SYSTEM, {**probes.SLOW, "duration_s": 1}, probes.IN_SIENA)
    assert costs.keys() == KNOWN.keys()
    assert all(us > 0 for what, us in costs.items() if "rested" in what), "each reached the broker that was measured"
    found = {plan.COSTS: [costs], plan.MEMORY: [kept], plan.AT_ONCE: [at_once]}
    found |= {plan.FLEET: [fleet], plan.SLOW: [fleet], plan.LONG: [long]}
    assert plan.SilbopsPlan().fit(found).roles["broker"].batch_us > 0

"""Who does what when: the same in all arms of an experiment."""

from dataclasses import replace
from statistics import fmean, stdev

import pytest

from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.core.node import SECOND
from overlay.systems.contract import Setup
from overlay.systems.federation.load.arrivals import NOTES_AFTER, asked, published
from overlay.systems.federation.load.links import shape
from overlay.systems.federation.load.plans import fleets, plan_clients
from overlay.systems.federation.load.times import schedule
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.workload import Workload
from overlay.topologies import Graph

CHAIN = Graph(3, (Link(0, 1), Link(1, 2)))
SINGLE = Graph(1, ())


def drawn(workload, seed=5):
    found = asked(workload, seed)
    return [(client, at, found.scope(k), found.is_low(k)) for client in range(6) for k in found.of(client)
            for at in [found.times[k]]]  # fmt: skip


def test_arrivals_are_equal_whatever_the_settings():
    base = Workload(queries=200, priority_low_share=0.3)
    assert len(drawn(base)) == 200
    for other in ({"expiry_s": 5.0}, {"payload_bytes": 9}, {"assignment": "random"}, {"stagger_ms": 1.0},
                  {"client_delay_ms": 3.0}, {"provider_ms": 9.0}, {"duration_s": 9.0}):  # fmt: skip
        assert drawn(replace(base, **other)) == drawn(base), other
    assert drawn(base, seed=6) != drawn(base)


def test_more_queries_begin_with_the_same_and_a_rate_only_stretches():
    base = Workload(queries=200)
    assert (
        sorted(drawn(replace(base, queries=100)), key=lambda one: one[1])
        == sorted(drawn(base), key=lambda one: one[1])[:100]
    )
    faster = asked(replace(base, rate_per_s=20.0), 5)
    assert all(abs(2 * fast - slow) <= 2 for fast, slow in zip(faster.times, asked(base, 5).times, strict=True))
    assert list(faster.times) == sorted(set(faster.times))


def test_gaps_are_exponential_and_clients_and_scopes_uniform():
    found = asked(Workload(queries=20_000, rate_per_s=50.0), 5)
    gaps = [after - before for before, after in zip(found.times, found.times[1:], strict=False)]
    assert abs(fmean(gaps) / (SECOND / 50) - 1) < 0.03 and abs(stdev(gaps) / fmean(gaps) - 1) < 0.03
    assert all(abs(len(found.of(client)) - 20_000 / 6) < 250 for client in range(6))
    assert sum(len(found.of(client)) for client in range(6)) == 20_000 == len(found)
    scopes = [found.scope(number) for number in range(20_000)]
    assert all(abs(scopes.count(scope) - 20_000 / 12) < 200 for scope in range(12))


def test_popular_scopes_are_asked_for_more_often_at_the_same_times_by_the_same_clients():
    uniform, skewed = (asked(Workload(queries=20_000, popularity=one), 5) for one in ("uniform", "zipf"))
    assert skewed.times == uniform.times
    assert all(skewed.of(client) == uniform.of(client) for client in range(6))
    scopes = [skewed.scope(number) for number in range(20_000)]
    harmonic = sum(1 / k for k in range(1, 13))
    assert all(abs(scopes.count(scope) - 20_000 / harmonic / (scope + 1)) < 300 for scope in range(12))


def test_a_stream_subscribes_at_once_and_publishes_later():
    workload = Workload(kind="stream", subscriptions=50, notifications=80, queries=0)
    assert set(asked(workload, 5).times) == {0} and len(published(workload, 5)) == 80
    assert published(workload, 5).times[0] > NOTES_AFTER
    assert published(replace(workload, subscriptions=9), 5).times == published(workload, 5).times
    assert len(published(Workload(notifications=80), 5)) == 0


def homes(workload, graph, **settings):
    plans = plan_clients(Settings(**settings), workload, graph, 5)
    return {f"{plan.role[0]}{plan.number}": plan.broker for plan in plans}


def test_clients_are_assigned_in_blocks():
    assert homes(Workload(), CHAIN) == {
        **{f"p{number}": number // 4 for number in range(12)},
        **{f"c{number}": number // 2 for number in range(6)},
    }
    assert set(homes(Workload(), SINGLE).values()) == {0}
    assert set(homes(Workload(assignment="round-robin"), CHAIN).values()) == {0, 1, 2}
    with pytest.raises(InvalidSetting, match="positions"):
        homes(Workload(assignment="nearest"), CHAIN)


def test_over_the_radio_clients_of_the_phone_are_at_broker_0():
    def at_phone(**settings):
        return [
            name for name, broker in homes(Workload(), CHAIN, mobile_brokers="2", **settings).items() if broker == 2
        ]

    assert len(at_phone()) == len(at_phone(device="mcxb", energy_model="transfer")) == 6
    assert at_phone(energy_model="transfer") == []


def test_processes_have_at_most_a_thousand_clients():
    found = fleets(plan_clients(Settings(), Workload(consumers=2_500), CHAIN, 5))
    assert {process: len(plans) for process, plans in found.items()} == {
        "providers-0": 12,
        "consumers-0": 1_000,
        "consumers-1": 1_000,
        "consumers-2": 500,
    }


def times(workload, graph=CHAIN, **settings):
    return schedule(Setup(Settings(**settings), workload, graph, 5))


def test_measuring_lasts_until_the_last_query_and_draining_until_it_expires():
    workload = Workload(queries=200, expiry_s=7.0)
    found = times(workload)
    assert found.duration_s * SECOND == asked(workload, 5).times[-1] and found.drain_s == 7.0
    assert 18 * 0.2 + 1 <= found.ramp_s <= 18 * 0.2 + 2
    assert times(replace(workload, queries=0)).duration_s == 60.0
    stream = Workload(kind="stream", subscriptions=50, notifications=80, queries=0)
    assert times(stream).duration_s * SECOND == published(stream, 5).times[-1]
    assert times(replace(stream, notifications=0)).duration_s == 1.0


def test_the_ramp_covers_what_registrations_need():
    workload = Workload(queries=200)
    patient = times(workload, out_of_turn=False, exchange_s=10.0)
    assert patient.ramp_s == pytest.approx(18 * 0.2 + 1 + 2 * 10.0)
    slow = Graph(3, (Link(0, 1, delay_ms=100), Link(1, 2, delay_ms=300), Link(0, 2, delay_ms=200)))
    assert times(workload, slow).ramp_s == pytest.approx(18 * 0.2 + 1 + 2 * 0.05 + 2 * 0.2)
    far = times(replace(workload, client_delay_ms=100.0, client_jitter_ms=50.0))
    assert far.ramp_s - times(workload).ramp_s == pytest.approx(0.6)
    assert times(workload, Graph(4, (Link(0, 1), Link(2, 3)))).ramp_s == pytest.approx(18 * 0.2 + 1 + 0.05)


def test_links_of_clients():
    assert shape(Workload()) is None
    assert shape(Workload(client_delay_ms=4.0, client_jitter_ms=1.0, client_loss=0.1)).loss == 0.1

"""The clients of a workload at a scripted broker: what they do, and the facts that they report."""

import pytest

from overlay.core.node import MILLISECOND, SECOND
from overlay.journal.facts import Delivery, Sample
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.workload import Workload
from tests.federation.clients.hub import FleetWorld

SMALL = {"providers": 4, "consumers": 2, "scopes": 4, "queries": 30, "rate_per_s": 10.0, "stagger_ms": 100.0}


@pytest.mark.parametrize("encoding", ["msgpack", "contextml"])
def test_a_run_of_queries_and_its_facts(encoding):
    world = FleetWorld(Workload(**SMALL, provider_ms=5.0, expiry_s=5.0), encoding=encoding)
    world.finish()
    samples = world.facts(Sample, "consumer")
    assert len(samples) == 30 and {one.outcome for one in samples} == {"answered"}
    for one in samples:
        assert one.intended_us == one.sent_us and one.phase == "measuring" and one.broker == 0
        assert 5_000 <= one.ended_us - one.sent_us <= 40_000

    subscriptions = {(one.client, one.number): one for one in world.rows("subscriptions")}
    assert {(one.client, int(one.entity.split("|")[0])) for one in samples} == {
        (int(client[1:]), number) for client, number in subscriptions
    }
    assert all(one.reason == "satisfied" and one.once and one.hops == 0 for one in subscriptions.values())
    assert all(one.sent_us < one.accepted_us <= one.first_us == one.ended_us for one in subscriptions.values())

    notes = {(one.provider, one.number): one for one in world.rows("notes")}
    published = world.facts(Sample, "provider")
    assert {one.entity for one in published} == {f"{provider}|{number}" for provider, number in notes}
    assert all(one.outcome == "answered" and one.status == 0 for one in published)
    assert {sid for one in notes.values() for sid in one.satisfied} == {f"{c}|{n}" for c, n in subscriptions}
    assert all(one.published_us < one.accepted_us for one in notes.values())

    notifies = world.rows("notifies")
    assert {(one.client, one.number) for one in notifies} == set(subscriptions)
    assert all((one.provider, one.note) in notes for one in notifies)
    deliveries = world.facts(Delivery)
    assert {one.publication for one in deliveries} <= {one.entity for one in published}
    assert {one.copy for one in deliveries} == {1}
    counters = world.fleets["consumers-0"].tally.counters
    assert (counters["answered"], counters["outstanding"], counters["requests"]) == (30, 0, 30)
    assert all(driven.client.is_finished for driven in world.clients.values())


def test_what_no_provider_answers_times_out_at_its_expiry():
    world = FleetWorld(Workload(**{**SMALL, "queries": 5}, expiry_s=2.0))
    world.run(1)
    for number in range(4):
        vanish = {"what": "vanish", "way": "improper"}
        world.clients[f"provider-{number}"].client.fault(vanish, True, world.now)
    world.finish()
    samples = world.facts(Sample, "consumer")
    assert [one.outcome for one in samples] == ["timed_out"] * 5
    assert all(1_999_000 <= one.ended_us - one.intended_us <= 2_001_000 for one in samples)
    assert {one.reason for one in world.rows("subscriptions")} == {"expired"}


def test_starts_are_staggered_providers_first():
    world = FleetWorld(Workload(**SMALL))
    world.finish()
    registered = [(at, m_.advertisement.id) for at, m_ in world.brokers[0].heard if isinstance(m_, m.Register)]
    assert [name for _, name in registered] == ["p0", "p1", "p2", "p3", "c0", "c1"]
    assert [round(at / 100) for at, _ in registered] == [0, 1, 2, 3, 4, 5]
    assert world.windows.measuring >= 500 * MILLISECOND + SECOND


@pytest.mark.parametrize("way", ["proper", "improper"])
def test_a_client_vanishes_and_returns_with_a_new_registration(way):
    world = FleetWorld(Workload(**{**SMALL, "queries": 60}), keepalive_s=2.0)
    world.run(3)
    client, broker = world.clients["provider-1"].client, world.brokers[0]
    before = client.core.registration
    document = {"what": "vanish", "clients": ["provider-1"], "way": way}
    client.fault(document, True, world.now)
    heard = len(broker.heard)
    world.run(3)
    own = [one for _, one in broker.heard[heard:] if getattr(one, "registration", 0) == before]
    kept = [one for _, one in broker.heard[heard:] if isinstance(one, m.KeepAlive) and one.number == before]
    assert (len(own), kept) == (1 if way == "proper" else 0, []) and client.core is None
    client.fault(document, False, world.now)
    world.run(1)
    assert client.core.is_in and broker.registrations["p1"].registration == client.core.registration > before


def test_the_queries_of_a_vanished_consumer_are_refused():
    world = FleetWorld(Workload(**SMALL))
    world.run(1)
    client = world.clients["consumer-0"].client
    client.fault({"what": "vanish", "way": "improper"}, True, world.now)
    world.finish()
    outcomes = {one.client: one.outcome for one in world.facts(Sample, "consumer")}
    assert outcomes == {0: "refused", 1: "answered"} and client.is_finished


def test_providers_publish_in_a_stream_asked_or_not():
    workload = Workload(providers=4, consumers=3, scopes=2, kind="stream", subscriptions=9, notifications=40,
                        rate_per_s=20.0, expiry_s=30.0, stagger_ms=50.0)  # fmt: skip
    world = FleetWorld(workload)
    world.finish()
    samples = world.facts(Sample, "provider")
    assert len(samples) == 40 and not world.facts(Sample, "consumer")
    assert len(world.rows("notes")) == 40
    subscriptions = world.rows("subscriptions")
    assert len(subscriptions) == 9 and {one.reason for one in subscriptions} == {"expired"}
    assert len({one.intended_us for one in subscriptions}) == 1
    scopes = {(one.client, one.number): one.scopes[0] for one in subscriptions}
    owed = {(note.provider, note.number, *sid) for note in world.rows("notes") for sid, scope in scopes.items()
            if scope == note.scope}  # fmt: skip
    notifies = world.rows("notifies")
    assert {(one.provider, one.note, one.client, one.number) for one in notifies} == owed
    assert len(notifies) == len(owed)


def test_low_priorities_have_their_share():
    world = FleetWorld(Workload(**{**SMALL, "queries": 200, "rate_per_s": 100.0}, priority_low_share=0.3))
    world.finish()
    priorities = [one.priority for message in world.brokers[0].all(m.Subscribe) for one in message.added]
    assert 35 <= priorities.count(0) <= 85 and set(priorities) == {0, 1}

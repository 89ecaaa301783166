"""A nomadic gateway: a provider whose broker is gone hands what it has stored to a mobile broker that comes by."""

from __future__ import annotations

import pytest

from overlay.systems.federation.clients import provider
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.settings import Settings
from tests.federation.village.village import Village

FIXED, NOMAD = 1, 2


@pytest.fixture
def village():
    """A provider at the end of a path, and a mobile broker at the other end of it."""
    settings = Settings(
        keepalive_s=2,
        broker_keepalive_s=5,
        exchange_s=1,
        give_up_s=1,
        cache_cap=0,
        discovery="multicast",
        mobile_brokers=str(NOMAD),
    )
    village = Village(3, [(0, FIXED), (0, NOMAD)], settings)
    village.terms.group = (village.addresses[FIXED], village.addresses[NOMAD])
    village.pass_ms(500)
    village.join("c0", 0)
    village.join("p0", FIXED, ("climate",))
    village.pass_ms(500)
    village.subscribe("c0", ("climate",), parse("x > 1"))
    village.pass_ms(500)
    return village


def publish(village, x, pass_ms=500):
    note = village.publish("p0", "climate", "r1", x)
    village.pass_ms(pass_ms)
    return note.id


def received(village):
    (one,) = village.ledger.subscribed.values()
    return list(one.received)


def test_what_a_provider_publishes_without_a_broker_travels_with_a_mobile_one(village):
    before = publish(village, 2)
    assert received(village) == [before]

    village.crash_broker(FIXED)
    village.crash_broker(NOMAD)
    stored = [publish(village, x) for x in (1, 2, 3)]  # the first satisfies nothing
    assert village.villagers["p0"].state == "out" and received(village) == [before]

    village.start_broker(NOMAD)
    village.go_offline(NOMAD)
    village.pass_ms(15_000)
    carried = publish(village, 3)
    assert village.villagers["p0"].broker == "b2"
    assert village.brokers["b2"].statistics(village.now)["carried"] == 4
    assert received(village) == [before], "the mobile broker has no connection yet"

    village.go_online(NOMAD)
    village.pass_ms(6_000)
    assert received(village) == [before, *stored[1:], carried]
    village.pass_ms(10_000)
    assert village.brokers["b2"].statistics(village.now)["carried"] == 0


def test_a_provider_without_a_broker_stores_a_bounded_number_the_newest_last(village, monkeypatch):
    monkeypatch.setattr(provider, "MOST_STORED", 3)
    village.crash_broker(FIXED)
    village.crash_broker(NOMAD)
    village.pass_ms(5_000)
    notes = [publish(village, 2, 0) for _ in range(5)]
    assert village.terms.counters["dropped_stored"] == 2
    village.start_broker(NOMAD)
    village.pass_ms(25_000)
    assert received(village) == notes[2:]

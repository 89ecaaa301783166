"""A mobile broker that moves, or is offline for a while: nothing is lost that is stored for it."""

from __future__ import annotations

import pytest

from overlay.systems.federation.language.text import parse
from overlay.systems.federation.settings import Settings
from tests.federation.village.village import Village

ANY = parse("true")


@pytest.fixture
def village():
    """The consumer is at the mobile broker, at the end of a path."""
    settings = Settings(keepalive_s=2, broker_keepalive_s=3, exchange_s=1, give_up_s=1, mobile_brokers="2")
    village = Village(3, [(0, 1), (1, 2)], settings)
    village.pass_ms(500)
    village.join("p0", 0, ("climate",))
    village.join("p1", 2, ("light",))
    village.join("c0", 2)
    village.join("c1", 0)
    village.pass_ms(500)
    village.subscribe("c0", ("climate", "light"), ANY)
    village.subscribe("c1", ("climate", "light"), ANY)
    village.pass_ms(500)
    assert village.differences() == []
    return village


def received(village, name):
    (one,) = (one for sid, one in village.ledger.subscribed.items() if sid.client == name)
    return set(one.received)


def test_a_move_loses_nothing(village):
    notes = set()
    for _ in range(5):
        village.move_broker(2)
        notes.add(village.publish("p0", "climate", "r1", 1).id)
        notes.add(village.publish("p1", "light", "r1", 1).id)
        village.pass_ms(3)
    village.rest()
    assert received(village, "c0") == received(village, "c1") == notes
    village.try_everything()


def test_what_is_published_while_it_is_offline_arrives_when_it_is_back(village):
    village.go_offline(2)
    notes = set()
    for x in (1, 2, 3):
        village.pass_ms(900)
        notes.add(village.publish("p0", "climate", "r1", x).id)
        notes.add(village.publish("p1", "light", "r1", x).id)
    village.pass_ms(100)
    assert received(village, "c0") == {nid for nid in notes if nid.provider == "p1"}
    assert received(village, "c1") == {nid for nid in notes if nid.provider == "p0"}
    village.go_online(2)
    village.rest()
    assert received(village, "c0") == received(village, "c1") == notes
    village.try_everything()


def test_away_for_too_long_it_is_a_network_of_its_own(village):
    village.go_offline(2)
    village.rest()
    village.try_everything()
    village.go_online(2)
    village.rest()
    village.try_everything()


def test_cut_off_from_its_neighbour_only_it_is_reached_another_way():
    settings = Settings(keepalive_s=2, broker_keepalive_s=1, exchange_s=1, give_up_s=1, mobile_brokers="2")
    village = Village(3, [(1, 2), (0, 1), (0, 2)], settings)
    village.pass_ms(500)
    village.join("p0", 0, ("climate",))
    village.join("c0", 2)
    village.pass_ms(500)
    village.subscribe("c0", ("climate",), ANY)
    assert village.tree() == {("b1", "b2"), ("b0", "b1")}
    village.cut(1, 2)
    assert village.tree() == {("b0", "b2"), ("b0", "b1")}
    village.rest()
    village.try_everything()
    village.heal(1, 2)
    village.rest()
    village.try_everything()

"""Merged subscriptions on the links of a running federation."""

from __future__ import annotations

import pytest

from overlay.systems.federation.language.text import parse
from overlay.systems.federation.settings import Settings
from tests.federation.village.village import Village


def path(**settings):
    """A consumer at one end, a provider at the other."""
    village = Village(3, [(0, 1), (1, 2)], Settings(give_up_s=1, covering="merging", cache_cap=0, **settings))
    village.pass_ms(500)
    village.join("p0", 2, ("climate",), answers=False)
    village.join("c0", 0)
    village.pass_ms(500)
    return village


def subscribe(village, text, expires_ms=60_000):
    return village.subscribe("c0", ("climate",), parse(text), expires_ms)


def received(village, one):
    return list(village.ledger.subscribed[one.id].received)


def held(village, broker):
    return len(village.brokers[broker].station.tables.subscriptions)


def test_beyond_a_link_a_union_stands_for_its_parts():
    village = path()
    several = [subscribe(village, f"x = {x}") for x in range(5)]
    village.pass_ms(500)
    assert [held(village, name) for name in ("b0", "b1", "b2")] == [5, 1, 1]
    notes = [village.publish("p0", "climate", "r1", x).id for x in (0, 3, 7)]
    village.pass_ms(500)
    assert [received(village, one) for one in several] == [[notes[0]], [], [], [notes[1]], []]
    village.withdraw(several[3].id)
    village.rest()
    village.try_everything()


def test_nothing_is_lost_when_the_first_part_of_a_union_expires():
    village = path()
    subscribe(village, "x = 1", 4_000)
    longer = [subscribe(village, f"x = {x}") for x in (2, 3)]
    village.pass_ms(2_500)
    notes = []
    for _ in range(100):
        notes.append(village.publish("p0", "climate", "r1", 2).id)
        village.pass_ms(25)
    village.pass_ms(200)
    assert [received(village, one) for one in longer] == [notes, []]
    assert [held(village, name) for name in ("b0", "b1", "b2")] == [2, 1, 1]


@pytest.mark.parametrize(("merging", "in_vain"), [("perfect", 0), ("imperfect", 1)])
def test_what_imperfect_merging_sends_in_vain_is_counted_and_reaches_no_client(merging, in_vain):
    village = path(merging=merging)
    several = [subscribe(village, "x between 1 and 2"), subscribe(village, "x between 4 and 5")]
    village.pass_ms(500)
    notes = [village.publish("p0", "climate", "r1", x).id for x in (2, 3, 4)]
    village.pass_ms(500)
    assert [received(village, one) for one in several] == [[notes[0]], [notes[2]]]
    counted = {name: one.statistics(village.now).get("false_positives", 0) for name, one in village.brokers.items()}
    assert counted == {"b0": in_vain, "b1": 0, "b2": 0}

"""Epochs as messages: whole, in parts, and as changes since any earlier one."""

from __future__ import annotations

from bisect import bisect_right
from random import Random

import pytest

from overlay.systems.federation.bdrs import epochs as module
from overlay.systems.federation.bdrs.epochs import MOST_ADVERTISEMENT, Epochs, size_of
from overlay.systems.federation.wire.codec import CODEC
from overlay.systems.federation.wire.messages import Brokers, Whole
from overlay.systems.federation.wire.values import BrokerAdvertisement, Candidate
from tests.thorough import examples


def broker(number, links=0, version=0):
    near = tuple(Candidate(f"other-{i}", i, True) for i in range(links))
    return BrokerAdvertisement(f"b{number:05}", f"10.0.0.1:{1 + version}", False, (number, 0.5), "", near)


def star(brokers):
    return tuple((brokers[0].id, other.id) for other in brokers[1:])


def sizes(messages):
    return [len(CODEC.encode(one)) for one in messages]


def received(messages, held=()):
    """What a receiver has afterwards: brokers by id, and edges."""
    if messages[0].whole is Whole.CHANGES:
        (one,) = messages
        kept = dict(held) | {broker.id: broker for broker in one.brokers}
        return {id: broker for id, broker in kept.items() if id not in one.gone}, one.edges
    assert [one.whole for one in messages] == [Whole.PART] * (len(messages) - 1) + [Whole.LAST]
    assert not any(one.gone for one in messages)
    together = {broker.id: broker for one in messages for broker in one.brokers}
    return together, tuple(dict.fromkeys(edge for one in messages for edge in one.edges))


@pytest.mark.parametrize("count", [0, 1, 255, 1_000])
def test_whole_in_as_many_parts_as_needed_each_with_all_edges(count):
    epochs, brokers = Epochs(), [broker(i, 8) for i in range(count)]
    edges = star(brokers) if brokers else ()
    epochs.publish(7, brokers, (), edges)
    epochs.check_invariants()
    messages = epochs.whole()
    assert max(sizes(messages)) <= 65_536
    assert all(one.edges == edges and one.epoch == 7 for one in messages)
    assert received(messages) == ({one.id: one for one in brokers}, edges)
    assert len(messages) <= 1 + count // 300


def test_so_many_edges_are_spread_over_parts():
    epochs, brokers = Epochs(), [broker(i) for i in range(6_000)]
    epochs.publish(1, brokers, (), star(brokers))
    messages = epochs.whole()
    assert max(sizes(messages)) <= 65_536
    assert received(messages) == ({one.id: one for one in brokers}, star(brokers))
    epochs.publish(2, [broker(0, version=1)], (), star(brokers))
    assert received(epochs.since(1))[0]["b00000"] == broker(0, version=1), "whole, as the edges fill a message"


def test_the_longest_advertisement_fits_with_half_a_message_of_edges():
    links = bisect_right(range(10_000), MOST_ADVERTISEMENT, key=lambda links: size_of(broker(0, links))) - 1
    assert size_of(broker(0, links)) > MOST_ADVERTISEMENT - 20
    brokers = [broker(i, links) for i in range(3)]
    edges = tuple((f"{i:064}", f"{i + 1:064}") for i in range(244))
    epochs = Epochs()
    epochs.publish(1, brokers, (), edges)
    messages = epochs.whole()
    assert len(messages) == 3 and all(one.edges == edges for one in messages)
    assert max(sizes(messages)) <= 65_536


def test_changes_since_every_epoch_give_what_all_gives(monkeypatch):
    monkeypatch.setattr(module, "MOST_GONE", 6)
    for seed in range(examples(40)):
        chance, epochs, live, history = Random(seed), Epochs(), {}, []
        begin = epoch = chance.randrange(1, 50)
        for _ in range(30):
            changed = [broker(i, version=chance.randrange(9)) for i in chance.sample(range(12), chance.randrange(3))]
            gone = [id for id in live if chance.random() < 0.1 and id not in {one.id for one in changed}]
            live = {id: one for id, one in live.items() if id not in gone} | {one.id: one for one in changed}
            edges = star([live[id] for id in sorted(live)]) if live else ()
            epochs.publish(epoch, changed, gone, edges)
            epochs.check_invariants()
            history.append((epoch, dict(live)))
            for had, held in history:
                assert received(epochs.since(had), held) == (live, edges)
            assert received(epochs.whole()) == (live, edges)
            epoch += chance.randrange(1, 3)
        assert epochs.since(epochs.epoch) == [Brokers(epochs.epoch, Whole.CHANGES, (), (), edges)]
        for unknown in (0, begin - 1, epochs.epoch + 1):
            assert epochs.since(unknown) == epochs.whole()


def test_changes_are_few():
    epochs, brokers = Epochs(), [broker(i) for i in range(100)]
    epochs.publish(1, brokers, (), star(brokers))
    epochs.publish(2, [broker(5, version=1)], ["b00007"], star(brokers[:7]))
    epochs.publish(3, [broker(7)], [], star(brokers[:8]))
    (since_1,), (since_2,) = epochs.since(1), epochs.since(2)
    assert since_1 == Brokers(3, Whole.CHANGES, (broker(5, version=1), broker(7)), (), star(brokers[:8]))
    assert since_2 == Brokers(3, Whole.CHANGES, (broker(7),), (), star(brokers[:8]))

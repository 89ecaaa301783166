"""A broker that will leave gives its entries to its neighbours."""

from dataclasses import replace

from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.table import Replica
from tests.broker.test_network import CONFIG, Wires
from tests.broker.transcript import WALL, D


def provide(net, broker, entity="r1", stamp=WALL, provider="p1"):
    times = f"{stamp}|{stamp + 60_000}"
    net.tell(net.addresses[broker], f"2|{stamp}|9|A|{provider}|room|{entity}|temp|{times}|degC=21.5", D)
    assert ["10" in text for _, text in net.read()] == [True, True], "101 and 102"


def hand_over(net, broker, now=0):
    """Its state after its neighbours have answered all there is."""
    giver = net.brokers[net.addresses[broker]]
    giver.hand_over(now)
    deliver(net, giver)
    return giver.to_give


def deliver(net, giver):
    for data, to in giver.datagrams_to_send():
        net.tell(to, data.decode(), giver.address)
    giver.check_invariants()


def test_its_entries_are_found_at_a_neighbour_after_it_has_left():
    net = Wires(3, [(0, 1), (1, 2)])
    for entity in ("r1", "r2", "r3"):
        provide(net, 1, entity)
    assert hand_over(net, 1) == (0, 3, 0)
    net.brokers[net.addresses[1]].leave(0)
    held = [len(net.brokers[net.addresses[index]].held_keys(0)) for index in (0, 2)]
    assert sorted(held) == [1, 2], "they take turns"


def test_a_value_that_arrives_meanwhile_is_given_too_and_a_newer_one_wins():
    net = Wires(2, [(0, 1)])
    provide(net, 1, stamp=WALL - 5)
    assert hand_over(net, 1) == (0, 1, 0)
    provide(net, 1)
    assert net.brokers[net.addresses[1]].to_give == (0, 2, 0)
    net.brokers[net.addresses[1]].leave(0)
    net.tell(net.addresses[0], f"3|{WALL + 6}|room|r1|temp")
    assert any(text.startswith(f"4|{WALL}|9|p1|") for _, text in net.read())


def test_a_replica_at_the_neighbour_becomes_the_original():
    net = Wires(2, [(0, 1)])
    provide(net, 1)
    giver, taker = (net.brokers[net.addresses[index]] for index in (1, 0))
    (entry,) = giver._storing.table
    taker._storing.store(Replica(entry.key, entry.provider, entry.valid_begin, entry.valid_end, entry.response), 0)
    assert taker.held_keys(0) == {("room", "r1", "temp"): False}
    hand_over(net, 1)
    assert taker.held_keys(0) == {("room", "r1", "temp"): True}


def test_what_no_neighbour_takes_is_counted_as_lost():
    net = Wires(2, [(0, 1)], replace(CONFIG, table_entries=16, provider_share=100, source_share=100))
    for index in range(16):
        provide(net, 0, f"full{index}", provider=f"p{index}")
    provide(net, 1)
    assert hand_over(net, 1) == (0, 0, 1)
    alone = Wires(1, [])
    provide(alone, 0)
    assert hand_over(alone, 0) == (0, 0, 1)


def test_a_neighbour_that_does_not_answer_is_asked_four_times_and_then_another_one():
    net = Wires(3, [(0, 1), (1, 2)])
    provide(net, 1)
    giver, now = net.brokers[net.addresses[1]], 0
    giver.hand_over(now)
    asked = []
    while giver.to_give[0] and len(asked) < 9:
        asked += [to for data, to in giver.datagrams_to_send() if data.startswith(b"2|")]
        now += 300 * MILLISECOND
        giver.handle_timer(now)
    assert asked == [net.addresses[0]] * 4 + [net.addresses[2]] * 4
    assert giver.to_give == (0, 0, 1)

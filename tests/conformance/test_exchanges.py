"""Section 3 of the wire protocol, exchange by exchange, against a broker daemon over real UDP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.conformance.plain import (
    Address,
    Peer,
    acknowledged,
    ask,
    befriend,
    join,
    neighbours,
    now_ms,
    refused,
    running_broker,
    store,
)


@pytest.fixture
def peers() -> Iterator[list[Peer]]:
    """Three plain sockets: a consumer (or controller) and two that play brokers."""
    three = [Peer() for _ in range(3)]
    yield three
    for peer in three:
        peer.close()


@pytest.fixture
def broker() -> Iterator[Address]:
    with running_broker() as address:
        yield address


def test_ping_is_answered_with_the_brokers_address(broker: Address, peers: list[Peer]) -> None:
    peers[0].send(f"1|{now_ms()}", broker)
    code, stamp, word, address = peers[0].hear().split("|")
    assert (code, word, address) == ("9", "Ctx_Broker", f"{broker[0]}:{broker[1]}")
    assert abs(int(stamp) - now_ms()) < 5_000


def test_what_was_stored_is_answered_as_it_came(broker: Address, peers: list[Peer]) -> None:
    provider, consumer, _ = peers
    payload = "note=a|b|*|127.0.0.1|9;grad=21,5 °C"
    stamp, begin, end = store(provider, broker, payload)
    size = len(payload.encode())
    assert ask(consumer, broker) == f"4|{stamp}|{size}|p1|room|r1|temp|{begin}|{end}|{payload}"


def test_an_update_for_unseen_data_is_stored(broker: Address, peers: list[Peer]) -> None:
    stamp, begin, end = store(peers[0], broker, flag="U")
    assert ask(peers[0], broker) == f"4|{stamp}|9|p1|room|r1|temp|{begin}|{end}|degC=21.5"


def test_the_later_timestamp_wins_whatever_the_order(broker: Address, peers: list[Peer]) -> None:
    stamp = now_ms()
    store(peers[0], broker, "degC=2", stamp=stamp, flag="U")
    store(peers[0], broker, "degC=1", stamp=stamp - 500, flag="U")
    store(peers[0], broker, "degC=3", stamp=stamp, flag="U")
    assert ask(peers[0], broker).endswith("|degC=2")


def test_of_several_providers_the_freshest_valid_entry_answers(broker: Address, peers: list[Peer]) -> None:
    stamp = now_ms()
    store(peers[0], broker, "degC=1", provider="p1", stamp=stamp - 10)
    store(peers[0], broker, "degC=2", provider="p2", stamp=stamp)
    store(peers[0], broker, "degC=3", provider="p3", stamp=stamp + 5, valid=(stamp + 60_000, stamp + 90_000))
    assert ask(peers[1], broker).endswith("|degC=2")


def test_expired_data_is_acknowledged_and_never_served(broker: Address, peers: list[Peer]) -> None:
    stamp = now_ms()
    store(peers[0], broker, valid=(stamp - 2_000, stamp - 1_000))
    assert refused(ask(peers[0], broker)) == (202, "ContextRequest", peers[0].name, [])


def test_a_stamp_from_the_future_is_refused(broker: Address, peers: list[Peer]) -> None:
    stamp = now_ms() + 60_000
    peers[0].send(f"2|{stamp}|1|A|p1|room|r1|temp|{stamp}|{stamp + 9}|x", broker)
    assert refused(peers[0].hear()) == (301, "ContextUpdateAdvertisement", peers[0].name, [])
    assert refused(ask(peers[0], broker))[0] == 202


def test_not_found_carries_the_querys_timestamp(broker: Address, peers: list[Peer]) -> None:
    stamp = now_ms() - 7
    answer = ask(peers[0], broker, "room|nowhere|temp", stamp)
    assert answer.split("|")[1] == str(stamp)
    assert refused(answer) == (202, "ContextRequest", peers[0].name, [])


def test_a_broker_forwards_with_the_address_it_heard_from_and_brings_the_answer_back(
    broker: Address, peers: list[Peer]
) -> None:
    consumer, neighbour, _ = peers
    befriend(consumer, broker, neighbour)
    asked = now_ms()
    consumer.send(f"3|{asked}|room|r1|temp", broker)
    assert acknowledged(consumer.hear()) == (101, "ContextRequest", consumer.name)
    assert neighbour.hear_code(3) == f"3|{asked}|room|r1|temp|{consumer.hop}"

    u = asked - 100
    entry = f"9|p1|room|r1|temp|{u}|{u + 120_000}|degC=21.5"
    neighbour.send(f"4|{u}|{entry}|{consumer.hop}", broker)
    assert consumer.hear() == f"4|{u}|{entry}"
    assert acknowledged(consumer.hear()) == (102, "ContextRequest", consumer.name)

    # Without a mark nothing was stored: the next question travels again.
    consumer.send(f"3|{asked + 1}|room|r1|temp", broker)
    consumer.hear()
    assert neighbour.hear_code(3) == f"3|{asked + 1}|room|r1|temp|{consumer.hop}"


def test_a_marked_answer_leaves_a_replica_as_old_as_its_original(broker: Address, peers: list[Peer]) -> None:
    consumer, neighbour, _ = peers
    befriend(consumer, broker, neighbour)
    asked = now_ms()
    consumer.send(f"3|{asked}|room|r1|temp", broker)
    consumer.hear()
    neighbour.hear_code(3)
    u = asked - 100
    entry = f"9|p1|room|r1|temp|{u}|{u + 120_000}|degC=21.5"
    neighbour.send(f"4|{u}|{entry}|{consumer.hop}|*", broker)
    assert consumer.hear() == f"4|{u}|{entry}"
    assert acknowledged(consumer.hear())[0] == 102
    assert ask(consumer, broker, stamp=asked + 1) == f"4|{u}|{entry}"


def test_the_worked_examples_holder_marks_the_slots_of_the_replicas(peers: list[Peer]) -> None:
    """D of the worked example, asked by B: index 2 marks both brokers between the consumer and D."""
    consumer, b, a = peers
    with running_broker("--replication-index", "2") as d:
        u, begin, end = store(consumer, d)
        befriend(consumer, d, b)
        t = now_ms()
        b.send(f"3|{t}|room|r1|temp|{consumer.hop}|{a.hop}", d)
        entry = f"4|{u}|9|p1|room|r1|temp|{begin}|{end}|degC=21.5"
        assert b.hear_code(4) == f"{entry}|{consumer.hop}|*|{a.hop}|*"
        # Nothing is acknowledged to a broker.
        assert b.hears_nothing(d)


def test_data_of_short_validity_is_not_replicated(peers: list[Peer]) -> None:
    consumer, b, a = peers
    with running_broker("--replication-index", "2", "--replication-threshold-ms", "60000") as d:
        stamp = now_ms()
        u, begin, end = store(consumer, d, stamp=stamp, valid=(stamp - 1000, stamp + 30_000))
        befriend(consumer, d, b)
        b.send(f"3|{now_ms()}|room|r1|temp|{consumer.hop}|{a.hop}", d)
        assert b.hear_code(4) == f"4|{u}|9|p1|room|r1|temp|{begin}|{end}|degC=21.5|{consumer.hop}|{a.hop}"


def test_not_found_goes_back_hop_by_hop(broker: Address, peers: list[Peer]) -> None:
    consumer, neighbour, _ = peers
    befriend(consumer, broker, neighbour)
    t = now_ms()
    consumer.send(f"3|{t}|room|r1|temp", broker)
    consumer.hear()
    neighbour.hear_code(3)
    neighbour.send(
        f"6|{t}|NACK|Status:202|Operation ContextRequest|Requested by {consumer.name}|{consumer.hop}", broker
    )
    answer = consumer.hear()
    assert answer.split("|")[1] == str(t)
    assert refused(answer) == (202, "ContextRequest", consumer.name, [])


def test_a_dead_end_answers_the_broker_that_asked(peers: list[Peer]) -> None:
    consumer, b, a = peers
    with running_broker() as d:
        befriend(consumer, d, b)
        t = now_ms()
        b.send(f"3|{t}|room|r1|temp|{consumer.hop}|{a.hop}", d)
        answer = b.hear_code(6)
        assert answer.split("|")[1] == str(t)
        assert refused(answer) == (202, "ContextRequest", consumer.name, [*consumer.hop.split("|"), *a.hop.split("|")])


def test_the_ttl_ends_a_walk(peers: list[Peer]) -> None:
    consumer, b, c = peers
    with running_broker("--walk-ttl", "1") as d:
        befriend(consumer, d, b)
        befriend(consumer, d, c)
        t = now_ms()
        b.send(f"3|{t}|room|r1|temp|{consumer.hop}", d)
        assert refused(b.hear_code(6))[0] == 202
        consumer.send(f"3|{t}|room|r1|temp", d)
        assert acknowledged(consumer.hear())[0] == 101


def test_a_duplicate_is_acknowledged_and_not_forwarded_again(broker: Address, peers: list[Peer]) -> None:
    consumer, neighbour, _ = peers
    befriend(consumer, broker, neighbour)
    t = now_ms()
    for _ in range(2):
        consumer.send(f"3|{t}|room|r1|temp", broker)
        assert acknowledged(consumer.hear())[0] == 101
    neighbour.hear_code(3)
    assert neighbour.hears_nothing(broker)


def test_an_answer_to_nothing_is_dropped(broker: Address, peers: list[Peer]) -> None:
    consumer, neighbour, victim = peers
    befriend(consumer, broker, neighbour)
    u = now_ms()
    neighbour.send(f"4|{u}|1|p1|room|r1|temp|{u}|{u + 120_000}|x|{victim.hop}|*", broker)
    assert neighbour.hears_nothing(broker)
    assert victim.hears_nothing(broker)
    consumer.send(f"3|{u}|room|r1|temp", broker)
    assert acknowledged(consumer.hear())[0] == 101
    assert neighbour.hear_code(3)  # it had to ask: the forged replica was not stored


def test_joining_makes_neighbours_of_both_and_twice_is_harmless(peers: list[Peer]) -> None:
    controller = peers[0]
    with running_broker() as a, running_broker() as b:
        join(controller, a, b)
        join(controller, a, b)
        assert neighbours(controller, a) == {f"{b[0]}:{b[1]}"}
        assert neighbours(controller, b) == {f"{a[0]}:{a[1]}"}


def test_joining_nobody_or_itself_is_refused(broker: Address, peers: list[Peer]) -> None:
    controller, silent, _ = peers
    controller.send(f"8|{now_ms()}|{silent.name}", broker)
    assert acknowledged(controller.hear()) == (101, "BrokerJoining", controller.name)
    assert refused(controller.hear()) == (201, "BrokerJoining", controller.name, [])
    controller.send(f"8|{now_ms()}|{broker[0]}:{broker[1]}", broker)
    assert acknowledged(controller.hear())[0] == 101
    assert refused(controller.hear()) == (201, "BrokerJoining", controller.name, [])
    assert neighbours(controller, broker) == set()


def test_leaving_is_told_three_times_and_a_stranded_neighbour_is_told_again(broker: Address, peers: list[Peer]) -> None:
    controller, neighbour, _ = peers
    befriend(controller, broker, neighbour)
    controller.send(f"7|{now_ms()}", broker)
    assert acknowledged(controller.hear()) == (101, "BrokerLeaving", controller.name)
    for _ in range(3):
        assert neighbour.hear_code(7).endswith("|*")
    assert neighbours(controller, broker) == set()
    t = now_ms()
    neighbour.send(f"3|{t}|room|r1|temp|{controller.hop}", broker)
    assert neighbour.hear_code(7).endswith("|*")


def test_a_leave_notice_drops_the_neighbour_that_sent_it(broker: Address, peers: list[Peer]) -> None:
    controller, neighbour, stranger = peers
    befriend(controller, broker, neighbour)
    stranger.send(f"7|{now_ms()}|*", broker)
    assert neighbours(controller, broker) == {neighbour.name}
    neighbour.send(f"7|{now_ms()}|*", broker)
    assert neighbour.hears_nothing(broker)
    assert neighbours(controller, broker) == set()


def test_monitoring_drops_the_silent_and_takes_back_the_healed(peers: list[Peer]) -> None:
    controller, neighbour, _ = peers
    with running_broker("--ping-interval-ms", "100") as broker:
        befriend(controller, broker, neighbour)
        for _ in range(2):
            controller.send(f"0|{now_ms()}", broker)
            assert acknowledged(controller.hear()) == (101, "StartNeighborsMonitoring", controller.name)
        while neighbours(controller, broker):
            pass  # silent: after three missed pings it is gone
        neighbour.hear_code(1)
        while not neighbours(controller, broker):
            neighbour.hear_code(1)
            neighbour.send(f"9|{now_ms()}|Ctx_Broker|{neighbour.name}", broker)


@pytest.mark.parametrize(
    ("bad", "operation"),
    [
        ("", "Unknown"),
        ("hello", "Unknown"),
        ("99|1", "Unknown"),
        ("90|1|k|s|1|1|00000000000000000000000000000000|1|1", "Unknown"),
        ("1", "Unknown"),
        ("3|x|room|r1|temp", "ContextRequest"),
        ("3|1|room||temp", "ContextRequest"),
        ("3|1|room|r1", "ContextRequest"),
        ("3|1|room|r1|temp|127.0.0.1", "ContextRequest"),
        ("3|01|room|r1|temp", "ContextRequest"),
        ("2|1|5|A|p1|room|r1|temp|1|2|four", "ContextUpdateAdvertisement"),
        ("2|1|4|A|p1|room|r1|temp|2|2|four", "ContextUpdateAdvertisement"),
        ("2|1|4|X|p1|room|r1|temp|1|2|four", "ContextUpdateAdvertisement"),
        ("2|1|0|A|p1|room|r1|temp|1|2|", "ContextUpdateAdvertisement"),
        ("8|1", "BrokerJoining"),
        ("8|1|nowhere", "BrokerJoining"),
        ("7|1|*|*", "BrokerLeaving"),
        ("0|1|x", "StartNeighborsMonitoring"),
    ],
)
def test_a_bad_message_is_refused_and_changes_nothing(
    broker: Address, peers: list[Peer], bad: str, operation: str
) -> None:
    peers[0].send(bad, broker)
    status, named, requester, hops = refused(peers[0].hear())
    assert (status, requester, hops) == (301, peers[0].name, [])
    assert named in {operation, "Unknown"}
    assert neighbours(peers[0], broker) == set()


@pytest.mark.parametrize(
    "bad", ["4|1", "4|x|y", "5|1|ACK", "6|1|NACK|Status:202", "9|1", "9|1|Ctx_Broker|x", "4|1|9|a"]
)
def test_a_malformed_answer_is_never_answered(broker: Address, peers: list[Peer], bad: str) -> None:
    peers[0].send(bad, broker)
    assert peers[0].hears_nothing(broker)


def test_bad_messages_are_answered_at_most_ten_times_a_second(broker: Address, peers: list[Peer]) -> None:
    for _ in range(200):
        peers[0].send("rubbish", broker)
    peers[0].send(f"1|{now_ms()}", broker)
    heard = 0
    while not peers[0].hear().startswith("9|"):
        heard += 1
    assert 1 <= heard <= 20  # the burst may straddle two seconds


def test_a_line_of_three_finds_over_two_hops(peers: list[Peer]) -> None:
    """The worked example end to end: consumer - A - B - D, index 1; one of A and B has a replica afterwards."""
    consumer, provider, _ = peers
    with running_broker() as a, running_broker() as b, running_broker() as d:
        join(consumer, a, b)
        join(consumer, b, d)
        u, begin, end = store(provider, d)
        assert ask(consumer, a) == f"4|{u}|9|p1|room|r1|temp|{begin}|{end}|degC=21.5"
        holders = 0
        for broker in (a, b):
            consumer.send(f"20|{now_ms()}", broker)
            counted = dict(pair.split("=") for pair in consumer.hear_code(21).split("|")[2].split(";") if pair)
            holders += int(counted["replicas"])
        assert holders == 1
        assert refused(ask(consumer, a, "room|r2|temp"))[0] == 202


def test_a_ring_of_ten_finds_from_everywhere(peers: list[Peer]) -> None:
    consumer, provider, _ = peers
    with ExitStack() as stack:
        ring = [stack.enter_context(running_broker("--replication-index", "0")) for _ in range(10)]
        for here, there in zip(ring, ring[1:] + ring[:1], strict=True):
            join(consumer, here, there)
        for broker in ring:
            assert len(neighbours(consumer, broker)) == 2
        u, begin, end = store(provider, ring[5])
        for position, broker in enumerate(ring):
            answer = ask(consumer, broker, stamp=now_ms() + position)
            assert answer == f"4|{u}|9|p1|room|r1|temp|{begin}|{end}|degC=21.5"
        assert refused(ask(consumer, ring[0], "room|r2|temp"))[0] == 202

"""A server that lives on the log: what it settles, what it rejects, and what it answers operators."""

from __future__ import annotations

import msgpack

from overlay.channel import wire
from overlay.core.chance import Chances
from overlay.core.errors import WireError
from overlay.log.node import Assignment, Subscription
from overlay.log.topics import Position, Record
from overlay.peers.questions import ask_figures, ping, read_answer, read_figures
from overlay.systems.contextnet.log_server import LogServer

OWN, ASKER = ("127.0.0.1", 5000), ("127.0.0.1", 6000)
WHOLE = Assignment("letters", "copiers", 0, 0)


class Copier(LogServer):
    """Appends each letter to another topic, and settles it when the copy is durable."""

    def subscriptions(self) -> tuple[Subscription, ...]:
        return (Subscription("letters", "copiers"),)

    def read(self, record: Record) -> None:
        if not record.value.isalpha():
            raise WireError("no letter")
        self.append("copies", record.key, record.value, lambda: self.settle(record))


def copier() -> Copier:
    server = Copier("copier-0", OWN, Chances.streams(1), 0)
    server.assigned([WHOLE], 0)
    return server


def letter(position: int, value: bytes = b"a") -> Record:
    return Record("letters", 0, position, b"key", value, 0)


def test_a_record_is_settled_when_what_follows_from_it_is_durable() -> None:
    server = copier()
    server.receive_records([letter(3), letter(7)], 1)
    first, second = server.records_to_append()
    server.appended([second.token], 2)
    assert server.positions_to_commit() == []
    server.appended([first.token], 3)
    assert server.positions_to_commit() == [Position("letters", "copiers", 0, 8)]
    server.check_invariants()


def test_what_it_cannot_read_goes_to_rejected_and_is_settled() -> None:
    server = copier()
    server.receive_records([letter(1, b"\xc1")], 1)
    (found,) = server.records_to_append()
    assert found.topic == "rejected"
    value = msgpack.unpackb(found.value)
    assert (value["topic"], value["reader"], value["reason"]) == ("letters", "copier-0", "no letter")
    assert value["value"] == b"\xc1"
    server.appended([found.token], 2)
    assert server.positions_to_commit() == [Position("letters", "copiers", 0, 2)]


def test_a_partition_that_comes_back_is_read_again_though_an_old_copy_becomes_durable() -> None:
    server = copier()
    server.receive_records([letter(1), letter(2)], 1)
    old = server.records_to_append()
    server.revoked([WHOLE], 2)
    server.assigned([WHOLE], 3)
    server.receive_records([letter(1)], 4)
    server.appended([one.token for one in old], 5)
    server.check_invariants()
    server.receive_records([letter(2)], 6)
    server.check_invariants()
    assert server.positions_to_commit() == [Position("letters", "copiers", 0, 2)]


def test_it_takes_no_more_records_than_it_has_room_for() -> None:
    server = copier()
    (subscription,) = server.subscriptions()
    room = server.room(subscription)
    server.receive_records([letter(position) for position in range(room)], 1)
    assert server.room(subscription) == 0


def test_it_answers_operators_of_its_host_and_no_others() -> None:
    server = copier()
    server.receive_records([letter(1)], 1)
    server.receive_datagrams([(ping(1), ASKER), (ask_figures(2), ASKER), (ping(3), ("192.0.2.1", 9)), (b"x", ASKER)], 2)
    pinged, figures, refused = server.datagrams_to_send()
    assert read_answer(pinged[0]) is not None
    assert pinged[1] == ASKER
    counted = read_figures(figures[0])
    assert counted is not None
    assert (counted["in_letters"], counted["out_copies"], counted["unsettled"]) == (1, 1, 1)
    assert read_figures(refused[0]) is None
    assert len(wire.loose(b"copier-0", b"")) < len(refused[0])
    assert server.statistics(2)["malformed_loose"] == 1

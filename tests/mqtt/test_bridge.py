"""One bridge: acknowledgements, bounds, reconnecting, what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from overlay.core.errors import InvalidSetting
from overlay.core.node import SECOND
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.mqtt import known
from overlay.systems.context_broker.mqtt.bridge import Bridge
from overlay.systems.context_broker.mqtt.inward import Outcome
from overlay.systems.context_broker.mqtt.outward import SPARE_TIMERS
from overlay.systems.context_broker.mqtt.settings import read_settings
from overlay.systems.context_broker.mqtt.topic import MOST_WITHDRAWN
from overlay.systems.context_broker.mqtt.values import Value
from tests.mqtt.world import BEGIN_MS, PATTERN, Net, Server, Side, World

BEGIN = 5 * SECOND


def bridge(**document: Any) -> Bridge:
    one = Bridge(read_settings({"in": PATTERN, "out": PATTERN, **document}), WallClock(BEGIN_MS * 1_000_000), ["own"])
    one.connected(0)
    assert one.take_messages(BEGIN) == []
    return one


def value(entity: str, payload: str, timestamp: int = BEGIN_MS, provider: str = "p") -> Value:
    return Value(provider, ("t", entity, "s"), timestamp, timestamp, timestamp + 60_000, payload.encode())


def test_a_message_is_acknowledged_when_the_network_has_it_and_in_its_turn() -> None:
    one = bridge()
    for mid, entity in enumerate("abc"):
        one.message(f"c/t/{entity}/s", b'{"v":1}', BEGIN, mid=mid)
    a, b, c = one.take_operations(BEGIN)
    assert one.take_acknowledgements() == []
    one.ended(b, Outcome.STORED, BEGIN)
    assert one.take_acknowledgements() == [], "the first one has not been stored"
    one.ended(a, Outcome.UNANSWERED, BEGIN)
    assert one.take_acknowledgements() == [] and one.take_operations(BEGIN) == []
    (again,) = one.take_operations(BEGIN + SECOND)
    assert again is a
    one.ended(a, Outcome.STORED, BEGIN + SECOND)
    assert one.take_acknowledgements() == [0, 1]
    one.ended(c, Outcome.STORED, BEGIN + SECOND)
    assert one.take_acknowledgements() == [2]
    one.check_invariants()


def test_a_later_message_supersedes_one_that_waits() -> None:
    one = bridge()
    for mid in range(4):
        one.message("c/t/a/s", b'{"v":%d}' % mid, BEGIN + mid, mid=mid)
        if mid == 0:
            (first,) = one.take_operations(BEGIN)
    one.ended(first, Outcome.STORED, BEGIN)
    assert one.take_acknowledgements() == [0]
    (last,) = one.take_operations(BEGIN)
    assert last.value.payload == b"v=3"
    one.ended(last, Outcome.STORED, BEGIN)
    assert one.take_acknowledgements() == [1, 2, 3]
    assert one.sizes()["superseded"] == 2


def test_what_the_network_refuses_again_and_again_is_given_up() -> None:
    one = bridge(tries=2)
    one.message("c/t/a/s", b'{"v":1}', BEGIN, mid=7)
    now = BEGIN
    for _ in range(2):
        (operation,) = one.take_operations(now)
        assert one.take_acknowledgements() == []
        one.ended(operation, Outcome.REFUSED, now, "no room")
        now += 2 * SECOND
    assert one.take_acknowledgements() == [7]
    assert one.counts["refused_by_network"] == 1 and "no room" in one.last_refusal


def test_bounds() -> None:
    one = bridge(waiting=2, receive_maximum=3, topics=5)
    for number in range(4):
        one.message(f"c/t/{number}/s", b'{"v":1}', BEGIN)
    assert one.counts["dropped"] == 2, "of quality of service 0"
    for mid in range(4):
        one.message("c/t/0/s", b'{"v":2}', BEGIN, mid=mid)
    assert one.is_full and one.sizes()["waiting_in"] == 2
    for number in range(4, 9):
        one.message(f"c/t/{number}/s", b'{"v":1}', BEGIN)
    assert one.counts["refused_topic"] == 4 and "more than 5 topics" in one.last_refusal
    one.check_invariants()


@pytest.mark.parametrize(
    ("topic", "payload", "count", "said"),
    [
        ("c/t/a/s", b"not json", "refused_payload", "is not JSON"),
        ("c/t/%ff/s", b"1", "refused_topic", "not UTF-8"),
        ("c/t/a/s", b'{"v":1,"timestamp":1900000000000}', "refused_payload", "ahead of the clock"),
        ("other", b"1", "unmatched", ""),
        ("own", b"1", "unmatched", ""),
        ("c/t/a/s", b"", "cleared_unknown", ""),
        ("c/t/a/s", b'{"v":1,"valid_end":1600000000000}', "late", ""),
    ],
)
def test_what_cannot_be_used_is_counted_and_acknowledged(topic: str, payload: bytes, count: str, said: str) -> None:
    one = bridge()
    one.message(topic, payload, BEGIN, mid=1)
    assert one.counts[count] == 1 and said in one.last_refusal
    assert one.take_operations(BEGIN) == [] and one.take_acknowledgements() == [1]


def test_entries_become_retained_messages_with_their_times() -> None:
    one = bridge()
    one.stored(value("a", "degC=21.50", BEGIN_MS + 4000), BEGIN)
    (message,) = one.take_messages(BEGIN)
    assert message.topic == "c/t/a/s" and message.expiry_s == 61
    assert json.loads(message.payload) == {
        "degC": 21.5,
        "provider": "p",
        "timestamp": BEGIN_MS + 4000,
        "valid_end": BEGIN_MS + 64_000,
    }
    assert one.take_messages(BEGIN) == []
    one.received("c/t/a/s", BEGIN)
    one.message(message.topic, message.payload, BEGIN, mid=1)
    assert one.take_operations(BEGIN) == [] and one.take_acknowledgements() == [1], "its own echo"
    assert one.take_messages(BEGIN) == []
    due = one.next_timer()
    assert due == 64 * SECOND
    (empty,) = one.take_messages(due)
    assert (empty.topic, empty.payload) == ("c/t/a/s", b"")


def test_entries_that_no_message_or_topic_can_carry_are_counted() -> None:
    one = bridge()
    one.stored(value("a", "provider=x"), BEGIN)
    one.stored(Value("p", ("t", "", "s"), BEGIN_MS, BEGIN_MS, BEGIN_MS + 60_000, b"v=1"), BEGIN)
    assert one.take_messages(BEGIN) == []
    assert one.counts["refused_entry"] == 1 and one.counts["refused_topic"] == 1


def test_a_topic_that_would_be_read_as_another_entity_is_not_published() -> None:
    one = bridge(
        **{
            "in": {"pattern": "x/{entity}", "type": "t", "scope": "s"},
            "out": {"pattern": "x/x-{entity}", "type": "t", "scope": "s"},
        }
    )
    one.stored(value("a", "v=1"), BEGIN)
    assert one.take_messages(BEGIN) == [] and one.counts["refused_topic"] == 1


def test_a_retained_message_of_unknown_age_counts_only_where_nothing_is_known() -> None:
    one = bridge()
    one.stored(value("a", "v=1", BEGIN_MS + 4000), BEGIN)
    one.message("c/t/a/s", b'{"v":0}', BEGIN, mid=1, is_retained=True)
    one.message("c/t/b/s", b'{"v":0}', BEGIN, mid=2, is_retained=True, expiry_s=9)
    (operation,) = one.take_operations(BEGIN)
    assert operation.value.key[1] == "b" and operation.value.valid_end == BEGIN_MS + 5000 + 9000
    assert one.take_acknowledgements() == [1]
    assert [message.topic for message in one.take_messages(BEGIN)] == ["c/t/a/s"]


def test_a_sensor_that_clears_its_topic_withdraws_what_it_said_and_nothing_later() -> None:
    one = bridge()
    one.message("c/t/a/s", b'{"v":1,"provider":"p"}', BEGIN)
    (operation,) = one.take_operations(BEGIN)
    one.ended(operation, Outcome.STORED, BEGIN)
    one.message("c/t/a/s", b"", BEGIN, mid=1)
    (withdrawal,) = one.take_operations(BEGIN)
    assert withdrawal.is_withdrawal and withdrawal.value.timestamp == operation.value.timestamp + 1
    one.ended(withdrawal, Outcome.STORED, BEGIN)
    assert one.take_acknowledgements() == [1]
    one.message("c/t/a/s", b'{"v":1,"provider":"p"}', BEGIN + 5)
    one.stored(value("a", "v=2", BEGIN_MS + 5010), BEGIN + 5)
    one.message("c/t/a/s", b"", BEGIN + 5, mid=2)
    (withdrawn,) = one.take_operations(BEGIN + 5)
    assert withdrawn.value.timestamp < BEGIN_MS + 5010
    now = BEGIN + SECOND
    assert [message.payload[:6] for message in one.take_messages(now)] == [b'{"v":2']


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({}, "in"),
        ({"in": 7}, "in"),
        ({"in": [7]}, "in.pattern"),
        ({"in": {"pattern": "a/{entity}"}}, "in.pattern"),
        ({"in": [PATTERN, {"pattern": PATTERN, "format": "xml"}]}, "in.1.format"),
        ({"in": {"pattern": PATTERN, "valid_ms": 0}}, "in.valid_ms"),
        ({"out": {"pattern": PATTERN, "color": "red"}}, "out.color"),
        ({"in": PATTERN, "colour": 1}, "colour"),
        ({"in": PATTERN, "provider": ""}, "provider"),
        ({"in": PATTERN, "topics": 0}, "topics"),
        ({"in": PATTERN, "fields": {"x": "y"}}, "fields.x"),
        ({"in": PATTERN, "fields": "x"}, "fields"),
    ],
)
def test_wrong_settings_are_refused_with_their_field(document: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        read_settings(document)
    assert caught.value.field == field


@pytest.mark.parametrize("seed", range(12))
def test_nothing_that_was_acknowledged_is_lost(seed: int) -> None:
    """Connections break, operations get no answer; each acknowledged message is in the network, or a later one is."""
    world = World(seed)
    net, server = Net(world, loss=0.4), Server(world)
    side = Side(net, server)
    sent: dict[int, tuple[str, int]] = {}
    acknowledged: list[tuple[str, int]] = []
    hear, acknowledge = side.hear, side.session.acknowledge

    def heard(one: Any) -> None:
        fields = json.loads(one.payload)
        if "provider" not in fields and not one.is_retained:
            sent[one.mid] = one.topic, fields["v"]
        hear(one)

    def acknowledged_now(mid: int) -> None:
        if mid in sent:
            topic, number = sent[mid]
            stored = max((int(v.payload[2:]) for v in net.entries.values() if v.key[1] == topic[4]), default=-1)
            assert stored >= number
            acknowledged.append(sent[mid])
        acknowledge(mid)

    side.hear, side.session.acknowledge = heard, acknowledged_now  # type: ignore[method-assign]
    for number in range(60):
        entity, at = world.random.choice("abc"), world.now + number * 50_000_000
        world.at(at, lambda entity=entity, number=number: server.sensor(entity, v=number, valid_ms=900_000))
    for at_s in (1, 2, 3):
        world.at(at_s * SECOND, side.session.disconnect)
        world.at(at_s * SECOND + SECOND // 2, side.session.connect)
    world.run(300)
    assert net.shows() == server.shows()
    assert side.session.unacknowledged == {} and len(acknowledged) >= 30


def test_a_server_and_a_network_that_lose_everything_get_it_back() -> None:
    world = World(3)
    net, server = Net(world), Server(world)
    side = Side(net, server)
    world.run(1)
    net.provide("a", "v=1")
    server.sensor("b", v=2)
    world.run(5)
    side.session.disconnect()
    server.retained.clear()
    side.session.unacknowledged.clear()
    world.run(6)
    side.session.connect()
    world.run(10)
    assert server.shows() == net.shows() and len(server.shows()) == 2
    net.lose_everything()
    world.run(20)
    assert server.shows() == net.shows() and len(net.shows()) == 2


FAR_MS = 4_000_000_000_000


def heard(one: Bridge, number: int, message: dict[str, Any] | None, outcome: Outcome = Outcome.STORED) -> None:
    """A message at one topic, and all that follows from it."""
    now = BEGIN + number * SECOND // 1_000
    told = {} if message is None else {"timestamp": BEGIN_MS + now // 1_000_000, **message}
    one.message("c/t/a/s", json.dumps(told).encode() if told else b"", now)
    for operation in one.take_operations(now):
        one.ended(operation, outcome, now)
    for published in one.take_messages(now):
        one.received(published.topic, now)


def test_one_topic_keeps_little_whatever_is_said_there() -> None:
    one = bridge()
    for number in range(0, 600, 2):
        heard(one, number, {"v": 1, "provider": f"p{number}", "valid_end": FAR_MS})
        heard(one, number + 1, None)
    (topic,) = one._known.topics
    assert len(topic._buried) == MOST_WITHDRAWN
    for number in range(600, 1_200):
        heard(one, number, {"v": number, "provider": "p", "valid_end": FAR_MS - number})
    assert len(one._known.outward._timers) <= 2 + SPARE_TIMERS
    one.check_invariants()


def test_what_a_server_sends_after_each_connection_is_bounded() -> None:
    one = bridge(waiting=10, receive_maximum=5)
    for number in range(20):
        for mid in range(5):
            one.message("c/t/a/s", json.dumps({"v": 1, "provider": f"{number}-{mid}"}).encode(), BEGIN, mid=mid)
        for operation in one.take_operations(BEGIN):
            one.ended(operation, Outcome.UNANSWERED, BEGIN)
        one.disconnected(BEGIN)
        one.connected(BEGIN)
    assert one.sizes()["waiting_in"] == 15 and one.counts["dropped"] == 85
    one.check_invariants()


def test_payloads_have_a_bound_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MOST_KEPT_BYTES", 1_000)
    one = bridge()
    for number in range(9):
        one.message(f"c/t/{number}/s", json.dumps({"v": "x" * 98}).encode(), BEGIN, mid=number)
    assert one.counts["refused_payload"] == 4, "each of the others is shown, and waits"
    assert "kept" in one.last_refusal
    for operation in one.take_operations(BEGIN):
        one.ended(operation, Outcome.STORED, BEGIN)
    one.check_invariants()
    one.message("c/t/8/s", json.dumps({"v": "x" * 98}).encode(), BEGIN)
    assert one.counts["refused_payload"] == 4, "there is room again"

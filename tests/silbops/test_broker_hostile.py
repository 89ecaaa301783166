"""Whatever clients, neighbours and strangers send: nothing raises, invariants hold, and another client is served."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.channel import wire
from overlay.core.chance import Chances
from overlay.core.strangers import MOST_TIMES
from overlay.peers.questions import ASKER, Inspect, question
from overlay.systems.roles import Place
from overlay.systems.silbops.broker.broker import Broker
from overlay.systems.silbops.config import ServerConfig
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.subjects import Subject
from overlay.systems.silbops.system import SYSTEM
from overlay.systems.silbops.wire import messages as m
from tests.silbops.drawn_messages import MESSAGES
from tests.silbops.loop_network import World
from tests.silbops.test_broker import FIRE, SQUARE, camera, numbers, shoot, vehicle
from tests.silbops.test_broker_channel import Network
from tests.thorough import examples

any_message = st.sampled_from(list(MESSAGES)).flatmap(MESSAGES.__getitem__)
numbers_of = st.integers(1, 3)
likely = st.one_of(
    st.builds(m.Subscribe, numbers_of, numbers_of, st.just(FIRE), st.just(SQUARE) | st.none(), st.just(0)),
    st.builds(m.SetCtx, numbers_of, st.builds(lambda x: {"x": x}, st.integers(0, 200))),
    st.builds(m.Unsubscribe, numbers_of, numbers_of),
    st.just(m.Attach(b"\1" * 16, m.Mode.RESUME, "b1")),
    st.just(m.Attach(b"\1" * 16, m.Mode.NEW, None)),
    st.just(m.Move(b"\1" * 16)),
)
MOVES = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["client", "neighbour"]), any_message | likely),
        st.tuples(st.just("wait"), st.sampled_from([1, 6, 40])),
    ),
    max_size=25,
)


@settings(max_examples=examples(100))
@given(MOVES, st.booleans())
def test_hostile_messages_raise_nothing_and_stop_no_other_client(history: Any, has_scope: bool) -> None:
    network = World(2, ((0, 1),), Random(1), publisher_scope=has_scope)
    evil = network.app("b0")
    network.settle()
    for who, what in history:
        if who == "wait":
            network.advance(what)
        else:
            sender = evil.id if who == "client" else b"b1"
            network.open(sender, b"b0")
            network.settle()
            network.peers(sender).send(b"b0", what)
        network.settle()
    cam, car = camera(network, "b0"), vehicle(network, "b0")
    assert shoot(network, cam) in numbers(car)


# ---- strangers

SERVERS = [("10.0.0.1", 0), ("10.0.0.1", 1)]
ME = 7 << 32


def broker(key: bytes | None = None) -> Broker:
    place = Place("broker-0", 0, SERVERS[0], SERVERS)
    node = Broker(ServerConfig(Settings(), 2, ((0, 1),)), place, Chances.streams(1), 0, key)
    node.handle_timer(0)
    return node


def said(what: str, number: int) -> bytes:
    """What a stranger sends, that hopes for a long answer."""
    match what:
        case "hello":
            return wire.hello(ME + number, b"p%d" % (number % 7), 16)
        case "hello as a neighbour":
            return wire.hello(ME + number, b"b1", 2)
        case "datagram of no session":
            return wire.reset(number)[:2] + bytes(26 + number)
        case "ping":
            return SYSTEM.ping(number)
        case "counters":
            return SYSTEM.statistics_request(number)
    return wire.loose(ASKER, question(Inspect(number, subject=Subject(number % len(Subject)), limit=500)))


WAYS = ("hello", "hello as a neighbour", "datagram of no session", "ping", "counters", "question")


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.sampled_from(WAYS), st.integers(0, 40), st.sampled_from([0, 300])), max_size=30))
def test_a_stranger_gets_three_times_the_bytes_that_came_at_most(history: Any) -> None:
    node, stranger = broker(), ("203.0.113.1", 5)
    now = came = went = 0
    for what, number, ms in history:
        data = said(what, number)
        came += len(data)
        node.receive_datagrams([(data, stranger)], now)
        now += ms * 1_000_000
        node.handle_timer(now)
        node.check_invariants()
        went += sum(len(answer) for answer, to in node.datagrams_to_send() if to == stranger)
    assert went <= MOST_TIMES * came


def test_a_broker_with_a_key_answers_nobody_without_it() -> None:
    node, stranger = broker(b"secret"), ("203.0.113.1", 5)
    node.receive_datagrams([(said(what, 1), stranger) for what in WAYS], 0)
    assert not [answer for answer, to in node.datagrams_to_send() if to == stranger]


def test_datagrams_of_sessions_are_served_before_those_of_strangers() -> None:
    """Beyond a backlog the driver takes those of known addresses first: ``overlay/runtime``."""
    network = Network(2, 0, 1)
    network.client(0)
    network.run(2)
    node = network.nodes[network.addresses[0]]
    assert node.knows(network.addresses[1])
    assert node.knows(("10.0.1.1", 1))
    assert not node.knows(("203.0.113.1", 5))

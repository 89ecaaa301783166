"""The client's own codec and exchange: against the wire protocol's examples, overlay's parser, and a real broker."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.feed_messages import Withdraw
from overlay.systems.context_broker.wire.messages import (
    Ack as BrokerAck,
)
from overlay.systems.context_broker.wire.messages import (
    ContextRequest,
    ContextResponse,
    ContextUpdateAdvertisement,
    Nack,
    Ping,
    PingResponse,
)
from tests.broker.strategies import damaged, messages, names
from tests.runtime.daemons import Daemon
from tests.thorough import examples
from waxwing.udp import AsyncBrokerClient, BrokerClient, NoAnswer, NothingFound, Refused, codec
from waxwing.udp.codec import Ack, InvalidMessage, Pong, Response
from waxwing.udp.exchange import AGAIN_S, GIVE_UP_S, Exchange, Stamps, request, update

KEY = ("room", "r1", "temp")
A, B = ("10.0.0.1", 1), ("10.0.0.2", 2)
times = st.integers(0, 10**18)


def test_messages_are_those_of_the_wire_protocol() -> None:
    assert codec.update(5, "p1", KEY, 6, 7, b"a|b", "U") == b"2|5|3|U|p1|room|r1|temp|6|7|a|b"
    assert codec.request(5, KEY) == b"3|5|room|r1|temp"
    assert codec.ping(5) == b"1|5"
    assert codec.withdraw(5, "p1", KEY, 7) == b"37|5|p1|room|r1|temp|7"
    assert codec.read(b"4|5|9|p1|room|r1|temp|6|7|degC=21.5") == Response(5, "p1", *KEY, 6, 7, "degC=21.5")
    assert codec.read(b"5|5|ACK|Status:101|Operation ContextRequest|Requested by 127.0.0.1:1") == Ack(
        5, False, 101, "ContextRequest"
    )
    assert codec.read(b"6|5|NACK|Status:202|Operation ContextRequest|Requested by [::1]:1") == Ack(
        5, True, 202, "ContextRequest"
    )
    assert codec.read(b"9|5|Ctx_Broker|[::1]:80") == Pong(5, "[::1]:80")


@pytest.mark.parametrize(
    "text",
    ["", "4", "4|5|2|p|t|i|s|1|2|x", "4|5|1|p|t|i|s|2|1|x", "4|05|1|p|t|i|s|1|2|x", "4|5|1|p||i|s|1|2|x", "5|5|ACK",
     "5|5|NACK|Status:101|Operation X|Requested by a", "9|5|Other|a:1", "9|5|Ctx_Broker|a", "77|5"],
)  # fmt: skip
def test_what_is_no_answer_is_none(text: str) -> None:
    assert codec.read(text.encode()) is None
    assert codec.read(text.encode() + b"\xff") is None


@settings(max_examples=examples(400))
@given(times, names, st.tuples(names, names, names), times, st.text(min_size=1, max_size=90))
def test_brokers_read_what_the_client_writes(stamp, provider, key, begin, text) -> None:
    payload, end = text.encode(), begin + 1
    try:
        sent = codec.update(stamp, provider, key, begin, end, payload), codec.request(stamp, key)
    except InvalidMessage:
        with pytest.raises(WireError):
            encode(ContextUpdateAdvertisement(stamp, "A", provider, *key, begin, end, payload))
        return
    assert parse(sent[0]) == ContextUpdateAdvertisement(stamp, "A", provider, *key, begin, end, payload)
    assert parse(sent[1]) == ContextRequest(stamp, *key)
    assert parse(codec.withdraw(stamp, provider, key, end)) == Withdraw(stamp, provider, *key, end)
    assert parse(codec.ping(stamp)) == Ping(stamp)


@settings(max_examples=examples(800))
@given(messages.map(encode) | damaged(messages.map(encode)))
def test_the_client_reads_what_brokers_send_and_nothing_else(data) -> None:
    try:
        message = parse(data)
    except WireError:
        message = None
    found = codec.read(data)
    if isinstance(message, ContextResponse) and not message.hops:
        assert isinstance(found, Response)
        assert (found.provider, found.text.encode()) == (message.provider_id, message.payload)
    elif isinstance(message, BrokerAck) or (isinstance(message, Nack) and not message.hops):
        assert isinstance(found, Ack)
        assert (found.timestamp, found.status, found.operation) == (
            message.timestamp,
            message.status,
            message.operation,
        )
    elif isinstance(message, PingResponse):
        assert isinstance(found, Pong)
    elif message is not None:
        assert found is None


def exchange(*brokers: tuple[str, int]) -> Exchange:
    return Exchange(request(KEY), brokers, Stamps(), 100.0)


def acknowledged(stamp: int, status: int = 101) -> bytes:
    code, word = (5, "ACK") if status < 200 else (6, "NACK")
    return f"{code}|{stamp}|{word}|Status:{status}|Operation ContextRequest|Requested by c:1".encode()


def test_it_asks_again_after_1_2_and_4_s_with_a_new_timestamp_and_gives_up_after_10() -> None:
    one, sent = exchange(A), []
    for at in (0.0, *AGAIN_S, GIVE_UP_S):
        assert one.to_send(99.0 + at, 7) is None or at == 0.0
        sent.append(one.to_send(100.0 + at, 7) if at else (b"3|7|room|r1|temp", A))
    assert [data for data, _ in sent[:4]] == [b"3|%d|room|r1|temp" % stamp for stamp in (7, 8, 9, 10)]
    assert sent[4] is None and isinstance(one.error, NoAnswer)


def test_a_shorter_patience_ends_it_sooner_and_says_if_nothing_listens_there() -> None:
    one = Exchange(request(KEY), (A,), Stamps(), 0.0, 1.5)
    assert [one.to_send(at, 7) is None for at in (0.0, 0.9, 1.0, 1.4)] == [False, True, False, True]
    one.closed(A)
    assert one.to_send(1.5, 7) is None
    assert str(one.error) == "no answer from 10.0.0.1:1 within 1.5 s: nothing listens there"
    with pytest.raises(InvalidMessage, match="give_up_s"):
        BrokerClient("127.0.0.1:1", give_up_s=0)


def test_a_silent_broker_is_replaced_and_one_that_searches_is_waited_for() -> None:
    one = exchange(A, B)
    assert one.to_send(100.0, 7) == (b"3|7|room|r1|temp", A)
    assert (one.due, one.to_send(100.5, 7)) == (101.0, None)
    assert one.to_send(101.0, 1000) == (b"3|1000|room|r1|temp", B)
    one.receive(acknowledged(1234), B)  # an ACK has the time of its broker
    assert one.to_send(102.0, 2000) == (b"3|2000|room|r1|temp", B)
    one.receive(b"4|3|1|p|room|r1|temp|1|2|x", A)
    assert one.is_over and one.answer is not None
    assert (one.answer.broker, one.answer.text, one.to_send(104.0, 9)) == ("10.0.0.1:1", "x", None)


def test_a_closed_port_is_left_at_once_unless_all_are_closed() -> None:
    one = exchange(A, B)
    one.to_send(100.0, 7)
    one.closed(A)
    assert (one.due, one.to_send(100.1, 8)) == (100.0, (b"3|8|room|r1|temp", B))
    one.closed(B)
    assert (one.due, one.to_send(100.2, 9)) == (101.0, None)
    assert one.to_send(101.0, 10) is not None


def test_only_answers_to_its_own_question_end_it() -> None:
    one = exchange(A)
    one.to_send(100.0, 7)
    for other in (b"4|7|1|p|room|r2|temp|1|2|x", acknowledged(6, 202), b"\xff", b"9|7|Ctx_Broker|a:1"):
        one.receive(other, A)
        assert not one.is_over
    one.receive(acknowledged(7, 202), A)
    assert isinstance(one.error, NothingFound)
    one = exchange(A)
    one.to_send(100.0, 7)
    one.receive(acknowledged(7, 301), A)
    assert isinstance(one.error, Refused) and one.error.status == 301


def test_what_no_message_can_carry_is_refused_before_anything_is_sent() -> None:
    for wrong in ("", "a|b", "x" * 256, "\ud800"):
        with pytest.raises(InvalidMessage, match="is not a name"):
            request((wrong, "r1", "temp"))
    with pytest.raises(InvalidMessage, match="1 to 60,000"):
        update("p", KEY, b"", 1)
    with pytest.raises(InvalidMessage, match="validity"):
        update("p", KEY, b"x", 0)
    for wrong in ("nowhere", "127.0.0.1:0", "127.0.0.1:1,", "::1:5"):
        with pytest.raises(InvalidMessage, match="is not an address"):
            BrokerClient(wrong)
    with pytest.raises(InvalidMessage, match="needs the address"):
        BrokerClient([])


@pytest.fixture(scope="module")
def broker() -> Iterator[Daemon]:
    daemon = Daemon()
    yield daemon
    daemon.end()


@pytest.fixture
def closed() -> str:
    """An address at which nothing listens."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def test_a_real_broker_stores_answers_and_forgets_although_the_first_of_the_list_is_dead(
    broker: Daemon, closed: str
) -> None:
    with BrokerClient([closed, broker.text]) as brokers:
        assert brokers.ping() == broker.text
        assert brokers.provide("p1", *KEY, {"degC": 21.5}) == broker.text
        found = brokers.ask(*KEY)
        assert (found.payload, found.data.provider, found.broker) == ({"degC": "21.5"}, "p1", broker.text)
        assert brokers.withdraw("p1", *KEY) == broker.text
        with pytest.raises(NothingFound):
            brokers.ask(*KEY)

    async def at_once() -> list[str]:
        async with AsyncBrokerClient([closed, broker.text]) as brokers:
            await asyncio.gather(*(brokers.provide("p1", "room", f"r{n}", "temp", f"n={n}") for n in range(20)))
            found = await asyncio.gather(*(brokers.ask("room", f"r{n}", "temp") for n in range(20)))
            with pytest.raises(NothingFound):
                await brokers.ask("room", "nowhere", "temp")
            return [one.text for one in found]

    assert asyncio.run(at_once()) == [f"n={n}" for n in range(20)]

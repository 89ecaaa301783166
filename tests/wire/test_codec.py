"""Parsing is total and strict, and writing is its inverse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.codec import code_of, encode, parse, timestamp_of
from overlay.systems.context_broker.wire.kinds import MAX_DATAGRAM
from overlay.systems.context_broker.wire.messages import ContextRequest, ContextResponse, ContextUpdateAdvertisement
from overlay.systems.context_broker.wire.table import CODES
from tests.broker.strategies import damaged, messages
from tests.thorough import examples

encoded = messages.map(encode)


def parse_or_none(data):
    try:
        return parse(data)
    except WireError:
        return None


@settings(max_examples=examples(10_000))
@given(st.binary(max_size=200) | st.integers(0, 35).flatmap(lambda c: st.binary().map(lambda b: b"%d|" % c + b)))
def test_any_bytes_give_a_message_or_the_one_error(data):
    parse_or_none(data)
    code_of(data)
    timestamp_of(data)


@settings(max_examples=examples(2_000))
@given(damaged(encoded))
def test_a_damaged_message_is_refused_or_reads_as_another_that_is_written_so(data):
    message = parse_or_none(data)
    if message is not None:
        assert parse(encode(message)) == message


@settings(max_examples=examples(1_000))
@given(messages)
def test_what_is_written_is_read(message):
    data = encode(message)
    assert parse(data) == message
    assert code_of(data) == CODES[type(message)]
    assert timestamp_of(data) == message.timestamp


@given(encoded.filter(lambda data: not data.startswith(b"22|")), st.sampled_from([b"|", b"|x", b" ", b"||*"]))
def test_nothing_may_follow(data, tail):
    message = parse(data)
    surplus = parse_or_none(data + tail)
    assert surplus is None or (tail != b"|" and type(surplus) is type(message))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3|5|room|r1|temp|::1|80", ContextRequest(5, "room", "r1", "temp", (("::1", 80),))),
        ("2|5|3|A|p|t|i|s|1|2|a|b", ContextUpdateAdvertisement(5, "A", "p", "t", "i", "s", 1, 2, b"a|b")),
        (
            "4|5|3|p|t|i|s|1|2|*|*|10.0.0.1|80|*|10.0.0.2|81",
            ContextResponse(5, "p", "t", "i", "s", 1, 2, b"*|*", (("10.0.0.1", 80), ("10.0.0.2", 81)), frozenset({0})),
        ),
    ],
)
def test_a_payload_is_taken_by_its_size(text, message):
    assert parse(text.encode()) == message
    assert encode(message) == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "4|5|1|p|t|i|s|1|2|x|*",
        "4|5|1|p|t|i|s|1|2|x|10.0.0.1|80|*|*",
        "4|5|1|p|t|i|s|1|2|x|10.0.0.1|*|80",
        "4|5|2|p|t|i|s|1|2|x|10.0.0.1|80",
        "4|5|1|p|t|i|s|1|2|é",
        "5|5|NACK|Status:101|Operation Unknown|Requested by 10.0.0.1:80",
        "5|5|ACK|Status:201|Operation Unknown|Requested by 10.0.0.1:80",
        "5|5|ACK|Status: 101|Operation Unknown|Requested by 10.0.0.1:80",
        "6|5|NACK|Status:202|Operation ContextRequest|Requested by ::1:80",
        "9|5|Ctx_Broker|localhost:80",
        "19|5|10.0.0.1:0",
        "21|5|a=1;",
        "21|5|a=1;a=2",
        "3|5|room|r1|temp|[::1]|80",
        "3|5|room|r1|temp|fe80::1%eth0|80",
        "1|٣",
    ],
)
def test_what_is_not_quite_a_message_is_refused(text):
    with pytest.raises(WireError):
        parse(text.encode())


def test_a_datagram_has_a_largest_size():
    with pytest.raises(WireError):
        parse(b"2|5|60000|A|p|t|i|s|1|2|" + b"x" * MAX_DATAGRAM)


@pytest.mark.parametrize(
    "message",
    [
        ContextRequest(5, "a|b", "i", "s"),
        ContextRequest(5, "", "i", "s"),
        ContextRequest(5, "é" * 128, "i", "s"),
        ContextUpdateAdvertisement(5, "A", "p", "t", "i", "s", 1, 2, b""),
        ContextUpdateAdvertisement(5, "A", "p", "t", "i", "s", 1, 2, b"x" * 60_001),
        ContextUpdateAdvertisement(5, "A", "p", "t", "i", "s", 2, 2, b"x"),
        ContextRequest(5, "t", "i", "s", (("10.0.0.1", 80),) * 6000),
    ],
)
def test_what_does_not_fit_the_wire_is_not_written(message):
    with pytest.raises(WireError):
        encode(message)

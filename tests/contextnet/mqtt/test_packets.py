"""The bytes of MQTT: what a client writes is read back, in any cuts; anything else is one error."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.systems.contextnet.mqtt import packets as p
from tests.contextnet.mqtt import bytes_of as b

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
TOPIC = TEXT.filter(lambda value: value and not set(value) & {"+", "#"})
NUMBER = st.integers(1, 65_535)
FILTERS = st.lists(TEXT, min_size=1, max_size=5)
PACKETS = st.one_of(
    st.builds(
        lambda client, keepalive, clean: (
            b.connect(client, keepalive, clean=clean),
            p.Connect(client, keepalive, clean, False, 4),
        ),
        TEXT,
        st.integers(0, 65_535),
        st.booleans(),
    ),
    st.builds(
        lambda client, user, password: (
            b.connect(client, user=user, password=password, will="t"),
            p.Connect(client, 60, True, True, 4, user, password),
        ),
        TEXT,
        TEXT,
        st.binary(max_size=20),
    ),
    st.builds(
        lambda topic, payload, retain: (b.publish(topic, payload, retain=retain), p.Publish(topic, payload)),
        TOPIC,
        st.binary(max_size=300),
        st.booleans(),
    ),
    st.builds(
        lambda topic, payload, number, dup: (
            b.publish(topic, payload, 1, number, dup=dup),
            p.Publish(topic, payload, 1, number, dup),
        ),
        TOPIC,
        st.binary(max_size=300),
        NUMBER,
        st.booleans(),
    ),
    st.builds(lambda number, found: (b.subscribe(number, *found), p.Subscribe(number, tuple(found))), NUMBER, FILTERS),
    st.builds(
        lambda number, found: (b.unsubscribe(number, *found), p.Unsubscribe(number, tuple(found))), NUMBER, FILTERS
    ),
    st.just((b.PING, p.PingRequest())),
    st.just((b.DISCONNECT, p.Disconnect())),
)


def read(stream):
    found = []
    while (packet := stream.next()) is not None:
        found.append(packet)
    return found


@given(st.lists(PACKETS, max_size=6), st.lists(st.integers(0, 2_000), max_size=8))
def test_what_a_client_writes_is_read_back_in_any_cuts(packets, cuts):
    data = b"".join(written for written, _ in packets)
    stream, found = p.Stream(), []
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, end in pairwise(edges):
        stream.feed(data[start:end])
        found += read(stream)
    assert found == [packet for _, packet in packets]
    assert len(stream) == 0


@given(st.binary(max_size=200))
def test_any_bytes_are_packets_or_one_error(data):
    stream = p.Stream()
    stream.feed(data)
    try:
        read(stream)
    except p.BadPacket as error:
        assert str(error)


@given(PACKETS, st.data())
def test_a_changed_packet_is_read_or_refused(one, data):
    written = bytearray(one[0])
    written[data.draw(st.integers(0, len(written) - 1))] ^= data.draw(st.integers(1, 255))
    stream = p.Stream()
    stream.feed(bytes(written))
    try:
        read(stream)
    except p.BadPacket as error:
        assert str(error)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x30\xff\xff\xff\xff\x01", "too long"),
        (b.packet(0x30, bytes(70_000)), "too long"),
        (b.publish("a/+", b""), "wildcards"),
        (b.publish(""), "no topic"),
        (b.publish("a", qos=1, number=0), "number of a packet is 0"),
        (b.publish("a", qos=2, number=1), "QoS 2"),
        (b.packet(0x38, b.text("a")), "contradict"),
        (b.packet(0x80, b"\0\1\0\1a\0"), "reserved flags"),
        (b.packet(0x82, b"\0\1"), "filters"),
        (b.packet(0x82, b"\0\1\0\1a\3"), "QoS is 0, 1 or 2"),
        (b.packet(0xC0, b"x"), "surplus"),
        (b.packet(0x50, b"\0\1"), "no packet of type 5"),
        (b.packet(0x10, b"\0\4MQ"), "too soon"),
        (b.publish(b"\xff"), "UTF-8"),
        (b.publish("a\0b"), "zero character"),
    ],
)
def test_a_malformed_packet_is_refused_with_its_reason(data, sentence):
    stream = p.Stream()
    stream.feed(data)
    with pytest.raises(p.BadPacket, match=sentence):
        stream.next()


def test_of_another_version_only_that_is_read():
    stream = p.Stream()
    stream.feed(b.connect(level=5) + b.connect(name="MQIsdp", level=3))
    assert [packet.level for packet in read(stream)] == [5, 3]


@pytest.mark.parametrize("size", [0, 127, 128, 16_383, 16_384])
def test_lengths_have_as_many_bytes_as_they_need(size):
    data = p.publish("t", bytes(size - 3 if size > 3 else 0))
    stream = p.Stream()
    stream.feed(data)
    assert stream.next() == p.Publish("t", bytes(size - 3 if size > 3 else 0))

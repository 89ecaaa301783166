"""Frames of any bytes, in any pieces; datagrams of any bytes."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.systems.contextnet.quic import frames
from overlay.systems.contextnet.quic.frames import MOST_BODY, Accept, Frame, Hello, Parser
from overlay.systems.contextnet.transport import packets
from overlay.systems.contextnet.transport.layouts import BadPacket, Refusal, Refuse, Type
from tests.contextnet.lossy import ELSEWHERE, GATEWAY
from tests.contextnet.quic.test_stories import opened
from tests.thorough import examples

KINDS = st.sampled_from(sorted(frames.KNOWN))
FRAMES = st.lists(st.builds(Frame, KINDS, st.binary(max_size=200)), max_size=8)
READERS = {
    Type.HELLO: frames.read_hello,
    Type.ACCEPT: frames.read_accept,
    Type.REFUSE: frames.read_refuse,
    Type.ACK: frames.read_ack,
    Type.DATA: packets.read_data,
    Type.CLOSE: packets.read_close,
    Type.PING: packets.read_u64,
    Type.PONG: packets.read_u64,
}
PROOF = bytes(16)


@given(FRAMES, st.lists(st.integers(1, 300), max_size=20))
def test_frames_come_as_they_were_written_however_they_are_cut(found, sizes):
    data, parser, got = b"".join(frames.write(*one) for one in found), Parser(), []
    for size in [*sizes, len(data)]:
        got += parser.feed(data[:size])
        data = data[size:]
    assert got == found


@given(st.binary(max_size=2_000), st.sampled_from(list(READERS.values())))
def test_any_bytes_are_read_or_refused(data, read):
    with suppress(BadPacket):
        for frame in Parser().feed(data):
            READERS[frame.type](frame.body)
    with suppress(BadPacket):
        read(data)


def test_a_parser_keeps_no_more_than_a_frame():
    assert frames.write(Type.DATA, bytes(MOST_BODY))
    with pytest.raises(BadPacket, match=r"a frame has at most 1,154 bytes, not 1,155"):
        Parser().feed(frames.write(Type.DATA, bytes(MOST_BODY + 1))[:3])
    with pytest.raises(BadPacket, match="2 is no type of a frame"):
        Parser().feed(bytes([Type.RETRY, 0, 0]))


@pytest.mark.parametrize(
    ("write", "read", "value"),
    [
        (frames.write_hello, frames.read_hello, Hello(b"n" * 16, 7, b"x" * 16, 9, 1)),
        (frames.write_accept, frames.read_accept, Accept(1 << 60, True, 5, 32, b"t" * 16)),
        (frames.write_refuse, frames.read_refuse, Refuse(b"", Refusal.EPOCH, 0, 9, (GATEWAY, ("2001:db8::1", 4)))),
    ],
)
def test_what_is_written_is_read(write, read, value):
    assert read(write(value) + PROOF) == value


def test_an_acknowledgement_is_of_32_bits():
    assert frames.read_ack(frames.write_ack(2**32 + 3, True)) == (3, True)


WORLD, PEER = opened()
WORLD.send(PEER)
REAL = [data for data, _, to in WORLD.sent if to == GATEWAY]


@settings(max_examples=examples(300))
@given(
    st.one_of(
        st.binary(max_size=1_500),
        st.builds(
            lambda data, at, byte: data[: at % len(data)] + bytes([byte]) + data[at % len(data) + 1 :],
            st.sampled_from(REAL),
            st.integers(0, 1_500),
            st.integers(0, 255),
        ),
        st.builds(lambda data, size: data[:size], st.sampled_from(REAL), st.integers(0, 1_500)),
    )
)
def test_any_datagram_is_read_or_dropped_and_ends_no_connection(data):
    for source in (ELSEWHERE, PEER.address):
        WORLD.inject(data, source, GATEWAY)
    WORLD.inject(data, GATEWAY, PEER.address)
    WORLD.run(1)
    assert PEER.end.is_open
    assert (WORLD.gateway.counters["library"], PEER.end.counters["library"]) == (0, 0)

"""Captures from anywhere are read: every framing, both byte orders, and nothing that is damaged breaks the reader."""

from __future__ import annotations

import struct

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from telemetry.errors import TelemetryError
from telemetry.lake import pcapng
from telemetry.lake.pcapng_reading import (
    ETHERNET,
    LINUX_SLL,
    LINUX_SLL2,
    NULL,
    OLD_MAGICS,
    RAW,
    Captured,
    read,
)
from tests.thorough import examples

HERE, THERE = ("10.0.0.1", 7000), ("10.0.0.2", 40_000)
HERE_6, THERE_6 = ("fe80::1", 7000), ("fe80::2", 40_000)
PACKET = pcapng.datagram(HERE, THERE, b"hello")
PACKET_6 = pcapng.datagram(HERE_6, THERE_6, b"hello")


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    length = len(body) + 12
    return struct.pack(f"{order}II", kind, length) + body + struct.pack(f"{order}I", length)


def packet(raw: bytes, *, interface: int = 0, at: int = 5, order: str = "<") -> bytes:
    head = struct.pack(f"{order}IIIII", interface, at >> 32, at & 0xFFFFFFFF, len(raw), len(raw))
    return block(6, head + raw + bytes(-len(raw) % 4), order)


def capture(*blocks: bytes, link: int = RAW, order: str = "<", options: bytes = b"") -> bytes:
    section = block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    interface = block(1, struct.pack(f"{order}HHI", link, 0, 0) + options, order)
    return b"".join([section, interface, *blocks])


def written(count: int) -> bytes:
    packets = [pcapng.packet(at, HERE, THERE, b"%d" % at, pcapng.INBOUND, "a comment") for at in range(count)]
    return pcapng.section("one", "test") + pcapng.interface("i") + b"".join(packets)


def test_what_is_written_is_read() -> None:
    found = read(written(3), 10)
    assert found.datagrams == [Captured(at, HERE, THERE, b"%d" % at) for at in range(3)]
    assert (found.left_out, found.is_cut) == (0, False)
    cut = read(written(3), 2)
    assert (len(cut.datagrams), cut.is_cut) == (2, True)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("link", "before"),
    [
        (RAW, b""),
        (NULL, bytes(4)),
        (ETHERNET, bytes(12) + b"\x08\x00"),
        (ETHERNET, bytes(12) + b"\x81\x00\0\7\x08\x00"),
        (LINUX_SLL, bytes(14) + b"\x08\x00"),
        (LINUX_SLL2, b"\x08\x00" + bytes(18)),
    ],
)
def test_a_datagram_is_found_in_every_framing(link: int, before: bytes, order: str) -> None:
    (one,) = read(capture(packet(before + PACKET, order=order), link=link, order=order), 9).datagrams
    assert one == Captured(5_000, HERE, THERE, b"hello")


def test_version_6_simple_packets_and_resolutions_are_read() -> None:
    (one,) = read(capture(packet(bytes(12) + b"\x86\xdd" + PACKET_6), link=ETHERNET), 9).datagrams
    assert one == Captured(5_000, HERE_6, THERE_6, b"hello")
    simple = block(3, struct.pack("<I", len(PACKET)) + PACKET + bytes(-len(PACKET) % 4))
    assert read(capture(simple), 9).datagrams == [Captured(0, HERE, THERE, b"hello")]
    for resolution, at_ns in ((3, 5_000_000), (9, 5), (0x80, 5_000_000_000)):
        options = struct.pack("<HHB3x", 9, 1, resolution) + bytes(4)
        assert read(capture(packet(PACKET), options=options), 9).datagrams[0].at_ns == at_ns


def test_what_is_no_whole_udp_datagram_is_left_out() -> None:
    other, fragment, short = bytearray(PACKET), bytearray(PACKET), PACKET[:-1]
    other[9] = 6
    fragment[6:8] = b"\x20\x00"
    found = read(capture(*(packet(bytes(raw)) for raw in (other, fragment, short, b"", PACKET))), 9)
    assert (len(found.datagrams), found.left_out) == (1, 4)
    assert read(capture(packet(PACKET), link=147), 9).left_out == 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is no pcapng file"),
        (OLD_MAGICS[0] + bytes(20), "is a pcap file"),
        (written(1)[:-3], "where"),
        (capture()[:30], "ends within the block|where"),
        (capture(packet(PACKET, interface=3)), "unknown interface"),
        (b"\x0a\x0d\x0d\x0a" + bytes(30), "without a byte order"),
    ],
)
def test_what_is_damaged_is_said_with_its_place(data: bytes, sentence: str) -> None:
    with pytest.raises(TelemetryError, match=sentence):
        read(data, 9)


@settings(max_examples=examples(300))
@given(st.integers(0, len(written(2)) - 1), st.binary(max_size=12))
@example(0, b"")
def test_any_bytes_are_read_or_refused(at: int, damage: bytes) -> None:
    data = written(2)
    try:
        found = read(data[:at] + damage + data[at + len(damage) :], 9)
    except TelemetryError as error:
        assert str(error)
    else:
        assert len(found.datagrams) + found.left_out <= 2

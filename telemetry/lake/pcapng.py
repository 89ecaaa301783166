"""Datagrams as a pcapng capture for Wireshark, with IP and UDP headers.

Pure: each function returns the bytes of one block; write the blocks in order. The format is
draft-ietf-opsawg-pcapng. Only UDP payloads are recorded, so headers are generated from the addresses, with correct
lengths and checksums; time to live, identification and fragmentation are not those of real packets.

::

    section header (comment) ─ interface (raw IP, nanoseconds) ─ enhanced packet ─ enhanced packet ─ ...
"""

from __future__ import annotations

from ipaddress import ip_address
from struct import Struct

from overlay.core.addresses import Address

MEDIA_TYPE = "application/x-pcapng"
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 0x00000001, 0x00000006
_BYTE_ORDER = 0x1A2B3C4D
_RAW_IP = 101
"""The link type of packets that begin with an IP header, of either version."""
_SNAP_LENGTH = 0
"""No limit."""
_COMMENT, _USER_APPLICATION, _IF_NAME, _IF_TSRESOL, _FLAGS = 1, 4, 2, 9, 2
_NANOSECONDS = 9
_UDP = 17
_HOPS_LEFT = 64
_END_OF_OPTIONS = b"\0\0\0\0"

_HEAD = Struct("<II")
_LENGTH = Struct("<I")
_OPTION = Struct("<HH")
_SECTION_BODY = Struct("<IHHq")
_INTERFACE_BODY = Struct("<HHI")
_PACKET_BODY = Struct("<IIIII")
_IP4 = Struct("!BBHHHBBH4s4s")
_IP6 = Struct("!IHBB16s16s")
_UDP_HEAD = Struct("!HHHH")
_PSEUDO4 = Struct("!4s4sBBH")
_PSEUDO6 = Struct("!16s16sI3xB")

INBOUND, OUTBOUND = 1, 2
"""The direction of a packet: captured by the receiver or by the sender."""


def section(comment: str, application: str) -> bytes:
    """The first block of a file; ``comment`` describes its content."""
    body = _SECTION_BODY.pack(_BYTE_ORDER, 1, 0, -1)
    return _block(_SECTION, body, [(_COMMENT, comment.encode()), (_USER_APPLICATION, application.encode())])


def interface(name: str) -> bytes:
    """The capturing interface; the first one is 0."""
    options = [(_IF_NAME, name.encode()), (_IF_TSRESOL, bytes([_NANOSECONDS]))]
    return _block(_INTERFACE, _INTERFACE_BODY.pack(_RAW_IP, 0, _SNAP_LENGTH), options)


def packet(at_ns: int, source: Address, to: Address, data: bytes, direction: int, comment: str = "") -> bytes:
    """One datagram at ``at_ns`` (Unix nanoseconds) on interface 0, from ``source`` to ``to``."""
    raw = datagram(source, to, data)
    body = _PACKET_BODY.pack(0, at_ns >> 32 & 0xFFFFFFFF, at_ns & 0xFFFFFFFF, len(raw), len(raw)) + _padded(raw)
    options = [(_COMMENT, comment.encode())] if comment else []
    return _block(_PACKET, body, [*options, (_FLAGS, direction.to_bytes(4, "little"))])


def datagram(source: Address, to: Address, data: bytes) -> bytes:
    """The IP packet with ``data``; version 6 if either end has such an address."""
    ends = ip_address(source[0]), ip_address(to[0])
    length = _UDP_HEAD.size + len(data)
    if ends[0].version == ends[1].version == 4:
        here, there = ends[0].packed, ends[1].packed
        pseudo = _PSEUDO4.pack(here, there, 0, _UDP, length)
        head = _IP4.pack(0x45, 0, _IP4.size + length, 0, 0x4000, _HOPS_LEFT, _UDP, 0, here, there)
        head = head[:10] + _checksum(head).to_bytes(2, "big") + head[12:]
    else:
        here, there = (end.packed if end.version == 6 else bytes(10) + b"\xff\xff" + end.packed for end in ends)
        pseudo = _PSEUDO6.pack(here, there, length, _UDP)
        head = _IP6.pack(6 << 28, length, _UDP, _HOPS_LEFT, here, there)
    plain = _UDP_HEAD.pack(source[1], to[1], length, 0)
    checksum = _checksum(pseudo + plain + data) or 0xFFFF  # 0 would mean no checksum
    return head + plain[:6] + checksum.to_bytes(2, "big") + data


def _checksum(data: bytes) -> int:
    """The internet checksum (RFC 1071): the one's complement sum is the number modulo 65535, with 65535 instead of
    0."""
    number = int.from_bytes(data if len(data) % 2 == 0 else data + b"\0", "big")
    return 0xFFFF - ((number % 0xFFFF or 0xFFFF) if number else 0)


def _block(kind: int, body: bytes, options: list[tuple[int, bytes]]) -> bytes:
    told = b"".join(_OPTION.pack(code, len(value)) + _padded(value) for code, value in options)
    whole = body + told + _END_OF_OPTIONS
    length = _HEAD.size + len(whole) + _LENGTH.size
    return _HEAD.pack(kind, length) + whole + _LENGTH.pack(length)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)

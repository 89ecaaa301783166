"""Reads UDP datagrams from a pcapng capture, whoever wrote it. Counterpart: ``telemetry.lake.pcapng`` writes captures.

Pure and total: any bytes give datagrams or ``TelemetryError``. Packets that are no UDP, fragments, and those of which
the capture holds only a part are counted and left out. The format is draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from struct import unpack_from
from typing import NamedTuple

from overlay.core.addresses import Address
from telemetry.errors import TelemetryError

MAGIC = b"\x0a\x0d\x0d\x0a"
"""The first bytes of a capture."""
OLD_MAGICS = (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
"""Of the older format, pcap."""
_SECTION, _INTERFACE, _SIMPLE, _PACKET = 0x0A0D0D0A, 1, 3, 6
_BYTE_ORDER = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
_TSRESOL = 9
_UDP = 17
_FRAGMENT = 0x3FFF
"""In IPv4: more fragments follow, or an offset."""
_VLAN = (b"\x81\x00", b"\x88\xa8")
_IP_TYPES = (b"\x08\x00", b"\x86\xdd")
NULL, ETHERNET, RAW, LINUX_SLL, LINUX_SLL2 = 0, 1, 101, 113, 276
_RAW_TYPES = (12, 14, RAW, 228, 229)


class Captured(NamedTuple):
    at_ns: int
    """As the capture says, Unix nanoseconds as a rule; 0 if it does not say."""
    source: Address
    to: Address
    data: bytes


@dataclass
class Capture:
    datagrams: list[Captured] = field(default_factory=list)
    left_out: int = 0
    """Packets that are no complete UDP datagram."""
    is_cut: bool = False
    """Whether there are more than were asked for."""


def read(data: bytes, most: int) -> Capture:
    """The first ``most`` datagrams. Raises ``TelemetryError``."""
    if data[:4] in OLD_MAGICS:
        raise TelemetryError("is a pcap file; save it as pcapng (Wireshark does, or editcap -F pcapng)")
    if data[:4] != MAGIC:
        raise TelemetryError("is no pcapng file")
    found = Capture()
    for packet, link, at_ns in _packets(data):
        datagram = _datagram(packet, link)
        if datagram is None:
            found.left_out += 1
        elif len(found.datagrams) == most:
            found.is_cut = True
            return found
        else:
            found.datagrams.append(Captured(at_ns, *datagram))
    return found


def _packets(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Each packet with its link type and time."""
    at, order = 0, "<"
    interfaces: list[tuple[int, int]] = []
    """Link type, and nanoseconds of a unit of time as a pair of factor and divisor."""
    while at < len(data):
        if data[at : at + 4] == MAGIC:
            order, interfaces = _BYTE_ORDER.get(data[at + 8 : at + 12], ""), []
            if not order:
                raise TelemetryError(f"has a section without a byte order at byte {at}")
        if at + 12 > len(data):
            raise TelemetryError(f"ends within the block at byte {at}")
        kind, length = unpack_from(f"{order}II", data, at)
        if length < 12 or length % 4 or at + length > len(data):
            raise TelemetryError(f"has a block of {length} bytes at byte {at}, where {len(data) - at} are left")
        body = data[at + 8 : at + length - 4]
        if kind == _INTERFACE and len(body) >= 8:
            interfaces.append((unpack_from(f"{order}H", body)[0], _per_second(body[8:], order)))
        elif kind in (_PACKET, _SIMPLE):
            packet = _packet(kind, body, order, interfaces)
            if packet is None:
                raise TelemetryError(f"has a packet at byte {at} that is cut off or of an unknown interface")
            yield packet
        at += length


def _packet(kind: int, body: bytes, order: str, interfaces: list[tuple[int, int]]) -> tuple[bytes, int, int] | None:
    if kind == _SIMPLE:
        if len(body) < 4 or not interfaces:
            return None
        size = unpack_from(f"{order}I", body)[0]
        return body[4 : 4 + size], interfaces[0][0], 0
    if len(body) < 20:
        return None
    number, high, low, size = unpack_from(f"{order}IIII", body)
    if number >= len(interfaces) or 20 + size > len(body):
        return None
    link, per_second = interfaces[number]
    return body[20 : 20 + size], link, ((high << 32) + low) * 10**9 // per_second


def _per_second(options: bytes, order: str) -> int:
    """Units of time in a second; microseconds unless an option says otherwise."""
    at = 0
    while at + 4 <= len(options):
        code, size = unpack_from(f"{order}HH", options, at)
        if code == 0:
            break
        if code == _TSRESOL and size == 1 and at + 4 < len(options):
            resolution: int = options[at + 4]
            return int(2 ** (resolution & 0x7F) if resolution & 0x80 else 10 ** min(resolution, 30))
        at += 4 + -(-size // 4) * 4
    return 10**6


# ---- packets


def _datagram(packet: bytes, link: int) -> tuple[Address, Address, bytes] | None:
    """Ends and content of a complete UDP datagram; ``None`` for anything else."""
    at = _network(packet, link)
    if at is None or at >= len(packet):
        return None
    version = packet[at] >> 4
    return _ip4(packet, at) if version == 4 else _ip6(packet, at) if version == 6 else None


def _network(packet: bytes, link: int) -> int | None:
    """Where its IP header begins."""
    if link in _RAW_TYPES:
        return 0
    if link == NULL:
        return 4
    if link == LINUX_SLL2:
        return 20 if packet[:2] in _IP_TYPES else None
    if link not in (ETHERNET, LINUX_SLL):
        return None
    at = 12 if link == ETHERNET else 14
    while packet[at : at + 2] in _VLAN:
        at += 4
    return at + 2 if packet[at : at + 2] in _IP_TYPES else None


def _ip4(packet: bytes, at: int) -> tuple[Address, Address, bytes] | None:
    if at + 20 > len(packet) or packet[at + 9] != _UDP or unpack_from("!H", packet, at + 6)[0] & _FRAGMENT:
        return None
    ends = [str(IPv4Address(packet[at + place : at + place + 4])) for place in (12, 16)]
    return _udp(packet, at + (packet[at] & 15) * 4, ends)


def _ip6(packet: bytes, at: int) -> tuple[Address, Address, bytes] | None:
    if at + 40 > len(packet) or packet[at + 6] != _UDP:
        return None
    ends = [str(IPv6Address(packet[at + place : at + place + 16])) for place in (8, 24)]
    return _udp(packet, at + 40, ends)


def _udp(packet: bytes, at: int, ends: list[str]) -> tuple[Address, Address, bytes] | None:
    if at + 8 > len(packet):
        return None
    source, to, length = unpack_from("!HHH", packet, at)
    if length < 8 or at + length > len(packet):
        return None
    return (ends[0], source), (ends[1], to), packet[at + 8 : at + length]

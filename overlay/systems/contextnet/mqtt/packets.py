"""The packets of MQTT 3.1.1 (OASIS Standard, 2014) that a client and the proxy exchange. Reading is total: any bytes
give packets or ``BadPacket``."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Final, NamedTuple

from overlay.core.errors import WireError

MOST_BYTES: Final = 65_536
"""Of a packet without its first bytes, which hold its type and length."""
MOST_FILTERS: Final = 64
"""In a SUBSCRIBE or UNSUBSCRIBE."""
_LENGTH_BYTES: Final = 4


class BadPacket(WireError):
    """The connection is to be closed."""


class Type(IntEnum):
    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14


class Code(IntEnum):
    """In a CONNACK."""

    ACCEPTED = 0
    VERSION = 1
    CLIENT_ID = 2
    UNAVAILABLE = 3
    CREDENTIALS = 4
    NOT_AUTHORIZED = 5


FAILURE: Final = 0x80
"""In a SUBACK."""


class Connect(NamedTuple):
    client: str
    keepalive_s: int
    is_clean: bool
    has_will: bool
    level: int
    """4 in this version. Of another, nothing else is read."""
    user: str | None = None
    password: bytes | None = None


class Publish(NamedTuple):
    topic: str
    payload: bytes
    qos: int = 0
    packet: int = 0
    """Its number, with QoS 1."""
    is_repeated: bool = False


class Subscribe(NamedTuple):
    packet: int
    filters: tuple[str, ...]


class Unsubscribe(NamedTuple):
    packet: int
    filters: tuple[str, ...]


class PingRequest(NamedTuple):
    pass


class Disconnect(NamedTuple):
    pass


Packet = Connect | Publish | Subscribe | Unsubscribe | PingRequest | Disconnect


class Stream:
    """Cuts the bytes of a connection into packets of a client."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> None:
        self._data += data

    def next(self) -> Packet | None:
        """``None`` before the next packet is whole. Raises ``BadPacket``."""
        head = _head(self._data)
        if head is None:
            return None
        start, size = head
        if len(self._data) < start + size:
            return None
        first, body = self._data[0], bytes(self._data[start : start + size])
        del self._data[: start + size]
        return _read(first, body)

    def __len__(self) -> int:
        """Bytes of packets that were not given yet."""
        return len(self._data)


def _head(data: bytearray) -> tuple[int, int] | None:
    """Where the body begins, and its size."""
    size = 0
    for place in range(_LENGTH_BYTES):
        if len(data) <= 1 + place:
            return None
        byte = data[1 + place]
        size |= (byte & 0x7F) << (7 * place)
        if size > MOST_BYTES:
            raise BadPacket(f"a packet of {size:,} bytes or more is too long")
        if not byte & 0x80:
            return 2 + place, size
    raise BadPacket("the length of a packet has more than 4 bytes")


class _Body:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise BadPacket("a packet ends too soon")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def octets(self) -> bytes:
        return self.take(self.number(2))

    def text(self) -> str:
        try:
            found = self.octets().decode()
        except UnicodeDecodeError:
            raise BadPacket("a text is not UTF-8") from None
        if "\0" in found:
            raise BadPacket("a text has a zero character")
        return found

    def packet(self) -> int:
        found = self.number(2)
        if not found:
            raise BadPacket("the number of a packet is 0")
        return found

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def end(self) -> None:
        if self:
            raise BadPacket("a packet has surplus bytes")


def _read(first: int, data: bytes) -> Packet:
    kind, flags, body = first >> 4, first & 0x0F, _Body(data)
    if kind == Type.PUBLISH:
        return _publish(flags, body)
    wanted = 2 if kind in (Type.SUBSCRIBE, Type.UNSUBSCRIBE) else 0
    if kind not in _READERS:
        raise BadPacket(f"a client sends no packet of type {kind} here")
    if flags != wanted:
        raise BadPacket("reserved flags are set")
    found = _READERS[kind](body)
    body.end()
    return found


def _connect(body: _Body) -> Connect:
    name, level = body.text(), body.number(1)
    if (name, level) != ("MQTT", 4):
        body.rest()
        return Connect("", 0, True, False, 0 if level == 4 else level)
    flags, keepalive_s = body.number(1), body.number(2)
    if flags & 0x01:
        raise BadPacket("a reserved flag is set")
    has_will, has_user, has_password = bool(flags & 0x04), bool(flags & 0x80), bool(flags & 0x40)
    if (not has_will and flags & 0x38) or flags & 0x18 == 0x18 or (has_password and not has_user):
        raise BadPacket("the flags of CONNECT contradict each other")
    client = body.text()
    if has_will:
        body.text()
        body.octets()
    user = body.text() if has_user else None
    password = body.octets() if has_password else None
    return Connect(client, keepalive_s, bool(flags & 0x02), has_will, level, user, password)


def _publish(flags: int, body: _Body) -> Publish:
    qos = flags >> 1 & 3
    topic = body.text()
    if not topic or set(topic) & {"+", "#"}:
        raise BadPacket("a message has no topic, or one with wildcards")
    if qos > 1 or (not qos and flags & 0x08):
        raise BadPacket(f"QoS {qos} is not supported here, or its flags contradict each other")
    packet = body.packet() if qos else 0
    return Publish(topic, body.rest(), qos, packet, bool(flags & 0x08))


def _subscribe(body: _Body) -> Subscribe:
    packet = body.packet()
    filters = []
    while body:
        filters.append(body.text())
        if body.number(1) > 2:
            raise BadPacket("a QoS is 0, 1 or 2")
    return Subscribe(packet, _filters(filters))


def _unsubscribe(body: _Body) -> Unsubscribe:
    packet = body.packet()
    filters = []
    while body:
        filters.append(body.text())
    return Unsubscribe(packet, _filters(filters))


def _filters(found: list[str]) -> tuple[str, ...]:
    if not 0 < len(found) <= MOST_FILTERS:
        raise BadPacket(f"1 to {MOST_FILTERS} filters are taken, not {len(found)}")
    return tuple(found)


_READERS: Final[dict[int, Callable[[_Body], Packet]]] = {
    Type.CONNECT: _connect,
    Type.SUBSCRIBE: _subscribe,
    Type.UNSUBSCRIBE: _unsubscribe,
    Type.PINGREQ: lambda body: PingRequest(),
    Type.DISCONNECT: lambda body: Disconnect(),
}

# ---- what the proxy sends

PING_RESPONSE: Final = bytes((Type.PINGRESP << 4, 0))


def connack(code: Code) -> bytes:
    """No session is ever present."""
    return bytes((Type.CONNACK << 4, 2, 0, code))


def puback(packet: int) -> bytes:
    return bytes((Type.PUBACK << 4, 2)) + packet.to_bytes(2, "big")


def suback(packet: int, codes: list[int]) -> bytes:
    return bytes((Type.SUBACK << 4,)) + _length(2 + len(codes)) + packet.to_bytes(2, "big") + bytes(codes)


def unsuback(packet: int) -> bytes:
    return bytes((Type.UNSUBACK << 4, 2)) + packet.to_bytes(2, "big")


def publish(topic: str, payload: bytes) -> bytes:
    """With QoS 0."""
    name = topic.encode()
    body = len(name).to_bytes(2, "big") + name + payload
    return bytes((Type.PUBLISH << 4,)) + _length(len(body)) + body


def _length(size: int) -> bytes:
    found = bytearray()
    while True:
        size, low = size >> 7, size & 0x7F
        found.append(low | 0x80 if size else low)
        if not size:
            return bytes(found)

"""The messages that come most, read by slicing: requests (3, 32), Responses (4), updates (2).

Counterpart: ``wire.parse`` reads every message, and is what decides. A reader here knows the plain form of one message,
checks all of it and keeps the bytes that are sent on as they are: a request that is forwarded gets one more hop behind
it, a Response that is passed back loses one. Of what it does not know for certain, well-formed or not, it makes
``None``, and the datagram is parsed. ``tests/broker/test_sliced.py`` holds the two together.

In a ``path`` hops are as on the wire, ``|host|port|host|port``, each host in its canonical spelling.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from overlay.core.addresses import Address, format_address, parse_host, parse_port
from overlay.core.errors import WireError
from overlay.systems.context_broker.broker.extensions import Lookahead
from overlay.systems.context_broker.broker.fields import MAX_DATAGRAM, MAX_DIGITS, MAX_NAME, MAX_PAYLOAD, write_hops
from overlay.systems.context_broker.broker.messages import ContextRequest, ContextResponse, Hops, RawKey, raw_key
from overlay.systems.context_broker.broker.table import Entry, Replica
from overlay.systems.context_broker.broker.wire import encode, with_hops

MOST_ADDRESSES = 1024
"""Remembered in either direction; of more, those used longest ago are read or written again."""

SHORT_PATH, MOST_PATHS = 256, 128
"""Bytes of hops that are remembered as read, and how many of them; strangers may send as many as they like."""

ONE = b"1"
"""Digits below it begin with a 0, or there are none."""

Name = tuple[Address, int, RawKey]
"""What names a query everywhere: its consumer, its timestamp, and what it asks for."""


@lru_cache(maxsize=MOST_ADDRESSES)
def hop_text(address: Address) -> bytes:
    """``|host|port``."""
    return write_hops((address,)).encode()


@lru_cache(maxsize=MOST_ADDRESSES)
def requester_text(address: Address) -> bytes:
    """An address in one field, as an ACK ends."""
    return format_address(address).encode()


@lru_cache(maxsize=MOST_ADDRESSES)
def _hop(host: bytes, port: bytes) -> Address:
    """Raises ``ValueError`` unless it is a hop that would be written so."""
    try:
        address = parse_host(host.decode()), parse_port(port.decode())
    except WireError as error:
        raise ValueError from error
    if hop_text(address) != b"|%b|%b" % (host, port):
        raise ValueError
    return address


@lru_cache(maxsize=MOST_PATHS)
def _hops(path: bytes) -> Hops:
    """Of a path without its first bar. Raises ``ValueError`` unless it would be written so."""
    fields = path.split(b"|")
    if len(fields) & 1:
        raise ValueError
    each = iter(fields)
    return tuple(map(_hop, each, each))


class Request:
    """A ContextRequest, QuietRequest or Lookahead: what a broker does with one does not depend on its names."""

    __slots__ = ("hops", "is_quiet", "key", "path", "timestamp")

    def __init__(self, timestamp: int, key: RawKey, hops: Hops, path: bytes, is_quiet: bool) -> None:
        self.timestamp = timestamp
        self.key = key
        self.hops = hops
        self.path = path
        self.is_quiet = is_quiet
        """Whether nothing is acknowledged."""

    def name_from(self, source: Address) -> Name:
        """The name of the query, of which ``source`` sent this."""
        return self.hops[0] if self.hops else source, self.timestamp, self.key


def request_of(message: ContextRequest | Lookahead, *, is_quiet: bool) -> Request:
    path = write_hops(message.hops).encode()
    return Request(message.timestamp, raw_key(message.key), message.hops, path, is_quiet)


def read_request(data: bytes, stamp: bytes, rest: bytes) -> tuple[int, RawKey, Hops, bytes] | None:
    """Of ``3|stamp|rest`` or ``32|stamp|rest``: timestamp, key, hops, and these as a path; what a ``Request`` holds."""
    try:
        if not (stamp.isdigit() and stamp >= ONE and len(stamp) <= MAX_DIGITS) or len(data) > MAX_DATAGRAM:
            return None
        if not rest.isascii():
            rest.decode()
        first, second, third, *more = rest.split(b"|", 3)
        if not (first and second and third):
            return None
        path = more[0] if more else None
        key = rest if path is None else rest[: ~len(path)]
        if len(key) > MAX_NAME and not _are_short(first, second, third):
            return None
        if path is None:
            return int(stamp), key, (), b""
        hops = _hops(path) if len(path) <= SHORT_PATH else _hops.__wrapped__(path)
        return int(stamp), key, hops, rest[len(key) :]
    except ValueError:  # UnicodeDecodeError is one
        return None


class Answer:
    """A Response with hops, as the broker reads it that it was sent to."""

    __slots__ = ("data", "is_marked", "key", "path", "size", "valid_end")

    def __init__(self, data: bytes, size: int, path: bytes, is_marked: bool, key: RawKey, valid_end: int) -> None:
        self.data = data
        """The datagram, but for a mark at its end."""
        self.size = size
        """Bytes of it without hops."""
        self.path = path
        """Its hops, without any marks."""
        self.is_marked = is_marked
        """Whether it ended in a mark, so that this broker is to keep a replica."""
        self.key = key
        self.valid_end = valid_end

    def replica(self) -> Replica:
        _, _, _, provider, _, _, _, begin, end, _ = self.data.split(b"|", 9)
        return Replica(self.key, provider.decode(), int(begin), int(end), self.data[: self.size])


def answer_of(message: ContextResponse) -> Answer:
    last = len(message.hops) - 1
    content = encode(replace(message, hops=(), marks=frozenset()))
    data, path = with_hops(content, message.hops, message.marks - {last}), write_hops(message.hops).encode()
    return Answer(data, len(content), path, last in message.marks, raw_key(message.key), message.valid_end)


def read_answer(data: bytes) -> tuple[bytes, int, bytes, bool, RawKey, int] | None:
    """What an ``Answer`` holds. Its path is unread: it is one of hops only if a request was sent with it."""
    try:
        _, stamp, size, provider, first, second, third, begin, end, rest = data.split(b"|", 9)
        key = b"|".join((first, second, third))
        if not (stamp + size + begin + end).isdigit() or stamp < ONE or size < ONE or begin < ONE or end < ONE:
            return None
        digits = len(end)
        if digits > MAX_DIGITS or len(stamp) > MAX_DIGITS or len(size) > MAX_DIGITS:
            return None
        if begin >= end if len(begin) == digits else len(begin) > digits:  # equally long, digits order as numbers do
            return None
        if not (first and second and third and provider):
            return None
        if len(key) + len(provider) > MAX_NAME and not _are_short(first, second, third, provider):
            return None
        if not data.isascii():
            data.decode()
        length = int(size)
        path = rest[length:]
        if rest[length] != _SEPARATOR or length > MAX_PAYLOAD or len(data) > MAX_DATAGRAM:
            return None
        whole, is_marked = len(data) - len(path), False
        if _STAR in path:  # to look for a byte takes a fifth of what bytes take
            is_marked = path.endswith(b"|*")
            if is_marked:
                data, path = data[:-2], path[:-2]
            if _STAR in path:
                at = path.find(b"|*|")
                if at <= 0 or path[:at].count(b"|") % 2 or path.count(b"*") > 1:
                    return None
                path = path[:at] + path[at + 2 :]
        return data, whole, path, is_marked, key, int(end)
    except (ValueError, IndexError):
        return None


def read_update(data: bytes) -> Entry | None:
    """What an update or advertisement says is so."""
    try:
        _, stamp, size, flag, provider, entity_type, entity_id, scope, begin, end, payload = data.split(b"|", 10)
        valid_begin, valid_end, length = _read_numbers(stamp, size, begin, end)
        if length != len(payload) or flag not in (b"A", b"U") or len(data) > MAX_DATAGRAM:
            return None
        if not (provider and entity_type and entity_id and scope):
            return None
        key = b"|".join((entity_type, entity_id, scope))
        if len(key) + len(provider) > MAX_NAME and not _are_short(entity_type, entity_id, scope, provider):
            return None
        if not data.isascii():
            data.decode()
        response = b"4|%b|%b%b" % (stamp, size, data[len(stamp) + len(size) + 5 :])
        return Entry(key, provider.decode(), valid_begin, valid_end, response)
    except (ValueError, IndexError):
        return None


def _read_numbers(stamp: bytes, size: bytes, begin: bytes, end: bytes) -> tuple[int, int, int]:
    """The validity and the size of the payload. Raises ``ValueError`` or ``IndexError``, for a lone 0, too."""
    if not (stamp + size + begin + end).isdigit() or _ZERO in (stamp[0], size[0], begin[0], end[0]):
        raise ValueError
    if max(len(stamp), len(size), len(begin), len(end)) > MAX_DIGITS:
        raise ValueError
    valid_begin, valid_end, length = int(begin), int(end), int(size)
    if valid_begin >= valid_end or length > MAX_PAYLOAD:
        raise ValueError
    return valid_begin, valid_end, length


def _are_short(*names: bytes) -> bool:
    return max(map(len, names)) <= MAX_NAME


_ZERO, _SEPARATOR, _STAR = b"0|*"

"""The commonest messages, read by slicing: requests (3, 32), Responses (4), updates (2).

Counterpart: ``wire.codec.parse`` reads every message, and decides. A reader here knows the plain form of one message
and checks all of it. For any other form, well-formed or not, it gives ``None``, and the datagram is parsed.
``tests/fast/test_sliced.py`` compares the two.
"""

from __future__ import annotations

from functools import lru_cache

from overlay.core.addresses import Address, parse_host, parse_port
from overlay.core.errors import WireError
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.queries import MOST_ADDRESSES, hop_text
from overlay.systems.context_broker.wire.kinds import MAX_DATAGRAM, MAX_DIGITS, MAX_NAME, MAX_PAYLOAD
from overlay.systems.context_broker.wire.messages import Hops, RawKey

SHORT_PATH, MOST_PATHS = 256, 128
"""Bytes of hops that are remembered as read, and how many of them; strangers may send as many as they like."""

ONE = b"1"
"""Digits below it begin with a 0, or there are none."""


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

"""Recognises answers by their bytes, consistently with ``wire.codec.parse`` but much faster.

Counterpart: ``clients.questions`` combines these functions. A load generator receives three datagrams per request, and
for nearly all of them needs only one bit. ``tests/fast/test_replies.py`` compares both on arbitrary bytes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from overlay.core.addresses import parse_address
from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.kinds import MAX_NAME, MAX_PAYLOAD

_INTEGER = rb"(0|[1-9][0-9]{0,18})"
_NAME = rb"[^|]{1,%d}" % MAX_NAME
_RESPONSE = re.compile(
    rb"4\|%b\|%b\|%b\|([^|]+\|[^|]+\|[^|]+)\|%b\|%b\|" % (_INTEGER, _INTEGER, _NAME, *2 * [_INTEGER])
)
_ACK_START = re.compile(rb"5\|%b" % _INTEGER)


def is_response(about: bytes, data: bytes) -> bool:
    """Whether ``data`` is a Response without hops about ``about``, the ``type|id|scope`` of a request."""
    found = _RESPONSE.match(data)
    if found is None:
        return False
    _, size, key, begin, end = found.groups()
    if key != about or not 1 <= int(size) <= MAX_PAYLOAD or int(size) != len(data) - found.end():
        return False
    return int(begin) < int(end) and _is_text(data)


def read_response(data: bytes) -> tuple[int, str, int, int, bytes]:
    """Timestamp, provider, the limits of the validity (Unix ms) and payload of what ``is_response``."""
    _, stamp, _, provider, _, _, _, begin, end, payload = data.split(b"|", 9)
    return int(stamp), provider.decode(), int(begin), int(end), payload


def is_ack(content: bytes, data: bytes) -> bool:
    """Whether ``data`` is an ACK with the ``content`` from ``ack_of``."""
    start, said, requester = data.partition(content)
    return bool(said) and _ACK_START.fullmatch(start) is not None and _is_address(requester)


def stamp_of(data: bytes) -> int:
    """The timestamp in the header of a valid message, Unix ms."""
    return int(data.split(b"|", 2)[1])


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@lru_cache(maxsize=4096)  # each port of a client sees its own address repeatedly
def _is_address(field: bytes) -> bool:
    try:
        parse_address(field.decode())
    except (UnicodeDecodeError, WireError):
        return False
    return True

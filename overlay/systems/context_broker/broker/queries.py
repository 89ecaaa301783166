"""Requests and Responses as forwarded by brokers, with the bytes that are sent unchanged.

Counterparts: ``request_of`` and ``answer_of`` convert messages of ``wire.codec``; ``fast.sliced`` creates
them from bytes. Forwarding a request appends one hop; returning a Response removes one.

In a ``path``, hops are as on the wire, ``|host|port|host|port``, with hosts in canonical form.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from overlay.core.addresses import Address, format_address
from overlay.systems.context_broker.broker.entries import Replica
from overlay.systems.context_broker.wire.codec import encode, with_hops
from overlay.systems.context_broker.wire.extensions import Lookahead
from overlay.systems.context_broker.wire.messages import ContextRequest, ContextResponse, Hops, RawKey, raw_key
from overlay.systems.context_broker.wire.values import write_hops

MOST_ADDRESSES = 1024
"""Maximum cached addresses in either direction; beyond it the least recently used are converted again."""

Name = tuple[Address, int, RawKey]
"""Identifies a query: its consumer, its timestamp and its key."""


@lru_cache(maxsize=MOST_ADDRESSES)
def hop_text(address: Address) -> bytes:
    """``|host|port``."""
    return write_hops((address,)).encode()


@lru_cache(maxsize=MOST_ADDRESSES)
def requester_text(address: Address) -> bytes:
    """An address in one field, as at the end of an ACK."""
    return format_address(address).encode()


class Request:
    """A ContextRequest, QuietRequest or Lookahead. Its processing does not depend on its names."""

    __slots__ = ("hops", "is_quiet", "key", "path", "timestamp")

    def __init__(self, timestamp: int, key: RawKey, hops: Hops, path: bytes, is_quiet: bool) -> None:
        self.timestamp = timestamp
        self.key = key
        self.hops = hops
        self.path = path
        self.is_quiet = is_quiet
        """Whether it is not acknowledged."""

    def name_from(self, source: Address) -> Name:
        """The name of the query, sent here by ``source``."""
        return self.hops[0] if self.hops else source, self.timestamp, self.key


def request_of(message: ContextRequest | Lookahead, *, is_quiet: bool) -> Request:
    path = write_hops(message.hops).encode()
    return Request(message.timestamp, raw_key(message.key), message.hops, path, is_quiet)


class Answer:
    """A Response with hops, as read by its receiver."""

    __slots__ = ("data", "is_marked", "key", "path", "size", "valid_end")

    def __init__(self, data: bytes, size: int, path: bytes, is_marked: bool, key: RawKey, valid_end: int) -> None:
        self.data = data
        """The datagram without a mark at its end."""
        self.size = size
        """Its length without hops."""
        self.path = path
        """Its hops without marks."""
        self.is_marked = is_marked
        """Whether it ends in a mark, so that this broker should keep a replica."""
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

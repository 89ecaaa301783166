"""The blob of a chain: canonical JSON ``[[[ip, port, id], ...], [server's ip, port], body]``.

The blob of a direct push is the body alone. The body is copied as it is, so that it stays canonical.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from json import JSONDecoder
from typing import Any, NamedTuple

from overlay.core.addresses import Address, parse_host
from overlay.core.binary import canonical
from overlay.core.errors import WireError
from overlay.systems.radiator.wire.compression import TooLarge, inflate
from overlay.systems.radiator.wire.messages import DIRECT

_DECODER = JSONDecoder()


class Place(NamedTuple):
    """A member of a chain."""

    host: str
    port: int
    id: str


class Opened(NamedTuple):
    """The contents of a blob. A direct push has no members and no server."""

    members: list[Any]
    """As in the JSON: a hop needs two of them, and a chain may have thousands."""
    server: Address
    body: bytes

    def place(self, position: int) -> Place:
        """Raises ``WireError``."""
        member = self.members[position]
        if not isinstance(member, list) or len(member) != 3 or not isinstance(member[2], str):
            raise WireError(f"{member!r:.60} is not a member of a chain")
        return Place(*_address(member[:2]), member[2])


def chain_blob(members: Iterable[Place], server: Address, body: bytes) -> bytes:
    return b"[%b,%b,%b]" % (canonical(list(members)), canonical(list(server)), body)


def open_blob(blob: bytes, codec: int, chain: int, most: int) -> Opened:
    """Inflate and read the blob of a push. Raises ``WireError``."""
    for most_bytes, most_content_bytes, opened in CACHES:
        if len(blob) <= most_bytes:
            try:
                return opened(blob, codec, chain, min(most, most_content_bytes))
            except TooLarge:
                pass
    return _open(blob, codec, chain, most)


def _open(blob: bytes, codec: int, chain: int, most: int) -> Opened:
    data = inflate(blob, codec, most)
    return Opened([], ("", 0), data) if chain == DIRECT else _read(data)


CACHES = (
    (8 << 10, 32 << 10, lru_cache(maxsize=256)(_open)),
    (512 << 10, 512 << 10, lru_cache(maxsize=16)(_open)),
)
"""Each with the most bytes of a blob and of its contents; longer ones are not cached. The hops of a chain that are in
one process open the same blob, one after the other, and hundreds of chains (600 members are 28 kB) are on their way."""


def _read(data: bytes) -> Opened:
    try:
        text = data.decode()
        members, at = _DECODER.raw_decode(text, 1)
        server, end = _DECODER.raw_decode(text, at + 1)
        marks = text[0], text[at], text[end], text[-1]
    except (ValueError, IndexError, RecursionError):
        raise WireError("not the blob of a chain") from None
    if marks != ("[", ",", ",", "]") or not isinstance(members, list):
        raise WireError("not the blob of a chain")
    return Opened(members, _address(server), text[end + 1 : -1].encode())


def _address(value: Any) -> Address:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        raise WireError(f"{value!r:.60} is not an address")
    if type(value[1]) is not int or not 1 <= value[1] <= 65_535:
        raise WireError(f"{value!r:.60} is not an address")
    return parse_host(value[0]), value[1]

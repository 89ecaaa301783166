"""What a server sends to an address that is not proven: little, and only to programs of its own host. Pure.

The source of a datagram can be forged. A token that was sent to an address proves it.
"""

from __future__ import annotations

from hashlib import blake2s
from ipaddress import ip_address

from overlay.core.addresses import Address, format_address

MOST_TIMES = 3
"""Bytes sent to an address that is not proven, per byte received."""


def is_on_host(source: Address, own: Address) -> bool:
    """Whether ``source`` is on the host of the server at ``own``."""
    return source[0] == own[0] or ip_address(source[0]).is_loopback


def token_of(secret: bytes, address: Address, epoch: int) -> int:
    """64 bits, never 0, which stands for no token."""
    text = format_address(address).encode()
    digest = blake2s(epoch.to_bytes(8, "big") + text, key=secret, digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1

"""Keyed hashes: tags, cookies, the keys of a connection, tokens of RESET (RFC 7693)."""

from __future__ import annotations

from typing import Final, NamedTuple

from overlay.core.addresses import Address
from overlay.core.hashes import blake2b, blake2s, compare_digest
from overlay.core.node import SECOND
from overlay.systems.contextnet.transport.layouts import COOKIE_BYTES, pack_address

SECRET_BYTES: Final = 32
NO_SECRET: Final = bytes(SECRET_BYTES)
"""Of every node where ``auth`` is ``none``."""
SLOT_S: Final = 5
"""A cookie of RETRY names the time slot of its making, and is accepted for two slots after it."""
SLOTS: Final = 2
HOURLY: Final = 1 << 31
"""In the slot of a cookie from ACCEPT, whose slot is the Unix hour; it is accepted for 24 hours after it."""
HOURS: Final = 24
_HOUR: Final = 3_600 * SECOND
_NO_NONCE: Final = bytes(16)


def mac(key: bytes, data: bytes, size: int = 16) -> bytes:
    """Keyed BLAKE2s of ``size`` bytes, which is not a longer one cut."""
    digest: bytes = blake2s(data, key=key, digest_size=size).digest()
    return digest


def proof(secret: bytes, label: bytes, data: bytes) -> bytes:
    """The last 16 bytes of a HELLO, ACCEPT or REFUSE; ``data`` is all before."""
    return mac(secret, b"tether1 " + label + data)


def is_proven(secret: bytes, label: bytes, data: bytes) -> bool:
    """Whether a HELLO, ACCEPT or REFUSE was made with this secret."""
    return compare_digest(proof(secret, label, data[:-16]), data[-16:])


class Keys(NamedTuple):
    """Of one connection, 32 bytes each."""

    to_gateway: bytes
    to_node: bytes


def session_keys(secret: bytes, client_nonce: bytes, server_nonce: bytes, cid: int, node: bytes) -> Keys:
    data = b"tether1 keys" + client_nonce + server_nonce + cid.to_bytes(8, "big") + node
    both = blake2b(data, key=secret, digest_size=64).digest()
    return Keys(both[:32], both[32:])


def reset_token(secret: bytes, cid: int) -> bytes:
    """``secret`` is the gateway's."""
    return mac(secret, b"reset" + cid.to_bytes(8, "big"))


class Cookies:
    """Proofs that a node receives at its address, which need no state. The secret outlives restarts of the gateway."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def of_slot(self, address: Address, node: bytes, nonce: bytes, slot: int) -> bytes:
        stamp = slot.to_bytes(4, "big")
        return stamp + mac(self._secret, b"cookie" + pack_address(address) + node + nonce + stamp)

    def now(self, address: Address, node: bytes, nonce: bytes, now: int) -> bytes:
        """Of RETRY: for this HELLO and address."""
        return self.of_slot(address, node, nonce, _slot(now))

    def later(self, address: Address, node: bytes, wall: int) -> bytes:
        """Of ACCEPT: for later HELLOs from the same host. ``wall`` is in ns since 1970."""
        return self.of_slot((address[0], 0), node, _NO_NONCE, HOURLY | wall // _HOUR)

    def is_good(self, cookie: bytes, address: Address, node: bytes, nonce: bytes, now: int, wall: int) -> bool:
        if len(cookie) != COOKIE_BYTES:
            return False
        slot = int.from_bytes(cookie[:4], "big")
        if slot & HOURLY:
            age, most = wall // _HOUR - (slot ^ HOURLY), HOURS
            address, nonce = (address[0], 0), _NO_NONCE
        else:
            age, most = _slot(now) - slot, SLOTS
        return 0 <= age <= most and compare_digest(self.of_slot(address, node, nonce, slot), cookie)


def _slot(now: int) -> int:
    """The top bit is kept for hours; 2^31 slots are 340 years."""
    return now // (SLOT_S * SECOND) % HOURLY

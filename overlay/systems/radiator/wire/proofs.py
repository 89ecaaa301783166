"""Keyed hashes (BLAKE2s): the MAC of a push, and the token of an address."""

from __future__ import annotations

from hashlib import blake2s
from hmac import compare_digest
from struct import Struct

from overlay.core.addresses import Address, format_address

_PUSH = Struct(">QQH")


def mac_of(key: bytes, epoch: int, propagation: int, chain: int, blob: bytes) -> bytes:
    """8 bytes over the header and the blob as it travels, so that it is checked before anything is inflated."""
    digest = blake2s(_PUSH.pack(epoch, propagation, chain), key=key, digest_size=8)
    digest.update(blob)
    return digest.digest()


def is_authentic(mac: bytes, key: bytes, epoch: int, propagation: int, chain: int, blob: bytes) -> bool:
    return compare_digest(mac, mac_of(key, epoch, propagation, chain, blob))


def token_of(secret: bytes, address: Address, epoch: int) -> int:
    """64 bits, never 0, which stands for no token."""
    text = format_address(address).encode()
    digest = blake2s(epoch.to_bytes(8, "big") + text, key=secret, digest_size=8).digest()
    return int.from_bytes(digest, "big") or 1

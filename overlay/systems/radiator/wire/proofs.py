"""The MAC of a push: a keyed hash (BLAKE2s)."""

from __future__ import annotations

from hashlib import blake2s
from hmac import compare_digest
from struct import Struct

_PUSH = Struct(">QQH")


def mac_of(key: bytes, epoch: int, propagation: int, chain: int, blob: bytes) -> bytes:
    """8 bytes over the header and the blob as it travels, so that it is checked before anything is inflated."""
    digest = blake2s(_PUSH.pack(epoch, propagation, chain), key=key, digest_size=8)
    digest.update(blob)
    return digest.digest()


def is_authentic(mac: bytes, key: bytes, epoch: int, propagation: int, chain: int, blob: bytes) -> bool:
    return compare_digest(mac, mac_of(key, epoch, propagation, chain, blob))

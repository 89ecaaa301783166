"""Identifiers of 160 bits for brokers and keys. The distance between two is their exclusive or as an integer."""

from __future__ import annotations

from functools import lru_cache

from overlay.core.addresses import Address, format_address
from overlay.core.chance import Chance
from overlay.core.hashes import blake2b
from overlay.systems.context_broker.wire.kinds import TARGET_DIGITS
from overlay.systems.context_broker.wire.messages import Key, RawKey, raw_key

BITS = 4 * TARGET_DIGITS


def _identifier(text: bytes) -> int:
    return int.from_bytes(blake2b(text, digest_size=BITS // 8).digest(), "big")


@lru_cache(maxsize=4096)
def of_broker(address: Address) -> int:
    """BLAKE2b-160 of ``host:port``. It follows from the address, so it need not be sent."""
    return _identifier(format_address(address).encode())


def of_key(key: Key) -> int:
    """BLAKE2b-160 of ``type|id|scope``. It is unambiguous, because names have no ``|``."""
    return of_raw_key(raw_key(key))


def of_raw_key(key: RawKey) -> int:
    return _identifier(key)


def by_chance(chance: Chance) -> int:
    """A uniformly random identifier, from 64 random bits."""
    return _identifier(b"%d" % chance.randrange(1 << 64))


def bucket_of(a: int, b: int) -> int:
    """The number of bits after the first that differs: 159 for identifiers in different halves."""
    return (a ^ b).bit_length() - 1


def to_text(identifier: int) -> str:
    """The text form in FindBrokers and ClosestBrokers."""
    return f"{identifier:0{TARGET_DIGITS}x}"


def from_text(text: str) -> int:
    return int(text, 16)

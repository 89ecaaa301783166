"""Opaque ids: they order nothing and count nothing, and can stand in a path, a queue name or a Parquet partition."""

import secrets
from collections.abc import Iterator, Sequence

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""No look-alikes: ids are read aloud and typed off screens."""
_LENGTH = 12
AT_ONCE = 500
"""Rows that one statement names."""


def new_id() -> str:
    """Twelve characters, about 59 bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def is_id(text: str) -> bool:
    """Whether ``new_id`` could have made it."""
    return len(text) == _LENGTH and set(text) <= set(_ALPHABET)


def in_chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many at a time as one statement may name."""
    for begin in range(0, len(ids), AT_ONCE):
        yield ids[begin : begin + AT_ONCE]

"""Opaque ids without order or sequence, usable in paths, queue names and Parquet partitions."""

import secrets
from collections.abc import Iterator, Sequence

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""No ambiguous characters: ids are read aloud and typed from screens."""
_LENGTH = 12
AT_ONCE = 500
"""Maximum number of ids in one statement."""


def new_id() -> str:
    """Twelve characters, about 59 bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def is_id(text: str) -> bool:
    """Whether it has the form of ``new_id``."""
    return len(text) == _LENGTH and set(text) <= set(_ALPHABET)


def in_chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """In chunks that fit into one statement."""
    for begin in range(0, len(ids), AT_ONCE):
        yield ids[begin : begin + AT_ONCE]

"""Opaque ids: they order nothing and count nothing, and can stand in a path, a queue name or a Parquet partition."""

import secrets

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""No look-alikes: ids are read aloud and typed off screens."""
_LENGTH = 12


def new_id() -> str:
    """Twelve characters, about 59 bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def is_id(text: str) -> bool:
    """Whether ``new_id`` could have made it."""
    return len(text) == _LENGTH and set(text) <= set(_ALPHABET)

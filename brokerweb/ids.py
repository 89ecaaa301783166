"""Opaque ids: they order nothing and count nothing, and can stand in a path, a queue name or a Parquet partition."""

import secrets

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
"""No look-alikes: ids are read aloud and typed off screens."""


def new_id() -> str:
    """Twelve characters, about 59 bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(12))

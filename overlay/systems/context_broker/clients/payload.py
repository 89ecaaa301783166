"""The usual format of a payload, ``K=V;K=V``. Brokers do not require it."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.core.errors import InvalidSetting


def parse_pairs(text: str) -> dict[str, str] | None:
    """The pairs of a payload in this format (a final ``;`` is allowed), or ``None`` for another format."""
    pairs: dict[str, str] = {}
    for pair in text.removesuffix(";").split(";"):
        key, equals, value = pair.partition("=")
        if not key or not equals or "=" in value or key in pairs:
            return None
        pairs[key] = value
    return pairs


def format_pairs(pairs: Mapping[str, object]) -> str:
    """The payload of these pairs. Raises ``InvalidSetting`` for keys or values that break the format."""
    for key, value in pairs.items():
        if not key or any(mark in f"{key}{value}" for mark in ";="):
            raise InvalidSetting("payload", f"{key[:60]!r}: keys and values must not contain ';' or '=', or be empty")
    return ";".join(f"{key}={value}" for key, value in pairs.items())

"""The usual form of a payload, ``K=V;K=V``. Brokers neither know nor require it."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.core.errors import InvalidSetting


def parse_pairs(text: str) -> dict[str, str] | None:
    """The pairs of a payload in the usual form (one ``;`` may end it), or ``None`` where it has another."""
    pairs: dict[str, str] = {}
    for pair in text.removesuffix(";").split(";"):
        key, equals, value = pair.partition("=")
        if not key or not equals or "=" in value or key in pairs:
            return None
        pairs[key] = value
    return pairs


def format_pairs(pairs: Mapping[str, object]) -> str:
    """The payload of these pairs. Raises ``InvalidSetting`` where a key or value would break the form."""
    for key, value in pairs.items():
        if not key or any(mark in f"{key}{value}" for mark in ";="):
            raise InvalidSetting("payload", f"{key[:60]!r}: keys and values are free of ';' and '=', keys not empty")
    return ";".join(f"{key}={value}" for key, value in pairs.items())

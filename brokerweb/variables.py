"""Parses environment variables with numbers and lists for ``settings``."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from math import isfinite

from django.core.exceptions import ImproperlyConfigured


def number(environment: Mapping[str, str], name: str, default: float) -> float:
    """A finite number of at least 0. Raises ``ImproperlyConfigured``."""
    text = environment.get(name) or str(default)
    try:
        found = float(text)
    except ValueError:
        found = -1
    if not isfinite(found) or found < 0:
        raise ImproperlyConfigured(f"{name} must be a number of at least 0, not {text!r:.60}")
    return found


def networks(environment: Mapping[str, str], name: str) -> list[IPv4Network | IPv6Network]:
    """Comma-separated networks; empty if unset. Raises ``ImproperlyConfigured``."""
    texts = [text.strip() for text in environment.get(name, "").split(",")]
    try:
        return [ip_network(text, strict=False) for text in texts if text]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must list networks such as 10.1.0.0/16, comma-separated: {error}") from None

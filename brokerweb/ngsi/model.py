"""What both standards call an entity. Times are Unix milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brokerweb.ngsi.values import default_type

DATES = frozenset({"observedAt", "TimeInstant"})
"""Metadata whose type is ``DateTime`` if they have no other."""


@dataclass(frozen=True, slots=True)
class Metadatum:
    """NGSI-LD: a property of a property."""

    value: Any
    type: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """NGSI-LD: a property or relationship, by its ``type``."""

    value: Any
    type: str
    metadata: Mapping[str, Metadatum] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entity:
    """``attributes`` in the order of their pairs."""

    id: str
    type: str
    attributes: Mapping[str, Attribute]
    modified_ms: int = 0
    expires_ms: int = 0


def attribute(value: Any, type: str | None = None, metadata: Mapping[str, Metadatum] | None = None) -> Attribute:
    """With the default type if it has none."""
    return Attribute(value, default_type(value) if type is None else type, metadata or {})


def metadatum(name: str, value: Any, type: str | None = None) -> Metadatum:
    """With the default type if it has none."""
    return Metadatum(value, default_type_of(name, value) if type is None else type)


def default_type_of(name: str, value: Any) -> str:
    """Of the metadata of this name."""
    return "DateTime" if name in DATES and isinstance(value, str) else default_type(value)

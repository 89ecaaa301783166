"""Entities as the JSON of NGSI-LD. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brokerweb.ngsi.ld.kinds import GEO, MEMBERS, PROPERTY, TYPED, kind_of
from brokerweb.ngsi.ld.terms import ENTITY_MEMBERS, shown_id
from brokerweb.ngsi.model import Attribute, Entity, Metadatum
from brokerweb.ngsi.times import write_time

SHORT = ("keyValues", "simplified")
FORMATS = ("normalized", *SHORT)
_TAKEN = frozenset({*MEMBERS.values(), "type", "observedAt", "unitCode", "datasetId", "createdAt", "modifiedAt"})
"""Members of an attribute that no metadata may stand in the place of."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How entities are shown. ``attrs``: only these; ``None``: all. ``has_times``: with ``modifiedAt``."""

    is_short: bool = False
    attrs: frozenset[str] | None = None
    has_times: bool = False
    context: str = ""
    """In the body, if it is not empty."""

    def entity(self, one: Entity) -> dict[str, Any]:
        found: dict[str, Any] = {"id": shown_id(one.type, one.id), "type": one.type}
        if self.has_times:
            found["modifiedAt"] = write_time(one.modified_ms)
            found["expiresAt"] = write_time(one.expires_ms)
        for name, value in one.attributes.items():
            if name not in ENTITY_MEMBERS and (self.attrs is None or name in self.attrs):
                found[name] = short(value) if self.is_short else self._attribute(value, one)
        if self.context:
            found["@context"] = self.context
        return found

    def _attribute(self, one: Attribute, of: Entity) -> dict[str, Any]:
        found = normalized(one)
        if self.has_times:
            found["modifiedAt"] = write_time(of.modified_ms)
        return found


def normalized(one: Attribute | Metadatum) -> dict[str, Any]:
    kind = kind_of(one.type, one.value)
    found: dict[str, Any] = {"type": kind, MEMBERS[kind]: _value(one, kind)}
    metadata: Mapping[str, Metadatum] = one.metadata if isinstance(one, Attribute) else {}
    for name, meta in metadata.items():
        if name in ("observedAt", "unitCode"):
            if isinstance(meta.value, str):
                found[name] = meta.value
        elif name == "TimeInstant" and "observedAt" not in metadata:
            found["observedAt"] = meta.value
        elif name not in _TAKEN:
            found[name] = normalized(meta)
    return found


def short(one: Attribute) -> Any:
    """Its simplified representation (clause 4.5.4)."""
    kind = kind_of(one.type, one.value)
    value = _value(one, kind)
    return value if kind in (PROPERTY, GEO, "Relationship") else {MEMBERS[kind]: value}


def _value(one: Attribute | Metadatum, kind: str) -> Any:
    if kind == PROPERTY and one.type in TYPED and isinstance(one.value, str):
        return {"@type": one.type, "@value": one.value}
    return one.value

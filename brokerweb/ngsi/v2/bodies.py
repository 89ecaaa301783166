"""Entities and attributes from the JSON of NGSI-v2. Pure. Everything raises ``Problem``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brokerweb.ngsi.model import Attribute, Metadatum, attribute, metadatum
from brokerweb.ngsi.problems import wrong
from brokerweb.ngsi.v2.names import BUILTIN, BUILTIN_METADATA, attribute_name, entity_name, field, metadata_name
from overlay.core.errors import shown

EXPIRES = "dateExpires"
THING = "Thing"
"""The type of an entity that is created without one."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a body says. ``type`` is ``None`` if it says none; ``expires`` is the value of ``dateExpires``."""

    id: str
    type: str | None
    attributes: Mapping[str, Attribute]
    expires: Any = None


def read_entity(body: Any, *, is_short: bool) -> Given:
    """``is_short``: in the representation ``keyValues``."""
    if not isinstance(body, dict):
        raise wrong(f"An entity must be an object, not {shown(body)}.")
    if "id" not in body:
        raise wrong("id: an entity needs one.")
    id = entity_name("id", body["id"])
    type = entity_name("type", body["type"]) if "type" in body else None
    rest = {name: value for name, value in body.items() if name not in ("id", "type")}
    attributes, expires = read_attributes(rest, is_short=is_short)
    return Given(id, type, attributes, expires)


def read_attributes(body: Any, *, is_short: bool) -> tuple[dict[str, Attribute], Any]:
    """And the value of ``dateExpires``; ``None`` without it. Dates that servers set themselves are ignored."""
    if not isinstance(body, dict):
        raise wrong(f"Attributes must be an object, not {shown(body)}.")
    for name in ("id", "type"):
        if name in body:
            raise wrong(f"{name}: cannot be changed.")
    read: dict[str, Attribute] = {}
    for name, value in body.items():
        read[attribute_name(name)] = attribute(value) if is_short else read_attribute(name, value)
    expires = read.pop(EXPIRES, None)
    for name in BUILTIN:
        read.pop(name, None)
    return read, None if expires is None else expires.value


def read_attribute(name: str, body: Any) -> Attribute:
    if not isinstance(body, dict):
        raise wrong(f"{name}: must be an object with value and type, not {shown(body)}; or add options=keyValues.")
    _known(name, body, ("value", "type", "metadata"))
    metadata = body.get("metadata", {})
    if not isinstance(metadata, dict):
        raise wrong(f"{name}.metadata: must be an object, not {shown(metadata)}.")
    type = field(f"{name}.type", body["type"]) if "type" in body else None
    read = {
        metadata_name(about): _metadatum(name, about, value)
        for about, value in metadata.items()
        if about not in BUILTIN_METADATA
    }
    return attribute(body.get("value"), type, read)


def _metadatum(name: str, about: str, body: Any) -> Metadatum:
    place = f"{name}.metadata.{about}"
    if not isinstance(body, dict):
        raise wrong(f"{place}: must be an object with value and type, not {shown(body)}.")
    _known(place, body, ("value", "type"))
    return metadatum(about, body.get("value"), field(f"{place}.type", body["type"]) if "type" in body else None)


def _known(place: str, body: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for one in body:
        if one not in names:
            raise wrong(f"{place}: {shown(one, 40)} is unknown; known: {', '.join(names)}.")

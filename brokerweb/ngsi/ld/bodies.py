"""Entities and attributes from the JSON of NGSI-LD, normalized or concise (clause 4.5). Pure.

Everything raises ``Problem``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brokerweb.ngsi.ld.kinds import GEO, GEO_TYPE, MEMBERS, PROPERTY, TYPED, is_geometry, suits
from brokerweb.ngsi.ld.terms import ENTITY_MEMBERS, attribute_name, read_id, term
from brokerweb.ngsi.model import Attribute, Metadatum, attribute, metadatum
from brokerweb.ngsi.pairs import TYPE
from brokerweb.ngsi.problems import unsupported, wrong
from brokerweb.ngsi.times import read_time
from overlay.core.errors import shown

NULL = "urn:ngsi-ld:null"
"""The value that deletes (clause 4.5.0)."""
SERVERS = ("createdAt", "modifiedAt", "deletedAt")
"""Members that servers set; ignored."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a body says. ``removed``: attributes that are ``NULL``."""

    id: str
    type: str | None
    attributes: Mapping[str, Attribute]
    expires: Any = None
    removed: tuple[str, ...] = ()


def read_entity(body: Any) -> Given:
    """An entity with id and type."""
    if not isinstance(body, dict):
        raise wrong(f"An entity must be an object, not {shown(body)}.")
    if "id" not in body or "type" not in body:
        raise wrong(f"{'type' if 'id' in body else 'id'}: an entity needs one.")
    return read_fragment(body, read_id(body["id"]))


def read_fragment(body: Any, id: str) -> Given:
    """A part of the entity ``id``, with or without its id and type."""
    if not isinstance(body, dict):
        raise wrong(f"An entity fragment must be an object, not {shown(body)}.")
    if body.get("id", id) != id:
        raise wrong(f"id: must be {shown(id)}, as in the URL, not {shown(body['id'])}.")
    if "scope" in body:
        raise unsupported("scope: is not supported.")
    read: dict[str, Attribute] = {}
    removed = []
    for name, value in body.items():
        if name in ENTITY_MEMBERS:
            continue
        short = attribute_name(name)
        if is_null(value):
            removed.append(short)
        else:
            read[short] = read_attribute(short, value)
    type = read_type(body["type"]) if "type" in body else None
    return Given(id, type, read, body.get("expiresAt"), tuple(removed))


def read_type(value: Any) -> str:
    if isinstance(value, list):
        if len(value) != 1:
            raise unsupported("type: an entity of a network has one type.")
        value = value[0]
    return term("type", value)


def is_null(value: Any) -> bool:
    return value is None or value == NULL or (isinstance(value, dict) and value.get("value", 0) in (None, NULL))


def read_attribute(name: str, body: Any) -> Attribute:
    """Concise ones have no type, or are a value alone."""
    value, type, rest = _parts(name, body)
    metadata = {}
    for about, given in rest.items():
        if about in SERVERS:
            continue
        if about in ("datasetId", "previousValue", "expiresAt", "ngsildproof"):
            raise unsupported(f"{name}.{about}: is not supported.")
        short = term(f"{name}.{about}", about)
        if short == TYPE:
            raise wrong(f"{name}.{about}: is reserved.")
        metadata[short] = _metadatum(f"{name}.{short}", short, given)
    return attribute(value, type, metadata)


def _metadatum(place: str, about: str, body: Any) -> Metadatum:
    """A property of a property, which has none itself."""
    if about == "observedAt":
        if read_time(body) is None:
            raise wrong(f"{place}: must be a time such as 2030-01-31T12:00:00Z, not {shown(body)}.")
        return metadatum(about, body)
    if about == "unitCode":
        if not isinstance(body, str):
            raise wrong(f"{place}: must be a text, not {shown(body)}.")
        return metadatum(about, body)
    value, type, rest = _parts(place, body)
    if rest.keys() - set(SERVERS):
        raise unsupported(
            f"{place}: {shown(next(iter(rest)))} is nested too deeply; a property of a property has none."
        )
    return metadatum(about, value, type)


def _parts(place: str, body: Any) -> tuple[Any, str | None, dict[str, Any]]:
    """Value, type as stored (``None``: the default) and all other members."""
    if isinstance(body, list) and body and all(isinstance(one, dict) and "type" in one for one in body):
        raise unsupported(f"{place}: several values (datasetId) are not supported.")
    if not isinstance(body, dict):
        return _checked(place, PROPERTY, body), None, {}
    if is_geometry(body):
        return body, GEO_TYPE, {}
    kind = body.get("type") or next((one for one, member in MEMBERS.items() if member in body), None)
    if kind not in MEMBERS:
        known = ", ".join(MEMBERS)
        raise wrong(f"{place}: needs a type ({known}) and its value, not {shown(body)}.")
    member = MEMBERS[kind]
    if member not in body:
        raise wrong(f"{place}: a {kind} needs the member {member}.")
    value, type = body[member], kind
    if kind == PROPERTY:
        value, type = _typed(value, "type" in body)
    rest = {name: one for name, one in body.items() if name not in ("type", member)}
    return _checked(place, kind, value), GEO_TYPE if kind == GEO else type, rest


def _typed(value: Any, is_normalized: bool) -> tuple[Any, str | None]:
    if isinstance(value, dict) and value.keys() == {"@type", "@value"} and value["@type"] in TYPED:
        return value["@value"], value["@type"]
    return value, GEO_TYPE if is_geometry(value) and not is_normalized else None


def _checked(place: str, kind: str, value: Any) -> Any:
    if not suits(kind, value):
        raise wrong(f"{place}: {shown(value)} is no value of a {kind}.")
    return value

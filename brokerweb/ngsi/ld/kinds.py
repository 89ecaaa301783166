"""Kinds of attributes of NGSI-LD, and the member that has the value of each (clause 4.5). Pure.

A kind other than ``Property`` is stored as the type of the attribute; ``GeoProperty`` as ``geo:json``, its name in
NGSI-v2.
"""

from __future__ import annotations

from typing import Any

PROPERTY, RELATIONSHIP, GEO = "Property", "Relationship", "GeoProperty"
GEO_TYPE = "geo:json"
MEMBERS = {
    PROPERTY: "value",
    RELATIONSHIP: "object",
    GEO: "value",
    "LanguageProperty": "languageMap",
    "VocabProperty": "vocab",
    "JsonProperty": "json",
    "ListProperty": "valueList",
    "ListRelationship": "objectList",
}
TYPED = frozenset({"DateTime", "Date", "Time"})
"""Types of values that both standards know: ``{"@type": "DateTime", "@value": "…"}``."""
GEOMETRIES = frozenset(
    {"Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"}
)


def kind_of(type: str, value: Any) -> str:
    """Of a stored attribute, of whatever origin."""
    if type in (GEO_TYPE, GEO) and is_geometry(value):
        return GEO
    if type == PROPERTY or type not in MEMBERS or not suits(type, value):
        return PROPERTY
    return type


def suits(kind: str, value: Any) -> bool:
    """Whether an attribute of this kind can have the value."""
    match kind:
        case "Relationship":
            return is_uri_text(value) or (isinstance(value, list) and bool(value) and all(map(is_uri_text, value)))
        case "GeoProperty":
            return is_geometry(value)
        case "LanguageProperty":
            return isinstance(value, dict) and bool(value)
        case "VocabProperty":
            return isinstance(value, str | list)
        case "ListProperty" | "ListRelationship":
            return isinstance(value, list)
        case _:
            return value is not None


def is_uri_text(value: Any) -> bool:
    return isinstance(value, str) and ":" in value and value.isprintable() and " " not in value


def is_geometry(value: Any) -> bool:
    """GeoJSON (RFC 7946), of which only the outline is checked."""
    if not isinstance(value, dict) or value.get("type") not in GEOMETRIES:
        return False
    return isinstance(value.get("geometries" if value["type"] == "GeometryCollection" else "coordinates"), list)

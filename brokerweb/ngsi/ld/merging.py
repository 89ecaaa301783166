"""Parts of attributes merged into stored ones, as JSON (clauses 5.5.12 and 5.6.4). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokerweb.ngsi.ld.bodies import is_null
from brokerweb.ngsi.ld.kinds import MEMBERS, PROPERTY, is_geometry, kind_of
from brokerweb.ngsi.ld.rendering import normalized
from brokerweb.ngsi.ld.terms import ENTITY_MEMBERS, attribute_name
from brokerweb.ngsi.model import Attribute, Entity
from brokerweb.ngsi.problems import wrong
from brokerweb.ngsi.values import default_type


def merged(entity: Entity, body: Mapping[str, Any]) -> dict[str, Any]:
    """``body`` with each attribute completed by what the entity has of it. Raises ``Problem``."""
    found: dict[str, Any] = {}
    for name, part in body.items():
        if name in ENTITY_MEMBERS or is_null(part):
            found[name] = part
            continue
        short = attribute_name(name)
        old = entity.attributes.get(short)
        found[short] = part if old is None else _merged(short, normalized(old), part)
    return found


def typed(old: Attribute | None, new: Attribute) -> Attribute:
    """``new`` with the type of NGSI-v2 that the stored property has, which NGSI-LD does not show."""
    if old is None or new.type != default_type(new.value) or kind_of(old.type, old.value) != PROPERTY:
        return new
    return new if old.type == default_type(old.value) else Attribute(new.value, old.type, new.metadata)


def _merged(name: str, old: Mapping[str, Any], part: Any) -> Any:
    if isinstance(part, list):
        return part
    if not isinstance(part, dict) or is_geometry(part):
        part = {MEMBERS[PROPERTY]: part}
    if part.get("type", old["type"]) != old["type"]:
        raise wrong(f"{name}: is a {old['type']}, which a part of it cannot change.")
    return {
        member: value for member, value in {**old, **part}.items() if not is_null(value) or member in MEMBERS.values()
    }

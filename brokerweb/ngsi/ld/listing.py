"""``GET entities``, ``types`` and ``attributes`` (clauses 5.7.2, 5.7.5 to 5.7.10)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from brokerweb.ngsi.answers import Answer
from brokerweb.ngsi.ld.asked import answered, shape_of
from brokerweb.ngsi.ld.kinds import kind_of
from brokerweb.ngsi.ld.terms import ENTITY_MEMBERS, shown_id, term
from brokerweb.ngsi.model import Attribute, Entity
from brokerweb.ngsi.patterns import pattern_of
from brokerweb.ngsi.problems import Kind, Problem, unsupported, wrong
from brokerweb.ngsi.queries import ld as language
from brokerweb.ngsi.queries.tree import EVERYTHING, Condition
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.selection import Selection, Subject
from brokerweb.ngsi.store import Store
from brokerweb.ngsi.times import write_time

COUNT = "NGSILD-Results-Count"
UNSUPPORTED = ("geoQ", "georel", "geometry", "coordinates", "geoproperty", "geometryProperty", "scopeQ", "lang", "csf")
UNSUPPORTED_TOO = ("datasetId", "pick", "omit", "join", "containedBy", "typeQ")
PARAMETERS = ("type", "id", "idPattern", "q", "attrs", "limit", "offset", "count", "options", "format", "local")


class LdSubject(Subject):
    """By the ids that NGSI-LD shows."""

    def includes(self, type: str, id: str) -> bool:
        return Subject.includes(self, type, shown_id(type, id))


def view(entity: Entity) -> Mapping[str, Attribute]:
    """The attributes that a query sees."""
    return {**entity.attributes, "modifiedAt": Attribute(write_time(entity.modified_ms), "DateTime")}


async def listed(request: Request, store: Store) -> Answer:
    """GET entities."""
    refuse_unsupported(request.parameters)
    request.check_parameters(*PARAMETERS)
    subject = subject_of(request.parameters, request.names("id"))
    attrs = frozenset(term("attrs", one) for one in request.names("attrs"))
    selection = Selection((subject,), condition_of(request.parameters.get("q")), attrs)
    return await page(request, store, selection)


async def page(request: Request, store: Store, selection: Selection, attrs: frozenset[str] | None = None) -> Answer:
    """The entities that are selected, as the request wants them shown."""
    shape, (offset, limit) = shape_of(request, "count"), request.page(least=0)
    entities = await store.select(selection, view)
    if attrs:
        shape = type(shape)(shape.is_short, attrs, shape.has_times, shape.context)
    is_counted = request.parameters.get("count", "false") == "true" or "count" in request.names("options")
    headers = {COUNT: str(len(entities))} if is_counted else {}
    return answered(request, 200, [shape.entity(one) for one in entities[offset : offset + limit]], headers)


def refuse_unsupported(given: Iterable[str]) -> None:
    """Raises ``Problem``."""
    for name in given:
        if name in UNSUPPORTED or name in UNSUPPORTED_TOO:
            raise Problem(Kind.UNSUPPORTED_QUERY, f"{name}: is not supported.")


def subject_of(body: Mapping[str, Any], ids: Sequence[str]) -> LdSubject:
    """``body`` has ``type`` and ``idPattern``. Raises ``Problem``."""
    pattern = body.get("idPattern")
    if pattern is not None and not isinstance(pattern, str):
        raise wrong("idPattern: must be a regular expression.")
    found = types_of(body.get("type"))
    return LdSubject(
        frozenset(ids) or None,
        found,
        None if pattern in (None, ".*") else pattern_of("idPattern", pattern),
    )


def types_of(text: Any) -> frozenset[str] | None:
    """Types of which an entity has one, separated by ``,`` or ``|``; ``None``: any. Raises ``Problem``."""
    if text is None or text == "*":
        return None
    if not isinstance(text, str) or ";" in text:
        raise unsupported("type: an entity of a network has one type; separate types by a comma.")
    return frozenset(term("type", one) for one in re.split(r"[,|]", text.replace("(", "").replace(")", "")))


def condition_of(q: Any) -> Condition:
    """Raises ``Problem``."""
    if q is None:
        return EVERYTHING
    if not isinstance(q, str) or not q:
        raise wrong("q: must be a query such as temperature>20.")
    return language.parse(q)


async def types(request: Request, store: Store) -> Answer:
    """GET types."""
    return await _names(request, store, "type", "EntityTypeList", "typeList", lambda one: [one.type])


async def attributes(request: Request, store: Store) -> Answer:
    """GET attributes."""
    return await _names(request, store, "attribute", "AttributeList", "attributeList", shown_attributes)


async def _names(request: Request, store: Store, what: str, kind: str, member: str, of: Any) -> Answer:
    request.check_parameters("details", "local")
    if request.parameters.get("details", "false") != "false":
        raise unsupported("details: is not supported; retrieve one by its name.")
    found = {name for one in await _all(store, Selection()) for name in of(one)}
    return answered(request, 200, {"id": f"urn:ngsi-ld:{kind}:all", "type": kind, member: sorted(found)})


async def type_named(request: Request, store: Store, name: str) -> Answer:
    """GET types/{type}."""
    request.check_parameters("local")
    short = term("type", name)
    entities = await _all(store, Selection((LdSubject(types=frozenset({short})),)))
    if not entities:
        raise Problem(Kind.NOT_FOUND, f"There is no entity of type {short}.")
    kinds: dict[str, set[str]] = {}
    for entity in entities:
        for attribute in shown_attributes(entity):
            one = entity.attributes[attribute]
            kinds.setdefault(attribute, set()).add(kind_of(one.type, one.value))
    details = [
        {"id": attribute, "type": "Attribute", "attributeName": attribute, "attributeTypes": sorted(kinds[attribute])}
        for attribute in sorted(kinds)
    ]
    about = {"id": short, "type": "EntityTypeInfo", "typeName": short, "entityCount": len(entities)}
    return answered(request, 200, {**about, "attributeDetails": details})


def shown_attributes(entity: Entity) -> list[str]:
    return [name for name in entity.attributes if name not in ENTITY_MEMBERS]


async def _all(store: Store, selection: Selection) -> list[Entity]:
    return await store.select(selection, view)

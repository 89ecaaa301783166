"""``/v2/entities/…``: one entity, its attributes, and one of these."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote

from brokerweb.ngsi.answers import JSON, TEXT, Answer, answer, encoded, nothing
from brokerweb.ngsi.entries import Entry, replaced, steps
from brokerweb.ngsi.model import Attribute, Entity
from brokerweb.ngsi.problems import Kind, Problem, unsupported, wrong
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.store import EntityReference, Store, until_of
from brokerweb.ngsi.v2.bodies import EXPIRES, THING, Given, read_attribute, read_attributes, read_entity
from brokerweb.ngsi.v2.names import BUILTIN, attribute_name
from brokerweb.ngsi.v2.rendering import FORMATS, Shape, shape_of
from brokerweb.ngsi.v2.texts import as_text, of_text
from overlay.core.errors import shown

SHORT = "keyValues"
OVERRIDE = "overrideMetadata"
"""An option of Orion's: the metadata that are given replace all others. They always do here."""


async def create(request: Request, store: Store) -> Answer:
    """POST /v2/entities."""
    request.check_parameters("options")
    options = request.options(SHORT, "upsert")
    given = read_entity(request.object(), is_short=SHORT in options)
    await created(store, given, is_upsert="upsert" in options)
    type = given.type or THING
    place = f"{request.base}/v2/entities/{quote(given.id, safe=':')}?type={quote(type, safe=':')}"
    return nothing(204 if "upsert" in options else 201, {"Location": place})


async def created(store: Store, given: Given, *, is_upsert: bool) -> None:
    type = given.type or THING
    place, until_ms = EntityReference(given.id, type), expiry(store, given.expires)
    async with store.alone(place):
        entries = await store.entries(place)
        if entries and not is_upsert:
            raise Problem(Kind.EXISTS, f"There is already an entity {given.id} of type {type}.")
        await store.carry_out(given.id, type, changed(store, entries, given.attributes, until_ms))


async def retrieve(request: Request, store: Store, id: str) -> Answer:
    """GET /v2/entities/{id}."""
    shape = _shape(request)
    entity, _ = await store.find(place_of(request, id))
    return answer(200, shape.entity(entity))


async def attributes(request: Request, store: Store, id: str) -> Answer:
    """GET /v2/entities/{id}/attrs."""
    shape = _shape(request)
    entity, _ = await store.find(place_of(request, id))
    return answer(200, shape.attributes(entity))


async def append(request: Request, store: Store, id: str) -> Answer:
    """POST /v2/entities/{id}/attrs: update or append; with ``append`` the attributes must be new."""
    request.check_parameters("type", "options")
    options = request.options(SHORT, OVERRIDE, "append")
    return await _changed_by(
        request, store, id, is_short=SHORT in options, mode="append" if "append" in options else ""
    )


async def update(request: Request, store: Store, id: str) -> Answer:
    """PATCH /v2/entities/{id}/attrs: the attributes must exist."""
    request.check_parameters("type", "options")
    is_short = SHORT in request.options(SHORT, OVERRIDE)
    return await _changed_by(request, store, id, is_short=is_short, mode="update")


async def replace(request: Request, store: Store, id: str) -> Answer:
    """PUT /v2/entities/{id}/attrs."""
    request.check_parameters("type", "options")
    is_short = SHORT in request.options(SHORT, OVERRIDE)
    return await _changed_by(request, store, id, is_short=is_short, mode="replace")


async def _changed_by(request: Request, store: Store, id: str, *, is_short: bool, mode: str) -> Answer:
    given, expires = read_attributes(request.object(), is_short=is_short)
    await change(store, place_of(request, id), given, expires, mode)
    return nothing()


async def change(store: Store, place: EntityReference, given: dict[str, Attribute], expires: Any, mode: str) -> None:
    """``mode``: ``append`` only adds, ``update`` only changes, ``replace`` removes all others; empty: adds, changes."""
    until_ms = expiry(store, expires)
    async with store.alone(place):
        entity, entries = await store.find(place)
        check_mode(entity, given, mode)
        if mode == "replace":
            plan = replaced(entries, given, store.scopes.home, until_ms)
        else:
            plan = changed(store, entries, given, until_ms)
        await store.carry_out(entity.id, entity.type, plan)


def check_mode(entity: Entity, given: dict[str, Attribute], mode: str) -> None:
    present = [name for name in given if name in entity.attributes]
    missing = [name for name in given if name not in entity.attributes]
    if mode == "append" and present:
        raise Problem(Kind.HAS_ATTRIBUTE, f"Entity {entity.id} has already the attributes {', '.join(present)}.")
    if mode == "update" and missing:
        raise Problem(
            Kind.NOT_FOUND, f"Entity {entity.id} has no attributes {', '.join(missing)}. Nothing was changed."
        )


async def delete(request: Request, store: Store, id: str) -> Answer:
    """DELETE /v2/entities/{id}."""
    request.check_parameters("type")
    await store.delete(place_of(request, id))
    return nothing()


async def attribute(request: Request, store: Store, id: str, name: str) -> Answer:
    """GET /v2/entities/{id}/attrs/{name}."""
    request.check_parameters("type", "metadata")
    entity, _ = await store.find(place_of(request, id))
    return answer(200, shape_of((), None, request.names("metadata")).attribute(_attribute(entity, name), entity))


async def put_attribute(request: Request, store: Store, id: str, name: str) -> Answer:
    """PUT /v2/entities/{id}/attrs/{name}."""
    request.check_parameters("type", "options")
    request.options(OVERRIDE)
    given = {_changeable(name): read_attribute(name, request.object())}
    await change(store, place_of(request, id), given, None, "update")
    return nothing()


async def delete_attribute(request: Request, store: Store, id: str, name: str) -> Answer:
    """DELETE /v2/entities/{id}/attrs/{name}."""
    request.check_parameters("type")
    await remove(store, place_of(request, id), [_changeable(name)])
    return nothing()


async def remove(store: Store, place: EntityReference, names: list[str]) -> None:
    async with store.alone(place):
        entity, entries = await store.find(place)
        for name in names:
            _attribute(entity, name)
        await store.carry_out(
            entity.id, entity.type, steps(entries, changed={}, removed=names, scope=store.scopes.home)
        )


async def value(request: Request, store: Store, id: str, name: str) -> Answer:
    """GET /v2/entities/{id}/attrs/{name}/value."""
    request.check_parameters("type")
    entity, _ = await store.find(place_of(request, id))
    found = _attribute(entity, name).value
    if isinstance(found, dict | list):
        return Answer(200, encoded(found), JSON)
    return Answer(200, as_text(found).encode(), TEXT)


async def put_value(request: Request, store: Store, id: str, name: str) -> Answer:
    """PUT /v2/entities/{id}/attrs/{name}/value: type and metadata stay."""
    request.check_parameters("type")
    if request.media_type == TEXT:
        new = of_text(request.body)
    elif isinstance(new := request.json(), dict | list) is False:
        raise wrong("The body must be an object or array; send other values as text/plain.")
    place = place_of(request, id)
    async with store.alone(place):
        entity, entries = await store.find(place)
        old = _attribute(entity, _changeable(name))
        one = Attribute(new, old.type, old.metadata)
        await store.carry_out(entity.id, entity.type, changed(store, entries, {name: one}, None))
    return nothing()


def changed(store: Store, entries: list[Entry], given: Any, until_ms: int | None) -> Any:
    return steps(entries, changed=given, scope=store.scopes.home, until_ms=until_ms)


def expiry(store: Store, value: Any) -> int | None:
    """Of a ``dateExpires``. Raises ``Problem``."""
    if value is None:
        return None
    return until_of(EXPIRES, value, store.longest_valid_ms, time.time_ns() // 1_000_000)


def place_of(request: Request, id: str) -> EntityReference:
    """Any names: providers that do not speak NGSI use others than it allows."""
    return EntityReference(id, request.parameters.get("type"))


def _shape(request: Request) -> Shape:
    request.check_parameters("type", "attrs", "metadata", "options")
    return shape_of(request.options(*FORMATS), request.names("attrs"), request.names("metadata"))


def _attribute(entity: Entity, name: str) -> Attribute:
    found = entity.attributes.get(name)
    if found is None:
        raise Problem(Kind.NOT_FOUND, f"Entity {entity.id} has no attribute {shown(name)}.")
    return found


def _changeable(name: str) -> str:
    if name in BUILTIN:
        raise unsupported(f"{name} cannot be used in a URL; change it with the entity.")
    return attribute_name(name)

"""``/ngsi-ld/v1/entities/…``: one entity and its attributes (clauses 5.6 and 6.4 to 6.7)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from brokerweb.ngsi.answers import Answer, nothing
from brokerweb.ngsi.entries import replaced, steps
from brokerweb.ngsi.ld.asked import answered, object_of, places, places_of, shape_of
from brokerweb.ngsi.ld.bodies import Given, read_attribute, read_entity, read_fragment
from brokerweb.ngsi.ld.merging import merged, typed
from brokerweb.ngsi.ld.terms import attribute_name
from brokerweb.ngsi.model import Attribute, Entity
from brokerweb.ngsi.problems import Kind, Problem, unsupported
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.store import EntityReference, Store, until_of


async def create(request: Request, store: Store) -> Answer:
    """POST entities."""
    request.check_parameters("local", "options")
    request.options("keyValues", "simplified", "concise", "normalized")
    given = read_entity(object_of(request))
    await created(store, given)
    return nothing(201, {"Location": f"{request.base}/ngsi-ld/v1/entities/{quote(given.id, safe=':')}"})


async def created(store: Store, given: Given) -> None:
    assert given.type is not None
    where, until_ms = places(given.id, given.type), expiry(store, given)
    async with store.alone(*where):
        if await _there(store, where):
            raise Problem(Kind.EXISTS, f"There is already an entity {given.id}.")
        plan = steps([], changed=given.attributes, scope=store.scopes.home, until_ms=until_ms)
        await store.carry_out(given.id, given.type, plan)


async def _there(store: Store, where: Sequence[EntityReference]) -> bool:
    for place in where:
        if await store.entries(place):
            return True
    return False


async def retrieve(request: Request, store: Store, id: str) -> Answer:
    """GET entities/{id}."""
    request.check_parameters("type", "attrs", "options", "format", "local")
    shape = shape_of(request, "concise")
    entity, _ = await store.find(*places_of(request, id))
    if shape.attrs is not None and shape.attrs.isdisjoint(entity.attributes):
        raise Problem(Kind.NOT_FOUND, f"Entity {id} has none of these attributes.")
    return answered(request, 200, shape.entity(entity))


async def delete(request: Request, store: Store, id: str) -> Answer:
    """DELETE entities/{id}."""
    request.check_parameters("type", "local")
    await store.delete(*places_of(request, id))
    return nothing()


async def replace(request: Request, store: Store, id: str) -> Answer:
    """PUT entities/{id}."""
    return await _changed(request, store, id, "replace")


async def merge(request: Request, store: Store, id: str) -> Answer:
    """PATCH entities/{id}: attributes are merged, or removed by ``urn:ngsi-ld:null``."""
    return await _changed(request, store, id, "merge")


async def append(request: Request, store: Store, id: str) -> Answer:
    """POST entities/{id}/attrs: changed or added; with ``noOverwrite`` only added."""
    return await _changed(request, store, id, "append")


async def update(request: Request, store: Store, id: str) -> Answer:
    """PATCH entities/{id}/attrs: changed, if they exist."""
    return await _changed(request, store, id, "update")


async def _changed(request: Request, store: Store, id: str, mode: str) -> Answer:
    request.check_parameters("type", "options", "local")
    if "noOverwrite" in request.options("noOverwrite"):
        mode = "add" if mode == "append" else mode
    body = object_of(request)
    left = await change(store, places_of(request, id), id, body, mode)
    if not left:
        return nothing()
    updated = [name for name in body if name not in left and name not in ("id", "type", "@context", "expiresAt")]
    not_updated = [{"attributeName": name, "reason": why} for name, why in left.items()]
    return answered(request, 207, {"updated": updated, "notUpdated": not_updated})


async def change(
    store: Store, where: Sequence[EntityReference], id: str, body: Mapping[str, Any], mode: str
) -> dict[str, str]:
    """``mode``: ``append`` adds or changes, ``add`` only adds, ``update`` only changes, ``merge`` changes parts of
    attributes, ``replace`` removes all others. Returns why attributes were left as they are, by name."""
    async with store.alone(*where):
        entity, entries = await store.find(*where)
        given = read_fragment(merged(entity, body) if mode == "merge" else body, id)
        if given.type not in (None, entity.type):
            raise unsupported(f"type: {entity.type} cannot be changed.")
        until_ms = expiry(store, given)
        if mode == "replace":
            await store.carry_out(
                entity.id, entity.type, replaced(entries, given.attributes, store.scopes.home, until_ms)
            )
            return {}
        left = _left(entity, given, mode)
        old = entity.attributes if mode == "merge" else {}
        changed = {name: typed(old.get(name), one) for name, one in given.attributes.items() if name not in left}
        removed = [name for name in given.removed if name not in left]
        plan = steps(entries, changed=changed, removed=removed, scope=store.scopes.home, until_ms=until_ms)
        await store.carry_out(entity.id, entity.type, plan)
        return left


def _left(entity: Entity, given: Given, mode: str) -> dict[str, str]:
    if mode == "add":
        return {name: "The entity has it already." for name in given.attributes if name in entity.attributes}
    missing = [name for name in given.removed if name not in entity.attributes]
    if mode == "update":
        missing += [name for name in given.attributes if name not in entity.attributes]
    return {} if mode == "merge" else dict.fromkeys(missing, "The entity has no such attribute.")


async def patch_attribute(request: Request, store: Store, id: str, name: str) -> Answer:
    """PATCH entities/{id}/attrs/{name}: parts of it."""
    return await _one(request, store, id, name, is_partial=True)


async def put_attribute(request: Request, store: Store, id: str, name: str) -> Answer:
    """PUT entities/{id}/attrs/{name}."""
    return await _one(request, store, id, name, is_partial=False)


async def _one(request: Request, store: Store, id: str, name: str, *, is_partial: bool) -> Answer:
    request.check_parameters("type", "local")
    body, where, short = object_of(request), places_of(request, id), attribute_name(name)
    if "datasetId" in body:
        raise unsupported("datasetId: is not supported.")
    async with store.alone(*where):
        entity, entries = await store.find(*where)
        _has(entity, short)
        new = merged(entity, {short: body})[short] if is_partial else body
        changed = {short: typed(entity.attributes[short] if is_partial else None, read_attribute(short, new))}
        await store.carry_out(entity.id, entity.type, steps(entries, changed=changed, scope=store.scopes.home))
    return nothing()


async def delete_attribute(request: Request, store: Store, id: str, name: str) -> Answer:
    """DELETE entities/{id}/attrs/{name}."""
    request.check_parameters("type", "deleteAll", "datasetId", "local")
    if "datasetId" in request.parameters:
        raise unsupported("datasetId: is not supported.")
    short, where = attribute_name(name), places_of(request, id)
    async with store.alone(*where):
        entity, entries = await store.find(*where)
        _has(entity, short)
        plan = steps(entries, changed={}, removed=[short], scope=store.scopes.home)
        await store.carry_out(entity.id, entity.type, plan)
    return nothing()


def _has(entity: Entity, name: str) -> Attribute:
    if name not in entity.attributes:
        raise Problem(Kind.NOT_FOUND, f"Entity {entity.id} has no attribute {name}.")
    return entity.attributes[name]


def expiry(store: Store, given: Given) -> int | None:
    """Of ``expiresAt``. Raises ``Problem``."""
    if given.expires is None:
        return None
    return until_of("expiresAt", given.expires, store.longest_valid_ms, time.time_ns() // 1_000_000)

"""``entityOperations/…``: many entities in one request (clauses 5.6.7 to 5.6.10, 5.6.20 and 5.7.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from brokerweb.ngsi.answers import Answer, nothing
from brokerweb.ngsi.ld import entities, listing
from brokerweb.ngsi.ld.asked import answered, body_of, object_of, places
from brokerweb.ngsi.ld.bodies import read_entity
from brokerweb.ngsi.ld.errors import details
from brokerweb.ngsi.ld.terms import read_id, term
from brokerweb.ngsi.problems import Kind, Problem, wrong
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.selection import Selection
from brokerweb.ngsi.store import Store
from brokerweb.ngsi.together import MOST, each
from overlay.core.errors import shown

One = Callable[[Any], Awaitable[object]]


async def create(request: Request, store: Store) -> Answer:
    async def one(body: Any) -> None:
        await entities.created(store, read_entity(body))

    request.check_parameters("local")
    return await _results(request, await _items(request), one, created=201)


async def upsert(request: Request, store: Store) -> Answer:
    """``options=update`` keeps attributes that are not given; otherwise they are removed."""
    request.check_parameters("options", "local")
    mode = "append" if "update" in request.options("update", "replace") else "replace"
    made: list[str] = []

    async def one(body: Any) -> None:
        given = read_entity(body)
        try:
            await entities.change(store, places(given.id, given.type), given.id, body, mode)
        except Problem as problem:
            if problem.kind is not Kind.NOT_FOUND:
                raise
            await entities.created(store, given)
            made.append(given.id)

    items = await _items(request)
    result = await _results(request, items, one)
    return answered(request, 201, made) if result.status == 204 and made else result


async def update(request: Request, store: Store) -> Answer:
    request.check_parameters("options", "local")
    mode = "add" if "noOverwrite" in request.options("noOverwrite") else "append"
    return await _changes(request, store, mode)


async def merge(request: Request, store: Store) -> Answer:
    request.check_parameters("local")
    return await _changes(request, store, "merge")


async def _changes(request: Request, store: Store, mode: str) -> Answer:
    async def one(body: Any) -> None:
        id = _id(body)
        type = term("type", body["type"]) if isinstance(body.get("type"), str) else None
        left = await entities.change(store, places(id, type), id, body, mode)
        if left:
            raise Problem(Kind.HAS_ATTRIBUTE, "; ".join(f"{name}: {why}" for name, why in left.items()))

    return await _results(request, await _items(request), one)


async def delete(request: Request, store: Store) -> Answer:
    """The body is a list of ids."""
    request.check_parameters("local")

    async def one(id: Any) -> None:
        await store.delete(*places(read_id(id), None))

    return await _results(request, await _items(request), one)


async def query(request: Request, store: Store) -> Answer:
    request.check_parameters("limit", "offset", "count", "options", "format", "local")
    body = object_of(request)
    listing.refuse_unsupported(body)
    for name in body:
        if name not in ("type", "entities", "attrs", "q"):
            raise wrong(f"{shown(name, 40)} is unknown; known: type, entities, attrs, q.")
    if body.get("type") != "Query":
        raise wrong("type: must be Query.")
    attrs = frozenset(term("attrs", one) for one in listed(body, "attrs"))
    subjects = tuple(subject(one) for one in listed(body, "entities"))
    selection = Selection(subjects, listing.condition_of(body.get("q")), attrs)
    return await listing.page(request, store, selection, attrs)


def subject(body: Any) -> listing.LdSubject:
    """An element of ``entities`` of queries and subscriptions. Raises ``Problem``."""
    if not isinstance(body, dict) or not body.keys() <= {"id", "idPattern", "type"}:
        raise wrong(f"entities: an element must have id, idPattern and type only, not {shown(body)}.")
    if "type" not in body:
        raise wrong("entities: an element needs a type.")
    ids = body.get("id", [])
    return listing.subject_of(body, [read_id(one) for one in (ids if isinstance(ids, list) else [ids])])


def listed(body: Mapping[str, Any], field: str) -> Sequence[Any]:
    """Raises ``Problem``."""
    found = body.get(field, [])
    if not isinstance(found, list) or len(found) > MOST:
        raise wrong(f"{field}: must be a list of at most {MOST:,}.")
    return found


async def _items(request: Request) -> list[Any]:
    found = body_of(request)
    if not isinstance(found, list) or not found:
        raise wrong("The body must be a list of at least one element.")
    if len(found) > MOST:
        raise Problem(Kind.TOO_LARGE, f"The body has {len(found):,} elements; the limit is {MOST:,}.")
    request.spend(len(found) - 1)
    return found


async def _results(request: Request, items: Sequence[Any], one: One, created: int = 204) -> Answer:
    done = await each(items, _name, one)
    succeeded = [_name(item) for item, problem in zip(items, done, strict=True) if problem is None]
    failed = [(_name(item), problem) for item, problem in zip(items, done, strict=True) if problem is not None]
    if failed:
        errors = [{"entityId": id, "error": details(problem)} for id, problem in failed]
        return answered(request, 207, {"success": succeeded, "errors": errors})
    return nothing(created) if created == 204 else answered(request, created, succeeded)


def _id(body: Any) -> str:
    if not isinstance(body, dict) or "id" not in body:
        raise wrong("id: an entity needs one.")
    return read_id(body["id"])


def _name(item: Any) -> str:
    """As well as it can be told."""
    return str(item.get("id", "")) if isinstance(item, dict) else str(item)

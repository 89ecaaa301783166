"""``/v2/op/…``: many entities in one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brokerweb.ngsi.answers import Answer, nothing
from brokerweb.ngsi.problems import Kind, Problem, wrong
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.selection import Selection
from brokerweb.ngsi.store import EntityReference, Store
from brokerweb.ngsi.together import MOST, each
from brokerweb.ngsi.v2 import entities, listing
from brokerweb.ngsi.v2.bodies import Given, read_entity
from overlay.core.errors import shown

SHORT = "keyValues"
ACTIONS = ("append", "appendStrict", "update", "delete", "replace")
MODES = {"append": "", "appendStrict": "append", "update": "update", "replace": "replace"}


async def update(request: Request, store: Store) -> Answer:
    """POST /v2/op/update. All entities are read before the first is changed."""
    request.check_parameters("options")
    is_short = bool(request.options(SHORT))
    body = request.object()
    _known(body, ("actionType", "entities"))
    action = body.get("actionType")
    if action not in ACTIONS:
        raise wrong(f"actionType: must be one of {', '.join(ACTIONS)}, not {shown(action)}.")
    given = _entities(body, "entities", is_short=is_short)
    request.spend(len(given) - 1)
    await _carry_out(store, given, str(action))
    return nothing()


async def notify(request: Request, store: Store) -> Answer:
    """POST /v2/op/notify: a notification of another server, whose entities are stored."""
    request.check_parameters("options")
    is_short = bool(request.options(SHORT))
    body = request.object()
    _known(body, ("subscriptionId", "data"))
    given = _entities(body, "data", is_short=is_short)
    request.spend(len(given) - 1)
    await _carry_out(store, given, "append")
    return nothing(200)


async def query(request: Request, store: Store) -> Answer:
    """POST /v2/op/query."""
    request.check_parameters("limit", "offset", "orderBy", "options")
    body = request.object()
    _known(body, ("entities", "attrs", "metadata", "expression", "attributes"))
    subjects = body.get("entities", [])
    if not isinstance(subjects, list) or len(subjects) > MOST:
        raise wrong(f"entities: must be a list of at most {MOST:,}.")
    expression = body.get("expression", {})
    if not isinstance(expression, dict):
        raise wrong(f"expression: must be an object, not {shown(expression)}.")
    selection = Selection(tuple(map(subject, subjects)), listing.condition_of(expression))
    attrs = names_in(body, "attrs") or names_in(body, "attributes")
    return await listing.page(request, store, selection, attrs, names_in(body, "metadata"))


def subject(body: Any) -> Any:
    """An element of ``entities`` of queries and subscriptions. Raises ``Problem``."""
    if not isinstance(body, dict):
        raise wrong(f"entities: an element must be an object, not {shown(body)}.")
    _known(body, ("id", "idPattern", "type", "typePattern"))
    if "id" not in body and "idPattern" not in body:
        raise wrong("entities: an element needs id or idPattern.")
    ids, types = ([body[name]] if name in body else [] for name in ("id", "type"))
    return listing.subject_of(body, ids, types)


def names_in(body: Any, field: str) -> Sequence[str]:
    """Raises ``Problem``."""
    found = body.get(field, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found) or len(found) > MOST:
        raise wrong(f"{field}: must be a list of at most {MOST:,} names.")
    return found


def _entities(body: Any, field: str, *, is_short: bool) -> list[Given]:
    found = body.get(field)
    if not isinstance(found, list) or not found:
        raise wrong(f"{field}: must be a list of at least one entity.")
    if len(found) > MOST:
        raise Problem(Kind.TOO_LARGE, f"{field}: has {len(found):,} entities; the limit is {MOST:,}.")
    return [read_entity(one, is_short=is_short) for one in found]


async def _carry_out(store: Store, given: Sequence[Given], action: str) -> None:
    """Raises ``Problem`` if one fails: the others are carried out, and the sentence names those that were not."""
    done = await each(given, lambda one: one.id, lambda one: _one(store, one, action))
    failed = [(one, problem) for one, problem in zip(given, done, strict=True) if problem is not None]
    if not failed:
        return
    kinds = {problem.kind for _, problem in failed}
    kind = kinds.pop() if len(kinds) == 1 else Kind.WRONG
    named = "; ".join(f"{one.id}: {problem}" for one, problem in failed[:20])
    raise Problem(kind, f"{len(failed):,} of {len(given):,} entities were not changed. {named}")


async def _one(store: Store, given: Given, action: str) -> None:
    attributes, place = dict(given.attributes), EntityReference(given.id, given.type)
    if action == "delete":
        if attributes:
            await entities.remove(store, place, list(attributes))
        else:
            await store.delete(place)
        return
    try:
        await entities.change(store, place, attributes, given.expires, MODES[action])
    except Problem as problem:
        if problem.kind is not Kind.NOT_FOUND or action not in ("append", "appendStrict"):
            raise
        await entities.created(store, given, is_upsert=action == "append")


def _known(body: dict[str, Any], names: Sequence[str]) -> None:
    for name in body:
        if name not in names:
            raise wrong(f"{shown(name, 40)} is unknown; known: {', '.join(names)}.")

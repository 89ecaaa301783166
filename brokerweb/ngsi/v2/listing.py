"""``GET /v2/entities``, ``/v2/types`` and what ``POST /v2/op/query`` shares with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from brokerweb.ngsi.answers import Answer, answer
from brokerweb.ngsi.model import Entity
from brokerweb.ngsi.patterns import pattern_of
from brokerweb.ngsi.problems import Kind, Problem, unsupported, wrong
from brokerweb.ngsi.queries import v2 as language
from brokerweb.ngsi.queries.tree import EVERYTHING
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.selection import Selection, Subject
from brokerweb.ngsi.store import Store
from brokerweb.ngsi.v2.ordering import ordered
from brokerweb.ngsi.v2.rendering import FORMATS, Shape, shape_of, with_builtin
from overlay.core.errors import shown

TOTAL = "Fiware-Total-Count"
GEO = ("georel", "geometry", "coords")
PARAMETERS = (
    *("id", "type", "idPattern", "typePattern", "q", "mq", *GEO),
    *("limit", "offset", "attrs", "metadata", "orderBy", "options"),
)
MOST_TYPES_OF_ONE = 100


async def listed(request: Request, store: Store) -> Answer:
    """GET /v2/entities."""
    request.check_parameters(*PARAMETERS)
    subject = subject_of(request.parameters, request.names("id"), request.names("type"))
    selection = Selection((subject,), condition_of(request.parameters))
    return await page(request, store, selection, request.names("attrs"), request.names("metadata"))


async def page(
    request: Request, store: Store, selection: Selection, attrs: Sequence[str], metadata: Sequence[str]
) -> Answer:
    """The entities that are selected, as the request wants them shown."""
    options = request.options("count", *FORMATS)
    shape, (offset, limit) = shape_of(options, attrs, metadata), request.page()
    order = request.names("orderBy")
    if any(name.removeprefix("!") == "geo:distance" for name in order):
        raise Problem(Kind.UNSUPPORTED_QUERY, "orderBy: geo:distance is not supported.")
    entities = ordered(await store.select(selection, with_builtin), order)
    headers = {TOTAL: str(len(entities))} if "count" in options else {}
    return answer(200, _shown(entities[offset : offset + limit], shape), headers)


def _shown(entities: Iterable[Entity], shape: Shape) -> list[Any]:
    return [shape.entity(one) for one in entities]


def subject_of(body: Any, ids: Sequence[str], types: Sequence[str]) -> Subject:
    """``body`` has the patterns. Raises ``Problem``."""
    for exact, pattern in ((ids, "idPattern"), (types, "typePattern")):
        if exact and pattern in body:
            raise wrong(f"{pattern}: cannot be used together with {pattern.removesuffix('Pattern')}.")
    return Subject(
        frozenset(names("id", ids)) if ids else None,
        frozenset(names("type", types)) if types else None,
        _pattern(body, "idPattern"),
        _pattern(body, "typePattern"),
    )


def names(what: str, found: Sequence[Any]) -> Sequence[str]:
    """Raises ``Problem`` for one that is no text."""
    for one in found:
        if not isinstance(one, str):
            raise wrong(f"{what}: must be a text, not {shown(one)}.")
    return found


def _pattern(body: Any, name: str) -> Any:
    text = body.get(name)
    if text is None or text == ".*":
        return None
    if not isinstance(text, str) or not text:
        raise wrong(f"{name}: must be a regular expression.")
    return pattern_of(name, text)


def condition_of(body: Any) -> Any:
    """``body`` has ``q`` and the like, of which only ``q`` is supported. Raises ``Problem``."""
    if any(name in body for name in GEO):
        raise Problem(Kind.UNSUPPORTED_QUERY, "Geographical queries are not supported.")
    if "mq" in body:
        raise unsupported("mq: queries of metadata are not supported.")
    text = body.get("q")
    if text is None:
        return EVERYTHING
    if not isinstance(text, str) or not text:
        raise wrong("q: must be a query such as temperature>20.")
    return language.parse(text)


async def types(request: Request, store: Store) -> Answer:
    """GET /v2/types."""
    request.check_parameters("limit", "offset", "options")
    options = request.options("count", "values", "noAttrDetail")
    offset, limit = request.page()
    found = await _types(store, Selection())
    headers = {TOTAL: str(len(found))} if "count" in options else {}
    names = sorted(found)[offset : offset + limit]
    if "values" in options:
        return answer(200, names, headers)
    return answer(200, [{"type": name, **_about(found[name])} for name in names], headers)


async def type_named(request: Request, store: Store, type: str) -> Answer:
    """GET /v2/types/{type}."""
    request.check_parameters("options")
    request.options("noAttrDetail")
    found = await _types(store, Selection((Subject(types=frozenset({type})),)))
    if type not in found:
        raise Problem(Kind.NOT_FOUND, f"There is no entity of type {type}.")
    return answer(200, _about(found[type]))


async def _types(store: Store, selection: Selection) -> dict[str, list[Entity]]:
    found: dict[str, list[Entity]] = {}
    for entity in await store.select(selection, with_builtin):
        found.setdefault(entity.type, []).append(entity)
    return found


def _about(entities: Sequence[Entity]) -> dict[str, Any]:
    attrs: dict[str, set[str]] = {}
    for entity in entities:
        for name, one in entity.attributes.items():
            types = attrs.setdefault(name, set())
            if len(types) < MOST_TYPES_OF_ONE:
                types.add(one.type)
    return {"attrs": {name: {"types": sorted(types)} for name, types in attrs.items()}, "count": len(entities)}

"""Complete documents: ``contextML`` with elements, subscriptions, advertisements, queries and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar
from xml.etree.ElementTree import Element

from overlay.systems.federation.contextml.elements import (
    Announcement,
    checked,
    chosen,
    number_of,
    read_announcement,
    read_context,
    read_scopes,
    read_sid,
    read_subscription,
    sid_text,
    write_announcement,
    write_context,
    write_scopes,
    write_subscription,
)
from overlay.systems.federation.contextml.xml import attributes, by_tag, children, parse, refuse, within_limits, written
from overlay.systems.federation.wire.client_table import QUERY
from overlay.systems.federation.wire.messages import Code, Query
from overlay.systems.federation.wire.values import Notification, Subscription, SubscriptionId

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Response:
    """``ctxResp``: the answer to a query, or to another request."""

    req: int
    code: Code = Code.GOOD
    words: str = ""
    notifications: tuple[Notification, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    subscriptions: tuple[Subscription, ...] = ()
    removed: tuple[SubscriptionId, ...] = ()
    announcements: tuple[Announcement, ...] = ()
    notifications: tuple[Notification, ...] = ()
    queries: tuple[Query, ...] = ()
    responses: tuple[Response, ...] = ()


def read_document(data: bytes | str) -> Document:
    """Raises ``InvalidContextML``."""
    root = parse(data)
    if root.tag != "contextML":
        refuse(f"the outermost element is {root.tag[:60]!r} instead of contextML")
    attributes(root)
    sections = children(root, *_CONTAINERS, *_SINGLES)
    found: dict[str, tuple[Any, ...]] = {}
    for field, tag, inner, read in _LISTS:
        several = [child for section in sections if section.tag == tag for child in _inner(section, inner)]
        found[field] = tuple(map(read, several))
    for field, tag, read in _ALONE:
        found[field] = tuple(read(section) for section in sections if section.tag == tag)
    return Document(**found)


def write_document(document: Document) -> str:
    """In the order of the fields, empty ones left out. Raises ``InvalidContextML``."""
    parts = (
        _several("ctxSubscrs", map(write_subscription, document.subscriptions)),
        _several("ctxUnsubscr", (written("ctxSubscr", id=sid_text(sid)) for sid in document.removed)),
        _several("ctxAdvs", (write_announcement(*one) for one in document.announcements)),
        _several("ctxEls", map(write_context, document.notifications)),
        *map(_write_query, document.queries),
        *map(_write_response, document.responses),
    )
    return within_limits(written("contextML", "".join(parts)))


def _inner(section: Element, tag: str) -> list[Element]:
    attributes(section)
    return children(section, tag)


def _several(tag: str, elements: Iterable[str]) -> str:
    content = "".join(elements)
    return written(tag, content) if content else ""


def _read_query(element: Element) -> Query:
    attributes(element, ("id", "ms"))
    parts = by_tag(element, ("scopes",), ("entity",))
    entity = attributes(parts["entity"], (), ("type", "id")) if "entity" in parts else {}
    array = [
        number_of(element, "id"),
        entity.get("type"),
        entity.get("id"),
        read_scopes(parts["scopes"]),
        number_of(element, "ms"),
    ]
    query: Query = checked(QUERY.read, array, "ctxQuery")
    return query


def _write_query(query: Query) -> str:
    names = {"type": query.entity_type, "id": query.entity_id}
    known = {name: value for name, value in names.items() if value is not None}
    content = (written("entity", **known) if known else "") + write_scopes(query.scopes)
    return written("ctxQuery", content, id=str(query.req), ms=str(query.left_ms))


def _read_response(element: Element) -> Response:
    found = attributes(element, ("id", "code"), ("words",))
    notifications = tuple(map(read_context, children(element, "ctxEl")))
    code = chosen("code", found["code"], {_word(one): one for one in Code})
    return Response(number_of(element, "id"), code, found.get("words", ""), notifications)


def _write_response(one: Response) -> str:
    words = {"words": one.words} if one.words else {}
    content = "".join(map(write_context, one.notifications))
    return written("ctxResp", content, id=str(one.req), code=_word(one.code), **words)


def _word(code: Code) -> str:
    return code.name.lower().replace("_", "-")


_LISTS: tuple[tuple[str, str, str, Callable[[Element], Any]], ...] = (
    ("subscriptions", "ctxSubscrs", "ctxSubscr", read_subscription),
    ("removed", "ctxUnsubscr", "ctxSubscr", read_sid),
    ("announcements", "ctxAdvs", "ctxAdv", read_announcement),
    ("notifications", "ctxEls", "ctxEl", read_context),
)
"""By field, the element with several others, and those."""
_ALONE: tuple[tuple[str, str, Callable[[Element], Any]], ...] = (
    ("queries", "ctxQuery", _read_query),
    ("responses", "ctxResp", _read_response),
)
_CONTAINERS = tuple(tag for _, tag, _, _ in _LISTS)
_SINGLES = tuple(tag for _, tag, _ in _ALONE)

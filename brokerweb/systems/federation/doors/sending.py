"""Notifications for the URLs of consumers, and questions to those of providers by GET."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from brokerweb.front.replies import ENCODER
from brokerweb.hosting.sending import JSON, Receiver, Sender, user_agent
from brokerweb.notices.transport import get
from brokerweb.systems.federation.doors.documents import content_in, content_of
from brokerweb.systems.federation.doors.shapes import PublishedContent
from brokerweb.systems.federation.models import Format, HostedSubscription
from overlay.core.errors import InvalidSetting
from overlay.core.untrusted import Unreadable, read_json
from overlay.systems.federation.clients.provider import Content
from overlay.systems.federation.contextml.documents import read_document
from overlay.systems.federation.contextml.elements import write_context
from overlay.systems.federation.wire.values import Notification

XML = "application/xml"
MOST_ANSWER_BYTES = 65_536
MOST_ANSWERS = 64
"""Notifications in an answer of a provider."""


class Question(NamedTuple):
    """What a provider is asked by GET."""

    scope: str
    entity_type: str | None
    entity_id: str | None


def receiver_of(row: HostedSubscription) -> Receiver:
    if row.format == Format.CONTEXTML:
        return Receiver(row.pk, row.url, XML, at_once=1, wrapped=_contextml)
    return Receiver(row.pk, row.url)


def text_of(row: HostedSubscription, notification: Notification, told: Mapping[str, Any]) -> str:
    """A notification for its receiver; ``told`` is its JSON. Raises ``InvalidContextML``."""
    return write_context(notification) if row.format == Format.CONTEXTML else ENCODER.encode(told)


def _contextml(texts: Sequence[str]) -> str:
    return f"<contextML><ctxEls>{''.join(texts)}</ctxEls></contextML>"


async def ask(sender: Sender, url: str, question: Question, time_out_s: float, now_ms: int) -> list[Content]:
    """What a provider's URL answers, checked. Raises ``NotDelivered``, ``InvalidContextML``, ``InvalidSetting``."""
    named = {"entity": question.entity_id, "type": question.entity_type, "scope": question.scope}
    query = urlencode({name: value for name, value in named.items() if value is not None})
    asked = f"{url}{'&' if urlsplit(url).query else '?'}{query}"
    headers = {"Accept": f"{XML}, {JSON}", "User-Agent": user_agent()}
    kind, data = await sender.in_turn(url, lambda: get(asked, headers, time_out_s, MOST_ANSWER_BYTES))
    return _contents(kind, data, question, now_ms)


def _contents(kind: str, data: bytes, question: Question, now_ms: int) -> list[Content]:
    if not data.strip():
        return []
    if kind in (XML, "text/xml"):
        found = [content_in(one, now_ms) for one in read_document(data).notifications]
    else:
        found = [_content(one, question, now_ms) for one in _objects(data)]
    return [one for one in found[:MOST_ANSWERS] if one.scope == question.scope]


def _objects(data: bytes) -> list[Any]:
    try:
        found = read_json(data.decode())
    except (UnicodeDecodeError, Unreadable) as error:
        raise InvalidSetting("answer", f"is no JSON: {error}") from None
    return found if isinstance(found, list) else [found]


def _content(one: Any, question: Question, now_ms: int) -> Content:
    """What the question says need not be said again."""
    known = {name: value for name, value in question._asdict().items() if value is not None}
    if not isinstance(one, dict):
        raise InvalidSetting("answer", "must be an object, or a list of objects")
    shape = PublishedContent(data={**known, **one})
    if not shape.is_valid():
        name, words = next(iter(shape.errors.items()))
        raise InvalidSetting(f"answer.{name}", str(words[0]))
    return content_of(shape.validated_data, now_ms)

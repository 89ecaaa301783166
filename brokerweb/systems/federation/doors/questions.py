"""Providers with a URL are asked by GET, when their broker asks or offers them a query. Those without one are answered
for with what they have published."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from django.conf import settings

from brokerweb.hosting.sending import Sender
from brokerweb.kit.moments import now_ms
from brokerweb.notices.transport import NotDelivered
from brokerweb.systems.federation.doors.hosted import HostedProvider
from brokerweb.systems.federation.doors.problems import ERRORS
from brokerweb.systems.federation.doors.sending import MOST_ANSWERS, Question
from brokerweb.systems.federation.doors.sending import ask as ask_url
from overlay.core.errors import InvalidSetting
from overlay.systems.federation.clients.events import Offered, Queried
from overlay.systems.federation.clients.provider import Content
from overlay.systems.federation.contextml.xml import InvalidContextML
from overlay.systems.federation.language.conjunctions import fixed_entity
from overlay.systems.federation.language.conjunctions import terms as terms_of
from overlay.systems.federation.wire.values import Subscription

log = logging.getLogger(__name__)


def ask(sender: Sender, provider: HostedProvider, event: Queried | Offered) -> None:
    """Begin to."""
    if isinstance(event, Queried) and not provider.row.url:
        provider.client.answer(event.number, provider.published(event))
    elif isinstance(event, Queried):
        questions = [Question(scope, event.entity_type, event.entity_id) for scope in event.scopes]
        if not sender.is_full:
            sender.spawn(_answer(sender, provider, event, questions))
        else:
            provider.client.answer(event.number, ())
    elif provider.row.url and not sender.is_full and (offered := _questions(provider.row.scopes, event.added)):
        sender.spawn(_publish(sender, provider, offered))


def _questions(scopes: Sequence[str], offered: Sequence[Subscription]) -> list[Question]:
    """One for all queries that want the same."""
    found: dict[Question, None] = {}
    for one in offered:
        scope = next((scope for scope in one.scopes if scope in scopes), None)
        if one.once and scope is not None:
            fixed = fixed_entity(terms_of(one.expression))
            found[Question(scope, None, None if fixed is None else fixed[0])] = None
    return list(found)[:MOST_ANSWERS]


async def _answer(sender: Sender, provider: HostedProvider, event: Queried, questions: Sequence[Question]) -> None:
    contents: list[Content] = []
    try:
        for question in questions:
            contents += await _asked(sender, provider, question, event.left_ms / 1_000)
    finally:
        if provider.client.line.is_open:
            provider.client.answer(event.number, contents)


async def _publish(sender: Sender, provider: HostedProvider, questions: Sequence[Question]) -> None:
    for question in questions:
        for content in await _asked(sender, provider, question, settings.NOTICE_TIMEOUT_SECONDS):
            try:
                await provider.client.publish(content)
            except ERRORS as error:
                log.info("what the URL of %s answered could not be published: %s", provider.row.name, error)


async def _asked(sender: Sender, provider: HostedProvider, question: Question, left_s: float) -> list[Content]:
    time_out_s = max(0.1, min(left_s, settings.NOTICE_TIMEOUT_SECONDS))
    try:
        return await ask_url(sender, provider.row.url, question, time_out_s, now_ms())
    except (NotDelivered, InvalidContextML, InvalidSetting) as error:
        log.info("the URL of provider %s did not answer: %s", provider.row.name, error)
    except Exception:
        log.exception("the URL of provider %s could not be asked", provider.row.name)
    return []

"""``publish`` and ``provide``: the commands of providers."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncIterator

from overlay.programs.arguments import OneLineParser, duration
from overlay.programs.federation.arguments import defaults, name, now_ms, options, terms_of
from overlay.programs.federation.client import ProviderClient
from overlay.programs.federation.documents import content_of
from overlay.programs.federation.text import Registration, show
from overlay.programs.text import coming_lines, tell
from overlay.systems.federation.clients.provider import Asked, Content

MOST_ENTITIES = 10_000
"""Of which ``provide`` keeps the newest context."""


def add_content(parser: OneLineParser) -> None:
    parser.add_argument("scope", type=name, metavar="SCOPE", help="such as climate")
    parser.add_argument("--type", type=name, default="thing", help="of the entity (thing)")
    parser.add_argument("--entity", type=name, metavar="ID", help="of the entity; lines of input may name another one")
    parser.add_argument("--valid", type=duration, default=60.0, metavar="S", help="life of a notification (60)")
    parser.add_argument(
        "--wait",
        type=duration,
        default=1.0,
        metavar="S",
        help="publish once a subscription to the scope has come from any broker, after this time in any case (1)",
    )


def add_publishing(parser: OneLineParser) -> None:
    add_content(parser)
    parser.add_argument(
        "data", nargs="?", metavar="JSON", help="of one notification; by default lines of standard input"
    )


def publish(given: Namespace) -> bool:
    async def run() -> None:
        async with ProviderClient(terms_of(given), given.id, [given.scope], **options(given)) as provider:
            await provider.is_wanted(given.wait)
            async for content in _contents(given, given.data):
                show(given, await provider.publish(content), before="accepted ")

    asyncio.run(run())
    return True


def provide(given: Namespace) -> bool:
    newest: dict[tuple[str, str], Content] = {}

    def produce(asked: Asked) -> Content | None:
        fits = (one for one in reversed(newest.values()) if one.expires > asked.wall_ms and _is_about(one, asked))
        return next(fits, None)

    async def run() -> None:
        terms, scopes = terms_of(given), [given.scope]
        see = Registration(given.id, terms).see
        async with ProviderClient(terms, given.id, scopes, see, produce=produce, **options(given)) as provider:
            await provider.is_wanted(given.wait)
            async for line in _contents(given):
                content = line._replace(timestamp=now_ms())  # that of the reading, also in the answer to a query
                newest.pop((content.entity_type, content.entity_id), None)
                newest[content.entity_type, content.entity_id] = content
                if len(newest) > MOST_ENTITIES:
                    del newest[next(iter(newest))]
                show(given, await provider.publish(content), before="accepted ")
            tell("the input has ended: queries are answered until Ctrl-C")
            await asyncio.Event().wait()

    asyncio.run(run())
    return True


async def _contents(given: Namespace, data: str | None = None) -> AsyncIterator[Content]:
    """That of an argument, or those on standard input. Raises ``InvalidDocument``."""
    if data is not None:
        yield content_of(data, defaults(given), now_ms())
        return
    async for line in coming_lines(sys.stdin.fileno()):
        yield content_of(line, defaults(given), now_ms())


def _is_about(one: Content, asked: Asked) -> bool:
    return asked.entity_type in (None, one.entity_type) and asked.entity_id in (None, one.entity_id)

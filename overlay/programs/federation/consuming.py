"""``subscribe``, ``query`` and ``lookup``: the commands of consumers."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from overlay.programs.arguments import OneLineParser, duration, number
from overlay.programs.federation.arguments import add_scopes, expression, name, now_ms, options, terms_of, warn
from overlay.programs.federation.client import ConsumerClient, Inbox, Refused
from overlay.programs.federation.text import Registration, show
from overlay.programs.text import say, tell
from overlay.systems.federation.clients.events import Ended, Event, Notified
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.wire.values import Notification, Priority


def add_subscribing(parser: OneLineParser) -> None:
    add_scopes(parser)
    parser.add_argument(
        "--where", type=expression, default=parse("true"), metavar="TEXT", help="such as 'temperature > 25'"
    )
    parser.add_argument(
        "--expires", type=duration, default=3_600.0, metavar="S", help="of the subscription, from now (3600)"
    )
    parser.add_argument("--priority", choices=[one.name.lower() for one in Priority], default="normal")
    parser.add_argument("--once", action="store_true", help="end with the first notification")
    parser.add_argument("--count", type=number, metavar="N", help="stop after N notifications")
    parser.add_argument("--seconds", type=duration, metavar="S", help="stop after S seconds")


def add_asking(parser: OneLineParser) -> None:
    add_scopes(parser)
    parser.add_argument("--type", type=name, help="of the entity (any)")
    parser.add_argument("--entity", type=name, metavar="ID", help="of the entity (any)")


def add_lookup(parser: OneLineParser) -> None:
    parser.add_argument("scope", type=name, metavar="SCOPE", help="such as climate")


def subscribe(given: Namespace) -> bool:
    warn(given.where)
    asyncio.run(_follow(given))
    return True


async def _follow(given: Namespace) -> None:
    expires = now_ms() + round(1_000 * given.expires)
    wanted = Wanted(tuple(given.scopes), expires, given.where, Priority[given.priority.upper()], given.once)
    inbox, terms = Inbox(), terms_of(given)
    registration = Registration(given.id, terms)

    def see(event: Event) -> None:
        registration.see(event)
        inbox.put(event)

    async with ConsumerClient(terms, given.id, see, **options(given)) as consumer:
        await consumer.subscribe([wanted])
        tell("subscribed")
        with suppress(TimeoutError):
            async with asyncio.timeout(given.seconds):
                await _print(given, inbox)
    if inbox.dropped:
        tell(f"{inbox.dropped:,} events were not printed, because they came faster")


async def _print(given: Namespace, inbox: Inbox) -> None:
    """Until there are enough notifications, or there will be none."""
    left = given.count
    async for event in inbox:
        match event:
            case Notified(notification, _, is_cached):
                show(given, notification, after="cached" if is_cached else "")
                left = None if left is None else left - 1
                if left == 0:
                    return
            case Ended(_, end, code, words):
                if code:
                    raise Refused(code, words)
                tell(f"the subscription has ended: {end}")
                return
            case _:
                pass


def query(given: Namespace) -> bool:
    async def ask(consumer: ConsumerClient) -> Sequence[Notification]:
        return await consumer.query(
            given.scopes, entity_type=given.type, entity_id=given.entity, within_s=given.deadline
        )

    found = _asked(given, ask)
    for one in found:
        show(given, one)
    return bool(found)


def lookup(given: Namespace) -> bool:
    found = _asked(given, lambda consumer: consumer.lookup(given.scope, given.deadline))
    for one in found:
        shown = {"id": one.id, "endpoint": one.endpoint, "url": one.url}
        say(json.dumps(shown) if given.json else "  ".join(filter(None, shown.values())))
    if not found:
        tell(f"no provider of {given.scope} is registered")
    return bool(found)


def _asked(given: Namespace, ask: Callable[[ConsumerClient], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with ConsumerClient(terms_of(given), given.id, **options(given)) as consumer:
            return await ask(consumer)

    return asyncio.run(run())

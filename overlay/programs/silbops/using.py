"""``subscribe`` and ``publish``: the commands of clients."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from overlay.core.errors import WaxwingError
from overlay.programs.arguments import OneLineParser, duration, number
from overlay.programs.silbops.client import SETTLES_S, Client, Inbox, Refused
from overlay.programs.silbops.inspection import arm_of, site_of
from overlay.programs.silbops.reading import (
    client_id,
    constraints,
    context_of,
    document,
    function,
    notification_of,
    publication_of,
)
from overlay.programs.text import InvalidDocument, coming, say, tell
from overlay.systems.silbops.clients.events import Connected, GaveUp, Lost, Notified
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.names import SIENA, SILBOPS
from overlay.systems.silbops.settings import Settings

SUBSCRIBED = 1
"""The number of the subscription."""


class WrongArm(WaxwingError):
    """What a client of the other arm sets has no effect in a network."""


def add_client(parser: OneLineParser) -> None:
    parser.add_argument(
        "--id",
        type=client_id,
        metavar="HEX",
        help="the client's 16 bytes (random, or those of --state)",
    )
    parser.add_argument(
        "--arm", choices=(SILBOPS, SIENA), help="of the network (as its broker says; silbops if it is on another host)"
    )
    parser.add_argument(
        "--context", type=document(context_of), metavar="JSON", help='of the client, such as \'{"x": 5, "y": 8}\''
    )
    parser.add_argument(
        "--where",
        type=constraints,
        metavar="JSON",
        help='a filter, such as \'[["kind", "=", "fire"]]\' (all)',
    )


def add_subscribing(parser: OneLineParser) -> None:
    add_client(parser)
    parser.add_argument("--scope", type=function, metavar="TEXT", help="a function of context: 'pub.x <= this.x + 20'")
    parser.add_argument(
        "--state",
        metavar="FILE",
        help="resume what the last command with this file has left, at any broker: its subscription, unless another "
        "one is given, and what was kept for it meanwhile",
    )
    parser.add_argument("--follow", action="store_true", help="each line of standard input is a new context")
    parser.add_argument("--count", type=number, metavar="N", help="stop after N notifications")
    parser.add_argument("--seconds", type=duration, metavar="S", help="stop after S seconds")


def add_publishing(parser: OneLineParser) -> None:
    add_client(parser)
    parser.add_argument(
        "--wait",
        type=duration,
        default=SETTLES_S,
        metavar="S",
        help=f"after advertising something new, so that subscriptions to it can come ({SETTLES_S:g})",
    )
    parser.add_argument(
        "notification",
        nargs="?",
        type=document(notification_of),
        metavar="JSON",
        help='such as \'{"kind": "fire"}\'; by default lines of standard input: those, or {"notification", "context"}',
    )


def subscribe(given: Namespace) -> bool:
    asyncio.run(_follow(given))
    return True


async def _follow(given: Namespace) -> None:
    inbox = Inbox()
    client = _client(given, inbox, given.state)
    is_other = given.where is not None or given.scope is not None
    async with client:
        if given.context is not None:
            await client.set_context(given.context)
        if is_other or SUBSCRIBED not in client.subscriptions:
            await client.subscribe(given.where or [], given.scope or "", number=SUBSCRIBED)
        tell(f"{client.id.hex()} has subscribed")
        contexts = asyncio.create_task(_set_contexts(client)) if given.follow else None
        with suppress(TimeoutError):
            async with asyncio.timeout(given.seconds):
                await _print(given, client.was_at, inbox, contexts)
    if inbox.dropped:
        tell(f"{inbox.dropped:,} events were not printed, because they came faster")


async def _set_contexts(client: Client) -> None:
    async for line in coming(sys.stdin.fileno()):
        try:
            await client.set_context(context_of(line.text()))
        except (InvalidDocument, Refused) as error:
            tell(f"line {line.number} is not the new context: {error}")


async def _print(given: Namespace, was_at: str, inbox: Inbox, contexts: asyncio.Task[None] | None) -> None:
    """Until there are enough notifications, or an input is refused."""
    printing = asyncio.create_task(_print_all(given, was_at, inbox))
    try:
        await asyncio.wait([printing, *filter(None, [contexts])], return_when=asyncio.FIRST_EXCEPTION)
        if contexts is not None and contexts.done():
            contexts.result()
        await printing
    finally:
        for task in (printing, contexts):
            if task is not None:
                task.cancel()


async def _print_all(given: Namespace, was_at: str, inbox: Inbox) -> None:
    left = given.count
    async for event in inbox:
        match event:
            case Notified(publisher, number, notification):
                _show(given, publisher, number, notification)
                left = None if left is None else left - 1
                if left == 0:
                    return
            case Connected(broker, is_resumed):
                forgot = f": {was_at} has nothing of the client any more" if was_at and not is_resumed else ""
                tell(f"{'resumed at' if is_resumed else 'attached to'} {broker}{forgot}")
            case Lost(broker, reason):
                tell(f"lost {broker} ({reason}), trying again")
            case GaveUp(broker):
                tell(f"{broker} cannot be reached")
                return
            case _:
                pass


def _show(given: Namespace, publisher: int, number: int, notification: Any) -> None:
    if given.json:
        document = {"publisher": f"{publisher:016x}", "number": number, "notification": notification}
        say(json.dumps(document, ensure_ascii=False))
    else:
        say(f"{publisher:016x}  {number}  {json.dumps(notification, ensure_ascii=False)}")


def publish(given: Namespace) -> bool:
    async def run() -> None:
        async with _client(given) as client:
            told: set[str] | None = None
            async for notification, context in _publications(given):
                if context is not None:
                    await client.set_context(context)
                variables = (told or set()) | (context or {}).keys()
                if variables != told:
                    told = variables
                    await client.advertise(sorted(told), given.where or [])
                    tell(f"{client.id.hex()} has advertised")
                    await settle(given.wait)
                await client.publish(notification)

    asyncio.run(run())
    return True


settle = asyncio.sleep
"""After an advertisement: until subscriptions to it can have come. Tests replace it."""


async def _publications(given: Namespace) -> AsyncIterator[tuple[Values, Values | None]]:
    """With the context, if it is new. Raises ``InvalidDocument``."""
    if given.notification is not None:
        yield given.notification, given.context
        return
    first, published = given.context, 0
    async for line in coming(sys.stdin.fileno()):
        try:
            content, context = publication_of(line.text())
        except InvalidDocument as error:
            raise InvalidDocument(f"line {line.number}: {error} ({published:,} published before it)") from None
        yield content, first if context is None else context
        first, published = None, published + 1


def _client(given: Namespace, inbox: Inbox | None = None, state: str | None = None) -> Client:
    site = site_of(given.broker, given.deadline)
    on_event = None if inbox is None else inbox.put
    arm = arm_of(given.broker, given.deadline)
    if given.arm and arm and given.arm != arm:
        raise WrongArm(f"argument --arm: the network of {site.broker} is of the arm {arm}, not {given.arm}")
    id = None if given.id is None else bytes.fromhex(given.id)
    return Client(
        site, Settings(arm=given.arm or arm or SILBOPS), id=id, state=state, on_event=on_event, within_s=given.deadline
    )

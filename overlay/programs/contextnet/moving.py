"""``node``: the command of a mobile node."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from overlay.core.addresses import format_address
from overlay.core.errors import InvalidSetting
from overlay.programs.arguments import OneLineParser, address, duration, number
from overlay.programs.contextnet.node import Inbox, Node, Refused
from overlay.programs.text import InvalidDocument, coming_lines, object_of, say, tell
from overlay.systems.contextnet import message_json
from overlay.systems.contextnet.keys import NO_SECRET
from overlay.systems.contextnet.nodes.node import Connected, Parted, Received
from overlay.systems.contextnet.records.kinds import ID_BYTES
from overlay.systems.contextnet.records.names import INBOUND
from overlay.systems.contextnet.records.records import Message
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.transport.events import Refused as RefusedBy
from overlay.systems.contextnet.transport.layouts import Refusal
from overlay.systems.contextnet.transport.secrets import SECRET_BYTES
from overlay.systems.contextnet.transport.settings import QUIC, TETHER

VARIABLE = "WAXWING_NODE_SECRET"
"""The environment variable with the secret of a node, in hexadecimal digits."""


def add_node(parser: OneLineParser) -> None:
    parser.add_argument("gateways", nargs="+", type=address, metavar="ADDRESS", help="gateways to begin with")
    parser.add_argument(
        "--id", type=node, default=secrets.token_bytes(ID_BYTES), metavar="HEX", help="the node's 16 bytes (random)"
    )
    parser.add_argument(
        "--secret", type=_secret, metavar="HEX", help=f"the node's 32 bytes (that in {VARIABLE}; without it none)"
    )
    parser.add_argument(
        "--context", type=_context, default=b"", metavar="JSON", help='of the node, such as \'{"group": "red"}\''
    )
    parser.add_argument(
        "--to", default=INBOUND, metavar="NAME", help="a topic of applications, a group, or * (inbound)"
    )
    parser.add_argument(
        "--transport", choices=(TETHER, QUIC), default=TETHER, help="that of the network's settings (tether)"
    )
    parser.add_argument("--text", metavar="TEXT", help="send this instead of lines of standard input")
    parser.add_argument("--count", type=number, metavar="N", help="stop after N messages that came")
    parser.add_argument(
        "--seconds", type=duration, metavar="S", help="stop after S seconds; by default at the end of input"
    )


def run(given: Namespace) -> bool:
    """Whether all that was to come came."""
    return asyncio.run(_run(given))


async def _run(given: Namespace) -> bool:
    inbox, secret = Inbox(), given.secret
    if secret is None:
        secret = _secret(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else NO_SECRET
    client = Node(
        given.gateways,
        id=given.id,
        secret=secret,
        settings=Settings(transport=given.transport),
        context=given.context,
        on_event=inbox.put,
        within_s=given.deadline,
    )
    async with client:
        tell(f"node {given.id.hex()} is connected")
        printing, sending = asyncio.create_task(_print(given, inbox)), asyncio.create_task(_send(given, client))
        try:
            return await _until_enough(given, printing, sending)
        finally:
            for task in (printing, sending):
                task.cancel()


async def _until_enough(given: Namespace, printing: asyncio.Task[None], sending: asyncio.Task[None]) -> bool:
    waits = given.count is not None or given.seconds is not None
    with suppress(TimeoutError):
        async with asyncio.timeout(given.seconds):
            await asyncio.wait([printing, sending], return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                await sending
                if waits:
                    await printing
            else:
                await printing
    if sending.done():
        sending.result()  # an input that is refused
    return given.count is None or printing.done()


async def _send(given: Namespace, client: Node) -> None:
    async for line in texts(given.text):
        await client.send(line.encode(), given.to)


async def texts(text: str | None) -> AsyncIterator[str]:
    """This one, or lines of standard input."""
    if text is not None:
        yield text
        return
    async for line in coming_lines(sys.stdin.fileno()):
        yield line


async def _print(given: Namespace, inbox: Inbox) -> None:
    """Until there are enough."""
    left = given.count
    async for event in inbox:
        match event:
            case Received(message):
                show(message, given.json)
                left = None if left is None else left - 1
                if left == 0:
                    return
            case Connected(gateway, was_ordered=was_ordered):
                tell(f"connected to {format_address(gateway)}{', as it was told' if was_ordered else ''}")
            case Parted(reason):
                tell(f"the connection ended: {reason}")
            case RefusedBy(code=Refusal.SECRET):
                raise Refused(
                    "The node's secret is not known any more: it was revoked, or another one given out.", event.code
                )
            case _:
                pass


def show(message: Message, is_json: bool, **more: Any) -> None:
    """A line. Raises ``BrokenPipeError``."""
    document = {**message_json.written(message), **more}
    if is_json:
        say(json.dumps(document, ensure_ascii=False))
    else:
        say(f"{message.source}  {document['text'] if 'text' in document else document['base64']}")


def node(text: str) -> bytes:
    """The type of an argument: the id of a node."""
    try:
        return message_json.node_read(text)
    except InvalidSetting as error:
        raise ArgumentTypeError(f"the id of a node {error.sentence}") from None


def _secret(text: str) -> bytes:
    with suppress(ValueError):
        if len(found := bytes.fromhex(text)) == SECRET_BYTES:
            return found
    raise ArgumentTypeError(f"a secret has {2 * SECRET_BYTES} hexadecimal digits")


def _context(text: str) -> bytes:
    try:
        return message_json.context_read(object_of(text))
    except (InvalidDocument, InvalidSetting) as error:
        raise ArgumentTypeError(str(error)) from None

"""``send``, ``listen`` and ``nodes``: the commands of applications."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentTypeError, Namespace
from contextlib import suppress

from overlay.programs.arguments import OneLineParser, duration, number
from overlay.programs.contextnet.application import Application, Sent
from overlay.programs.contextnet.logs import find
from overlay.programs.contextnet.moving import node, show, texts
from overlay.programs.networks import HELP
from overlay.programs.text import say, tell
from overlay.runtime.logs.engines import ADDRESSES, VARIABLE
from overlay.systems.contextnet.applications.application import GROUP
from overlay.systems.contextnet.records.names import INBOUND
from overlay.systems.contextnet.records.records import ALL


def add_log(parser: OneLineParser) -> None:
    shapes = ", ".join(ADDRESSES.values())
    parser.add_argument("--log", default="", metavar="URL", help=f"{shapes} (that in {VARIABLE})")
    parser.add_argument("--network", default="", metavar="N", help=f"if the log has several: {HELP}")


def add_sending(parser: OneLineParser) -> None:
    add_log(parser)
    to = parser.add_mutually_exclusive_group()
    to.add_argument(
        "--group", metavar="NAME", help="to the nodes of a group that are connected: DEFINER/GROUP or GROUP"
    )
    to.add_argument("--all", action="store_const", const=ALL, dest="group", help="to all nodes that are connected")
    parser.add_argument(
        "--ttl",
        type=number,
        default=0,
        metavar="S",
        help="how long it is stored for a node that is away (the network's)",
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="NODE TEXT",
        help="a node's id (32 hexadecimal digits), with --group or --all none; the text, or each line of input",
    )


def add_listening(parser: OneLineParser) -> None:
    add_log(parser)
    parser.add_argument(
        "--group", default=GROUP, metavar="NAME", help=f"applications of one group share the messages ({GROUP})"
    )
    parser.add_argument(
        "--topic", action="append", metavar="NAME", help=f"listen to this topic; may be given several times ({INBOUND})"
    )
    parser.add_argument("--echo", action="store_true", help="answer each message with its payload")
    parser.add_argument("--count", type=number, metavar="N", help="stop after N messages")
    parser.add_argument("--seconds", type=duration, metavar="S", help="stop after S seconds")


def add_listing(parser: OneLineParser) -> None:
    add_log(parser)


def send(given: Namespace) -> bool:
    """Whether anything was."""
    words = list(given.words)
    if not given.group and not words:
        raise ArgumentTypeError("to whom? Name a NODE, --group or --all")
    to = None if given.group else node(words.pop(0))
    if len(words) > 1:
        raise ArgumentTypeError("there is more than one text: put it in quotes")

    async def run() -> bool:
        is_any = False
        async with _application(given) as application:
            async for text in texts(words[0] if words else None):
                is_any = True
                if to is None:
                    sent = await application.cast(given.group, text.encode())
                else:
                    sent = await application.send(to, text.encode(), ttl_s=given.ttl)
                _show(sent, given.json)
        if not is_any:
            tell("nothing was sent: there was no text, and no line of input")
        return is_any

    return asyncio.run(run())


def _show(sent: Sent, is_json: bool) -> None:
    id = sent.message.id.hex()
    say(json.dumps({"id": id, "topic": sent.topic}) if is_json else f"{id}  {sent.topic}")


def listen(given: Namespace) -> bool:
    """Whether as many came as were asked for."""
    return asyncio.run(_listen(given))


async def _listen(given: Namespace) -> bool:
    left = given.count
    async with _application(given, given.topic or (INBOUND,), given.group) as application:
        tell(f"{application.core.name} listens to {application.log.network}")
        with suppress(TimeoutError):
            async with asyncio.timeout(given.seconds):
                async for heard in application.messages():
                    message = heard.message
                    show(message, given.json, topic=heard.topic, gateway=heard.gateway)
                    if given.echo:
                        await application.answer(message, message.payload)
                    left = None if left is None else left - 1
                    if left == 0:
                        application.settle(heard)
                        break
    return not left


def nodes(given: Namespace) -> bool:
    """Whether there is any."""
    found = find(given.log, given.network).nodes()
    for one in found:
        if given.json:
            about = {"connected": one.connected, "gateway": one.gateway, "epoch": one.epoch}
            say(json.dumps({"node": one.node.hex(), **about}))
        else:
            say(f"{one.node.hex()}  {'connected' if one.connected else 'away':<9}  {one.gateway}")
    if not found:
        tell("no node was ever connected")
    return bool(found)


def _application(given: Namespace, topics: tuple[str, ...] = (), group: str = "") -> Application:
    log = find(given.log, given.network)
    return Application(log, group=group, topics=topics, within_s=given.deadline)

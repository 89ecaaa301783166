"""``python -m overlay radiator propagate|receive|gateway|clients|pending ADDRESS``: one client, HTTP for many until
Ctrl-C, or what a server tells its operator (``listing``)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from argparse import ArgumentTypeError, Namespace
from typing import Any

from overlay.core.addresses import Address, format_address, parse_networks
from overlay.core.errors import WaxwingError, WireError
from overlay.programs.arguments import OneLineParser, address, seconds
from overlay.programs.radiator import listing
from overlay.programs.radiator.client import NoAnswer, RadiatorClient, Refused
from overlay.programs.radiator.limits import Limits
from overlay.systems.radiator.context import Context

DONE, FAILED, WRONG_USAGE, UNANSWERED, STOPPED = 0, 1, 2, 3, 130
WEBHOOKS = "WAXWING_WEBHOOKS"
"""Private networks that callbacks may reach, as for the product's webhooks."""
MOST_SECONDS = 3_600
MOST_CONTEXTS = 999_999_999
EPILOG = "Exit codes: 0 done, 1 refused, 2 wrong usage, 3 no answer, 130 stopped by Ctrl-C."


def main(name: str, arguments: list[str]) -> int:
    parser = OneLineParser(prog=f"overlay radiator {name}", epilog=EPILOG)
    parser.add_argument("server", type=address, metavar="ADDRESS", help="the network's server, HOST:PORT")
    parser.add_argument(
        "--deadline", type=seconds(MOST_SECONDS), default=10.0, metavar="S", help="seconds to wait for an answer (10)"
    )
    add, run = {
        "propagate": (_add_call, _propagate),
        "receive": (_add_receiving, _receive),
        "gateway": (_add_listening, _serve),
        "clients": (listing.add_clients, listing.list_clients),
        "pending": (listing.add_page, listing.list_pending),
    }[name]
    add(parser)
    given = parser.parse_args(arguments)
    try:
        return run(given)
    except (NoAnswer, Refused) as error:
        return _fail(parser, error, getattr(given, "json", False))
    except (WireError, WaxwingError, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return STOPPED


def _fail(parser: OneLineParser, error: NoAnswer | Refused, is_json: bool) -> int:
    code, word = (UNANSWERED, "no_answer") if isinstance(error, NoAnswer) else (FAILED, "refused")
    if is_json:
        sys.stdout.write(json.dumps({"error": {"code": word, "sentence": str(error)}}) + "\n")
    else:
        sys.stderr.write(f"{parser.prog}: {error}\n")
    return code


def _add_id(parser: OneLineParser) -> None:
    parser.add_argument("--id", default="cli", help="the client's name, unique at its IP address (cli)")


def _add_listening(parser: OneLineParser) -> None:
    parser.add_argument(
        "--listen",
        type=_listening,
        default=("127.0.0.1", 8003),
        metavar="ADDRESS",
        help="for HTTP (127.0.0.1:8003); port 0: any",
    )
    parser.add_argument(
        "--per-address",
        type=listing.number(1, Limits.clients),
        default=Limits.clients_per_source,
        metavar="N",
        help="clients of one IP address (100)",
    )
    parser.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="URL",
        help="web pages of this origin may use it: https://example.org (none); may be repeated",
    )


def _listening(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return (address(f"{host}:1")[0], 0) if port == "0" else address(text)


def _add_call(parser: OneLineParser) -> None:
    _add_id(parser)
    parser.add_argument("--people", metavar="NAME,NAME", help="whom the context is of (the client)")
    parser.add_argument("--attributes", type=_object, default={}, metavar="JSON", help='of the context: {"speed": 50}')
    parser.add_argument("--from", dest="start_ms", type=int, metavar="MS", help="Unix milliseconds (now)")
    parser.add_argument("--to", dest="end_ms", type=int, metavar="MS", help="Unix milliseconds (the same as --from)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _add_receiving(parser: OneLineParser) -> None:
    _add_id(parser)
    parser.add_argument("--attributes", type=_object, default={}, metavar="JSON", help="of the registration")
    parser.add_argument("--count", type=listing.number(1, MOST_CONTEXTS), metavar="N", help="stop after N contexts")
    parser.add_argument("--seconds", type=seconds(MOST_SECONDS), metavar="S", help="stop after S seconds")
    parser.add_argument("--json", action="store_true", help="print errors as JSON, too; contexts are, one a line")


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text[:60]!r} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise ArgumentTypeError(f"{text[:60]!r} must be a JSON object")
    return value


def _propagate(given: Namespace) -> int:
    people = given.people.split(",") if given.people else [given.id]
    with RadiatorClient(given.server, given.id, deadline_s=given.deadline) as client:
        client.propagate(people, given.attributes, given.start_ms, given.end_ms)
    sys.stdout.write('{"result": "accepted"}\n' if given.json else "accepted\n")
    return DONE


def _receive(given: Namespace) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else it would leave without unregistering
    left, is_enough = given.count, threading.Event()

    def show(context: Context) -> None:
        nonlocal left
        if is_enough.is_set():
            return
        try:
            sys.stdout.write(context.encode().decode() + "\n")
            sys.stdout.flush()
        except BrokenPipeError:  # such as receive | head; what is still buffered goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            is_enough.set()
        if left is not None:
            left -= 1
            is_enough.set() if left == 0 else None

    ends = None if given.seconds is None else time.monotonic() + given.seconds
    with RadiatorClient(given.server, given.id, show, given.attributes, deadline_s=given.deadline):
        sys.stderr.write(f"registered as {given.id}\n")
        is_enough.wait(None if ends is None else max(0.0, ends - time.monotonic()))
    return DONE


def _serve(given: Namespace) -> int:
    from overlay.programs.radiator.gateway import Gateway
    from overlay.programs.radiator.http_front import serve
    from overlay.programs.radiator.origins import Origins

    networks = parse_networks(os.environ.get(WEBHOOKS, ""), WEBHOOKS)
    limits, origins = Limits().with_clients_per_source(given.per_address), Origins(given.origin)

    async def run() -> None:
        gateway = Gateway(given.server, given.deadline, limits, networks)
        await serve(gateway, given.listen, lambda at: sys.stderr.write(f"http://{format_address(at)}\n"), origins)

    asyncio.run(run())
    return DONE

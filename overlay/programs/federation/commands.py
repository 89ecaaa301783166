"""``python -m overlay federation subscribe|publish|provide|query|lookup ADDRESS``, and ``check`` without a network."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, TextIO

from overlay.core.errors import WaxwingError, WireError
from overlay.core.settings import InvalidText, build
from overlay.programs.arguments import OneLineParser, address
from overlay.programs.federation.client import (
    Busy,
    ConsumerClient,
    NoAnswer,
    ProviderClient,
    Refused,
    at_broker,
    by_multicast,
    by_service,
)
from overlay.programs.federation.documents import MOST_TEXT, content_of, notification_of, of_notification
from overlay.systems.federation.clients.events import Ended, Event, Lost, Notified, Registered, Verdict
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.provider import Asked, Content
from overlay.systems.federation.clients.terms import Terms
from overlay.systems.federation.language.compiler import compiled
from overlay.systems.federation.language.reasons import negated, reasons
from overlay.systems.federation.language.text import formatted, parse
from overlay.systems.federation.language.tree import Expression
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire.values import Notification, Priority

DONE, FAILED, WRONG_USAGE, UNANSWERED, STOPPED = 0, 1, 2, 3, 130
MULTICAST = "multicast"
MOST_SECONDS = 86_400
MOST_ENTITIES = 10_000
"""Of which ``provide`` keeps the newest context."""
EPILOG = "Exit codes: 0 done, 1 refused or nothing found, 2 wrong usage, 3 no answer, 130 stopped by Ctrl-C."


def main(name: str, arguments: list[str]) -> int:
    parser = OneLineParser(prog=f"overlay federation {name}", epilog=EPILOG)
    add, run = _COMMANDS[name]
    if name != "check":
        _add_network(parser)
    add(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")
    given = parser.parse_args(arguments)
    with suppress(ValueError):  # not in the main thread, such as in tests
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # else it would leave without unregistering
    try:
        return run(given)
    except (NoAnswer, Refused) as error:
        return _fail(parser, error, given.json)
    except (WireError, WaxwingError, Busy, OSError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        return STOPPED


def _fail(parser: OneLineParser, error: NoAnswer | Refused, is_json: bool) -> int:
    code, word = (FAILED, error.code.name.lower()) if isinstance(error, Refused) else (UNANSWERED, "no_answer")
    if is_json:
        sys.stdout.write(json.dumps({"error": {"code": word, "sentence": str(error)}}) + "\n")
    else:
        sys.stderr.write(f"{parser.prog}: {error}\n")
    return code


# ---- arguments


def _add_network(parser: OneLineParser) -> None:
    parser.add_argument(
        "network", type=_place, metavar="ADDRESS", help="a broker's HOST:PORT, or multicast: the one that answers first"
    )
    parser.add_argument(
        "--service", action="store_true", help="ADDRESS is that of the registration service, which names the nearest"
    )
    parser.add_argument(
        "--id", default=f"cli-{secrets.token_hex(4)}", help="the client's name (cli- and random digits)"
    )
    parser.add_argument(
        "--interface", type=_interface, metavar="IP", help="own address for multicast (the system's choice)"
    )
    parser.add_argument("--keepalive", type=seconds, metavar="S", help="keepalive_s of the network (20)")
    parser.add_argument("--encoding", choices=("msgpack", "contextml"), help="encoding of the network (msgpack)")
    parser.add_argument(
        "--deadline", type=seconds, default=10.0, metavar="S", help="seconds to wait for an answer (10)"
    )


def _place(text: str) -> Any:
    return text if text == MULTICAST else address(text)


def _interface(text: str) -> str:
    try:
        return str(IPv4Address(text))
    except ValueError:
        raise ArgumentTypeError(f"{text[:40]!r} is no IPv4 address") from None


def _options(given: Namespace) -> dict[str, Any]:
    """Of clients."""
    return {"within_s": given.deadline, "interface": given.interface or ""}


def _terms(given: Namespace) -> Terms:
    told = {"keepalive_s": given.keepalive, "encoding": given.encoding}
    settings: Settings = build(Settings, {name: value for name, value in told.items() if value is not None})
    if given.network == MULTICAST:
        return by_multicast(settings)
    return (by_service if given.service else at_broker)(given.network, settings)


def _add_scopes(parser: OneLineParser) -> None:
    parser.add_argument("scopes", nargs="+", metavar="SCOPE", help="such as climate")


def _add_subscribing(parser: OneLineParser) -> None:
    _add_scopes(parser)
    parser.add_argument(
        "--where", type=expression, default=parse("true"), metavar="TEXT", help="such as 'temperature > 25'"
    )
    parser.add_argument(
        "--expires", type=seconds, default=3_600.0, metavar="S", help="of the subscription, from now (3600)"
    )
    parser.add_argument("--priority", choices=[one.name.lower() for one in Priority], default="normal")
    parser.add_argument("--once", action="store_true", help="end with the first notification")
    parser.add_argument("--count", type=_number, metavar="N", help="stop after N notifications")
    parser.add_argument("--seconds", type=seconds, metavar="S", help="stop after S seconds")


def _add_content(parser: OneLineParser) -> None:
    parser.add_argument("scope", metavar="SCOPE", help="such as climate")
    parser.add_argument("--type", default="thing", help="of the entity (thing)")
    parser.add_argument("--entity", default="", metavar="ID", help="of the entity; lines of input may name another one")
    parser.add_argument("--valid", type=seconds, default=60.0, metavar="S", help="life of a notification (60)")


def _add_publishing(parser: OneLineParser) -> None:
    _add_content(parser)
    parser.add_argument(
        "data", nargs="?", metavar="JSON", help="of one notification; by default lines of standard input"
    )


def _add_asking(parser: OneLineParser) -> None:
    _add_scopes(parser)
    parser.add_argument("--type", help="of the entity (any)")
    parser.add_argument("--entity", metavar="ID", help="of the entity (any)")


def _add_lookup(parser: OneLineParser) -> None:
    parser.add_argument("scope", metavar="SCOPE", help="such as climate")


def _add_checking(parser: OneLineParser) -> None:
    parser.add_argument("where", type=expression, metavar="TEXT", help="an expression, such as 'temperature > 25'")
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="notifications as lines of JSON (standard input)"
    )
    parser.add_argument("--scope", default="any", help="of lines that name none (any)")
    parser.add_argument("--type", default="thing", help="of lines that name none (thing)")
    parser.add_argument("--entity", default="any", metavar="ID", help="of lines that name none (any)")


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= MOST_SECONDS:
        raise ArgumentTypeError(f"{text[:40]!r} must be a number of seconds above 0, at most {MOST_SECONDS:,}")
    return value


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text)):
        raise ArgumentTypeError(f"{text[:40]!r} must be a whole number above 0")
    return int(text)


def expression(text: str) -> Expression:
    try:
        return parse(text)
    except InvalidText as error:
        raise ArgumentTypeError(f"{error} (at character {error.at + 1})") from None


# ---- commands


def _subscribe(given: Namespace) -> int:
    return asyncio.run(_follow(given))


async def _follow(given: Namespace) -> int:
    over, left = asyncio.Event(), given.count
    found: list[Exception] = []

    def see(event: Event) -> None:
        nonlocal left
        match event:
            case Notified(notification, receipts, is_cached) if not over.is_set():
                if any(one.verdict is Verdict.FIRST for one in receipts):
                    _show(given, notification, over, "cached" if is_cached else "")
                    left = None if left is None else left - 1
                    over.set() if left == 0 else None
            case Ended(_, end, code, words) if code:
                found.append(Refused(code, words))
                over.set()
            case Ended(_, end):
                sys.stderr.write(f"the subscription has ended: {end}\n")
                over.set()
            case Lost(broker, reason):
                sys.stderr.write(f"lost {broker} ({reason}), looking for a broker\n")
            case Registered(broker):
                sys.stderr.write(f"{given.id} is registered at {broker}\n")
            case _:
                pass

    async with ConsumerClient(_terms(given), given.id, see, **_options(given)) as consumer:
        expires = time.time_ns() // 1_000_000 + round(1_000 * given.expires)
        wanted = Wanted(tuple(given.scopes), expires, given.where, Priority[given.priority.upper()], given.once)
        await consumer.subscribe([wanted])
        sys.stderr.write("subscribed\n")
        with suppress(TimeoutError):
            async with asyncio.timeout(given.seconds):
                await over.wait()
    if found:
        raise found[0]
    return DONE


def _show(given: Namespace, one: Notification, over: asyncio.Event, mark: str = "") -> None:
    try:
        sys.stdout.write((json.dumps(of_notification(one)) if given.json else _line(one, mark)) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:  # such as subscribe | head; what is still buffered goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        over.set()


def _line(one: Notification, mark: str = "") -> str:
    at = time.strftime("%H:%M:%S", time.localtime(one.timestamp / 1_000)) + f".{one.timestamp % 1_000:03}"
    words = [at, one.scope, f"{one.entity_type}/{one.entity_id}", json.dumps(one.data, ensure_ascii=False), mark]
    return "  ".join(word for word in words if word)


def _publish(given: Namespace) -> int:
    async def run() -> int:
        async with ProviderClient(_terms(given), given.id, [given.scope], **_options(given)) as provider:
            for line in [given.data] if given.data is not None else _lines(sys.stdin):
                one = await provider.publish(content_of(line, _defaults(given), _now_ms()))
                _told(given, one)
        return DONE

    return asyncio.run(run())


def _provide(given: Namespace) -> int:
    newest: dict[tuple[str, str], Content] = {}

    def produce(asked: Asked) -> Content | None:
        fits = (one for one in reversed(newest.values()) if one.expires > asked.wall_ms and _is_about(one, asked))
        return next(fits, None)

    async def run() -> int:
        terms, scopes = _terms(given), [given.scope]
        async with ProviderClient(terms, given.id, scopes, produce=produce, **_options(given)) as provider:
            sys.stderr.write(f"{given.id} is registered at {provider.site.id}\n")
            async for line in _input():
                content = content_of(line, _defaults(given), _now_ms())
                newest.pop((content.entity_type, content.entity_id), None)
                newest[content.entity_type, content.entity_id] = content
                if len(newest) > MOST_ENTITIES:
                    del newest[next(iter(newest))]
                _told(given, await provider.publish(content))
        return DONE

    return asyncio.run(run())


def _is_about(one: Content, asked: Asked) -> bool:
    return asked.entity_type in (None, one.entity_type) and asked.entity_id in (None, one.entity_id)


def _told(given: Namespace, one: Notification) -> None:
    sys.stdout.write((json.dumps(of_notification(one)) if given.json else f"accepted {_line(one)}") + "\n")
    sys.stdout.flush()


def _query(given: Namespace) -> int:
    async def ask(consumer: ConsumerClient) -> Sequence[Notification]:
        return await consumer.query(
            given.scopes, entity_type=given.type, entity_id=given.entity, within_s=given.deadline
        )

    found = _asked(given, ask)
    for one in found:
        _show(given, one, asyncio.Event())
    return DONE if found else FAILED


def _lookup(given: Namespace) -> int:
    found = _asked(given, lambda consumer: consumer.lookup(given.scope, given.deadline))
    for one in found:
        shown = {"id": one.id, "endpoint": one.endpoint, "url": one.url}
        sys.stdout.write((json.dumps(shown) if given.json else "  ".join(filter(None, shown.values()))) + "\n")
    return DONE if found else FAILED


def _asked(given: Namespace, ask: Callable[[ConsumerClient], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with ConsumerClient(_terms(given), given.id, **_options(given)) as consumer:
            return await ask(consumer)

    return asyncio.run(run())


def _check(given: Namespace) -> int:
    test, satisfied = compiled(given.where), 0
    for name in negated(given.where):
        sys.stderr.write(f"{name} is compared inside not: this also holds where {name} is missing; add {name} exists\n")
    with sys.stdin if given.file == "-" else Path(given.file).open(encoding="utf-8") as lines:
        for line in _lines(lines):
            one = notification_of(line, {**_defaults(given), "scope": given.scope}, _now_ms())
            is_satisfied = test(one)
            satisfied += is_satisfied
            found = [(formatted(each.predicate), each.holds, each.is_missing) for each in reasons(given.where, one)]
            if given.json:
                predicates = [{"predicate": text, "holds": holds, "missing": missing} for text, holds, missing in found]
                sys.stdout.write(json.dumps({"satisfied": is_satisfied, "predicates": predicates}) + "\n")
            else:
                why = "; ".join(f"{text}: {_verdict(holds, missing)}" for text, holds, missing in found)
                sys.stdout.write(f"{'yes' if is_satisfied else 'no '}  {why}\n")
    return DONE if satisfied else FAILED


def _verdict(holds: bool, is_missing: bool) -> str:
    return "true" if holds else "missing" if is_missing else "false"


def _defaults(given: Namespace) -> Mapping[str, Any]:
    valid_ms = round(1_000 * getattr(given, "valid", 60.0))
    return {"type": given.type, "id": given.entity, "scope": given.scope, "valid_ms": valid_ms}


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _lines(file: TextIO) -> Iterator[str]:
    """Those that are not empty. One that is too long is cut, and refused by its reader."""
    while line := file.readline(MOST_TEXT + 2):
        if line.strip():
            yield line


async def _input() -> Any:
    """Lines of standard input, without keeping keep-alives from being sent."""
    lines = _lines(sys.stdin)
    while (line := await asyncio.to_thread(next, lines, None)) is not None:
        yield line


_COMMANDS: dict[str, tuple[Callable[[OneLineParser], None], Callable[[Namespace], int]]] = {
    "subscribe": (_add_subscribing, _subscribe),
    "publish": (_add_publishing, _publish),
    "provide": (_add_content, _provide),
    "query": (_add_asking, _query),
    "lookup": (_add_lookup, _lookup),
    "check": (_add_checking, _check),
}

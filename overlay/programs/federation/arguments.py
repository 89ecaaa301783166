"""Arguments that several commands share: the network, scopes, durations, expressions."""

from __future__ import annotations

import secrets
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Any

from overlay.core.settings import InvalidText, build
from overlay.messages.errors import BadMessage
from overlay.messages.kinds import short
from overlay.programs.arguments import OneLineParser, add_deadline, address, duration
from overlay.programs.federation.client import at_broker, by_multicast, by_service
from overlay.programs.text import tell
from overlay.systems.federation.clients.terms import Terms
from overlay.systems.federation.language.explaining import overlooked
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.language.tree import Expression
from overlay.systems.federation.settings import Settings

MULTICAST = "multicast"


def add_network(parser: OneLineParser) -> None:
    parser.add_argument(
        "network", type=_place, metavar="ADDRESS", help="a broker's HOST:PORT, or multicast: the one that answers first"
    )
    parser.add_argument(
        "--service", action="store_true", help="ADDRESS is that of the registration service, which names the nearest"
    )
    parser.add_argument(
        "--interface",
        type=_interface,
        metavar="IP",
        help="own address for multicast (the system's choice); 127.0.0.1 for brokers that only this machine reaches",
    )
    parser.add_argument(
        "--id", type=name, default=f"cli-{secrets.token_hex(4)}", help="the client's name (cli- and random digits)"
    )
    parser.add_argument("--keepalive", type=duration, metavar="S", help="keepalive_s of the network (20)")
    parser.add_argument("--encoding", choices=("msgpack", "contextml"), help="encoding of the network (msgpack)")
    add_deadline(parser)


def _place(text: str) -> Any:
    return text if text == MULTICAST else address(text)


def _interface(text: str) -> str:
    try:
        return str(IPv4Address(text))
    except ValueError:
        raise ArgumentTypeError(f"{text[:40]!r} is no IPv4 address") from None


def options(given: Namespace) -> dict[str, Any]:
    """Of clients."""
    return {"within_s": given.deadline, "interface": given.interface or ""}


def terms_of(given: Namespace) -> Terms:
    told = {"keepalive_s": given.keepalive, "encoding": given.encoding}
    settings: Settings = build(Settings, {name: value for name, value in told.items() if value is not None})
    if given.network == MULTICAST:
        return by_multicast(settings)
    return (by_service if given.service else at_broker)(given.network, settings)


def add_scopes(parser: OneLineParser) -> None:
    parser.add_argument("scopes", nargs="+", type=name, metavar="SCOPE", help="such as climate")


def name(text: str) -> str:
    """Of a scope, a client or an entity: what a message can carry."""
    try:
        return short(text)
    except BadMessage as error:
        raise ArgumentTypeError(error.sentence) from None


def expression(text: str) -> Expression:
    try:
        return parse(text)
    except InvalidText as error:
        raise ArgumentTypeError(f"{error} (at character {error.at + 1})") from None


def warn(where: Expression) -> None:
    """Of comparisons that also hold where their parameter is missing."""
    for parameter in dict.fromkeys(one.name for one in overlooked(where)):
        tell(
            f"{parameter} is compared inside not: this also holds where {parameter} is missing; add {parameter} exists"
        )


def defaults(given: Namespace) -> Mapping[str, Any]:
    """What lines of input need not say."""
    valid_ms = round(1_000 * getattr(given, "valid", 60.0))
    return {"entity_type": given.type, "entity_id": given.entity, "scope": given.scope, "valid_ms": valid_ms}


def now_ms() -> int:
    """Unix milliseconds."""
    return time.time_ns() // 1_000_000

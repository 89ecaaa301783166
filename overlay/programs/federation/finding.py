"""``brokers``: which brokers the registration service names."""

from __future__ import annotations

import asyncio
import json
import secrets
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from math import isfinite
from random import SystemRandom
from time import monotonic_ns

from overlay.core.addresses import Address, format_address
from overlay.programs.arguments import OneLineParser, add_deadline, address
from overlay.programs.federation.client import NoAnswer, Refused, by_service
from overlay.programs.text import say
from overlay.runtime.line import Line
from overlay.systems.federation.clients.finding import Finding
from overlay.systems.federation.wire.values import Found


def add_brokers(parser: OneLineParser) -> None:
    parser.add_argument(
        "service", type=address, metavar="ADDRESS", help="HOST:PORT of the registration service, the last of a network"
    )
    parser.add_argument(
        "--near", nargs=2, type=_coordinate, metavar=("X", "Y"), help="the nearest of this position first (by name)"
    )
    add_deadline(parser)


def _coordinate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise ArgumentTypeError(f"{text[:40]!r} must be a finite number")
    return value


def brokers(given: Namespace) -> bool:
    """Whether there are any."""
    found = asyncio.run(find_brokers(given.service, near=given.near, within_s=given.deadline))
    for one in found:
        say(json.dumps({"id": one.id, "endpoint": one.endpoint}) if given.json else f"{one.id}  {one.endpoint}")
    return bool(found)


async def find_brokers(
    service: Address, *, near: Sequence[float] | None = None, within_s: float = 10.0
) -> tuple[Found, ...]:
    """At most 5. Raises ``NoAnswer`` and ``Refused``."""
    terms, name = by_service(service), f"cli-{secrets.token_hex(4)}"
    position = None if near is None else (near[0], near[1])
    core = Finding(terms, service, name, SystemRandom(), monotonic_ns(), position)
    line = Line(core, lambda event: None)
    try:
        await line.until(lambda: core.is_over, within_s)
        core.close(monotonic_ns())
        line.step()
    finally:
        line.close()
    if core.refusal is not None:
        raise Refused(core.refusal.code, core.refusal.words)
    if core.found is None:
        raise NoAnswer(
            f"The registration service at {format_address(service)} did not answer within {within_s:g} s. It is the "
            "last server of a network; brokers do not answer this."
        )
    return core.found

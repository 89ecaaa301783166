"""``python -m overlay federation subscribe|publish|provide|query|lookup|brokers ADDRESS``, and ``check`` without a
network."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from overlay.programs.arguments import OneLineParser
from overlay.programs.federation import checking, consuming, finding, providing
from overlay.programs.federation.arguments import add_network
from overlay.programs.federation.client import Busy, NoAnswer, Refused
from overlay.programs.running import EPILOG, carry_out


def main(name: str, arguments: list[str]) -> int:
    parser = OneLineParser(prog=f"overlay federation {name}", epilog=EPILOG)
    add, run = _COMMANDS[name]
    if name in _OF_CLIENTS:
        add_network(parser)
    add(parser)
    return carry_out(parser, arguments, run, unanswered=(NoAnswer,), refused=(Refused,), wrong=(Busy,))


_COMMANDS: dict[str, tuple[Callable[[OneLineParser], None], Callable[[Namespace], bool]]] = {
    "subscribe": (consuming.add_subscribing, consuming.subscribe),
    "publish": (providing.add_publishing, providing.publish),
    "provide": (providing.add_content, providing.provide),
    "query": (consuming.add_asking, consuming.query),
    "lookup": (consuming.add_lookup, consuming.lookup),
    "brokers": (finding.add_brokers, finding.brokers),
    "check": (checking.add_checking, checking.check),
}
"""What adds its arguments; what runs it, and returns whether anything was done or found."""
_OF_CLIENTS = frozenset(_COMMANDS) - {"brokers", "check"}

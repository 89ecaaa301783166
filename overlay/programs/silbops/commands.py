"""``python -m overlay silbops subscribe|publish|why ADDRESS``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from overlay.programs.arguments import OneLineParser, add_deadline, address
from overlay.programs.inspection import NotInspected
from overlay.programs.questions import NoAnswer
from overlay.programs.running import EPILOG, carry_out
from overlay.programs.silbops import asking, using
from overlay.programs.silbops.client import Refused


def main(name: str, arguments: list[str]) -> int:
    parser = OneLineParser(prog=f"overlay silbops {name}", epilog=EPILOG)
    add, run = _COMMANDS[name]
    parser.add_argument("broker", type=address, metavar="ADDRESS", help="a broker's HOST:PORT")
    add(parser)
    add_deadline(parser)
    refused = (Refused, NotInspected, asking.NotPublished)
    return carry_out(parser, arguments, run, unanswered=(NoAnswer,), refused=refused)


_COMMANDS: dict[str, tuple[Callable[[OneLineParser], None], Callable[[Namespace], bool]]] = {
    "subscribe": (using.add_subscribing, using.subscribe),
    "publish": (using.add_publishing, using.publish),
    "why": (asking.add_why, asking.why),
}
"""What adds its arguments; what runs it, and returns whether anything was done or found."""

"""The commands of ContextNet: their arguments, errors and exit codes."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable

from overlay.programs.arguments import OneLineParser, add_deadline
from overlay.programs.contextnet import granting, moving, using
from overlay.programs.contextnet.node import Refused
from overlay.programs.networks import NoSuchNetwork
from overlay.programs.questions import NoAnswer
from overlay.programs.running import EPILOG, carry_out
from overlay.runtime.logs.port import Denied, NoUsers


def main(name: str, arguments: list[str]) -> int:
    parser = OneLineParser(prog=f"overlay contextnet {name}", epilog=EPILOG)
    add, run = _COMMANDS[name]
    add(parser)
    add_deadline(parser)
    refused, wrong = (Refused, NoSuchNetwork, Denied, NoUsers), (ArgumentTypeError,)
    return carry_out(parser, arguments, run, unanswered=(NoAnswer,), refused=refused, wrong=wrong)


_COMMANDS: dict[str, tuple[Callable[[OneLineParser], None], Callable[[Namespace], bool]]] = {
    "node": (moving.add_node, moving.run),
    "send": (using.add_sending, using.send),
    "listen": (using.add_listening, using.listen),
    "nodes": (using.add_listing, using.nodes),
    "grant": (granting.add_granting, granting.grant),
    "revoke": (granting.add_revoking, granting.revoke),
    "granted": (granting.add_listing, granting.granted),
}
"""What adds its arguments; what runs it, and returns whether anything was done or found."""

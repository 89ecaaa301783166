"""Seed 001 on the command line and for programs.

- ``client``    consumers and providers of a network, in an event loop
- ``inspection``  what servers tell the operators of their host
- ``documents`` what they say and hear as JSON
- ``commands``  these as commands
"""

from __future__ import annotations

from collections.abc import Callable

from overlay.programs import Command


def _command(name: str) -> Callable[[], Callable[[list[str]], int]]:
    def load() -> Callable[[list[str]], int]:
        from overlay.programs.federation.commands import main

        return lambda arguments: main(name, arguments)

    return load


COMMANDS = {
    name: Command(help, _command(name))
    for name, help in {
        "subscribe": "print the notifications that satisfy a subscription, as they come",
        "publish": "publish notifications as a provider, and leave",
        "provide": "publish what comes on standard input, and answer queries with the newest of it",
        "query": "ask for context now",
        "lookup": "list the providers of a scope",
        "brokers": "ask the registration service which brokers there are",
        "check": "evaluate an expression for notifications in a file, without a network",
    }.items()
}

"""Seed 001 on the command line and for programs.

- ``client``    consumers and providers of a network, in an event loop
- ``inspection`` what servers tell the operators of their host
- ``documents`` what they are given as JSON, and ``text`` how it is printed
- ``commands``  these as commands; ``consuming``, ``providing``, ``finding`` and ``checking`` carry them out
"""

from __future__ import annotations

from overlay.programs import commands_in

COMMANDS = commands_in(
    "overlay.programs.federation.commands",
    {
        "subscribe": "print the notifications that satisfy a subscription, as they come",
        "publish": "publish notifications as a provider, and leave",
        "provide": "publish what comes on standard input, and answer queries with the newest of it",
        "query": "ask for context now",
        "lookup": "list the providers of a scope",
        "brokers": "ask the registration service which brokers there are",
        "check": "evaluate an expression for notifications in a file, without a network",
    },
)

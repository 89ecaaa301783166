"""Seed 004 on the command line and for programs.

- ``node``         a mobile node at the gateways of a network, in an event loop
- ``application``  an application in the log of a network; ``logs`` finds it
- ``commands``     these as commands; ``moving``, ``using`` and ``granting`` carry them out
"""

from __future__ import annotations

from overlay.programs import commands_in

COMMANDS = commands_in(
    "overlay.programs.contextnet.commands",
    {
        "node": "be a mobile node at a gateway: send lines, print what comes",
        "send": "send to a node, a group or all nodes, as an application",
        "listen": "print the messages of nodes, as an application of a group that shares them",
        "grant": "give an application a user of its own in the log, for its topics only",
        "revoke": "take it away",
        "granted": "list the applications that have one",
        "nodes": "list the nodes of a network: connected or not, and at which gateway",
    },
)
"""``python -m overlay contextnet node ADDRESS``; the others need the address of the log."""

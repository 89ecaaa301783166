"""Seed 003 on the command line and for programs.

- ``client``     a client of a network: register, propagate, receive
- ``gateway``    HTTP and JSON for clients without UDP: ``http_front`` has the connections (``connection``) and their
                 requests (``routes``, ``requests``), ``clients`` the clients, each with a ``runtime.line``, and
                 ``outlets`` the ways in which they receive (``translation``, ``posting``, ``remembered``)
- ``phone``      a client of the gateway, with the standard library only
- ``inspection`` figures, clients and pending messages of a server, for its operator
- ``commands``   these as commands; ``listing``: those that list
"""

from __future__ import annotations

from overlay.programs import commands_in

COMMANDS = commands_in(
    "overlay.programs.radiator.commands",
    {
        "propagate": "register, send a context to all clients, and leave",
        "receive": "register, and print every context that arrives",
        "clients": "list the clients of a server on this host",
        "pending": "list what a server on this host retains, by queue",
        "gateway": "serve HTTP and JSON to clients without UDP",
    },
)

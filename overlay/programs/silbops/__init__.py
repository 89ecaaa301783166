"""Seed 002 on the command line and for programs.

- ``client``     a client of a network, in an event loop; ``memory``: the file with which its next process resumes
- ``inspection`` what brokers tell the operators of their host
- ``commands``   these as commands; ``using`` and ``asking`` carry them out
"""

from __future__ import annotations

from overlay.programs import commands_in

COMMANDS = commands_in(
    "overlay.programs.silbops.commands",
    {
        "subscribe": "print the notifications that match a subscription; lines of input set the context",
        "publish": "advertise, publish notifications with a context, and leave",
        "why": "say, broker by broker, who would get a publication and what says no; nothing is sent",
    },
)

"""Seed 004 on the command line.

- ``passwords``  of clients of MQTT
"""

from __future__ import annotations

from overlay.programs import Command, main_of

COMMANDS = {
    "mqtt-password": Command(
        "print the password of a client of MQTT in a network", main_of("overlay.programs.contextnet.passwords")
    ),
}

"""The toy system on the command line: ``python -m overlay echo call HOST:PORT``."""

from __future__ import annotations

import json
import socket
import sys

from overlay.programs import Command
from overlay.programs.arguments import OneLineParser, address


def call(arguments):
    """Exit codes: 0 answered, 2 wrong usage, 3 no answer in time."""
    parser = OneLineParser(prog="overlay echo call")
    parser.add_argument("server", type=address)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        sock.sendto(b"1", given.server)
        try:
            said = sock.recv(100).decode()
        except TimeoutError:
            return 3
    sys.stdout.write(f"{json.dumps({'said': said}) if given.json else said}\n")
    return 0


COMMANDS = {"call": Command("call a server, and print its echo", lambda: call)}

"""The command line: picks the command and leaves the rest to it. Nothing is imported that the command does not need.

Exit codes of exchanges: 0 done, 1 not found or refused, 2 wrong usage, 3 no answer in time. ``broker`` ends with 1 when
it cannot bind.
"""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from overlay import __version__
from overlay.core.addresses import Address, parse_address
from overlay.core.errors import WireError

USAGE = """\
usage: python -m overlay COMMAND ...

  broker      one broker in the foreground
  ping        whether a broker is there
  put         store data                     get         ask for data
  join        make it a neighbour of others  leave       make it leave the network
  monitor     make it watch its neighbours   neighbors   list its neighbours
  stats       its counters
  settings    what can be set on a broker, and what each profile sets
  supervise   the host's supervisor of brokers and client fleets
  simulate    one configuration in virtual time
  replay      recorded brokers done again in virtual time, compared byte for byte

python -m overlay COMMAND --help says more.
"""


class OneLineParser(argparse.ArgumentParser):
    """Says in one line what was wrong, and ends with 2."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}\n")
        raise SystemExit(2)


def address(text: str) -> Address:
    """An argument ``HOST:PORT``; ``localhost`` is understood, other names are not looked up."""
    host, colon, port = text.rpartition(":")
    try:
        return parse_address(f"127.0.0.1:{port}" if host == "localhost" and colon else text)
    except WireError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main(argv: list[str]) -> int:
    """Run one command; its exit code."""
    command = argv[0] if argv else ""
    if command in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0
    if command == "--version":
        sys.stdout.write(f"{__version__}\n")
        return 0
    if command == "broker":
        from overlay.cli import broker

        return broker.main(argv[1:])
    if command == "settings":
        from overlay.cli import settings

        return settings.main(argv[1:])
    if command == "supervise":
        from overlay.runtime import supervisor

        return supervisor.main(argv[1:])
    from overlay.cli import exchange

    if command in exchange.COMMANDS:
        return exchange.main(command, argv[1:])
    sys.stderr.write(f"overlay: {command!r} is not a command\n" if command else "overlay: which command?\n")
    sys.stderr.write(USAGE)
    return 2

"""Arguments that commands of every system share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NoReturn

from overlay.core.addresses import Address, parse_address
from overlay.core.errors import WireError


class OneLineParser(argparse.ArgumentParser):
    """Says in one line what was wrong, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}\n")
        raise SystemExit(2)


def seconds(most: int) -> Callable[[str], float]:
    """The type of an argument: a duration above 0."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= most:
            raise argparse.ArgumentTypeError(f"{text[:40]!r} must be a number of seconds above 0, at most {most:,}")
        return value

    return read


DAY_S = 86_400
duration = seconds(DAY_S)
"""The type of an argument: at most a day."""


def add_deadline(parser: OneLineParser) -> None:
    parser.add_argument(
        "--deadline", type=duration, default=10.0, metavar="S", help="seconds to wait for an answer (10)"
    )


def number(text: str) -> int:
    """The type of an argument: a count."""
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text)):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} must be a whole number above 0")
    return int(text)


def address(text: str) -> Address:
    """An argument ``HOST:PORT``; ``localhost`` is understood, other names are not looked up."""
    host, colon, port = text.rpartition(":")
    try:
        return parse_address(f"127.0.0.1:{port}" if host == "localhost" and colon else text)
    except WireError as error:
        raise argparse.ArgumentTypeError(str(error)) from None

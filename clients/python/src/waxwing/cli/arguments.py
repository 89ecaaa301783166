"""Arguments that several commands have."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DONE, NO, USAGE, FAILED, NO_CONNECTION, INTERRUPTED = 0, 1, 2, 3, 4, 130


class UsageError(Exception):
    """Arguments that do not fit together."""


def common() -> argparse.ArgumentParser:
    """Options of every command, before or after its name. ``defaults`` has what holds without them."""
    parser = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--url", help="address of the server (WAXWING_URL, or as stored by `waxwing login`)")
    about = "certificate of the authority that vouches for the server, if it is your own (WAXWING_CA)"
    parser.add_argument("--ca", metavar="FILE", help=about)
    parser.add_argument("--timeout", type=seconds, metavar="S", help="give up waiting after this many seconds")
    return parser


def defaults() -> argparse.Namespace:
    """Not set as defaults of the parsers: that of a command would replace what was given before its name."""
    return argparse.Namespace(json=False, url=None, ca=None, timeout=None)


def seconds(text: str) -> float:
    """A positive number of seconds."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a positive number of seconds, not {text!r}")
    return number


def positive(text: str) -> int:
    """A whole number from 1."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, not {text!r}")
    return int(text)


def add_fields(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("-f", "--field", action="append", default=[], type=field, metavar="NAME=VALUE", help=what)


def field(text: str) -> tuple[str, str]:
    """``name=value``"""
    name, is_pair, value = text.partition("=")
    if not is_pair or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, not {text!r}")
    return name, value


def parameters(pairs: Iterable[tuple[str, str]], *not_allowed: str) -> dict[str, str]:
    """Of a query, as they were typed. A name that comes twice has both values, separated by a comma."""
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in not_allowed:
            raise UsageError(f"-f {name}: use --{name}")
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def nested(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """A body: ``settings.walk_ttl=5`` becomes ``{"settings": {"walk_ttl": 5}}``. Values are JSON, or text if they are
    none.
    """
    found: dict[str, Any] = {}
    for name, value in pairs:
        *outer, last = name.split(".")
        at = found
        for part in outer:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                raise UsageError(f"-f {name}: {part} has a value of its own already")
        if last in at:
            raise UsageError(f"-f {name}: it has a value already")
        at[last] = typed(value)
    return found


def typed(text: str) -> Any:
    """The value that a text is in JSON; the text itself if it is none."""
    try:
        return json.loads(text, parse_constant=lambda constant: constant)  # NaN is text, too
    except (ValueError, RecursionError):
        return text


def text_of(name: str) -> str:
    """A file's content; ``-`` is standard input."""
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text()
    except (OSError, ValueError) as error:
        raise UsageError(f"{name}: {error}") from None


def sendable(text: str) -> Any:
    """A body: its JSON, or the text, which is sent as YAML."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text

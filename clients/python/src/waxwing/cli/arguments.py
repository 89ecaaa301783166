"""Arguments that several commands have."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

DONE, NO, USAGE, FAILED, NO_CONNECTION, INTERRUPTED = 0, 1, 2, 3, 4, 130


class UsageError(Exception):
    """Arguments that do not fit together."""


def common() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--url", help="address of the server (WAXWING_URL, or as stored by `waxwing login`)")
    parser.add_argument("--timeout", type=float, metavar="S", help="give up waiting after this many seconds")
    return parser


def add_fields(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("-f", "--field", action="append", default=[], type=field, metavar="NAME=VALUE", help=what)


def field(text: str) -> tuple[str, Any]:
    """``name=value``; the value as JSON, or as text if it is none."""
    name, is_pair, value = text.partition("=")
    if not is_pair or not name:
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, not {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def nested(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """``settings.walk_ttl=5`` becomes ``{"settings": {"walk_ttl": 5}}``."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        *outer, last = name.split(".")
        at = found
        for part in outer:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                raise UsageError(f"-f {name}: {part} has a value of its own already")
        at[last] = value
    return found


def text_of(name: str) -> str:
    """A file's content; ``-`` is standard input."""
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name}: {error}") from None


def sendable(text: str) -> Any:
    """A body: its JSON, or the text, which is sent as YAML."""
    try:
        return json.loads(text)
    except ValueError:
        return text

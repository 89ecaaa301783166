"""``python -m overlay discover``: the networks announced by DNS-SD on this machine's interfaces."""

from __future__ import annotations

import json
import sys
import time
from itertools import groupby
from typing import Any

from overlay.core.addresses import format_address
from overlay.core.announcements import Announcement
from overlay.core.errors import InvalidSetting
from overlay.programs.arguments import OneLineParser
from overlay.programs.networks import HELP, NoSuchNetwork, chosen
from overlay.runtime.announcing import Browser

LONGEST_S = 600.0


def make_parser() -> OneLineParser:
    parser = OneLineParser(prog="overlay discover", description="List the brokers that networks announce by DNS-SD.")
    parser.add_argument("--interface", default="", metavar="HOST", help="IPv4 address of the interface; default: all")
    parser.add_argument("--wait", type=float, default=2.0, metavar="S", help="how long to listen, in seconds (2)")
    parser.add_argument("--network", default="", metavar="N", help=f"only this network: {HELP}")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--list", action="store_true", help="print a bootstrap list: one HOST:PORT a line")
    shape.add_argument("--json", action="store_true", help="print JSON")
    return parser


def main(argv: list[str]) -> int:
    """1 if there is none."""
    parser = make_parser()
    options = parser.parse_args(argv)
    if not 0 < options.wait <= LONGEST_S:
        parser.error(f"--wait: must be more than 0 and at most {LONGEST_S:g} s, not {options.wait:g}")
    try:
        browser = Browser(options.interface)
    except InvalidSetting as error:
        parser.error(f"--interface: {error.sentence}")
    try:
        time.sleep(options.wait)
        found = _of(browser.found, options.network)
    except NoSuchNetwork as error:
        sys.stderr.write(f"{parser.prog}: {_printable(str(error))}\n")
        return 1
    except KeyboardInterrupt:
        found = []
    finally:
        browser.close()
    sys.stdout.write(_json(found) if options.json else _list(found) if options.list else _lines(found))
    return 0 if found else 1


def _of(found: list[Announcement], network: str) -> list[Announcement]:
    """Those of a network; empty: of all. Raises ``NoSuchNetwork``."""
    if not network:
        return found
    id = chosen({one.network: one.name for one in found}, network, "DNS-SD")
    return [one for one in found if one.network == id]


def _list(found: list[Announcement]) -> str:
    return "".join(f"{format_address(one.address)}\n" for one in found)


def _json(found: list[Announcement]) -> str:
    return (
        json.dumps({"networks": [_network(list(some)) for _, some in groupby(found, key=lambda one: one.network)]})
        + "\n"
    )


def _network(some: list[Announcement]) -> dict[str, Any]:
    brokers = [{"index": one.index, "address": format_address(one.address)} for one in some]
    return {"network": some[0].network, "name": some[0].name, "system": some[0].system, "brokers": brokers}


def _lines(found: list[Announcement]) -> str:
    """Names come from other machines: control characters never reach the terminal."""
    fields = ((one.name, one.system, str(one.index), format_address(one.address)) for one in found)
    return "".join("  ".join(f"{_printable(field):<14}" for field in row).rstrip() + "\n" for row in fields)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)

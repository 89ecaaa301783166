"""The commands ``clients`` and ``pending``: tables for people, or JSON."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overlay.core.addresses import format_address
from overlay.programs.arguments import OneLineParser
from overlay.programs.radiator.inspection import Inspector

MOST_ROWS, MOST_OFFSET = 1_000, 1_000_000
CLIENTS = {"all": None, "reachable": True, "unreachable": False}
"""Values of ``--only``."""
_LENGTHS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms"))


def add_page(parser: OneLineParser) -> None:
    parser.add_argument("--limit", type=number(1, MOST_ROWS), default=100, metavar="N", help="rows at most (100)")
    parser.add_argument("--offset", type=number(0, MOST_OFFSET), default=0, metavar="N", help="rows to skip (0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, with ages and waits in ms")


def add_clients(parser: OneLineParser) -> None:
    add_page(parser)
    parser.add_argument("--only", choices=CLIENTS, default="all", help="which clients (all)")


def list_clients(given: Namespace) -> int:
    with Inspector(given.server, given.deadline) as server:
        found = server.clients(reachable=CLIENTS[given.only], offset=given.offset, limit=given.limit)
    which = "client" if given.only == "all" else f"{given.only} client"
    return _print(given, found, counted(found["total"], which), CLIENT_COLUMNS)


def list_pending(given: Namespace) -> int:
    with Inspector(given.server, given.deadline) as server:
        found = server.pending(offset=given.offset, limit=given.limit)
    at_least = "" if found["is_whole"] else "at least "
    title = f"{at_least}{counted(found['total'], 'queue')}, {counted(found['retained'], 'message')} retained"
    return _print(given, found, title, PENDING_COLUMNS)


def waits_for(row: Mapping[str, Any]) -> str:
    """What a queue waits for, and how long at most."""
    leaves_in_ms = row["leaves_in_ms"]
    wait = "" if leaves_in_ms is None else f"in {length(leaves_in_ms)}"
    if row["kind"] == "time":
        return wait or f"with the first message after {row['value']:,} s"
    if row["kind"] == "people":
        what = f"with {counted(row['value'] - row['people'], 'more person', 'more people')}"
    else:
        what = f"with {counted(row['value'] - row['messages'], 'more message')}"
    return f"{what}, {wait} at the latest" if wait else what


def counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def length(ms: int) -> str:
    """A duration, rounded down to the largest unit of which it has at least two, or tenths of a second: 95 s, 1.5 s."""
    if 1_000 <= ms < 10_000:
        return f"{ms // 100 / 10:g} s"
    unit_ms, unit = next((one for one in _LENGTHS if ms >= 2 * one[0]), _LENGTHS[-1])
    return f"{ms // unit_ms:,} {unit}"


def number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 9 and low <= int(text) <= high):
            raise ArgumentTypeError(f"{text[:40]!r} must be a whole number from {low:,} to {high:,}")
        return int(text)

    return read


Column = tuple[str, Callable[[Mapping[str, Any]], str]]
CLIENT_COLUMNS: tuple[Column, ...] = (
    ("ADDRESS", lambda row: format_address((row["ip"], row["port"]))),
    ("ID", lambda row: row["id"]),
    ("INSTANCE", lambda row: row["instance"]),
    ("P2P", lambda row: "yes" if row["is_p2p"] else "no"),
    ("REACHABLE", lambda row: "yes" if row["is_reachable"] else "no"),
    ("SEEN", lambda row: f"{length(row['silent_ms'])} ago"),
    ("PENDING", lambda row: f"{row['pending']:,}"),
    ("SENT, RETAINED", lambda row: f"{row['own_retained']:,}"),
    ("ATTRIBUTES", lambda row: row["attributes"]),
)
PENDING_COLUMNS: tuple[Column, ...] = (
    ("QUEUE", lambda row: f"{row['kind']} {row['value']:,}"),
    ("RECIPIENTS", lambda row: f"{row['recipients']:,}"),
    ("CLASSES", lambda row: f"{row['classes']:,}"),
    ("MESSAGES", lambda row: f"{row['messages']:,}"),
    ("OLDEST", lambda row: f"{length(row['oldest_ms'])} ago"),
    ("LEAVES", waits_for),
)


def _print(given: Namespace, found: Mapping[str, Any], title: str, columns: Sequence[Column]) -> int:
    rows = found["rows"]
    if given.json:
        sys.stdout.write(json.dumps({**found, "offset": given.offset}, ensure_ascii=False) + "\n")
        return 0
    shown = f", {given.offset + 1:,} to {given.offset + len(rows):,} shown" if 0 < len(rows) < found["total"] else ""
    sys.stdout.write(f"{title}{shown}\n")
    if rows:
        sys.stdout.write(_table([[name for name, _ in columns], *([read(row) for _, read in columns] for row in rows)]))
    return 0


def _table(lines: Sequence[Sequence[str]]) -> str:
    lines = [[_printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (zip(line, widths, strict=True) for line in lines)
    return "".join("  ".join(cell.ljust(width) for cell, width in line).rstrip() + "\n" for line in padded)


def _printable(text: str) -> str:
    """Ids and attributes are from clients, and must not control the terminal."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)

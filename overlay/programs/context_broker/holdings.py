"""``python -m overlay list|watch``: what a broker holds, and what changes there, a line each."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from overlay.core.addresses import format_address
from overlay.programs.arguments import OneLineParser
from overlay.programs.context_broker.client import ContextClient
from overlay.programs.context_broker.exchange import DONE, add_brokers, ending, iso, printable
from overlay.systems.context_broker.clients.feed_reader import Record
from overlay.systems.context_broker.clients.payload import parse_pairs
from overlay.systems.context_broker.wire.feed_messages import Change

_WORDS = {
    Change.ENTRY: "stored",
    Change.REPLICA: "replica",
    Change.WITHDRAWN: "withdrawn",
    Change.DROPPED: "dropped",
}
HELP = {
    "list": "List the valid data that a broker holds.",
    "watch": "Show what a broker holds and then every change of it, until Ctrl-C.",
}


def make_parser(command: str, argv: Sequence[str] = ()) -> OneLineParser:
    parser = OneLineParser(prog=f"overlay {command}", description=HELP[command])
    add_brokers(parser, argv)
    parser.add_argument("--type", help="only entities of this type")
    parser.add_argument("--scope", help="only this scope")
    parser.add_argument("--json", action="store_true", help="print JSON, for watch one object a line")
    parser.add_argument("--timeout", type=float, default=10.0, metavar="S", help="give up after this many seconds (10)")
    return parser


def main(command: str, argv: list[str]) -> int:
    parser = make_parser(command, argv)
    options = parser.parse_args(argv)
    return ending(parser, options, _list if command == "list" else _watch)


def _list(client: ContextClient, options: argparse.Namespace) -> int:
    rows = [_row(record) for record in sorted(_chosen(client.entries(), options), key=lambda one: one.name)]
    if options.json:
        sys.stdout.write(json.dumps({"broker": format_address(client.addresses[0]), "entries": rows}) + "\n")
    else:
        sys.stdout.writelines(_line(row, row["provider"]) for row in rows)
    return DONE


def _watch(client: ContextClient, options: argparse.Namespace) -> int:
    try:
        for changes in client.feed():
            for record in _chosen(changes, options):
                row = {"change": _WORDS[record.change], **_row(record)}
                sys.stdout.write(json.dumps(row) + "\n" if options.json else _line(row, row["change"], row["provider"]))
            sys.stdout.flush()
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:  # such as watch | head; what is still buffered goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return DONE


def _chosen(records: Iterable[Record], options: argparse.Namespace) -> Iterable[Record]:
    wanted = options.type, options.scope
    return (
        record
        for record in records
        if all(name in (None, own) for name, own in zip(wanted, (record.key[0], record.key[2]), strict=True))
    )


def _row(record: Record) -> dict[str, Any]:
    """What ``--json`` prints of an entry; of one that is no longer held, its name and times."""
    entity_type, entity_id, scope = record.key
    names = {"provider": record.provider, "type": entity_type, "id": entity_id, "scope": scope}
    if not record.is_held:
        return {**names, "timestamp": iso(record.timestamp)}
    text = record.payload.decode()
    return {
        **names,
        "payload": parse_pairs(text),
        "text": text,
        "timestamp": iso(record.timestamp),
        "valid_begin": iso(record.valid_begin),
        "valid_end": iso(record.valid_end),
        "age_ms": max(0, time.time_ns() // 1_000_000 - record.timestamp),
        "is_replica": record.change is Change.REPLICA,
    }


def _line(row: dict[str, Any], *first: str) -> str:
    fields = *first, row["type"], row["id"], row["scope"], row.get("text", "")
    return "  ".join(f"{printable(field):<9}" for field in fields).rstrip() + "\n"

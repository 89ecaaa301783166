"""Commands of one exchange with a broker, decoded: ping, put, get, withdraw, join, leave, monitor, neighbors, stats.

Counterpart: ``holdings`` has the commands that take more than one exchange.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.core.errors import InvalidSetting, WireError
from overlay.programs.arguments import OneLineParser, address
from overlay.programs.bootstrap_lists import HELP, BadList, source_of
from overlay.programs.context_broker.client import ContextClient, NoAnswer, NotFound, Refused
from overlay.programs.context_broker.finding import find

DONE, REFUSED, USAGE, NO_ANSWER = 0, 1, 2, 3

Outcome = dict[str, Any]
"""The object that ``--json`` prints; ``_lines`` formats it for people."""


def _ping(client: ContextClient, options: argparse.Namespace) -> Outcome:
    begin = time.perf_counter_ns()
    broker = client.ping()
    return {"broker": format_address(broker), "round_trip_us": (time.perf_counter_ns() - begin) // 1000}


def _put(client: ContextClient, options: argparse.Namespace) -> Outcome:
    payload = sys.stdin.buffer.read().rstrip(b"\r\n") if options.payload is None else os.fsencode(options.payload)
    broker = client.provide(options.provider, _key(options), payload, options.valid_ms)
    return {"stored": True, "broker": format_address(broker), "payload_bytes": len(payload)}


def _get(client: ContextClient, options: argparse.Namespace) -> Outcome:
    answer = client.ask(_key(options))
    return {
        "provider": answer.provider,
        "payload": answer.payload,
        "text": answer.text,
        "valid_begin": iso(answer.valid_begin),
        "valid_end": iso(answer.valid_end),
        "age_ms": answer.age_ms(),
        "broker": format_address(answer.broker),
    }


def _withdraw(client: ContextClient, options: argparse.Namespace) -> Outcome:
    broker = client.withdraw(options.provider, _key(options))
    return {"withdrawn": True, "broker": format_address(broker)}


def _join(client: ContextClient, options: argparse.Namespace) -> Outcome:
    client.join(options.neighbours)
    return {"joined": [format_address(neighbour) for neighbour in options.neighbours]}


def _leave(client: ContextClient, options: argparse.Namespace) -> Outcome:
    client.leave()
    return {"left": True}


def _monitor(client: ContextClient, options: argparse.Namespace) -> Outcome:
    client.monitor()
    return {"monitoring": True}


def _neighbors(client: ContextClient, options: argparse.Namespace) -> Outcome:
    return {"neighbors": [format_address(neighbour) for neighbour in client.neighbors()]}


def _stats(client: ContextClient, options: argparse.Namespace) -> Outcome:
    return client.statistics()


COMMANDS: dict[str, tuple[str, Callable[[ContextClient, argparse.Namespace], Outcome]]] = {
    "ping": ("Test whether a broker answers.", _ping),
    "put": ("Store data about an entity.", _put),
    "get": ("Request data about an entity.", _get),
    "withdraw": ("Let a broker no longer serve a provider's data about an entity.", _withdraw),
    "join": ("Order a broker to join others as their neighbour.", _join),
    "leave": ("Order a broker to leave the network.", _leave),
    "monitor": ("Order a broker to monitor its neighbours.", _monitor),
    "neighbors": ("List a broker's neighbours.", _neighbors),
    "stats": ("Show a broker's counters.", _stats),
}


ORDERS = ("join", "leave", "monitor")
"""Commands for one certain broker."""
MOST_TRIED = 3
"""Brokers of a bootstrap list that a command tries, the nearest first."""


def make_parser(command: str, argv: Sequence[str] = ()) -> OneLineParser:
    parser = OneLineParser(prog=f"overlay {command}", description=COMMANDS[command][0])
    add_brokers(parser, argv, has_list=command not in ORDERS)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--timeout", type=float, default=10.0, metavar="S", help="give up after this many seconds (10)")
    if command in ("put", "get", "withdraw"):
        parser.add_argument("--type", required=True, help="type of the entity, such as room")
        parser.add_argument("--id", required=True, help="identifier of the entity, such as r1")
        parser.add_argument("--scope", required=True, help="scope: a group of parameters, such as climate")
    if command in ("put", "withdraw"):
        parser.add_argument("--provider", required=True, help="name of the provider")
    if command == "put":
        parser.add_argument("--valid-ms", type=int, default=120_000, metavar="MS", help="validity period (120000)")
        parser.add_argument("--payload", help="usually K=V;K=V; read from standard input if omitted")
    if command == "join":
        parser.add_argument("neighbours", type=address, nargs="+", metavar="NEIGHBOUR", help="HOST:PORT of a broker")
    return parser


def add_brokers(parser: OneLineParser, argv: Sequence[str], *, has_list: bool = True) -> None:
    """The address of a broker, or the list with which ``argv`` replaces it."""
    is_given = has_list and any(argument.partition("=")[0] == "--bootstrap" for argument in argv)
    if is_given:
        parser.set_defaults(address=None)
    else:
        parser.add_argument("address", type=address, metavar="ADDRESS", help="HOST:PORT of the broker")
    if has_list:
        parser.add_argument("--bootstrap", metavar="LIST", help=HELP)


def brokers_of(options: argparse.Namespace) -> Sequence[Address]:
    """The brokers to try. Raises ``BadList``, ``NoAnswer``."""
    if options.address is not None:
        return [options.address]
    listed = source_of(options.bootstrap).read().brokers
    found = find(listed, options.timeout)
    if not found:
        raise NoAnswer(f"none of the {len(listed)} brokers of {options.bootstrap[:200]} has answered")
    return found[:MOST_TRIED]


def main(command: str, argv: list[str]) -> int:
    parser = make_parser(command, argv)
    return ending(parser, parser.parse_args(argv), lambda client, options: _one(command, client, options))


def _one(command: str, client: ContextClient, options: argparse.Namespace) -> int:
    outcome = COMMANDS[command][1](client, options)
    sys.stdout.write(json.dumps(outcome) + "\n" if options.json else _lines(outcome))
    return DONE


def ending(
    parser: OneLineParser, options: argparse.Namespace, command: Callable[[ContextClient, argparse.Namespace], int]
) -> int:
    """The exit code of a command, with what went wrong told."""
    try:
        return command(ContextClient(brokers_of(options), options.timeout), options)
    except BadList as error:
        parser.error(f"--bootstrap: {error}")
    except NoAnswer as error:
        return _fail(parser, error, NO_ANSWER, options)
    except (NotFound, Refused) as error:
        return _fail(parser, error, REFUSED, options)
    except InvalidSetting as error:
        parser.error("--timeout " + error.sentence if error.field == "give_up_s" else str(error))
    except WireError as error:  # a name or payload that no message can carry
        parser.error(str(error))


def _fail(parser: OneLineParser, error: Exception, code: int, options: argparse.Namespace) -> int:
    if options.json:
        kind = {"NoAnswer": "no_answer", "NotFound": "not_found", "Refused": "refused"}[type(error).__name__]
        detail = {"status": error.status} if isinstance(error, Refused) else {}
        sys.stdout.write(json.dumps({"error": {"code": kind, "sentence": str(error), **detail}}) + "\n")
    else:
        sys.stderr.write(f"{parser.prog}: {error}\n")
    return code


def _lines(outcome: Outcome) -> str:
    """One ``name value`` line each; a list gives one line per item."""
    lines = []
    for name, value in outcome.items():
        if isinstance(value, dict) or value is None:
            continue  # the pairs of a payload, whose text is shown already
        for item in value if isinstance(value, list) else [value]:
            lines.append(f"{name:<14} {printable(item)}\n")
    return "".join(lines)


def printable(value: object) -> str:
    """For a terminal, which control characters never reach."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))


def _key(options: argparse.Namespace) -> tuple[str, str, str]:
    return options.type, options.id, options.scope


def iso(unix_ms: int) -> str:
    """ISO 8601 in UTC; after the year 9999 the number of milliseconds."""
    try:
        return datetime.fromtimestamp(unix_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return str(unix_ms)

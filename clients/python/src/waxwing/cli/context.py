"""``waxwing get|put|delete|list|watch|batch``: the context of a network, or of brokers by UDP."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from waxwing.cli import printing
from waxwing.cli.arguments import DONE, NO, UsageError, positive, seconds, text_of

if TYPE_CHECKING:
    from waxwing._sync.client import Client
    from waxwing._sync.context import ContextOf
    from waxwing.contexts import Change

FILTERS = {
    "type": "only this type",
    "id_pattern": "only entities that match, such as 'r*'",
    "scope": "only this scope",
    "provider": "only data of this provider",
    "attribute": "only payloads with these fields, separated by commas",
    "max_age_s": "only what was sent within so many seconds",
    "q": "only payloads that match, such as 'degC > 20'",
    "near": "only near this place: latitude,longitude; needs --within-km",
    "within_km": "distance from --near",
}
ONLY_REST = ("wait", "trace", "if_match", "if_none")
"""Options that brokers do not know."""


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    get = _piece(commands, common, "get", "show data about a scope of an entity")
    get.add_argument("--wait", type=seconds, metavar="S", help="wait for data, up to 60 s")
    get.add_argument("--trace", action="store_true", help="let every broker record the query: `walk` is its way")
    put = _piece(commands, common, "put", "store data about a scope of an entity")
    put.add_argument("payload", nargs="?", help="usually K=V;K=V; read from standard input if omitted")
    put.add_argument("--provider", required=True)
    put.add_argument("--valid-ms", type=positive, metavar="MS", help="validity (120000)")
    put.add_argument("--if-none", action="store_true", help="only if nothing is stored")
    delete = _piece(commands, common, "delete", "stop serving data about a scope of an entity")
    delete.add_argument("--provider", help="whose data; needed if several have data, and with --brokers")
    for parser in (put, delete):
        parser.add_argument("--if-match", metavar="ETAG", help="only if the stored value has this ETag")
    for name, about in (("list", "list what a network has"), ("watch", "print changes as they come, until Ctrl-C")):
        parser = commands.add_parser(name, parents=[common], help=about)
        parser.add_argument("--network", required=True, metavar="N", help="id or name")
        for one, help in FILTERS.items():
            parser.add_argument(f"--{one.replace('_', '-')}", dest=one, help=help)
        if name == "list":
            parser.add_argument("--limit", type=positive, default=1000, metavar="N", help="at most so many (1000)")
        else:
            parser.add_argument("--snapshot", action="store_true", help="begin with what there is")
            parser.add_argument("--last-id", default="", metavar="ID", help="resume after this change")
            parser.add_argument("--count", type=positive, metavar="N", help="end after so many changes")
    batch = commands.add_parser("batch", parents=[common], help="carry out a JSON list of operations")
    batch.add_argument("file", help="a JSON list, or one JSON object a line; - for standard input")
    batch.add_argument("--network", required=True, metavar="N", help="id or name")
    batch.add_argument("--atomic", action="store_true", help="check all before any is sent")


def _piece(commands: Any, common: argparse.ArgumentParser, name: str, about: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, parents=[common], help=about)
    for one in ("type", "entity", "scope"):
        parser.add_argument(one)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--network", metavar="N", help="id or name of a network")
    where.add_argument("--brokers", metavar="HOST:PORT,…", help="ask these brokers by UDP, without the server")
    return parser


def run(client: Client, options: argparse.Namespace) -> int:
    operations = _operations(options) if options.command == "batch" else []
    room = client.context(client.networks.find(options.network).id)
    if options.command == "batch":
        return _batch(room, operations, options)
    return {"get": _get, "put": _put, "delete": _delete, "list": _list, "watch": _watch}[options.command](room, options)


def _key(options: argparse.Namespace) -> tuple[str, str, str]:
    return options.type, options.entity, options.scope


def _get(room: ContextOf, options: argparse.Namespace) -> int:
    found = room.get(*_key(options), wait_s=options.wait, trace=options.trace or None)
    printing.show(found, as_json=options.json)
    return DONE


def _put(room: ContextOf, options: argparse.Namespace) -> int:
    stored = room.put(
        *_key(options),
        _payload(options),
        provider=options.provider,
        valid_ms=options.valid_ms,
        if_match=options.if_match,
        if_none_match="*" if options.if_none else None,
    )
    printing.show(stored, as_json=options.json)
    return DONE


def _payload(options: argparse.Namespace) -> str:
    if options.payload is not None:
        return str(options.payload)
    if sys.stdin.isatty():
        printing.say("The payload, then Ctrl-D:")
    return text_of("-").rstrip("\r\n")


def _delete(room: ContextOf, options: argparse.Namespace) -> int:
    deleted = room.delete(*_key(options), provider=options.provider, if_match=options.if_match)
    printing.show(deleted.raw, as_json=options.json)
    return DONE


def _filters(options: argparse.Namespace) -> dict[str, Any]:
    return {name: value for name in FILTERS if (value := getattr(options, name)) is not None}


def _list(room: ContextOf, options: argparse.Namespace) -> int:
    printing.show(room.list(limit=options.limit, **_filters(options)), as_json=options.json)
    return DONE


def _watch(room: ContextOf, options: argparse.Namespace) -> int:
    changes = room.watch(last_id=options.last_id, snapshot=options.snapshot, **_filters(options))
    for number, change in enumerate(changes, 1):
        sys.stdout.write(_told(change, as_json=options.json))
        sys.stdout.flush()
        if number == options.count:
            break
    return DONE


def _told(change: Change, *, as_json: bool) -> str:
    if as_json:
        told = {"id": change.id, "event": change.kind, "data": change.raw}
        return printing.json_of(told) + "\n"
    one = change.context
    return printing.words((change.kind, one.type, one.entity, one.scope, one.provider, one.text))


def _operations(options: argparse.Namespace) -> list[Any]:
    """A list, or an object a line, as other programs write them into a pipe."""
    text = text_of(options.file)
    try:
        found = (
            json.loads(text) if text.lstrip()[:1] == "[" else [json.loads(line) for line in text.splitlines() if line]
        )
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{options.file} is not JSON: {error}") from None
    if not found:
        raise UsageError(f"{options.file} has no operations")
    return list(found)


def _batch(room: ContextOf, operations: list[Any], options: argparse.Namespace) -> int:
    results = room.batch(operations, atomic=options.atomic)
    printing.show(results, as_json=options.json)
    return DONE if all(one.status < 400 for one in results) else NO


def by_udp(options: argparse.Namespace) -> int:
    from waxwing.udp.client import BrokerClient

    if wrong := [name for name in ONLY_REST if getattr(options, name, None)]:
        raise UsageError(f"--{wrong[0].replace('_', '-')} is not for --brokers, only for --network")
    if options.command == "delete" and options.provider is None:
        raise UsageError("--provider is required with --brokers")
    patience = {} if options.timeout is None else {"give_up_s": options.timeout}
    with BrokerClient(options.brokers, **patience) as brokers:
        if options.command == "get":
            answer = brokers.ask(*_key(options))
            told = {"provider": answer.data.provider, "payload": answer.payload, "text": answer.text}
            times = {"valid_begin_ms": answer.data.valid_begin, "valid_end_ms": answer.data.valid_end}
            printing.show({**told, **times, "broker": answer.broker}, as_json=options.json)
            return DONE
        if options.command == "put":
            valid = {} if options.valid_ms is None else {"valid_ms": options.valid_ms}
            broker = brokers.provide(options.provider, *_key(options), _payload(options), **valid)
        else:
            broker = brokers.withdraw(options.provider, *_key(options))
        printing.show({"broker": broker}, as_json=options.json)
    return DONE

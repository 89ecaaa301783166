"""``waxwing networks|topologies|experiments|runs|reports|studies [ACTION] …``."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waxwing.calls import at
from waxwing.cli import printing
from waxwing.cli.arguments import (
    DONE,
    FAILED,
    UsageError,
    add_fields,
    nested,
    parameters,
    positive,
    sendable,
    text_of,
)
from waxwing.records import Experiment, Launch, Network, Record, Report, Topology

if TYPE_CHECKING:
    from waxwing._sync.client import Client

Action = Callable[[Any, argparse.Namespace], Any]


@dataclass(frozen=True)
class Noun:
    """What a resource can do, beyond ``list`` and ``show``; each action with what it does."""

    about: str
    actions: dict[str, str]


def _id(method: str) -> Action:
    return lambda resource, options: getattr(resource, method)(options.id)


def _wait(resource: Any, options: argparse.Namespace) -> Any:
    return resource.wait(options.id, timeout_s=options.timeout)


def _bootstrap(resource: Any, options: argparse.Namespace) -> Any:
    found = resource.bootstrap(options.id)
    return list(found) if options.json else "\n".join(found)


ACTIONS: dict[str, Action] = {
    "delete": _id("delete"),
    "start": _id("start"),
    "stop": _id("stop"),
    "cancel": _id("cancel"),
    "rerun": _id("rerun"),
    "yaml": _id("yaml"),
    "html": _id("html"),
    "wait": _wait,
    "bootstrap": _bootstrap,
}
NOUNS = {
    "networks": Noun(
        "networks that stay up",
        {
            "create": "deploy a topology (-f name=N -f topology=ID)",
            "start": "start it",
            "stop": "stop it",
            "wait": "wait until it runs",
            "bootstrap": "healthy brokers, nearest first, one HOST:PORT a line",
            "delete": "delete it",
        },
    ),
    "topologies": Noun(
        "topologies", {"create": "generate one (-f name=N -f kind=ring -f brokers=10)", "delete": "delete it"}
    ),
    "experiments": Noun(
        "experiments",
        {
            "create": "save a definition (--file FILE)",
            "launch": "queue its runs (-f skip_existing=true)",
            "cancel": "cancel its unfinished runs",
            "yaml": "print its definition",
            "delete": "delete it",
        },
    ),
    "runs": Noun(
        "runs of experiments",
        {
            "wait": "wait until it is over, with its progress",
            "cancel": "stop it; what was measured is kept",
            "rerun": "the same again",
            "samples": "every request and update, as CSV; with --json one object a line",
            "tables": "the names of its tables",
            "table": "one of these tables, like samples",
            "series": "its time series, as CSV",
            "events": "what happened to it; with --json one object a line",
        },
    ),
    "reports": Noun(
        "reports",
        {
            "create": "compare (-f experiments='[\"ID\"]')",
            "wait": "wait until it is over",
            "html": "print it as one HTML file",
            "cancel": "stop it",
            "delete": "delete it",
        },
    ),
    "studies": Noun("published figures and questions", {"launch": "run one (-f scale=quick)"}),
}
MADE: dict[str, type[Record]] = {
    "networks": Network,
    "topologies": Topology,
    "experiments": Experiment,
    "reports": Report,
}
NO_ID = ("create",)
FIELDS = ("create", "launch")
OF_RUNS = ("samples", "tables", "table", "series", "events")


def add(commands: Any, shared: argparse.ArgumentParser) -> None:
    for name, noun in NOUNS.items():
        parser = commands.add_parser(name, parents=[shared], help=noun.about)
        parser.set_defaults(action="list", field=[], limit=100)
        actions = parser.add_subparsers(dest="action", metavar="ACTION")
        listing = actions.add_parser("list", parents=[shared], help="list them (the default)")
        listing.add_argument("--limit", type=positive, default=100, metavar="N", help="at most so many (100)")
        add_fields(listing, "filter, such as -f state=done or -f 'q=p95 < 2ms'")
        actions.add_parser("show", parents=[shared], help="show one").add_argument("id", metavar="ID")
        for action, about in noun.actions.items():
            one = actions.add_parser(action, parents=[shared], help=about)
            if action not in NO_ID:
                one.add_argument("id", metavar="ID", help="id; a name, too, of networks and experiments")
            if action in FIELDS:
                add_fields(one, "field of the request; dots for nested ones")
            if action == "create":
                one.add_argument("--file", help="the complete request, as YAML or JSON; - for standard input")
            if action == "table":
                one.add_argument("table", metavar="TABLE")
            if action in ("samples", "table"):
                one.add_argument("--parquet", metavar="FILE", help="write a Parquet file instead")


def run(client: Client, options: argparse.Namespace) -> int:
    resource, action = getattr(client, options.command), options.action or "list"
    if action == "list":
        filters = parameters(options.field, "limit")
        printing.show(resource.list(limit=options.limit, **filters), as_json=options.json)
        return DONE
    if action == "show":
        found = getattr(resource, "find", resource.get)(options.id)
        printing.show(found, as_json=options.json)
        return DONE
    if options.command == "runs" and action == "wait":
        return _wait_for_run(client, options)
    if action in OF_RUNS:
        return _of_run(client, action, options)
    if hasattr(resource, "find") and action not in NO_ID:
        options.id = resource.find(options.id).id  # names, too
    if action in FIELDS:
        printing.show(_sent(client, options), as_json=options.json)
        return DONE
    printing.show(ACTIONS[action](resource, options), as_json=options.json)
    return DONE


def _of_run(client: Client, action: str, options: argparse.Namespace) -> int:
    if action == "tables":
        printing.show(dict(client.runs.tables(options.id)), as_json=options.json)
    elif action == "series":
        _series(client, options)
    elif action == "events":
        _events(client, options)
    else:
        _rows(client, "samples" if action == "samples" else options.table, options)
    return DONE


def _rows(client: Client, table: str, options: argparse.Namespace) -> None:
    if options.parquet:
        content = client.runs.file(options.id, table, format="parquet")
        try:
            Path(options.parquet).write_bytes(content)
        except OSError as error:
            raise UsageError(f"{options.parquet}: {error.strerror}") from None
    elif options.json:
        for row in client.runs.rows(options.id, table):
            printing.line(row)
    else:
        printing.document(client.runs.file(options.id, table), "text/csv")


def _series(client: Client, options: argparse.Namespace) -> None:
    columns = client.runs.curves(options.id)
    if options.json:
        printing.line(columns)
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    printing.show(text.getvalue(), as_json=False)


def _events(client: Client, options: argparse.Namespace) -> None:
    for row in client.runs.events(options.id):
        if options.json:
            printing.line(row)
        else:
            sys.stdout.write(printing.words(row.values()))


def _sent(client: Client, options: argparse.Namespace) -> Any:
    """What came of a request with fields; the server checks them."""
    path = at(options.command) if options.action == "create" else at(options.command, options.id, options.action)
    file = getattr(options, "file", None)
    if file and options.field:
        raise UsageError("either --file or -f")
    body = sendable(text_of(file)) if file else nested(options.field)
    told = client.api("POST", path, body=body, key=True).data
    return (MADE[options.command] if options.action == "create" else Launch).of(told)


def _wait_for_run(client: Client, options: argparse.Namespace) -> int:
    progress = printing.Progress()
    try:
        (found,) = client.runs.wait([options.id], timeout_s=options.timeout, progress=progress)
    finally:
        progress.end()
    printing.show(found, as_json=options.json)
    return DONE if found.state == "done" else FAILED

"""``waxwing bridges NETWORK [ACTION] …``: its connections with MQTT servers."""

from __future__ import annotations

import argparse
import getpass
import sys
from typing import TYPE_CHECKING, Any

from waxwing.calls import at
from waxwing.cli import printing
from waxwing.cli.arguments import DONE, add_fields, nested, sendable, text_of
from waxwing.records import Bridge

if TYPE_CHECKING:
    from waxwing._sync.client import Client

ACTIONS = {
    "show": "show one",
    "change": "change one, which restarts (-f username=N -f settings.valid_ms=5000)",
    "stop": "end its process",
    "start": "start it again",
    "delete": "delete it",
}
DESIRED = {"stop": "stopped", "start": "running"}


def add(commands: Any, shared: argparse.ArgumentParser) -> None:
    parser = commands.add_parser("bridges", parents=[shared], help="connections of a network with MQTT servers")
    parser.add_argument("network", metavar="NETWORK", help="id or name")
    parser.set_defaults(action="list")
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", parents=[shared], help="list them (the default)")
    create = actions.add_parser(
        "create", parents=[shared], help="add one (-f mqtt=mqtt://HOST -f 'in=[\"a/{entity}\"]')"
    )
    create.add_argument("--file", help="the complete request, as YAML or JSON; - for standard input")
    for action, about in ACTIONS.items():
        one = actions.add_parser(action, parents=[shared], help=about)
        one.add_argument("number", metavar="N", help="its number")
        if action == "change":
            add_fields(one, "field of the request; dots for nested ones")
            _add_password(one)
    add_fields(create, "field of the request; dots for nested ones")
    _add_password(create)


def _add_password(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--password", action="store_true", help="ask for the server's password, or read it from a pipe")


def run(client: Client, options: argparse.Namespace) -> int:
    network = client.networks.find(options.network).id
    printing.show(_done(client, network, options), as_json=options.json)
    return DONE


def _done(client: Client, network: str, options: argparse.Namespace) -> Any:
    action = options.action or "list"
    if action == "list":
        return client.networks.bridges(network)
    if action == "create":
        body = {**(sendable(text_of(options.file)) if options.file else nested(options.field)), **_password(options)}
        return Bridge.of(client.api("POST", at("networks", network, "bridges"), body=body, key=True).data)
    if action == "show":
        return client.networks.bridge(network, options.number)
    if action == "delete":
        return client.networks.remove_bridge(network, options.number)
    is_switch = action in DESIRED
    fields = {"desired": DESIRED[action]} if is_switch else {**nested(options.field), **_password(options)}
    return client.networks.change_bridge(network, options.number, **fields)


def _password(options: argparse.Namespace) -> dict[str, str]:
    """Never an argument, which other users of the machine see."""
    if not options.password:
        return {}
    return {"password": getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")}

"""``python -m overlay mqtt-bridge``: context between an MQTT server and a network, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from overlay.core.errors import InvalidSetting
from overlay.programs.arguments import OneLineParser
from overlay.programs.context_broker.mqtt.connection import NotConnected
from overlay.programs.context_broker.mqtt.options import PROTOCOLS, TLS, BridgeOptions, read_file, read_options
from overlay.programs.context_broker.mqtt.process import BridgeProcess

DONE, REFUSED, USAGE = 0, 1, 2
EPILOG = (
    "A user and password come from WAXWING_MQTT_USERNAME and WAXWING_MQTT_PASSWORD (or WAXWING_MQTT_PASSWORD_FILE). "
    "Exit codes: 0 stopped, 1 the MQTT server refused, 2 wrong usage."
)
LIST_HELP = (
    "or a file or URL that lists them, read again when it is old (with the token in WAXWING_TOKEN, if there is one)"
)
FLAGS = (
    "mqtt",
    "brokers",
    "bootstrap",
    "in",
    "out",
    "type",
    "entity",
    "scope",
    "provider",
    "valid_ms",
    "client_id",
    "protocol",
)


def make_parser() -> OneLineParser:
    parser = OneLineParser(
        prog="overlay mqtt-bridge", description="Context between an MQTT server and a network.", epilog=EPILOG
    )
    add = parser.add_argument
    add("--config", type=Path, metavar="FILE", help="settings in YAML; flags override them")
    add("--mqtt", metavar="URL", help="mqtt://HOST:PORT, or mqtts:// for TLS")
    add("--brokers", metavar="ADDRESSES", help="HOST:PORT of the network's brokers, separated by commas")
    add("--bootstrap", metavar="LIST", help=LIST_HELP)
    add("--in", action="append", metavar="PATTERN", help="topics to read: context/{type}/{entity}/{scope}; repeatable")
    add("--out", action="append", metavar="PATTERN", help="topics to publish; repeatable")
    for name in ("type", "entity", "scope"):
        add(f"--{name}", metavar="NAME", help=f"the {name} of patterns without {{{name}}}")
    add("--provider", metavar="NAME", help="the provider of messages that do not say it (mqtt)")
    add("--valid-ms", type=int, metavar="MS", help="the validity of messages that do not say it (120000)")
    add("--client-id", metavar="ID", help="at the MQTT server; by default from the host and the patterns")
    add("--protocol", choices=PROTOCOLS, help="version of MQTT (5)")
    for name, what in zip(TLS, ("certificates of authorities", "the client's certificate", "its key"), strict=True):
        add(f"--tls-{name}", metavar="FILE", help=f"PEM file: {what}")
    add("--json", action="store_true", help="print the status as a line of JSON at the end and at each --status-s")
    add("--status-s", type=float, default=10.0, metavar="S", help="seconds between two such lines (10)")
    return parser


def main(argv: list[str]) -> int:
    parser = make_parser()
    given = parser.parse_args(argv)
    if not 0.1 <= given.status_s <= 86_400:
        parser.error("--status-s must be from 0.1 to 86400")
    try:
        options = read_options(_document(given), os.environ, socket.gethostname())
    except InvalidSetting as error:
        parser.error(str(error))
    try:
        asyncio.run(_run(options, given))
    except NotConnected as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return REFUSED
    return DONE


def _document(given: Namespace) -> dict[str, Any]:
    """The file's settings, with those of the flags."""
    document = read_file(given.config) if given.config is not None else {}
    flags = {name: value for name in FLAGS if (value := getattr(given, name)) is not None}
    constants: dict[str, str] = {name: flags.pop(name) for name in ("type", "entity", "scope") if name in flags}
    for name in ("in", "out"):
        if name in flags:
            flags[name] = [{"pattern": pattern, **_missing(pattern, constants)} for pattern in flags[name]]
    tls = {name: value for name in TLS if (value := getattr(given, f"tls_{name}")) is not None}
    if "brokers" in flags or "bootstrap" in flags:
        document = {name: value for name, value in document.items() if name not in ("brokers", "bootstrap")}
    return {**document, **flags, **({"tls": tls} if tls else {})}


def _missing(pattern: str, constants: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in constants.items() if f"{{{name}}}" not in pattern}


async def _run(options: BridgeOptions, given: Namespace) -> None:
    is_ready = asyncio.Event()

    def ready() -> None:
        _print(f"ready {options.server.client_id} {options.server.url}")
        is_ready.set()

    process = BridgeProcess(options, _say, ready)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, process.stop)
    printing = loop.create_task(_print_status(process, is_ready, given.status_s)) if given.json else None
    try:
        await process.run()
    finally:
        if printing is not None:
            printing.cancel()
            _print(json.dumps(process.status()))


async def _print_status(process: BridgeProcess, is_ready: asyncio.Event, every_s: float) -> None:
    """The line ``ready`` is the first."""
    await is_ready.wait()
    while True:
        await asyncio.sleep(every_s)
        _print(json.dumps(process.status()))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _say(sentence: str) -> None:
    sys.stderr.write(f"overlay mqtt-bridge: {sentence}\n")
    sys.stderr.flush()

"""Bridges as a part of a network: checked for the web, and run by the supervisor. Implements ``Bridging``.

Unlike the command, such a bridge tries again whatever the MQTT server refuses, and its files are texts of its document.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from overlay.core.errors import InvalidSetting, every_error
from overlay.core.settings import SettingInfo
from overlay.programs.context_broker.mqtt.options import (
    PASSWORD,
    PEM,
    SESSION,
    BridgeOptions,
    read_options,
    wrong_options,
)
from overlay.programs.context_broker.mqtt.process import BridgeProcess
from overlay.programs.context_broker.mqtt.reports import ONLINE
from overlay.runtime.clock import unix_ms
from overlay.systems.bridging import CONNECTED, CONNECTING, BridgePlace
from overlay.systems.context_broker.mqtt.settings import NAMED, NUMBERS

REPORT_S = 0.5
"""Between two looks whether there is something to report."""
NOT_GIVEN = ("brokers", "bootstrap", "password_file")
"""Options of the command that a bridge of a network does not have."""


class MqttBridging:
    title: ClassVar[str] = "MQTT"
    settings: ClassVar[Sequence[SettingInfo]] = (*SESSION, *NAMED, *NUMBERS)
    more: ClassVar[Sequence[str]] = ("fields",)
    default_pattern: ClassVar[str] = "context/{type}/{entity}/{scope}"
    pattern_help: ClassVar[str] = (
        "One pattern a line, with {type}, {entity}, {scope} and optionally {provider}. "
        "A name without placeholder is given with the pattern in JSON."
    )
    counters: ClassVar[Mapping[str, Sequence[str]]] = {
        "messages_in": ("messages_in",),
        "messages_out": ("messages_out", "cleared"),
        "refused": ("refused_topic", "refused_payload", "refused_entry", "refused_by_network", "refused_by_server"),
        "loops_prevented": ("unchanged",),
    }

    def problems(self, document: Mapping[str, Any]) -> list[InvalidSetting]:
        given = {name: value for name, value in document.items() if name not in ("password", *NOT_GIVEN)}
        tls = given.get("tls") or {}
        found = every_error(*(partial(_refuse_option, name) for name in NOT_GIVEN if name in document))
        if isinstance(tls, Mapping):
            found += every_error(*(partial(_check_text, name, text) for name, text in tls.items()))
        if any(error.field.startswith("tls.") for error in found):
            given = {name: value for name, value in given.items() if name != "tls"}
        return [*found, *wrong_options(given, _secrets(document))]

    def run(self, document: Mapping[str, Any], place: BridgePlace, on_ready: Callable[[], None]) -> int:
        given = {name: value for name, value in document.items() if name != "password"}
        given |= {"bootstrap": place.brokers, "client_id": document.get("client_id") or f"waxwing-{place.id}"}
        asyncio.run(_run(read_options(given, _secrets(document), ""), place, on_ready))
        return 0


BRIDGING = MqttBridging()


def _secrets(document: Mapping[str, Any]) -> dict[str, str]:
    return {PASSWORD: document["password"]} if document.get("password") else {}


def _refuse_option(name: str) -> None:
    raise InvalidSetting(name, "is not a setting of a network's bridge")


def _check_text(name: str, text: object) -> None:
    """A path would name any file of the machine that runs the bridge."""
    if not isinstance(text, str) or PEM not in text:
        raise InvalidSetting(
            f"tls.{name}", f"must be the text of a PEM file, with a line that begins with {PEM.strip()}"
        )


async def _run(options: BridgeOptions, place: BridgePlace, on_ready: Callable[[], None]) -> None:
    process = BridgeProcess(options, _say_nothing, _say_nothing, is_persistent=True)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, process.stop)
    loop.add_reader(place.lifeline, partial(_owner_gone, place.lifeline, process))
    reporting = loop.create_task(_report(process, Path(place.report)))
    on_ready()
    try:
        await process.run()
    finally:
        reporting.cancel()


def _owner_gone(lifeline: int, process: BridgeProcess) -> None:
    asyncio.get_running_loop().remove_reader(lifeline)
    process.stop()


def _say_nothing(*_: str) -> None:
    """All of it is in the report."""


async def _report(process: BridgeProcess, path: Path) -> None:
    known: dict[str, Any] = {}
    state, since = "", 0
    while True:
        found = process.status()
        if found != known:
            shown = CONNECTED if found["state"] == ONLINE else CONNECTING
            if shown != state:
                state, since = shown, unix_ms(time.monotonic_ns())
            if _write(path, {**found, "state": state, "since_unix_ms": since, "pid": os.getpid()}):
                known = found
        await asyncio.sleep(REPORT_S)


def _write(path: Path, report: Mapping[str, Any]) -> bool:
    """Whole or not at all; ``False`` on a full disk."""
    new = path.with_suffix(".new")
    with suppress(OSError):
        new.write_text(json.dumps(report))
        new.replace(path)
        return True
    return False

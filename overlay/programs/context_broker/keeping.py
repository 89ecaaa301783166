"""``python -m overlay keep``: a provider that stays. Its data are stored at the best broker of a network at any time.

Counterparts: ``overlay.systems.context_broker.clients.roaming`` chooses the broker and moves; ``finding`` and
``joining`` also use bootstrap lists.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from overlay.core.addresses import format_address
from overlay.core.errors import InvalidSetting, WireError
from overlay.core.node import MILLISECOND, SECOND
from overlay.load.choice import LATENCY, LOAD, Wish
from overlay.load.tally import Tally
from overlay.programs.arguments import OneLineParser
from overlay.programs.bootstrap_lists import HELP, BadList, source_of
from overlay.programs.context_broker.exchange import DONE, NO_ANSWER, REFUSED
from overlay.programs.context_broker.joining import LOOK_NS, Reader
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.ports import FleetDriver
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.roaming import Provision, RoamingClient
from overlay.systems.context_broker.wire.messages import Key

LAST_NS = 3 * SECOND
"""For the withdrawal at the end."""


class Keeper(RoamingClient):
    """Keeps one entry stored, and tells ``say`` where it is."""

    def __init__(self, options: argparse.Namespace, payload: bytes, reader: Reader, say: Callable[[str], None]) -> None:
        self.wall = WallClock(wall_offset_ns())
        super().__init__(0, self.wall, random.Random(), Wish(options.by, options.name or str(os.getpid())))
        self.name: tuple[str, Key] = options.provider, (options.type, options.id, options.scope)
        self.entry: Provision | None = None
        self.has_been_stored = self.is_ending = False
        self._payload, self._valid_ms = payload, options.valid_ms
        self._reader, self._say = reader, say
        self._seen: object = None
        self._told: object = None
        self._look_at = self._provide_at = time.monotonic_ns()

    def handle_timer(self, now: int) -> None:
        if now >= self._look_at:
            self._look_at = now + LOOK_NS
            latest = self._reader.latest
            if latest is not None and (latest is not self._seen or self.bootstrap.wants_list):
                self._seen = latest
                self.renew(latest, now)
        if now >= self._provide_at and not self.is_ending:
            self.entry = self.provide(*self.name, self._payload, self._valid_ms, now)
            self._provide_at = now + self._valid_ms * MILLISECOND // 2
        super().handle_timer(now)
        self._tell()

    def receive_datagram(self, lane: int, data: bytes, source: tuple[str, int], now: int) -> bool:
        super().receive_datagram(lane, data, source, now)
        self._tell()
        return True

    def next_timer(self) -> int | None:
        timer, own = super().next_timer(), min(self._look_at, self._provide_at)
        return own if timer is None or own < timer else timer

    def end(self, now: int) -> None:
        """Withdraw it."""
        self.is_ending, self._provide_at = True, now + 3600 * SECOND
        self.forget(*self.name, now)

    def _tell(self) -> None:
        entry = self.entry
        if entry is not None and entry.at is not None and entry.at != self._told:
            self._told, self.has_been_stored = entry.at, True
            self._say(f"stored at {format_address(entry.at)}\n")


def make_parser() -> OneLineParser:
    parser = OneLineParser(
        prog="overlay keep",
        description="Keep data stored at the best broker of a network, until Ctrl-C withdraws them.",
    )
    parser.add_argument("--bootstrap", metavar="LIST", required=True, help=HELP.replace("in place of", "instead of"))
    parser.add_argument("--by", choices=(LATENCY, LOAD), default=LATENCY, help="what makes a broker better (latency)")
    parser.add_argument("--name", default="", help="the client's name, by which clients are spread; default: at random")
    for name, words in (("provider", "name of the provider"), ("type", "type of the entity"), ("id", "the entity")):
        parser.add_argument(f"--{name}", required=True, help=words)
    parser.add_argument("--scope", required=True, help="scope: a group of parameters, such as climate")
    parser.add_argument(
        "--valid-ms", type=int, default=120_000, metavar="MS", help="validity, renewed at half (120000)"
    )
    parser.add_argument("--payload", help="usually K=V;K=V; read from standard input if omitted")
    parser.add_argument(
        "--timeout", type=float, default=10.0, metavar="S", help="for the first broker to store it (10)"
    )
    return parser


def main(argv: list[str]) -> int:
    parser = make_parser()
    options = parser.parse_args(argv)
    if not 0 < options.timeout <= 3600:
        parser.error(f"--timeout: must be more than 0 and at most 3600 s, not {options.timeout:g}")
    if options.valid_ms < 1000:
        parser.error(f"--valid-ms: must be at least 1000, not {options.valid_ms}")
    payload = sys.stdin.buffer.read().rstrip(b"\r\n") if options.payload is None else os.fsencode(options.payload)
    try:
        reader = Reader(source_of(options.bootstrap).read, "overlay keep")
        return _keep(Keeper(options, payload, reader, _say), reader, options.timeout)
    except BadList as error:
        parser.error(f"--bootstrap: {error}")
    except (WireError, InvalidSetting) as error:
        parser.error(str(error))


def _keep(keeper: Keeper, reader: Reader, timeout_s: float) -> int:
    driver = FleetDriver([keeper], Tally(), on_fact=lambda fact: None, on_second=lambda now: _set_clock(keeper))

    def stop(number: int, frame: FrameType | None) -> None:
        driver.stop()

    handlers: dict[int, Any] = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    reader.start()
    try:
        _run(keeper, driver, time.monotonic_ns() + round(timeout_s * SECOND))
        keeper.end(time.monotonic_ns())
        driver.is_stopping, until = False, time.monotonic_ns() + LAST_NS
        while not (keeper.is_idle or driver.is_stopping) and time.monotonic_ns() < until:
            driver.run(until=min(until, time.monotonic_ns() + LOOK_NS))
    finally:
        driver.close()
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if keeper.entry is not None and keeper.entry.refusal:
        sys.stderr.write(f"overlay keep: a broker refused it (status {keeper.entry.refusal})\n")
        return REFUSED
    if not keeper.has_been_stored:
        sys.stderr.write("overlay keep: no broker of the list has stored it in time\n")
        return NO_ANSWER
    return DONE


def _run(keeper: Keeper, driver: FleetDriver, deadline: int) -> None:
    """Until it is stopped, refused, or not stored in time."""
    while not driver.is_stopping:
        driver.run(until=time.monotonic_ns() + LOOK_NS)
        is_late = not keeper.has_been_stored and time.monotonic_ns() > deadline
        if is_late or (keeper.entry is not None and keeper.entry.refusal):
            return


def _set_clock(keeper: Keeper) -> None:
    keeper.wall.offset_ns = wall_offset_ns()


def _say(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()

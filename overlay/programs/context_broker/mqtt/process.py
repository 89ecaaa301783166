"""A bridge in an event loop: reads the network, connects, and connects again."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from overlay.core.node import SECOND
from overlay.programs.bootstrap_lists import AGAIN_S, BadList
from overlay.programs.context_broker.mqtt.connection import Connection, NotConnected
from overlay.programs.context_broker.mqtt.network import Network
from overlay.programs.context_broker.mqtt.options import BridgeOptions
from overlay.programs.context_broker.mqtt.reports import OFFLINE, ONLINE, RECONNECTING, offline, status
from overlay.runtime.clock import wall_offset_ns
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.feed_reader import Name
from overlay.systems.context_broker.mqtt.bridge import Bridge
from overlay.systems.context_broker.mqtt.inward import Operation, Outcome
from overlay.systems.context_broker.mqtt.values import Value

log = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 30.0
STATUS_S = 10.0
"""Between two messages at the status topic."""
DRAIN_S = 5.0
"""At the end, for what is in flight."""


class BridgeProcess:
    """``say`` is called with sentences about the connection; ``on_ready`` once it is first connected.

    ``is_persistent``: it tries again whatever the server refuses.
    """

    def __init__(
        self,
        options: BridgeOptions,
        say: Callable[[str], None],
        on_ready: Callable[[], None],
        *,
        is_persistent: bool = False,
    ) -> None:
        self._options, self._say, self._on_ready = options, say, on_ready
        self._is_persistent = is_persistent
        self._loop = asyncio.get_running_loop()
        self._wall = WallClock(wall_offset_ns())
        self.bridge = Bridge(options.settings, self._wall, [options.server.status_topic])
        self.network = Network(
            self._wall,
            self._stored,
            self._withdrawn,
            self._lost,
            follow=bool(options.settings.outlets),
        )
        self._connection: Connection | None = None
        self._is_stopping = asyncio.Event()
        self._is_open = False
        self._is_pumping = False
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._pause_s = FIRST_PAUSE_S
        self._opened_at = 0.0
        self._connections = 0
        self._reason = "starting"
        self._told_refusal = ""
        self._last_status = b""
        self._bad_list = ""

    # ---- the course

    async def run(self) -> None:
        """Until ``stop``. Raises ``NotConnected`` if the server refuses for good, unless it is persistent."""
        keeping = [self._loop.create_task(self._keep())]
        try:
            wait_s = await self._find_brokers()
            keeping.append(self._loop.create_task(self._renew_brokers(wait_s)))
            await self.network.start()
            while not self._is_stopping.is_set():
                await self._connect_once()
                if not self._is_stopping.is_set():
                    await self._pause()
        finally:
            for task in keeping:
                task.cancel()
            await self._end()

    async def _find_brokers(self) -> float:
        """Read the list of brokers until it can be read; the time until it is to be read again."""
        while not self._is_stopping.is_set():
            try:
                listed = await self._loop.run_in_executor(None, self._options.brokers.read)
            except BadList as error:
                if str(error) != self._bad_list:
                    self._say(str(error))
                self._bad_list = str(error)
                await self._wait(AGAIN_S)
                continue
            self._bad_list = ""
            self.network.keep(listed.brokers)
            return listed.renew_after_s
        return AGAIN_S

    async def _renew_brokers(self, wait_s: float) -> None:
        while self._options.brokers.fixed is None:
            await asyncio.sleep(wait_s)
            wait_s = await self._find_brokers()

    async def _wait(self, most_s: float) -> None:
        """For this time, or until the bridge is stopped."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await self._is_stopping.wait()

    def stop(self) -> None:
        """Acknowledge what is in flight, say goodbye, and return from ``run``."""
        self._is_stopping.set()

    def status(self) -> dict[str, Any]:
        state = ONLINE if self._is_open else OFFLINE if self._is_stopping.is_set() else RECONNECTING
        return status(self.bridge, self.network, state, self._connections, self._reason)

    async def _connect_once(self) -> None:
        """Connect, and stay until the connection ends or the bridge is stopped."""
        options = self._options
        connection = self._connection = Connection(
            options.server, options.settings.limits.receive_maximum, self._message, self._received
        )
        try:
            await connection.open(options.settings.filters, offline("connection lost"))
        except NotConnected as error:
            connection.close()
            self._not_connected(error)
            return
        self._opened(connection)
        stopping = asyncio.ensure_future(self._is_stopping.wait())
        connection.lost.add_done_callback(lambda _: stopping.cancel())
        await asyncio.wait([stopping])
        if connection.lost.done():
            self._closed(connection.lost.result())

    def _opened(self, connection: Connection) -> None:
        self._is_open, self._reason, self._opened_at = True, "", self._loop.time()
        self._connections += 1
        self.bridge.set_window(connection.window)
        self.bridge.connected(time.monotonic_ns())
        self._publish_status()
        if self._connections == 1:
            self._on_ready()
        else:
            self._say(f"connected to {self._options.server.url} again")
        self._pump_soon()

    def _closed(self, reason: str) -> None:
        self._is_open, self._connection, self._reason = False, None, reason
        if self._loop.time() - self._opened_at > self._pause_s:  # else the server ends each connection soon
            self._pause_s = FIRST_PAUSE_S
        self.bridge.disconnected(time.monotonic_ns())
        self._say(f"the connection to {self._options.server.url} has ended: {reason}")

    def _not_connected(self, error: NotConnected) -> None:
        """What arrived before it failed is sent again."""
        self._connection = None
        self.bridge.disconnected(time.monotonic_ns())
        if error.is_final and not self._connections and not self._is_persistent:
            raise error
        if str(error) != self._reason:
            self._say(str(error))
        self._reason = str(error)

    async def _pause(self) -> None:
        pause, self._pause_s = self._pause_s, min(2 * self._pause_s, LONGEST_PAUSE_S)
        await self._wait(pause * random.uniform(0.5, 1.0))

    async def _end(self) -> None:
        """Wait for the brokers' answers, acknowledge them, and leave."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=DRAIN_S)
        self._pump()
        for task in self._tasks:
            task.cancel()
        connection, self._connection = self._connection, None
        if connection is not None and self._is_open:
            connection.publish(self._options.server.status_topic, offline("stopped"))
            connection.close()
        self._is_open = False
        if self._timer is not None:
            self._timer.cancel()
        self.network.close()

    async def _keep(self) -> None:
        """Keep the wall clock and the status current."""
        while True:
            await asyncio.sleep(STATUS_S)
            self._wall.offset_ns = wall_offset_ns()
            if self._is_open:
                self._publish_status()
            if self.bridge.last_refusal != self._told_refusal:
                self._told_refusal = self.bridge.last_refusal
                self._say(f"refused: {self._told_refusal}")

    def _publish_status(self) -> None:
        report, topic = json.dumps(self.status()).encode(), self._options.server.status_topic
        connection = self._connection
        if connection is not None and report != self._last_status and not connection.is_on_its_way(topic):
            self._last_status = report
            connection.publish(topic, report)

    # ---- events

    def _message(self, topic: str, payload: bytes, mid: int | None, is_retained: bool, expiry_s: int | None) -> None:
        now = time.monotonic_ns()
        self.bridge.message(topic, payload, now, mid=mid, is_retained=is_retained, expiry_s=expiry_s)
        self._pump_soon()

    def _received(self, topic: str, refusal: str) -> None:
        if topic != self._options.server.status_topic:
            self.bridge.received(topic, time.monotonic_ns(), refusal)
            self._pump_soon()

    def _stored(self, value: Value) -> None:
        self.bridge.stored(value, time.monotonic_ns())
        self._pump_soon()

    def _withdrawn(self, name: Name, timestamp: int, until: int) -> None:
        self.bridge.withdrawn(name, timestamp, until, time.monotonic_ns())
        self._pump_soon()

    def _lost(self, name: Name) -> None:
        self.bridge.lost(name, time.monotonic_ns())
        self._pump_soon()

    async def _perform(self, operation: Operation) -> None:
        try:
            outcome, sentence = await self.network.perform(operation)
        except Exception as error:
            log.exception("an operation of the bridge failed")
            outcome, sentence = Outcome.UNANSWERED, f"{type(error).__name__}: {error}"
        self.bridge.ended(operation, outcome, time.monotonic_ns(), sentence)
        self._pump_soon()

    # ---- what the core wants

    def _pump_soon(self) -> None:
        """Once for all events of a turn of the loop."""
        if not self._is_pumping:
            self._is_pumping = True
            self._loop.call_soon(self._pump)

    def _pump(self) -> None:
        self._is_pumping = False
        bridge, now = self.bridge, time.monotonic_ns()
        if not self._is_stopping.is_set():
            for operation in bridge.take_operations(now):
                task = self._loop.create_task(self._perform(operation))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        connection = self._connection
        if connection is not None and self._is_open:
            for mid in bridge.take_acknowledgements():
                connection.acknowledge(mid)
            for message in bridge.take_messages(now):
                connection.publish(message.topic, message.payload, message.expiry_s)
            connection.pause(bridge.is_full)
        self._arm(now)

    def _arm(self, now: int) -> None:
        due = self.bridge.next_timer()
        if self._timer is not None:
            self._timer.cancel()
        wait_s = None if due is None else max((due - now) / SECOND, 0.01)
        self._timer = None if wait_s is None else self._loop.call_later(wait_s, self._pump)

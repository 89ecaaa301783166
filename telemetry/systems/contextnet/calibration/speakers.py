"""A node of ContextNet, message by message, and one who writes records into the log of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from select import select
from typing import Any

from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.log.node import Subscription
from overlay.log.spec import LogSpec
from overlay.log.topics import Record, Topic
from overlay.runtime.logs.engines import engine_at, url_for
from overlay.systems.contextnet.keys import network_secret, node_secret
from overlay.systems.contextnet.log_member import LogMember
from overlay.systems.contextnet.names import node_id
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.records import Message
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.transport.events import Answered, Arrived, Ended, Opened, Refused
from overlay.systems.contextnet.transport.node import NodeEnd
from overlay.systems.contextnet.transport.packets import Kind
from telemetry.calibration import speaking as common
from telemetry.calibration.live import Standing
from telemetry.errors import TelemetryError

PAYLOAD, CONTEXT = bytes(200), b"\x81\xa1x\xc4\x3c" + bytes(60)
"""Of messages, as long as those of workloads."""
ASKED_S = 0.2
_WRITER = "writes for probes"
_Address = tuple[str, int]


class _Gateway:
    """One connection of a node, as ``common.Speaker`` drives it."""

    def __init__(self, end: NodeEnd) -> None:
        self.now = 0
        self.channel = end

    def open(self, peer: str, address: _Address) -> bool:
        self.channel.connect((address,), self.now)
        return True

    def send(self, peer: str, message: Any) -> bool:
        """A message, or the number of a PING."""
        if isinstance(message, int):
            return self.channel.ping(message, self.now)
        return self.channel.send(Kind.MESSAGE, codec.write(message), None, self.now)

    def receive(self, data: bytes, source: _Address) -> None:
        self.channel.receive_datagrams([(data, source)], self.now)

    def events(self) -> Sequence[Any]:
        return self.channel.events()


class Speaker(common.Speaker[str]):
    """A node with a connection."""

    def __init__(self, number: int, gateway: Standing, settings: Settings, seed: int) -> None:
        """``number``: no other node has it. ``seed``: of the run, from which secrets follow."""
        self.id = node_id(number)
        secret = node_secret(network_secret(seed), self.id)
        self._end = end = NodeEnd(self.id, secret, 0, settings, Chances.streams(number).walks)
        super().__init__(self.id.hex(), "The gateway", gateway, _Gateway(end))
        self.say()
        self.hear(Opened)

    def read(self, event: Any) -> Any | None:
        """Without the lists of gateways."""
        return None if isinstance(event, Arrived) and event.kind is not Kind.MESSAGE else event

    def refusal(self, message: Any) -> str:
        if isinstance(message, Refused):
            return message.code.name
        return message.reason.value if isinstance(message, Ended) else ""

    def close(self) -> None:
        """With CLOSE, so that the gateway sends it nothing more."""
        self._end.close(time.monotonic_ns())
        self._flush()
        super().close()

    def ping(self) -> None:
        self.say(self.draw())
        self.hear(Answered)

    def ask(self, topic: str) -> None:
        """Again and again until an application answers. One that does not know yet where nodes are has its answers
        stored."""
        deadline = time.monotonic() + common.PATIENCE_S
        while not any(isinstance(one, Arrived) for one in self._heard):
            if time.monotonic() > deadline:
                raise TelemetryError(f"No application answered {self.name}.")
            self.say(self.message(topic))
            self.pump(ASKED_S)
        self._heard.clear()

    def message(self, topic: str, context: bytes = CONTEXT) -> Message:
        return message_of(self.draw(), self.name, topic, self.name, context)


def message_of(number: int, source: str, destination: str, reply_to: str = "", context: bytes = b"") -> Message:
    return Message(
        number.to_bytes(16, "big"), source, destination, time.time_ns() // 1_000, 0, PAYLOAD, context, reply_to
    )


@contextmanager
def speaking(gateway: Standing, settings: Settings, numbers: Sequence[int], seed: int) -> Iterator[list[Speaker]]:
    """Nodes at one gateway."""
    with common.closing([Speaker(number, gateway, settings, seed) for number in numbers]) as found:
        yield [*found]


class Writer(LogMember):
    """Writes records, and reads none. Raises ``TelemetryError`` where the log does not answer."""

    def __init__(self, run: str, topics: tuple[Topic, ...]) -> None:
        super().__init__(_WRITER, time.time_ns() - time.monotonic_ns())
        spec = LogSpec(topics)
        self._port = engine_at(url_for(spec)).open(spec, run, _WRITER, self)

    def close(self) -> None:
        self._port.close(time.monotonic_ns())

    def subscriptions(self) -> tuple[Subscription, ...]:
        return ()

    def read(self, record: Record) -> None:
        raise AssertionError("it subscribes to nothing")

    def write(self, *records: tuple[str, bytes, Any]) -> None:
        """Topic, key and record of each; all are durable when this returns."""
        left = len(records)

        def durable() -> None:
            nonlocal left
            left -= 1

        for topic, key, record in records:
            self.append(topic, key, codec.write(record), durable)
        deadline = time.monotonic() + common.PATIENCE_S
        while left:
            if time.monotonic() > deadline:
                raise TelemetryError("The log did not confirm a record.")
            self._step()

    def _step(self) -> None:
        port, now = self._port, time.monotonic_ns()
        port.take(now)
        reads, writes = [], []
        for descriptor, is_written in port.descriptors():
            reads.append(descriptor)
            writes += [descriptor] * is_written
        select(reads, writes, (), min(max(0, port.next_timer() - now), SECOND // 100) / SECOND)
        port.handle(time.monotonic_ns())
        port.feed(time.monotonic_ns())


@contextmanager
def writing(run: str, topics: tuple[Topic, ...]) -> Iterator[Writer]:
    writer = Writer(run, topics)
    try:
        yield writer
    finally:
        writer.close()

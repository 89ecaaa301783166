"""MQTT servers, networks and bridges in virtual time, with delays, lost datagrams and lost connections.

The networks are registers of which the latest timestamp wins, as brokers' tables are; the servers deliver in order and
again what was not acknowledged. Everything random comes from one generator.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from random import Random
from typing import Any

from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.feed_reader import Name
from overlay.systems.context_broker.mqtt.bridge import Bridge
from overlay.systems.context_broker.mqtt.inward import Operation, Outcome
from overlay.systems.context_broker.mqtt.settings import read_settings
from overlay.systems.context_broker.mqtt.values import Value

PATTERN = "c/{type}/{entity}/{scope}"
BEGIN_MS = 1_700_000_000_000


class World:
    def __init__(self, seed: int = 0, longest_ms: int = 20) -> None:
        self.random = Random(seed)
        self.now = 0
        self.wall = WallClock(BEGIN_MS * MILLISECOND)
        self.longest_ms = longest_ms
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._number = 0

    @property
    def ms(self) -> int:
        return BEGIN_MS + self.now // MILLISECOND

    def at(self, when: int, what: Callable[[], None]) -> None:
        self._number += 1
        heappush(self._events, (max(when, self.now), self._number, what))

    def delay(self) -> int:
        return self.random.randint(0, self.longest_ms * MILLISECOND)

    def run(self, until_s: float, most: int = 200_000) -> None:
        """All events up to a time; an error if they do not end."""
        until = round(until_s * SECOND)
        for _ in range(most):
            if not self._events or self._events[0][0] > until:
                self.now = max(self.now, until)
                return
            self.now, _, what = heappop(self._events)
            what()
        raise AssertionError(f"still busy after {most} events at {self.now / SECOND:.3f} s")


class Line:
    """Delivers in order, each with a delay."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._last = 0

    def send(self, what: Callable[[], None]) -> None:
        self._last = max(self._last, self._world.now + self._world.delay())
        self._world.at(self._last, what)


class Net:
    """The entries of a network. ``loss``: how many operations get no answer, stored or not."""

    def __init__(self, world: World, loss: float = 0.0) -> None:
        self.world, self.loss = world, loss
        self.entries: dict[Name, Value] = {}
        self.withdrawn: dict[Name, int] = {}
        self.bridges: list[Side] = []
        self.stored = 0

    def provide(self, entity: str, payload: str, provider: str = "udp", valid_ms: int = 600_000) -> None:
        now = self.world.ms
        self.store(Value(provider, ("t", entity, "s"), now, now, now + valid_ms, payload.encode()))

    def store(self, value: Value) -> None:
        self.stored += 1
        name = value.name
        known = self.entries.get(name)
        if value.timestamp <= max(known.timestamp if known else 0, self.withdrawn.get(name, 0)):
            return
        self.entries[name] = value
        self._tell(lambda bridge, now: bridge.stored(value, now))
        self.world.at((value.valid_end - BEGIN_MS) * MILLISECOND, lambda: self._expire(value))

    def withdraw(self, name: Name, timestamp: int | None = None) -> None:
        stamp = self.world.ms if timestamp is None else timestamp
        known = self.entries.get(name)
        if stamp <= max(known.timestamp if known else 0, self.withdrawn.get(name, 0)):
            return
        self.entries.pop(name, None)
        self.withdrawn[name] = stamp
        until = known.valid_end if known else stamp + 60_000
        self._tell(lambda bridge, now: bridge.withdrawn(name, stamp, until, now))

    def lose_everything(self) -> None:
        for name in list(self.entries):
            del self.entries[name]
            self._tell(lambda bridge, now, name=name: bridge.lost(name, now))
        self.withdrawn.clear()

    def perform(self, operation: Operation) -> bool:
        """Whether an answer arrives."""
        if self.world.random.random() < self.loss / 2:
            return False
        if operation.is_withdrawal:
            self.withdraw(operation.name, operation.value.timestamp)
        else:
            self.store(operation.value)
        return self.world.random.random() >= self.loss / 2

    def shows(self) -> dict[tuple[str, str, str], bytes]:
        """The latest value of each key."""
        latest: dict[tuple[str, str, str], Value] = {}
        for value in sorted(self.entries.values(), key=lambda one: one.rank):
            if value.is_valid(self.world.ms):
                latest[value.key] = value
        return {key: value.payload for key, value in latest.items()}

    def _expire(self, value: Value) -> None:
        if self.entries.get(value.name) == value:
            del self.entries[value.name]
            self._tell(lambda bridge, now: bridge.lost(value.name, now))

    def _tell(self, what: Callable[[Bridge, int], None]) -> None:
        for side in self.bridges:
            side.feed.send(lambda side=side: side.do(lambda: what(side.bridge, self.world.now)))


@dataclass
class Sent:
    topic: str
    payload: bytes
    is_retained: bool = False
    mid: int = 0


class Server:
    def __init__(self, world: World) -> None:
        self.world = world
        self.retained: dict[str, bytes] = {}
        self.sessions: list[Session] = []
        self.published = 0

    def publish(self, topic: str, payload: bytes) -> None:
        self.published += 1
        if payload:
            self.retained[topic] = payload
        else:
            self.retained.pop(topic, None)
        for session in self.sessions:
            session.deliver(Sent(topic, payload))

    def sensor(self, entity: str, **fields: Any) -> None:
        """A message of a sensor; without fields an empty one."""
        self.publish(f"c/t/{entity}/s", json.dumps(fields).encode() if fields else b"")

    def shows(self, is_out: bool = True) -> dict[tuple[str, str, str], bytes]:
        """What retained messages say, in the words of entries."""
        shown = {}
        for topic, payload in self.retained.items():
            _, kind, entity, scope = topic.split("/")
            pairs = {
                k: v
                for k, v in json.loads(payload).items()
                if k not in ("provider", "timestamp", "valid_end", "valid_ms")
            }
            shown[kind, entity, scope] = ";".join(f"{k}={v}" for k, v in pairs.items()).encode()
        return shown


class Session:
    """Of one bridge at a server; it outlives connections."""

    def __init__(self, server: Server, side: Side) -> None:
        self.server, self.side = server, side
        self.unacknowledged: dict[int, Sent] = {}
        self.is_connected = False
        self._mid = 0
        self._epoch = 0
        self.down, self.up = Line(server.world), Line(server.world)
        server.sessions.append(self)

    def connect(self) -> None:
        self.is_connected = True
        self._epoch += 1
        self.down, self.up = Line(self.server.world), Line(self.server.world)
        again = list(self.unacknowledged.values())
        self.unacknowledged.clear()
        self.side.do(lambda: self.side.bridge.connected(self.server.world.now))
        for sent in [*again, *(Sent(topic, one, True) for topic, one in self.server.retained.items())]:
            self.deliver(sent)

    def disconnect(self) -> None:
        self.is_connected = False
        self._epoch += 1
        self.side.do(lambda: self.side.bridge.disconnected(self.server.world.now))

    def deliver(self, sent: Sent) -> None:
        self._mid += 1
        sent = replace(sent, mid=self._mid)
        self.unacknowledged[sent.mid] = sent
        if self.is_connected:
            self._later(self.down, lambda: self.side.hear(sent))

    def acknowledge(self, mid: int) -> None:
        self._later(self.up, lambda: self.unacknowledged.pop(mid, None))

    def publish(self, topic: str, payload: bytes) -> None:
        def arrive() -> None:
            self.server.publish(topic, payload)
            self._later(
                self.down, lambda: self.side.do(lambda: self.side.bridge.received(topic, self.server.world.now))
            )

        self._later(self.up, arrive)

    def _later(self, line: Line, what: Callable[[], object]) -> None:
        epoch = self._epoch
        line.send(lambda: what() if epoch == self._epoch else None)


class Side:
    """A bridge between a network and a server."""

    def __init__(self, net: Net, server: Server, **document: Any) -> None:
        self.net, self.world = net, net.world
        settings = read_settings(document or {"in": PATTERN, "out": PATTERN})
        self.bridge = Bridge(settings, self.world.wall)
        self.feed = Line(self.world)
        self.provided: Counter[bytes] = Counter()
        self.published: Counter[bytes] = Counter()
        self._armed = 0
        self.session = Session(server, self)
        net.bridges.append(self)
        self.session.connect()

    def hear(self, sent: Sent) -> None:
        self.do(
            lambda: self.bridge.message(
                sent.topic, sent.payload, self.world.now, mid=sent.mid, is_retained=sent.is_retained
            )
        )

    def do(self, what: Callable[[], None]) -> None:
        what()
        self.pump()

    def pump(self) -> None:
        now = self.world.now
        for operation in self.bridge.take_operations(now):
            self.provided[b"" if operation.is_withdrawal else operation.value.payload] += 1
            self.world.at(now + self.world.delay(), lambda operation=operation: self._perform(operation))
        for mid in self.bridge.take_acknowledgements():
            self.session.acknowledge(mid)
        for message in self.bridge.take_messages(now):
            self.published[message.payload] += 1
            self.session.publish(message.topic, message.payload)
        self.bridge.check_invariants()
        timer = self.bridge.next_timer()
        if timer is not None:
            assert timer > now or not self.session.is_connected, "a timer that is due has not been heeded"
            if not self.world.now < self._armed <= timer:
                self._armed = timer
                self.world.at(timer, self.pump)

    def _perform(self, operation: Operation) -> None:
        outcome = Outcome.STORED if self.net.perform(operation) else Outcome.UNANSWERED
        self.world.at(
            self.world.now + self.world.delay(),
            lambda: self.do(lambda: self.bridge.ended(operation, outcome, self.world.now)),
        )

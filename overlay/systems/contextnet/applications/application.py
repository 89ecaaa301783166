"""An application: it hears messages of nodes, and sends messages to nodes, groups and all (contract, section 1).

::

    record ─> hear ─> waiting ─> take_up ─> settle ─> a position to commit
                                    └ handled before: settled

Members of one group share the messages. What is not settled is heard again by whoever owns the partition next: at least
once. Where nodes are, each application knows by itself (``routing.directory``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from overlay.core.chance import Chance
from overlay.log.node import Assignment, Subscription
from overlay.log.topics import Record
from overlay.systems.contextnet.log_member import LogMember
from overlay.systems.contextnet.nodes.recent import Recent
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.names import BROADCAST, GROUPCAST, MQTT_DOWN
from overlay.systems.contextnet.records.records import ALL, Groupcast, Message, Outbound, Reason, Unsent
from overlay.systems.contextnet.routing.directory import Directory, Route, Routed

GROUP: Final = "applications"
"""The group of applications that share all messages of nodes."""


class Terms(Routed, Protocol):
    """Settings of the network that applications have to know."""

    @property
    def dedup_ids(self) -> int: ...
    @property
    def dedup_s(self) -> int: ...


class Heard(NamedTuple):
    """A message for applications."""

    message: Message
    topic: str
    gateway: str
    """By which it came."""
    record: Record
    """To be settled."""


class Application(LogMember):
    def __init__(
        self, name: str, terms: Terms, chance: Chance, wall_offset_ns: int, heard: Sequence[Subscription] = ()
    ) -> None:
        """``name``: no other application of the network has it. ``chance`` must not be guessable, live. ``heard``: of
        topics with messages of nodes."""
        super().__init__(name, wall_offset_ns)
        self.directory = Directory(terms, name)
        self.waiting: deque[Heard] = deque()
        """Not taken up, the oldest first."""
        self._heard: tuple[Subscription, ...] | None = None
        self._chance = chance
        self._handled = Recent(terms.dedup_ids, terms.dedup_s)
        self._assigned: set[str] = set()
        self.listen(heard)

    # ---- what it hears

    def listen(self, heard: Sequence[Subscription]) -> None:
        """To these topics from now on."""
        if tuple(heard) == self._heard:
            return
        self._heard = tuple(heard)
        self._topics = frozenset(one.topic for one in heard)
        self._subscriptions = (*self.directory.subscriptions, *heard)

    @property
    def is_in(self) -> bool:
        """Whether the log has given it anything to read."""
        return bool(self._assigned)

    @property
    def hears_all(self) -> bool:
        """Whether partitions of every topic that it listens to are its own. Members of a group that has more of them
        than partitions may wait for that for ever."""
        return self._topics <= self._assigned

    def hear(self, heard: Heard) -> None:
        """A message has come. It waits until it is taken up."""
        self.waiting.append(heard)

    def take_up(self, heard: Heard, now: int) -> bool:
        """Whether it is to be handled, and settled then. One that was handled before is settled at once."""
        is_new = self._handled.add(heard.message.id, now)
        if not is_new:
            self.settle(heard.record)
        return is_new

    # ---- what it sends

    @property
    def is_ready(self) -> bool:
        """Whether it knows where nodes are, so that it can send to them."""
        return self.directory.is_ready

    def compose(
        self, destination: str, payload: bytes, now: int, *, reply_to: str = "", ttl_s: int = 0, id: bytes = b""
    ) -> Message:
        """A message of this application. ``id``: 16 bytes; empty: a new one."""
        self.now = now
        id = id or b"".join(self._chance.randrange(1 << 64).to_bytes(8, "big") for _ in range(2))
        return Message(id, self.name, destination, self.wall_us, ttl_s, payload, reply_to=reply_to)

    def send(self, node: bytes, message: Message, then: Callable[[], None] | None = None) -> Route:
        """``then`` is called when it is durable; the same for the next one. Returns which topic has it. Raises
        ``BadRecord``, as does the next one."""
        route = self.directory.route(node)
        value: Outbound | Unsent = Outbound(message, route.epoch)
        if route.is_absent:
            value = Unsent(message, "", route.epoch, Reason.ABSENT)
        self.append(route.topic, node, codec.write(value), then)
        return route

    def tell(self, client: str, message: Message, then: Callable[[], None] | None = None) -> str:
        """To a client of MQTT. One that is away gets nothing. Returns the topic."""
        self.append(MQTT_DOWN, client.encode(), codec.write(Outbound(message)), then)
        return MQTT_DOWN

    def cast(self, message: Message, then: Callable[[], None] | None = None) -> str:
        """To the group that is its destination, or to all. Nodes that are away get nothing. Returns the topic."""
        group = message.destination
        topic = BROADCAST if group == ALL else GROUPCAST
        self.append(topic, group.encode(), codec.write(Groupcast(message, group)), then)
        return topic

    # ---- a LogUser

    def subscriptions(self) -> tuple[Subscription, ...]:
        return self._subscriptions

    def assigned(self, partitions: Sequence[Assignment], now: int) -> None:
        super().assigned(partitions, now)
        self.directory.assigned(partitions)
        self._assigned |= {one.topic for one in partitions}

    def revoked(self, partitions: Sequence[Assignment], now: int) -> None:
        super().revoked(partitions, now)
        self.directory.revoked(partitions)
        gone = {(one.topic, one.partition) for one in partitions}
        self._assigned -= {one.topic for one in partitions}
        kept = [one for one in self.waiting if (one.record.topic, one.record.partition) not in gone]
        self.waiting.clear()
        self.waiting.extend(kept)

    def read(self, record: Record) -> None:
        if record.topic in self._topics:
            found = codec.read(record.topic, record.value)
            self.hear(Heard(found.message, record.topic, found.gateway, record))
        else:
            self.directory.read(record)
            self.settle(record)

"""One connection of MQTT: its packets in order, what it may do, and what is under way."""

from __future__ import annotations

from overlay.systems.contextnet.mqtt.mapping import OWN
from overlay.systems.contextnet.mqtt.packets import FAILURE, Publish, Stream, Subscribe, Unsubscribe
from overlay.systems.contextnet.mqtt.settings import MOST_IN_FLIGHT


class Client:
    def __init__(self, number: int) -> None:
        self.number = number
        """Of the connection."""
        self.name = ""
        """The client's id; empty before its CONNECT."""
        self.password: bytes | None = None
        """With which it has connected."""
        self.stream = Stream()
        self.silence_ns = 0
        """How long it may say nothing."""
        self.is_subscribed = False
        """To its own topic."""
        self.in_flight: set[int] = set()
        """Packets of QoS 1 that are not durable yet."""
        self.unsettled = 0
        """Messages that are not durable yet."""
        self.held = 0
        """Bytes of them."""

    @property
    def own_topic(self) -> str:
        return OWN + self.name

    @property
    def has_room(self) -> bool:
        """For one more message."""
        return self.unsettled < MOST_IN_FLIGHT

    def begins(self, message: Publish) -> bool:
        """``False`` for a repeat of one that is under way."""
        if message.qos:
            if message.packet in self.in_flight:
                return False
            self.in_flight.add(message.packet)
        self.unsettled += 1
        self.held += len(message.payload)
        return True

    def ends(self, message: Publish) -> None:
        """It is durable."""
        self.in_flight.discard(message.packet)
        self.unsettled -= 1
        self.held -= len(message.payload)

    def subscribe(self, packet: Subscribe) -> list[int]:
        """A code for each filter: QoS 0 for its own topic, failure for others."""
        self.is_subscribed = self.is_subscribed or self.own_topic in packet.filters
        return [0 if one == self.own_topic else FAILURE for one in packet.filters]

    def unsubscribe(self, packet: Unsubscribe) -> None:
        self.is_subscribed = self.is_subscribed and self.own_topic not in packet.filters

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert len(self.in_flight) <= self.unsettled <= MOST_IN_FLIGHT
        assert self.held >= 0

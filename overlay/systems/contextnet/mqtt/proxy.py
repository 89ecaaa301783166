"""The MQTT proxy: a server of connections and the log.

Its connections are those of ``overlay.core.streams``::

    PUBLISH ─> topic ``mqtt.NAME`` ─ durable ─> PUBACK
    topic ``mqtt_down``, key = client ─> PUBLISH to its own topic ``clients/ID``, if it is here and subscribes to it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.log.node import Start, Subscription
from overlay.log.topics import Record
from overlay.systems.contextnet.log_server import LogServer
from overlay.systems.contextnet.mqtt import packets as p
from overlay.systems.contextnet.mqtt.client import Client
from overlay.systems.contextnet.mqtt.credentials import Credentials, any_client
from overlay.systems.contextnet.mqtt.mapping import mapped
from overlay.systems.contextnet.mqtt.settings import CONNECT_WAIT, MOST_CONNECT, MOST_HELD, MOST_SILENCE, MqttSettings
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.codec import BadRecord
from overlay.systems.contextnet.records.names import CREDENTIALS, MQTT_DOWN
from overlay.systems.contextnet.records.records import Credential, Inbound, Message
from overlay.systems.contextnet.routing.replies import REPLY_TO_MQTT

MOST_NAME: Final = 64
"""Bytes of a client's id."""


class MqttProxy(LogServer):
    def __init__(
        self,
        name: str,
        address: Address,
        settings: MqttSettings,
        chances: Chances,
        wall_offset_ns: int,
        credentials: Credentials = any_client,
        learn: Callable[[Credential], None] | None = None,
    ) -> None:
        """``learn`` is told what operators revoke, which ``credentials`` then knows; ``None``: nothing."""
        super().__init__(name, address, chances, wall_offset_ns)
        self._settings, self._pairs = settings, settings.mqtt_pairs
        self._chance, self._credentials, self._learn = chances.walks, credentials, learn
        self._clients: dict[int, Client] = {}
        """By the number of their connection."""
        self._named: dict[str, Client] = {}
        """Those that have connected, by their id."""
        self._held = 0
        """Bytes of messages that are not durable yet."""
        self._out: list[tuple[int, bytes]] = []
        self._closing: list[int] = []
        self._is_leaving = False
        self._subscriptions = (
            Subscription(MQTT_DOWN, name, Start.NEWEST),
            *([Subscription(CREDENTIALS, name, Start.WHOLE)] if learn else []),
        )

    # ---- a StreamUser

    def opened(self, number: int, now: int) -> None:
        self.now = now
        if self._is_leaving:
            self._closing.append(number)
            return
        if len(self._clients) >= self._settings.mqtt_connections:
            self.counters["refused_full"] += 1
            self._closing.append(number)
            return
        self._clients[number] = Client(number)
        self.timers.set(number, now + CONNECT_WAIT)

    def received(self, number: int, data: bytes, now: int) -> None:
        self.now = now
        client = self._clients.get(number)
        if client is not None:
            client.stream.feed(data)
            self._work(client)
            if not client.name and len(client.stream) > MOST_CONNECT and number in self._clients:
                self.counters["malformed_mqtt"] += 1
                self._close(client)

    def closed(self, number: int, now: int) -> None:
        self.now = now
        client = self._clients.get(number)
        if client is not None:
            self._forget(client)

    def reads(self, number: int) -> bool:
        """Not while too much of it, or of all, is not durable yet."""
        client = self._clients.get(number)
        return client is not None and client.has_room and self._held < MOST_HELD

    def bytes_to_send(self) -> Sequence[tuple[int, bytes]]:
        out, self._out = self._out, []
        return out

    def connections_to_close(self) -> Sequence[int]:
        closing, self._closing = self._closing, []
        return closing

    # ---- packets

    def _work(self, client: Client) -> None:
        """All packets that are whole, while there is room for a message."""
        try:
            while self.reads(client.number) and (packet := client.stream.next()) is not None:
                self._take(client, packet)
        except p.BadPacket:
            self.counters["malformed_mqtt"] += 1
            self._close(client)

    def _take(self, client: Client, packet: p.Packet) -> None:
        self.counters[f"in_mqtt_{type(packet).__name__.lower()}"] += 1
        if isinstance(packet, p.Connect):
            self._connect(client, packet)
            return
        if not client.name:
            raise p.BadPacket("the first packet is no CONNECT")
        self.timers.set(client.number, self.now + client.silence_ns)
        if isinstance(packet, p.Publish):
            self._publish(client, packet)
        elif isinstance(packet, p.Subscribe):
            self._send(client, p.suback(packet.packet, client.subscribe(packet)))
        elif isinstance(packet, p.Unsubscribe):
            client.unsubscribe(packet)
            self._send(client, p.unsuback(packet.packet))
        elif isinstance(packet, p.PingRequest):
            self._send(client, p.PING_RESPONSE)
        else:
            self._close(client)

    def _connect(self, client: Client, packet: p.Connect) -> None:
        if client.name:
            raise p.BadPacket("a second CONNECT")
        code = self._judge(packet)
        self._send(client, p.connack(code))
        if code != p.Code.ACCEPTED:
            self.counters[f"refused_{code.name.lower()}"] += 1
            self._close(client)
            return
        client.password = packet.password
        client.name = packet.client or f"{self.name}-{self._draw().hex()}"
        former = self._named.get(client.name)
        if former is not None:
            self.counters["taken_over"] += 1
            self._close(former)
        self._named[client.name] = client
        client.silence_ns = packet.keepalive_s * SECOND * 3 // 2 or MOST_SILENCE
        self.timers.set(client.number, self.now + client.silence_ns)

    def _judge(self, packet: p.Connect) -> p.Code:
        """A will is refused: a client would rely on it."""
        if packet.level != 4:
            return p.Code.VERSION
        if len(packet.client.encode()) > MOST_NAME or not (packet.client or packet.is_clean):
            return p.Code.CLIENT_ID
        if set(packet.client) & {"+", "#"}:  # its own topic could not be published to
            return p.Code.CLIENT_ID
        if not self._credentials(packet.client, packet.password):
            return p.Code.CREDENTIALS
        return p.Code.NOT_AUTHORIZED if packet.has_will else p.Code.ACCEPTED

    def _publish(self, client: Client, packet: p.Publish) -> None:
        """MQTT cannot refuse a message: the connection is closed."""
        topic = mapped(self._pairs, packet.topic)
        if topic is None:
            self.counters["refused_topic"] += 1
            self._close(client)
            return
        reply_to = REPLY_TO_MQTT + client.name
        message = Message(
            self._draw(), client.name, packet.topic, self.wall_us, payload=packet.payload, reply_to=reply_to
        )
        try:
            value = codec.write(Inbound(message, self.name, 0))
        except BadRecord:
            raise p.BadPacket("the topic or payload is too long") from None
        if client.begins(packet):
            self._held += len(packet.payload)
            self.append(topic, client.name.encode(), value, lambda: self._durable(client, packet))

    def _durable(self, client: Client, packet: p.Publish) -> None:
        client.ends(packet)
        self._held -= len(packet.payload)
        if self._clients.get(client.number) is client:
            if packet.qos:
                self._send(client, p.puback(packet.packet))
            self._work(client)

    def _draw(self) -> bytes:
        return b"".join(self._chance.randrange(1 << 64).to_bytes(8, "big") for _ in range(2))

    # ---- ends

    def _send(self, client: Client, data: bytes) -> None:
        self._out.append((client.number, data))

    def _close(self, client: Client) -> None:
        self._forget(client)
        self._closing.append(client.number)

    def _forget(self, client: Client) -> None:
        del self._clients[client.number]
        self.timers.cancel(client.number)
        if self._named.get(client.name) is client:
            del self._named[client.name]

    def due(self, key: Any) -> None:
        """A client was silent for too long, or was not read."""
        if not self.reads(key):
            self.timers.set(key, self.now + CONNECT_WAIT)
            return
        self.counters["silent"] += 1
        self._close(self._clients[key])

    def leave(self, now: int) -> int:
        """Close all connections; they connect elsewhere."""
        self.now, self._is_leaving = now, True
        for client in list(self._clients.values()):
            self._close(client)
        return SECOND

    # ---- the log

    def subscriptions(self) -> tuple[Subscription, ...]:
        return self._subscriptions

    def appended(self, tokens: Sequence[object], now: int) -> None:
        was_full = self._held >= MOST_HELD
        super().appended(tokens, now)
        if was_full and self._held < MOST_HELD:  # those that waited for others
            for client in [one for one in self._clients.values() if len(one.stream)]:
                self._work(client)

    def read(self, record: Record) -> None:
        if record.topic == CREDENTIALS:
            self._revoke(codec.read(record.topic, record.value))
        else:
            self._tell(record)
        self.settle(record)

    def _revoke(self, found: Credential) -> None:
        """Close the connection of the node, if it may not have it any more."""
        if self._learn is not None:
            self._learn(found)
        client = self._named.get(found.node.hex())
        if client is not None and not self._credentials(client.name, client.password):
            self.counters["revoked"] += 1
            self._close(client)

    def _tell(self, record: Record) -> None:
        """To a client that is elsewhere or does not subscribe, nothing is sent."""
        message = codec.read(record.topic, record.value).message
        client = self._named.get(record.key.decode(errors="replace"))
        if client is not None and client.is_subscribed:
            self._send(client, p.publish(client.own_topic, message.payload))
            self.counters["out_mqtt_publish"] += 1
        else:
            self.counters["not_here"] += 1

    def gauges(self) -> dict[str, int]:
        return {"mqtt_connections": len(self._clients), "held_bytes": self._held}

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        super().check_invariants()
        assert len(self._clients) <= self._settings.mqtt_connections
        assert set(self._named.values()) <= set(self._clients.values())
        for name, client in self._named.items():
            assert client.name == name
        for client in self._clients.values():
            client.check_invariants()
            assert client.number in self.timers, "no connection lasts without a deadline"

"""One connection to an MQTT server, by paho in the event loop. It ends once; the next one is another object.

paho parses and writes (``bounded_client``); this waits for the socket, without a thread. Messages of quality of
service 1 are acknowledged by ``acknowledge`` only.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from overlay.core.errors import WaxwingError
from overlay.programs.context_broker.mqtt.bounded_client import MOST_PACKET_BYTES, BoundedClient
from overlay.programs.context_broker.mqtt.options import ServerOptions

CONNECT_S = 10.0
SESSION_S = 7 * 86_400
"""How long the server keeps what arrives while the bridge is away (MQTT 5)."""
READS = 64
"""Packets read before other work has its turn."""
MOST_PUBLISHED = 65_535
TAKEN_OVER = 0x8E
REFUSALS = (0x84, 0x85, 0x86, 0x87, 0x8A, 0x8C)
"""Reason codes that the same attempt will meet again (MQTT 5.0, 3.2.2.2): version, client id, password, rights."""


class NotConnected(WaxwingError):
    """``is_final``: trying again would not help."""

    def __init__(self, sentence: str, *, is_final: bool = False) -> None:
        super().__init__(sentence)
        self.is_final = is_final


class Connection:
    """``on_message(topic, payload, mid or None, is_retained, expiry_s)``; ``on_received(topic, refusal or "")``."""

    def __init__(
        self,
        options: ServerOptions,
        receive_maximum: int,
        on_message: Callable[[str, bytes, int | None, bool, int | None], None],
        on_received: Callable[[str, str], None],
    ) -> None:
        self._options = options
        self._loop = asyncio.get_running_loop()
        self._receive_maximum = receive_maximum
        self._on_message = on_message
        self._on_received = on_received
        self.lost: asyncio.Future[str] = self._loop.create_future()
        """Why it has ended."""
        self.window = MOST_PUBLISHED
        """Messages that the server accepts at once."""
        self._most_bytes = 0
        self._connected: asyncio.Future[None] = self._loop.create_future()
        self._subscribed: asyncio.Future[None] = self._loop.create_future()
        self._topics: dict[int, str] = {}
        self._packets = 0
        self._is_paused = False
        self._is_writing = False
        self._timer: asyncio.TimerHandle | None = None
        self._socket: socket.socket | None = None
        self._client = self._make_client()

    # ---- for the bridge

    async def open(self, filters: tuple[str, ...], will: bytes) -> None:
        """Connect and subscribe. Raises ``NotConnected``."""
        client, options = self._client, self._options
        client.will_set(options.status_topic, will, qos=1, retain=True)
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._loop.run_in_executor(None, self._connect)
                self._attach()
                await self._connected
                client.subscribe([(one, 1) for one in filters])
                await self._subscribed
        except TimeoutError:
            raise NotConnected(f"{options.url} did not answer within {CONNECT_S:g} s") from None
        except (OSError, ValueError) as error:
            is_final = isinstance(error, ssl.SSLCertVerificationError)
            raise NotConnected(f"{options.url}: {error}", is_final=is_final) from None

    def publish(self, topic: str, payload: bytes, expiry_s: int | None = None) -> None:
        """Retained, with quality of service 1. ``on_received`` follows, unless the connection ends."""
        if self._most_bytes and len(topic.encode()) + len(payload) + 32 > self._most_bytes:
            self._loop.call_soon(self._on_received, topic, f"longer than the server's {self._most_bytes:,} bytes")
            return
        properties = None
        if expiry_s is not None and self._is_v5:
            properties = _properties(PacketTypes.PUBLISH)
            properties.MessageExpiryInterval = min(expiry_s, 2**32 - 1)
        info = self._client.publish(topic, payload, qos=1, retain=True, properties=properties)
        self._topics[info.mid] = topic

    def is_on_its_way(self, topic: str) -> bool:
        """Whether something that was published there is not yet received."""
        return topic in self._topics.values()

    def acknowledge(self, mid: int) -> None:
        self._client.ack(mid, 1)

    def pause(self, is_paused: bool) -> None:
        """Read nothing for now."""
        if is_paused != self._is_paused and self._socket is not None:
            self._is_paused = is_paused
            if is_paused:
                self._loop.remove_reader(self._socket)
            else:
                self._loop.add_reader(self._socket, self._read)
                self._loop.call_soon(self._read)

    def close(self) -> None:
        """Say goodbye, if it is still connected."""
        if self._client.socket() is not None:
            self._client.disconnect()
            self._write()
        self._end("closed")

    # ---- paho

    @property
    def _is_v5(self) -> bool:
        return self._options.protocol == "5"

    def _make_client(self) -> Client:
        options = self._options
        client = BoundedClient(
            CallbackAPIVersion.VERSION2,
            options.client_id,
            clean_session=None if self._is_v5 else False,
            protocol=MQTTProtocolVersion.MQTTv5 if self._is_v5 else MQTTProtocolVersion.MQTTv311,
            reconnect_on_failure=False,
            manual_ack=True,
        )
        client.connect_timeout = CONNECT_S
        client.max_inflight_messages_set(MOST_PUBLISHED)
        if options.username is not None:
            client.username_pw_set(options.username, options.password)
        if options.tls is not None:
            client.tls_set_context(options.tls)
        client.on_connect = self._heard_connected
        client.on_disconnect = self._heard_disconnected
        client.on_subscribe = self._heard_subscribed
        client.on_message = self._heard_message
        client.on_publish = self._heard_published
        return client

    def _connect(self) -> None:
        """Blocking, in a thread: looks up the name and shakes hands."""
        options = self._options
        connect = partial(self._client.connect, options.host, options.port, options.keepalive_s)
        if not self._is_v5:
            connect()
            return
        properties = _properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = SESSION_S
        properties.ReceiveMaximum = self._receive_maximum
        properties.MaximumPacketSize = MOST_PACKET_BYTES
        connect(clean_start=False, properties=properties)

    def _heard_connected(
        self, client: Client, data: Any, flags: ConnectFlags, code: ReasonCode, properties: Properties | None
    ) -> None:
        if code.is_failure:
            is_final = code.value in REFUSALS
            self._fail(NotConnected(f"{self._options.url} refused the connection: {code}", is_final=is_final))
            return
        self.window = getattr(properties, "ReceiveMaximum", MOST_PUBLISHED)
        self._most_bytes = getattr(properties, "MaximumPacketSize", 0)
        if not self._connected.done():
            self._connected.set_result(None)

    def _heard_subscribed(
        self, client: Client, data: Any, mid: int, codes: list[ReasonCode], properties: Properties | None
    ) -> None:
        refused = [str(code) for code in codes if code.is_failure]
        if refused:
            self._fail(NotConnected(f"{self._options.url} refused a subscription: {refused[0]}", is_final=True))
        elif not self._subscribed.done():
            self._subscribed.set_result(None)

    def _heard_message(self, client: Client, data: Any, message: MQTTMessage) -> None:
        self._packets += 1
        expiry = getattr(message.properties, "MessageExpiryInterval", None) if self._is_v5 else None
        try:
            topic = message.topic
        except UnicodeDecodeError:  # which no server passes on
            topic = ""
        mid = message.mid if message.qos else None
        self._on_message(topic, bytes(message.payload), mid, bool(message.retain), expiry)

    def _heard_published(
        self, client: Client, data: Any, mid: int, code: ReasonCode, properties: Properties | None
    ) -> None:
        self._packets += 1
        topic = self._topics.pop(mid, None)
        if topic is not None:
            self._on_received(topic, str(code) if code.is_failure else "")

    def _heard_disconnected(
        self, client: Client, data: Any, flags: DisconnectFlags, code: ReasonCode, properties: Properties | None
    ) -> None:
        if code.value == TAKEN_OVER:
            self._end("another client has connected with this client id")
        else:
            self._end(str(code))

    def _fail(self, error: NotConnected) -> None:
        for waiting in (self._connected, self._subscribed):
            if not waiting.done():
                waiting.set_exception(error)
                waiting.exception()  # only one of them is awaited

    def _end(self, why: str) -> None:
        self._detach()
        if not self.lost.done():
            self.lost.set_result(why)
        self._fail(NotConnected(f"{self._options.url} ended the connection: {why}"))

    # ---- the socket

    def _attach(self) -> None:
        sock = cast("socket.socket | None", self._client.socket())
        if sock is None:
            raise NotConnected(f"{self._options.url} ended the connection")
        self._socket = sock
        self._client.on_socket_register_write = self._wants_to_write
        self._client.on_socket_close = self._closing
        self._loop.add_reader(sock, self._read)
        self._timer = self._loop.call_later(1.0, self._tick)
        self._write()
        self._loop.call_soon(self._read)

    def _detach(self) -> None:
        sock, self._socket = self._socket, None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if sock is not None and not self._loop.is_closed():
            self._loop.remove_reader(sock)
            self._loop.remove_writer(sock)

    def _closing(self, client: Client, data: Any, sock: Any) -> None:
        self._detach()

    def _read(self) -> None:
        """What has arrived, up to ``READS`` packets. Another packet in the buffer of TLS wakes no selector."""
        sock = self._socket
        for _ in range(READS):
            if self._socket is None or self._is_paused:
                return
            before = self._packets
            if not self._did(self._client.loop_read) or self._packets == before:
                break
        if isinstance(sock, ssl.SSLSocket) and self._socket is sock and sock.pending():
            self._loop.call_soon(self._read)

    def _wants_to_write(self, client: Client, data: Any, sock: Any) -> None:
        if not self._is_writing:
            self._is_writing = True
            self._loop.call_soon(self._write)

    def _write(self) -> None:
        self._is_writing = False
        if self._socket is None or not self._did(self._client.loop_write) or self._socket is None:
            return
        if self._client.want_write():
            self._loop.add_writer(self._socket, self._write)
        else:
            self._loop.remove_writer(self._socket)

    def _tick(self) -> None:
        """Keep alive."""
        if self._socket is not None and self._did(self._client.loop_misc):
            self._timer = self._loop.call_later(1.0, self._tick)

    def _did(self, step: Callable[[], MQTTErrorCode]) -> bool:
        sock = self._socket
        try:
            code = step()
        except Exception as error:  # noqa: BLE001  what paho's parser raises for a malformed packet, which it keeps
            self._end(f"a packet cannot be read: {type(error).__name__}: {error}")
            if sock is not None:
                sock.close()
            return False
        if code == MQTTErrorCode.MQTT_ERR_SUCCESS:
            return True
        self._end(str(code.name).removeprefix("MQTT_ERR_").lower().replace("_", " "))
        return False


def _properties(kind: int) -> Properties:
    return Properties(kind)  # type: ignore[no-untyped-call]

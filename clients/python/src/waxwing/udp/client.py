"""The sockets of exchanges: one for each broker that is asked, connected, so that a closed port is reported."""

from __future__ import annotations

import asyncio
import select
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Self

from waxwing.udp import codec, exchange
from waxwing.udp.codec import Address
from waxwing.udp.exchange import Answer, Exchange, Question, Stamps

VALID_MS = 120_000
Payload = Mapping[str, object] | str


class _Brokers:
    """A list of brokers, the one that answered last first."""

    def __init__(self, addresses: Sequence[str]) -> None:
        if not addresses:
            raise ValueError("a client needs the address of a broker")
        self._addresses = [codec.address(one) for one in addresses]
        self._stamps = Stamps()
        self._lock = threading.Lock()

    def begin(self, question: Question) -> Exchange:
        with self._lock:
            return Exchange(question, self._addresses, self._stamps, time.monotonic())

    def to_send(self, one: Exchange) -> tuple[bytes, Address] | None:
        with self._lock:
            return one.to_send(time.monotonic(), time.time_ns() // 1_000_000)

    def ended(self, one: Exchange) -> Answer:
        """Its answer. Raises its error."""
        if one.error is not None:
            raise one.error
        assert one.answer is not None
        answered = codec.address(one.answer.broker)
        with self._lock:
            if answered in self._addresses:
                at = self._addresses.index(answered)
                self._addresses = self._addresses[at:] + self._addresses[:at]
        return one.answer


class BrokerClient:
    """Asks the brokers of a list, ``host:port`` each. Threads may share it."""

    def __init__(self, brokers: Sequence[str]) -> None:
        self._brokers = _Brokers(brokers)

    def provide(
        self, provider: str, type: str, entity: str, scope: str, payload: Payload, *, valid_ms: int = VALID_MS
    ) -> str:
        """Store data; the address of the broker that has it. Raises ``Refused``, ``NoAnswer``, ``InvalidMessage``."""
        key = type, entity, scope
        return self._ask(exchange.update(provider, key, codec.payload_of(payload), valid_ms)).broker

    def ask(self, type: str, entity: str, scope: str) -> Answer:
        """Valid data. Raises ``NothingFound``, ``Refused``, ``NoAnswer``, ``InvalidMessage``."""
        return self._ask(exchange.request((type, entity, scope)))

    def withdraw(self, provider: str, type: str, entity: str, scope: str, *, until_ms: int = 0) -> str:
        """Let one broker no longer serve the provider's data; its address. REST withdraws it from all brokers."""
        return self._ask(exchange.withdrawal(provider, (type, entity, scope), until_ms)).broker

    def ping(self) -> str:
        """The address of a broker that answers."""
        return self._ask(exchange.ping()).broker

    def close(self) -> None:
        """Nothing is open between exchanges."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _ask(self, question: Question) -> Answer:
        one, sockets = self._brokers.begin(question), dict[Address, socket.socket]()
        try:
            while not one.is_over:
                if (due := self._brokers.to_send(one)) is not None:
                    _send(one, sockets, *due)
                elif not one.is_over:
                    _hear(one, sockets, one.due - time.monotonic())
        finally:
            for opened in sockets.values():
                opened.close()
        return self._brokers.ended(one)


def _send(one: Exchange, sockets: dict[Address, socket.socket], data: bytes, broker: Address) -> None:
    try:
        if broker not in sockets:
            sockets[broker] = socket.socket(socket.AF_INET6 if ":" in broker[0] else socket.AF_INET, socket.SOCK_DGRAM)
            sockets[broker].connect(broker)
        sockets[broker].send(data)
    except OSError:  # no route, or the port was found closed by an earlier datagram
        one.closed(broker)


def _hear(one: Exchange, sockets: dict[Address, socket.socket], wait_s: float) -> None:
    by_socket = {opened: broker for broker, opened in sockets.items()}
    ready, _, _ = select.select(list(by_socket), [], [], max(0.0, wait_s))
    for opened in ready:
        try:
            one.receive(opened.recv(codec.LONGEST_DATAGRAM), by_socket[opened])
        except OSError:
            one.closed(by_socket[opened])


class AsyncBrokerClient:
    """The same for an event loop."""

    def __init__(self, brokers: Sequence[str]) -> None:
        self._brokers = _Brokers(brokers)

    async def provide(
        self, provider: str, type: str, entity: str, scope: str, payload: Payload, *, valid_ms: int = VALID_MS
    ) -> str:
        """See ``BrokerClient.provide``."""
        key = type, entity, scope
        return (await self._ask(exchange.update(provider, key, codec.payload_of(payload), valid_ms))).broker

    async def ask(self, type: str, entity: str, scope: str) -> Answer:
        """See ``BrokerClient.ask``."""
        return await self._ask(exchange.request((type, entity, scope)))

    async def withdraw(self, provider: str, type: str, entity: str, scope: str, *, until_ms: int = 0) -> str:
        """See ``BrokerClient.withdraw``."""
        return (await self._ask(exchange.withdrawal(provider, (type, entity, scope), until_ms))).broker

    async def ping(self) -> str:
        """See ``BrokerClient.ping``."""
        return (await self._ask(exchange.ping())).broker

    async def aclose(self) -> None:
        """Nothing is open between exchanges."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.aclose()

    async def _ask(self, question: Question) -> Answer:
        loop, heard = asyncio.get_running_loop(), asyncio.Event()
        one, opened = self._brokers.begin(question), dict[Address, asyncio.DatagramTransport]()
        try:
            while not one.is_over:
                heard.clear()
                if (due := self._brokers.to_send(one)) is not None:
                    data, broker = due
                    try:
                        if broker not in opened:
                            ear = _Ear(one, broker, heard)
                            opened[broker], _ = await loop.create_datagram_endpoint(lambda: ear, remote_addr=broker)  # noqa: B023
                        opened[broker].sendto(data)
                    except OSError:  # no route
                        one.closed(broker)
                elif not one.is_over:
                    await _either(heard, one.due - time.monotonic())
        finally:
            for transport in opened.values():
                transport.close()
        return self._brokers.ended(one)


async def _either(heard: asyncio.Event, wait_s: float) -> None:
    """Until something is heard, or for ``wait_s``."""
    try:
        async with asyncio.timeout(max(0.0, wait_s)):
            await heard.wait()
    except TimeoutError:
        pass


class _Ear(asyncio.DatagramProtocol):
    """Passes what one broker sends to the exchange."""

    def __init__(self, one: Exchange, broker: Address, heard: asyncio.Event) -> None:
        self._one, self._broker, self._heard = one, broker, heard

    def datagram_received(self, data: bytes, addr: tuple[str | object, int]) -> None:
        self._one.receive(data, self._broker)
        self._heard.set()

    def error_received(self, exc: Exception) -> None:
        self._one.closed(self._broker)
        self._heard.set()

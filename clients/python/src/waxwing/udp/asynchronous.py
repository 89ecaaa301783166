"""``client`` for an event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Self

from waxwing import payloads
from waxwing.payloads import Payload
from waxwing.udp import exchange
from waxwing.udp.client import VALID_MS, Brokers
from waxwing.udp.codec import Address
from waxwing.udp.exchange import GIVE_UP_S, Answer, Exchange, Question


class AsyncBrokerClient:
    """The same for an event loop."""

    def __init__(self, brokers: Sequence[str] | str, *, give_up_s: float = GIVE_UP_S) -> None:
        self._brokers = Brokers(brokers, give_up_s)

    async def provide(
        self, provider: str, type: str, entity: str, scope: str, payload: Payload, *, valid_ms: int = VALID_MS
    ) -> str:
        """See ``BrokerClient.provide``."""
        key = type, entity, scope
        return (await self._ask(exchange.update(provider, key, payloads.text_of(payload).encode(), valid_ms))).broker

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

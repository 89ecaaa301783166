"""The sockets of exchanges: one for each broker that is asked, connected, so that a closed port is reported.

Counterpart: ``asynchronous``.
"""

from __future__ import annotations

import math
import select
import socket
import threading
import time
from collections.abc import Sequence
from typing import Self

from waxwing import payloads
from waxwing.errors import InvalidMessage
from waxwing.payloads import Payload
from waxwing.udp import codec, exchange
from waxwing.udp.codec import Address
from waxwing.udp.exchange import GIVE_UP_S, Answer, Exchange, Question, Stamps

VALID_MS = 120_000


class Brokers:
    """A list of brokers, the one that answered last first."""

    def __init__(self, addresses: Sequence[str] | str, give_up_s: float) -> None:
        if not 0 < give_up_s < math.inf:
            raise InvalidMessage(f"give_up_s must be a positive number of seconds, not {give_up_s}")
        listed = addresses.split(",") if isinstance(addresses, str) else addresses
        if not listed:
            raise InvalidMessage("a client needs the address of a broker, such as 127.0.0.1:20000")
        self._addresses = [codec.address(one.strip()) for one in listed]
        self._give_up_s = give_up_s
        self._stamps = Stamps()
        self._lock = threading.Lock()

    def begin(self, question: Question) -> Exchange:
        with self._lock:
            return Exchange(question, self._addresses, self._stamps, time.monotonic(), self._give_up_s)

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
    """Asks the brokers of a list, ``host:port`` each, or of a text with commas. Threads may share it.

    ``give_up_s``: how long one operation may take, with its repetitions.
    """

    def __init__(self, brokers: Sequence[str] | str, *, give_up_s: float = GIVE_UP_S) -> None:
        self._brokers = Brokers(brokers, give_up_s)

    def provide(
        self, provider: str, type: str, entity: str, scope: str, payload: Payload, *, valid_ms: int = VALID_MS
    ) -> str:
        """Store data; the address of the broker that has it. Raises ``Refused``, ``NoAnswer``, ``InvalidMessage``."""
        key = type, entity, scope
        return self._ask(exchange.update(provider, key, payloads.text_of(payload).encode(), valid_ms)).broker

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

"""Sends the orders of an assembly to servers: pure exchanges over non-blocking sockets in the caller's selector.

Each exchange has its own port, which is closed afterwards, so late acknowledgements cannot be confused.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.cores import ORDERS_AT_ONCE, Assembly, Exchange

Ended = Callable[[Exchange], None]
"""Called with an exchange that has ended."""


@dataclass(slots=True)
class _Given:
    exchange: Exchange
    sock: socket.socket
    ended: Ended


class Orders:
    """The exchanges in progress."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._exchanges: dict[int, _Given] = {}

    @property
    def room(self) -> int:
        """How many further exchanges can be started now."""
        return ORDERS_AT_ONCE - len(self._exchanges)

    def assemble(
        self,
        assembly: Assembly,
        up: Mapping[int, int],
        servers: Sequence[Address],
        failed: Callable[[Exception, int], None],
        now: int,
    ) -> int:
        """Give the orders of ``assembly`` that are due; ``failed`` learns of a bug in it. Returns the time of the next.

        Raises ``OSError``.
        """
        for order in assembly.due(up, now, self.room):
            self.give(assembly.begin(order, servers, now, wall_offset_ns()), _settling(assembly, order, failed))
        return assembly.next_retry(now) or now + SECOND

    def give(self, exchange: Exchange, ended: Ended) -> None:
        """Start ``exchange``. ``ended`` is called later, from ``handle_timers`` or the selector. Raises
        ``OSError``."""
        sock = socket.socket(socket.AF_INET6 if ":" in exchange.broker[0] else socket.AF_INET, socket.SOCK_DGRAM)
        sock.setblocking(False)
        given = _Given(exchange, sock, ended)
        self._exchanges[sock.fileno()] = given
        self._selector.register(sock, selectors.EVENT_READ, lambda _: self._receive(given))
        self._send(given)

    def handle_timers(self, now: int) -> int | None:
        """Retransmit what is due. Returns the time of the next timer."""
        for given in list(self._exchanges.values()):
            given.exchange.handle_timer(now)
            self._send(given)
            self._finish(given)
        timers = (given.exchange.next_timer() for given in self._exchanges.values())
        return min((timer for timer in timers if timer is not None), default=None)

    def _receive(self, given: _Given) -> None:
        try:
            data, source = given.sock.recvfrom(MAX_DATAGRAM_BYTES)
        except OSError:  # no data, or an ICMP error: the exchange retransmits on its own schedule
            return
        given.exchange.receive_datagrams(((data, source[:2]),), time.monotonic_ns())
        self._finish(given)

    def _send(self, given: _Given) -> None:
        for data, destination in given.exchange.datagrams_to_send():
            with suppress(OSError):  # lost, like any datagram
                given.sock.sendto(data, destination)

    def _finish(self, given: _Given) -> None:
        if not given.exchange.is_over:
            return
        self._selector.unregister(given.sock)
        del self._exchanges[given.sock.fileno()]
        given.sock.close()
        given.ended(given.exchange)


def _settling(assembly: Assembly, order: Any, failed: Callable[[Exception, int], None]) -> Ended:
    def ended(exchange: Exchange) -> None:
        try:
            assembly.settle(order, exchange, time.monotonic_ns())
        except Exception as error:  # noqa: BLE001  a bug of one system must not end the others' deployments
            failed(error, time.monotonic_ns())

    return ended

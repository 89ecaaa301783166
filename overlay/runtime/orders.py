"""Gives the orders of an assembly to servers: pure exchanges over non-blocking sockets in somebody's selector.

Each exchange has a port of its own, closed behind it, so that a late acknowledgement can never be taken for another's.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.contract import ORDERS_AT_ONCE, Exchange

Ended = Callable[[Exchange], None]
"""Told of an exchange that is over."""


@dataclass(slots=True)
class _Given:
    exchange: Exchange
    sock: socket.socket
    ended: Ended


class Orders:
    """The exchanges that are under way."""

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self._exchanges: dict[int, _Given] = {}

    @property
    def room(self) -> int:
        """How many more may be given now."""
        return ORDERS_AT_ONCE - len(self._exchanges)

    def give(self, exchange: Exchange, ended: Ended) -> None:
        """Carry ``exchange`` out; ``ended`` is called later, from ``handle_timers`` or the selector. Raises
        ``OSError``."""
        sock = socket.socket(socket.AF_INET6 if ":" in exchange.broker[0] else socket.AF_INET, socket.SOCK_DGRAM)
        sock.setblocking(False)
        given = _Given(exchange, sock, ended)
        self._exchanges[sock.fileno()] = given
        self._selector.register(sock, selectors.EVENT_READ, lambda _: self._receive(given))
        self._send(given)

    def handle_timers(self, now: int) -> int | None:
        """Ask again what is due; the instant at which something is due next."""
        for given in list(self._exchanges.values()):
            given.exchange.handle_timer(now)
            self._send(given)
            self._finish(given)
        timers = (given.exchange.next_timer() for given in self._exchanges.values())
        return min((timer for timer in timers if timer is not None), default=None)

    def _receive(self, given: _Given) -> None:
        try:
            data, source = given.sock.recvfrom(MAX_DATAGRAM_BYTES)
        except OSError:  # nothing there after all, or an ICMP error: the exchange asks again in its own time
            return
        given.exchange.receive_datagrams(((data, source[:2]),), time.monotonic_ns())
        self._finish(given)

    def _send(self, given: _Given) -> None:
        for data, destination in given.exchange.datagrams_to_send():
            with suppress(OSError):  # lost, as datagrams may be
                given.sock.sendto(data, destination)

    def _finish(self, given: _Given) -> None:
        if not given.exchange.is_over:
            return
        self._selector.unregister(given.sock)
        del self._exchanges[given.sock.fileno()]
        given.sock.close()
        given.ended(given.exchange)

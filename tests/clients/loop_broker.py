"""A broker in the event loop of a test, on a port of its own: the core behind a real socket, without a process."""

from __future__ import annotations

import asyncio
import socket
import time

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.runtime.clock import wall_offset_ns
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig


class LoopBroker:
    """``trusted``: the networks whose addresses it answers."""

    def __init__(self, trusted: str = "127.0.0.0/8", port: int = 0) -> None:
        self._loop = asyncio.get_running_loop()
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sock.setblocking(False)
        self._sock.bind(("127.0.0.1", port))
        self.address: Address = self._sock.getsockname()
        config = BrokerConfig(trusted_networks=trusted, provider_share=100, source_share=100)
        self.broker = Broker(config, self.address, Chances.streams(1), wall_offset_ns())
        self._timer: asyncio.TimerHandle | None = None
        self._loop.add_reader(self._sock, self._readable)

    def close(self) -> None:
        """Also a second time."""
        if self._timer is not None:
            self._timer.cancel()
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock)
            self._sock.close()

    def _readable(self) -> None:
        data, source = self._sock.recvfrom(65_536)
        self.broker.receive_datagram(data, source, time.monotonic_ns())
        self._flush()

    def _turn(self) -> None:
        self.broker.handle_timer(time.monotonic_ns())
        self._flush()

    def _flush(self) -> None:
        for data, to in self.broker.datagrams_to_send():
            self._sock.sendto(data, to)
        self.broker.events()
        due = self.broker.next_timer()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if due is None else self._loop.call_at(max(due / SECOND, self._loop.time()), self._turn)

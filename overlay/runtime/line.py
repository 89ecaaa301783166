"""A socket, a clock and a timer for one client in an event loop, among many of one process."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from overlay.core.addresses import Address
from overlay.core.errors import WaxwingError
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.runtime.stepping import Stepping

BATCH = 64
"""Datagrams of one client before others get their turn."""


class Driven(Protocol):
    """A ``Node`` with events of any kind."""

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None: ...
    def handle_timer(self, now: int) -> None: ...
    def next_timer(self) -> int | None: ...
    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]: ...
    def events(self) -> Sequence[Any]: ...


class NoInterface(WaxwingError):
    """This machine has no such interface."""


class Line(Stepping):
    """Drives a node, and calls ``on_event`` with each of its events."""

    def __init__(
        self, node: Driven, on_event: Callable[[Any], object], peer: Address | None = None, interface: str = ""
    ) -> None:
        """With ``peer`` nothing is received from others, nor sent to them. ``interface``: the IPv4 address of the one
        for multicast, whose hop limit is 1; by default the system's. Raises ``NoInterface`` and ``OSError``."""
        super().__init__()
        self._node, self._on_event, self._peer = node, on_event, peer
        self._sock = socket.socket(socket.AF_INET6 if peer and ":" in peer[0] else socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._sock.setblocking(False)
            if peer:
                self._sock.connect(peer)
            else:
                self._sock.bind(("", 0))
            if interface:
                self._choose(interface)
        except (OSError, NoInterface):
            self._sock.close()
            raise
        self.port: int = self._sock.getsockname()[1]
        """As peers know the client."""
        self._loop.add_reader(self._sock, self._readable)

    def _choose(self, interface: str) -> None:
        try:
            self._sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(interface))
        except OSError:
            raise NoInterface(f"no interface of this machine has the address {interface}") from None

    @property
    def is_open(self) -> bool:
        return self._sock.fileno() >= 0

    def close(self) -> None:
        if self.is_open:
            self._loop.remove_reader(self._sock)
            self._sock.close()
        self._stepped(None)

    def step(self) -> None:
        self._is_stepping_soon = False
        if not self.is_open:
            return
        now = time.monotonic_ns()
        timer = self._node.next_timer()
        if timer is not None and timer <= now:
            self._node.handle_timer(now)
        for data, to in self._node.datagrams_to_send():
            with suppress(OSError):  # it counts as lost, and is repeated
                self._sock.send(data) if self._peer else self._sock.sendto(data, to)
        for event in self._node.events():
            self._on_event(event)
        self._stepped(self._node.next_timer())

    def _readable(self) -> None:
        datagrams: list[tuple[bytes, Address]] = []
        with suppress(OSError):  # nothing more, or an earlier datagram was refused by its destination
            while len(datagrams) < BATCH:
                datagrams.append(self._received())
        self._node.receive_datagrams(datagrams, time.monotonic_ns())
        self.step()

    def _received(self) -> tuple[bytes, Address]:
        if self._peer:
            return self._sock.recv(MAX_DATAGRAM_BYTES), self._peer
        data, source = self._sock.recvfrom(MAX_DATAGRAM_BYTES)
        return data, source[:2]

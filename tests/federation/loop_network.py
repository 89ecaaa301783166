"""A network of brokers in the event loop of a test: the cores behind real sockets, without processes."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.core.chance import Chances
from overlay.core.links import Link
from overlay.core.node import SECOND
from overlay.runtime.clock import wall_offset_ns
from overlay.systems.contract import Setup, System
from overlay.systems.federation.system import SYSTEM
from overlay.systems.roles import Place, server_names
from overlay.topologies import Graph


class LoopServer:
    """One server."""

    def __init__(self, sock: socket.socket, server: Any) -> None:
        self._loop, self._sock, self.server = asyncio.get_running_loop(), sock, server
        self._timer: asyncio.TimerHandle | None = None
        self._loop.add_reader(sock, self._readable)
        self._flush()

    def close(self) -> None:
        """Silent from now on."""
        if self._timer is not None:
            self._timer.cancel()
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock)
            self._sock.close()

    def _readable(self) -> None:
        data, source = self._sock.recvfrom(65_536)
        self.server.receive_datagrams([(data, source)], time.monotonic_ns())
        self._flush()

    def _turn(self) -> None:
        self.server.handle_timer(time.monotonic_ns())
        self._flush()

    def _flush(self) -> None:
        for data, to in self.server.datagrams_to_send():
            self._sock.sendto(data, to)
        self.server.events()
        due = self.server.next_timer()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if due is None else self._loop.call_at(max(due / SECOND, self._loop.time()), self._turn)


class LoopNetwork:
    """Brokers in a chain, and their registration service, if the system has one."""

    def __init__(self, brokers: int, system: System = SYSTEM, **settings: Any) -> None:
        self.system = system
        graph = Graph(brokers, tuple(Link(index, index + 1) for index in range(brokers - 1)))
        self._setup = Setup(system.read_settings(settings), None, graph)
        self.settings = settings
        self.names = server_names(system.roles(self._setup))
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in self.names]
        for one in sockets:
            one.setblocking(False)
            one.bind(("127.0.0.1", 0))
        self.addresses: tuple[Address, ...] = tuple(one.getsockname() for one in sockets)
        self.servers = [self._start(index, one) for index, one in enumerate(sockets)]

    def _start(self, index: int, sock: socket.socket) -> LoopServer:
        place = Place(self.names[index], index, self.addresses[index], self.addresses)
        config = self.system.config_of(self._setup)
        server = self.system.make_server(config, place, Chances.streams(index + 1), wall_offset_ns())
        return LoopServer(sock, server)

    def forget(self, index: int) -> None:
        """Start a server again: it knows nothing."""
        self.servers[index].close()
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setblocking(False)
        sock.bind(self.addresses[index])
        self.servers[index] = self._start(index, sock)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """As a supervisor observes them."""
        up = {"state": "up", "reason": "", "pid": None, "restarts": 0, "since_unix_ms": time.time_ns() // 1_000_000}
        return [
            {"index": index, "name": name, "address": format_address(address), **up}
            for index, (name, address) in enumerate(zip(self.names, self.addresses, strict=True))
        ]

    def close(self) -> None:
        for one in self.servers:
            one.close()

"""A network in one place: servers and clients, which are the real ones, without sockets. Pure.

Datagrams arrive at once and in order. What was said is kept as datagrams; ``messages`` joins them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import Any

from brokerweb.wirelab.channel.assembling import Assembler
from brokerweb.wirelab.lab import Line
from overlay.core.addresses import Address
from overlay.core.chance import Chances, derive_seed
from overlay.core.node import MILLISECOND
from overlay.core.timers import earliest
from overlay.peers.peers import Peers

HOST = "127.0.0.1"
FIRST_PORT = 7_000
SEED = 1
MOST_STEPS = 10_000
"""Datagrams that may follow from one call, so that it ends whatever is said."""


class Village(ABC):
    """``now_ms`` is Unix milliseconds at instant 0. Subclasses place its servers, which come first."""

    def __init__(self, now_ms: int, servers: Sequence[str]) -> None:
        self.now = 0
        self.lines: list[Line] = []
        """What was said, since the last ``forget``."""
        self.nodes: dict[str, Any] = {}
        self.wall_offset_ns = now_ms * MILLISECOND
        self._addresses: dict[str, Address] = {name: (HOST, FIRST_PORT + at) for at, name in enumerate(servers)}
        self._names = {address: name for name, address in self._addresses.items()}

    # ---- who takes part

    @abstractmethod
    def peers_of(self, id: bytes) -> Peers[Any, Any, Any]:
        """Those of a new node with this id on the channel."""

    def stranger(self, name: str, id: bytes = b"") -> Stranger:
        """A node that says only what it is told to. It may take the place of a server. Its id is by default its name's
        bytes."""
        made = Stranger(self.peers_of(id or name.encode()))
        self._place(name, made)
        return made

    def address(self, name: str) -> Address:
        return self._addresses[name]

    def _start(self, name: str, client: Any) -> Any:
        self._place(name, client)
        client.start(self.now)
        self.exchange()
        return client

    def _place(self, name: str, node: Any) -> None:
        address = self._addresses.setdefault(name, (HOST, FIRST_PORT + len(self._addresses)))
        self._names[address] = name
        self.nodes[name] = node

    # ---- what happens

    def wait(self, ms: int) -> None:
        """Let all timers do what they do."""
        until = self.now + ms * MILLISECOND
        while (due := earliest(*(node.next_timer() for node in self.nodes.values()))) is not None and due <= until:
            self.now = max(self.now, due)
            for node in list(self.nodes.values()):
                node.handle_timer(self.now)
            self.exchange()
        self.now = until

    def exchange(self) -> None:
        """Deliver what is sent, and what follows from it."""
        under_way = deque(self._sent())
        for _ in range(MOST_STEPS):
            if not under_way:
                return
            line = under_way.popleft()
            self.lines.append(line)
            if line.receiver in self.nodes:
                source = self._addresses[line.sender]
                self.nodes[line.receiver].receive_datagrams([(line.data, source)], self.now)
            under_way.extend(self._sent())

    def _sent(self) -> list[Line]:
        return [
            Line(name, self._names[to], data)
            for name, node in self.nodes.items()
            for data, to in node.datagrams_to_send()
            if to in self._names
        ]

    def forget(self) -> None:
        self.lines.clear()

    def messages(self) -> list[Line]:
        """What was said, as messages."""
        assembler = Assembler()
        return [
            Line(line.sender, line.receiver, message) for line in self.lines for message in assembler.take(line.data)
        ]


def chances_of(name: str) -> Chances:
    return Chances.streams(derive_seed(SEED, name))


class Stranger:
    """A node without a mind of its own."""

    def __init__(self, peers: Peers[Any, Any, Any]) -> None:
        self.peers = peers

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self.peers.now = now
        for data, source in datagrams:
            self.peers.receive(data, source)
        self.peers.events()

    def handle_timer(self, now: int) -> None:
        self.peers.now = now
        self.peers.channel.handle_timer(now)
        self.peers.events()

    def next_timer(self) -> int | None:
        return self.peers.channel.next_timer()

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self.peers.channel.datagrams_to_send()

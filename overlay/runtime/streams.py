"""The connections of one server over TCP, in the loop of its process, without a thread.

Counterparts: ``overlay.core.streams`` has the interface of the server; ``overlay.runtime.udp`` runs the loop, which
polls all connections by one descriptor.

::

    accept ─> opened        readable ─> received, if it reads        taken ─> sent, or kept until it is writable
    EOF, or too much unsent ─> closed        closed by the server: sent, shut down, and read until EOF or 1 s
"""

from __future__ import annotations

import selectors
import socket
from typing import Final

from overlay.core.addresses import Address, format_address
from overlay.core.node import MILLISECOND, NEVER, SECOND
from overlay.core.streams import StreamUser
from overlay.runtime.udp import CannotBind

BACKLOG: Final = 512
"""Connections that the kernel holds until they are accepted."""
AT_ONCE: Final = 256
"""Maximum connections accepted, and served, in one step; the others are served in the next ones."""
READ_BYTES: Final = 1 << 16
MOST_UNSENT: Final = 1 << 18
"""Bytes for a peer that does not read them; then it is closed."""
MOST_UNSENT_IN_ALL: Final = 1 << 26
"""The same of all peers: then each one that has more to get is closed."""
GOODBYE_NS: Final = SECOND
"""How long a connection that the server has closed may take to end. Closed at once, with unread bytes, the kernel would
reset it, and what was sent last would be lost."""
PAUSE_NS: Final = 100 * MILLISECOND
"""Without a free descriptor, nothing is accepted for so long."""

_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_LISTENER: Final = -1


def open_listener(bind: Address) -> socket.socket:
    """A listening socket, also where one was a moment ago. Raises ``CannotBind``."""
    family = socket.AF_INET6 if ":" in bind[0] else socket.AF_INET
    try:
        found = socket.create_server(bind, family=family, backlog=BACKLOG)
    except OSError as error:
        raise CannotBind(error.errno, error.strerror, f"{format_address(bind)} (TCP)") from None
    found.setblocking(False)
    return found


class _Connection:
    __slots__ = ("events", "is_closing", "is_paused", "out", "sock", "until")

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.out = bytearray()
        self.events = 0
        """That the selector waits for."""
        self.is_paused = False
        """The server does not read it now."""
        self.is_closing = False
        """By the server: it is not read for it any more."""
        self.until = NEVER
        """When it ends in any case, while it is closing."""


class StreamPort:
    """A ``Polled``."""

    def __init__(self, node: StreamUser, listener: socket.socket) -> None:
        """``listener`` is closed with it."""
        self.counters = {"streams_accepted": 0, "streams_slow": 0, "streams_not_accepted": 0}
        """Connections, peers that were closed since they did not read, and times without a free descriptor."""
        self._node = node
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._connections: dict[int, _Connection] = {}
        self._paused: set[int] = set()
        self._closing: set[int] = set()
        self._last = 0
        self._turn = 0
        self._unsent = 0
        """Bytes of all connections."""
        self._listens_at = NEVER
        """When to accept again."""
        self._selector.register(listener, _READ, _LISTENER)

    def descriptors(self) -> list[tuple[int, bool]]:
        return [(self._selector.fileno(), False)]

    def next_timer(self) -> int:
        return min((self._connections[number].until for number in self._closing), default=self._listens_at)

    def handle(self, now: int) -> None:
        for number in [one for one in self._closing if self._connections[one].until <= now]:
            self._drop(number)
        if self._listens_at <= now:
            self._listens_at = NEVER
            self._selector.register(self._listener, _READ, _LISTENER)

    def feed(self, now: int) -> None:
        found = self._selector.select(0)
        if len(found) > AT_ONCE:  # in turn
            self._turn += AT_ONCE
            at = self._turn % len(found)
            found = [*found[at:], *found[:at]][:AT_ONCE]
        for key, events in found:
            if key.data == _LISTENER:
                self._accept(now)
                continue
            if events & _WRITE:
                self._flush(key.data, now)
            if events & _READ and key.data in self._connections:
                self._read(key.data, now)

    def take(self, now: int) -> None:
        written: set[int] = set()
        for number, data in self._node.bytes_to_send():
            connection = self._connections.get(number)
            if connection is not None:
                connection.out += data
                self._unsent += len(data)
                written.add(number)
        for number in written:
            self._flush(number, now)
        for number in self._node.connections_to_close():
            if number in self._connections:
                self._begin_to_close(number, now)
        for number in [one for one in self._paused if self._node.reads(one)]:
            self._pause(number, is_paused=False)

    def close(self, now: int) -> None:
        for number in list(self._connections):
            self._drop(number)
        self._listener.close()
        self._selector.close()

    # ---- connections

    def _accept(self, now: int) -> None:
        for _ in range(AT_ONCE):
            try:
                sock, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                self.counters["streams_not_accepted"] += 1
                self._selector.unregister(self._listener)
                self._listens_at = now + PAUSE_NS
                return
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._last += 1
            self._connections[self._last] = _Connection(sock)
            self.counters["streams_accepted"] += 1
            self._wait_for(self._last)
            self._node.opened(self._last, now)

    def _read(self, number: int, now: int) -> None:
        connection = self._connections[number]
        if not connection.is_closing and not self._node.reads(number):
            self._pause(number, is_paused=True)
            return
        try:
            data = connection.sock.recv(READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._lose(number, now)
        elif not connection.is_closing:
            self._node.received(number, data, now)

    def _flush(self, number: int, now: int) -> None:
        """Send what is possible."""
        connection = self._connections[number]
        before = len(connection.out)
        try:
            while connection.out:
                del connection.out[: connection.sock.send(connection.out)]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self._lose(number, now)
            return
        left = len(connection.out)
        self._unsent -= before - left
        if left > MOST_UNSENT or (left and self._unsent > MOST_UNSENT_IN_ALL):
            self.counters["streams_slow"] += 1
            self._lose(number, now)
            return
        if connection.is_closing and not left:
            self._shut_down(number, now)
            return
        self._wait_for(number)

    def _begin_to_close(self, number: int, now: int) -> None:
        connection = self._connections[number]
        connection.is_closing, connection.until = True, now + GOODBYE_NS
        self._closing.add(number)
        self._paused.discard(number)
        connection.is_paused = False
        self._flush(number, now)

    def _shut_down(self, number: int, now: int) -> None:
        """Nothing more comes from here; what the peer still sends is not looked at."""
        try:
            self._connections[number].sock.shutdown(socket.SHUT_WR)
        except OSError:
            self._lose(number, now)
            return
        self._wait_for(number)

    def _lose(self, number: int, now: int) -> None:
        """It is gone, and the server is told unless it knows."""
        is_known = self._connections[number].is_closing
        self._drop(number)
        if not is_known:
            self._node.closed(number, now)

    def _drop(self, number: int) -> None:
        connection = self._connections.pop(number)
        self._unsent -= len(connection.out)
        self._paused.discard(number)
        self._closing.discard(number)
        if connection.events:
            self._selector.unregister(connection.sock)
        connection.sock.close()

    def _pause(self, number: int, *, is_paused: bool) -> None:
        self._connections[number].is_paused = is_paused
        (self._paused.add if is_paused else self._paused.discard)(number)
        self._wait_for(number)

    def _wait_for(self, number: int) -> None:
        """Let the selector wait for what the connection can do."""
        connection = self._connections[number]
        events = _READ * (not connection.is_paused) | _WRITE * bool(connection.out)
        if events == connection.events:
            return
        if not connection.events:
            self._selector.register(connection.sock, events, number)
        elif not events:
            self._selector.unregister(connection.sock)
        else:
            self._selector.modify(connection.sock, events, number)
        connection.events = events

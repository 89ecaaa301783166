"""Follows all brokers of a network in an event loop, for any process that needs a view of it.

Counterpart: ``overlay.systems.context_broker.view``, which decides; this adds a socket per broker and one timer::

    follower = NetworkFollower(brokers)            # in the event loop
    await follower.has_read(timeout_s=5)
    for entry in follower.view.valid(wall_ms()): ...
    remove = follower.listen(on_changes)           # called after the view has changed
    follower.follow(other_brokers)                 # at any time
    follower.close()
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.context_broker.view.polls import Poll
from overlay.systems.context_broker.view.view import REFUSED, UNREAD, NetworkView

MOST_BROKERS = 1_000
"""Brokers of one network; each is an open file."""
MOST_SLEEP_S = 3600.0
"""The longest timer: expiry follows the wall clock, which may be set."""

Listener = Callable[[], object]
log = logging.getLogger(__name__)


class TooManyBrokers(ValueError):
    """The network has more than ``MOST_BROKERS`` brokers."""


def wall_ms() -> int:
    """Unix milliseconds."""
    return time.time_ns() // MILLISECOND


class NetworkFollower:
    """Create and ``close`` it in the event loop. The brokers must trust this host's address."""

    def __init__(self, brokers: Collection[Address] = (), view: NetworkView | None = None) -> None:
        """Raises ``TooManyBrokers``."""
        self.view = view or NetworkView(wall_ms())
        self._loop = asyncio.get_running_loop()
        self._links: dict[Address, _Link] = {}
        self._listeners: dict[object, Listener] = {}
        self._waiters: set[asyncio.Future[None]] = set()
        self._told = self.view.log.last
        self._timer: asyncio.TimerHandle | None = None
        self._last_stamp = 0
        self._is_closed = False
        self.follow(brokers)

    def follow(self, brokers: Collection[Address]) -> None:
        """These are the network's brokers now. What only others held is dropped. Raises ``TooManyBrokers``."""
        if len(brokers) > MOST_BROKERS:
            raise TooManyBrokers(f"a network of {len(brokers)} brokers; the limit is {MOST_BROKERS}")
        wanted = dict.fromkeys(brokers)
        if self._is_closed or wanted.keys() == self._links.keys():
            return
        self.view.keep(wanted, wall_ms())
        for broker in [one for one in self._links if one not in wanted]:
            self._links.pop(broker).close()
        for broker in wanted:
            if broker not in self._links:
                self._links[broker] = _Link(self, broker)
        self._turn()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call it after each change of the view, in the event loop; it must not block. Returns how to stop that."""
        token = object()
        self._listeners[token] = listener
        return lambda: self._listeners.pop(token, None) and None

    async def has_read(self, timeout_s: float) -> bool:
        """Whether each broker has been read to the end, or found not to answer, at once or within the time."""
        return await self._until(lambda: UNREAD not in self.view.missing.values(), timeout_s)

    async def refreshed(self, brokers: Iterable[Address], timeout_s: float) -> bool:
        """Whether the view has all that these brokers have acknowledged before this call, within the time.

        Those that are silent, or not followed, are not waited for.
        """
        wanted = [(link, link.refresh()) for broker in set(brokers) if (link := self._links.get(broker)) is not None]
        if not wanted:
            return True
        self._arm(time.monotonic_ns())
        return await self._until(lambda: all(link.has_read(stamp) for link, stamp in wanted), timeout_s)

    def close(self) -> None:
        """Stop following. The view stays as it is; those who wait get their answer."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._links:
            self._links.popitem()[1].close()
        self._listeners.clear()
        self._wake()

    async def _until(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        end = self._loop.time() + timeout_s
        while not condition() and not self._is_closed and self._loop.time() < end:
            waiter = self._loop.create_future()
            self._waiters.add(waiter)
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(end):
                        await waiter
            finally:
                self._waiters.discard(waiter)
        return condition()

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _turn(self) -> None:
        """Ask whom it is time for, expire, tell what has changed, and set the timer."""
        if self._is_closed:
            return
        now = time.monotonic_ns()
        for link in list(self._links.values()):
            if link.poll.due <= now:
                link.ask(now)
        self.view.expire(wall_ms())
        self._tell()
        self._arm(now)

    def _tell(self) -> None:
        if self.view.log.last != self._told:
            self._told = self.view.log.last
            for listener in list(self._listeners.values()):
                try:
                    listener()
                except Exception:
                    log.exception("a listener to the changes of a network failed")
        self._wake()

    def _arm(self, now: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        waits = [MOST_SLEEP_S, *((link.poll.due - now) / SECOND for link in self._links.values())]
        expiry = self.view.next_expiry()
        if expiry is not None:
            waits.append((expiry - wall_ms()) / 1000)
        self._timer = self._loop.call_later(max(0.0, min(waits)), self._turn)

    def _stamp(self) -> int:
        self._last_stamp = max(wall_ms(), self._last_stamp + 1)
        return self._last_stamp


class _Link:
    """The socket to one broker, and when it is asked."""

    def __init__(self, follower: NetworkFollower, broker: Address) -> None:
        self.poll = Poll(time.monotonic_ns())
        self._follower = follower
        self._broker = broker
        self._sock: socket.socket | None = None
        self._is_closed = False
        self._wanted = 0
        """The timestamp of a question that must be answered soon."""

    def refresh(self) -> int:
        """Ask for an answer at once: now, or when the question that is on its way is answered. Returns a timestamp that
        the question has at least."""
        self._wanted = self._follower._last_stamp + 1
        now = time.monotonic_ns()
        if self.poll.may_hurry(now):
            self.ask(now)
        return self._wanted

    def has_read(self, stamp: int) -> bool:
        """Whether that question has been answered, or will not be."""
        return self.poll.is_silent or self._is_closed or self._follower.view.is_read(self._broker, stamp)

    def ask(self, now: int) -> None:
        view = self._follower.view
        waits = self.poll.is_first and view.is_read(self._broker, self._wanted)
        question = view.ask(self._broker, self._follower._stamp(), waits=waits)
        self.poll.asked(now, view.waits_ms(self._broker) if waits else 0)
        if self.poll.is_silent:
            view.unheard(self._broker)
        try:
            self._socket().send(question)
        except BlockingIOError:  # as if the network had lost it
            pass
        except OSError:
            self._failed(now)

    def close(self) -> None:
        self._is_closed = True
        sock, self._sock = self._sock, None
        if sock is not None:
            if not self._follower._loop.is_closed():
                self._follower._loop.remove_reader(sock)
            sock.close()

    def _socket(self) -> socket.socket:
        """Raises ``OSError`` without a route."""
        if self._sock is None:
            sock = socket.socket(socket.AF_INET6 if ":" in self._broker[0] else socket.AF_INET, socket.SOCK_DGRAM)
            try:
                sock.setblocking(False)
                sock.connect(self._broker)
            except OSError:
                sock.close()
                raise
            self._sock = sock
            self._follower._loop.add_reader(sock, self._readable)
        return self._sock

    def _readable(self) -> None:
        if self._sock is None:
            return
        now = time.monotonic_ns()
        try:
            data = self._sock.recv(MAX_DATAGRAM_BYTES)
        except BlockingIOError:
            return
        except OSError:  # its host reports a closed port
            self._failed(now)
        else:
            self._received(data, now)
        self._follower._turn()

    def _received(self, data: bytes, now: int) -> None:
        view = self._follower.view
        if view.read(self._broker, data, wall_ms()):
            self.poll.answered(now)
        elif view.is_refusal(self._broker, data):
            self.poll.failed(now)
            view.unheard(self._broker, REFUSED)

    def _failed(self, now: int) -> None:
        self.poll.failed(now)
        self._follower.view.unheard(self._broker)

"""Back-pressure: while the queue of X is full, only X is heard, until that queue is at half (seed 002, section 5).

The channel withholds the acknowledgements of all others, so their queues fill in turn. X itself is never made to wait
for X: on a tree, no circle of waiting can close.

Here is also what does not fit into a full queue: one step may lead to many messages, such as all that a new neighbour
is to know. The messages of others that were in hand when X became full wait, too, at most a window of each.

A client may do this to others by reading nothing, though its channel is alive. So it waits itself once as many answers
as a queue holds do not fit, and who takes too little is to be given up (``Clients.ring_full``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

Take = Callable[[bytes, Any], None]
"""Handles a message of a peer."""


class Pressure:
    def __init__(self, peers: Any, queue: int, brokers: Container[bytes], full: Callable[[bytes, bool], None]) -> None:
        """``full`` is called when the queue of a peer has become full, and when it no longer is."""
        self._peers, self._queue, self._brokers, self._changed = peers, queue, brokers, full
        self._full: dict[bytes, deque[Any]] = {}
        """By peer with a full queue, what did not fit."""
        self._left: dict[bytes, int] = {}
        """By peer with a full queue, the messages that waited for it at the last look."""
        self._sessions: dict[bytes, None] = {}
        self._paused: dict[bytes, None] = {}
        self._held: dict[bytes, deque[Any]] = {}
        """By peer that waits, its messages that were in hand."""
        self.filled = 0
        """How often a queue became full."""

    def __contains__(self, peer: bytes) -> bool:
        """Whether its queue is full."""
        return peer in self._full

    @property
    def full(self) -> int:
        return len(self._full)

    @property
    def is_felt(self) -> bool:
        """Whether anyone waits, or has a full queue. Its session may have ended meanwhile."""
        return bool(self._full or self._paused or self._held)

    @property
    def paused(self) -> int:
        return len(self._paused)

    @property
    def waiting(self) -> int:
        """Messages that did not fit, or were in hand."""
        return sum(map(len, self._full.values())) + sum(map(len, self._held.values()))

    def takes(self, peer: bytes, least: int) -> bool:
        """Whether at least so many messages fewer wait for a peer with a full queue than at the last look."""
        before, self._left[peer] = self._left[peer], self._peers.queued(peer) + len(self._full[peer])
        return self._left[peer] <= before - least

    # ---- sessions

    def up(self, peer: bytes) -> None:
        self._sessions[peer] = None
        if self._must_wait(peer):
            self._pause(peer)

    def held(self, peer: bytes) -> Iterable[Any]:
        """What it sent and was not handled, as its session ends."""
        return self._held.pop(peer, ())

    def down(self, peer: bytes) -> Iterable[Any]:
        """Its session has ended. Returns what did not fit into its queue."""
        self._sessions.pop(peer, None)
        self._paused.pop(peer, None)
        self._held.pop(peer, None)
        return self._empty(peer) if peer in self._full else ()

    # ---- messages

    def send(self, peer: bytes, message: Any) -> bool:
        """``False`` without a session, or if it is too large."""
        beyond = self._full.get(peer)
        if beyond is not None:
            beyond.append(message)
            if peer in self._sessions and peer not in self._paused and self._must_wait(peer):
                self._pause(peer)
            return True
        is_sent: bool = self._peers.send(peer, message)
        if is_sent and self._peers.is_full(peer):
            self._fill(peer)
        return is_sent

    def send_each(self, peers: Sequence[bytes], message: Any) -> None:
        """The same message, written once."""
        now = [peer for peer in peers if peer not in self._full]
        for peer in peers:
            if peer in self._full:
                self._full[peer].append(message)
        for peer in self._peers.send_each(now, message):
            if self._peers.is_full(peer):
                self._fill(peer)

    def holds(self, peer: bytes, message: Any) -> bool:
        """Whether a message of this peer, which is in hand, is to wait; then it is here."""
        if not self._full or not self._must_wait(peer):
            return False
        self._held.setdefault(peer, deque()).append(message)
        return True

    def relieve(self, take: Take, hear: Callable[[], None]) -> None:
        """After each step. ``hear`` handles what the channel delivers once a session is resumed."""
        for peer in list(self._full):
            self._drain(peer)
        for peer in list(self._held):
            held = self._held.get(peer)
            while held and not self._must_wait(peer):
                take(peer, held.popleft())
            if not held:
                self._held.pop(peer, None)
        for peer in list(self._paused):
            if peer in self._paused and not self._must_wait(peer):
                del self._paused[peer]
                self._peers.resume(peer)
                hear()

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        for peer in self._sessions:
            assert self._must_wait(peer) == (peer in self._paused), peer
        assert not any(not held or not self._must_wait(peer) for peer, held in self._held.items())
        assert self._paused.keys() <= self._sessions.keys()
        assert self._left.keys() == self._full.keys()

    # ---- inner

    def _must_wait(self, peer: bytes) -> bool:
        beyond = self._full.get(peer)
        if beyond is None or len(self._full) > 1:
            return bool(self._full)
        return len(beyond) >= self._queue and peer not in self._brokers

    def _fill(self, peer: bytes) -> None:
        self.filled += 1
        self._full[peer] = deque()
        self._left[peer] = self._queue
        self._changed(peer, True)
        if len(self._full) <= 2:  # with more, all wait already
            for other in self._sessions:
                if other not in self._paused and self._must_wait(other):
                    self._pause(other)

    def _pause(self, peer: bytes) -> None:
        self._paused[peer] = None
        self._peers.pause(peer)

    def _drain(self, peer: bytes) -> None:
        """Once the queue is at half, what did not fit goes into it."""
        if self._peers.is_full(peer) or self._peers.queued(peer) > self._queue // 2:
            return
        beyond = self._full[peer]
        while beyond and not self._peers.is_full(peer):
            self._peers.send(peer, beyond.popleft())
        if not self._peers.is_full(peer):
            self._empty(peer)

    def _empty(self, peer: bytes) -> Iterable[Any]:
        """Its queue is full no longer."""
        self._changed(peer, False)
        del self._left[peer]
        return self._full.pop(peer)

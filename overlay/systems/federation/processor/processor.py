"""The queue of a broker's modelled processor.

Messages begin their service in order of arrival, each as soon as a processor is free; those that cost nothing keep
their place. As nothing that comes later changes this, the end of a service is known when its message arrives. A message
takes effect at that end, and with several processors not before the earlier ones of its sender have.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush, heapreplace
from itertools import count

from overlay.core.chance import Chance
from overlay.systems.federation.processor.service import draws, is_visit
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m

PAUSE_AT = 256
"""Queued messages of one peer from which it is to stop sending."""
RESUME_AT = PAUSE_AT // 2
"""And with which it may send again."""
MOST = 1_024
"""Queued messages of one peer. It may have sent a window of the channel (256) before it learns of a pause; more come
only from one that disregards pauses."""


class _Sender:
    """What one peer has in the queue."""

    __slots__ = ("is_paused", "last", "queued")

    def __init__(self) -> None:
        self.queued = 0
        self.last = 0
        """When the newest of them takes effect."""
        self.is_paused = False


class Processor:
    """``arrive`` for each message, ``served`` at each step, then ``take_resumed``."""

    def __init__(self, settings: Settings, is_mobile: bool, chance: Chance) -> None:
        self.is_instant = not settings.service_ms
        """Whether messages take no time, so that they need not be queued."""
        self.visits = 0
        """Messages served that cost time, or would with ``service_ms``."""
        self.busy_ns = 0
        """Service time of the messages served, of all processors together."""
        self._draw = draws(settings, is_mobile, chance)
        self._free = [0] * settings.processors
        """A heap: when each processor is free."""
        self.arrived = 0
        """When the message that was served last had arrived."""
        self._queue: list[tuple[int, int, int, int, str, m.Message]] = []
        """A heap: when it takes effect, order of arrival, when it arrived, service time, sender, message."""
        self._order = count()
        self._senders: dict[str, _Sender] = {}
        self._resumed: list[str] = []

    def __len__(self) -> int:
        """Messages waiting or in service."""
        return len(self._queue)

    def count(self, message: m.Message) -> None:
        """One that is handled at once."""
        self.visits += is_visit(message)

    def arrive(self, peer: str, message: m.Message, now: int) -> bool:
        """Queue a message. ``False`` if the peer has too many in the queue, and this one was not taken."""
        sender = self._senders.setdefault(peer, _Sender())
        if sender.queued >= MOST:
            return False
        work = self._draw() if is_visit(message) else 0
        end = max(now, self._free[0]) + work
        heapreplace(self._free, end)
        sender.last = effect = max(end, sender.last)
        sender.queued += 1
        sender.is_paused = sender.is_paused or sender.queued >= PAUSE_AT
        heappush(self._queue, (effect, next(self._order), now, work, peer, message))
        return True

    def must_pause(self, peer: str) -> bool:
        """Whether the peer is to stop sending until ``take_resumed`` names it. To be asked after each arrival: a new
        session knows nothing of the pause of an old one."""
        return self._senders[peer].is_paused

    def served(self, now: int) -> Iterator[tuple[str, m.Message]]:
        """Those whose service has ended by ``now``, in the order in which they take effect."""
        queue = self._queue
        while queue and queue[0][0] <= now:
            _, _, self.arrived, work, peer, message = heappop(queue)
            self.busy_ns += work
            self.count(message)
            self._leave(peer)
            yield peer, message

    def take_resumed(self) -> list[str]:
        """Peers that may send again since the last call."""
        resumed, self._resumed = self._resumed, []
        return resumed

    def next_timer(self) -> int | None:
        return self._queue[0][0] if self._queue else None

    def check_invariants(self) -> None:
        """(I8). Raises ``AssertionError``."""
        queued = dict.fromkeys(self._senders, 0)
        last = dict.fromkeys(self._senders, 0)
        for effect, _, _, _, peer, _ in sorted(self._queue, key=lambda entry: entry[1]):
            queued[peer] += 1
            assert effect >= last[peer], f"messages of {peer} change their order"
            last[peer] = effect
        for peer, sender in self._senders.items():
            assert 0 < sender.queued == queued[peer] <= MOST
            assert last[peer] == sender.last
            assert sender.is_paused or sender.queued < PAUSE_AT
        assert self._free[0] == min(self._free)

    def _leave(self, peer: str) -> None:
        sender = self._senders[peer]
        sender.queued -= 1
        if sender.is_paused and sender.queued <= RESUME_AT:
            sender.is_paused = False
            self._resumed.append(peer)
        if not sender.queued:
            del self._senders[peer]

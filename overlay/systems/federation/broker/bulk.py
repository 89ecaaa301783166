"""Bulk mode of mobile brokers (seed 001, section 6.1 of the paper; contract, section 11): new subscriptions of low
priority wait, and go to neighbours together. ``BulkQueue`` is pure; ``Bulk`` is it in a broker.

    T = shortest time to expiry in the queue     γ = T / 2     d = a + γ at each addition, at instant a

The queue is sent at d, or when it has ω subscriptions. Expired and removed ones leave it, and were then never told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from overlay.core.node import MILLISECOND
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.tables.destinations import Destination, neighbour
from overlay.systems.federation.tables.outlets import Change
from overlay.systems.federation.wire.values import Priority, Subscription, SubscriptionId

POSTPONED = "postponed"
"""Setting ``bulk_deadline``: each addition sets d. Otherwise it may only bring it forward."""


@dataclass(slots=True)
class _Waiting:
    since: int
    """In ns."""
    destinations: dict[Destination, tuple[Subscription, int]] = field(default_factory=dict)
    """What each is to be told, which merging may make different, and its expiry in ns."""


class BulkQueue:
    """``hold`` for what neighbours are to be told; ``flush`` when ``is_full``, and at ``deadline``."""

    def __init__(self, omega: int, *, is_postponed: bool = False) -> None:
        self.omega, self._is_postponed = omega, is_postponed
        self.deadline: int | None = None
        """d; ``None`` while the queue is empty."""
        self._waiting: dict[SubscriptionId, _Waiting] = {}

    def __len__(self) -> int:
        """m"""
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        return len(self._waiting) >= self.omega

    def hold(self, change: Change, now: int, expires_at: Callable[[Subscription], int]) -> Change:
        """Put new subscriptions of low priority into the queue. Returns what goes at once, which may be nothing.

        Renewals go at once, since the neighbour would drop the subscription otherwise. So do additions next to a
        removal: the removed one may have covered them until now.
        """
        where = change.destination
        removed = tuple(sid for sid in change.removed if not self._drop(sid, where))
        at_once = []
        for one in change.added:
            waits = self._waits(one.id, where)
            if removed or one.priority is not Priority.LOW or (one.id in change.renewed and not waits):
                self._drop(one.id, where)
                at_once.append(one)
            else:
                self._add(one, where, now, expires_at(one))
        return replace(change, added=tuple(at_once), removed=removed)

    def forget(self, where: Destination) -> None:
        """It was told everything."""
        for sid in [sid for sid in self._waiting if self._waits(sid, where)]:
            self._drop(sid, where)

    def flush(self) -> list[Change]:
        """All that waits, by destination."""
        found: dict[Destination, list[Subscription]] = {}
        for one in self._waiting.values():
            for where, (subscription, _) in one.destinations.items():
                found.setdefault(where, []).append(subscription)
        self._waiting.clear()
        self.deadline = None
        return [Change(where, tuple(several), ()) for where, several in found.items()]

    def waiting(self) -> Iterator[tuple[Subscription, int, list[str]]]:
        """Each, since when it waits (ns), and the neighbours for which it does."""
        for one in self._waiting.values():
            subscriptions = [subscription for subscription, _ in one.destinations.values()]
            yield subscriptions[0], one.since, [where.id for where in one.destinations]

    def delays(self, now: int) -> Iterable[int]:
        """How long each has waited, ns."""
        return [now - one.since for one in self._waiting.values()]

    def check_invariants(self, now: int) -> None:
        """(I7). Raises ``AssertionError``."""
        assert len(self._waiting) < self.omega, "(I7) the queue is full"
        assert (self.deadline is None) == (not self._waiting)
        assert self.deadline is None or self.deadline > now, "(I7) the deadline has passed"
        assert all(one.destinations for one in self._waiting.values())

    # ---- inner

    def _waits(self, sid: SubscriptionId, where: Destination) -> bool:
        one = self._waiting.get(sid)
        return one is not None and where in one.destinations

    def _add(self, subscription: Subscription, where: Destination, now: int, expires_at: int) -> None:
        self._waiting.setdefault(subscription.id, _Waiting(now)).destinations[where] = subscription, expires_at
        first = min(at for one in self._waiting.values() for _, at in one.destinations.values())
        half = now + max(0, first - now) // 2
        is_later = self.deadline is not None and half > self.deadline
        if self.deadline is None or self._is_postponed or not is_later:
            self.deadline = half

    def _drop(self, sid: SubscriptionId, where: Destination) -> bool:
        """Whether it was waiting for this destination."""
        one = self._waiting.get(sid)
        if one is None or where not in one.destinations:
            return False
        del one.destinations[where]
        if not one.destinations:
            del self._waiting[sid]
        if not self._waiting:
            self.deadline = None
        return True


class Bulk:
    """Between the tables of a mobile broker and its neighbours: ``tell`` for each change, then ``settle``."""

    def __init__(self, station: Station, send: Callable[[Change], None]) -> None:
        settings = station.settings
        self._station, self._send = station, send
        self._queue = BulkQueue(settings.omega, is_postponed=settings.bulk_deadline == POSTPONED)
        self._set: int | None = None
        """The deadline of the timer."""

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def deadline(self) -> int | None:
        """d, ns; ``None`` while nothing waits."""
        return self._queue.deadline

    @property
    def omega(self) -> int:
        return self._queue.omega

    def waiting(self) -> Iterator[tuple[Subscription, int, list[str]]]:
        """As ``BulkQueue.waiting``."""
        return self._queue.waiting()

    def tell(self, change: Change) -> None:
        peers = self._station.peers
        at_once = self._queue.hold(change, peers.now, lambda one: peers.at_wall_ms(one.expires))
        if at_once.added or at_once.removed:
            self._send(at_once)

    def forget(self, broker: str) -> None:
        """It was told all, in a complete table."""
        self._queue.forget(neighbour(broker))
        self._set_timer()

    def settle(self) -> None:
        """After the changes of a step. What one step adds goes together, even if it is more than ω."""
        deadline, now = self._queue.deadline, self._station.now
        if deadline is not None and (self._queue.is_full or deadline <= now):
            self._flush()
        self._set_timer()

    def ring(self, key: str) -> None:
        """``Clock.BULK``."""
        self._set = None
        self._flush()

    def check_invariants(self) -> None:
        self._queue.check_invariants(self._station.now)
        assert ((Clock.BULK, "") in self._station.timers) == (self._queue.deadline is not None)

    def _flush(self) -> None:
        counters, delays = self._station.counters, list(self._queue.delays(self._station.now))
        counters["bulk_batches"] += 1
        counters["bulk_sent"] += len(delays)
        counters["bulk_delay_ms"] += sum(delays) // MILLISECOND
        for change in self._queue.flush():
            self._send(change)

    def _set_timer(self) -> None:
        deadline = self._queue.deadline
        if deadline == self._set:
            return
        self._set = deadline
        if deadline is None:
            self._station.cancel(Clock.BULK, "")
        else:
            self._station.set_timer(Clock.BULK, "", deadline)

"""Drives actors in virtual time. Counterpart of the loops in ``overlay.runtime``.

In each instant, an actor gets everything that arrives, its timer fires if it is due, and its output is collected.
Waking an actor without any work has no effect.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from hashlib import blake2b
from heapq import heappop, heappush
from typing import Any

from overlay.core.addresses import Address, format_address
from overlay.core.node import SECOND
from overlay.sim.network import Network
from overlay.sim.schedule import ARRIVAL, FAULT, STEP, Action, Schedule

WALL_OFFSET_NS = 1_700_000_000 * SECOND
"""Unix time minus simulated time, the same for all."""

Outgoing = tuple[bytes, Address, Address]
"""A datagram, its source and its destination."""


MOST_UNDIGESTED = 1024
"""Pieces collected for the digest before they are hashed together, which is faster."""


class Actor(ABC):
    """Anything with addresses; ``overlay.sim.actors`` has the implementations."""

    __slots__ = ("is_ready", "rings")

    leaves_at = 0
    """When the output of a step leaves, if later than the step."""

    def __init__(self) -> None:
        self.is_ready = False
        """Whether it steps in this instant."""
        self.rings: tuple[int, ...] = ()
        """The times at which it is scheduled to step, the next one last. After each step it returns its next timer."""

    @abstractmethod
    def receive(self, data: bytes, source: Address, to: Address, now: int) -> int | None:
        """When it steps because of this datagram, if not in this instant."""

    @abstractmethod
    def step(self, now: int) -> Sequence[Outgoing]: ...
    @abstractmethod
    def next_timer(self) -> int | None: ...

    def busy_us(self) -> int:
        """Processor time used, microseconds; 0 for actors without service times."""
        return 0

    def notice(self, now: int) -> int | None:
        """There is input that it will ask for (``actors.Feed``). When it steps because of it, if not in this
        instant."""
        return None


class UnknownAddress(AssertionError):
    """A datagram to an address that was never in use: in a closed simulation always a bug."""


class Simulator:
    """A run: its schedule, its network, its actors, and the digest of all deliveries."""

    def __init__(self, network: Network, *, strict: bool = True) -> None:
        self.network = network
        self.on_sent: list[Callable[[int, bytes, Address, Address], None]] = []
        """Called with now, datagram, source and destination before transmission."""
        self.on_delivered: list[Callable[[int, bytes, Address, Address], None]] = []
        """The same, before delivery."""
        self.on_stepped: list[Callable[[int, Actor], None]] = []
        """Called with now and an actor after its step, when all its output has been sent."""
        self.delivered = 0
        self.stepped = 0
        """Number of steps of actors."""
        self.to_nobody = 0
        """Datagrams that arrived at closed addresses."""
        self._strict = strict
        self._schedule = Schedule()
        self._heap, self._order = self._schedule.heap, self._schedule.order
        self._actors: dict[Address, Actor] = {}
        self._names: dict[Address, bytes] = {}
        """The encoding of every address ever used, for the digest."""
        self._ready: deque[Actor] = deque()
        """Actors that step in this instant, after all arrivals. Most steps take this path and bypass the heap."""
        self._digest = blake2b(digest_size=16)
        self._undigested: list[bytes] = []

    @property
    def now(self) -> int:
        return self._schedule.now

    @property
    def scheduled(self) -> int:
        """The number of pending events: datagrams in transit, timers, and actions passed to ``at``."""
        return len(self._schedule)

    @property
    def digest(self) -> str:
        """BLAKE2b over every delivered datagram: time, source, destination and bytes; and over records of a log."""
        self._hash()
        return self._digest.hexdigest()

    # ---- addresses

    def listen(self, address: Address, actor: Actor) -> None:
        """Assign an address to ``actor`` and wake it."""
        if address in self._actors:
            raise ValueError(f"{format_address(address)} is in use")
        self._actors[address] = actor
        self._names[address] = str(address).encode()
        self.wake(actor)

    def is_taken(self, address: Address) -> bool:
        """Whether the address is in use."""
        return address in self._actors

    def close(self, address: Address) -> None:
        """Close an address. Datagrams that arrive later, even if already in transit, are lost."""
        del self._actors[address]
        self.network.forget(address)

    def remove(self, actor: Actor) -> None:
        """Remove ``actor``: its addresses are closed and it takes no further steps. Links stay for its successor."""
        for address in [address for address, other in self._actors.items() if other is actor]:
            del self._actors[address]
        actor.is_ready, actor.rings = False, ()

    def wake(self, actor: Actor) -> None:
        """Let an actor step now, because something other than a datagram or its timer has changed it."""
        if not actor.is_ready:
            actor.is_ready = True
            self._ready.append(actor)

    def notify(self, actor: Actor) -> None:
        """Let an actor step because there is input that it will ask for."""
        self._expect(actor, actor.notice(self._schedule.now))

    def note(self, *pieces: bytes) -> None:
        """Count input that is no datagram in the digest."""
        self._undigested += pieces
        if len(self._undigested) >= MOST_UNDIGESTED:
            self._hash()

    # ---- time

    def at(self, time: int, action: Action) -> None:
        """Run an action at ``time``, before all other events of that instant."""
        self._schedule.at(time, FAULT, action)

    def next_place(self) -> int:
        """The place of the next timer: timers of one instant ring in the order in which they were set."""
        return next(self._order)

    def at_place(self, time: int, place: int, action: Callable[..., None], *arguments: Any) -> None:
        """Run an action like a timer set at ``place``."""
        heappush(self._heap, (time, STEP, place, action, arguments))

    def run_until(self, time: int) -> None:
        self._run(time)
        self._schedule.pass_to(time)

    def run_for(self, duration: int) -> None:
        self.run_until(self.now + duration)

    def run_while(self, is_unfinished: Callable[[], bool], at_most: int) -> None:
        """Run while ``is_unfinished``. Raises ``TimeoutError`` after ``at_most`` nanoseconds."""
        self._run(self.now + at_most, is_unfinished)
        if is_unfinished():
            raise TimeoutError(f"still unfinished after {at_most / SECOND:g} simulated seconds")

    def step(self, actor: Actor) -> None:
        """Let an actor step at once, send its output and set its timer."""
        actor.is_ready, time = False, self._schedule.now
        self.stepped += 1
        outgoing = actor.step(time)
        if outgoing:
            self._send(outgoing, actor.leaves_at or time)
        timer = actor.next_timer()
        if timer is not None:
            assert timer > time, f"{actor!r} set a timer for {timer} ns at {time} ns, which would loop for ever"
            self._arm(actor, timer)
        for watch in self.on_stepped:
            watch(time, actor)

    # ---- parts of the above

    def _run(self, until: int, goes_on: Callable[[], bool] | None = None) -> None:
        """Run all events up to ``until``, while ``goes_on``.

        The schedule's code is inlined here: calls for each of millions of events would take a tenth of a run.
        """
        schedule, ready, due = self._schedule, self._ready, self._heap
        while goes_on is None or goes_on():
            if due and due[0][0] <= (schedule.now if ready else until):
                schedule.now, _, _, action, arguments = heappop(due)
                action(*arguments)
            elif ready:
                actor = ready.popleft()
                if actor.is_ready:  # it has neither stepped nor been removed since
                    self.step(actor)
            else:
                return

    def _ring(self, actor: Actor, time: int) -> None:
        if actor.rings and actor.rings[-1] == time:
            actor.rings = actor.rings[:-1]
            self.step(actor)

    def _arm(self, actor: Actor, time: int) -> None:
        if not actor.rings or time < actor.rings[-1]:
            actor.rings += (time,)
            heappush(self._heap, (time, STEP, next(self._order), self._ring, (actor, time)))

    def _send(self, outgoing: Sequence[Outgoing], now: int) -> None:
        """Datagrams that arrive at the same place and time are one event: a request has three answers."""
        together: list[bytes] = []
        where: tuple[int, Address, Address] | None = None
        for data, source, to in outgoing:
            for watch in self.on_sent:
                watch(now, data, source, to)
            if self._strict and to not in self._names:
                raise UnknownAddress(
                    f"{format_address(source)} sent {data[:80]!r} to {format_address(to)}: no actor ever"
                )
            for time, arriving in self.network.transmit(data, source, to, now):
                if where == (time, source, to):
                    together.append(arriving)
                else:
                    together, where = [arriving], (time, source, to)
                    heappush(self._heap, (time, ARRIVAL, next(self._order), self._arrive, (together, source, to)))

    def _arrive(self, together: list[bytes], source: Address, to: Address) -> None:
        actor = self._actors.get(to)
        if actor is None:
            self.to_nobody += len(together)
            return
        now, names, later = self._schedule.now, self._names, None
        self.delivered += len(together)
        for data in together:
            self._undigested += (b"%d|%b|%b|%d|" % (now, names[source], names[to], len(data)), data)
            for watch in self.on_delivered:
                watch(now, data, source, to)
            later = actor.receive(data, source, to, now)
        if len(self._undigested) >= MOST_UNDIGESTED:
            self._hash()
        self._expect(actor, later)

    def _expect(self, actor: Actor, later: int | None) -> None:
        if later is not None and later > self._schedule.now:
            self._arm(actor, later)
        elif not actor.is_ready:
            actor.is_ready = True
            self._ready.append(actor)

    def _hash(self) -> None:
        self._digest.update(b"".join(self._undigested))
        self._undigested.clear()

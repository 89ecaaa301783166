"""Drives actors in virtual time. Counterpart of the loops in ``overlay.runtime``.

An instant of an actor: everything that arrives for it is fed, a timer that is due fires, it is drained. An actor that
is woken and has nothing to do is harmless.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from hashlib import blake2b
from heapq import heappop, heappush

from overlay.core.addresses import Address, format_address
from overlay.core.node import SECOND
from overlay.sim.network import Network
from overlay.sim.schedule import ARRIVAL, FAULT, STEP, Action, Schedule

WALL_OFFSET_NS = 1_700_000_000 * SECOND
"""Unix time minus simulated time, the same for all."""

Outgoing = tuple[bytes, Address, Address]
"""A datagram, the address it is sent from and the one it is sent to."""


MOST_UNDIGESTED = 1024
"""Pieces that are gathered for the digest before they are hashed, which is cheaper at once."""


class Actor(ABC):
    """Something with one or more addresses; ``overlay.sim.actors`` has the three there are."""

    __slots__ = ("is_ready", "rings")

    leaves_at = 0
    """When what a step gave leaves, if later than that step."""

    def __init__(self) -> None:
        self.is_ready = False
        """Whether it steps in this instant."""
        self.rings: tuple[int, ...] = ()
        """The times at which it is scheduled to step, the next one last. It is asked then what else it wants."""

    @abstractmethod
    def receive(self, data: bytes, source: Address, to: Address, now: int) -> int | None:
        """When it is to step because of this, if not in this instant."""

    @abstractmethod
    def step(self, now: int) -> Sequence[Outgoing]: ...
    @abstractmethod
    def next_timer(self) -> int | None: ...

    def busy_us(self) -> int:
        """Microseconds of a processor so far. Nothing takes any, unless an actor says that it does."""
        return 0


class UnknownAddress(AssertionError):
    """A datagram to an address that never was anybody's: in a closed simulation always somebody's mistake."""


class Simulator:
    """A run: its schedule, its network, its actors, and the digest of all that was delivered."""

    def __init__(self, network: Network, *, strict: bool = True) -> None:
        self.network = network
        self.on_sent: list[Callable[[int, bytes, Address, Address], None]] = []
        """Called with now, datagram, source and destination before the network has it."""
        self.on_delivered: list[Callable[[int, bytes, Address, Address], None]] = []
        """The same, before the receiver has it."""
        self.on_stepped: list[Callable[[int, Actor], None]] = []
        """Called with now and an actor that has stepped, when the network has all it sent."""
        self.delivered = 0
        self.stepped = 0
        """How often an actor dealt with what had arrived or was due."""
        self.to_nobody = 0
        """Datagrams that arrived where nobody listens (any more)."""
        self._strict = strict
        self._schedule = Schedule()
        self._heap, self._order = self._schedule.heap, self._schedule.order
        self._actors: dict[Address, Actor] = {}
        self._names: dict[Address, bytes] = {}
        """Of every address that ever was anybody's, as it goes into the digest."""
        self._ready: deque[Actor] = deque()
        """Those that step in this instant, once all that is due has arrived: most steps, and none of them in a heap."""
        self._digest = blake2b(digest_size=16)
        self._undigested: list[bytes] = []

    @property
    def now(self) -> int:
        return self._schedule.now

    @property
    def scheduled(self) -> int:
        """How much is yet to happen, as far as it is known: datagrams under way, timers, and what ``at`` was given."""
        return len(self._schedule)

    @property
    def digest(self) -> str:
        """BLAKE2b of every datagram delivered: when, from where, to where, and its bytes."""
        self._hash()
        return self._digest.hexdigest()

    # ---- who is there

    def listen(self, address: Address, actor: Actor) -> None:
        """Give ``actor`` an address, from now on, and wake it."""
        if address in self._actors:
            raise ValueError(f"{format_address(address)} is in use")
        self._actors[address] = actor
        self._names[address] = str(address).encode()
        self.wake(actor)

    def is_taken(self, address: Address) -> bool:
        """Whether somebody listens there."""
        return address in self._actors

    def close(self, address: Address) -> None:
        """What arrives here from now on finds nobody, even what was on its way."""
        del self._actors[address]
        self.network.forget(address)

    def remove(self, actor: Actor) -> None:
        """The end of ``actor``: it has no address and takes no step any more. Its links stay, for its successor."""
        for address in [address for address, other in self._actors.items() if other is actor]:
            del self._actors[address]
        actor.is_ready, actor.rings = False, ()

    def wake(self, actor: Actor) -> None:
        """Let it step now, because something other than a datagram or its timer has changed it."""
        if not actor.is_ready:
            actor.is_ready = True
            self._ready.append(actor)

    # ---- time

    def at(self, time: int, action: Action) -> None:
        """Do something to the world at ``time``, before anything else of that instant."""
        self._schedule.at(time, FAULT, action)

    def run_until(self, time: int) -> None:
        self._run(time)
        self._schedule.pass_to(time)

    def run_for(self, duration: int) -> None:
        self.run_until(self.now + duration)

    def run_while(self, is_unfinished: Callable[[], bool], at_most: int) -> None:
        """Run as long as it takes. Raises ``TimeoutError`` after ``at_most`` nanoseconds."""
        self._run(self.now + at_most, is_unfinished)
        if is_unfinished():
            raise TimeoutError(f"still unfinished after {at_most / SECOND:g} simulated seconds")

    # ---- parts of the above

    def _run(self, until: int, goes_on: Callable[[], bool] | None = None) -> None:
        """What happens at or before ``until``, one after the other, while ``goes_on`` says so.

        In one loop with the schedule's own parts: a call for each of millions of events is a tenth of a run.
        """
        schedule, ready, due = self._schedule, self._ready, self._heap
        while goes_on is None or goes_on():
            if due and due[0][0] <= (schedule.now if ready else until):
                schedule.now, _, _, action, arguments = heappop(due)
                action(*arguments)
            elif ready:
                actor = ready.popleft()
                if actor.is_ready:  # and has neither stepped since nor gone
                    self._step(actor)
            else:
                return

    def _ring(self, actor: Actor, time: int) -> None:
        if actor.rings and actor.rings[-1] == time:
            actor.rings = actor.rings[:-1]
            self._step(actor)

    def _step(self, actor: Actor) -> None:
        actor.is_ready, time = False, self._schedule.now
        self.stepped += 1
        outgoing = actor.step(time)
        if outgoing:
            self._send(outgoing, actor.leaves_at or time)
        timer = actor.next_timer()
        if timer is not None:
            assert timer > time, f"{actor!r} asks at {time} ns to be called at {timer} ns: it would never rest"
            self._arm(actor, timer)
        for watch in self.on_stepped:
            watch(time, actor)

    def _arm(self, actor: Actor, time: int) -> None:
        if not actor.rings or time < actor.rings[-1]:
            actor.rings += (time,)
            heappush(self._heap, (time, STEP, next(self._order), self._ring, (actor, time)))

    def _send(self, outgoing: Sequence[Outgoing], now: int) -> None:
        """What arrives at one place at once is scheduled as one: a request has three answers."""
        together: list[bytes] = []
        where: tuple[int, Address, Address] | None = None
        for data, source, to in outgoing:
            for watch in self.on_sent:
                watch(now, data, source, to)
            if self._strict and to not in self._names:
                raise UnknownAddress(
                    f"{format_address(source)} sent {data[:80]!r} to {format_address(to)}: nobody ever"
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
        if later is not None and later > now:
            self._arm(actor, later)
        elif not actor.is_ready:
            actor.is_ready = True
            self._ready.append(actor)

    def _hash(self) -> None:
        self._digest.update(b"".join(self._undigested))
        self._undigested.clear()

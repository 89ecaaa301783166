"""The processors of a simulated run: the cores that actors occupy (``served``), and the machine that wakes them up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from overlay.core.node import MILLISECOND
from overlay.sim.simulator import Actor, Simulator

BURST = MILLISECOND // 2
"""Activity within this time belongs to the same burst: each process forwards a request within about 100 µs."""


Waiting = tuple[Actor, tuple[int, ...]]
"""An actor that waits for its turn, and its timers."""


class Core:
    """One processor. It serves one actor at a time."""

    __slots__ = ("busy", "free_at")

    def __init__(self) -> None:
        self.free_at = 0
        self.busy = 0
        """Total service time, nanoseconds."""

    def queues(self, actor: Actor) -> bool:
        """Whether ``actor``, which found the core busy, steps when its turn comes. Otherwise it sets a timer."""
        return False

    def holds(self, actor: Actor) -> bool:
        """Whether ``actor`` has nothing to do until its turn comes."""
        return False


class SharedCore(Core):
    """A core of several actors.

    If all that wait had timers for the end of the service, each of them would step then, only to find that another one
    is served first: n²/2 steps after a push to n clients. Therefore timers that would be set one directly after the
    other are one event, a group: its first actor steps, and all others move on to the end of that service together.
    Actors are served exactly as if each had its timer.
    """

    __slots__ = ("_simulator", "_waiting", "_youngest")

    def __init__(self, simulator: Simulator) -> None:
        super().__init__()
        self._simulator = simulator
        self._waiting: dict[Actor, Waiting] = {}
        self._youngest = Group()

    def queues(self, actor: Actor) -> bool:
        if actor.rings and actor.rings[-1] <= self.free_at:
            return False
        waiting = self._waiting[actor] = actor, actor.rings
        self._append(Group((waiting,)))
        return True

    def holds(self, actor: Actor) -> bool:
        """One whose own timer rings loses its place."""
        waiting = self._waiting.get(actor)
        if waiting is None:
            return False
        if waiting[1] != actor.rings:
            del self._waiting[actor]
        return waiting[1] == actor.rings

    def _append(self, group: Group) -> None:
        """Its actors step at the end of the service."""
        last, place = self._youngest, self._simulator.next_place()
        if last.time == self.free_at and last.end + 1 == place:
            last.extend(group)
        else:
            self._youngest = last = group
            group.time, group.begin = self.free_at, place
            self._simulator.at_place(group.time, place, self._ring, group)
        last.end = place

    def _ring(self, group: Group) -> None:
        if self.free_at > self._simulator.now:
            self._append(group)
            return
        actor = self._first(group)
        if actor is not None:
            self._simulator.at_place(group.time, group.begin, self._ring, group)
            self._simulator.step(actor)

    def _first(self, group: Group) -> Actor | None:
        """Remove and return the first actor that did not lose its place."""
        while group.waiting:
            waiting = group.waiting.popleft()
            if self._waiting.get(waiting[0]) is waiting:
                del self._waiting[waiting[0]]
                return waiting[0]
        return None


class Group:
    """Actors that wait, whose timers would ring one directly after the other."""

    __slots__ = ("begin", "end", "time", "waiting")

    def __init__(self, waiting: Iterable[Waiting] = ()) -> None:
        self.waiting = deque(waiting)
        self.time = 0
        """When they ring, ns."""
        self.begin = self.end = 0
        """Their first and last place among the timers of that instant."""

    def extend(self, group: Group) -> None:
        """The shorter one is copied."""
        if len(group.waiting) <= len(self.waiting):
            self.waiting.extend(group.waiting)
        else:
            group.waiting.extendleft(reversed(self.waiting))
            self.waiting = group.waiting


class Machine:
    """The machine shared by all processes of a run, which models wake-ups: its processors sleep more deeply the longer
    all of them are idle, and wake up for the next activity.
    """

    __slots__ = ("_last", "_slept")

    def __init__(self) -> None:
        self._last = 0
        self._slept = 0

    def ran(self, begin: int, end: int) -> None:
        """A service ran from ``begin`` to ``end`` (ns)."""
        if begin - self._last > BURST:
            self._slept = begin - self._last
        self._last = max(self._last, end)

    def slept(self, now: int) -> int:
        """For how long (ns) the machine was idle before the current burst."""
        away = now - self._last
        return away if away > BURST else self._slept

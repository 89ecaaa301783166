"""The log of a simulated run, in virtual time. Counterpart: ``overlay.runtime.logs``, with existing engines.

A log has neither a processor nor links of its own: an append takes the delay of ``overlay.log.core``. Actors with
service times read its records as they read datagrams, in services of their own::

    step ── leaves ── append delay ──> durable ──> notice ── delivery ──> step: feed, then what it always does
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from overlay.core.node import MILLISECOND, SECOND
from overlay.faults.faults import Fault
from overlay.faults.of_log import CUT, DOWN, RESTARTED, SLOW
from overlay.log.core import LogCore
from overlay.log.spec import LogSpec
from overlay.sim.actors import CheckedActor, ClientActor, NodeActor
from overlay.sim.simulator import WALL_OFFSET_NS, Actor, Simulator


class LogOfRun:
    """Serves those servers and clients that are ``overlay.log.node.LogUser``; others have no part in it."""

    def __init__(self, spec: LogSpec, simulator: Simulator) -> None:
        self.core = LogCore(spec, WALL_OFFSET_NS)
        self._simulator = simulator
        self._actors: dict[str, NodeActor | ClientActor] = {}
        self._names: dict[Actor, str] = {}
        self._rings: int | None = None
        """When it is scheduled to look at the timers of the log."""
        self._downs = 0
        """Active faults for which it is down."""
        self._cuts: Counter[str] = Counter()
        simulator.on_stepped.append(self._stepped)

    # ---- life of processes

    def join(self, name: str, actor: NodeActor | ClientActor) -> None:
        """A server or client starts; ``name`` is that of its process, or of the client."""
        user: Any = actor.node if isinstance(actor, NodeActor) else actor.client
        if not hasattr(user, "subscriptions"):
            return
        self._actors[name], self._names[actor] = actor, name
        actor.feed = partial(self._feed, name)
        self.core.start(name, user, self._simulator.now)
        self._follow()

    def kill(self, name: str) -> None:
        if self._forget(name):
            self.core.kill(name, self._simulator.now)
            self._follow()

    def end(self, name: str) -> None:
        """In peace."""
        if self._forget(name):
            self.core.end(name, self._simulator.now)
            self._follow()

    def stop(self, name: str) -> None:
        if name in self._actors:
            self.core.stop(name, self._simulator.now)
            self._follow()

    def resume(self, name: str) -> None:
        if name in self._actors:
            self.core.resume(name, self._simulator.now)
            self._follow()

    def _forget(self, name: str) -> bool:
        actor = self._actors.pop(name, None)
        return actor is not None and self._names.pop(actor) == name

    # ---- faults

    def strike(self, fault: Fault, *, begins: bool, names: Sequence[str]) -> None:
        """``names`` are those of all servers, by index."""
        if fault.what == DOWN:
            self._set_downs(1 if begins else -1)
        elif fault.what == RESTARTED:
            self._set_downs(1)
            up_at = self._simulator.now + round(fault.values["down_s"] * SECOND)
            self._simulator.at(up_at, lambda: self._set_downs(-1))
        elif fault.what == SLOW:
            self.core.slow_ns += round(fault.values["delay_ms"] * MILLISECOND) * (1 if begins else -1)
        elif fault.what == CUT:
            self._cut((*(names[index] for index in fault.servers), *fault.clients), begins)
        self._follow()

    def _set_downs(self, more: int) -> None:
        self._downs += more
        self.core.set_down(self._downs > 0, self._simulator.now)
        self._follow()

    def _cut(self, names: Iterable[str], begins: bool) -> None:
        for name in names:
            self._cuts[name] += 1 if begins else -1
            if self._cuts[name] == 1 and begins:
                self.core.cut(name, self._simulator.now)
            elif self._cuts[name] == 0:
                self.core.mend(name, self._simulator.now)

    # ---- steps

    def _feed(self, name: str, now: int) -> None:
        for record in self.core.feed(name, now):
            place = f"{now}|{name}|{record.topic}|{record.partition}|{record.position}|{len(record.value)}|"
            self._simulator.note(place.encode(), record.value)

    def _stepped(self, now: int, actor: Actor) -> None:
        name = self._names.get(actor)
        if name is None:
            return
        self.core.take(name, now, actor.leaves_at)
        self._follow()
        if isinstance(actor, CheckedActor):
            self.core.check_invariants()

    def _follow(self) -> None:
        """Let those step that there is input for, and look again when the log has something to do."""
        for member in self.core.news():
            if member.name in self._actors:
                self._simulator.notify(self._actors[member.name])
        timer = self.core.next_timer()
        if timer is not None and (self._rings is None or timer < self._rings):
            self._rings = timer
            self._simulator.at(timer, lambda: self._ring(timer))

    def _ring(self, timer: int) -> None:
        if self._rings == timer:
            self._rings = None
            self.core.handle_timer(self._simulator.now)
            self._follow()

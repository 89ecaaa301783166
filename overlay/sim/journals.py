"""Writes the facts of a simulated run: the same facts as the processes of a live run.

Counterparts: ``overlay.runtime``'s ``server_process``, ``load_generator`` and ``deployment_runner`` write the same
facts to a journal each; here they share one file, so that a run of many brokers needs few files. Memory and processor
time come from the service-time model, and are 0 without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from overlay import __version__
from overlay.core.addresses import format_address
from overlay.core.processes import role_of
from overlay.core.service_times import Memory, ServiceModel
from overlay.deployment.phases import DRAINING, MEASURING
from overlay.journal.facts import ALL_BROKERS, SUPERVISOR, Event, Row, Sample, Start, Tick
from overlay.journal.journal import JournalWriter
from overlay.load.response_times import OtherTimes, ResponseTimes
from overlay.sim.actors import ClientActor, NodeActor
from overlay.sim.world import World
from overlay.systems.cores import Fleet

TOLD_APART = 1_000
"""Maximum brokers with ticks of their own; for more, one tick has their sum, under ``ALL_BROKERS``."""

IDLE_DRIVER = {"send_errors": 0, "receive_errors": 0, "held_dropped": 0, "backlog_dropped": 0, "kernel_drops": 0}
"""Counters of sockets, always 0 here."""


NOT_MODELLED = (0, 0, 0)
"""RSS, PSS and USS of processes whose memory is not modelled."""


class RunJournal:
    """The journal of one run. Times are simulated microseconds. ``close`` writes the last facts."""

    def __init__(self, path: Path, world: World, services: ServiceModel | None = None) -> None:
        path.unlink(missing_ok=True)
        self._world = world
        self._services = services
        self._writer = JournalWriter(path, self._start(SUPERVISOR))
        self._fleets: list[_FleetReporter] = []
        self._ended: dict[str, int] = {}
        """The final counters of ended brokers, for the sum of all."""
        self._ended_busy_us = 0
        for index, name in enumerate(world.names):
            self._begin(name, format_address(world.address(index)))

    @property
    def interval_s(self) -> int:
        """Seconds between two ticks; more for many brokers, because reading all their counters takes long."""
        return max(1, len(self._world.names) // TOLD_APART)

    def add_fleet(self, process: str, fleet: Fleet, clients: Sequence[ClientActor]) -> None:
        self._begin(process)
        memory = self._services.client(role_of(process)).memory if self._services else None
        self._fleets.append(_FleetReporter(process, fleet, clients, memory))

    def tell(self, name: str, detail: Mapping[str, Any]) -> None:
        """Write an event of the supervisor, now."""
        self._writer.write(Event(SUPERVISOR, self._now_us, name, dict(detail)))

    def enter(self, phase: str, reason: str) -> None:
        """Write the start of a phase."""
        is_exact = not self._are_told_apart or self._world.system.ticks_from_measuring
        if is_exact and phase in (MEASURING, DRAINING):
            self.tick()  # other ticks may be far apart, compared with a short measuring phase
        self.tell("phase", {"phase": phase, "reason": reason})

    def tick(self) -> None:
        """Write the facts since the last tick, and a tick of every process."""
        for event in self._world.happened:
            self._writer.write(event)
        self._world.happened.clear()
        ticks = self._broker_ticks()
        for tick in ticks if self._are_told_apart else (self._summed(ticks),):
            self._writer.write(tick)
        for fleet in self._fleets:
            for fact in fleet.facts(self._now_us):
                self._writer.write(fact)

    def end(self, index: int, *, in_peace: bool) -> None:
        """A broker is about to end. One that crashes writes no further facts."""
        actor = self._world.brokers.get(index)
        if actor is None or (self._are_told_apart and not in_peace):
            return
        tick = self._broker_tick(index, actor)
        if self._are_told_apart:
            self._writer.write(tick)
        else:
            self._ended_busy_us += tick.cpu_us
            for name in tick.counters.keys() - self._world.system.gauges:
                self._ended[name] = self._ended.get(name, 0) + tick.counters[name]

    def close(self) -> None:
        """All processes end: a last tick, and the brokers' entries."""
        self.tick()
        now = self._world.simulator.now
        for index in sorted(self._world.brokers):
            held = self._world.system.holdings(self._world.server(index), now)
            for fact in self._world.system.closing_facts(self._name(index), held, self._now_us):
                self._writer.write(fact)
        if self._world.log is not None:
            for record in self._world.log.core.uncommitted():
                for fact in self._world.system.uncommitted_facts(record, self._now_us):
                    self._writer.write(fact)
        if self._are_told_apart:
            ended = [*map(self._name, sorted(self._world.brokers)), *(fleet.process for fleet in self._fleets)]
            for process in ended:
                self.tell("process_ended", {"process": process, "reason": "exit 0"})
        self._writer.close()

    # ---- parts of the above

    @property
    def _now_us(self) -> int:
        return self._world.simulator.now // 1000

    def _name(self, index: int) -> str:
        return self._world.names[index]

    @property
    def _are_told_apart(self) -> bool:
        return len(self._world.names) <= TOLD_APART

    def _begin(self, process: str, address: str = "") -> None:
        self._writer.write(self._start(process, address))
        if self._are_told_apart:
            self.tell("process_started", {"process": process, "after": ""})

    def _start(self, process: str, address: str = "") -> Start:
        return Start(process, 0, self._world.zero_unix_us, __version__, address)

    def _broker_ticks(self) -> Iterator[Tick]:
        return (self._broker_tick(index, actor) for index, actor in sorted(self._world.brokers.items()))

    def _broker_tick(self, index: int, actor: NodeActor) -> Tick:
        """The tick of a broker, after writing its events and traces."""
        process, server, now = self._name(index), self._world.server(index), self._world.simulator.now
        for at, event in actor.history:
            self._writer.write(Event(process, at // 1000, type(event).__name__, event.detail()))
        actor.history.clear()
        for fact in self._world.system.facts(process, server, 0):
            self._writer.write(fact)
        counters = server.statistics(now) | IDLE_DRIVER | {"backlog_dropped": actor.backlog_dropped}
        return Tick(process, now // 1000, counters, "", *self._memory_of(process, counters), actor.busy_us())

    def _summed(self, ticks: Iterator[Tick]) -> Tick:
        """The sum of all brokers; cumulative counters include ended ones."""
        total = dict(self._ended)
        sizes = [0, 0, 0, self._ended_busy_us]
        for tick in ticks:
            for name, value in tick.counters.items():
                if value or name not in total:
                    total[name] = total.get(name, 0) + value
            for place, value in enumerate((tick.rss_bytes, tick.pss_bytes, tick.uss_bytes, tick.cpu_us)):
                sizes[place] += value
        return Tick(ALL_BROKERS, self._now_us, total, "", *sizes)

    def _memory_of(self, process: str, counters: Mapping[str, int]) -> tuple[int, int, int]:
        memory = self._services.server(role_of(process)).memory if self._services else None
        return NOT_MODELLED if memory is None else memory.sizes(counters)


class _FleetReporter:
    """Samples and ticks of the clients of one process."""

    def __init__(self, process: str, fleet: Fleet, clients: Sequence[ClientActor], memory: Memory | None) -> None:
        self.process = process
        self._memory = memory
        self._fleet = fleet
        self._clients = clients
        self._response_times, self._other_times = ResponseTimes(), OtherTimes()

    def facts(self, at_us: int) -> Iterator[Any]:
        for client in self._clients:
            for fact in client.facts:
                if isinstance(fact, Sample):
                    self._response_times.add(fact)
                elif isinstance(fact, Row):
                    fact = replace(fact, process=self.process)
                else:
                    self._other_times.add(fact)
                yield fact
            client.facts.clear()
        counters = {**self._fleet.tally.counters, **IDLE_DRIVER}
        del counters["held_dropped"], counters["backlog_dropped"]  # counters of servers only
        counters["open_ports"] = sum(client.open_ports for client in self._clients)
        busy_us = self._clients[0].busy_us()  # all clients share a core
        yield from self._other_times.histograms(self.process, at_us)
        sizes = NOT_MODELLED if self._memory is None else self._memory.sizes(counters)
        yield Tick(self.process, at_us, counters, self._response_times.encode(), *sizes, busy_us)

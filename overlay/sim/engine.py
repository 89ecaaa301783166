"""The engine "simulated": runs a deployment in virtual time, from launching to the last answer.

Counterparts: ``overlay.runtime.deployment_runner`` does the same with processes; ``telemetry.collect`` reads the
journals of both. The phases are those of a live run, exactly on schedule::

    launching ──> warming (clients start after FLEET_LEAD_S) ──> measuring ──> draining ──> finished
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from overlay.core.addresses import Address
from overlay.core.errors import WaxwingError
from overlay.core.links import LinkShape
from overlay.core.node import MILLISECOND, SECOND
from overlay.core.processes import role_of
from overlay.core.service_times import ServiceModel
from overlay.deployment import phases
from overlay.deployment.deployment import RUN, Deployment
from overlay.faults.churn import LEAVE, UP
from overlay.faults.faults import Course, Direction, unlinked
from overlay.load.windows import Windows
from overlay.sim.actors import ClientActor, NodeActor
from overlay.sim.garbage import Collector
from overlay.sim.journals import RunJournal
from overlay.sim.network import LOCAL
from overlay.sim.recorders import Recorders, fresh_server
from overlay.sim.served import Services
from overlay.sim.simulator import WALL_OFFSET_NS
from overlay.sim.world import World, plain_client, server_address
from overlay.systems.cores import Client, Server

ORDERED = 1_000
"""Up to this many servers of all roles are given the orders of their assembly, like live ones. More are introduced at
once, since the orders would take longer than the run."""

MOST_LANES = 1 << 16
"""Maximum ports of a client. Unlike live ports, they use no files of a process."""

SLICE = 100 * MILLISECOND
"""The simulated time between progress reports, at which the run can be stopped."""


def journal_path(directory: Path) -> Path:
    """The journal of a run with this directory; recordings are next to it."""
    return directory / "journal" / "simulation.journal"


class SimulationFailed(WaxwingError):
    """The run failed; the sentence is the reason. Everything written before is kept."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run."""

    phase: str
    done_s: float
    """Simulated seconds."""
    of_s: float
    """The end of measuring, if known; the last answers arrive a little later."""

    @property
    def share(self) -> float:
        """0 to 1."""
        return min(1.0, self.done_s / self.of_s)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run."""

    digest: str
    """BLAKE2b over every delivered datagram: time, source, destination and bytes."""
    brokers: int
    delivered: int
    """Datagrams."""
    events: int
    """Datagrams delivered, plus steps of brokers and clients for datagrams or timers."""
    simulated_s: float
    were_introduced: bool
    """Whether brokers were assigned their neighbours at once, without joins."""
    was_stopped: bool
    """Whether it was stopped before its end."""


def simulate(
    deployment: Deployment,
    services: ServiceModel | None = None,
    *,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run ``deployment``, which must be a run, and write its journal below its directory.

    Without ``services`` only links take time. Equal arguments give equal journals and
    digests. Raises ``SimulationFailed`` if a live run would fail, and ``OSError`` if a file cannot be written.
    """
    run = _Run(deployment, services, on_progress, should_stop)
    with run.collector:
        return run.run()


class _Stopped(Exception):
    """The caller stopped the run."""


class _Run:
    """A run in progress."""

    def __init__(
        self,
        deployment: Deployment,
        services: ServiceModel | None,
        on_progress: Callable[[Progress], None],
        should_stop: Callable[[], bool],
    ) -> None:
        assert deployment.kind == RUN, "only runs come to an end"
        self._deployment = deployment
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._phase = phases.LAUNCHING
        has_many = len(deployment.server_names) > ORDERED
        self._introduction = deployment.system.introduction(deployment.setup) if has_many else None
        self._start = 0
        """The start of the workload, simulated nanoseconds."""
        path = journal_path(Path(deployment.directory))
        self._recorders = Recorders(path.parent, deployment.record_mb, lambda: self._world.simulator.now)
        self._world = _world(deployment, services, self._recorders)
        self._journal = RunJournal(path, self._world, services)
        self.collector = Collector()
        self._next_tick = 0
        self._course = Course(deployment.churn(), deployment.faults, deployment.schedule.ramp_s)
        self._struck: dict[Direction, LinkShape] = {}
        """The links changed by faults."""
        self._unlinked = sorted(unlinked(deployment.faults, (link.ends for link in deployment.graph.links)))
        self._unfinished: list[Client] = []

    def run(self) -> Outcome:
        was_stopped = False
        try:
            self._launch()
            self._warm()
            self._measure()
            self._drain()
        except _Stopped:
            was_stopped = True
            self._enter(phases.STOPPED, "stopped before its end")
        except SimulationFailed as error:
            self._enter(phases.FAILED, str(error))
            raise
        finally:
            simulator = self._world.simulator
            self._journal.tell("digest", {"digest": simulator.digest})
            self._journal.close()
            self._recorders.close()
        return Outcome(
            digest=simulator.digest,
            brokers=self._deployment.graph.brokers,
            delivered=simulator.delivered,
            events=simulator.delivered + simulator.stepped,
            simulated_s=simulator.now / SECOND,
            were_introduced=self._introduction is not None,
            was_stopped=was_stopped,
        )

    # ---- phases

    def _launch(self) -> None:
        world, limit = self._world, round(phases.LAUNCH_LIMIT_S * SECOND)
        if self._introduction is not None:
            world.introduce()
            self._advance(self._introduction.settling_ns)
            return
        for index in range(len(world.names)):
            world.restart(index)
        while not world.controller.is_complete():
            trouble = world.controller.assembly.trouble
            if trouble or world.simulator.now >= limit:
                raise SimulationFailed(trouble or f"the overlay was not assembled within {phases.LAUNCH_LIMIT_S:g} s")
            self._advance(world.simulator.now + SLICE)

    def _warm(self) -> None:
        world = self._world
        self._enter(phases.WARMING)
        self._start = world.simulator.now + round(phases.FLEET_LEAD_S * SECOND)
        windows = Windows.of(self._deployment.schedule, 0, self._start)
        deployment, servers = self._deployment, [server_address(index) for index in range(len(world.names))]
        for process, plans in deployment.client_plans().items():
            fleet = deployment.system.make_fleet(
                plans,
                servers,
                deployment.setup,
                windows,
                wall_offset_ns=WALL_OFFSET_NS,
                most_lanes=MOST_LANES,
            )
            self._journal.add_fleet(process, fleet, world.add_fleet(process, fleet))
            self._unfinished += fleet.clients
        self._expect_course()
        self._advance(windows.measuring)

    def _measure(self) -> None:
        self._enter(phases.MEASURING)
        if self._deployment.system.ticks_from_measuring:
            self._next_tick = self._world.simulator.now + self._journal.interval_s * SECOND
        self._advance(phases.schedule(self._deployment, self._start)[1])

    def _drain(self) -> None:
        """Continue until every request has ended, at the latest when clients would give up."""
        self._enter(phases.DRAINING)
        simulator = self._world.simulator
        limit = simulator.now + round(self._deployment.schedule.drain_s * SECOND)
        while self._has_unfinished() and simulator.now < limit:
            self._advance(min(limit, simulator.now + SLICE))
        for client in self._world.clients:
            if not client.client.is_finished:
                client.client.abandon(simulator.now)
                client.facts += client.client.facts()
        self._enter(phases.FINISHED)

    def _has_unfinished(self) -> bool:
        self._unfinished = [client for client in self._unfinished if not client.is_finished]
        return bool(self._unfinished)

    def _enter(self, phase: str, reason: str = "") -> None:
        self._phase = phase
        self._journal.enter(phase, reason)

    def _advance(self, until: int) -> None:
        """Advance time to ``until`` (ns), with ticks when they are due."""
        simulator = self._world.simulator
        while simulator.now < until:
            if self._should_stop():
                raise _Stopped
            self._on_progress(self._progress())
            self.collector.look()
            simulator.run_until(min(until, simulator.now + SLICE, max(self._next_tick, simulator.now)))
            if simulator.now >= self._next_tick:
                self._journal.tick()
                self._next_tick = simulator.now + self._journal.interval_s * SECOND
        self._on_progress(self._progress())

    def _progress(self) -> Progress:
        schedule, now_s = self._deployment.schedule, self._world.simulator.now / SECOND
        start_s = self._start / SECOND if self._start else now_s + phases.FLEET_LEAD_S
        return Progress(self._phase, now_s, start_s + schedule.ramp_s + schedule.duration_s)

    # ---- churn and faults

    def _expect_course(self) -> None:
        at_s = self._course.next_s()
        if at_s is not None:
            self._world.at(self._start + round(at_s * SECOND), lambda: self._follow_course(at_s))

    def _follow_course(self, at_s: float) -> None:
        due = self._course.due(at_s)
        for name, detail in due.events:
            self._journal.tell(name, detail)
        for change in due.changes:
            if change.what != UP:
                self._journal.end(change.broker, in_peace=change.what == LEAVE)
            self._world.follow(change)
        for fault, begins in due.of_system:
            self._world.strike(fault, begins=begins)
        if due.links_changed:
            self._world.divide(self._course.partitions())
            self._lay_links()
        self._expect_course()

    def _lay_links(self) -> None:
        for link in self._deployment.graph.links:
            for way, back in (((link.a, link.b), False), ((link.b, link.a), True)):
                self._lay(way, link.shape(), self._course.shape(link, back=back))
        for way in self._unlinked:
            local = self._world.local
            self._lay(way, local, self._course.shape_of(way, local, is_linked=False))

    def _lay(self, way: Direction, usual: LinkShape, wanted: LinkShape) -> None:
        if wanted != self._struck.get(way, usual):
            self._world.lay_one_way(*way, wanted)
            self._struck[way] = wanted


def _world(deployment: Deployment, services: ServiceModel | None, recorders: Recorders) -> World:
    """The servers and links; with ``services`` the actors take time."""
    make_actor: Callable[[Address, Server], NodeActor] = NodeActor
    make_client: Callable[..., ClientActor] = plain_client
    if services:
        roles = {server_address(index): role_of(name) for index, name in enumerate(deployment.server_names)}
        served = Services(deployment.system, services, deployment.seed, roles)
        lives: Counter[Address] = Counter()

        def make_actor(address: Address, server: Server) -> NodeActor:
            lives[address] += 1
            return served.server(address, server, lives[address])

        make_client = served.client
    return World(
        deployment.system,
        deployment.setup,
        local=LinkShape() if services else LOCAL,  # the model includes delivery times
        strict=False,
        make_actor=make_actor,
        make_client=make_client,
        make_server=recorders if deployment.record_mb else fresh_server,
    )

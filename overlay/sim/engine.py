"""A deployment in virtual time, from launching to its last answer: the engine "simulated".

Counterparts: ``overlay.runtime.deployment_runner`` is the same with processes; ``telemetry.lake.collect`` reads the
journals of both. Phases are those of a live run, with the instants of a schedule that nobody keeps waiting::

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
from overlay.core.service_times import ServiceModel
from overlay.deployment import phases
from overlay.deployment.deployment import RUN, Deployment
from overlay.faults.churn import LEAVE, UP, schedule
from overlay.faults.faults import Course, Direction
from overlay.load.tally import Tally
from overlay.sim.actors import ClientActor, NodeActor
from overlay.sim.garbage import Collector
from overlay.sim.harness import Overlay, broker_address
from overlay.sim.journals import RunJournal
from overlay.sim.network import LOCAL
from overlay.sim.recorders import Recorders, fresh_broker
from overlay.sim.served import Services
from overlay.sim.simulator import WALL_OFFSET_NS
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.membership import GIVEN
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.scheduled import Fleet, ScheduledClient, Windows
from overlay.systems.context_broker.introduction import SETTLING, STRUCTURED
from overlay.systems.context_broker.workload import fleets, ramp_s
from overlay.topologies import Graph

ORDERED = 1_000
"""Up to so many brokers are ordered to join each other, as live ones are; more are introduced all at once, since the
orders alone would take longer than the run."""

SLICE = 100 * MILLISECOND
"""After so much simulated time somebody may stop the run, and is told how far it is."""


def journal_path(directory: Path) -> Path:
    """The journal of a run with this directory; its recordings, if there are any, lie beside it."""
    return directory / "journal" / "simulation.journal"


class SimulationFailed(WaxwingError):
    """The run could not go on; the sentence says why. What was written until then is kept."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    phase: str
    done_s: float
    """Simulated seconds."""
    of_s: float
    """When measuring ends, as far as it is known; the last answers come a little later."""

    @property
    def share(self) -> float:
        """0 to 1."""
        return min(1.0, self.done_s / self.of_s)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    digest: str
    """BLAKE2b of every datagram delivered: when, from where, to where, and its bytes."""
    brokers: int
    delivered: int
    """Datagrams."""
    events: int
    """Datagrams delivered, and steps of brokers and clients that dealt with them or with a timer."""
    simulated_s: float
    were_introduced: bool
    """Whether brokers were given their neighbours at once, without joining."""
    was_stopped: bool
    """Whether somebody stopped it before its end."""


def simulate(
    deployment: Deployment,
    services: ServiceModel | None = None,
    *,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Outcome:
    """Run ``deployment``, which is a run's, and write its journal below its directory.

    Without ``services`` brokers and clients take no time, only links do. Equal arguments give equal journals and
    digests. Raises ``SimulationFailed`` where a live run would fail, and ``OSError`` where nothing can be written.
    """
    run = _Run(deployment, services, on_progress, should_stop)
    with run.collector:
        return run.run()


class _Stopped(Exception):
    """Somebody wants no more of it."""


class _Run:
    """One run under way."""

    def __init__(
        self,
        deployment: Deployment,
        services: ServiceModel | None,
        on_progress: Callable[[Progress], None],
        should_stop: Callable[[], bool],
    ) -> None:
        assert deployment.kind == RUN and deployment.workload is not None, "only runs come to an end"
        self._deployment = deployment
        self._workload = deployment.workload
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._phase = phases.LAUNCHING
        self._start = 0
        """Of the workload, simulated nanoseconds."""
        path = journal_path(Path(deployment.directory))
        self._recorders = Recorders(path.parent, deployment.record_mb, lambda: self._overlay.simulator.now)
        self._overlay = _overlay(deployment, services, self._recorders)
        memory = services.memory if services else None
        self._journal = RunJournal(path, self._overlay, memory)
        self.collector = Collector()
        self._next_tick = 0
        churned = schedule(self._workload, deployment.brokers, deployment.seed)
        self._course = Course(churned, deployment.faults, ramp_s(self._workload))
        self._struck: dict[Direction, LinkShape] = {}
        """The links that are not as they were laid."""
        self._unfinished: list[ScheduledClient] = []

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
            simulator = self._overlay.simulator
            self._journal.tell("digest", {"digest": simulator.digest})
            self._journal.close()
            self._recorders.close()
        return Outcome(
            digest=simulator.digest,
            brokers=self._deployment.brokers,
            delivered=simulator.delivered,
            events=simulator.delivered + simulator.stepped,
            simulated_s=simulator.now / SECOND,
            were_introduced=self._are_introduced,
            was_stopped=was_stopped,
        )

    # ---- phases

    @property
    def _are_introduced(self) -> bool:
        return self._deployment.brokers > ORDERED and self._deployment.settings.membership == GIVEN

    def _launch(self) -> None:
        overlay, limit = self._overlay, round(phases.LAUNCH_LIMIT_S * SECOND)
        if self._are_introduced:
            overlay.introduce()
            if self._deployment.settings.arm == STRUCTURED:
                self._advance(SETTLING)
            return
        for index in range(self._deployment.brokers):
            overlay.restart(index)
        while not overlay.controller.is_complete():
            trouble = overlay.controller.assembly.trouble
            if trouble or overlay.simulator.now >= limit:
                raise SimulationFailed(trouble or f"the overlay was not assembled within {phases.LAUNCH_LIMIT_S:g} s")
            self._advance(overlay.simulator.now + SLICE)

    def _warm(self) -> None:
        overlay, workload = self._overlay, self._workload
        self._enter(phases.WARMING)
        self._start = overlay.simulator.now + round(phases.FLEET_LEAD_S * SECOND)
        windows = Windows.of(workload, 0, self._start)
        for process, plans in fleets(self._deployment.client_plans()).items():
            fleet = Fleet(workload, windows, WallClock(WALL_OFFSET_NS), Tally())
            clients = overlay.add_fleet(plans, fleet)
            self._journal.add_fleet(process, fleet, clients)
            self._unfinished += [client.client for client in clients]
        self._expect_course()
        self._advance(windows.measuring)

    def _measure(self) -> None:
        self._enter(phases.MEASURING)
        self._advance(phases.schedule(self._deployment, self._start)[1])

    def _drain(self) -> None:
        """Until every request has ended, or a client would give the last one up."""
        self._enter(phases.DRAINING)
        simulator = self._overlay.simulator
        give_up_s = max((client.fleet.retry.give_up_s for client in self._unfinished), default=0.0)
        limit = simulator.now + round(give_up_s * SECOND)
        while self._has_unfinished() and simulator.now < limit:
            self._advance(min(limit, simulator.now + SLICE))
        for client in self._overlay.clients:
            if not client.client.is_finished:
                client.client.abandon(simulator.now)
                client.samples += client.client.samples()
        self._enter(phases.FINISHED)

    def _has_unfinished(self) -> bool:
        self._unfinished = [client for client in self._unfinished if not client.is_finished]
        return bool(self._unfinished)

    def _enter(self, phase: str, reason: str = "") -> None:
        self._phase = phase
        self._journal.enter(phase, reason)

    def _advance(self, until: int) -> None:
        """Let time pass to ``until`` (ns), with a tick where one is due."""
        simulator = self._overlay.simulator
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
        workload, now_s = self._workload, self._overlay.simulator.now / SECOND
        start_s = self._start / SECOND if self._start else now_s + phases.FLEET_LEAD_S
        return Progress(self._phase, now_s, start_s + ramp_s(workload) + workload.duration_s)

    # ---- churn and faults

    def _expect_course(self) -> None:
        at_s = self._course.next_s()
        if at_s is not None:
            self._overlay.at(self._start + round(at_s * SECOND), lambda: self._follow_course(at_s))

    def _follow_course(self, at_s: float) -> None:
        due = self._course.due(at_s)
        for name, detail in due.told:
            self._journal.tell(name, detail)
        for change in due.changes:
            if change.what != UP:
                self._journal.end(change.broker, in_peace=change.what == LEAVE)
            self._overlay.follow(change)
        if due.links_changed:
            self._overlay.divide(self._course.partitions())
            self._lay_links()
        self._expect_course()

    def _lay_links(self) -> None:
        for link in self._deployment.links:
            for way, back in (((link.a, link.b), False), ((link.b, link.a), True)):
                wanted = self._course.shape(link, back=back)
                if wanted != self._struck.get(way, link.shape()):
                    self._overlay.lay_one_way(*way, wanted)
                    self._struck[way] = wanted


def _overlay(deployment: Deployment, services: ServiceModel | None, recorders: Recorders) -> Overlay:
    """Its brokers, links and the way in which actors are made: with ``services`` they take time."""
    graph = Graph(deployment.brokers, deployment.links, deployment.positions)
    make_actor: Callable[[Address, Broker], NodeActor] = NodeActor
    make_client: Callable[..., ClientActor] = ClientActor
    if services:
        served = Services(services, deployment.seed, [broker_address(i) for i in range(deployment.brokers)])
        lives: Counter[Address] = Counter()

        def make_actor(address: Address, broker: Broker) -> NodeActor:
            lives[address] += 1
            return served.broker(address, broker, lives[address])

        make_client = served.client
    return Overlay(
        graph,
        deployment.settings.among(deployment.brokers),
        deployment.seed,
        monitoring=deployment.monitoring,
        local=LinkShape() if services else LOCAL,  # what a delivery takes is in the model
        strict=False,
        make_actor=make_actor,
        make_client=make_client,
        make_broker=recorders if deployment.record_mb else fresh_broker,
    )

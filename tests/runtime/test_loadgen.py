"""Fleets of real clients against real brokers: every request that was intended is accounted for."""

import os
import select
import socket
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.journal.facts import Connection, Delivery, HandOver, Histogram, Sample, Start, Tick
from overlay.journal.journal import JournalWriter, read_journal
from overlay.load.response_times import HISTOGRAM_DIGITS, LONGEST_US
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.runtime.load_generator import FleetReporter, run_fleet
from overlay.runtime.ports import FleetDriver
from overlay.runtime.ready import AT_ONCE, EpollReady, Ready, SelectorReady
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.scheduled import Fleet, ScheduledFleet
from overlay.systems.context_broker.system import SYSTEM
from overlay.systems.context_broker.workload import Workload, fleets, plan_clients
from overlay.systems.contract import Setup
from overlay.topologies import Graph
from telemetry.statistics.histograms import unpacked
from tests.runtime.daemons import Daemon, ring
from tests.waiting import BOUND_S

SEED = 3


def run_fleets(workload: Workload, brokers: list[Address], directory: Path) -> dict[str, list]:
    """The facts of each process of a workload that was run to its end."""
    start = time.monotonic_ns() + SECOND // 2
    setup = Setup(None, workload, Graph(len(brokers), ()), SEED)
    children = {}
    for name, plans in fleets(plan_clients(workload, len(brokers), SEED)).items():
        journal = directory / f"{name}.journal"
        children[name] = os.fork()
        if children[name] == 0:
            code = 1
            try:
                code = run_fleet(
                    SYSTEM, plans, brokers, setup, start_ns=start, zero_ns=start,
                    journal=journal, process=name, on_ready=lambda: None,
                )  # fmt: skip
            finally:
                os._exit(code)
    for pid in children.values():
        assert os.waitpid(pid, 0)[1] == 0
    return {name: list(read_journal(directory / f"{name}.journal")) for name in children}


def test_a_fleet_accounts_for_every_request(start_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    daemons = [start_daemon("--brokers", "3") for _ in range(3)]
    ring(daemons)
    workload = Workload(
        providers=100, consumers=100, update_interval_s=1, request_interval_s=1, duration_s=3, stagger_ms=5
    )
    facts = run_fleets(workload, [daemon.address for daemon in daemons], tmp_path)

    for name, role in (("consumers-0", "consumer"), ("providers-0", "provider")):
        assert isinstance(facts[name][0], Start)
        samples = [fact for fact in facts[name] if isinstance(fact, Sample)]
        measured = [sample for sample in samples if sample.phase == "measuring"]
        assert Counter(sample.client for sample in measured) == dict.fromkeys(range(100), 3)
        assert {sample.role for sample in samples} == {role}
        assert {sample.outcome for sample in measured} == {"answered"}
        assert all(sample.intended_us <= sample.sent_us <= sample.ended_us for sample in samples)
        ticks = [fact for fact in facts[name] if isinstance(fact, Tick)]
        counters = ticks[-1].counters
        assert counters["requests"] == counters["answered"] + counters["not_found"] == len(samples)
        assert counters["outstanding"] == 0
        assert counters["lateness_max_us"] >= max(sample.sent_us - sample.intended_us for sample in samples)
        counted = sum(HdrHistogram.decode(tick.histogram.encode()).get_total_count() for tick in ticks)
        assert counted == counters["answered"]


def test_requests_to_a_dead_broker_all_end_in_time_out(start_daemon: Callable[..., Daemon], tmp_path: Path) -> None:
    daemon = start_daemon()
    daemon.end()
    workload = Workload(providers=0, consumers=5, request_interval_s=0.5, duration_s=1, stagger_ms=1)
    facts = run_fleets(workload, [daemon.address], tmp_path)["consumers-0"]
    measured = [fact for fact in facts if isinstance(fact, Sample) and fact.phase == "measuring"]
    assert len(measured) == 10
    assert {(sample.outcome, sample.status) for sample in measured} == {("timed_out", 0)}
    assert {sample.attempts for sample in measured} == {4}


@pytest.mark.parametrize("make", [EpollReady, SelectorReady])
def test_of_more_ports_than_are_named_at_once_none_is_forgotten_and_none_is_preferred(make: type[Ready]) -> None:
    if make is EpollReady and not hasattr(select, "epoll"):
        pytest.skip("needs epoll")
    ready, broker = make(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    broker.bind(("127.0.0.1", 0))
    ports: dict[int, socket.socket] = {}
    for _ in range(3 * AT_ONCE):
        port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        port.connect(broker.getsockname())
        ready.add(port.fileno())
        ports[port.fileno()] = port
        broker.sendto(b"first", port.getsockname())
        broker.sendto(b"second", port.getsockname())
    heard: list[tuple[int, bytes]] = []
    while named := ready.wait(0):
        heard += [(fd, ports[fd].recv(100)) for fd in named]
    assert sorted(heard) == sorted((fd, data) for fd in ports for data in (b"first", b"second"))
    assert {fd for fd, _ in heard[: len(ports)]} == set(ports)
    assert not ready.wait(1_000_000)
    for fd, port in ports.items():
        ready.remove(fd)
        port.close()
    ready.close()
    broker.close()


def test_response_times_are_binned_as_the_histogram_would(tmp_path: Path) -> None:
    times = [0, 1, 255, 256, 257, 511, 513, 4096, 4111, 999_999, LONGEST_US, 10 * LONGEST_US]
    fleet = ScheduledFleet([], Fleet(Workload(), Windows(0, 0, 0, 1, 1), WallClock(), Tally()))
    writer = JournalWriter(tmp_path / "a.journal", Start("consumers-0", 1, 0, ""))
    reporter = FleetReporter(writer, "consumers-0", 0, fleet)
    wanted = HdrHistogram(1, LONGEST_US, HISTOGRAM_DIGITS)
    for taken in times:
        reporter.report_fact(Sample("consumer", 0, 0, "measuring", "answered", 102, 1, 50, 60, 50 + taken, "a|b|c", 1))
        wanted.record_value(min(max(taken, 1), LONGEST_US))
    reporter.report_second(SECOND)
    reporter.report_second(2 * SECOND)
    writer.close()
    first, second = (fact for fact in read_journal(tmp_path / "a.journal") if isinstance(fact, Tick))
    cells = HdrHistogram.decode(first.histogram.encode())
    assert list(cells.counts) == list(wanted.counts)
    assert HdrHistogram.decode(second.histogram.encode()).get_total_count() == 0


def test_durations_of_other_facts_have_histograms_of_their_own_names(tmp_path: Path) -> None:
    fleet = ScheduledFleet([], Fleet(Workload(), Windows(0, 0, 0, 1, 1), WallClock(), Tally()))
    writer = JournalWriter(tmp_path / "a.journal", Start("listeners-0", 1, 0, ""))
    reporter = FleetReporter(writer, "listeners-0", 0, fleet)
    for copy, received in ((1, 120), (2, 900)):
        reporter.report_fact(Delivery("listener", 0, 0, "measuring", "news", 20, received, copy))
    for opened in (0, 240):  # the first was never established
        reporter.report_fact(Connection("listener", 0, 0, "measuring", "closed", 40, opened, 500, ""))
    for outcome in ("done", "failed"):
        reporter.report_fact(HandOver("listener", 0, 0, 1, "measuring", outcome, 100, 130, 0))
    reporter.report_second(SECOND)
    reporter.report_second(2 * SECOND)
    writer.close()
    found = [fact for fact in read_journal(tmp_path / "a.journal") if isinstance(fact, Histogram)]
    assert [(one.at_us, one.name, unpacked(one.times)) for one in found] == [
        (1_000_000, "connections", Counter({200: 1})),
        (1_000_000, "deliveries", Counter({100: 1})),
        (1_000_000, "handovers", Counter({30: 1})),
    ]


def test_a_fleet_without_acknowledgements_is_answered_in_full(
    start_daemon: Callable[..., Daemon], tmp_path: Path
) -> None:
    workload = Workload(
        providers=1, consumers=20, request_interval_s=0.1, duration_s=1, stagger_ms=1, acknowledgements=False
    )
    facts = run_fleets(workload, [start_daemon().address], tmp_path)["consumers-0"]
    measured = [fact for fact in facts if isinstance(fact, Sample) and fact.phase == "measuring"]
    assert Counter((sample.outcome, sample.attempts) for sample in measured) == {("answered", 1): 200}


class Switching:
    """A client that hears on two ports at once, and closes the other port at the first datagram."""

    peer, identity, is_finished = None, ("switching", 0), False

    def __init__(self) -> None:
        self.server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.server.bind(("127.0.0.1", 0))
        self._began, self._outgoing, self._closing = 0, [], []
        self.heard: list[int] = []

    def handle_timer(self, now: int) -> None:
        self._outgoing = [(lane, b"hello", self.server.getsockname()) for lane in (0, 1)]
        self._began = 1

    def next_timer(self) -> int | None:
        return None if self._began else 1

    def datagrams_to_send(self) -> list:
        outgoing, self._outgoing = self._outgoing, []
        return outgoing

    def facts(self) -> list:
        if self._began == 1:  # both datagrams have been sent: both answers are there before the driver looks
            for _ in range(2):
                data, source = self.server.recvfrom(100)
                self.server.sendto(data, source)
            self._began = 2
        return []

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        self.heard.append(lane)
        self._closing, self.is_finished = [1 - lane], True
        return True

    def lanes_to_close(self) -> list[int]:
        closing, self._closing = self._closing, []
        return closing

    def abandon(self, now: int) -> None: ...


def test_a_client_may_close_a_port_that_has_just_received() -> None:
    client = Switching()
    driver = FleetDriver([client], Tally(), on_fact=lambda fact: None, on_second=lambda now: None)
    driver.run(until=time.monotonic_ns() + BOUND_S * SECOND)
    driver.close()
    client.server.close()
    assert len(client.heard) == 1


class Told:
    """A client that is to act as soon as its log has news, and is finished then; its log, and the wait for sockets."""

    peer = None

    def __init__(self) -> None:
        self.due: int | None = None
        self.is_finished = False
        self.waits: list[int] = []
        self.counters = {"log_lost": 0}

    def feed(self, now: int) -> None:
        self.due = self.due or now

    def wait(self, wait_ns: int) -> list[int]:
        self.waits.append(wait_ns)
        return []

    def handle_timer(self, now: int) -> None:
        self.due, self.is_finished = None, True

    def next_timer(self) -> int | None:
        return self.due

    def datagrams_to_send(self) -> list[tuple[int, bytes, Address]]:
        return []

    facts = lanes_to_close = descriptors = datagrams_to_send

    def take(self, now: int) -> None:
        """There is nothing to append."""

    handle = close = take


def test_what_a_log_makes_due_is_not_waited_for() -> None:
    client, log = Told(), Told()
    log.feed = lambda now: Told.feed(client, now)
    log.due = time.monotonic_ns() + round(BOUND_S * SECOND)
    driver = FleetDriver([client], Tally(), on_fact=lambda _: None, on_second=lambda _: None, logs={0: log})
    driver._ready.close()
    driver._ready = client
    driver.run(log.due)
    assert client.is_finished
    assert client.waits[0] <= 0

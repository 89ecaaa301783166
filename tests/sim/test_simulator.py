"""The simulator itself: order, links, determinism."""

import gc
import subprocess
import sys
from collections.abc import Sequence
from heapq import heappop

import pytest

from overlay.core.addresses import Address
from overlay.core.links import LinkShape
from overlay.core.node import MILLISECOND, SECOND, NodeEvent
from overlay.sim.actors import NodeActor
from overlay.sim.garbage import Collector
from overlay.sim.network import Network
from overlay.sim.schedule import ARRIVAL, FAULT, STEP, Schedule
from overlay.sim.simulator import Simulator, UnknownAddress
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.workload import Workload
from overlay.topologies import generate
from telemetry.systems.context_broker.lab.overlay import Overlay

A, B, NOBODY = ("127.1.0.1", 1), ("127.1.0.2", 2), ("127.1.0.3", 3)


class Parrot:
    """Says what it was given to say, at its times, and keeps what it hears."""

    def __init__(self, *lines: tuple[int, bytes, Address]) -> None:
        self.heard: list[tuple[int, bytes]] = []
        self._lines = list(lines)
        self._due: list[tuple[bytes, Address]] = []

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self.heard += [(now, data) for data, _ in datagrams]

    def handle_timer(self, now: int) -> None:
        self._due += [(data, to) for at, data, to in self._lines if at <= now]
        self._lines = [line for line in self._lines if line[0] > now]

    def next_timer(self) -> int | None:
        return min((at for at, _, _ in self._lines), default=None)

    def datagrams_to_send(self) -> list[tuple[bytes, Address]]:
        due, self._due = self._due, []
        return due

    def events(self) -> list[NodeEvent]:
        return []


def stage(*lines: tuple[int, bytes, Address], shape: LinkShape, strict: bool = True) -> tuple[Simulator, Parrot]:
    """A says ``lines``; B, which is returned, listens."""
    simulator = Simulator(Network(seed=1, default=shape), strict=strict)
    listener = Parrot()
    simulator.listen(B, NodeActor(B, listener))
    simulator.listen(A, NodeActor(A, Parrot(*lines)))
    return simulator, listener


def test_a_schedule_goes_by_time_then_priority_then_order_of_arrival() -> None:
    schedule, done = Schedule(), []
    for name, time, priority in [("d", 2, STEP), ("b", 1, STEP), ("c", 1, STEP), ("a", 1, ARRIVAL), ("0", 1, FAULT)]:
        schedule.at(time, priority, lambda name=name: done.append((schedule.now, name)))
    while schedule.heap:
        schedule.now, _, _, action, _ = heappop(schedule.heap)
        action()
    assert done == [(1, "0"), (1, "a"), (1, "b"), (1, "c"), (2, "d")]
    with pytest.raises(ValueError, match="cannot schedule for 1 ns: it is already 2 ns"):
        schedule.at(1, STEP, done.clear)


def test_a_datagram_takes_the_delay_of_its_link() -> None:
    simulator, listener = stage((5 * MILLISECOND, b"hi", B), shape=LinkShape(delay_ms=20))
    simulator.run_until(24 * MILLISECOND)
    assert listener.heard == []
    simulator.run_until(25 * MILLISECOND)
    assert listener.heard == [(25 * MILLISECOND, b"hi")]


def test_links_islands_and_the_dead_swallow_datagrams() -> None:
    lines = [(i * SECOND, b"%d" % i, B) for i in range(5)]
    simulator, listener = stage(*lines, shape=LinkShape(delay_ms=1))
    simulator.at(1 * SECOND, lambda: simulator.network.separate([A], [B]))
    simulator.at(2 * SECOND, simulator.network.heal)
    simulator.at(3 * SECOND, lambda: simulator.network.lay(A, B, LinkShape(loss=1)))
    simulator.at(4 * SECOND, lambda: simulator.network.lay(A, B, LinkShape()))
    simulator.at(4 * SECOND, lambda: simulator.close(B))
    simulator.run_for(10 * SECOND)
    assert [data for _, data in listener.heard] == [b"0", b"2"]
    assert (simulator.delivered, simulator.to_nobody, simulator.network.separated) == (2, 1, 1)
    assert simulator.now == 10 * SECOND


def test_sending_to_nobody_is_a_mistake_unless_it_is_allowed() -> None:
    simulator, _ = stage((0, b"hello?", NOBODY), shape=LinkShape())
    with pytest.raises(UnknownAddress, match=r"127.1.0.1:1 sent b'hello\?' to 127.1.0.3:3: no actor ever"):
        simulator.run_for(SECOND)
    lenient, _ = stage((0, b"hello?", NOBODY), shape=LinkShape(), strict=False)
    lenient.run_for(SECOND)
    assert lenient.to_nobody == 1


def test_a_node_that_would_never_rest_is_caught() -> None:
    class Restless(Parrot):
        def next_timer(self) -> int | None:
            return 0

    simulator = Simulator(Network(seed=1))
    simulator.listen(A, NodeActor(A, Restless()))
    with pytest.raises(AssertionError, match="would loop for ever"):
        simulator.run_for(SECOND)


def test_waiting_for_what_never_comes_ends() -> None:
    simulator, _ = stage(shape=LinkShape())
    with pytest.raises(TimeoutError, match="still unfinished after 3 simulated seconds"):
        simulator.run_while(lambda: True, at_most=3 * SECOND)


def test_a_port_that_closes_leaves_nothing_behind_in_the_network() -> None:
    network = Network(seed=1, default=LinkShape(delay_ms=1, jitter_ms=1))  # what draws lots has a state for each pair
    ports = [("127.3.0.1", port) for port in range(1000)]
    network.transmit(b"hi", B, A, 0)
    first = network.transmit(b"hi", A, B, 0)
    for port in ports:
        network.transmit(b"hi", port, A, 0)
        network.transmit(b"hi", A, port, 0)
    known = network.pairs
    for port in ports:
        network.forget(port)
    assert (known, network.pairs) == (2002, 2)
    network.forget(A)
    assert network.pairs == 0
    assert network.transmit(b"hi", A, B, 0) == first  # a successor begins where it did


def test_a_link_is_cut_one_way_and_restored_exactly() -> None:
    network = Network(seed=1, default=LinkShape(delay_ms=1))
    network.lay(A, B, LinkShape(delay_ms=5))
    network.lay_one_way(A, B, LinkShape(partition=True))
    assert not network.transmit(b"hi", A, B, 0)
    assert list(network.transmit(b"hi", B, A, 0)) == [(5 * MILLISECOND, b"hi")]
    network.lay_one_way(A, B, LinkShape(delay_ms=5))
    assert list(network.transmit(b"hi", A, B, 0)) == [(5 * MILLISECOND, b"hi")]


def test_a_timer_that_does_not_move_is_scheduled_once_however_often_its_node_steps() -> None:
    simulator = Simulator(Network(seed=1))
    simulator.listen(B, NodeActor(B, Parrot((SECOND, b"late", A))))
    simulator.listen(A, NodeActor(A, Parrot(*[(i * MILLISECOND, b"%d" % i, B) for i in range(500)])))
    simulator.run_until(100 * MILLISECOND)
    assert simulator.scheduled == 3  # one timer of each, and a datagram under way
    simulator.run_until(2 * SECOND)
    assert (simulator.delivered, simulator.scheduled) == (501, 0)


def test_introduced_brokers_are_as_those_that_were_ordered_to_join() -> None:
    graph = generate("random-regular", 12, {"degree": 4, "delay_ms": 1}, seed=1)
    ordered, introduced = Overlay(graph, seed=1), Overlay(graph, seed=1)
    ordered.start()
    introduced.introduce()
    assert introduced.wrong_neighbours() == {}
    assert introduced.controller.is_complete()
    for overlay in (ordered, introduced):
        overlay.kill(3)
        overlay.run_for(5 * SECOND)
        overlay.restart(3)
        overlay.run_for(5 * SECOND)
        assert overlay.wrong_neighbours() == {}
        assert overlay.put(0, ("room", "r1", "climate"), b"x=1").outcome == "answered"
    with pytest.raises(ValueError, match="cannot be introduced to their neighbours"):
        Overlay(graph, BrokerConfig(membership="greedy")).introduce()


def test_steps_leave_nothing_in_a_cycle_and_what_a_death_leaves_is_not_looked_for_at_once() -> None:
    overlay = Overlay(generate("ring", 10, {"delay_ms": 1, "loss": 0.1}, seed=1), BrokerConfig(hop_ack=True))
    overlay.start()
    overlay.add_clients(Workload(providers=5, consumers=10, request_interval_s=0.1, duration_s=2, stagger_ms=10))
    gc.collect()
    with Collector() as collector:
        overlay.run_for(2 * SECOND)
        assert gc.collect() == 0
        overlay.kill(3)
        overlay.run_for(15 * SECOND)  # until nothing waits for its timers any more
        collector.look()
        assert gc.collect() > 50
    assert gc.isenabled()


RUN = """
import sys
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.core.node import SECOND
from telemetry.systems.context_broker.lab.overlay import Overlay
from overlay.topologies import generate
from overlay.systems.context_broker.workload import Workload

links = {"delay_ms": 1, "delay_spread_ms": 4, "jitter_ms": 1, "loss": 0.05}
overlay = Overlay(generate("waxman", 8, links, seed=int(sys.argv[1])), BrokerConfig(), seed=int(sys.argv[1]))
overlay.start()
overlay.add_clients(Workload(providers=5, consumers=10, request_interval_s=1, duration_s=5, stagger_ms=50))
overlay.at(overlay.simulator.now + 2 * SECOND, lambda: overlay.kill(3))
overlay.run_for(15 * SECOND)
print(overlay.simulator.digest, overlay.simulator.delivered)
"""


def digest(seed: int, hash_seed: str) -> str:
    command = [sys.executable, "-c", RUN, str(seed)]
    return subprocess.run(command, capture_output=True, check=True, text=True, env={"PYTHONHASHSEED": hash_seed}).stdout


def test_a_seed_is_the_whole_run_in_any_process_under_any_hash_seed() -> None:
    first = digest(1, "0")
    assert digest(1, "1") == digest(1, "random") == first
    assert digest(2, "0") != first

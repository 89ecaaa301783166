"""An overlay of real brokers on this machine, in which one query after the other is asked.

Counterparts: ``telemetry.systems.context_broker.lab.draws`` says what is asked and does the books;
``telemetry.systems.context_broker.lab.virtual`` is the same in virtual time. Each broker is a process with a socket of
its own, driven as every broker is, with every link shaped to the delay that links have there. A *tap* around it tells
what it receives and sends, so that the books are the same::

    consumer ──3──> broker ──────────────> broker ...        one process each
       ^              │ tap  <── 1 ms ───    │ tap
       └──────4───────┤                      │
                      └──── what, when ──────┴────> one socket ──> books

All taps write to one socket, and before what they tell of leaves: it is read in an order in which nothing arrives
before it was sent. A query is over once the consumer has its answer, all that was sent has arrived, and a while passed.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import Stream, derive_seed
from overlay.core.errors import WaxwingError
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import MILLISECOND, SECOND, NodeEvent
from overlay.programs.context_broker.client import ContextClient
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.processes import Child, Ready, Work, fork, last_words
from overlay.runtime.udp import NodeDriver, bound_address, open_socket
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.clients.exchange import Timestamps, WallClock
from overlay.systems.context_broker.introduction import SETTLING, STRUCTURED, introduce
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import ContextRequest, Key
from overlay.topologies import Graph
from telemetry.systems.context_broker.lab.draws import (
    DELAY_MS,
    VALID_MS,
    WAIT_MS,
    Books,
    Draw,
    Told,
    broker_of,
    config_of,
    drawn,
    run_draws,
)

LULL = (2 * WAIT_MS + 2) * MILLISECOND
"""Without a datagram, until a query is over: a broker may be thinking, or waiting for its shallow flood."""
PATIENCE = 5 * SECOND
"""After this a query without an answer is lost, and a datagram that has not arrived is given up."""
LISTENING = SECOND // 2
"""Silence of all brokers until they are checked."""
STARTING_S = 20.0
"""Within this a broker is up, on a busy machine, too."""
_LOOPBACK = ("127.0.0.1", 0)
_LONGEST_RECORD = 70_000


class ArenaFailed(WaxwingError):
    """A broker of the arena did not start, or has ended."""


class Tap:
    """A ``Node`` that tells what another one receives and sends, while ``gate`` is open."""

    def __init__(self, broker: Broker, index: int, gate: mmap, records: socket.socket) -> None:
        self._broker = broker
        self._index = index
        self._gate = gate
        self._records = records
        self.handle_timer = broker.handle_timer
        self.next_timer = broker.next_timer

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        for data, source in datagrams:
            self._tell("received", now, data, source)
        self._broker.receive_datagrams(datagrams, now)

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        datagrams = self._broker.datagrams_to_send()
        for data, to in datagrams:
            self._tell("sent", time.monotonic_ns(), data, to)
        return datagrams

    def events(self) -> Sequence[NodeEvent]:
        return self._broker.events()

    def _tell(self, what: str, now: int, data: bytes, other: Address) -> None:
        if self._gate[0]:
            self._records.send(f"{what}|{self._index}|{now}|{other[0]}|{other[1]}|".encode() + data)


class LiveArena:
    """An ``Arena``, and a context: at its end, its processes end. Raises ``ArenaFailed``."""

    def __init__(self, graph: Graph, settings: Mapping[str, Any], seed: int) -> None:
        self.config = config_of(graph, settings)
        self._seed = seed
        self._neighbours = [sorted(neighbours) for neighbours in graph.neighbours()]
        self._open = ExitStack()
        self._children: list[Child] = []
        self._under_way: Counter[tuple[Address, Address, bytes]] = Counter()
        """Between brokers, and from them to the consumer: source, destination and datagram."""
        self._stamps = Timestamps(WallClock(wall_offset_ns()))
        try:
            self._consumer = self._open.enter_context(open_socket(_LOOPBACK))
            self._consumer.setblocking(False)
            self._books = Books(bound_address(self._consumer))
            self._gate = self._open.enter_context(mmap(-1, 1))
            self._start()
        except BaseException:
            self.close()
            raise
        self.settled_at = time.monotonic_ns() + (SETTLING if self.config.arm == STRUCTURED else 0)
        """When (ns) it may be asked."""

    def __enter__(self) -> LiveArena:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End its processes, at once: there is nothing that they would have to save."""
        for child in self._children:
            os.kill(child.pid, signal.SIGKILL)
        for child in self._children:
            os.waitpid(child.pid, 0)
        self._children = []
        self._open.close()

    @property
    def brokers(self) -> int:
        return len(self.addresses)

    @property
    def longest(self) -> int:
        return self._books.longest

    @property
    def pids(self) -> list[int]:
        return [child.pid for child in self._children]

    def place(self, key: Key, broker: int) -> None:
        self._gate[0] = True
        ContextClient([self.addresses[broker]]).provide("p1", key, b"x=1", VALID_MS)
        self._run_until_quiet(0)

    def ask(self, key: Key, broker: int, holders: Iterable[int] = ()) -> Told:
        self._gate[0] = True
        rounds, stamp = self._rounds(broker), self._stamps.next(time.monotonic_ns())
        holding = [self.addresses[holder] for holder in holders]
        told = self._books.open(stamp, key, holding, time.monotonic_ns())
        self._consumer.sendto(encode(ContextRequest(stamp, *key)), self.addresses[broker])
        self._run_until_quiet(LULL)
        self._books.close()
        if self.config.arm == STRUCTURED:
            told.hops = self._rounds(broker) - rounds
        return told

    def total(self, counter: str) -> int:
        return sum(self._statistics(broker)[counter] for broker in range(self.brokers))

    # ---- brokers as processes

    def _start(self) -> None:
        sockets = [self._open.enter_context(open_socket(_LOOPBACK)) for _ in self._neighbours]
        self.addresses = [bound_address(sock) for sock in sockets]
        self._heard, told = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in (self._heard, told):
            self._open.enter_context(end)
        self._heard.setblocking(False)
        lifeline, held = os.pipe()
        for descriptor in (lifeline, held):
            self._open.callback(os.close, descriptor)
        words = Path(self._open.enter_context(TemporaryDirectory()))
        for index, sock in enumerate(sockets):

            def work(ready: Ready, index: int = index, sock: socket.socket = sock) -> int:
                return self._be_broker(index, sock, told, lifeline, ready)

            inherited = (sock.fileno(), told.fileno(), lifeline)
            self._children.append(fork(Work(work), words / str(index), inherited))
            self._open.callback(os.close, self._children[-1].ready)
            sock.close()
        told.close()
        for child in self._children:
            if not select([child.ready], (), (), STARTING_S)[0] or not os.read(child.ready, 64):
                raise ArenaFailed(f"a broker did not start: {last_words(child.words) or 'it said nothing'}")

    def _be_broker(self, index: int, sock: socket.socket, told: socket.socket, lifeline: int, ready: Ready) -> int:
        """In the child, for the rest of its life."""
        broker = broker_of(self.config, self.addresses, index, self._seed, wall_offset_ns())
        introduce(broker, [self.addresses[j] for j in self._neighbours[index]], time.monotonic_ns())
        shapers = {
            other: Shaper(LinkShape(delay_ms=DELAY_MS), Stream(derive_seed(self._seed, "link", index, j)))
            for j, other in enumerate(self.addresses)
            if j != index
        }
        tap = Tap(broker, index, self._gate, told)
        driver = NodeDriver(
            tap, sock, shapers=shapers, lifeline_fd=lifeline, on_second=lambda _: broker.events().clear()
        )
        ready("up")
        driver.run()
        return 0

    def _check_brokers(self) -> None:
        for child in self._children:
            if os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                raise ArenaFailed(f"a broker has ended: {last_words(child.words) or 'it said nothing'}")

    # ---- listening

    def _run_until_quiet(self, lull: int) -> None:
        """Until the consumer was told, nothing is under way, and that for a while; or patience is at its end."""
        self._listen(0)  # what led to what the caller knows already
        began = quiet_since = time.monotonic_ns()
        while (now := time.monotonic_ns()) < began + PATIENCE:
            is_quiet = self._books.is_told and not self._under_way
            if is_quiet and now >= quiet_since + lull:
                return
            if self._listen(quiet_since + lull - now if is_quiet else LISTENING):
                quiet_since = time.monotonic_ns()
            elif not is_quiet:
                self._check_brokers()
        self._under_way.clear()

    def _listen(self, wait_ns: int) -> bool:
        """Take in what taps tell and the consumer gets, the latter last: its sending is told of by then.

        Whether there was any.
        """
        ready = select((self._heard, self._consumer), (), (), max(wait_ns, 0) / SECOND)[0]
        arrived = _drain(self._consumer) if self._consumer in ready else []
        for record, _ in _drain(self._heard):
            self._note(record)
        for data, source in arrived:
            self._note_arrival(source, self._books.consumer, data)
        return bool(ready)

    def _note(self, record: bytes) -> None:
        what, index, now, host, port, data = record.split(b"|", 5)
        own, other = self.addresses[int(index)], (host.decode(), int(port))
        if what == b"received":
            self._note_arrival(other, own, data)
            if other == self._books.consumer:
                self._books.began = int(now)
            return
        if other == self._books.consumer or other in self.addresses:  # else the provider's
            self._under_way[own, other, data] += 1
            self._books.note_sent(int(now), data, own, other)

    def _note_arrival(self, source: Address, to: Address, data: bytes) -> None:
        datagram = source, to, data
        if self._under_way[datagram] > 1:
            self._under_way[datagram] -= 1
        else:
            del self._under_way[datagram]

    def _rounds(self, broker: int) -> int:
        return self._statistics(broker)["dht_rounds"] if self.config.arm == STRUCTURED else 0

    def _statistics(self, broker: int) -> Mapping[str, int]:
        return ContextClient([self.addresses[broker]]).statistics()


def _drain(sock: socket.socket) -> list[tuple[bytes, Address]]:
    """All that waits there."""
    found = []
    with suppress(BlockingIOError):
        while True:
            found.append(sock.recvfrom(_LONGEST_RECORD))
    return found


@dataclass(frozen=True, slots=True)
class LiveJob:
    """One arm on one topology, and how many queries for each number of holders."""

    arm: str
    topology: str
    brokers: int
    seed: int
    queries: Mapping[int, int]


def run_live(jobs: Sequence[LiveJob]) -> list[dict[int, Draw]]:
    """The draws of each, one job after the other; all their overlays are there at a time, and settle together.

    Raises ``ArenaFailed``.
    """
    with ExitStack() as stack:
        arenas = [stack.enter_context(LiveArena(*drawn(job.arm, job.topology, job.brokers, job.seed))) for job in jobs]
        time.sleep(max(0, max(arena.settled_at for arena in arenas) - time.monotonic_ns()) / SECOND)
        draws = []
        for job, arena in zip(jobs, arenas, strict=True):
            draws.append(run_draws(arena, job.seed, job.queries))
            arena.close()
        return draws

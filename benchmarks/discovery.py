"""Section: brokers and clients that know a bootstrap list only, from the first fork until all of them work.

The brokers are processes, forked from this one after it has bound their sockets, so that the start of Python is not
measured; they join each other by the list alone. The clients are driven by this process. A client works when a broker
has acknowledged what it provides and it has got an answer about the entity of another one. Dead entries of the list are
sockets that never answer.
"""

from __future__ import annotations

import gc
import os
import random
import resource
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.figures import Figure, Unavailable, figure
from overlay.core.addresses import Address
from overlay.core.chance import Stream, derive_seed
from overlay.core.node import MILLISECOND, SECOND
from overlay.load.choice import Wish
from overlay.load.tally import Tally
from overlay.programs.bootstrap_lists import Listed
from overlay.programs.context_broker.client import ContextClient
from overlay.programs.context_broker.joining import JoiningServer
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.lifeline import die_with_parent
from overlay.runtime.ports import FleetDriver
from overlay.runtime.server_process import ServerProcess, run_server
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.roaming import Provision, Request, RoamingClient
from overlay.systems.context_broker.system import SYSTEM

TITLE = "Bootstrapping: 50 brokers and 500 clients that know a list only"

BROKERS, CLIENTS, ENTITIES = 50, 500, 20
LISTED, DEAD = 9, 3
"""Entries of the longer list, and how many of them are dead."""
GOAL_S = 10.0
LIMIT_S = 60.0
ASK_AGAIN_NS = 250 * MILLISECOND
SPREAD_NS = SECOND
"""Within it all clients begin."""


@dataclass(frozen=True)
class Course:
    """Seconds from the first fork."""

    clients: list[float]
    """When each client worked, in ascending order."""
    overlay: float
    """When the brokers were seen to be one overlay, in which each has two neighbours at least."""


class Worker(RoamingClient):
    """A client that provides an entity, and asks for another one until it has it. ``worked_at`` is 0 before."""

    def __init__(self, number: int, wall: WallClock, seed: int, listed: Sequence[Address], begins: int) -> None:
        chance = Stream(derive_seed(seed, "resident", number))
        super().__init__(number, wall, chance, Wish(who=f"c{number}"))
        self._listed, self._begins = listed, begins
        self._about = "room", f"r{chance.randrange(ENTITIES)}", "temp"
        self._provision: Provision | None = None
        self._request: Request | None = None
        self._ask_at = begins
        self.worked_at = 0

    def handle_timer(self, now: int) -> None:
        if self._provision is None and now >= self._begins:
            self.renew(self._listed, now)
            name = "room", f"r{self.identity[1]}", "temp"
            self._provision = self.provide(f"p{self.identity[1]}", name, b"degC=21.5", 600_000, now)
        if self._ask_at <= now and self._provision is not None and not self.worked_at:
            self._request, self._ask_at = self.ask(self._about, now, now + 10 * SECOND), now + 3600 * SECOND
        super().handle_timer(now)
        self._look(now)

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        super().receive_datagram(lane, data, source, now)
        self._look(now)
        return True

    def next_timer(self) -> int | None:
        timer = super().next_timer()
        return self._ask_at if timer is None or self._ask_at < timer else timer

    def _look(self, now: int) -> None:
        if self.worked_at or self._request is None or self._provision is None or not self._request.outcome:
            return
        if self._request.outcome != "answered":
            self._request, self._ask_at = None, now + ASK_AGAIN_NS
        elif self._provision.at is not None:
            self.worked_at, self.is_finished = now, True


def measure(rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Yield the figures of the section."""
    for words, listed, dead in (("one entry", 1, 0), (f"{DEAD} of {LISTED} entries dead", LISTED, DEAD)):
        courses = []
        for number in range(rounds):
            say(f"{words}, round {number + 1}")
            courses.append(course(number, BROKERS, CLIENTS, listed, dead))
        last = [one.clients[-1] for one in courses]
        half = [one.clients[len(one.clients) // 2] for one in courses]
        overlay = [one.overlay for one in courses]
        yield figure("discovery", f"{words}, last client works", "s", last, "lower", at_most=GOAL_S)
        yield figure("discovery", f"{words}, half of the clients work", "s", half, "lower")
        yield figure("discovery", f"{words}, brokers are one overlay", "s", overlay, "lower", at_most=GOAL_S)


def course(seed: int, brokers: int, clients: int, listed: int, dead: int) -> Course:
    """One round. Raises ``Unavailable`` if not all work within ``LIMIT_S``."""
    _raise_file_limit()
    with ExitStack() as stack:
        silent = [stack.enter_context(_silent_socket()) for _ in range(dead)]
        config = BrokerConfig().among(brokers)
        addresses: list[Address] = []
        entries: list[Address] = []
        processes = []
        for index in range(brokers):
            process = _broker(config, index, seed, entries)
            processes.append(process)
            addresses.append(_address(process))
        entries += [*addresses[: listed - dead], *silent]
        random.Random(seed).shuffle(entries)
        began = time.monotonic_ns()
        stack.enter_context(_running(processes))
        worked = _clients(seed, clients, entries, began)
        overlay = _overlay(addresses, began)
    if len(worked) < clients:
        raise Unavailable(f"{clients - len(worked)} of {clients} clients did not work within {LIMIT_S:g} s")
    return Course([(at - began) / SECOND for at in sorted(worked)], overlay)


def _clients(seed: int, clients: int, entries: Sequence[Address], began: int) -> list[int]:
    """When each client worked."""
    wall = WallClock(wall_offset_ns())
    workers = [Worker(n, wall, seed, entries, began + n * SPREAD_NS // clients) for n in range(clients)]
    driver = FleetDriver(workers, Tally(), on_fact=lambda fact: None, on_second=lambda now: None)
    gc.collect()
    try:
        driver.run(until=began + round(LIMIT_S * SECOND))
    finally:
        driver.close()
    return [worker.worked_at for worker in workers if worker.worked_at]


def _overlay(addresses: Sequence[Address], began: int) -> float:
    """Ask the brokers for their neighbours until they are one overlay; seconds since ``began``."""
    while time.monotonic_ns() < began + LIMIT_S * SECOND:
        links = {one: set(ContextClient([one], 5.0).neighbors()) for one in addresses}
        if all(len(neighbours) >= min(2, len(addresses) - 1) for neighbours in links.values()) and _is_one(links):
            return (time.monotonic_ns() - began) / SECOND
        time.sleep(0.1)
    raise Unavailable(f"the brokers were not one overlay within {LIMIT_S:g} s")


def _is_one(links: dict[Address, set[Address]]) -> bool:
    seen, ahead = set[Address](), [next(iter(links))]
    while ahead:
        one = ahead.pop()
        if one in links and one not in seen:
            seen.add(one)
            ahead += links[one]
    return len(seen) == len(links)


def _broker(config: BrokerConfig, index: int, seed: int, entries: list[Address]) -> ServerProcess:
    """One whose socket is bound; its list is what ``entries`` has when it runs."""

    def wrap(server: object, _move: object) -> JoiningServer:
        return JoiningServer(server, config, lambda: Listed(tuple(entries)))

    bind = "127.0.0.1", 0
    return ServerProcess(SYSTEM, config, bind, process=f"broker-{index}", seed=derive_seed(seed, index), wrap=wrap)


def _address(process: ServerProcess) -> Address:
    with socket.socket(fileno=os.dup(process.descriptors[0])) as sock:
        host, port = sock.getsockname()
        return str(host), int(port)


@contextmanager
def _running(processes: Sequence[ServerProcess]) -> Iterator[None]:
    """Each in a process of its own, killed at the end."""
    pids, parent = [], os.getpid()
    try:
        for process in processes:
            pid = os.fork()
            if pid == 0:
                _run(process, parent)
            pids.append(pid)
        for process in processes:
            process.close()
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        for pid in pids:
            os.waitpid(pid, 0)


def _run(process: ServerProcess, parent: int) -> None:
    """In the forked child."""
    code = 1
    try:
        die_with_parent(parent)
        gc.freeze()
        code = run_server(process, lambda address: None)
    finally:
        os._exit(code)


@contextmanager
def _silent_socket() -> Iterator[Address]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        host, port = sock.getsockname()
        yield str(host), int(port)


def _raise_file_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
